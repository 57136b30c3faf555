// SPDX-License-Identifier: GPL-2.0-only
/* The host's account of jobs, written independently of policy/core.h, and what the schedule has to be. */
#include "host.h"

/* The next job, under the rules of core.h's lx_next_job. */
void model_next_job(struct host *h, u32 task, u64 release)
{
	struct model_task *t = &h->task[task];
	u32 mode = h->s->config.budget_mode;

	t->state = JOB_THERE;
	t->release = release;
	t->ready_at = release;
	t->deadline_abs = release + t->deadline_rel;
	t->work_left = 1 + draw(h, t->wcet);
	t->suspends_at = draw(h, 4) == 0 ? draw(h, t->work_left) : 0;
	t->urgent_since = LX_NEVER;
	if (mode == LX_BUDGET_OFF) {
		t->budget_left = t->budget;
		return;
	}
	if (t->replenished == LX_NEVER || t->replenished + t->period <= release) {
		/* The server period before is over. */
		t->replenished = release;
		t->budget_left = t->budget;
		return;
	}
	if (t->budget_left == 0) {
		t->replenished += t->period;
		t->budget_left = t->budget;
		if (mode == LX_BUDGET_THROTTLE && t->replenished > release)
			t->ready_at = t->replenished;
	}
	if (t->replenished > release)
		t->deadline_abs = t->replenished + t->deadline_rel;
}

/* The rule of wake_up.h. */
u64 model_wake_up(struct host *h, u32 task)
{
	struct model_task *t = &h->task[task];
	u32 mode = h->s->config.budget_mode;
	int constrained = t->deadline_rel < t->period;
	u64 span = constrained ? t->deadline_rel : t->period;
	u64 over = mode == LX_BUDGET_THROTTLE && constrained && t->replenished != LX_NEVER ?
			   t->replenished + t->period : 0;

	if (t->deadline_abs > h->now) {
		/* Numbers are small. */
		u64 fits = (t->deadline_abs - h->now) * t->budget;

		if (t->budget_left * span <= fits)
			return LX_NEVER;
		if (constrained) {
			t->budget_left = fits / span;
			return LX_NEVER;
		}
		over = 0;
	}
	t->replenished = LX_NEVER;
	return over > h->now ? over : h->now;
}

/* The budget is used up. */
void model_replenish(struct host *h, u32 task)
{
	struct model_task *t = &h->task[task];

	t->budget_left = t->budget;
	t->replenished += t->period;
	t->urgent_since = LX_NEVER;
	if (h->s->config.budget_mode == LX_BUDGET_POSTPONE) {
		t->deadline_abs += t->period;
		t->ready_at = h->now;
	} else {
		t->deadline_abs = t->replenished + t->deadline_rel;
		t->ready_at = t->replenished;
	}
}

int model_is_ready(const struct host *h, u32 task)
{
	return h->task[task].state == JOB_THERE && h->task[task].ready_at <= h->now;
}

u64 model_key(const struct host *h, u32 task)
{
	if (h->task[task].urgent_since != LX_NEVER)
		return h->task[task].urgent_since;
	return h->s->config.rule == LX_RULE_EDF ? h->task[task].deadline_abs : h->task[task].priority;
}

/*
 * EDZL: a job that waits without laxity goes before all that have some, to its end. Its key is the instant at which its laxity,
 * its deadline less the present less the budget that it has left, ran out. Where kicks take time, which jobs have waited that
 * long is the policy's to say, but none that does so now may have been passed over.
 */
int model_laxities(struct host *h, int quiet)
{
	for (u32 i = 0; h->policy->counts_use && i < h->tasks; i++) {
		struct model_task *t = &h->task[i];
		u64 ends = t->deadline_abs > t->budget_left ? t->deadline_abs - t->budget_left : 0;
		u64 key = h->s->task[i].key;

		if (!model_is_ready(h, i))
			continue;
		if (h->mode != MODE_ORDERED)
			t->urgent_since = key < t->deadline_abs ? key : LX_NEVER;
		/* One that follows another on its CPU has yet to be chosen. */
		if (t->running_on != LX_NONE && h->cpu[t->running_on].executing)
			continue;
		if (t->urgent_since != LX_NEVER || ends > h->now)
			continue;
		if (quiet && ends < t->deadline_abs)
			return fail(h, "a job without laxity is passed over", i, ends);
		t->urgent_since = ends;
	}
	return 0;
}

/*
 * Each of the min(m, r) ready jobs of highest priority runs, where m CPUs are there, and no other: a job runs if fewer than m go
 * before it.
 */
int model_schedule_is_global(struct host *h)
{
	u32 there = 0;

	for (u32 cpu = 0; cpu < h->clients; cpu++)
		there += !h->cpu[cpu].withdrawn;
	for (u32 a = 0; a < h->tasks; a++) {
		u32 before = 0;
		int runs = h->task[a].running_on != LX_NONE;

		if (!model_is_ready(h, a)) {
			if (runs)
				return 0;
			continue;
		}
		for (u32 b = 0; b < h->tasks; b++) {
			u64 key_a = model_key(h, a);
			u64 key_b = model_key(h, b);

			before += b != a && model_is_ready(h, b) && (key_b < key_a || (key_b == key_a && b < a));
		}
		if (runs != (before < there))
			return 0;
	}
	return 1;
}
