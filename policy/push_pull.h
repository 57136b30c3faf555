/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push-pull: global scheduling with a queue and a lock per CPU, as SCHED_DEADLINE does it (cerqueira2014, II-C and
 * II-D; lelli2012, 4). Decisions are local; jobs are pushed and pulled between the queues so that the min(m, r) jobs of
 * highest priority run.
 *
 *   push   when a job was released into a queue where it has to wait, and after every local decision that leaves jobs
 *          waiting (such as a preempted one): to the CPU that is idle or runs the job of lowest priority. A push that
 *          has lost its target `retries_max` times is given up, and the priority inversion stays until the next event.
 *   pull   when the running job ends, is suspended or throttled, before the local decision: one pass over all other
 *          queues, taking from each the job that waits first if it goes before all that are here by then.
 *
 * A CPU that is taken (withdraw) pushes all that it has; what finds no other CPU stays and waits to be pulled. One that is there
 * again (restore) pulls, as one whose job has ended.
 *
 * Assumptions about the host:
 *   1. An entry point is called under the locks that lock_of names, and step under those of its LX_STEP, taken in
 *      increasing order of CPUs, with all others dropped. Locks of an operation are not held between its steps.
 *   2. At most one operation is in progress per CPU: until there is no LX_STEP for it any more, interrupts of that CPU
 *      are off, and events for it wait.
 *   3. After complete, suspend, exhaust and restore, when their operation has ended, the CPU calls reschedule; no kick says so.
 *   4. Reschedule of a CPU is called some time after every LX_KICK for it.
 *   5. Calls of different CPUs may run at once. Each leaves its actions in the list of the CPU that makes it: `cpu`, or of
 *      release_group the group's. Interrupts are off there until the host has read them.
 *   6. A job is suspended before it is resumed: suspend has returned. All its use has been charged (consume) before complete,
 *      suspend, exhaust, or the reschedule that takes it off its CPU.
 *
 * Locks: one per CPU, and one of the release queue (s->due, s->group, s->bucket, s->next_due, s->due_count, s->forget), which
 * is never held together with another. What the entry points touch beside their own CPU's operation and list, and the task:
 *
 *      enter, resume, release_group, consume          nothing; scans read what is published
 *      arrive, await, lx_take_due                     the release queue: under its lock
 *      suspend, reschedule, complete_here, exhaust_here, withdraw, restore
 *                                                     their CPU's queue: under its lock
 *      step                                           the queues of the CPUs that its LX_STEP names: under their locks
 *      complete, exhaust                              their CPU's queue and the release queue: `here`, and then await
 *
 * So a kernel host calls complete_here or exhaust_here, drops the CPU's lock, calls await under the release lock if an instant
 * was returned, and then carries out the list, to which await has added.
 *
 * If operations do not overlap, the schedule at the end of each cascade of operations and kicks is that of global EDF,
 * or of global fixed priorities. Nothing but an abandoned push ends that if they do.
 */
#ifndef LX_PUSH_PULL_H
#define LX_PUSH_PULL_H

#include "cpu_heap.h"
#include "push_pull/migrate.h"

LX_INLINE u32 lx_push_pull_lock_of(const struct lx_state *s, u32 event, u32 cpu)
{
	(void)s;
	if (event == LX_EVENT_RELEASE || event == LX_EVENT_MESSAGE)
		return LX_NO_LOCKS;
	return lx_locks(cpu, LX_NO_LOCK);
}

#ifdef LX_CHECKED
/*
 * What the end of every entry point on `cpu`, or of a step under its lock, has: what its queue publishes is what is in it, and a CPU
 * that is to run another job than it runs has been asked to reschedule.
 */
