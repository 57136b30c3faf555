/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * amp-rm (calandrino2007, 4): every core, fast or slow, is an instance of its own, under fixed priorities by period, with a
 * binary heap for the jobs that are ready. A job that has used its execution requirement waits for its task's next period
 * (LX_BUDGET_THROTTLE). Real-time tasks never migrate.
 *
 * Background work: claims.h says when it goes first, background.h on which core.
 */
#include "background.h"
#include "claims.h"
#include "queues/binary_heap.h"

#define LX_POLICY lx_amp_rm
#define LX_QUEUE lx_binary_heap
#include "linking.h"
#ifdef LX_ALONE
#define LX_SERVERS
#endif
