/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sched_ext host: a policy of policy/ in the kernel. A file that includes this has included the policy
 * (policy/alone.h). Nothing in here decides what runs among real-time tasks.
 */
#ifndef LX_HOST_H
#define LX_HOST_H

#include "dump.h"
#include "interface.h"
#ifdef LX_SERVERS
#include "cores.h"
#endif

char _license[] SEC("license") = "GPL";

/* Why the scheduler has ended; `kind` 0: it has not. */
struct lx_exit ended SEC(".data");

/* Written by user space before it runs set_up. */
struct lx_host_setup setup_data SEC(".data.setup");

/* No real-time tasks run on any CPU, until an instance has it. */
static __noinline int lx_forget_cpus(void)
{
	u32 i;

	bpf_for(i, 0, online_cpus) {
		struct lx_host_cpu *c = lx_host_cpu(i);

		if (c) {
			c->instance = LX_NONE;
			c->running = LX_NONE;
			c->awaited = LX_NONE;
			c->set_aside = LX_NONE;
			c->bound.period_ns = bound_period_ns;
			c->bound.runtime_ns = bound_runtime_ns;
		}
	}
	return 0;
}

/* An instance, before the scheduler is attached. The first one first. */
SEC("syscall") int set_up(void *context)
{
	struct lx_host_setup *setup = &setup_data;
	u32 instance = setup->instance;
	struct lx_instance *in = lx_instance_at(instance);
	u32 cpus = setup->config.cpus;
	u32 i = 0;

	(void)context;
	if (!in)
		return -LX_EINVAL;
	if (instance == 0)
		lx_forget_cpus();
	in->state.config = setup->config;
	in->state.bucket_mask = setup->config.batching ? LX_BUCKETS_MAX - 1 : 0;
	in->cpus = cpus;
	in->rescued = LX_NONE;
	in->armed_at = LX_NEVER;
	lx_admission_init(&in->admission, setup->share_ppm, cpus - (setup->config.dedicated_cpu != LX_NONE));
	while (i < cpus && i < LX_CPUS_MAX && LX_MAY_LOOP) {
		u32 cpu = *LX_AT(setup->cpu, i, LX_CPUS_MAX);
		struct lx_host_cpu *c = lx_host_cpu(cpu);

		*LX_AT(in->cpu, i, LX_CPUS_MAX) = cpu;
		LX_AT(in->state.cpu, i, LX_CPUS_MAX)->socket = *LX_AT(setup->socket, i, LX_CPUS_MAX);
		if (c) {
			c->instance = instance;
			c->index = i;
#ifdef LX_STEPS
			c->caller = i == setup->config.dedicated_cpu ? lx_caller_behind(cpu) : i;
#endif
			c->running = LX_NONE;
			c->reserve.period_ns = setup->reserve_period_ns;
			c->reserve.runtime_ns = setup->reserve_runtime_ns;
		}
		i++;
		LX_FORGET(&in->state, i);
	}
	in->free = LX_NONE;
	i = setup->config.tasks;
	while (i > 0 && LX_MAY_LOOP) {
		i--;
		lx_slot_free(in, i);
		LX_FORGET(&in->state, i);
	}
	LX_P(init)(&in->state);
	return 0;
}

/* Before recording ends: what is under way or overdue at that moment is recorded as far as it has come. */
SEC("syscall") int note_pending(void *context)
{
	struct lx_ring *ring = lx_trace_ring();
	u64 now = bpf_ktime_get_ns();
	u32 cpu = 0;

	(void)context;
	while (ring && cpu < online_cpus && LX_MAY_LOOP) {
		struct lx_host_cpu *c = lx_host_cpu(cpu);
		struct lx_instance *in = lx_instance_of(c);

		if (c && in) {
			lx_trace_pending(ring, c, cpu, now);
			if (c->index == 0)
				lx_trace_overdue(ring, in, now);
		}
		cpu++;
		LX_FORGET(&lx_loop, cpu);
	}
	return 0;
}

/* Where there are no timers: when the next is due, for a release or a policy's own, in any instance; written by release_due. */
u64 next_release_at SEC(".data.release") = LX_NEVER;

/* Where there are no timers: a thread of user space calls this at that time, and every now and then. */
SEC("syscall") int release_due(void *context)
{
	u64 next_at = LX_NEVER;
	u32 i = 0;

	(void)context;
	while (i < instance_count && LX_MAY_LOOP) {
		struct lx_instance *in = lx_instance_at(i);

		if (in) {
			u64 due_at = lx_next_instant(in);

			if (due_at <= bpf_ktime_get_ns()) {
				lx_release_pending(in);
				due_at = lx_next_instant(in);
			}
			if (due_at < next_at)
				next_at = due_at;
		}
		i++;
		LX_FORGET(&lx_loop, i);
	}
	next_release_at = next_at;
	return 0;
}

static __noinline int lx_start_timers(void)
{
	u32 i;

	bpf_for(i, 0, online_cpus) {
		struct lx_host_cpu *c = lx_host_cpu(i);
		struct lx_instance *in;

		if (!c)
			continue;
		bpf_timer_init(&c->timer, &host_cpus, CLOCK_MONOTONIC);
		bpf_timer_set_callback(&c->timer, lx_budget_due);
		in = c->index == 0 ? lx_instance_of(c) : NULL;
		if (in) {
			bpf_timer_init(&in->timer, &instances, CLOCK_MONOTONIC);
			bpf_timer_set_callback(&in->timer, lx_release_due);
		}
	}
	return 0;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(on_init)
{
	s32 error;

	if (has_timers)
		lx_start_timers();
	lx_strike_off_taken();
	error = lx_create_bound_queues();
	return error ?: lx_create_queues();
}

void BPF_STRUCT_OPS(on_exit, struct scx_exit_info *info)
{
	lx_record_exit(&ended, info);
}

SEC(".struct_ops.link")
struct sched_ext_ops laxity = {
	.select_cpu = (void *)on_select_cpu,
	.enqueue = (void *)on_enqueue,
	.dequeue = (void *)on_dequeue,
	.dispatch = (void *)on_dispatch,
	.running = (void *)on_running,
	.stopping = (void *)on_stopping,
	.quiescent = (void *)on_quiescent,
	.yield = (void *)on_yield,
	.tick = (void *)on_tick,
	.set_cpumask = (void *)on_set_cpumask,
	.init_task = (void *)on_init_task,
	.exit_task = (void *)on_exit_task,
	.enable = (void *)on_enable,
	.disable = (void *)on_disable,
	.cpu_release = (void *)on_cpu_release,
	.dump_cpu = (void *)on_dump_cpu,
	.dump_task = (void *)on_dump_task,
	.init = (void *)on_init,
	.exit = (void *)on_exit,
	.timeout_ms = 30000,
	.name = "laxity",
	.flags = SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING | SCX_OPS_ENQ_MIGRATION_DISABLED,
};

#endif
