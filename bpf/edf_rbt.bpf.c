// SPDX-License-Identifier: GPL-2.0-only
#include "host/capacity.h"

#include "edf_rbt.h"
#define LX_POLICY lx_edf_rbt
#include "host/host.h"
