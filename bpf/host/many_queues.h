/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Background work with a queue per CPU and a deferrable server per CPU (servers.h). policy/background.h decides where it waits and
 * when that changes, policy/virtual_time.h in which order it runs; here the CPUs are gone through.
 */
#ifndef LX_HOST_MANY_QUEUES_H
#define LX_HOST_MANY_QUEUES_H

#include "background.h"
#include "clock.h"
#include "timers.h"

/* Queues of the CPUs have their numbers. */
#define LX_BACKGROUND_OF(cpu) ((u64)(cpu))

/* The server may have a budget again while a real-time task runs on. */
#define LX_WATCH_ALWAYS true

static __always_inline s32 lx_create_queues(void)
{
	return lx_create_queue_per_cpu(LX_BACKGROUND_OF(0));
}

/*
 * Whether a program that is called in the name of the current task counts as one more reason for it not to migrate: not in every
 * kernel, and a tick that sees none is proof.
 */
u32 callers_count = 1;

static __always_inline void lx_note_callers(struct task_struct *p)
{
	if (callers_count && !p->migration_disabled)
		callers_count = 0;
}

/* Whether the task must not migrate now. */
static __always_inline bool lx_must_stay(struct task_struct *p)
{
	return p->migration_disabled > (bpf_get_current_task_btf() == p ? callers_count : 0);
}

static __always_inline u32 lx_waiting(u32 cpu)
{
	return lx_length_of(LX_BACKGROUND_OF(cpu));
}

/* Whether a real-time task is to run on the CPU. */
static __always_inline bool lx_is_wanted(struct lx_instance *in, struct lx_host_cpu *c)
{
	return LX_READ(lx_cpu(&in->state, c->index)->linked) != LX_NONE;
}

/* Whether a background task has the CPU, or is on its way there from a queue. */
static __always_inline u32 lx_runs_background(struct lx_host_cpu *c)
{
	return LX_READ(c->background) || LX_READ(c->taken);
}

/* What is ready or runs there: background tasks and real-time jobs. */
static __always_inline struct lx_load lx_load_of(u32 cpu, struct lx_host_cpu *c)
{
	struct lx_instance *in = lx_instance_of(c);
	struct lx_load load = {.speed = c->speed, .tasks = lx_waiting(cpu) + lx_runs_background(c)};

	if (in)
		load.tasks += LX_READ(in->state.ready_count) + lx_is_wanted(in, c);
	return load;
}

/*
 * The CPU that is best for the task, which is ready and on none; `own`, where it was, if no other is better. Speed and tasks of that one
 * without the task; a speed of 0: it may not run there.
 */
u32 __noinline lx_place_beside(struct task_struct *p __arg_trusted, u32 own, u32 speed, u32 tasks)
{
	struct lx_spot here = {.cpu = own, .load = {.speed = speed, .tasks = tasks}};
	struct lx_host_cpu *me = lx_host_cpu(bpf_get_smp_processor_id());
	struct lx_spot best = speed ? here : LX_NOWHERE;
	u32 i = 0;

	while (me && i < online_cpus && LX_MAY_LOOP) {
		struct lx_host_cpu *c = lx_host_cpu(i);

		if (c && c->speed && i != own && bpf_cpumask_test_cpu(i, p->cpus_ptr))
			best = lx_spot_for_one_more(best, (struct lx_spot){.cpu = i, .load = lx_load_of(i, c)});
		i++;
		LX_FORGET(me, i);
		LX_FORGET(me, best.cpu);
		LX_FORGET(me, best.load.speed);
		LX_FORGET(me, best.load.tasks);
	}
	return best.cpu == LX_NONE ? own : best.cpu;
}

static __always_inline u32 lx_place(struct task_struct *p, u32 own, struct lx_load here)
{
	return lx_place_beside(p, own, here.speed, here.tasks);
}

