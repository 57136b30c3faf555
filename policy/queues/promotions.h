/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ready queue: fixed-priority lists with priority promotions, in Pathan's third form, without timers (fpp; ackelman2018,
 * 4.1 and 5.4). There is one list per level, and a bitmap of those that are not empty. A task's level is the rank of its
 * relative deadline among those of all tasks (deadline-monotonic priority); under fixed priorities, of its priority.
 *
 * Invariant: the lists, one behind the other by index, are sorted by (key, task); so the first job is the head of the
 * first list that is not empty. A new job enters the list of its level k. A job in a list behind k that goes before it has
 * come closer to its deadline than any new job of level k: it is promoted to list k first. That is all the sorting there
 * is as long as
 *
 *   (A) no job in a list up to k goes after the new one.
 *
 * (A) holds for a job that is inserted when it arrives, with arrival + D as deadline, and no ties: whatever is in a list
 * j <= k went there no later, as a job of level j or before one, so its deadline is at most that of a job of D_j <= D_k
 * that arrives now. But it fails for a tardy task's next job, whose arrival has passed long ago; behind a job whose deadline a
 * constant bandwidth server has postponed; behind a job with the same deadline and a larger task id; and when levels
 * change because a task enters. Nothing in the sources covers these, so there is a step 0 of our own before the
 * paper's four, for all of them: if the last job of the lists up to k goes after the new one, the new one's place is in
 * front of that job, and it is looked for list by list, backwards.
 *
 * Why the lists stay sorted. Step 0 puts the job right behind the last job that goes before it, or at the very front, in
 * any case between two neighbours of the sorted sequence that it belongs between. Otherwise all jobs in lists up to k go
 * before it; steps 1 to 3 take a prefix of the sequence behind list k, those jobs that go before it, and append it
 * in its order to list k, which does not change the sequence; step 4 appends the job, and what is left behind goes after it.
 * release_preempt puts a job that goes before all others at the front of the first list or of an empty list before it.
 *
 * Each list is circular through a link of its own: a job does not know in which list it is, so moving a whole list is O(1).
 *
 * insert_first, top, pop, remove: O(log n) to base 64. insert: the same, if no job is promoted and (A) holds; then as many
 * lists as are emptied, and the promoted jobs of one more; in step 0 as many lists as go after the job, and the jobs of one.
 */
#ifndef LX_PROMOTIONS_H
#define LX_PROMOTIONS_H

#include "binary_heap.h"
#include "bitmap.h"

/* The link of a task, or of a list. */
LX_INLINE struct lx_link *lx_link_at(struct lx_state *s, u32 link)
{
	LX_ASSERT(link < 2 * s->config.tasks);
	return LX_AT(s->link, link, LX_LINKS_MAX);
}

/* The number of a list's own link: behind those of the tasks. */
LX_INLINE u32 lx_list_link(struct lx_state *s, u32 list)
{
	return s->config.tasks + list;
}

/* Whether the job (key, task) goes before the waiting job `other`. */
LX_INLINE int lx_goes_before(struct lx_state *s, u64 key, u32 task, u32 other)
{
	return lx_before(key, task, lx_link_at(s, other)->key, other);
}

/* Puts a waiting chain of jobs, from `first` to `last`, behind the link `before`. */
LX_INLINE void lx_chain_insert(struct lx_state *s, u32 before, u32 first, u32 last)
{
	struct lx_link *b = lx_link_at(s, before);
	u32 after = b->next;

	b->next = first;
	lx_link_at(s, first)->previous = before;
	lx_link_at(s, last)->next = after;
	lx_link_at(s, after)->previous = last;
}

/*
 * Gives every task its level. To be called again when a task enters; jobs may wait meanwhile, as the lists stay
 * sorted. O(n log n), not counting the free numbers, whose relative deadline is 0: the heap of edf-bh, which is
 * not in use here, sorts.
 */
LX_FN void lx_promotions_levels(struct lx_state *s)
{
	u32 task = 0;
	u32 level = 0;
	u64 last = 0;

	lx_binary_heap_init(s);
	while (task < s->config.tasks && LX_MAY_LOOP) {
		struct lx_task *t = lx_task(s, task);
		u32 hole = s->ready_count;

		if (t->deadline_rel_ns) {
			s->ready_count = hole + 1;
			lx_ready_rise(s, hole, s->config.rule == LX_RULE_EDF ? t->deadline_rel_ns : t->priority, task);
		}
		task++;
		LX_FORGET(s, task);
	}
	if (s->ready_count)
		last = lx_ready_entry(s, 0)->key;
	while (s->ready_count && LX_MAY_LOOP) {
		struct lx_entry first = *lx_ready_entry(s, 0);

		level += first.key != last;
		last = first.key;
		lx_task(s, first.index)->level = level;
		lx_binary_heap_pop(s, first.index);
		LX_FORGET(s, level);
	}
}

LX_FN void lx_promotions_init(struct lx_state *s)
{
	u32 list = 0;

	lx_map_init(s);
	while (list < s->config.tasks && LX_MAY_LOOP) {
		u32 own = lx_list_link(s, list);
		struct lx_link *l = lx_link_at(s, own);

		l->next = own;
		l->previous = own;
		list++;
		LX_FORGET(s, list);
	}
	lx_promotions_levels(s);
}

