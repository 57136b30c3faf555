/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ready queue: binomial heap, with release groups that are binomial heaps too and are merged at once (gsn-edf;
 * cerqueira2014, II-B). The first job is cached.
 *
 * insert: O(1) amortized, O(log n); top: O(1); pop, remove: O(log n); group_release: O(log n) for any number of jobs.
 *
 * A job's node is s->node[task]: parent, child[0] (its first child), child[1] (its next sibling), rank (how many
 * children it has). Children are listed by falling rank, which is r-1 .. 0 below a node of rank r; the roots of a heap
 * by rising rank, no two equal. A child never goes before its parent.
 */
#ifndef LX_BINOMIAL_HEAP_H
#define LX_BINOMIAL_HEAP_H

#include "../release.h"

LX_INLINE struct lx_node *lx_bin(struct lx_state *s, u32 task)
{
	LX_ASSERT(task < s->config.tasks);
	return LX_AT(s->node, task, LX_TASKS_MAX);
}

/* The rank of a root, above all ranks for the end of a list. */
LX_INLINE u32 lx_bin_rank(struct lx_state *s, u32 task)
{
	return task == LX_NONE ? LX_NONE : lx_bin(s, task)->rank;
}

LX_INLINE int lx_bin_before(struct lx_state *s, u32 a, u32 b)
{
	return lx_before(lx_bin(s, a)->key, a, lx_bin(s, b)->key, b);
}

/* Makes one tree of two of one rank. Returns its root. */
LX_INLINE u32 lx_bin_link(struct lx_state *s, u32 a, u32 b)
{
	u32 root = lx_bin_before(s, a, b) ? a : b;
	u32 child = root == a ? b : a;
	struct lx_node *r = lx_bin(s, root);
	struct lx_node *c = lx_bin(s, child);

	c->parent = root;
	c->child[1] = r->child[0];
	r->child[0] = child;
	r->rank++;
	return root;
}

/* Links `root`, whose parent is LX_NONE, into the list behind `tail`, or at its head for LX_NONE. */
LX_INLINE void lx_bin_append(struct lx_state *s, u32 *head, u32 tail, u32 root)
{
	if (tail == LX_NONE)
		*head = root;
	else
		lx_bin(s, tail)->child[1] = root;
}

/*
 * Merges the root list `other` into that at `head`: the addition of two binary numbers, with trees for digits. It ends
 * with the last digit of the shorter one and the carries, so inserting one job is O(1) amortized.
 */
LX_FN void lx_bin_merge(struct lx_state *s, u32 *head, u32 other)
{
	u32 one = *head;
	u32 tail = LX_NONE;
	u32 carry = LX_NONE;

	while ((other != LX_NONE || carry != LX_NONE) && LX_MAY_LOOP) {
		u32 a = lx_bin_rank(s, one);
		u32 b = lx_bin_rank(s, other);
		u32 rank = a < b ? a : b;
		u32 digit;

		if (carry != LX_NONE && lx_bin_rank(s, carry) < rank) {
			digit = carry;
			carry = LX_NONE;
		} else {
			/* Equal to the carry, if there is one: `carry` was made of two trees of the rank just below. */
			u32 from_one = LX_NONE;
			u32 from_other = LX_NONE;

			if (a == rank) {
				from_one = one;
				one = lx_bin(s, one)->child[1];
			}
			if (b == rank) {
				from_other = other;
				other = lx_bin(s, other)->child[1];
			}
			digit = LX_NONE;
			if (from_one != LX_NONE && from_other != LX_NONE) {
				digit = carry;
				carry = lx_bin_link(s, from_one, from_other);
			} else {
				u32 single = from_one != LX_NONE ? from_one : from_other;

				if (carry != LX_NONE)
					carry = lx_bin_link(s, carry, single);
				else
					digit = single;
			}
		}
		if (digit != LX_NONE) {
			lx_bin_append(s, head, tail, digit);
			tail = digit;
			LX_FORGET(s, tail);
		}
		LX_FORGET(s, carry);
	}
	lx_bin_append(s, head, tail, one);
}

/* Adds one job to the heap whose root list is at `head`. */
LX_FN void lx_bin_add(struct lx_state *s, u32 *head, u32 task)
{
	struct lx_node *n = lx_bin(s, task);
	u32 next = *head;

	n->key = lx_task(s, task)->key;
	n->parent = LX_NONE;
	n->child[0] = LX_NONE;
	n->rank = 0;
	while (next != LX_NONE && LX_MAY_LOOP) {
		struct lx_node *x = lx_bin(s, next);
		u32 after = x->child[1];

		if (x->rank != lx_bin(s, task)->rank)
			break;
		task = lx_bin_link(s, task, next);
		next = after;
		LX_FORGET(s, task);
	}
	lx_bin(s, task)->child[1] = next;
	*head = task;
}

/* The root that goes before the others of a list and `first`, which may be LX_NONE. */
LX_FN u32 lx_bin_first(struct lx_state *s, u32 root, u32 first)
{
	while (root != LX_NONE && LX_MAY_LOOP) {
		if (first == LX_NONE || lx_bin_before(s, root, first)) {
			first = root;
			LX_FORGET(s, first);
		}
		root = lx_bin(s, root)->child[1];
	}
	return first;
}

