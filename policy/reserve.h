/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reserve: what real-time work leaves of a CPU to background work, so that a machine under full real-time load
 * can still be reached, and the watchdog of sched_ext does not end the scheduler (Linux: sched_rt_runtime_us,
 * sched_rt_period_us).
 *
 * Time is divided into windows of `period_ns` ns. In each of them real-time work gets at most `runtime_ns` ns of the CPU as
 * long as background work waits; the host asks only then, but charges always. What is not used in a window is lost,
 * and what was used too much, because a timer was late, is not paid back.
 *
 * There is no reserve if `period_ns` is 0 or `runtime_ns` is not less; real-time work waits for all background work if
 * `runtime_ns` is 0. Instants do not go back by more than a window, and one that is before `period_start_at` counts as
 * that.
 */
#ifndef LX_RESERVE_H
#define LX_RESERVE_H

#include "seam.h"

/* Of one CPU, under its lock. */
struct lx_reserve {
	/* Where the last window began in which something was charged, and what was charged in it. */
	u64 period_start_at;
	u64 used_ns;
	u64 period_ns;
	u64 runtime_ns;
};

LX_INLINE int lx_reserve_is_off(const struct lx_reserve *r)
{
	return r->period_ns == 0 || r->runtime_ns >= r->period_ns;
}

/* Where the window begins that `now` is in. */
LX_INLINE u64 lx_reserve_window(const struct lx_reserve *r, u64 now)
{
	if (now < r->period_start_at)
		return r->period_start_at;
	return now - (now - r->period_start_at) % r->period_ns;
}

/* What has been charged in the window that begins at `window_at`. */
LX_INLINE u64 lx_reserve_used(const struct lx_reserve *r, u64 window_at)
{
	return window_at == r->period_start_at ? r->used_ns : 0;
}

/* Real-time work has had the CPU for `used_ns` ns without a break, until `now`. */
LX_INLINE void lx_reserve_charge(struct lx_reserve *r, u64 used_ns, u64 now)
{
	u64 window_at, here_ns;

	if (lx_reserve_is_off(r))
		return;
	window_at = lx_reserve_window(r, now);
	here_ns = now > window_at ? now - window_at : 0;
	/* The rest was in windows that are over. */
	r->used_ns = lx_reserve_used(r, window_at) + (used_ns < here_ns ? used_ns : here_ns);
	r->period_start_at = window_at;
}

/* Whether real-time work may have the CPU at `now`, although background work waits. */
LX_INLINE int lx_reserve_admits(const struct lx_reserve *r, u64 now)
{
	return lx_reserve_is_off(r) || lx_reserve_used(r, lx_reserve_window(r, now)) < r->runtime_ns;
}

/* For how long real-time work may go on from `now`, without a break, although background work waits: 0, or
 * LX_NEVER for ever. */
LX_INLINE u64 lx_reserve_left(const struct lx_reserve *r, u64 now)
{
	u64 window_at, left_ns, rest_ns;

	if (lx_reserve_is_off(r))
		return LX_NEVER;
	if (!lx_reserve_admits(r, now))
		return 0;
	window_at = lx_reserve_window(r, now);
	left_ns = r->runtime_ns - lx_reserve_used(r, window_at);
	rest_ns = window_at + r->period_ns - now;
	/* What lasts until the next window goes on in it, and not beyond, as runtime < period. */
	return left_ns < rest_ns ? left_ns : rest_ns + r->runtime_ns;
}

/* The first instant from `now` on at which real-time work may have the CPU again, if nothing is charged until then; LX_NEVER. */
LX_INLINE u64 lx_reserve_next(const struct lx_reserve *r, u64 now)
{
	if (lx_reserve_admits(r, now))
		return now;
	return r->runtime_ns == 0 ? LX_NEVER : lx_reserve_window(r, now) + r->period_ns;
}

#endif
