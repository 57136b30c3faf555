/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs in a binary heap by the job that they are linked to, the lowest priority first (ackelman2018, 5.1): whether a
 * new job preempts, and where, is O(1); a changed link is O(log m). Idle CPUs come before all others, among themselves
 * by number. The order is total.
 */
#ifndef LX_CPU_HEAP_H
#define LX_CPU_HEAP_H

#include "core.h"

/*
 * An entry is (key, task) of the linked job; an idle CPU's is (LX_NEVER, the higher the lower its number), which no job's
 * can be: keys of jobs are smaller. The CPU's number is in `reserved`.
 */
LX_INLINE struct lx_entry *lx_cpu_entry(struct lx_state *s, u32 position)
{
	return LX_AT(s->cpu_heap, position, LX_CPUS_MAX);
}

/* The task that the entry's CPU is linked to, or LX_NONE. */
LX_INLINE u32 lx_entry_task(const struct lx_entry *entry)
{
	return entry->key == LX_NEVER ? LX_NONE : entry->index;
}

/* Whether `a` is to be preempted rather than `b`. */
LX_INLINE int lx_entry_yields(const struct lx_entry *a, const struct lx_entry *b)
{
	return a->key > b->key || (a->key == b->key && a->index > b->index);
}

LX_INLINE void lx_cpu_place(struct lx_state *s, u32 position, const struct lx_entry *entry)
{
	*lx_cpu_entry(s, position) = *entry;
	lx_cpu(s, entry->reserved)->position = position;
}

/* Restores the heap after the link of `cpu` has become `task` (or LX_NONE). */
LX_FN void lx_cpu_update(struct lx_state *s, u32 cpu, u32 task)
{
	struct lx_entry entry = {LX_NEVER, LX_NONE - cpu, cpu};
	u32 hole = lx_cpu(s, cpu)->position;
	u32 count = s->cpus_linkable;

	if (task != LX_NONE) {
		entry.key = lx_task(s, task)->key;
		entry.index = task;
	}
	while (hole > 0 && LX_MAY_LOOP) {
		u32 parent = (hole - 1) / 2;
		struct lx_entry *above = lx_cpu_entry(s, parent);

		if (!lx_entry_yields(&entry, above))
			break;
		lx_cpu_place(s, hole, above);
		hole = parent;
		LX_FORGET(s, hole);
	}
	while (LX_MAY_LOOP) {
		u32 child = 2 * hole + 1;
		struct lx_entry *below;

		if (child >= count)
			break;
		below = lx_cpu_entry(s, child);
		if (child + 1 < count && lx_entry_yields(lx_cpu_entry(s, child + 1), below)) {
			child++;
			below = lx_cpu_entry(s, child);
		}
		if (!lx_entry_yields(below, &entry))
			break;
		lx_cpu_place(s, hole, below);
		hole = child;
		LX_FORGET(s, hole);
	}
	lx_cpu_place(s, hole, &entry);
}

/* All CPUs idle. The dedicated CPU, the last one, stays outside. */
LX_FN void lx_cpu_heap_init(struct lx_state *s)
{
	u32 cpu = 0;

	s->cpus_linkable = s->config.cpus - (s->config.dedicated_cpu != LX_NONE);
	while (cpu < s->config.cpus && LX_MAY_LOOP) {
		struct lx_entry entry = {LX_NEVER, LX_NONE - cpu, cpu};
		struct lx_cpu *c = lx_cpu(s, cpu);

		c->linked = LX_NONE;
		c->scheduled = LX_NONE;
		c->kicked = 0;
		c->position = LX_NONE;
		if (cpu < s->cpus_linkable)
			lx_cpu_place(s, cpu, &entry);
		cpu++;
		LX_FORGET(s, cpu);
	}
}

#endif