LX_FN void lx_push_pull_check(struct lx_state *s, u32 cpu)
{
	struct lx_run_queue *q;
	u32 waiting;
	int stays;

	if (cpu >= s->cpus_linkable)
		return;
	q = lx_run_queue(s, cpu);
	waiting = lx_tree_first(lx_cpu_tree(s, cpu));
	if (lx_cpu(s, cpu)->withdrawn) {
		LX_ASSERT(q->current == LX_NONE && q->first == 0 && q->first_key == 0 && q->next == waiting);
		LX_ASSERT(lx_cpu(s, cpu)->linked == LX_NONE && lx_cpu(s, cpu)->scheduled == LX_NONE);
		return;
	}
	stays = q->current != LX_NONE && (waiting == LX_NONE || lx_task_before(s, q->current, waiting));
	LX_ASSERT(q->first == (stays ? q->current : waiting));
	LX_ASSERT(q->next == (stays ? waiting : LX_NONE));
	LX_ASSERT(q->first_key == (q->first == LX_NONE ? LX_NEVER : lx_task(s, q->first)->key));
	LX_ASSERT(q->next_key == (q->next == LX_NONE ? LX_NEVER : lx_task(s, q->next)->key));
	LX_ASSERT(lx_cpu(s, cpu)->linked == q->first);
	LX_ASSERT(waiting == LX_NONE || lx_task(s, waiting)->place == LX_PLACE_READY);
	LX_ASSERT(q->current == LX_NONE || lx_task(s, q->current)->place == LX_PLACE_NOWHERE);
	LX_ASSERT(q->first == q->current || lx_cpu(s, cpu)->kicked);
}

/* The same of all CPUs, for entry points that are about none. */
LX_FN void lx_push_pull_check_all(struct lx_state *s)
{
	u32 cpu;

	for (cpu = 0; cpu < s->cpus_linkable; cpu++)
		lx_push_pull_check(s, cpu);
}
#else
LX_INLINE void lx_push_pull_check(struct lx_state *s, u32 cpu)
{
	(void)s;
	(void)cpu;
}

LX_INLINE void lx_push_pull_check_all(struct lx_state *s)
{
	(void)s;
}
#endif

/*
 * The task's job is released at `release_at`, by the timer of `cpu`, which adds to its list. Nothing but the release queue and the
 * task, which no other CPU looks at, is written: under the release lock, and no other.
 */
LX_FN void lx_push_pull_await(struct lx_state *s, u32 task, u64 release_at, u32 cpu)
{
	lx_list_group_add(s, lx_list_await_release(s, cpu, task, release_at), task);
	lx_push_pull_check(s, cpu);
}

/* Starts an operation on `cpu` that releases the jobs of the list at `task`. */
LX_FN void lx_push_pull_release(struct lx_state *s, u32 task, u32 cpu)
{
	lx_operation(s, cpu)->rest = task;
	lx_release_next(s, cpu);
	lx_push_pull_check(s, cpu);
}

/* The jobs of the group that take_due returned are released, one after the other, by the CPU that took the timer. */
LX_FN void lx_push_pull_release_group(struct lx_state *s, u32 group, u64 now)
{
	struct lx_group *g = lx_group(s, group);

	(void)now;
	lx_list_begin(s, g->cpu);
	lx_push_pull_release(s, g->head, g->cpu);
}

/*
 * A task's first job, or its next one after a time without: released at `release_at`, or now if that has passed, by `cpu`.
 */
LX_FN void lx_push_pull_arrive(struct lx_state *s, u32 task, u64 release_at, u32 cpu, u64 now)
{
	u64 ready_at = lx_next_job(s, task, release_at);

	lx_list_begin(s, cpu);
	if (lx_is_later(ready_at, now)) {
		lx_push_pull_await(s, task, ready_at, cpu);
	} else {
		lx_task(s, task)->right = LX_NONE;
		lx_push_pull_release(s, task, cpu);
	}
}

/* What the suspended job of the task waited for has happened: `cpu` wakes it up. */
LX_FN void lx_push_pull_resume(struct lx_state *s, u32 task, u32 cpu, u64 now)
{
	(void)now;
	lx_list_begin(s, cpu);
	lx_task(s, task)->right = LX_NONE;
	lx_push_pull_release(s, task, cpu);
}

/*
 * The job that `cpu` runs leaves the CPU, and `task`, if it is not LX_NONE, has one that is ready at once: a pull
 * begins. The CPU counts as kicked, for it is going to reschedule: no CPU moves away what it may choose.
 */
