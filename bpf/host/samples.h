/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overheads that only the host can see (cerqueira2014, IV-A): releases, which are its own interrupts, and the
 * messages to the dedicated scheduling processor. They are in rings of their own, apart from those of the
 * schedule: overheads can be measured without recording the schedule. A reader finds these rings by name in the
 * running kernel and enables sampling through them (laxity_kernel::rings::HostSamples).
 *
 * Messages are handled with interrupts off, releases of policies with a lock per CPU too. A release of the others is a timer's
 * callback with interrupts on: one that comes in between makes the sample longer, and is not known here.
 */
#ifndef LX_HOST_SAMPLES_H
#define LX_HOST_SAMPLES_H

#include "maps.h"

#define LX_SAMPLED_POLICY 7 /* SCHED_EXT */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_ring);
} lx_sample_rings SEC(".maps");

/* The ring for samples of this CPU; NULL: sampling is off. */
static __always_inline struct lx_ring *lx_sampling(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_ring *ring = bpf_map_lookup_elem(&lx_sample_rings, &cpu);

	return ring && *(volatile u32 *)&ring->wanted ? ring : NULL;
}

/* A sample from `begin_at` to `end_at` on this CPU; if `end_at` is before `begin_at`, nothing. */
static __noinline void lx_sample(u32 kind, u64 begin_at, u64 end_at)
{
	struct lx_ring *ring = lx_sampling();

	if (!ring || end_at < begin_at)
		return;
	struct lx_record record = {
		.time_ns = begin_at,
		.argument = end_at - begin_at,
		.kind = kind,
		.cpu = bpf_get_smp_processor_id(),
		.task = LX_NONE,
		.job = LX_NONE,
		.policy = LX_SAMPLED_POLICY,
		.interrupts = ring->interrupts,
	};
	lx_ring_write(ring, &record);
}

/* A release interrupt for the instant `due_at`, handled from `begin_at` to `end_at`. */
static __always_inline void lx_sample_release(u64 due_at, u64 begin_at, u64 end_at)
{
	if (!lx_sampling())
		return;
	lx_sample(LX_SAMPLE_RELEASE_LATENCY, due_at, begin_at);
	lx_sample(LX_SAMPLE_RELEASE, begin_at, end_at);
}

/* A message sent at `sent_at` to the dedicated processor, handled from `begin_at` to `end_at`. */
static __always_inline void lx_sample_message(u64 sent_at, u64 begin_at, u64 end_at)
{
	if (!lx_sampling())
		return;
	lx_sample(LX_SAMPLE_REQUEST_LATENCY, sent_at, begin_at);
	lx_sample(LX_SAMPLE_DSP_HANDLER, begin_at, end_at);
}

#endif
