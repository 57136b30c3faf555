/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing from BPF programs. Include after vmlinux.h and bpf_helpers.h.
 *
 * The loader gives `lx_trace_rings` as many entries as there are possible CPUs, or the rings of another object
 * (laxity_kernel::rings::Rings), and switches with `lx_trace_switch` while the programs run. What is off costs a load
 * and a branch.
 *
 *   lx_trace_event(LX_TRACE_RELEASE, now, pid, task, job, deadline_abs);
 *
 *   u64 begin = lx_trace_begin(&span);         // 0 when samples are off
 *   ...
 *   lx_trace_end(&span, LX_SAMPLE_RELEASE, pid, task, job);
 *
 * Under a bpf_spin_lock neither helper may be called: take `lx_trace_ring()` and the time before it, and use
 * lx_trace_write.
 */
#ifndef LAXITY_TRACE_RINGS_BPF_H
#define LAXITY_TRACE_RINGS_BPF_H

#include "kinds.h"
#include "ring.h"

/* Bits of the switch. */
#define LX_TRACE_EVENTS 1u
#define LX_TRACE_SAMPLES 2u

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_ring);
} lx_trace_rings SEC(".maps");

/* In a section of its own, so that user space finds it at offset 0 of the map `.data.lx_trace`. */
u32 lx_trace_switch SEC(".data.lx_trace") = 0;

static __always_inline bool lx_tracing(u32 what)
{
	return *(volatile u32 *)&lx_trace_switch & what;
}

/* The ring of this CPU. */
static __always_inline struct lx_ring *lx_trace_ring(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&lx_trace_rings, &cpu);
}

/* One record about `cpu` into this CPU's ring. Calls no helper. */
static __always_inline void lx_trace_write(struct lx_ring *ring, u32 kind, u32 cpu, u64 time_ns, u32 pid, u32 task,
					   u32 job, u64 argument, u64 argument2)
{
	struct lx_record record = {
		.time_ns = time_ns,
		.argument = argument,
		.argument2 = argument2,
		.kind = kind,
		.cpu = cpu,
		.pid = pid,
		.task = task,
		.job = job,
		.interrupts = ring->interrupts,
	};

	lx_ring_write(ring, &record);
}

/* A schedule event on `cpu`, if events are switched on. */
static __always_inline void lx_trace_event_on(u32 cpu, u32 kind, u64 time_ns, u32 pid, u32 task, u32 job, u64 argument)
{
	struct lx_ring *ring;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return;
	ring = lx_trace_ring();
	if (ring)
		lx_trace_write(ring, kind, cpu, time_ns, pid, task, job, argument, 0);
}

/* A schedule event on this CPU, if events are switched on. */
static __always_inline void lx_trace_event(u32 kind, u64 time_ns, u32 pid, u32 task, u32 job, u64 argument)
{
	lx_trace_event_on(bpf_get_smp_processor_id(), kind, time_ns, pid, task, job, argument);
}

/* The beginning of something that ends on the same CPU. */
struct lx_span {
	u64 begin_ns; /* 0: nothing has begun */
	u32 interrupts;
	u32 unused;
};

/* Begins a sample, if samples are switched on. */
static __always_inline void lx_trace_begin(struct lx_span *span)
{
	struct lx_ring *ring;

	span->begin_ns = 0;
	if (!lx_tracing(LX_TRACE_SAMPLES))
		return;
	ring = lx_trace_ring();
	if (!ring)
		return;
	span->interrupts = ring->interrupts;
	span->begin_ns = bpf_ktime_get_ns();
}

/* Ends a sample at `end_ns`, writes it with argument2 and the thread's policy; gives its length, 0 if none had begun. */
static __always_inline u64 lx_trace_end_at(struct lx_span *span, u64 end_ns, u32 kind, u32 pid, u32 policy, u32 task,
					   u32 job, u64 argument2)
{
	struct lx_ring *ring;
	u64 begin_ns = span->begin_ns;

	if (!begin_ns)
		return 0;
	span->begin_ns = 0;
	ring = lx_trace_ring();
	if (!ring)
		return 0;
	struct lx_record record = {
		.time_ns = begin_ns,
		.argument = end_ns - begin_ns,
		.argument2 = argument2,
		.kind = kind,
		.cpu = bpf_get_smp_processor_id(),
		.pid = pid,
		.task = task,
		.job = job,
		.policy = policy,
		.interrupts = ring->interrupts,
		.disturbing = ring->interrupts - span->interrupts,
	};
	lx_ring_write(ring, &record);
	return record.argument;
}

/* Ends a sample now and writes it. */
static __always_inline void lx_trace_end(struct lx_span *span, u32 kind, u32 pid, u32 task, u32 job)
{
	if (span->begin_ns)
		lx_trace_end_at(span, bpf_ktime_get_ns(), kind, pid, 0, task, job, 0);
}

/* An interrupt of this CPU: whatever is being measured on it is disturbed. */
static __always_inline void lx_trace_count_interrupt(void)
{
	struct lx_ring *ring = lx_trace_ring();

	if (ring)
		__sync_fetch_and_add(&ring->interrupts, 1);
}

#endif
