/* SPDX-License-Identifier: GPL-2.0-only */
/* edf-bh: linking core with a binary heap (ackelman2018, 5.2). */
#include "queues/binary_heap.h"

#define LX_POLICY lx_edf_bh
#define LX_QUEUE lx_binary_heap
#include "linking.h"
