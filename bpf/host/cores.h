/* SPDX-License-Identifier: GPL-2.0-only */
/* The speed of a core and the size of its server, as user space sets them: for policies that define
 * LX_SERVERS. */
#ifndef LX_HOST_CORES_H
#define LX_HOST_CORES_H

#include "interface.h"

/* Written by user space before it runs size_core. */
struct lx_host_core core_data SEC(".data.core");

/*
 * A core's speed, the size of its server, the share that real-time tasks may use, and which process may admit
 * them, before or while the scheduler is attached.
 */
SEC("syscall") int size_core(void *context)
{
	struct lx_host_core *core = &core_data;
	struct lx_host_cpu *c = lx_host_cpu(core->cpu);
	struct lx_instance *in = lx_instance_of(c);
	u64 budget_ns = core->budget_ns, period_ns = core->period_ns, share_ppm = core->share_ppm;
	u64 now = bpf_ktime_get_ns();
	u64 from_at;

	(void)context;
	if (!c)
		return -LX_EINVAL;
	c->speed = core->speed;
	c->closed_by = core->closed ? bpf_get_current_pid_tgid() >> 32 : 0;
	core->from_at = now;
	if (!in)
		return period_ns ? -LX_EINVAL : 0;
	bpf_spin_lock(&in->lock);
	from_at = lx_server_wants(&c->server, budget_ns, period_ns, lx_is_quiet(in, c), now);
	in->admission.limit = lx_admission_limit(share_ppm);
	bpf_spin_unlock(&in->lock);
	core->from_at = from_at;
	/* Its timer was set for the old size. */
	lx_kick_cpu(core->cpu);
	return 0;
}

#endif
