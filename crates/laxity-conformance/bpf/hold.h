/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A benchmark of one ready queue, LX_QUEUE, the same for both builds: the hold model. The number of waiting jobs stays the
 * same: an operation pops the first one, and inserts the next job of the task that has been without for the longest time; of
 * the same task, if all wait.
 *
 * A job is popped `slack` before its deadline, and the other one arrives at that moment: so arrivals rise, as in a
 * schedule, and every queue sees the same sequence. That is what the lists of fpp were made for. A task with a lateness
 * (which is in `budget_ns`, as a queue knows no budgets) is one whose jobs arrive that much earlier than they are inserted, as
 * those of a tardy task do.
 */
#define LX_JOIN_H_(a, b) a##_##b
#define LX_JOIN_H(a, b) LX_JOIN_H_(a, b)
#define LX_H(name) LX_JOIN_H(LX_QUEUE, name)

#ifndef LX_HOLD_IDLE
#define LX_HOLD_IDLE
/* Tasks without a job: a list through `right`, whose ends are those of a release group, which are not in use here. */
LX_INLINE void lx_idle_add(struct lx_state *s, u32 task)
{
	struct lx_group *idle = lx_group(s, 0);

	lx_task(s, task)->right = LX_NONE;
	if (idle->head == LX_NONE)
		idle->head = task;
	else
		lx_task(s, idle->next)->right = task;
	idle->next = task;
}

LX_INLINE u32 lx_idle_take(struct lx_state *s)
{
	struct lx_group *idle = lx_group(s, 0);
	u32 task = idle->head;

	idle->head = lx_task(s, task)->right;
	return task;
}
#endif

/* Inserts the tasks that have a first key, in `period_ns`. */
LX_FN void LX_H(fill)(struct lx_state *s)
{
	u32 task = 0;

	LX_H(init)(s);
	lx_group(s, 0)->head = LX_NONE;
	while (task < s->config.tasks && LX_MAY_LOOP) {
		struct lx_task *t = lx_task(s, task);

		t->key = t->period_ns;
		if (t->key)
			LX_H(insert)(s, task);
		else
			lx_idle_add(s, task);
		task++;
		LX_FORGET(s, task);
	}
}

/* Returns a number that depends on which jobs were popped in which order. */
LX_FN u64 LX_H(hold)(struct lx_state *s, u32 operations, u64 slack_ns)
{
	u64 order = 0;

	while (operations > 0 && LX_MAY_LOOP) {
		u32 task = LX_H(top)(s);
		u64 deadline_abs_ns = lx_task(s, task)->key;
		struct lx_task *t;

		LX_H(pop)(s, task);
		order = order * 31 + task;
		lx_idle_add(s, task);
		task = lx_idle_take(s);
		t = lx_task(s, task);
		t->key = deadline_abs_ns + t->deadline_rel_ns - t->budget_ns - slack_ns;
		LX_H(insert)(s, task);
		operations--;
		LX_FORGET(s, operations);
	}
	return order;
}

#undef LX_H
