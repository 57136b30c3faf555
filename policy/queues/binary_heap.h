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
LX_FN void lx_ready_rise(struct lx_state *s, u32 hole, u64 key, u32 task)
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

/* Moves the hole down to where (key, task) belongs, and puts it there. */
LX_FN void lx_ready_sink(struct lx_state *s, u32 hole, u64 key, u32 task)
{
	u32 count = s->ready_count;

	while (LX_MAY_LOOP) {
		u32 child = 2 * hole + 1;
		struct lx_entry *below;

		if (child >= count)
			break;
		below = lx_ready(s, child);
		if (child + 1 < count) {
			struct lx_entry *right = lx_ready(s, child + 1);

			if (lx_before(right->key, right->index, below->key, below->index)) {
				below = right;
				child++;
			}
		}
		if (lx_before(key, task, below->key, below->index))
			break;
		lx_ready_place(s, hole, below->key, below->index);
		hole = child;
		LX_FORGET(s, hole);
	}
	lx_ready_place(s, hole, key, task);
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

LX_FN void lx_binary_heap_remove(struct lx_state *s, u32 task)
{
	u32 hole = lx_task(s, task)->position;
	u32 count = s->ready_count - 1;
	struct lx_entry last = *lx_ready(s, count);

	s->ready_count = count;
	if (hole == count)
		return;
	if (hole > 0 && lx_before(last.key, last.index, lx_ready(s, (hole - 1) / 2)->key, lx_ready(s, (hole - 1) / 2)->index))
		lx_ready_rise(s, hole, last.key, last.index);
	else
		lx_ready_sink(s, hole, last.key, last.index);
}

/* Removes the top, `task`. */
LX_FN void lx_binary_heap_pop(struct lx_state *s, u32 task)
{
	u32 count = s->ready_count - 1;
	struct lx_entry last = *lx_ready(s, count);

	(void)task;
	s->ready_count = count;
	if (count)
		lx_ready_sink(s, 0, last.key, last.index);
}

LX_INLINE void lx_binary_heap_group_add(struct lx_state *s, u32 group, u32 task)
{
	lx_list_group_add(s, group, task);
}

#endif
