/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of one scheduler instance: the tasks and CPUs of one cluster. Global scheduling is one instance, clustered
 * scheduling one per cluster, partitioned scheduling one per CPU; instances know nothing of each other. Tasks and CPUs
 * are numbered from 0 within their instance; the host keeps the order of the task set, so that ties by task index here
 * are ties by task id everywhere.
 *
 * Priority: a job goes before another if its key is smaller, or equal with a smaller task index. This order is total.
 * The key is the absolute deadline under EDF and the task's priority (0 is the highest) under fixed priorities.
 */
#ifndef LX_STATE_H
#define LX_STATE_H

#include "seam.h"

/* What decides between two jobs. */
enum lx_rule {
	LX_RULE_EDF = 0,
	LX_RULE_FIXED = 1,
};

/* What happens to a job that has used up its budget (ackelman2018, 5.1; Abeni and Buttazzo 1998 for the last). */
enum lx_budget_mode {
	LX_BUDGET_OFF = 0,
	/* It waits for the next replenishment, one period after the last. */
	LX_BUDGET_THROTTLE = 1,
	/* It goes on with a full budget and a deadline one period later (constant bandwidth server). */
	LX_BUDGET_POSTPONE = 2,
};

struct lx_config {
	u32 tasks;
	u32 cpus;
	u32 rule;
	u32 budget_mode;
	/* Whether jobs of one release instant are released by one timer, as one group. */
	u32 batching;
	/* The CPU that takes all release interrupts and runs no task; LX_NONE: the one where the job before ended. */
	u32 dedicated_cpu;
	/* push-pull: how often a push that lost its target is tried again. */
	u32 retries_max;
	/* g-edf-mp: mailboxes. */
	u32 sockets;
};

/* What the host must carry out after a decision, in this order. */
enum lx_action_kind {
	/* Make `cpu` call reschedule; an interrupt unless it is the CPU that decided. */
	LX_KICK = 1,
	/* `cpu` now runs `task`, or nothing if that is LX_NONE. */
	LX_RUN = 2,
	/* Call release_due for `cpu` no later than `time`: the earliest pending release instant has changed. */
	LX_ARM = 3,
	/* `cpu` (the DSP) has a message. */
	LX_NOTIFY = 4,
	/* The operation in progress on `cpu` goes on: take the locks `task` (low half: first, high half: second CPU; 0xffff:
	 * none) and call step. */
	LX_STEP = 5,
	/* For the trace: `task` is what happened (enum lx_note), on or towards `cpu`. */
	LX_NOTE = 6,
};

enum lx_note {
	LX_NOTE_LINK_SWAP = 1,
	LX_NOTE_STALE_MESSAGE = 2,
	LX_NOTE_PUSH_FAILED = 3,
	LX_NOTE_PUSH_ABANDONED = 4,
	LX_NOTE_PUSH = 5,
	LX_NOTE_PULL = 6,
};

struct lx_action {
	u32 kind;
	u32 cpu;
	u32 task;
	u32 reserved;
	u64 time;
};

/* Where a task that is not linked waits. */
enum lx_place {
	LX_PLACE_NOWHERE = 0,
	LX_PLACE_READY = 1,
	LX_PLACE_RELEASE = 2,
};

struct lx_task {
	/* The present job. */
	u64 key;
	u64 release;
	u64 deadline_abs;
	/* Parameters. */
	u64 deadline_rel;
	u64 period;
	u64 budget;
	u64 budget_left;
	/* Start of the server period that the budget belongs to. */
	u64 replenished;
	u32 priority;
	/* fpp: the list that its jobs enter, and the one that the waiting job is in. */
	u32 level;
	u32 list;
	/* Where it runs next, runs now, and ran last; LX_NONE. */
	u32 linked_on;
	u32 scheduled_on;
	u32 last_cpu;
	/* enum lx_place. */
	u32 place;
	/* The node of the queue that it waits in: each queue says how it uses these. */
	u32 parent;
	u32 left;
	u32 right;
	u32 rank;
	u32 position;
};

struct lx_cpu {
	/* The task it should run and the one it runs (cerqueira2014, III-B), or LX_NONE. */
	u32 linked;
	u32 scheduled;
	/* Its place in the CPU heap. */
	u32 position;
	/* A kick is on its way. */
	u32 kicked;
};

/* An element of an array heap, with its key beside it. */
struct lx_entry {
	u64 key;
	u32 index;
	u32 reserved;
};

/* A job's place in a queue that links jobs to each other, with its key beside the links: queues/ say how they use it. */
struct lx_node {
	u64 key;
	u32 parent;
	u32 child[2];
	u32 rank;
};

/* A red-black tree of jobs (queues/red_black_tree.h): its root and its first job, or LX_NONE. */
struct lx_tree {
	u32 root;
	u32 first;
	/* See LX_FORGET: the tree's own, for trees that are under locks of their own. */
	u32 forget;
	u32 reserved;
};

/* Jobs that one timer releases. Its number is the index of the task that was first in it. */
struct lx_group {
	u64 time;
	/* Its jobs: a list through `right`, or for gsn-edf the root list of a binomial heap. */
	u32 head;
	u32 count;
	/* The CPU that takes the timer interrupt. */
	u32 cpu;
	/* The next group of the same hash bucket. */
	u32 next;
};

/*
 * The arrays of the state: element type, name, capacity. The BPF build has them inline, at the capacities of seam.h; the
 * native build has them behind the structure in one block of memory, as long as the instance needs (native.c).
 */
#define LX_STATE_ARRAYS(ARRAY)                                                                                         \
	ARRAY(struct lx_task, task, TASKS)                                                                             \
	ARRAY(struct lx_cpu, cpu, CPUS)                                                                                \
	/* CPUs by what they are linked to, the lowest priority first. */                                              \
	ARRAY(struct lx_entry, cpu_heap, CPUS)                                                                         \
	/* Binary heap: ready tasks, the highest priority first. */                                                    \
	ARRAY(struct lx_entry, ready, TASKS)                                                                           \
	/* Red-black tree, binomial heap, fpp: the node of each task. Red-black trees: edf-rbt has one. */                \
	ARRAY(struct lx_node, node, TASKS)                                                                             \
	ARRAY(struct lx_tree, tree, CPUS)                                                                              \
	/* Release queue: pending groups, the earliest first; groups; their hash by time. */                           \
	ARRAY(struct lx_entry, due, TASKS)                                                                             \
	ARRAY(struct lx_group, group, TASKS)                                                                           \
	ARRAY(u32, bucket, BUCKETS)                                                                                    \
	ARRAY(struct lx_action, action, ACTIONS)

#ifdef __bpf__
#define LX_MEMBER(type, name, capacity) type name[LX_##capacity##_MAX];
#else
#define LX_MEMBER(type, name, capacity) type *name;
#endif

struct lx_state {
	struct lx_config config;
	/* The earliest pending release instant, or LX_NEVER. The host may read it. */
	u64 next_due;
	/* Actions of the decision just made: the host reads them and calls nothing before it has. */
	u32 actions;
	/* See LX_FORGET. */
	u32 forget;
	/* Waiting tasks, pending release groups. */
	u32 ready_count;
	u32 due_count;
	/* CPUs that tasks run on: all but the dedicated one, which is the last. */
	u32 cpus_linkable;
	u32 bucket_mask;
	/* Binomial heap: the first of its roots, and its first job. */
	u32 heap;
	u32 heap_first;
	LX_STATE_ARRAYS(LX_MEMBER)
};

#endif
