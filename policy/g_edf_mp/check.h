/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * g-edf-mp: what the end of every entry point has, in a build with LX_CHECKED. It looks at clients and the DSP's copy together,
 * as if all locks were held: such a build has calls come one after the other. O(m).
 */
#ifndef LX_G_EDF_MP_CHECK_H
#define LX_G_EDF_MP_CHECK_H

#include "dsp.h"

#ifdef LX_CHECKED
/*
 * A client is linked to what the DSP has for it, or has given that up: then its message is on the way. It has been asked to
 * reschedule if it runs anything else, and what it is to run has not ended and is on no other client.
 */
LX_FN void lx_g_edf_mp_check_client(struct lx_state *s, u32 cpu)
{
	u32 copy = lx_dsp_copy(s, cpu);
	u32 linked = lx_cpu(s, cpu)->linked;

	LX_ASSERT(linked == copy || (linked == LX_NONE && (lx_cpu(s, cpu)->withdrawn || lx_flight(s, copy)->ended)));
	if (lx_cpu(s, cpu)->withdrawn)
		LX_ASSERT(linked == LX_NONE && lx_cpu(s, cpu)->scheduled == LX_NONE);
	LX_ASSERT(linked == lx_cpu(s, cpu)->scheduled || lx_cpu(s, cpu)->kicked);
	if (linked != LX_NONE) {
		LX_ASSERT(!lx_flight(s, linked)->ended);
		LX_ASSERT(!lx_is_scheduled_beside(s, cpu, linked));
	}
}

/* The DSP's entry for a client: heap and task agree, and no client yields before the heap's first. */
LX_FN void lx_g_edf_mp_check_copy(struct lx_state *s, u32 cpu)
{
	struct lx_cpu_entry entry = *lx_cpu_leaf(s, cpu);
	u32 task = lx_entry_task(entry);

	if (lx_cpu(s, cpu)->absent) {
		LX_ASSERT(entry.key == 0 && entry.tie == 0);
		return;
	}
	LX_ASSERT(lx_entry_cpu(entry) == cpu);
	LX_ASSERT(!lx_entry_yields(entry, lx_cpu_first(s)));
	if (task != LX_NONE) {
		LX_ASSERT(lx_task(s, task)->linked_on == cpu);
		LX_ASSERT(lx_task(s, task)->place == LX_PLACE_NOWHERE);
		LX_ASSERT(lx_task(s, task)->key == entry.key);
	}
}

LX_FN void lx_g_edf_mp_check(struct lx_state *s)
{
	u32 top = lx_binomial_heap_top(s);
	u32 cpu;

	for (cpu = 0; cpu < s->cpus_linkable; cpu++) {
		lx_g_edf_mp_check_client(s, cpu);
		lx_g_edf_mp_check_copy(s, cpu);
	}
	LX_ASSERT(lx_cpu(s, s->config.dedicated_cpu)->scheduled == LX_NONE);
	/* Invariants of dsp.h, which an operation in progress has yet to bring about: what is ready first preempts nothing. */
	if (lx_dsp(s)->phase == LX_DSP_IDLE && top != LX_NONE) {
		LX_ASSERT(lx_task(s, top)->linked_on == LX_NONE);
		LX_ASSERT(!lx_preempts(lx_task(s, top)->key, top, lx_cpu_first(s)));
	}
}
#else
LX_INLINE void lx_g_edf_mp_check(struct lx_state *s)
{
	(void)s;
}
#endif

#endif
