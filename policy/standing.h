/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a task stands between what the host sees of it and what the policy knows of it. The policy hears of the end of a job only
 * from the CPU that has it scheduled (native.h: complete, suspend); a task may sleep or leave where the policy had not put it,
 * and then its number and its job stay until that CPU decides.
 *
 *              take      come             go         turn                told            leave
 *   FREE       ENTERED
 *   ENTERED              PRESENT, arrive                                                  FREE, free
 *   PRESENT                               ABSENT                                          DEPARTED
 *   ABSENT               PRESENT                     DROPPING, suspend                    DEPARTED
 *   DROPPING             RETURNING                                       BLOCKED          DEPARTED
 *   RETURNING                             DROPPING                       PRESENT, wake    DEPARTED
 *   BLOCKED              PRESENT, wake                                                    FREE, free
 *   DEPARTED                                         DEPARTED, suspend   FREE, free
 *
 * Behind a comma: what the host does then. After suspend the policy has been told: at once under one lock; where locks are several,
 * other events may come in between.
 */
#ifndef LX_STANDING_H
#define LX_STANDING_H

#include "seam.h"

enum lx_standing {
	/* No task has this number. */
	LX_FREE = 0,
	/* Admitted; its first job has yet to arrive. */
	LX_ENTERED = 1,
	/* The policy has a job of it: running, ready, or waiting for its release. */
	LX_PRESENT = 2,
	/* It sleeps; the policy knows. */
	LX_BLOCKED = 3,
	/* It sleeps, but the policy has its job still: it stopped where the policy had not put it. */
	LX_ABSENT = 4,
	/* It has left; the policy has its job still. The number becomes free when that job's turn comes. */
	LX_DEPARTED = 5,
	/* It sleeps, and the policy is being told. */
	LX_DROPPING = 6,
	/* The policy is being told that it sleeps; it does not any more. */
	LX_RETURNING = 7,
};

/* What happens to a task, as the host sees it. */
enum lx_standing_event {
	/* It gets the number. */
	LX_STANDING_TAKE = 0,
	/* It is runnable; it sleeps. */
	LX_STANDING_COME = 1,
	LX_STANDING_GO = 2,
	/* The CPU decides that has it scheduled. */
	LX_STANDING_TURN = 3,
	/* The policy has been told to suspend it. */
	LX_STANDING_TOLD = 4,
	/* It is no task of the instance any more. */
	LX_STANDING_LEAVE = 5,
};

/* What the host does then. */
enum lx_standing_then {
	LX_THEN_NOTHING = 0,
	/* Its first job arrives: arrive. */
	LX_THEN_ARRIVE = 1,
	/* It wakes up: resume or arrive, as lx_wake_up says. */
	LX_THEN_WAKE = 2,
	/* Its job goes: suspend, after which the policy has been told. */
	LX_THEN_SUSPEND = 3,
	/* The number is given back. */
	LX_THEN_FREE = 4,
};

struct lx_standing_change {
	u32 standing;
	u32 then;
};

#define LX_STANDS(to, what) ((struct lx_standing_change){.standing = (to), .then = (what)})

LX_INLINE struct lx_standing_change lx_standing_come(u32 standing)
{
	if (standing == LX_ENTERED)
		return LX_STANDS(LX_PRESENT, LX_THEN_ARRIVE);
	if (standing == LX_BLOCKED)
		return LX_STANDS(LX_PRESENT, LX_THEN_WAKE);
	if (standing == LX_ABSENT)
		return LX_STANDS(LX_PRESENT, LX_THEN_NOTHING);
	return LX_STANDS(standing == LX_DROPPING ? LX_RETURNING : standing, LX_THEN_NOTHING);
}

LX_INLINE struct lx_standing_change lx_standing_go(u32 standing)
{
	if (standing == LX_PRESENT)
		return LX_STANDS(LX_ABSENT, LX_THEN_NOTHING);
	return LX_STANDS(standing == LX_RETURNING ? LX_DROPPING : standing, LX_THEN_NOTHING);
}

LX_INLINE struct lx_standing_change lx_standing_turn(u32 standing)
{
	if (standing == LX_ABSENT)
		return LX_STANDS(LX_DROPPING, LX_THEN_SUSPEND);
	return LX_STANDS(standing, standing == LX_DEPARTED ? LX_THEN_SUSPEND : LX_THEN_NOTHING);
}

LX_INLINE struct lx_standing_change lx_standing_told(u32 standing)
{
	if (standing == LX_DROPPING)
		return LX_STANDS(LX_BLOCKED, LX_THEN_NOTHING);
	if (standing == LX_RETURNING)
		return LX_STANDS(LX_PRESENT, LX_THEN_WAKE);
	if (standing == LX_DEPARTED)
		return LX_STANDS(LX_FREE, LX_THEN_FREE);
	return LX_STANDS(standing, LX_THEN_NOTHING);
}

LX_INLINE struct lx_standing_change lx_standing_leave(u32 standing)
{
	if (standing == LX_ENTERED || standing == LX_BLOCKED)
		return LX_STANDS(LX_FREE, LX_THEN_FREE);
	return LX_STANDS(standing == LX_FREE ? LX_FREE : LX_DEPARTED, LX_THEN_NOTHING);
}

/* Where the task stands after the event, and what the host does then. What cannot happen there changes nothing. */
LX_INLINE struct lx_standing_change lx_standing_after(u32 standing, u32 event)
{
	switch (event) {
	case LX_STANDING_TAKE:
		return LX_STANDS(standing == LX_FREE ? LX_ENTERED : standing, LX_THEN_NOTHING);
	case LX_STANDING_COME:
		return lx_standing_come(standing);
	case LX_STANDING_GO:
		return lx_standing_go(standing);
	case LX_STANDING_TURN:
		return lx_standing_turn(standing);
	case LX_STANDING_TOLD:
		return lx_standing_told(standing);
	default:
		return lx_standing_leave(standing);
	}
}

/* Whether the policy has to be told, at its turn, that the task sleeps or has left. */
LX_INLINE int lx_standing_is_apart(u32 standing)
{
	return standing >= LX_ABSENT;
}

#endif
