// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "g_edf_mp.h"
#define LX_POLICY lx_g_edf_mp
#define LX_STEPS
#define LX_MESSAGES
#include "host/host.h"
