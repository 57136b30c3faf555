/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns. Where keys change while time passes (LX_TURNS), the queue is told when that can be, and may give a job another key:
 * one that begins to compete for a CPU (competes), one that a CPU no longer runs (leaves), and, when anything else happens, all that
 * wait (turn). Both invariants hold for the keys that were given last. For other queues all of this is nothing.
 *
 * Part of linking.h, once for each policy: it stands where links and preemption are known, and its names are theirs.
 */
LX_INLINE void LX_P(competes)(struct lx_state *s, u32 task, u64 now)
{
#ifdef LX_TURNS
	LX_Q(competes)(s, task, now);
#else
	(void)s, (void)task, (void)now;
#endif
}

LX_INLINE void LX_P(leaves)(struct lx_state *s, u32 cpu, u32 task, u64 now)
{
#ifdef LX_TURNS
	if (task != LX_NONE && lx_cpu(s, cpu)->scheduled != task)
		LX_Q(leaves)(s, task, now);
#else
	(void)s, (void)cpu, (void)task, (void)now;
#endif
}

LX_INLINE void LX_P(turn)(struct lx_state *s, u64 now)
{
#ifdef LX_TURNS
	LX_Q(turn)(s, now);
#else
	(void)s, (void)now;
#endif
}

/* Those whose turn has come are linked. */
LX_INLINE void LX_P(preempt_turned)(struct lx_state *s)
{
#ifdef LX_TURNS
	LX_P(preempt_all)(s);
#else
	(void)s;
#endif
}

/* The timer is set for the next turn. */
LX_INLINE void LX_P(set_timer)(struct lx_state *s)
{
#ifdef LX_TURNS
	u64 before_at = s->next_timer_at;

	LX_Q(next_turn)(s);
	if (s->next_timer_at < before_at && s->next_timer_at < s->next_due_at)
		lx_act(s, LX_ARM, s->timer_cpu)->due_at = s->next_timer_at;
#endif
	LX_P(check)(s);
}

/* The end of an entry point. */
LX_INLINE void LX_P(settle)(struct lx_state *s)
{
	LX_P(preempt_turned)(s);
	LX_P(set_timer)(s);
}

#ifdef LX_TURNS
/* Time has passed, to s->next_timer or beyond, and nothing else has happened. */
LX_FN void LX_P(timer)(struct lx_state *s, u32 cpu, u64 now)
{
	(void)cpu;
	s->actions = 0;
	/* It has gone off: whatever is next has to be asked for. */
	s->next_timer_at = LX_NEVER;
	LX_P(turn)(s, now);
	LX_P(settle)(s);
}
#endif
