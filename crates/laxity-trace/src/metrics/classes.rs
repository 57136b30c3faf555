//! Values counted in classes: every power of two is split into [`CLASSES`] of equal width, so that a class is at most 1/128 as wide
//! as the values in it (the log-linear histogram of HdrHistogram). Below 256 a class is a single value.

use std::ops::RangeInclusive;

/// Classes per power of two.
const CLASSES: usize = 1 << CLASS_BITS;
const CLASS_BITS: u32 = 7;

/// Values of a run that are kept as they are, shared among its tasks: 2 MiB of them.
const EXACT_PER_RUN: usize = 1 << 18;

/// However many tasks there are, each keeps as many.
const EXACT_PER_TASK: usize = 1024;

/// How many values of a task are kept as they are before they are counted in classes, where the run has so many tasks.
pub(super) fn exact_of_task(tasks: usize) -> usize {
    (EXACT_PER_RUN / tasks.max(1)).max(EXACT_PER_TASK)
}

/// Numbers of values per class, from the first power of two that has any.
#[derive(Debug, Clone, Default)]
pub(super) struct Classes {
    /// Index of the class of `counts[0]`, a multiple of [`CLASSES`].
    first: usize,
    counts: Vec<u64>,
}

/// The class of a value. Classes are numbered from 0 without gaps, in the order of their values.
#[inline]
fn class_of(value: u64) -> usize {
    let shift = (u64::BITS - 1 - (value | 1).leading_zeros()).saturating_sub(CLASS_BITS);
    let step = usize::try_from(value >> shift).expect("below 2 * CLASSES");
    shift as usize * CLASSES + step
}

/// The largest value of a class.
fn upper_end(class: usize) -> u64 {
    // From 2 * CLASSES on, the steps of a power of two go from CLASSES to 2 * CLASSES - 1.
    let shift = (class / CLASSES).saturating_sub(1);
    let step = (class - shift * CLASSES) as u64;
    (step << shift) + ((1u64 << shift) - 1)
}

/// The smallest value of a class.
fn lower_end(class: usize) -> u64 {
    class.checked_sub(1).map_or(0, |before| upper_end(before) + 1)
}

impl Classes {
    #[inline]
    pub(super) fn add(&mut self, value: u64, times: u64) {
        let class = class_of(value);
        match self.counts.get_mut(class.wrapping_sub(self.first)) {
            Some(count) => *count += times,
            None => *self.cover(class) += times,
        }
    }

    /// Makes room for a class, by whole powers of two, and gives its count.
    #[cold]
    fn cover(&mut self, class: usize) -> &mut u64 {
        let start = class / CLASSES * CLASSES;
        if self.counts.is_empty() {
            self.first = start;
        }
        if start < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - start));
            self.first = start;
        }
        let needed = (start + CLASSES - self.first).max(self.counts.len());
        self.counts.resize(needed, 0);
        &mut self.counts[class - self.first]
    }

    pub(super) fn merge(&mut self, other: &Classes) {
        for (class, &count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            self.add(upper_end(class), count);
        }
    }

    /// The classes that have values, ascending: the ends of each, both in it, and how many values it has.
    pub(super) fn ends(&self) -> impl DoubleEndedIterator<Item = (RangeInclusive<u64>, u64)> {
        let some = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        some.map(|(place, count)| {
            let class = self.first + place;
            (lower_end(class)..=upper_end(class), *count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_all_values_without_gaps() {
        for value in [0, 1, 2, 127, 128, 254, 255] {
            assert_eq!(
                (class_of(value), upper_end(class_of(value))),
                (usize::try_from(value).unwrap(), value)
            );
        }
        let last = class_of(u64::MAX);
        assert_eq!((last, upper_end(last)), (56 * CLASSES + 255, u64::MAX));
        for class in 0..last {
            let end = upper_end(class);
            assert_eq!((class_of(end), class_of(end + 1)), (class, class + 1), "class {class}");
            let start = lower_end(class);
            assert!(u128::from(end - start) * 128 <= u128::from(start), "class {class}: {start}..={end}");
        }
    }

    #[test]
    fn ends_are_those_of_the_classes_that_have_values() {
        let mut classes = Classes::default();
        [3, 3, 1000, 1003, 1004].into_iter().for_each(|value| classes.add(value, 1));
        let ends: Vec<(RangeInclusive<u64>, u64)> = classes.ends().collect();
        assert_eq!(ends, [(3..=3, 2), (1000..=1003, 2), (1004..=1007, 1)]);
    }
}
