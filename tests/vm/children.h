/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks as children that their parent watches: a place in shared memory each, where it says how many jobs it has ended. A task
 * that is "going on" ends more of them, however late. What a check finds wrong is in `why`, printed by `verdict`.
 */
#ifndef LX_TESTS_CHILDREN_H
#define LX_TESTS_CHILDREN_H

#define _GNU_SOURCE
#include "task.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define TASKS_MAX 1100
/* A task that makes no progress for so long makes none. Less than the kernel's watchdog has. */
#define PATIENCE_S 25

static struct {
	volatile uint64_t jobs[TASKS_MAX];
	/* What a task says about itself, for its behaviour to read. */
	volatile int word[TASKS_MAX];
	pthread_mutex_t mutex, inheriting;
} *shared;

static pid_t tasks[TASKS_MAX];
static char why[256];

#define FAIL(...)                                                                                                      \
	do {                                                                                                           \
		snprintf(why, sizeof(why), __VA_ARGS__);                                                               \
		return 0;                                                                                              \
	} while (0)

static inline int enter(pid_t pid, uint64_t runtime, uint64_t period, uint64_t flags)
{
	return ask(pid, runtime, period, period, flags);
}

/* A job that takes a tenth of its runtime, and its end. Under another policy sched_yield is none. */
static inline void one_job(int me, uint64_t runtime)
{
	work(runtime / 10);
	shared->jobs[me]++;
	sched_yield();
	if (sched_getscheduler(0) != SCHED_EXT)
		usleep(1000);
}

/* The child's part, told its place; what it returns is its exit code. */
static inline pid_t start(int me, int (*task)(int))
{
	pid_t pid;

	shared->word[me] = -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(task(me));
	}
	/* kill() takes -1 for all processes. */
	if (pid < 0)
		exit(3);
	tasks[me] = pid;
	return pid;
}

static inline int periodic(int me)
{
	shared->word[me] = enter(0, 5 * MS, 50 * MS, 0);
	if (shared->word[me])
		return 1;
	for (;;)
		one_job(me, 5 * MS);
	return 0;
}

/* Waits until the condition holds, within reason. */
#define EVENTUALLY(condition)                                                                                          \
	({                                                                                                             \
		uint64_t begun = now(CLOCK_MONOTONIC);                                                                 \
		int held;                                                                                              \
                                                                                                                       \
		while (!(held = !!(condition)) && now(CLOCK_MONOTONIC) - begun < PATIENCE_S * 1000 * MS)               \
			usleep(2000);                                                                                  \
		held;                                                                                                  \
	})

static inline int goes_on(int number, const char *when)
{
	uint64_t jobs = shared->jobs[number];

	if (!EVENTUALLY(shared->jobs[number] >= jobs + 3))
		FAIL("task %d (%d) makes no progress %s", number, tasks[number], when);
	return 1;
}

/* Waits for the task's end: its status as waitpid has it. */
static inline int reap(int number, int *status)
{
	pid_t pid = tasks[number];
	int ended;

	if (!EVENTUALLY((ended = waitpid(pid, status, WNOHANG)) != 0))
		FAIL("task %d (%d) is lost: it does not end", number, pid);
	tasks[number] = 0;
	return 1;
}

static inline int end(int number)
{
	int status;

	if (!tasks[number])
		return 1;
	kill(tasks[number], SIGKILL);
	kill(tasks[number], SIGCONT);
	return reap(number, &status);
}

static inline int ends_with(int number, int code)
{
	int status = 0;

	if (!reap(number, &status))
		return 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
		FAIL("task %d ended with status 0x%x, not with code %d", number, status, code);
	return 1;
}

/* A task that has been admitted and goes on. */
static inline int begin(int me, int (*task)(int))
{
	start(me, task);
	if (!EVENTUALLY(shared->word[me] >= 0))
		FAIL("task %d does not get to ask", me);
	if (shared->word[me])
		FAIL("task %d is refused: %s", me, strerror(shared->word[me]));
	return goes_on(me, "at first");
}

static inline int is_attached(void)
{
	char state[32] = "";
	FILE *file = fopen("/sys/kernel/sched_ext/state", "r");

	if (!file)
		return 0;
	if (!fgets(state, sizeof(state), file))
		state[0] = 0;
	fclose(file);
	return !strncmp(state, "enabled", 7);
}

/* What the scheduler knows, into the kernel's trace, for the search for a fault. */
static inline void dump(void)
{
	FILE *file = fopen("/proc/sysrq-trigger", "w");

	if (file) {
		fputc('D', file);
		fclose(file);
	}
	sleep(1);
}

static inline int verdict(const char *name, int fine)
{
	if (!fine)
		dump();
	if (fine && !is_attached()) {
		snprintf(why, sizeof(why), "the kernel has ended the policy meanwhile");
		fine = 0;
	}
	for (int i = 0; i < TASKS_MAX; i++)
		if (tasks[i]) {
			kill(tasks[i], SIGKILL);
			tasks[i] = 0;
		}
	if (fine)
		printf("ok: %s\n", name);
	else
		printf("NOT OK: %s: %s (%d s after the boot)\n", name, why, (int)(now(CLOCK_BOOTTIME) / 1000000000));
	fflush(stdout);
	return !fine;
}

static inline void share(void)
{
	pthread_mutexattr_t attributes;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		exit(3);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->mutex, &attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&shared->inheriting, &attributes);
}

#endif
