// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which callbacks of the loaded scheduler the kernel calls: a tracing program at the entry of each, which the scheduler does not notice.
 * crates/laxity-kernel/examples/callbacks attaches them by the callbacks' names and reads the ring.
 */
#include "kernel/types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

#define COMM_LENGTH 16
#define NUMBER_OF_RING_BUFFERS 27
#define KEEPS_QUIET 1
#define RING_BYTES (8 << 20)

/* What is read of a task, which bpf/kernel/types.h has not: x86 and arm64 have its CPU in its first structure. */
struct thread_info___here {
	u32 cpu;
} __attribute__((preserve_access_index));

struct task_struct___here {
	struct thread_info___here thread_info;
	char comm[COMM_LENGTH];
} __attribute__((preserve_access_index));

/* crates/laxity-kernel/examples/callbacks/main.rs has the same. */
struct called {
	u64 now;
	/* Where its record is, by which the task is known while it lives: its number changes if a thread that is no leader calls execve. */
	u64 task_address;
	/* The callback's second argument: flags, or whether it can still run. */
	u64 argument;
	/* The task's; where there is no task, the one that calls. */
	u32 cpu;
	u32 callback;
	char comm[COMM_LENGTH];
};

struct {
	int (*type)[NUMBER_OF_RING_BUFFERS];
	int (*max_entries)[RING_BYTES];
} ring SEC(".maps");

/* Records for which there was no room. */
u64 lost;

/* The callback's arguments are where its own program finds them. `task_at` and `argument_at`: which they are; negative: there is none. */
static __always_inline int note(u64 arguments_address, u32 callback, int task_at, int argument_at)
{
	struct called *to = bpf_ringbuf_reserve(&ring, sizeof(*to), 0);

	if (!to) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	to->now = bpf_ktime_get_ns();
	to->task_address = 0;
	to->argument = 0;
	to->cpu = bpf_get_smp_processor_id();
	to->callback = callback;
	__builtin_memset(to->comm, 0, sizeof(to->comm));
	if (argument_at >= 0)
		bpf_probe_read_kernel(&to->argument, sizeof(u64), (void *)(arguments_address + 8 * argument_at));
	if (task_at >= 0) {
		struct task_struct___here *p = NULL;

		bpf_probe_read_kernel(&p, sizeof(p), (void *)(arguments_address + 8 * task_at));
		to->task_address = (u64)p;
		to->cpu = BPF_CORE_READ(p, thread_info.cpu);
		BPF_CORE_READ_INTO(&to->comm, p, comm);
	}
	bpf_ringbuf_submit(to, KEEPS_QUIET);
	return 0;
}

/* In the order of CALLBACKS in main.rs. */
#define NOTED(number, callback, task_at, argument_at)                                                                  \
	SEC("fentry/on_" #callback)                                                                                    \
	int called_##callback(u64 *context)                                                                            \
	{                                                                                                              \
		return note(context[0], number, task_at, argument_at);                                                 \
	}

NOTED(0, select_cpu, 0, 2)
NOTED(1, enqueue, 0, 1)
NOTED(2, dequeue, 0, 1)
NOTED(3, dispatch, -1, 0)
NOTED(4, running, 0, -1)
NOTED(5, stopping, 0, 1)
NOTED(6, quiescent, 0, 1)
NOTED(7, yield, 0, -1)
NOTED(8, set_cpumask, 0, -1)
NOTED(9, init_task, 0, -1)
NOTED(10, exit_task, 0, -1)
NOTED(11, enable, 0, -1)
NOTED(12, disable, 0, -1)
NOTED(13, cpu_release, -1, 0)
