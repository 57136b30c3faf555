// SPDX-License-Identifier: GPL-2.0-only
/* The host: what happens next, and what follows from it. */
#include "calls.h"

#include <stdio.h>

static const char *const event_names[] = {"kick",  "message", "group", "arrive",   "resume",
					  "enter", "wake up", "timer", "withdraw", "restore"};

int fail(struct host *h, const char *what, u64 a, u64 b)
{
	snprintf(h->failure, sizeof(h->failure), "t=%llu: %s (%lld, %lld)", (unsigned long long)h->now, what,
		 (long long)a, (long long)b);
	return -1;
}

/* fpp: levels are in the order of the tasks' relative deadlines, or of their priorities. */
static int check_levels(struct host *h)
{
	const struct lx_task *t = h->s->task;
	int fixed = h->s->config.rule == LX_RULE_FIXED;

	if (h->policy != &lx_policy_fpp)
		return 0;
	for (u32 a = 0; a < h->tasks; a++)
		for (u32 b = 0; b < h->tasks; b++)
			if ((fixed ? t[a].priority < t[b].priority : t[a].deadline_rel_ns < t[b].deadline_rel_ns) !=
			    (t[a].level < t[b].level))
				return fail(h, "levels", a, b);
	return 0;
}

void add_event(struct host *h, u32 cpu, enum event_kind kind, u32 subject)
{
	struct model_cpu *c = &h->cpu[cpu];

	c->event[c->events++] = (struct event){kind, subject, h->events++};
}

static int runs(struct host *h, u32 cpu, u32 task)
{
	struct model_cpu *c = &h->cpu[cpu];

	if (model_laxities(h, 0))
		return -1;
	if (c->running != LX_NONE)
		h->task[c->running].running_on = LX_NONE;
	c->running = task;
	c->executing = task != LX_NONE;
	if (task == LX_NONE)
		return 0;
	if (h->task[task].running_on != LX_NONE)
		return fail(h, "a task on two CPUs", task, cpu);
	if (!model_is_ready(h, task))
		return fail(h, "a task runs that is not ready", task, cpu);
	h->task[task].running_on = cpu;
	return 0;
}

static int step(struct host *h, u32 cpu)
{
	h->cpu[cpu].stepping = 0;
	return CALL(h, cpu, h->cpu[cpu].locks, step(h->s, cpu, h->now));
}

static int reschedule(struct host *h, u32 cpu)
{
	u32 task;

	h->cpu[cpu].must_reschedule = 0;
	if (CALLED(h, cpu, lock_of(h, LX_EVENT_RESCHEDULE, cpu), task = h->policy->reschedule(h->s, cpu, h->now)))
		return -1;
	return runs(h, cpu, task);
}

static int handle_message(struct host *h, u32 cpu)
{
	u32 read[CPUS_MAX];
	u32 found;

	mailboxes_before(h, read);
	if (CALLED(h, cpu, lock_of(h, LX_EVENT_MESSAGE, cpu), found = h->policy->message(h->s, cpu, h->now)))
		return -1;
	if (found)
		return mailboxes_fair(h, read);
	/* The DSP may have looked at the client before this message asks it to. */
	return h->notices && h->notices-- ? 0 : fail(h, "no message", found, cpu);
}

/* Arranges for the task to arrive, be resumed or enter after up to `delay`, on any CPU. */
static void wake_later(struct host *h, u32 task, enum event_kind by, u64 earliest, u64 delay)
{
	struct model_task *t = &h->task[task];

	t->wakes_at = (earliest > h->now ? earliest : h->now) + draw(h, delay + 1);
	t->wakes_on = (u32)draw(h, h->cpus);
	t->wakes_by = by;
	t->arrival = t->wakes_at + (draw(h, 3) == 0 ? draw(h, 4) : 0);
}

/* Another task, with parameters of its own, enters in place of the one that has left. Its first job comes later. */
static int enter(struct host *h, u32 task)
{
	struct written before;

	host_draw_task(h, task);
	h->entered++;
	wake_later(h, task, EVENT_ARRIVE, h->now, 3);
	locks_before(h, &before);
	h->policy->enter(h->s, task);
	return locks_kept(h, &before, lock_of(h, LX_EVENT_RELEASE, 0)) ? -1 : check_levels(h);
}

