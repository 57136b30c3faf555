/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time: in which order background work that waits in one queue has the CPU, so that tasks get time in proportion to
 * their weights (as fair queueing does). Of those that wait the one with the least virtual time is next, and of equals the one
 * that came first. A queue has a clock, which is the latest virtual time of what began to run from it; it does not go back.
 *
 * Virtual times wrap: they are compared by their difference, which is below 2^63.
 */
#ifndef LX_VIRTUAL_TIME_H
#define LX_VIRTUAL_TIME_H

#include "seam.h"

/* The weight at which virtual time passes as time does. */
#define LX_WEIGHT_USUAL 100u

/* Whether `a` is less than `b`. */
LX_INLINE int lx_virtual_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* A task of weight `weight`, above 0, has had the CPU for `had_ns` ns. What is left of its slice does not tell that: a
 * preemption takes the whole slice away. */
LX_INLINE u64 lx_virtual_after(u64 vtime, u64 had_ns, u32 weight)
{
	return vtime + had_ns * LX_WEIGHT_USUAL / weight;
}

/* It comes from a queue whose clock shows `from_vtime` to one whose clock shows `to`: it keeps its lead over others. */
LX_INLINE u64 lx_virtual_moved(u64 vtime, u64 from_vtime, u64 to_vtime)
{
	return vtime - from_vtime + to_vtime;
}

/* With which virtual time it waits: what it saved by sleeping is limited to one slice. */
LX_INLINE u64 lx_virtual_waits(u64 vtime, u64 clock_vtime, u64 slice_ns)
{
	return lx_virtual_before(vtime, clock_vtime - slice_ns) ? clock_vtime - slice_ns : vtime;
}

/* What the queue's clock shows when it begins to run. */
LX_INLINE u64 lx_virtual_begins(u64 vtime, u64 clock_vtime)
{
	return lx_virtual_before(clock_vtime, vtime) ? vtime : clock_vtime;
}

#endif
