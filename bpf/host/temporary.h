#ifndef LX_TEMPORARY_H
#define LX_TEMPORARY_H
struct lx_reserve { u64 period_start, used, period, runtime; };
struct lx_admission { u64 limit; u64 total; };
LX_INLINE void lx_reserve_charge(struct lx_reserve *r, u64 used, u64 now) { (void)r; (void)used; (void)now; }
LX_INLINE int lx_reserve_admits(struct lx_reserve *r, u64 now) { (void)r; (void)now; return 1; }
LX_INLINE u64 lx_wake_up(struct lx_state *s, u32 task, u64 now) { return now; }
LX_INLINE void lx_admission_leave(struct lx_admission *a, u64 bw) { a->total -= bw; }
LX_INLINE void lx_admission_init(struct lx_admission *a, u64 share, u32 cpus) { a->limit = share * cpus; a->total = 0; }
LX_INLINE int lx_admission_enter(struct lx_admission *a, u64 c, u64 d, u64 t, u64 *bw) { *bw = (c << 20) / t; if ((a->total + *bw) > a->limit << 10) return -16; a->total += *bw; return 0; }
LX_INLINE u32 lx_priority_of(u64 d) { return d >> 10; }
#endif
