/* SPDX-License-Identifier: GPL-2.0-only */
/* What a decision leaves in the trace. */
#ifndef LX_HOST_DECISIONS_H
#define LX_HOST_DECISIONS_H

#include "slots.h"

/* Whether the budget timer of this CPU should have gone off by now. That it has not before is kept, if events are recorded. */
static __always_inline bool lx_trace_budget_overdue(const struct lx_host_cpu *c, u32 cpu, u64 now)
{
	struct lx_ring *ring;
	u64 due_at = c->budget_due_at;

	if (!due_at || due_at > now)
		return false;
	if (lx_tracing(LX_TRACE_EVENTS) && due_at < now) {
		ring = lx_trace_ring();
		if (ring)
			lx_trace_write(ring, LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, LX_OVERDUE, due_at);
	}
	return true;
}

/* A decision begins on this CPU. Notes the kick that has asked for it; a kick that is sent while it goes on
 * is for the next. */
static __always_inline void lx_trace_begun(struct lx_host_cpu *c, u32 cpu, u64 now)
{
	struct lx_ring *ring = lx_trace_ring();
	u64 sent_at = c->kicked_at;

	c->begun_at = now;
	lx_trace_budget_overdue(c, cpu, now);
	if (!ring || !sent_at || sent_at > now)
		return;
	lx_trace_write(ring, LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, c->kicked_by, sent_at);
	c->kicked_at = 0;
}

/* Whether what the decision has ended is a budget, and its job goes on with a later deadline. */
static __always_inline bool lx_is_postponed(const struct lx_instance *in, const struct lx_host_cpu *c)
{
	return c->ending == LX_ENDED_BUDGET && in->state.config.budget_mode == LX_BUDGET_POSTPONE;
}

/* The budget of the job of `task` has ended. */
static __always_inline void lx_trace_budget_end(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 begin_at, u32 task)
{
	u64 again_at = c->replenishment.release_at > begin_at ? c->replenishment.release_at : begin_at;
	u64 deadline_abs_ns = c->replenishment.deadline_abs_ns;
	u32 pid = lx_slot(in, task)->pid;
	u32 job = lx_slot(in, task)->job;

	if (lx_is_postponed(in, c)) {
		lx_trace_task(LX_TRACE_POSTPONE, cpu, begin_at, c->instance, task, pid, job, deadline_abs_ns);
	} else {
		lx_trace_task(LX_TRACE_THROTTLE, cpu, begin_at, c->instance, task, pid, job, 0);
		lx_trace_task(LX_TRACE_REPLENISH, LX_NONE, again_at, c->instance, task, pid, job, deadline_abs_ns);
	}
}

/*
 * Since when the task that was on the CPU goes on there, after the decision that began at `begin_at` has ended its job or its budget:
 * what it goes on with may have come while the decision went on.
 */
static __always_inline u64 lx_goes_on_since(struct lx_instance *in, struct lx_host_cpu *c, u64 begin_at)
{
	u64 since_at = begin_at;

	if (c->ending == LX_ENDED_JOB)
		since_at = lx_slot(in, c->ending_task)->release_at;
	else if (!lx_is_postponed(in, c))
		since_at = c->replenishment.release_at;
	return since_at > begin_at ? since_at : begin_at;
}

/* A decision that began at `begin_at`: what it ended. */
static __noinline void lx_trace_decision(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 begin_at, u32 next)
{
	u32 ended = c->ending_task;

	if (ended == LX_NONE || c->ending == LX_ENDED_NOTHING)
		return;
	if (c->ending == LX_ENDED_JOB)
		lx_trace_job(in, c->instance, ended);
	else
		lx_trace_budget_end(in, c, cpu, begin_at, ended);
	/* What runs goes on at once, with its next job or after its budget: there is no other sign of that. */
	if (next == ended && c->running == ended && !lx_is_postponed(in, c))
		lx_trace_task(LX_TRACE_RESUME, cpu, lx_goes_on_since(in, c, begin_at), c->instance, ended,
			      lx_slot(in, ended)->pid, lx_slot(in, ended)->job, 0);
}

/* A decision that began at `begin_at` has been carried out, as far as it can be. `runs`: what it chose is on its way. */
static __always_inline void lx_trace_carried_out(struct lx_host_cpu *c, u64 begin_at, u32 next, bool runs)
{
	u64 end_at = bpf_ktime_get_ns();

	c->decided_at = end_at;
	/* The reserve's work is on its way as well. */
	c->awaited = (runs && c->running != next) || c->gave_way ? next : LX_NONE;
	c->begun_at = 0;
	lx_trace_work(LX_TRACE_SCHEDULING_OVERHEAD, begin_at, end_at, next, 0);
}

/* What is under way or overdue on a CPU, and has no record before it is over. */
static __always_inline void lx_trace_pending(struct lx_ring *ring, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	u64 begun_at = c->begun_at, decided_at = c->decided_at, sent_at = c->kicked_at;

	if (c->running != LX_NONE)
		lx_trace_budget_overdue(c, cpu, now);
	if (sent_at && sent_at < now)
		lx_trace_write(ring, LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, c->kicked_by, sent_at);
	if (begun_at && begun_at < now)
		lx_trace_write(ring, LX_TRACE_SCHEDULING_OVERHEAD, cpu, begun_at, 0, LX_NONE, LX_NONE, now - begun_at, 0);
	else if (c->awaited != LX_NONE && decided_at < now)
		lx_trace_write(ring, LX_TRACE_SWITCH_OVERHEAD, cpu, decided_at, 0, c->awaited, LX_NONE, now - decided_at, 0);
}

/* The release timer of an instance is overdue. */
static __always_inline void lx_trace_overdue(struct lx_ring *ring, struct lx_instance *in, u64 now)
{
	u32 dedicated = in->state.config.dedicated_cpu;
	u64 due_at = LX_READ(in->armed_at);

	if (due_at < now)
		lx_trace_write(ring, LX_TRACE_RELEASE_OVERHEAD, lx_kernel_cpu(in, dedicated == LX_NONE ? 0 : dedicated), now, 0,
			       LX_NONE, LX_NONE, 0, due_at);
}

#endif
