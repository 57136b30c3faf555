// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf/host with one policy (-DPOLICY), its text as it is, for the model of the kernel. One object each: the build keeps every name
 * inside but that of the table, and all variables in one section (build.rs).
 */
#include "host/capacity.h"
#include "alone.h"
#include "host/host.h"

#define LX_SCX_JOIN_(a, b) a##b
#define LX_SCX_JOIN(a, b) LX_SCX_JOIN_(a, b)
#define LX_SCX_TEXT_(words) #words
#define LX_SCX_TEXT(words) LX_SCX_TEXT_(words)
#define LX_SCX_START LX_SCX_JOIN(__start_lxscx_, POLICY)
#define LX_SCX_STOP LX_SCX_JOIN(__stop_lxscx_, POLICY)

extern char LX_SCX_START[], LX_SCX_STOP[];

/* It is there; what is in it says lx_scx_run_queue. */
const struct rq runqueues;

/* What the loader decides before the programs are loaded. */
struct lx_scx_options {
	u32 cpus;
	u32 instances;
	/* One of so many; 0: none. */
	u32 timers_refused;
	u32 kicks_forgotten;
	/* Kernel threads that are bound to a CPU go first for so many ns in each of so many. */
	u64 bound_runtime_ns;
	u64 bound_period_ns;
	/* Budget timers are set so much too late. */
	u64 budgets_late_ns;
	struct lx_host_setup *setup;
};

/* A CPU of an instance, as the host has it. */
struct lx_scx_cpu {
	u32 linked;
	u32 scheduled;
	u32 kicked;
	u32 running;
	u32 gave_way;
	u32 ended;
	/* The policy has been told that a class above has it. */
	u32 withdrawn;
};

/* An instance, as the host has it: the bandwidth of its tasks added up, and as admission has it; who is there. */
struct lx_scx_instance {
	u32 members;
	u32 slots_used;
	u64 bandwidth;
	u64 admitted;
	u32 free;
	u32 ready_count;
};

/* A task of an instance. */
struct lx_scx_slot {
	u32 pid;
	u32 standing;
	u32 custody;
	u32 yielded;
};

/* What a CPU has counted, of what there is a record of each. */
struct lx_scx_counts {
	u64 completions;
	u64 exhaustions;
	u64 decisions;
	u64 departed;
};

/* Constants are written before the host runs, as the loader does: the compiler is not to know. */
#define LX_SCX_SET(type, variable, value)                                                                                 \
	do {                                                                                                           \
		type *to_ = (type *)&(variable);                                                                       \
                                                                                                                       \
		LX_OPAQUE(to_);                                                                                        \
		*to_ = (value);                                                                                        \
	} while (0)

/* The constants of the kernel that is modelled, and the loader's. */
static void prepare(const struct lx_scx_options *options)
{
	LX_SCX_SET(u64, __SCX_SLICE_DFL, (u64)20000000);
	LX_SCX_SET(u64, __SCX_SLICE_INF, ~(u64)0);
	LX_SCX_SET(u64, __SCX_DSQ_LOCAL, (u64)1 << 63 | 2);
	LX_SCX_SET(u64, __SCX_DSQ_LOCAL_ON, (u64)3 << 62);
	LX_SCX_SET(u64, __SCX_ENQ_WAKEUP, (u64)1);
	LX_SCX_SET(u64, __SCX_ENQ_PREEMPT, (u64)1 << 32);
	LX_SCX_SET(u64, __SCX_ENQ_LAST, (u64)1 << 41);
	LX_SCX_SET(u64, __SCX_KICK_IDLE, (u64)1);
	LX_SCX_SET(u64, __SCX_KICK_PREEMPT, (u64)2);
	LX_SCX_SET(u64, __SCX_TASK_QUEUED, (u64)1);
	LX_SCX_SET(u32, online_cpus, options->cpus);
	LX_SCX_SET(u32, instance_count, options->instances);
	LX_SCX_SET(u32, timers_refused, options->timers_refused);
	LX_SCX_SET(u32, kicks_forgotten, options->kicks_forgotten);
	LX_SCX_SET(u64, bound_runtime_ns, options->bound_runtime_ns);
	LX_SCX_SET(u64, bound_period_ns, options->bound_period_ns);
	LX_SCX_SET(u64, budgets_late_ns, options->budgets_late_ns);
	lx_trace_switch = LX_TRACE_EVENTS;
	setup_data = *options->setup;
}

static void look_at_cpu(u32 instance, u32 index, struct lx_scx_cpu *to)
{
	struct lx_instance *in = lx_instance_at(instance);
	struct lx_host_cpu *c = lx_host_cpu(in->cpu[index]);
	struct lx_cpu *own = lx_cpu(&in->state, index);

	*to = (struct lx_scx_cpu){
		.linked = own->linked,
		.scheduled = own->scheduled,
		.kicked = own->kicked,
		.running = c->running,
		.gave_way = c->gave_way,
		.ended = c->ended,
		.withdrawn = index == in->state.config.dedicated_cpu ? in->dedicated_is_taken : own->withdrawn & LX_WITHDRAWN,
	};
}

