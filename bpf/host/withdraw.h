/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that a class above takes: SCHED_FIFO, SCHED_RR, SCHED_DEADLINE. The kernel says so where a task of sched_ext has to leave
 * (cpu_release), and not where the CPU idled; so what takes a CPU is seen at the switch. The policy then has its job elsewhere
 * (native.h: withdraw), until this CPU comes to decide again.
 *
 * Kernel threads of these classes that belong to the CPU, such as the stopper, are over soon: the job stays and waits.
 */
#ifndef LX_HOST_WITHDRAW_H
#define LX_HOST_WITHDRAW_H

#include "bound.h"
#include "decisions.h"
#include "take_up.h"
#include "timers.h"

/* prio of SCHED_FIFO, SCHED_RR and SCHED_DEADLINE is below this (MAX_RT_PRIO). */
#define LX_PRIO_RT_MAX 100

static __always_inline bool lx_is_above(const struct task_struct *p)
{
	return p->prio < LX_PRIO_RT_MAX && !lx_is_bound(p);
}

/* For the trace: the thread has the CPU as a kernel thread would. */
static __always_inline void lx_show_above(struct lx_host_cpu *c, u32 cpu, u64 now, u32 pid)
{
	if (!lx_tracing(LX_TRACE_EVENTS))
		return;
	lx_trace_task(LX_TRACE_BACKGROUND_START, cpu, now, LX_OTHER_KERNEL, LX_NONE, pid, LX_NONE, pid);
	LX_WRITE(c->above, c->above | LX_ABOVE_SHOWN);
}

/* The CPU has been given back: what runs next says so itself. */
static __always_inline void lx_show_above_ends(struct lx_host_cpu *c, u32 cpu, u64 now)
{
	if (!(c->above & LX_ABOVE_SHOWN))
		return;
	LX_WRITE(c->above, c->above & ~(u32)LX_ABOVE_SHOWN);
	lx_trace_task(LX_TRACE_BACKGROUND_STOP, cpu, now, 1, LX_NONE, LX_NONE, LX_NONE, LX_NONE);
}

/* A class above has the CPU of an instance. Whether the policy has a job there, and is to be told. */
static __always_inline bool lx_is_taken(struct lx_instance *in, struct lx_host_cpu *c)
{
	LX_COUNT(withdrawals);
	/* Before what waits is looked at: what comes to this CPU from here on goes to another one (lx_stand_in). */
	__sync_lock_test_and_set(&c->above, LX_ABOVE_TOOK | LX_ABOVE_TOLD);
	if (c->index != in->state.config.dedicated_cpu)
		return true;
	__sync_lock_test_and_set(&in->dedicated_is_taken, 1);
	return false;
}

/* The policy has been told: what waits for this CPU goes to another. */
static __always_inline void lx_is_gone(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now, u32 pid)
{
	c->awaited = LX_NONE;
	lx_show_above(c, cpu, now, pid);
	lx_arm_if_asked(in, c->index);
	if (lx_has_to_serve(in))
		lx_kick_server(in);
}

/* `next`, of a class above, takes this CPU of an instance. */
static __always_inline void lx_take_away(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, const struct task_struct *next)
{
	u64 now = bpf_ktime_get_ns();

	if (lx_is_taken(in, c)) {
		lx_withdraw(in, c, now);
		if (c->ending == LX_ENDED_BUDGET)
			LX_COUNT(exhaustions);
		if (lx_tracing(LX_TRACE_EVENTS))
			lx_trace_decision(in, c, cpu, now, LX_NONE);
	}
	lx_is_gone(in, c, cpu, now, next->pid);
}

/*
 * The task has left this class. If it has a CPU, and a class above now, it has that without a switch. What has ended there, the policy
 * learns where it puts the task next.
 */
static __always_inline void lx_rises(struct task_struct *p)
{
	u32 cpu = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c;
	struct lx_instance *in;
	u64 now;

	if (!lx_is_above(p) || !lx_is_on_cpu(p))
		return;
	c = lx_host_cpu(cpu);
	in = lx_instance_of(c);
	if (!in || LX_READ(c->above) & LX_ABOVE_TOLD)
		return;
	now = bpf_ktime_get_ns();
	if (lx_is_taken(in, c)) {
		c->ended = 0;
		lx_withdraw_or_restore(c->instance, c->index, true, now);
	}
	lx_is_gone(in, c, cpu, now, p->pid);
}

/* The CPU comes to decide: it is the policy's again. Ordered before what the decision looks at (lx_remind, lx_stand_in). */
static __always_inline void lx_give_back(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	u32 above = LX_READ(c->above);

	if (!above)
		return;
	lx_show_above_ends(c, cpu, now);
	__sync_lock_test_and_set(&c->above, 0);
	if (!(above & LX_ABOVE_TOLD))
		return;
	if (c->index == in->state.config.dedicated_cpu) {
		__sync_lock_test_and_set(&in->dedicated_is_taken, 0);
		/* The timer is to go off here again: this CPU sets it before it has decided. */
		__sync_lock_test_and_set(&in->armed_at, LX_NEVER);
	} else {
		lx_withdraw_or_restore(c->instance, c->index, false, now);
	}
}

/*
 * When the policy is attached, all CPUs are idle in the kernel's books, from which each is struck off as it leaves its idle task. One that
 * a class above has had since before never does: what wakes up would be sent there, and wait where no other CPU looks. That such a
 * class has it, the policy learns at the next switch: user space sees to one.
 */
static __always_inline void lx_strike_off_taken(void)
{
	u32 cpu;

	if (!bpf_ksym_exists(&runqueues))
		return;
	bpf_for(cpu, 0, online_cpus) {
		const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);

		if (rq && BPF_CORE_READ(rq, curr, prio) < LX_PRIO_RT_MAX)
			scx_bpf_test_and_clear_cpu_idle(cpu);
	}
}

SEC("tp_btf/sched_switch")
int BPF_PROG(lx_switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_host_cpu *c;
	struct lx_instance *in;

	(void)preempt;
	(void)prev;
	if (!lx_is_above(next))
		return 0;
	c = lx_host_cpu(cpu);
	in = lx_instance_of(c);
	if (!in)
		return 0;
	if (!(LX_READ(c->above) & LX_ABOVE_TOLD))
		lx_take_away(in, c, cpu, next);
	else if (!(c->above & LX_ABOVE_SHOWN))
		/* Once more, before the CPU has decided: the policy knows. */
		lx_show_above(c, cpu, bpf_ktime_get_ns(), next->pid);
	return 0;
}

#endif
