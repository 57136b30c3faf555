/* SPDX-License-Identifier: GPL-2.0-only */
/* The native build's way in: an instance in memory of the caller's, and each policy as a table of entry points. */
#ifndef LX_NATIVE_H
#define LX_NATIVE_H

#include <stddef.h>

#include "admission.h"
#include "background.h"
#include "claims.h"
#include "kernel_threads.h"
#include "policies.h"
#include "reserve.h"
#include "standing.h"
#include "state.h"
#include "virtual_time.h"
#include "waiting.h"

/*
 * The entry points of a policy, and when a host calls each: bpf/host and crates/laxity-sim both keep to it. A call leaves its
 * actions in s->action[0 .. s->actions), or with LX_LISTS, where there are several locks (lock_of), in s->list[cpu], where
 * `cpu` makes the call; of release_group that is the group's, of withdraw `by`. The host carries them out before its next call.
 *
 *   time, work and timers     take_due, release_group and timer at the instants that LX_ARM says; consume (below)
 *   a task comes              enter, then arrive with its first job
 *   a job ends on a CPU       consume; then complete, suspend or exhaust; then reschedule on that CPU: or consume, then finish
 *   a CPU was kicked          consume, then reschedule
 *   a CPU is taken            as for a job that ends, without reschedule, if one has; then withdraw
 *   it is there again         restore, then reschedule
 *   LX_STEP, LX_NOTIFY        step, message
 *
 * An entry point that a policy lacks is null, which the comment says.
 */
struct lx_policy {
	const char *name;
	/*
	 * Not 0: the policy looks at what is left of budgets (lx_task.budget_left) whether or not they are enforced, so consume has to
	 * be called in any case.
	 */
	u32 counts_use;
	/* Once, before all else. The configuration and the parameters of the tasks are in place. No actions. */
	void (*init)(struct lx_state *s);
	/*
	 * The task, whose parameters are in place, becomes one of the instance: before its first job, and not if it was there at
	 * init. No actions.
	 */
	void (*enter)(struct lx_state *s, u32 task);
	/*
	 * A task's job arrives at `release_at`, now or later: where no complete has said so. A task that wakes up and has no job that
	 * goes on has a new one (lx_policy_wake_up). `now` is LX_NEVER before time begins.
	 */
	void (*arrive)(struct lx_state *s, u32 task, u64 release_at, u32 cpu, u64 now);
	/* At s->next_due, and again until it returns LX_NONE: the first group whose jobs are to be released. No actions. */
	u32 (*take_due)(struct lx_state *s, u64 now);
	/* The jobs of a group that take_due returned are released: when its interrupt is handled, on the group's CPU. */
	void (*release_group)(struct lx_state *s, u32 group, u64 now);
	/* At s->next_timer, or later, after what take_due had: the policy's own timer has come. Null: s->next_timer is LX_NEVER. */
	void (*timer)(struct lx_state *s, u32 cpu, u64 now);
	/* The job that `cpu` runs has ended; the next one of its task arrives at `next_release_at`, or LX_NEVER. */
	void (*complete)(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now);
	/* `cpu` was kicked, or its job has ended: it follows its link. Returns the task that it runs from now on, or LX_NONE. */
	u32 (*reschedule)(struct lx_state *s, u32 cpu, u64 now);
	/* Complete and reschedule in one; null: the policy's operations have several steps. */
	u32 (*finish)(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now);
	/*
	 * The task has run, and used `used_ns` ns of its budget since this was last called: before each of complete, finish, suspend,
	 * exhaust and reschedule on the CPU that runs it, and as often as the host likes besides. A host calls it if budgets are
	 * enforced, if the policy counts use (counts_use), or if the host ever asks lx_policy_wake_up; nothing reads it otherwise.
	 * No actions.
	 */
	void (*consume)(struct lx_state *s, u32 task, u64 used_ns);
	/* The job that `cpu` runs has no budget left, and budgets are enforced: as soon as the host sees it after consume. */
	void (*exhaust)(struct lx_state *s, u32 cpu, u64 now);
	/* After LX_STEP: the operation in progress on `cpu` goes on, under the locks that it asked for. */
	void (*step)(struct lx_state *s, u32 cpu, u64 now);
	/* After LX_NOTIFY: `cpu`, the DSP, handles one message: 1, or 0 if there is none. Null: the policy has no messages. */
	u32 (*message)(struct lx_state *s, u32 cpu, u64 now);
	/* The job that `cpu` runs waits for something, or its task has left. */
	void (*suspend)(struct lx_state *s, u32 cpu, u64 now);
	/* What the suspended job waited for has happened, on `cpu`. */
	void (*resume)(struct lx_state *s, u32 task, u32 cpu, u64 now);
	/*
	 * Something above the policy has taken `cpu` (an interrupt that lasts, a thread of a class above): it runs no task of the
	 * instance's, and calls none of complete, suspend, exhaust and reschedule, until restore. Consume was called before, and what
	 * has ended there was said; or it is said where the task is put next, if another CPU makes this call, which is `by`. Interrupts
	 * (release_group, timer, arrive, resume) may come to `cpu` meanwhile. Not for the dedicated CPU: the host sees to it that its
	 * work is done, there or elsewhere.
	 */
	void (*withdraw)(struct lx_state *s, u32 cpu, u32 by, u64 now);
	/* `cpu`, which was withdrawn, is there again: reschedule on it follows. */
	void (*restore)(struct lx_state *s, u32 cpu, u64 now);
	/*
	 * Where the release queue has a lock of its own (push_pull.h), complete and exhaust in two parts, of which the first returns
	 * when the task's job is to be released, for the second, or LX_NEVER; null otherwise.
	 */
	u64 (*complete_here)(struct lx_state *s, u32 cpu, u64 next_release_at, u64 now);
	u64 (*exhaust_here)(struct lx_state *s, u32 cpu, u64 now);
	void (*await)(struct lx_state *s, u32 task, u64 release_at, u32 cpu);
	/* The locks to take before the entry point for an event on `cpu` (lx_locks); null: the instance has one lock. */
	u32 (*lock_of)(const struct lx_state *s, u32 event, u32 cpu);
};

