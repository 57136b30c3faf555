// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's own scheduling classes do with the threads of a run: the records of bpf/host/trace.h, from outside. The
 * policies in bpf/ write theirs themselves.
 *
 *   hrtimer_wakeup      sched_waking   sched_wakeup    need_resched     sched_entry_tp   sched_switch   sched_exit_tp
 *        |--- RELEASE_OVERHEAD ---...                       |                  |               |              |
 *                            |-- SCHEDULING_OVERHEAD -|     |------ IPI -------|               |              |
 *                                 (of a wake-up)                               | SCHEDULING_   |---- PUSH ----|
 *                                                                              |   OVERHEAD ---|
 *                                                                             PREEMPT, BLOCK or THROTTLE; RESUME;
 *                                                                             BACKGROUND_STOP and _START
 *
 * 1. Threads are known by `members`. Jobs are not: the kernel knows threads that sleep and wake up. Who runs them knows their
 *    jobs, and puts the numbers in (laxity_kernel::schedule).
 * 2. Under SCHED_DEADLINE, argument2 of a record about a thread is its scheduling deadline, on CLOCK_MONOTONIC. The kernel has
 *    it on its own clock, which may run differently: the difference between the two is taken once (`clock_offset`), so that
 *    the order of deadlines is the kernel's.
 * 3. A thread that is no member is there for a reason (enum lx_other) if its class or priority is above all members', or if
 *    the kernel's server for ordinary threads has chosen it (task_struct.dl_server).
 * 4. PUSH, here with a length: after a switch, and when another CPU has asked for it, waiting threads are sent to others
 *    (argument2: enum lx_push).
 * 5. Every program is optional: what this kernel does not have is left out, and excuses nothing.
 */
#include <scx/common.bpf.h>
#include "trace/rings.bpf.h"

char _license[] SEC("license") = "GPL";

#define LX_SCHED_DEADLINE 6
#define LX_PF_KTHREAD 0x00200000
#define LX_CPUS_MAX 1024
#define LX_MEMBERS_MAX 16384

/* The lowest priority of a member as the kernel has it: a smaller number goes first; -1 under SCHED_DEADLINE. */
const volatile s32 lowest_prio = -1;

/* A thread of the run. */
struct lx_watched {
	u32 number;
	u32 unused;
	u64 waking;  /* when someone began to wake it up */
	u64 due;     /* the instant that its timer was set to, if that woke it up; 0: none */
	u64 woken;   /* when it had been woken up last */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LX_MEMBERS_MAX);
	__type(key, u32);
	__type(value, struct lx_watched);
} members SEC(".maps");

/* What a CPU is at. Written by whoever asks it, too. */
struct lx_at {
	u64 asked;    /* since when it has been asked to reschedule; 0: it has not */
	u64 answers;  /* since when it had been, when it entered the scheduler; 0: it had not */
	u64 entered;  /* when it entered the scheduler; 0: it has not, or that is not known */
	u64 switched; /* when it switched in that; 0: not yet */
	u64 timer;    /* when a handler of a timer of a member's began; 0: none */
	u64 timer_due;
	u64 away[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct lx_at);
} cpus SEC(".maps");

/* CLOCK_MONOTONIC less the kernel's clock of deadlines; 0: not taken yet. */
s64 clock_offset = 0;
/* When a CPU asked others last to send it waiting SCHED_FIFO threads. */
u64 pull_asked = 0;

extern struct rq runqueues __ksym;

