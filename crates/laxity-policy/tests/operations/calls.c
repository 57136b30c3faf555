// SPDX-License-Identifier: GPL-2.0-only
/* What follows from a call of the policy: its actions, once what it wrote has been looked at. */
#include "calls.h"

/* An operation that makes no progress is found by this many calls in one instant. */
#define CALLS_MAX 20000

static void print_action(const struct lx_action *a)
{
	printf("        -> %s cpu %d", (const char *[]){"", "kick", "arm", "notify", "step", "note"}[a->kind], (int)a->cpu);
	if (a->kind == LX_ARM)
		printf(" due at %lld", (long long)a->due_at);
	else if (a->kind == LX_STEP)
		printf(" locks %#x", a->locks);
	else if (a->kind == LX_NOTE)
		printf(" kind %d other %d task %d", (int)a->note.kind, (int)a->note.other, (int)a->note.task);
	printf("\n");
}

static int carry_out(struct host *h, u32 cpu, const struct lx_action *a)
{
	if (h->trace)
		print_action(a);
	switch (a->kind) {
	case LX_KICK:
		add_event(h, a->cpu, EVENT_KICK, 0);
		return 0;
	case LX_ARM:
		if (a->due_at != h->s->next_due_at && a->due_at != h->s->next_timer_at)
			return fail(h, "timer", a->due_at, h->s->next_due_at);
		/* At once, if that is past. */
		collect_due(h);
		return 0;
	case LX_NOTIFY:
		add_event(h, a->cpu, EVENT_MESSAGE, 0);
		return 0;
	case LX_STEP:
		if (a->cpu != cpu || h->cpu[cpu].stepping)
			return fail(h, "step of another CPU, or two", cpu, a->cpu);
		h->cpu[cpu].stepping = 1;
		h->cpu[cpu].locks = a->locks;
		return 0;
	case LX_NOTE:
		h->notes[a->note.kind]++;
		h->abandoned |= a->note.kind == LX_NOTE_PUSH_ABANDONED;
		return 0;
	}
	return fail(h, "unknown action", a->kind, cpu);
}

/* How many actions the last call of `cpu` made. */
static u32 actions_of(const struct host *h, u32 cpu)
{
	return h->policy->lock_of ? h->s->list[cpu].actions : h->s->actions;
}

/* Brackets a call of the policy: `before` it, and after it, under these locks. */
int called(struct host *h, u32 cpu, const struct written *before, u32 locks)
{
	if (h->calls_now++ > CALLS_MAX)
		return fail(h, "no end", cpu, 0);
	if (locks_kept(h, before, locks) || lists_kept(h, before, cpu))
		return -1;
	for (u32 i = 0; i < actions_of(h, cpu); i++)
		if (carry_out(h, cpu, h->policy->lock_of ? &h->s->list[cpu].action[i] : &h->s->action[i]))
			return -1;
	return 0;
}

u32 lock_of(const struct host *h, u32 event, u32 cpu)
{
	return h->policy->lock_of ? h->policy->lock_of(h->s, event, cpu) : ONE_LOCK;
}
