/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's callbacks, translated. Order on a CPU: dispatch (while the previous task is still current), stopping,
 * enqueue, running; a task that goes to sleep has stopping and quiescent before dispatch.
 *
 * Kernel threads that are bound to a CPU go first there, for a bounded time (bound.h): straight to the CPU's own queue. A real-time
 * task is inserted into that queue in one place, dispatch, by the CPU that the policy has linked it to; so there is at most one, and
 * it is what the policy says. Until then it is in custody: with the policy, not in any queue of the kernel's. Everything else waits
 * by virtual time, other kernel threads too: in one queue for all CPUs (one_queue.h), or in one each (many_queues.h).
 */
#ifndef LX_HOST_CALLBACKS_H
#define LX_HOST_CALLBACKS_H

#include "bound.h"
#include "decisions.h"
#include "leave.h"
#include "rescue.h"
#include "take_up.h"
#include "timers.h"
#include "withdraw.h"

#ifdef LX_SERVERS
#include "many_queues.h"
#else
#include "one_queue.h"
#endif

/* The task that was decided for takes the CPU: false if it cannot. */
static __always_inline bool lx_take_up(struct lx_instance *in, struct lx_host_cpu *c, u32 task, u32 cpu, u64 now,
				       struct task_struct *prev)
{
	if (task == LX_NONE)
		return false;
	/* It has gone, or its job ended where the policy had not put it: the policy learns of that first. */
	if (lx_standing_is_apart(LX_READ(lx_slot(in, task)->standing)) || LX_READ(lx_slot(in, task)->yielded)) {
		lx_kick_cpu(cpu);
		return false;
	}
	return !lx_gives_way(in, c, cpu, prev, now) && lx_run(in, task, cpu, prev);
}

/*
 * Real-time work first, as the policy says, as long as the reserve for background work is not touched.
 * Returns whether the CPU has something to run now.
 */
static __always_inline bool lx_dispatch_real_time(u32 cpu, struct task_struct *prev, struct task_struct *ran)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in;
	u64 now = bpf_ktime_get_ns();
	u32 task;
	bool runs;

	if (!c)
		return false;
	lx_nothing_is_taken(c);
	in = lx_instance_of(c);
	if (!in)
		return false;
	lx_give_back(in, c, cpu, now);
	if (lx_tracing(LX_TRACE_EVENTS))
		lx_trace_begun(c, cpu, now);
	lx_serve(in, c);
	lx_charge_background(in, c, now);
	task = lx_decide(in, c, now);
	c->over = task != c->running && (c->over || c->ending != LX_ENDED_NOTHING);
	LX_COUNT(decisions);
	if (c->ending == LX_ENDED_BUDGET)
		LX_COUNT(exhaustions);
	lx_arm_if_asked(in, c->index);
	if (lx_tracing(LX_TRACE_EVENTS))
		lx_trace_decision(in, c, cpu, now, task);
	c->gave_way = LX_OTHER_IDLE;
	if (task == LX_NONE)
		lx_note_quiet(in, c, now);
	runs = !lx_goes_on_for_a_moment(c, ran, now) && !lx_rescue(in, c, cpu, now) && lx_take_up(in, c, task, cpu, now, prev);
	/* It goes on with a new budget, without a switch. */
	if (runs && task == c->running && (c->ending != LX_ENDED_NOTHING || LX_WATCH_ALWAYS)) {
		if (c->ending != LX_ENDED_NOTHING)
			c->since_at = lx_goes_on_since(in, c, now);
		lx_watch_budget(in, c, c->since_at);
	}
	if (lx_tracing(LX_TRACE_EVENTS))
		lx_trace_carried_out(c, now, task, runs);
	return runs || c->gave_way != LX_OTHER_IDLE;
}

/*
 * Whether this CPU has passed a decision over that it owes: what waited in its own queue (a kernel thread, a task that had to run
 * here) went first, or the kick for it has come while the kernel looked for background work.
 */
