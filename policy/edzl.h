/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * edzl: earliest deadline first until zero laxity (Cho, Lee, Ahn, Lin 2002; Baker, Cirinei, Bertogna 2008): linking core with
 * a binary heap, and a timer for the first laxity to run out (queues/laxities.h).
 *
 * The laxity of a job at t is its deadline less t less the budget that it has left, so nothing is known of a job but its
 * budget, which is the WCET. A job whose laxity runs out while it waits goes before all that have laxity left, to its end;
 * among such jobs goes first whose laxity ran out first. Its key is that instant, which is not after the present, while the
 * deadlines of those with laxity are. The laxity of a job that runs does not change.
 *
 * EDZL meets all deadlines wherever global EDF does, if no job takes longer than its budget: there no job that waits
 * has its laxity run out before it runs, and until then the two decide the same.
 */
#include "queues/laxities.h"

#define LX_POLICY lx_edzl
#define LX_QUEUE lx_laxities
#define LX_TURNS
#include "linking.h"
#ifdef LX_ALONE
#define LX_TIMER
#endif
