// SPDX-License-Identifier: GPL-2.0-only
/* fpp for the conformance rig. */
#include "../fpp.h"

#define LX_POLICY lx_fpp
#define LX_QUEUE lx_promotions
#include "programs.h"