static __always_inline bool lx_has_to_decide(struct lx_instance *in, struct lx_host_cpu *c)
{
	struct lx_cpu *own = lx_cpu(&in->state, c->index);
	u32 scheduled = LX_READ(own->scheduled);
	struct lx_slot *slot;

	if (LX_READ(own->kicked) || c->above)
		return true;
	if (scheduled == LX_NONE)
		return false;
	slot = lx_slot(in, scheduled);
	return LX_READ(slot->yielded) || lx_standing_is_apart(LX_READ(slot->standing));
}

/*
 * The CPU has decided. Where it looked for background work it may have dropped the kernel's lock, and what asked for a decision then is
 * forgotten when the kernel goes on: it asks itself.
 */
static __always_inline void lx_look_again(u32 cpu)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);

	if (in && (lx_has_to_decide(in, c) || lx_is_awaited(in, c)))
		lx_kick_cpu(cpu);
}

/*
 * No real-time work is to run here: what waits does, or what ran, if it can go on (else NULL). `ran_bound`: that is a bound kernel
 * thread; `is_member`: a member, which may not.
 */
static __always_inline void lx_dispatch_background(u32 cpu, struct task_struct *ran, bool ran_bound, bool is_member)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	if (!c || (lx_kernel_thread_has_turn(c->ran_bound) && lx_take_bound(c, cpu)) || lx_take_background(cpu) || lx_take_bound(c, cpu))
		return;
	/* The pointer itself is to be looked at, not what is known of it: the verifier does not see what a flag says of a pointer. */
	LX_OPAQUE(ran);
	if (ran && !is_member) {
		if (ran_bound || lx_background_goes_on(cpu, ran))
			scx_bpf_task_set_slice(ran, background_slice_ns);
	} else {
		lx_take_from_others(cpu);
	}
}

/*
 * Whether the kernel, which asks what is to run on this CPU, is going to take a thread of SCHED_FIFO or SCHED_RR all the same: it asks
 * before it has looked there if the CPU idled. What is chosen then waits in the CPU's own queue, where nothing can take it from. Kernels
 * that let this class run beside such threads (ext_server) ask after they have looked.
 */
static __always_inline bool lx_is_asked_in_vain(u32 cpu)
{
	const struct rq *rq;

	if (!bpf_ksym_exists(&runqueues) || bpf_core_field_exists(((struct rq___7_0 *)0)->ext_server))
		return false;
	/* Under core scheduling a CPU asks for its siblings, too. */
	rq = bpf_per_cpu_ptr(&runqueues, cpu);
	return rq && rq->rt.rt_queued;
}

/* A bound kernel thread has the CPU, or gets it: what the CPU does for others it does all the same. Whether that is so. */
static __always_inline bool lx_dispatch_bound(u32 cpu, struct task_struct *ran, bool ran_bound)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);

	if (!c || !lx_bound_goes_first(in, c, cpu, ran, ran_bound, bpf_ktime_get_ns()))
		return false;
	if (in) {
		lx_serve(in, c);
		lx_arm_if_asked(in, c->index);
	}
	return true;
}

void BPF_STRUCT_OPS(on_dispatch, s32 cpu, struct task_struct *prev)
{
	struct task_struct *ran = prev && (prev->scx.flags & SCX_TASK_QUEUED) ? prev : NULL;
	bool ran_bound = ran && lx_is_bound(ran);
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	bool is_member;

	if (lx_is_asked_in_vain(cpu) || lx_dispatch_bound(cpu, ran, ran_bound))
		return;
	is_member = ran && lx_real_time_now(ran);
	/* One that has left while it ran goes through a queue: as background work it begins anew. */
	if (ran && c && c->running != LX_NONE)
		is_member = true;
	if (!lx_dispatch_real_time(cpu, prev, ran))
		lx_dispatch_background(cpu, ran, ran_bound, is_member);
	lx_look_again(cpu);
}

