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
	/* push-pull: a push that has lost its target so often is given up; at least 1 (3 in SCHED_DEADLINE). */
	u32 retries_max;
	/* g-edf-mp: mailboxes, at least 1; 0 is enough for the others. */
	u32 sockets;
};

/* What the host must carry out after a decision, in this order. */
enum lx_action_kind {
	/* Make `cpu` call reschedule; an interrupt unless it is the CPU that decided. */
	LX_KICK = 1,
	/* Call take_due or timer (native.h) for `cpu` no later than `due_at`, which next_due or next_timer has become. */
	LX_ARM = 2,
	/* `cpu` (the DSP) has a message. */
	LX_NOTIFY = 3,
	/* The operation in progress on `cpu` goes on: take `locks` and call step. */
	LX_STEP = 4,
	/* For the trace: `note` happened on `cpu`. */
	LX_NOTE = 5,
};

/* What an entry point is for, to ask which locks it needs. */
enum lx_event {
	/* release_group, arrive, resume. */
	LX_EVENT_RELEASE = 0,
	/* complete, suspend. */
	LX_EVENT_COMPLETE = 1,
	/* reschedule, withdraw, restore. */
	LX_EVENT_RESCHEDULE = 2,
	LX_EVENT_EXHAUST = 3,
	LX_EVENT_MESSAGE = 4,
};

/* No lock, and no two locks (lx_locks). */
#define LX_NO_LOCK 0xffffu
#define LX_NO_LOCKS 0xffffffffu

enum lx_note_kind {
	/* g-edf-mp: the task stays linked to `cpu`, which still runs it; what was linked there goes to `other`. */
	LX_NOTE_LINK_SWAP = 1,
	/* g-edf-mp: a message of `cpu` about a task that had lost its link there meanwhile. */
	LX_NOTE_STALE_MESSAGE = 2,
	/* push-pull: a push from `cpu` found that `other` no longer yields; was given up; happened. */
	LX_NOTE_PUSH_FAILED = 3,
	LX_NOTE_PUSH_ABANDONED = 4,
	LX_NOTE_PUSH = 5,
	/* push-pull: `cpu` pulled from `other`; found nothing there any more. */
	LX_NOTE_PULL = 6,
	LX_NOTE_PULL_FAILED = 7,
	/* g-edf-mp: a job chosen for `cpu` had ended meanwhile, and its message was still on the way. */
	LX_NOTE_STALE_JOB = 8,
	/* push-pull: the job that a push from `cpu` was for went elsewhere meanwhile, or another one goes before it. */
	LX_NOTE_PUSH_OVERTAKEN = 9,
};

/* A tagged union: what is beside `kind` and `cpu` is of the kind that it says, and bytes of other kinds are not written. */
struct lx_action {
	/* enum lx_action_kind. */
	u32 kind;
	u32 cpu;
	union {
		/* LX_ARM, in ns. */
		u64 due_at;
		/* LX_STEP: as lx_locks has them, the low half the first CPU, the high half the second, LX_NO_LOCK for none. */
		u32 locks;
		/* LX_NOTE. */
		struct {
			/* enum lx_note_kind. */
			u32 kind;
			/* LX_NONE: no other CPU, no task. */
			u32 other;
			u32 task;
		} note;
	};
};

/* What one call of a policy with several locks decides at most; a power of two (push_pull.h, g_edf_mp.h). */
#define LX_LIST_ACTIONS 4u

/*
 * The actions of the call that a CPU has made last, for policies with several locks: calls of several CPUs may run at once
 * (LX_LISTS). Those with one lock have one list, which may be longer: s->action.
 */
