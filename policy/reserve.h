/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reserve: what real-time work leaves of a CPU to background work, so that a machine under full real-time load
 * can still be reached, and the watchdog of sched_ext does not end the scheduler (Linux: sched_rt_runtime_us,
 * sched_rt_period_us).
 *
 * Time is divided into windows of `period` ns. In each of them real-time work gets at most `runtime` ns of the CPU as
 * long as background work waits; the host asks only then, but charges always. What is not used in a window is lost,
 * and what was used too much, because a timer was late, is not paid back.
 *
 * There is no reserve if `period` is 0 or `runtime` is not less; real-time work waits for all background work if
 * `runtime` is 0. Instants do not go back by more than a window, and one that is before `period_start` counts as
 * that.
 */
#ifndef LX_RESERVE_H
#define LX_RESERVE_H

#include "seam.h"

/* Of one CPU, under its lock. */
struct lx_reserve {
	/* Where the last window began in which something was charged, and what was charged in it. */
	u64 period_start;
	u64 used;
	u64 period;
	u64 runtime;
};

LX_INLINE int lx_reserve_is_off(const struct lx_reserve *r)
{
	return r->period == 0 || r->runtime >= r->period;
}

/* Where the window begins that `now` is in. */
LX_INLINE u64 lx_reserve_window(const struct lx_reserve *r, u64 now)
{
	if (now < r->period_start)
		return r->period_start;
	return now - (now - r->period_start) % r->period;
}

/* What has been charged in the window that begins at `window`. */
LX_INLINE u64 lx_reserve_used(const struct lx_reserve *r, u64 window)
{
	return window == r->period_start ? r->used : 0;
}

/* Real-time work has had the CPU for `used` ns without a break, until `now`. */
LX_INLINE void lx_reserve_charge(struct lx_reserve *r, u64 used, u64 now)
{
	u64 window, here;

	if (lx_reserve_is_off(r))
		return;
	window = lx_reserve_window(r, now);
	here = now > window ? now - window : 0;
	/* The rest was in windows that are over. */
	r->used = lx_reserve_used(r, window) + (used < here ? used : here);
	r->period_start = window;
}

/* Whether real-time work may have the CPU at `now`, although background work waits. */
LX_INLINE int lx_reserve_admits(const struct lx_reserve *r, u64 now)
{
	return lx_reserve_is_off(r) || lx_reserve_used(r, lx_reserve_window(r, now)) < r->runtime;
}

/* For how long real-time work may go on from `now`, without a break, although background work waits: 0, or
 * LX_NEVER for ever. */
LX_INLINE u64 lx_reserve_left(const struct lx_reserve *r, u64 now)
{
	u64 window, left, rest;

	if (lx_reserve_is_off(r))
		return LX_NEVER;
	if (!lx_reserve_admits(r, now))
		return 0;
	window = lx_reserve_window(r, now);
	left = r->runtime - lx_reserve_used(r, window);
	rest = window + r->period - now;
	/* What lasts until the next window goes on in it, and not beyond, as runtime < period. */
	return left < rest ? left : rest + r->runtime;
}

/* The first instant from `now` on at which real-time work may have the CPU again, if nothing is charged until then; LX_NEVER. */
LX_INLINE u64 lx_reserve_next(const struct lx_reserve *r, u64 now)
{
	if (lx_reserve_admits(r, now))
		return now;
	return r->runtime == 0 ? LX_NEVER : lx_reserve_window(r, now) + r->period;
}

#endif
