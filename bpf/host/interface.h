/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a task becomes one of ours: sched_setattr with policy SCHED_EXT and runtime, deadline and period, as for
 * SCHED_DEADLINE. The kernel drops deadline and period for that policy, so they are read where it sets a policy:
 *
 *   __sched_setscheduler, entry   what is asked for is noted
 *   security_task_setscheduler    the kernel asks whether it may: admission, with the answer as the call's result
 *   __sched_setscheduler, exit    refused after all, or another policy: the task is none of ours
 *
 * The task joins at its next enqueue, or where it runs (callbacks.h). Without parameters SCHED_EXT means background.
 */
#ifndef LX_HOST_INTERFACE_H
#define LX_HOST_INTERFACE_H

#include "callbacks.h"

void bpf_preempt_disable(void) __ksym;
void bpf_preempt_enable(void) __ksym;

#define LX_EPERM 1
#define LX_EBUSY 16
#define LX_EINVAL 22
#define LX_EAGAIN 11
#define LX_ENOMEM 12
/* CAP_SYS_NICE, as SCHED_DEADLINE asks for. */
#define LX_CAP_SYS_NICE 23

/* Under fixed priorities: by deadline rather than by period. */
const volatile bool by_deadline = true;

/* The instance whose CPUs are the ones the task may use, or more of them. */
static __noinline u32 lx_instance_for(struct task_struct *p)
{
	u32 first = bpf_cpumask_first(&p->cpus_mask);
	struct lx_host_cpu *c = lx_host_cpu(first);

	/* A task that may run anywhere belongs to the cluster that it is in, if it is in one. */
	if (p->nr_cpus_allowed > 1) {
		struct lx_host_cpu *own = lx_host_cpu(scx_bpf_task_cpu(p));

		if (own && own->instance != LX_NONE)
			c = own;
	}
	return c ? c->instance : LX_NONE;
}

/*
 * Whether the task may run on all CPUs of the instance. Its own mask is asked, not the present one (cpus_ptr): while migration
 * is disabled, as it is in the very program that asks, that one has a single CPU.
 */
static __noinline bool lx_covers(struct task_struct *p, struct lx_instance *in)
{
	u32 i = 0;
	bool covers = true;

	while (i < in->cpus && i < LX_CPUS_MAX && LX_MAY_LOOP) {
		if (!bpf_cpumask_test_cpu(lx_kernel_cpu(in, i), &p->cpus_mask))
			covers = false;
		i++;
	}
	return covers;
}

static __always_inline bool lx_is_capable(void)
{
	struct task_struct *self = bpf_get_current_task_btf();

	return BPF_CORE_READ(self, cred, cap_effective.val) & (1ull << LX_CAP_SYS_NICE);
}

/* What a task has to do with its deadline or its period under fixed priorities: the shorter, the higher. */
static __always_inline u32 lx_priority_of(const struct lx_member *member)
{
	u64 span = by_deadline ? member->deadline : member->period;

	/* In ns it fits: LX_HOST_PERIOD_MAX. */
	return span;
}

/* Under the instance's lock: the task's parameters, from its next job on. */
static __always_inline void lx_set_parameters(struct lx_instance *in, u32 index, const struct lx_member *member)
{
	struct lx_task *t = lx_task(&in->state, index);
	u64 bandwidth = lx_admission_bandwidth(member->runtime, member->period);

	t->deadline_rel = member->deadline;
	t->period = member->period;
	t->budget = member->runtime;
	t->priority = lx_priority_of(member);
	lx_admission_replace(&in->admission, lx_slot(in, index)->bandwidth, bandwidth);
	lx_slot(in, index)->bandwidth = bandwidth;
}

static __always_inline int lx_errno_of(u32 refused)
{
	return refused == LX_ADMITTED ? 0 : refused == LX_REFUSED_BANDWIDTH ? -LX_EBUSY : -LX_EINVAL;
}