/* The task wakes up: its job goes on, or it has a new one. */
static int wake_up(struct host *h, u32 cpu, u32 task)
{
	u32 none = lock_of(h, LX_EVENT_RELEASE, cpu);
	u64 expected = model_wake_up(h, task);
	u64 release = lx_policy_wake_up(h->s, task, h->now);

	if (release != expected)
		return fail(h, "wake-up", release, expected);
	if (h->s->task[task].budget_left_ns != h->task[task].budget_left)
		return fail(h, "budget after a wake-up", h->s->task[task].budget_left_ns, h->task[task].budget_left);
	h->woken[release != LX_NEVER]++;
	if (release == LX_NEVER) {
		h->task[task].state = JOB_THERE;
		return CALL(h, cpu, none, resume(h->s, task, cpu, h->now));
	}
	model_next_job(h, task, release);
	return CALL(h, cpu, none, arrive(h->s, task, release, cpu, h->now));
}

static int job_is_over(const struct host *h, u32 cpu);
static int job_over(struct host *h, u32 cpu);

static int handle(struct host *h, u32 cpu, u32 index)
{
	struct model_cpu *c = &h->cpu[cpu];
	struct event e = c->event[index];
	u32 none = lock_of(h, LX_EVENT_RELEASE, cpu);

	/* What has ended is said first. */
	if (e.kind == EVENT_WITHDRAW && job_is_over(h, cpu))
		return job_over(h, cpu);
	for (u32 i = index + 1; i < c->events; i++)
		c->event[i - 1] = c->event[i];
	c->events--;
	if (h->trace)
		printf("  %s %u\n", event_names[e.kind], e.subject);
	switch (e.kind) {
	case EVENT_KICK:
		/* What is above it stays; it reschedules when that is over. */
		return c->withdrawn ? 0 : reschedule(h, cpu);
	case EVENT_MESSAGE:
		return handle_message(h, cpu);
	case EVENT_GROUP:
		return CALL(h, cpu, none, release_group(h->s, e.subject, h->now));
	case EVENT_ARRIVE:
		model_next_job(h, e.subject, h->task[e.subject].arrival);
		return CALL(h, cpu, none, arrive(h->s, e.subject, h->task[e.subject].arrival, cpu, h->now));
	case EVENT_WAKE_UP:
		return wake_up(h, cpu, e.subject);
	case EVENT_RESUME:
		h->task[e.subject].state = JOB_THERE;
		return CALL(h, cpu, none, resume(h->s, e.subject, cpu, h->now));
	case EVENT_ENTER:
		return enter(h, e.subject);
	case EVENT_TIMER:
		h->timer_is_coming = 0;
		return CALL(h, cpu, none, timer(h->s, cpu, h->now));
	case EVENT_WITHDRAW:
		return is_taken(h, cpu);
	case EVENT_RESTORE:
		return is_back(h, cpu);
	}
	return -1;
}

/* Timers and other interrupts whose instant has come. */
void collect_due(struct host *h)
{
	u32 group;

	while ((group = h->policy->take_due(h->s, h->now)) != LX_NONE)
		add_event(h, h->s->group[group].cpu, EVENT_GROUP, group);
	if (h->s->next_timer_at <= h->now && !h->timer_is_coming) {
		h->timer_is_coming = 1;
		add_event(h, h->s->timer_cpu, EVENT_TIMER, 0);
	}
	for (u32 i = 0; i < h->tasks; i++) {
		struct model_task *t = &h->task[i];

		if (t->wakes_at > h->now)
			continue;
		t->wakes_at = LX_NEVER;
		add_event(h, t->wakes_on, t->wakes_by, i);
	}
	changes_due(h);
}

/* The first part of complete or exhaust has returned `ready`. The second is what the CPU does next; others may come before. */
static int left_here(struct host *h, u32 cpu, const struct written *before, u64 ready)
{
	if (locks_kept(h, before, lock_of(h, LX_EVENT_COMPLETE, cpu)) || lists_kept(h, before, cpu))
		return -1;
	if (h->s->next_due_at != before->next_due || h->s->due_count != before->due_count)
		return fail(h, "release queue without its lock", cpu, h->s->due_count);
	h->cpu[cpu].awaiting = 1;
	h->cpu[cpu].ready = ready;
	return 0;
}

static int complete_here(struct host *h, u32 cpu, u64 told)
{
	struct written before;

	locks_before(h, &before);
	return left_here(h, cpu, &before, h->policy->complete_here(h->s, cpu, told, h->now));
}

static int exhaust_here(struct host *h, u32 cpu)
{
	struct written before;

	locks_before(h, &before);
	return left_here(h, cpu, &before, h->policy->exhaust_here(h->s, cpu, h->now));
}

/* The second part, under the lock of the release queue alone; then all actions are carried out. */
static int await(struct host *h, u32 cpu)
{
	struct written before;
	u64 ready = h->cpu[cpu].ready;

	h->cpu[cpu].awaiting = 0;
	locks_before(h, &before);
	if (ready != LX_NEVER)
		h->policy->await(h->s, h->s->cpu[cpu].scheduled, ready, cpu);
	if (called(h, cpu, &before, LX_NO_LOCKS))
		return -1;
	/* Time may have passed meanwhile. */
	collect_due(h);
	return 0;
}

