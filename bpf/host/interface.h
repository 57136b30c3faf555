/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a task becomes a member: sched_setattr with policy SCHED_EXT and runtime, deadline and period, as for
 * SCHED_DEADLINE. The kernel drops deadline and period for that policy, so they are read where it asks whether a task's
 * policy may be changed, in a security hook whose answer is the call's result: from the caller's registers (request.h).
 *
 * The task joins at its next enqueue, or where it runs (callbacks.h). Without parameters SCHED_EXT means background.
 */
#ifndef LX_HOST_INTERFACE_H
#define LX_HOST_INTERFACE_H

#include "membership.h"
#include "request.h"

void bpf_preempt_disable(void) __ksym;
void bpf_preempt_enable(void) __ksym;

#define LX_ESRCH 3
#define LX_EAGAIN 11
#define LX_ENOMEM 12

/* The answer to a request. */
static __noinline int lx_answer(struct task_struct *p, const struct lx_request *request)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);
	u32 pid = p->pid;
	u32 wish;
	int refused;

	if (!member || !request)
		return 0;
	wish = lx_wish_of(p, request);
	if (wish == LX_WISH_BACKGROUND) {
		/* The thread itself runs, and is in no queue: it leaves at once. */
		if (pid == (u32)bpf_get_current_pid_tgid())
			lx_leave(p);
		else
			lx_ask_to_leave(member);
		bpf_map_delete_elem(&roster, &pid);
	}
	if (wish != LX_WISH_REAL_TIME)
		return 0;
	/* First of all: a call that is refused for this is in no other call's way. */
	if (!lx_is_capable())
		return -LX_EPERM;
	if (__sync_lock_test_and_set(&member->asking, 1))
		return -LX_EBUSY;
	refused = lx_ask(p, member, &request->wanted);
	/* A dead task is in no callback any more, on kernels from 6.19 on. One that is about to die is found in its last ones, or here. */
	if (!refused && p->flags & PF_EXITING) {
		lx_leave(p);
		refused = -LX_ESRCH;
	}
	if (!refused) {
		member->granted = (u32)bpf_get_current_pid_tgid();
		bpf_map_update_elem(&roster, &pid, &request->wanted, BPF_ANY);
	}
	__sync_lock_test_and_set(&member->asking, 0);
	return refused;
}

/*
 * The call is over. A request that was granted here and refused by the kernel after all is taken back; a task that has another policy
 * now is to be no member. Both by asking: another call may have let it join anew meanwhile.
 */
static __noinline int lx_note_outcome(struct task_struct *p, int ret)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);
	bool granted;

	if (!member)
		return 0;
	granted = member->granted == (u32)bpf_get_current_pid_tgid();
	if (granted)
		member->granted = 0;
	member->asks = 0;
	if (ret ? granted : p->policy != SCHED_EXT_POLICY)
		lx_ask_to_leave(member);
	return 0;
}

/*
 * The answer to a request to change a task's CPUs: a member is not kept from a CPU of its instance, as
 * SCHED_DEADLINE's tasks are not kept from one of their root domain.
 */
static __noinline int lx_answer_affinity(struct task_struct *p)
{
	struct lx_cpu_mask wanted = {};
	struct lx_member *member = lx_real_time(p);
	struct lx_instance *in = member ? lx_instance_at(member->instance) : NULL;
	u32 i;

	if (!in || !lx_cpus_of_caller(&wanted))
		return 0;
	bpf_for(i, 0, in->cpus) {
		u32 cpu = lx_kernel_cpu(in, i);

		if (!(*LX_AT(wanted.word, cpu / 64, LX_CPUS_MAX / 64) & 1ull << cpu % 64))
			return -LX_EBUSY;
	}
	return 0;
}

/*
 * The kernel never passes a program of this kind over, however many ask at the same time. Needs `bpf` among the kernel's active
 * security modules; user space loads it if it is there, and what follows if not.
 */
SEC("?lsm/task_setscheduler")
int BPF_PROG(lx_may_enter, struct task_struct *p, int ret)
{
	struct lx_request request = {};
	int error;

	if (ret)
		return ret;
	error = lx_request_of_caller(&request);
	if (error)
		return error > 0 ? lx_answer_affinity(p) : error;
	/* Records of its CPU are written by one at a time. */
	bpf_preempt_disable();
	ret = lx_answer(p, &request);
	bpf_preempt_enable();
	return ret;
}

/*
 * The same by tracing programs, where there is no such module: what is asked for is noted where the kernel sets a policy. A
 * tracing program is passed over while it is already running on the same CPU, for a task that was preempted in it. So each is
 * there three times: only the first that is reached has something to do. Where hundreds ask at the same time, it is not enough.
 */
