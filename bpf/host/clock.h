/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of a queue of background work (policy/virtual_time.h), which several CPUs may set on at once: the later one counts. */
#ifndef LX_HOST_CLOCK_H
#define LX_HOST_CLOCK_H

#include "virtual_time.h"

/* What it shows now. `set_on_at`: when it was set on last. */
static __always_inline u64 lx_clock_goes_on(u64 *vtime, u64 *set_on_at)
{
	u64 now = bpf_ktime_get_ns();
	u64 before = LX_READ(*set_on_at);

	if (now > before && before)
		LX_WRITE(*vtime, lx_virtual_passes(LX_READ(*vtime), now - before));
	LX_WRITE(*set_on_at, now);
	return LX_READ(*vtime);
}

#endif
