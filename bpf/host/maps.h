/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host keeps beside the policy's own state: which task and CPU of the kernel is which of an instance,
 * and what the kernel has said of a task that the policy does not know yet.
 */
#ifndef LX_HOST_MAPS_H
#define LX_HOST_MAPS_H

#include "kernel_threads.h"
#include "setup.h"
#include "standing.h"
#include "../trace/rings.bpf.h"

/* DSQ of everything that is not real-time. */
#define LX_BACKGROUND 0

/* What ended when a CPU decided. */
enum lx_ending {
	LX_ENDED_NOTHING = 0,
	LX_ENDED_JOB = 1,
	LX_ENDED_BUDGET = 2,
};

/* Where a task is that waits for a CPU. */
enum lx_custody {
	/* On a CPU, asleep, or in another class. */
	LX_CUSTODY_NONE = 0,
	/* With this scheduler: enqueued, and in no queue of the kernel's. */
	LX_CUSTODY_HERE = 1,
	/* Plus the number of a CPU: given to the kernel for that CPU, which has not yet begun it. Nothing takes it back but the kernel. */
	LX_CUSTODY_GIVEN = 2,
};

/* A task of an instance, by its number there. */
struct lx_slot {
	u32 pid;
	/* enum lx_standing. Under the instance's lock. */
	u32 standing;
	/* It has called sched_yield: its job ends when its CPU decides next. */
	u32 yielded;
	/* enum lx_custody */
	u32 custody;
	/* LX_FREE: the next free number. */
	u32 next_free;
	/* Number of its present job, from 0. */
	u32 job;
	/* It has called sched_yield before. */
	u32 has_yielded;
	u32 unused;
	/* Since when it has waited for a CPU, if it does. */
	u64 waits_since_at;
	/* Where its job ends the first time it yields, if not 0: the synchronous release. */
	u64 first_release_at;
	/* The release of its present job: the policy may hear of that later, from a message. */
	u64 release_at;
	u64 bandwidth;
};

/* What a class above has done to a CPU since that decided last (withdraw.h). */
enum lx_above {
	/* It has taken the CPU, which decides when that is over: nothing has to ask for it. */
	LX_ABOVE_TOOK = 1,
	/* The policy has been told: withdraw. */
	LX_ABOVE_TOLD = 2,
	/* The trace shows it, and not yet its end. */
	LX_ABOVE_SHOWN = 4,
};

struct lx_instance {
	struct bpf_spin_lock lock;
	u32 cpus;
	struct bpf_timer timer;
	/* The instant that the release timer was last set to, and the one that it went off for last. */
	u64 armed_at;
	u64 went_off_at;
	u32 free;
	u32 members;
	/* rescue.h: the task that is to run for a moment, or LX_NONE; the number that is looked at next. */
	u32 rescued;
	u32 rescue_next;
	/* A class above has the dedicated CPU: others do its work. */
	u32 dedicated_is_taken;
	/* A CPU does that work, or its own (serve.h): one at a time. */
	u32 serving;
	struct lx_admission admission;
	/* The kernel's numbers of the CPUs. */
	u32 cpu[LX_CPUS_MAX];
	struct lx_slot slot[LX_TASKS_MAX];
	struct lx_state state;
};