#define LX_TRACED_INTERFACE(n)                                                                                         \
	SEC("?fentry/__sched_setscheduler")                                                                            \
	int BPF_PROG(lx_asked_##n, struct task_struct *p, const struct sched_attr *attr, bool user, bool pi)           \
	{                                                                                                              \
		struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);                                 \
                                                                                                                       \
		(void)pi;                                                                                              \
		if (user && member) {                                                                                  \
			lx_request_of_attributes(&member->request, attr);                                              \
			member->asks = 1;                                                                              \
		}                                                                                                      \
		return 0;                                                                                              \
	}                                                                                                              \
	SEC("?fmod_ret/security_task_setscheduler")                                                                    \
	int BPF_PROG(lx_may_enter_##n, struct task_struct *p, int ret)                                                 \
	{                                                                                                              \
		struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);                                 \
                                                                                                                       \
		if (ret || !member)                                                                                    \
			return ret;                                                                                    \
		if (!member->asks)                                                                                     \
			return lx_answer_affinity(p);                                                                  \
		member->asks = 0;                                                                                      \
		bpf_preempt_disable();                                                                                 \
		ret = lx_answer(p, &member->request);                                                                  \
		bpf_preempt_enable();                                                                                  \
		return ret;                                                                                            \
	}

LX_TRACED_INTERFACE(1)
LX_TRACED_INTERFACE(2)
LX_TRACED_INTERFACE(3)

/* Passed over now and then, too; what it misses, the task's next enqueue finds (lx_real_time_now). */
SEC("fexit/__sched_setscheduler")
int BPF_PROG(lx_answered, struct task_struct *p, const struct sched_attr *attr, bool user, bool pi, int ret)
{
	(void)attr;
	(void)user;
	(void)pi;
	bpf_preempt_disable();
	lx_note_outcome(p, ret);
	bpf_preempt_enable();
	return 0;
}

#ifdef LX_SERVERS
/* The thread is born, of a member or of a thread that is noted itself. */
static __always_inline void lx_note_birth(struct task_struct *p, struct task_struct *parent, bool of_member)
{
	u32 child = p->pid, origin = parent->pid;
	u32 *noted = of_member ? NULL : bpf_map_lookup_elem(&born, &origin);

	if (noted)
		origin = *noted;
	if (of_member || noted)
		bpf_map_update_elem(&born, &child, &origin, BPF_ANY);
}

static __always_inline void lx_forget_birth(struct task_struct *p)
{
	u32 pid = p->pid;

	bpf_map_delete_elem(&born, &pid);
}
#else
static __always_inline void lx_note_birth(struct task_struct *p, struct task_struct *parent, bool of_member)
{
	(void)p;
	(void)parent;
	(void)of_member;
}

static __always_inline void lx_forget_birth(struct task_struct *p)
{
	(void)p;
}
#endif

/* A child is not a member: fork fails as SCHED_DEADLINE's does, unless it was to be reset. */
s32 BPF_STRUCT_OPS(on_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct lx_member *member;
	bool of_member;

	if (!bpf_task_storage_get(&members, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return -LX_ENOMEM;
	if (!args->fork)
		return 0;
	member = bpf_task_storage_get(&members, parent, NULL, 0);
	of_member = member && lx_has_joined(member);
	if (of_member && !BPF_CORE_READ_BITFIELD(parent, sched_reset_on_fork))
		return -LX_EAGAIN;
	lx_note_birth(p, parent, of_member);
	return 0;
}

void BPF_STRUCT_OPS(on_enable, struct task_struct *p)
{
	scx_bpf_task_set_dsq_vtime(p, lx_background_start(p));
}

/*
 * Another class has it: because it has another policy; or it inherits, with a mutex that a more important task
 * waits for, a priority of SCHED_FIFO, and comes back when it lets go of the mutex. What it uses until then is
 * not charged.
 */
void BPF_STRUCT_OPS(on_disable, struct task_struct *p)
{
	struct lx_member *member = lx_real_time(p);

	if (member && !(p->flags & PF_EXITING))
		lx_go_away(p, member);
	else
		lx_leave(p);
	lx_rises(p);
}

void BPF_STRUCT_OPS(on_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	(void)args;
	lx_leave(p);
	lx_forget_birth(p);
}

/*
 * A member may not be kept from a CPU of its instance. A call that asks for that is refused
 * (lx_answer_affinity); where nothing can be refused, as in a cpuset that gets smaller, the task goes on as
 * background.
 */
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
