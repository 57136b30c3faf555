/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of wide records: one per CPU, written in the kernel, read in user space, never shared between writers.
 *
 *   writer:  claim ---> fill ---> publish          reader:  seen published ---> copy ---> give back
 *            head++               sequence = n + 1           sequence == n + 1             tail = n + 1
 *
 * 1. Position n is record number n of this ring; it lies in slot n mod LX_RING_RECORDS. `head` is the next position to
 *    claim, `tail` the next to be read: tail <= head <= tail + LX_RING_RECORDS.
 * 2. A writer that is interrupted between claim and publish leaves a hole that the reader waits at; the writer that
 *    interrupts it claims the next position. So interrupts, NMIs and tasks that preempt each other may all write to
 *    their CPU's ring.
 * 3. Claiming is a compare-and-swap, because a position that was added to `head` cannot be handed back if the ring is
 *    full. It fails only if a whole other record was claimed since `head` was read, which takes an interrupt in these few
 *    instructions; after LX_RING_TRIES of them the record is given up. So writing is wait-free: it never spins, blocks or
 *    overwrites. What finds no place is counted in `lost`.
 * 4. The reader never takes a half-written record: `sequence` names the position, 1 more than it, so that neither zeroed
 *    memory nor the slot's last record looks published. A record is complete once its sequence is seen.
 *
 * This file compiles natively too, where it is tested (crates/laxity-overheads/tests/ring.rs).
 */
#ifndef LAXITY_TRACE_RING_H
#define LAXITY_TRACE_RING_H

#if !defined(__bpf__) && !defined(LX_HOSTED)
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#endif

/* Records of a ring: a power of two. */
#ifndef LX_RING_RECORDS
#define LX_RING_RECORDS 16384u
#endif

/* How often a claim is tried. */
#define LX_RING_TRIES 4

/* No task, no job. */
#define LX_NONE 0xffffffffu

/* 64 bytes: one cache line. Times are CLOCK_MONOTONIC in ns. */
struct lx_record {
	u64 time_ns;    /* when; of a sample: when what it measures began */
	u64 argument;   /* of an event what its kind says; of a sample its length in ns */
	u64 argument2;  /* what its kind says */
	u32 kind;       /* LX_TRACE_* or LX_SAMPLE_* (kinds.h) */
	u32 cpu;
	u32 pid;        /* the thread's id in the kernel */
	u32 task;       /* index in the task set, or LX_NONE */
	u32 job;        /* number of the job, or LX_NONE */
	u32 policy;     /* scheduling policy of the thread (SCHED_*), 0 where it has no meaning */
	u32 interrupts; /* of this CPU so far, at the end */
	u32 disturbing; /* of them, since time_ns */
	u64 sequence;   /* its position + 1; written last */
};

/* The parts of a ring that different sides write lie in different cache lines. The records begin on their own page. */
struct lx_ring {
	u64 head; /* written by the kernel */
	u64 lost;
	u32 interrupts; /* of this CPU so far, if they are counted */
	u32 wanted; /* written by the reader, where that switches the writer on */
	u64 away[5];
	u64 tail; /* written by the reader */
	u64 away2[7];
	u64 away3[496];
	struct lx_record records[LX_RING_RECORDS];
};

_Static_assert(sizeof(struct lx_record) == 64, "a record is a cache line");
_Static_assert((LX_RING_RECORDS & (LX_RING_RECORDS - 1)) == 0, "a power of two");
_Static_assert(__builtin_offsetof(struct lx_ring, tail) == 64, "in a cache line of its own");
_Static_assert(__builtin_offsetof(struct lx_ring, records) == 4096, "on a page of their own");

/* Makes everything written so far visible before `sequence` is. Without store-release in BPF below version 4 of its
 * instruction set: x86 keeps stores in order, elsewhere an exchange is a full barrier. */
static __always_inline void lx_ring_publish(struct lx_record *slot, u64 sequence)
{
#ifdef __bpf__
#ifdef __TARGET_ARCH_x86
	asm volatile("" ::: "memory");
	*(volatile u64 *)&slot->sequence = sequence;
#else
	(void)__sync_lock_test_and_set(&slot->sequence, sequence);
#endif
#else
	__atomic_store_n(&slot->sequence, sequence, __ATOMIC_RELEASE);
#endif
}

/* A slot for one record, and the sequence to publish it with; NULL if there is no place, which is counted. */
static __always_inline struct lx_record *lx_ring_claim(struct lx_ring *ring, u64 *sequence)
{
	for (int try = 0; try < LX_RING_TRIES; try++) {
		u64 head = *(volatile u64 *)&ring->head;
		/* The swap below is a full barrier: the slot is not written before the reader is seen to be done with it. */
		if (head - *(volatile u64 *)&ring->tail >= LX_RING_RECORDS)
			break;
		if (__sync_val_compare_and_swap(&ring->head, head, head + 1) == head) {
			*sequence = head + 1;
			return &ring->records[head & (LX_RING_RECORDS - 1)];
		}
	}
	__sync_fetch_and_add(&ring->lost, 1);
	return (struct lx_record *)0;
}

/* Writes one record, except for its sequence, which is the ring's. */
static __always_inline void lx_ring_write(struct lx_ring *ring, const struct lx_record *record)
{
	u64 sequence = 0;
	struct lx_record *slot = lx_ring_claim(ring, &sequence);

	if (!slot)
		return;
	slot->time_ns = record->time_ns;
	slot->argument = record->argument;
	slot->argument2 = record->argument2;
	slot->kind = record->kind;
	slot->cpu = record->cpu;
	slot->pid = record->pid;
	slot->task = record->task;
	slot->job = record->job;
	slot->policy = record->policy;
	slot->interrupts = record->interrupts;
	slot->disturbing = record->disturbing;
	lx_ring_publish(slot, sequence);
}

#endif
