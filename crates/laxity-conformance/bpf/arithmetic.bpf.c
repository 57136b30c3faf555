// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hosts compute beside a policy (admission.h, reserve.h, deferrable.h, claims.h, background.h, virtual_time.h), for the conformance
 * rig: numbers in, numbers out.
 */
#include "admission.h"
#include "background.h"
#include "claims.h"
#include "kernel_threads.h"
#include "standing.h"
#include "virtual_time.h"
#include "waiting.h"

char _license[] __attribute__((section("license"), used)) = "GPL";

struct lx_rig_numbers {
	u64 in[6];
	u64 out[4];
};

__attribute__((section("syscall"), used)) int admission(struct lx_rig_numbers *n)
{
	struct lx_admission a = {.limit = n->in[0], .total = n->in[1], .cpus = (u32)n->in[2]};

	n->out[0] = lx_admission_admits(&a, 0, n->in[3], n->in[4], n->in[5]);
	n->out[1] = n->out[0] == LX_ADMITTED ? lx_admission_bandwidth(n->in[3], n->in[5]) : 0;
	lx_admission_replace(&a, 0, n->out[1]);
	n->out[2] = a.total;
	return 0;
}

__attribute__((section("syscall"), used)) int reserve(struct lx_rig_numbers *n)
{
	struct lx_reserve r = {.period_start_at = n->in[0], .period_ns = n->in[1], .runtime_ns = n->in[2]};

	lx_reserve_charge(&r, n->in[3], n->in[4]);
	n->out[0] = (u64)lx_reserve_admits(&r, n->in[5]);
	n->out[1] = lx_reserve_left(&r, n->in[5]);
	n->out[2] = lx_reserve_next(&r, n->in[5]);
	return 0;
}

/* A server of budget in[0] every in[1] from 0 on is resized to in[2] every in[3] at in[4] / 4, and charged in[4] / 2 at in[4]. */
__attribute__((section("syscall"), used)) int server(struct lx_rig_numbers *n)
{
	struct lx_server v;

	lx_server_init(&v, 0, n->in[0], n->in[1]);
	if (n->in[3])
		lx_server_resize(&v, n->in[2], n->in[3], n->in[4] / 4);
	lx_server_charge(&v, n->in[4] / 2, n->in[4]);
	n->out[0] = (u64)lx_server_goes_first(&v, n->in[5]);
	n->out[1] = lx_server_left(&v, n->in[5]);
	n->out[2] = lx_server_next(&v, n->in[5]);
	return 0;
}

/*
 * A server of budget in[0] every in[1] from 0 on; from when on it has in[2] every in[3], wanted at in[4]; and at
 * in[5], when the core is quiet, whether it has it then, for how long background work goes first, and when. At an odd
 * in[4] the core is quiet, too.
 */
__attribute__((section("syscall"), used)) int wanted(struct lx_rig_numbers *n)
{
	struct lx_server v;

	lx_server_init(&v, 0, n->in[0], n->in[1]);
	n->out[0] = lx_server_wants(&v, n->in[2], n->in[3], n->in[4] & 1, n->in[4]);
	n->out[1] = (u64)lx_server_quiet(&v, n->in[5]);
	n->out[2] = lx_server_left(&v, n->in[5]);
	n->out[3] = lx_server_next(&v, n->in[5]);
	return 0;
}

__attribute__((section("syscall"), used)) int balance(struct lx_rig_numbers *n)
{
	struct lx_load a = {.speed = (u32)n->in[0], .tasks = (u32)n->in[1]};
	struct lx_load b = {.speed = (u32)n->in[2], .tasks = (u32)n->in[3]};

	n->out[0] = (u64)lx_balance_is_better(a, b);
	n->out[1] = (u64)lx_balance_is_busier(a, b);
	n->out[2] = (u64)lx_balance_moves(a, b);
	return 0;
}

/*
 * A server of in[0] in in[1] and a reserve that leaves in[2] of in[3]: both charged for half of the time to in[4], asked at in[5],
 * and again when the answer may be another one.
 */
