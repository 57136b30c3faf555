// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies and their queues for the rig, built twice (build.rs): `checked`, in which every LX_ASSERT of policy/ is tested
 * and names the seed when it fails, and `plain`, as the simulator has them, to measure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seam.h"

#define RIG_JOIN_(a, b) a##_##b
#define RIG_JOIN(a, b) RIG_JOIN_(a, b)
#define RIG(name) RIG_JOIN(RIG_BUILD, name)

#ifdef RIG_CHECKED
/* What is under test, for the message. */
static _Thread_local u64 seed;

void RIG(seed_set)(u64 tested)
{
	seed = tested;
}

static void assertion_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s does not hold; seed %llu\n", file, line, condition, (unsigned long long)seed);
	abort();
}

#undef LX_ASSERT
#define LX_ASSERT(condition) ((condition) ? (void)0 : assertion_failed(#condition, __FILE__, __LINE__))
#endif

/* Names of their own for what native.c defines. */
#define lx_policy_size RIG(policy_size)
#define lx_policy_lay_out RIG(policy_lay_out)
#define lx_policy_take_due RIG(policy_take_due)
#define lx_policy_next_replenishment RIG(policy_next_replenishment)
#define lx_policy_wake_up RIG(policy_wake_up)
#define LX_TABLE_OF(policy) RIG(policy)
#include "native.c"

#include "structure.h"

/* A ready queue as the Rust side sees it (src/queue.rs has this structure too). */
struct rig_queue {
	const char *name;
	void (*init)(struct lx_state *s);
	void (*insert)(struct lx_state *s, u32 task);
	void (*insert_first)(struct lx_state *s, u32 task);
	u32 (*top)(struct lx_state *s);
	void (*pop)(struct lx_state *s, u32 task);
	void (*remove)(struct lx_state *s, u32 task);
	void (*group_add)(struct lx_state *s, u32 group, u32 task);
	/* Null: a group is a list, whose jobs are inserted one by one. */
	void (*group_release)(struct lx_state *s, u32 group);
	/* What is wrong with its structure, or null; counts the jobs in it. */
	const char *(*check)(struct lx_state *s, u32 *jobs);
	/* hold.h */
	void (*fill)(struct lx_state *s);
	u64 (*hold)(struct lx_state *s, u32 operations, u64 slack_ns);
};

#define LX_QUEUE lx_binary_heap
#include "../bpf/hold.h"
#undef LX_QUEUE
#define LX_QUEUE lx_red_black_tree
#include "../bpf/hold.h"
#undef LX_QUEUE
#define LX_QUEUE lx_binomial_heap
#include "../bpf/hold.h"
#undef LX_QUEUE
#define LX_QUEUE lx_promotions
#include "../bpf/hold.h"
#undef LX_QUEUE

/* The entry points of queues are inline: these are functions to point to. */
#define QUEUE_FUNCTIONS(queue)                                                                                         \
	static void queue##_init(struct lx_state *s) { lx_##queue##_init(s); }                                         \
	static void queue##_insert(struct lx_state *s, u32 task) { lx_##queue##_insert(s, task); }                     \
	static void queue##_insert_first(struct lx_state *s, u32 task) { lx_##queue##_insert_first(s, task); }         \
	static u32 queue##_top(struct lx_state *s) { return lx_##queue##_top(s); }                                     \
	static void queue##_pop(struct lx_state *s, u32 task) { lx_##queue##_pop(s, task); }                           \
	static void queue##_remove(struct lx_state *s, u32 task) { lx_##queue##_remove(s, task); }                     \
	static void queue##_group_add(struct lx_state *s, u32 group, u32 task)                                         \
	{                                                                                                              \
		lx_##queue##_group_add(s, group, task);                                                                \
	}                                                                                                              \
	static void queue##_fill(struct lx_state *s) { lx_##queue##_fill(s); }                                         \
	static u64 queue##_hold(struct lx_state *s, u32 operations, u64 slack_ns)                                      \
	{                                                                                                              \
		return lx_##queue##_hold(s, operations, slack_ns);                                                     \
	}

#define QUEUE_TABLE(queue, release)                                                                                    \
	{                                                                                                              \
		.name = #queue, .init = queue##_init, .insert = queue##_insert, .insert_first = queue##_insert_first,  \
		.top = queue##_top, .pop = queue##_pop, .remove = queue##_remove, .group_add = queue##_group_add,      \
		.group_release = release, .check = queue##_check, .fill = queue##_fill, .hold = queue##_hold,          \
	}

QUEUE_FUNCTIONS(binary_heap)
QUEUE_FUNCTIONS(red_black_tree)
QUEUE_FUNCTIONS(binomial_heap)
QUEUE_FUNCTIONS(promotions)

static void binomial_heap_group_release(struct lx_state *s, u32 group)
{
	lx_binomial_heap_group_release(s, group);
}

const struct rig_queue RIG(queues)[] = {
	QUEUE_TABLE(binary_heap, NULL),
	QUEUE_TABLE(red_black_tree, NULL),
	QUEUE_TABLE(binomial_heap, binomial_heap_group_release),
	QUEUE_TABLE(promotions, NULL),
};

/* An instance with nothing but tasks, which `RIG(close)` frees. */
struct lx_state *RIG(open)(u32 tasks, u32 rule)
{
	struct lx_config config = {.tasks = tasks, .cpus = 1, .rule = rule, .dedicated_cpu = LX_NONE, .sockets = 1};
	size_t size = lx_policy_size(&config);
	void *memory = aligned_alloc(64, size);

	if (!memory)
		abort();
	memset(memory, 0, size);
	return lx_policy_lay_out(memory, &config);
}

void RIG(close)(struct lx_state *s)
{
	free(s);
}

/* Parameters, and for `fill` the first key and the lateness (hold.h). */
void RIG(task_set)(struct lx_state *s, u32 task, u64 deadline_rel_ns, u32 priority, u64 first_key, u64 lateness_ns)
{
	struct lx_task *t = lx_task(s, task);

	t->deadline_rel_ns = deadline_rel_ns;
	t->priority = priority;
	t->period_ns = first_key;
	t->budget_ns = lateness_ns;
}

void RIG(key_set)(struct lx_state *s, u32 task, u64 key)
{
	lx_task(s, task)->key = key;
}

/* An empty release group. */
void RIG(group_clear)(struct lx_state *s, u32 group)
{
	lx_group(s, group)->head = LX_NONE;
	lx_group(s, group)->count = 0;
}

/* The jobs of a group that is a list: the first one, and the one behind a job. */
u32 RIG(group_first)(struct lx_state *s, u32 group)
{
	return lx_group(s, group)->head;
}

u32 RIG(group_next)(struct lx_state *s, u32 task)
{
	return lx_task(s, task)->right;
}

/* What is wrong with a release group that is a binomial heap, or null. */
const char *RIG(group_check)(struct lx_state *s, u32 group, u32 *jobs)
{
	return forest_check(s, lx_group(s, group)->head, jobs);
}

/* What fpp does when a task has been admitted, with jobs waiting. */
void RIG(promotions_levels)(struct lx_state *s)
{
	lx_promotions_levels(s);
}

/* Whether fpp would take its step 0 for the job of `task`, which is about to be inserted. */
u32 RIG(promotions_late)(struct lx_state *s, u32 task)
{
	struct lx_task *t = lx_task(s, task);

	return (u32)lx_promotions_is_late(s, lx_promotions_up_to(s, t->level), t->key, task);
}
