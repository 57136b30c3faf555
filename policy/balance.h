/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where work that is not real-time goes on CPUs of different speeds (calandrino2007, 3.3 and 5.2): the queues of the CPUs are
 * kept as long as the CPUs are fast, and what runs on a slow CPU goes to a faster one that has nothing to do. Real-time jobs
 * that are ready count towards the length of their CPU's queue, and stay where they are.
 *
 * A CPU's load is its number of tasks, ready or running, over its speed. The host goes through the CPUs in the order of their
 * numbers, keeps the best so far, and says what a task may not do; which of two is better is said here. Products of a count and a
 * speed, both below 2^32, fit.
 */
#ifndef LX_BALANCE_H
#define LX_BALANCE_H

#include "seam.h"

struct lx_load {
	/* Relative to the other CPUs', above 0. */
	u32 speed;
	/* Tasks on the CPU, ready or running. */
	u32 tasks;
};

/*
 * Whether a task that has become ready is better placed on `core` than on `best`: one that has nothing to do goes before one that
 * has; otherwise where the load with it is lower, and if the loads are equal, the faster.
 */
LX_INLINE int lx_balance_is_better(struct lx_load core, struct lx_load best)
{
	u64 here = (u64)(core.tasks + 1) * best.speed;
	u64 there = (u64)(best.tasks + 1) * core.speed;

	if ((core.tasks == 0) != (best.tasks == 0))
		return core.tasks == 0;
	return here < there || (here == there && core.speed > best.speed);
}

/* Whether `from` has more to give than `best`: its load is higher, or as high and its CPU slower. */
LX_INLINE int lx_balance_is_busier(struct lx_load from, struct lx_load best)
{
	u64 here = (u64)from.tasks * best.speed;
	u64 there = (u64)best.tasks * from.speed;

	return here > there || (here == there && from.speed < best.speed);
}

/*
 * Whether a task moves from `from` to `to`. A CPU that has nothing to do gets one from any that has several, and the only one
 * of a slower core. Else one that waits moves if the load of `to` with it is lower than that of `from` is now. So moves come to
 * an end.
 */
LX_INLINE int lx_balance_moves(struct lx_load from, struct lx_load to)
{
	if (to.tasks == 0)
		return from.tasks > 1 || (from.tasks == 1 && to.speed > from.speed);
	return from.tasks > 1 && (u64)(to.tasks + 1) * from.speed < (u64)from.tasks * to.speed;
}

#endif
