/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts: releases at their instants, budgets finer than the tick. */
#ifndef LX_HOST_TIMERS_H
#define LX_HOST_TIMERS_H

#ifdef LX_STEPS
#include "many_locks.h"
#else
#include "one_lock.h"
#endif

static int lx_release_due(void *map, u32 *key, struct lx_instance *in)
{
	u64 begin, due;
	int released;

	(void)map;
	begin = bpf_ktime_get_ns();
	due = LX_READ(in->armed);
	in->went_off = due;
	in->armed = LX_NEVER;
	released = lx_release_pending(in, *key);
	/* It may have been set by two CPUs at once for one instant, and go off twice. */
	if (released && (lx_tracing(LX_TRACE_EVENTS) || lx_sampling()))
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
	if (lx_tracing(LX_TRACE_EVENTS) && !c->kicked_at) {
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
