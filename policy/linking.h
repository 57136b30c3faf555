/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link-based scheduling under one lock, for one ready queue: the policy that includes this defines
 *
 *   LX_POLICY   prefix of its entry points, such as lx_edf_bh
 *   LX_QUEUE    prefix of its ready queue, such as lx_binary_heap
 *   LX_MERGES   defined if the queue takes a whole release group at once (NAME_group_release)
 *   LX_TURNS    defined if what goes first changes while time passes, without any event: the queue then has NAME_competes,
 *               NAME_leaves, NAME_turn and NAME_next_turn, and the policy a timer (see "turns" below)
 *
 * and has them undefined again, unless it is compiled alone (alone.h).
 *
 * A CPU has the task it should run (linked) and the one it runs (scheduled); decisions change links, and a CPU follows
 * when it calls reschedule (cerqueira2014, III-B; ackelman2018, 5.2). At the end of every entry point
 *
 *   1. the linked tasks are the min(m, r) of highest priority among the r ready ones, where m CPUs are there (not withdrawn):
 *      nothing that waits goes before anything linked, and no CPU is idle while something waits;
 *   2. a linked task that is still scheduled somewhere is linked there: so a CPU never has to wait for another one to let
 *      go of the task it is to run.
 *
 * A build with LX_CHECKED looks at both there (check). All entry points run under the instance's one lock. `now` is the present
 * instant; actions are in s->action.
 */
#include "cpu_heap.h"

#define LX_JOIN_(a, b) a##_##b
#define LX_JOIN(a, b) LX_JOIN_(a, b)
#define LX_P(name) LX_JOIN(LX_POLICY, name)
#define LX_Q(name) LX_JOIN(LX_QUEUE, name)

#ifdef LX_CHECKED
/*
 * What the end of every entry point has: both invariants, and that heap, links and tasks agree. A CPU whose link is not what
 * it runs has been asked to reschedule. O(m).
 */
LX_FN void LX_P(check)(struct lx_state *s)
{
	struct lx_cpu_entry first = lx_cpu_first(s);
	u32 top = LX_Q(top)(s);
	u32 cpu;

	for (cpu = 0; cpu < s->cpus_linkable; cpu++) {
		struct lx_cpu_entry entry = *lx_cpu_leaf(s, cpu);
		u32 linked = lx_cpu(s, cpu)->linked;
		u32 scheduled = lx_cpu(s, cpu)->scheduled;

		if (lx_cpu(s, cpu)->withdrawn) {
			LX_ASSERT(entry.key == 0 && entry.tie == 0);
			LX_ASSERT(linked == LX_NONE && scheduled == LX_NONE);
			continue;
		}
		LX_ASSERT(lx_entry_cpu(entry) == cpu && lx_entry_task(entry) == linked);
		LX_ASSERT(!lx_entry_yields(entry, first));
		LX_ASSERT(linked == scheduled || lx_cpu(s, cpu)->kicked);
		if (linked != LX_NONE) {
			LX_ASSERT(entry.key == lx_task(s, linked)->key);
			LX_ASSERT(lx_task(s, linked)->linked_on == cpu);
			LX_ASSERT(lx_task(s, linked)->place == LX_PLACE_NOWHERE);
		}
		/* Invariant 2. */
		if (scheduled != LX_NONE && lx_task(s, scheduled)->linked_on != LX_NONE)
			LX_ASSERT(lx_task(s, scheduled)->linked_on == cpu);
	}
	/* Invariant 1: what waits first goes before nothing linked, and finds no idle CPU. */
	if (top != LX_NONE) {
		LX_ASSERT(lx_task(s, top)->linked_on == LX_NONE);
		LX_ASSERT(!lx_preempts(lx_task(s, top)->key, top, first));
	}
}
#else
LX_INLINE void LX_P(check)(struct lx_state *s)
{
	(void)s;
}
#endif

LX_INLINE void LX_P(ready_add)(struct lx_state *s, u32 task)
{
	lx_task(s, task)->place = LX_PLACE_READY;
	LX_Q(insert)(s, task);
}

LX_INLINE void LX_P(set_link)(struct lx_state *s, u32 cpu, u32 task)
{
	struct lx_cpu *c = lx_cpu(s, cpu);
	struct lx_task *t = lx_task(s, task);

	c->linked = task;
	t->linked_on = cpu;
	t->place = LX_PLACE_NOWHERE;
	lx_cpu_enter(s, lx_cpu_busy(cpu, task, t->key));
	if (task != c->scheduled)
		lx_kick(s, cpu);
}

