// SPDX-License-Identifier: GPL-2.0-only
/*
 * operations POLICY MODE FIRST COUNT [trace]: runs COUNT random task sets from seed FIRST on. Prints one line of
 * counts, or the seed that failed and why (exit status 1). `operations list`: the policies under one lock.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For one seed; they take less than a hundredth. */
#define SECONDS_MAX 2

/* splitmix64 */
static u64 next_random(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

u64 draw(struct host *h, u64 n)
{
	return next_random(&h->random) % n;
}

void host_draw_task(struct host *h, u32 id)
{
	struct model_task *t = &h->task[id];
	struct lx_task *task = &h->s->task[id];

	t->period = h->harmonic ? 4ull << draw(h, 3) : 3 + draw(h, 20);
	t->wcet = 1 + t->period * (1 + draw(h, h->share)) / 1000;
	t->budget = draw(h, 2) ? t->wcet : 1 + draw(h, t->wcet);
	t->deadline_rel = draw(h, 3) ? t->period : 1 + draw(h, 2 * t->period);
	t->priority = (u32)draw(h, 6);
	t->sporadic = draw(h, 4) == 0;
	t->state = JOB_NONE;
	t->urgent_since = LX_NEVER;
	t->replenished = LX_NEVER;
	t->budget_left = t->budget;
	t->running_on = LX_NONE;
	task->deadline_rel_ns = t->deadline_rel;
	task->period_ns = t->period;
	task->budget_ns = t->budget;
	task->priority = t->priority;
}

/* Its first job. */
static void draw_arrival(struct host *h, struct model_task *t)
{
	t->wakes_at = draw(h, 2) ? 0 : draw(h, 12);
	t->wakes_on = (u32)draw(h, h->cpus);
	t->wakes_by = EVENT_ARRIVE;
	t->arrival = t->wakes_at + (draw(h, 4) ? 0 : draw(h, 5));
}

void *host_begin(struct host *h, const struct lx_policy *policy, enum mode mode, u64 seed)
{
	struct lx_config config = {0};
	int dsp = policy == &lx_policy_g_edf_mp;
	void *memory;
	u64 load;

	h->policy = policy;
	h->mode = mode;
	h->random = seed;
	h->now = 0;
	h->events = 0;
	h->calls_now = 0;
	h->abandoned = 0;
	h->timer_is_coming = 0;
	h->notices = 0;
	memset(h->passed_over, 0, sizeof(h->passed_over));
	h->clients = 1 + (u32)draw(h, 8);
	config.dedicated_cpu = dsp || draw(h, 4) == 0 ? h->clients : LX_NONE;
	h->cpus = h->clients + (config.dedicated_cpu != LX_NONE);
	h->tasks = 1 + (u32)draw(h, 3 * h->clients + 3);
	h->horizon = 40 + draw(h, 80);
	h->withdraws = draw(h, 2) == 0;
	config.tasks = h->tasks;
	config.cpus = h->cpus;
	config.rule = draw(h, 4) || policy->counts_use ? LX_RULE_EDF : LX_RULE_FIXED;
	config.budget_mode = draw(h, 2) ? LX_BUDGET_OFF : 1 + (u32)draw(h, 2);
	config.batching = (u32)draw(h, 2);
	config.retries_max = 1 + (u32)draw(h, 4);
	config.sockets = 1 + (u32)draw(h, h->cpus < 4 ? h->cpus : 4);
	memory = aligned_alloc(64, lx_policy_size(&config));
	memset(memory, 0, lx_policy_size(&config));
	h->s = lx_policy_lay_out(memory, &config);
	h->harmonic = draw(h, 2) == 0;
	load = 300 + draw(h, 900);
	h->share = 2 * load * h->clients / h->tasks;
	for (u32 i = 0; i < h->tasks; i++) {
		host_draw_task(h, i);
		draw_arrival(h, &h->task[i]);
	}
	for (u32 cpu = 0; cpu < h->cpus; cpu++) {
		memset(&h->cpu[cpu], 0, sizeof(h->cpu[cpu]));
		h->cpu[cpu].running = LX_NONE;
		h->cpu[cpu].changes_at = h->withdraws && cpu < h->clients && draw(h, 3) ? 1 + draw(h, 40) : LX_NEVER;
		h->s->cpu[cpu].socket = (u32)draw(h, config.sockets);
	}
	policy->init(h->s);
	for (u32 i = 0; i < h->tasks; i++) {
		struct model_task *t = &h->task[i];

		if (t->wakes_at == 0) {
			t->wakes_at = LX_NEVER;
			h->cpu[t->wakes_on].event[h->cpu[t->wakes_on].events++] =
				(struct event){EVENT_ARRIVE, i, h->events++};
		}
	}
	return memory;
}

static void print_counts(const struct host *h, u64 seeds)
{
	static const char *const names[NOTES_MAX] = {
		[LX_NOTE_LINK_SWAP] = "link_swap",	     [LX_NOTE_STALE_MESSAGE] = "stale_message",
		[LX_NOTE_STALE_JOB] = "stale_job",	     [LX_NOTE_PUSH] = "push",
		[LX_NOTE_PUSH_FAILED] = "push_failed",	     [LX_NOTE_PUSH_ABANDONED] = "push_abandoned",
		[LX_NOTE_PUSH_OVERTAKEN] = "push_overtaken", [LX_NOTE_PULL] = "pull",
		[LX_NOTE_PULL_FAILED] = "pull_failed",
	};

	printf("seeds=%llu jobs=%llu checks=%llu inversions=%llu entered=%llu withdrawn=%llu woken=%llu renewed=%llu", (unsigned long long)seeds,
	       (unsigned long long)h->jobs, (unsigned long long)h->checks, (unsigned long long)h->inversions,
	       (unsigned long long)h->entered, (unsigned long long)h->withdrawn, (unsigned long long)h->woken[0],
	       (unsigned long long)h->woken[1]);
	for (u32 i = 0; i < NOTES_MAX; i++)
		if (names[i])
			printf(" %s=%llu", names[i], (unsigned long long)h->notes[i]);
	printf("\n");
}

#define TABLE(policy, kind) &lx_policy_##policy,
static const struct lx_policy *const all[] = {LX_POLICIES(TABLE)};
#undef TABLE
#define POLICIES (sizeof(all) / sizeof(all[0]))

/* The policies whose operations are in one piece, a line each. */
static int list_one_lock(void)
{
	for (u32 i = 0; i < POLICIES; i++)
		if (all[i]->finish)
			printf("%s\n", all[i]->name);
	return 0;
}

static const struct lx_policy *policy_named(const char *name)
{
	for (u32 i = 0; i < POLICIES; i++)
		if (!strcmp(name, all[i]->name))
			return all[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static struct host host;
	const struct lx_policy *policy;
	u64 first, count, seed;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list_one_lock();
	if (argc < 5)
		return 2;
	policy = policy_named(argv[1]);
	if (!policy)
		return 2;
	first = strtoull(argv[3], NULL, 10);
	count = strtoull(argv[4], NULL, 10);
	host.trace = argc > 5;
	for (seed = first; seed < first + count; seed++) {
		void *memory = host_begin(&host, policy, (enum mode)atoi(argv[2]), seed);
		int failed;

		/* A broken policy may not end: then a signal says so. */
		alarm(SECONDS_MAX);
		failed = host_run(&host);
		free(memory);
		if (failed) {
			printf("seed %llu: %s\n", (unsigned long long)seed, host.failure);
			return 1;
		}
	}
	print_counts(&host, count);
	return 0;
}
