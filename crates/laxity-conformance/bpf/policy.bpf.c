// SPDX-License-Identifier: GPL-2.0-only
/* A policy for the conformance rig: the object POLICY.bpf.o of each (-DPOLICY=fpp). */
#include "alone.h"

#include "programs.h"
