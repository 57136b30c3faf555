// SPDX-License-Identifier: GPL-2.0-only
/* edf-rbt for the conformance rig. */
#include "../edf_rbt.h"

#define LX_POLICY lx_edf_rbt
#define LX_QUEUE lx_red_black_tree
#include "programs.h"
