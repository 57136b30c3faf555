/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy whose locks are part of it (push-pull, g-edf-mp): one per CPU, and one of the release queue. An entry point is
 * called under the locks that it needs, they are dropped, and what it has left in the calling CPU's list is carried out; that
 * may ask for another step, under other locks.
 *
 *      say(event) --> lock, entry point, unlock --> list: kick, arm, ... , STEP?
 *                                                      ^                    |
 *                                                      |                    v
 *                                                      +--- lock, step, unlock
 *
 * Interrupts are off all along: callbacks have them off, timers turn them off. A CPU that is none of the instance's has a
 * number of its own behind the others, for its list and its operation (push_pull.h, "assumptions"). So has a dedicated CPU for what it
 * says outside serve.h: another one may serve in its place just then, with its list and all that belongs to the dedicated processor.
 *
 * A lock that cannot be had within the kernel's time limit is tried again. One that cannot be had at all ends the scheduler:
 * without it an event would be lost.
 */
#ifndef LX_HOST_MANY_LOCKS_H
#define LX_HOST_MANY_LOCKS_H

#include "slots.h"

struct lx_cpu_lock {
	struct bpf_res_spin_lock lock;
};

/* By the kernel's number of the CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct lx_cpu_lock);
} cpu_locks SEC(".maps");

/* By instance. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct lx_cpu_lock);
} release_locks SEC(".maps");

/* Tries for a lock, each of a quarter of a second. */
#define LX_LOCK_TRIES 40

/* Events that are passed to the policy under locks. */
enum lx_invocation {
	LX_INVOKE_STEP = 1,
	LX_INVOKE_COMPLETE = 2,
	LX_INVOKE_EXHAUST = 3,
	LX_INVOKE_SUSPEND = 4,
	LX_INVOKE_RESCHEDULE = 5,
	LX_INVOKE_WITHDRAW = 6,
};

static __always_inline struct bpf_res_spin_lock *lx_lock_of_cpu(struct lx_instance *in, u32 index)
{
	u32 cpu = lx_kernel_cpu(in, index);
	struct lx_cpu_lock *lock = bpf_map_lookup_elem(&cpu_locks, &cpu);

	return lock ? &lock->lock : NULL;
}

/* Under the CPU's lock. What comes back is left with the CPU. */
static __always_inline void lx_invoke_locked(struct lx_instance *in, struct lx_host_cpu *c, u32 what, u64 next_release_at, u64 now)
{
	struct lx_state *s = &in->state;
	u32 cpu = c->index;

	if (what == LX_INVOKE_RESCHEDULE) {
		c->next = LX_P(reschedule)(s, cpu, now);
	} else if (what == LX_INVOKE_WITHDRAW) {
		LX_P(withdraw)(s, cpu, cpu, now);
	} else if (what == LX_INVOKE_SUSPEND) {
		LX_P(suspend)(s, cpu, now);
	} else if (what == LX_INVOKE_COMPLETE) {
#ifdef LX_AWAITS
		c->ready_at = LX_P(complete_here)(s, cpu, next_release_at, now);
#else
		LX_P(complete)(s, cpu, next_release_at, now);
#endif
	} else {
#ifdef LX_AWAITS
		c->ready_at = LX_P(exhaust_here)(s, cpu, now);
#else
		LX_P(exhaust)(s, cpu, now);
#endif
	}
}

/* Takes the lock. */
static __always_inline bool lx_take(struct bpf_res_spin_lock *lock)
{
	u32 tries = 0;

	while (bpf_res_spin_lock(lock)) {
		if (tries++ >= LX_LOCK_TRIES || !LX_MAY_LOOP)
			return false;
	}
	return true;
}

/* After lx_take has failed, with no lock held: the scheduler is at its end. */
static __always_inline void lx_give_up(void)
{
	scx_bpf_error("a lock was not to be had");
}

/* An event of this CPU, under its lock. */
LX_ONCE int lx_invoke_once(u32 instance, u32 what, u64 next_release_at, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);
	struct lx_host_cpu *c = lx_host_cpu(bpf_get_smp_processor_id());
	struct bpf_res_spin_lock *lock;

	if (!in || !c)
		return 0;
	lock = lx_lock_of_cpu(in, c->index);
	if (!lock)
		return 0;
	if (!lx_take(lock)) {
		lx_give_up();
		return 0;
	}
	lx_invoke_locked(in, c, what, next_release_at, now);
	bpf_res_spin_unlock(lock);
	return 0;
}

/* A step under the lock of one CPU: false if the lock cannot be taken. */
static __always_inline bool lx_step_under(struct lx_instance *in, struct bpf_res_spin_lock *lock, u32 cpu, u64 now)
{
	if (!lx_take(lock))
		return false;
	LX_P(step)(&in->state, cpu, now);
	bpf_res_spin_unlock(lock);
	return true;
}

/* A step under the locks of two CPUs: false if they cannot be taken. */
static __always_inline bool lx_step_under_both(struct lx_instance *in, struct bpf_res_spin_lock *a,
					       struct bpf_res_spin_lock *b, u32 cpu, u64 now)
{
	bool stepped;

