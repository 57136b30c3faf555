/* SPDX-License-Identifier: GPL-2.0-only */
/* How much the policy admits: root's part of admission, for the user and before and after it. */

static int stays(int me)
{
	int cpu = shared->jobs[me] - 1;

	/* Where a cell is one CPU, room is that CPU's. */
	if (cpu >= 0)
		set_cpus(0, cpu, cpu + 1);
	shared->word[me] = enter(0, 5 * MS, 50 * MS, 0);
	while (!shared->word[me])
		pause();
	return 1;
}

/* So many tasks of a tenth of a CPU are admitted, or -1. They are gone again. */
static int room(int cpus)
{
	int cells = getenv("ONE_CPU_CELLS") ? cpus : 1, count = 0, admitted = 0, fine = 1;

	for (int cell = 0; cell < cells; cell++)
		do {
			shared->jobs[count] = cells > 1 ? cell + 1 : 0;
			start(count, stays);
			if (!EVENTUALLY(shared->word[count] >= 0))
				return -1;
			admitted += !shared->word[count];
		} while (!shared->word[count++]);
	for (int i = 0; i < count && fine; i++)
		fine = end(i);
	/* Bandwidth is given back a moment after a process can be waited for. */
	usleep(300000);
	return fine ? admitted : -1;
}

/* The thread is the user's: its number may be another's by now. */
static int is_the_users(pid_t tid)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d", tid);
	return !stat(path, &status) && status.st_uid == USER;
}

/* One of several in root's name that make the victim a member while a storm lasts. */
static int door(int me)
{
	/* Both are to have a CPU when a membership ends, and to ask at the same time. */
	setpriority(PRIO_PROCESS, 0, -15);
	for (shared->word[me] = 0;;) {
		pid_t victim = pool->victim;

		if (now(CLOCK_MONOTONIC) >= pool->storm_ends_at || !is_the_users(victim)) {
			usleep(3000);
			continue;
		}
		/* It has up to half of a CPU, so that it can do what ends its membership. */
		for (int i = 0; i < 20; i++) {
			set_cpus(victim, 0, pool->cpus);
			__sync_fetch_and_add(&pool->at_doors[ask(victim, (5 + i % 3 * 10) * MS, 50 * MS, 50 * MS, RESET_ON_FORK)], 1);
		}
		shared->jobs[me]++;
	}
	return 0;
}

static void answer_wishes(void)
{
	for (int i = 0; i < SLOTS; i++) {
		struct wish *wish = &pool->wishes[i];
		int error = ESRCH;

		if (wish->state != 2)
			continue;
		if (is_the_users(wish->tid)) {
			if (wish->anywhere)
				set_cpus(wish->tid, 0, pool->cpus);
			error = ask(wish->tid, wish->runtime_ns, wish->period_ns, wish->period_ns, wish->flags);
		}
		pool->answers[error]++;
		wish->state = 0;
	}
}
