/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The deferrable server of a core (calandrino2007, 4.2; Strosnider, Lehoczky and Sha 1995): in each of its
 * periods background work goes before real-time work until it has had the core for the budget. Whenever
 * background work runs, that is charged, also where no real-time work waits; what is left of the budget at the
 * end of a period is lost, and the next one begins with a full one.
 *
 * So it is a share of the core per window, as the reserve is (reserve.h), only that it is background work which
 * is charged and asked for. Background work that begins late in a period may go on into the next one and have
 * two budgets without a break: the double hit.
 *
 * The host asks whether background work that waits goes first, for how long, and otherwise when it will. A
 * period of 0: there is no server; background work has what real-time work leaves. A budget of a whole period:
 * background work always goes first.
 *
 * The host says which size is wanted (lx_server_wants) and when no real-time job of the core is pending
 * (lx_server_quiet); from when on the server has that size is decided here. laxity_analysis::admission says
 * what it means for admitted tasks.
 */
#ifndef LX_DEFERRABLE_H
#define LX_DEFERRABLE_H

#include "reserve.h"

/* Of one CPU, under its lock. All of it 0: there is no server. */
struct lx_server {
	/* `runtime` is the budget of background work. */
	struct lx_reserve share;
	/* The size from the instant `resized` on, which is LX_NEVER if none has been asked for. */
	u64 resized;
	u64 next_budget;
	u64 next_period;
	/* The size that waits for an instant without pending real-time jobs; a period of LX_NEVER: none waits. */
	u64 quiet_budget;
	u64 quiet_period;
};

/* The server has this size from `start` on, and none comes with its next period. */
LX_INLINE void lx_server_begin(struct lx_server *v, u64 start, u64 budget, u64 period)
{
	v->share = (struct lx_reserve){.period_start = start, .used = 0, .period = period, .runtime = budget};
	v->resized = LX_NEVER;
	v->next_budget = 0;
	v->next_period = 0;
}

LX_INLINE void lx_server_init(struct lx_server *v, u64 start, u64 budget, u64 period)
{
	lx_server_begin(v, start, budget, period);
	v->quiet_budget = 0;
	v->quiet_period = LX_NEVER;
}

/* A new size whose time has come is the server's from then on, with a full budget. */
LX_INLINE void lx_server_advance(struct lx_server *v, u64 now)
{
	if (now >= v->resized)
		lx_server_begin(v, v->resized, v->next_budget, v->next_period);
}

/*
 * The server gets another size when its present period ends, at once if it has none. Returns that instant.
 * Until then it keeps the old one: a budget that has been used already cannot be taken back, and a larger one
 * now would be a second in this period. A size that waits for a quiet core is dropped.
 */
LX_INLINE u64 lx_server_resize(struct lx_server *v, u64 budget, u64 period, u64 now)
{
	lx_server_advance(v, now);
	v->quiet_period = LX_NEVER;
	v->next_budget = budget;
	v->next_period = period;
	v->resized = v->share.period == 0 ? now : lx_reserve_window(&v->share, now) + v->share.period;
	return v->resized;
}

/*
 * At `now` no real-time job of the core is pending: a size that has waited for that is the server's from now
 * on, also where another one was to come with the next period. Returns whether there was one.
 */
LX_INLINE int lx_server_quiet(struct lx_server *v, u64 now)
{
	if (v->quiet_period == LX_NEVER)
		return 0;
	lx_server_init(v, now, v->quiet_budget, v->quiet_period);
	return 1;
}

/*
 * Requests a new size. The same period: it takes effect at the next replenishment. Another period: as soon as
 * no real-time job is pending, at once if `quiet` says so, because budgets of two periods would be more than
 * any analysis covers. Returns that instant in ns; LX_NEVER: when lx_server_quiet says so. A later request
 * replaces an earlier one.
 */
LX_INLINE u64 lx_server_wants(struct lx_server *v, u64 budget, u64 period, int quiet, u64 now)
{
	lx_server_advance(v, now);
	if (v->share.period == period)
		return lx_server_resize(v, budget, period, now);
	v->quiet_budget = budget;
	v->quiet_period = period;
	return quiet && lx_server_quiet(v, now) ? now : LX_NEVER;
}

/* Background work has had the core for `used` ns without a break, until `now`. */
LX_INLINE void lx_server_charge(struct lx_server *v, u64 used, u64 now)
{
	lx_server_advance(v, now);
	lx_reserve_charge(&v->share, used, now);
}

/* Whether background work that waits goes before real-time work at `now`. */
LX_INLINE int lx_server_goes_first(struct lx_server *v, u64 now)
{
	lx_server_advance(v, now);
	return v->share.period != 0 && lx_reserve_admits(&v->share, now);
}

/* For how long from `now`, without a break: 0, or LX_NEVER for ever. Asked again when a new size has come. */
LX_INLINE u64 lx_server_left(struct lx_server *v, u64 now)
{
	u64 left;

	if (!lx_server_goes_first(v, now))
		return 0;
	left = lx_reserve_left(&v->share, now);
	/* What lasts until the new size comes goes on by that one. */
	return v->resized == LX_NEVER || left < v->resized - now ? left : v->resized - now;
}

/* The first instant from `now` on at which background work goes first, if it is not charged until then;
 * LX_NEVER for never. */
LX_INLINE u64 lx_server_next(struct lx_server *v, u64 now)
{
	u64 next;

	lx_server_advance(v, now);
	next = v->share.period == 0 ? LX_NEVER : lx_reserve_next(&v->share, now);
	return next < v->resized ? next : v->resized;
}

#endif