struct lx_list {
	u32 actions;
	/* See LX_FORGET: for the host that reads the list. */
	u32 forget;
	/* Two cache lines in all: no other CPU's is on them. */
	u32 reserved[6];
	struct lx_action action[LX_LIST_ACTIONS];
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
	u64 release_at;
	u64 deadline_abs_ns;
	/* Parameters. */
	u64 deadline_rel_ns;
	u64 period_ns;
	u64 budget_ns;
	u64 budget_left_ns;
	/* Start of the server period that the budget belongs to. */
	u64 replenished_at;
	u32 priority;
	/* fpp: the list that its jobs enter. edzl: where it is in the heap of laxities, or LX_NONE. */
	u32 level;
	/* Where it runs next, and where it runs (lx_scheduled_on) or ran last; LX_NONE. */
	u32 linked_on;
	u32 last_cpu;
	/* enum lx_place. */
	u32 place;
	/* The next job of a release group that is a list. */
	u32 right;
	/* Binary heap: where in it the task is. */
	u32 position;
	/* Parameter: its jobs are released each by itself, whether or not the configuration batches releases. */
	u32 alone;
};

struct lx_cpu {
	/* The task it should run and the one it runs (cerqueira2014, III-B), or LX_NONE. */
	u32 linked;
	u32 scheduled;
	/* It is going to call reschedule, or a kick that asks for it is on its way. */
	u32 kicked;
	/* The mailbox that it writes to (g-edf-mp): its socket, below config.sockets. The host says, before init. */
	u32 socket;
	/* enum lx_withdrawal. */
	u32 withdrawn;
	/* g-edf-mp: that it is withdrawn, as far as the DSP knows. */
	u32 absent;
};

/* Whether a CPU is there for the instance's tasks. */
enum lx_withdrawal {
	/* Something above the policy has it: withdraw was called last, not restore. It is linked to nothing and runs nothing. */
	LX_WITHDRAWN = 1,
	/* g-edf-mp: it has given up a link, and the DSP has yet to see that. */
	LX_GAVE_UP = 2,
};

