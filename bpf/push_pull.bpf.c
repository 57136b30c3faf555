// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "push_pull.h"
#define LX_POLICY lx_push_pull
#define LX_STEPS
#define LX_AWAITS
#include "host/host.h"
