/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads and processes of the user's that begin, become others and end. */
#include <linux/sched.h>

static void live(int slot, uint64_t seed, int acts);

static void *thread(void *argument)
{
	uintptr_t packed = (uintptr_t)argument;

	live(packed & 0xff, packed, 1 + (packed >> 8) % 100);
	return NULL;
}

static int starts_a_thread(void)
{
	uint64_t seed = next_choice();
	pthread_attr_t attributes;
	int slot = take_slot(), error;
	pthread_t id;

	if (slot < 0)
		return EAGAIN;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 << 10);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&id, &attributes, thread, (void *)(uintptr_t)(seed << 8 | slot));
	pthread_attr_destroy(&attributes);
	if (error)
		give_slot(slot);
	return error;
}

static int forks(void)
{
	uint64_t seed = next_choice();
	int slot = take_slot(), acts = 1 + draw(150);
	pid_t pid;

	if (slot < 0)
		return EAGAIN;
	pid = fork();
	if (pid == 0) {
		live(slot, seed, acts);
		_exit(0);
	}
	if (pid < 0)
		give_slot(slot);
	else
		__sync_bool_compare_and_swap(&pool->tids[slot], TAKEN, pid);
	return answer(pid);
}

/* The parent waits for its child, which sets its parent's scheduling. */
static int forks_on_its_own_stack(void)
{
	pid_t parent = getpid(), pid;
	uint32_t how = draw(3);

	pid = vfork();
	if (pid == 0) {
		if (how == 0)
			ask(parent, 0, 0, 0, 0);
		else if (how == 1)
			set_policy(parent, SCHED_OTHER);
		_exit(0);
	}
	return answer(pid);
}

/* Every thread of the process but this one ends; this one gets the number of the first. */
static int becomes_another(void)
{
	char seed[24], slot[12], acts[12];

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)next_choice());
	snprintf(slot, sizeof(slot), "%d", own_slot);
	snprintf(acts, sizeof(acts), "%d", acts_left / 2);
	execl(pool->program, "hostile", "go", seed, slot, acts, NULL);
	return errno;
}

/* The thread alone, or its process. */
static int ends(void)
{
	if (draw(3) == 0)
		syscall(SYS_exit, 0);
	_exit(0);
}

/* A user namespace of its own, in which it has all capabilities. Seldom: its children stay there, and may trace none outside. */
static int enters_a_namespace(void)
{
	int error, fd;

	if (draw(3))
		return EAGAIN;
	error = answer(unshare(CLONE_NEWUSER));
	/* As before it, others of the same user may trace it. */
	prctl(PR_SET_DUMPABLE, 1);
	if (!error && draw(2)) {
		fd = open("/proc/self/uid_map", O_WRONLY);
		if (fd >= 0) {
			if (write(fd, "0 65534 1", 9) != 9)
				error = errno;
			close(fd);
		}
	}
	if (!error)
		asks_for_a_deadline();
	return error;
}

static int names_itself(void)
{
	return answer(prctl(PR_SET_NAME, draw(2) ? "hostile" : "kworker/0:0"));
}
