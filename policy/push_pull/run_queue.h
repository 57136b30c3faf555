/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push-pull: the queue of one CPU, and scans of all of them.
 *
 * A queue is the job that the CPU runs (`current`) and a red-black tree of those that wait. As in SCHED_DEADLINE's tree
 * of pushable jobs, the running job is not in the tree: it cannot be moved. All this is under the CPU's lock. For scans
 * without it, as SCHED_DEADLINE's dl_rq.earliest_dl, the queue publishes
 *
 *   first   the job of highest priority in it, which the CPU runs, or will when it calls reschedule;
 *   next    the job that waits first, if it waits behind the one that the CPU runs. While the CPU has yet to call
 *           reschedule there is none: what waits first will run, and what runs cannot be moved.
 *
 * A CPU that is withdrawn publishes a first job that no other goes before, so nothing is pushed there, and as next what waits
 * first: all that is in its queue may go elsewhere.
 *
 * A scan may read a key and a task that do not belong together, and queues of different instants: what it finds is
 * looked at again under the locks. Publishing comes before the same CPU's next scan, with a full barrier between: of
 * two CPUs, one that frees itself and one with a job to push, at least one then sees the other.
 */
#ifndef LX_RUN_QUEUE_H
#define LX_RUN_QUEUE_H

#include "../list.h"
#include "../queues/red_black_tree.h"

LX_INLINE struct lx_run_queue *lx_run_queue(struct lx_state *s, u32 cpu)
{
	LX_ASSERT(cpu < s->cpus_linkable);
	return LX_AT(s->run_queue, cpu, LX_CPUS_MAX);
}

LX_INLINE struct lx_tree *lx_cpu_tree(struct lx_state *s, u32 cpu)
{
	return LX_AT(s->tree, cpu, LX_CPUS_MAX);
}

LX_INLINE struct lx_operation *lx_operation(struct lx_state *s, u32 cpu)
{
	LX_ASSERT(cpu < s->config.cpus);
	return LX_AT(s->operation, cpu, LX_CPUS_MAX);
}

/* Publishes the queue as it is now. */
LX_FN void lx_run_queue_publish(struct lx_state *s, u32 cpu)
{
	struct lx_run_queue *q = lx_run_queue(s, cpu);
	u32 current = q->current;
	u32 waiting = lx_tree_first(lx_cpu_tree(s, cpu));
	u32 withdrawn = lx_cpu(s, cpu)->withdrawn;
	u32 first = waiting;
	u32 next = LX_NONE;
	u64 first_key;

	if (withdrawn)
		next = waiting;
	else if (current != LX_NONE && (waiting == LX_NONE || lx_task_before(s, current, waiting)))
		first = current, next = waiting;
	first_key = first == LX_NONE ? LX_NEVER : lx_task(s, first)->key;
	lx_cpu(s, cpu)->linked = withdrawn ? LX_NONE : first;
	LX_WRITE(q->first_key, withdrawn ? 0 : first_key);
	LX_WRITE(q->first, withdrawn ? 0 : first);
	LX_WRITE(q->next_key, next == LX_NONE ? LX_NEVER : lx_task(s, next)->key);
	/* The full barrier between this and the scan that follows. */
	(void)LX_EXCHANGE(q->next, next);
}

/* Adds a waiting job; the CPU is asked, by `by`, to reschedule if it is to run. Under the CPU's lock. */
LX_INLINE void lx_run_queue_add(struct lx_state *s, u32 by, u32 cpu, u32 task)
{
	lx_task(s, task)->place = LX_PLACE_READY;
	lx_tree_insert(s, lx_cpu_tree(s, cpu), task);
	lx_run_queue_publish(s, cpu);
	if (lx_cpu(s, cpu)->linked == task)
		lx_list_kick(s, by, cpu);
}

/* Takes a waiting job out. Under the CPU's lock. */
LX_INLINE void lx_run_queue_remove(struct lx_state *s, u32 cpu, u32 task)
{
	lx_task(s, task)->place = LX_PLACE_NOWHERE;
	lx_tree_remove(s, lx_cpu_tree(s, cpu), task);
	lx_run_queue_publish(s, cpu);
}

/* Whether `cpu` is idle or has nothing that goes before the task's job. Under its lock, or as a scan. */
LX_INLINE int lx_run_queue_yields(struct lx_state *s, u32 cpu, u32 task)
{
	struct lx_run_queue *q = lx_run_queue(s, cpu);
	u32 first = LX_READ(q->first);

	return first == LX_NONE || lx_before(lx_task(s, task)->key, task, LX_READ(q->first_key), first);
}

/* Whether `cpu` has a job that may be moved and goes before all that `other` has. Under both locks, or as a scan. */
LX_INLINE int lx_run_queue_offers(struct lx_state *s, u32 cpu, u32 other)
{
	struct lx_run_queue *q = lx_run_queue(s, cpu);
	struct lx_run_queue *o = lx_run_queue(s, other);
	u32 next = LX_READ(q->next);
	u32 first = LX_READ(o->first);

	if (next == LX_NONE)
		return 0;
	return first == LX_NONE || lx_before(LX_READ(q->next_key), next, LX_READ(o->first_key), first);
}

/*
 * The CPU other than `except` that a job should go to, found without a lock: an idle one, where it ran last if
 * possible, or the one whose job goes after all others if it goes after this one. LX_NONE if no CPU yields to it. `cpu`
 * looks. O(m).
 */
LX_FN u32 lx_find_later(struct lx_state *s, u32 cpu, u32 task, u32 except)
{
	u64 latest_key = lx_task(s, task)->key;
	u32 latest = task;
	u32 found = LX_NONE;
	u32 last = lx_task(s, task)->last_cpu;
	u32 other = 0;

	if (last < s->cpus_linkable && last != except && LX_READ(lx_run_queue(s, last)->first) == LX_NONE)
		return last;
	while (other < s->cpus_linkable && LX_MAY_LOOP) {
		struct lx_run_queue *q = lx_run_queue(s, other);
		u64 key = LX_READ(q->first_key);
		u32 first = LX_READ(q->first);

		if (other != except) {
			if (first == LX_NONE)
				return other;
			if (lx_before(latest_key, latest, key, first)) {
				latest_key = key;
				latest = first;
				found = other;
			}
		}
		other++;
		LX_FORGET(lx_operation(s, cpu), other);
	}
	return found;
}

/*
 * The CPU whose queue a released job enters, found without a lock, as select_task_rq_dl does: the one where its task
 * ran last if it can run there at once, else another one where it can, else the former. A task that has never run
 * belongs to `cpu`, where it is released; one that a CPU has not switched away from yet belongs there, and can be
 * nowhere else.
 */
LX_FN u32 lx_select_cpu(struct lx_state *s, u32 task, u32 cpu)
{
	struct lx_task *t = lx_task(s, task);
	u32 held = lx_scheduled_on(s, task);
	u32 own = t->last_cpu;
	u32 later;

	if (held != LX_NONE)
		return held;
	if (own >= s->cpus_linkable)
		own = cpu < s->cpus_linkable ? cpu : 0;
	if (lx_run_queue_yields(s, own, task))
		return own;
	later = lx_find_later(s, cpu, task, own);
	return later != LX_NONE ? later : own;
}

#endif
