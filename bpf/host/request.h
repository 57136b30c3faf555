/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a call that sets a policy asks for: read from the attributes that the kernel has, or, where it does not pass them on, from
 * the registers of the thread that calls.
 */
#ifndef LX_HOST_REQUEST_H
#define LX_HOST_REQUEST_H

#include "maps.h"

#include <bpf/bpf_tracing.h>

#define LX_EFAULT 14
/* SCHED_ATTR_SIZE_VER0: up to the period, which every caller has. */
#define LX_ATTRIBUTES_SIZE 48
/* Of sched_attr: the policy, the parameters stay what they are. */
#define LX_KEEP_POLICY 0x08
#define LX_KEEP_PARAMETERS 0x10
/* In the kernel: the call has no policy (sched_setparam). */
#define LX_NO_POLICY 0xffffffffu
/* Of sched_setscheduler: children are reset. */
#define LX_RESET_ON_FORK 0x40000000u

/* What a request makes of the task if it succeeds. */
enum lx_wish {
	/* It stays what it is, or gets a policy other than SCHED_EXT: the kernel says when it has it. */
	LX_WISH_OTHER = 0,
	LX_WISH_REAL_TIME = 1,
	/* SCHED_EXT without parameters. */
	LX_WISH_BACKGROUND = 2,
};

static __always_inline u32 lx_wish_of(const struct task_struct *p, const struct lx_request *request)
{
	u32 policy = request->policy;

	if (policy == LX_NO_POLICY || request->flags & LX_KEEP_POLICY)
		policy = p->policy;
	if (policy != SCHED_EXT_POLICY || request->flags & LX_KEEP_PARAMETERS)
		return LX_WISH_OTHER;
	return request->wanted.period_ns || request->wanted.deadline_rel_ns ? LX_WISH_REAL_TIME : LX_WISH_BACKGROUND;
}

static __always_inline void lx_request_of_attributes(struct lx_request *request, const struct sched_attr *attributes)
{
	u64 deadline_rel_ns = attributes->sched_deadline;
	u64 period_ns = attributes->sched_period;

	request->policy = attributes->sched_policy;
	request->flags = attributes->sched_flags;
	request->wanted.runtime_ns = attributes->sched_runtime;
	/* One that is not said is the other, as for SCHED_DEADLINE. */
	request->wanted.deadline_rel_ns = deadline_rel_ns ?: period_ns;
	request->wanted.period_ns = period_ns ?: deadline_rel_ns;
}

/* A system call that is under way: its number, second and third argument. */
struct lx_call {
	u64 number;
	u64 argument;
	u64 third;
};

#if defined(__TARGET_ARCH_x86)
#define LX_SETATTR 314
#define LX_SETSCHEDULER 144
#define LX_SETPARAM 142
#define LX_SETAFFINITY 203
#define LX_SETATTR_32 351
#define LX_SETSCHEDULER_32 156
#define LX_SETPARAM_32 154
#define LX_SETAFFINITY_32 241
/* In thread_info.status: the call is one of the 32-bit interface. */
#define LX_TS_COMPAT 2

static __always_inline bool lx_is_compat(struct task_struct *self)
{
	return self->thread_info.status & LX_TS_COMPAT;
}

static __always_inline void lx_call_under_way(struct lx_call *call, struct pt_regs *registers, bool compat)
{
	call->number = registers->orig_ax;
	call->argument = compat ? (u32)registers->cx : registers->si;
	call->third = compat ? (u32)registers->dx : registers->dx;
}
#elif defined(__TARGET_ARCH_arm64)
#define LX_SETATTR 274
#define LX_SETSCHEDULER 119
#define LX_SETPARAM 118
#define LX_SETAFFINITY 122
#define LX_SETATTR_32 380
#define LX_SETSCHEDULER_32 156
#define LX_SETPARAM_32 154
#define LX_SETAFFINITY_32 241
/* In thread_info.flags: TIF_32BIT. */
#define LX_TIF_32BIT 22

static __always_inline bool lx_is_compat(struct task_struct *self)
{
	return self->thread_info.flags & (1ul << LX_TIF_32BIT);
}

static __always_inline void lx_call_under_way(struct lx_call *call, struct pt_regs *registers, bool compat)
{
	call->number = (u32)registers->syscallno;
	call->argument = compat ? (u32)registers->regs[1] : registers->regs[1];
	call->third = compat ? (u32)registers->regs[2] : registers->regs[2];
}
#else
#error "where this machine keeps the number of a system call is not known"
#endif

/* The system call of the calling thread; whether it is one of the 32-bit interface. */
static __always_inline bool lx_call_of_caller(struct lx_call *call)
{
	struct task_struct *self = bpf_get_current_task_btf();
	bool compat = lx_is_compat(self);

	lx_call_under_way(call, (struct pt_regs *)bpf_task_pt_regs(self), compat);
	return compat;
}

/* What the calling thread asks for: 0, 1 if its call does not set a policy, or a negative errno. */
static __noinline int lx_request_of_caller(struct lx_request *request)
{
	struct sched_attr attributes = {};
	struct lx_call call;
	bool compat;

	if (!request)
		return -LX_EFAULT;
	compat = lx_call_of_caller(&call);
	if (call.number == (compat ? LX_SETATTR_32 : LX_SETATTR)) {
		if (bpf_probe_read_user(&attributes, LX_ATTRIBUTES_SIZE, (void *)call.argument))
			return -LX_EFAULT;
	} else if (call.number == (compat ? LX_SETSCHEDULER_32 : LX_SETSCHEDULER)) {
		attributes.sched_policy = call.argument & ~LX_RESET_ON_FORK;
	} else if (call.number == (compat ? LX_SETPARAM_32 : LX_SETPARAM)) {
		attributes.sched_policy = LX_NO_POLICY;
	} else {
		return 1;
	}
	lx_request_of_attributes(request, &attributes);
	return 0;
}

/* A CPU mask as user space passes it, by the kernel's numbers of CPUs. */
struct lx_cpu_mask {
	u64 word[LX_CPUS_MAX / 64];
};

/* The CPUs that the calling thread asks for; false if its call is not one that does. */
static __noinline bool lx_cpus_of_caller(struct lx_cpu_mask *wanted)
{
	struct lx_call call;
	bool compat;
	u64 size;

	if (!wanted)
		return false;
	compat = lx_call_of_caller(&call);
	if (call.number != (compat ? LX_SETAFFINITY_32 : LX_SETAFFINITY))
		return false;
	size = call.argument;
	/* CPUs beyond a short mask are not wanted; CPUs beyond the longest mask here are in no instance. */
	if (size > sizeof(*wanted))
		size = sizeof(*wanted);
	return !bpf_probe_read_user(wanted, size, (void *)call.third);
}

#endif
