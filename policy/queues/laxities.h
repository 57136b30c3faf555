/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ready queue of EDZL (edzl.h): a binary heap by key (binary_heap.h), and another one of the jobs that wait with laxity left,
 * by the instant at which that runs out: their deadline less the budget that is left. The first of them is the policy's timer.
 *
 * A job that waits is watched: it stays where it is in the second heap while time passes. One that has lost its link and has
 * yet to leave its CPU still runs: it is watched when it leaves, and all that it has used has been charged (native.h: consume).
 *
 * insert, pop, remove: O(log n); top: O(1). `level` of a task is its place in the second heap, or LX_NONE.
 */
#ifndef LX_LAXITIES_H
#define LX_LAXITIES_H

#include "binary_heap.h"

#define LX_HEAP lx_watched
#define LX_HEAP_ARRAY laxity
#define LX_HEAP_COUNT laxity_count
#define LX_HEAP_POSITION level
#include "array_heap.h"

/* When a job that does not run has no laxity left. */
LX_INLINE u64 lx_laxity_ends(const struct lx_task *t)
{
	return t->deadline_abs_ns > t->budget_left_ns ? t->deadline_abs_ns - t->budget_left_ns : 0;
}

/* Whether the laxity of the present job has run out before: its key is when. */
LX_INLINE int lx_is_urgent(const struct lx_task *t)
{
	return t->key < t->deadline_abs_ns;
}

LX_INLINE void lx_laxities_watch(struct lx_state *s, u32 task)
{
	lx_watched_insert(s, lx_laxity_ends(lx_task(s, task)), task);
}

LX_INLINE int lx_is_watched(const struct lx_task *t)
{
	return t->level != LX_NONE;
}

LX_INLINE void lx_laxities_forget(struct lx_state *s, u32 task)
{
	struct lx_task *t = lx_task(s, task);

	if (lx_is_watched(t)) {
		lx_watched_take(s, t->level);
		t->level = LX_NONE;
	}
}

LX_FN void lx_laxities_init(struct lx_state *s)
{
	u32 i = 0;

	lx_binary_heap_init(s);
	s->laxity_count = 0;
	while (i < s->config.tasks && LX_MAY_LOOP) {
		lx_task(s, i)->level = LX_NONE;
		i++;
		LX_FORGET(s, i);
	}
}

LX_INLINE void lx_laxities_insert(struct lx_state *s, u32 task)
{
	lx_binary_heap_insert(s, task);
	if (!lx_is_urgent(lx_task(s, task)) && lx_scheduled_on(s, task) == LX_NONE)
		lx_laxities_watch(s, task);
}

LX_INLINE void lx_laxities_insert_first(struct lx_state *s, u32 task)
{
	lx_laxities_insert(s, task);
}

LX_INLINE u32 lx_laxities_top(struct lx_state *s)
{
	return lx_binary_heap_top(s);
}

LX_INLINE void lx_laxities_remove(struct lx_state *s, u32 task)
{
	lx_laxities_forget(s, task);
	lx_binary_heap_remove(s, task);
}

LX_INLINE void lx_laxities_pop(struct lx_state *s, u32 task)
{
	lx_laxities_remove(s, task);
}

LX_INLINE void lx_laxities_group_add(struct lx_state *s, u32 group, u32 task)
{
	lx_list_group_add(s, group, task);
}

/* Tasks that enter change nothing here. */
LX_INLINE void lx_laxities_entered(struct lx_state *s)
{
	(void)s;
}

/* The job begins to compete for a CPU: it may have no laxity from the beginning. */
LX_INLINE void lx_laxities_competes(struct lx_state *s, u32 task, u64 now)
{
	struct lx_task *t = lx_task(s, task);
	u64 ends_at = lx_laxity_ends(t);

	if (!lx_is_urgent(t) && ends_at <= now)
		t->key = ends_at;
}

/* The job waits and has no laxity left: it goes before all that have. */
LX_FN void lx_laxities_hurry(struct lx_state *s, u32 task, u64 ends_at)
{
	lx_binary_heap_remove(s, task);
	lx_task(s, task)->key = ends_at;
	lx_binary_heap_insert(s, task);
}

/* The job has left the CPU on which it ran. */
LX_FN void lx_laxities_leaves(struct lx_state *s, u32 task, u64 now)
{
	struct lx_task *t = lx_task(s, task);
	u64 ends_at = lx_laxity_ends(t);

	if (t->place != LX_PLACE_READY || lx_is_watched(t) || lx_is_urgent(t))
		return;
	if (ends_at <= now)
		lx_laxities_hurry(s, task, ends_at);
	else
		lx_laxities_watch(s, task);
}

/* All that wait and have no laxity left by now. */
LX_FN void lx_laxities_turn(struct lx_state *s, u64 now)
{
	while (LX_MAY_LOOP) {
		u32 task = lx_watched_first(s);
		u64 ends_at;

		if (task == LX_NONE)
			break;
		ends_at = lx_watched_entry(s, 0)->key;
		if (ends_at > now)
			break;
		lx_laxities_forget(s, task);
		lx_laxities_hurry(s, task, ends_at);
	}
}

/* The timer: when the next laxity runs out, on the CPU where that job ran last. */
LX_INLINE void lx_laxities_next_turn(struct lx_state *s)
{
	u32 task = lx_watched_first(s);
	u32 dedicated = s->config.dedicated_cpu;
	u32 last;

	if (task == LX_NONE) {
		s->next_timer_at = LX_NEVER;
		return;
	}
	last = lx_task(s, task)->last_cpu;
	s->next_timer_at = lx_watched_entry(s, 0)->key;
	s->timer_cpu = dedicated != LX_NONE ? dedicated : last != LX_NONE ? last : 0;
}

#endif
