/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * g-edf-mp: the decisions of the dedicated scheduling processor (cerqueira2014, III-B and III-C).
 *
 * The DSP state - ready queue, release queue, and a copy of what every client is linked to, as a heap with the lowest
 * priority first - belongs to the DSP alone and needs no lock. A decision looks at nothing else; then the client's lock
 * is taken and its link changed, one client at a time:
 *
 *   entry point: ready queue, release queue, copy
 *        |
 *        v
 *   lx_dsp_settle: does the first client yield to the best ready job? no: the operation ends <----------------+
 *        |                                  |                                                                 |
 *        | the job is still scheduled       | it is not                                                       |
 *        v on another client                v                                                                 |
 *   SWAP, under that one's lock ------> LINK, under the client's lock: links the job, kicks ------------------+
 *
 * Invariants at the end of an operation, of the copy: no ready job goes before a linked one, no client is idle while
 * one is ready; and a linked job that is still scheduled is linked where it is scheduled, so no client ever waits for
 * another's kernel stack. Jobs that have ended while their message is on the way may be among the ready and the linked
 * ones.
 */
#ifndef LX_DSP_H
#define LX_DSP_H

#include "../cpu_heap.h"
#include "../queues/binomial_heap.h"
#include "mailbox.h"

enum lx_dsp_phase {
	LX_DSP_IDLE = 0,
	LX_DSP_SWAP = 1,
	LX_DSP_LINK = 2,
	LX_DSP_WITHDRAWAL = 3,
};

LX_INLINE struct lx_operation *lx_dsp(struct lx_state *s)
{
	LX_ASSERT(s->config.dedicated_cpu == s->config.cpus - 1);
	return LX_AT(s->operation, s->config.dedicated_cpu, LX_CPUS_MAX);
}

LX_INLINE struct lx_flight *lx_flight(struct lx_state *s, u32 task)
{
	LX_ASSERT(task < s->config.tasks);
	return LX_AT(s->flight, task, LX_TASKS_MAX);
}

/* What the DSP has linked to a client. */
LX_INLINE u32 lx_dsp_copy(struct lx_state *s, u32 cpu)
{
	return lx_cpu(s, cpu)->absent ? LX_NONE : lx_entry_task(*lx_cpu_leaf(s, cpu));
}

LX_INLINE void lx_dsp_ready(struct lx_state *s, u32 task)
{
	lx_task(s, task)->place = LX_PLACE_READY;
	lx_binomial_heap_insert(s, task);
}

/* The operation goes on with a step under the lock of one client. */
LX_INLINE void lx_dsp_go_on(struct lx_state *s, u32 phase, u32 cpu)
{
	lx_dsp(s)->phase = phase;
	lx_go_on(s, s->config.dedicated_cpu, lx_locks(cpu, LX_NO_LOCK));
}

/*
 * The client for a job, where `first` is the entry of the one that yields first: of idle ones, that where it ran last.
 */
LX_INLINE u32 lx_dsp_client_for(struct lx_state *s, u32 task, struct lx_cpu_entry first)
{
	u32 last = LX_READ(lx_task(s, task)->last_cpu);

	if (lx_entry_task(first) == LX_NONE && last != LX_NONE && lx_cpu_is_idle(s, last))
		return last;
	return lx_entry_cpu(first);
}

/* Goes on as long as a client yields to the best ready job: that one is taken out, and its link is to be changed. */
LX_FN void lx_dsp_settle(struct lx_state *s)
{
	struct lx_operation *op = lx_dsp(s);
	struct lx_cpu_entry first = lx_cpu_first(s);
	u32 task = lx_binomial_heap_top(s);
	struct lx_task *t;
	u32 held;

	op->phase = LX_DSP_IDLE;
	if (task == LX_NONE)
		return;
	t = lx_task(s, task);
	if (!lx_preempts(t->key, task, first))
		return;
	lx_binomial_heap_pop(s, task);
	t->place = LX_PLACE_NOWHERE;
	op->task = task;
	op->target = lx_dsp_client_for(s, task, first);
	held = lx_scheduled_on(s, task);
	if (held != LX_NONE && held != op->target) {
		op->source = held;
		lx_dsp_go_on(s, LX_DSP_SWAP, held);
	} else {
		lx_dsp_go_on(s, LX_DSP_LINK, op->target);
	}
}

