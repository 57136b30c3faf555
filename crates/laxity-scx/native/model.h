/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's way into the model, and the model's into the host: src/raw.rs has the same structures. */
#ifndef LX_SCX_MODEL_H
#define LX_SCX_MODEL_H

/* Others may go first here: at each access to what CPUs share. */
void lx_scx_shared(void);
/* An assertion of policy/ does not hold: the run ends. */
void lx_scx_assertion_failed(const char *condition, const char *file, int line);

#define LX_SHARED lx_scx_shared()
#define LX_ASSERTION_FAILED(condition) lx_scx_assertion_failed(condition, __FILE__, __LINE__)

/* Atomic accesses are accesses to what is shared. */
#define __sync_fetch_and_add(at, value) (LX_SHARED, __atomic_fetch_add((at), (value), __ATOMIC_SEQ_CST))
#define __sync_lock_test_and_set(at, value) (LX_SHARED, __atomic_exchange_n((at), (value), __ATOMIC_SEQ_CST))
#define __sync_val_compare_and_swap(at, before, after)                                                                 \
	({                                                                                                             \
		__typeof__(*(at)) found_ = (before);                                                                   \
                                                                                                                       \
		LX_SHARED;                                                                                             \
		__atomic_compare_exchange_n((at), &found_, (after), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
		found_;                                                                                                \
	})

#endif
