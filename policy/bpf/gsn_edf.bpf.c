// SPDX-License-Identifier: GPL-2.0-only
/* gsn-edf for the conformance rig. */
#include "../gsn_edf.h"

#define LX_POLICY lx_gsn_edf
#define LX_QUEUE lx_binomial_heap
#include "programs.h"