/* The load of the CPU without the task, if it may run there; else one of speed 0. */
static __always_inline struct lx_load lx_load_without(struct task_struct *p, u32 cpu, struct lx_host_cpu *c, u32 running)
{
	struct lx_load load = lx_load_of(cpu, c);

	if (!bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
		load.speed = 0;
	load.tasks -= running && load.tasks ? 1 : 0;
	return load;
}

/* The CPU on which the task is to run when it wakes up. */
static __always_inline s32 lx_place_awake(struct task_struct *p, s32 own)
{
	struct lx_host_cpu *c = lx_host_cpu(own);

	return c ? lx_place(p, own, lx_load_without(p, own, c, 0)) : own;
}

/* The task's virtual time on the CPU to which it has come: it keeps the lead over others that it had where it
 * was. */
static __noinline u64 lx_vtime_on(struct task_struct *p, u32 cpu)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);
	struct lx_host_cpu *to = lx_host_cpu(cpu);
	u64 vtime = p->scx.dsq_vtime;
	struct lx_host_cpu *from;

	if (!member || member->home == cpu)
		return vtime;
	from = lx_host_cpu(member->home);
	member->home = cpu;
	return from && to ? lx_virtual_moved(vtime, from->vtime_now, to->vtime_now) : vtime;
}

/* The virtual time at which a task begins. */
static __always_inline u64 lx_background_start(struct task_struct *p)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);
	u32 cpu = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	if (member)
		member->home = cpu;
	return c ? c->vtime_now : 0;
}

/*
 * The CPU is to notice what has just come into its queue: it idles, or real-time work there has to give way. Where it has given way
 * already, it takes what waits when what runs is done: a kick would have two tasks take turns at nothing else.
 */
static __always_inline void lx_notify(u32 cpu, struct lx_host_cpu *c, bool leaves_idle)
{
	struct lx_instance *in = lx_instance_of(c);

	if (in && LX_READ(c->gave_way) == LX_OTHER_IDLE &&
	    (LX_READ(c->running) != LX_NONE || lx_is_wanted(in, c)) &&
	    lx_why_first(in, c, bpf_ktime_get_ns()) != LX_OTHER_IDLE)
		lx_kick_cpu(cpu);
	else
		scx_bpf_kick_cpu(cpu, leaves_idle ? 0 : SCX_KICK_IDLE);
}

static __noinline int lx_enqueue_at(struct task_struct *p, u64 enq_flags, u32 own, u32 cpu)
{
	struct lx_host_cpu *to = lx_host_cpu(cpu);
	u64 vtime = lx_vtime_on(p, cpu);
	u64 clock_vtime, slice_ns;

	if (!to)
		return 0;
	clock_vtime = lx_clock_goes_on(&to->vtime_now, &to->vtime_now_at);
	slice_ns = lx_virtual_slice(background_slice_ns, lx_waiting(cpu));
	vtime = lx_virtual_leads(lx_virtual_waits(vtime, clock_vtime, background_slice_ns), clock_vtime);
	scx_bpf_dsq_insert_vtime(p, LX_BACKGROUND_OF(cpu), slice_ns, vtime, enq_flags);
	lx_notify(cpu, to, enq_flags & SCX_ENQ_LAST && cpu == own);
	return 0;
}

static __always_inline void lx_enqueue_background(struct task_struct *p, u64 enq_flags)
{
	u32 own = scx_bpf_task_cpu(p);
	struct lx_host_cpu *c = lx_host_cpu(own);
	u32 cpu = own;

	/* When it wakes up it has been placed (lx_place_awake), unless it must stay. */
	if (c && !(enq_flags & SCX_ENQ_WAKEUP) && p->nr_cpus_allowed > 1 && !lx_must_stay(p))
		cpu = lx_place(p, own, lx_load_without(p, own, c, 0));
	lx_enqueue_at(p, enq_flags, own, cpu);
}

/* The next that waits for `from` and may run on the CPU `c`, which asks, goes there. Until it runs, it counts as there. */
static __always_inline bool lx_take_to(struct lx_host_cpu *c, u32 from)
{
	if (!scx_bpf_dsq_move_to_local(LX_BACKGROUND_OF(from)))
		return false;
	c->taken = 1;
	return true;
}

