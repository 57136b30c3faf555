// SPDX-License-Identifier: GPL-2.0-only
/* amp-rm for the conformance rig. */
#include "../amp_rm.h"

#define LX_POLICY lx_amp_rm
#define LX_QUEUE lx_binary_heap
#include "programs.h"
