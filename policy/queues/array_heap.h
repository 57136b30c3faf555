/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of tasks in an array, keys beside the indices. It is text for a queue to include, which defines
 *
 *   LX_HEAP           prefix of its functions, such as lx_ready
 *   LX_HEAP_ARRAY     the array of the state that holds it
 *   LX_HEAP_COUNT     the member of the state that says how many tasks are in it
 *   LX_HEAP_POSITION  the member of a task that says where in the array it is, or was last
 *
 * and has them undefined again. insert, take: O(log n). The verifier goes through a heap in a tenth of the steps that a
 * red-black tree takes it.
 */
#define LX_JOIN_HEAP_(a, b) a##_##b
#define LX_JOIN_HEAP(a, b) LX_JOIN_HEAP_(a, b)
#define LX_HEAP_(name) LX_JOIN_HEAP(LX_HEAP, name)

LX_INLINE struct lx_entry *LX_HEAP_(entry)(struct lx_state *s, u32 position)
{
	return LX_AT(s->LX_HEAP_ARRAY, position, LX_TASKS_MAX);
}

LX_INLINE void LX_HEAP_(place)(struct lx_state *s, u32 position, u64 key, u32 task)
{
	struct lx_entry *entry = LX_HEAP_(entry)(s, position);

	entry->key = key;
	entry->index = task;
	lx_task(s, task)->LX_HEAP_POSITION = position;
}

/* Moves the hole up to where (key, task) belongs, and puts it there. */
LX_HOT void LX_HEAP_(rise)(struct lx_state *s, u32 hole, u64 key, u32 task)
{
	while (hole > 0 && LX_MAY_LOOP) {
		u32 parent = (hole - 1) / 2;
		struct lx_entry *above = LX_HEAP_(entry)(s, parent);

		if (lx_before(above->key, above->index, key, task))
			break;
		LX_HEAP_(place)(s, hole, above->key, above->index);
		hole = parent;
		LX_FORGET(s, hole);
	}
	LX_HEAP_(place)(s, hole, key, task);
}

/*
 * Takes the entry at `hole` out of the heap. The hole goes down to a leaf, and the last entry, which belongs near the
 * leaves, rises from there: fewer comparisons, and none whose outcome steers a branch, on the way down.
 */
LX_HOT void LX_HEAP_(take)(struct lx_state *s, u32 hole)
{
	u32 count = s->LX_HEAP_COUNT - 1;
	struct lx_entry last = *LX_HEAP_(entry)(s, count);

	s->LX_HEAP_COUNT = count;
	if (hole == count)
		return;
	while (2 * hole + 1 < count && LX_MAY_LOOP) {
		/* Behind the entries stands `last`: the other child, where there is only one. */
		struct lx_entry *left = LX_HEAP_(entry)(s, 2 * hole + 1);
		struct lx_entry *right = LX_HEAP_(entry)(s, 2 * hole + 2);
		u32 child = 2 * hole + 2 - lx_before(left->key, left->index, right->key, right->index);
		struct lx_entry *below = LX_HEAP_(entry)(s, child);

		LX_HEAP_(place)(s, hole, below->key, below->index);
		hole = child;
		LX_FORGET(s, hole);
	}
	LX_HEAP_(rise)(s, hole, last.key, last.index);
}

LX_FN void LX_HEAP_(insert)(struct lx_state *s, u64 key, u32 task)
{
	u32 hole = s->LX_HEAP_COUNT;

	s->LX_HEAP_COUNT = hole + 1;
	LX_HEAP_(rise)(s, hole, key, task);
}

/* The task that goes before all others, or LX_NONE. */
LX_INLINE u32 LX_HEAP_(first)(struct lx_state *s)
{
	return s->LX_HEAP_COUNT ? LX_HEAP_(entry)(s, 0)->index : LX_NONE;
}

#undef LX_HEAP_
#undef LX_JOIN_HEAP
#undef LX_JOIN_HEAP_
#undef LX_HEAP
#undef LX_HEAP_ARRAY
#undef LX_HEAP_COUNT
#undef LX_HEAP_POSITION
