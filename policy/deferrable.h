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
	/* `runtime_ns` is the budget of background work. */
	struct lx_reserve share;
	/* The size from the instant `resized_at` on, which is LX_NEVER if none has been asked for. */
	u64 resized_at;
	u64 next_budget_ns;
	u64 next_period_ns;
	/* The size that waits for an instant without pending real-time jobs; a period of LX_NEVER: none waits. */
	u64 quiet_budget_ns;
	u64 quiet_period_ns;
};

/* The server has this size from `start_at` on, and none comes with its next period. */
LX_INLINE void lx_server_begin(struct lx_server *v, u64 start_at, u64 budget_ns, u64 period_ns)
{
	v->share = (struct lx_reserve){.period_start_at = start_at, .used_ns = 0, .period_ns = period_ns, .runtime_ns = budget_ns};
	v->resized_at = LX_NEVER;
	v->next_budget_ns = 0;
	v->next_period_ns = 0;
}

LX_INLINE void lx_server_init(struct lx_server *v, u64 start_at, u64 budget_ns, u64 period_ns)
{
	lx_server_begin(v, start_at, budget_ns, period_ns);
	v->quiet_budget_ns = 0;
	v->quiet_period_ns = LX_NEVER;
}

/* A new size whose time has come is the server's from then on, with a full budget. */
LX_INLINE void lx_server_advance(struct lx_server *v, u64 now)
{
	if (now >= v->resized_at)
		lx_server_begin(v, v->resized_at, v->next_budget_ns, v->next_period_ns);
}

/*
 * The server gets another size when its present period ends, at once if it has none. Returns that instant.
 * Until then it keeps the old one: a budget that has been used already cannot be taken back, and a larger one
 * now would be a second in this period. A size that waits for a quiet core is dropped.
 */
LX_INLINE u64 lx_server_resize(struct lx_server *v, u64 budget_ns, u64 period_ns, u64 now)
{
	lx_server_advance(v, now);
	v->quiet_period_ns = LX_NEVER;
	v->next_budget_ns = budget_ns;
	v->next_period_ns = period_ns;
	v->resized_at = v->share.period_ns == 0 ? now : lx_reserve_window(&v->share, now) + v->share.period_ns;
	return v->resized_at;
}

/*
 * At `now` no real-time job of the core is pending: a size that has waited for that is the server's from now
 * on, also where another one was to come with the next period. Returns whether there was one.
 */
LX_INLINE int lx_server_quiet(struct lx_server *v, u64 now)
{
	if (v->quiet_period_ns == LX_NEVER)
		return 0;
	lx_server_init(v, now, v->quiet_budget_ns, v->quiet_period_ns);
	return 1;
}

/*
 * Requests a new size. The same period: it takes effect at the next replenishment. Another period: as soon as
 * no real-time job is pending, at once if `quiet` says so, because budgets of two periods would be more than
 * any analysis covers. Returns that instant in ns; LX_NEVER: when lx_server_quiet says so. A later request
 * replaces an earlier one.
 */
LX_INLINE u64 lx_server_wants(struct lx_server *v, u64 budget_ns, u64 period_ns, int quiet, u64 now)
{
	lx_server_advance(v, now);
	if (v->share.period_ns == period_ns)
		return lx_server_resize(v, budget_ns, period_ns, now);
	v->quiet_budget_ns = budget_ns;
	v->quiet_period_ns = period_ns;
	return quiet && lx_server_quiet(v, now) ? now : LX_NEVER;
}

/* Background work has had the core for `used_ns` ns without a break, until `now`. */
LX_INLINE void lx_server_charge(struct lx_server *v, u64 used_ns, u64 now)
{
	lx_server_advance(v, now);
	lx_reserve_charge(&v->share, used_ns, now);
}

/* Whether background work that waits goes before real-time work at `now`. */
LX_INLINE int lx_server_goes_first(struct lx_server *v, u64 now)
{
	lx_server_advance(v, now);
	return v->share.period_ns != 0 && lx_reserve_admits(&v->share, now);
}

/* For how long from `now`, without a break: 0, or LX_NEVER for ever. Asked again when a new size has come. */
LX_INLINE u64 lx_server_left(struct lx_server *v, u64 now)
{
	u64 left_ns;

	if (!lx_server_goes_first(v, now))
		return 0;
	left_ns = lx_reserve_left(&v->share, now);
	/* What lasts until the new size comes goes on by that one. */
	return v->resized_at == LX_NEVER || left_ns < v->resized_at - now ? left_ns : v->resized_at - now;
}

/* The first instant from `now` on at which background work goes first, if it is not charged until then;
 * LX_NEVER for never. */
LX_INLINE u64 lx_server_next(struct lx_server *v, u64 now)
{
	u64 next_at;

	lx_server_advance(v, now);
	next_at = v->share.period_ns == 0 ? LX_NEVER : lx_reserve_next(&v->share, now);
	return next_at < v->resized_at ? next_at : v->resized_at;
}

#endif
