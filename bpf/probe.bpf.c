// SPDX-License-Identifier: GPL-2.0-only
/* The least that every scheduler here needs: loads where the others can be loaded at all. */
#include "kernel/sched_ext.h"

char _license[] SEC("license") = "GPL";

SEC("syscall") int probe(void *context)
{
	(void)context;
	return 0;
}
