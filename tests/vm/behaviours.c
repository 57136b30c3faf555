// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of tasks of a policy that is attached, whatever is done to them: each behaviour ends with `ok:` or `NOT OK:`,
 * none depends on how fast the machine is. A task that is "going on" ends more jobs, however late.
 * Usage: behaviours NAME...   (all but `many` if there is none)
 *        behaviours many TASKS ROOM: that many tasks, where the scheduler has room for ROOM; storm: all ask at the same time
 *        behaviours endless TASKS: tasks that go on until they are killed; a line whenever all have made progress
 *        behaviours ask: asks to be admitted; the answer is the exit code
 *        behaviours hog SECONDS: SCHED_FIFO on every CPU
 *        behaviours as-nobody PROGRAM ARGUMENTS...: without any privilege
 */
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
static int cpus;
static char why[256];

#define FAIL(...)                                                                                                      \
	do {                                                                                                           \
		snprintf(why, sizeof(why), __VA_ARGS__);                                                               \
		return 0;                                                                                              \
	} while (0)

static int enter(pid_t pid, uint64_t runtime, uint64_t period, uint64_t flags)
{
	return ask(pid, runtime, period, period, flags);
}

/* A job that takes a tenth of its runtime, and its end. Under another policy sched_yield is none. */
static void one_job(int me, uint64_t runtime)
{
	work(runtime / 10);
	shared->jobs[me]++;
	sched_yield();
	if (sched_getscheduler(0) != SCHED_EXT)
		usleep(1000);
}

/* The child's part, told its place; what it returns is its exit code. */
static pid_t start(int me, int (*task)(int))
{
	pid_t pid;

	shared->word[me] = -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(task(me));
	}
	/* kill() takes -1 for everybody. */
	if (pid < 0)
		exit(3);
	tasks[me] = pid;
	return pid;
}

static int periodic(int me)
{
	shared->word[me] = enter(0, 5 * MS, 50 * MS, 0);
	if (shared->word[me])
		return 1;
	for (;;)
		one_job(me, 5 * MS);
	return 0;
}

static int background(int me)
{
	for (;;) {
		work(MS / 2);
		shared->jobs[me]++;
		usleep(1000);
	}
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

static int goes_on(int who, const char *when)
{
	uint64_t jobs = shared->jobs[who];

	if (!EVENTUALLY(shared->jobs[who] >= jobs + 3))
		FAIL("task %d (%d) makes no progress %s", who, tasks[who], when);
	return 1;
}

/* Waits for the task's end: its status as waitpid has it. */
static int reap(int who, int *status)
{
	pid_t pid = tasks[who];
	int ended;

	if (!EVENTUALLY((ended = waitpid(pid, status, WNOHANG)) != 0))
		FAIL("task %d (%d) is lost: it does not end", who, pid);
	tasks[who] = 0;
	return 1;
}

static int end(int who)
{
	int status;

	if (!tasks[who])
		return 1;
	kill(tasks[who], SIGKILL);
	kill(tasks[who], SIGCONT);
	return reap(who, &status);
}

static int ends_with(int who, int code)
{
	int status = 0;

	if (!reap(who, &status))
		return 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
		FAIL("task %d ended with status 0x%x, not with code %d", who, status, code);
	return 1;
}

/* A task that has been admitted and goes on. */
static int begin(int me, int (*task)(int))
{
	start(me, task);
	if (!EVENTUALLY(shared->word[me] >= 0))
		FAIL("task %d does not get to ask", me);
	if (shared->word[me])
		FAIL("task %d is refused: %s", me, strerror(shared->word[me]));
	return goes_on(me, "at first");
}

/* --- the behaviours --- */

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
	{"stopped-and-continued", stopped_and_continued},
	{"blocked-on-a-pipe", blocked_on_a_pipe},
	{"blocked-on-a-mutex", blocked_on_a_mutex},
	{"never-yields", never_yields},
	{"comes-and-goes", comes_and_goes},
};

static int small(int me)
{
	int error;

	do {
		error = enter(0, MS / 2, 4000 * MS, 0);
		shared->word[me] = error;
	} while (error == EBUSY && usleep(50000) == 0);
	for (;;)
		one_job(me, MS / 4);
	return 0;
}

