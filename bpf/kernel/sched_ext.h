/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's interface for schedulers: sched_ext from Linux 6.12 on, kernel/sched/ext.c. Where a function has changed, the
 * one here takes what this kernel has:
 *
 *                  6.12                  6.13                     6.19                              7.1
 *   insert         dispatch              dsq_insert               ... says if it did
 *   by vtime       dispatch_vtime        dsq_insert_vtime         ... with a structure
 *   move           consume               dsq_move_to_local                                          ... with flags
 *   slice, vtime   fields of the task                             functions
 */
#ifndef LX_KERNEL_SCHED_EXT_H
#define LX_KERNEL_SCHED_EXT_H

#include "types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* --- constants -------------------------------------------------------------------------------------------------- */

/* Values that differ between kernels: the loader puts in this kernel's (laxity_kernel::object), 0 where it has none. */
#define LX_KERNELS_OWN(name) const volatile u64 __##name __weak

LX_KERNELS_OWN(SCX_SLICE_DFL);
LX_KERNELS_OWN(SCX_SLICE_INF);
LX_KERNELS_OWN(SCX_DSQ_LOCAL);
LX_KERNELS_OWN(SCX_DSQ_LOCAL_ON);
LX_KERNELS_OWN(SCX_ENQ_WAKEUP);
LX_KERNELS_OWN(SCX_ENQ_PREEMPT);
LX_KERNELS_OWN(SCX_ENQ_LAST);
LX_KERNELS_OWN(SCX_KICK_IDLE);
LX_KERNELS_OWN(SCX_KICK_PREEMPT);
LX_KERNELS_OWN(SCX_TASK_QUEUED);

#define SCX_SLICE_DFL __SCX_SLICE_DFL
#define SCX_SLICE_INF __SCX_SLICE_INF
#define SCX_DSQ_LOCAL __SCX_DSQ_LOCAL
#define SCX_DSQ_LOCAL_ON __SCX_DSQ_LOCAL_ON
#define SCX_ENQ_WAKEUP __SCX_ENQ_WAKEUP
#define SCX_ENQ_PREEMPT __SCX_ENQ_PREEMPT
#define SCX_ENQ_LAST __SCX_ENQ_LAST
#define SCX_KICK_IDLE __SCX_KICK_IDLE
#define SCX_KICK_PREEMPT __SCX_KICK_PREEMPT
#define SCX_TASK_QUEUED __SCX_TASK_QUEUED

/* The same in all kernels that have them. */
#define SCX_DEQ_SLEEP 1ull
#define SCX_OPS_ENQ_LAST (1ull << 1)
#define SCX_OPS_ENQ_EXITING (1ull << 2)
#define SCX_OPS_ENQ_MIGRATION_DISABLED (1ull << 4)

/* --- functions -------------------------------------------------------------------------------------------------- */

s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle) __ksym;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
s32 scx_bpf_pick_idle_cpu(const cpumask_t *cpus_allowed, u64 flags) __ksym;
s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
u32 scx_bpf_reenqueue_local(void) __ksym;
void scx_bpf_error_bstr(char *format, unsigned long long *data, u32 data_size) __ksym;
void scx_bpf_dump_bstr(char *format, unsigned long long *data, u32 data_size) __ksym __weak;

/* By CPU. */
extern const struct rq runqueues __ksym __weak;

struct task_struct *bpf_task_from_pid(s32 pid) __ksym;
void bpf_task_release(struct task_struct *p) __ksym;
u32 bpf_cpumask_first(const struct cpumask *cpumask) __ksym;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;
int bpf_res_spin_lock(struct bpf_res_spin_lock *lock) __ksym __weak;
void bpf_res_spin_unlock(struct bpf_res_spin_lock *lock) __ksym __weak;
void *bpf_rdonly_cast(const void *object, u32 btf_id) __ksym __weak;

/* libbpf takes what stands before the last ___ for the name. */
bool scx_bpf_dsq_insert___v2___6_19(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert___6_13(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
void scx_bpf_dispatch___6_12(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;

static __always_inline void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert___v2___6_19))
		scx_bpf_dsq_insert___v2___6_19(p, dsq_id, slice, enq_flags);
	else if (bpf_ksym_exists(scx_bpf_dsq_insert___6_13))
		scx_bpf_dsq_insert___6_13(p, dsq_id, slice, enq_flags);
	else
		scx_bpf_dispatch___6_12(p, dsq_id, slice, enq_flags);
}

