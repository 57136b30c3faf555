/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy under its instance's one lock: what the kernel says becomes the policy's events under it, the actions that
 * follow are carried out after it.
 */
#ifndef LX_HOST_ONE_LOCK_H
#define LX_HOST_ONE_LOCK_H

#include "slots.h"

/* Under the instance's lock, after every entry point. */
static __noinline void lx_collect(struct lx_state *s, struct lx_actions *to)
{
	u32 n = s->actions;
	u32 i = 0;

	while (i < n && to->count < LX_ACTIONS_MAX && LX_MAY_LOOP) {
		*LX_AT(to->action, to->count, LX_ACTIONS_MAX) = *LX_AT(s->action, i, LX_ACTIONS_MAX);
		to->count++;
		i++;
		LX_FORGET(to, i);
	}
	s->actions = 0;
}

static __noinline void lx_act_all(struct lx_instance *in, struct lx_actions *list)
{
	u32 i = 0;

	while (i < list->count && LX_MAY_LOOP) {
		lx_act_one(in, LX_AT(list->action, i, LX_ACTIONS_MAX));
		i++;
		LX_FORGET(list, i);
	}
	list->count = 0;
}

/* Its turn: if it sleeps or has left, its job goes, which the policy held until now. */
static __always_inline void lx_drop(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);

	if (lx_stands(slot, LX_STANDING_TURN) != LX_THEN_SUSPEND)
		return;
	LX_P(suspend)(&in->state, c->index, now);
	c->ended = 1;
	if (lx_stands(slot, LX_STANDING_TOLD) == LX_THEN_FREE)
		lx_slot_free(in, index);
	if (c->running == index)
		c->running = LX_NONE;
}

/* Tells the policy what has ended on the CPU: the job of `index`, which it has scheduled there. */
static __always_inline void lx_invoke_end(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);
	struct lx_state *s = &in->state;

	if (lx_standing_is_apart(slot->standing)) {
		lx_drop(in, c, index, now);
	} else if (slot->yielded) {
		slot->yielded = 0;
		c->ending = LX_ENDED_JOB;
		slot->job++;
		LX_P(complete)(s, c->index, lx_following_release(in, index), now);
	} else if (s->config.budget_mode != LX_BUDGET_OFF && lx_task(s, index)->budget_left_ns == 0) {
		c->ending = LX_ENDED_BUDGET;
		c->replenishment = lx_next_replenishment(s, index);
		LX_P(exhaust)(s, c->index, now);
	}
}

/*
 * The CPU decides, or is withdrawn. Returns the task that it runs from now on, or LX_NONE. That may be one that is not there any
 * more: then the CPU is to decide again.
 */
static __always_inline u32 lx_decide_locked(struct lx_instance *in, struct lx_host_cpu *c, bool withdrawn, u64 now,
					    struct lx_actions *out)
{
	struct lx_state *s = &in->state;
	u32 index = lx_cpu(s, c->index)->scheduled;

	s->actions = 0;
	c->ending = LX_ENDED_NOTHING;
	c->ending_task = index;
	/* After an end, what is scheduled there is out of date: its job may be anywhere by now. */
	if (index != LX_NONE && !c->ended)
		lx_invoke_end(in, c, index, now);
	lx_collect(s, out);
	c->ended = 0;
	index = LX_NONE;
	if (withdrawn)
		LX_P(withdraw)(s, c->index, c->index, now);
	else
		index = LX_P(reschedule)(s, c->index, now);
	lx_collect(s, out);
	return index;
}

/* The task is runnable: its first job, its next one, or the one that it was at arrives, if the policy does not have it. */
static __always_inline void lx_appear_locked(struct lx_instance *in, u32 cpu, u32 index, u64 now, struct lx_actions *out)
{
	struct lx_slot *slot = lx_slot(in, index);
	struct lx_state *s = &in->state;
	u32 then = lx_stands(slot, LX_STANDING_COME);

	if (then == LX_THEN_ARRIVE) {
		slot->release_at = now;
		LX_P(arrive)(s, index, now, cpu, now);
		lx_collect(s, out);
	} else if (then == LX_THEN_WAKE) {
		u64 release_at = lx_wake_up(s, index, now);

		if (release_at == LX_NEVER) {
			LX_P(resume)(s, index, cpu, now);
		} else {
			slot->job++;
			slot->release_at = release_at;
			LX_P(arrive)(s, index, release_at, cpu, now);
		}
		lx_collect(s, out);
	}
}

/* The task sleeps. `c` is where it ran; `own`: that is a CPU of the instance. */
static __always_inline void lx_vanish_locked(struct lx_instance *in, struct lx_host_cpu *c, bool own, u32 index, u64 now,
				      struct lx_actions *out)
{
	struct lx_slot *slot = lx_slot(in, index);

	in->state.actions = 0;
	if (slot->standing != LX_PRESENT)
		return;
	lx_stands(slot, LX_STANDING_GO);
	if (own && !c->ended && lx_cpu(&in->state, c->index)->scheduled == index)
		lx_drop(in, c, index, now);
	lx_collect(&in->state, out);
}

