/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ready queue: binary heap in an array, keys beside the indices (edf-bh; ackelman2018, 5.2).
 * insert, pop, remove: O(log n); top: O(1). `position` of a waiting task is its place in the array.
 */
#ifndef LX_BINARY_HEAP_H
#define LX_BINARY_HEAP_H

#include "../release.h"

#define LX_HEAP lx_ready
#define LX_HEAP_ARRAY ready
#define LX_HEAP_COUNT ready_count
#define LX_HEAP_POSITION position
#include "array_heap.h"

LX_FN void lx_binary_heap_init(struct lx_state *s)
{
	s->ready_count = 0;
}

LX_INLINE void lx_binary_heap_insert(struct lx_state *s, u32 task)
{
	lx_ready_insert(s, lx_task(s, task)->key, task);
}

/* A preempted job, which goes before all that wait. */
LX_INLINE void lx_binary_heap_insert_first(struct lx_state *s, u32 task)
{
	lx_binary_heap_insert(s, task);
}

LX_INLINE u32 lx_binary_heap_top(struct lx_state *s)
{
	return lx_ready_first(s);
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
