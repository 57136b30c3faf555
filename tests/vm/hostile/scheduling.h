/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that set the scheduling of any thread of the user's. */

#define KEEP_POLICY 0x08
#define SCHED_DEADLINE 6

static uint64_t some_ns(uint64_t most_ns)
{
	return draw(4) ? next_choice() % most_ns : 0;
}

/* As for a real-time task, which takes a privilege that the user has not. */
static int asks_for_a_deadline_of(pid_t tid)
{
	uint64_t period_ns = some_period_ns();
	int error = ask(tid, period_ns / (2 + draw(30)), period_ns, period_ns, draw(2) ? RESET_ON_FORK : 0);

	if (!error)
		__sync_fetch_and_add(&pool->bypasses, 1);
	return error;
}

static int asks_for_a_deadline(void)
{
	return asks_for_a_deadline_of(target());
}

static int sends_to_the_background(void)
{
	/* Without privilege this flag can be set, and not cleared. */
	return ask(target(), 0, 0, 0, draw(4) ? RESET_ON_FORK : 0);
}

/* Any policy, and anything beside it. */
static int sets_attributes(void)
{
	static const uint32_t policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_EXT, SCHED_FIFO, SCHED_RR, SCHED_DEADLINE, 4, 99};
	struct attributes a = {.size = draw(10) ? sizeof(a) : draw(100), .policy = policies[draw(draw(3) ? 4 : 9)]};

	a.flags = draw(2) ? draw(0x20) | (draw(2) ? RESET_ON_FORK : 0) : draw(12) ? RESET_ON_FORK : next_choice();
	a.nice = (int)draw(draw(3) ? 20 : 200);
	a.priority = draw(6) ? 0 : draw(100);
	a.runtime = some_ns(300 * MS);
	/* Without a deadline SCHED_EXT is background work, whatever the runtime. */
	if (a.policy != SCHED_EXT)
		a.period = a.deadline = some_ns(300 * MS);
	return answer(syscall(SYS_sched_setattr, target(), &a, draw(20) ? 0 : draw(8)));
}

/* What the kernel reads is changed by others while it reads; it may read twice. */
static int passes_what_changes(void)
{
	struct attributes *a = &pool->scribbled;

	a->size = sizeof(*a);
	switch (draw(4)) {
	case 0:
		a->policy = draw(2) ? SCHED_EXT : SCHED_OTHER;
		break;
	case 1:
		a->deadline = a->period = draw(2) ? 200 * MS : 0;
		a->runtime = draw(2) ? 10 * MS : 0;
		break;
	case 2:
		a->flags = draw(2) ? KEEP_ALL : draw(2) ? KEEP_POLICY : 0;
		break;
	default:
		a->nice = draw(20);
	}
	return answer(syscall(SYS_sched_setattr, target(), a, 0));
}

static int sets_a_policy(void)
{
	static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_EXT, SCHED_EXT, SCHED_FIFO, SCHED_RR};
	int policy = policies[draw(draw(6) ? 5 : 7)];
	struct sched_param parameter = {.sched_priority = policy == SCHED_FIFO || policy == SCHED_RR};

	return answer(sched_setscheduler(target(), policy | (draw(4) ? SCHED_RESET_ON_FORK : 0), &parameter));
}

static int sets_a_parameter(void)
{
	struct sched_param parameter = {.sched_priority = draw(4) ? 0 : draw(100)};

	return answer(sched_setparam(target(), &parameter));
}

static int sets_an_affinity(void)
{
	uint64_t words[2] = {};

	if (draw(3))
		words[0] = draw(1 << pool->cpus);
	else if (draw(2))
		words[0] = ~0ull;
	else
		words[0] = 1ull << draw(pool->cpus);
	return answer(syscall(SYS_sched_setaffinity, target(), draw(8) ? 8 : 1 + draw(16), words));
}

static int sets_a_nice_value(void)
{
	static const int whose[] = {PRIO_PROCESS, PRIO_PROCESS, PRIO_PROCESS, PRIO_PROCESS, PRIO_PGRP, PRIO_USER};

	return answer(setpriority(whose[draw(6)], draw(2) ? target() : 0, (int)draw(24) - 2));
}

static int reads_attributes(void)
{
	struct attributes a = {};

	return answer(syscall(SYS_sched_getattr, target(), &a, sizeof(a), 0));
}

/* Root makes one a member on the user's behalf, if the policy has room. */
static int wishes(void)
{
	struct wish *wish = &pool->wishes[draw(SLOTS)];
	uint64_t period_ns = some_period_ns();

	if (!__sync_bool_compare_and_swap(&wish->state, 0, 1))
		return EAGAIN;
	wish->tid = one_target();
	wish->period_ns = period_ns;
	wish->runtime_ns = period_ns / (2 + draw(12));
	wish->flags = draw(3) ? RESET_ON_FORK : 0;
	wish->anywhere = draw(4);
	__sync_lock_test_and_set(&wish->state, 2);
	return 0;
}

static void sets_the_victims_scheduling(pid_t victim)
{
	switch (draw(8)) {
	case 0:
	case 1:
		ask(victim, 0, 0, 0, RESET_ON_FORK);
		break;
	case 2:
	case 3:
		set_policy(victim, (draw(2) ? SCHED_OTHER : SCHED_EXT) | SCHED_RESET_ON_FORK);
		break;
	case 4:
		set_cpus(victim, draw(4) ? 0 : draw(pool->cpus), pool->cpus);
		break;
	case 5:
		sched_yield();
		break;
	case 6:
		setpriority(PRIO_PROCESS, victim, draw(10));
		break;
	default:
		asks_for_a_deadline_of(victim);
	}
}

/*
 * Several threads, and two of root's (room.h), set one thread's scheduling at the same time: calls that are decided about at the same
 * instant are rare, so these are many.
 */
static int storms(void)
{
	uint64_t ends_at = pool->storm_ends_at;

	if (now(CLOCK_MONOTONIC) >= ends_at) {
		ends_at = now(CLOCK_MONOTONIC) + (20 + draw(80)) * MS;
		/* One that runs ends its membership at once, others when their turn comes. */
		pool->victim = draw(3) ? (pid_t)syscall(SYS_gettid) : one_target();
		pool->storm_ends_at = ends_at;
	}
	while (now(CLOCK_MONOTONIC) < ends_at)
		sets_the_victims_scheduling(pool->victim);
	return 0;
}

/* Core scheduling. */
static int sets_a_cookie(void)
{
	return answer(prctl(PR_SCHED_CORE, draw(4), target(), draw(3), 0UL));
}
