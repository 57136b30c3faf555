// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overheads of cerqueira2014, IV-A, and the durations of lelli2012, Table 6, from outside the scheduler: probes on
 * what the kernel does for every scheduling class, so that all of them are measured alike.
 *
 *   overheads/switches.h    scheduling and context switches
 *   overheads/interrupts.h  reschedule interrupts; what disturbs samples
 *   overheads/releases.h    timers: releases, replenishments, the tick
 *   overheads/functions.h   functions of scheduling classes
 *
 * 1. Every program is optional: the loader leaves out what this kernel does not have (crates/laxity-overheads).
 * 2. Only what concerns real-time threads is recorded: user threads that asked for SCHED_DEADLINE, SCHED_FIFO, SCHED_RR
 *    or SCHED_EXT. `lx_options.all` lifts that.
 * 3. A sample begins and ends on one CPU, between functions that cannot migrate; where that is not so, it says it below.
 * 4. What user space must know (which function a sample came from) is the sample's kind and policy.
 */
#include "kernel/sched_ext.h"
#include "overheads/switches.h"
#include "overheads/interrupts.h"
#include "overheads/releases.h"
#include "overheads/functions.h"

char _license[] SEC("license") = "GPL";

/* The cost of tracing itself. A function of the kernel that is there to be traced and returns at once. */
OF_CLASS(bpf_fentry_test1, LX_FUNCTION_EMPTY, LX_SAMPLE_EMPTY, 0)