/* The job that was chosen has ended meanwhile: it is dropped, for its message is on the way, and another one chosen. */
LX_INLINE void lx_dsp_drop(struct lx_state *s)
{
	struct lx_operation *op = lx_dsp(s);

	lx_note(s, s->config.dedicated_cpu, LX_NOTE_STALE_JOB, op->target, LX_NONE, op->task);
	lx_dsp_settle(s);
}

/* Under the client's lock: what it should run is now the task. */
LX_INLINE void lx_dsp_set_link(struct lx_state *s, u32 cpu, u32 task)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	c->linked = task;
	lx_task(s, task)->linked_on = cpu;
	lx_cpu_enter(s, lx_cpu_busy(cpu, task, lx_task(s, task)->key));
	if (c->scheduled != task)
		lx_list_kick(s, s->config.dedicated_cpu, cpu);
}

/*
 * Under the lock of the client that still scheduled the chosen job: if it does so now, the job is linked there, and
 * what was linked there goes where the job was to go (III-C, "Concurrency challenges"). That one is scheduled nowhere:
 * it would be linked there.
 */
LX_FN void lx_dsp_swap_step(struct lx_state *s)
{
	struct lx_operation *op = lx_dsp(s);
	u32 task = op->task;
	u32 source = op->source;

	if (LX_READ(lx_flight(s, task)->ended)) {
		lx_dsp_drop(s);
		return;
	}
	if (lx_cpu(s, source)->scheduled == task) {
		u32 other = lx_dsp_copy(s, source);

		/* An idle client would have been chosen itself. */
		LX_ASSERT(other != LX_NONE && lx_cpu(s, source)->linked == other);
		LX_ASSERT(lx_scheduled_on(s, other) == LX_NONE);
		lx_note(s, s->config.dedicated_cpu, LX_NOTE_LINK_SWAP, source, op->target, task);
		lx_dsp_set_link(s, source, task);
		op->task = other;
	}
	lx_dsp_go_on(s, LX_DSP_LINK, op->target);
}

/* The task has lost its link: it waits, unless its job has ended, which a message is going to say. */
LX_INLINE void lx_dsp_preempted(struct lx_state *s, u32 task)
{
	lx_task(s, task)->linked_on = LX_NONE;
	if (!LX_READ(lx_flight(s, task)->ended))
		lx_dsp_ready(s, task);
}

/* Under the client's lock: the DSP sees that it has been withdrawn or restored. What was linked there waits for another client. */
LX_INLINE void lx_dsp_see_withdrawal(struct lx_state *s, u32 cpu)
{
	struct lx_cpu *c = lx_cpu(s, cpu);
	u32 before = lx_dsp_copy(s, cpu);

	LX_WRITE(c->withdrawn, c->withdrawn & ~(u32)LX_GAVE_UP);
	c->absent = c->withdrawn;
	lx_cpu_enter_as(s, cpu, c->absent ? lx_cpu_absent() : lx_cpu_idle(cpu));
	if (before != LX_NONE)
		lx_dsp_preempted(s, before);
}

/* Looks for a client whose withdrawal or return the DSP has not seen: 1 if the operation goes on with its lock. O(m), if there was one. */
LX_FN u32 lx_dsp_seek_withdrawal(struct lx_state *s)
{
	u32 said = LX_FETCH_ADD(s->withdrawals, 0);
	u32 cpu = 0;

	if (LX_LIKELY(said == s->withdrawals_seen))
		return 0;
	while (cpu < s->cpus_linkable && LX_MAY_LOOP) {
		struct lx_cpu *c = lx_cpu(s, cpu);

		if (LX_READ(c->withdrawn) != c->absent) {
			lx_dsp(s)->target = cpu;
			lx_dsp_go_on(s, LX_DSP_WITHDRAWAL, cpu);
			return 1;
		}
		cpu++;
		LX_FORGET(s, cpu);
	}
	s->withdrawals_seen = said;
	return 0;
}

/* Under that client's lock. */
LX_FN void lx_dsp_withdrawal_step(struct lx_state *s)
{
	lx_dsp_see_withdrawal(s, lx_dsp(s)->target);
	lx_dsp_settle(s);
}

