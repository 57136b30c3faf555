//! What one cache holds: ranges of lines, the one walked longest ago first.
//!
//! A cyclic walk finds either all of a range or nothing of it: its lines are all equally long ago, and the first that is missing takes
//! the place of the next. So a range goes as a whole when there is no room for all of it.

/// All lines, in parts per million.
pub(super) const ALL_PPM: u64 = 1_000_000;

/// Lines `from..to` of a segment, walked one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub segment: u32,
    pub from_line: u64,
    pub to_line: u64,
}

/// A range, and how many of its lines others have written since, wherever they are in it.
#[derive(Debug, Clone, Copy)]
struct Entry {
    range: Range,
    stale_lines: u64,
}

/// One cache.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub capacity_lines: u64,
    fresh_lines: u64,
    entries: Vec<Entry>,
    /// What is here of each segment; nothing of those beyond. Most segments are in few caches: nothing is looked for elsewhere, and for
    /// no longer than until all of it has been found.
    of_segment: Vec<OfSegment>,
}

/// How many entries of a segment are in a cache, and how many fresh lines they have in all.
#[derive(Debug, Clone, Copy, Default)]
struct OfSegment {
    entries: u32,
    fresh_lines: u64,
}

impl Range {
    pub fn len(self) -> u64 {
        self.to_line - self.from_line
    }

    /// How many lines both have.
    fn common(self, other: Range) -> u64 {
        let (from, to) = (self.from_line.max(other.from_line), self.to_line.min(other.to_line));
        if self.segment == other.segment { to.saturating_sub(from) } else { 0 }
    }
}

/// `part` of `whole` things of which `of` are wanted, rounded up; none of none.
fn share_up(part: u64, of: u64, whole: u64) -> u64 {
    // Numbers of lines nearly always fit, and a division of 128 bits takes several times as long.
    if let Some(product) = part.checked_mul(of) {
        return if product == 0 { 0 } else { product.div_ceil(whole.max(1)) };
    }
    let share = (u128::from(part) * u128::from(of)).div_ceil(u128::from(whole.max(1)));
    u64::try_from(share).expect("a part of something that fits")
}

impl Entry {
    fn fresh(self) -> u64 {
        self.range.len() - self.stale_lines
    }

    /// How many of so many of its lines are stale.
    fn stale_of(self, lines: u64) -> u64 {
        if self.stale_lines == 0 || lines == self.range.len() {
            return self.stale_lines;
        }
        share_up(self.stale_lines, lines, self.range.len())
    }

    /// What is left of it before and behind a range that has `common` lines with it.
    fn without(self, range: Range, common: u64) -> [Entry; 2] {
        let Range { segment, from_line: from, to_line: to } = self.range;
        let before = Range { segment, from_line: from, to_line: from.max(range.from_line.min(to)) };
        let behind = Range { segment, from_line: to.min(range.to_line.max(from)), to_line: to };
        let stale = self.stale_lines - self.stale_of(common);
        let rest = before.len() + behind.len();
        let stale_behind = share_up(stale, behind.len(), rest);
        [
            Entry { range: before, stale_lines: stale - stale_behind },
            Entry { range: behind, stale_lines: stale_behind },
        ]
    }
}

impl Held {
    /// Whether a range fits, if nothing else is here.
    #[inline]
    pub fn fits(&self, range: Range) -> bool {
        range.len() <= self.capacity_lines
    }

    /// Empty.
    pub fn new(capacity_lines: u64) -> Held {
        Held { capacity_lines, fresh_lines: 0, entries: Vec::new(), of_segment: Vec::new() }
    }

    /// What is here of a segment.
    #[inline]
    fn of(&self, segment: u32) -> OfSegment {
        self.of_segment.get(segment as usize).copied().unwrap_or_default()
    }

    /// More lines of a segment are fresh, or so many fewer.
    fn freshen(&mut self, segment: u32, lines: u64) {
        self.fresh_lines += lines;
        self.of_segment[segment as usize].fresh_lines += lines;
    }