/* A CPU in the order in which CPUs yield (cpu_heap.h): the key of the job that it is linked to; task and CPU. */
struct lx_cpu_entry {
	u64 key;
	u64 tie;
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

/*
 * push-pull: the queue of a CPU, beside its tree of waiting jobs. Written under the CPU's lock; what is published is read
 * without it.
 */
struct lx_run_queue {
	/* Published: the job of highest priority here, which the CPU runs or is about to run, or LX_NONE. */
	u64 first_key;
	/* Published: the job that waits behind it and may go elsewhere, or LX_NONE. */
	u64 next_key;
	u32 first;
	u32 next;
	/* The job that the CPU runs, which is not in the tree; LX_NONE while it decides. */
	u32 current;
	u32 reserved;
};

/* The operation in progress on a CPU, between two of its critical sections (push_pull.h, g_edf_mp.h). */
struct lx_operation {
	/* What the next step is; 0: none is in progress. */
	u32 phase;
	/* The job it is about. */
	u32 task;
	/* The CPU that the job comes from, and where it goes. */
	u32 source;
	u32 target;
	/* push-pull: how often this push has failed; the jobs yet to be released, a list through `right`. */
	u32 failures;
	u32 rest;
	/* See LX_FORGET. */
	u32 forget;
	u32 reserved;
};

/* g-edf-mp: what is on its way to the DSP about a task. */
struct lx_flight {
	/* The message that says that its job ended, was suspended, or ran out of budget. */
	u32 ended;
	/* The kind of message that has overtaken that one, or 0; and its release instant. */
	u32 early;
	u64 release_at;
};

/* g-edf-mp: a client's message to the DSP (g_edf_mp/mailbox.h). */
struct lx_message {
	u64 release_at;
	/* When it was sent. */
	u64 sent_at;
	/* 0: the slot is free. */
	u32 kind;
	u32 sender;
	u32 task;
	u32 reserved;
};

/* g-edf-mp: a FIFO ring of messages: how many slots have been taken by writers, and how many have been read. */
struct lx_mailbox {
	u32 written;
	u32 read;
};

/* fpp: a job's neighbours in its list, with its key; or a list's last and first job (queues/promotions.h). */
struct lx_link {
	u64 key;
	u32 previous;
	u32 next;
};

/* Jobs that one timer releases. Its number is the index of the task that was first in it. */
struct lx_group {
	u64 release_at;
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
	ARRAY(struct lx_cpu_entry, cpu_heap, CPU_NODES)                                                                \
	/* Binary heap: ready tasks, the highest priority first. */                                                    \
	ARRAY(struct lx_entry, ready, TASKS)                                                                           \
	/* edzl: tasks that wait with laxity left, that which runs out first before the others. */                     \
	ARRAY(struct lx_entry, laxity, TASKS)                                                                          \
	/* Red-black tree, binomial heap: the node of each task. */                                                    \
	ARRAY(struct lx_node, node, TASKS)                                                                             \
	/* fpp: the links of the tasks, then of the lists; the bitmap of the lists. */                                  \
	ARRAY(struct lx_link, link, LINKS)                                                                             \
	ARRAY(u64, map, WORDS)                                                                                         \
	ARRAY(struct lx_tree, tree, CPUS)                                                                              \
	/* Release queue: pending groups, the earliest first; groups; their hash by time. */                           \
	ARRAY(struct lx_entry, due, TASKS)                                                                             \
	ARRAY(struct lx_group, group, TASKS)                                                                           \
	ARRAY(u32, bucket, BUCKETS)                                                                                    \
	/* push-pull, g-edf-mp: operations in several steps. */                                                        \
	ARRAY(struct lx_run_queue, run_queue, CPUS)                                                                    \
	ARRAY(struct lx_operation, operation, CPUS)                                                                    \
	ARRAY(struct lx_flight, flight, TASKS)                                                                         \
	ARRAY(struct lx_mailbox, mailbox, SOCKETS)                                                                     \
	ARRAY(struct lx_message, message, MESSAGES)                                                                    \
	ARRAY(struct lx_list, list, CPUS)                                                                                     \
	ARRAY(struct lx_action, action, ACTIONS)

#ifdef LX_IN_HOST
#define LX_MEMBER(type, name, capacity) type name[LX_##capacity##_MAX];
#else
#define LX_MEMBER(type, name, capacity) type *name;
#endif

struct lx_state {
	struct lx_config config;
	/* The earliest pending release instant, or LX_NEVER. The host may read it. */
	u64 next_due_at;
	/*
	 * Actions of the decision just made: the host reads them and calls nothing before it has. Where calls run at once
	 * (LX_LISTS), policies with several locks have s->list[cpu] instead, of the CPU that made it.
	 */
	u32 actions;
	/* See LX_FORGET: of those with one lock; of the release queue (push-pull); of the DSP. */
	u32 forget;
	/* Waiting tasks, pending release groups. */
	u32 ready_count;
	u32 due_count;
	/* CPUs that tasks run on: all but the dedicated one, which is the last; where in the CPU heap their entries begin. */
	u32 cpus_linkable;
	u32 cpu_leaves;
	u32 bucket_mask;
	/* Binomial heap: the first of its roots, and its first job. */
	u32 heap;
	u32 heap_first;
	/* fpp: the levels of the bitmap, and where in it each begins. */
	u32 map_levels;
	u32 map_offset[LX_MAP_LEVELS_MAX];
	/* g-edf-mp: slots of a mailbox less one; the mailbox that is read next. */
	u32 message_mask;
	u32 mailbox_next;
	/* When the message that the dedicated processor has read last was sent. */
	u64 message_sent_at;
	/* g-edf-mp: how often a client was withdrawn or restored, and how many of those the DSP has seen. */
	u32 withdrawals;
	u32 withdrawals_seen;
	/* When the policy's own timer is due, or LX_NEVER, and on which CPU. The host may read both; none if the policy has no timer. */
	u64 next_timer_at;
	u32 timer_cpu;
	/* edzl: how many tasks wait with laxity left. */
	u32 laxity_count;
	LX_STATE_ARRAYS(LX_MEMBER)
};

#endif
