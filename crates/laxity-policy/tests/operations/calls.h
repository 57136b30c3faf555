/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the policy, each with what it may write and what it leaves to be done. */
#ifndef CALLS_H
#define CALLS_H

#include "host.h"

#include <stdio.h>

/* After a call of `cpu`, before which all was as in `before`: 0, or what it wrote or left is wrong. */
int called(struct host *h, u32 cpu, const struct written *before, u32 locks);
/* The locks of an event. */
u32 lock_of(const struct host *h, u32 event, u32 cpu);

#define CALLED(h, cpu, locks, call)                                                                                    \
	({                                                                                                             \
		struct written before_;                                                                                \
		u32 locks_ = (locks);                                                                                  \
		if ((h)->trace)                                                                                        \
			printf("t=%llu cpu%u %s\n", (unsigned long long)(h)->now, cpu, #call);                         \
		locks_before(h, &before_);                                                                             \
		call;                                                                                                  \
		called(h, cpu, &before_, locks_);                                                                      \
	})
#define CALL(h, cpu, locks, call) CALLED(h, cpu, locks, (h)->policy->call)

#endif
