/* SPDX-License-Identifier: GPL-2.0-only */
/* How the user's threads spend their time: they work, wait for each other, sleep. */
#include <linux/membarrier.h>
#include <poll.h>

static struct timespec within(uint64_t ns)
{
	struct timespec t = {0, (long)ns};

	return t;
}

static int waits_for_a_word(void)
{
	struct timespec most = within((1 + draw(30)) * MS);
	volatile uint32_t *word = &pool->words[draw(WORDS)];

	return answer(syscall(SYS_futex, word, FUTEX_WAIT, *word, &most, NULL, 0));
}

static int wakes_others(void)
{
	volatile uint32_t *word = &pool->words[draw(WORDS)];

	++*word;
	return answer(syscall(SYS_futex, word, FUTEX_WAKE, 1 + draw(4), NULL, NULL, 0));
}

/* Its holder may have been killed, stopped or frozen. */
static int takes_a_mutex(void)
{
	pthread_mutex_t *mutex = draw(2) ? &pool->mutex : &pool->inheriting;
	uint64_t until_at = now(CLOCK_REALTIME) + (1 + draw(30)) * MS;
	struct timespec until = {until_at / 1000000000, until_at % 1000000000};
	int error = pthread_mutex_timedlock(mutex, &until);

	if (error == EOWNERDEAD) {
		pthread_mutex_consistent(mutex);
		error = 0;
	}
	if (error)
		return error;
	work(draw(2) * MS / 2);
	if (draw(4) == 0)
		usleep(draw(5000));
	return pthread_mutex_unlock(mutex);
}

static int uses_a_pipe(void)
{
	struct pollfd end = {.fd = PIPE_FD, .events = POLLIN};
	char bytes[64] = "";

	if (draw(2))
		return answer(write(PIPE_FD + 1, bytes, 1 + draw(64)));
	if (poll(&end, 1, 1 + draw(20)) != 1)
		return EAGAIN;
	return answer(read(PIPE_FD, bytes, 1 + draw(64)));
}

static int yields(void)
{
	for (int i = draw(4); i >= 0; i--)
		sched_yield();
	return 0;
}

static int sleeps(void)
{
	struct timespec t = within(draw(20) ? draw(3 * MS) : draw(100 * MS));

	return answer(nanosleep(&t, NULL));
}

static int works(void)
{
	work(draw(20) ? draw(2 * MS) : draw(40 * MS));
	return 0;
}

/* All CPUs answer. */
static int asks_all_cpus(void)
{
	return answer(syscall(SYS_membarrier, draw(2) ? MEMBARRIER_CMD_GLOBAL_EXPEDITED : MEMBARRIER_CMD_GLOBAL, 0, 0));
}
