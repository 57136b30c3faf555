/* SPDX-License-Identifier: GPL-2.0-only */
/* Before the policy is included: the kernel's types, and how large an instance may become. */
#ifndef LX_HOST_CAPACITY_H
#define LX_HOST_CAPACITY_H

#include "../kernel/sched_ext.h"


#define LX_TASKS_MAX 2048u
#define LX_CPUS_MAX 256u
#define SCHED_EXT_POLICY 7

#endif
