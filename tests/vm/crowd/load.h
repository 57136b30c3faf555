/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs without an end: for all that there is to have, and for less than a tick. */
#include <fcntl.h>

/* Within what is left of a CPU when the reserve has its default of 5 %. */
#define FULL_RUNTIME (470 * MS)
#define FULL_PERIOD (500 * MS)

static int greedy(int me)
{
	shared->word[me] = enter(0, FULL_RUNTIME, FULL_PERIOD, 0);
	if (shared->word[me])
		return 1;
	for (;;) {
		work(MS);
		shared->jobs[me]++;
	}
	return 0;
}

/* Commands, as at a shell. */
static int commands(int me)
{
	shared->word[me] = 0;
	for (;;) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/sh", "sh", "-c", "true", NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
		shared->jobs[me]++;
	}
}

/* Statistics of memory that are brought up to date by a kworker on every CPU, which this waits for. */
static int kernel_workers(int me)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY);

	shared->word[me] = fd < 0 ? errno : 0;
	while (fd >= 0 && pwrite(fd, "1", 1, 0) == 1) {
		shared->jobs[me]++;
		usleep(10000);
	}
	return 1;
}

/* What the tasks [first, end) have used of CPUs, in ns. */
static uint64_t used_by(int first, int end)
{
	uint64_t sum = 0;

	for (int i = first; i < end; i++) {
		clockid_t clock;

		if (!clock_getcpuclockid(tasks[i], &clock))
			sum += now(clock);
	}
	return sum;
}

/*
 * For so long all that admission grants is used by jobs without an end. Meanwhile commands and kernel workers go on: never does one
 * of them wait for as long as the kernel's watchdog does.
 */
static int full(int seconds)
{
	int count = 0, beside;
	uint64_t begun, used, passed;

	do {
		start(count, greedy);
		if (!EVENTUALLY(shared->word[count] >= 0))
			FAIL("task %d does not get to ask", count);
	} while (!shared->word[count] && ++count);
	beside = count;
	if (shared->word[count] != EBUSY || count == 0)
		FAIL("task %d is refused: %s", count, strerror(shared->word[count]));
	if (!ends_with(count, 1) || !begin(beside, commands) || !begin(beside + 1, kernel_workers))
		return 0;
	begun = now(CLOCK_MONOTONIC);
	used = used_by(0, count);
	while (now(CLOCK_MONOTONIC) - begun < seconds * 1000 * MS)
		if (!goes_on(beside, "(commands) beside a full load") || !goes_on(beside + 1, "(kernel workers) beside a full load"))
			return 0;
	passed = now(CLOCK_MONOTONIC) - begun;
	used = used_by(0, count) - used;
	printf("full: %d tasks had %d %% of a CPU each for %d s; beside them %d commands, %d rounds of kernel workers\n", count,
	       (int)(100 * used / count / passed), (int)(passed / (1000 * MS)), (int)shared->jobs[beside],
	       (int)shared->jobs[beside + 1]);
	if (used < passed * count * 9 / 10)
		FAIL("the load was not full");
	for (int i = 0; i < beside + 2; i++)
		if (!end(i))
			return 0;
	return 1;
}

/* What the task says of its budgets, in ns. */
static volatile struct {
	uint64_t tick, runtime, most, least;
} *budgets;

/*
 * A quarter of a tick is its budget. It looks at the clock without end: where the time leaps it was away, and the rest it has
 * had. Its own CPU clock would not do: Linux 7.2 and 7.3 skip the update of a CPU's clock at the switch that ends a task which
 * sched_ext has put onto an idle CPU, and what it had since the last tick goes to the task that comes next.
 */
static int endless_small(int me)
{
	struct timespec tick = {};
	uint64_t at, away, gap, spent = 0;
	int periods = -1;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	budgets->tick = tick.tv_nsec;
	budgets->runtime = tick.tv_nsec / 4;
	budgets->most = 0;
	budgets->least = -1;
	shared->word[me] = enter(0, budgets->runtime, 20 * budgets->runtime, 0);
	if (shared->word[me])
		return 1;
	away = budgets->runtime / 10;
	gap = 10 * budgets->runtime;
	at = now(CLOCK_MONOTONIC);
	for (;;) {
		uint64_t step, before = at;

		at = now(CLOCK_MONOTONIC);
		step = at - before;
		spent += step < away ? step : 0;
		if (step < gap)
			continue;
		/* Half a period without it: a budget had been used up. The first had begun before this did. */
		if (++periods >= 1) {
			budgets->most = spent > budgets->most ? spent : budgets->most;
			budgets->least = spent < budgets->least ? spent : budgets->least;
			shared->jobs[me]++;
		}
		spent = 0;
	}
}

/* An endless job gets its budget every period, and not twice that: the tick alone would give it up to five times. */
static int budget(int periods)
{
	budgets = mmap(NULL, sizeof(*budgets), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (budgets == MAP_FAILED)
		FAIL("no memory");
	if (!begin(0, endless_small))
		return 0;
	if (!EVENTUALLY(shared->jobs[0] >= (uint64_t)periods))
		FAIL("%d of %d periods passed", (int)shared->jobs[0], periods);
	printf("budget: a tick is %d us, a budget %d us; used in %d periods: %d to %d us each\n", (int)(budgets->tick / 1000),
	       (int)(budgets->runtime / 1000), (int)shared->jobs[0], (int)(budgets->least / 1000), (int)(budgets->most / 1000));
	if (budgets->most > 2 * budgets->runtime)
		FAIL("more than twice its budget in one period");
	if (budgets->least < budgets->runtime / 2)
		FAIL("less than half its budget in one period");
	return end(0);
}
