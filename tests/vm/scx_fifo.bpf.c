// SPDX-License-Identifier: GPL-2.0-only
/*
 * A foreign scheduler for tests: one queue for all threads, first come, first served. Nothing of it is laxity's but the kernel's
 * interface (bpf/kernel/). `crates/laxity-kernel/examples/scx_fifo.rs` loads it.
 */
#include "kernel/sched_ext.h"

char _license[] SEC("license") = "GPL";

#define QUEUE 1
#define SLICE_NS (5 * 1000 * 1000)

void BPF_STRUCT_OPS(fifo_enqueue, struct task_struct *p, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, QUEUE, SLICE_NS, enq_flags);
}

void BPF_STRUCT_OPS(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(QUEUE);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(fifo_init)
{
	return scx_bpf_create_dsq(QUEUE, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops fifo = {
	.enqueue = (void *)fifo_enqueue,
	.dispatch = (void *)fifo_dispatch,
	.init = (void *)fifo_init,
	.name = "test_fifo",
};
