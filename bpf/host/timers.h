/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts: releases at their instants, budgets finer than the tick. */
#ifndef LX_HOST_TIMERS_H
#define LX_HOST_TIMERS_H

#ifdef LX_STEPS
#include "many_locks.h"
#else
#include "one_lock.h"
#endif

/* A release interrupt that began at `begin`, for the instant `due`. */
static __noinline void lx_trace_released(u64 due, u64 begin)
{
	u64 end = bpf_ktime_get_ns();
	struct lx_ring *ring = lx_trace_ring();
	u32 cpu = bpf_get_smp_processor_id();

	if (!ring)
		return;
	/* Elsewhere the timer only sees to it that its CPU releases (lx_serve). */
#ifndef LX_STEPS
	lx_trace_work(LX_TRACE_RELEASE_OVERHEAD, begin, end, LX_NONE, due < begin ? due : begin);
#endif
	if (!lx_tracing(LX_TRACE_SAMPLES))
		return;
	lx_trace_write(ring, LX_SAMPLE_RELEASE, cpu, begin, 0, LX_NONE, LX_NONE, end - begin, 0);
	if (due < begin)
		lx_trace_write(ring, LX_SAMPLE_RELEASE_LATENCY, cpu, due, 0, LX_NONE, LX_NONE, begin - due, 0);
}

static int lx_release_due(void *map, u32 *key, struct lx_instance *in)
{
	u64 begin, due;

	(void)map;
	begin = bpf_ktime_get_ns();
	due = LX_READ(in->armed);
	in->went_off = due;
	in->armed = LX_NEVER;
	lx_release_pending(in, *key);
	if (lx_tracing(LX_TRACE_EVENTS | LX_TRACE_SAMPLES))
		lx_trace_released(due, begin);
	return 0;
}

/*
 * The budget timer of a CPU: nothing but a reason to decide. What the budget is, is looked at then, so a timer that has
 * been set for a task that is gone does no harm, and none has to be cancelled.
 */
static int lx_budget_due(void *map, u32 *key, struct lx_host_cpu *c)
{
	(void)map;
	/* The interrupt has been on its way since then. */
	if (lx_tracing(LX_TRACE_EVENTS | LX_TRACE_SAMPLES) && !c->kicked_at) {
		c->kicked_by = *key;
		c->kicked_at = c->budget_due;
	}
	lx_kick_cpu(*key);
	return 0;
}

/* Sets the budget timer of the CPU, on which a job begins to run, or the same one with a new budget. */
static __always_inline void lx_watch_budget(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	struct lx_state *s = &in->state;
	u64 left;

	if (!has_timers || s->config.budget_mode == LX_BUDGET_OFF)
		return;
	left = LX_READ(lx_task(s, c->running)->budget_left);
	c->budget_due = now + left;
	bpf_timer_start(&c->timer, c->budget_due, BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN);
}

#endif