/* Those that are there and have been admitted; all at the same time, as their periods are long. */
static int all_go_on(int count, const char *when)
{
	static uint64_t jobs[TASKS_MAX];

	for (int i = 0; i < count; i++)
		jobs[i] = shared->jobs[i];
	for (int i = 0; i < count; i++)
		if (tasks[i] && shared->word[i] == 0 && !EVENTUALLY(shared->jobs[i] >= jobs[i] + 3))
			FAIL("task %d (%d) makes no progress %s", i, tasks[i], when);
	return 1;
}

/* Many at once: all that there is room for are admitted and go on; the others are told so, and enter as soon as there is room. */
static int many(int count, int room, int at_once)
{
	int admitted = 0, busy = 0;

	for (int i = 0; i < count; i++) {
		start(i, small);
		if (!at_once && !EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not get to ask", i);
	}
	for (int i = 0; i < count; i++)
		if (!EVENTUALLY(shared->word[i] >= 0))
			FAIL("task %d does not get to ask", i);
	for (int i = 0; i < count; i++) {
		admitted += shared->word[i] == 0;
		busy += shared->word[i] == EBUSY;
	}
	if (admitted != (count < room ? count : room) || admitted + busy != count)
		FAIL("%d of %d are admitted, %d refused with EBUSY", admitted, count, busy);
	if (!all_go_on(count, "among many"))
		return 0;
	for (int i = 0; i < count && busy; i++)
		if (shared->word[i] == 0 && !end(i))
			return 0;
	for (int i = 0; i < count; i++)
		if (tasks[i] && !EVENTUALLY(shared->word[i] == 0))
			FAIL("task %d is not admitted once there is room", i);
	if (!all_go_on(count, "once there is room"))
		return 0;
	for (int i = 0; i < count; i++)
		if (tasks[i])
			kill(tasks[i], SIGKILL);
	for (int i = 0; i < count; i++)
		if (!end(i))
			return 0;
	return 1;
}

static int is_attached(void)
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

/* What the scheduler knows, into the kernel's trace, for whoever looks for the fault. */
static void dump(void)
{
	FILE *file = fopen("/proc/sysrq-trigger", "w");

	if (file) {
		fputc('D', file);
		fclose(file);
	}
	sleep(1);
}

static int verdict(const char *name, int fine)
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

/* Nothing but SCHED_FIFO for so long. */
static int hog(int seconds)
{
	uint64_t end = now(CLOCK_MONOTONIC) + seconds * 1000 * MS;

	for (int cpu = 1; cpu < cpus; cpu++)
		if (fork() == 0)
			break;
	if (set_policy(0, SCHED_FIFO))
		return 1;
	while (now(CLOCK_MONOTONIC) < end)
		;
	while (wait(NULL) > 0)
		;
	return 0;
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
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&shared->inheriting, &attributes);
}

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
	const char *what = count > 1 ? words[1] : "";

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!strcmp(what, "as-nobody") && count > 2) {
		if (setgid(65534) || setuid(65534))
			return 3;
		execvp(words[2], words + 2);
		return 4;
	}
	if (!strcmp(what, "ask"))
		return enter(0, 5 * MS, 50 * MS, 0);
	if (!strcmp(what, "hog") && count == 3)
		return hog(atoi(words[2]));
	share();
	if (!strcmp(what, "after-exec")) {
		for (int i = 0; i < 5; i++)
			one_job(0, 5 * MS);
		return sched_getscheduler(0) != SCHED_EXT;
	}
	if ((!strcmp(what, "many") || !strcmp(what, "storm")) && count == 4)
		return verdict(what, many(atoi(words[2]), atoi(words[3]), *what == 's'));
	if (!strcmp(what, "endless") && count == 3) {
		for (int i = 0; i < atoi(words[2]); i++)
			if (!begin(i, periodic))
				return verdict(what, 0);
		/* The whole group ends with this process; its own signals are for its behaviours. */
		printf("going on\n");
		fflush(stdout);
		for (;;) {
			/* Who waits for the next line has the patience. */
			for (int i = 0; i < atoi(words[2]); i++)
				for (uint64_t jobs = shared->jobs[i]; shared->jobs[i] < jobs + 3;)
					usleep(2000);
			printf("still\n");
			fflush(stdout);
		}
	}
	return run(count - 1, words + 1);
}
