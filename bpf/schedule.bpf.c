// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's own scheduling classes do with the threads of a run: the records of bpf/host/trace.h, from outside. The
 * policies in bpf/ write theirs themselves.
 *
 *   hrtimer_expire      sched_waking   sched_wakeup    need_resched     sched_entry_tp   sched_switch   sched_exit_tp
 *        |--- RELEASE_OVERHEAD ---...                       |                  |               |              |
 *                            |-- SCHEDULING_OVERHEAD -|     |------ IPI -------|               |              |
 *                                 (of a wake-up)                               | SCHEDULING_   |---- PUSH ----|
 *                                                                              |   OVERHEAD ---|
 *                                                                             PREEMPT, BLOCK or THROTTLE; RESUME;
 *                                                                             BACKGROUND_STOP and _START
 *
 * 1. Threads are known by `members`. Jobs are not: the kernel knows threads that sleep and wake up. The program that
 *    runs them knows their jobs, and puts the numbers in (laxity_kernel::schedule).
 * 2. Under SCHED_DEADLINE, argument2 of a record about a thread is its scheduling deadline, on the kernel's own clock. What
 *    that is on CLOCK_MONOTONIC is found out from all of them.
 *    The argument is what is left of its budget.
 * 3. A thread that is no member is there for a reason (enum lx_other) if its class or priority is above all members', or if
 *    the kernel's server for SCHED_OTHER threads has chosen it (task_struct.dl_server).
 * 4. PUSH, here with a length: after a switch, and when another CPU has asked for it, waiting threads are sent to others
 *    (argument2: enum lx_push).
 * 5. There are threads in whose context a kernel calls no program. That one of them has left its CPU shows when the
 *    thread that came in its place leaves the scheduler: the thread that has the CPU then is not the one seen coming.
 *    An IPI with LX_UNSEEN says so.
 * 6. Every program is optional: what this kernel does not have is left out, and excuses nothing. Tracepoints are used as they
 *    are, without types (raw_tp): there are kernels that let them be watched that way only.
 */
#include "kernel/sched_ext.h"
#include "trace/rings.bpf.h"

char _license[] SEC("license") = "GPL";

#define LX_SCHED_DEADLINE 6
#define LX_PF_KTHREAD 0x00200000
#define LX_CPUS_MAX 1024
#define LX_MEMBERS_MAX 16384

/* The lowest priority of a member as the kernel has it: a smaller number goes first; -1 under SCHED_DEADLINE. */
const volatile s32 lowest_prio = -1;

/* Where the kernel has its functions that take the timers of sleeping and of throttled threads; 0: that is not known. */
const volatile u64 hrtimer_wakeup_address = 0;
const volatile u64 dl_task_timer_address = 0;

/* An argument of a tracepoint. */
#define LX_TASK(argument) bpf_core_cast((void *)(argument), struct task_struct)

/* A thread of the run. */
struct lx_watched {
	u32 number;
	u32 unused;
	u64 waking_at;  /* when its wake-up began */
	u64 due_at;     /* the instant that its timer was set to, if that woke it up; 0: none */
	u64 woken_at;   /* when it had been woken up last */
	u64 awake;   /* it has run or been woken up, and not slept since; 0: it sleeps, or nothing is known */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LX_MEMBERS_MAX);
	__type(key, u32);
	__type(value, struct lx_watched);
} members SEC(".maps");

/* The state of a CPU. Written by the CPU that asks it to reschedule, too. */
struct lx_at {
	u64 asked_at;    /* since when it has been asked to reschedule; 0: it has not */
	u64 answers_at;  /* since when it had been, when it entered the scheduler; 0: it had not */
	u64 entered_at;  /* when it entered the scheduler; 0: it has not, or that is not known */
	u64 switched_at; /* when it switched in that; 0: not yet */
	u64 timer_at;    /* when a handler of a timer of a member's began; 0: none */
	u64 timer_due_at;
	u64 throttled; /* the thread's timer is a throttled one's: that thread's budget, as struct sched_dl_entity; 0: it is not */
	u64 has; /* the thread seen coming onto it last: the thread's id + 1; 0: that is not known */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct lx_at);
} cpus SEC(".maps");

