/* SPDX-License-Identifier: GPL-2.0-only */
/* gsn-edf: linking core with binomial heaps, release groups merged at once (cerqueira2014, II-B). */
#include "queues/binomial_heap.h"

#define LX_POLICY lx_gsn_edf
#define LX_QUEUE lx_binomial_heap
#define LX_MERGES
#include "linking.h"
