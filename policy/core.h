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
	/* Without a branch: which way it goes cannot be predicted. */
	return (key_a < key_b) | ((key_a == key_b) & (a < b));
}

/* Whether the job of `a` goes before that of `b`. */
LX_INLINE int lx_task_before(struct lx_state *s, u32 a, u32 b)
{
	return lx_before(lx_task(s, a)->key, a, lx_task(s, b)->key, b);
}

/* An action of a policy with one lock; the caller writes what the kind has beside its CPU. */
LX_INLINE struct lx_action *lx_act(struct lx_state *s, u32 kind, u32 cpu)
{
	u32 n = s->actions;
	struct lx_action *action = LX_AT(s->action, n, LX_ACTIONS_MAX);

	action->kind = kind;
	action->cpu = cpu;
	s->actions = n + 1;
	return action;
}

/* The CPU that runs the task, or LX_NONE. */
LX_INLINE u32 lx_scheduled_on(struct lx_state *s, u32 task)
{
	u32 last = LX_READ(lx_task(s, task)->last_cpu);

	return last != LX_NONE && LX_READ(lx_cpu(s, last)->scheduled) == task ? last : LX_NONE;
}

/* Asks `cpu` to call reschedule, unless it is going to. */
LX_INLINE void lx_kick(struct lx_state *s, u32 cpu)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	if (!c->kicked) {
		c->kicked = 1;
		lx_act(s, LX_KICK, cpu);
	}
}


/* Two locks, or one and LX_NO_LOCK, as LX_STEP and lock_of give them: the lower CPU first, which is the order to take them in. */
LX_INLINE u32 lx_locks(u32 a, u32 b)
{
	u32 first = a < b ? a : b;
	u32 second = a < b ? b : a;

	return first | second << 16;
}

/* For assertions: whether a CPU other than `cpu` has the task as what it runs. O(m). */
LX_INLINE int lx_is_scheduled_beside(struct lx_state *s, u32 cpu, u32 task)
{
	u32 other = 0;
	int found = 0;

	while (other < s->config.cpus && LX_MAY_LOOP) {
		found |= other != cpu && lx_cpu(s, other)->scheduled == task;
		other++;
	}
	return found;
}

/* `cpu` runs `task`, or nothing if that is LX_NONE, from now on. Returns `task`. */
LX_INLINE u32 lx_switch_to(struct lx_state *s, u32 cpu, u32 task)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	if (task != LX_NONE) {
		LX_ASSERT(!lx_is_scheduled_beside(s, cpu, task));
		LX_WRITE(lx_task(s, task)->last_cpu, cpu);
	}
	LX_WRITE(c->scheduled, task);
	return task;
}

/* Charges `used_ns` ns to the task's budget. */
LX_INLINE void lx_charge(struct lx_state *s, u32 task, u64 used_ns)
{
	struct lx_task *t = lx_task(s, task);

	t->budget_left_ns = t->budget_left_ns > used_ns ? t->budget_left_ns - used_ns : 0;
}

/* When the next server period of a task begins, and what its deadline then is. */
struct lx_replenishment {
	u64 release_at;
	u64 deadline_abs_ns;
};

LX_INLINE struct lx_replenishment lx_next_replenishment(struct lx_state *s, u32 task)
{
	struct lx_task *t = lx_task(s, task);
	struct lx_replenishment next = {t->replenished_at + t->period_ns, t->deadline_abs_ns + t->period_ns};

	if (s->config.budget_mode != LX_BUDGET_POSTPONE)
		next.deadline_abs_ns = next.release_at + t->deadline_rel_ns;
	return next;
}

/*
 * Gives a job without budget its next one. Returns the instant from which it may run (ackelman2018, 5.1):
 * throttled, the next replenishment, one period after the last; postponed, now, with a deadline one period
 * later.
 */
LX_INLINE u64 lx_replenish(struct lx_state *s, u32 task, u64 now)
{
	struct lx_task *t = lx_task(s, task);
	struct lx_replenishment next = lx_next_replenishment(s, task);

	t->replenished_at = next.release_at;
	t->budget_left_ns = t->budget_ns;
	t->deadline_abs_ns = next.deadline_abs_ns;
	if (s->config.rule == LX_RULE_EDF)
		t->key = t->deadline_abs_ns;
	return s->config.budget_mode == LX_BUDGET_POSTPONE || t->replenished_at < now ? now : t->replenished_at;
}

