// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays the story: callbacks STORY. Every thread of it keeps to its own steps and to the clock; none waits for another. Says `t0 NS` when
 * all are there, and how it went when the story is over. A thread is called cb:NAME, an aside by its bare name.
 *
 * callbacks STORY NAME STEP FD: the thread after its execve, which goes on with that step; FD is what all share.
 */
#define _GNU_SOURCE
#include "../task.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define THREADS_MAX 16
#define STEPS_MAX 256
#define WORDS_MAX 8
/* Later than this after its time a step upon others is not what the story says. */
#define LATE_NS (2 * MS)
/* The kernel's ticks are at multiples of this; between two of them is where the story begins. */
#define TICK_NS (4 * MS)

struct thread {
	char name[16], cpus[16], from[16];
	/* Whose process it is in. */
	int leader;
	int is_aside;
};

struct step {
	int thread;
	/* It sleeps until then first; negative: it does not. */
	int64_t at;
	int is_refused;
	char words[WORDS_MAX][16];
};

static struct {
	int tid[THREADS_MAX];
	volatile int ready;
	volatile uint64_t t0;
	char fault[128];
} *shared;

static struct thread threads[THREADS_MAX];
static struct step steps[STEPS_MAX];
static int thread_count, step_count;
static uint64_t chapter_at;
static char all_cpus[16];
static const char *story;
static int shared_fd;

static int named(const char *name)
{
	for (int i = 0; i < thread_count; i++)
		if (!strcmp(threads[i].name, name))
			return i;
	fprintf(stderr, "callbacks: there is no thread %s\n", name);
	exit(2);
}

static void read_thread(char **words, int count)
{
	struct thread *thread = &threads[thread_count];

	thread->is_aside = !strcmp(words[0], "aside");
	thread->leader = thread_count;
	snprintf(thread->from, sizeof(thread->from), "%s", words[2]);
	for (int i = 3; i + 1 < count; i += 2) {
		if (!strcmp(words[i], "of"))
			thread->leader = named(words[i + 1]);
		else
			snprintf(thread->from, sizeof(thread->from), "%s", words[i + 1]);
	}
	snprintf(thread->name, sizeof(thread->name), "%s", words[1]);
	snprintf(thread->cpus, sizeof(thread->cpus), "%s", words[2]);
	thread_count++;
}

static void read_step(char **words, int count)
{
	struct step *step = &steps[step_count++];
	int at = 1;

	step->thread = named(words[0]);
	step->at = -1;
	if (words[at][0] == '+')
		step->at = (chapter_at + strtoull(words[at++] + 1, NULL, 10)) * MS;
	if (!strcmp(words[at], "refused"))
		step->is_refused = at++ > 0;
	for (int i = 0; at + i < count && i < WORDS_MAX; i++)
		snprintf(step->words[i], sizeof(step->words[i]), "%s", words[at + i]);
}

static void read_story(void)
{
	char line[256], *words[WORDS_MAX + 4];
	FILE *file = fopen(story, "r");

	if (!file) {
		perror(story);
		exit(2);
	}
	while (fgets(line, sizeof(line), file)) {
		int count = 0;
		char *rest = line, *word;

		if (line[0] == '#')
			continue;
		if (line[0] == '[') {
			chapter_at = strtoull(line + 1, NULL, 10);
			continue;
		}
		while (count < WORDS_MAX + 4 && (word = strsep(&rest, " \n")))
			if (*word)
				words[count++] = word;
		if (!count)
			continue;
		if (!strcmp(words[0], "cpus"))
			snprintf(all_cpus, sizeof(all_cpus), "0-%d", atoi(words[1]) - 1);
		else if (!strcmp(words[0], "policy"))
			continue;
		else if (!strcmp(words[0], "thread") || !strcmp(words[0], "aside"))
			read_thread(words, count);
		else
			read_step(words, count);
	}
	fclose(file);
}

