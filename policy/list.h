/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Actions of policies with several locks: each CPU has a list of its own, so that calls of several CPUs may run at once
 * (LX_LISTS). `by` is the CPU that makes the call: interrupts are off there, and no other CPU writes its list.
 */
#ifndef LX_LIST_H
#define LX_LIST_H

#include "release.h"

LX_INLINE struct lx_list *lx_list(struct lx_state *s, u32 by)
{
	LX_ASSERT(by < s->config.cpus);
	return LX_AT(s->list, by, LX_CPUS_MAX);
}

/* A call begins. */
LX_INLINE void lx_list_begin(struct lx_state *s, u32 by)
{
#ifdef LX_LISTS
	lx_list(s, by)->actions = 0;
#else
	(void)by;
	s->actions = 0;
#endif
}

/* As lx_act. */
LX_INLINE struct lx_action *lx_list_add(struct lx_state *s, u32 by, u32 kind, u32 cpu)
{
#ifdef LX_LISTS
	struct lx_list *list = lx_list(s, by);
	u32 n = list->actions;
	struct lx_action *action = LX_AT(list->action, n, LX_LIST_ACTIONS);

	list->actions = n + 1;
#else
	u32 n = s->actions;
	struct lx_action *action = &s->action[n];

	(void)by;
	s->actions = n + 1;
#endif
	LX_ASSERT(n < LX_LIST_ACTIONS);
	action->kind = kind;
	action->cpu = cpu;
	return action;
}

/* Asks `cpu`, whose lock is held, to call reschedule, unless it is going to. */
LX_INLINE void lx_list_kick(struct lx_state *s, u32 by, u32 cpu)
{
	struct lx_cpu *c = lx_cpu(s, cpu);

	if (!c->kicked) {
		c->kicked = 1;
		lx_list_add(s, by, LX_KICK, cpu);
	}
}

/* For the trace: `kind` (enum lx_note_kind) happened on `cpu`, towards `other` (or LX_NONE), about `task` (or LX_NONE). */
LX_INLINE void lx_note(struct lx_state *s, u32 by, u32 kind, u32 cpu, u32 other, u32 task)
{
	struct lx_action *action = lx_list_add(s, by, LX_NOTE, cpu);

	action->note.kind = kind;
	action->note.other = other;
	action->note.task = task;
}

/* The operation in progress on `by` goes on, under these locks. */
LX_INLINE void lx_go_on(struct lx_state *s, u32 by, u32 locks)
{
	lx_list_add(s, by, LX_STEP, by)->locks = locks;
}

/* As lx_await_release. */
LX_INLINE u32 lx_list_await_release(struct lx_state *s, u32 by, u32 task, u64 release_at)
{
	u64 due_at = s->next_due_at;
	u32 group = lx_wait_for(s, task, release_at, by);

	if (s->next_due_at < due_at)
		lx_list_add(s, by, LX_ARM, lx_group(s, group)->cpu)->due_at = s->next_due_at;
	return group;
}

#endif