LX_FN void lx_push_pull_vacate(struct lx_state *s, u32 cpu, u32 task)
{
	lx_run_queue(s, cpu)->current = LX_NONE;
	lx_cpu(s, cpu)->kicked = 1;
	if (task != LX_NONE)
		lx_run_queue_add(s, cpu, cpu, task);
	else
		lx_run_queue_publish(s, cpu);
	lx_operation(s, cpu)->source = 0;
	lx_pull_seek(s, cpu);
	lx_push_pull_check(s, cpu);
}

/*
 * The job that `cpu` runs has ended. The next job of its task arrives at `next_release_at` (LX_NEVER: not known, or none). All of
 * complete but the release queue, under the CPU's lock: returns when the next job is to be released, for await, or LX_NEVER.
 */
LX_FN u64 lx_push_pull_complete_here(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now)
{
	u32 task = lx_cpu(s, cpu)->scheduled;
	u64 ready_at = LX_NEVER;

	LX_ASSERT(lx_run_queue(s, cpu)->current == task);
	lx_list_begin(s, cpu);
	if (next_release_at != LX_NEVER)
		ready_at = lx_next_job(s, task, next_release_at);
	lx_push_pull_vacate(s, cpu, ready_at > now ? LX_NONE : task);
	return ready_at > now ? ready_at : LX_NEVER;
}

/* The same with the release queue, for a host that needs no locks, or holds both. */
LX_FN void lx_push_pull_complete(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now)
{
	u64 ready_at = lx_push_pull_complete_here(s, cpu, next_release_at, now);

	if (ready_at != LX_NEVER)
		lx_push_pull_await(s, lx_cpu(s, cpu)->scheduled, ready_at, cpu);
}

/* The job that `cpu` runs waits for something. */
LX_FN void lx_push_pull_suspend(struct lx_state *s, u32 cpu, u64 now)
{
	(void)now;
	lx_list_begin(s, cpu);
	lx_push_pull_vacate(s, cpu, LX_NONE);
}

/* The job that `cpu` runs has no budget left. As complete_here: when it goes on, for await, or LX_NEVER. */
LX_FN u64 lx_push_pull_exhaust_here(struct lx_state *s, u32 cpu, u64 now)
{
	u32 task = lx_cpu(s, cpu)->scheduled;
	u64 ready_at = lx_replenish(s, task, now);

	lx_list_begin(s, cpu);
	lx_push_pull_vacate(s, cpu, ready_at > now ? LX_NONE : task);
	return ready_at > now ? ready_at : LX_NEVER;
}

/* The same with the release queue. */
LX_FN void lx_push_pull_exhaust(struct lx_state *s, u32 cpu, u64 now)
{
	u64 ready_at = lx_push_pull_exhaust_here(s, cpu, now);

	if (ready_at != LX_NEVER)
		lx_push_pull_await(s, lx_cpu(s, cpu)->scheduled, ready_at, cpu);
}

/* `cpu` runs the first job of its queue from now on, which it returns; then it pushes what waits. */
LX_FN u32 lx_push_pull_reschedule(struct lx_state *s, u32 cpu, u64 now)
{
	struct lx_run_queue *q = lx_run_queue(s, cpu);
	u32 current = q->current;
	u32 first = q->first;

	(void)now;
	lx_list_begin(s, cpu);
	lx_cpu(s, cpu)->kicked = 0;
	if (first != current) {
		/* Published once, when both have changed places. */
		lx_task(s, first)->place = LX_PLACE_NOWHERE;
		lx_tree_remove(s, lx_cpu_tree(s, cpu), first);
		q->current = first;
		if (current != LX_NONE) {
			lx_task(s, current)->place = LX_PLACE_READY;
			lx_tree_insert(s, lx_cpu_tree(s, cpu), current);
		}
		lx_run_queue_publish(s, cpu);
	}
	lx_switch_to(s, cpu, first);
	lx_operation(s, cpu)->rest = LX_NONE;
	lx_push_from(s, cpu, cpu);
	lx_push_pull_check(s, cpu);
	return first;
}