/* When a CPU asked others last to send it waiting SCHED_FIFO threads. */
u64 pull_asked_at = 0;

static __always_inline struct lx_at *at(u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* The state of this CPU; NULL while nothing is recorded. */
static __always_inline struct lx_at *here_if_tracing(void)
{
	return lx_tracing(LX_TRACE_EVENTS) ? at(bpf_get_smp_processor_id()) : NULL;
}

static __always_inline struct lx_watched *watched_as(u32 pid)
{
	return bpf_map_lookup_elem(&members, &pid);
}

static __always_inline struct lx_watched *watched(const struct task_struct *p)
{
	return watched_as(p->pid);
}

static __always_inline void record(u32 kind, u32 cpu, u64 event_at, u32 pid, u32 number, u64 argument, u64 argument2)
{
	struct lx_ring *ring = lx_trace_ring();

	if (ring)
		lx_trace_write(ring, kind, cpu, event_at, pid, number, LX_NONE, argument, argument2);
}

/* The scheduling deadline of a thread, on the kernel's clock; 0 if it is not one of SCHED_DEADLINE's. */
static __always_inline u64 deadline_of(const struct task_struct *p)
{
	return p->policy == LX_SCHED_DEADLINE ? p->dl.deadline : 0;
}

/* What is left of its budget, negative if it is used up by more; 0 if it has none. */
static __always_inline u64 budget_of(const struct task_struct *p)
{
	return p->policy == LX_SCHED_DEADLINE ? (u64)p->dl.runtime : 0;
}

static __always_inline void record_thread(u32 kind, u64 now, const struct task_struct *p, const struct lx_watched *w)
{
	record(kind, bpf_get_smp_processor_id(), now, p->pid, w->number, budget_of(p), deadline_of(p));
}

/* --- scheduling ----------------------------------------------------------------------------------------------- */

SEC("raw_tp/sched_set_need_resched_tp")
int BPF_PROG(need_resched, void *current_there, int cpu)
{
	struct lx_at *there;

	if (!lx_tracing(LX_TRACE_EVENTS))
		return 0;
	there = at(cpu);
	if (there)
		__sync_val_compare_and_swap(&there->asked_at, 0, bpf_ktime_get_ns());
	return 0;
}

SEC("raw_tp/sched_entry_tp")
int BPF_PROG(sched_entry)
{
	struct lx_at *here = here_if_tracing();
	u64 now, asked_at;

	if (!here)
		return 0;
	now = bpf_ktime_get_ns();
	here->entered_at = now;
	here->switched_at = 0;
	asked_at = __sync_lock_test_and_set(&here->asked_at, 0);
	here->answers_at = asked_at;
	if (asked_at && asked_at < now)
		record(LX_TRACE_IPI, bpf_get_smp_processor_id(), now, 0, LX_NONE, LX_NONE, asked_at);
	return 0;
}

/* The reason why a thread that is no member has a CPU. */
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
	if (here->answers_at && here->answers_at < now)
		record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), here->answers_at, 0, LX_NONE, now - here->answers_at,
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
	if (state) {
		w->awake = 0;
		record_thread(LX_TRACE_BLOCK, now, prev, w);
	}
}

/* A thread has this CPU from now on. */
static __always_inline void record_coming(u64 now, const struct task_struct *next, struct lx_watched *w, struct lx_at *here)
{
	u32 cpu = bpf_get_smp_processor_id();

	here->has = (u64)next->pid + 1;
	if (w) {
		w->awake = 1;
		record_thread(LX_TRACE_RESUME, now, next, w);
	} else if (next->pid) {
		record(LX_TRACE_BACKGROUND_START, cpu, now, next->pid, LX_NONE, next->pid, reason_of(next));
	} else {
		/* From here on it idles because it has found nothing. */
		record(LX_TRACE_SCHEDULING_OVERHEAD, cpu, now + 1, 0, LX_NONE, 0, 0);
	}
}