static __always_inline struct lx_at *at(u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline struct lx_watched *watched(const struct task_struct *p)
{
	u32 pid = p->pid;

	return bpf_map_lookup_elem(&members, &pid);
}

static __always_inline void record(u32 kind, u32 cpu, u64 time, u32 pid, u32 number, u64 argument, u64 argument2)
{
	struct lx_ring *ring = lx_trace_ring();

	if (ring)
		lx_trace_write(ring, kind, cpu, time, pid, number, LX_NONE, argument, argument2);
}

/* The scheduling deadline of a thread, on CLOCK_MONOTONIC; 0 if it is not one of SCHED_DEADLINE's. */
static __always_inline u64 deadline_of(const struct task_struct *p, u64 now)
{
	if (p->policy != LX_SCHED_DEADLINE)
		return 0;
	if (!clock_offset) {
		struct rq *rq = bpf_this_cpu_ptr(&runqueues);

		__sync_val_compare_and_swap(&clock_offset, 0, (s64)(now - rq->clock));
	}
	return p->dl.deadline + clock_offset;
}

static __always_inline void record_thread(u32 kind, u64 now, const struct task_struct *p, const struct lx_watched *w)
{
	record(kind, bpf_get_smp_processor_id(), now, p->pid, w->number, 0, deadline_of(p, now));
}

/* --- scheduling ----------------------------------------------------------------------------------------------- */

SEC("tp_btf/sched_set_need_resched_tp")
int BPF_PROG(need_resched, struct task_struct *current_there, int cpu)
{
	struct lx_at *there;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return 0;
	there = at(cpu);
	if (there)
		__sync_val_compare_and_swap(&there->asked, 0, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(sched_entry)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_at *here;
	u64 now, asked;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return 0;
	here = at(cpu);
	if (!here)
		return 0;
	now = bpf_ktime_get_ns();
	here->entered = now;
	here->switched = 0;
	asked = __sync_lock_test_and_set(&here->asked, 0);
	here->answers = asked;
	if (asked && asked < now)
		record(LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_NONE, asked);
	return 0;
}

/* Why a thread that is no member has a CPU. */
static __always_inline u32 reason_of(const struct task_struct *p)
{
	if (bpf_core_field_exists(p->dl_server) && p->dl_server)
		return LX_OTHER_RESERVE;
	if (p->flags & LX_PF_KTHREAD)
		/* Threads that stop a CPU say that they have the highest priority of SCHED_FIFO. */
		return p->prio < lowest_prio || p->prio == 0 ? LX_OTHER_KERNEL : LX_OTHER_IDLE;
	return p->prio < lowest_prio ? LX_OTHER_CLASS : LX_OTHER_IDLE;
}

/*
 * A thread that is throttled gives way: until now it was in the way of any other, since its budget was used up and the CPU was
 * asked to reschedule.
 */
static __always_inline void record_throttling(u64 now, const struct lx_at *here)
{
	if (here->answers && here->answers < now)
		record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), here->answers, 0, LX_NONE, now - here->answers,
		       LX_PUSH_THROTTLES);
}