/* A task that is one of the instance gets other parameters, or keeps its own. Under no lock. */
static __noinline int lx_readmit(struct lx_member *member)
{
	struct lx_instance *in = lx_instance_at(member->instance);
	u32 index = member->index;
	u32 refused;

	if (!in)
		return -LX_EBUSY;
	bpf_spin_lock(&in->lock);
	refused = lx_admission_admits(&in->admission, lx_slot(in, index)->bandwidth, member->runtime, member->deadline,
				      member->period);
	if (refused == LX_ADMITTED)
		lx_set_parameters(in, index, member);
	bpf_spin_unlock(&in->lock);
	return lx_errno_of(refused);
}

/* Makes the task one of the instance, or says why not. Under no lock. */
static __noinline int lx_admit(struct task_struct *p, struct lx_member *member, u32 instance)
{
	struct lx_instance *in = lx_instance_at(instance);
	u32 pid = p->pid;
	bool alone = bpf_map_lookup_elem(&released_alone, &pid);
	u32 index = LX_NONE;
	u32 refused;

	if (!in)
		return -LX_EBUSY;
	if (!lx_covers(p, in))
		return -LX_EPERM;
	bpf_spin_lock(&in->lock);
	refused = lx_admission_admits(&in->admission, 0, member->runtime, member->deadline, member->period);
	if (refused == LX_ADMITTED)
		index = lx_slot_take(in, pid);
	if (index != LX_NONE) {
		lx_set_parameters(in, index, member);
		lx_task(&in->state, index)->alone = alone;
		LX_P(enter)(&in->state, index);
		in->members++;
	}
	bpf_spin_unlock(&in->lock);
	if (refused != LX_ADMITTED)
		return lx_errno_of(refused);
	if (index == LX_NONE)
		return -LX_EBUSY;
	member->instance = instance;
	member->index = index;
	member->joined = 1;
	lx_trace_task(LX_TRACE_ENTER, LX_NONE, bpf_ktime_get_ns(), instance, index, pid, LX_NONE, 0);
	return 0;
}

/* Whether it is a real-time task that is asked for: without them, SCHED_EXT is background. */
static __always_inline bool lx_has_parameters(const struct sched_attr *attr)
{
	return attr->sched_policy == SCHED_EXT_POLICY && (attr->sched_period || attr->sched_deadline);
}

/* What is asked for, noted until the kernel asks whether it may be. */
static __noinline int lx_note_asked(struct task_struct *p, const struct sched_attr *attr)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);

	if (!member || !attr->sched_runtime || !lx_has_parameters(attr))
		return 0;
	member->runtime = attr->sched_runtime;
	/* One that is not said is the other, as for SCHED_DEADLINE. */
	member->period = attr->sched_period ?: attr->sched_deadline;
	member->deadline = attr->sched_deadline ?: attr->sched_period;
	member->asks = 1;
	return 0;
}

static __always_inline void lx_enroll(u32 pid, const struct lx_member *member)
{
	struct lx_parameters parameters = {member->runtime, member->deadline, member->period};

	bpf_map_update_elem(&roster, &pid, &parameters, BPF_ANY);
}

/* Whether the task may become one of ours, if it asks. */
static __noinline int lx_answer(struct task_struct *p)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);
	struct task_struct *trusted;
	u32 instance;
	int refused;

	if (!member || !member->asks)
		return 0;
	member->asks = 0;
	if (!lx_is_capable())
		return -LX_EPERM;
	if (member->period > LX_HOST_PERIOD_MAX)
		return -LX_EINVAL;
	if (member->joined) {
		refused = lx_readmit(member);
		if (!refused)
			lx_enroll(p->pid, member);
		return refused;
	}
	/* The same task, as the verifier wants to have it for a look at its affinity. */
	trusted = bpf_task_from_pid(p->pid);
	if (!trusted)
		return -LX_EPERM;
	instance = lx_instance_for(trusted);
	refused = instance == LX_NONE ? -LX_EPERM : lx_admit(trusted, member, instance);
	bpf_task_release(trusted);
	if (!refused)
		lx_enroll(p->pid, member);
	if (refused)
		LX_COUNT(refused);
	else
		LX_COUNT(admitted);
	return refused;
}