/* The CPU has nothing left of what it was given, or it would not ask: what it had taken has gone elsewhere. */
static __always_inline void lx_nothing_is_taken(struct lx_host_cpu *c)
{
	c->taken = 0;
}

/* The next that waits for the CPU, which asks. */
static __always_inline bool lx_take_background(u32 cpu)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	return c && lx_take_to(c, cpu);
}

/* Whether a CPU gives one to that with the load `here`. */
static __always_inline bool lx_gives(u32 cpu, struct lx_host_cpu *c, struct lx_load load, struct lx_load here)
{
	return lx_background_gives(load, lx_waiting(cpu), LX_READ(c->background), here);
}

/* The CPU that has most to give to one with the load `here`, or LX_NONE. */
u32 __noinline lx_busiest(u32 cpu, u32 speed, u32 tasks)
{
	struct lx_load here = {.speed = speed, .tasks = tasks};
	struct lx_host_cpu *me = lx_host_cpu(cpu);
	struct lx_spot most = LX_NOWHERE;
	u32 i = 0;

	while (me && i < online_cpus && LX_MAY_LOOP) {
		struct lx_host_cpu *c = lx_host_cpu(i);

		if (c && c->speed && i != cpu) {
			struct lx_load load = lx_load_of(i, c);

			if (lx_gives(i, c, load, here))
				most = lx_spot_to_pull_from(most, (struct lx_spot){.cpu = i, .load = load});
		}
		i++;
		LX_FORGET(me, i);
		LX_FORGET(me, most.cpu);
		LX_FORGET(me, most.load.speed);
		LX_FORGET(me, most.load.tasks);
	}
	return most.cpu;
}

/* Takes a task that waits on any CPU that gives, where none of the busiest CPU's may run here. */
u32 __noinline lx_take_from_any(u32 cpu, u32 speed, u32 tasks)
{
	struct lx_load here = {.speed = speed, .tasks = tasks};
	struct lx_host_cpu *me = lx_host_cpu(cpu);
	u32 taken = 0;
	u32 i = 0;

	while (me && i < online_cpus && !taken && LX_MAY_LOOP) {
		struct lx_host_cpu *other = lx_host_cpu(i);

		if (other && other->speed && i != cpu && lx_waiting(i) && lx_gives(i, other, lx_load_of(i, other), here))
			taken = lx_take_to(me, i);
		i++;
		LX_FORGET(me, i);
		LX_FORGET(me, taken);
	}
	return taken;
}

/* The CPU would idle: it pulls. A running task is asked to come: its CPU decides as at the end of a slice. */
u32 __noinline lx_take_from_others(u32 cpu)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_load here;
	u32 from;

	if (!c || !c->speed)
		return false;
	here = lx_load_of(cpu, c);
	/* The running task leaves the CPU. */
	here.tasks -= c->background && here.tasks ? 1 : 0;
	from = lx_busiest(cpu, here.speed, here.tasks);
	if (from == LX_NONE)
		return false;
	if (lx_take_to(c, from) || lx_take_from_any(cpu, here.speed, here.tasks))
		return true;
	lx_kick_cpu(from);
	return false;
}

/* Records that what runs goes on for another reason than until now. */
static __always_inline void lx_trace_reason(struct lx_host_cpu *c, u32 cpu, struct task_struct *p, u32 why)
{
	u64 now = bpf_ktime_get_ns();

	if (!lx_tracing(LX_TRACE_EVENTS) || c->shown == why || c->instance == LX_NONE)
		return;
	c->shown = why;
	lx_trace_task(LX_TRACE_BACKGROUND_STOP, cpu, now, 0, LX_NONE, p->pid, LX_NONE, p->pid);
	lx_trace_task(LX_TRACE_BACKGROUND_START, cpu, now, why, LX_NONE, p->pid, LX_NONE, p->pid);
}