bool __scx_bpf_dsq_insert_vtime(struct task_struct *p, struct scx_bpf_dsq_insert_vtime_args *args) __ksym __weak;
void scx_bpf_dsq_insert_vtime___6_13(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
void scx_bpf_dispatch_vtime___6_12(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;

static __always_inline void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags)
{
	if (bpf_core_type_exists(struct scx_bpf_dsq_insert_vtime_args)) {
		struct scx_bpf_dsq_insert_vtime_args args = {
			.dsq_id = dsq_id,
			.slice = slice,
			.vtime = vtime,
			.enq_flags = enq_flags,
		};

		__scx_bpf_dsq_insert_vtime(p, &args);
	} else if (bpf_ksym_exists(scx_bpf_dsq_insert_vtime___6_13)) {
		scx_bpf_dsq_insert_vtime___6_13(p, dsq_id, slice, vtime, enq_flags);
	} else {
		scx_bpf_dispatch_vtime___6_12(p, dsq_id, slice, vtime, enq_flags);
	}
}

bool scx_bpf_dsq_move_to_local___v2___7_1(u64 dsq_id, u64 enq_flags) __ksym __weak;
bool scx_bpf_dsq_move_to_local___6_13(u64 dsq_id) __ksym __weak;
bool scx_bpf_consume___6_12(u64 dsq_id) __ksym __weak;

/* Whether there was a task. */
static __always_inline bool scx_bpf_dsq_move_to_local(u64 dsq_id)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local___v2___7_1))
		return scx_bpf_dsq_move_to_local___v2___7_1(dsq_id, 0);
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local___6_13))
		return scx_bpf_dsq_move_to_local___6_13(dsq_id);
	return scx_bpf_consume___6_12(dsq_id);
}

bool scx_bpf_task_set_slice___6_19(struct task_struct *p, u64 slice) __ksym __weak;
bool scx_bpf_task_set_dsq_vtime___6_19(struct task_struct *p, u64 vtime) __ksym __weak;

static __always_inline void scx_bpf_task_set_slice(struct task_struct *p, u64 slice)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice___6_19))
		scx_bpf_task_set_slice___6_19(p, slice);
	else
		p->scx.slice = slice;
}

static __always_inline void scx_bpf_task_set_dsq_vtime(struct task_struct *p, u64 vtime)
{
	if (bpf_ksym_exists(scx_bpf_task_set_dsq_vtime___6_19))
		scx_bpf_task_set_dsq_vtime___6_19(p, vtime);
	else
		p->scx.dsq_vtime = vtime;
}

/* Whether one virtual time is before the other, also where they have begun anew at 0. */
static __always_inline bool time_before(u64 one, u64 other)
{
	return (s64)(one - other) < 0;
}

/* --- words for people ------------------------------------------------------------------------------------------- */

/* The arguments as the kernel takes them: one number each, at least one. */
#define LX_FORMATTED(call, format, args...)                                                                            \
	({                                                                                                             \
		static char format_[] = format;                                                                        \
		unsigned long long data_[___bpf_narg(args) ?: 1] = {};                                                 \
                                                                                                                       \
		_Pragma("GCC diagnostic push")                                                                         \
		_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")                                                 \
		___bpf_fill(data_, args);                                                                              \
		_Pragma("GCC diagnostic pop")                                                                          \
		call(format_, data_, sizeof(data_));                                                                   \
	})

/* Ends the scheduler with a reason. */
#define scx_bpf_error(format, args...) LX_FORMATTED(scx_bpf_error_bstr, format, ##args)

/* A line of the report that the kernel makes when it throws a scheduler out. */
#define scx_bpf_dump(format, args...) LX_FORMATTED(scx_bpf_dump_bstr, format, ##args)

/* --- a scheduler ------------------------------------------------------------------------------------------------ */

#define BPF_STRUCT_OPS(name, args...) SEC("struct_ops/" #name) BPF_PROG(name, ##args)
#define BPF_STRUCT_OPS_SLEEPABLE(name, args...) SEC("struct_ops.s/" #name) BPF_PROG(name, ##args)

/* Why a scheduler has ended. Read by the loader (laxity_kernel::scheduler); `kind` is written last, and not 0 then. */
struct lx_exit {
	int kind;
	s32 cpu;
	s64 code;
	char reason[128];
	char message[1024];
};

static __always_inline void lx_record_exit(struct lx_exit *to, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(to->reason, sizeof(to->reason), info->reason);
	bpf_probe_read_kernel_str(to->message, sizeof(to->message), info->msg);
	to->code = bpf_core_field_exists(info->exit_code) ? info->exit_code : 0;
	to->cpu = bpf_core_field_exists(info->exit_cpu) ? info->exit_cpu : -1;
	__sync_lock_test_and_set(&to->kind, info->kind);
}

#endif
