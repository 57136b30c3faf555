/* SPDX-License-Identifier: GPL-2.0-only */
/* How the task that the policy has chosen for a CPU gets there, out of custody. */
#ifndef LX_HOST_TAKE_UP_H
#define LX_HOST_TAKE_UP_H

#include "act.h"

/* For how long a task that must not migrate runs where it is, in ns. */
#define LX_MOMENT 1000000
/*
 * A slice that does not end, and yet leaves the CPU its ticks: SCX_SLICE_INF has the kernel stop them on CPUs of nohz_full. In ticks this
 * looks at the share of background work, at jobs that have waited for too long, and at budgets where there are no BPF timers.
 */
#define LX_SLICE_ENDLESS (SCX_SLICE_INF - 1)

/* task_struct before Linux 7: on_cpu is an int there. */
struct task_struct___wide {
	int on_cpu;
} __attribute__((preserve_access_index));

/* Whether a CPU is still at it, if only to leave it. */
static __always_inline bool lx_is_on_cpu(struct task_struct *p)
{
	if (bpf_core_field_size(p->on_cpu) == sizeof(int))
		return ((struct task_struct___wide *)p)->on_cpu;
	return p->on_cpu;
}

/* Whether the task, which is not the current one, may come to that CPU: nothing of this program's own is counted for it. */
static __always_inline bool lx_may_run_on(struct task_struct *p, u32 cpu)
{
	if (scx_bpf_task_cpu(p) == cpu)
		return true;
	return !p->migration_disabled && bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/*
 * The task is the kernel's from now on, to run on that CPU: false if it was not in custody. A task that is given to the kernel again
 * before it has run is passed over, and the kernel asks this CPU 32 times what else there is.
 */
static __always_inline bool lx_give(struct lx_slot *slot, u32 cpu)
{
	if (__sync_val_compare_and_swap(&slot->custody, LX_CUSTODY_HERE, LX_CUSTODY_GIVEN + cpu) == LX_CUSTODY_HERE)
		return true;
	LX_COUNT(retries);
	return false;
}

/*
 * A task in custody goes to the CPU that the policy has put it on, or first to its own if it must not migrate now, or has just been
 * kept from that CPU: it comes back when it has run there for a moment, and that CPU is then told; or it leaves.
 */
static __always_inline bool lx_insert(struct task_struct *p, struct lx_slot *slot, u32 cpu)
{
	bool may_run = lx_may_run_on(p, cpu);
	u32 own = scx_bpf_task_cpu(p);

	/*
	 * Its CPU has not quite left it yet, and counts the programs that run there as its own: the kernel would take it for one
	 * that must not migrate.
	 */
	if (own != cpu && lx_is_on_cpu(p)) {
		lx_kick_cpu(cpu);
		LX_COUNT(retries);
		return false;
	}
	if (!lx_give(slot, may_run ? cpu : own))
		return false;
	if (!may_run) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | own, LX_MOMENT, SCX_ENQ_PREEMPT);
		return false;
	}
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, LX_SLICE_ENDLESS, 0);
	return true;
}

/* The task that the policy has chosen for `cpu` runs there next: true if there is nothing more to do. */
static __noinline bool lx_run(struct lx_instance *in, u32 index, u32 cpu, struct task_struct *prev)
{
	struct lx_slot *slot = lx_slot(in, index);
	u32 pid = slot->pid;
	struct task_struct *p;
	bool runs = false;

	if (prev && prev->pid == pid) {
		if (!(prev->scx.flags & SCX_TASK_QUEUED))
			return false;
		scx_bpf_task_set_slice(prev, LX_SLICE_ENDLESS);
		return true;
	}
	/* Ordered after the decision, which the task's own enqueue looks at after it has set this. */
	if (__sync_fetch_and_add(&slot->custody, 0) != LX_CUSTODY_HERE) {
		LX_COUNT(retries);
		return false;
	}
	p = bpf_task_from_pid(pid);
	if (!p)
		return false;
	runs = lx_insert(p, slot, cpu);
	bpf_task_release(p);
	if (runs)
		LX_COUNT(dispatches);
	return runs;
}

/* Whether the job that this CPU has decided for waits behind what runs: a task that has come from a class above brings its slice. */
static __always_inline bool lx_is_in_the_way(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu)
{
	u32 scheduled = LX_READ(lx_cpu(&in->state, c->index)->scheduled);
	u32 custody;

	if (scheduled == LX_NONE || c->gave_way != LX_OTHER_IDLE)
		return false;
	/* What was given to another CPU comes back by itself, and asks for this one then. */
	custody = LX_READ(lx_slot(in, scheduled)->custody);
	return custody == LX_CUSTODY_HERE || custody == LX_CUSTODY_GIVEN + cpu;
}

#endif