    fn spoil(&mut self, segment: u32, lines: u64) {
        self.fresh_lines -= lines;
        self.of_segment[segment as usize].fresh_lines -= lines;
    }

    /// The place of the last entry of a segment before a place, where there is one.
    #[inline]
    fn last_before(&self, place: usize, segment: u32) -> Option<usize> {
        self.entries[..place].iter().rposition(|entry| entry.range.segment == segment)
    }

    /// All of a range is walked: it is what was walked last. What was walked longest ago goes until the rest fits. Returns how many of its
    /// lines were not there.
    pub fn walk(&mut self, range: Range) -> u64 {
        if !self.fits(range) {
            return self.walk_past(range);
        }
        let segment = range.segment as usize;
        if segment >= self.of_segment.len() {
            self.of_segment.resize(segment + 1, OfSegment::default());
        }
        let (mut missing, mut place) = (range.len(), self.entries.len());
        // No line is here twice: when all have been found, no other entry has any.
        let (mut unseen, mut uncovered) = (self.of_segment[segment].entries, range.len());
        while unseen > 0
            && uncovered > 0
            && let Some(found) = self.last_before(place, range.segment)
        {
            (place, unseen) = (found, unseen - 1);
            let entry = self.entries[place];
            let common = entry.range.common(range);
            if common == 0 {
                continue;
            }
            uncovered -= common;
            missing -= common - entry.stale_of(common);
            self.spoil(range.segment, entry.fresh());
            self.replace(place, &entry.without(range, common));
        }
        self.freshen(range.segment, range.len());
        match self.entries.last_mut() {
            Some(last)
                if last.stale_lines == 0
                    && last.range.segment == range.segment
                    && last.range.to_line == range.from_line =>
            {
                last.range.to_line = range.to_line;
            }
            _ => {
                self.entries.push(Entry { range, stale_lines: 0 });
                self.of_segment[segment].entries += 1;
            }
        }
        self.make_room();
        missing
    }

    /// The same for a range that does not fit: nothing is left then, not even of it.
    fn walk_past(&mut self, range: Range) -> u64 {
        let mut missing = range.len();
        for entry in self.entries.drain(..) {
            let common = entry.range.common(range);
            missing -= common - entry.stale_of(common);
            self.of_segment[entry.range.segment as usize] = OfSegment::default();
        }
        self.fresh_lines = 0;
        missing
    }

    /// `ppm` of the lines of a range are written elsewhere. Returns whether anything of its segment is here.
    pub fn written_elsewhere(&mut self, range: Range, ppm: u64) -> bool {
        let OfSegment { entries, fresh_lines } = self.of(range.segment);
        // What is stale already is what is written most often: by the same job when it began, or when it was here last.
        if fresh_lines == 0 {
            return entries > 0;
        }
        let (mut unseen, mut uncovered, mut place) = (entries, range.len(), self.entries.len());
        while unseen > 0
            && uncovered > 0
            && let Some(found) = self.last_before(place, range.segment)
        {
            (place, unseen) = (found, unseen - 1);
            let entry = &mut self.entries[place];
            let common = entry.range.common(range);
            uncovered -= common;
            if common == 0 || entry.fresh() == 0 {
                continue;
            }
            let written = if ppm == ALL_PPM { common } else { share_up(common, ppm, ALL_PPM) };
            let more = written.saturating_sub(entry.stale_of(common));
            entry.stale_lines += more;
            self.spoil(range.segment, more);
        }
        true
    }

    /// A share of a range was not loaded after all.
    pub fn not_loaded(&mut self, range: Range, (part, whole): (u64, u64)) {
        let (mut unseen, mut place) = (self.of(range.segment).entries, self.entries.len());
        while part > 0
            && unseen > 0
            && let Some(found) = self.last_before(place, range.segment)
        {
            (place, unseen) = (found, unseen - 1);
            let entry = self.entries[place];
            let common = entry.range.common(range);
            let stale = entry.stale_of(common);
            let less = share_up(common, part, whole).min(common - stale);
            if less == 0 {
                continue;
            }
            let [before, behind] = entry.without(range, common);
            let within = Range { from_line: before.range.to_line, to_line: behind.range.from_line, ..range };
            self.spoil(range.segment, entry.fresh());
            self.replace(place, &[before, Entry { range: within, stale_lines: stale + less }, behind]);
        }
    }

