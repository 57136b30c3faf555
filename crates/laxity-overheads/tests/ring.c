// SPDX-License-Identifier: GPL-2.0-only
/* The writing side of bpf/trace/ring.h as functions that a test can call. */
#include "trace/ring.h"

/* A record whose every word follows from `value`, so that a torn one shows. */
void laxity_ring_write(struct lx_ring *ring, u64 value)
{
	struct lx_record record = {
		.time_ns = value,
		.argument = value * 3,
		.argument2 = ~value,
		.kind = (u32)value,
		.cpu = (u32)(value >> 32),
		.pid = (u32)value + 1,
		.task = (u32)value + 2,
		.job = (u32)value + 3,
		.policy = (u32)value + 4,
		.interrupts = (u32)value + 5,
		.disturbing = (u32)value + 6,
	};

	lx_ring_write(ring, &record);
}

/* The two halves of a write, for what may come between them. */
struct lx_record *laxity_ring_claim(struct lx_ring *ring, u64 *sequence)
{
	return lx_ring_claim(ring, sequence);
}

void laxity_ring_publish(struct lx_record *slot, u64 value, u64 sequence)
{
	slot->time_ns = value;
	lx_ring_publish(slot, sequence);
}

u64 laxity_ring_bytes(void)
{
	return sizeof(struct lx_ring);
}
