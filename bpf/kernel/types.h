/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types, as far as bpf/ reads or names them. A field's place does not matter: libbpf finds it by its name in the
 * types of the kernel that the program is loaded into (CO-RE). So one file does for every kernel and architecture.
 *
 *   its name, and that of its structure   as the kernel has them
 *   whether it is a number, an enum, a
 *   pointer, an array or a structure      as the kernel has it
 *   the size of a number                  as Linux 7 has it: libbpf adapts a load to another size, but of unsigned numbers only
 *   a bit field                           with BPF_CORE_READ_BITFIELD only; dl_throttled has been the first of its word in all kernels
 *
 * Numbers and structures at the end belong to the interface of system calls or BPF and are the same in all kernels.
 */
#ifndef LX_KERNEL_TYPES_H
#define LX_KERNEL_TYPES_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u8 uint8_t;
typedef __s32 int32_t;
typedef __u32 uint32_t;
typedef __s64 int64_t;
typedef __u64 uint64_t;

typedef _Bool bool;
#define true 1
#define false 0

/* --- found by name ---------------------------------------------------------------------------------------------- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[1];
};
typedef struct cpumask cpumask_t;

struct task_struct;
struct rq;
struct cgroup;

typedef s64 ktime_t;

struct hrtimer_clock_base {
	int clockid;
};

struct hrtimer {
	struct hrtimer_clock_base *base;
	ktime_t _softexpires;
	int (*function)(struct hrtimer *);
};

struct hrtimer_sleeper {
	struct hrtimer timer;
	struct task_struct *task;
};

struct sched_dl_entity {
	s64 runtime;
	u64 deadline;
	unsigned int dl_throttled : 1;
	unsigned int dl_yielded : 1;
	unsigned int dl_server : 1;
	struct hrtimer dl_timer;
};

struct sched_ext_entity {
	u64 dsq_vtime;
	u64 slice;
	u32 flags;
	u32 weight;
};

struct rt_rq {
	int rt_queued;
};

struct rq {
	struct rt_rq rt;
	struct task_struct *curr;
};

/* Of Linux 7.0 and later. */
struct rq___7_0 {
	struct sched_dl_entity ext_server;
};

typedef struct {
	u64 val;
} kernel_cap_t;

struct user_namespace {
	int level;
};

struct cred {
	struct user_namespace *user_ns;
	kernel_cap_t cap_effective;
};

/* Where it says whether a system call is one of the 32-bit interface, by architecture. */
struct thread_info {
	unsigned long flags;
	u32 status;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	u8 on_cpu;
	int prio;
	unsigned int rt_priority;
	struct sched_dl_entity dl;
	struct sched_dl_entity *dl_server;
	struct sched_ext_entity scx;
	unsigned int policy;
	int nr_cpus_allowed;
	const cpumask_t *cpus_ptr;
	cpumask_t cpus_mask;
	unsigned short migration_disabled;
	unsigned int sched_reset_on_fork : 1;
	int pid;
	const struct cred *cred;
};

struct pt_regs {
#if defined(__TARGET_ARCH_x86)
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	u64 regs[31];
	s32 syscallno;
#endif
};

enum scx_exit_kind {
	SCX_EXIT_NONE,
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	s32 exit_cpu;
	s64 exit_code;
	const char *reason;
	char *msg;
	char *dump;
};

struct scx_init_task_args {
	bool fork;
};

struct scx_exit_task_args;
struct scx_cpu_release_args;
struct scx_dump_ctx;

/* Since 6.19. */
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
};

/* What goes through the tasks of a queue. */
struct bpf_iter_scx_dsq {
	u64 __opaque[6];
} __attribute__((aligned(8)));

struct sched_attr {
	u32 size;
	u32 sched_policy;
	u64 sched_flags;
	s32 sched_nice;
	u32 sched_priority;
	u64 sched_runtime;
	u64 sched_deadline;
	u64 sched_period;
	u32 sched_util_min;
	u32 sched_util_max;
};

#pragma clang attribute pop

/* libbpf fills the kernel's structure from this one, field by field. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dequeue)(struct task_struct *p, u64 deq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 deq_flags);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*set_cpumask)(struct task_struct *p, const struct cpumask *cpumask);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	void (*enable)(struct task_struct *p);
	void (*disable)(struct task_struct *p);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	void (*dump_cpu)(struct scx_dump_ctx *ctx, s32 cpu, bool idle);
	void (*dump_task)(struct scx_dump_ctx *ctx, struct task_struct *p);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};

/* --- the same everywhere ---------------------------------------------------------------------------------------- */

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

#define BPF_ANY 0
#define BPF_F_NO_PREALLOC (1u << 0)
#define BPF_F_MMAPABLE (1u << 10)
#define BPF_LOCAL_STORAGE_GET_F_CREATE (1ull << 0)
#define BPF_F_TIMER_ABS (1ull << 0)
#define BPF_F_TIMER_CPU_PIN (1ull << 1)

/* What a map may hold beside data; the kernel knows it by its name. */
struct bpf_timer {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

/* Of bpf_for. */
struct bpf_iter_num {
	__u64 __opaque[1];
} __attribute__((aligned(8)));

struct bpf_spin_lock {
	__u32 val;
};

struct bpf_res_spin_lock {
	__u32 val;
};

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define CLOCK_MONOTONIC 1

#endif
