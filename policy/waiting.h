/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs that wait for ever: where more jobs are endless than there are CPUs, and no budget ends them, the order of priorities keeps the
 * last ones from every CPU. The kernel takes a task that can run and does not for 30 s for a sign that its scheduler has failed, and
 * throws that out. So a job that has waited for LX_WAITS_MAX_NS has a CPU for a moment, whatever goes before it by priority.
 *
 * A job that waits for its release or its replenishment waits for less (LX_HOST_PERIOD_MAX), and so does every job of a task set that
 * the admission has let in, under budgets.
 */
#ifndef LX_WAITING_H
#define LX_WAITING_H

#include "seam.h"

/* In ns. */
#define LX_WAITS_MAX_NS 10000000000ull

/* Whether a job that waits since `since_at` is to have a CPU for a moment at `now`. */
LX_INLINE int lx_waits_too_long(u64 since_at, u64 now)
{
	return now > since_at && now - since_at > LX_WAITS_MAX_NS;
}

#endif
