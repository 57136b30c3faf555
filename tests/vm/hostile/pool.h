/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user's processes share, also across execve: who is there, what was called, what they use together. And the choices:
 * each thread has a generator of its own, whose seed its parent has drawn, so that a seed is one tree of choices.
 */
#ifndef LX_TESTS_POOL_H
#define LX_TESTS_POOL_H

#include "../children.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define USER 65534
/* Threads at the same time. */
#define SLOTS 28
#define TAKEN (-1)
#define KINDS_MAX 48
#define ERRORS_MAX 134
#define POOL_FD 100
#define PIPE_FD 101
#define WORDS 4
/* Of real-time tasks of the user's. Root's have shorter ones: under fixed priorities they go first. */
#define SHORTEST_PERIOD_MS 31
#define LONGEST_PERIOD_MS 150

/* A task of the user's asks root to make it, or another one, a member. */
struct wish {
	/* 0: none, 1: it is being written, 2: it waits for its answer. */
	volatile int state;
	pid_t tid;
	uint64_t runtime_ns, period_ns, flags;
	/* Let it run on all CPUs first: a member may. */
	int anywhere;
};

static struct pool {
	/* By kinds of calls, and by the errors that they ended with. */
	volatile uint32_t calls[KINDS_MAX], errors[KINDS_MAX][ERRORS_MAX];
	/* 0: free; TAKEN: its thread begins. */
	volatile pid_t tids[SLOTS];
	struct wish wishes[SLOTS];
	/* Until then all that take part set this one's scheduling, as fast as they can. */
	volatile uint64_t storm_ends_at;
	volatile pid_t victim;
	volatile uint32_t words[WORDS];
	pthread_mutex_t mutex, inheriting;
	/* All of them write here, and pass it to the kernel. */
	struct attributes scribbled;
	/* Times that a call made a real-time task which had no right to. */
	volatile uint32_t bypasses;
	/* To wishes, by errors; 0: admitted. */
	volatile uint32_t answers[ERRORS_MAX], at_doors[ERRORS_MAX];
	int cpus;
	char program[256];
} *pool;

static __thread uint64_t choices;
/* The slot of this thread, and how many acts it has still. */
static __thread int own_slot, acts_left;

static inline uint64_t next_choice(void)
{
	uint64_t z = choices += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* From 0 to n - 1. */
static inline uint32_t draw(uint32_t n)
{
	return (next_choice() >> 16) % n;
}

/* A thread of the user's, or this one. */
static inline pid_t target(void)
{
	pid_t tid = draw(5) ? pool->tids[draw(SLOTS)] : 0;

	return tid > 0 ? tid : 0;
}

/* The same for calls that take 0 or -1 for many. */
static inline pid_t one_target(void)
{
	pid_t tid = target();

	return tid ? tid : (pid_t)syscall(SYS_gettid);
}

/* A place for one more thread, or -1. */
static inline int take_slot(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (!pool->tids[i] && __sync_bool_compare_and_swap(&pool->tids[i], 0, TAKEN))
			return i;
	return -1;
}

static inline void give_slot(int slot)
{
	pool->tids[slot] = 0;
}

static inline uint64_t some_period_ns(void)
{
	return (SHORTEST_PERIOD_MS + draw(LONGEST_PERIOD_MS - SHORTEST_PERIOD_MS + 1)) * MS;
}

static inline int answer(long result)
{
	return result < 0 ? errno : 0;
}

static inline void map_pool(void)
{
	pool = mmap(NULL, sizeof(*pool), PROT_READ | PROT_WRITE, MAP_SHARED, POOL_FD, 0);
	if (pool == MAP_FAILED)
		_exit(3);
}

static inline void make_mutex(pthread_mutex_t *mutex, int protocol)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutex_init(mutex, &attributes);
}

static inline int make_pool(const char *program)
{
	int fd = memfd_create("pool", 0), ends[2];

	if (fd < 0 || ftruncate(fd, sizeof(*pool)) || fchmod(fd, 0666) || dup2(fd, POOL_FD) < 0 || close(fd))
		return 1;
	if (pipe2(ends, O_NONBLOCK) || dup2(ends[0], PIPE_FD) < 0 || dup2(ends[1], PIPE_FD + 1) < 0 || close(ends[0]) || close(ends[1]))
		return 1;
	map_pool();
	make_mutex(&pool->mutex, PTHREAD_PRIO_NONE);
	make_mutex(&pool->inheriting, PTHREAD_PRIO_INHERIT);
	pool->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return !realpath(program, pool->program);
}

#endif
