/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * push-pull: the operations that move jobs between queues, step by step.
 *
 * An operation belongs to the CPU that executes it (s->operation[cpu]); a step runs under the locks that the step
 * before asked for with LX_STEP, having dropped its own. Between two steps the other CPUs go on, so every step looks at
 * both queues again before it moves anything. The state of an operation is written by its CPU alone.
 *
 *                     release                        reschedule                complete, suspend, exhaust
 *                        |                               |                               |
 *                        v                               v                               v
 *    +--> lx_release_next: scan, no lock       lx_push_seek: scan              lx_pull_seek: scan <--+
 *    |                   |                         |          ^                          |           |
 *    |                   v ENQUEUE                 v PUSH     |                          v PULL      |
 *    |     lock of the target: add           both locks: move, or fail       both locks: move, or not
 *    |                   |
 *    |                   v
 *    +------------- lx_push_seek from there
 */
#ifndef LX_MIGRATE_H
#define LX_MIGRATE_H

#include "run_queue.h"

enum lx_migrate_phase {
	LX_PHASE_NONE = 0,
	LX_PHASE_ENQUEUE = 1,
	LX_PHASE_PUSH = 2,
	LX_PHASE_PULL = 3,
};

/* `by` moves a waiting job. Under both locks. */
LX_INLINE void lx_migrate(struct lx_state *s, u32 by, u32 task, u32 source, u32 target)
{
	lx_run_queue_remove(s, source, task);
	lx_run_queue_add(s, by, target, task);
}

/*
 * Looks for a CPU for the job that waits first in op->source, under that CPU's lock: 1 if the operation goes on with
 * both locks, 0 if there is nothing to push, or nowhere. A job that must not be moved ends it too: the CPU has yet to
 * call reschedule then, and pushes when it does.
 */
LX_FN u32 lx_push_seek(struct lx_state *s, u32 cpu)
{
	struct lx_operation *op = lx_operation(s, cpu);
	u32 source = op->source;
	u32 task = lx_run_queue(s, source)->next;
	u32 target;

	if (task == LX_NONE)
		return 0;
	if (task != op->task) {
		op->task = task;
		op->failures = 0;
	}
	target = lx_find_later(s, cpu, task, source);
	if (target == LX_NONE)
		return 0;
	op->target = target;
	op->phase = LX_PHASE_PUSH;
	lx_go_on(s, cpu, lx_locks(source, target));
	return 1;
}

/*
 * Pushes op->task if it still waits first in the source and the target still yields to it (push_dl_task): 1 as long as
 * the operation goes on. It goes on with what waits next, after success too (push_dl_tasks), until it has failed
 * `retries_max` times for one job: then the job stays, even if a CPU runs one of lower priority (cerqueira2014, II-D).
 */
LX_FN u32 lx_push_step(struct lx_state *s, u32 cpu)
{
	struct lx_operation *op = lx_operation(s, cpu);
	u32 source = op->source;
	u32 target = op->target;
	u32 task = op->task;

	if (lx_run_queue(s, source)->next != task) {
		lx_note(s, cpu, LX_NOTE_PUSH_OVERTAKEN, source, target, task);
	} else if (lx_run_queue_yields(s, target, task)) {
		lx_note(s, cpu, LX_NOTE_PUSH, source, target, task);
		lx_migrate(s, cpu, task, source, target);
		op->task = LX_NONE;
	} else {
		lx_note(s, cpu, LX_NOTE_PUSH_FAILED, source, target, task);
		op->failures++;
		if (op->failures >= s->config.retries_max) {
			lx_note(s, cpu, LX_NOTE_PUSH_ABANDONED, source, target, task);
			return 0;
		}
	}
	return lx_push_seek(s, cpu);
}

/* Goes on with the next job to be released, if there is one: the operation ends otherwise. Needs no lock. */
LX_FN void lx_release_next(struct lx_state *s, u32 cpu)
{
	struct lx_operation *op = lx_operation(s, cpu);
	u32 task = op->rest;

	if (task == LX_NONE) {
		op->phase = LX_PHASE_NONE;
		return;
	}
	op->rest = lx_task(s, task)->right;
	op->task = task;
	op->target = lx_select_cpu(s, task, cpu);
	op->phase = LX_PHASE_ENQUEUE;
	lx_go_on(s, cpu, lx_locks(op->target, LX_NO_LOCK));
}

/*
 * Starts a push from `source`, whose lock is held; when it ends, the operation goes on with the jobs yet to be
 * released.
 */
LX_FN void lx_push_from(struct lx_state *s, u32 cpu, u32 source)
{
	struct lx_operation *op = lx_operation(s, cpu);

	op->source = source;
	op->task = LX_NONE;
	if (!lx_push_seek(s, cpu))
		lx_release_next(s, cpu);
}

/* The released job enters the queue that was chosen for it. If it waits behind what runs there, it is pushed on. */
LX_INLINE void lx_enqueue_step(struct lx_state *s, u32 cpu)
{
	struct lx_operation *op = lx_operation(s, cpu);

	lx_run_queue_add(s, cpu, op->target, op->task);
	lx_push_from(s, cpu, op->target);
}

/*
 * Looks, from op->source on, for a CPU with a waiting job that goes before all that `cpu` has (pull_dl_task); the
 * operation ends when there is none. Under the lock of `cpu`.
 */
LX_FN void lx_pull_seek(struct lx_state *s, u32 cpu)
{
	struct lx_operation *op = lx_operation(s, cpu);
	u32 source = op->source;

	op->phase = LX_PHASE_NONE;
	while (source < s->cpus_linkable && LX_MAY_LOOP) {
		if (source != cpu && lx_run_queue_offers(s, source, cpu)) {
			op->source = source;
			op->phase = LX_PHASE_PULL;
			lx_go_on(s, cpu, lx_locks(source, cpu));
			break;
		}
		source++;
		LX_FORGET(op, source);
	}
}

/* Pulls what waits first on op->source, if it still goes before all that `cpu` has, and looks further. */
LX_FN void lx_pull_step(struct lx_state *s, u32 cpu)
{
	struct lx_operation *op = lx_operation(s, cpu);
	u32 source = op->source;

	if (lx_run_queue_offers(s, source, cpu)) {
		u32 task = lx_run_queue(s, source)->next;

		lx_note(s, cpu, LX_NOTE_PULL, cpu, source, task);
		lx_migrate(s, cpu, task, source, cpu);
	} else {
		lx_note(s, cpu, LX_NOTE_PULL_FAILED, cpu, source, LX_NONE);
	}
	op->source = source + 1;
	lx_pull_seek(s, cpu);
}

#endif
