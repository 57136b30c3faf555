/* SPDX-License-Identifier: GPL-2.0-only */
/* Affinity, policy and parameters: changed, refused, kept, given back. */
/* As SCHED_DEADLINE has it: while it is real-time it is not kept from any CPU of its cell, which is one where ONE_CPU_CELLS is set. */
static int affinity_changed(void)
{
	int alone = getenv("ONE_CPU_CELLS") != NULL;

	if (!begin(0, periodic))
		return 0;
	for (int round = 0; round < 3; round++) {
		int refused = 0;

		for (int cpu = 0; cpu < cpus; cpu++) {
			int answer = set_cpus(tasks[0], cpu, cpu + 1);

			if (answer != EBUSY && answer != 0)
				FAIL("an affinity is refused for another reason");
			refused += answer == EBUSY;
			if (!goes_on(0, "after it was asked for one CPU"))
				return 0;
		}
		if (refused != cpus - alone)
			FAIL("it may be kept from CPUs");
		if (set_cpus(tasks[0], 0, cpus))
			FAIL("all CPUs are refused");
		if (set_policy(tasks[0], SCHED_OTHER) || set_cpus(tasks[0], round % cpus, round % cpus + 1))
			FAIL("a background task may not be kept from CPUs");
		if (!goes_on(0, "in the background, on one CPU"))
			return 0;
		if (!alone && enter(tasks[0], 5 * MS, 50 * MS, 0) != EPERM)
			FAIL("admitted on one CPU");
		if (set_cpus(tasks[0], 0, cpus) || enter(tasks[0], 5 * MS, 50 * MS, 0))
			FAIL("not admitted again once it may run anywhere");
		if (!goes_on(0, "admitted again"))
			return 0;
	}
	return end(0);
}

static int policy_changed(void)
{
	static const int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_BATCH, SCHED_IDLE};

	if (!begin(0, periodic))
		return 0;
	for (int i = 0; i < 4; i++) {
		if (set_policy(tasks[0], policies[i]))
			FAIL("policy %d is refused", policies[i]);
		if (!goes_on(0, "under another policy"))
			return 0;
		if (enter(tasks[0], 5 * MS, 50 * MS, 0))
			FAIL("not admitted again after policy %d", policies[i]);
		if (!goes_on(0, "admitted again"))
			return 0;
	}
	return end(0);
}

static int parameters_changed(void)
{
	if (!begin(0, periodic))
		return 0;
	for (int i = 1; i <= 10; i++) {
		if (enter(tasks[0], i * MS, (i % 3 + 1) * 20 * MS, 0))
			FAIL("other parameters are refused (%d)", i);
		if (!goes_on(0, "with other parameters"))
			return 0;
	}
	return end(0);
}

/* At least `periods` of 50 ms pass while a task of that period ends so many jobs: it has its parameters still. */
static int paced(int periods)
{
	uint64_t begun = now(CLOCK_MONOTONIC);

	for (int i = 0; i <= periods; i++)
		one_job(0, 5 * MS);
	return now(CLOCK_MONOTONIC) - begun >= (periods - 1) * 50 * MS;
}

static int keeping(int me)
{
	struct attributes keep = {.size = sizeof(keep), .flags = KEEP_ALL};

	(void)me;
	for (int i = 0; i < 3; i++) {
		if (enter(0, 60 * MS, 50 * MS, 0) != EINVAL || !paced(4))
			return 2;
		if (enter(0, 50 * MS, 50 * MS, 0) != EBUSY || !paced(4))
			return 3;
		if (syscall(SYS_sched_setattr, 0, &keep, 0) || !paced(4))
			return 4;
		if (enter(0, 5 * MS, 50 * MS, 0) || !paced(4))
			return 5;
	}
	return 0;
}

static int kept(int me)
{
	shared->word[me] = enter(0, 5 * MS, 50 * MS, 0);
	while (shared->word[1] <= 0)
		usleep(1000);
	return shared->word[me] ? 1 : keeping(me);
}

static int sleeping(int me)
{
	shared->word[me] = enter(0, 45 * MS, 50 * MS, 0);
	for (;;)
		pause();
	return 0;
}

/* What is refused changes nothing; neither does a call that leaves policy and parameters as they are. */
static int keeps_its_parameters(void)
{
	int others = 2;

	shared->word[1] = 0;
	start(0, kept);
	if (!EVENTUALLY(shared->word[0] >= 0))
		FAIL("it does not get to ask");
	/* Less than .9 of a CPU is left then. */
	do {
		start(others, sleeping);
		if (!EVENTUALLY(shared->word[others] >= 0))
			FAIL("task %d does not get to ask", others);
	} while (!shared->word[others++]);
	shared->word[1] = 1;
	if (!ends_with(0, 0))
		return 0;
	for (int i = 2; i < others; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int leaving(int me)
{
	for (int i = 0; i < 40; i++) {
		/* Half of a CPU: a task that does not give it back leaves no room for the next. */
		int error = enter(0, 25 * MS, 50 * MS, 0);

		if (error)
			return 1;
		if (i % 4 == 0)
			one_job(me, 5 * MS);
		if (set_policy(0, SCHED_EXT))
			return 2;
		if (i % 8 == 0)
			one_job(me, 5 * MS);
		shared->word[me + 1] = -1;
		start(me + 1, periodic);
		while (shared->word[me + 1] < 0)
			usleep(1000);
		error = shared->word[me + 1];
		kill(tasks[me + 1], SIGKILL);
		if (waitpid(tasks[me + 1], NULL, 0) < 0 || error)
			return 3;
	}
	return 0;
}

/* SCHED_EXT without parameters is background work: its child may ask, and the bandwidth is there again. */
static int leaves_for_the_background(void)
{
	start(0, leaving);
	return ends_with(0, 0);
}
