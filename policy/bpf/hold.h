/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A benchmark of one ready queue, LX_QUEUE, the same for both builds: the hold model. As many jobs wait as there are tasks; an
 * operation pops the first one and inserts its task's next one.
 *
 * A job is popped `slack` before its deadline and its successor arrives at that moment: so arrivals rise, as in a
 * schedule, and every queue sees the same sequence. That is what the lists of fpp were made for; a task with a lateness
 * (which is in `budget`, as a queue knows no budgets) is one whose jobs arrive that much earlier than they are inserted, as those of a
 * tardy task do.
 */
#define LX_JOIN_H_(a, b) a##_##b
#define LX_JOIN_H(a, b) LX_JOIN_H_(a, b)
#define LX_H(name) LX_JOIN_H(LX_QUEUE, name)

/* Inserts all tasks; the first keys are in `period`. */
LX_FN void LX_H(fill)(struct lx_state *s)
{
	u32 task = 0;

	LX_H(init)(s);
	while (task < s->config.tasks && LX_MAY_LOOP) {
		struct lx_task *t = lx_task(s, task);

		t->key = t->period;
		LX_H(insert)(s, task);
		task++;
		LX_FORGET(s, task);
	}
}

/* Returns a number that depends on which jobs were popped in which order. */
LX_FN u64 LX_H(hold)(struct lx_state *s, u32 operations, u64 slack)
{
	u64 order = 0;

	while (operations > 0 && LX_MAY_LOOP) {
		u32 task = LX_H(top)(s);
		struct lx_task *t = lx_task(s, task);

		LX_H(pop)(s, task);
		order = order * 31 + task;
		t->key += t->deadline_rel - slack - t->budget;
		LX_H(insert)(s, task);
		operations--;
		LX_FORGET(s, operations);
	}
	return order;
}

#undef LX_H
