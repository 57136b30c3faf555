/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happened, for the oracles and the statistics: records in the rings of bpf/trace/, while they are switched on.
 * `task` is the number in the instance, argument2 the instance. What each kind means beyond laxity_trace::EventKind:
 *
 *   RELEASE     written when the job becomes known: its time may be still to come
 *   RESUME      a task is on a CPU from now on, or the one there has its next job; the reader knows if it started or migrated
 *   PREEMPT     it is not any more; after a COMPLETE, THROTTLE or BLOCK that is no news
 *   REPLENISH   written together with THROTTLE: its time is to come
 *   BACKGROUND  argument: the thread; argument2: why it may (enum lx_other)
 *   IPI         argument2: when it was sent. With LX_OVERDUE for an argument: when the CPU's budget timer was to go off
 *   RELEASE_OVERHEAD     argument2: the instant that the timer was set to
 *   SCHEDULING_OVERHEAD  task: the one that the CPU is to run, LX_NONE: none. Where argument2 is not 0, it is a wake-up, at
 *               that instant, that was handled
 *
 * Times are taken where they say: a decision's are those at which it began.
 */
#ifndef LX_HOST_TRACE_H
#define LX_HOST_TRACE_H

#include "maps.h"
#include "samples.h"

/* A record about a task of an instance. Under no lock. */
static __always_inline void lx_trace_task(u32 kind, u32 cpu, u64 event_at, u32 instance, u32 index, u32 pid, u32 job, u64 argument)
{
	struct lx_ring *ring;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return;
	ring = lx_trace_ring();
	if (ring)
		lx_trace_write(ring, kind, cpu, event_at, pid, index, job, argument, instance);
}

/* The present job of a task, of which the policy may not have heard yet: its release and deadline. */
static __always_inline void lx_trace_job(struct lx_instance *in, u32 instance, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);
	u64 deadline_abs_ns = slot->release_at + lx_task(&in->state, index)->deadline_rel_ns;

	lx_trace_task(LX_TRACE_RELEASE, LX_NONE, slot->release_at, instance, index, slot->pid, slot->job, deadline_abs_ns);
}

/* Kernel work on this CPU from `begin_at` to `end_at`, for a task or LX_NONE; `what` as its kind says. */
static __always_inline void lx_trace_work(u32 kind, u64 begin_at, u64 end_at, u32 index, u64 what)
{
	struct lx_ring *ring;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return;
	ring = lx_trace_ring();
	if (ring)
		lx_trace_write(ring, kind, bpf_get_smp_processor_id(), begin_at, 0, index, LX_NONE, end_at - begin_at, what);
}

/* A release interrupt that began at `begin_at`, for the instant `due_at`, and has released something. */
static __noinline void lx_trace_released(u64 due_at, u64 begin_at)
{
	u64 end_at = bpf_ktime_get_ns();

	if (due_at > begin_at)
		due_at = begin_at;
	lx_trace_work(LX_TRACE_RELEASE_OVERHEAD, begin_at, end_at, LX_NONE, due_at);
	lx_sample_release(due_at, begin_at, end_at);
}

#endif
