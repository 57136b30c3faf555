/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time: in which order background work that waits in one queue has the CPU, so that tasks get time in proportion to
 * their weights (as fair queueing does). Of those that wait the one with the least virtual time is next, and of equals the one
 * that came first. A queue has a clock, which is the latest virtual time of what began to run from it; it does not go back.
 *
 * Virtual times wrap: they are compared by their difference, which is below 2^63.
 *
 * A task of little weight pays much for a slice, and in a crowd a queue's clock is slow: without limits the one waits as long as it
 * likes the others, and the kernel takes that for a scheduler that has failed (30 s). So, in the kernel, a lead over the clock is
 * limited, the clock goes on with time, if slowly, and slices get shorter as more tasks wait. Weights hold below those limits: a task
 * of weight 1 has its share of a CPU as long as that is one slice in LX_LEAD_MAX_NS * LX_CLOCK_DIVISOR.
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

/* How far before the queue's clock a task waits at most, in ns of virtual time: what a slice of 5 ms costs the least weight. */
#define LX_LEAD_MAX_NS 500000000ull
/* The clock shows at least this part of the time that has passed. */
#define LX_CLOCK_DIVISOR 32
/* All that wait have had a slice within this time, in ns, on a CPU of their own: 5 ms for a hundred of them. */
#define LX_ROUND_NS 500000000ull
#define LX_SLICE_MIN_NS 100000ull

/* With which virtual time it waits: what it has had in advance is limited, too. */
LX_INLINE u64 lx_virtual_leads(u64 vtime, u64 clock_vtime)
{
	return lx_virtual_before(clock_vtime + LX_LEAD_MAX_NS, vtime) ? clock_vtime + LX_LEAD_MAX_NS : vtime;
}

/* What the queue's clock shows `passed_ns` ns later, whatever has run. */
LX_INLINE u64 lx_virtual_passes(u64 clock_vtime, u64 passed_ns)
{
	return clock_vtime + passed_ns / LX_CLOCK_DIVISOR;
}

/* The slice of a task that waits with so many others for one CPU, if `slice_ns` is the usual one. */
LX_INLINE u64 lx_virtual_slice(u64 slice_ns, u32 waiting)
{
	u64 least_ns = slice_ns < LX_SLICE_MIN_NS ? slice_ns : LX_SLICE_MIN_NS;
	u64 part_ns = waiting ? LX_ROUND_NS / waiting : slice_ns;

	return part_ns > slice_ns ? slice_ns : part_ns < least_ns ? least_ns : part_ns;
}

/* What the queue's clock shows when it begins to run. */
LX_INLINE u64 lx_virtual_begins(u64 vtime, u64 clock_vtime)
{
	return lx_virtual_before(clock_vtime, vtime) ? vtime : clock_vtime;
}

#endif
