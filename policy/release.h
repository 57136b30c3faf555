/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Release queue: jobs that have not arrived yet, in groups that one timer releases (ackelman2018, 5.1; LITMUS-RT's
 * release heaps, cerqueira2014, III-B footnote 3). With batching there is one group per release instant, found by a
 * hash of its time; without, and for tasks that ask for it (lx_task.alone), every job is a group of its own and is released by
 * itself.
 *
 * Groups wait in a binary heap by (time, number). add: O(log n), O(1) expected if the instant is already there;
 * take: O(log n). The ready queue decides what a group holds its jobs in: `NAME_group_add` and `NAME_group_release`
 * (queues/).
 */
#ifndef LX_RELEASE_H
#define LX_RELEASE_H

#include "core.h"

LX_INLINE struct lx_group *lx_group(struct lx_state *s, u32 group)
{
	LX_ASSERT(group < s->config.tasks);
	return LX_AT(s->group, group, LX_TASKS_MAX);
}

LX_INLINE struct lx_entry *lx_due(struct lx_state *s, u32 position)
{
	return LX_AT(s->due, position, LX_TASKS_MAX);
}

LX_INLINE u32 *lx_bucket(struct lx_state *s, u64 release_at)
{
	/* Fibonacci hashing: the high bits of the product depend on all bits of the time. */
	u64 hash = (release_at * 0x9e3779b97f4a7c15ull) >> 32;

	return LX_AT(s->bucket, hash & s->bucket_mask, LX_BUCKETS_MAX);
}

/* Moves the hole up to where (time, group) belongs, and puts it there. */
LX_HOT void lx_due_rise(struct lx_state *s, u32 hole, u64 release_at, u32 group)
{
	while (hole > 0 && LX_MAY_LOOP) {
		u32 parent = (hole - 1) / 2;
		struct lx_entry *above = lx_due(s, parent);

		if (lx_before(above->key, above->index, release_at, group))
			break;
		*lx_due(s, hole) = *above;
		hole = parent;
		LX_FORGET(s, hole);
	}
	lx_due(s, hole)->key = release_at;
	lx_due(s, hole)->index = group;
	s->next_due_at = lx_due(s, 0)->key;
}

/* Puts the group that is not in the heap yet into it. */
LX_INLINE void lx_due_push(struct lx_state *s, u64 release_at, u32 group)
{
	u32 count = s->due_count;

	s->due_count = count + 1;
	lx_due_rise(s, count, release_at, group);
}

/*
 * Removes the first group from the heap, which is not empty. The hole goes down to a leaf, and the last entry, which belongs
 * near the leaves, rises from there: fewer comparisons, and none whose outcome steers a branch, on the way down.
 */
LX_HOT void lx_due_pop(struct lx_state *s)
{
	u32 count = s->due_count - 1;
	struct lx_entry last = *lx_due(s, count);
	u32 hole = 0;

	s->due_count = count;
	if (count == 0) {
		s->next_due_at = LX_NEVER;
		return;
	}
	while (2 * hole + 1 < count && LX_MAY_LOOP) {
		/* Behind the entries stands `last`: the other child, where there is only one. */
		struct lx_entry *left = lx_due(s, 2 * hole + 1);
		struct lx_entry *right = lx_due(s, 2 * hole + 2);
		u32 child = 2 * hole + 2 - lx_before(left->key, left->index, right->key, right->index);

		*lx_due(s, hole) = *lx_due(s, child);
		hole = child;
		LX_FORGET(s, hole);
	}
	lx_due_rise(s, hole, last.key, last.index);
}

/* The pending group of this instant, or LX_NONE. */
LX_INLINE u32 lx_group_at(struct lx_state *s, u64 release_at)
{
	u32 group = *lx_bucket(s, release_at);

	while (group != LX_NONE && LX_MAY_LOOP) {
		struct lx_group *g = lx_group(s, group);

		if (g->release_at == release_at)
			break;
		group = g->next;
		LX_FORGET(s, group);
	}
	return group;
}

/* Whether the task's jobs are released together with others of their instant. */
LX_INLINE int lx_is_batched(struct lx_state *s, u32 task)
{
	return s->config.batching && !lx_task(s, task)->alone;
}

/*
 * The group that `task` joins for `release_at`: the one of that instant, or a new one that `cpu`'s timer will release.
 * The caller adds the task to it.
 */
LX_HOT u32 lx_group_for(struct lx_state *s, u32 task, u64 release_at, u32 cpu)
{
	struct lx_group *g;
	u32 dedicated = s->config.dedicated_cpu;
	int batched = lx_is_batched(s, task);

	if (batched) {
		u32 group = lx_group_at(s, release_at);

		if (group != LX_NONE)
			return group;
	}
	g = lx_group(s, task);
	g->release_at = release_at;
	g->head = LX_NONE;
	g->count = 0;
	g->cpu = dedicated != LX_NONE ? dedicated : cpu;
	if (batched) {
		u32 *bucket = lx_bucket(s, release_at);

		g->next = *bucket;
		*bucket = task;
	}
	lx_due_push(s, release_at, task);
	return task;
}

/* The task's job waits for `release_at`, when `cpu`'s timer releases it: the group that the caller adds the task to. */
LX_INLINE u32 lx_wait_for(struct lx_state *s, u32 task, u64 release_at, u32 cpu)
{
	lx_task(s, task)->place = LX_PLACE_RELEASE;
	return lx_group_for(s, task, release_at, cpu);
}

/* The same under one lock; LX_ARM says so if this is now the earliest instant. */
LX_INLINE u32 lx_await_release(struct lx_state *s, u32 task, u64 release_at, u32 cpu)
{
	u64 due_at = s->next_due_at;
	u32 group = lx_wait_for(s, task, release_at, cpu);

	if (s->next_due_at < due_at)
		lx_act(s, LX_ARM, lx_group(s, group)->cpu)->due_at = s->next_due_at;
	return group;
}

/*
 * Takes the first group whose time has come out of the queue, or returns LX_NONE. Its jobs stay in it until it is
 * released, which the host may delay: a timer that fires while interrupts are off is handled later.
 */
LX_FN u32 lx_take_due(struct lx_state *s, u64 now)
{
	u32 group;

	if (s->next_due_at > now || s->due_count == 0)
		return LX_NONE;
	group = lx_due(s, 0)->index;
	lx_due_pop(s);
	/* A group has the number of the task that it was made for. */
	if (lx_is_batched(s, group)) {
		u32 *link = lx_bucket(s, lx_group(s, group)->release_at);

		while (*link != group && LX_MAY_LOOP)
			link = &lx_group(s, *link)->next;
		*link = lx_group(s, group)->next;
	}
	return group;
}

/* No group is pending. */
LX_INLINE void lx_release_init(struct lx_state *s)
{
	u32 i = 0;

	s->due_count = 0;
	s->next_due_at = LX_NEVER;
	while (i <= s->bucket_mask && LX_MAY_LOOP) {
		*LX_AT(s->bucket, i, LX_BUCKETS_MAX) = LX_NONE;
		i++;
		LX_FORGET(s, i);
	}
}

/* Adds a task to a group that is a list; newest first, as the order in it does not matter. */
LX_INLINE void lx_list_group_add(struct lx_state *s, u32 group, u32 task)
{
	struct lx_group *g = lx_group(s, group);

	lx_task(s, task)->right = g->head;
	g->head = task;
	g->count++;
}

#endif
