//! The total order of jobs, and sets of jobs in that order.

/// What goes before what: by an absolute deadline in ns or a priority, the smallest first, then by the task's id.
pub(super) type Rank = (u64, u32);

/// More ranks in one block are two blocks.
const BLOCK: usize = 64;

/// Fewer ranks are quicker looked at one by one.
const FEW: usize = 8;

/// A set of jobs in an order, at whose end it is quickest to put in and to take out: in that of priorities, or the
/// `REVERSED` one.
///
/// There are a few jobs in most sets, and for these nothing is as quick as looking at all of them: so ranks are in sorted blocks,
/// of which small sets have one. What goes in or out moves at most a block, and where blocks come and go, which is once in many
/// times, the others.
#[derive(Debug, Default)]
pub(super) struct Ranks<const REVERSED: bool> {
    /// The last one. Where it is empty, so are the others.
    top: Vec<Rank>,
    /// None is empty.
    below: Vec<Vec<Rank>>,
    len: usize,
}

/// In the order of priorities: what goes last is at the end.
pub(super) type ByLast = Ranks<false>;

/// What goes first is at the end.
pub(super) type ByFirst = Ranks<true>;

impl<const REVERSED: bool> Ranks<REVERSED> {
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The one at the end.
    #[inline]
    pub fn end(&self) -> Option<Rank> {
        self.top.last().copied()
    }

    /// Puts in a rank that is not there, and comes behind all others in most cases.
    #[inline(always)]
    pub fn push(&mut self, rank: Rank) {
        if self.top.len() < BLOCK && self.end().is_none_or(|end| comes_before::<REVERSED>(end, rank)) {
            self.top.push(rank);
            self.len += 1;
        } else {
            self.insert_among_many(rank);
        }
    }

    /// Takes the one at the end out.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Rank> {
        let rank = self.top.pop()?;
        self.len -= 1;
        if self.top.is_empty() {
            self.open_top();
        }
        Some(rank)
    }

    /// The last block is empty.
    #[inline]
    fn open_top(&mut self) {
        if let Some(top) = self.below.pop() {
            self.top = top;
        }
    }

    /// Puts in a rank that is not there.
    #[inline(always)]
    pub fn insert(&mut self, rank: Rank) {
        if self.below.is_empty() && self.top.len() < FEW {
            self.len += 1;
            self.top.push(rank);
            // As its place is looked for, it is made.
            let mut moved = &mut self.top[..];
            while let [.., before, last] = moved
                && comes_before::<REVERSED>(rank, *before)
            {
                std::mem::swap(before, last);
                let left = moved.len() - 1;
                moved = &mut moved[..left];
            }
        } else {
            self.insert_among_many(rank);
        }
    }

    fn insert_among_many(&mut self, rank: Rank) {
        self.len += 1;
        let at = self.block_of(rank);
        let block = self.below.get_mut(at).unwrap_or(&mut self.top);
        let place = place_of::<REVERSED>(block, rank);
        block.insert(place, rank);
        if block.len() > BLOCK {
            let upper = block.split_off(BLOCK / 2);
            if at < self.below.len() {
                self.below.insert(at + 1, upper);
            } else {
                self.below.push(std::mem::replace(&mut self.top, upper));
            }
        }
    }

    /// Takes a rank out, if it is there.
    #[inline(always)]
    pub fn remove(&mut self, rank: Rank) {
        if self.below.is_empty() && self.top.len() <= FEW {
            if let Some(place) = self.top.iter().position(|&other| other == rank) {
                self.len -= 1;
                let mut behind = &mut self.top[place..];
                while let [gone, next, ..] = behind {
                    std::mem::swap(gone, next);
                    behind = &mut behind[1..];
                }
                self.top.pop();
            }
        } else {
            self.remove_from_many(rank);
        }
    }

    fn remove_from_many(&mut self, rank: Rank) {
        let at = self.block_of(rank);
        let block = self.below.get_mut(at).unwrap_or(&mut self.top);
        let place = place_of::<REVERSED>(block, rank);
        if block.get(place) != Some(&rank) {
            return;
        }
        self.len -= 1;
        block.remove(place);
        if self.top.is_empty() {
            self.open_top();
        } else if self.below.get(at).is_some_and(Vec::is_empty) {
            self.below.remove(at);
        }
    }

    /// The block below that has the rank, or would; as many as there are: the last one.
    fn block_of(&self, rank: Rank) -> usize {
        let is_before =
            |block: &Vec<Rank>| block.last().is_some_and(|&last| comes_before::<REVERSED>(last, rank));
        self.below.partition_point(is_before)
    }

    /// All of them, in its order.
    fn in_order(&self) -> impl DoubleEndedIterator<Item = Rank> + '_ {
        self.below.iter().flatten().chain(&self.top).copied()
    }
}

