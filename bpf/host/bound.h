/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel threads that are bound to a CPU: policy/kernel_threads.h says for how long they go first. As long as they do, they go straight to
 * the CPU's own queue; beyond, they wait in a queue for them, one per CPU. A timer ends their time where real-time work waits, a
 * tick finds that the next window has begun. All of it happens under the lock of the CPU's run queue.
 */
#ifndef LX_HOST_BOUND_H
#define LX_HOST_BOUND_H

#include "act.h"

/* The queue of a CPU; numbers below are of background work. */
#define LX_BOUND_OF(cpu) (0x10000ull + (cpu))

static __always_inline bool lx_is_bound(const struct task_struct *p)
{
	return lx_kernel_thread_is_bound(p->flags & PF_KTHREAD, p->nr_cpus_allowed);
}

static __always_inline s32 lx_create_bound_queues(void)
{
	return lx_create_queue_per_cpu(LX_BOUND_OF(0));
}

/* Charges a bound thread that runs on the CPU. For how long such threads go first there from now on: 0, or LX_NEVER. */
LX_ONCE u64 lx_bound_left(u32 cpu, u64 now)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	if (!c)
		return LX_NEVER;
	if (c->bound_since_at && c->bound_since_at < now) {
		lx_kernel_thread_charge(&c->bound, &c->reserve, now - c->bound_since_at, now);
		c->bound_since_at = now;
	}
	return lx_kernel_thread_left(&c->bound, now);
}

/* Whether real-time work wants the CPU: a job is linked to it, or a decision is owed, if only to have it back from a class above. */
static __always_inline bool lx_wants_cpu(struct lx_instance *in, struct lx_host_cpu *c)
{
	struct lx_cpu *own = lx_cpu(&in->state, c->index);

	return c->index != in->state.config.dedicated_cpu &&
	       (LX_READ(own->linked) != LX_NONE || LX_READ(own->kicked) || LX_READ(c->above));
}

/* A bound thread has the CPU, and may go first for so long: then the CPU decides, if real-time work wants it. */
static __always_inline void lx_watch_bound(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 left_ns, u64 now)
{
	if (left_ns == LX_NEVER || !lx_wants_cpu(in, c))
		return;
	if (left_ns)
		lx_set_timer(c, now + left_ns);
	else
		lx_kick_cpu(cpu);
}

/* It begins to run. `in`: NULL where there is no real-time work. */
static __always_inline void lx_bound_begins(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	c->bound_since_at = now;
	c->ran_bound = 1;
	if (in)
		lx_watch_bound(in, c, cpu, lx_bound_left(cpu, now), now);
}

/* It stops. */
static __always_inline void lx_bound_ends(struct lx_host_cpu *c, u32 cpu, u64 now)
{
	lx_bound_left(cpu, now);
	c->bound_since_at = 0;
}

/* A task that wakes up goes before the running one; a task that had its slice waits behind others of its kind. */
static __always_inline void lx_enqueue_bound(struct task_struct *p, u64 enq_flags)
{
	u64 preempt = enq_flags & SCX_ENQ_WAKEUP ? SCX_ENQ_PREEMPT : 0;
	u32 cpu = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	if (!c || lx_bound_left(cpu, bpf_ktime_get_ns())) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, background_slice_ns, enq_flags | preempt);
		return;
	}
	LX_COUNT(bounded);
	c->bound_waits = 1;
	scx_bpf_dsq_insert(p, LX_BOUND_OF(cpu), background_slice_ns, enq_flags);
	scx_bpf_kick_cpu(cpu, enq_flags & SCX_ENQ_LAST ? 0 : SCX_KICK_IDLE);
}

/* The next that waits gets the CPU, if one does. */
static __always_inline bool lx_take_bound(struct lx_host_cpu *c, u32 cpu)
{
	if (!c->bound_waits)
		return false;
	c->bound_waits = scx_bpf_dsq_move_to_local(LX_BOUND_OF(cpu));
	return c->bound_waits;
}

/* The CPU decides: whether a bound thread goes first, the one that `ran` or one that waits. */
static __always_inline bool lx_bound_goes_first(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, struct task_struct *ran,
						bool ran_bound, u64 now)
{
	u64 left_ns;

	if (!ran_bound && !c->bound_waits)
		return false;
	left_ns = lx_bound_left(cpu, now);
	if (!left_ns)
		return false;
	LX_OPAQUE(ran);
	if (!ran || !ran_bound)
		return lx_take_bound(c, cpu);
	scx_bpf_task_set_slice(ran, background_slice_ns);
	if (in)
		lx_watch_bound(in, c, cpu, left_ns, now);
	return true;
}

/* A tick: whether what runs is to give way, a bound thread that has had its time, or others while one waits whose next window has come. */
static __always_inline bool lx_bound_ticks(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	if (c->bound_since_at)
		return !lx_bound_left(cpu, now) && in && lx_wants_cpu(in, c);
	return c->bound_waits && lx_bound_left(cpu, now);
}

#endif
