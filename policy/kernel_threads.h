/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel threads. One that is bound to a CPU does what only that CPU can do for itself (its soft interrupts, its work queues), and goes
 * before real-time work for a bounded time: at most `runtime_ns` ns in each window of `period_ns` ns, all such threads of the CPU
 * together (reserve.h has the windows). Whichever is beyond waits for the next window, or for a CPU without real-time work: there it
 * takes turns with background work. All other kernel threads are background work like any other.
 *
 * To real-time work this is a deferrable server: two budgets may follow each other without a break, one at the end of a window
 * and one at the beginning of the next; so in any time of length t it is kept from a CPU for (1 + ceil(t / period)) budgets at most.
 */
#ifndef LX_KERNEL_THREADS_H
#define LX_KERNEL_THREADS_H

#include "reserve.h"

/* Whether a thread that may be on `cpus` CPUs is one of the bound ones. */
LX_INLINE int lx_kernel_thread_is_bound(u32 of_kernel, u32 cpus)
{
	return of_kernel && cpus == 1;
}

/* For how long from `now` a bound thread goes first: 0, or LX_NEVER for ever. `first`: what such threads of its CPU have had. */
LX_INLINE u64 lx_kernel_thread_left(const struct lx_reserve *first, u64 now)
{
	return lx_reserve_left(first, now);
}

/*
 * Bound threads have had the CPU for `used_ns` ns without a break, until `now`. What they had by going first counts as real-time work
 * to the reserve for background work, which has its share beside both.
 */
LX_INLINE void lx_kernel_thread_charge(struct lx_reserve *first, struct lx_reserve *background, u64 used_ns, u64 now)
{
	u64 left_ns = lx_kernel_thread_left(first, now - used_ns);

	lx_reserve_charge(first, used_ns, now);
	lx_reserve_charge(background, used_ns < left_ns ? used_ns : left_ns, now);
}

/* Where no real-time work is: whether bound threads that wait go before background work, after `bound` ones or others had the CPU. */
LX_INLINE int lx_kernel_thread_has_turn(u32 bound)
{
	return !bound;
}

#endif
