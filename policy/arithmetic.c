// SPDX-License-Identifier: GPL-2.0-only
/* The native build of what hosts compute beside a policy. */
#include "native.h"

u64 lx_policy_bandwidth(u64 runtime, u64 period)
{
	return lx_admission_bandwidth(runtime, period);
}

u32 lx_policy_admits(const struct lx_admission *a, u64 before, u64 runtime, u64 deadline_rel, u64 period)
{
	return lx_admission_admits(a, before, runtime, deadline_rel, period);
}

void lx_policy_admission_replace(struct lx_admission *a, u64 before, u64 after)
{
	lx_admission_replace(a, before, after);
}

void lx_policy_reserve_charge(struct lx_reserve *r, u64 used, u64 now)
{
	lx_reserve_charge(r, used, now);
}

u32 lx_policy_reserve_admits(const struct lx_reserve *r, u64 now)
{
	return (u32)lx_reserve_admits(r, now);
}

u64 lx_policy_reserve_left(const struct lx_reserve *r, u64 now)
{
	return lx_reserve_left(r, now);
}

u64 lx_policy_reserve_next(const struct lx_reserve *r, u64 now)
{
	return lx_reserve_next(r, now);
}
