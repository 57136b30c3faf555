// SPDX-License-Identifier: GPL-2.0-only
/* The native build of what hosts compute beside a policy. */
#include "native.h"

u64 lx_policy_bandwidth(u64 runtime_ns, u64 period_ns)
{
	return lx_admission_bandwidth(runtime_ns, period_ns);
}

u32 lx_policy_admits(const struct lx_admission *a, u64 before, u64 runtime_ns, u64 deadline_rel_ns, u64 period_ns)
{
	return lx_admission_admits(a, before, runtime_ns, deadline_rel_ns, period_ns);
}

void lx_policy_admission_replace(struct lx_admission *a, u64 before, u64 after)
{
	lx_admission_replace(a, before, after);
}

void lx_policy_reserve_charge(struct lx_reserve *r, u64 used_ns, u64 now)
{
	lx_reserve_charge(r, used_ns, now);
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

void lx_policy_server_init(struct lx_server *v, u64 start_at, u64 budget_ns, u64 period_ns)
{
	lx_server_init(v, start_at, budget_ns, period_ns);
}

u64 lx_policy_server_resize(struct lx_server *v, u64 budget_ns, u64 period_ns, u64 now)
{
	return lx_server_resize(v, budget_ns, period_ns, now);
}

u64 lx_policy_server_wants(struct lx_server *v, u64 budget_ns, u64 period_ns, u32 quiet, u64 now)
{
	return lx_server_wants(v, budget_ns, period_ns, quiet != 0, now);
}

u32 lx_policy_server_quiet(struct lx_server *v, u64 now)
{
	return (u32)lx_server_quiet(v, now);
}

void lx_policy_server_advance(struct lx_server *v, u64 now)
{
	lx_server_advance(v, now);
}

void lx_policy_server_charge(struct lx_server *v, u64 used_ns, u64 now)
{
	lx_server_charge(v, used_ns, now);
}

u32 lx_policy_server_goes_first(struct lx_server *v, u64 now)
{
	return (u32)lx_server_goes_first(v, now);
}

u64 lx_policy_server_left(struct lx_server *v, u64 now)
{
	return lx_server_left(v, now);
}

u64 lx_policy_server_next(struct lx_server *v, u64 now)
{
	return lx_server_next(v, now);
}

u32 lx_policy_balance_is_better(struct lx_load core, struct lx_load best)
{
	return (u32)lx_balance_is_better(core, best);
}

u32 lx_policy_balance_is_busier(struct lx_load from, struct lx_load best)
{
	return (u32)lx_balance_is_busier(from, best);
}

u32 lx_policy_balance_moves(struct lx_load from, struct lx_load to)
{
	return (u32)lx_balance_moves(from, to);
}

struct lx_standing_change lx_policy_standing_after(u32 standing, u32 event)
{
	return lx_standing_after(standing, event);
}

u32 lx_policy_standing_is_apart(u32 standing)
{
	return (u32)lx_standing_is_apart(standing);
}

u32 lx_policy_claim_first(struct lx_server *v, const struct lx_reserve *r, u64 now)
{
	return lx_claim_first(v, r, now);
}

u64 lx_policy_claim_ends(struct lx_server *v, const struct lx_reserve *r, u32 claim, u64 now)
{
	return lx_claim_ends(v, r, claim, now);
}

struct lx_spot lx_policy_spot_for_one_more(struct lx_spot best, struct lx_spot other)
{
	return lx_spot_for_one_more(best, other);
}

u32 lx_policy_background_is_better_off(struct lx_spot here, struct lx_spot best)
{
	return (u32)lx_background_is_better_off(here, best);
}

u32 lx_policy_background_gives(struct lx_load from, u32 waiting, u32 runs, struct lx_load to)
{
	return (u32)lx_background_gives(from, waiting, runs, to);
}

struct lx_spot lx_policy_spot_to_pull_from(struct lx_spot busiest, struct lx_spot other)
{
	return lx_spot_to_pull_from(busiest, other);
}

u32 lx_policy_virtual_before(u64 a, u64 b)
{
	return (u32)lx_virtual_before(a, b);
}

u64 lx_policy_virtual_after(u64 vtime, u64 had_ns, u32 weight)
{
	return lx_virtual_after(vtime, had_ns, weight);
}

u64 lx_policy_virtual_moved(u64 vtime, u64 from_vtime, u64 to_vtime)
{
	return lx_virtual_moved(vtime, from_vtime, to_vtime);
}

u64 lx_policy_virtual_waits(u64 vtime, u64 clock_vtime, u64 slice_ns)
{
	return lx_virtual_waits(vtime, clock_vtime, slice_ns);
}

u64 lx_policy_virtual_begins(u64 vtime, u64 clock_vtime)
{
	return lx_virtual_begins(vtime, clock_vtime);
}

u64 lx_policy_virtual_leads(u64 vtime, u64 clock_vtime)
{
	return lx_virtual_leads(vtime, clock_vtime);
}

u64 lx_policy_virtual_passes(u64 clock_vtime, u64 passed_ns)
{
	return lx_virtual_passes(clock_vtime, passed_ns);
}

u64 lx_policy_virtual_slice(u64 slice_ns, u32 waiting)
{
	return lx_virtual_slice(slice_ns, waiting);
}

u32 lx_policy_waits_too_long(u64 since_at, u64 now)
{
	return (u32)lx_waits_too_long(since_at, now);
}

u32 lx_policy_kernel_thread_is_bound(u32 of_kernel, u32 cpus)
{
	return (u32)lx_kernel_thread_is_bound(of_kernel, cpus);
}

u64 lx_policy_kernel_thread_left(const struct lx_reserve *first, u64 now)
{
	return lx_kernel_thread_left(first, now);
}

void lx_policy_kernel_thread_charge(struct lx_reserve *first, struct lx_reserve *background, u64 used_ns, u64 now)
{
	lx_kernel_thread_charge(first, background, used_ns, now);
}

u32 lx_policy_kernel_thread_has_turn(u32 bound)
{
	return (u32)lx_kernel_thread_has_turn(bound);
}
