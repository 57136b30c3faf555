// SPDX-License-Identifier: GPL-2.0-only
/* g-edf-mp for the conformance rig. */
#include "../g_edf_mp.h"

#define LX_POLICY lx_g_edf_mp
#define LX_STEPS
#define LX_MESSAGES
#include "programs.h"
