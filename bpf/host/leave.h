/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of memberships (maps.h: struct lx_member), and members as the task's own callbacks see them. */
#ifndef LX_HOST_LEAVE_H
#define LX_HOST_LEAVE_H

#include "timers.h"

/* Whether the policy schedules the task. */
static __always_inline struct lx_member *lx_real_time(struct task_struct *p)
{
	struct lx_member *member = lx_member_of(p);

	return member && p->policy == SCHED_EXT_POLICY ? member : NULL;
}

/* The CPU that is to run the task looks again: it was not here when that CPU decided, or it is not any more. */
static __always_inline void lx_remind(struct lx_instance *in, u32 index)
{
	u32 cpu = lx_scheduled_on(&in->state, index);
	struct lx_host_cpu *c;

	if (cpu == LX_NONE)
		return;
	cpu = lx_kernel_cpu(in, cpu);
	c = lx_host_cpu(cpu);
	/* A CPU that a class above has taken decides when that is over: clearing this, it looks at what is here (withdraw.h). */
	if (!c || !LX_READ(c->above))
		lx_kick_cpu(cpu);
}

/* Anywhere: the membership that there is now is to end at the task's next callback; if it waits, when its turn comes. */
static __noinline int lx_ask_to_leave(struct lx_member *member)
{
	u32 joined = lx_membership(member);
	struct lx_instance *in;

	if (!joined)
		return 0;
	in = lx_instance_at(member->instance);
	__sync_lock_test_and_set(&member->leaving, joined);
	if (in)
		lx_remind(in, member->index);
	return 0;
}

/* In a callback of the task, or in a call of its own: ends its membership; the policy learns of it when its turn comes. */
static __noinline int lx_leave(struct task_struct *p)
{
	struct lx_member *member = p ? bpf_task_storage_get(&members, p, NULL, 0) : NULL;
	struct lx_instance *in;
	u32 pid = p ? p->pid : 0;
	u32 joined = lx_membership(member);
	u32 index;

	if (!joined)
		return 0;
	index = member->index;
	in = lx_instance_at(member->instance);
	if (__sync_val_compare_and_swap(&member->joined, joined, joined + 1) != joined)
		return 0;
	/* When the scheduler ends, its tasks stay on the roster: the next one asks for them again. */
	if (p->flags & PF_EXITING || p->policy != SCHED_EXT_POLICY) {
		bpf_map_delete_elem(&roster, &pid);
		bpf_map_delete_elem(&released_alone, &pid);
	}
	if (!in)
		return 0;
	lx_lock(in);
	lx_depart(in, index);
	bpf_spin_unlock(&in->lock);
	LX_COUNT(departed);
	lx_trace_task(LX_TRACE_LEAVE, LX_NONE, bpf_ktime_get_ns(), member->instance, index, p->pid, LX_NONE, 0);
	lx_remind(in, index);
	return 0;
}

/*
 * A thread that calls execve takes the number of its process's leader. By numbers tasks are found: the one that it has now goes into
 * the places of the one before.
 */
static __noinline int lx_renumber(struct task_struct *p, struct lx_slot *slot)
{
	struct lx_parameters *parameters;
	u64 *first_at;
	u32 before, pid;

	if (!p || !slot)
		return 0;
	before = slot->pid;
	pid = p->pid;
	LX_WRITE(slot->pid, pid);
	parameters = bpf_map_lookup_elem(&roster, &before);
	if (parameters) {
		bpf_map_update_elem(&roster, &pid, parameters, BPF_ANY);
		bpf_map_delete_elem(&roster, &before);
	}
	first_at = bpf_map_lookup_elem(&first_releases, &before);
	if (first_at) {
		bpf_map_update_elem(&first_releases, &pid, first_at, BPF_ANY);
		bpf_map_delete_elem(&first_releases, &before);
	}
	return 0;
}

/* In a callback of the task: it is a member, if its end has not been asked for and it still has the policy. */
static __always_inline struct lx_member *lx_real_time_now(struct task_struct *p)
{
	struct lx_member *member = lx_member_of(p);
	bool has_policy = p->policy == SCHED_EXT_POLICY;
	struct lx_instance *in;

	if (!member)
		return NULL;
	if (lx_is_leaving(member) || (!has_policy && member->settled)) {
		lx_leave(p);
		return NULL;
	}
	if (!has_policy)
		return NULL;
	member->settled = 1;
	in = lx_instance_at(member->instance);
	if (in && lx_slot(in, member->index)->pid != p->pid)
		lx_renumber(p, lx_slot(in, member->index));
	return member;
}

#endif
