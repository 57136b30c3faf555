// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user against an attached policy: its processes and threads, some of them real-time tasks by root's leave, make at random the
 * calls that it is allowed, on each other. Beside it root's tasks are to have what they were promised, and plain ones are to go on.
 * Usage, as root: hostile SEED SECONDS
 *
 * At the end no process of the user's is left, and admission has as much room as before. Prints what was called and what the
 * others had; exit code 1 if something was not as it should be.
 */
#include "hostile/user.h"
#include "hostile/room.h"
#include "hostile/watched.h"

#include <dirent.h>
#include <grp.h>

/* Processes that are started anew when they have ended; the others are theirs. */
#define WORKERS 8
#define WINDOW_S 10
#define DOORS 2
/* A member, or a plain task of usual weight, that waits for so long is lost soon. */
#define PAUSE_S 25

static pid_t workers[WORKERS];
static uint32_t begun;

static int become_the_user(void)
{
	/* A nice value and SCHED_IDLE are no way without return, so that threads of all weights are there. */
	struct rlimit processes = {2 * SLOTS, 2 * SLOTS}, nice = {20, 20};

	return setrlimit(RLIMIT_NPROC, &processes) || setrlimit(RLIMIT_NICE, &nice) || setgroups(0, NULL) ||
	       setresgid(USER, USER, USER) || setresuid(USER, USER, USER) || prctl(PR_SET_DUMPABLE, 1);
}

/* In the child: in a group of the user's, a member or not, then the user's. */
static void begin_worker(int slot, uint64_t seed)
{
	choices = seed;
	handle_signals();
	setpgid(0, 0);
	setpriority(PRIO_PROCESS, 0, 0);
	write_number(groups[draw(GROUPS)], "cgroup.procs", getpid());
	if (draw(2)) {
		uint64_t period_ns = some_period_ns();

		ask(0, period_ns / (3 + draw(40)), period_ns, period_ns, draw(3) ? RESET_ON_FORK : 0);
	}
	if (become_the_user())
		_exit(3);
	live(slot, seed + 1, 400);
	_exit(0);
}

static void start_workers(void)
{
	for (int i = 0; i < WORKERS; i++) {
		uint64_t seed;
		int slot;

		if (workers[i] || (slot = take_slot()) < 0)
			continue;
		seed = next_choice();
		fflush(stdout);
		workers[i] = fork();
		if (workers[i] == 0)
			begin_worker(slot, seed);
		if (workers[i] < 0)
			exit(3);
		__sync_bool_compare_and_swap(&pool->tids[slot], TAKEN, workers[i]);
		begun++;
	}
}

/* Orphans of the user's come to this process. One of root's tasks is not to end. */
static int reap_all(void)
{
	static int lost;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (int i = 0; i < WORKERS; i++)
			if (workers[i] == pid)
				workers[i] = 0;
		for (int i = 0; i < TASKS_MAX; i++)
			if (tasks[i] == pid) {
				tasks[i] = 0;
				lost = 1;
				snprintf(why, sizeof(why), "root's task %d has ended", i);
			}
	}
	return !lost;
}

/* Slots of threads that were killed. One that was killed before it had said its number is taken back after a while. */
static void free_slots(void)
{
	static int taken[SLOTS];

	for (int i = 0; i < SLOTS; i++) {
		pid_t tid = pool->tids[i];

		taken[i] = tid == TAKEN ? taken[i] + 1 : 0;
		if ((tid > 0 && syscall(SYS_tkill, tid, 0) && errno == ESRCH) || taken[i] > 250)
			__sync_bool_compare_and_swap(&pool->tids[i], tid, 0);
	}
}

/* Threads that stop and freeze each other would soon be none that do anything. */
static void stir(int turn)
{
	if (turn % 10 == 0)
		thaw_groups();
	if (turn % 5 == 0)
		for (int i = 0; i < SLOTS; i++)
			if (pool->tids[i] > 0)
				syscall(SYS_tkill, pool->tids[i], SIGCONT);
	if (turn % 25 == 0 && workers[turn / 25 % WORKERS])
		kill(workers[turn / 25 % WORKERS], SIGKILL);
}