/* What has ended on the CPU is told, and its time is charged; then it decides, or is withdrawn. What it decides for is in c->next. */
LX_ONCE int lx_decide_or_withdraw(u32 cpu, bool withdrawn, u64 now)
{
	struct lx_actions *list = lx_actions(LX_IN_CALLBACK);
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);

	if (!c)
		return 0;
	c->next = LX_NONE;
	if (!in || !list)
		return 0;
	lx_lock(in);
	if (c->running != LX_NONE)
		lx_charge_until(in, c, now);
	c->next = lx_decide_locked(in, c, withdrawn, now, list);
	bpf_spin_unlock(&in->lock);
	lx_act_all(in, list);
	return 0;
}

/* A CPU decides, and its time is charged. Returns the task that it runs from now on, or LX_NONE. */
static __always_inline u32 lx_decide(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	lx_decide_or_withdraw(lx_kernel_cpu(in, c->index), false, now);
	return c->next;
}

/* A class above takes the CPU: what has ended there, and then that. */
static __always_inline void lx_withdraw(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	lx_decide_or_withdraw(lx_kernel_cpu(in, c->index), true, now);
}

/* That CPU, by its number in the instance, is withdrawn, as whichever CPU has seen to that says; or restored, and going to decide. */
LX_ONCE int lx_withdraw_or_restore(u32 instance, u32 index, bool withdrawn, u64 now)
{
	struct lx_instance *in = lx_instance_at(instance);
	struct lx_actions *list = lx_actions(LX_IN_CALLBACK);

	if (!in || !list)
		return 0;
	lx_lock(in);
	if (withdrawn)
		LX_P(withdraw)(&in->state, index, index, now);
	else
		LX_P(restore)(&in->state, index, now);
	lx_collect(&in->state, list);
	bpf_spin_unlock(&in->lock);
	lx_act_all(in, list);
	return 0;
}

/* A task is runnable. */
static __always_inline void lx_appear(struct lx_instance *in, u32 instance, u32 index, u64 now)
{
	struct lx_actions *list = lx_actions(LX_IN_CALLBACK);
	u32 here = lx_here(in);

	(void)instance;
	if (!list)
		return;
	lx_lock(in);
	lx_appear_locked(in, here, index, now, list);
	bpf_spin_unlock(&in->lock);
	lx_act_all(in, list);
}

/* A task sleeps; `c` is where it ran; `own`: that is a CPU of the instance. */
static __always_inline void lx_vanish(struct lx_instance *in, struct lx_host_cpu *c, bool own, u32 index, u64 now)
{
	struct lx_actions *list = lx_actions(LX_IN_CALLBACK);

	if (!list)
		return;
	lx_lock(in);
	lx_vanish_locked(in, c, own, index, now, list);
	bpf_spin_unlock(&in->lock);
	lx_act_all(in, list);
}

/* The running task has used its time on the CPU until now. */
static __always_inline void lx_charge_running(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	lx_lock(in);
	lx_charge_until(in, c, now);
	bpf_spin_unlock(&in->lock);
}

#ifdef LX_TIMER
/* The policy's own timer, if it is due: 1, or 0 if it is not. */
static __noinline int lx_timer_pending(struct lx_instance *in)
{
	struct lx_actions *list = lx_actions(LX_IN_TIMER);
	u64 now = bpf_ktime_get_ns();
	u32 here = lx_here(in);

	if (!list || LX_READ(in->state.next_timer_at) > now)
		return 0;
	lx_lock(in);
	LX_P(timer)(&in->state, here, now);
	lx_collect(&in->state, list);
	bpf_spin_unlock(&in->lock);
	lx_act_all(in, list);
	return 1;
}
#endif

/*
 * Releases what is due, and sets the timer for what is not; returns how many groups that were, and one more for the policy's own
 * timer. With batching one group is all jobs of an instant, without it one job.
 */
static __noinline int lx_release_pending(struct lx_instance *in)
{
	struct lx_actions *list = lx_actions(LX_IN_TIMER);
	u32 groups = 0;

	if (!list)
		return 0;
	while (groups < LX_TASKS_MAX && LX_MAY_LOOP) {
		u64 now = bpf_ktime_get_ns();
		u32 group;

		lx_lock(in);
		group = lx_take_due(&in->state, now);
		if (group != LX_NONE) {
			LX_P(release_group)(&in->state, group, now);
			lx_collect(&in->state, list);
		}
		bpf_spin_unlock(&in->lock);
		if (group == LX_NONE)
			break;
		lx_act_all(in, list);
		LX_COUNT(releases);
		groups++;
		LX_FORGET(list, groups);
	}
#ifdef LX_TIMER
	groups += lx_timer_pending(in);
#endif
	/* The dedicated CPU may be back from a class above: the next release is its own. */
	if (lx_serves(in, lx_here(in)))
		lx_arm(in);
	else
		lx_kick_server(in);
	return groups;
}

/* No CPU decides for others here. */
static __always_inline void lx_serve(struct lx_instance *in, struct lx_host_cpu *c)
{
	(void)in;
	(void)c;
}

/* Releases are the timer's, whatever a CPU does. */
static __always_inline bool lx_has_to_serve(struct lx_instance *in)
{
	(void)in;
	return false;
}

/* No CPU waits for it except by kicks. */
static __always_inline bool lx_is_awaited(struct lx_instance *in, struct lx_host_cpu *c)
{
	(void)in;
	(void)c;
	return false;
}

#endif
