// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of an attached policy do at random what tasks do, and a controller does the rest to them: kills, stops, moves them,
 * changes their policy and parameters. At the end all of them must be gone when they are killed.
 * Usage: stress SECONDS TASKS SEED; prints one line, exit code 1 if a task was lost.
 */
#define _GNU_SOURCE
#include "task.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define TASKS_MAX 256
/* A task that does not end within this time is lost. Longer than the kernel's watchdog has. */
#define PATIENCE (40000 * MS)

static struct {
	volatile uint64_t jobs[TASKS_MAX];
	int admitted, busy, refused;
	pthread_mutex_t mutex;
} *shared;

static uint32_t state;

/* From 0 to n - 1. */
static uint32_t draw(uint32_t n)
{
	state = state * 1103515245u + 12345u;
	return (state >> 16) % n;
}

static void enter(pid_t pid, uint64_t runtime, uint64_t deadline, uint64_t period)
{
	int error = ask(pid, runtime, deadline, period, RESET_ON_FORK);

	__sync_fetch_and_add(error == 0 ? &shared->admitted : error == EBUSY ? &shared->busy : &shared->refused, 1);
}

/* A child that works for a moment. */
static void have_a_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		work(MS);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void under_a_lock(uint64_t ns)
{
	if (pthread_mutex_lock(&shared->mutex) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->mutex);
	work(ns);
	pthread_mutex_unlock(&shared->mutex);
}

static void through_a_pipe(const int *ends)
{
	char byte = 0;

	if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
		_exit(1);
}

/* One job, or something else that a task does. */
static void behave(uint64_t runtime, uint64_t deadline, uint64_t period, const int *ends)
{
	switch (draw(12)) {
	case 0:
		usleep(draw(30000));
		return;
	case 1:
		through_a_pipe(ends);
		work(runtime / 2);
		break;
	case 2:
		under_a_lock(runtime / 4);
		break;
	case 3:
		work(runtime * 3);
		break;
	case 4:
		if (draw(4) == 0)
			have_a_child();
		break;
	case 5:
		enter(0, runtime, deadline, period);
		return;
	case 6:
		set_policy(0, SCHED_OTHER);
		work(runtime / 2);
		usleep(draw(3000));
		enter(0, runtime, deadline, period);
		return;
	case 7:
		if (draw(30) == 0)
			_exit(0);
		break;
	default:
		work(draw(runtime));
	}
	sched_yield();
}

static void task(int me, uint32_t seed)
{
	uint64_t period, runtime, deadline;
	int ends[2];

	state = seed * 7919u + me;
	period = (5 + draw(60)) * MS;
	runtime = period / 40 + draw(period / 20);
	deadline = draw(2) ? period : period / 2;
	if (pipe(ends))
		_exit(1);
	enter(0, runtime, deadline, period);
	for (;;) {
		shared->jobs[me]++;
		behave(runtime, deadline, period, ends);
	}
}

/* What others do to a task. */
static void disturb(pid_t pid, int cpus)
{
	int cpu;

	switch (draw(10)) {
	case 0:
		kill(pid, SIGKILL);
		break;
	case 1:
		kill(pid, SIGSTOP);
		usleep(draw(20000));
		kill(pid, SIGCONT);
		break;
	case 2:
		cpu = draw(cpus);
		set_cpus(pid, cpu, cpu + 1);
		if (draw(2))
			set_cpus(pid, 0, cpus);
		break;
	case 3:
		set_policy(pid, SCHED_OTHER);
		break;
	case 4:
		enter(pid, MS / 2, 10 * MS, 10 * MS);
		break;
	case 5:
		set_policy(pid, SCHED_FIFO);
		usleep(1000);
		set_policy(pid, SCHED_OTHER);
		break;
	default:
		break;
	}
}

/* Kills all and waits for them: how many do not end. */
static int end_all(pid_t *pids, int count)
{
	uint64_t begin = now(CLOCK_MONOTONIC);
	int left;

	for (int i = 0; i < count; i++)
		if (pids[i]) {
			kill(pids[i], SIGKILL);
			kill(pids[i], SIGCONT);
		}
	do {
		left = 0;
		usleep(10000);
		for (int i = 0; i < count; i++) {
			if (pids[i] && waitpid(pids[i], NULL, WNOHANG) == pids[i])
				pids[i] = 0;
			left += pids[i] != 0;
		}
	} while (left && now(CLOCK_MONOTONIC) - begin < PATIENCE);
	return left;
}

static void share(void)
{
	pthread_mutexattr_t attributes;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		exit(3);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->mutex, &attributes);
}

int main(int words, char **word)
{
	static pid_t pids[TASKS_MAX];
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int count, seed, started = 0, left;
	uint64_t end, jobs = 0;

	if (words != 4)
		return 2;
	end = now(CLOCK_MONOTONIC) + atoi(word[1]) * 1000 * MS;
	count = atoi(word[2]);
	seed = atoi(word[3]);
	if (count < 1 || count > TASKS_MAX)
		return 2;
	share();
	state = seed;
	while (now(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < count; i++) {
			if (pids[i] && waitpid(pids[i], NULL, WNOHANG) == pids[i])
				pids[i] = 0;
			if (pids[i])
				continue;
			started++;
			pids[i] = fork();
			if (pids[i] == 0)
				task(i, seed + started);
			/* kill() takes -1 for all processes. */
			if (pids[i] < 0)
				return 3;
		}
		usleep(5000);
		disturb(pids[draw(count)], cpus);
	}
	left = end_all(pids, count);
	for (int i = 0; i < count; i++)
		jobs += shared->jobs[i];
	printf("seed %d: %llu jobs, %d tasks, admitted %d, busy %d, refused %d, lost %d\n", seed,
	       (unsigned long long)jobs, started, shared->admitted, shared->busy, shared->refused, left);
	return left != 0;
}
