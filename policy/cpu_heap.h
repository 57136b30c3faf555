/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs by the job that they are linked to, the lowest priority first (ackelman2018, 5.1): whether a new job preempts, and
 * where, is O(1); a changed link is O(log m). Idle CPUs come before all others, among themselves by number. The order
 * is total.
 *
 * The heap is a tournament: the leaves are the CPUs' entries, and every node above holds the one of its two children
 * that yields first. An update walks from the leaf to the root and takes no branch that depends on the entries: that is
 * what a heap whose entries change places spends its time on, mispredicted. A CPU's entry is found without an index.
 */
#ifndef LX_CPU_HEAP_H
#define LX_CPU_HEAP_H

#include "core.h"

/* Node 1 is the root; the children of node k are 2k and 2k + 1. */
LX_INLINE struct lx_cpu_entry *lx_cpu_node(struct lx_state *s, u32 node)
{
	return LX_AT(s->cpu_heap, node, LX_CPU_NODES_MAX);
}

/* The CPU's own entry. */
LX_INLINE struct lx_cpu_entry *lx_cpu_leaf(struct lx_state *s, u32 cpu)
{
	return lx_cpu_node(s, s->cpu_leaves + cpu);
}

/* The entry of the CPU that yields first. */
LX_INLINE struct lx_cpu_entry lx_cpu_first(struct lx_state *s)
{
	return *lx_cpu_node(s, 1);
}

/* The entry of `cpu` when it is linked to the task, whose key is `key`. */
LX_INLINE struct lx_cpu_entry lx_cpu_busy(u32 cpu, u32 task, u64 key)
{
	return (struct lx_cpu_entry){key, (u64)task << 32 | cpu};
}

/* The entry of `cpu` when it is linked to nothing. Keys of jobs are smaller. */
LX_INLINE struct lx_cpu_entry lx_cpu_idle(u32 cpu)
{
	return (struct lx_cpu_entry){LX_NEVER, (u64)(LX_NONE - cpu) << 32 | cpu};
}

LX_INLINE u32 lx_entry_cpu(struct lx_cpu_entry entry)
{
	return (u32)entry.tie;
}

/* The task that the entry's CPU is linked to, or LX_NONE. */
LX_INLINE u32 lx_entry_task(struct lx_cpu_entry entry)
{
	return entry.key == LX_NEVER ? LX_NONE : (u32)(entry.tie >> 32);
}

/* Whether `a` is to be preempted rather than `b`. */
LX_INLINE u32 lx_entry_yields(struct lx_cpu_entry a, struct lx_cpu_entry b)
{
	return (a.key > b.key) | ((a.key == b.key) & (a.tie > b.tie));
}

/* Whether the job goes before what the entry's CPU is linked to. */
LX_INLINE int lx_preempts(u64 key, u32 task, struct lx_cpu_entry entry)
{
	return lx_entry_yields(entry, lx_cpu_busy(0, task, key));
}

/* The entry of a CPU that yields to no job: there is none that goes before key 0 and task 0. It says no CPU. */
LX_INLINE struct lx_cpu_entry lx_cpu_absent(void)
{
	return (struct lx_cpu_entry){0, 0};
}

/* Whether the CPU is linked to nothing, and there for the instance's tasks. */
LX_INLINE int lx_cpu_is_idle(struct lx_state *s, u32 cpu)
{
	return lx_cpu_leaf(s, cpu)->key == LX_NEVER;
}

/* The entry becomes that of `cpu`. */
LX_INLINE void lx_cpu_enter_as(struct lx_state *s, u32 cpu, struct lx_cpu_entry entry)
{
	u32 node = s->cpu_leaves + cpu;

	*lx_cpu_node(s, node) = entry;
	while (node > 1 && LX_MAY_LOOP) {
		struct lx_cpu_entry other = *lx_cpu_node(s, node ^ 1);
		/* All ones if the other one is to be kept. */
		u64 mask = -(u64)lx_entry_yields(other, entry);

		LX_OPAQUE(mask);
		entry.key ^= (entry.key ^ other.key) & mask;
		entry.tie ^= (entry.tie ^ other.tie) & mask;
		node /= 2;
		*lx_cpu_node(s, node) = entry;
		LX_FORGET(s, node);
	}
}

/* The entry becomes that of its CPU. */
LX_INLINE void lx_cpu_enter(struct lx_state *s, struct lx_cpu_entry entry)
{
	lx_cpu_enter_as(s, lx_entry_cpu(entry), entry);
}

/* All CPUs idle. The dedicated CPU, the last one, never yields. */
LX_FN void lx_cpu_heap_init(struct lx_state *s)
{
	u32 node = 1;
	u32 cpu = 0;

	s->cpus_linkable = s->config.cpus - (s->config.dedicated_cpu != LX_NONE);
	s->cpu_leaves = 1;
	while (s->cpu_leaves < s->config.cpus && LX_MAY_LOOP) {
		s->cpu_leaves *= 2;
		LX_FORGET(s, s->cpu_leaves);
	}
	while (node < 2 * s->cpu_leaves && LX_MAY_LOOP) {
		*lx_cpu_node(s, node) = lx_cpu_absent();
		node++;
		LX_FORGET(s, node);
	}
	while (cpu < s->config.cpus && LX_MAY_LOOP) {
		struct lx_cpu *c = lx_cpu(s, cpu);

		c->linked = LX_NONE;
		c->scheduled = LX_NONE;
		c->kicked = 0;
		c->withdrawn = 0;
		c->absent = 0;
		if (cpu < s->cpus_linkable)
			lx_cpu_enter(s, lx_cpu_idle(cpu));
		cpu++;
		LX_FORGET(s, cpu);
	}
}

#endif
