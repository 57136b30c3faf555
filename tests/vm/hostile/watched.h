/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Root's tasks beside the user's: two that were promised something, and plain ones. Each says how often it got on, and how long
 * its longest pause was.
 */

enum {
	BY_YIELD,
	BY_TIMER,
	PROMISED,
	COMMANDS = PROMISED,
	LOWEST,
	SLEEPER,
	/* One for each CPU. */
	LOOPS,
};

#define SHORT_PERIOD (20 * MS)
#define LONG_PERIOD (30 * MS)

static struct {
	volatile uint64_t late[PROMISED], longest_ns[TASKS_MAX];
} *seen;

static void note_pause(int me, uint64_t pause_ns)
{
	if (pause_ns > seen->longest_ns[me])
		seen->longest_ns[me] = pause_ns;
}

/* Half of its budget; the scheduler releases the next one. */
static int promised_by_yield(int me)
{
	shared->word[me] = enter(0, 2 * MS, SHORT_PERIOD, 0);
	for (uint64_t before_at = now(CLOCK_MONOTONIC); !shared->word[me]; before_at = now(CLOCK_MONOTONIC)) {
		work(MS);
		shared->jobs[me]++;
		sched_yield();
		note_pause(me, now(CLOCK_MONOTONIC) - before_at);
	}
	return 1;
}

/* A third of it, with a timer of its own: its response counts from the instant that the timer was set to. */
static int promised_by_timer(int me)
{
	shared->word[me] = enter(0, 3 * MS, LONG_PERIOD, 0);
	for (uint64_t release_at = now(CLOCK_MONOTONIC) + LONG_PERIOD; !shared->word[me]; release_at += LONG_PERIOD) {
		struct timespec until = {release_at / 1000000000, release_at % 1000000000};
		uint64_t response_ns;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		work(MS);
		response_ns = now(CLOCK_MONOTONIC) - release_at;
		shared->jobs[me]++;
		seen->late[me] += response_ns > LONG_PERIOD;
		note_pause(me, response_ns);
	}
	return 1;
}

static int loops_without_end(int me)
{
	shared->word[me] = me >= LOOPS ? set_cpus(0, me - LOOPS, me - LOOPS + 1) : set_policy(0, SCHED_IDLE);
	for (uint64_t at = now(CLOCK_MONOTONIC);;) {
		uint64_t before_at = at;

		at = now(CLOCK_MONOTONIC);
		note_pause(me, at - before_at);
		shared->jobs[me]++;
	}
	return 0;
}

static int sleeps_and_wakes(int me)
{
	for (shared->word[me] = 0;;) {
		uint64_t before_at = now(CLOCK_MONOTONIC);

		usleep(20000);
		note_pause(me, now(CLOCK_MONOTONIC) - before_at);
		shared->jobs[me]++;
	}
	return 0;
}

/* Commands, as at a shell. */
static int calls_commands(int me)
{
	for (shared->word[me] = 0;;) {
		uint64_t before_at = now(CLOCK_MONOTONIC);
		int status = 1;
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/sh", "sh", "-c", "true", NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
		note_pause(me, now(CLOCK_MONOTONIC) - before_at);
		shared->jobs[me]++;
		usleep(100000);
	}
}

static int watched_begin(int cpus)
{
	static int (*const begins[])(int) = {promised_by_yield, promised_by_timer, calls_commands, loops_without_end, sleeps_and_wakes};

	for (int i = 0; i < LOOPS + cpus; i++)
		if (!begin(i, i < LOOPS ? begins[i] : loops_without_end))
			return 0;
	return 1;
}

/* What has been done in that time: of a job for each period nine tenths at least, and no more than are released. */
static int keeps_its_promise(int me, uint64_t jobs, uint64_t period_ns, uint64_t passed_ns)
{
	uint64_t released = passed_ns / period_ns;

	if (jobs < released * 9 / 10)
		FAIL("the promised task %d has ended %d jobs, of %d", me, (int)jobs, (int)released);
	if (jobs > released + released / 10 + 2)
		FAIL("the promised task %d has ended %d jobs, and %d were released", me, (int)jobs, (int)released);
	return 1;
}

/* Since the last time that this was called. */
static int all_have_got_on(int cpus)
{
	static uint64_t before[LOOPS + 64], before_at;
	uint64_t at = now(CLOCK_MONOTONIC), passed_ns = at - before_at;
	int fine = 1;

	for (int i = 0; i < LOOPS + cpus; i++) {
		uint64_t jobs = shared->jobs[i] - before[i];

		before[i] = shared->jobs[i];
		if (!before_at || !fine)
			continue;
		if (i < PROMISED)
			fine = keeps_its_promise(i, jobs, i == BY_YIELD ? SHORT_PERIOD : LONG_PERIOD, passed_ns);
		else if (!jobs && i != LOWEST)
			fine = 0, snprintf(why, sizeof(why), "the plain task %d has had nothing for %d ms", i, (int)(passed_ns / MS));
	}
	before_at = at;
	return fine;
}

static void show_watched(int cpus)
{
	static const char *const names[] = {"promised, by yield", "promised, by timer", "commands", "of the lowest weight", "sleeper"};

	for (int i = 0; i < LOOPS + cpus; i++) {
		if (i < LOOPS)
			printf("  %s", names[i]);
		else
			printf("  loop on CPU %d", i - LOOPS);
		printf(": %llu, longest pause %.1f ms", (unsigned long long)shared->jobs[i], seen->longest_ns[i] / 1e6);
		if (i == BY_TIMER)
			printf(", %d late", (int)seen->late[i]);
		printf("\n");
	}
}
