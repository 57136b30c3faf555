/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Products of two times, exactly: they have up to 128 bits, for which BPF has no type. Linux shifts the factors instead
 * (dl_entity_overflow), and rounds.
 */
#ifndef LX_WIDE_H
#define LX_WIDE_H

#include "seam.h"

struct lx_wide {
	u64 high;
	u64 low;
};

/* a * b */
LX_INLINE struct lx_wide lx_wide_product(u64 a, u64 b)
{
	u64 a_low = (u32)a, a_high = a >> 32;
	u64 b_low = (u32)b, b_high = b >> 32;
	u64 low = a_low * b_low;
	/* Below 2^64: (2^32 - 1)^2 + 2^32 - 1. */
	u64 middle = a_high * b_low + (low >> 32);
	/* Likewise. */
	u64 rest = a_low * b_high + (u32)middle;

	return (struct lx_wide){a_high * b_high + (middle >> 32) + (rest >> 32), rest << 32 | (u32)low};
}

/* Whether a > b. */
LX_INLINE int lx_wide_exceeds(struct lx_wide a, struct lx_wide b)
{
	return (a.high > b.high) | ((a.high == b.high) & (a.low > b.low));
}

/*
 * a / divisor, rounded down, where the divisor is positive, below 2^62 and greater than a.high, so that the quotient fits. A
 * bit per round, without branches, so the verifier sees one path.
 */
LX_INLINE u64 lx_wide_quotient(struct lx_wide a, u64 divisor)
{
	u32 bits = 64;

	while (bits > 0 && LX_MAY_LOOP) {
		u64 rest = a.high << 1 | a.low >> 63;
		/* The sign of the difference: neither is 2^63 or more. */
		u64 fits = 1 ^ ((rest - divisor) >> 63);

		a.high = rest - (divisor & -fits);
		a.low = a.low << 1 | fits;
		bits--;
	}
	return a.low;
}

#endif
