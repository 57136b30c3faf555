// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of tasks of a policy that is attached, whatever is done to them: each behaviour ends with `ok:` or `NOT OK:`,
 * none depends on how fast the machine is. Usage: behaviours NAME...   (all if there is none)
 */
#include "children.h"

static int cpus;

static int background(int me)
{
	for (;;) {
		work(MS / 2);
		shared->jobs[me]++;
		usleep(1000);
	}
	return 0;
}

static int greedy(int me)
{
	shared->word[me] = enter(0, 90 * MS, 300 * MS, 0);
	for (;;) {
		shared->jobs[me]++;
		work(80 * MS);
		sched_yield();
	}
	return 0;
}

/* One more than there are CPUs, so that one is always queued; killed at any point of its job. */
static int killed_while_queued(void)
{
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i <= cpus; i++)
			start(i, greedy);
		for (int i = 0; i <= cpus; i++)
			if (!EVENTUALLY(shared->word[i] >= 0))
				FAIL("task %d does not get to ask", i);
		usleep(30000 * round);
		for (int i = cpus; i >= 0; i--)
			if (!end(i))
				return 0;
	}
	return 1;
}

static void *thread(void *argument)
{
	int me = (intptr_t)argument;

	shared->word[me] = enter(0, 90 * MS, 300 * MS, 0);
	for (;;) {
		shared->jobs[me]++;
		work(80 * MS);
		sched_yield();
	}
	return NULL;
}

static int group(int me)
{
	pthread_t id;

	for (int i = 1; i <= cpus + 1; i++) {
		shared->word[me + i] = -1;
		if (pthread_create(&id, NULL, thread, (void *)(intptr_t)(me + i)))
			return 1;
	}
	for (int i = 1; i <= cpus + 1; i++)
		while (shared->word[me + i] < 0)
			usleep(1000);
	usleep(20000);
	exit(7);
}

/* The process ends while its threads run and wait. */
static int exits_while_queued(void)
{
	for (int round = 0; round < 4; round++) {
		start(0, group);
		if (!ends_with(0, 7))
			return 0;
	}
	return 1;
}

static int forking(int me)
{
	pid_t child;
	int status = 0;

	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	if (fork() >= 0 || errno != EAGAIN)
		return 2;
	if (enter(0, 5 * MS, 50 * MS, RESET_ON_FORK))
		return 3;
	child = fork();
	if (child == 0) {
		/* An ordinary task may have children. */
		pid_t grandchild = fork();

		if (grandchild == 0)
			_exit(0);
		work(MS);
		_exit(grandchild > 0 ? 9 : 8);
	}
	for (int i = 0; i < 3; i++)
		one_job(me, 5 * MS);
	if (child < 0)
		return 4;
	if (waitpid(child, &status, 0) != child)
		return 5;
	return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 0 : 6;
}

/* As SCHED_DEADLINE has it: no child, unless it is to be an ordinary task. */
static int forked(void)
{
	start(0, forking);
	return ends_with(0, 0);
}

static int executing(int me)
{
	(void)me;
	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	execl("/proc/self/exe", "behaviours", "after-exec", NULL);
	return 2;
}

/* Another program in the same task. */
static int executes(void)
{
	start(0, executing);
	return ends_with(0, 0);
}

static int affinity_changed(void)
{
	if (!begin(0, periodic))
		return 0;
	for (int round = 0; round < 3; round++) {
		for (int cpu = 0; cpu < cpus; cpu++) {
			set_cpus(tasks[0], cpu, cpu + 1);
			if (!goes_on(0, "on one CPU"))
				return 0;
		}
		set_cpus(tasks[0], 0, cpus);
		if (enter(tasks[0], 5 * MS, 50 * MS, 0))
			FAIL("not admitted again once it may run anywhere");
		if (!goes_on(0, "admitted again"))
			return 0;
	}
	return end(0);
}

static int policy_changed(void)
{
	static const int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_BATCH, SCHED_IDLE};

	if (!begin(0, periodic))
		return 0;
	for (int i = 0; i < 4; i++) {
		if (set_policy(tasks[0], policies[i]))
			FAIL("policy %d is refused", policies[i]);
		if (!goes_on(0, "under another policy"))
			return 0;
		if (enter(tasks[0], 5 * MS, 50 * MS, 0))
			FAIL("not admitted again after policy %d", policies[i]);
		if (!goes_on(0, "admitted again"))
			return 0;
	}
	return end(0);
}

static int parameters_changed(void)
{
	if (!begin(0, periodic))
		return 0;
	for (int i = 1; i <= 10; i++) {
		if (enter(tasks[0], i * MS, (i % 3 + 1) * 20 * MS, 0))
			FAIL("other parameters are refused (%d)", i);
		if (!goes_on(0, "with other parameters"))
			return 0;
	}
	return end(0);
}

/* At least `periods` of 50 ms pass while a task of that period ends so many jobs: it has its parameters still. */
static int paced(int periods)
{
	uint64_t begun = now(CLOCK_MONOTONIC);

	for (int i = 0; i <= periods; i++)
		one_job(0, 5 * MS);
	return now(CLOCK_MONOTONIC) - begun >= (periods - 1) * 50 * MS;
}

static int keeping(int me)
{
	struct attributes keep = {.size = sizeof(keep), .flags = KEEP_ALL};

	(void)me;
	for (int i = 0; i < 3; i++) {
		if (enter(0, 60 * MS, 50 * MS, 0) != EINVAL || !paced(4))
			return 2;
		if (enter(0, 50 * MS, 50 * MS, 0) != EBUSY || !paced(4))
			return 3;
		if (syscall(SYS_sched_setattr, 0, &keep, 0) || !paced(4))
			return 4;
		if (enter(0, 5 * MS, 50 * MS, 0) || !paced(4))
			return 5;
	}
	return 0;
}

