/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the scheduler, for the kernel's report when it throws the scheduler out. */
#ifndef LX_HOST_DUMP_H
#define LX_HOST_DUMP_H

#include "slots.h"

void BPF_STRUCT_OPS(on_dump_cpu, struct scx_dump_ctx *context, s32 cpu, bool idle)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in;
	struct lx_cpu *own;

	(void)context;
	in = lx_instance_of(c);
	if (!in)
		return;
	own = lx_cpu(&in->state, c->index);
	scx_bpf_dump("laxity: instance %u index %u idle %d linked %d scheduled %d kicked %u running %d\n", c->instance,
		     c->index, idle, own->linked, own->scheduled, own->kicked, c->running);
	if (c->index == 0)
		scx_bpf_dump("laxity: now %llu next release %llu armed %llu members %u ready %u due %u\n",
			     bpf_ktime_get_ns(), in->state.next_due_at, in->armed_at, in->members, in->state.ready_count,
			     in->state.due_count);
}

void BPF_STRUCT_OPS(on_dump_task, struct scx_dump_ctx *context, struct task_struct *p)
{
	struct lx_member *member = lx_member_of(p);
	struct lx_instance *in = member ? lx_instance_at(member->instance) : NULL;
	struct lx_slot *slot;
	struct lx_task *t;

	(void)context;
	if (!in)
		return;
	slot = lx_slot(in, member->index);
	t = lx_task(&in->state, member->index);
	scx_bpf_dump("laxity: task %u standing %u custody %u yielded %u job %u\n", member->index, slot->standing,
		     slot->custody, slot->yielded, slot->job);
	scx_bpf_dump("laxity: place %u linked %d last %d release %llu deadline %llu budget left %llu\n", t->place,
		     t->linked_on, t->last_cpu, t->release_at, t->deadline_abs_ns, t->budget_left_ns);
}

#endif
