// SPDX-License-Identifier: GPL-2.0-only
/* Whether this kernel takes what all the other programs need: may_goto, a spin lock, data that user space reads. */
#include "seam.h"

struct bpf_spin_lock {
	u32 val;
};
static long (*const bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*const bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;

struct bpf_spin_lock lock __attribute__((section(".data.lock"), visibility("hidden"), aligned(8)));
struct {
	u32 forget;
	u32 loops;
} probe_state;

char _license[] __attribute__((section("license"), used)) = "GPL";

__attribute__((section("syscall"), used)) int probe(void *context)
{
	u32 i = 0;

	(void)context;
	bpf_spin_lock(&lock);
	while (i < 1000 && LX_MAY_LOOP) {
		i++;
		LX_FORGET(&probe_state, i);
	}
	probe_state.loops = i;
	bpf_spin_unlock(&lock);
	return 0;
}