static int complete(struct host *h, u32 cpu)
{
	u32 task = h->cpu[cpu].running;
	struct model_task *t = &h->task[task];
	u64 next = t->release + t->period;
	u64 told = LX_NEVER;

	h->jobs++;
	t->state = JOB_NONE;
	if (next < h->horizon && draw(h, 10) == 0) {
		wake_later(h, task, EVENT_ENTER, h->now, 3);
	} else if (next < h->horizon && t->sporadic) {
		wake_later(h, task, EVENT_ARRIVE, next, 3);
	} else if (next < h->horizon) {
		told = next;
		model_next_job(h, task, next);
	}
	if (h->policy->complete_here && draw(h, 2))
		return complete_here(h, cpu, told);
	return CALL(h, cpu, lock_of(h, LX_EVENT_COMPLETE, cpu), complete(h->s, cpu, told, h->now));
}

static int suspend(struct host *h, u32 cpu)
{
	u32 task = h->cpu[cpu].running;

	h->task[task].suspends_at = 0;
	/* It goes on later, or gives up its job for a new one, or never comes back. */
	h->task[task].state = draw(h, 3) ? JOB_SUSPENDED : JOB_NONE;
	if (h->task[task].state == JOB_SUSPENDED)
		wake_later(h, task, draw(h, 2) ? EVENT_RESUME : EVENT_WAKE_UP, h->now, 4);
	else if (h->now < h->horizon)
		wake_later(h, task, draw(h, 2) ? EVENT_ARRIVE : EVENT_ENTER, h->now, 4);
	if (CALL(h, cpu, lock_of(h, LX_EVENT_COMPLETE, cpu), suspend(h->s, cpu, h->now)))
		return -1;
	collect_due(h);
	return 0;
}

static int exhaust(struct host *h, u32 cpu)
{
	model_replenish(h, h->cpu[cpu].running);
	if (h->policy->exhaust_here && draw(h, 2))
		return exhaust_here(h, cpu);
	return CALL(h, cpu, lock_of(h, LX_EVENT_EXHAUST, cpu), exhaust(h->s, cpu, h->now));
}

/* Work until the running job does something of its own: ends, suspends itself, or has used up its budget. */
static u64 work_to_go(const struct host *h, u32 cpu)
{
	const struct model_task *t = &h->task[h->cpu[cpu].running];
	u64 work = t->work_left - t->suspends_at;

	return h->s->config.budget_mode != LX_BUDGET_OFF && t->budget_left < work ? t->budget_left : work;
}

static int executes(const struct host *h, u32 cpu)
{
	const struct model_cpu *c = &h->cpu[cpu];

	return c->executing && !c->stepping && !c->must_reschedule;
}

static int job_is_over(const struct host *h, u32 cpu)
{
	return executes(h, cpu) && work_to_go(h, cpu) == 0;
}

static int job_over(struct host *h, u32 cpu)
{
	const struct model_task *t = &h->task[h->cpu[cpu].running];

	h->cpu[cpu].executing = 0;
	h->cpu[cpu].must_reschedule = 1;
	if (t->work_left == 0)
		return complete(h, cpu);
	if (t->work_left == t->suspends_at)
		return suspend(h, cpu);
	return exhaust(h, cpu);
}

/* What the CPU must do next, if it must do something: 1, or 0 if it is free for events. */
int goes_on(const struct host *h, u32 cpu)
{
	return h->cpu[cpu].awaiting || h->cpu[cpu].stepping || h->cpu[cpu].must_reschedule;
}

/* The event that it waits for on the CPU, or their number. */
static u32 event_of(const struct host *h, u32 cpu, enum event_kind kind)
{
	u32 i = 0;

	while (i < h->cpu[cpu].events && h->cpu[cpu].event[i].kind != kind)
		i++;
	return i;
}

static int go_on(struct host *h, u32 cpu)
{
	u32 taken = event_of(h, cpu, EVENT_WITHDRAW);

	if (h->cpu[cpu].awaiting)
		return await(h, cpu);
	if (h->cpu[cpu].stepping)
		return step(h, cpu);
	/* What takes the CPU may do so before that follows its link. */
	return taken < h->cpu[cpu].events && draw(h, 2) ? handle(h, cpu, taken) : reschedule(h, cpu);
}

static u32 things_to_do(const struct host *h, u32 cpu)
{
	return goes_on(h, cpu) ? 1 : h->cpu[cpu].events + (u32)job_is_over(h, cpu);
}

static int do_thing(struct host *h, u32 cpu, u64 index)
{
	if (goes_on(h, cpu))
		return go_on(h, cpu);
	return index < h->cpu[cpu].events ? handle(h, cpu, (u32)index) : job_over(h, cpu);
}

