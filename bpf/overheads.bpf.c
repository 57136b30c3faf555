// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overheads of cerqueira2014, IV-A, and the durations of lelli2012, Table 6, from outside the scheduler: probes on
 * what the kernel does for every scheduling class, so that all of them are measured alike.
 *
 *       sched_entry_tp      sched_switch    finish_task_switch    sched_exit_tp
 *            |                    |                  |                  |
 *            |---- SCHEDULE ------|- CONTEXT_SWITCH -|---- SCHEDULE2 ---|
 *            |---- SCHEDULE_KEPT: if there is no switch ----------------|
 *
 * 1. Every program is optional: the loader leaves out what this kernel does not have (crates/laxity-overheads).
 * 2. Only what concerns real-time threads is recorded: user threads that asked for SCHED_DEADLINE, SCHED_FIFO, SCHED_RR
 *    or SCHED_EXT. `lx_all` lifts that.
 * 3. A sample begins and ends on one CPU, between functions that cannot migrate; where that is not so, it says it below.
 * 4. What user space must know (which function a sample came from) is the sample's kind and policy.
 */
#include <scx/common.bpf.h>
#include "trace/rings.bpf.h"

char _license[] SEC("license") = "GPL";

#define LX_SCHED_FIFO 1
#define LX_SCHED_RR 2
#define LX_SCHED_DEADLINE 6
#define LX_SCHED_EXT 7
#define LX_PF_KTHREAD 0x00200000
#define LX_CLOCK_MONOTONIC 1
#define LX_CPUS_MAX 1024

/* Not only real-time threads. In a section of its own, so that the loader finds it at offset 0. */
const volatile u32 lx_all SEC(".rodata.lx_overheads") = 0;

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

/* Whom a sample is about. */
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
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_begun);
} lx_begun SEC(".maps");

/* A reschedule interrupt on its way to a CPU. */
struct lx_sent {
	u64 time_ns; /* 0: none */
	u32 interrupts; /* of the receiver, when it was sent */
	u32 unused;
	u64 away[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct lx_sent);
} lx_sent SEC(".maps");

/* Since when a thread is off its CPU; at its pid mod LX_STOPPED. What another thread has overwritten is not known. */
#define LX_STOPPED 65536
#define LX_RUNS (~0ULL)
struct lx_stopped {
	u64 time_ns;
	u32 pid;
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_STOPPED);
	__type(key, u32);
	__type(value, struct lx_stopped);
} lx_stopped SEC(".maps");

static __always_inline struct lx_begun *begun(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&lx_begun, &zero);
}