static void fault(const struct step *step, const char *why)
{
	if (!shared->fault[0])
		snprintf(shared->fault, sizeof(shared->fault), "%s at %lld ms: %s %s %s: %s", threads[step->thread].name,
			 (long long)(step->at / (int64_t)MS), step->words[0], step->words[1], step->words[2], why);
}

/* CPUs as `0` or `0-1`. */
static cpu_set_t cpus_of(const char *text)
{
	const char *dash = strchr(text, '-');
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = atoi(text); cpu <= (dash ? atoi(dash + 1) : atoi(text)); cpu++)
		CPU_SET(cpu, &set);
	return set;
}

static void sleep_until(uint64_t at)
{
	struct timespec time = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
		;
}

/* The calls that may be refused; 0, or the error's number. */
static int call(const struct step *step)
{
	const char(*words)[16] = step->words;
	int tid = words[1][0] ? shared->tid[named(words[1])] : 0;
	struct sched_param parameter = {.sched_priority = !strcmp(words[0], "fifo")};
	cpu_set_t cpus;
	pid_t child;

	if (!strcmp(words[0], "member"))
		return ask(tid, atoi(words[2]) * MS, atoi(words[3]) * MS, atoi(words[3]) * MS, 0);
	if (!strcmp(words[0], "plain"))
		return ask(tid, 0, 0, 0, 0);
	if (!strcmp(words[0], "ext"))
		return set_policy(tid, SCHED_EXT);
	if (!strcmp(words[0], "other"))
		return set_policy(tid, SCHED_OTHER);
	if (!strcmp(words[0], "fifo"))
		return sched_setscheduler(tid, SCHED_FIFO, &parameter) ? errno : 0;
	if (!strcmp(words[0], "affinity")) {
		cpus = cpus_of(words[2]);
		return sched_setaffinity(tid, sizeof(cpus), &cpus) ? errno : 0;
	}
	if (!strcmp(words[0], "nice"))
		return setpriority(PRIO_PROCESS, tid, atoi(words[2])) ? errno : 0;
	if (!strcmp(words[0], "kill"))
		return kill(tid, SIGKILL) ? errno : 0;
	if (strcmp(words[0], "fork")) {
		fprintf(stderr, "callbacks: no step %s\n", words[0]);
		exit(2);
	}
	child = syscall(SYS_fork);
	if (child == 0) {
		work(4 * MS);
		syscall(SYS_exit_group, 0);
	}
	return child < 0 ? errno : 0;
}

/* execve by a name of its own, so that the thread's name stays. */
static void exec_on(const struct step *step)
{
	int thread = step->thread;
	char path[32], at[12], fd[12];

	snprintf(path, sizeof(path), "/tmp/cb:%s", threads[thread].name);
	snprintf(at, sizeof(at), "%d", (int)(step - steps) + 1);
	snprintf(fd, sizeof(fd), "%d", shared_fd);
	execl(path, path, story, threads[thread].name, at, fd, NULL);
	fault(step, strerror(errno));
}

static void play(int thread, int first)
{
	for (int i = first; i < step_count; i++) {
		const struct step *step = &steps[i];
		const char *what = step->words[0];
		int error;

		if (step->thread != thread)
			continue;
		if (step->at >= 0) {
			uint64_t at = shared->t0 + step->at;

			if (now(CLOCK_MONOTONIC) > at)
				fault(step, "the thread comes too late to sleep until then");
			sleep_until(at);
			if (threads[thread].is_aside && now(CLOCK_MONOTONIC) > at + LATE_NS)
				fault(step, "it has come too late");
		}
		if (!strcmp(what, "compute")) {
			work(atoi(step->words[1]) * MS);
		} else if (!strcmp(what, "sleep")) {
			usleep(atoi(step->words[1]) * 1000);
		} else if (!strcmp(what, "yield")) {
			sched_yield();
		} else if (!strcmp(what, "exec")) {
			exec_on(step);
		} else if (!strcmp(what, "exit")) {
			syscall(SYS_exit_group, 0);
		} else {
			error = call(step);
			if ((error != 0) != step->is_refused)
				fault(step, error ? strerror(error) : "it is not refused");
		}
	}
	/* Until it is killed. */
	for (;;)
		pause();
}