/*
 * The CPU whose link the task should have instead of that of `cpu`: where it is still scheduled (invariant 2), or where it
 * ran last if the link there has not been followed yet and its owner loses nothing by moving.
 */
LX_INLINE u32 LX_P(better_cpu)(struct lx_state *s, u32 cpu, u32 task)
{
	u32 last = lx_task(s, task)->last_cpu;
	struct lx_cpu *c = lx_cpu(s, last == LX_NONE ? cpu : last);
	u32 linked = c->linked;
	u32 other = linked == LX_NONE ? task : linked;
	u32 stays = c->scheduled == task;
	u32 moves = (linked != c->scheduled) & (linked != LX_NONE) & (lx_task(s, other)->last_cpu != last);

	/* One branch, and a rare one: where a job ran last cannot be predicted, but that no job has to move can. */
	return LX_UNLIKELY((last != cpu) & (last != LX_NONE) & (stays | moves)) ? last : cpu;
}

/* The task gets the link of the CPU `better`, and what was linked there, for no CPU is idle then, that of `cpu`. */
LX_FN void LX_P(swap_links)(struct lx_state *s, u32 cpu, u32 better, u32 task)
{
	u32 other = lx_cpu(s, better)->linked;

	LX_ASSERT(other != LX_NONE);
	LX_P(set_link)(s, better, task);
	LX_P(set_link)(s, cpu, other);
}

/* Links the task, which waits nowhere, to `cpu`, whose link is free. */
LX_INLINE void LX_P(link)(struct lx_state *s, u32 cpu, u32 task)
{
	u32 better = LX_P(better_cpu)(s, cpu, task);

	if (LX_UNLIKELY(better != cpu))
		LX_P(swap_links)(s, cpu, better, task);
	else
		LX_P(set_link)(s, cpu, task);
}

/* Links the ready job of highest priority, if there is one, to `cpu`, whose link is free. */
LX_HOT void LX_P(link_top)(struct lx_state *s, u32 cpu)
{
	u32 top = LX_Q(top)(s);

	if (top == LX_NONE) {
		lx_cpu(s, cpu)->linked = LX_NONE;
		lx_cpu_enter(s, lx_cpu_idle(cpu));
		return;
	}
	LX_Q(pop)(s, top);
	LX_P(link)(s, cpu, top);
}

/* Links the job, which waits nowhere, to the first CPU that yields to it, where `first` is that CPU's heap entry. */
LX_HOT void LX_P(preempt)(struct lx_state *s, u32 task, struct lx_cpu_entry first)
{
	u32 preempted = lx_entry_task(first);
	u32 cpu = lx_entry_cpu(first);

	if (preempted == LX_NONE) {
		/* All idle CPUs are equal: the one where it ran last spares a migration. */
		u32 last = lx_task(s, task)->last_cpu;

		if (last != LX_NONE && lx_cpu_is_idle(s, last))
			cpu = last;
	} else {
		struct lx_task *p = lx_task(s, preempted);

		p->linked_on = LX_NONE;
		p->place = LX_PLACE_READY;
		LX_Q(insert_first)(s, preempted);
	}
	LX_P(link)(s, cpu, task);
}

/* The first jobs that wait preempt, as long as a CPU yields to them. */
LX_INLINE void LX_P(preempt_all)(struct lx_state *s)
{
	while (LX_MAY_LOOP) {
		struct lx_cpu_entry first = lx_cpu_first(s);
		u32 task = LX_Q(top)(s);

		if (task == LX_NONE || !lx_preempts(lx_task(s, task)->key, task, first))
			break;
		LX_Q(pop)(s, task);
		LX_P(preempt)(s, task, first);
	}
}

#include "turns.h"

/* A job becomes ready: it preempts, takes an idle CPU, or waits. */
LX_HOT void LX_P(release_job)(struct lx_state *s, u32 task)
{
	struct lx_cpu_entry first = lx_cpu_first(s);

	if (lx_preempts(lx_task(s, task)->key, task, first))
		LX_P(preempt)(s, task, first);
	else
		LX_P(ready_add)(s, task);
}

/* Hands the group that take_due returned to the scheduler: its jobs are released. */
LX_FN void LX_P(release_group)(struct lx_state *s, u32 group, u64 now)
{
	struct lx_group *g = lx_group(s, group);
	u32 task = g->head;

	s->actions = 0;
	LX_P(turn)(s, now);
#ifdef LX_MERGES
	(void)task;
	LX_Q(group_release)(s, group);
	LX_P(preempt_all)(s);
#else
	while (task != LX_NONE && LX_MAY_LOOP) {
		u32 next = lx_task(s, task)->right;

		LX_P(competes)(s, task, now);
		LX_P(release_job)(s, task);
		task = next;
		LX_FORGET(s, task);
	}
#endif
	LX_P(settle)(s);
}