static int kept(int me)
{
	shared->word[me] = enter(0, 5 * MS, 50 * MS, 0);
	while (shared->word[1] <= 0)
		usleep(1000);
	return shared->word[me] ? 1 : keeping(me);
}

static int sleeping(int me)
{
	shared->word[me] = enter(0, 45 * MS, 50 * MS, 0);
	for (;;)
		pause();
	return 0;
}

/* What is refused changes nothing; neither does a call that leaves policy and parameters as they are. */
static int keeps_its_parameters(void)
{
	int others = 2;

	shared->word[1] = 0;
	start(0, kept);
	if (!EVENTUALLY(shared->word[0] >= 0))
		FAIL("it does not get to ask");
	/* Less than .9 of a CPU is left then. */
	do {
		start(others, sleeping);
		if (!EVENTUALLY(shared->word[others] >= 0))
			FAIL("task %d does not get to ask", others);
	} while (!shared->word[others++]);
	shared->word[1] = 1;
	if (!ends_with(0, 0))
		return 0;
	for (int i = 2; i < others; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int leaving(int me)
{
	for (int i = 0; i < 40; i++) {
		/* Half of a CPU: who does not give it back leaves no room for the next. */
		int error = enter(0, 25 * MS, 50 * MS, 0);

		if (error)
			return 1;
		if (i % 4 == 0)
			one_job(me, 5 * MS);
		if (set_policy(0, SCHED_EXT))
			return 2;
		if (i % 8 == 0)
			one_job(me, 5 * MS);
		shared->word[me + 1] = -1;
		start(me + 1, periodic);
		while (shared->word[me + 1] < 0)
			usleep(1000);
		error = shared->word[me + 1];
		kill(tasks[me + 1], SIGKILL);
		if (waitpid(tasks[me + 1], NULL, 0) < 0 || error)
			return 3;
	}
	return 0;
}

/* SCHED_EXT without parameters is ordinary work: its child may ask, and the bandwidth is there again. */
static int leaves_for_the_background(void)
{
	start(0, leaving);
	return ends_with(0, 0);
}

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
		/* Whoever held it may have been killed. */
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

/* Tasks of ours, of SCHED_FIFO and ordinary ones take turns on a mutex, one with priority inheritance and one without. */
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

static int endless(int me)
{
	shared->word[me] = enter(0, 20 * MS, 100 * MS, 0);
	for (;;) {
		work(MS / 4);
		shared->jobs[me]++;
	}
	return 0;
}

/* A job without an end uses its budget; the others have theirs. */
static int never_yields(void)
{
	start(0, endless);
	start(1, endless);
	if (!begin(2, periodic))
		return 0;
	start(3, background);
	for (int i = 0; i < 4; i++)
		if (!goes_on(i, "beside a task that never yields"))
			return 0;
	for (int i = 0; i < 4; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int coming(int me)
{
	for (int i = 0; i < 150; i++) {
		int error = enter(0, 2 * MS, 20 * MS, 0);

		if (error)
			return error;
		if (i % 3 == 0)
			one_job(me, 2 * MS);
		if (set_policy(0, SCHED_OTHER))
			return 2;
		shared->jobs[me]++;
	}
	return 0;
}

static int comes_and_goes(void)
{
	for (int i = 0; i < 4; i++)
		start(i, coming);
	for (int i = 0; i < 4; i++)
		if (!ends_with(i, 0))
			return 0;
	return 1;
}

static int threading(int me)
{
	pthread_t id;

	if (enter(0, 5 * MS, 50 * MS, 0))
		return 1;
	if (pthread_create(&id, NULL, thread, (void *)(intptr_t)(me + 1)) != EAGAIN)
		return 2;
	one_job(me, 5 * MS);
	return 0;
}

static int creates_a_thread(void)
{
	start(0, threading);
	return ends_with(0, 0);
}

static const struct {
	const char *name;
	int (*run)(void);
} behaviours[] = {
	{"killed-while-queued", killed_while_queued},
	{"exits-while-queued", exits_while_queued},
	{"forked", forked},
	{"creates-a-thread", creates_a_thread},
	{"executes", executes},
	{"affinity-changed", affinity_changed},
	{"policy-changed", policy_changed},
	{"parameters-changed", parameters_changed},
	{"keeps-its-parameters", keeps_its_parameters},
	{"leaves-for-the-background", leaves_for_the_background},
	{"stopped-and-continued", stopped_and_continued},
	{"blocked-on-a-pipe", blocked_on_a_pipe},
	{"blocked-on-a-mutex", blocked_on_a_mutex},
	{"inherits-a-priority", inherits_a_priority},
	{"never-yields", never_yields},
	{"comes-and-goes", comes_and_goes},
};

static int run(int count, char **names)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(behaviours) / sizeof(*behaviours); i++) {
		int wanted = count == 0;

		for (int n = 0; n < count; n++)
			wanted |= !strcmp(names[n], behaviours[i].name);
		memset((void *)shared->jobs, 0, sizeof(shared->jobs));
		if (wanted)
			failed += verdict(behaviours[i].name, behaviours[i].run());
	}
	return failed != 0;
}

int main(int count, char **words)
{
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	share();
	if (count == 2 && !strcmp(words[1], "after-exec")) {
		for (int i = 0; i < 5; i++)
			one_job(0, 5 * MS);
		return sched_getscheduler(0) != SCHED_EXT;
	}
	return run(count - 1, words + 1);
}
