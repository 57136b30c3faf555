/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What it means that a task wakes up, for hosts whose tasks do not say where a job ends: it blocked, and now goes on. Is that
 * the same job still, or a new one?
 *
 * The constant bandwidth server's rule (Abeni and Buttazzo 1998, 3.1; Linux: update_dl_entity and dl_entity_overflow in
 * kernel/sched/deadline.c). With budget Q, period T, relative deadline D, and of the present job the deadline d and the budget c
 * that is left, at `now`:
 *
 *   1  d is not yet past, and c / (d - now) <= Q / min(D, T): the job goes on with both. It asks for no more, until d, than
 *      the task's density, so every guarantee still holds.
 *   2  d is not yet past, but c is too much for the time that is left, and D < T: the job goes on, with c = (d - now) Q / D,
 *      rounded down. A new job would have more than Q in a period (Abeni, Lipari and Lelli, "Constant Bandwidth Server
 *      Revisited", 2015; update_dl_revised_wakeup).
 *   3  the same, and D >= T: a new job, now, whose server period begins with it.
 *   4  d is past: a new job, now; but if D < T and budgets are hard, not before the server period of the last one is over,
 *      for the same reason as in 2 (dl_check_constrained_dl).
 *
 * Assumptions:
 *   1. The task's present job is suspended (suspend was called for it), or the task has had no job since it entered.
 *   2. The host has charged all that the job has used (consume), also where budgets are not enforced.
 *   3. Q <= min(D, T), all positive and below LX_NEVER / 4.
 *
 * Exact: products have 128 bits. Where Linux compares numbers of 1024 ns, it may decide otherwise by that much.
 */
#ifndef LX_WAKE_UP_H
#define LX_WAKE_UP_H

#include "core.h"
#include "wide.h"

/* The time for which a task's budget is at its bandwidth: min(D, T). */
LX_INLINE u64 lx_density_span(const struct lx_task *t)
{
	return t->deadline_rel_ns < t->period_ns ? t->deadline_rel_ns : t->period_ns;
}

/* When the next job of a task may begin whose last one's deadline is past: case 4. */
LX_INLINE u64 lx_wake_up_late(struct lx_state *s, const struct lx_task *t, u64 now)
{
	u64 next_at = t->replenished_at + t->period_ns;

	if (s->config.budget_mode != LX_BUDGET_THROTTLE || t->replenished_at == LX_NEVER)
		return now;
	return t->deadline_rel_ns < t->period_ns && next_at > now ? next_at : now;
}

/*
 * The task, which blocked, wakes up at `now`. LX_NEVER: its present job goes on, so the host calls resume. Otherwise
 * it has a new job, and the host calls arrive with the instant returned, which is `now` or later. Changes what is
 * left of the budget, or ends the server period, and nothing else; no lock is needed, for no other CPU looks at a
 * task without a job that is ready.
 *
 * A job that goes on without any budget is exhausted as soon as it runs.
 */
LX_INLINE u64 lx_wake_up(struct lx_state *s, u32 task, u64 now)
{
	struct lx_task *t = lx_task(s, task);
	u64 span_ns = lx_density_span(t);
	u64 release_at = now;

	if (now < t->deadline_abs_ns) {
		struct lx_wide may = lx_wide_product(t->deadline_abs_ns - now, t->budget_ns);

		if (!lx_wide_exceeds(lx_wide_product(t->budget_left_ns, span_ns), may))
			return LX_NEVER;
		if (t->deadline_rel_ns < t->period_ns) {
			/* Less than budget_left, so the quotient fits. */
			t->budget_left_ns = lx_wide_quotient(may, span_ns);
			return LX_NEVER;
		}
	} else {
		release_at = lx_wake_up_late(s, t, now);
	}
	lx_server_ends(s, task);
	return release_at;
}

#endif
