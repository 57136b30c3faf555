// SPDX-License-Identifier: GPL-2.0-only
/* push-pull for the conformance rig. */
#include "../push_pull.h"

#define LX_POLICY lx_push_pull
#define LX_STEPS
#define LX_PARTS
#include "programs.h"
