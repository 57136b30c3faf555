// SPDX-License-Identifier: GPL-2.0-only
/* edf-bh for the conformance rig. */
#include "../edf_bh.h"

#define LX_POLICY lx_edf_bh
#define LX_QUEUE lx_binary_heap
#include "programs.h"
