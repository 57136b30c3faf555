/* SPDX-License-Identifier: GPL-2.0-only */
/* What a record is (crates/laxity-kernel/src/rings/kinds.rs has the same, and a test that they agree). */
#ifndef LAXITY_TRACE_KINDS_H
#define LAXITY_TRACE_KINDS_H

/* Schedule events: the code of laxity_trace::EventKind + 1. The argument is what that says. */
enum lx_trace_kind {
	LX_TRACE_RELEASE = 1,
	LX_TRACE_START,
	LX_TRACE_PREEMPT,
	LX_TRACE_RESUME,
	LX_TRACE_MIGRATE,
	LX_TRACE_BLOCK,
	LX_TRACE_WAKE,
	LX_TRACE_COMPLETE,
	LX_TRACE_THROTTLE,
	LX_TRACE_REPLENISH,
	LX_TRACE_POSTPONE,
	LX_TRACE_DEADLINE_MISS,
	LX_TRACE_ENTER,
	LX_TRACE_LEAVE,
	LX_TRACE_IPI,
	LX_TRACE_RELEASE_OVERHEAD,
	LX_TRACE_SCHEDULING_OVERHEAD,
	LX_TRACE_SWITCH_OVERHEAD,
	LX_TRACE_TICK_OVERHEAD,
	LX_TRACE_DSP_OVERHEAD,
	LX_TRACE_LOCK_WAIT,
	LX_TRACE_CACHE_DELAY,
	LX_TRACE_DSP_MESSAGE,
	LX_TRACE_STALE_MESSAGE,
	LX_TRACE_LINK_SWAP,
	LX_TRACE_PUSH,
	LX_TRACE_PUSH_FAILED,
	LX_TRACE_PUSH_ABANDONED,
	LX_TRACE_PULL,
	LX_TRACE_PULL_FAILED,
	LX_TRACE_BACKGROUND_START,
	LX_TRACE_BACKGROUND_STOP,
	LX_TRACE_ABORT,
	LX_TRACE_SKIP,
	LX_TRACE_PROMOTE,
	LX_TRACE_DEMOTE,
	LX_TRACE_SERVER_PERIOD,
	LX_TRACE_SERVER_BUDGET,
	LX_TRACE_BACKGROUND_WAIT,
	LX_TRACE_WITHDRAW,
	LX_TRACE_RESTORE,
};

/* Samples of overheads: the argument is a length in ns, the time when it began. cerqueira2014, IV-A, unless said. */
enum lx_sample {
	/* From the nominal release until the handler that releases runs. */
	LX_SAMPLE_RELEASE_LATENCY = 64,
	/* That handler: until the job is queued and preemptions are asked for. */
	LX_SAMPLE_RELEASE,
	/* From sending a reschedule interrupt until its handler runs. */
	LX_SAMPLE_IPI_LATENCY,
	/* Scheduling before a switch: from the scheduler's entry until the next thread is chosen. */
	LX_SAMPLE_SCHEDULE,
	/* Scheduling after a switch, until the scheduler is left. argument2: the part before it, in ns; 0: unknown. */
	LX_SAMPLE_SCHEDULE2,
	/* Between the two. */
	LX_SAMPLE_CONTEXT_SWITCH,
	/* The handler of a timer tick. */
	LX_SAMPLE_TICK,
	/* From sending a message to the dedicated scheduling processor until it takes it. */
	LX_SAMPLE_REQUEST_LATENCY,
	/* The dedicated scheduling processor's handling of a message. */
	LX_SAMPLE_DSP_HANDLER,
	/* A scheduler's run that keeps the running thread, from entry to exit. */
	LX_SAMPLE_SCHEDULE_KEPT,
	/* The scheduler's part of a tick. */
	LX_SAMPLE_SCHEDULER_TICK,
	/* A throttled thread's budget is replenished. */
	LX_SAMPLE_REPLENISH,
	/* Both parts of a scheduling around a switch: made by the reader, never written in the kernel. */
	LX_SAMPLE_SCHEDULE_BOTH,

	/* Functions of a scheduling class (lelli2012, 6.4, Table 6). `policy` says which class. */
	LX_SAMPLE_ENQUEUE = 80,
	LX_SAMPLE_DEQUEUE,
	LX_SAMPLE_PICK,
	LX_SAMPLE_PUSH,
	LX_SAMPLE_PULL,
	LX_SAMPLE_SELECT_CPU,
	LX_SAMPLE_KICK,

	/* A pair of time stamps around a function that does next to nothing: what tracing itself adds to a sample. */
	LX_SAMPLE_EMPTY = 127,
};

#define LX_SAMPLE_FIRST 64u

/*
 * Argument of an IPI that is the CPU's own budget timer, or the tick where there is none: it was to go off at argument2, and has
 * not before the record's time.
 */
#define LX_OVERDUE 0xfffffffdu

/* Argument of an IPI that the CPU has answered without any program being called: what it did since is not known. */
#define LX_UNSEEN 0xfffffffeu

/* What a PUSH with a length is, where the kernel's own classes are watched: its argument2. */
enum lx_push {
	/* Waiting threads are sent to other CPUs. */
	LX_PUSH_SENDS,
	/* A thread has used up its budget, and has yet to give way. */
	LX_PUSH_THROTTLES,
};

/* Why a thread that is none of the tasks has a CPU: argument2 of BACKGROUND_START. */
enum lx_other {
	/* No task wants it. */
	LX_OTHER_IDLE,
	/* It is a thread of the kernel's. */
	LX_OTHER_KERNEL,
	/* It is of a scheduling class above. */
	LX_OTHER_CLASS,
	/* Real-time work has had its share of the CPU (policy/reserve.h). */
	LX_OTHER_RESERVE,
	/* Its server has a budget left (policy/deferrable.h). */
	LX_OTHER_SERVER,
};

#endif
