// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "gsn_edf.h"
#define LX_POLICY lx_gsn_edf
#include "host/host.h"
