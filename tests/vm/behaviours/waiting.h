/* SPDX-License-Identifier: GPL-2.0-only */
/* Stopped, or blocked, in the middle of a job. */
static int is_stopped(pid_t pid)
{
	char path[64], line[512] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	state = strrchr(line, ')');
	return state && state[2] == 'T';
}

static int stopped_and_continued(void)
{
	if (!begin(0, periodic) || !begin(1, periodic))
		return 0;
	for (int i = 0; i < 12; i++) {
		kill(tasks[0], SIGSTOP);
		if (!EVENTUALLY(is_stopped(tasks[0])))
			FAIL("it does not stop");
		usleep(7000 * (i % 5));
		if (!goes_on(1, "beside one that is stopped"))
			return 0;
		kill(tasks[0], SIGCONT);
		if (!goes_on(0, "after SIGCONT"))
			return 0;
	}
	/* Killed while it is stopped. */
	kill(tasks[0], SIGSTOP);
	return end(0) && end(1);
}

static int fds[2];

static int reader(int me)
{
	char byte;

	shared->word[me] = enter(0, 5 * MS, 50 * MS, 0);
	for (;;) {
		work(MS / 2);
		if (read(fds[0], &byte, 1) != 1)
			return 0;
		one_job(me, 5 * MS);
	}
}

static int blocked_on_a_pipe(void)
{
	if (pipe(fds))
		FAIL("no pipe");
	start(0, reader);
	for (uint64_t i = 1; i <= 30; i++) {
		usleep(3000 * (i % 10));
		if (write(fds[1], "x", 1) != 1)
			FAIL("the pipe takes nothing");
		if (i % 3 == 0 && !EVENTUALLY(shared->jobs[0] >= i))
			FAIL("the reader has got %d of %d bytes", (int)shared->jobs[0], (int)i);
	}
	/* Killed while it is blocked. */
	return end(0);
}

static int locking(int me)
{
	pthread_mutex_t *mutex = me % 2 ? &shared->mutex : &shared->inheriting;

	if (me < 4)
		shared->word[me] = enter(0, 5 * MS, (20 + 5 * me) * MS, 0);
	else if (me < 6)
		shared->word[me] = set_policy(0, SCHED_FIFO);
	for (;;) {
		/* Its holder may have been killed. */
		if (pthread_mutex_lock(mutex) == EOWNERDEAD)
			pthread_mutex_consistent(mutex);
		work(MS / 2);
		pthread_mutex_unlock(mutex);
		shared->jobs[me]++;
		if (me < 4)
			sched_yield();
		else
			usleep(3000);
	}
	return 0;
}

/* Tasks of the policy, of SCHED_FIFO and of the background take turns on a mutex, one with priority inheritance and one
 * without. */
static int blocked_on_a_mutex(void)
{
	for (int i = 0; i < 8; i++)
		start(i, locking);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 8; i++)
			if (!goes_on(i, "on a mutex"))
				return 0;
	for (int i = 0; i < 8; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int lender(int me)
{
	shared->word[me] = set_policy(0, SCHED_FIFO);
	for (int turn = 1;; turn++) {
		while (shared->word[2] < turn)
			usleep(500);
		pthread_mutex_lock(&shared->inheriting);
		pthread_mutex_unlock(&shared->inheriting);
		shared->jobs[me]++;
	}
	return 0;
}

static int borrower(int me)
{
	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	for (int turn = 1; turn <= 5; turn++) {
		pthread_mutex_lock(&shared->inheriting);
		shared->word[2] = turn;
		/* Long enough for the other one to wait for it, even with a CPU of its own. */
		work(2 * MS);
		usleep(3000);
		work(MS / 10);
		pthread_mutex_unlock(&shared->inheriting);
		shared->jobs[me]++;
		if (!paced(4))
			return 2;
	}
	return shared->jobs[1] >= 4 ? 0 : 3;
}

/* It is what it was after it had a priority of SCHED_FIFO from one that waits for it. */
static int inherits_a_priority(void)
{
	shared->word[2] = 0;
	start(1, lender);
	if (!EVENTUALLY(shared->word[1] >= 0))
		FAIL("the other one does not begin");
	start(0, borrower);
	return ends_with(0, 0) && end(1);
}