impl ByLast {
    /// All of them, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = Rank> + '_ {
        self.in_order()
    }

    /// Those of this key, which is that of the last one.
    pub fn equals(&self, key: u64) -> Vec<Rank> {
        let mut equals: Vec<Rank> = self.in_order().rev().take_while(|rank| rank.0 == key).collect();
        equals.reverse();
        equals
    }
}

impl ByFirst {
    /// All of them, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = Rank> + '_ {
        self.in_order().rev()
    }

    /// Those of this key, which is that of the first one.
    pub fn equals(&self, key: u64) -> Vec<Rank> {
        self.iter().take_while(|rank| rank.0 == key).collect()
    }
}

#[inline]
fn comes_before<const REVERSED: bool>(one: Rank, other: Rank) -> bool {
    if REVERSED { one > other } else { one < other }
}

/// Where a rank is, or would be, in a block.
fn place_of<const REVERSED: bool>(block: &[Rank], rank: Rank) -> usize {
    block.partition_point(|&other| comes_before::<REVERSED>(other, rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;
    use std::collections::BTreeSet;

    /// Beside a set of the library.
    #[test]
    fn a_set_has_what_was_put_in_and_not_taken_out() {
        for seed in laxity_seeds::seeds!(0..300) {
            let mut random = Pcg64::seed_from_u64(seed);
            // Small sets and those of many blocks; some with equal keys.
            let (keys, tasks) = [(4, 6), (30, 8), (1 << 40, 700)][usize::try_from(seed % 3).expect("small")];
            let (mut first, mut last) = (ByFirst::default(), ByLast::default());
            let (mut of_first, mut of_last) = (BTreeSet::new(), BTreeSet::new());
            for step in 0..4_000 {
                let rank = (random.random_range(0..keys), random.random_range(0..tasks));
                // By turns they grow and shrink.
                let grows = random.random_range(0..10) < if step / 1_000 % 2 == 0 { 8 } else { 2 };
                match random.random_range(0..4) {
                    0 if !grows => {
                        assert_eq!(first.pop(), of_first.pop_first(), "seed {seed}");
                        assert_eq!(last.pop(), of_last.pop_last(), "seed {seed}");
                    }
                    1 if grows && step % 2 == 0 => {
                        // As one that comes behind all others but does not, of jobs that stand in for others.
                        if of_first.insert(rank) {
                            first.push(rank);
                        }
                        if of_last.insert(rank) {
                            last.push(rank);
                        }
                    }
                    1 if grows => {
                        let before = of_first.first().map_or((keys, 0), |&(key, task): &Rank| (key, task));
                        if let Some(task) = before.1.checked_sub(1) {
                            of_first.insert((before.0, task));
                            first.push((before.0, task));
                        }
                        let behind = of_last.last().map_or((keys, 0), |&(key, task): &Rank| (key, task + 1));
                        of_last.insert(behind);
                        last.push(behind);
                    }
                    _ if grows => {
                        if of_first.insert(rank) {
                            first.insert(rank);
                        }
                        if of_last.insert(rank) {
                            last.insert(rank);
                        }
                    }
                    _ => {
                        let gone = of_first.range(rank..).next().copied().unwrap_or(rank);
                        of_first.remove(&gone);
                        first.remove(gone);
                        let gone = of_last.range(rank..).next().copied().unwrap_or(rank);
                        of_last.remove(&gone);
                        last.remove(gone);
                    }
                }
                assert_eq!((first.len(), first.end()), (of_first.len(), of_first.first().copied()));
                assert_eq!((last.len(), last.end()), (of_last.len(), of_last.last().copied()));
                if step % 50 == 0 {
                    assert!(first.iter().eq(of_first.iter().copied()), "seed {seed}");
                    assert!(last.iter().eq(of_last.iter().copied()), "seed {seed}");
                    if let (Some((least, _)), Some((most, _))) = (first.end(), last.end()) {
                        let equals = of_first.range((least, 0)..=(least, u32::MAX)).copied();
                        assert!(first.equals(least).into_iter().eq(equals), "seed {seed}");
                        let equals = of_last.range((most, 0)..=(most, u32::MAX)).copied();
                        assert!(last.equals(most).into_iter().eq(equals), "seed {seed}");
                    }
                }
            }
        }
    }
}