/* Whether this CPU has changed hands without any program being called: it is recorded now, as far as it is known. */
static __always_inline bool record_unseen(u64 now, struct lx_at *here)
{
	struct task_struct *current = bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id(), left = here->has - 1;
	struct lx_watched *w;
	u64 asked_at;

	if (!here->has || here->has == (u64)current->pid + 1)
		return false;
	asked_at = __sync_lock_test_and_set(&here->asked_at, 0);
	record(LX_TRACE_IPI, cpu, now, 0, LX_NONE, LX_UNSEEN, asked_at && asked_at < now ? asked_at : now);
	w = watched_as(left);
	if (w)
		record(LX_TRACE_PREEMPT, cpu, now, left, w->number, 0, 0);
	else if (left)
		record(LX_TRACE_BACKGROUND_STOP, cpu, now, left, LX_NONE, left, 0);
	record_coming(now, current, watched(current), here);
	return true;
}

SEC("raw_tp/sched_switch")
int BPF_PROG(sched_switch, bool preempt, void *from, void *to, unsigned int state)
{
	struct task_struct *prev = LX_TASK(from);
	struct task_struct *next = LX_TASK(to);
	struct lx_at *here = here_if_tracing();
	struct lx_watched *w;
	u64 now, entered_at;

	if (!here)
		return 0;
	now = bpf_ktime_get_ns();
	entered_at = here->entered_at ? here->entered_at : now;
	here->entered_at = 0;
	here->switched_at = now;
	w = watched(next);
	record(LX_TRACE_SCHEDULING_OVERHEAD, bpf_get_smp_processor_id(), entered_at, 0, w ? w->number : LX_NONE, now - entered_at, 0);
	/* A preempted thread goes on whatever state it has prepared for. */
	record_leaving(now, prev, preempt ? 0 : state, here);
	record_coming(now, next, w, here);
	return 0;
}

SEC("raw_tp/sched_exit_tp")
int BPF_PROG(sched_exit, bool is_switch)
{
	struct lx_at *here = here_if_tracing();
	u64 now, begun_at;

	if (!here)
		return 0;
	now = bpf_ktime_get_ns();
	begun_at = is_switch ? here->switched_at : 0;
	here->entered_at = 0;
	here->switched_at = 0;
	if (!record_unseen(now, here) && begun_at)
		record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), begun_at, 0, LX_NONE, now - begun_at, 0);
	return 0;
}

/* --- releases ------------------------------------------------------------------------------------------------- */

/* A sleeping thread's timer. One that was set for an instant that is over, for a thread that does not sleep
 * yet, releases nothing. */
static __always_inline void note_sleeper(const struct hrtimer *timer, struct lx_at *here)
{
	struct hrtimer_sleeper *sleeper = bpf_core_cast(timer, struct hrtimer_sleeper);
	struct task_struct *p = sleeper->task;
	struct lx_watched *w = p ? watched(p) : NULL;

	if (!w || w->awake)
		return;
	w->due_at = timer->_softexpires;
	here->timer_at = bpf_ktime_get_ns();
	here->timer_due_at = w->due_at;
}

SEC("raw_tp/hrtimer_expire_entry")
int BPF_PROG(hrtimer_expire_entry, void *argument)
{
	struct hrtimer *timer = bpf_core_cast(argument, struct hrtimer);
	struct lx_at *here = here_if_tracing();
	u64 function;

	if (!here)
		return 0;
	here->timer_at = 0;
	here->throttled = 0;
	function = (u64)timer->function;
	if (function == hrtimer_wakeup_address) {
		note_sleeper(timer, here);
	} else if (function == dl_task_timer_address) {
		here->timer_at = bpf_ktime_get_ns();
		here->timer_due_at = timer->_softexpires;
		here->throttled = (u64)argument - bpf_core_field_offset(struct sched_dl_entity, dl_timer);
	}
	return 0;
}

