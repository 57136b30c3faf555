/* SPDX-License-Identifier: GPL-2.0-only */
/* Admission of tasks to an instance, with the parameters that they ask for (interface.h says how they ask). */
#ifndef LX_HOST_MEMBERSHIP_H
#define LX_HOST_MEMBERSHIP_H

#include "callbacks.h"

#define LX_EPERM 1
#define LX_EBUSY 16
#define LX_EINVAL 22
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
	u32 i;

	bpf_for(i, 0, in->cpus) {
		if (!bpf_cpumask_test_cpu(lx_kernel_cpu(in, i), &p->cpus_mask))
			return false;
	}
	return true;
}

/*
 * What the kernel's capable(CAP_SYS_NICE) asks (cap_capable of security/commoncap.c): the capability counts if the caller has it in
 * the initial user namespace, the only one of level 0. In a namespace of its own every process has all capabilities, and may
 * do with them nothing to what belongs to others: CPUs do. Programs cannot call capable(), and the address of init_user_ns is
 * not in every kernel's symbols; the level has been a field since Linux 4.
 */
static __always_inline bool lx_is_capable(void)
{
	struct task_struct *self = bpf_get_current_task_btf();
	const struct cred *cred = BPF_CORE_READ(self, cred);

	return BPF_CORE_READ(cred, cap_effective.val) & (1ull << LX_CAP_SYS_NICE) && BPF_CORE_READ(cred, user_ns, level) == 0;
}

#ifdef LX_SERVERS
/* Whether the instance, which is of one CPU, is closed to the process that asks now. */
static __always_inline bool lx_is_closed(struct lx_instance *in)
{
	struct lx_host_cpu *c = lx_host_cpu(lx_kernel_cpu(in, 0));

	return c && c->closed_by && c->closed_by != (u32)(bpf_get_current_pid_tgid() >> 32);
}
#else
static __always_inline bool lx_is_closed(struct lx_instance *in)
{
	(void)in;
	return false;
}
#endif

/* The deadline or the period that orders tasks under fixed priorities: the shorter, the higher the priority. */
static __always_inline u32 lx_priority_of(const struct lx_parameters *wanted)
{
	u64 span_ns = by_deadline ? wanted->deadline_rel_ns : wanted->period_ns;

	/* In ns it fits: LX_HOST_PERIOD_MAX. */
	return span_ns;
}

/* Under the instance's lock: the task's parameters, from its next job on. */
static __always_inline void lx_set_parameters(struct lx_instance *in, u32 index, const struct lx_parameters *wanted)
{
	struct lx_task *t = lx_task(&in->state, index);
	u64 bandwidth = lx_admission_bandwidth(wanted->runtime_ns, wanted->period_ns);

	t->deadline_rel_ns = wanted->deadline_rel_ns;
	t->period_ns = wanted->period_ns;
	t->budget_ns = wanted->runtime_ns;
	t->priority = lx_priority_of(wanted);
	lx_admission_replace(&in->admission, lx_slot(in, index)->bandwidth, bandwidth);
	lx_slot(in, index)->bandwidth = bandwidth;
}

static __always_inline int lx_errno_of(u32 refused)
{
	return refused == LX_ADMITTED ? 0 : refused == LX_REFUSED_BANDWIDTH ? -LX_EBUSY : -LX_EINVAL;
}

static __always_inline u32 lx_admits(struct lx_instance *in, u64 before, const struct lx_parameters *wanted)
{
	return lx_admission_admits(&in->admission, before, wanted->runtime_ns, wanted->deadline_rel_ns, wanted->period_ns);
}

/* A member gets other parameters, or keeps its own. Under no lock. */
static __noinline int lx_readmit(struct lx_member *member, const struct lx_parameters *wanted)
{
	struct lx_instance *in = wanted ? lx_instance_at(member->instance) : NULL;
	u32 index = member->index;
	u32 refused;

	if (!in || lx_is_closed(in))
		return -LX_EBUSY;
	lx_lock(in);
	/* It may have left until now: its number may be another's then. */
	if (!lx_has_joined(member)) {
		bpf_spin_unlock(&in->lock);
		return -LX_EBUSY;
	}
	refused = lx_admits(in, lx_slot(in, index)->bandwidth, wanted);
	if (refused == LX_ADMITTED) {
		lx_set_parameters(in, index, wanted);
		/* It stays, should its end have been asked for. */
		LX_WRITE(member->leaving, 0);
	}
	bpf_spin_unlock(&in->lock);
	return lx_errno_of(refused);
}

/* Makes the task a member, or returns why not. Under no lock; no other call asks for it now. */
static __noinline int lx_admit(struct task_struct *p, struct lx_member *member, u32 instance,
			       const struct lx_parameters *wanted)
{
	struct lx_instance *in = lx_instance_at(instance);
	u32 pid = p->pid;
	bool alone = bpf_map_lookup_elem(&released_alone, &pid);
	u32 index = LX_NONE;
	u32 refused;

	if (!in || !wanted || lx_is_closed(in))
		return -LX_EBUSY;
	if (!lx_covers(p, in))
		return -LX_EPERM;
	lx_lock(in);
	refused = lx_admits(in, 0, wanted);
	if (refused == LX_ADMITTED)
		index = lx_slot_take(in, pid);
	if (index != LX_NONE) {
		lx_set_parameters(in, index, wanted);
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
	member->settled = 0;
	__sync_fetch_and_add(&member->joined, 1);
	lx_trace_task(LX_TRACE_ENTER, LX_NONE, bpf_ktime_get_ns(), instance, index, pid, LX_NONE, 0);
	/* Its CPUs may have become fewer meanwhile: on_set_cpumask has found no member then. */
	if (!lx_covers(p, in))
		lx_ask_to_leave(member);
	return 0;
}

/* Whether the task may become a member with these parameters, or get them if it is one. The caller is capable of asking. */
static __noinline int lx_ask(struct task_struct *p, struct lx_member *member, const struct lx_parameters *wanted)
{
	struct task_struct *trusted;
	u32 instance;
	int refused;

	if (!wanted || wanted->period_ns > LX_HOST_PERIOD_MAX)
		return -LX_EINVAL;
	if (lx_has_joined(member))
		return lx_readmit(member, wanted);
	/* The same task, as the verifier wants to have it for a look at its affinity. */
	trusted = bpf_task_from_pid(p->pid);
	if (!trusted)
		return -LX_EPERM;
	instance = lx_instance_for(trusted);
	refused = instance == LX_NONE ? -LX_EPERM : lx_admit(trusted, member, instance, wanted);
	bpf_task_release(trusted);
	if (refused)
		LX_COUNT(refused);
	else
		LX_COUNT(admitted);
	return refused;
}

#endif
