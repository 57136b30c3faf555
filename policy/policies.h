/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policies, listed once. native.h declares and native.c makes a table of entry points for each, crates/laxity-build compiles
 * each for BPF, and Rust finds them by name (crates/laxity-policy/src/table.rs). A further one is its header NAME.h, and here a line
 * ONE(NAME, KIND) and its #include. KIND is what its table has beside the entry points of all:
 *
 *   FINISH    finish: operations are in one piece, under the instance's one lock
 *   AWAITS    step and lock_of; complete_here, exhaust_here and await: the release queue has a lock of its own
 *   MESSAGES  step and lock_of; message: CPUs send messages to one that decides
 *
 * A function lx_NAME_x that is not written out anywhere is LX_P(x) of linking.h: policy/tags has them all by name.
 */
#ifndef LX_POLICIES
/* clang-format off */
#define LX_POLICIES(ONE) \
	ONE(amp_rm, FINISH) \
	ONE(edf_bh, FINISH) \
	ONE(edf_rbt, FINISH) \
	ONE(fpp, FINISH) \
	ONE(g_edf_mp, MESSAGES) \
	ONE(gsn_edf, FINISH) \
	ONE(push_pull, AWAITS)
/* clang-format on */
#endif

#ifdef LX_ALL_POLICIES
#include "amp_rm.h"
#include "edf_bh.h"
#include "edf_rbt.h"
#include "fpp.h"
#include "g_edf_mp.h"
#include "gsn_edf.h"
#include "push_pull.h"
#endif
