/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A deferrable server per CPU (policy/deferrable.h), for policies that define LX_SERVERS: under the lock of the CPU's instance,
 * with a timer for the instant at which policy/claims.h says that other work may go first.
 */
#ifndef LX_HOST_SERVERS_H
#define LX_HOST_SERVERS_H

#include "act.h"
#include "claims.h"

/*
 * Functions for the verifier: what takes a CPU's number rather than pointers (NAME_on) is global, and gone through once, not for each
 * way that leads there.
 */

/* Time of background work, in ns, by why it had the CPU (enum lx_other); per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct lx_background_times);
} background_times SEC(".maps");

static __always_inline void lx_count_time(u32 why, u64 used_ns)
{
	u32 zero = 0;
	struct lx_background_times *times = bpf_map_lookup_elem(&background_times, &zero);

	if (!times)
		return;
	if (why == LX_OTHER_SERVER)
		times->server_ns += used_ns;
	else if (why == LX_OTHER_RESERVE)
		times->reserve_ns += used_ns;
	else
		times->background_ns += used_ns;
}

/* What runs on the CPU has had it until now: background work is charged to the server, whether or not it needed
 * it. */
int __noinline lx_charge_background_on(u32 cpu, u64 now)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);
	u64 used_ns;

	if (!c || !in)
		return 0;
	used_ns = now > c->charged_at ? now - c->charged_at : 0;
	if (!c->background)
		return 0;
	bpf_spin_lock(&in->lock);
	lx_server_charge(&c->server, used_ns, now);
	bpf_spin_unlock(&in->lock);
	c->charged_at = now;
	lx_count_time(c->gave_way, used_ns);
	return 0;
}

static __always_inline int lx_charge_background(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	return lx_charge_background_on(lx_kernel_cpu(in, c->index), now);
}

/* Under the instance's lock: whether no job of its tasks is pending. */
static __always_inline bool lx_is_quiet(struct lx_instance *in, struct lx_host_cpu *c)
{
	return lx_cpu(&in->state, c->index)->linked == LX_NONE && in->state.ready_count == 0;
}

/* The CPU has decided, and has no job. */
int __noinline lx_note_quiet_on(u32 cpu, u64 now)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);
	u32 zero = 0;
	struct lx_background_times *times = bpf_map_lookup_elem(&background_times, &zero);
	bool quiet;

	if (!c || !in)
		return 0;
	bpf_spin_lock(&in->lock);
	quiet = lx_is_quiet(in, c);
	if (quiet)
		lx_server_quiet(&c->server, now);
	bpf_spin_unlock(&in->lock);
	if (quiet && times)
		times->quiet_at = now;
	return 0;
}

static __always_inline int lx_note_quiet(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	return lx_note_quiet_on(lx_kernel_cpu(in, c->index), now);
}

/* Why background work goes before real-time work on the CPU: its server, the reserve; or it does not
 * (LX_OTHER_IDLE). */
u32 __noinline lx_why_first_on(u32 cpu, u64 now)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);
	u32 claim;

	if (!c || !in)
		return LX_OTHER_IDLE;
	bpf_spin_lock(&in->lock);
	claim = lx_claim_first(&c->server, &c->reserve, now);
	bpf_spin_unlock(&in->lock);
	return claim == LX_CLAIM_SERVER ? LX_OTHER_SERVER : claim == LX_CLAIM_RESERVE ? LX_OTHER_RESERVE : LX_OTHER_IDLE;
}

static __always_inline u32 lx_why_first(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	return lx_why_first_on(lx_kernel_cpu(in, c->index), now);
}

/*
 * When this CPU is to ask again which work goes first (lx_claim_ends), while background work runs here that goes first, or real-time
 * work. LX_NEVER while that is real-time work only because nothing waits for the server: background work that comes kicks the CPU.
 */
u64 __noinline lx_claim_ends_on(u32 cpu, u32 background, u64 now)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);
	u64 ends_at = LX_NEVER;
	u32 claim;

	if (!c || !in)
		return LX_NEVER;
	bpf_spin_lock(&in->lock);
	claim = lx_claim_first(&c->server, &c->reserve, now);
	if (claim != (background ? LX_CLAIM_REAL_TIME : LX_CLAIM_SERVER))
		ends_at = lx_claim_ends(&c->server, &c->reserve, claim, now);
	bpf_spin_unlock(&in->lock);
	/* Its turn has ended already. */
	return background && claim == LX_CLAIM_REAL_TIME ? now : ends_at;
}

/* Background work goes before real-time work here from now on, by its server or by the reserve. */
static __always_inline void lx_watch_turn(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	lx_set_timer(c, lx_claim_ends_on(lx_kernel_cpu(in, c->index), 1, now));
}

/* A job runs here from `now` on: until its budget is used up, or background work that may wait goes first. */
int __noinline lx_watch_budget_on(u32 cpu, u64 now)
{
	struct lx_host_cpu *c = lx_host_cpu(cpu);
	struct lx_instance *in = lx_instance_of(c);
	struct lx_state *s;
	u64 due_at = LX_NEVER;
	u64 ends_at;

	if (!c || !in)
		return 0;
	s = &in->state;
	ends_at = lx_claim_ends_on(cpu, 0, now);
	if (s->config.budget_mode != LX_BUDGET_OFF)
		due_at = now + LX_READ(lx_task(s, c->running)->budget_left_ns);
	lx_set_timer(c, ends_at < due_at ? ends_at : due_at);
	return 0;
}

static __always_inline int lx_watch_budget(struct lx_instance *in, struct lx_host_cpu *c, u64 now)
{
	return lx_watch_budget_on(lx_kernel_cpu(in, c->index), now);
}

#endif
