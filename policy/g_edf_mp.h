/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * g-edf-mp: global scheduling by message passing (cerqueira2014, III). The last CPU is the dedicated scheduling
 * processor (DSP): it takes all interrupts, makes all decisions and runs no task. The others, its clients, run what
 * they are linked to, and say in messages what happens to it.
 *
 * The operations of III-C, and what they are here:
 *
 *   1  a job is released or resumed       release_group, arrive, resume on the DSP; from a client by message
 *   2  a client is told to reschedule     reschedule: compares its link with what it scheduled, and follows, O(1)
 *   3  a job suspends                     suspend: the client gives up the link, sends a message, and idles
 *   4  the DSP hears of a suspension      message
 *   5  a job completes                    complete: as 3; exhaust likewise
 *   6  the DSP hears of a completion      message
 *
 * A client that is taken (withdraw) gives up its link and says so by a count, not by a message; the DSP looks then which client it is,
 * under that one's lock, and the job that was linked there is ready again. One that is there again (restore) idles until the DSP
 * has seen that.
 *
 * A client's `linked`, `scheduled`, `kicked` and `withdrawn` are under the client's lock; no two locks are ever held at once.
 * `scheduled` and the task's `last_cpu` change only when the client reschedules, together with its look at the
 * link: until then the client is on the task's kernel stack, even if the job has ended. That it has is in the task's
 * `flight`, written under the same lock.
 *
 * Assumptions about the host:
 *   1. An entry point is called under the lock that lock_of names, and step under that of its LX_STEP. The DSP's entry
 *      points need none: interrupts of the DSP are off while its operation is in progress, and no other CPU calls them.
 *   2. After complete, suspend, exhaust and restore the CPU calls reschedule; no kick says so.
 *   3. Reschedule of a CPU is called some time after every LX_KICK for it, and message some time after every LX_NOTIFY.
 *   4. A suspended job is resumed once, after suspend was called for it; a task arrives only if it has no job and
 *      complete, if it was called, was called with LX_NEVER, or if its job is suspended: that one is given up.
 *   5. Calls of different CPUs may run at once. Each leaves its actions in the list of the CPU that makes it: `cpu`, or of
 *      release_group the DSP. Interrupts are off there until the host has read them.
 *   6. After LX_NOTIFY the DSP calls message until that returns 0, and finishes the operation of each before the next: a
 *      message whose slot was taken earlier may be published later, and then only its own LX_NOTIFY tells of what is behind it.
 *   7. Consume is called by the CPU that has the task scheduled, before that reschedules.
 *
 * No more locks than these: the release queue, the ready queue, the copy and s->forget are the DSP's; a mailbox is written by
 * clients without a lock; `ended` and the link are written before the message is published, and so seen by the DSP that reads it.
 *
 * Once all messages are handled and all kicks followed, the schedule is that of global EDF, or global fixed priorities,
 * on the clients. A build with LX_CHECKED looks at links, copy and ready queue at the end of every entry point (check.h).
 */
#ifndef LX_G_EDF_MP_H
#define LX_G_EDF_MP_H

#include "g_edf_mp/check.h"

LX_INLINE u32 lx_g_edf_mp_lock_of(const struct lx_state *s, u32 event, u32 cpu)
{
	(void)s;
	if (event == LX_EVENT_RELEASE || event == LX_EVENT_MESSAGE)
		return LX_NO_LOCKS;
	return lx_locks(cpu, LX_NO_LOCK);
}

/* The jobs of the group that take_due returned are released: all at once into the ready queue. On the DSP. */
LX_FN void lx_g_edf_mp_release_group(struct lx_state *s, u32 group, u64 now)
{
	(void)now;
	lx_list_begin(s, s->config.dedicated_cpu);
	lx_binomial_heap_group_release(s, group);
	lx_dsp_settle(s);
	lx_g_edf_mp_check(s);
}

/* A task's first job, or its next one after a time without, arrives at `release_at`, now or later. */
LX_FN void lx_g_edf_mp_arrive(struct lx_state *s, u32 task, u64 release_at, u32 cpu, u64 now)
{
	lx_list_begin(s, cpu);
	if (cpu != s->config.dedicated_cpu) {
		lx_mailbox_post(s, cpu, LX_MESSAGE_ARRIVE, task, release_at, now);
	} else {
		lx_dsp_arrive(s, task, release_at, now);
		lx_dsp_settle(s);
	}
	lx_g_edf_mp_check(s);
}