static __always_inline void record_leaving(u64 now, struct task_struct *prev, u32 state, const struct lx_at *here)
{
	struct lx_watched *w = watched(prev);

	if (!w) {
		if (prev->pid)
			record(LX_TRACE_BACKGROUND_STOP, bpf_get_smp_processor_id(), now, prev->pid, LX_NONE, prev->pid, 0);
		return;
	}
	if (prev->policy == LX_SCHED_DEADLINE && prev->dl.dl_throttled) {
		record_thread(LX_TRACE_THROTTLE, now, prev, w);
		record_throttling(now, here);
	} else {
		record_thread(LX_TRACE_PREEMPT, now, prev, w);
	}
	if (state)
		record_thread(LX_TRACE_BLOCK, now, prev, w);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_watched *w;
	struct lx_at *here;
	u64 now, entered;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return 0;
	here = at(cpu);
	if (!here)
		return 0;
	now = bpf_ktime_get_ns();
	entered = here->entered ? here->entered : now;
	here->entered = 0;
	here->switched = now;
	w = watched(next);
	record(LX_TRACE_SCHEDULING_OVERHEAD, cpu, entered, 0, w ? w->number : LX_NONE, now - entered, 0);
	/* Who is preempted goes on whatever state it has prepared for. */
	record_leaving(now, prev, preempt ? 0 : state, here);
	if (w)
		record_thread(LX_TRACE_RESUME, now, next, w);
	else if (next->pid)
		record(LX_TRACE_BACKGROUND_START, cpu, now, next->pid, LX_NONE, next->pid, reason_of(next));
	else
		/* From here on it idles because it has found nothing. */
		record(LX_TRACE_SCHEDULING_OVERHEAD, cpu, now + 1, 0, LX_NONE, 0, 0);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(sched_exit, bool is_switch)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct lx_at *here = at(cpu);
	u64 begun;

	if (!here || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	begun = is_switch ? here->switched : 0;
	here->entered = 0;
	here->switched = 0;
	if (begun)
		record(LX_TRACE_PUSH, cpu, begun, 0, LX_NONE, bpf_ktime_get_ns() - begun, 0);
	return 0;
}

/* --- releases ------------------------------------------------------------------------------------------------- */

SEC("fentry/hrtimer_wakeup")
int BPF_PROG(enter_hrtimer_wakeup, struct hrtimer *timer)
{
	struct hrtimer_sleeper *sleeper;
	struct task_struct *p;
	struct lx_watched *w;
	struct lx_at *here;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return 0;
	sleeper = bpf_core_cast(timer, struct hrtimer_sleeper);
	p = sleeper->task;
	here = at(bpf_get_smp_processor_id());
	if (!p || !here)
		return 0;
	w = watched(p);
	if (!w)
		return 0;
	here->timer = bpf_ktime_get_ns();
	here->timer_due = timer->_softexpires;
	w->due = timer->_softexpires;
	return 0;
}

/* A timer of a member's has been handled. */
static __always_inline void record_timer(struct lx_at *here)
{
	u64 begun = here->timer;

	here->timer = 0;
	if (begun && lx_tracing(LX_TRACE_EVENTS))
		record(LX_TRACE_RELEASE_OVERHEAD, bpf_get_smp_processor_id(), begun, 0, LX_NONE, bpf_ktime_get_ns() - begun,
		       here->timer_due < begun ? here->timer_due : begun);
}

SEC("fexit/hrtimer_wakeup")
int BPF_PROG(exit_hrtimer_wakeup)
{
	struct lx_at *here = at(bpf_get_smp_processor_id());

	if (here)
		record_timer(here);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	struct lx_watched *w = watched(p);

	if (w)
		w->waking = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *p)
{
	struct lx_watched *w = watched(p);
	u64 now, due;

	if (!w || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	now = bpf_ktime_get_ns();
	due = w->due && w->due < w->waking ? w->due : w->waking;
	w->due = 0;
	w->woken = now;
	record_thread(LX_TRACE_WAKE, now, p, w);
	if (w->waking && w->waking < now)
		record(LX_TRACE_SCHEDULING_OVERHEAD, bpf_get_smp_processor_id(), w->waking, 0, LX_NONE, now - w->waking, due);
	return 0;
}

/* Where it is not to run on the CPU on which it has been woken up, it is sent to another one. */
static __always_inline int record_sending(const struct task_struct *p)
{
	struct lx_watched *w = watched(p);
	u64 now;

	if (!w || !w->woken || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	now = bpf_ktime_get_ns();
	record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), w->woken, 0, LX_NONE, now - w->woken, LX_PUSH_SENDS);
	w->woken = 0;
	return 0;
}

SEC("fexit/task_woken_dl")
int BPF_PROG(exit_task_woken_dl, struct rq *rq, struct task_struct *p)
{
	return record_sending(p);
}

SEC("fexit/task_woken_rt")
int BPF_PROG(exit_task_woken_rt, struct rq *rq, struct task_struct *p)
{
	return record_sending(p);
}

/* --- budgets -------------------------------------------------------------------------------------------------- */

/* A throttled thread's timer: it has a new budget, and a later deadline. */
SEC("fentry/dl_task_timer")
int BPF_PROG(enter_dl_task_timer, struct hrtimer *timer)
{
	struct lx_at *here = at(bpf_get_smp_processor_id());

	if (!here || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	here->timer = bpf_ktime_get_ns();
	here->timer_due = timer->_softexpires;
	return 0;
}

SEC("fexit/dl_task_timer")
int BPF_PROG(exit_dl_task_timer, struct hrtimer *timer)
{
	struct sched_dl_entity *entity = container_of(timer, struct sched_dl_entity, dl_timer);
	struct lx_at *here = at(bpf_get_smp_processor_id());
	struct task_struct *p;
	struct lx_watched *w;
	u64 begun;

	if (!here || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	begun = here->timer;
	p = bpf_core_cast(container_of(entity, struct task_struct, dl), struct task_struct);
	/* The servers of other classes have such timers, too, and are in no thread. */
	w = watched(p);
	if (!w || !begun || p->policy != LX_SCHED_DEADLINE) {
		here->timer = 0;
		return 0;
	}
	if (!p->dl.dl_throttled)
		record(LX_TRACE_REPLENISH, LX_NONE, begun, p->pid, w->number, 0, deadline_of(p, begun));
	record_timer(here);
	return 0;
}

/* --- SCHED_FIFO: a CPU that has become free asks others, by an interrupt, to send it what waits -------------------- */

SEC("fentry/pull_rt_task")
int BPF_PROG(enter_pull_rt_task)
{
	if (lx_tracing(LX_TRACE_EVENTS))
		pull_asked = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/rto_push_irq_work_func")
int BPF_PROG(exit_rto_push_irq_work_func)
{
	u64 asked = pull_asked;

	if (asked && lx_tracing(LX_TRACE_EVENTS))
		record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), asked, 0, LX_NONE, bpf_ktime_get_ns() - asked, 0);
	return 0;
}