/* Under the client's lock: links the chosen job to it, in place of what was linked there. */
LX_FN void lx_dsp_link_step(struct lx_state *s)
{
	struct lx_operation *op = lx_dsp(s);
	u32 before = lx_dsp_copy(s, op->target);

	if (LX_READ(lx_flight(s, op->task)->ended)) {
		lx_dsp_drop(s);
		return;
	}
	if (LX_UNLIKELY(lx_cpu(s, op->target)->withdrawn)) {
		lx_dsp_see_withdrawal(s, op->target);
		lx_dsp_preempted(s, op->task);
		lx_dsp_settle(s);
		return;
	}
	lx_dsp_set_link(s, op->target, op->task);
	if (before != LX_NONE)
		lx_dsp_preempted(s, before);
	lx_dsp_settle(s);
}

/* The task has a job that may run from `ready_at` on. */
LX_FN void lx_dsp_release(struct lx_state *s, u32 task, u64 ready_at, u64 now)
{
	u32 dsp = s->config.dedicated_cpu;

	if (lx_is_later(ready_at, now))
		lx_binomial_heap_group_add(s, lx_list_await_release(s, dsp, task, ready_at), task);
	else
		lx_dsp_ready(s, task);
}

/* A client says that the task's job has left it: the task is taken out of its link, or of the ready queue. */
LX_FN void lx_dsp_discard(struct lx_state *s, u32 task, u32 sender)
{
	struct lx_task *t = lx_task(s, task);

	LX_WRITE(lx_flight(s, task)->ended, 0);
	if (t->linked_on != LX_NONE) {
		LX_ASSERT(t->linked_on == sender && LX_READ(lx_cpu(s, sender)->linked) == LX_NONE);
		t->linked_on = LX_NONE;
		lx_cpu_enter(s, lx_cpu_idle(sender));
		return;
	}
	/* The client was given another link while the message was on its way. */
	lx_note(s, s->config.dedicated_cpu, LX_NOTE_STALE_MESSAGE, sender, LX_NONE, task);
	if (t->place == LX_PLACE_READY) {
		lx_binomial_heap_remove(s, task);
		t->place = LX_PLACE_NOWHERE;
	}
}

/*
 * The task's job arrives at `release_at`; kept for later if the message that its predecessor has ended is still on its
 * way.
 */
LX_FN void lx_dsp_arrive(struct lx_state *s, u32 task, u64 release_at, u64 now)
{
	struct lx_flight *flight = lx_flight(s, task);

	if (LX_READ(flight->ended)) {
		flight->early = LX_MESSAGE_ARRIVE;
		flight->release_at = release_at;
	} else {
		lx_dsp_release(s, task, lx_next_job(s, task, release_at), now);
	}
}

/* The task's suspended job goes on; kept for later if the message that it was suspended is still on its way. */
LX_FN void lx_dsp_resume(struct lx_state *s, u32 task)
{
	struct lx_flight *flight = lx_flight(s, task);

	if (LX_READ(flight->ended))
		flight->early = LX_MESSAGE_RESUME;
	else
		lx_dsp_ready(s, task);
}

/* The job of a discarded task has ended: its next one, if it is known when that arrives. */
LX_FN void lx_dsp_completed(struct lx_state *s, u32 task, u64 next_release_at, u64 now)
{
	struct lx_flight *flight = lx_flight(s, task);

	if (flight->early) {
		flight->early = 0;
		next_release_at = flight->release_at;
	}
	if (next_release_at != LX_NEVER)
		lx_dsp_release(s, task, lx_next_job(s, task, next_release_at), now);
}

/* The job of a discarded task is suspended, unless it has been resumed, or the next one has arrived, already. */
LX_FN void lx_dsp_suspended(struct lx_state *s, u32 task, u64 now)
{
	struct lx_flight *flight = lx_flight(s, task);
	u32 early = flight->early;

	flight->early = 0;
	if (early == LX_MESSAGE_RESUME)
		lx_dsp_ready(s, task);
	else if (early == LX_MESSAGE_ARRIVE)
		lx_dsp_release(s, task, lx_next_job(s, task, flight->release_at), now);
}

#endif