/*
 * Something above the policy takes `cpu`. All that it has is pushed, as far as other CPUs yield to it; the rest waits there until one
 * pulls it. `by` makes the call, and the operation is its.
 */
LX_FN void lx_push_pull_withdraw(struct lx_state *s, u32 cpu, u32 by, u64 now)
{
	struct lx_run_queue *q = lx_run_queue(s, cpu);
	u32 current = q->current;

	(void)now;
	lx_list_begin(s, by);
	q->current = LX_NONE;
	/* It is going to call restore, and then reschedule: nothing has to ask for it. */
	lx_cpu(s, cpu)->kicked = 1;
	lx_cpu(s, cpu)->withdrawn = LX_WITHDRAWN;
	lx_switch_to(s, cpu, LX_NONE);
	if (current != LX_NONE)
		lx_run_queue_add(s, by, cpu, current);
	else
		lx_run_queue_publish(s, cpu);
	lx_operation(s, by)->rest = LX_NONE;
	lx_push_from(s, by, cpu);
	lx_push_pull_check(s, cpu);
}

/* `cpu`, which was withdrawn, is there again: it pulls, and calls reschedule next. */
LX_FN void lx_push_pull_restore(struct lx_state *s, u32 cpu, u64 now)
{
	(void)now;
	lx_list_begin(s, cpu);
	lx_cpu(s, cpu)->withdrawn = 0;
	lx_push_pull_vacate(s, cpu, LX_NONE);
}

/* The task used `used_ns` ns of its budget. */
LX_FN void lx_push_pull_consume(struct lx_state *s, u32 task, u64 used_ns)
{
	lx_charge(s, task, used_ns);
	lx_push_pull_check_all(s);
}

/* The operation in progress on `cpu` goes on, under the locks that it asked for. */
LX_FN void lx_push_pull_step(struct lx_state *s, u32 cpu, u64 now)
{
	u32 phase = lx_operation(s, cpu)->phase;

	(void)now;
	lx_list_begin(s, cpu);
	if (phase == LX_PHASE_ENQUEUE)
		lx_enqueue_step(s, cpu);
	else if (phase == LX_PHASE_PULL)
		lx_pull_step(s, cpu);
	else if (phase == LX_PHASE_PUSH && !lx_push_step(s, cpu))
		lx_release_next(s, cpu);
	lx_push_pull_check(s, cpu);
}

/*
 * The task, whose parameters are in place, becomes one of the instance: it has no job yet. Before it, nothing was
 * ever said of it, or it has left: complete with LX_NEVER or suspend was its last event. Makes no actions and needs
 * no lock: no other CPU looks at a task without a job.
 */
LX_FN void lx_push_pull_enter(struct lx_state *s, u32 task)
{
	LX_ASSERT(lx_task(s, task)->place == LX_PLACE_NOWHERE);
	lx_task_enter(s, task);
	lx_push_pull_check_all(s);
}

/* An instance without jobs. The configuration and the tasks' parameters are in place. */
LX_FN void lx_push_pull_init(struct lx_state *s)
{
	u32 cpu = 0;

	lx_tasks_init(s);
	lx_release_init(s);
	lx_cpu_heap_init(s);
	while (cpu < s->config.cpus && LX_MAY_LOOP) {
		struct lx_operation *op = lx_operation(s, cpu);

		lx_list_begin(s, cpu);
		op->phase = LX_PHASE_NONE;
		op->rest = LX_NONE;
		if (cpu < s->cpus_linkable) {
			lx_tree_init(lx_cpu_tree(s, cpu));
			lx_run_queue(s, cpu)->current = LX_NONE;
			lx_run_queue_publish(s, cpu);
		}
		cpu++;
		LX_FORGET(s, cpu);
	}
	lx_push_pull_check_all(s);
}

#ifdef LX_ALONE
#define LX_POLICY lx_push_pull
#define LX_STEPS
#define LX_AWAITS
#define LX_PARTS
#endif

#endif
