/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts: those that ask a CPU to reschedule are measured, all are counted. */
#ifndef LX_OVERHEADS_INTERRUPTS_H
#define LX_OVERHEADS_INTERRUPTS_H

#include "begun.h"

#define LX_CPUS_MAX 1024

/* A reschedule interrupt on its way to a CPU. */
struct lx_sent {
	u64 time_ns; /* 0: none */
	u32 interrupts; /* of the receiver, when it was sent */
	u32 unused;
	u64 away[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct lx_sent);
} lx_sent SEC(".maps");

/* The kernel names no callback where it sends a reschedule interrupt. The first of those on their way counts. */
SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(ipi_send_cpu, unsigned int cpu, unsigned long callsite, void *callback)
{
	struct lx_sent *sent;
	struct lx_ring *ring;
	u32 receiver = cpu;

	if (!lx_tracing(LX_TRACE_SAMPLES) || callback)
		return 0;
	sent = bpf_map_lookup_elem(&lx_sent, &receiver);
	ring = bpf_map_lookup_elem(&lx_trace_rings, &receiver);
	if (!sent || !ring || sent->time_ns)
		return 0;
	sent->interrupts = ring->interrupts;
	__sync_val_compare_and_swap(&sent->time_ns, 0, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/reschedule_entry")
int BPF_PROG(reschedule_entry, int vector)
{
	u64 now = bpf_ktime_get_ns();
	u64 sent_ns;
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_sent *sent = bpf_map_lookup_elem(&lx_sent, &cpu);
	struct lx_ring *ring = lx_trace_ring();
	struct lx_begun *b = begun();

	if (!sent || !ring || !b)
		return 0;
	sent_ns = __sync_lock_test_and_set(&sent->time_ns, 0);
	if (sent_ns && now > sent_ns && lx_tracing(LX_TRACE_SAMPLES)) {
		b->ipi_sent_ns = sent_ns;
		b->ipi_ns = now - sent_ns;
		b->ipi_disturbing = ring->interrupts - sent->interrupts;
	}
	__sync_fetch_and_add(&ring->interrupts, 1);
	return 0;
}

/* Everything else that may come between the beginning and the end of a sample. */
#define COUNTED(tracepoint)                 \
	SEC("tp_btf/" #tracepoint)          \
	int tracepoint(void *context)       \
	{                                   \
		lx_trace_count_interrupt(); \
		return 0;                   \
	}

COUNTED(local_timer_entry)
COUNTED(call_function_entry)
COUNTED(call_function_single_entry)
COUNTED(irq_work_entry)
COUNTED(irq_handler_entry)
COUNTED(softirq_entry)
COUNTED(nmi_handler)

#endif
