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

static int going(int me)
{
	for (;;)
		shared->jobs[me]++;
	return 0;
}

/* Members first, one for each CPU, then one of the least weight; all others are plain loops. */
static int of_a_crowd(int me)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (me < cpus)
		return heavy(me);
	shared->word[me] = me == cpus ? set_policy(0, SCHED_IDLE) : 0;
	return going(me);
}

static int without_end(int me)
{
	shared->word[me] = enter(0, 20 * MS, 100 * MS, 0);
	return going(me);
}

/* An endless job for each CPU, and a plain loop that may run on the last CPU only. */
static int on_the_last_cpu(int me)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t last;

	if (me < cpus)
		return without_end(me);
	CPU_ZERO(&last);
	CPU_SET(cpus - 1, &last);
	shared->word[me] = sched_setaffinity(0, sizeof(last), &last) ? errno : 0;
	return going(me);
}

/* Whether all those have got on within the last round. */
static int all_have_gone_on(int count, int seconds)
{
	static uint64_t before[TASKS_MAX];

	for (int i = 0; i < count; i++)
		before[i] = shared->jobs[i];
	sleep(seconds);
	for (int i = 0; i < count; i++)
		if (shared->jobs[i] == before[i])
			FAIL("task %d has had nothing for %d s", i, seconds);
	return 1;
}

/* So many begin, and all of them have a CPU in each round of 28 s, less than the kernel's watchdog waits. */
static int all_have_turns(int count, int (*task)(int), int seconds)
{
	for (int i = 0; i < count; i++) {
		start(i, task);
		if (!EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not begin", i);
	}
	for (int passed = 0; passed < seconds; passed += 28)
		if (!all_have_gone_on(count, 28))
			return 0;
	for (int i = 0; i < count; i++)
		if (!end(i))
			return 0;
	return 1;
}

/* Members that leave 15 % of each CPU; beside them 20 loops for each, and one of the least weight. */
static int crowded(int seconds)
{
	return all_have_turns(21 * sysconf(_SC_NPROCESSORS_ONLN) + 1, of_a_crowd, seconds);
}

/* What is to be looked at in ticks is looked at on a CPU that stops its ticks where it can. */
static int tickless(int seconds)
{
	return all_have_turns(sysconf(_SC_NPROCESSORS_ONLN) + 1, on_the_last_cpu, seconds);
}

/* One endless job more than there are CPUs, where no budget ends them: each has a CPU now and then. */
static int overloaded(int seconds)
{
	return all_have_turns(sysconf(_SC_NPROCESSORS_ONLN) + 1, without_end, seconds);
}
