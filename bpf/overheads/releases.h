/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers that are due: releases, replenishments, the tick. The tracepoints around the handlers of all high-resolution timers
 * tell which handler it is; they are there where functions of the kernel may not be traced.
 *
 *   hrtimer_wakeup  a thread that sleeps until a time (clock_nanosleep) is woken: under every scheduler the release of its
 *                   next job
 *   dl_task_timer   SCHED_DEADLINE gives a thread its next budget: after sched_yield that is the release of its next job
 *   tick            the tick of a CPU
 *
 * The releases of laxity's own policies are their hosts' (bpf/host/samples.h).
 */
#ifndef LX_OVERHEADS_RELEASES_H
#define LX_OVERHEADS_RELEASES_H

#include "stopped.h"

#define LX_CLOCK_MONOTONIC 1

/* A timer is due: how late, where its clock is the one we read. */
static __always_inline void record_latency(u64 due_at, u32 pid, u32 policy)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_ring *ring = lx_trace_ring();

	if (now < due_at || !ring)
		return;
	struct lx_record record = {
		.time_ns = due_at,
		.argument = now - due_at,
		.kind = LX_SAMPLE_RELEASE_LATENCY,
		.cpu = bpf_get_smp_processor_id(),
		.pid = pid,
		.task = LX_NONE,
		.job = LX_NONE,
		.policy = policy,
		.interrupts = ring->interrupts,
	};
	lx_ring_write(ring, &record);
}

/*
 * A late thread asks to sleep until a time that is past, and the timer fires at once: that releases nothing, and says
 * nothing about latency. So the thread must have been off its CPU when the timer was due.
 */
static __always_inline void enter_wakeup(struct hrtimer *timer)
{
	struct hrtimer_sleeper *sleeper = bpf_core_cast(timer, struct hrtimer_sleeper);
	struct task_struct *p = sleeper->task;
	u64 due_at;

	if (!p || !is_real_time(p) || timer->base->clockid != LX_CLOCK_MONOTONIC)
		return;
	due_at = timer->_softexpires;
	if (!had_stopped_by(p->pid, due_at))
		return;
	record_latency(due_at, p->pid, p->policy);
	enter(LX_FUNCTION_RELEASE, p->pid, p->policy);
}

static __always_inline void enter_deadline(struct hrtimer *timer)
{
	void *at = (void *)timer - bpf_core_field_offset(struct sched_dl_entity, dl_timer);
	struct sched_dl_entity *entity = bpf_core_cast(at, struct sched_dl_entity);
	struct task_struct *p;

	if (BPF_CORE_READ_BITFIELD(entity, dl_server))
		return;
	p = bpf_core_cast(at - bpf_core_field_offset(struct task_struct, dl), struct task_struct);
	if (!is_real_time(p))
		return;
	if (BPF_CORE_READ_BITFIELD(entity, dl_yielded)) {
		record_latency(timer->_softexpires, p->pid, p->policy);
		enter(LX_FUNCTION_RELEASE, p->pid, p->policy);
	} else {
		enter(LX_FUNCTION_REPLENISH, p->pid, p->policy);
	}
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry, struct hrtimer *timer)
{
	struct lx_begun *b;
	u64 handler;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	b = begun();
	handler = (u64)timer->function;
	if (!b || !handler)
		return 0;
	b->functions[LX_FUNCTION_RELEASE].begin_ns = 0;
	b->functions[LX_FUNCTION_REPLENISH].begin_ns = 0;
	b->functions[LX_FUNCTION_TICK].begin_ns = 0;
	b->timer = (u64)timer;
	if (handler == lx_options.hrtimer_wakeup)
		enter_wakeup(timer);
	else if (handler == lx_options.dl_task_timer)
		enter_deadline(timer);
	else if (handler == lx_options.tick)
		enter_for(LX_FUNCTION_TICK, bpf_get_current_task_btf());
	else
		b->timer = 0;
	return 0;
}

/* The timer may be gone by now. One that interrupts another one's handler takes its place: that one has no sample. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(hrtimer_expire_exit, void *timer)
{
	struct lx_begun *b = begun();

	if (!b || !b->timer || b->timer != (u64)timer)
		return 0;
	b->timer = 0;
	leave(LX_FUNCTION_RELEASE, LX_SAMPLE_RELEASE);
	leave(LX_FUNCTION_REPLENISH, LX_SAMPLE_REPLENISH);
	leave(LX_FUNCTION_TICK, LX_SAMPLE_TICK);
	return 0;
}

#endif
