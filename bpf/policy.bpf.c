// SPDX-License-Identifier: GPL-2.0-only
/* A policy as a sched_ext scheduler: the object POLICY.bpf.o of each (-DPOLICY=fpp). */
#include "host/capacity.h"

#include "alone.h"
#include "host/host.h"