static void *live(void *argument)
{
	int thread = (struct thread *)argument - threads;
	cpu_set_t first = cpus_of(threads[thread].from), cpus = cpus_of(threads[thread].cpus);
	char name[24];

	snprintf(name, sizeof(name), "%s%s", threads[thread].is_aside ? "" : "cb:", threads[thread].name);
	prctl(PR_SET_NAME, name);
	sched_setaffinity(0, sizeof(first), &first);
	work(MS);
	shared->tid[thread] = syscall(SYS_gettid);
	__sync_fetch_and_add(&shared->ready, 1);
	while (!shared->t0)
		usleep(20000);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	play(thread, 0);
	return NULL;
}

static pid_t start(int leader)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Its child is no zombie when it has ended. */
	signal(SIGCHLD, SIG_IGN);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (int i = 0; i < thread_count; i++) {
		pthread_t second;

		if (i != leader && threads[i].leader == leader)
			pthread_create(&second, NULL, live, &threads[i]);
	}
	live(&threads[leader]);
	return 0;
}

static void share(int fd)
{
	shared_fd = fd;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED) {
		perror("callbacks");
		exit(2);
	}
}

/* All threads that may run on these CPUs may run on those now: so they leave the policy's CPU, and come back. */
static void let_all(cpu_set_t before, cpu_set_t after)
{
	cpu_set_t cpus;
	DIR *processes = opendir("/proc");
	struct dirent *process, *thread;
	char path[300];

	while (processes && (process = readdir(processes))) {
		DIR *tasks;

		snprintf(path, sizeof(path), "/proc/%s/task", process->d_name);
		tasks = atoi(process->d_name) > 0 ? opendir(path) : NULL;
		while (tasks && (thread = readdir(tasks)))
			if (!sched_getaffinity(atoi(thread->d_name), sizeof(cpus), &cpus) && CPU_EQUAL(&cpus, &before))
				sched_setaffinity(atoi(thread->d_name), sizeof(after), &after);
		if (tasks)
			closedir(tasks);
	}
	if (processes)
		closedir(processes);
}

int main(int argc, char **argv)
{
	struct timespec moment = {.tv_nsec = 50 * MS};
	char path[32];

	if (argc != 2 && argc != 5) {
		fprintf(stderr, "usage: callbacks STORY\n");
		return 2;
	}
	story = argv[1];
	read_story();
	if (argc == 5) {
		int thread;

		share(atoi(argv[4]));
		thread = named(argv[2]);
		shared->tid[thread] = getpid();
		play(thread, atoi(argv[3]));
	}
	share(memfd_create("callbacks", 0));
	if (ftruncate(shared_fd, sizeof(*shared)))
		return 2;
	let_all(cpus_of(all_cpus), cpus_of("0"));
	for (int i = 0; i < thread_count; i++) {
		snprintf(path, sizeof(path), "/tmp/cb:%.15s", threads[i].name);
		unlink(path);
		if (symlink(argv[0], path))
			perror(path);
		if (threads[i].leader == i)
			start(i);
	}
	while (shared->ready < thread_count)
		nanosleep(&moment, NULL);
	shared->t0 = (now(CLOCK_MONOTONIC) + 300 * MS) / TICK_NS * TICK_NS + 5 * TICK_NS / 8;
	printf("t0 %llu\n", (unsigned long long)shared->t0);
	fflush(stdout);
	/* What ends is reaped at once: the kernel gives its record up soon. */
	while (now(CLOCK_MONOTONIC) < shared->t0 + chapter_at * MS) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		nanosleep(&moment, NULL);
	}
	let_all(cpus_of("0"), cpus_of(all_cpus));
	printf("%s\n", shared->fault[0] ? shared->fault : "played");
	fflush(stdout);
	return shared->fault[0] != 0;
}
