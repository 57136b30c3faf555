/* SPDX-License-Identifier: GPL-2.0-only */
/* What the user's threads do, at random. */
#include "pool.h"
#include "scheduling.h"
#include "signals.h"
#include "lives.h"
#include "groups.h"
#include "waits.h"

static const struct {
	const char *name;
	/* How often, among all. */
	uint32_t weight;
	/* 0, or the error's number. */
	int (*act)(void);
} acts[] = {
	{"deadline", 3, asks_for_a_deadline},
	{"background", 3, sends_to_the_background},
	{"attributes", 4, sets_attributes},
	{"changing", 3, passes_what_changes},
	{"policy", 3, sets_a_policy},
	{"parameter", 2, sets_a_parameter},
	{"affinity", 5, sets_an_affinity},
	{"nice", 3, sets_a_nice_value},
	{"getattr", 1, reads_attributes},
	{"wish", 12, wishes},
	{"storm", 2, storms},
	{"cookie", 2, sets_a_cookie},
	{"signal", 5, sends_a_signal},
	{"kill", 1, kills},
	{"timer", 1, sets_a_timer},
	{"ptrace", 3, traces},
	{"thread", 4, starts_a_thread},
	{"fork", 4, forks},
	{"vfork", 1, forks_on_its_own_stack},
	{"exec", 2, becomes_another},
	{"exit", 1, ends},
	{"namespace", 1, enters_a_namespace},
	{"name", 1, names_itself},
	{"move", 4, moves},
	{"freeze", 2, freezes},
	{"limit", 2, limits},
	{"cpuset", 2, sets_cpus_of_a_group},
	{"mkdir", 1, makes_a_group},
	{"kill-group", 1, kills_a_group},
	{"futex-wait", 4, waits_for_a_word},
	{"futex-wake", 4, wakes_others},
	{"mutex", 5, takes_a_mutex},
	{"pipe", 3, uses_a_pipe},
	{"yield", 6, yields},
	{"sleep", 8, sleeps},
	{"work", 10, works},
	{"membarrier", 1, asks_all_cpus},
};
#define KINDS ((int)(sizeof(acts) / sizeof(*acts)))
_Static_assert(sizeof(acts) / sizeof(*acts) <= KINDS_MAX, "all kinds are counted");

static int kind_drawn(void)
{
	static uint32_t sum;
	uint32_t at, all = 0;

	if (!sum) {
		for (int k = 0; k < KINDS; k++)
			all += acts[k].weight;
		sum = all;
	}
	at = draw(sum);
	for (int k = 0; k < KINDS; k++) {
		if (at < acts[k].weight)
			return k;
		at -= acts[k].weight;
	}
	return 0;
}

/* A thread's life in its slot. */
static void live(int slot, uint64_t seed, int count)
{
	choices = seed;
	own_slot = slot;
	pool->tids[slot] = syscall(SYS_gettid);
	for (acts_left = count; acts_left > 0; acts_left--) {
		int kind = kind_drawn(), error;

		__sync_fetch_and_add(&pool->calls[kind], 1);
		error = acts[kind].act();
		if (error > 0 && error < ERRORS_MAX)
			__sync_fetch_and_add(&pool->errors[kind][error], 1);
	}
	give_slot(slot);
}

static void show_errors(const volatile uint32_t *errors)
{
	for (int e = 1; e < ERRORS_MAX; e++)
		if (errors[e])
			printf("  %s %u", strerrorname_np(e) ?: "?", errors[e]);
	printf("\n");
}

static void show_calls(void)
{
	for (int k = 0; k < KINDS; k++) {
		printf("  %-11s %6u", acts[k].name, pool->calls[k]);
		show_errors(pool->errors[k]);
	}
}
