/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy as BPF programs that BPF_PROG_TEST_RUN starts, for the conformance rig. A file that includes this has included
 * the policy (alone.h).
 *
 * `setup` and `events` replay sequences of events. The other programs are one entry point each, under a spin lock as in
 * the kernel's scheduler: what the verifier says of them is the cost of that entry point.
 */
#include "wake_up.h"
#include "rig.h"
#ifdef LX_QUEUE
#include "hold.h"
#endif

#define LX_SECTION(name) __attribute__((section(name), used))
#define LX_GLOBAL __attribute__((noinline))
#define LX_JOIN_(a, b) a##_##b
#define LX_JOIN(a, b) LX_JOIN_(a, b)
#define LX_P(name) LX_JOIN(LX_POLICY, name)

/* Type and section by which the verifier recognizes a lock, and the helpers' numbers in its interface (linux/bpf.h). */
struct bpf_spin_lock {
	u32 val;
};
static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;

struct bpf_spin_lock lock LX_SECTION(".data.lock") __attribute__((visibility("hidden"), aligned(8)));
struct lx_state state;
struct lx_rig_setup setup_data LX_SECTION(".data.setup");
struct lx_rig_input input LX_SECTION(".data.input");
struct lx_rig_output output LX_SECTION(".data.output");
/* What wake_up returned. */
u64 woken_at LX_SECTION(".data.woken");

char _license[] LX_SECTION("license") = "GPL";

/* One program per entry point; the arguments are an event. */
#define LX_PROGRAM(name, call)                                                                                         \
	LX_SECTION("syscall") int name(struct lx_rig_event *e)                                                         \
	{                                                                                                              \
		u32 cpu = e->cpu, task = e->task;                                                                      \
		u64 time_ns = e->time_ns, now = e->now;                                                                \
                                                                                                                       \
		(void)cpu, (void)task, (void)time_ns, (void)now;                                                       \
		bpf_spin_lock(&lock);                                                                                  \
		call;                                                                                                  \
		bpf_spin_unlock(&lock);                                                                                \
		return 0;                                                                                              \
	}                                                                                                              \
	/* For the events: the verifier looks at a global function once for all its callers. */                        \
	LX_GLOBAL int events_##name(u32 cpu, u32 task, u64 time_ns, u64 now)                                           \
	{                                                                                                              \
		/* The verifier wants all arguments of the caller, also those that clang could leave out. */           \
		asm volatile("" : : "r"(cpu), "r"(task), "r"(time_ns), "r"(now));                                      \
		call;                                                                                                  \
		return 0;                                                                                              \
	}

LX_PROGRAM(enter, LX_P(enter)(&state, task))
LX_PROGRAM(wake_up, woken_at = lx_wake_up(&state, task, now))
LX_PROGRAM(arrive, LX_P(arrive)(&state, task, time_ns, cpu, now))
LX_PROGRAM(take_due, state.forget = lx_take_due(&state, now))
LX_PROGRAM(release_group, LX_P(release_group)(&state, task, now))
LX_PROGRAM(complete, LX_P(complete)(&state, cpu, time_ns, now))
LX_PROGRAM(reschedule, state.forget = LX_P(reschedule)(&state, cpu, now))
LX_PROGRAM(consume, LX_P(consume)(&state, task, time_ns))
LX_PROGRAM(exhaust, LX_P(exhaust)(&state, cpu, now))
LX_PROGRAM(suspend, LX_P(suspend)(&state, cpu, now))
LX_PROGRAM(resume, LX_P(resume)(&state, task, cpu, now))
LX_PROGRAM(withdraw, LX_P(withdraw)(&state, cpu, cpu, now))
LX_PROGRAM(restore, LX_P(restore)(&state, cpu, now))
#ifdef LX_TIMER
LX_PROGRAM(timer, LX_P(timer)(&state, cpu, now))
#endif
#ifndef LX_STEPS
LX_PROGRAM(finish, state.forget = LX_P(finish)(&state, cpu, time_ns, now))
#endif
#ifdef LX_STEPS
LX_PROGRAM(step, LX_P(step)(&state, cpu, now))
#endif
#ifdef LX_PARTS
LX_PROGRAM(complete_here, woken_at = LX_P(complete_here)(&state, cpu, time_ns, now))
LX_PROGRAM(exhaust_here, woken_at = LX_P(exhaust_here)(&state, cpu, now))
LX_PROGRAM(await, LX_P(await)(&state, task, time_ns, cpu))
#endif
#ifdef LX_MESSAGES
LX_PROGRAM(message, state.forget = LX_P(message)(&state, cpu, now))
#endif