/* Puts the task's present job, which arrives later, into the release queue; `cpu` arms the timer. */
LX_HOT void LX_P(release_later)(struct lx_state *s, u32 task, u64 release_at, u32 cpu)
{
	LX_Q(group_add)(s, lx_await_release(s, task, release_at, cpu), task);
}

/*
 * Takes the task that `cpu` runs out of the link or the queue it is in, without choosing another. Returns the
 * CPU it was linked to, which is `cpu` (invariant 2), or LX_NONE. `cpu` is going to call reschedule, so no
 * kick has to ask for it.
 */
LX_HOT u32 LX_P(unlink)(struct lx_state *s, u32 cpu, u32 task)
{
	struct lx_task *t = lx_task(s, task);
	u32 freed = t->linked_on;

	s->actions = 0;
	lx_cpu(s, cpu)->kicked = 1;
	LX_ASSERT(freed == LX_NONE || freed == cpu);
	if (freed != LX_NONE) {
		t->linked_on = LX_NONE;
	} else if (t->place == LX_PLACE_READY) {
		LX_Q(remove)(s, task);
		t->place = LX_PLACE_NOWHERE;
	}
	return freed;
}

/*
 * A task's first job, or its next one after a time without: released at `release_at`, at once if that is not after `now`.
 * `cpu` is where this happens. Before time begins `now` is LX_NEVER: all jobs wait for their timers, also those of instant 0,
 * so that a synchronous release is one.
 */
LX_FN void LX_P(arrive)(struct lx_state *s, u32 task, u64 release_at, u32 cpu, u64 now)
{
	u64 ready_at = lx_next_job(s, task, release_at);

	s->actions = 0;
	LX_P(turn)(s, now);
	if (lx_is_later(ready_at, now)) {
		LX_P(release_later)(s, task, ready_at, cpu);
	} else {
		LX_P(competes)(s, task, now);
		LX_P(release_job)(s, task);
	}
	LX_P(settle)(s);
}

/*
 * The task, which has been unlinked from `freed`, has a job that may run from `ready_at` on: it waits, or competes for a CPU. If
 * it had a link it goes through the queue, for that CPU takes the first job there.
 */
LX_INLINE void LX_P(ready_from)(struct lx_state *s, u32 task, u64 ready_at, u32 freed, u32 cpu, u64 now)
{
	if (ready_at > now) {
		LX_P(release_later)(s, task, ready_at, cpu);
		return;
	}
	LX_P(competes)(s, task, now);
	if (freed == LX_NONE)
		LX_P(release_job)(s, task);
	else
		LX_P(ready_add)(s, task);
}

/*
 * The job that `cpu` runs has ended. The next job of its task arrives at `next_release_at` (LX_NEVER: not known, or none).
 * The CPU calls reschedule next.
 */
LX_INLINE void LX_P(end_job)(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now)
{
	u32 task = lx_cpu(s, cpu)->scheduled;
	u32 freed = LX_P(unlink)(s, cpu, task);

	if (next_release_at != LX_NEVER)
		LX_P(ready_from)(s, task, lx_next_job(s, task, next_release_at), freed, cpu, now);
	LX_P(turn)(s, now);
	if (freed != LX_NONE)
		LX_P(link_top)(s, freed);
}

LX_INLINE void LX_P(complete)(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now)
{
	LX_P(end_job)(s, cpu, next_release_at, now);
	LX_P(settle)(s);
}

/* `cpu` runs what it is linked to, which it returns. */
LX_INLINE u32 LX_P(follow_link)(struct lx_state *s, u32 cpu, u64 now)
{
	struct lx_cpu *c = lx_cpu(s, cpu);
	u32 before = c->scheduled;
	u32 next;

	c->kicked = 0;
	next = lx_switch_to(s, cpu, c->linked);
	LX_P(leaves)(s, cpu, before, now);
	return next;
}

/* Complete, and reschedule at once: for a host that would call the two one after the other, under one lock. */
LX_FN u32 LX_P(finish)(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now)
{
	u32 next;

	LX_P(end_job)(s, cpu, next_release_at, now);
	LX_P(preempt_turned)(s);
	next = LX_P(follow_link)(s, cpu, now);
	LX_P(set_timer)(s);
	return next;
}

/* The job that `cpu` runs waits for something. The CPU calls reschedule next. */
LX_FN void LX_P(suspend)(struct lx_state *s, u32 cpu, u64 now)
{
	u32 freed = LX_P(unlink)(s, cpu, lx_cpu(s, cpu)->scheduled);

	LX_P(turn)(s, now);
	if (freed != LX_NONE)
		LX_P(link_top)(s, freed);
	LX_P(settle)(s);
}

