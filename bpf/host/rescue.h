/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs that others keep from every CPU for too long (policy/waiting.h) have one for a moment: ticks find them, a dispatch lets them. */
#ifndef LX_HOST_RESCUE_H
#define LX_HOST_RESCUE_H

#include "take_up.h"
#include "waiting.h"

/* How many numbers a tick looks at. */
#define LX_LOOKED_AT 16

/* A tick: whether a job has waited too long, which the next dispatch of this CPU lets run. */
static __noinline int lx_look_for_waiting(struct lx_instance *in, u64 now)
{
	u32 first = LX_READ(in->rescue_next);
	u32 i;

	bpf_for(i, 0, LX_LOOKED_AT) {
		struct lx_slot *slot = lx_slot(in, first + i);

		/* The number goes by way of memory: what the loop carries, the verifier would follow. */
		if (LX_READ(slot->custody) == LX_CUSTODY_HERE && LX_READ(slot->standing) == LX_PRESENT &&
		    lx_waits_too_long(LX_READ(slot->waits_since_at), now))
			LX_WRITE(in->rescued, first + i);
	}
	LX_WRITE(in->rescue_next, first + LX_LOOKED_AT < in->state.config.tasks ? first + LX_LOOKED_AT : 0);
	return LX_READ(in->rescued) != LX_NONE;
}

/* Whether the job that has been let in goes on, as its moment is not over: what it has sent away asks for the CPU at once. */
static __always_inline bool lx_goes_on_for_a_moment(struct lx_host_cpu *c, struct task_struct *ran, u64 now)
{
	if (!ran || now >= c->rescue_ends_at || c->running == LX_NONE || c->running != c->rescued)
		return false;
	scx_bpf_task_set_slice(ran, LX_MOMENT);
	c->gave_way = LX_OTHER_RESERVE;
	return true;
}

/* A dispatch: whether such a job takes the CPU now. One that may not come here goes to the CPU where it is. */
static __noinline bool lx_rescue(struct lx_instance *in, struct lx_host_cpu *c, u32 cpu, u64 now)
{
	struct task_struct *p;
	bool may_run, runs = false;
	u32 index, own;

	if (LX_READ(in->rescued) == LX_NONE)
		return false;
	index = __sync_lock_test_and_set(&in->rescued, LX_NONE);
	if (index == LX_NONE)
		return false;
	p = bpf_task_from_pid(lx_slot(in, index)->pid);
	if (!p)
		return false;
	own = scx_bpf_task_cpu(p);
	may_run = lx_may_run_on(p, cpu);
	if (!lx_is_on_cpu(p) && lx_give(lx_slot(in, index), may_run ? cpu : own)) {
		runs = may_run;
		if (runs) {
			c->gave_way = LX_OTHER_RESERVE;
			c->rescued = index;
			c->rescue_ends_at = now + LX_MOMENT;
		}
		scx_bpf_dsq_insert(p, runs ? SCX_DSQ_LOCAL : SCX_DSQ_LOCAL_ON | own, LX_MOMENT, SCX_ENQ_PREEMPT);
		LX_COUNT(rescued);
	}
	bpf_task_release(p);
	return runs;
}

#endif
