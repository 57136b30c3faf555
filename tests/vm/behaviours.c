// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of an attached policy under all that can be done to them: each behaviour ends with `ok:` or `NOT OK:`,
 * none depends on how fast the machine is. Usage: behaviours NAME...   (all if there is none)
 */
#include "children.h"

static int cpus;

static int background(int me)
{
	for (;;) {
		work(MS / 2);
		shared->jobs[me]++;
		usleep(1000);
	}
	return 0;
}

static int greedy(int me)
{
	shared->word[me] = enter(0, 90 * MS, 300 * MS, 0);
	for (;;) {
		shared->jobs[me]++;
		work(80 * MS);
		sched_yield();
	}
	return 0;
}

/* One more than there are CPUs, so that one is always queued; killed at any point of its job. */
static int killed_while_queued(void)
{
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i <= cpus; i++)
			start(i, greedy);
		for (int i = 0; i <= cpus; i++)
			if (!EVENTUALLY(shared->word[i] >= 0))
				FAIL("task %d does not get to ask", i);
		usleep(30000 * round);
		for (int i = cpus; i >= 0; i--)
			if (!end(i))
				return 0;
	}
	return 1;
}

static void *thread(void *argument)
{
	int me = (intptr_t)argument;

	shared->word[me] = enter(0, 90 * MS, 300 * MS, 0);
	for (;;) {
		shared->jobs[me]++;
		work(80 * MS);
		sched_yield();
	}
	return NULL;
}

static int group(int me)
{
	pthread_t id;

	for (int i = 1; i <= cpus + 1; i++) {
		shared->word[me + i] = -1;
		if (pthread_create(&id, NULL, thread, (void *)(intptr_t)(me + i)))
			return 1;
	}
	for (int i = 1; i <= cpus + 1; i++)
		while (shared->word[me + i] < 0)
			usleep(1000);
	usleep(20000);
	exit(7);
}

/* The process ends while its threads run and wait. */
static int exits_while_queued(void)
{
	for (int round = 0; round < 4; round++) {
		start(0, group);
		if (!ends_with(0, 7))
			return 0;
	}
	return 1;
}

static int forking(int me)
{
	pid_t child;
	int status = 0;

	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	if (fork() >= 0 || errno != EAGAIN)
		return 2;
	if (enter(0, 5 * MS, 50 * MS, RESET_ON_FORK))
		return 3;
	child = fork();
	if (child == 0) {
		/* A background task may have children. */
		pid_t grandchild = fork();

		if (grandchild == 0)
			_exit(0);
		work(MS);
		_exit(grandchild > 0 ? 9 : 8);
	}
	for (int i = 0; i < 3; i++)
		one_job(me, 5 * MS);
	if (child < 0)
		return 4;
	if (waitpid(child, &status, 0) != child)
		return 5;
	return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 0 : 6;
}

/* As SCHED_DEADLINE has it: no child, unless it is to be a background task. */
static int forked(void)
{
	start(0, forking);
	return ends_with(0, 0);
}

static int executing(int me)
{
	(void)me;
	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	execl("/proc/self/exe", "behaviours", "after-exec", NULL);
	return 2;
}

/* Another program in the same task. */
static int executes(void)
{
	start(0, executing);
	return ends_with(0, 0);
}

#include "behaviours/hostile.h"
#include "behaviours/requests.h"
#include "behaviours/waiting.h"

static int endless(int me)
{
	shared->word[me] = enter(0, 20 * MS, 100 * MS, 0);
	for (;;) {
		work(MS / 4);
		shared->jobs[me]++;
	}
	return 0;
}

/* A job without an end uses its budget; the others have theirs. */
static int never_yields(void)
{
	start(0, endless);
	start(1, endless);
	if (!begin(2, periodic))
		return 0;
	start(3, background);
	for (int i = 0; i < 4; i++)
		if (!goes_on(i, "beside a task that never yields"))
			return 0;
	for (int i = 0; i < 4; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int coming(int me)
{
	for (int i = 0; i < 150; i++) {
		int error = enter(0, 2 * MS, 20 * MS, 0);

		if (error)
			return error;
		if (i % 3 == 0)
			one_job(me, 2 * MS);
		if (set_policy(0, SCHED_OTHER))
			return 2;
		shared->jobs[me]++;
	}
	return 0;
}

static int comes_and_goes(void)
{
	for (int i = 0; i < 4; i++)
		start(i, coming);
	for (int i = 0; i < 4; i++)
		if (!ends_with(i, 0))
			return 0;
	return 1;
}

static int threading(int me)
{
	pthread_t id;

	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	if (pthread_create(&id, NULL, thread, (void *)(intptr_t)(me + 1)) != EAGAIN)
		return 2;
	one_job(me, 5 * MS);
	return 0;
}

static int creates_a_thread(void)
{
	start(0, threading);
	return ends_with(0, 0);
}

static const struct {
	const char *name;
	int (*run)(void);
} behaviours[] = {
	{"killed-while-queued", killed_while_queued},
	{"exits-while-queued", exits_while_queued},
	{"forked", forked},
	{"creates-a-thread", creates_a_thread},
	{"executes", executes},
	{"executes-beside-the-leader", executes_beside_the_leader},
	{"affinity-changed", affinity_changed},
	{"policy-changed", policy_changed},
	{"parameters-changed", parameters_changed},
	{"keeps-its-parameters", keeps_its_parameters},
	{"leaves-for-the-background", leaves_for_the_background},
	{"sent-to-the-background", sent_to_the_background},
	{"two-set-a-third", two_set_a_third},
	{"stopped-and-continued", stopped_and_continued},
	{"blocked-on-a-pipe", blocked_on_a_pipe},
	{"blocked-on-a-mutex", blocked_on_a_mutex},
	{"inherits-a-priority", inherits_a_priority},
	{"never-yields", never_yields},
	{"comes-and-goes", comes_and_goes},
};

static int run(int count, char **names)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(behaviours) / sizeof(*behaviours); i++) {
		int wanted = count == 0;

		for (int n = 0; n < count; n++)
			wanted |= !strcmp(names[n], behaviours[i].name);
		memset((void *)shared->jobs, 0, sizeof(shared->jobs));
		if (wanted)
			failed += verdict(behaviours[i].name, behaviours[i].run());
	}
	return failed != 0;
}

int main(int count, char **words)
{
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	share();
	if (count == 2 && !strcmp(words[1], "after-exec")) {
		for (int i = 0; i < 5; i++)
			one_job(0, 5 * MS);
		return sched_getscheduler(0) != SCHED_EXT;
	}
	return run(count - 1, words + 1);
}
