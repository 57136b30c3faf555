/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what the kernel says to the policy's events. All functions run under the instance's lock; `cpu` and `index` are
 * the instance's numbers.
 */
#ifndef LX_HOST_DECIDE_H
#define LX_HOST_DECIDE_H

#include "act.h"
#include "wake_up.h"

#define LX_JOIN_HOST_(a, b) a##_##b
#define LX_JOIN_HOST(a, b) LX_JOIN_HOST_(a, b)
#define LX_P(name) LX_JOIN_HOST(LX_POLICY, name)

/* The number becomes free. */
static __always_inline void lx_slot_free(struct lx_instance *in, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);

	slot->standing = LX_FREE;
	slot->pid = 0;
	slot->next_free = in->free;
	in->free = index;
}

/* A number for a new task, or LX_NONE. */
static __always_inline u32 lx_slot_take(struct lx_instance *in, u32 pid)
{
	u32 index = in->free;
	struct lx_slot *slot;

	if (index == LX_NONE)
		return LX_NONE;
	slot = lx_slot(in, index);
	in->free = slot->next_free;
	slot->pid = pid;
	slot->standing = LX_ENTERED;
	slot->yielded = 0;
	slot->custody = 0;
	slot->job = 0;
	slot->first_release = 0;
	slot->bandwidth = 0;
	return index;
}

/* Charges what the task has used of its budget since `since`. */
static __always_inline void lx_charge_until(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	u64 used = now > c->since ? now - c->since : 0;

	LX_P(consume)(&in->state, c->running, used);
	lx_reserve_charge(&c->reserve, used, now);
	c->since = now;
}

/* Its job goes, and it sleeps or has left: what the policy held until its turn came. */
static __always_inline void lx_drop(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);

	LX_P(suspend)(&in->state, c->index, now);
	c->ended = 1;
	if (slot->standing == LX_DEPARTED)
		lx_slot_free(in, index);
	else
		slot->standing = LX_BLOCKED;
	if (c->running == index)
		c->running = LX_NONE;
}

/* When the job after the present one arrives. */
static __always_inline u64 lx_following_release(struct lx_instance *in, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);
	u64 first = slot->first_release;

	if (first) {
		slot->first_release = 0;
		return first;
	}
	return lx_task(&in->state, index)->release + lx_task(&in->state, index)->period;
}

/* The policy hears of what has ended on the CPU: the job of `index`, which it has scheduled there. */
static __always_inline void lx_say_end(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now)
{
	struct lx_slot *slot = lx_slot(in, index);
	struct lx_state *s = &in->state;

	if (slot->standing >= LX_ABSENT) {
		lx_drop(in, c, index, now);
	} else if (slot->yielded) {
		slot->yielded = 0;
		c->ending = LX_ENDED_JOB;
		slot->job++;
		LX_P(complete)(s, c->index, lx_following_release(in, index), now);
	} else if (s->config.budget_mode != LX_BUDGET_OFF && lx_task(s, index)->budget_left == 0) {
		c->ending = LX_ENDED_BUDGET;
		LX_P(exhaust)(s, c->index, now);
	}
}

/*
 * The CPU decides. Returns the task that it runs from now on, or LX_NONE. That may be one that is not there any more: then the
 * CPU is to decide again.
 */
static __always_inline u32 lx_decide(struct lx_instance *in, struct lx_host_cpu *c, u64 now, struct lx_actions *out)
{
	struct lx_state *s = &in->state;
	u32 index = lx_cpu(s, c->index)->scheduled;

	s->actions = 0;
	c->ending = LX_ENDED_NOTHING;
	c->ending_task = index;
	/* After an end, what is scheduled there is history: its job may be anywhere by now. */
	if (index != LX_NONE && !c->ended)
		lx_say_end(in, c, index, now);
	lx_collect(s, out);
	c->ended = 0;
	index = LX_P(reschedule)(s, c->index, now);
	lx_collect(s, out);
	return index;
}

/* The task is runnable: its first job, its next one, or the one that it was at arrives, if the policy does not have it. */
static __always_inline void lx_appear(struct lx_instance *in, u32 cpu, u32 index, u64 now, struct lx_actions *out)
{
	struct lx_slot *slot = lx_slot(in, index);
	struct lx_state *s = &in->state;

	if (slot->standing == LX_ENTERED) {
		slot->standing = LX_PRESENT;
		LX_P(arrive)(s, index, now, cpu, now);
		lx_collect(s, out);
	} else if (slot->standing == LX_BLOCKED) {
		u64 release = lx_wake_up(s, index, now);

		slot->standing = LX_PRESENT;
		if (release == LX_NEVER) {
			LX_P(resume)(s, index, cpu, now);
		} else {
			slot->job++;
			LX_P(arrive)(s, index, release, cpu, now);
		}
		lx_collect(s, out);
	} else if (slot->standing == LX_ABSENT) {
		slot->standing = LX_PRESENT;
	}
}

/* The task sleeps. `c` is where it ran, if that is a CPU of the instance. */
static __always_inline void lx_vanish(struct lx_instance *in, struct lx_host_cpu *c, u32 index, u64 now,
				      struct lx_actions *out)
{
	struct lx_slot *slot = lx_slot(in, index);

	in->state.actions = 0;
	if (slot->standing != LX_PRESENT)
		return;
	slot->standing = LX_ABSENT;
	if (c && !c->ended && lx_cpu(&in->state, c->index)->scheduled == index)
		lx_drop(in, c, index, now);
	lx_collect(&in->state, out);
}

/* The task is none of ours from now on. */
static __always_inline void lx_depart(struct lx_instance *in, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);

	if (slot->standing == LX_FREE || slot->standing == LX_DEPARTED)
		return;
	lx_admission_replace(&in->admission, slot->bandwidth, 0);
	in->members--;
	if (slot->standing == LX_ENTERED || slot->standing == LX_BLOCKED)
		lx_slot_free(in, index);
	else
		slot->standing = LX_DEPARTED;
}

#endif