/* Kills what is the user's: how many there are. */
static int kill_the_users(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	if (!processes)
		exit(3);
	while ((entry = readdir(processes))) {
		char path[300], line[128];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
		if (atoi(entry->d_name) <= 0 || !(file = fopen(path, "r")))
			continue;
		while (fgets(line, sizeof(line), file))
			if (!strncmp(line, "Uid:", 4) && atoi(line + 4) == USER) {
				kill(atoi(entry->d_name), SIGKILL);
				count++;
			}
		fclose(file);
	}
	closedir(processes);
	return count;
}

static int end_the_users(void)
{
	thaw_groups();
	if (!EVENTUALLY(kill_the_users() == 0 || !reap_all()))
		FAIL("%d processes of the user's do not end", kill_the_users());
	return reap_all();
}

static int goes_against_it(int seconds, int cpus)
{
	uint64_t begin_at = now(CLOCK_MONOTONIC), window_at = begin_at;

	all_have_got_on(cpus);
	for (int turn = 1; now(CLOCK_MONOTONIC) - begin_at < seconds * 1000 * MS; turn++) {
		if (!reap_all())
			return 0;
		free_slots();
		start_workers();
		stir(turn);
		answer_wishes();
		usleep(20000);
		if (pool->bypasses)
			FAIL("a call without the privilege has made a real-time task");
		if (turn % 25 == 0 && !is_attached())
			FAIL("the kernel has ended the policy");
		if (now(CLOCK_MONOTONIC) - window_at < WINDOW_S * 1000 * MS)
			continue;
		window_at = now(CLOCK_MONOTONIC);
		if (!all_have_got_on(cpus))
			return 0;
	}
	return 1;
}

/* What was called, and what the others had. */
static void show(const char *seed, int cpus)
{
	uint32_t calls = 0;

	for (int k = 0; k < KINDS; k++)
		calls += pool->calls[k];
	printf("seed %s: %u calls, %u processes begun by root; of wishes %u admitted", seed, calls, begun, pool->answers[0]);
	show_errors(pool->answers);
	printf("  in storms %u admitted or kept", pool->at_doors[0]);
	show_errors(pool->at_doors);
	show_calls();
	show_watched(cpus);
}

static int hostile(const char *seed, int seconds, int cpus)
{
	int before = room(cpus), after = 0, fine;

	if (before < 1)
		FAIL("nothing is admitted");
	if (make_groups())
		FAIL("no groups: %s", strerror(errno));
	if (!watched_begin(cpus))
		return 0;
	for (int i = 0; i < DOORS; i++)
		start(LOOPS + cpus + i, door);
	/* It is plain as all others are, but has its turn first. */
	setpriority(PRIO_PROCESS, 0, -20);
	fine = goes_against_it(seconds, cpus);
	show(seed, cpus);
	for (int i = 0; i < DOORS && fine; i++)
		fine = end(LOOPS + cpus + i);
	if (!fine || !end_the_users())
		return 0;
	for (int i = 0; i < LOOPS + cpus; i++)
		if (i != LOWEST && seen->longest_ns[i] > PAUSE_S * 1000 * MS)
			FAIL("root's task %d had nothing for %d s", i, (int)(seen->longest_ns[i] / (1000 * MS)));
	for (int i = 0; i < LOOPS + cpus; i++)
		if (!goes_on(i, "when the user has gone") || !end(i))
			return 0;
	if (remove_groups())
		FAIL("groups of the user's stay");
	for (int i = 0; i < 3 && after != before; i++) {
		usleep(500000);
		after = room(cpus);
	}
	if (after != before)
		FAIL("%d tasks are admitted, and %d were before", after, before);
	printf("  room for %d tasks, before and after\n", after);
	return 1;
}

int main(int count, char **words)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), fine;

	if (count == 5 && !strcmp(words[1], "go")) {
		map_pool();
		handle_signals();
		live(atoi(words[3]), strtoull(words[2], NULL, 10), atoi(words[4]));
		return 0;
	}
	if (count != 3) {
		fprintf(stderr, "hostile: SEED SECONDS\n");
		return 2;
	}
	share();
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || make_pool(words[0]) || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 3;
	choices = strtoull(words[1], NULL, 10);
	fine = !verdict("hostile", hostile(words[1], atoi(words[2]), cpus));
	kill_the_users();
	return !fine;
}
