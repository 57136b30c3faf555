/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Background work with a queue per CPU: where it waits, which CPU takes from which, and what leaves a CPU while it runs. balance.h
 * compares loads; here is said what is decided by them. Which task of a queue is next, virtual_time.h says; whether it goes before
 * real-time work, reserve.h and deferrable.h.
 *
 * 1. A task is placed when it has become ready, and when it has had its CPU and may not keep it: lx_spot_for_one_more over the CPUs
 *    in the order of their numbers where it may be, beginning with its own one (LX_NOWHERE if it has none or may not be there).
 * 2. At the end of its slice a task that nothing waits behind keeps its CPU unless lx_background_is_better_off; else it is placed.
 * 3. A CPU that has nothing to do pulls: lx_spot_to_pull_from over the other CPUs that lx_background_gives says may give. It takes
 *    the next that waits there and may run here, or that of any other CPU that gives; where only running tasks could come, what runs
 *    on the busiest decides as if its slice were over (2).
 *
 * The host knows which tasks may be where, and which must not move now.
 */
#ifndef LX_BACKGROUND_H
#define LX_BACKGROUND_H

#include "balance.h"

/* A CPU that may be chosen, with its load. */
struct lx_spot {
	/* LX_NONE: none yet. */
	u32 cpu;
	struct lx_load load;
};

/* No CPU is chosen yet. */
#define LX_NOWHERE ((struct lx_spot){.cpu = LX_NONE, .load = {.speed = 1, .tasks = 0}})

/* Where one more task is better placed: on `best`, which was found so far, or on `other`. */
LX_INLINE struct lx_spot lx_spot_for_one_more(struct lx_spot best, struct lx_spot other)
{
	return best.cpu == LX_NONE || lx_balance_is_better(other.load, best.load) ? other : best;
}

/* Whether the task that runs on `here`, whose load counts it, is better off on `best`, which was found without counting it. */
LX_INLINE int lx_background_is_better_off(struct lx_spot here, struct lx_spot best)
{
	return best.cpu != here.cpu && best.cpu != LX_NONE && lx_balance_moves(here.load, best.load);
}

/* Whether a CPU, where `waiting` background tasks wait and one `runs` or none, gives one to the CPU with the load `to`. What
 * runs goes to faster ones only. */
LX_INLINE int lx_background_gives(struct lx_load from, u32 waiting, u32 runs, struct lx_load to)
{
	return (waiting > 0 || (runs && from.speed < to.speed)) && lx_balance_moves(from, to);
}

/* Which of two CPUs that give is to: `busiest`, which was found so far, or `other`. */
LX_INLINE struct lx_spot lx_spot_to_pull_from(struct lx_spot busiest, struct lx_spot other)
{
	return busiest.cpu == LX_NONE || lx_balance_is_busier(other.load, busiest.load) ? other : busiest;
}

#endif
