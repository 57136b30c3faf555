// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that the steps of tests/vm/faults need beside the behaviours. Usage:
 *   crowd many TASKS ROOM     that many tasks, where the scheduler has room for ROOM; storm: all of them ask at the same time
 *   crowd endless TASKS       tasks that go on until they are killed; a line whenever all have made progress
 *   crowd ask                 asks to be admitted; the answer is the exit code
 *   crowd hog SECONDS         SCHED_FIFO on every CPU
 *   crowd full SECONDS        endless jobs that ask for all that admission grants, and what else is to go on beside them
 *   crowd budget PERIODS      an endless job whose budget is a fraction of a tick
 *   crowd fair SECONDS        background tasks beside a real-time task, by CPU clocks; crowd weights: by what they have done
 *   crowd crowded SECONDS     members of 85 %, beside them 20 loops for each CPU and one of SCHED_IDLE
 *   crowd overloaded SECONDS  one endless job more than there are CPUs
 *   crowd tickless SECONDS    an endless job for each CPU, and a plain loop on the last one
 *   crowd as-nobody PROGRAM ARGUMENTS...      without any privilege
 */
#include "children.h"
#include "crowd/load.h"
#include "crowd/fair.h"
#include "crowd/hostile.h"

static int small(int me)
{
	int error;

	do {
		error = enter(0, MS / 2, 2000 * MS, 0);
		shared->word[me] = error;
	} while (error == EBUSY && usleep(50000) == 0);
	for (;;)
		one_job(me, MS / 4);
	return 0;
}

/* Those that are there and have been admitted; all at the same time, as their periods are long. */
static int all_go_on(int count, const char *when)
{
	static uint64_t jobs[TASKS_MAX];

	for (int i = 0; i < count; i++)
		jobs[i] = shared->jobs[i];
	for (int i = 0; i < count; i++)
		if (tasks[i] && shared->word[i] == 0 && !EVENTUALLY(shared->jobs[i] >= jobs[i] + 3))
			FAIL("task %d (%d) makes no progress %s", i, tasks[i], when);
	return 1;
}

/* Many at once: all that there is room for are admitted and go on; the others are told so, and enter as soon as there is room. */
static int many(int count, int room, int at_once)
{
	static char first[TASKS_MAX];
	int admitted = 0, busy = 0;

	for (int i = 0; i < count; i++) {
		start(i, small);
		if (!at_once && !EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not get to ask", i);
	}
	for (int i = 0; i < count; i++)
		if (!EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not get to ask", i);
	for (int i = 0; i < count; i++) {
		first[i] = shared->word[i] == 0;
		admitted += first[i];
		busy += shared->word[i] == EBUSY;
	}
	if (admitted != (count < room ? count : room) || admitted + busy != count)
		FAIL("%d of %d are admitted, %d refused with EBUSY", admitted, count, busy);
	if (!all_go_on(count, "among many"))
		return 0;
	/* One that waits for its release ends then: all of them at the same time. */
	for (int i = 0; i < count && busy; i++)
		if (first[i])
			kill(tasks[i], SIGKILL);
	for (int i = 0; i < count && busy; i++)
		if (first[i] && !end(i))
			return 0;
	for (int i = 0; i < count; i++)
		if (tasks[i] && !EVENTUALLY(shared->word[i] == 0))
			FAIL("task %d is not admitted once there is room", i);
	if (!all_go_on(count, "once there is room"))
		return 0;
	for (int i = 0; i < count; i++)
		if (tasks[i])
			kill(tasks[i], SIGKILL);
	for (int i = 0; i < count; i++)
		if (!end(i))
			return 0;
	return 1;
}

/* Nothing but SCHED_FIFO for so long. */
static int hog(int seconds)
{
	uint64_t end = now(CLOCK_MONOTONIC) + seconds * 1000 * MS;

	for (long cpu = sysconf(_SC_NPROCESSORS_ONLN); cpu > 1; cpu--)
		if (fork() == 0)
			break;
	if (set_policy(0, SCHED_FIFO))
		return 1;
	while (now(CLOCK_MONOTONIC) < end)
		;
	while (wait(NULL) > 0)
		;
	return 0;
}

/* Until it is killed. */
static int endless(int count)
{
	for (int i = 0; i < count; i++)
		if (!begin(i, periodic))
			return verdict("endless", 0);
	printf("going on\n");
	fflush(stdout);
	for (;;) {
		/* The next line may take its time. */
		for (int i = 0; i < count; i++)
			for (uint64_t jobs = shared->jobs[i]; shared->jobs[i] < jobs + 3;)
				usleep(2000);
		printf("still\n");
		fflush(stdout);
	}
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";

	if (!strcmp(what, "as-nobody") && count > 2) {
		if (setgid(65534) || setuid(65534))
			return 3;
		execvp(words[2], words + 2);
		return 4;
	}
	if (!strcmp(what, "ask"))
		return enter(0, 5 * MS, 50 * MS, 0);
	if (!strcmp(what, "hog") && count == 3)
		return hog(atoi(words[2]));
	share();
	if ((!strcmp(what, "many") || !strcmp(what, "storm")) && count == 4)
		return verdict(what, many(atoi(words[2]), atoi(words[3]), *what == 's'));
	if (!strcmp(what, "endless") && count == 3)
		return endless(atoi(words[2]));
	if (!strcmp(what, "full") && count == 3)
		return verdict(what, full(atoi(words[2])));
	if (!strcmp(what, "budget") && count == 3)
		return verdict(what, budget(atoi(words[2])));
	if (!strcmp(what, "fair") && count == 3)
		return verdict(what, fair(atoi(words[2])));
	if (!strcmp(what, "crowded") && count == 3)
		return verdict(what, crowded(atoi(words[2])));
	if (!strcmp(what, "tickless") && count == 3)
		return verdict(what, tickless(atoi(words[2])));
	if (!strcmp(what, "overloaded") && count == 3)
		return verdict(what, overloaded(atoi(words[2])));
	if (!strcmp(what, "weights") && count == 3)
		return verdict(what, weights(atoi(words[2])));
	fprintf(stderr, "crowd: there is nothing that is called %s\n", what);
	return 2;
}
