/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of the tests in virtual machines share: plain real-time tasks, without laxity. */
#ifndef LX_TESTS_TASK_H
#define LX_TESTS_TASK_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SCHED_EXT 7
#define RESET_ON_FORK 1
/* Policy and parameters stay what they are. */
#define KEEP_ALL 0x18
#define MS 1000000ull

struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static inline uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* That much CPU time. */
static inline void work(uint64_t ns)
{
	uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_THREAD_CPUTIME_ID) - begin < ns)
		;
}

/* Asks for a task to be admitted; 0, or the error's number. */
static inline int ask(pid_t pid, uint64_t runtime, uint64_t deadline, uint64_t period, uint64_t flags)
{
	struct attributes a = {.size = sizeof(a), .policy = SCHED_EXT, .flags = flags, .runtime = runtime,
			       .deadline = deadline, .period = period};

	return syscall(SYS_sched_setattr, pid, &a, 0) ? errno : 0;
}

/* Another policy, with the lowest priority that it has. */
static inline int set_policy(pid_t pid, int policy)
{
	struct sched_param parameter = {.sched_priority = policy == SCHED_FIFO};

	return sched_setscheduler(pid, policy, &parameter) ? errno : 0;
}

/* May run on CPUs [first, end) only; 0, or the error's number. */
static inline int set_cpus(pid_t pid, int first, int end)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = first; cpu < end; cpu++)
		CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) ? errno : 0;
}

#endif
