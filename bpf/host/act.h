/* SPDX-License-Identifier: GPL-2.0-only */
/* Actions: taken out of the policy's state under its lock, carried out when that has been dropped. */
#ifndef LX_HOST_ACT_H
#define LX_HOST_ACT_H

#include "trace.h"

/*
 * Global functions: the verifier goes through each of them once for all its callers. They find the instance
 * themselves. Weak, so that the compiler does not leave out arguments that only this build ignores.
 */
#define LX_ONCE __weak __attribute__((noinline))

/* A dispatch queue for each CPU, numbered from `first` on. */
static __noinline s32 lx_create_queue_per_cpu(u64 first)
{
	u32 i;

	bpf_for(i, 0, online_cpus) {
		s32 error = scx_bpf_create_dsq(first + i, -1);

		if (error)
			return error;
	}
	return 0;
}

/* How many tasks wait in a dispatch queue. */
static __always_inline u32 lx_length_of(u64 queue)
{
	s32 length = scx_bpf_dsq_nr_queued(queue);

	return length > 0 ? length : 0;
}

/* When the instance's timer is to go off: for a release, or the policy's own reason (native.h: timer). */
static __always_inline u64 lx_next_instant(struct lx_instance *in)
{
	u64 due_at = LX_READ(in->state.next_due_at);
#ifdef LX_TIMER
	u64 own_at = LX_READ(in->state.next_timer_at);

	if (own_at < due_at)
		due_at = own_at;
#endif
	return due_at;
}

/* Whether the kernel has started the timer: it takes memory for that in newer kernels, and may have none. */
static __always_inline bool lx_start_timer(struct bpf_timer *timer, u64 due_at)
{
	bool refused = timers_refused && bpf_get_prandom_u32() % timers_refused == 0;

	if (!refused && !bpf_timer_start(timer, due_at, BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN))
		return true;
	LX_COUNT(timer_failures);
	return false;
}

/*
 * Sets the timer to the earliest pending instant. Two CPUs may do so at once, and the one with the later instant
 * last: so each looks again at what is pending after it has set the timer. If it cannot be set, this CPU decides once more, and
 * tries again then (lx_arm_if_asked).
 */
static __noinline void lx_arm(struct lx_instance *in)
{
	u32 tries = 0;

	if (!has_timers)
		return;
	while (tries < 8 && LX_MAY_LOOP) {
		u64 due_at = lx_next_instant(in);

		in->armed_at = due_at;
		if (due_at == LX_NEVER)
			return;
		if (!lx_start_timer(&in->timer, due_at)) {
			in->armed_at = LX_NEVER;
			scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
			return;
		}
		__sync_fetch_and_add(&in->armed_at, 0);
		if (lx_next_instant(in) >= due_at)
			return;
		tries++;
	}
}

/* Whether that CPU does what is the instance's: the dedicated one, or any where there is none or a class above has that. */
static __always_inline bool lx_serves(struct lx_instance *in, u32 index)
{
	u32 dedicated = in->state.config.dedicated_cpu;

	return dedicated == LX_NONE || dedicated == index || LX_READ(in->dedicated_is_taken);
}

/* A release whose interrupt another CPU wants this one to take: it was kicked for that (lx_act_all). */
static __always_inline void lx_arm_if_asked(struct lx_instance *in, u32 index)
{
	if (lx_next_instant(in) < LX_READ(in->armed_at) && lx_serves(in, index))
		lx_arm(in);
}

/* Sets the timer of a CPU: when the job on it has used its budget up, or other work is to go first. LX_NEVER: nothing is to be asked. */
static __always_inline void lx_set_timer(struct lx_host_cpu *c, u64 due_at)
{
	if (due_at == LX_NEVER)
		return;
	c->budget_due_at = due_at + budgets_late_ns;
	/* Where there are none, and for one that does not start, the first tick after that instant takes its place. */
	if (has_timers)
		lx_start_timer(&c->timer, c->budget_due_at);
}

/* For the trace: a CPU is asked to decide. Of several that ask before it decides, the first counts. */
static __always_inline void lx_note_kick(struct lx_host_cpu *c)
{
	if (lx_tracing(LX_TRACE_EVENTS) && !LX_READ(c->kicked_at) &&
	    !__sync_val_compare_and_swap(&c->kicked_at, 0, bpf_ktime_get_ns()))
		c->kicked_by = bpf_get_smp_processor_id();
}

/* Makes a CPU decide anew. A kernel thread there stays (callbacks.h). */
static __always_inline void lx_kick_cpu(u32 cpu)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	if (kicks_forgotten && bpf_get_prandom_u32() % kicks_forgotten == 0)
		return;
	LX_COUNT(kicks);
	if (c)
		lx_note_kick(c);
	scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
}

/* The CPU `index` of the instance, or if a class above has it another one, where that has none: LX_NONE for none. */
static __noinline u32 lx_stand_in(struct lx_instance *in, u32 index)
{
	u32 found = LX_NONE;
	u32 i;

	if (!lx_is_withdrawn(lx_kernel_cpu(in, index)))
		return index;
	bpf_for(i, 0, in->cpus) {
		if (!lx_is_withdrawn(lx_kernel_cpu(in, i))) {
			found = i;
			break;
		}
	}
	return found;
}

/* The instance's number of the CPU that this runs on, or of its first one. */
static __always_inline u32 lx_here(struct lx_instance *in)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	return c && c->instance != LX_NONE && lx_kernel_cpu(in, c->index) == cpu ? c->index : 0;
}

/* Makes the CPU that does what is the instance's, or one in its place, do what waits for it (serve.h). */
static __always_inline void lx_kick_server(struct lx_instance *in)
{
	u32 dedicated = in->state.config.dedicated_cpu;
	u32 server = lx_stand_in(in, dedicated != LX_NONE ? dedicated : lx_here(in));

	if (server != LX_NONE)
		lx_kick_cpu(lx_kernel_cpu(in, server));
}

static __always_inline void lx_act_one(struct lx_instance *in, const struct lx_action *a)
{
	if (a->kind == LX_KICK) {
		lx_kick_cpu(lx_kernel_cpu(in, a->cpu));
	} else if (a->kind == LX_NOTIFY) {
		lx_kick_server(in);
	} else if (a->kind == LX_ARM) {
		u32 cpu = lx_kernel_cpu(in, a->cpu);

		/* A timer fires where it was set: another CPU sets its own when it decides next, if it is going to. */
		if (cpu == bpf_get_smp_processor_id() || lx_is_withdrawn(cpu))
			lx_arm(in);
		else
			lx_kick_cpu(cpu);
	}
}

#endif