/* What the suspended job of the task waited for has happened: an interrupt on the DSP, or another task on a client. */
LX_FN void lx_g_edf_mp_resume(struct lx_state *s, u32 task, u32 cpu, u64 now)
{
	lx_list_begin(s, cpu);
	if (cpu != s->config.dedicated_cpu) {
		lx_mailbox_post(s, cpu, LX_MESSAGE_RESUME, task, 0, now);
	} else {
		lx_dsp_resume(s, task);
		lx_dsp_settle(s);
	}
	lx_g_edf_mp_check(s);
}

/*
 * The job that a client runs leaves it. If the link still says so, it is given up: the client idles. Otherwise the DSP
 * has chosen another job already, and the client goes on with that one; the DSP will find the message stale.
 */
LX_INLINE void lx_g_edf_mp_leave(struct lx_state *s, u32 cpu, u32 kind, u64 release_at, u64 now)
{
	struct lx_cpu *c = lx_cpu(s, cpu);
	u32 task = c->scheduled;

	LX_ASSERT(!lx_flight(s, task)->ended);
	lx_list_begin(s, cpu);
	LX_WRITE(lx_flight(s, task)->ended, 1);
	/* It is going to call reschedule. */
	c->kicked = 1;
	if (c->linked == task)
		c->linked = LX_NONE;
	lx_mailbox_post(s, cpu, kind, task, release_at, now);
	lx_g_edf_mp_check(s);
}

/*
 * The job that `cpu` runs has ended. The next job of its task arrives at `next_release_at` (LX_NEVER: not known, or none).
 */
LX_FN void lx_g_edf_mp_complete(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now)
{
	lx_g_edf_mp_leave(s, cpu, LX_MESSAGE_COMPLETE, next_release_at, now);
}

/* The job that `cpu` runs waits for something. */
LX_FN void lx_g_edf_mp_suspend(struct lx_state *s, u32 cpu, u64 now)
{
	lx_g_edf_mp_leave(s, cpu, LX_MESSAGE_SUSPEND, 0, now);
}

/* The job that `cpu` runs has no budget left: the DSP decides when it goes on, and with which deadline. */
LX_FN void lx_g_edf_mp_exhaust(struct lx_state *s, u32 cpu, u64 now)
{
	lx_g_edf_mp_leave(s, cpu, LX_MESSAGE_EXHAUST, 0, now);
}

/* `cpu` follows its link. O(1), in the number of tasks and of CPUs. */
LX_FN u32 lx_g_edf_mp_reschedule(struct lx_state *s, u32 cpu, u64 now)
{
	struct lx_cpu *c = lx_cpu(s, cpu);
	u32 next;

	(void)now;
	lx_list_begin(s, cpu);
	c->kicked = 0;
	LX_ASSERT(c->linked == LX_NONE || !lx_flight(s, c->linked)->ended);
	next = lx_switch_to(s, cpu, c->linked);
	lx_g_edf_mp_check(s);
	return next;
}

/* The DSP is to look at a client. */
LX_INLINE void lx_g_edf_mp_say_withdrawn(struct lx_state *s, u32 by)
{
	(void)LX_FETCH_ADD(s->withdrawals, 1);
	lx_list_add(s, by, LX_NOTIFY, s->config.dedicated_cpu);
	lx_g_edf_mp_check(s);
}

/* Something above the policy takes `cpu`, a client: it gives up its link. `by` makes the call. */
LX_FN void lx_g_edf_mp_withdraw(struct lx_state *s, u32 cpu, u32 by, u64 now)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	(void)now;
	lx_list_begin(s, by);
	/* It is going to call restore, and then reschedule: nothing has to ask for it. */
	c->kicked = 1;
	c->linked = LX_NONE;
	LX_WRITE(c->withdrawn, LX_WITHDRAWN | LX_GAVE_UP);
	lx_switch_to(s, cpu, LX_NONE);
	lx_g_edf_mp_say_withdrawn(s, by);
}

/* `cpu`, which was withdrawn, is there again. It calls reschedule next, and idles until the DSP has a job for it. */
LX_FN void lx_g_edf_mp_restore(struct lx_state *s, u32 cpu, u64 now)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	(void)now;
	lx_list_begin(s, cpu);
	LX_WRITE(c->withdrawn, c->withdrawn & ~(u32)LX_WITHDRAWN);
	lx_g_edf_mp_say_withdrawn(s, cpu);
}

