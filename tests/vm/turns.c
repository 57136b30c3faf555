// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a CPU of a machine that counts instructions stands still while the others have their turns. Usage: turns CPUS MS
 *
 * A thread of SCHED_FIFO on each CPU reads the clock without a pause: what passes between two readings is others'. A line for each CPU: the
 * number of pauses above 5 us, half of them and all but one in twenty at most how long, the longest. What interrupts, too, is in it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CPUS_MAX 64
#define PAUSES_MAX 200000
#define SHORTEST_NS 5000

static struct reader {
	pthread_t thread;
	int cpu;
	size_t pauses;
	uint64_t pauses_ns[PAUSES_MAX];
} readers[CPUS_MAX];
static pthread_barrier_t all_are_there;
static uint64_t length_ns;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void *read_clock(void *argument)
{
	struct reader *reader = argument;
	struct sched_param first = {.sched_priority = 90};
	cpu_set_t cpus;
	uint64_t begin, last;

	CPU_ZERO(&cpus);
	CPU_SET(reader->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || sched_setscheduler(0, SCHED_FIFO, &first)) {
		perror("turns");
		exit(1);
	}
	pthread_barrier_wait(&all_are_there);
	for (begin = last = now(); last - begin < length_ns;) {
		uint64_t this = now();

		if (this - last > SHORTEST_NS && reader->pauses < PAUSES_MAX)
			reader->pauses_ns[reader->pauses++] = this - last;
		last = this;
	}
	return NULL;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int count, char **words)
{
	int cpus = count == 3 ? atoi(words[1]) : 0;

	length_ns = count == 3 ? strtoull(words[2], NULL, 10) * 1000000 : 0;
	if (cpus < 1 || cpus > CPUS_MAX || !length_ns) {
		fprintf(stderr, "usage: turns CPUS MS, with 1 to %d CPUs\n", CPUS_MAX);
		return 2;
	}
	pthread_barrier_init(&all_are_there, NULL, cpus);
	for (int cpu = 0; cpu < cpus; cpu++) {
		readers[cpu].cpu = cpu;
		if (pthread_create(&readers[cpu].thread, NULL, read_clock, &readers[cpu]))
			return 1;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct reader *of = &readers[cpu];
		uint64_t *ns = of->pauses_ns;

		pthread_join(of->thread, NULL);
		qsort(ns, of->pauses, sizeof(*ns), by_length);
		if (of->pauses)
			printf("cpu %d: pauses %zu, us: half %lu, 95%% %lu, longest %lu\n", cpu, of->pauses, ns[of->pauses / 2] / 1000,
			       ns[of->pauses * 95 / 100] / 1000, ns[of->pauses - 1] / 1000);
		else
			printf("cpu %d: pauses 0, us: half 0, 95%% 0, longest 0\n", cpu);
	}
	return 0;
}
