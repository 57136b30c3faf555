/* SPDX-License-Identifier: GPL-2.0-only */
/* What a decision leaves in the trace. */
#ifndef LX_HOST_DECISIONS_H
#define LX_HOST_DECISIONS_H

#include "slots.h"

/* A decision that began at `begin`: what it was asked for by, what it ended, and how long it took. */
static __noinline void lx_trace_decision(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 begin, u32 next)
{
	u32 ended = c->ending_task;
	u64 end = bpf_ktime_get_ns();
	struct lx_ring *ring = lx_trace_ring();

	/* One that was sent while this decision went on is for the next. */
	if (c->kicked_at && c->kicked_at <= begin) {
		if (ring && lx_tracing(LX_TRACE_EVENTS))
			lx_trace_write(ring, LX_TRACE_IPI, cpu, begin, 0, LX_NONE, LX_NONE, c->kicked_by, c->kicked_at);
		if (ring && lx_tracing(LX_TRACE_SAMPLES) && begin > c->kicked_at && c->kicked_by != cpu)
			lx_trace_write(ring, LX_SAMPLE_IPI_LATENCY, cpu, c->kicked_at, 0, LX_NONE, LX_NONE,
				       begin - c->kicked_at, 0);
		c->kicked_at = 0;
	}
	if (ended != LX_NONE && c->ending == LX_ENDED_JOB) {
		lx_trace_following_job(in, c->instance, ended);
		/* Its next job goes on where this one was, and is charged from here: there is no other sign of that. */
		if (next == ended)
			lx_trace_task(LX_TRACE_RESUME, cpu, begin, c->instance, ended, lx_slot(in, ended)->pid,
				      lx_slot(in, ended)->job, 0);
	} else if (ended != LX_NONE && c->ending == LX_ENDED_BUDGET) {
		u64 again = c->replenishment.time > begin ? c->replenishment.time : begin;
		u64 deadline = c->replenishment.deadline_abs;
		u32 pid = lx_slot(in, ended)->pid;
		u32 job = lx_slot(in, ended)->job;

		if (in->state.config.budget_mode == LX_BUDGET_POSTPONE) {
			lx_trace_task(LX_TRACE_POSTPONE, cpu, begin, c->instance, ended, pid, job, deadline);
		} else {
			lx_trace_task(LX_TRACE_THROTTLE, cpu, begin, c->instance, ended, pid, job, 0);
			lx_trace_task(LX_TRACE_REPLENISH, LX_NONE, again, c->instance, ended, pid, job, deadline);
			/* It has had its new budget for some time, and goes on at once. */
			if (next == ended)
				lx_trace_task(LX_TRACE_RESUME, cpu, begin, c->instance, ended, pid, job, 0);
		}
	}
	if (ring && lx_tracing(LX_TRACE_SAMPLES))
		lx_trace_write(ring, LX_SAMPLE_SCHEDULE, cpu, begin, 0, LX_NONE, LX_NONE, end - begin, 0);
}

/* A decision that began at `begin` has been carried out, as far as it can be. */
static __always_inline void lx_trace_carried_out(struct lx_host_cpu *c, u64 begin, u32 next)
{
	u64 end = bpf_ktime_get_ns();

	c->decided = end;
	lx_trace_work(LX_TRACE_SCHEDULING_OVERHEAD, begin, end, next, 0);
}

#endif