/* A throttled thread's timer has been handled: it has a new budget, and a later deadline. False: it was another one's. */
static __always_inline bool record_replenishment(const struct lx_at *here)
{
	u64 task = here->throttled - bpf_core_field_offset(struct task_struct, dl);
	struct task_struct *p = LX_TASK(task);
	struct lx_watched *w = watched(p);

	/* The servers of other classes have such timers, too, and are in no thread. */
	if (!w || p->policy != LX_SCHED_DEADLINE)
		return false;
	if (!p->dl.dl_throttled)
		record(LX_TRACE_REPLENISH, LX_NONE, here->timer_at, p->pid, w->number, 0, deadline_of(p));
	return true;
}

SEC("raw_tp/hrtimer_expire_exit")
int BPF_PROG(hrtimer_expire_exit)
{
	struct lx_at *here = at(bpf_get_smp_processor_id());
	u64 begun_at;

	if (!here || !here->timer_at)
		return 0;
	begun_at = here->timer_at;
	if (lx_tracing(LX_TRACE_EVENTS) && (!here->throttled || record_replenishment(here)))
		record(LX_TRACE_RELEASE_OVERHEAD, bpf_get_smp_processor_id(), begun_at, 0, LX_NONE, bpf_ktime_get_ns() - begun_at,
		       here->timer_due_at < begun_at ? here->timer_due_at : begun_at);
	here->timer_at = 0;
	return 0;
}

SEC("raw_tp/sched_waking")
int BPF_PROG(sched_waking, void *argument)
{
	struct lx_watched *w = watched(LX_TASK(argument));

	if (w)
		w->waking_at = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/sched_wakeup")
int BPF_PROG(sched_wakeup, void *argument)
{
	struct task_struct *p = LX_TASK(argument);
	struct lx_watched *w = watched(p);
	u64 now, due_at;

	if (!w || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	now = bpf_ktime_get_ns();
	due_at = w->due_at && w->due_at < w->waking_at ? w->due_at : w->waking_at;
	w->due_at = 0;
	w->awake = 1;
	w->woken_at = now;
	record_thread(LX_TRACE_WAKE, now, p, w);
	/* It still waits for budget: it is in no run queue. */
	if (p->policy == LX_SCHED_DEADLINE && p->dl.dl_throttled)
		record(LX_TRACE_THROTTLE, LX_NONE, now + 1, p->pid, w->number, 0, deadline_of(p));
	if (w->waking_at && w->waking_at < now)
		record(LX_TRACE_SCHEDULING_OVERHEAD, bpf_get_smp_processor_id(), w->waking_at, 0, LX_NONE, now - w->waking_at, due_at);
	return 0;
}

/* Where it is not to run on the CPU on which it has been woken up, it is sent to another one. */
static __always_inline int record_sending(const struct task_struct *p)
{
	struct lx_watched *w = watched(p);
	u64 now;

	if (!w || !w->woken_at || !lx_tracing(LX_TRACE_EVENTS))
		return 0;
	now = bpf_ktime_get_ns();
	record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), w->woken_at, 0, LX_NONE, now - w->woken_at, LX_PUSH_SENDS);
	w->woken_at = 0;
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

/* --- SCHED_FIFO: a CPU that has become free asks others, by an interrupt, to send it what waits -------------------- */

SEC("fentry/pull_rt_task")
int BPF_PROG(enter_pull_rt_task)
{
	if (lx_tracing(LX_TRACE_EVENTS))
		pull_asked_at = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/rto_push_irq_work_func")
int BPF_PROG(exit_rto_push_irq_work_func)
{
	u64 asked_at = pull_asked_at;

	if (asked_at && lx_tracing(LX_TRACE_EVENTS))
		record(LX_TRACE_PUSH, bpf_get_smp_processor_id(), asked_at, 0, LX_NONE, bpf_ktime_get_ns() - asked_at, 0);
	return 0;
}
