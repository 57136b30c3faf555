/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Background work under most policies: one queue for all CPUs, by virtual time; each takes from it what
 * real-time work leaves, or what the reserve gives. Tasks that may be on one CPU only wait apart, in a queue of that CPU: others
 * would go past all of them, with locks held, to find one that they can take. Both kinds have one clock, and of both what waits
 * here with the least virtual time is next: so the order is that of a single queue. many_queues.h has the same names for a queue per CPU.
 */
#ifndef LX_HOST_ONE_QUEUE_H
#define LX_HOST_ONE_QUEUE_H

#include "claims.h"
#include "clock.h"
#include "timers.h"

/* What the queue's clock shows, and when it was made to go on with time. */
u64 background_now;
u64 background_now_at;

/* A running real-time task that goes on has its timer set anew only where its budget is a new one. */
#define LX_WATCH_ALWAYS false

/* The queue of tasks that may be on that CPU only. */
#define LX_PINNED_TO(cpu) (0x20000ull + (cpu))

static __always_inline s32 lx_create_queues(void)
{
	s32 error = lx_create_queue_per_cpu(LX_PINNED_TO(0));

	return error ?: scx_bpf_create_dsq(LX_BACKGROUND, -1);
}

/*
 * The queue in which the task waits. One that may be on another CPU only than it is must not migrate now (it would not wait here else), and
 * waits for this one with all others.
 */
static __always_inline u64 lx_queue_of(struct task_struct *p, u32 cpu)
{
	return p->nr_cpus_allowed == 1 && bpf_cpumask_test_cpu(cpu, &p->cpus_mask) ? LX_PINNED_TO(cpu) : LX_BACKGROUND;
}

/* The CPU on which the task is to run when it wakes up: the kernel finds an idle one. */
static __always_inline s32 lx_place_awake(struct task_struct *p, s32 own)
{
	(void)p;
	(void)own;
	return -1;
}

static __always_inline void lx_enqueue_background(struct task_struct *p, u64 enq_flags)
{
	u64 clock_vtime = lx_clock_goes_on(&background_now, &background_now_at);
	u64 vtime = lx_virtual_waits(p->scx.dsq_vtime, clock_vtime, background_slice_ns);
	u32 own = scx_bpf_task_cpu(p);
	u32 others = lx_length_of(LX_BACKGROUND) / online_cpus + lx_length_of(LX_PINNED_TO(own));
	u64 slice_ns = lx_virtual_slice(background_slice_ns, others);
	s32 cpu;

	scx_bpf_dsq_insert_vtime(p, lx_queue_of(p, own), slice_ns, lx_virtual_leads(vtime, clock_vtime), enq_flags);
	cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (cpu >= 0)
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	/* This CPU is going to idle, and may be the only one for it: one that is preempted in a call of its own must not migrate. */
	if (enq_flags & SCX_ENQ_LAST)
		scx_bpf_kick_cpu(own, SCX_KICK_IDLE);
}

/* The virtual time at which a task begins. */
static __always_inline u64 lx_background_start(struct task_struct *p)
{
	(void)p;
	return background_now;
}

/* The first that waits in the queue and may run on the CPU: whether there is one, and its virtual time. */
static __always_inline bool lx_first_of(u64 queue, u32 cpu, u64 *vtime)
{
	struct task_struct *p;
	bool found = false;

	bpf_for_each(scx_dsq, p, queue, 0) {
		if (bpf_cpumask_test_cpu(cpu, p->cpus_ptr)) {
			*vtime = p->scx.dsq_vtime;
			found = true;
			break;
		}
	}
	return found;
}

/* Whether what may be on this CPU only goes before what may be elsewhere, too. */
LX_ONCE u32 lx_pinned_go_first(u32 cpu)
{
	u64 pinned_vtime = 0, shared_vtime = 0;

	return lx_length_of(LX_PINNED_TO(cpu)) && lx_first_of(LX_PINNED_TO(cpu), cpu, &pinned_vtime) &&
	       !(lx_first_of(LX_BACKGROUND, cpu, &shared_vtime) && lx_virtual_before(shared_vtime, pinned_vtime));
}

/* A task that waits gets the CPU. What is first may have gone meanwhile. */
static __always_inline bool lx_take_background(u32 cpu)
{
	return (lx_pinned_go_first(cpu) && scx_bpf_dsq_move_to_local(LX_PINNED_TO(cpu))) || scx_bpf_dsq_move_to_local(LX_BACKGROUND) ||
	       scx_bpf_dsq_move_to_local(LX_PINNED_TO(cpu));
}

static __always_inline void lx_nothing_is_taken(struct lx_host_cpu *c)
{
	(void)c;
}

/* There are no other queues to take from. */
static __always_inline bool lx_take_from_others(u32 cpu)
{
	(void)cpu;
	return false;
}

/* Whether a background task that runs, and has nothing to give way to, goes on here. */
static __always_inline bool lx_background_goes_on(u32 cpu, struct task_struct *p)
{
	(void)cpu;
	(void)p;
	return true;
}

/* Real-time work has had its share: what waits goes first, if it may run here. Then c->gave_way says why. */
static __always_inline bool lx_gives_way(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, struct task_struct *prev, u64 now)
{
	(void)in;
	(void)prev;
	/* What waits may be gone by now, or not be allowed here: then there is nothing to give way to. */
	if (lx_claim_without_server(&c->reserve, now) == LX_CLAIM_REAL_TIME || !lx_take_background(cpu))
		return false;
	LX_COUNT(reserved);
	c->gave_way = LX_OTHER_RESERVE;
	return true;
}

/* Whether background work that waits is to have the CPU, on which real-time work runs. */
static __always_inline bool lx_background_is_due(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	(void)in;
	return lx_claim_without_server(&c->reserve, now) == LX_CLAIM_RESERVE &&
	       (lx_length_of(LX_BACKGROUND) || lx_length_of(LX_PINNED_TO(cpu)));
}

/* The task, which is no member, has the CPU now. */
static __always_inline void lx_background_begins(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, struct task_struct *p)
{
	(void)in;
	(void)c;
	(void)cpu;
	background_now = lx_virtual_begins(p->scx.dsq_vtime, background_now);
}

/* The running task has had the CPU until now; it may go on or not. */
static __always_inline void lx_charge_background(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	(void)in;
	(void)c;
	(void)now;
}

/* The CPU has decided, and has no real-time work. */
static __always_inline void lx_note_quiet(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	(void)in;
	(void)c;
	(void)now;
}

static __always_inline void lx_background_ends(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	(void)in;
	(void)c;
	(void)now;
}

/* A tick, while it runs. */
static __always_inline void lx_tick_background(struct lx_host_cpu *c, struct task_struct *p, u64 now)
{
	(void)c;
	(void)p;
	(void)now;
}

/* The task has a CPU now where no real-time work is. */
static __always_inline void lx_begins_beside(struct lx_host_cpu *c, u32 cpu, struct task_struct *p)
{
	(void)c;
	(void)cpu;
	(void)p;
}

#endif
