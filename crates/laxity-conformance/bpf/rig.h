/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the conformance rig (crates/laxity-conformance) gives to the programs of a policy and what comes back. The Rust
 * side has these structures too (src/event.rs, src/bpf.rs): change both.
 */
#ifndef LX_RIG_H
#define LX_RIG_H

#include "state.h"

/* Events of one run of the program, and their actions altogether. */
#define LX_RIG_EVENTS 4096u
#define LX_RIG_ACTIONS 16384u

enum lx_rig_kind {
	LX_RIG_ARRIVE = 1,
	LX_RIG_TAKE_DUE = 2,
	LX_RIG_RELEASE_GROUP = 3,
	LX_RIG_COMPLETE = 4,
	LX_RIG_RESCHEDULE = 5,
	LX_RIG_CONSUME = 6,
	LX_RIG_EXHAUST = 7,
	LX_RIG_STEP = 8,
	LX_RIG_MESSAGE = 9,
	LX_RIG_SUSPEND = 10,
	LX_RIG_RESUME = 11,
	LX_RIG_FINISH = 12,
	LX_RIG_ENTER = 13,
	LX_RIG_WAKE_UP = 14,
	LX_RIG_TIMER = 15,
	LX_RIG_WITHDRAW = 16,
	LX_RIG_RESTORE = 17,
};

struct lx_rig_task {
	u64 deadline_rel_ns;
	u64 period_ns;
	u64 budget_ns;
	u32 priority;
	u32 alone;
};

/* The arguments of an entry point; `time_ns` is the release, the next release, or the time used; `task` may be a group. */
struct lx_rig_event {
	u32 kind;
	u32 cpu;
	u32 task;
	u32 reserved;
	u64 time_ns;
	u64 now;
	/* Of the task that enters. */
	struct lx_rig_task parameters;
};

/* What can be seen of the decision beside the actions. */
struct lx_rig_result {
	u32 actions;
	/* take_due: the group; reschedule, finish: the task; message: 0 or 1. */
	u32 value;
	u64 next_due_at;
	u64 next_timer_at;
	/* Of the event's task, if that is one. */
	u64 deadline_abs_ns;
	u64 budget_left_ns;
	/* wake_up: what it returned. */
	u64 release_at;
};

/* An instance to set up. */
struct lx_rig_setup {
	struct lx_config config;
	/* Of each CPU. */
	u32 socket[LX_CPUS_MAX];
	struct lx_rig_task task[LX_TASKS_MAX];
};

struct lx_rig_input {
	u32 events;
	u32 reserved;
	struct lx_rig_event event[LX_RIG_EVENTS];
};

struct lx_rig_output {
	/* How many events have been handled, with how many actions. */
	u32 events;
	u32 actions;
	struct lx_rig_result result[LX_RIG_EVENTS];
	struct lx_action action[LX_RIG_ACTIONS];
};

#endif
