/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Red-black trees of jobs with the first one cached (edf-rbt: ackelman2018, 5.3; push-pull: one tree per CPU, as in
 * Linux's SCHED_DEADLINE). Rebalancing as in Cormen et al., chapter 13, with LX_NONE for the nil node and both mirror
 * images of a case as one piece of code, by direction.
 *
 * insert, remove: O(log n), O(1) rotations; first: O(1). A job's node is s->node[task]: parent, child[0] (before it),
 * child[1] (after it), rank (colour). A tree is a struct lx_tree, wherever its owner keeps it; a job is in one tree at a
 * time. Nothing but the tree and the nodes of its jobs is written, so trees under different locks do not disturb each other.
 */
#ifndef LX_RED_BLACK_TREE_H
#define LX_RED_BLACK_TREE_H

#include "../release.h"

#define LX_BLACK 0u
#define LX_RED 1u

LX_INLINE struct lx_node *lx_node(struct lx_state *s, u32 task)
{
	LX_ASSERT(task < s->config.tasks);
	return LX_AT(s->node, task, LX_TASKS_MAX);
}

/* The link of a node to its child on one side: 0 or 1. */
LX_INLINE u32 *lx_node_child(struct lx_node *node, u32 side)
{
	return LX_AT(node->child, side, 2);
}

LX_INLINE int lx_node_is_red(struct lx_state *s, u32 task)
{
	return task != LX_NONE && lx_node(s, task)->rank == LX_RED;
}

/* The side of `parent` on which `task` is: a child or, for LX_NONE, the one side without a child. */
LX_INLINE u32 lx_node_side(const struct lx_node *parent, u32 task)
{
	return parent->child[0] != task;
}

/* Puts `child` where `old` is: below `parent`, or at the root. */
LX_INLINE void lx_tree_replace(struct lx_state *s, struct lx_tree *tree, u32 parent, u32 old, u32 child)
{
	if (parent == LX_NONE) {
		tree->root = child;
	} else {
		struct lx_node *p = lx_node(s, parent);

		*lx_node_child(p, lx_node_side(p, old)) = child;
	}
}

/* Moves `top` down to `side`; its child on the other side takes its place. */
LX_FN void lx_tree_rotate(struct lx_state *s, struct lx_tree *tree, u32 top, u32 side)
{
	struct lx_node *t = lx_node(s, top);
	u32 riser = *lx_node_child(t, !side);
	struct lx_node *r = lx_node(s, riser);
	u32 inner = *lx_node_child(r, side);
	u32 parent = t->parent;

	*lx_node_child(t, !side) = inner;
	if (inner != LX_NONE)
		lx_node(s, inner)->parent = top;
	r->parent = parent;
	lx_tree_replace(s, tree, parent, top, riser);
	*lx_node_child(r, side) = top;
	t->parent = riser;
}

/* `task` is red and perhaps has a red parent, which is the only violation: ends it. */
LX_FN void lx_tree_insert_repair(struct lx_state *s, struct lx_tree *tree, u32 task)
{
	while (LX_MAY_LOOP) {
		u32 parent = lx_node(s, task)->parent;
		struct lx_node *p, *g;
		u32 grandparent, uncle, side;

		if (!lx_node_is_red(s, parent))
			break;
		/* A red node is not the root, so this exists. */
		p = lx_node(s, parent);
		grandparent = p->parent;
		g = lx_node(s, grandparent);
		side = lx_node_side(g, parent);
		uncle = *lx_node_child(g, !side);
		if (lx_node_is_red(s, uncle)) {
			p->rank = LX_BLACK;
			lx_node(s, uncle)->rank = LX_BLACK;
			g->rank = LX_RED;
			task = grandparent;
			LX_FORGET(tree, task);
			continue;
		}
		if (*lx_node_child(p, !side) == task) {
			lx_tree_rotate(s, tree, parent, side);
			p = lx_node(s, task);
		}
		p->rank = LX_BLACK;
		g->rank = LX_RED;
		lx_tree_rotate(s, tree, grandparent, !side);
		break;
	}
	lx_node(s, tree->root)->rank = LX_BLACK;
}

/* Inserts the job of `task` by its key. */
LX_FN void lx_tree_insert(struct lx_state *s, struct lx_tree *tree, u32 task)
{
	struct lx_node *n = lx_node(s, task);
	u64 key = lx_task(s, task)->key;
	u32 parent = LX_NONE;
	u32 next = tree->root;
	u32 side = 0;
	u32 sides = 0;

	while (next != LX_NONE && LX_MAY_LOOP) {
		struct lx_node *p = lx_node(s, next);

		parent = next;
		side = lx_before(p->key, next, key, task);
		sides |= side;
		next = *lx_node_child(p, side);
	}
	n->key = key;
	n->parent = parent;
	n->child[0] = LX_NONE;
	n->child[1] = LX_NONE;
	n->rank = LX_RED;
	if (!sides)
		tree->first = task;
	if (parent == LX_NONE)
		tree->root = task;
	else
		*lx_node_child(lx_node(s, parent), side) = task;
	lx_tree_insert_repair(s, tree, task);
}

/* Below `parent`, the paths through its child `task` (perhaps LX_NONE) have one black node too few: ends that. */
LX_FN void lx_tree_remove_repair(struct lx_state *s, struct lx_tree *tree, u32 parent, u32 task)
{
	while (parent != LX_NONE && !lx_node_is_red(s, task) && LX_MAY_LOOP) {
		struct lx_node *p = lx_node(s, parent);
		u32 side = lx_node_side(p, task);
		/* It has black nodes that the paths through `task` lack, so it exists. */
		u32 sibling = *lx_node_child(p, !side);
		struct lx_node *w = lx_node(s, sibling);
		u32 near;

		if (w->rank == LX_RED) {
			w->rank = LX_BLACK;
			p->rank = LX_RED;
			lx_tree_rotate(s, tree, parent, side);
			sibling = *lx_node_child(p, !side);
			w = lx_node(s, sibling);
		}
		near = *lx_node_child(w, side);
		if (!lx_node_is_red(s, *lx_node_child(w, !side))) {
			if (!lx_node_is_red(s, near)) {
				w->rank = LX_RED;
				task = parent;
				parent = p->parent;
				LX_FORGET(tree, task);
				continue;
			}
			lx_node(s, near)->rank = LX_BLACK;
			w->rank = LX_RED;
			lx_tree_rotate(s, tree, sibling, !side);
			w = lx_node(s, near);
		}
		w->rank = p->rank;
		p->rank = LX_BLACK;
		lx_node(s, *lx_node_child(w, !side))->rank = LX_BLACK;
		lx_tree_rotate(s, tree, parent, side);
		return;
	}
	if (task != LX_NONE)
		lx_node(s, task)->rank = LX_BLACK;
}

/* Puts the job that follows `task` in the tree, which has both children, into its place; `task` gets that one's. */
LX_FN void lx_tree_exchange_with_next(struct lx_state *s, struct lx_tree *tree, u32 task)
{
	struct lx_node *n = lx_node(s, task);
	u32 right = n->child[1];
	u32 next = right;
	u32 colour = n->rank;
	struct lx_node *x;
	u32 below;

	while (LX_MAY_LOOP) {
		below = lx_node(s, next)->child[0];
		if (below == LX_NONE)
			break;
		next = below;
	}
	x = lx_node(s, next);
	below = x->child[1];
	lx_tree_replace(s, tree, n->parent, task, next);
	lx_node(s, n->child[0])->parent = next;
	x->child[0] = n->child[0];
	n->child[0] = LX_NONE;
	n->rank = x->rank;
	x->rank = colour;
	if (next == right) {
		x->child[1] = task;
		x->parent = n->parent;
		n->parent = next;
	} else {
		u32 parent = x->parent;

		lx_node(s, parent)->child[0] = task;
		lx_node(s, right)->parent = next;
		x->child[1] = right;
		x->parent = n->parent;
		n->parent = parent;
	}
	n->child[1] = below;
	if (below != LX_NONE)
		lx_node(s, below)->parent = task;
}

/* Removes the job of `task`, which is in this tree. */
LX_FN void lx_tree_remove(struct lx_state *s, struct lx_tree *tree, u32 task)
{
	struct lx_node *n = lx_node(s, task);
	u32 child;

	/* The first node has no left child, and below its right one there is nothing, or the paths would differ. */
	if (tree->first == task)
		tree->first = n->child[1] != LX_NONE ? n->child[1] : n->parent;
	if (n->child[0] != LX_NONE && n->child[1] != LX_NONE)
		lx_tree_exchange_with_next(s, tree, task);
	child = n->child[0] != LX_NONE ? n->child[0] : n->child[1];
	lx_tree_replace(s, tree, n->parent, task, child);
	if (child != LX_NONE)
		lx_node(s, child)->parent = n->parent;
	if (n->rank == LX_BLACK)
		lx_tree_remove_repair(s, tree, n->parent, child);
}

/* The job that goes before all others in the tree, or LX_NONE. */
LX_INLINE u32 lx_tree_first(const struct lx_tree *tree)
{
	return tree->first;
}

LX_INLINE void lx_tree_init(struct lx_tree *tree)
{
	tree->root = LX_NONE;
	tree->first = LX_NONE;
}

/* The interface of a ready queue (linking.h): one tree, the first of s->tree. */

LX_INLINE struct lx_tree *lx_ready_tree(struct lx_state *s)
{
	return LX_AT(s->tree, 0, LX_CPUS_MAX);
}

LX_INLINE void lx_red_black_tree_init(struct lx_state *s)
{
	lx_tree_init(lx_ready_tree(s));
}

LX_INLINE void lx_red_black_tree_insert(struct lx_state *s, u32 task)
{
	lx_tree_insert(s, lx_ready_tree(s), task);
}

/* A preempted job, which goes before all that wait. */
LX_INLINE void lx_red_black_tree_insert_first(struct lx_state *s, u32 task)
{
	lx_red_black_tree_insert(s, task);
}

LX_INLINE u32 lx_red_black_tree_top(struct lx_state *s)
{
	return lx_tree_first(lx_ready_tree(s));
}

LX_INLINE void lx_red_black_tree_remove(struct lx_state *s, u32 task)
{
	lx_tree_remove(s, lx_ready_tree(s), task);
}

LX_INLINE void lx_red_black_tree_pop(struct lx_state *s, u32 task)
{
	lx_red_black_tree_remove(s, task);
}

LX_INLINE void lx_red_black_tree_group_add(struct lx_state *s, u32 group, u32 task)
{
	lx_list_group_add(s, group, task);
}

/* Tasks that enter change nothing here. */
LX_INLINE void lx_red_black_tree_entered(struct lx_state *s)
{
	(void)s;
}

#endif
