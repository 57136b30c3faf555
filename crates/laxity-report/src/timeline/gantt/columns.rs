//! Columns of equal, round spans of time, and their ticks.

use super::super::exact;

/// Spans per power of ten, in hundredths: close enough to each other that little room is wasted.
const SPANS: [u64; 11] = [100, 125, 150, 200, 250, 300, 400, 500, 600, 800, 1000];

/// Columns between ticks, at least: enough for a label.
const TICK_COLUMNS: u64 = 10;

/// The columns of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// What a column spans.
    pub(super) span_ns: u64,
    pub(super) count: usize,
}

impl Columns {
    /// As many columns as fit into `room` and have a round span. The window is not empty, the room neither.
    pub(super) fn fitting(from_ns: u64, to_ns: u64, room: usize) -> Columns {
        let length = to_ns - from_ns;
        let room = u64::try_from(room).unwrap_or(u64::MAX).max(1);
        let span_ns = round_up(length.div_ceil(room));
        let count = usize::try_from(length.div_ceil(span_ns)).unwrap_or(usize::MAX);
        Columns { from_ns, to_ns, span_ns, count }
    }

    /// The column of an instant in the window.
    pub(super) fn at(&self, ns: u64) -> Option<usize> {
        let inside = (self.from_ns..self.to_ns).contains(&ns);
        inside.then(|| usize::try_from((ns - self.from_ns) / self.span_ns).ok()).flatten()
    }

    /// The column of a mark, for which the end of the window belongs to the last column.
    pub(super) fn mark(&self, ns: u64) -> Option<usize> {
        if ns == self.to_ns { self.count.checked_sub(1) } else { self.at(ns) }
    }

    /// The columns of an interval inside the window, each with how much of it the interval takes.
    pub(super) fn shares(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = (usize, u64)> {
        let (from, to) = (from_ns.max(self.from_ns), to_ns.min(self.to_ns));
        let first = self.at(from).filter(|_| from < to);
        let last = if to > from { self.at(to - 1) } else { None };
        let columns = first.zip(last).map_or(0..0, |(first, last)| first..last + 1);
        let columns_of = *self;
        columns.map(move |column| {
            let start = columns_of.start(column);
            let end = start.saturating_add(columns_of.span_ns);
            (column, to.min(end) - from.max(start))
        })
    }

    /// Where a column begins.
    fn start(&self, column: usize) -> u64 {
        self.from_ns + u64::try_from(column).unwrap_or(u64::MAX) * self.span_ns
    }

    /// Columns with a tick, and their labels. Ticks are multiples of 1, 2 or 5 times a power of ten; a window near the end of
    /// 64-bit time may have none.
    pub(super) fn ticks(&self) -> Vec<(usize, String)> {
        let step = tick_step(self.span_ns.saturating_mul(TICK_COLUMNS));
        let first = self.from_ns.checked_next_multiple_of(step);
        let ticks = std::iter::successors(first, |tick| tick.checked_add(step));
        let ticks = ticks.map_while(|ns| self.at(ns).map(|column| (column, ns)));
        ticks.map(|(column, ns)| (column, exact(ns))).collect()
    }
}

/// The smallest round span that is not smaller.
fn round_up(ns: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for span in SPANS {
            let product = power.saturating_mul(span);
            // Hundredths of a ns are no span.
            if product.is_multiple_of(100) && product / 100 >= ns.max(1) {
                return product / 100;
            }
        }
        match power.checked_mul(10) {
            Some(next) => power = next,
            None => return ns,
        }
    }
}

fn tick_step(least: u64) -> u64 {
    let steps = (0..19u32).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)));
    { steps }.find(|step| *step >= least).unwrap_or(5 * 10u64.pow(18))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_are_round() {
        for (ns, round) in
            [(0, 1), (1, 1), (2, 2), (7, 8), (11, 15), (101, 125), (126, 150), (999, 1000), (1001, 1250)]
        {
            assert_eq!(round_up(ns), round, "{ns}");
        }
        assert_eq!(tick_step(11), 20);
        assert_eq!(Columns::fitting(0, 20_000_000, 45).span_ns, 500_000);
    }

    #[test]
    fn a_window_at_the_end_of_time_has_the_ticks_that_there_are() {
        let columns = |from_ns| Columns::fitting(from_ns, u64::MAX, 40);
        let first = columns(u64::MAX / 1_000 * 1_000).ticks().first().map(|tick| tick.0);
        assert_eq!(first, Some(0));
        // 18446744073709551620 would be the first.
        assert_eq!(columns(u64::MAX - 4).ticks(), []);
    }

    laxity_seeds::properties! {
        #[test]
        fn shares_add_up(from in 0u64..1_000, length in 1u64..10_000, room in 1usize..90, a in 0u64..12_000, b in 0u64..12_000) {
            let columns = Columns::fitting(from, from + length, room);
            prop_assert!(columns.count <= room);
            let (a, b) = (a.min(b), a.max(b));
            let shares: Vec<(usize, u64)> = columns.shares(a, b).collect();
            let inside = b.min(from + length).saturating_sub(a.max(from));
            prop_assert_eq!(shares.iter().map(|share| share.1).sum::<u64>(), inside);
            prop_assert!(shares.iter().all(|(column, ns)| *column < columns.count && *ns > 0 && *ns <= columns.span_ns));
        }

        #[test]
        fn any_window_has_columns_and_few_ticks(from in any::<u64>(), length in 1u64.., room in 20usize..300) {
            let columns = Columns::fitting(from, from.saturating_add(length).max(from.saturating_add(1)).max(1), room);
            prop_assert!(columns.ticks().len() <= room / 10 + 1);
        }
    }
}