/*
 * The task becomes one of the instance. It has never been, or the one that had its number has left, which is in no link and
 * no queue any more, or will not be when its last message has been read (g-edf-mp).
 *
 * One thing of that one may still be there: the CPU where it ended has yet to reschedule, and has it as what it runs.
 * `last_cpu` stays then, for it is how lx_scheduled_on finds that CPU: to the policy the new task is scheduled there, and its
 * first job is linked there or waits, as one of a task that wakes up before its CPU has switched away from it. Were it
 * forgotten, two CPUs could have the same task as what they run.
 */
LX_INLINE void lx_task_enter(struct lx_state *s, u32 task)
{
	struct lx_task *t = lx_task(s, task);

	if (lx_scheduled_on(s, task) == LX_NONE)
		t->last_cpu = LX_NONE;
	LX_ASSERT(!lx_is_scheduled_beside(s, t->last_cpu, task));
	/* A deadline that is past: there is no job that could go on. */
	t->deadline_abs_ns = 0;
	t->replenished_at = LX_NEVER;
	t->budget_left_ns = t->budget_ns;
}

/* Tasks without jobs, and no timer. */
LX_INLINE void lx_tasks_init(struct lx_state *s)
{
	u32 i = 0;

	s->next_timer_at = LX_NEVER;
	s->timer_cpu = 0;
	while (i < s->config.tasks && LX_MAY_LOOP) {
		struct lx_task *t = lx_task(s, i);

		t->linked_on = LX_NONE;
		t->last_cpu = LX_NONE;
		t->place = LX_PLACE_NOWHERE;
		t->deadline_abs_ns = 0;
		t->replenished_at = LX_NEVER;
		t->budget_left_ns = t->budget_ns;
		i++;
		LX_FORGET(s, i);
	}
}

/*
 * Gives the task its next job, which arrives at `release_at`; the instant from which it may run. Its deadline is release + D.
 *
 * With budgets, a job that arrived while its predecessor overran lives on what is left of the server period that the
 * two share, and has that server's deadline (Abeni and Buttazzo 1998); a server with nothing left is replenished
 * one period after the last time.
 */
LX_INLINE u64 lx_next_job(struct lx_state *s, u32 task, u64 release_at)
{
	struct lx_task *t = lx_task(s, task);
	u64 ready_at = release_at;

	t->release_at = release_at;
	t->deadline_abs_ns = release_at + t->deadline_rel_ns;
	if (s->config.budget_mode != LX_BUDGET_OFF) {
		if (t->replenished_at == LX_NEVER || release_at >= t->replenished_at + t->period_ns) {
			t->replenished_at = release_at;
			t->budget_left_ns = t->budget_ns;
		} else if (t->budget_left_ns == 0) {
			t->replenished_at += t->period_ns;
			t->budget_left_ns = t->budget_ns;
			if (s->config.budget_mode == LX_BUDGET_THROTTLE && t->replenished_at > release_at)
				ready_at = t->replenished_at;
		}
		if (t->replenished_at > release_at)
			t->deadline_abs_ns = t->replenished_at + t->deadline_rel_ns;
	} else {
		/* Not enforced, but counted, for lx_wake_up. */
		t->budget_left_ns = t->budget_ns;
	}
	t->key = s->config.rule == LX_RULE_EDF ? t->deadline_abs_ns : t->priority;
	return ready_at;
}

/* The task's next job begins a server period, whatever has been before: it has a budget of its own. */
LX_INLINE void lx_server_ends(struct lx_state *s, u32 task)
{
	lx_task(s, task)->replenished_at = LX_NEVER;
}

/* Whether a job that may run from `ready_at` on has to wait. Before time begins (`now` is LX_NEVER) all have. */
LX_INLINE int lx_is_later(u64 ready_at, u64 now)
{
	return ready_at > now || now == LX_NEVER;
}

#endif