/* Step 0: all jobs of lists up to `list`, which is not empty, or at least the last one, go after (key, task). */
LX_FN void lx_promotions_insert_late(struct lx_state *s, u32 list, u64 key, u32 task)
{
	u32 own = lx_list_link(s, list);
	u32 at;

	while (lx_goes_before(s, key, task, lx_link_at(s, own)->next) && LX_MAY_LOOP) {
		u32 previous = lx_map_previous(s, list);

		if (previous == LX_NONE || !lx_goes_before(s, key, task, lx_link_at(s, lx_list_link(s, previous))->previous)) {
			lx_chain_insert(s, own, task, task);
			return;
		}
		list = previous;
		own = lx_list_link(s, list);
		LX_FORGET(s, list);
	}
	/* The first job of this list goes before it, the last one does not. */
	at = lx_link_at(s, own)->previous;
	while (lx_goes_before(s, key, task, at) && LX_MAY_LOOP) {
		at = lx_link_at(s, at)->previous;
		LX_FORGET(s, at);
	}
	lx_chain_insert(s, at, task, task);
}

/*
 * Steps 1 to 3: appends the jobs that go before (key, task), from the lists behind `level`, to the list of that level. The
 * paper looks at the last job of each list first; the first one tells most often that there is nothing to promote.
 */
LX_FN void lx_promotions_promote(struct lx_state *s, u32 level, u64 key, u32 task)
{
	u32 list = lx_map_next(s, level);
	u32 own = lx_list_link(s, level);

	while (list != LX_NONE && LX_MAY_LOOP) {
		u32 from = lx_list_link(s, list);
		u32 first = lx_link_at(s, from)->next;
		u32 last = lx_link_at(s, from)->previous;
		u32 rest;

		if (lx_goes_before(s, key, task, first))
			break;
		rest = from;
		if (lx_goes_before(s, key, task, last)) {
			last = first;
			while (LX_MAY_LOOP) {
				rest = lx_link_at(s, last)->next;
				if (lx_goes_before(s, key, task, rest))
					break;
				last = rest;
				LX_FORGET(s, last);
			}
		}
		lx_link_at(s, from)->next = rest;
		lx_link_at(s, rest)->previous = from;
		lx_chain_insert(s, lx_link_at(s, own)->previous, first, last);
		if (rest != from)
			break;
		lx_map_clear(s, list);
		list = lx_map_next(s, level);
		LX_FORGET(s, list);
	}
}

/* The last list up to `level` that is not empty, or LX_NONE. */
LX_INLINE u32 lx_promotions_up_to(struct lx_state *s, u32 level)
{
	u32 own = lx_list_link(s, level);

	return lx_link_at(s, own)->previous != own ? level : lx_map_previous(s, level);
}

/* Whether (A) does not hold for the job (key, task), as seen from `list`, the last one up to its level. */
LX_INLINE int lx_promotions_is_late(struct lx_state *s, u32 list, u64 key, u32 task)
{
	return list != LX_NONE && lx_goes_before(s, key, task, lx_link_at(s, lx_list_link(s, list))->previous);
}

/* The paper's release_no_preempt, after our step 0. */
LX_FN void lx_promotions_insert(struct lx_state *s, u32 task)
{
	struct lx_task *t = lx_task(s, task);
	u64 key = t->key;
	u32 level = t->level;
	u32 list = lx_promotions_up_to(s, level);

	lx_link_at(s, task)->key = key;
	if (LX_UNLIKELY(lx_promotions_is_late(s, list, key, task))) {
		lx_promotions_insert_late(s, list, key, task);
		return;
	}
	lx_promotions_promote(s, level, key, task);
	lx_chain_insert(s, lx_link_at(s, lx_list_link(s, level))->previous, task, task);
	lx_map_set(s, level);
}

/* The paper's release_preempt: a preempted job, which goes before all that wait. */
LX_FN void lx_promotions_insert_first(struct lx_state *s, u32 task)
{
	struct lx_task *t = lx_task(s, task);
	u32 first = lx_map_first(s);
	u32 list = t->level < first ? t->level : first;

	lx_link_at(s, task)->key = t->key;
	LX_ASSERT(first == LX_NONE || lx_goes_before(s, t->key, task, lx_link_at(s, lx_list_link(s, first))->next));
	lx_chain_insert(s, lx_list_link(s, list), task, task);
	lx_map_set(s, list);
}

LX_INLINE u32 lx_promotions_top(struct lx_state *s)
{
	u32 list = lx_map_first(s);

	return list == LX_NONE ? LX_NONE : lx_link_at(s, lx_list_link(s, list))->next;
}

LX_FN void lx_promotions_remove(struct lx_state *s, u32 task)
{
	struct lx_link *l = lx_link_at(s, task);
	u32 previous = l->previous;
	u32 next = l->next;

	lx_link_at(s, previous)->next = next;
	lx_link_at(s, next)->previous = previous;
	/* Both are the list's own link. */
	if (previous == next)
		lx_map_clear(s, previous - s->config.tasks);
}

/* The paper's idle_remove, after top. */
LX_INLINE void lx_promotions_pop(struct lx_state *s, u32 task)
{
	lx_promotions_remove(s, task);
}

LX_INLINE void lx_promotions_group_add(struct lx_state *s, u32 group, u32 task)
{
	lx_list_group_add(s, group, task);
}

/* A task has entered: its relative deadline may be one that none had. */
LX_INLINE void lx_promotions_entered(struct lx_state *s)
{
	lx_promotions_levels(s);
}

#endif