/* A CPU, by the kernel's number. */
struct lx_host_cpu {
	/* Its budget timer. */
	struct bpf_timer timer;
	/* LX_NONE: no real-time tasks run here. */
	u32 instance;
	/* Its number in the instance. */
	u32 index;
	/* The real-time task on it, or LX_NONE; since when its time has not been charged. */
	u32 running;
	/* The policy has heard of the end of what it has scheduled here, and this CPU has not decided since. */
	u32 ended;
	u64 since_at;
	/* When the first kick was sent to it that no decision has taken yet; 0: none. By which CPU. */
	u64 kicked_at;
	u32 kicked_by;
	/* What the last decision was about, for the trace: enum lx_ending, its task, and its job. */
	u32 ending;
	u32 ending_task;
	/* After LX_ENDED_BUDGET: its next server period, and the deadline of that. */
	struct lx_replenishment replenishment;
	/* The policy's answer: the task that runs next, and when the one before goes on. */
	u32 next;
	/* Why its last decision gave way to background work (enum lx_other); LX_OTHER_IDLE: it did not. */
	u32 gave_way;
	u64 ready_at;
	/* The job of the task on it is over, and the task has not left it: that time is no job's. From yield or a decision on. */
	u32 over;
	/* When the present decision began; 0: none is under way. Kept while events are recorded. */
	u64 begun_at;
	/* When the last decision ended. `awaited`: the task that it chose, until that runs; then LX_NONE. */
	u64 decided_at;
	u32 awaited;
	/* The task that has stopped here last and may go on without a switch, as after a call that changes its scheduling; or LX_NONE. */
	u32 set_aside;
	/* The instant that the budget timer was last set to; 0: it has gone off. */
	u64 budget_due_at;
	/* rescue.h: the task that has this CPU for a moment, and until when. */
	u64 rescue_ends_at;
	u32 rescued;
	/* enum lx_above, ored. This CPU writes it. */
	u32 above;
	/* Since when a task that is no member has had this CPU, if one has. */
	u64 background_since_at;
	struct lx_reserve reserve;
	/* bound.h: what bound kernel threads have had by going first. */
	struct lx_reserve bound;
	/* Since when one has had this CPU without being charged; 0: none has it. */
	u64 bound_since_at;
	/* One had it last; one waits in the queue for them, or may. */
	u32 ran_bound;
	u32 bound_waits;
#ifdef LX_STEPS
	/* Its number for the list and the operation of what it says by itself (many_locks.h). */
	u32 caller;
	u32 reserved;
#endif
#ifdef LX_SERVERS
	/* Under the lock of its instance. */
	struct lx_server server;
	/* Background work that runs is charged to the server up to here. */
	u64 charged_at;
	/* The virtual time of its background work, and when that was made to go on with time. */
	u64 vtime_now;
	u64 vtime_now_at;
	/* Relative to that of other CPUs; 0: it is not there. */
	u32 speed;
	/* Background work runs. `shown`: the reason, as the trace has it. */
	u32 background;
	u32 shown;
	/* See LX_FORGET: of this CPU's loops, which nothing interrupts. */
	u32 forget;
	/* The process that alone may admit tasks here; 0: any that may admit tasks at all. */
	u32 closed_by;
	/* A background task has left a queue for this CPU, and has yet to run. */
	u32 taken;
#endif
};

/* What a call that sets a policy asks for. */
struct lx_request {
	u32 policy;
	/* As in sched_attr. */
	u32 flags;
	struct lx_parameters wanted;
};

/*
 * A kernel task's place; in its task storage. Any CPU may be asked to let a task join or leave, and several at once:
 *
 *   a membership begins   in a call that sets the task's scheduling, by the one that has `asking` (membership.h)
 *   a membership ends     in the task's own callbacks, which the lock of its run queue keeps apart, or in a call of its own
 *                         (leave.h); others ask for that end with `leaving`
 */
struct lx_member {
	u32 instance;
	u32 index;
	/* Odd: it is a member, and the two above have meaning. Counts entries and ends: no decision about one membership hits the next. */
	u32 joined;
	/* What `joined` was when its end was asked for. */
	u32 leaving;
	/* A call asks for it: one at a time. */
	u32 asking;
	/* It has had SCHED_EXT since it joined: if it has another policy now, it is no member any more. */
	u32 settled;
	/* The thread whose call under way has been granted what it asks for, or 0. */
	u32 granted;
	/* Tracing programs (interface.h): a call has asked for `request`, and has no answer yet. */
	u32 asks;
	struct lx_request request;
#ifdef LX_SERVERS
	/* The CPU to which its virtual time is relative, while it is background work. */
	u32 home;
#endif
};

/*
 * Actions of a decision, out of the lock's reach. A CPU has one list for callbacks, which have interrupts off, and one for
 * timers, which callbacks may interrupt.
 */
struct lx_actions {
	u32 count;
	u32 forget;
	struct lx_action action[LX_ACTIONS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_instance);
} instances SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_host_cpu);
} host_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lx_member);
} members SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct lx_actions);
} actions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_counters);
} counters SEC(".maps");

