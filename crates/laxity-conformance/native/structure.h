/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the queues are what they should be inside. Each check returns the condition that does not hold, or null. */
#ifndef RIG_STRUCTURE_H
#define RIG_STRUCTURE_H

#define RIG_TEXT_(line) #line
#define RIG_TEXT(line) RIG_TEXT_(line)
#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			return "structure.h:" RIG_TEXT(__LINE__) ": " #condition;                                      \
	} while (0)

static const char *binary_heap_check(struct lx_state *s, u32 *jobs)
{
	*jobs = s->ready_count;
	for (u32 i = 0; i < s->ready_count; i++) {
		const struct lx_entry *e = lx_ready_entry(s, i), *above = lx_ready_entry(s, (i - (i > 0)) / 2);

		EXPECT(e->key == lx_task(s, e->index)->key);
		EXPECT(lx_task(s, e->index)->position == i);
		EXPECT(i == 0 || lx_before(above->key, above->index, e->key, e->index));
	}
	return NULL;
}

/* What a walk over a tree in order finds. */
struct tree_walk {
	u32 first;
	u32 last;
	u32 jobs;
	u32 blacks;
};

static const char *subtree_check(struct lx_state *s, u32 task, u32 parent, struct tree_walk *walk)
{
	const char *wrong;
	u32 blacks;

	walk->blacks = 1;
	if (task == LX_NONE)
		return NULL;
	const struct lx_node *n = lx_node(s, task);

	EXPECT(n->parent == parent);
	EXPECT(n->key == lx_task(s, task)->key);
	EXPECT(n->rank == LX_BLACK || n->rank == LX_RED);
	EXPECT(n->rank == LX_BLACK || (parent != LX_NONE && lx_node(s, parent)->rank == LX_BLACK));
	wrong = subtree_check(s, n->child[0], task, walk);
	if (wrong)
		return wrong;
	blacks = walk->blacks;
	EXPECT(walk->last == LX_NONE || lx_task_before(s, walk->last, task));
	if (walk->first == LX_NONE)
		walk->first = task;
	walk->last = task;
	walk->jobs++;
	EXPECT(walk->jobs <= s->config.tasks);
	wrong = subtree_check(s, n->child[1], task, walk);
	if (wrong)
		return wrong;
	EXPECT(walk->blacks == blacks);
	walk->blacks += n->rank == LX_BLACK;
	return NULL;
}

static const char *red_black_tree_check(struct lx_state *s, u32 *jobs)
{
	const struct lx_tree *tree = lx_ready_tree(s);
	struct tree_walk walk = {LX_NONE, LX_NONE, 0, 0};
	const char *wrong = subtree_check(s, tree->root, LX_NONE, &walk);

	if (wrong)
		return wrong;
	EXPECT(walk.first == tree->first);
	*jobs = walk.jobs;
	return NULL;
}

/* A binomial tree of rank r has children of rank r-1 .. 0 and goes before them. */
static const char *binomial_tree_check(struct lx_state *s, u32 task, u32 parent, u32 *jobs)
{
	const struct lx_node *n = lx_bin(s, task);
	u32 child = n->child[0];

	EXPECT(n->parent == parent);
	EXPECT(n->key == lx_task(s, task)->key);
	EXPECT(parent == LX_NONE || lx_task_before(s, parent, task));
	EXPECT(n->rank < 32);
	for (u32 rank = n->rank; rank-- > 0;) {
		const char *wrong;

		EXPECT(child != LX_NONE);
		EXPECT(lx_bin(s, child)->rank == rank);
		wrong = binomial_tree_check(s, child, task, jobs);
		if (wrong)
			return wrong;
		child = lx_bin(s, child)->child[1];
	}
	EXPECT(child == LX_NONE);
	*jobs += 1;
	return NULL;
}

/* Adds the jobs of a list of binomial trees of rising rank to `jobs`. */
static const char *forest_check(struct lx_state *s, u32 root, u32 *jobs)
{
	u32 rank_min = 0;

	while (root != LX_NONE) {
		const char *wrong;

		EXPECT(lx_bin(s, root)->rank >= rank_min);
		rank_min = lx_bin(s, root)->rank + 1;
		wrong = binomial_tree_check(s, root, LX_NONE, jobs);
		if (wrong)
			return wrong;
		root = lx_bin(s, root)->child[1];
	}
	return NULL;
}

static const char *binomial_heap_check(struct lx_state *s, u32 *jobs)
{
	u32 first = LX_NONE;
	const char *wrong;

	*jobs = 0;
	wrong = forest_check(s, s->heap, jobs);
	if (wrong)
		return wrong;
	for (u32 root = s->heap; root != LX_NONE; root = lx_bin(s, root)->child[1]) {
		if (first == LX_NONE || lx_task_before(s, root, first))
			first = root;
	}
	EXPECT(s->heap_first == first);
	return NULL;
}

/* Every word of the bitmap says what is below it; all lists, one behind the other, are sorted. */
static const char *promotions_check(struct lx_state *s, u32 *jobs)
{
	u32 before = LX_NONE;
	u32 bits = s->config.tasks;

	*jobs = 0;
	for (u32 list = 0; list < s->config.tasks; list++) {
		u32 own = lx_list_link(s, list);
		u32 last = own;
		u32 at = lx_link_at(s, own)->next;

		EXPECT((*lx_map_word(s, 0, list / 64) >> (list & 63) & 1) == (at != own));
		while (at != own) {
			EXPECT(at < s->config.tasks);
			EXPECT(lx_link_at(s, at)->key == lx_task(s, at)->key);
			EXPECT(lx_link_at(s, at)->previous == last);
			EXPECT(before == LX_NONE || lx_task_before(s, before, at));
			*jobs += 1;
			EXPECT(*jobs <= s->config.tasks);
			before = at;
			last = at;
			at = lx_link_at(s, at)->next;
		}
		EXPECT(lx_link_at(s, own)->previous == last);
	}
	for (u32 level = 1; level < s->map_levels; level++) {
		bits = (bits + 63) / 64;
		for (u32 bit = 0; bit < bits; bit++)
			EXPECT((*lx_map_word(s, level, bit / 64) >> (bit & 63) & 1) == (*lx_map_word(s, level - 1, bit) != 0));
	}
	EXPECT((bits + 63) / 64 == 1);
	return NULL;
}

#endif
