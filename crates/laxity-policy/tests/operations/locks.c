// SPDX-License-Identifier: GPL-2.0-only
/* Lock discipline: a call writes of each CPU's state only what is under a lock that it holds. */
#include "host.h"

#include <string.h>

void locks_before(const struct host *h, struct written *before)
{
	memcpy(before->cpu, h->s->cpu, h->clients * sizeof(before->cpu[0]));
	memcpy(before->run_queue, h->s->run_queue, h->clients * sizeof(before->run_queue[0]));
	memcpy(before->tree, h->s->tree, h->clients * sizeof(before->tree[0]));
	memcpy(before->operation, h->s->operation, h->cpus * sizeof(before->operation[0]));
	memcpy(before->list, h->s->list, h->cpus * sizeof(before->list[0]));
	before->next_due = h->s->next_due_at;
	before->due_count = h->s->due_count;
}

int lists_kept(struct host *h, const struct written *before, u32 cpu)
{
	for (u32 i = 0; i < h->cpus; i++) {
		if (i == cpu)
			continue;
		if (memcmp(&h->s->list[i], &before->list[i], sizeof(before->list[0])))
			return fail(h, "list of another CPU", cpu, i);
		if (memcmp(&h->s->operation[i], &before->operation[i], sizeof(before->operation[0])))
			return fail(h, "operation of another CPU", cpu, i);
	}
	return 0;
}

int locks_kept(struct host *h, const struct written *before, u32 locks)
{
	u32 first = locks & 0xffff;
	u32 second = locks >> 16;

	if (locks == ONE_LOCK)
		return 0;
	if (second != LX_NO_LOCK && first >= second)
		return fail(h, "locks out of order", first, second);
	if (h->policy == &lx_policy_g_edf_mp && second != LX_NO_LOCK)
		return fail(h, "nested locks", first, second);
	for (u32 i = 0; i < h->clients; i++) {
		const struct lx_cpu *c = &h->s->cpu[i];

		if (i == first || i == second)
			continue;
		if (c->linked != before->cpu[i].linked || c->scheduled != before->cpu[i].scheduled ||
		    c->kicked != before->cpu[i].kicked || c->withdrawn != before->cpu[i].withdrawn)
			return fail(h, "CPU changed without its lock", i, locks);
		if (memcmp(&h->s->run_queue[i], &before->run_queue[i], sizeof(before->run_queue[0])) ||
		    memcmp(&h->s->tree[i], &before->tree[i], sizeof(before->tree[0])))
			return fail(h, "queue changed without its lock", i, locks);
	}
	return 0;
}