/* MODE_ORDERED: consequences before causes, and otherwise first come, first served. 1 if there is nothing to do. */
static int do_first(struct host *h)
{
	u32 best_cpu = LX_NONE;
	u32 best = 0;
	u64 best_rank = LX_NEVER;

	for (u32 cpu = 0; cpu < h->cpus; cpu++) {
		if (goes_on(h, cpu))
			return go_on(h, cpu);
		for (u32 i = 0; i < h->cpu[cpu].events + (u32)job_is_over(h, cpu); i++) {
			const struct event *e = &h->cpu[cpu].event[i];
			u64 rank = LX_NEVER - 1;

			if (i < h->cpu[cpu].events)
				rank = ((u64)(e->kind > EVENT_MESSAGE) << 62) + e->number;
			if (rank < best_rank) {
				best_rank = rank;
				best_cpu = cpu;
				best = i;
			}
		}
	}
	return best_cpu == LX_NONE ? 1 : do_thing(h, best_cpu, best);
}

/* MODE_DELAYED and MODE_INTERLEAVED: anything that can happen next. 1 if there is nothing. */
static int do_any(struct host *h)
{
	u32 busy[CPUS_MAX];
	u32 count = 0;
	u32 cpu;

	for (cpu = 0; cpu < h->cpus; cpu++) {
		if (h->mode == MODE_DELAYED && goes_on(h, cpu))
			return go_on(h, cpu);
		if (things_to_do(h, cpu))
			busy[count++] = cpu;
	}
	if (count == 0)
		return 1;
	cpu = busy[draw(h, count)];
	return do_thing(h, cpu, draw(h, things_to_do(h, cpu)));
}

static void pass_time(struct host *h, u64 span)
{
	for (u32 cpu = 0; cpu < h->cpus; cpu++) {
		struct model_task *t;
		u64 work;

		if (!executes(h, cpu))
			continue;
		t = &h->task[h->cpu[cpu].running];
		work = work_to_go(h, cpu) < span ? work_to_go(h, cpu) : span;
		t->work_left -= work;
		t->budget_left -= work < t->budget_left ? work : t->budget_left;
		h->policy->consume(h->s, h->cpu[cpu].running, work);
	}
	h->now += span;
	h->calls_now = 0;
	collect_due(h);
}

/* Nothing is under way: the schedule must be right. */
static int check_quiet(struct host *h)
{
	h->checks++;
	for (u32 cpu = 0; cpu < h->clients; cpu++) {
		if (h->s->cpu[cpu].kicked && !h->cpu[cpu].withdrawn)
			return fail(h, "a kick got lost", cpu, 0);
		if (h->s->cpu[cpu].scheduled != h->cpu[cpu].running || h->s->cpu[cpu].linked != h->cpu[cpu].running)
			return fail(h, "a CPU does not run what it should", cpu, h->s->cpu[cpu].linked);
	}
	if (model_laxities(h, h->mode != MODE_ORDERED))
		return -1;
	if (model_schedule_is_global(h)) {
		h->abandoned = 0;
		return 0;
	}
	h->inversions++;
	return h->abandoned ? 0 : fail(h, "not the global schedule", h->clients, h->tasks);
}

/* The next instant at which something happens by itself, or LX_NEVER. */
static u64 next_instant(const struct host *h)
{
	u64 next = h->s->next_timer_at < h->s->next_due_at ? h->s->next_timer_at : h->s->next_due_at;

	for (u32 i = 0; i < h->tasks; i++)
		if (h->task[i].wakes_at < next)
			next = h->task[i].wakes_at;
	for (u32 cpu = 0; cpu < h->cpus; cpu++) {
		if (executes(h, cpu) && h->now + work_to_go(h, cpu) < next)
			next = h->now + work_to_go(h, cpu);
		if (h->cpu[cpu].changes_at < next)
			next = h->cpu[cpu].changes_at;
	}
	return next;
}

int host_run(struct host *h)
{
	for (;;) {
		int done = h->mode == MODE_ORDERED ? do_first(h) : do_any(h);
		u64 next;

		if (done < 0)
			return -1;
		if (!done) {
			/* Time goes on although something is under way. */
			if (h->mode != MODE_ORDERED && draw(h, 12) == 0)
				pass_time(h, 1);
			continue;
		}
		if (check_quiet(h))
			return -1;
		next = next_instant(h);
		if (next == LX_NEVER)
			break;
		pass_time(h, next - h->now);
	}
	for (u32 i = 0; i < h->tasks; i++)
		if (h->task[i].state != JOB_NONE)
			return fail(h, "a task got lost", i, h->task[i].state);
	return 0;
}
