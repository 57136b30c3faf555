/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admission: whether a task may become one of an instance, as SCHED_DEADLINE decides it (__checkparam_dl and __dl_overflow in
 * Linux's kernel/sched/deadline.c).
 *
 * Bandwidths are shares of one CPU in units of 2^-20, as the kernel's to_ratio has them, but rounded up, and limits are
 * rounded down: whatever is admitted fits exactly. A set that would fill the limit to the last millionth may be refused.
 *
 * What it means: total utilization at most limit * m is necessary for every policy, and sufficient for none of
 * them to meet all deadlines, unless there is one CPU, EDF, and D = T. Under global EDF on CPUs without other
 * users it bounds tardiness (Devi and Anderson, "Tardiness Bounds under Global EDF Scheduling on a
 * Multiprocessor", 2008). `laxity analyze` has the tests that say more.
 */
#ifndef LX_ADMISSION_H
#define LX_ADMISSION_H

#include "seam.h"

#define LX_BANDWIDTH_SHIFT 20
/* All of one CPU. */
#define LX_BANDWIDTH_ONE (1ull << LX_BANDWIDTH_SHIFT)
/* 95 %, rounded down: what SCHED_DEADLINE and SCHED_FIFO may have together, unless told otherwise. */
#define LX_BANDWIDTH_DEFAULT (LX_BANDWIDTH_ONE * 95 / 100)
/* The least budget, as SCHED_DEADLINE's, and the longest period, about 73 minutes; in ns. */
#define LX_RUNTIME_MIN 1024ull
#define LX_PERIOD_MAX (1ull << 42)

/* With the errno that Linux has for it: none, EINVAL, EBUSY. */
enum lx_admission_result {
	LX_ADMITTED = 0,
	/* The parameters are not those of a task. */
	LX_REFUSED_PARAMETERS = 22,
	/* There is not so much left. */
	LX_REFUSED_BANDWIDTH = 16,
};

/* What has been admitted to an instance. The host keeps it, under a lock of its own. */
struct lx_admission {
	/* The share of each CPU that real-time tasks may have: at most LX_BANDWIDTH_ONE. */
	u64 limit;
	/* The sum of the bandwidths of those that are there. */
	u64 total;
	/* CPUs that tasks run on: without the dedicated one. */
	u32 cpus;
	u32 reserved;
};

/* runtime / period, rounded up. The period is positive; neither is above LX_PERIOD_MAX. */
LX_INLINE u64 lx_admission_bandwidth(u64 runtime_ns, u64 period_ns)
{
	return ((runtime_ns << LX_BANDWIDTH_SHIFT) + period_ns - 1) / period_ns;
}

/* Whether there are tasks with these parameters, in ns: LX_RUNTIME_MIN <= C <= D <= T <= LX_PERIOD_MAX. */
LX_INLINE int lx_admission_is_task(u64 runtime_ns, u64 deadline_rel_ns, u64 period_ns)
{
	return LX_RUNTIME_MIN <= runtime_ns && runtime_ns <= deadline_rel_ns && deadline_rel_ns <= period_ns && period_ns <= LX_PERIOD_MAX;
}

/*
 * Whether a task with these parameters, in ns, may be there beside those that are; instead of one of bandwidth `before`, if
 * that is not 0 (new parameters of the same task). Changes nothing: lx_admission_replace does.
 */
LX_INLINE u32 lx_admission_admits(const struct lx_admission *a, u64 before, u64 runtime_ns, u64 deadline_rel_ns, u64 period_ns)
{
	if (!lx_admission_is_task(runtime_ns, deadline_rel_ns, period_ns))
		return LX_REFUSED_PARAMETERS;
	if (a->total - before + lx_admission_bandwidth(runtime_ns, period_ns) > a->limit * a->cpus)
		return LX_REFUSED_BANDWIDTH;
	return LX_ADMITTED;
}

/* A bandwidth takes the place of another; 0 is that of a task that has not been there, or leaves. */
LX_INLINE void lx_admission_replace(struct lx_admission *a, u64 before, u64 after)
{
	LX_ASSERT(a->total >= before);
	a->total += after - before;
}

/* What `share_ppm` millionths of a CPU are, or all of it if that is more. */
LX_INLINE u64 lx_admission_limit(u64 share_ppm)
{
	return (share_ppm < 1000000 ? share_ppm : 1000000) * LX_BANDWIDTH_ONE / 1000000;
}

/* Nothing has been admitted. Tasks may have `share_ppm` millionths of each of `cpus` CPUs; all of it, if that is more. */
LX_INLINE void lx_admission_init(struct lx_admission *a, u64 share_ppm, u32 cpus)
{
	a->limit = lx_admission_limit(share_ppm);
	a->total = 0;
	a->cpus = cpus;
}

/* A task enters: 0, and its bandwidth at `bandwidth`; or a negative errno, and nothing has changed. */
LX_INLINE int lx_admission_enter(struct lx_admission *a, u64 runtime_ns, u64 deadline_rel_ns, u64 period_ns, u64 *bandwidth)
{
	u32 refused = lx_admission_admits(a, 0, runtime_ns, deadline_rel_ns, period_ns);

	if (refused)
		return -(int)refused;
	*bandwidth = lx_admission_bandwidth(runtime_ns, period_ns);
	lx_admission_replace(a, 0, *bandwidth);
	return 0;
}

/* A task of this bandwidth leaves. */
LX_INLINE void lx_admission_leave(struct lx_admission *a, u64 bandwidth)
{
	lx_admission_replace(a, bandwidth, 0);
}

#endif