static __always_inline bool is_real_time(const struct task_struct *p)
{
	u32 policy;

	if (lx_all)
		return true;
	policy = p->policy;
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

/* It ends, and was about nobody. */
static __always_inline void leave_unrecorded(enum lx_function function)
{
	struct lx_begun *b = begun();

	if (b)
		b->functions[function].begin_ns = 0;
}

/* --- scheduling and switching ------------------------------------------------------------------------------- */

/* A reschedule interrupt led to a scheduling that is about a real-time thread. */
static __always_inline void record_ipi(struct lx_begun *b, u32 pid, u32 policy)
{
	struct lx_ring *ring;

	if (!b->ipi_sent_ns)
		return;
	ring = lx_trace_ring();
	if (ring) {
		struct lx_record record = {
			.time_ns = b->ipi_sent_ns,
			.argument = b->ipi_ns,
			.kind = LX_SAMPLE_IPI_LATENCY,
			.cpu = bpf_get_smp_processor_id(),
			.pid = pid,
			.task = LX_NONE,
			.job = LX_NONE,
			.policy = policy,
			.interrupts = ring->interrupts,
			.disturbing = b->ipi_disturbing,
		};
		lx_ring_write(ring, &record);
	}
	b->ipi_sent_ns = 0;
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(sched_entry, bool preempt)
{
	struct lx_begun *b;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	b = begun();
	if (b)
		lx_trace_begin(&b->schedule);
	return 0;
}

static __always_inline void note_stop(u32 pid, u64 now)
{
	u32 slot = pid % LX_STOPPED;
	struct lx_stopped *stopped = bpf_map_lookup_elem(&lx_stopped, &slot);

	if (stopped) {
		stopped->pid = pid;
		stopped->time_ns = now;
	}
}

/* The thread is off its CPU, and was at that time. */
static __always_inline bool had_stopped_by(u32 pid, u64 time_ns)
{
	u32 slot = pid % LX_STOPPED;
	struct lx_stopped *stopped = bpf_map_lookup_elem(&lx_stopped, &slot);

	return stopped && stopped->pid == pid && stopped->time_ns <= time_ns;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now;
	bool from, to;
	struct lx_begun *b;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	now = bpf_ktime_get_ns();
	b = begun();
	if (!b)
		return 0;
	b->context_switch.begin_ns = 0;
	b->schedule2.begin_ns = 0;
	b->before_ns = 0;
	from = is_real_time(prev);
	to = is_real_time(next);
	if (from)
		note_stop(prev->pid, now);
	if (to)
		note_stop(next->pid, LX_RUNS);
	if (!to && !from) {
		b->schedule.begin_ns = 0;
		return 0;
	}
	b->switched.pid = to ? next->pid : prev->pid;
	b->switched.policy = to ? next->policy : prev->policy;
	record_ipi(b, b->switched.pid, b->switched.policy);
	b->before_ns = lx_trace_end_at(&b->schedule, now, LX_SAMPLE_SCHEDULE, b->switched.pid, b->switched.policy,
				       LX_NONE, LX_NONE, 0);
	lx_trace_begin(&b->context_switch);
	return 0;
}

/* Compilers give this function another name (finish_task_switch.isra.0), which fentry cannot attach to. */
SEC("kprobe.multi/finish_task_switch*")
int finish_task_switch(struct pt_regs *context)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();

	if (!b || !b->context_switch.begin_ns)
		return 0;
	lx_trace_end_at(&b->context_switch, now, LX_SAMPLE_CONTEXT_SWITCH, b->switched.pid, b->switched.policy,
			LX_NONE, LX_NONE, 0);
	lx_trace_begin(&b->schedule2);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(sched_exit, bool is_switch)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();
	struct task_struct *current;

	if (!b)
		return 0;
	if (is_switch) {
		if (b->schedule2.begin_ns)
			lx_trace_end_at(&b->schedule2, now, LX_SAMPLE_SCHEDULE2, b->switched.pid, b->switched.policy,
					LX_NONE, LX_NONE, b->before_ns);
	} else if (b->schedule.begin_ns) {
		current = bpf_get_current_task_btf();
		if (is_real_time(current)) {
			record_ipi(b, current->pid, current->policy);
			lx_trace_end_at(&b->schedule, now, LX_SAMPLE_SCHEDULE_KEPT, current->pid, current->policy,
					LX_NONE, LX_NONE, 0);
		}
		b->schedule.begin_ns = 0;
	}
	b->ipi_sent_ns = 0;
	return 0;
}

/* --- interrupts ---------------------------------------------------------------------------------------------- */

/* The kernel names no callback where it sends a reschedule interrupt. The first of those on their way counts. */
SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(ipi_send_cpu, unsigned int cpu, unsigned long callsite, void *callback)
{
	struct lx_sent *sent;
	struct lx_ring *ring;
	u32 receiver = cpu;

	if (!lx_tracing(LX_TRACE_SAMPLES) || callback)
		return 0;
	sent = bpf_map_lookup_elem(&lx_sent, &receiver);
	ring = bpf_map_lookup_elem(&lx_trace_rings, &receiver);
	if (!sent || !ring || sent->time_ns)
		return 0;
	sent->interrupts = ring->interrupts;
	__sync_val_compare_and_swap(&sent->time_ns, 0, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/reschedule_entry")
int BPF_PROG(reschedule_entry, int vector)
{
	u64 now = bpf_ktime_get_ns();
	u64 sent_ns;
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_sent *sent = bpf_map_lookup_elem(&lx_sent, &cpu);
	struct lx_ring *ring = lx_trace_ring();
	struct lx_begun *b = begun();

	if (!sent || !ring || !b)
		return 0;
	sent_ns = __sync_lock_test_and_set(&sent->time_ns, 0);
	if (sent_ns && now > sent_ns && lx_tracing(LX_TRACE_SAMPLES)) {
		b->ipi_sent_ns = sent_ns;
		b->ipi_ns = now - sent_ns;
		b->ipi_disturbing = ring->interrupts - sent->interrupts;
	}
	__sync_fetch_and_add(&ring->interrupts, 1);
	return 0;
}

/* Everything else that may come between the beginning and the end of a sample. */
#define COUNTED(tracepoint)                 \
	SEC("tp_btf/" #tracepoint)          \
	int tracepoint(void *context)       \
	{                                   \
		lx_trace_count_interrupt(); \
		return 0;                   \
	}

COUNTED(local_timer_entry)
COUNTED(call_function_entry)
COUNTED(call_function_single_entry)
COUNTED(irq_work_entry)
COUNTED(irq_handler_entry)
COUNTED(softirq_entry)
COUNTED(nmi_handler)

/* --- releases ------------------------------------------------------------------------------------------------ */

/* A timer is due: how late, where its clock is the one we read. */
static __always_inline void record_latency(u64 due, u32 pid, u32 policy)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_ring *ring = lx_trace_ring();

	if (now < due || !ring)
		return;
	struct lx_record record = {
		.time_ns = due,
		.argument = now - due,
		.kind = LX_SAMPLE_RELEASE_LATENCY,
		.cpu = bpf_get_smp_processor_id(),
		.pid = pid,
		.task = LX_NONE,
		.job = LX_NONE,
		.policy = policy,
		.interrupts = ring->interrupts,
	};
	lx_ring_write(ring, &record);
}

/*
 * A thread that sleeps until a time (clock_nanosleep) is woken: under every scheduler the release of its next job.
 * Who is late asks to sleep until a time that is past, and the timer fires at once: that releases nothing, and says
 * nothing about latency. So the thread must have been off its CPU when the timer was due.
 */
SEC("fentry/hrtimer_wakeup")
int BPF_PROG(enter_hrtimer_wakeup, struct hrtimer *timer)
{
	struct hrtimer_sleeper *sleeper;
	struct task_struct *p;
	u64 due;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	sleeper = bpf_core_cast(timer, struct hrtimer_sleeper);
	p = sleeper->task;
	if (!p || !is_real_time(p) || timer->base->clockid != LX_CLOCK_MONOTONIC)
		return 0;
	due = timer->_softexpires;
	if (!had_stopped_by(p->pid, due))
		return 0;
	record_latency(due, p->pid, p->policy);
	enter(LX_FUNCTION_RELEASE, p->pid, p->policy);
	return 0;
}

SEC("fexit/hrtimer_wakeup")
int BPF_PROG(exit_hrtimer_wakeup)
{
	leave(LX_FUNCTION_RELEASE, LX_SAMPLE_RELEASE);
	return 0;
}

/* SCHED_DEADLINE gives a thread its next budget: after sched_yield that is the release of its next job. */
SEC("fentry/dl_task_timer")
int BPF_PROG(enter_dl_task_timer, struct hrtimer *timer)
{
	struct sched_dl_entity *entity;
	struct task_struct *p;
	void *at;

	if (!lx_tracing(LX_TRACE_SAMPLES))
		return 0;
	at = (void *)timer - bpf_core_field_offset(struct sched_dl_entity, dl_timer);
	entity = bpf_core_cast(at, struct sched_dl_entity);
	if (BPF_CORE_READ_BITFIELD(entity, dl_server))
		return 0;
	p = bpf_core_cast(at - bpf_core_field_offset(struct task_struct, dl), struct task_struct);
	if (!is_real_time(p))
		return 0;
	if (BPF_CORE_READ_BITFIELD(entity, dl_yielded)) {
		record_latency(timer->_softexpires, p->pid, p->policy);
		enter(LX_FUNCTION_RELEASE, p->pid, p->policy);
	} else {
		enter(LX_FUNCTION_REPLENISH, p->pid, p->policy);
	}
	return 0;
}

SEC("fexit/dl_task_timer")
int BPF_PROG(exit_dl_task_timer)
{
	leave(LX_FUNCTION_RELEASE, LX_SAMPLE_RELEASE);
	leave(LX_FUNCTION_REPLENISH, LX_SAMPLE_REPLENISH);
	return 0;
}

/* --- durations of functions ---------------------------------------------------------------------------------- */

/* What a real-time thread is interrupted by. */
#define INTERRUPTING(function, slot, kind)                        \
	SEC("fentry/" #function)                                  \
	int enter_##function(void *context)                       \
	{                                                         \
		if (lx_tracing(LX_TRACE_SAMPLES))                 \
			enter_for(slot, bpf_get_current_task_btf()); \
		return 0;                                         \
	}                                                         \
	SEC("fexit/" #function)                                   \
	int exit_##function(void *context)                        \
	{                                                         \
		leave(slot, kind);                                \
		return 0;                                         \
	}

INTERRUPTING(tick_nohz_handler, LX_FUNCTION_TICK, LX_SAMPLE_TICK)
INTERRUPTING(sched_tick, LX_FUNCTION_SCHEDULER_TICK, LX_SAMPLE_SCHEDULER_TICK)

/* Of a thread that is the second argument. */
#define OF_THREAD(function, slot, kind)                                         \
	SEC("fentry/" #function)                                                \
	int BPF_PROG(enter_##function, struct rq *rq, struct task_struct *p)    \
	{                                                                       \
		enter_for(slot, p);                                             \
		return 0;                                                       \
	}                                                                       \
	SEC("fexit/" #function)                                                 \
	int exit_##function(void *context)                                      \
	{                                                                       \
		leave(slot, kind);                                              \
		return 0;                                                       \
	}

OF_THREAD(enqueue_task_dl, LX_FUNCTION_ENQUEUE, LX_SAMPLE_ENQUEUE)
OF_THREAD(enqueue_task_rt, LX_FUNCTION_ENQUEUE, LX_SAMPLE_ENQUEUE)
OF_THREAD(enqueue_task_scx, LX_FUNCTION_ENQUEUE, LX_SAMPLE_ENQUEUE)
OF_THREAD(dequeue_task_dl, LX_FUNCTION_DEQUEUE, LX_SAMPLE_DEQUEUE)
OF_THREAD(dequeue_task_rt, LX_FUNCTION_DEQUEUE, LX_SAMPLE_DEQUEUE)
OF_THREAD(dequeue_task_scx, LX_FUNCTION_DEQUEUE, LX_SAMPLE_DEQUEUE)

/* Of a thread that is the first argument. */
#define SELECTING(function)                                             \
	SEC("fentry/" #function)                                        \
	int BPF_PROG(enter_##function, struct task_struct *p)           \
	{                                                               \
		enter_for(LX_FUNCTION_SELECT_CPU, p);                   \
		return 0;                                               \
	}                                                               \
	SEC("fexit/" #function)                                         \
	int exit_##function(void *context)                              \
	{                                                               \
		leave(LX_FUNCTION_SELECT_CPU, LX_SAMPLE_SELECT_CPU);    \
		return 0;                                               \
	}

SELECTING(select_task_rq_dl)
SELECTING(select_task_rq_rt)
SELECTING(select_task_rq_scx)

/* Of the thread that it returns. The number of arguments differs between kernels: 2 since 6.19. */
#define PICKING(function)                                                                    \
	SEC("fentry/" #function)                                                             \
	int enter_##function(void *context)                                                  \
	{                                                                                    \
		enter(LX_FUNCTION_PICK, 0, 0);                                               \
		return 0;                                                                    \
	}                                                                                    \
	SEC("fexit/" #function)                                                              \
	int exit_##function(void *context)                                                   \
	{                                                                                    \
		picked(context);                                                             \
		return 0;                                                                    \
	}

/* RETRY_TASK is -1: not a thread. */
static __always_inline void picked(void *context)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();
	struct task_struct *p;
	u64 returned = 0;

	if (!b || !b->functions[LX_FUNCTION_PICK].begin_ns)
		return;
	if (bpf_get_func_ret(context, &returned) || !returned || returned == -1ULL)
		goto nobody;
	p = bpf_core_cast((void *)returned, struct task_struct);
	if (!is_real_time(p))
		goto nobody;
	lx_trace_end_at(&b->functions[LX_FUNCTION_PICK], now, LX_SAMPLE_PICK, p->pid, p->policy, LX_NONE, LX_NONE, 0);
	return;
nobody:
	leave_unrecorded(LX_FUNCTION_PICK);
}

PICKING(pick_task_dl)
PICKING(pick_task_rt)
PICKING(pick_task_scx)

/* Of a whole class. */
#define OF_CLASS(function, slot, kind, policy)                  \
	SEC("fentry/" #function)                                \
	int enter_##function(void *context)                     \
	{                                                       \
		enter(slot, 0, policy);                         \
		return 0;                                       \
	}                                                       \
	SEC("fexit/" #function)                                 \
	int exit_##function(void *context)                      \
	{                                                       \
		leave(slot, kind);                              \
		return 0;                                       \
	}

OF_CLASS(push_dl_tasks, LX_FUNCTION_PUSH_DL, LX_SAMPLE_PUSH, LX_SCHED_DEADLINE)
OF_CLASS(push_rt_tasks, LX_FUNCTION_PUSH_RT, LX_SAMPLE_PUSH, LX_SCHED_FIFO)
OF_CLASS(pull_dl_task, LX_FUNCTION_PULL_DL, LX_SAMPLE_PULL, LX_SCHED_DEADLINE)
OF_CLASS(pull_rt_task, LX_FUNCTION_PULL_RT, LX_SAMPLE_PULL, LX_SCHED_FIFO)
OF_CLASS(balance_scx, LX_FUNCTION_PULL_SCX, LX_SAMPLE_PULL, LX_SCHED_EXT)
OF_CLASS(kick_cpus_irq_workfn, LX_FUNCTION_KICK, LX_SAMPLE_KICK, LX_SCHED_EXT)

/* --- the cost of tracing itself ------------------------------------------------------------------------------- */

/* A function of the kernel that is there to be traced and returns at once. */
OF_CLASS(bpf_fentry_test1, LX_FUNCTION_EMPTY, LX_SAMPLE_EMPTY, 0)
