// SPDX-License-Identifier: GPL-2.0-only
/* The native build of all policies. */
#include "native.h"

#define LX_ALL_POLICIES
#include "policies.h"
#include "wake_up.h"

#define LX_ENTRIES(policy)                                                                                             \
	.name = #policy, .init = lx_##policy##_init, .enter = lx_##policy##_enter, .arrive = lx_##policy##_arrive,     \
	.take_due = lx_policy_take_due, .release_group = lx_##policy##_release_group,                                  \
	.complete = lx_##policy##_complete, .reschedule = lx_##policy##_reschedule,                                    \
	.consume = lx_##policy##_consume, .exhaust = lx_##policy##_exhaust, .suspend = lx_##policy##_suspend,          \
	.resume = lx_##policy##_resume, .withdraw = lx_##policy##_withdraw, .restore = lx_##policy##_restore

/* What else is in a table, by kind (policies.h). */
#define LX_MORE_FINISH(policy) .finish = lx_##policy##_finish
#define LX_MORE_TIMER(policy) LX_MORE_FINISH(policy), .timer = lx_##policy##_timer, .counts_use = 1
#define LX_MORE_STEPS(policy) .step = lx_##policy##_step, .lock_of = lx_##policy##_lock_of
#define LX_MORE_AWAITS(policy)                                                                                         \
	LX_MORE_STEPS(policy), .complete_here = lx_##policy##_complete_here,                                           \
			       .exhaust_here = lx_##policy##_exhaust_here, .await = lx_##policy##_await
#define LX_MORE_MESSAGES(policy) LX_MORE_STEPS(policy), .message = lx_##policy##_message

#define LX_TABLE(policy, kind)                                                                                         \
	const struct lx_policy LX_TABLE_OF(policy) = {LX_ENTRIES(policy), LX_MORE_##kind(policy)};
LX_POLICIES(LX_TABLE)

/* The smallest power of two that is at least n. */
static u32 power_of_two(u32 n)
{
	u32 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

static size_t capacity_TASKS(const struct lx_config *config)
{
	return config->tasks;
}

static size_t capacity_CPUS(const struct lx_config *config)
{
	return config->cpus;
}

static size_t capacity_CPU_NODES(const struct lx_config *config)
{
	return 2 * (size_t)power_of_two(config->cpus);
}

static size_t capacity_BUCKETS(const struct lx_config *config)
{
	return config->batching ? 4 * (size_t)power_of_two(config->tasks) : 1;
}

static size_t capacity_SOCKETS(const struct lx_config *config)
{
	return config->sockets;
}

static size_t capacity_MESSAGES(const struct lx_config *config)
{
	return config->sockets * 2 * (size_t)power_of_two(config->tasks);
}

static size_t capacity_ACTIONS(const struct lx_config *config)
{
	return 2 * (size_t)config->cpus + 8;
}

static size_t capacity_LINKS(const struct lx_config *config)
{
	return 2 * (size_t)config->tasks;
}

static size_t capacity_WORDS(const struct lx_config *config)
{
	size_t words = config->tasks;
	size_t total = 0;

	do {
		words = (words + 63) / 64;
		total += words;
	} while (words > 1);
	return total;
}

static size_t aligned(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

size_t lx_policy_size(const struct lx_config *config)
{
	size_t size = aligned(sizeof(struct lx_state));

#define LX_ADD(type, name, capacity) size += aligned(sizeof(type) * capacity_##capacity(config));
	LX_STATE_ARRAYS(LX_ADD)
#undef LX_ADD
	return size;
}

struct lx_state *lx_policy_lay_out(void *memory, const struct lx_config *config)
{
	struct lx_state *s = memory;
	char *next = (char *)memory + aligned(sizeof(struct lx_state));

	s->config = *config;
	s->bucket_mask = (u32)capacity_BUCKETS(config) - 1;
#define LX_PLACE(type, name, capacity)                                                                                 \
	s->name = (type *)(void *)next;                                                                                \
	next += aligned(sizeof(type) * capacity_##capacity(config));
	LX_STATE_ARRAYS(LX_PLACE)
#undef LX_PLACE
	return s;
}

u32 lx_policy_take_due(struct lx_state *s, u64 now)
{
	return lx_take_due(s, now);
}

u64 lx_policy_next_replenishment(struct lx_state *s, u32 task, u64 *deadline_abs_ns)
{
	struct lx_replenishment next = lx_next_replenishment(s, task);

	*deadline_abs_ns = next.deadline_abs_ns;
	return next.release_at;
}

u64 lx_policy_wake_up(struct lx_state *s, u32 task, u64 now)
{
	return lx_wake_up(s, task, now);
}