LX_INLINE void set_parameters(u32 task, const struct lx_rig_task *from)
{
	struct lx_task *to = LX_AT(state.task, task, LX_TASKS_MAX);

	to->deadline_rel_ns = from->deadline_rel_ns;
	to->period_ns = from->period_ns;
	to->budget_ns = from->budget_ns;
	to->priority = from->priority;
	to->alone = from->alone;
}

LX_GLOBAL int init_policy(void)
{
	LX_P(init)(&state);
	return 0;
}

LX_SECTION("syscall") int setup(void *context)
{
	const struct lx_config *config = &setup_data.config;
	u32 i = 0;

	(void)context;
	state.config = *config;
	/* What lx_policy_lay_out does natively. */
	state.bucket_mask = config->batching ? LX_BUCKETS_MAX - 1 : 0;
	while (i < config->tasks && LX_MAY_LOOP) {
		set_parameters(i, LX_AT(setup_data.task, i, LX_TASKS_MAX));
		i++;
		LX_FORGET(&state, i);
	}
	i = 0;
	while (i < config->cpus && LX_MAY_LOOP) {
		LX_AT(state.cpu, i, LX_CPUS_MAX)->socket = *LX_AT(setup_data.socket, i, LX_CPUS_MAX);
		i++;
		LX_FORGET(&state, i);
	}
	init_policy();
	return 0;
}

#ifdef LX_QUEUE
#define LX_Q(name) LX_JOIN(LX_QUEUE, name)

/* The queue alone, for the benchmark; after setup. */
LX_SECTION("syscall") int fill(void *context)
{
	(void)context;
	LX_Q(fill)(&state);
	return 0;
}

LX_SECTION("syscall") int hold(struct lx_rig_event *e)
{
	output.result[0].next_due_at = LX_Q(hold)(&state, e->task, e->time_ns);
	return 0;
}

/* One operation each, for the verifier's count. */
LX_SECTION("syscall") int queue_insert(struct lx_rig_event *e)
{
	LX_Q(insert)(&state, e->task);
	return 0;
}

LX_SECTION("syscall") int queue_pop(struct lx_rig_event *e)
{
	LX_Q(pop)(&state, e->task);
	return 0;
}

LX_SECTION("syscall") int queue_remove(struct lx_rig_event *e)
{
	LX_Q(remove)(&state, e->task);
	return 0;
}
#endif