/* Takes a root out of the list at `head`. */
LX_FN void lx_bin_unlink_root(struct lx_state *s, u32 *head, u32 root)
{
	u32 after = lx_bin(s, root)->child[1];
	u32 before = *head;

	if (before == root) {
		*head = after;
		return;
	}
	while (LX_MAY_LOOP) {
		u32 next = lx_bin(s, before)->child[1];

		if (next == root)
			break;
		before = next;
		LX_FORGET(s, before);
	}
	lx_bin(s, before)->child[1] = after;
}

/* Makes a root list, by rising rank, of the siblings from `task` up to and without `end`. */
LX_FN u32 lx_bin_reverse(struct lx_state *s, u32 task, u32 end)
{
	u32 rest = LX_NONE;

	while (task != end && task != LX_NONE && LX_MAY_LOOP) {
		struct lx_node *n = lx_bin(s, task);
		u32 next = n->child[1];

		n->parent = LX_NONE;
		n->child[1] = rest;
		rest = task;
		task = next;
		LX_FORGET(s, rest);
	}
	return rest;
}

/* The root of the tree that `task` is in. */
LX_FN u32 lx_bin_root(struct lx_state *s, u32 task)
{
	while (LX_MAY_LOOP) {
		u32 above = lx_bin(s, task)->parent;

		if (above == LX_NONE)
			break;
		task = above;
		LX_FORGET(s, task);
	}
	return task;
}

/*
 * Takes `task` out of its tree, whose root is in no list, and returns what is left of that tree as a root list.
 *
 * Without the subtree of a child of rank r, a node of rank q falls apart into children of rank r+1 .. q-1, and itself
 * with the children of rank 0 .. r-1, which is a tree of rank r: together with a forest of rank 0 .. r-1 that makes one
 * of rank 0 .. q-1. So the way up from the children of `task` leaves a forest with one tree of every rank below that of
 * the root, in which no job has another parent than before. O(log n): every tree is touched once.
 */
LX_FN u32 lx_bin_dissolve(struct lx_state *s, u32 task)
{
	struct lx_node *n = lx_bin(s, task);
	u32 forest = lx_bin_reverse(s, n->child[0], LX_NONE);
	/* The last tree of the forest, of rank `rank` - 1, and the siblings of `below`, of smaller rank. */
	u32 tail = n->child[0];
	u32 rank = n->rank;
	u32 smaller = n->child[1];
	u32 below = task;
	u32 above = n->parent;

	while (above != LX_NONE && LX_MAY_LOOP) {
		struct lx_node *a = lx_bin(s, above);
		struct lx_node old = *a;
		u32 larger = lx_bin_reverse(s, old.child[0], below);

		lx_bin_append(s, &forest, tail, above);
		a->parent = LX_NONE;
		a->child[0] = smaller;
		a->child[1] = larger;
		a->rank = rank;
		tail = larger == LX_NONE ? above : old.child[0];
		rank = old.rank;
		smaller = old.child[1];
		below = above;
		above = old.parent;
		LX_FORGET(s, tail);
		LX_FORGET(s, below);
	}
	return forest;
}

/* The interface of a ready queue (linking.h). */

LX_INLINE void lx_binomial_heap_init(struct lx_state *s)
{
	s->heap = LX_NONE;
	s->heap_first = LX_NONE;
}

LX_INLINE void lx_binomial_heap_insert(struct lx_state *s, u32 task)
{
	u32 first = s->heap_first;

	lx_bin_add(s, &s->heap, task);
	if (first == LX_NONE || lx_bin_before(s, task, first))
		s->heap_first = task;
}

/* A preempted job, which goes before all that wait. */
LX_INLINE void lx_binomial_heap_insert_first(struct lx_state *s, u32 task)
{
	lx_binomial_heap_insert(s, task);
}

LX_INLINE u32 lx_binomial_heap_top(struct lx_state *s)
{
	return s->heap_first;
}

/* Removes the top, `task`, which is a root. */
LX_FN void lx_binomial_heap_pop(struct lx_state *s, u32 task)
{
	u32 children = lx_bin_reverse(s, lx_bin(s, task)->child[0], LX_NONE);

	lx_bin_unlink_root(s, &s->heap, task);
	lx_bin_merge(s, &s->heap, children);
	s->heap_first = lx_bin_first(s, s->heap, LX_NONE);
}

LX_FN void lx_binomial_heap_remove(struct lx_state *s, u32 task)
{
	if (task == s->heap_first) {
		lx_binomial_heap_pop(s, task);
		return;
	}
	lx_bin_unlink_root(s, &s->heap, lx_bin_root(s, task));
	lx_bin_merge(s, &s->heap, lx_bin_dissolve(s, task));
}

LX_INLINE void lx_binomial_heap_group_add(struct lx_state *s, u32 group, u32 task)
{
	struct lx_group *g = lx_group(s, group);

	lx_bin_add(s, &g->head, task);
	g->count++;
}

/* Merges the group's jobs into the ready queue. */
LX_FN void lx_binomial_heap_group_release(struct lx_state *s, u32 group)
{
	u32 roots = lx_group(s, group)->head;

	s->heap_first = lx_bin_first(s, roots, s->heap_first);
	lx_bin_merge(s, &s->heap, roots);
}

/* Tasks that enter change nothing here. */
LX_INLINE void lx_binomial_heap_entered(struct lx_state *s)
{
	(void)s;
}

#endif