__attribute__((section("syscall"), used)) int claims(struct lx_rig_numbers *n)
{
	struct lx_reserve r = {.period_start_at = 0, .period_ns = n->in[3], .runtime_ns = n->in[2]};
	struct lx_server v;

	lx_server_init(&v, 0, n->in[0], n->in[1]);
	lx_server_charge(&v, n->in[4] / 2, n->in[4]);
	lx_reserve_charge(&r, n->in[4] / 2, n->in[4]);
	n->out[0] = lx_claim_first(&v, &r, n->in[5]);
	n->out[1] = lx_claim_without_server(&r, n->in[5]);
	n->out[2] = lx_claim_ends(&v, &r, (u32)n->out[0], n->in[5]);
	return 0;
}

/* A number that stands at in[0], after in[2] events, each of four bits of in[1]. */
__attribute__((section("syscall"), used)) int standing(struct lx_rig_numbers *n)
{
	struct lx_standing_change change = {.standing = (u32)n->in[0]};
	u64 events = n->in[1];
	u64 then = 0;
	u32 i;

	for (i = 0; i < 16; i++) {
		if (i < n->in[2]) {
			change = lx_standing_after(change.standing, events & 15);
			then = then << 4 | change.then;
		}
		events >>= 4;
	}
	n->out[0] = change.standing;
	n->out[1] = then;
	n->out[2] = (u64)lx_standing_is_apart(change.standing);
	return 0;
}

/* Spots of CPUs 0 and 1, with speeds in[0], in[2] and tasks in[1], in[3]; in[4]: how many wait on the first; in[5]: whether one runs. */
__attribute__((section("syscall"), used)) int background(struct lx_rig_numbers *n)
{
	struct lx_spot a = {.cpu = 0, .load = {.speed = (u32)n->in[0], .tasks = (u32)n->in[1]}};
	struct lx_spot b = {.cpu = 1, .load = {.speed = (u32)n->in[2], .tasks = (u32)n->in[3]}};

	n->out[0] = lx_spot_for_one_more(lx_spot_for_one_more(LX_NOWHERE, a), b).cpu;
	n->out[1] = lx_spot_to_pull_from(lx_spot_to_pull_from(LX_NOWHERE, a), b).cpu;
	n->out[2] = (u64)lx_background_is_better_off(a, b);
	n->out[3] = (u64)lx_background_gives(a.load, (u32)n->in[4], n->in[5] != 0, b.load);
	return 0;
}

/* A task with virtual time in[0] has had the CPU for in[1] at weight in[2], and goes from a queue at in[3] to one at in[4]; slices of
 * in[5]. */
__attribute__((section("syscall"), used)) int virtual_time(struct lx_rig_numbers *n)
{
	u64 vtime = lx_virtual_after(n->in[0], n->in[1], (u32)n->in[2]);

	vtime = lx_virtual_moved(vtime, n->in[3], n->in[4]);
	n->out[0] = vtime;
	n->out[1] = lx_virtual_waits(vtime, n->in[4], n->in[5]);
	n->out[2] = lx_virtual_begins(vtime, n->in[4]);
	n->out[3] = (u64)lx_virtual_before(vtime, n->in[4]);
	return 0;
}

/* The limits: a task at in[0] in a queue whose clock shows in[1], in[2] ns later; in[3] tasks wait, slices of in[4]. */
__attribute__((section("syscall"), used)) int virtual_limits(struct lx_rig_numbers *n)
{
	n->out[0] = lx_virtual_leads(n->in[0], n->in[1]);
	n->out[1] = lx_virtual_passes(n->in[1], n->in[2]);
	n->out[2] = lx_virtual_slice(n->in[4], (u32)n->in[3]);
	n->out[3] = (u64)lx_waits_too_long(n->in[0], n->in[1]);
	return 0;
}

/* Of in[1] in each in[0] for bound kernel threads: in[2] until in[3], and what is so at in[4] of both, and of a thread. */
__attribute__((section("syscall"), used)) int kernel_threads(struct lx_rig_numbers *n)
{
	struct lx_reserve first = {.period_ns = n->in[0], .runtime_ns = n->in[1]};
	struct lx_reserve background = {.period_ns = n->in[0] * 3, .runtime_ns = n->in[0] * 2};

	lx_kernel_thread_charge(&first, &background, n->in[2], n->in[3]);
	n->out[0] = lx_kernel_thread_left(&first, n->in[4]);
	n->out[1] = lx_reserve_left(&background, n->in[4]);
	n->out[2] = (u64)lx_kernel_thread_is_bound((u32)n->in[5] & 1, (u32)n->in[5]);
	n->out[3] = (u64)lx_kernel_thread_has_turn((u32)n->in[5] & 1);
	return 0;
}
