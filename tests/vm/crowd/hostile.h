/* SPDX-License-Identifier: GPL-2.0-only */
/* What an ordinary user can start beside real-time load: the scheduler stays, and all go on. */

/* 85 % of a CPU. */
static int heavy(int me)
{
	shared->word[me] = enter(0, 85 * MS, 100 * MS, 0);
	for (;;) {
		work(80 * MS);
		shared->jobs[me]++;
		sched_yield();
	}
	return 0;
}

static int least(int me)
{
	shared->word[me] = set_policy(0, SCHED_IDLE);
	for (;;)
		shared->jobs[me]++;
	return 0;
}

static int plain(int me)
{
	shared->word[me] = 0;
	for (;;)
		shared->jobs[me]++;
	return 0;
}

/* Whether all those have got on within the last round. */
static int all_have_gone_on(int first, int end, int seconds)
{
	static uint64_t before[TASKS_MAX];

	for (int i = first; i < end; i++)
		before[i] = shared->jobs[i];
	sleep(seconds);
	for (int i = first; i < end; i++)
		if (shared->jobs[i] == before[i])
			FAIL("task %d has had nothing for %d s", i, seconds);
	return 1;
}

/* Members that leave 15 % of each CPU; beside them 20 loops for each, and one of the least weight. */
static int crowded(int seconds)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), count = 21 * cpus + 1;

	for (int i = 0; i < count; i++) {
		start(i, i < cpus ? heavy : i == cpus ? least : plain);
		if (!EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not begin", i);
	}
	for (int passed = 0; passed < seconds; passed += 28)
		if (!all_have_gone_on(0, count, 28))
			return 0;
	for (int i = 0; i < count; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int without_end(int me)
{
	shared->word[me] = enter(0, 20 * MS, 100 * MS, 0);
	for (;;)
		shared->jobs[me]++;
	return 0;
}

/* One endless job more than there are CPUs, where no budget ends them: each has a CPU now and then. */
static int overloaded(int seconds)
{
	int count = sysconf(_SC_NPROCESSORS_ONLN) + 1;

	for (int i = 0; i < count; i++) {
		start(i, without_end);
		if (!EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not get to ask", i);
	}
	for (int passed = 0; passed < seconds; passed += 28)
		if (!all_have_gone_on(0, count, 28))
			return 0;
	for (int i = 0; i < count; i++)
		if (!end(i))
			return 0;
	return 1;
}
