/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling and switching:
 *
 *       sched_entry_tp      sched_switch    finish_task_switch    sched_exit_tp
 *            |                    |                  |                  |
 *            |---- SCHEDULE ------|- CONTEXT_SWITCH -|---- SCHEDULE2 ---|
 *            |---- SCHEDULE_KEPT: if there is no switch ----------------|
 */
#ifndef LX_OVERHEADS_SWITCHES_H
#define LX_OVERHEADS_SWITCHES_H

#include "stopped.h"

/* A reschedule interrupt led to a scheduling that is about a real-time thread. */
static __always_inline void record_ipi(struct lx_begun *b, u32 pid, u32 policy)
{
	struct lx_ring *ring;

	if (!b->ipi_sent_ns)
		return;
	ring = lx_trace_ring();
	if (ring) {
		struct lx_record record = {
			.time_ns = b->ipi_sent_ns,
			.argument = b->ipi_ns,
			.kind = LX_SAMPLE_IPI_LATENCY,
			.cpu = bpf_get_smp_processor_id(),
			.pid = pid,
			.task = LX_NONE,
			.job = LX_NONE,
			.policy = policy,
			.interrupts = ring->interrupts,
			.disturbing = b->ipi_disturbing,
		};
		lx_ring_write(ring, &record);
	}
	b->ipi_sent_ns = 0;
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(sched_entry, bool preempt)
{
	struct lx_begun *b;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	b = begun();
	if (b)
		lx_trace_begin(&b->schedule);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now;
	bool from, to;
	struct lx_begun *b;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	now = bpf_ktime_get_ns();
	b = begun();
	if (!b)
		return 0;
	b->context_switch.begin_ns = 0;
	b->schedule2.begin_ns = 0;
	b->before_ns = 0;
	from = is_real_time(prev);
	to = is_real_time(next);
	if (from)
		note_stop(prev->pid, now);
	if (to)
		note_stop(next->pid, LX_RUNS);
	if (!to && !from) {
		b->schedule.begin_ns = 0;
		return 0;
	}
	b->switched.pid = to ? next->pid : prev->pid;
	b->switched.policy = to ? next->policy : prev->policy;
	record_ipi(b, b->switched.pid, b->switched.policy);
	b->before_ns = lx_trace_end_at(&b->schedule, now, LX_SAMPLE_SCHEDULE, b->switched.pid, b->switched.policy,
				       LX_NONE, LX_NONE, 0);
	lx_trace_begin(&b->context_switch);
	return 0;
}

/* Compilers give this function another name (finish_task_switch.isra.0), which fentry cannot attach to. */
SEC("kprobe.multi/finish_task_switch*")
int finish_task_switch(struct pt_regs *context)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();

	if (!b || !b->context_switch.begin_ns)
		return 0;
	lx_trace_end_at(&b->context_switch, now, LX_SAMPLE_CONTEXT_SWITCH, b->switched.pid, b->switched.policy,
			LX_NONE, LX_NONE, 0);
	lx_trace_begin(&b->schedule2);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(sched_exit, bool is_switch)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();
	struct task_struct *current;

	if (!b)
		return 0;
	if (is_switch) {
		/* finish_task_switch cannot be probed here: both parts in one. */
		if (b->context_switch.begin_ns)
			lx_trace_end_at(&b->context_switch, now, LX_SAMPLE_CONTEXT_SWITCH, b->switched.pid,
					b->switched.policy, LX_NONE, LX_NONE, 0);
		if (b->schedule2.begin_ns)
			lx_trace_end_at(&b->schedule2, now, LX_SAMPLE_SCHEDULE2, b->switched.pid, b->switched.policy,
					LX_NONE, LX_NONE, b->before_ns);
	} else if (b->schedule.begin_ns) {
		current = bpf_get_current_task_btf();
		if (is_real_time(current)) {
			record_ipi(b, current->pid, current->policy);
			lx_trace_end_at(&b->schedule, now, LX_SAMPLE_SCHEDULE_KEPT, current->pid, current->policy,
					LX_NONE, LX_NONE, 0);
		}
		b->schedule.begin_ns = 0;
	}
	b->ipi_sent_ns = 0;
	return 0;
}

#endif