/*
 * The kernel has refused what we have granted, or the task has another policy now: it is none of ours. One that waits in our
 * hands stays, with its new parameters: the kernel takes it out of them only for a change that it makes.
 */
static __noinline int lx_note_outcome(struct task_struct *p, const struct sched_attr *attr, int ret)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);
	struct lx_instance *in;
	bool ours;

	if (!member)
		return 0;
	ours = lx_has_parameters(attr);
	member->asks = 0;
	if (!member->joined || ours != !!ret)
		return 0;
	in = lx_instance_at(member->instance);
	if (in && (!ret || !LX_READ(lx_slot(in, member->index)->custody)))
		lx_leave(p);
	return 0;
}

/*
 * A tracing program is passed over while it is already running on the same CPU, for a task that was preempted in it. So
 * each is there three times, and does not let itself be preempted: only the first that is reached has something to do.
 */
#define LX_INTERFACE(n)                                                                                                \
	SEC("fentry/__sched_setscheduler")                                                                             \
	int BPF_PROG(lx_asked_##n, struct task_struct *p, const struct sched_attr *attr, bool user, bool pi)           \
	{                                                                                                              \
		(void)pi;                                                                                              \
		if (!user)                                                                                             \
			return 0;                                                                                      \
		bpf_preempt_disable();                                                                                 \
		lx_note_asked(p, attr);                                                                                \
		bpf_preempt_enable();                                                                                  \
		return 0;                                                                                              \
	}                                                                                                              \
	SEC("fmod_ret/security_task_setscheduler")                                                                     \
	int BPF_PROG(lx_may_enter_##n, struct task_struct *p, int ret)                                                 \
	{                                                                                                              \
		if (ret)                                                                                               \
			return ret;                                                                                    \
		bpf_preempt_disable();                                                                                 \
		ret = lx_answer(p);                                                                                    \
		bpf_preempt_enable();                                                                                  \
		return ret;                                                                                            \
	}                                                                                                              \
	SEC("fexit/__sched_setscheduler")                                                                              \
	int BPF_PROG(lx_answered_##n, struct task_struct *p, const struct sched_attr *attr, bool user, bool pi, int ret) \
	{                                                                                                              \
		(void)pi;                                                                                              \
		(void)user;                                                                                            \
		bpf_preempt_disable();                                                                                 \
		lx_note_outcome(p, attr, ret);                                                                         \
		bpf_preempt_enable();                                                                                  \
		return 0;                                                                                              \
	}

LX_INTERFACE(1)
LX_INTERFACE(2)
LX_INTERFACE(3)

/* A child is not one of ours: fork fails as SCHED_DEADLINE's does, unless it was to be reset. */
s32 BPF_STRUCT_OPS(on_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct lx_member *member;

	if (!bpf_task_storage_get(&members, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return -LX_ENOMEM;
	if (!args->fork)
		return 0;
	member = bpf_task_storage_get(&members, parent, NULL, 0);
	if (member && member->joined && !BPF_CORE_READ_BITFIELD(parent, sched_reset_on_fork))
		return -LX_EAGAIN;
	return 0;
}

void BPF_STRUCT_OPS(on_enable, struct task_struct *p)
{
	scx_bpf_task_set_dsq_vtime(p, background_now);
}

void BPF_STRUCT_OPS(on_disable, struct task_struct *p)
{
	lx_leave(p);
}

void BPF_STRUCT_OPS(on_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	(void)args;
	lx_leave(p);
}

/* One of ours may not be kept from a CPU of its instance; it goes on as background then. */
void BPF_STRUCT_OPS(on_set_cpumask, struct task_struct *p, const struct cpumask *mask)
{
	struct lx_member *member = lx_member_of(p);
	struct lx_instance *in;

	(void)mask;
	if (!member)
		return;
	in = lx_instance_at(member->instance);
	if (in && !lx_covers(p, in))
		lx_leave(p);
}

#endif