LX_INLINE void handle(const struct lx_rig_event *e)
{
	u32 cpu = e->cpu, task = e->task;
	u64 time_ns = e->time_ns, now = e->now;

	switch (e->kind) {
	case LX_RIG_ENTER:
		set_parameters(task, &e->parameters);
		events_enter(cpu, task, time_ns, now);
		break;
	case LX_RIG_WAKE_UP:
		events_wake_up(cpu, task, time_ns, now);
		break;
	case LX_RIG_ARRIVE:
		events_arrive(cpu, task, time_ns, now);
		break;
	case LX_RIG_TAKE_DUE:
		events_take_due(cpu, task, time_ns, now);
		break;
	case LX_RIG_RELEASE_GROUP:
		events_release_group(cpu, task, time_ns, now);
		break;
	case LX_RIG_COMPLETE:
		events_complete(cpu, task, time_ns, now);
		break;
	case LX_RIG_RESCHEDULE:
		events_reschedule(cpu, task, time_ns, now);
		break;
	case LX_RIG_CONSUME:
		events_consume(cpu, task, time_ns, now);
		break;
	case LX_RIG_EXHAUST:
		events_exhaust(cpu, task, time_ns, now);
		break;
#ifdef LX_TIMER
	case LX_RIG_TIMER:
		events_timer(cpu, task, time_ns, now);
		break;
#endif
#ifndef LX_STEPS
	case LX_RIG_FINISH:
		events_finish(cpu, task, time_ns, now);
		break;
#endif
#ifdef LX_STEPS
	case LX_RIG_STEP:
		events_step(cpu, task, time_ns, now);
		break;
#endif
#ifdef LX_MESSAGES
	case LX_RIG_MESSAGE:
		events_message(cpu, task, time_ns, now);
		break;
#endif
	case LX_RIG_SUSPEND:
		events_suspend(cpu, task, time_ns, now);
		break;
	case LX_RIG_RESUME:
		events_resume(cpu, task, time_ns, now);
		break;
	case LX_RIG_WITHDRAW:
		events_withdraw(cpu, task, time_ns, now);
		break;
	case LX_RIG_RESTORE:
		events_restore(cpu, task, time_ns, now);
		break;
	}
}

/* Whether the entry point gives a value. */
LX_INLINE int returns(u32 kind)
{
	return kind == LX_RIG_TAKE_DUE || kind == LX_RIG_RESCHEDULE || kind == LX_RIG_FINISH || kind == LX_RIG_MESSAGE;
}

/* Whether the entry point makes actions. */
LX_INLINE int acts(u32 kind)
{
	return kind != LX_RIG_TAKE_DUE && kind != LX_RIG_CONSUME && kind != LX_RIG_ENTER && kind != LX_RIG_WAKE_UP;
}

/* The actions of `cpu`. */
#ifdef LX_STEPS
#define ACTIONS_OF(cpu) (LX_AT(state.list, cpu, LX_CPUS_MAX)->actions)
#define ACTION_OF(cpu, n) LX_AT(LX_AT(state.list, cpu, LX_CPUS_MAX)->action, n, LX_LIST_ACTIONS)
#else
#define ACTIONS_OF(cpu) state.actions
#define ACTION_OF(cpu, n) LX_AT(state.action, n, LX_ACTIONS_MAX)
#endif

/* Copies the decision just made to the output. */
LX_FN void record(const struct lx_rig_event *e, u32 event)
{
	struct lx_rig_result *result = LX_AT(output.result, event, LX_RIG_EVENTS);
	u32 from = 0;
	u32 to = output.actions;
	u32 actions = acts(e->kind) ? ACTIONS_OF(e->cpu) : 0;

	result->value = returns(e->kind) ? state.forget : 0;
	result->actions = actions;
	result->next_due_at = state.next_due_at;
	result->next_timer_at = state.next_timer_at;
	result->release_at = e->kind == LX_RIG_WAKE_UP ? woken_at : 0;
	result->deadline_abs_ns = 0;
	result->budget_left_ns = 0;
	if (e->task < state.config.tasks) {
		const struct lx_task *t = LX_AT(state.task, e->task, LX_TASKS_MAX);

		result->deadline_abs_ns = t->deadline_abs_ns;
		result->budget_left_ns = t->budget_left_ns;
	}
	while (from < actions && to < LX_RIG_ACTIONS && LX_MAY_LOOP) {
		*LX_AT(output.action, to, LX_RIG_ACTIONS) = *ACTION_OF(e->cpu, from);
		from++;
		to++;
		LX_FORGET(&state, from);
		LX_FORGET(&state, to);
	}
	output.actions = to;
}

LX_SECTION("syscall") int events(void *context)
{
	u32 i = 0;

	(void)context;
	output.actions = 0;
	while (i < input.events && i < LX_RIG_EVENTS && LX_MAY_LOOP) {
		const struct lx_rig_event *e = LX_AT(input.event, i, LX_RIG_EVENTS);

		handle(e);
		record(e, i);
		i++;
		LX_FORGET(&state, i);
	}
	output.events = i;
	return 0;
}
