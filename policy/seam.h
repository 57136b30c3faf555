/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the two builds of this code: natively (the simulator, the tests) and as BPF (the kernel).
 *
 * Style: u32 indices into arrays of a power-of-two capacity, no stored pointers between objects. Chosen over arena
 * pointers because it verifies on every kernel with sched_ext, may run under a bpf_spin_lock (arena code needs global
 * functions, which may not), and its state is a plain map value that user space can map and read.
 *
 * 1. State belongs to the caller: a map value in the kernel, plain memory natively. Nothing here is static and mutable.
 * 2. No clock, no allocation, no lock, no kernel helper: `now` is an argument, locks are the host's.
 * 3. Times are ns in u64. The host keeps instants below LX_NEVER / 4, so sums of two never wrap.
 * 4. An index is below the array's length or it is LX_NONE, and LX_NONE is never used as an index. The BPF build masks
 *    every index all the same, because the verifier wants proof; natively LX_ASSERT builds check it.
 */
#ifndef LX_SEAM_H
#define LX_SEAM_H

/*
 * The build as the kernel has it: as BPF, or with LX_HOSTED as code of this machine, beneath a model of the kernel
 * (crates/laxity-scx), whose header says what an access to shared memory and a broken assertion are.
 */
#if defined(__bpf__) || defined(LX_HOSTED)
#define LX_IN_HOST
#endif
#ifdef LX_HOSTED
#include "model.h"
#else
#define LX_SHARED ((void)0)
#endif

#ifdef LX_IN_HOST
typedef unsigned char u8;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

#define LX_NONE 0xffffffffu
#define LX_NEVER 0xffffffffffffffffull
/* Levels of the bitmap of fpp: enough for 64^4 tasks. */
#define LX_MAP_LEVELS_MAX 4

/*
 * Policies with several locks leave their actions in the list of the CPU that calls (s->list); where calls do not run
 * at the same time, as natively, one list is enough (s->action), and quicker. The tests define it to see which CPU
 * writes which list.
 */
#ifdef LX_IN_HOST
#define LX_LISTS

/* Capacities of the kernel's build; powers of two. */
#ifndef LX_TASKS_MAX
#define LX_TASKS_MAX 4096u
#endif
#ifndef LX_CPUS_MAX
#define LX_CPUS_MAX 256u
#endif

/* Release groups are found by a hash of their time: with four buckets per task, most are empty. */
#define LX_BUCKETS_MAX (LX_TASKS_MAX * 4)
/* The CPUs and the nodes above them; every CPU is kicked at most once in a decision. */
#define LX_CPU_NODES_MAX (LX_CPUS_MAX * 2)
#define LX_ACTIONS_MAX (LX_CPUS_MAX * 2)
/* fpp: a link per task and per list; words of a bitmap with a bit per list (queues/bitmap.h). */
#define LX_LINKS_MAX (LX_TASKS_MAX * 2)
#define LX_WORDS_MAX (LX_TASKS_MAX / 32)

/* g-edf-mp: mailboxes, and messages in all of them (g_edf_mp/mailbox.h). */
#define LX_SOCKETS_MAX 8u
#define LX_MESSAGES_MAX (LX_SOCKETS_MAX * LX_TASKS_MAX * 2)
#endif

#ifdef __bpf__

/* The element at `index`, in a way that clang cannot prove unnecessary and drop. */
#define LX_AT(array, index, capacity)                                                                                  \
	({                                                                                                             \
		u64 lx_index_ = (index);                                                                               \
		asm volatile("%0 &= %1" : "+r"(lx_index_) : "i"((capacity) - 1));                                      \
		&(array)[lx_index_];                                                                                   \
	})
/* A function of its own for the verifier, if the program calls it. */
#define LX_FN static __attribute__((noinline, unused))
#define LX_HOT LX_FN
#define LX_INLINE static inline __attribute__((always_inline))
/* True as long as a loop may go on: the verifier then need not prove that it ends. */
#define LX_MAY_LOOP                                                                                                    \
	({                                                                                                             \
		__label__ lx_stop_, lx_go_;                                                                            \
		int lx_ret_ = 1;                                                                                       \
		asm volatile goto("may_goto %l[lx_stop_]" : : : : lx_stop_);                                           \
		goto lx_go_;                                                                                           \
	lx_stop_:                                                                                                      \
		lx_ret_ = 0;                                                                                           \
	lx_go_:;                                                                                                       \
		lx_ret_;                                                                                               \
	})
/* Sends a loop-carried value through memory, so that the verifier forgets what it was and sees one state per loop. */
#define LX_FORGET(s, value)                                                                                            \
	do {                                                                                                           \
		*(volatile u32 *)&(s)->forget = (value);                                                               \
		(value) = *(volatile u32 *)&(s)->forget;                                                               \
	} while (0)
#define LX_ASSERT(condition) ((void)0)

#else /* native */

#define LX_AT(array, index, capacity) (&(array)[index])
#define LX_FN static inline
/* What every job calls: in one piece here, where the calls would cost more than the code; functions for the verifier. */
#define LX_HOT static inline __attribute__((always_inline))
#define LX_INLINE static inline __attribute__((always_inline))
#define LX_MAY_LOOP 1
#define LX_FORGET(s, value) ((void)(s))
#if defined(LX_CHECKED) && defined(LX_HOSTED)
#define LX_ASSERT(condition) ((condition) ? (void)0 : LX_ASSERTION_FAILED(#condition))
#elif defined(LX_CHECKED)
#include <stdio.h>
/* The only place of policy/ that prints: a checked build is for tests, and its end is to say why. */
static inline __attribute__((cold, noreturn)) void lx_assertion_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
	__builtin_trap();
}
#define LX_ASSERT(condition) ((condition) ? (void)0 : lx_assertion_failed(#condition, __FILE__, __LINE__))
#else
#define LX_ASSERT(condition) ((void)0)
#endif

#endif

/* One access to memory that another CPU may write or read meanwhile. */
#define LX_READ(member) (LX_SHARED, *(volatile __typeof__(member) *)&(member))
#define LX_WRITE(member, value) ((void)(LX_SHARED, *(volatile __typeof__(member) *)&(member) = (value)))
/*
 * Atomic, and ordered with all accesses before and after. In BPF every atomic operation that returns a value is; natively
 * __sync_lock_test_and_set would be a barrier in one direction only.
 */
#ifdef __bpf__
#define LX_FETCH_ADD(member, value) __sync_fetch_and_add(&(member), (value))
#define LX_EXCHANGE(member, value) __sync_lock_test_and_set(&(member), (value))
#else
#define LX_FETCH_ADD(member, value) (LX_SHARED, __atomic_fetch_add(&(member), (value), __ATOMIC_SEQ_CST))
#define LX_EXCHANGE(member, value) (LX_SHARED, __atomic_exchange_n(&(member), (value), __ATOMIC_SEQ_CST))
#endif

/* Hides from the compiler what the value is: else it turns arithmetic that avoids a branch into one. */
#define LX_OPAQUE(value) asm("" : "+r"(value))

#define LX_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define LX_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
