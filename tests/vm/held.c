// SPDX-License-Identifier: GPL-2.0-only
/*
 * SCHED_FIFO holds one CPU after the other, which the machine can do without: what becomes of two periodic tasks. Usage: held CLASS
 * FIRST END [already], where CLASS is ext (the attached policy), fifo (below what holds the CPU) or deadline, and CPUs FIRST to END - 1
 * are held; `already`: by others. Such a one is `held before CPU`, until it is killed.
 *
 * A line for each CPU, and whether both tasks have gone on: half of the jobs of that time at least.
 */
#include "children.h"

#include <string.h>

#define SCHED_DEADLINE 6
#define WORK (4 * MS)
#define PERIOD (40 * MS)
#define HELD_MS 1500
#define MEMBERS 2

static struct {
	volatile uint64_t late[MEMBERS], longest_ns[MEMBERS];
	volatile int held;
} *seen;

static const char *class_name;
static int already;

static int enters(void)
{
	struct attributes a = {.size = sizeof(a), .policy = SCHED_DEADLINE, .runtime = 2 * WORK, .deadline = PERIOD, .period = PERIOD};
	struct sched_param parameter = {.sched_priority = 10};

	if (!strcmp(class_name, "ext"))
		return enter(0, 2 * WORK, PERIOD, 0);
	if (!strcmp(class_name, "fifo"))
		return sched_setscheduler(0, SCHED_FIFO, &parameter) ? errno : 0;
	return syscall(SYS_sched_setattr, 0, &a, 0) ? errno : 0;
}

/* A job each period, by a timer: its response counts from the instant that the timer was set to. */
static int member(int me)
{
	struct timespec until;
	uint64_t release;

	shared->word[me] = enters();
	if (shared->word[me])
		return 1;
	for (release = now(CLOCK_MONOTONIC) + PERIOD;; release += PERIOD) {
		uint64_t response;

		until.tv_sec = release / 1000000000;
		until.tv_nsec = release % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		work(WORK);
		response = now(CLOCK_MONOTONIC) - release;
		shared->jobs[me]++;
		if (!seen->held)
			continue;
		seen->late[me] += response > PERIOD;
		if (response > seen->longest_ns[me])
			seen->longest_ns[me] = response;
	}
	return 0;
}

static int takes(int cpu)
{
	struct sched_param parameter = {.sched_priority = 50};

	return set_cpus(0, cpu, cpu + 1) || sched_setscheduler(0, SCHED_FIFO, &parameter);
}

/* Holds the CPU for that much of its time. */
static int holding(int me)
{
	if (takes(shared->jobs[me]))
		return 1;
	seen->held = 1;
	work(HELD_MS * MS);
	seen->held = 0;
	return 0;
}

static int held(int cpu)
{
	uint64_t before[MEMBERS], jobs[MEMBERS];

	memset((void *)seen, 0, sizeof(*seen));
	for (int i = 0; i < MEMBERS; i++)
		before[i] = shared->jobs[i];
	shared->jobs[MEMBERS] = cpu;
	if (already) {
		seen->held = 1;
		usleep(HELD_MS * 1000);
		seen->held = 0;
	} else {
		start(MEMBERS, holding);
		if (!ends_with(MEMBERS, 0))
			return 0;
	}
	printf("%s, CPU %d held for %d ms:", class_name, cpu, HELD_MS);
	for (int i = 0; i < MEMBERS; i++) {
		jobs[i] = shared->jobs[i] - before[i];
		printf(" %d jobs, %d late, longest %.1f ms;", (int)jobs[i], (int)seen->late[i], seen->longest_ns[i] / 1e6);
	}
	printf("\n");
	fflush(stdout);
	for (int i = 0; i < MEMBERS; i++)
		if (jobs[i] < HELD_MS * MS / PERIOD / 2)
			FAIL("while CPU %d is held, task %d has ended %d jobs, of %d", cpu, i, (int)jobs[i], (int)(HELD_MS * MS / PERIOD));
	return 1;
}

int main(int count, char **words)
{
	int fine = 1, first, end_cpu;

	if (count == 3 && !strcmp(words[1], "before")) {
		if (takes(atoi(words[2])))
			return 1;
		for (;;)
			work(MS);
	}
	if (count != 4 && count != 5)
		return 2;
	already = count == 5;
	class_name = words[1];
	first = atoi(words[2]);
	end_cpu = atoi(words[3]);
	share();
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 3;
	for (int i = 0; i < MEMBERS && fine; i++)
		fine = begin(i, member);
	for (int cpu = first; cpu < end_cpu && fine; cpu++) {
		fine = held(cpu);
		usleep(200000);
	}
	for (int i = 0; i < MEMBERS && fine; i++)
		fine = end(i);
	if (strcmp(class_name, "ext")) {
		for (int i = 0; i < MEMBERS; i++)
			if (tasks[i])
				kill(tasks[i], SIGKILL);
		printf("%s: %s\n", class_name, fine ? "done" : why);
		return 0;
	}
	return verdict("goes on while a CPU is held", fine);
}