static void look_at_instance(u32 instance, struct lx_scx_instance *to)
{
	struct lx_instance *in = lx_instance_at(instance);
	u32 i;

	*to = (struct lx_scx_instance){
		.members = in->members,
		.admitted = in->admission.total,
		.ready_count = in->state.ready_count,
	};
	for (i = 0; i < in->state.config.tasks; i++) {
		struct lx_slot *slot = &in->slot[i];

		to->slots_used += slot->standing != LX_FREE;
		if (slot->standing != LX_FREE && slot->standing != LX_DEPARTED)
			to->bandwidth += slot->bandwidth;
	}
	for (i = in->free; i != LX_NONE && to->free <= in->state.config.tasks; i = in->slot[i].next_free)
		to->free++;
}

static void look_at_slot(u32 instance, u32 index, struct lx_scx_slot *to)
{
	struct lx_slot *slot = &lx_instance_at(instance)->slot[index];

	*to = (struct lx_scx_slot){
		.pid = slot->pid,
		.standing = slot->standing,
		.custody = slot->custody,
		.yielded = slot->yielded,
	};
}

/* The task's place: its number in the instance if it is a member, else LX_NONE. */
static u32 member_of(struct task_struct *p)
{
	struct lx_member *member = lx_member_of(p);

	return member ? member->index : LX_NONE;
}

/* The instance of a member. */
static u32 instance_of(struct task_struct *p)
{
	struct lx_member *member = lx_member_of(p);

	return member ? member->instance : LX_NONE;
}

/* This CPU's counts of what the trace has a record of each. */
static void look_at_counters(struct lx_scx_counts *to)
{
	u32 zero = 0;
	struct lx_counters *counted = bpf_map_lookup_elem(&counters, &zero);

	*to = (struct lx_scx_counts){
		.completions = counted->completions,
		.exhaustions = counted->exhaustions,
		.decisions = counted->decisions,
		.departed = counted->departed,
	};
}

#ifdef LX_SERVERS
/* The speed of a core, and its server, in ns; from when on it has that. */
static int size_a_core(u32 cpu, u32 speed, u64 budget_ns, u64 period_ns, u64 share_ppm, u64 *since_at)
{
	int error;

	core_data = (struct lx_host_core){
		.cpu = cpu,
		.speed = speed,
		.budget_ns = budget_ns,
		.period_ns = period_ns,
		.share_ppm = share_ppm,
	};
	error = size_core(NULL);
	*since_at = core_data.from_at;
	return error;
}
#endif

struct lx_scx_host {
	const char *name;
	char *memory;
	char *memory_end;
	const struct sched_ext_ops *ops;
	void (*prepare)(const struct lx_scx_options *options);
	int (*set_up)(void *context);
	int (*may_set_scheduling)(struct task_struct *p, int ret);
	int (*switched)(bool preempt, struct task_struct *prev, struct task_struct *next);
	int (*answered)(struct task_struct *p, const struct sched_attr *attr, bool user, bool pi, int ret);
	void (*look_at_cpu)(u32 instance, u32 index, struct lx_scx_cpu *to);
	void (*look_at_instance)(u32 instance, struct lx_scx_instance *to);
	void (*look_at_slot)(u32 instance, u32 index, struct lx_scx_slot *to);
	u32 (*member_of)(struct task_struct *p);
	u32 (*instance_of)(struct task_struct *p);
	/* NULL: its cores have no servers. */
	int (*size_core)(u32 cpu, u32 speed, u64 budget_ns, u64 period_ns, u64 share_ppm, u64 *since_at);
	int (*note_pending)(void *context);
	void (*look_at_counters)(struct lx_scx_counts *to);
	/* Maps that the model knows: the rings of the trace, who is admitted with what, who is released alone. */
	const void *trace_rings;
	const void *roster;
	const void *released_alone;
	/* For the model: what a structure of its own has to look like. */
	u32 task_size;
	u32 setup_size;
	u32 has_steps;
	u32 has_servers;
};

const struct lx_scx_host LX_SCX_JOIN(lx_scx_, POLICY) = {
	.name = LX_SCX_TEXT(POLICY),
	.memory = LX_SCX_START,
	.memory_end = LX_SCX_STOP,
	.ops = &laxity,
	.prepare = prepare,
	.set_up = set_up,
	.may_set_scheduling = lx_may_enter,
	.switched = lx_switched,
	.answered = lx_answered,
	.look_at_cpu = look_at_cpu,
	.look_at_instance = look_at_instance,
	.look_at_slot = look_at_slot,
	.member_of = member_of,
	.instance_of = instance_of,
	.note_pending = note_pending,
	.look_at_counters = look_at_counters,
	.trace_rings = &lx_trace_rings,
	.roster = &roster,
	.released_alone = &released_alone,
#ifdef LX_SERVERS
	.size_core = size_a_core,
#endif
	.task_size = sizeof(struct task_struct),
	.setup_size = sizeof(struct lx_host_setup),
#ifdef LX_STEPS
	.has_steps = 1,
#endif
#ifdef LX_SERVERS
	.has_servers = 1,
#endif
};
