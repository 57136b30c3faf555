/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface of user space and the host. crates/laxity-kernel/src/ffi.rs is made from it (make bless). */
#ifndef LX_HOST_SETUP_H
#define LX_HOST_SETUP_H

#include "admission.h"
#include "reserve.h"
#include "state.h"

/* Capacities of the kernel's build. */
#define LX_HOST_TASKS 2048
#define LX_HOST_CPUS 256
#define LX_HOST_SOCKETS 8
/*
 * The longest period, in ns: SCHED_DEADLINE's default (sched_deadline_period_max_us). A task that waits for its release counts
 * as runnable, and the kernel throws out a scheduler that leaves one waiting for half a minute.
 */
#define LX_HOST_PERIOD_MAX 4194304000ull

/* An instance, as user space sets it up before the scheduler is attached. */
struct lx_host_setup {
	u32 instance;
	u32 reserved;
	struct lx_config config;
	/* What real-time tasks may be admitted for, of each CPU, in millionths. */
	u64 share_ppm;
	/* sched_rt_period_us and sched_rt_runtime_us, in ns. */
	u64 reserve_period_ns;
	u64 reserve_runtime_ns;
	u32 cpu[LX_HOST_CPUS];
	u32 socket[LX_HOST_CPUS];
};

/* What a task has asked for, in ns. */
struct lx_parameters {
	u64 runtime_ns;
	u64 deadline_rel_ns;
	u64 period_ns;
};

/* A core of a policy with servers (amp-rm): for size_core. */
struct lx_host_core {
	/* The kernel's number. */
	u32 cpu;
	/* Relative to the other cores'; 0: it is not there. */
	u32 speed;
	/* Of its server, in ns; a period of 0: none. */
	u64 budget_ns;
	u64 period_ns;
	/* What real-time tasks may be admitted for, in millionths of it. */
	u64 share_ppm;
	/* Only the process that writes this may admit tasks there, or change those that are there: their deadlines
	 * have been proven. */
	u64 closed;
	/*
	 * The answer: from which instant on the server has that size, in ns of CLOCK_MONOTONIC. LX_NEVER: as soon as no real-time
	 * job of the core is pending, as its period is another one.
	 */
	u64 from_at;
};

/* Time of background work on a core with a server, in ns. */
struct lx_background_times {
	/* Before real-time work, by the server and by the reserve. */
	u64 server_ns;
	u64 reserve_ns;
	/* Where no real-time work wanted the core. */
	u64 background_ns;
	/* The last instant seen at which no real-time job of the core was pending. */
	u64 quiet_at;
};

/* What happened since the scheduler was attached; per CPU. */
struct lx_counters {
	/* Release interrupts that released something. */
	u64 releases;
	/* Jobs that ended. */
	u64 completions;
	/* Budgets that ran out. */
	u64 exhaustions;
	/* CPUs asked to decide anew. */
	u64 kicks;
	/* Decisions of CPUs, and how many of them put a task on the CPU. */
	u64 decisions;
	u64 dispatches;
	/* Decisions whose task was still on its way off another CPU. */
	u64 retries;
	/* Decisions where the reserve for background work stopped real-time tasks. */
	u64 reserved;
	/* Times that background work was put on a CPU. */
	u64 background;
	/* Calls of sched_setattr that were granted and refused; tasks that left. */
	u64 admitted;
	u64 refused;
	u64 departed;
	/* Times that a lock of a whole instance was taken. */
	u64 instance_locks;
	/* Decisions where background work went before real-time tasks by its server. */
	u64 served;
	/* Timers that the kernel did not start: the next decision or tick does what they were for. */
	u64 timer_failures;
	/* Times that a job which others had kept from every CPU for too long had one for a moment. */
	u64 rescued;
	/* Times that a class above took a CPU from an instance. */
	u64 withdrawals;
	/* Times that a kernel thread bound to a CPU had gone first for as long as it may, and waited. */
	u64 bounded;
};

#endif
