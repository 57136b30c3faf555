/* SPDX-License-Identifier: GPL-2.0-only */
/* What others do to a task's scheduling while it runs and waits: no call strands it, or what is beside it. */

/* Half a second between two jobs: it waits most of the time. */
static int seldom(int me)
{
	shared->word[me] = enter(0, 5 * MS, 500 * MS, 0);
	for (;;) {
		if (sched_getscheduler(0) == SCHED_EXT && shared->word[me] == 0)
			one_job(me, 5 * MS);
		else
			usleep(1000);
	}
}

/* Asks for a third one again and again, with parameters and without. */
static int setting(int me)
{
	pid_t target = tasks[2];

	for (;;) {
		if (me == 0)
			ask(target, 2 * MS, 100 * MS, 100 * MS, 0);
		else
			ask(target, 0, 0, 0, 0);
		if (shared->jobs[me]++ % 64 == 0)
			ask(target, 2 * MS, 100 * MS, 100 * MS, 0);
	}
	return 0;
}

static int two_set_a_third(void)
{
	int error = 0;

	if (!begin(2, periodic) || !begin(3, periodic))
		return 0;
	start(0, setting);
	start(1, setting);
	for (int i = 0; i < 12; i++)
		if (!goes_on(0, "setting a third's scheduling") || !goes_on(1, "setting a third's scheduling") ||
		    !goes_on(3, "beside them"))
			return 0;
	usleep(2000000);
	if (!end(0) || !end(1))
		return 0;
	/* It may be anything now; it can be asked for, and goes on. */
	if (!EVENTUALLY(!(error = ask(tasks[2], 2 * MS, 100 * MS, 100 * MS, 0))))
		FAIL("it is not admitted any more: %s", strerror(error));
	return goes_on(2, "after two have set its scheduling") && end(2) && end(3);
}

static int sent_to_the_background(void)
{
	/* Twice as many as CPUs: some wait for a CPU, all for their next release. */
	for (int i = 0; i < 2 * cpus; i++)
		if (!begin(i, seldom))
			return 0;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2 * cpus; i++) {
			int error = set_policy(tasks[i], SCHED_EXT);

			if (error)
				FAIL("task %d cannot be sent to the background: %s", i, strerror(error));
		}
		for (int i = 0; i < 2 * cpus; i++)
			if (!goes_on(i, "in the background"))
				return 0;
		for (int i = 0; i < 2 * cpus; i++) {
			int error = ask(tasks[i], 5 * MS, 500 * MS, 500 * MS, 0);

			if (error)
				FAIL("task %d is not admitted anew: %s", i, strerror(error));
		}
	}
	for (int i = 0; i < 2 * cpus; i++)
		if (!goes_on(i, "after all") || !end(i))
			return 0;
	return 1;
}

static void *executing_thread(void *argument)
{
	(void)argument;
	if (enter(0, 5 * MS, 50 * MS, 0))
		_exit(1);
	one_job(0, 5 * MS);
	execl("/proc/self/exe", "behaviours", "after-exec", NULL);
	_exit(2);
}

static int led(int me)
{
	pthread_t id;

	(void)me;
	if (pthread_create(&id, NULL, executing_thread, NULL))
		return 3;
	pthread_join(id, NULL);
	return 4;
}

/* A thread that is not its process's first gets that one's number. */
static int executes_beside_the_leader(void)
{
	for (int round = 0; round < 3; round++) {
		start(0, led);
		if (!ends_with(0, 0))
			return 0;
	}
	return 1;
}
