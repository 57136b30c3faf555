/* SPDX-License-Identifier: GPL-2.0-only */
/* How long functions of the kernel take (lelli2012, Table 6). */
#ifndef LX_OVERHEADS_FUNCTIONS_H
#define LX_OVERHEADS_FUNCTIONS_H

#include "begun.h"

/* A function that interrupts a real-time thread. */
#define INTERRUPTING(function, slot, kind)                        \
	SEC("fentry/" #function)                                  \
	int enter_##function(void *context)                       \
	{                                                         \
		if (lx_tracing(LX_TRACE_SAMPLES))                 \
			enter_for(slot, bpf_get_current_task_btf()); \
		return 0;                                         \
	}                                                         \
	SEC("fexit/" #function)                                   \
	int exit_##function(void *context)                        \
	{                                                         \
		leave(slot, kind);                                \
		return 0;                                         \
	}

INTERRUPTING(sched_tick, LX_FUNCTION_SCHEDULER_TICK, LX_SAMPLE_SCHEDULER_TICK)

/* Of a thread that is the second argument. */
#define OF_THREAD(function, slot, kind)                                         \
	SEC("fentry/" #function)                                                \
	int BPF_PROG(enter_##function, struct rq *rq, struct task_struct *p)    \
	{                                                                       \
		enter_for(slot, p);                                             \
		return 0;                                                       \
	}                                                                       \
	SEC("fexit/" #function)                                                 \
	int exit_##function(void *context)                                      \
	{                                                                       \
		leave(slot, kind);                                              \
		return 0;                                                       \
	}

OF_THREAD(enqueue_task_dl, LX_FUNCTION_ENQUEUE, LX_SAMPLE_ENQUEUE)
OF_THREAD(enqueue_task_rt, LX_FUNCTION_ENQUEUE, LX_SAMPLE_ENQUEUE)
OF_THREAD(enqueue_task_scx, LX_FUNCTION_ENQUEUE, LX_SAMPLE_ENQUEUE)
OF_THREAD(dequeue_task_dl, LX_FUNCTION_DEQUEUE, LX_SAMPLE_DEQUEUE)
OF_THREAD(dequeue_task_rt, LX_FUNCTION_DEQUEUE, LX_SAMPLE_DEQUEUE)
OF_THREAD(dequeue_task_scx, LX_FUNCTION_DEQUEUE, LX_SAMPLE_DEQUEUE)

/* Of a thread that is the first argument. */
#define SELECTING(function)                                             \
	SEC("fentry/" #function)                                        \
	int BPF_PROG(enter_##function, struct task_struct *p)           \
	{                                                               \
		enter_for(LX_FUNCTION_SELECT_CPU, p);                   \
		return 0;                                               \
	}                                                               \
	SEC("fexit/" #function)                                         \
	int exit_##function(void *context)                              \
	{                                                               \
		leave(LX_FUNCTION_SELECT_CPU, LX_SAMPLE_SELECT_CPU);    \
		return 0;                                               \
	}

SELECTING(select_task_rq_dl)
SELECTING(select_task_rq_rt)
SELECTING(select_task_rq_scx)

/* Of the thread that it returns. The number of arguments differs between kernels: 2 since 6.19. */
#define PICKING(function)                                                                    \
	SEC("fentry/" #function)                                                             \
	int enter_##function(void *context)                                                  \
	{                                                                                    \
		enter(LX_FUNCTION_PICK, 0, 0);                                               \
		return 0;                                                                    \
	}                                                                                    \
	SEC("fexit/" #function)                                                              \
	int exit_##function(void *context)                                                   \
	{                                                                                    \
		picked(context);                                                             \
		return 0;                                                                    \
	}

/* RETRY_TASK is -1: not a thread. */
static __always_inline void picked(void *context)
{
	u64 now = bpf_ktime_get_ns();
	struct lx_begun *b = begun();
	struct task_struct *p;
	u64 returned = 0;

	if (!b || !b->functions[LX_FUNCTION_PICK].begin_ns)
		return;
	if (bpf_get_func_ret(context, &returned) || !returned || returned == -1ULL)
		goto unrecorded;
	p = bpf_core_cast((void *)returned, struct task_struct);
	if (!is_real_time(p))
		goto unrecorded;
	lx_trace_end_at(&b->functions[LX_FUNCTION_PICK], now, LX_SAMPLE_PICK, p->pid, p->policy, LX_NONE, LX_NONE, 0);
	return;
unrecorded:
	leave_unrecorded(LX_FUNCTION_PICK);
}

PICKING(pick_task_dl)
PICKING(pick_task_rt)
PICKING(pick_task_scx)

/* Of a whole class. */
#define OF_CLASS(function, slot, kind, policy)                  \
	SEC("fentry/" #function)                                \
	int enter_##function(void *context)                     \
	{                                                       \
		enter(slot, 0, policy);                         \
		return 0;                                       \
	}                                                       \
	SEC("fexit/" #function)                                 \
	int exit_##function(void *context)                      \
	{                                                       \
		leave(slot, kind);                              \
		return 0;                                       \
	}

OF_CLASS(push_dl_tasks, LX_FUNCTION_PUSH_DL, LX_SAMPLE_PUSH, LX_SCHED_DEADLINE)
OF_CLASS(push_rt_tasks, LX_FUNCTION_PUSH_RT, LX_SAMPLE_PUSH, LX_SCHED_FIFO)
OF_CLASS(pull_dl_task, LX_FUNCTION_PULL_DL, LX_SAMPLE_PULL, LX_SCHED_DEADLINE)
OF_CLASS(pull_rt_task, LX_FUNCTION_PULL_RT, LX_SAMPLE_PULL, LX_SCHED_FIFO)
OF_CLASS(balance_scx, LX_FUNCTION_PULL_SCX, LX_SAMPLE_PULL, LX_SCHED_EXT)
OF_CLASS(kick_cpus_irq_workfn, LX_FUNCTION_KICK, LX_SAMPLE_KICK, LX_SCHED_EXT)

#endif
