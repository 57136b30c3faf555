/* SPDX-License-Identifier: GPL-2.0-only */
/* What every policy uses: access to the state, the order of jobs, actions. */
#ifndef LX_CORE_H
#define LX_CORE_H

#include "state.h"

LX_INLINE struct lx_task *lx_task(struct lx_state *s, u32 task)
{
	LX_ASSERT(task < s->config.tasks);
	return LX_AT(s->task, task, LX_TASKS_MAX);
}

LX_INLINE struct lx_cpu *lx_cpu(struct lx_state *s, u32 cpu)
{
	LX_ASSERT(cpu < s->config.cpus);
	return LX_AT(s->cpu, cpu, LX_CPUS_MAX);
}

/* Whether (key_a, a) goes before (key_b, b): the total order of jobs. */
LX_INLINE int lx_before(u64 key_a, u32 a, u64 key_b, u32 b)
{
	return key_a < key_b || (key_a == key_b && a < b);
}

/* Whether the job of `a` goes before that of `b`. */
LX_INLINE int lx_task_before(struct lx_state *s, u32 a, u32 b)
{
	return lx_before(lx_task(s, a)->key, a, lx_task(s, b)->key, b);
}

LX_INLINE void lx_act(struct lx_state *s, u32 kind, u32 cpu, u32 task, u64 time)
{
	u32 n = s->actions;
	struct lx_action *action = LX_AT(s->action, n, LX_ACTIONS_MAX);

	action->kind = kind;
	action->cpu = cpu;
	action->task = task;
	action->reserved = 0;
	action->time = time;
	s->actions = n + 1;
}

/* Asks `cpu` to call reschedule, once. */
LX_INLINE void lx_kick(struct lx_state *s, u32 cpu)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	if (!c->kicked) {
		c->kicked = 1;
		lx_act(s, LX_KICK, cpu, LX_NONE, 0);
	}
}

/*
 * Gives the task its next job, which arrives at `release`; the instant from which it may run. Its deadline is release + D.
 *
 * With budgets, a job that arrived while its predecessor overran lives on what is left of the server period that the
 * two share, and has that server's deadline (Abeni and Buttazzo 1998); a server with nothing left is replenished
 * one period after the last time.
 */
LX_INLINE u64 lx_next_job(struct lx_state *s, u32 task, u64 release)
{
	struct lx_task *t = lx_task(s, task);
	u64 ready = release;

	t->release = release;
	t->deadline_abs = release + t->deadline_rel;
	if (s->config.budget_mode != LX_BUDGET_OFF) {
		if (t->replenished == LX_NEVER || release >= t->replenished + t->period) {
			t->replenished = release;
			t->budget_left = t->budget;
		} else if (t->budget_left == 0) {
			t->replenished += t->period;
			t->budget_left = t->budget;
			if (s->config.budget_mode == LX_BUDGET_THROTTLE && t->replenished > release)
				ready = t->replenished;
		}
		if (t->replenished > release)
			t->deadline_abs = t->replenished + t->deadline_rel;
	}
	t->key = s->config.rule == LX_RULE_EDF ? t->deadline_abs : t->priority;
	return ready;
}

#endif
