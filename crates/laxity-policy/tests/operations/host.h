/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host for all policies, those whose operations run in several steps among them. It keeps its own account of tasks and jobs, chooses what
 * happens next on which CPU, and checks after every call what must always hold, and when nothing is under way, that the
 * schedule is that of global EDF or fixed priorities.
 *
 * Time is in units; nothing costs time.
 */
#ifndef HOST_H
#define HOST_H

#include "native.h"

#define TASKS_MAX 40
#define CPUS_MAX 10
#define EVENTS_MAX 128
#define NOTES_MAX 16

/* What may happen between an event and its consequences. */
enum mode {
	/* Nothing: every event and all that follows from it come before the next. */
	MODE_ORDERED,
	/* Operations do not overlap, but kicks, messages and events of an instant come in any order, and late. */
	MODE_DELAYED,
	/* Anything, between any two steps. */
	MODE_INTERLEAVED,
	MODES,
};

enum event_kind {
	EVENT_KICK,
	EVENT_MESSAGE,
	EVENT_GROUP,
	EVENT_ARRIVE,
	EVENT_RESUME,
	EVENT_ENTER,
	EVENT_WAKE_UP,
	EVENT_TIMER,
	EVENT_WITHDRAW,
	EVENT_RESTORE
};

/* The locks of a policy that has one for all. */
#define ONE_LOCK (LX_NO_LOCKS - 1)

struct event {
	enum event_kind kind;
	/* The group or the task. */
	u32 subject;
	u64 number;
};

enum job_state {
	/* No job, and none known to come. */
	JOB_NONE,
	/* Ready from `ready_at` on. */
	JOB_THERE,
	JOB_SUSPENDED,
};

struct model_task {
	u64 wcet, period, deadline_rel, budget;
	u32 priority;
	enum job_state state;
	/* The present job: its arrival, and when it may run. */
	u64 release, deadline_abs, ready_at;
	u64 work_left;
	/* It suspends itself when so much work is left; 0: not. */
	u64 suspends_at;
	/* Budget server. */
	u64 replenished, budget_left;
	/* edzl: when the laxity of its present job ran out, or LX_NEVER. */
	u64 urgent_since;
	/* The next job is announced late (arrive), not when the one before ends. */
	int sporadic;
	/* When and where it arrives or is resumed, or LX_NEVER; the release instant that arrive is called with. */
	u64 wakes_at;
	u32 wakes_on;
	enum event_kind wakes_by;
	u64 arrival;
	u32 running_on;
};

struct model_cpu {
	u32 running;
	/* Its job goes on: it has not ended, and interrupts are on. */
	int executing;
	/* An operation is in progress, whose next step is under these locks. */
	int stepping;
	u32 locks;
	/* A job has left, and waits for its release from `ready` on; the release queue has yet to be told (LX_NEVER: nothing). */
	int awaiting;
	u64 ready;
	/* What it does next is to reschedule. */
	int must_reschedule;
	/* Something above the policy has it; when that ends, or when the next begins: LX_NEVER for no more. */
	int withdrawn;
	u64 changes_at;
	struct event event[EVENTS_MAX];
	u32 events;
};

struct host {
	const struct lx_policy *policy;
	struct lx_state *s;
	enum mode mode;
	u64 random;
	u64 now;
	/* No job is released from here on. */
	u64 horizon;
	u64 events;
	u64 calls_now;
	u32 tasks, cpus, clients;
	/* How tasks are drawn: so many permille of a CPU at most, with periods that divide each other. */
	u64 share;
	int harmonic;
	int trace;
	int abandoned;
	/* Whether CPUs are taken and come back; how often they were. g-edf-mp: how often that was said, and not been asked for. */
	int withdraws;
	u64 withdrawn;
	u64 notices;
	/* The interrupt of the policy's own timer is on its way. */
	int timer_is_coming;
	struct model_task task[TASKS_MAX];
	struct model_cpu cpu[CPUS_MAX];
	/*
	 * How often each kind of note came; how often the schedule was compared; was found wrong after an abandoned
	 * push.
	 */
	u64 notes[NOTES_MAX];
	u64 checks, inversions, jobs, entered;
	/* Jobs that went on when their task woke up, and new ones. */
	u64 woken[2];
	/* g-edf-mp: how often another mailbox was served since this one was, or was empty. */
	u32 passed_over[CPUS_MAX];
	char failure[256];
};

/* A number below n. */
u64 draw(struct host *h, u64 n);
/* Parameters of a task that enters, in the host's account and the policy's. */
void host_draw_task(struct host *h, u32 id);
/* Sets the host up for a seed; `memory` is for the instance, and freed by the caller. */
void *host_begin(struct host *h, const struct lx_policy *policy, enum mode mode, u64 seed);
/* Runs to the end. 0, or h->failure says what was wrong. */
int host_run(struct host *h);
int fail(struct host *h, const char *what, u64 a, u64 b);

/* host.c, for its parts. */
void add_event(struct host *h, u32 cpu, enum event_kind kind, u32 subject);
void collect_due(struct host *h);
int goes_on(const struct host *h, u32 cpu);

/* cpus.c: something above the policy takes the CPU, and gives it back; when that is next. */
int is_taken(struct host *h, u32 cpu);
int is_back(struct host *h, u32 cpu);
void changes_due(struct host *h);

/* model.c: the host's account of jobs. */
void model_next_job(struct host *h, u32 task, u64 release);
/* What lx_wake_up returns; sets what is left of the budget. */
u64 model_wake_up(struct host *h, u32 task);
void model_replenish(struct host *h, u32 task);
int model_is_ready(const struct host *h, u32 task);
u64 model_key(const struct host *h, u32 task);
/* edzl: ready jobs that do not run may have no laxity left; if nothing is under way, the policy has seen that. */
int model_laxities(struct host *h, int quiet);
/* Whether the schedule is the one that the policy defines. */
int model_schedule_is_global(struct host *h);

/* locks.c: what a call may have written. */
struct written {
	struct lx_cpu cpu[CPUS_MAX];
	struct lx_run_queue run_queue[CPUS_MAX];
	struct lx_tree tree[CPUS_MAX];
	struct lx_operation operation[CPUS_MAX];
	struct lx_list list[CPUS_MAX];
	u64 next_due;
	u32 due_count;
};
void locks_before(const struct host *h, struct written *before);
/* Whether the list and the operation of no CPU but `cpu` has changed. */
int lists_kept(struct host *h, const struct written *before, u32 cpu);
/* Whether nothing has changed that belongs to another lock. */
int locks_kept(struct host *h, const struct written *before, u32 locks);

/* mailboxes.c: whether handling one message, before which `read` messages of each mailbox had been read, was fair. */
void mailboxes_before(const struct host *h, u32 *read);
int mailboxes_fair(struct host *h, const u32 *read);

#endif
