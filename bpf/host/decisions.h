/* SPDX-License-Identifier: GPL-2.0-only */
/* What a decision leaves in the trace. */
#ifndef LX_HOST_DECISIONS_H
#define LX_HOST_DECISIONS_H

#include "slots.h"

/* Whether the budget timer of this CPU should have gone off by now. That it has not before is kept, if events are recorded. */
static __always_inline bool lx_trace_budget_overdue(const struct lx_host_cpu *c, u32 cpu, u64 now)
{
	struct lx_ring *ring;
	u64 due = c->budget_due;

	if (!due || due > now)
		return false;
	if (lx_tracing(LX_TRACE_EVENTS) && due < now) {
		ring = lx_trace_ring();
		if (ring)
			lx_trace_write(ring, LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, LX_OVERDUE, due);
	}
	return true;
}

/* A decision begins on this CPU. Notes the kick that has asked for it; a kick that is sent while it goes on
 * is for the next. */
static __always_inline void lx_trace_begun(struct lx_host_cpu *c, u32 cpu, u64 now)
{
	struct lx_ring *ring = lx_trace_ring();
	u64 sent = c->kicked_at;

	c->begun = now;
	lx_trace_budget_overdue(c, cpu, now);
	if (!ring || !sent || sent > now)
		return;
	lx_trace_write(ring, LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, c->kicked_by, sent);
	c->kicked_at = 0;
}

/* Whether what the decision has ended is a budget, and its job goes on with a later deadline. */
static __always_inline bool lx_is_postponed(const struct lx_instance *in, const struct lx_host_cpu *c)
{
	return c->ending == LX_ENDED_BUDGET && in->state.config.budget_mode == LX_BUDGET_POSTPONE;
}

/* The budget of the job of `task` has ended. */
static __always_inline void lx_trace_budget_end(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 begin, u32 task)
{
	u64 again = c->replenishment.time > begin ? c->replenishment.time : begin;
	u64 deadline = c->replenishment.deadline_abs;
	u32 pid = lx_slot(in, task)->pid;
	u32 job = lx_slot(in, task)->job;

	if (lx_is_postponed(in, c)) {
		lx_trace_task(LX_TRACE_POSTPONE, cpu, begin, c->instance, task, pid, job, deadline);
	} else {
		lx_trace_task(LX_TRACE_THROTTLE, cpu, begin, c->instance, task, pid, job, 0);
		lx_trace_task(LX_TRACE_REPLENISH, LX_NONE, again, c->instance, task, pid, job, deadline);
	}
}

/*
 * Since when the task that was on the CPU goes on there, after the decision that began at `begin` has ended its job or its budget:
 * what it goes on with may have come while the decision went on.
 */
static __always_inline u64 lx_goes_on_since(struct lx_instance *in, struct lx_host_cpu *c, u64 begin)
{
	u64 since = begin;

	if (c->ending == LX_ENDED_JOB)
		since = lx_slot(in, c->ending_task)->release;
	else if (!lx_is_postponed(in, c))
		since = c->replenishment.time;
	return since > begin ? since : begin;
}

/* A decision that began at `begin`: what it ended. */
static __noinline void lx_trace_decision(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 begin, u32 next)
{
	u32 ended = c->ending_task;

	if (ended == LX_NONE || c->ending == LX_ENDED_NOTHING)
		return;
	if (c->ending == LX_ENDED_JOB)
		lx_trace_job(in, c->instance, ended);
	else
		lx_trace_budget_end(in, c, cpu, begin, ended);
	/* What runs goes on at once, with its next job or after its budget: there is no other sign of that. */
	if (next == ended && c->running == ended && !lx_is_postponed(in, c))
		lx_trace_task(LX_TRACE_RESUME, cpu, lx_goes_on_since(in, c, begin), c->instance, ended,
			      lx_slot(in, ended)->pid, lx_slot(in, ended)->job, 0);
}

/* A decision that began at `begin` has been carried out, as far as it can be. `runs`: what it chose is on its way. */
static __always_inline void lx_trace_carried_out(struct lx_host_cpu *c, u64 begin, u32 next, bool runs)
{
	u64 end = bpf_ktime_get_ns();

	c->decided = end;
	/* The reserve's work is on its way as well. */
	c->awaited = (runs && c->running != next) || c->gave_way ? next : LX_NONE;
	c->begun = 0;
	lx_trace_work(LX_TRACE_SCHEDULING_OVERHEAD, begin, end, next, 0);
}

/* What is under way or overdue on a CPU, and has no record before it is over. */
static __always_inline void lx_trace_pending(struct lx_ring *ring, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	u64 begun = c->begun, decided = c->decided, sent = c->kicked_at;

	if (c->running != LX_NONE)
		lx_trace_budget_overdue(c, cpu, now);
	if (sent && sent < now)
		lx_trace_write(ring, LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, c->kicked_by, sent);
	if (begun && begun < now)
		lx_trace_write(ring, LX_TRACE_SCHEDULING_OVERHEAD, cpu, begun, 0, LX_NONE, LX_NONE, now - begun, 0);
	else if (c->awaited != LX_NONE && decided < now)
		lx_trace_write(ring, LX_TRACE_SWITCH_OVERHEAD, cpu, decided, 0, c->awaited, LX_NONE, now - decided, 0);
}

/* The release timer of an instance is overdue. */
static __always_inline void lx_trace_overdue(struct lx_ring *ring, struct lx_instance *in, u64 now)
{
	u32 dedicated = in->state.config.dedicated_cpu;
	u64 due = LX_READ(in->armed);

	if (due < now)
		lx_trace_write(ring, LX_TRACE_RELEASE_OVERHEAD, lx_kernel_cpu(in, dedicated == LX_NONE ? 0 : dedicated), now, 0,
			       LX_NONE, LX_NONE, 0, due);
}

#endif