/* What the suspended job of the task waited for has happened, on `cpu`. */
LX_FN void LX_P(resume)(struct lx_state *s, u32 task, u32 cpu, u64 now)
{
	(void)cpu;
	s->actions = 0;
	LX_P(turn)(s, now);
	LX_P(competes)(s, task, now);
	LX_P(release_job)(s, task);
	LX_P(settle)(s);
}

/*
 * `cpu` follows its link: what it scheduled becomes what it is linked to. Returns what it runs from now on, or LX_NONE; the
 * host charges a context switch if that has changed.
 */
LX_FN u32 LX_P(reschedule)(struct lx_state *s, u32 cpu, u64 now)
{
	u32 next;

	s->actions = 0;
	next = LX_P(follow_link)(s, cpu, now);
	LX_P(settle)(s);
	return next;
}

/*
 * Something above the policy takes `cpu`: it runs nothing of the instance's from now on. The job that it was linked to competes for
 * the other CPUs.
 */
LX_FN void LX_P(withdraw)(struct lx_state *s, u32 cpu, u32 by, u64 now)
{
	struct lx_cpu *c = lx_cpu(s, cpu);
	u32 linked = c->linked;
	u32 before = c->scheduled;

	(void)by;
	s->actions = 0;
	lx_switch_to(s, cpu, LX_NONE);
	/* It is going to call restore, and then reschedule: nothing has to ask for it. */
	c->kicked = 1;
	c->withdrawn = LX_WITHDRAWN;
	c->linked = LX_NONE;
	lx_cpu_enter_as(s, cpu, lx_cpu_absent());
	if (linked != LX_NONE) {
		struct lx_task *t = lx_task(s, linked);

		t->linked_on = LX_NONE;
		t->place = LX_PLACE_READY;
		LX_P(competes)(s, linked, now);
		/* What was linked goes before all that wait. */
		LX_Q(insert_first)(s, linked);
	}
	LX_P(leaves)(s, cpu, before, now);
	LX_P(turn)(s, now);
	LX_P(preempt_all)(s);
	LX_P(settle)(s);
}

/* `cpu`, which was withdrawn, is there again. It calls reschedule next. */
LX_FN void LX_P(restore)(struct lx_state *s, u32 cpu, u64 now)
{
	s->actions = 0;
	lx_cpu(s, cpu)->withdrawn = 0;
	LX_P(turn)(s, now);
	LX_P(link_top)(s, cpu);
	LX_P(settle)(s);
}

/* The task has used `used_ns` ns of its budget since this was last said. */
LX_FN void LX_P(consume)(struct lx_state *s, u32 task, u64 used_ns)
{
	lx_charge(s, task, used_ns);
	LX_P(check)(s);
}

/*
 * The job that `cpu` runs has no budget left (ackelman2018, 5.1). Throttled, it waits for the next replenishment, one
 * period after the last; postponed, it goes on with a full budget and a later deadline.
 */
LX_FN void LX_P(exhaust)(struct lx_state *s, u32 cpu, u64 now)
{
	u32 task = lx_cpu(s, cpu)->scheduled;
	u32 freed = LX_P(unlink)(s, cpu, task);

	LX_P(ready_from)(s, task, lx_replenish(s, task, now), freed, cpu, now);
	LX_P(turn)(s, now);
	if (freed != LX_NONE)
		LX_P(link_top)(s, freed);
	LX_P(settle)(s);
}

/*
 * The task, whose parameters are in place, becomes one of the instance: it has no job yet. Before it, nothing was ever said of
 * it, or it has left: complete with LX_NEVER or suspend was its last event. Makes no actions.
 */
LX_FN void LX_P(enter)(struct lx_state *s, u32 task)
{
	LX_ASSERT(lx_task(s, task)->linked_on == LX_NONE && lx_task(s, task)->place == LX_PLACE_NOWHERE);
	lx_task_enter(s, task);
	LX_Q(entered)(s);
	LX_P(check)(s);
}

/* An instance without jobs. The configuration and the tasks' parameters are in place. */
LX_FN void LX_P(init)(struct lx_state *s)
{
	s->actions = 0;
	lx_tasks_init(s);
	lx_release_init(s);
	lx_cpu_heap_init(s);
	LX_Q(init)(s);
	LX_P(check)(s);
}

#undef LX_P
#undef LX_Q
#ifndef LX_ALONE
#undef LX_POLICY
#undef LX_QUEUE
#endif
#undef LX_MERGES
#ifndef LX_ALONE
#undef LX_TURNS
#endif