/*
 * Synchronous release: when the next job arrives after a task has yielded for the first time, ns of CLOCK_MONOTONIC, by thread
 * id. Read then.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LX_TASKS_MAX);
	__type(key, u32);
	__type(value, u64);
} first_releases SEC(".maps");

/* Tasks whose jobs are released each by itself (lx_task.alone), by thread id. Read when they enter. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LX_TASKS_MAX);
	__type(key, u32);
	__type(value, u32);
} released_alone SEC(".maps");

/* The admitted tasks with their parameters, by thread id: for a scheduler that is started anew. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LX_TASKS_MAX * 4);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct lx_parameters);
} roster SEC(".maps");

#ifdef LX_SERVERS
/*
 * Children of real-time tasks, and their children, by thread id: the real-time task of each. A child is no
 * member, but the kernel leaves it the policy; user space takes that away from the children of promoted
 * threads, and then the entry.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LX_TASKS_MAX * 4);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, u32);
} born SEC(".maps");
#endif

/* Set by the loader. */
const volatile u32 online_cpus = 1;
const volatile u32 instance_count = 1;
/* bpf_timer is there (not on PREEMPT_RT, where a thread of the loader calls release_due). */
const volatile bool has_timers = true;
/* A fault on request, for the tests of the oracles: one of so many kicks is forgotten; 0: none. */
const volatile u32 kicks_forgotten = 0;
/* Another one: budget timers are set so much too late, in ns. */
const volatile u64 budgets_late_ns = 0;
/* And one for the test of what makes up for it: one of so many timers is not started; 0: none. */
const volatile u32 timers_refused = 0;
/* In each window of that many ns, kernel threads bound to a CPU go before real-time work for so many (policy/kernel_threads.h). */
const volatile u64 bound_period_ns = 10000000;
const volatile u64 bound_runtime_ns = 500000;
/* Slice of what is not real-time. */
const volatile u64 background_slice_ns = 5000000;

_Static_assert(LX_TASKS_MAX == LX_HOST_TASKS && LX_CPUS_MAX == LX_HOST_CPUS && LX_SOCKETS_MAX == LX_HOST_SOCKETS,
	       "user space is told other capacities");

/* See LX_FORGET: for loops of system calls. */
struct {
	u32 forget;
} lx_loop;

#define LX_IN_CALLBACK 0
#define LX_IN_TIMER 1

static __always_inline struct lx_instance *lx_instance_at(u32 index)
{
	return bpf_map_lookup_elem(&instances, &index);
}

static __always_inline struct lx_host_cpu *lx_host_cpu(u32 cpu)
{
	return bpf_map_lookup_elem(&host_cpus, &cpu);
}

/* The instance whose CPU that is, or NULL: no real-time tasks run there. */
static __always_inline struct lx_instance *lx_instance_of(const struct lx_host_cpu *c)
{
	return c && c->instance != LX_NONE ? lx_instance_at(c->instance) : NULL;
}

static __always_inline struct lx_actions *lx_actions(u32 context)
{
	return bpf_map_lookup_elem(&actions, &context);
}

static __always_inline struct lx_slot *lx_slot(struct lx_instance *in, u32 index)
{
	return LX_AT(in->slot, index, LX_TASKS_MAX);
}

/* The kernel's number of an instance's CPU. */
static __always_inline u32 lx_kernel_cpu(struct lx_instance *in, u32 index)
{
	return *LX_AT(in->cpu, index, LX_CPUS_MAX);
}

/* Whether a class above has the CPU. */
static __always_inline bool lx_is_withdrawn(u32 cpu)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);

	return c && LX_READ(c->above) & LX_ABOVE_TOLD;
}

/* The number of the membership that there is now, or 0. */
static __always_inline u32 lx_membership(const struct lx_member *member)
{
	u32 joined = member ? LX_READ(member->joined) : 0;

	return joined & 1 ? joined : 0;
}

static __always_inline bool lx_has_joined(const struct lx_member *member)
{
	return lx_membership(member) != 0;
}

/* Whether the end of the membership, which there is, has been asked for. */
static __always_inline bool lx_is_leaving(const struct lx_member *member)
{
	return LX_READ(member->leaving) == LX_READ(member->joined);
}

/* The task's place if it is a member, else NULL. */
static __always_inline struct lx_member *lx_member_of(struct task_struct *p)
{
	struct lx_member *member = bpf_task_storage_get(&members, p, NULL, 0);

	return lx_has_joined(member) ? member : NULL;
}

#define LX_COUNT(name)                                                                                                 \
	({                                                                                                             \
		u32 zero_ = 0;                                                                                         \
		struct lx_counters *c_ = bpf_map_lookup_elem(&counters, &zero_);                                       \
                                                                                                                       \
		if (c_)                                                                                                \
			c_->name++;                                                                                    \
	})

/* Takes the lock of an instance, and counts it. bpf_spin_unlock gives it back. */
static __always_inline void lx_lock(struct lx_instance *in)
{
	LX_COUNT(instance_locks);
	bpf_spin_lock(&in->lock);
}

#endif
