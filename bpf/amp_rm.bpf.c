// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "amp_rm.h"
#define LX_POLICY lx_amp_rm
#define LX_SERVERS
#include "host/host.h"
