/* SPDX-License-Identifier: GPL-2.0-only */
/* What has begun on a CPU and will end there: functions, scheduling, switches. */
#ifndef LX_OVERHEADS_BEGUN_H
#define LX_OVERHEADS_BEGUN_H

#include "../trace/rings.bpf.h"

#define LX_SCHED_FIFO 1
#define LX_SCHED_RR 2
#define LX_SCHED_DEADLINE 6
#define LX_SCHED_EXT 7
#define LX_PF_KTHREAD 0x00200000

/* The loader's options (crates/laxity-overheads/src/recorder.rs): in a section of their own, so that it finds
 * them at offset 0. */
struct lx_options {
	u32 all; /* not only real-time threads */
	u32 unused;
	/* Addresses of the kernel's handlers of timers, 0 where they are not known. */
	u64 hrtimer_wakeup;
	u64 dl_task_timer;
	u64 tick;
};

const volatile struct lx_options lx_options SEC(".rodata.lx_overheads") = {};

/* One for each function whose duration is measured. */
enum lx_function {
	LX_FUNCTION_RELEASE,
	LX_FUNCTION_REPLENISH,
	LX_FUNCTION_TICK,
	LX_FUNCTION_SCHEDULER_TICK,
	LX_FUNCTION_ENQUEUE,
	LX_FUNCTION_DEQUEUE,
	LX_FUNCTION_PICK,
	LX_FUNCTION_PUSH_DL,
	LX_FUNCTION_PUSH_RT,
	LX_FUNCTION_PULL_DL,
	LX_FUNCTION_PULL_RT,
	LX_FUNCTION_PULL_SCX,
	LX_FUNCTION_SELECT_CPU,
	LX_FUNCTION_KICK,
	LX_FUNCTION_EMPTY,
	LX_FUNCTIONS
};

/* The thread that a sample is about. */
struct lx_thread {
	u32 pid;
	u32 policy;
};

/* What has begun on a CPU. */
struct lx_begun {
	struct lx_span functions[LX_FUNCTIONS];
	struct lx_thread threads[LX_FUNCTIONS];
	struct lx_span schedule;
	struct lx_span context_switch;
	struct lx_span schedule2;
	struct lx_thread switched;
	u64 before_ns; /* the part of this scheduling before its switch */
	u64 ipi_sent_ns; /* of the reschedule interrupt that has arrived; 0: none */
	u64 ipi_ns;
	u32 ipi_disturbing;
	u32 unused;
	u64 timer; /* the one that is being handled */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_begun);
} lx_begun SEC(".maps");

static __always_inline struct lx_begun *begun(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&lx_begun, &zero);
}

/* Laxity's own guardian watches over a run at the highest priority of SCHED_FIFO: it is no task of the run. */
#define LX_GUARDIAN_PRIORITY 99

static __always_inline bool is_real_time(const struct task_struct *p)
{
	u32 policy;

	if (lx_options.all)
		return true;
	policy = p->policy;
	if (policy == LX_SCHED_FIFO && p->rt_priority == LX_GUARDIAN_PRIORITY)
		return false;
	return (policy == LX_SCHED_DEADLINE || policy == LX_SCHED_FIFO || policy == LX_SCHED_RR ||
		policy == LX_SCHED_EXT) &&
	       !(p->flags & LX_PF_KTHREAD);
}

/* A function begins, for `thread`. */
static __always_inline void enter(enum lx_function function, u32 pid, u32 policy)
{
	struct lx_begun *b;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return;
	b = begun();
	if (!b)
		return;
	b->threads[function].pid = pid;
	b->threads[function].policy = policy;
	lx_trace_begin(&b->functions[function]);
}

static __always_inline void enter_for(enum lx_function function, const struct task_struct *p)
{
	if (lx_tracing(LX_TRACE_SAMPLES) && is_real_time(p))
		enter(function, p->pid, p->policy);
}

/* It ends. */
static __always_inline void leave(enum lx_function function, enum lx_sample kind)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();

	if (b && b->functions[function].begin_ns)
		lx_trace_end_at(&b->functions[function], now, kind, b->threads[function].pid,
				b->threads[function].policy, LX_NONE, LX_NONE, 0);
}

/* It ends without a sample. */
static __always_inline void leave_unrecorded(enum lx_function function)
{
	struct lx_begun *b = begun();

	if (b)
		b->functions[function].begin_ns = 0;
}

#endif
