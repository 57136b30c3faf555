/* SPDX-License-Identifier: GPL-2.0-only */
/* Since when threads are off their CPUs. */
#ifndef LX_OVERHEADS_STOPPED_H
#define LX_OVERHEADS_STOPPED_H

#include "begun.h"

/* Since when a thread is off its CPU; at its pid mod LX_STOPPED. What another thread has overwritten is not known. */
#define LX_STOPPED 65536
#define LX_RUNS (~0ULL)
struct lx_stopped {
	u64 time_ns;
	u32 pid;
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LX_STOPPED);
	__type(key, u32);
	__type(value, struct lx_stopped);
} lx_stopped SEC(".maps");

static __always_inline void note_stop(u32 pid, u64 now)
{
	u32 slot = pid % LX_STOPPED;
	struct lx_stopped *stopped = bpf_map_lookup_elem(&lx_stopped, &slot);

	if (stopped) {
		stopped->pid = pid;
		stopped->time_ns = now;
	}
}

/* The thread is off its CPU, and was at that time. */
static __always_inline bool had_stopped_by(u32 pid, u64 time_ns)
{
	u32 slot = pid % LX_STOPPED;
	struct lx_stopped *stopped = bpf_map_lookup_elem(&lx_stopped, &slot);

	return stopped && stopped->pid == pid && stopped->time_ns <= time_ns;
}

#endif