	if (!lx_take(a))
		return false;
	stepped = lx_step_under(in, b, cpu, now);
	bpf_res_spin_unlock(a);
	return stepped;
}

/* A step under its locks, the lower CPU first. */
LX_ONCE int lx_step_once(u32 instance, u32 cpu, u32 locks, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);
	u32 first = locks & 0xffff, second = locks >> 16;
	struct bpf_res_spin_lock *a, *b = NULL;
	bool stepped;

	if (!in || first == LX_NO_LOCK)
		return 0;
	a = lx_lock_of_cpu(in, first);
	if (second != LX_NO_LOCK)
		b = lx_lock_of_cpu(in, second);
	if (!a)
		return 0;
	stepped = b ? lx_step_under_both(in, a, b, cpu, now) : lx_step_under(in, a, cpu, now);
	if (!stepped)
		lx_give_up();
	return 0;
}

/* Carries out what a call has left, but for a step: that one's locks, or LX_NO_LOCKS. */
static __always_inline u32 lx_act_listed(struct lx_instance *in, u32 cpu)
{
	struct lx_list *list = LX_AT(in->state.list, cpu, LX_CPUS_MAX);
	u32 n = list->actions;
	u32 locks = LX_NO_LOCKS;
	u32 i = 0;

	while (i < n && i < LX_LIST_ACTIONS && LX_MAY_LOOP) {
		struct lx_action *a = LX_AT(list->action, i, LX_LIST_ACTIONS);

		if (a->kind == LX_STEP)
			locks = a->locks;
		else
			lx_act_one(in, a);
		i++;
		LX_FORGET(list, i);
	}
	list->actions = 0;
	return locks;
}

/* Carries out the list of the calling CPU until no step is left. */
LX_ONCE int lx_carry_out(u32 instance, u32 cpu, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);
	u32 locks;

	if (!in)
		return 0;
	locks = lx_act_listed(in, cpu);
	while (locks != LX_NO_LOCKS && LX_MAY_LOOP) {
		lx_step_once(instance, cpu, locks, now);
		locks = lx_act_listed(in, cpu);
	}
	return 0;
}

#ifdef LX_AWAITS
#define LX_UNDER_RELEASE_LOCK(instance, call)                                                                          \
	({                                                                                                             \
		u32 key_ = (instance);                                                                                 \
		struct lx_cpu_lock *lock_ = bpf_map_lookup_elem(&release_locks, &key_);                                \
                                                                                                                       \
		if (lock_ && lx_take(&lock_->lock)) {                                                                  \
			call;                                                                                          \
			bpf_res_spin_unlock(&lock_->lock);                                                             \
		} else {                                                                                               \
			lx_give_up();                                                                                  \
		}                                                                                                      \
	})
#else
#define LX_UNDER_RELEASE_LOCK(instance, call) ({ call; })
#endif

/* The job waits for its instant. */
LX_ONCE int lx_await(u32 instance, u32 index, u64 release_at, u32 cpu)
{
#ifdef LX_AWAITS
	struct lx_instance *in = lx_instance_at(instance);

	if (in)
		LX_UNDER_RELEASE_LOCK(instance, LX_P(await)(&in->state, index, release_at, cpu));
#endif
	return 0;
}

/* A new job, or the old one again. */
LX_ONCE int lx_bring(u32 instance, u32 index, u64 release_at, u32 cpu, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);

	if (!in)
		return 0;
	if (release_at == LX_NEVER)
		LX_P(resume)(&in->state, index, cpu, now);
	else
		LX_UNDER_RELEASE_LOCK(instance, LX_P(arrive)(&in->state, index, release_at, cpu, now));
	return 0;
}

/* An event of this CPU, with all that follows from it. What reschedule gives is in c->next. */
static __always_inline void lx_invoke(struct lx_instance *in, struct lx_host_cpu *c, u32 what, u64 next_release_at, u64 now)
{
	u32 index = LX_READ(lx_cpu(&in->state, c->index)->scheduled);
	u32 instance = c->instance;

	c->next = LX_NONE;
	c->ready_at = LX_NEVER;
	lx_invoke_once(instance, what, next_release_at, now);
	if (c->ready_at != LX_NEVER)
		lx_await(instance, index, c->ready_at, c->index);
	lx_carry_out(instance, c->index, now);
}

/* The number behind all others of a CPU, by the kernel's number. */
static __always_inline u32 lx_caller_behind(u32 cpu)
{
	return LX_CPUS_MAX / 2 + cpu % (LX_CPUS_MAX / 2);
}

/* The CPU's number for its list and its operation: its own, or one behind all others. */
static __always_inline u32 lx_caller(u32 instance)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	return c && c->instance == instance ? c->caller : lx_caller_behind(cpu);
}

/* A task that the policy knows to sleep is runnable again: passes the events that follow to the policy. */
static __always_inline void lx_come_back(struct lx_instance *in, u32 instance, u32 index, u64 now)
{
	u32 cpu = lx_caller(instance);
	u64 release_at = lx_wake_up(&in->state, index, now);

	if (release_at != LX_NEVER) {
		lx_slot(in, index)->job++;
		lx_slot(in, index)->release_at = release_at;
	}
	lx_bring(instance, index, release_at, cpu, now);
	lx_carry_out(instance, cpu, now);
}

