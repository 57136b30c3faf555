// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plain periodic task for SCHED_DEADLINE: one sched_setattr, and sched_yield at the end of each job.
 * Usage: periodic POLICY RUNTIME_US DEADLINE_US PERIOD_US WORK_US JOBS; POLICY is 6 for SCHED_DEADLINE, 7 for SCHED_EXT.
 * Prints how its jobs ended, or why it was refused; exit code 1 then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <sched.h>

struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t microseconds(const char *text)
{
	return strtoull(text, NULL, 10) * 1000;
}

int main(int count, char **words)
{
	struct attributes a = {.size = sizeof(a)};
	uint64_t work, start;
	int jobs, missed = 0;

	if (count != 7)
		return 2;
	a.policy = atoi(words[1]);
	a.runtime = microseconds(words[2]);
	a.deadline = microseconds(words[3]);
	a.period = microseconds(words[4]);
	work = microseconds(words[5]);
	jobs = atoi(words[6]);
	if (syscall(SYS_sched_setattr, 0, &a, 0)) {
		printf("refused %d %s\n", errno, strerror(errno));
		return 1;
	}
	start = now(CLOCK_MONOTONIC);
	for (int job = 0; job < jobs; job++) {
		uint64_t before = now(CLOCK_THREAD_CPUTIME_ID);

		while (now(CLOCK_THREAD_CPUTIME_ID) - before < work)
			;
		missed += now(CLOCK_MONOTONIC) > start + job * a.period + a.deadline;
		sched_yield();
	}
	printf("jobs %d missed %d periods %llu\n", jobs, missed,
	       (unsigned long long)((now(CLOCK_MONOTONIC) - start + a.period / 2) / a.period));
	return 0;
}
