/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs do for others where locks are several (many_locks.h): releases, and in g-edf-mp the messages of the clients. Where one CPU is
 * dedicated to that, it does; or another one, as long as a class above has that.
 */
#ifndef LX_HOST_SERVE_H
#define LX_HOST_SERVE_H

#include "many_locks.h"

/* The group that is due is released: 1, or 0 if there is none. Its interrupt was this CPU's, whichever CPU set
 * the timer. */
LX_ONCE int lx_release_next_group(u32 instance, u32 cpu, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);
	u32 group = LX_NONE;

	if (!in)
		return 0;
	LX_UNDER_RELEASE_LOCK(instance, group = lx_take_due(&in->state, now));
	if (group == LX_NONE)
		return 0;
	lx_group(&in->state, group)->cpu = cpu;
	LX_P(release_group)(&in->state, group, now);
	return 1;
}

#ifdef LX_MESSAGES
LX_ONCE int lx_take_message(u32 instance, u32 cpu, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);

	return in ? LX_P(message)(&in->state, cpu, now) : 0;
}
#endif

static __always_inline bool lx_has_mail(struct lx_instance *in)
{
#ifdef LX_MESSAGES
	return LX_P(has_mail)(&in->state);
#else
	(void)in;
	return false;
#endif
}

/* Whether a message waits for this CPU. */
static __always_inline bool lx_is_awaited(struct lx_instance *in, struct lx_host_cpu *c)
{
	return lx_serves(in, c->index) && lx_has_mail(in);
}

/* Whether a CPU of the instance has to call lx_serve. */
static __always_inline bool lx_has_to_serve(struct lx_instance *in)
{
	return LX_READ(in->state.next_due_at) <= bpf_ktime_get_ns() || lx_has_mail(in);
}

/* What is due is released, by the CPU that has the number `cpu` for that, and messages are handled until there are none. */
static __always_inline void lx_serve_as(struct lx_instance *in, u32 instance, u32 cpu)
{
	u64 now = bpf_ktime_get_ns();
	u64 begin_at = now;
	u64 due_at = LX_READ(in->armed_at);
	bool released = false;

	/* The timer has gone off, or has yet to. */
	if (due_at == LX_NEVER)
		due_at = LX_READ(in->went_off_at);
	while (LX_READ(in->state.next_due_at) <= now && LX_MAY_LOOP) {
		if (!lx_release_next_group(instance, cpu, now))
			break;
		lx_carry_out(instance, cpu, now);
		LX_COUNT(releases);
		released = true;
	}
	if (released && (lx_tracing(LX_TRACE_EVENTS) || lx_sampling())) {
		lx_trace_released(due_at, begin_at);
		now = bpf_ktime_get_ns();
	}
#ifdef LX_MESSAGES
	while (lx_take_message(instance, cpu, now) && LX_MAY_LOOP) {
		begin_at = now;
		lx_carry_out(instance, cpu, now);
		now = bpf_ktime_get_ns();
		lx_sample_message(LX_READ(in->state.message_sent_at), begin_at, now);
	}
#endif
	if (LX_READ(in->state.next_due_at) != LX_READ(in->armed_at))
		lx_arm(in);
}

/*
 * What this CPU does for others, with interrupts off. Where one CPU is dedicated to that, only one at a time does: another that finds it
 * at it leaves what has come to it, which looks again when it is done.
 */
static __always_inline void lx_serve(struct lx_instance *in, struct lx_host_cpu *c)
{
	u32 dedicated = in->state.config.dedicated_cpu;

	if (!lx_serves(in, c->index))
		return;
	if (dedicated == LX_NONE) {
		lx_serve_as(in, c->instance, c->index);
		return;
	}
	while (!__sync_lock_test_and_set(&in->serving, 1) && LX_MAY_LOOP) {
		lx_serve_as(in, c->instance, dedicated);
		__sync_lock_test_and_set(&in->serving, 0);
		if (!lx_has_to_serve(in))
			break;
	}
}

/*
 * The timer has interrupts on: it makes its CPU, or the dedicated one, call serve, which has them off; or one in its place, if a class
 * above has that. Releases none itself.
 */
static __always_inline int lx_release_pending(struct lx_instance *in)
{
	lx_kick_server(in);
	return 0;
}

#endif