/* The DSP, `cpu`, handles one message, or one client that was withdrawn or restored: 1, or 0 if it found none. */
LX_FN u32 lx_g_edf_mp_message(struct lx_state *s, u32 cpu, u64 now)
{
	struct lx_message m;
	u32 kind;

	lx_list_begin(s, cpu);
	if (lx_dsp_seek_withdrawal(s)) {
		lx_g_edf_mp_check(s);
		return 1;
	}
	kind = lx_mailbox_take(s, &m);
	if (kind == LX_MESSAGE_NONE)
		return 0;
	if (kind == LX_MESSAGE_ARRIVE) {
		lx_dsp_arrive(s, m.task, m.release_at, now);
	} else if (kind == LX_MESSAGE_RESUME) {
		lx_dsp_resume(s, m.task);
	} else {
		lx_dsp_discard(s, m.task, m.sender);
		if (kind == LX_MESSAGE_COMPLETE)
			lx_dsp_completed(s, m.task, m.release_at, now);
		else if (kind == LX_MESSAGE_SUSPEND)
			lx_dsp_suspended(s, m.task, now);
		else
			lx_dsp_release(s, m.task, lx_replenish(s, m.task, now), now);
	}
	lx_dsp_settle(s);
	lx_g_edf_mp_check(s);
	return 1;
}

/* Whether message would find anything. O(sockets). */
LX_INLINE u32 lx_g_edf_mp_has_mail(struct lx_state *s)
{
	return LX_READ(s->withdrawals) != s->withdrawals_seen || lx_mailbox_has_mail(s);
}

/* The task used `used_ns` ns of its budget. */
LX_FN void lx_g_edf_mp_consume(struct lx_state *s, u32 task, u64 used_ns)
{
	lx_charge(s, task, used_ns);
	lx_g_edf_mp_check(s);
}

/* The operation in progress on the DSP goes on, under the lock that it asked for. */
LX_FN void lx_g_edf_mp_step(struct lx_state *s, u32 cpu, u64 now)
{
	u32 phase = lx_dsp(s)->phase;

	(void)now;
	lx_list_begin(s, cpu);
	if (phase == LX_DSP_SWAP)
		lx_dsp_swap_step(s);
	else if (phase == LX_DSP_LINK)
		lx_dsp_link_step(s);
	else if (phase == LX_DSP_WITHDRAWAL)
		lx_dsp_withdrawal_step(s);
	lx_g_edf_mp_check(s);
}

/*
 * The task, whose parameters are in place, becomes one of the instance: it has no job yet. Before it, nothing was ever said of
 * it, or it has left: complete with LX_NEVER or suspend was its last event. Makes no actions and needs no lock, on any
 * CPU: the message that says that its predecessor left may still be on its way, so what that will change is not touched.
 */
LX_FN void lx_g_edf_mp_enter(struct lx_state *s, u32 task)
{
	LX_ASSERT(!lx_flight(s, task)->early);
	LX_ASSERT(lx_flight(s, task)->ended ||
		  (lx_task(s, task)->linked_on == LX_NONE && lx_task(s, task)->place == LX_PLACE_NOWHERE));
	lx_task_enter(s, task);
	lx_g_edf_mp_check(s);
}

/* An instance without jobs. The configuration and the tasks' parameters are in place. */
LX_FN void lx_g_edf_mp_init(struct lx_state *s)
{
	u32 i = 0;

	lx_tasks_init(s);
	lx_release_init(s);
	lx_cpu_heap_init(s);
	lx_binomial_heap_init(s);
	lx_mailboxes_init(s);
	lx_dsp(s)->phase = LX_DSP_IDLE;
	s->withdrawals = 0;
	s->withdrawals_seen = 0;
	while (i < s->config.cpus && LX_MAY_LOOP) {
		lx_list_begin(s, i);
		i++;
		LX_FORGET(s, i);
	}
	i = 0;
	while (i < s->config.tasks && LX_MAY_LOOP) {
		lx_flight(s, i)->ended = 0;
		lx_flight(s, i)->early = 0;
		i++;
		LX_FORGET(s, i);
	}
	lx_g_edf_mp_check(s);
}

#ifdef LX_ALONE
#define LX_POLICY lx_g_edf_mp
#define LX_STEPS
#define LX_MESSAGES
#endif

#endif
