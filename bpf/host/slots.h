/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of tasks in an instance, and the tasks that have them. Under the instance's lock. */
#ifndef LX_HOST_SLOTS_H
#define LX_HOST_SLOTS_H

#include "act.h"
#include "wake_up.h"

#define LX_JOIN_HOST_(a, b) a##_##b
#define LX_JOIN_HOST(a, b) LX_JOIN_HOST_(a, b)
#define LX_P(name) LX_JOIN_HOST(LX_POLICY, name)

/*
 * What the event makes of the task's standing. Returns what is to be done then (enum lx_standing_then). Where locks are several,
 * other CPUs may change it at the same time.
 */
static __always_inline u32 lx_stands(struct lx_slot *slot, u32 event)
{
	struct lx_standing_change change = {};
#ifdef LX_STEPS
	u32 before = 0;
	u32 found = LX_NONE;

	while (found != before && LX_MAY_LOOP) {
		before = LX_READ(slot->standing);
		change = lx_standing_after(before, event);
		found = __sync_val_compare_and_swap(&slot->standing, before, change.standing);
	}
#else
	change = lx_standing_after(slot->standing, event);
	LX_WRITE(slot->standing, change.standing);
#endif
	return change.then;
}

/* The number becomes free. */
static __always_inline void lx_slot_free(struct lx_instance *in, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);

	LX_WRITE(slot->standing, LX_FREE);
	slot->pid = 0;
	slot->next_free = in->free;
	in->free = index;
	/* Levels of fpp leave it out. */
	lx_task(&in->state, index)->deadline_rel_ns = 0;
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
	lx_stands(slot, LX_STANDING_TAKE);
	slot->yielded = 0;
	slot->custody = LX_CUSTODY_NONE;
	slot->job = 0;
	slot->has_yielded = 0;
	slot->first_release_at = 0;
	slot->bandwidth = 0;
	return index;
}

/* Charges what the CPU has been used for since `since_at`: to the reserve, and to the budget of the job if that is not over. */
static __always_inline void lx_charge_until(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	u64 used_ns = now > c->since_at ? now - c->since_at : 0;

	if (!c->over)
		LX_P(consume)(&in->state, c->running, used_ns);
	lx_reserve_charge(&c->reserve, used_ns, now);
	c->since_at = now;
}

/*
 * Whether the task, which was set aside here and goes on, has its job behind it still: it has yielded, or what this CPU has decided for is
 * another one. A call on another CPU that changes its scheduling may come before it leaves.
 */
static __always_inline bool lx_is_still_over(struct lx_instance *in, struct lx_host_cpu *c, u32 index)
{
	return c->over && (LX_READ(lx_slot(in, index)->yielded) || LX_READ(lx_cpu(&in->state, c->index)->scheduled) != index);
}

/*
 * The synchronous release: when the job arrives that follows the first yield, if user space has said so (maps.h). That job is
 * number 1, however often the task has blocked before.
 */
static __always_inline void lx_note_first_release(struct lx_slot *slot, u32 pid)
{
	u64 *first_at;

	if (slot->has_yielded)
		return;
	slot->has_yielded = 1;
	first_at = bpf_map_lookup_elem(&first_releases, &pid);
	if (!first_at)
		return;
	slot->first_release_at = *first_at;
	slot->job = 0;
	bpf_map_delete_elem(&first_releases, &pid);
}

/* When the job after the present one arrives. */
static __always_inline u64 lx_following_release(struct lx_instance *in, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);
	u64 first_at = slot->first_release_at;

	slot->first_release_at = 0;
	/* What the task did before does not count: a policy that starts now has no record of it. */
	if (first_at)
		lx_server_ends(&in->state, index);
	slot->release_at = first_at ?: lx_task(&in->state, index)->release_at + lx_task(&in->state, index)->period_ns;
	return slot->release_at;
}

/* The task is no member from now on. */
static __always_inline void lx_depart(struct lx_instance *in, u32 index)
{
	struct lx_slot *slot = lx_slot(in, index);
	u32 before = LX_READ(slot->standing);
	u32 then;

	if (before == LX_DEPARTED || before == LX_FREE)
		return;
	then = lx_stands(slot, LX_STANDING_LEAVE);
	lx_admission_leave(&in->admission, slot->bandwidth);
	in->members--;
	if (then == LX_THEN_FREE)
		lx_slot_free(in, index);
}

#endif