/* Whether a background task that runs, and has nothing to give way to, goes on here: not if it is better off
 * elsewhere. */
static __noinline bool lx_is_best_here(u32 cpu, struct task_struct *p)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_host_cpu *other;
	u32 best;

	if (!c || p->nr_cpus_allowed < 2 || lx_must_stay(p))
		return true;
	best = lx_place(p, cpu, lx_load_without(p, cpu, c, c->background));
	other = lx_host_cpu(best);
	return !other || !lx_background_is_better_off((struct lx_spot){.cpu = cpu, .load = lx_load_of(cpu, c)},
						      (struct lx_spot){.cpu = best, .load = lx_load_of(best, other)});
}

static __always_inline bool lx_background_goes_on(u32 cpu, struct task_struct *p)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	if (!lx_is_best_here(cpu, p))
		return false;
	if (c)
		lx_trace_reason(c, cpu, p, c->gave_way);
	return true;
}

/* What was on the CPU goes before real-time work on, if that is what it is and nothing waits for its turn. */
static __always_inline bool lx_keeps(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, struct task_struct *prev, u64 now,
				     u32 why)
{
	if (!prev || !c->background || !(prev->scx.flags & SCX_TASK_QUEUED) || !lx_is_best_here(cpu, prev))
		return false;
	scx_bpf_task_set_slice(prev, background_slice_ns);
	lx_trace_reason(c, cpu, prev, why);
	lx_watch_turn(in, c, now);
	return true;
}

/* Background work goes first: c->gave_way says why. */
static __noinline bool lx_gives_way(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, struct task_struct *prev, u64 now)
{
	u32 why = lx_why_first(in, c, now);

	if (why == LX_OTHER_IDLE || !(lx_take_background(cpu) || lx_keeps(in, c, cpu, prev, now, why)))
		return false;
	c->gave_way = why;
	if (why == LX_OTHER_SERVER)
		LX_COUNT(served);
	else
		LX_COUNT(reserved);
	return true;
}

/* Whether background work that waits is to have the CPU, on which real-time work runs. */
static __always_inline bool lx_background_is_due(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	return lx_waiting(cpu) && lx_why_first(in, c, now) != LX_OTHER_IDLE;
}

/* The task, which is no member, has the CPU now. `in`: NULL where there is no real-time work. */
static __always_inline void lx_background_begins(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, struct task_struct *p)
{
	u64 vtime = lx_vtime_on(p, cpu);
	u64 now = c->background_since_at;

	scx_bpf_task_set_dsq_vtime(p, vtime);
	c->vtime_now = lx_virtual_begins(vtime, c->vtime_now);
	c->background = 1;
	c->taken = 0;
	c->charged_at = now;
	c->shown = c->gave_way;
	if (in && c->gave_way != LX_OTHER_IDLE)
		lx_watch_turn(in, c, now);
}

/* The same where no real-time work is. */
static __always_inline void lx_begins_beside(struct lx_host_cpu *c, u32 cpu, struct task_struct *p)
{
	lx_background_begins(NULL, c, cpu, p);
}

static __always_inline void lx_background_ends(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	if (in) {
		/* The timer of its turn: what comes next may set it anew. */
		if (c->background)
			lx_trace_budget_overdue(c, lx_kernel_cpu(in, c->index), now);
		lx_charge_background(in, c, now);
	}
	c->background = 0;
}

/* A tick, while it runs: without timers that ends its turn; with them, it finds what they have missed. */
static __always_inline void lx_tick_background(struct lx_host_cpu *c, struct task_struct *p, u64 now)
{
	struct lx_instance *in = lx_instance_of(c);

	lx_note_callers(p);
	if (!in || !c->background)
		return;
	lx_charge_background(in, c, now);
	if (lx_is_wanted(in, c) && lx_why_first(in, c, now) == LX_OTHER_IDLE)
		scx_bpf_task_set_slice(p, 0);
}

#endif
