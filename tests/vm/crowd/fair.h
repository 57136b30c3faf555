/* SPDX-License-Identifier: GPL-2.0-only */
/* Background tasks beside a real-time task: each has its share. */
#include <sys/resource.h>

/* What a loop is: the CPU that it may use, or any; how nice it is. */
static struct {
	int cpu, nice;
} loops[4];

static int loop(int me)
{
	if (loops[me].cpu >= 0)
		set_cpus(0, loops[me].cpu, loops[me].cpu + 1);
	setpriority(PRIO_PROCESS, 0, loops[me].nice);
	shared->word[me] = 0;
	for (;;)
		shared->jobs[me]++;
	return 0;
}

/* Three quarters of CPU 0, in pieces that are less than a slice of the others. */
static int often(int me)
{
	set_cpus(0, 0, 1);
	shared->word[me] = enter(0, MS * 3 / 2, 2 * MS, 0);
	if (shared->word[me])
		return 1;
	for (;;) {
		work(MS);
		shared->jobs[me]++;
		sched_yield();
	}
}

/* Loops for so long: what each has of all that they have, in percent, is what it should be, give or take a quarter. */
static int shares(const char *what, int count, const int *expected, int seconds)
{
	uint64_t had[4], sum = 0;

	for (int i = 0; i < count; i++)
		if (!begin(i, loop))
			return 0;
	for (int i = 0; i < count; i++)
		had[i] = used_by(i, i + 1);
	sleep(seconds);
	for (int i = 0; i < count; i++)
		sum += had[i] = used_by(i, i + 1) - had[i];
	printf("fair: %s:", what);
	for (int i = 0; i < count; i++)
		printf(" %d %% (of %d %%)", (int)(100 * had[i] / sum), expected[i]);
	printf("; %d ms in %d s\n", (int)(sum / MS), seconds);
	for (int i = 0; i < count; i++)
		if (100 * had[i] > sum * expected[i] * 5 / 4 || 100 * had[i] < sum * expected[i] * 3 / 4)
			FAIL("loop %d of \"%s\" has not its share", i, what);
	for (int i = 0; i < count; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int fair(int seconds)
{
	/*
	 * What is left of CPU 0 is less than a quarter of all that is left, so the loop that may use no other has that alone, and
	 * the rest goes to the others in equal parts. Weights of 1024, 1024 and 335.
	 */
	static const int equal[] = {15, 28, 28, 28}, weighted[] = {43, 43, 14};

	if (!begin(4, often))
		return 0;
	loops[1].cpu = 1;
	loops[2].cpu = loops[3].cpu = -1;
	if (!shares("one may use CPU 0, one CPU 1, two both, beside a real-time task on CPU 0", 4, equal, seconds) || !end(4))
		return 0;
	loops[0].cpu = loops[2].cpu = 1;
	loops[2].nice = 5;
	return shares("on one CPU, the third with a nice value of 5", 3, weighted, seconds);
}

/*
 * Loops for so long: how many each makes of all is what its weight says, give or take half. Loops, and not time: the kernel's
 * clocks of threads may be wrong (README.md, Limits). All may use the same CPUs: where CPUs run at the same time, each is as fast as
 * the host lets it be. Nor is there a real-time task: when the host is busy, its budgets end milliseconds late, and nothing is left.
 */
static int loops_by_weight(const char *what, const int *weights, int seconds)
{
	uint64_t made[3];
	double sum = 0, all = 0;

	for (int i = 0; i < 3; i++)
		if (!begin(i, loop))
			return 0;
	for (int i = 0; i < 3; i++)
		made[i] = shared->jobs[i];
	sleep(seconds);
	for (int i = 0; i < 3; i++) {
		sum += made[i] = shared->jobs[i] - made[i];
		all += weights[i];
	}
	printf("weights: %s:", what);
	for (int i = 0; i < 3; i++)
		printf(" %.1f %% (of %.1f %%)", 100 * made[i] / sum, 100 * weights[i] / all);
	printf("; %.0f million loops in %d s\n", sum / 1e6, seconds);
	for (int i = 0; i < 3; i++)
		if (made[i] / sum > weights[i] / all * 3 / 2 || made[i] / sum < weights[i] / all / 2)
			FAIL("loop %d of \"%s\" has not its share", i, what);
	for (int i = 0; i < 3; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int weights(int seconds)
{
	static const int same[] = {1024, 1024, 1024}, nicer[] = {1024, 1024, 335};

	loops[0].cpu = loops[1].cpu = loops[2].cpu = -1;
	if (!loops_by_weight("three on any CPU", same, seconds))
		return 0;
	loops[0].cpu = loops[1].cpu = loops[2].cpu = 0;
	loops[2].nice = 5;
	return loops_by_weight("on one CPU, the third with a nice value of 5", nicer, seconds);
}
