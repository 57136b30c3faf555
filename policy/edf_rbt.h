/* SPDX-License-Identifier: GPL-2.0-only */
/* edf-rbt: linking core with a red-black tree (ackelman2018, 5.3). */
#include "queues/red_black_tree.h"

#define LX_POLICY lx_edf_rbt
#define LX_QUEUE lx_red_black_tree
#include "linking.h"