/* The table of a policy: lx_policy_fpp. A build that is linked to another one has its own names. */
#ifndef LX_TABLE_OF
#define LX_TABLE_OF(policy) lx_policy_##policy
#endif
#define LX_DECLARE(policy, kind) extern const struct lx_policy LX_TABLE_OF(policy);
LX_POLICIES(LX_DECLARE)
#undef LX_DECLARE

/* Bytes that an instance of this configuration needs, aligned to 64. */
size_t lx_policy_size(const struct lx_config *config);
/* Makes `memory`, zeroed and of that size, an instance; the caller then sets task parameters and calls init. */
struct lx_state *lx_policy_lay_out(void *memory, const struct lx_config *config);
/* When the next server period of a task begins; its deadline then is stored at `deadline_abs_ns` (core.h). */
u64 lx_policy_next_replenishment(struct lx_state *s, u32 task, u64 *deadline_abs_ns);
/* What a wake-up of the task means: LX_NEVER, or the release of a new job (wake_up.h). */
u64 lx_policy_wake_up(struct lx_state *s, u32 task, u64 now);
/* take_due, which is the same for all policies (release.h). */
u32 lx_policy_take_due(struct lx_state *s, u64 now);

/* What is in admission.h, reserve.h, deferrable.h, claims.h, balance.h, background.h and virtual_time.h, as functions (arithmetic.c). */
u64 lx_policy_bandwidth(u64 runtime_ns, u64 period_ns);
u32 lx_policy_admits(const struct lx_admission *a, u64 before, u64 runtime_ns, u64 deadline_rel_ns, u64 period_ns);
void lx_policy_admission_replace(struct lx_admission *a, u64 before, u64 after);
void lx_policy_reserve_charge(struct lx_reserve *r, u64 used_ns, u64 now);
u32 lx_policy_reserve_admits(const struct lx_reserve *r, u64 now);
u64 lx_policy_reserve_left(const struct lx_reserve *r, u64 now);
u64 lx_policy_reserve_next(const struct lx_reserve *r, u64 now);
void lx_policy_server_init(struct lx_server *v, u64 start_at, u64 budget_ns, u64 period_ns);
u64 lx_policy_server_resize(struct lx_server *v, u64 budget_ns, u64 period_ns, u64 now);
u64 lx_policy_server_wants(struct lx_server *v, u64 budget_ns, u64 period_ns, u32 quiet, u64 now);
u32 lx_policy_server_quiet(struct lx_server *v, u64 now);
void lx_policy_server_advance(struct lx_server *v, u64 now);
void lx_policy_server_charge(struct lx_server *v, u64 used_ns, u64 now);
u32 lx_policy_server_goes_first(struct lx_server *v, u64 now);
u64 lx_policy_server_left(struct lx_server *v, u64 now);
u64 lx_policy_server_next(struct lx_server *v, u64 now);
struct lx_standing_change lx_policy_standing_after(u32 standing, u32 event);
u32 lx_policy_standing_is_apart(u32 standing);
u32 lx_policy_claim_first(struct lx_server *v, const struct lx_reserve *r, u64 now);
u64 lx_policy_claim_ends(struct lx_server *v, const struct lx_reserve *r, u32 claim, u64 now);
u32 lx_policy_balance_is_better(struct lx_load core, struct lx_load best);
u32 lx_policy_balance_is_busier(struct lx_load from, struct lx_load best);
u32 lx_policy_balance_moves(struct lx_load from, struct lx_load to);
struct lx_spot lx_policy_spot_for_one_more(struct lx_spot best, struct lx_spot other);
u32 lx_policy_background_is_better_off(struct lx_spot here, struct lx_spot best);
u32 lx_policy_background_gives(struct lx_load from, u32 waiting, u32 runs, struct lx_load to);
struct lx_spot lx_policy_spot_to_pull_from(struct lx_spot busiest, struct lx_spot other);
u32 lx_policy_virtual_before(u64 a, u64 b);
u64 lx_policy_virtual_after(u64 vtime, u64 had_ns, u32 weight);
u64 lx_policy_virtual_moved(u64 vtime, u64 from_vtime, u64 to_vtime);
u64 lx_policy_virtual_waits(u64 vtime, u64 clock_vtime, u64 slice_ns);
u64 lx_policy_virtual_begins(u64 vtime, u64 clock_vtime);
u64 lx_policy_virtual_leads(u64 vtime, u64 clock_vtime);
u64 lx_policy_virtual_passes(u64 clock_vtime, u64 passed_ns);
u64 lx_policy_virtual_slice(u64 slice_ns, u32 waiting);
u32 lx_policy_waits_too_long(u64 since_at, u64 now);
u32 lx_policy_kernel_thread_is_bound(u32 of_kernel, u32 cpus);
u64 lx_policy_kernel_thread_left(const struct lx_reserve *first, u64 now);
void lx_policy_kernel_thread_charge(struct lx_reserve *first, struct lx_reserve *background, u64 used_ns, u64 now);
u32 lx_policy_kernel_thread_has_turn(u32 bound);

#endif
