/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hierarchical bitmap over the lists of fpp (ackelman2018, 8.3): a bit of level 0 says that a list is not empty, a bit of
 * level i+1 that a word of level i is not zero. All operations: O(log n) to base 64, that is two words for 4096
 * lists; so unlike with a sequential bitmap the number of lists is of no concern.
 *
 * It is shaped for as many lists as there are tasks; s->map_offset[i] is the first word of level i in s->map, and 0 for
 * level 0, which most operations need not leave.
 */
#ifndef LX_BITMAP_H
#define LX_BITMAP_H

#include "../core.h"

LX_INLINE u64 *lx_map_word(struct lx_state *s, u32 level, u32 word)
{
	return LX_AT(s->map, *LX_AT(s->map_offset, level, LX_MAP_LEVELS_MAX) + word, LX_WORDS_MAX);
}

/* Zero bits below the lowest one, and the number of the highest one, of a word that is not zero. */
LX_INLINE u32 lx_lowest_bit(u64 word)
{
	return (u32)__builtin_ctzll(word);
}

LX_INLINE u32 lx_highest_bit(u64 word)
{
	return 63 - (u32)__builtin_clzll(word);
}

LX_FN void lx_map_init(struct lx_state *s)
{
	u32 words = s->config.tasks;
	u32 levels = 0;
	u32 total = 0;
	u32 i = 0;

	do {
		words = (words + 63) / 64;
		*LX_AT(s->map_offset, levels, LX_MAP_LEVELS_MAX) = total;
		total += words;
		levels++;
		LX_FORGET(s, words);
		LX_FORGET(s, total);
		LX_FORGET(s, levels);
	} while (words > 1 && LX_MAY_LOOP);
	s->map_levels = levels;
	while (i < total && LX_MAY_LOOP) {
		*LX_AT(s->map, i, LX_WORDS_MAX) = 0;
		i++;
		LX_FORGET(s, i);
	}
}

/* Says in the words above that word `word` of level 0 is not zero any more, or is zero again. */
LX_FN void lx_map_set_above(struct lx_state *s, u32 word)
{
	u32 level = 1;

	while (level < s->map_levels && LX_MAY_LOOP) {
		u64 *above = lx_map_word(s, level, word / 64);
		u64 before = *above;

		*above = before | 1ull << (word & 63);
		if (before)
			break;
		word /= 64;
		level++;
		LX_FORGET(s, level);
	}
}

LX_FN void lx_map_clear_above(struct lx_state *s, u32 word)
{
	u32 level = 1;

	while (level < s->map_levels && LX_MAY_LOOP) {
		u64 *above = lx_map_word(s, level, word / 64);

		*above &= ~(1ull << (word & 63));
		if (*above)
			break;
		word /= 64;
		level++;
		LX_FORGET(s, level);
	}
}

/* A list is not empty any more. */
LX_INLINE void lx_map_set(struct lx_state *s, u32 list)
{
	u64 *word = LX_AT(s->map, list / 64, LX_WORDS_MAX);
	u64 before = *word;

	*word = before | 1ull << (list & 63);
	if (!before)
		lx_map_set_above(s, list / 64);
}

/* A list is empty again. */
LX_INLINE void lx_map_clear(struct lx_state *s, u32 list)
{
	u64 *word = LX_AT(s->map, list / 64, LX_WORDS_MAX);

	*word &= ~(1ull << (list & 63));
	if (!*word)
		lx_map_clear_above(s, list / 64);
}

/* The first list below bit `at` of a level. */
LX_FN u32 lx_map_lowest(struct lx_state *s, u32 level, u32 at)
{
	while (level > 0 && LX_MAY_LOOP) {
		level--;
		at = at * 64 + lx_lowest_bit(*lx_map_word(s, level, at));
		LX_FORGET(s, level);
	}
	return at;
}

/* The last list below bit `at` of a level. */
LX_FN u32 lx_map_highest(struct lx_state *s, u32 level, u32 at)
{
	while (level > 0 && LX_MAY_LOOP) {
		level--;
		at = at * 64 + lx_highest_bit(*lx_map_word(s, level, at));
		LX_FORGET(s, level);
	}
	return at;
}

/* The first list that is not empty, or LX_NONE. */
LX_INLINE u32 lx_map_first(struct lx_state *s)
{
	u32 top = s->map_levels - 1;
	u64 word = *lx_map_word(s, top, 0);

	return word ? lx_map_lowest(s, top, lx_lowest_bit(word)) : LX_NONE;
}

/* The first list behind all of word `word` of level 0 that is not empty, or LX_NONE. */
LX_FN u32 lx_map_next_word(struct lx_state *s, u32 word)
{
	u32 found = LX_NONE;
	u32 level = 1;

	while (level < s->map_levels && LX_MAY_LOOP) {
		u64 above = *lx_map_word(s, level, word / 64) & ~0ull << (word & 63) << 1;

		if (above) {
			found = lx_map_lowest(s, level, word / 64 * 64 + lx_lowest_bit(above));
			break;
		}
		word /= 64;
		level++;
		LX_FORGET(s, level);
	}
	return found;
}

/* The last list before all of word `word` of level 0 that is not empty, or LX_NONE. */
LX_FN u32 lx_map_previous_word(struct lx_state *s, u32 word)
{
	u32 found = LX_NONE;
	u32 level = 1;

	while (level < s->map_levels && LX_MAY_LOOP) {
		u64 above = *lx_map_word(s, level, word / 64) & ((1ull << (word & 63)) - 1);

		if (above) {
			found = lx_map_highest(s, level, word / 64 * 64 + lx_highest_bit(above));
			break;
		}
		word /= 64;
		level++;
		LX_FORGET(s, level);
	}
	return found;
}

/* The first list behind `list` that is not empty, or LX_NONE. */
LX_INLINE u32 lx_map_next(struct lx_state *s, u32 list)
{
	u64 word = *LX_AT(s->map, list / 64, LX_WORDS_MAX) & ~0ull << (list & 63) << 1;

	return LX_LIKELY(word) ? list / 64 * 64 + lx_lowest_bit(word) : lx_map_next_word(s, list / 64);
}

/* The last list before `list` that is not empty, or LX_NONE. */
LX_INLINE u32 lx_map_previous(struct lx_state *s, u32 list)
{
	u64 word = *LX_AT(s->map, list / 64, LX_WORDS_MAX) & ((1ull << (list & 63)) - 1);

	return LX_LIKELY(word) ? list / 64 * 64 + lx_highest_bit(word) : lx_map_previous_word(s, list / 64);
}

#endif