/* A class above takes the CPU: what waits in its own queue comes back, for other CPUs to take or until this one is free. */
void BPF_STRUCT_OPS(on_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	(void)args;
	if (c)
		__sync_lock_test_and_set(&c->above, c->above | LX_ABOVE_TOOK);
	scx_bpf_reenqueue_local();
}

s32 BPF_STRUCT_OPS(on_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	bool idle = false;
	s32 cpu;

	if (lx_real_time(p))
		return prev_cpu;
	cpu = lx_place_awake(p, prev_cpu);
	if (cpu >= 0)
		return cpu;
	cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
	if (idle)
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, background_slice_ns, 0);
	return cpu;
}

static __always_inline void lx_enqueue_real_time(struct task_struct *p, struct lx_member *member)
{
	u32 index = member->index;
	struct lx_instance *in = lx_instance_at(member->instance);
	struct lx_slot *slot;

	if (!in)
		return;
	slot = lx_slot(in, index);
	slot->waits_since_at = bpf_ktime_get_ns();
	__sync_lock_test_and_set(&slot->custody, LX_CUSTODY_HERE);
	if (LX_READ(slot->standing) != LX_PRESENT) {
		u64 now = bpf_ktime_get_ns();
		u32 job = slot->job;
		bool entered = slot->standing == LX_ENTERED;

		lx_appear(in, member->instance, index, now);
		if (lx_tracing(LX_TRACE_EVENTS)) {
			if (entered || slot->job != job)
				lx_trace_job(in, member->instance, index);
			else
				lx_trace_task(LX_TRACE_WAKE, scx_bpf_task_cpu(p), now, member->instance, index, p->pid, job, 0);
			lx_trace_work(LX_TRACE_SCHEDULING_OVERHEAD, now, bpf_ktime_get_ns(), LX_NONE, now);
		}
	}
	lx_remind(in, index);
}

void BPF_STRUCT_OPS(on_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct lx_member *member;

	if (lx_is_bound(p)) {
		lx_enqueue_bound(p, enq_flags);
		return;
	}
	member = lx_real_time_now(p);
	/* A task that exits may have no number any more by which a CPU could find it. */
	if (member && p->flags & PF_EXITING) {
		lx_leave(p);
		member = NULL;
	}
	if (member)
		lx_enqueue_real_time(p, member);
	else
		lx_enqueue_background(p, enq_flags);
}

/* It leaves custody, if it was not given to a CPU already; a decision for it that is under way will find nothing. */
void BPF_STRUCT_OPS(on_dequeue, struct task_struct *p, u64 deq_flags)
{
	struct lx_member *member = lx_member_of(p);
	struct lx_instance *in;

	(void)deq_flags;
	if (!member)
		return;
	in = lx_instance_at(member->instance);
	if (in)
		__sync_val_compare_and_swap(&lx_slot(in, member->index)->custody, LX_CUSTODY_HERE, LX_CUSTODY_NONE);
}

/*
 * What the CPU does for others, as a task begins there. A call that changes the scheduling of a task which runs says so, too, on whichever
 * CPU that call is: the lists, timers and interrupts of that one are others, so this CPU is asked to do it itself.
 */
static __always_inline void lx_serve_as_it_runs(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu)
{
	if (cpu == bpf_get_smp_processor_id()) {
		lx_serve(in, c);
		lx_arm_if_asked(in, c->index);
	} else if (lx_serves(in, c->index) && (lx_has_to_serve(in) || lx_next_instant(in) < LX_READ(in->armed_at))) {
		lx_kick_cpu(cpu);
	}
}

