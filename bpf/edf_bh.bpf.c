// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "edf_bh.h"
#define LX_POLICY lx_edf_bh
#include "host/host.h"
