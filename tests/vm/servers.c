// SPDX-License-Identifier: GPL-2.0-only
/*
 * What amp-rm's deferrable servers are for: background work beside a heavy real-time load. Usage:
 *
 *   servers load CPU RUNTIME_US PERIOD_US WORK_US SECONDS    a real-time task on a CPU; WORK_US of each job; or until SIGTERM
 *   servers busy CPU SECONDS                                 a background loop on a CPU: what it got of it, in thousandths
 *   servers sleep THREADS ITERATIONS SEED TIMES [CPU]        busy-sleep loops (calandrino2007, Figure 5) whose sleeps are TIMES as
 *                                                            long; response times in us, a TIMES-th of what they were
 *   servers hold SECONDS [batch|fifo]                        a background process that waits to be promoted; at SIGUSR1 it has
 *                                                            a thread, a child and a grandchild, which print their numbers
 *   servers unreaped SECONDS                                 has a child that waits for its end, of which it takes no note
 *
 * Exit code 1: something was refused.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "task.h"

#define US 1000ull

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

static int confined(const char *cpu)
{
	int error = set_cpus(0, atoi(cpu), atoi(cpu) + 1);

	if (error)
		printf("no affinity: %s\n", strerror(error));
	return error;
}

static volatile sig_atomic_t over;

static void end_load(int signal)
{
	(void)signal;
	over = 1;
}

static int load(char **words)
{
	uint64_t runtime = number(words[1]) * US, period = number(words[2]) * US, job = number(words[3]) * US;
	uint64_t end, release;
	int jobs = 0, missed = 0, error;
	uint64_t latest = 0;

	if (confined(words[0]))
		return 1;
	signal(SIGTERM, end_load);
	error = ask(0, runtime, period, period, 0);
	if (error) {
		printf("refused %d %s\n", error, strerror(error));
		return 1;
	}
	/* The first job has what is left of its period. */
	sched_yield();
	release = now(CLOCK_MONOTONIC);
	end = release + number(words[4]) * 1000 * MS;
	while (release < end && !over) {
		uint64_t late;

		work(job);
		late = now(CLOCK_MONOTONIC);
		late = late > release + period ? late - release - period : 0;
		missed += late > 0;
		latest = late > latest ? late : latest;
		jobs++;
		sched_yield();
		release += period;
	}
	printf("jobs %d missed %d latest_us %llu\n", jobs, missed, (unsigned long long)(latest / US));
	return 0;
}

static int busy(char **words)
{
	uint64_t begin, length = number(words[1]) * 1000 * MS;
	uint64_t had;

	if (confined(words[0]))
		return 1;
	begin = now(CLOCK_MONOTONIC);
	had = now(CLOCK_THREAD_CPUTIME_ID);
	while (now(CLOCK_MONOTONIC) < begin + length)
		;
	had = now(CLOCK_THREAD_CPUTIME_ID) - had;
	printf("%llu\n", (unsigned long long)(had * 1000 / (now(CLOCK_MONOTONIC) - begin)));
	return 0;
}

struct loop {
	pthread_t thread;
	uint64_t random;
	uint64_t times;
	int iterations;
	uint64_t *response;
};

/* RANDOM(5, 25) ms. */
static uint64_t draw(struct loop *loop)
{
	loop->random = loop->random * 6364136223846793005ull + 1442695040888963407ull;
	return 5 + (loop->random >> 33) % 21;
}

static void *busy_sleep(void *context)
{
	struct loop *loop = context;

	for (int i = 0; i < loop->iterations; i++) {
		uint64_t length = draw(loop) * MS * loop->times;
		struct timespec pause = {.tv_sec = length / (1000 * MS), .tv_nsec = length % (1000 * MS)};
		uint64_t begin = now(CLOCK_MONOTONIC);

		nanosleep(&pause, NULL);
		loop->response[i] = (now(CLOCK_MONOTONIC) - begin - length) / loop->times;
	}
	return NULL;
}

static int smaller(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* As the paper's Table 2 has it, in us. */
static void summarize(uint64_t *values, size_t count)
{
	double sum = 0, squares = 0, mean;

	qsort(values, count, sizeof(*values), smaller);
	for (size_t i = 0; i < count; i++)
		sum += values[i] / 1e3;
	mean = sum / count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] / 1e3 - mean) * (values[i] / 1e3 - mean);
	printf("count %zu min %.0f avg %.0f med %.0f sd %.0f max %.0f\n", count, values[0] / 1e3, mean,
	       (values[(count - 1) / 2] + values[count / 2]) / 2e3, sqrt(squares / count), values[count - 1] / 1e3);
}

static int sleepers(char **words, int given)
{
	int threads = atoi(words[0]), iterations = atoi(words[1]);
	uint64_t times = number(words[3]);
	struct loop *loops = calloc(threads, sizeof(*loops));
	uint64_t *values = calloc((size_t)threads * iterations, sizeof(*values));

	if (!loops || !values || threads < 1 || iterations < 1 || times < 1 || (given > 4 && confined(words[4])))
		return 1;
	for (int i = 0; i < threads; i++) {
		loops[i] = (struct loop){.random = number(words[2]) + i, .times = times, .iterations = iterations,
					 .response = values + (size_t)i * iterations};
		/* Seeds that are neighbours are not to draw alike. */
		for (int turn = 0; turn < 8; turn++)
			draw(&loops[i]);
		if (pthread_create(&loops[i].thread, NULL, busy_sleep, &loops[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++)
		pthread_join(loops[i].thread, NULL);
	summarize(values, (size_t)threads * iterations);
	return 0;
}

static volatile sig_atomic_t wanted;

static void want_children(int signal)
{
	(void)signal;
	wanted = 1;
}

static void *live(void *what)
{
	dprintf(1, "%s %ld\n", (const char *)what, syscall(SYS_gettid));
	for (;;)
		pause();
	return NULL;
}

static void have_children(void)
{
	pthread_t thread;

	if (!fork()) {
		if (!fork())
			live("grandchild");
		live("child");
	}
	pthread_create(&thread, NULL, live, "thread");
}

static int hold(char **words, int given)
{
	uint64_t end = now(CLOCK_MONOTONIC) + number(words[0]) * 1000 * MS;
	const char *policy = given > 1 ? words[1] : "";

	setpriority(PRIO_PROCESS, 0, 5);
	if ((!strcmp(policy, "batch") && set_policy(0, SCHED_BATCH)) || (!strcmp(policy, "fifo") && set_policy(0, SCHED_FIFO)))
		return 1;
	signal(SIGUSR1, want_children);
	dprintf(1, "%d\n", getpid());
	/* Jobs of a millisecond, should it be promoted; else a loop that leaves room. */
	while (now(CLOCK_MONOTONIC) < end) {
		work(MS / 2);
		usleep(20000);
		if (wanted) {
			wanted = 0;
			have_children();
		}
	}
	return 0;
}

static int unreaped(char **words)
{
	pid_t child = fork();

	if (!child)
		for (;;)
			pause();
	dprintf(1, "%d\n", child);
	sleep(number(words[0]));
	return 0;
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";

	if (!strcmp(what, "load") && count == 7)
		return load(words + 2);
	if (!strcmp(what, "busy") && count == 4)
		return busy(words + 2);
	if (!strcmp(what, "sleep") && (count == 6 || count == 7))
		return sleepers(words + 2, count - 2);
	if (!strcmp(what, "hold") && (count == 3 || count == 4))
		return hold(words + 2, count - 2);
	if (!strcmp(what, "unreaped") && count == 3)
		return unreaped(words + 2);
	return 2;
}
