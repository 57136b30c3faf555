/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts: releases at their instants, budgets finer than the tick. */
#ifndef LX_HOST_TIMERS_H
#define LX_HOST_TIMERS_H

#include "decisions.h"

#ifdef LX_STEPS
#include "serve.h"
#else
#include "one_lock.h"
#endif
#ifdef LX_SERVERS
#include "servers.h"
#endif

static int lx_release_due(void *map, u32 *key, struct lx_instance *in)
{
	u64 begin_at, due_at;
	int released;

	(void)map;
	(void)key;
	begin_at = bpf_ktime_get_ns();
	due_at = LX_READ(in->armed_at);
	in->went_off_at = due_at;
	in->armed_at = LX_NEVER;
	released = lx_release_pending(in);
	/* It may have been set by two CPUs at once for one instant, and go off twice. */
	if (released && (lx_tracing(LX_TRACE_EVENTS) || lx_sampling()))
		lx_trace_released(due_at, begin_at);
	return 0;
}

/*
 * The budget timer of a CPU: nothing but a reason to decide. What the budget is, is looked at then, so a timer that has
 * been set for a task that is gone does no harm, and none has to be cancelled.
 */
static int lx_budget_due(void *map, u32 *key, struct lx_host_cpu *c)
{
	u64 due_at;

	(void)map;
	lx_kick_cpu(*key);
	/*
	 * Until the kick, and no gap. One that was set anew while this was on its way has yet to go off, also where its CPU does so just now:
	 * after a call that changes the scheduling of what runs there, the timer is on the caller's CPU.
	 */
	due_at = LX_READ(c->budget_due_at);
	if (lx_trace_budget_overdue(c, *key, bpf_ktime_get_ns()))
		__sync_val_compare_and_swap(&c->budget_due_at, due_at, 0);
	return 0;
}

/* The same where there are no timers, when a tick has found the budget used up. */
static __always_inline void lx_budget_ticked(struct lx_host_cpu *c, u32 cpu)
{
	if (!c->budget_due_at)
		return;
	lx_note_kick(c);
	if (lx_trace_budget_overdue(c, cpu, bpf_ktime_get_ns()))
		c->budget_due_at = 0;
}

#ifndef LX_SERVERS
/* Sets the timer of the CPU, on which a job begins to run, or the same one with a new budget. */
static __always_inline void lx_watch_budget(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	struct lx_state *s = &in->state;

	if (s->config.budget_mode != LX_BUDGET_OFF)
		lx_set_timer(c, now + LX_READ(lx_task(s, c->running)->budget_left_ns));
}
#endif

#endif