static __always_inline void lx_appear(struct lx_instance *in, u32 instance, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);
	/* Where the policy is being told that it sleeps, the CPU that does so says that it is back. */
	u32 then = lx_stands(slot, LX_STANDING_COME);

	if (then == LX_THEN_ARRIVE) {
		u32 cpu = lx_caller(instance);

		slot->release_at = now;
		lx_bring(instance, index, now, cpu, now);
		lx_carry_out(instance, cpu, now);
	} else if (then == LX_THEN_WAKE) {
		lx_come_back(in, instance, index, now);
	}
}

/* Its turn: if it sleeps or has left, its job goes. */
static __always_inline void lx_drop(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);
	u32 then;

	if (lx_stands(slot, LX_STANDING_TURN) != LX_THEN_SUSPEND)
		return;
	lx_invoke(in, c, LX_INVOKE_SUSPEND, 0, now);
	c->ended = 1;
	if (c->running == index)
		c->running = LX_NONE;
	then = lx_stands(slot, LX_STANDING_TOLD);
	if (then == LX_THEN_WAKE) {
		lx_come_back(in, c->instance, index, now);
	} else if (then == LX_THEN_FREE) {
		lx_lock(in);
		lx_slot_free(in, index);
		bpf_spin_unlock(&in->lock);
	}
}

/* Tells the policy what has ended on the CPU: the job of `index`, which it has scheduled there. */
static __always_inline void lx_invoke_end(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);
	struct lx_state *s = &in->state;
	u32 standing = LX_READ(slot->standing);

	if (standing == LX_ABSENT || standing == LX_DEPARTED) {
		lx_drop(in, c, index, now);
	} else if (slot->yielded) {
		slot->yielded = 0;
		c->ending = LX_ENDED_JOB;
		slot->job++;
		lx_invoke(in, c, LX_INVOKE_COMPLETE, lx_following_release(in, index), now);
	} else if (s->config.budget_mode != LX_BUDGET_OFF && lx_task(s, index)->budget_left_ns == 0) {
		c->ending = LX_ENDED_BUDGET;
		c->replenishment = lx_next_replenishment(s, index);
		lx_invoke(in, c, LX_INVOKE_EXHAUST, 0, now);
	}
}

/* What has ended on the CPU is told, and its time is charged; then it decides, or is withdrawn. */
static __always_inline void lx_decide_or_withdraw(struct lx_instance *in, struct lx_host_cpu *c, u32 what, u64 now)
{
	u32 index = lx_cpu(&in->state, c->index)->scheduled;

	if (c->running != LX_NONE)
		lx_charge_until(in, c, now);
	c->ending = LX_ENDED_NOTHING;
	c->ending_task = index;
	/* After an end, what is scheduled there is out of date: its job may be anywhere by now. */
	if (index != LX_NONE && !c->ended)
		lx_invoke_end(in, c, index, now);
	c->ended = 0;
	lx_invoke(in, c, what, 0, now);
}

/* A CPU decides. Returns the task that it runs from now on, or LX_NONE. */
static __always_inline u32 lx_decide(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	if (c->index == in->state.config.dedicated_cpu)
		return LX_NONE;
	lx_decide_or_withdraw(in, c, LX_INVOKE_RESCHEDULE, now);
	return c->next;
}

/* A class above takes the CPU. */
static __always_inline void lx_withdraw(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	lx_decide_or_withdraw(in, c, LX_INVOKE_WITHDRAW, now);
}

/* CPU `index` of the instance is withdrawn or restored; `by` says so. */
LX_ONCE int lx_withdraw_or_restore_by(u32 instance, u32 index, bool withdrawn, u32 by, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);
	struct bpf_res_spin_lock *lock = in ? lx_lock_of_cpu(in, index) : NULL;

	if (!in || !lock)
		return 0;
	if (!lx_take(lock)) {
		lx_give_up();
		return 0;
	}
	if (withdrawn)
		LX_P(withdraw)(&in->state, index, by, now);
	else
		LX_P(restore)(&in->state, index, now);
	bpf_res_spin_unlock(lock);
	return 0;
}

/* That CPU, by its number in the instance, is withdrawn, as whichever CPU has seen to that says; or restored, and going to decide. */
static __always_inline void lx_withdraw_or_restore(u32 instance, u32 index, bool withdrawn, u64 now)
{
	u32 by = lx_caller(instance);

	lx_withdraw_or_restore_by(instance, index, withdrawn, by, now);
	lx_carry_out(instance, by, now);
}

static __always_inline void lx_vanish(struct lx_instance *in, struct lx_host_cpu *c, bool own, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);

	lx_stands(slot, LX_STANDING_GO);
	if (LX_READ(slot->standing) != LX_ABSENT)
		return;
	if (own && !c->ended && LX_READ(lx_cpu(&in->state, c->index)->scheduled) == index)
		lx_drop(in, c, index, now);
}

static __always_inline void lx_charge_running(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	lx_charge_until(in, c, now);
}

#endif
