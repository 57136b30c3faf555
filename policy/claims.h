/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which work has a CPU for which both wait, real-time work and background work: the order of the server (deferrable.h), of the
 * reserve (reserve.h) and of real-time work.
 *
 * 1. Background work, as long as the CPU's server has a budget.
 * 2. Background work, if real-time work has had its share of the window: the reserve.
 * 3. Real-time work.
 *
 * Where only one kind is there, that has the CPU. The host charges the server and the reserve for what runs, and asks again
 * when anything has come or gone, and at the instant of lx_claim_ends: the simulator, and the kernel where CPUs have servers
 * (bpf/host/servers.h). Where they have none, the kernel asks at ticks: its reserve is as coarse as sched_rt_runtime_us is.
 */
#ifndef LX_CLAIMS_H
#define LX_CLAIMS_H

#include "deferrable.h"

enum lx_claim {
	LX_CLAIM_REAL_TIME = 0,
	/* Background work, by its server. */
	LX_CLAIM_SERVER = 1,
	/* Background work, by the reserve. */
	LX_CLAIM_RESERVE = 2,
};

/* Which work goes first, where both wait, on a CPU that has no server. */
LX_INLINE u32 lx_claim_without_server(const struct lx_reserve *r, u64 now)
{
	return lx_reserve_admits(r, now) ? LX_CLAIM_REAL_TIME : LX_CLAIM_RESERVE;
}

/* The same for a CPU that has one. */
LX_INLINE u32 lx_claim_first(struct lx_server *v, const struct lx_reserve *r, u64 now)
{
	return lx_server_goes_first(v, now) ? LX_CLAIM_SERVER : lx_claim_without_server(r, now);
}

/*
 * The first instant after `now` at which lx_claim_first may answer something else than `claim`, which it has just answered, if what
 * goes first runs until then without a break; LX_NEVER for never.
 */
LX_INLINE u64 lx_claim_ends(struct lx_server *v, const struct lx_reserve *r, u32 claim, u64 now)
{
	u64 server_ns, left_ns, again_ns;

	if (claim == LX_CLAIM_SERVER) {
		left_ns = lx_server_left(v, now);
		return left_ns == LX_NEVER ? LX_NEVER : now + left_ns;
	}
	server_ns = lx_server_next(v, now);
	if (claim == LX_CLAIM_RESERVE) {
		again_ns = lx_reserve_next(r, now);
	} else {
		left_ns = lx_reserve_left(r, now);
		again_ns = left_ns == LX_NEVER ? LX_NEVER : now + left_ns;
	}
	return server_ns < again_ns ? server_ns : again_ns;
}

#endif
