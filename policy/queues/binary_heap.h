/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ready queue: binary heap in an array, keys beside the indices (edf-bh; ackelman2018, 5.2).
 * insert, pop, remove: O(log n); top: O(1). `position` of a waiting task is its place in the array.
 */
#ifndef LX_BINARY_HEAP_H
#define LX_BINARY_HEAP_H

#include "../release.h"

LX_INLINE struct lx_entry *lx_ready(struct lx_state *s, u32 position)
{
	return LX_AT(s->ready, position, LX_TASKS_MAX);
}

LX_INLINE void lx_ready_place(struct lx_state *s, u32 position, u64 key, u32 task)
{
	struct lx_entry *entry = lx_ready(s, position);

	entry->key = key;
	entry->index = task;
	lx_task(s, task)->position = position;
}

/* Moves the hole up to where (key, task) belongs, and puts it there. */
LX_HOT void lx_ready_rise(struct lx_state *s, u32 hole, u64 key, u32 task)
{
	while (hole > 0 && LX_MAY_LOOP) {
		u32 parent = (hole - 1) / 2;
		struct lx_entry *above = lx_ready(s, parent);

		if (lx_before(above->key, above->index, key, task))
			break;
		lx_ready_place(s, hole, above->key, above->index);
		hole = parent;
		LX_FORGET(s, hole);
	}
	lx_ready_place(s, hole, key, task);
}

/*
 * Takes the entry at `hole` out of the heap. The hole goes down to a leaf, and the last entry, which belongs near the
 * leaves, rises from there: fewer comparisons, and none whose outcome steers a branch, on the way down.
 */
LX_HOT void lx_ready_take(struct lx_state *s, u32 hole)
{
	u32 count = s->ready_count - 1;
	struct lx_entry last = *lx_ready(s, count);

	s->ready_count = count;
	if (hole == count)
		return;
	while (2 * hole + 1 < count && LX_MAY_LOOP) {
		/* Behind the entries stands `last`: the other child, where there is only one. */
		struct lx_entry *left = lx_ready(s, 2 * hole + 1);
		struct lx_entry *right = lx_ready(s, 2 * hole + 2);
		u32 child = 2 * hole + 2 - lx_before(left->key, left->index, right->key, right->index);
		struct lx_entry *below = lx_ready(s, child);

		lx_ready_place(s, hole, below->key, below->index);
		hole = child;
		LX_FORGET(s, hole);
	}
	lx_ready_rise(s, hole, last.key, last.index);
}

LX_FN void lx_binary_heap_init(struct lx_state *s)
{
	s->ready_count = 0;
}

LX_FN void lx_binary_heap_insert(struct lx_state *s, u32 task)
{
	u32 hole = s->ready_count;

	s->ready_count = hole + 1;
	lx_ready_rise(s, hole, lx_task(s, task)->key, task);
}

/* A preempted job, which goes before all that wait. */
LX_INLINE void lx_binary_heap_insert_first(struct lx_state *s, u32 task)
{
	lx_binary_heap_insert(s, task);
}

LX_INLINE u32 lx_binary_heap_top(struct lx_state *s)
{
	return s->ready_count ? lx_ready(s, 0)->index : LX_NONE;
}

LX_INLINE void lx_binary_heap_remove(struct lx_state *s, u32 task)
{
	lx_ready_take(s, lx_task(s, task)->position);
}

/* Removes the top, `task`. */
LX_INLINE void lx_binary_heap_pop(struct lx_state *s, u32 task)
{
	(void)task;
	lx_ready_take(s, 0);
}

LX_INLINE void lx_binary_heap_group_add(struct lx_state *s, u32 group, u32 task)
{
	lx_list_group_add(s, group, task);
}

/* Tasks that enter change nothing here. */
LX_INLINE void lx_binary_heap_entered(struct lx_state *s)
{
	(void)s;
}

#endif
