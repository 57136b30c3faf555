// SPDX-License-Identifier: GPL-2.0-only
/* CPUs that come and go. */
#include "calls.h"

/* Something above the policy takes the CPU, at once or after what its job has ended with. */
int is_taken(struct host *h, u32 cpu)
{
	struct model_cpu *c = &h->cpu[cpu];
	u32 by;

	if (model_laxities(h, 0))
		return -1;
	if (c->running != LX_NONE)
		h->task[c->running].running_on = LX_NONE;
	c->running = LX_NONE;
	c->executing = 0;
	c->must_reschedule = 0;
	c->withdrawn = 1;
	c->changes_at = h->now + 1 + draw(h, 12);
	h->withdrawn++;
	h->notices++;
	/* Another CPU that has nothing under way may be the one that says so. */
	by = (u32)draw(h, h->cpus);
	if (goes_on(h, by))
		by = cpu;
	return CALL(h, by, lock_of(h, LX_EVENT_RESCHEDULE, cpu), withdraw(h->s, cpu, by, h->now));
}

int is_back(struct host *h, u32 cpu)
{
	struct model_cpu *c = &h->cpu[cpu];

	c->withdrawn = 0;
	c->must_reschedule = 1;
	c->changes_at = h->now < h->horizon ? h->now + 1 + draw(h, 30) : LX_NEVER;
	h->notices++;
	return CALL(h, cpu, lock_of(h, LX_EVENT_RESCHEDULE, cpu), restore(h->s, cpu, h->now));
}

/* CPUs that are taken now, or come back. */
void changes_due(struct host *h)
{
	for (u32 cpu = 0; cpu < h->clients; cpu++) {
		struct model_cpu *c = &h->cpu[cpu];

		if (c->changes_at > h->now)
			continue;
		c->changes_at = LX_NEVER;
		add_event(h, cpu, c->withdrawn ? EVENT_RESTORE : EVENT_WITHDRAW, 0);
	}
}
