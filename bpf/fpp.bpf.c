// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "fpp.h"
#define LX_POLICY lx_fpp
#include "host/host.h"