void BPF_STRUCT_OPS(on_running, struct task_struct *p)
{
	u32 cpu = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	bool is_bound = lx_is_bound(p);
	struct lx_member *member;
	struct lx_instance *in;
	u32 awaited, set_aside;

	if (!c)
		return;
	awaited = c->awaited;
	set_aside = c->set_aside;
	c->running = LX_NONE;
	c->awaited = LX_NONE;
	c->set_aside = LX_NONE;
	c->background_since_at = bpf_ktime_get_ns();
	lx_show_above_ends(c, cpu, c->background_since_at);
	in = lx_instance_of(c);
	c->ran_bound = 0;
	if (is_bound)
		lx_bound_begins(in, c, cpu, c->background_since_at);
	if (!in) {
		if (!is_bound)
			lx_begins_beside(c, cpu, p);
		return;
	}
	if (lx_tracing(LX_TRACE_EVENTS) && !lx_real_time(p))
		lx_trace_task(LX_TRACE_BACKGROUND_START, cpu, bpf_ktime_get_ns(),
			      is_bound ? LX_OTHER_KERNEL : c->gave_way,
			      LX_NONE, p->pid, LX_NONE, p->pid);
	lx_serve_as_it_runs(in, c, cpu);
	member = lx_real_time_now(p);
	if (member && member->instance == c->instance) {
		u64 now = bpf_ktime_get_ns();

		LX_WRITE(lx_slot(in, member->index)->custody, LX_CUSTODY_NONE);
		c->running = member->index;
		c->since_at = now;
		c->over = set_aside == member->index && lx_is_still_over(in, c, member->index);
		if (!c->over)
			lx_watch_budget(in, c, now);
		if (!c->over && lx_tracing(LX_TRACE_EVENTS)) {
			lx_trace_task(LX_TRACE_RESUME, cpu, now, c->instance, member->index, p->pid,
				      lx_slot(in, member->index)->job, 0);
			if (c->decided_at && c->decided_at < now)
				lx_trace_work(LX_TRACE_SWITCH_OVERHEAD, c->decided_at, now, member->index, 0);
		}
		/* It has just become a member, while it ran. */
		if (LX_READ(lx_slot(in, member->index)->standing) != LX_PRESENT)
			lx_kick_cpu(cpu);
	} else if (!member && !is_bound) {
		/* What was chosen has left on its way here. */
		if (awaited != LX_NONE)
			lx_trace_work(LX_TRACE_SWITCH_OVERHEAD, c->decided_at, bpf_ktime_get_ns(), awaited, 0);
		LX_COUNT(background);
		lx_background_begins(in, c, cpu, p);
		if (lx_is_in_the_way(in, c, cpu))
			lx_kick_cpu(cpu);
	}
	if (!is_bound && lx_has_to_decide(in, c))
		lx_kick_cpu(cpu);
}

/* The task has had the CPU for `had_ns` ns. */
static __always_inline void lx_charge_virtual_time(struct task_struct *p, u64 had_ns)
{
	scx_bpf_task_set_dsq_vtime(p, lx_virtual_after(p->scx.dsq_vtime, had_ns, p->scx.weight));
}

void BPF_STRUCT_OPS(on_stopping, struct task_struct *p, bool runnable)
{
	struct lx_host_cpu *c = lx_host_cpu(scx_bpf_task_cpu(p));
	struct lx_instance *in;
	u64 now;

	if (!c)
		return;
	c->set_aside = runnable ? LX_NONE : c->running;
	if (c->running == LX_NONE) {
		bool was_bound = c->bound_since_at;

		if (lx_tracing(LX_TRACE_EVENTS) && c->instance != LX_NONE)
			lx_trace_task(LX_TRACE_BACKGROUND_STOP, scx_bpf_task_cpu(p), bpf_ktime_get_ns(),
				      was_bound, LX_NONE, p->pid, LX_NONE, p->pid);
		now = bpf_ktime_get_ns();
		if (was_bound) {
			lx_bound_ends(c, scx_bpf_task_cpu(p), now);
		} else {
			lx_charge_virtual_time(p, now - c->background_since_at);
			lx_background_ends(lx_instance_of(c), c, now);
		}
		return;
	}
	in = lx_instance_at(c->instance);
	if (!in)
		return;
	now = bpf_ktime_get_ns();
	lx_charge_running(in, c, now);
	lx_trace_budget_overdue(c, scx_bpf_task_cpu(p), now);
	lx_trace_task(LX_TRACE_PREEMPT, scx_bpf_task_cpu(p), now, c->instance, c->running, p->pid,
		      lx_slot(in, c->running)->job, 0);
	c->running = LX_NONE;
}

