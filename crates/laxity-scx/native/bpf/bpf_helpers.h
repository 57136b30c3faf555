/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libbpf's header as the host under the model has it (LX_HOSTED): the same names, for a compiler of this machine. Helpers of the kernel
 * are functions of the model (src/helpers.rs); what they need to know of a map is in its declaration, as for the kernel.
 */
#ifndef LX_SCX_BPF_HELPERS_H
#define LX_SCX_BPF_HELPERS_H

#define NULL ((void *)0)
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#define __ksym
#define __weak __attribute__((weak))
#define __noinline __attribute__((noinline))
#define __always_inline inline __attribute__((always_inline))
#define __arg_trusted
#define bpf_ksym_exists(function) (!!(function))

/* What a map's declaration says. The loader makes more of those that are declared with one entry: so does the model. */
struct lx_scx_map {
	const void *declared;
	u32 type;
	u32 entries;
	u32 key_size;
	u32 value_size;
};

#define LX_SCX_MAP(map)                                                                                                \
	(&(struct lx_scx_map){                                                                                         \
		.declared = (map),                                                                                     \
		.type = sizeof(*(map)->type) / sizeof(int),                                                            \
		.entries = sizeof(*(map)->max_entries) / sizeof(int),                                                  \
		.key_size = sizeof(*(map)->key),                                                                       \
		.value_size = sizeof(*(map)->value),                                                                   \
	})

struct task_struct;
struct bpf_timer;

void *lx_scx_map_lookup(const struct lx_scx_map *map, const void *key);
long lx_scx_map_update(const struct lx_scx_map *map, const void *key, const void *value);
long lx_scx_map_delete(const struct lx_scx_map *map, const void *key);
void *lx_scx_storage_get(const void *declared, u32 size, struct task_struct *p, u64 flags);
void lx_scx_spin_lock(u32 *lock);
void lx_scx_spin_unlock(u32 *lock);
long lx_scx_timer_init(struct bpf_timer *timer, const void *map);
long lx_scx_timer_set_callback(struct bpf_timer *timer, void *callback);
long lx_scx_timer_start(struct bpf_timer *timer, u64 at, u64 flags);

#define bpf_map_lookup_elem(map, key) ((__typeof__((map)->value))lx_scx_map_lookup(LX_SCX_MAP(map), (key)))
#define bpf_map_update_elem(map, key, from, flags) lx_scx_map_update(LX_SCX_MAP(map), (key), (from))
#define bpf_map_delete_elem(map, key) lx_scx_map_delete(LX_SCX_MAP(map), (key))
#define bpf_task_storage_get(map, task, from, flags)                                                                   \
	((__typeof__((map)->value))lx_scx_storage_get((map), sizeof(*(map)->value), (task), (flags)))
#define bpf_spin_lock(lock) lx_scx_spin_lock((u32 *)(lock))
#define bpf_spin_unlock(lock) lx_scx_spin_unlock((u32 *)(lock))
#define bpf_timer_init(timer, map, clock) lx_scx_timer_init((timer), (map))
#define bpf_timer_set_callback(timer, callback) lx_scx_timer_set_callback((timer), (void *)(callback))
#define bpf_timer_start(timer, at, flags) lx_scx_timer_start((timer), (at), (flags))

/* The run queue of a CPU, as far as it is modelled. */
const void *lx_scx_run_queue(u32 cpu);
#define bpf_per_cpu_ptr(variable, cpu) ((__typeof__(variable))lx_scx_run_queue(cpu))

u64 bpf_ktime_get_ns(void);
u32 bpf_get_smp_processor_id(void);
u32 bpf_get_prandom_u32(void);
u64 bpf_get_current_pid_tgid(void);
struct task_struct *bpf_get_current_task_btf(void);
long bpf_task_pt_regs(struct task_struct *p);
long bpf_probe_read_user(void *to, u32 size, const void *from);
#define bpf_probe_read_kernel_str(to, size, from) ((void)(to), (void)(from))

#define bpf_for(i, first, end) for ((i) = (first); (i) < (end); (i)++)

/* As libbpf has it; the iterator ends with the loop. */
#define bpf_for_each(type, cur, args...)                                                                               \
	for (struct bpf_iter_##type it_ __attribute__((cleanup(bpf_iter_##type##_destroy))),                           \
	     *new_ __attribute__((unused)) = (bpf_iter_##type##_new(&it_, args), &it_);                                \
	     ((cur) = bpf_iter_##type##_next(&it_));)

#define ___bpf_narg(args...) (sizeof((unsigned long long[]){args}) / sizeof(unsigned long long))
#define ___bpf_fill(array, args...)                                                                                    \
	do {                                                                                                           \
		unsigned long long filled_[] = {args};                                                                 \
                                                                                                                       \
		if (sizeof(filled_))                                                                                   \
			__builtin_memcpy(array, filled_, sizeof(filled_));                                             \
	} while (0)

#endif