    /// The entry at a place, which is not counted among what is fresh any longer, becomes those of others that have lines.
    fn replace(&mut self, place: usize, parts: &[Entry]) {
        let segment = self.entries[place].range.segment;
        let mut next = place;
        for &part in parts.iter().filter(|part| part.range.len() > 0) {
            self.freshen(segment, part.fresh());
            if next == place {
                self.entries[place] = part;
            } else {
                self.entries.insert(next, part);
                self.of_segment[segment as usize].entries += 1;
            }
            next += 1;
        }
        if next == place {
            self.entries.remove(place);
            self.of_segment[segment as usize].entries -= 1;
        }
    }

    fn make_room(&mut self) {
        let mut gone = 0;
        while self.fresh_lines > self.capacity_lines {
            let entry = self.entries[gone];
            self.spoil(entry.range.segment, entry.fresh());
            self.of_segment[entry.range.segment as usize].entries -= 1;
            gone += 1;
        }
        if gone > 0 {
            self.entries.drain(..gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;
    use std::collections::BTreeSet;

    /// Without writes, in a cache that never overflows, what is there is what was walked, line by line.
    #[test]
    fn ranges_are_what_was_walked() {
        for seed in laxity_seeds::seeds!(0..2_000) {
            let mut rng = Pcg64::seed_from_u64(seed);
            let mut held = Held::new(1_000);
            let mut walked = BTreeSet::new();
            for _ in 0..40 {
                let from = rng.random_range(0..60);
                let range = Range {
                    segment: rng.random_range(0..3),
                    from_line: from,
                    to_line: rng.random_range(from..=60),
                };
                let lines = || (range.from_line..range.to_line).map(|line| (range.segment, line));
                let missing = lines().filter(|line| !walked.contains(line)).count();
                assert_eq!(
                    Ok(held.clone().walk(range)),
                    u64::try_from(missing),
                    "seed {seed}: {range:?} in {held:?}"
                );
                if rng.random_range(0..2) == 0 && range.len() > 0 {
                    held.walk(range);
                    walked.extend(lines());
                    assert_eq!(held.fresh_lines, walked.len() as u64, "seed {seed}");
                }
            }
        }
    }

    /// Whatever is walked, written and taken back: no more than fits, and every number of lines is that of its entries.
    #[test]
    fn sums_hold_whatever_happens() {
        for seed in laxity_seeds::seeds!(0..2_000) {
            let mut rng = Pcg64::seed_from_u64(seed);
            let mut held = Held::new(rng.random_range(0..100));
            for _ in 0..60 {
                let from = rng.random_range(0..60);
                let range = Range {
                    segment: rng.random_range(0..3),
                    from_line: from,
                    to_line: rng.random_range(from + 1..=61),
                };
                match rng.random_range(0..4) {
                    0 | 1 => drop(held.walk(range)),
                    2 => drop(held.written_elsewhere(range, rng.random_range(0..=1_000_000))),
                    _ => held.not_loaded(range, (rng.random_range(0..5), 5)),
                }
                let fresh: u64 = held.entries.iter().map(|entry| entry.fresh()).sum();
                assert!(held.fresh_lines == fresh && fresh <= held.capacity_lines, "seed {seed}: {held:?}");
                for segment in 0..3 {
                    let those = held.entries.iter().filter(|entry| entry.range.segment == segment);
                    let OfSegment { entries, fresh_lines } = held.of(segment);
                    assert_eq!(entries as usize, those.clone().count(), "seed {seed}: {held:?}");
                    assert_eq!(
                        fresh_lines,
                        those.map(|entry| entry.fresh()).sum::<u64>(),
                        "seed {seed}: {held:?}"
                    );
                }
                assert!(held.clone().walk(range) <= range.len(), "seed {seed}: {range:?} in {held:?}");
            }
        }
    }
}