/* A member sleeps, or is in another class for a while: its job waits until it is back. */
static __always_inline void lx_go_away(struct task_struct *p, struct lx_member *member)
{
	struct lx_instance *in = lx_instance_at(member->instance);
	u32 cpu = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	u64 now = bpf_ktime_get_ns();

	if (!in || !c)
		return;
	/* The task that lends it a priority may be on another CPU than it is. */
	lx_vanish(in, c, c->instance == member->instance && cpu == bpf_get_smp_processor_id(), member->index, now);
	lx_remind(in, member->index);
	lx_trace_task(LX_TRACE_BLOCK, cpu, now, member->instance, member->index, p->pid,
		      lx_slot(in, member->index)->job, 0);
}

void BPF_STRUCT_OPS(on_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct lx_member *member;

	if (!(deq_flags & SCX_DEQ_SLEEP))
		return;
	member = lx_member_of(p);
	if (!member)
		return;
	lx_go_away(p, member);
	/* It gives back its bandwidth now: the kernel reports its end only when the last reference to it is gone. */
	if (p->flags & PF_EXITING || lx_is_leaving(member))
		lx_leave(p);
}

/* The job of the task, which runs, is over; the policy learns of it when the CPU decides. */
static __always_inline void lx_end_job(struct task_struct *p, struct lx_member *member)
{
	struct lx_instance *in = lx_instance_at(member->instance);
	u32 cpu = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	u32 index = member->index;
	u64 now = bpf_ktime_get_ns();

	if (!in || !c || LX_READ(lx_slot(in, index)->standing) != LX_PRESENT)
		return;
	if (c->running == index) {
		lx_charge_running(in, c, now);
		c->over = 1;
	}
	lx_note_first_release(lx_slot(in, index), p->pid);
	LX_WRITE(lx_slot(in, index)->yielded, 1);
	LX_COUNT(completions);
	lx_trace_task(LX_TRACE_COMPLETE, cpu, now, member->instance, index, p->pid, lx_slot(in, index)->job,
		      lx_task(&in->state, index)->deadline_abs_ns);
}

/* The end of a job; for others, the end of the slice. */
bool BPF_STRUCT_OPS(on_yield, struct task_struct *p, struct task_struct *to)
{
	struct lx_member *member = lx_real_time(p);

	if (to)
		return false;
	if (member)
		lx_end_job(p, member);
	scx_bpf_task_set_slice(p, 0);
	return false;
}

/* Does the work of the timers where there are none, and of the reserve, which is as coarse as
 * sched_rt_runtime_us is. */
void BPF_STRUCT_OPS(on_tick, struct task_struct *p)
{
	struct lx_host_cpu *c = lx_host_cpu(scx_bpf_task_cpu(p));
	struct lx_instance *in;
	u64 now = bpf_ktime_get_ns();
	u64 left_ns;

	if (!c)
		return;
	in = lx_instance_of(c);
	if (lx_bound_ticks(in, c, scx_bpf_task_cpu(p), now) || (in && lx_look_for_waiting(in, now)))
		scx_bpf_task_set_slice(p, 0);
	if (c->running == LX_NONE) {
		lx_tick_background(c, p, now);
		return;
	}
	if (!in)
		return;
	lx_charge_running(in, c, now);
	left_ns = LX_READ(lx_task(&in->state, c->running)->budget_left_ns);
	if (!has_timers && left_ns == 0)
		lx_budget_ticked(c, scx_bpf_task_cpu(p));
	/* The reserve only counts while something waits for it. */
	if (lx_background_is_due(in, c, scx_bpf_task_cpu(p), now) ||
	    (in->state.config.budget_mode != LX_BUDGET_OFF && left_ns == 0))
		scx_bpf_task_set_slice(p, 0);
}

#endif
