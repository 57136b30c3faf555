//! What is to come, the first first. Most of the time that is one thing, or little, and what is planned comes last: the first has a
//! place of its own, the others are kept in a sorted row, and in a heap what that is too short for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// So many are in the row. Sorting into a longer one costs more than a heap does.
const ROW: usize = 32;

/// What is to come, each with its time and order in one number.
pub(super) struct Agenda<T> {
    /// That of the first; the greatest one where nothing is to come.
    when: u128,
    first: Option<T>,
    row: VecDeque<(u128, T)>,
    heap: BinaryHeap<Reverse<(u128, T)>>,
}

/// Whether one comes before another. Hardly ever do two have the same number: then what they are decides.
#[inline]
fn is_before<T: Ord>(one: &(u128, T), other: &(u128, T)) -> bool {
    one.0 < other.0 || (one.0 == other.0 && one.1 < other.1)
}

impl<T: Ord> Agenda<T> {
    /// Nothing.
    pub fn new() -> Self {
        let (row, heap) = (VecDeque::with_capacity(ROW), BinaryHeap::new());
        Agenda { when: u128::MAX, first: None, row, heap }
    }

    #[inline]
    pub fn push(&mut self, when: u128, what: T) {
        match self.first.take() {
            None => (self.when, self.first) = (when, Some(what)),
            Some(first) => self.push_to_others((self.when, first), (when, what)),
        }
    }

    /// The first, as it was, and another one.
    fn push_to_others(&mut self, first: (u128, T), one: (u128, T)) {
        let (first, one) = if is_before(&one, &first) { (one, first) } else { (first, one) };
        (self.when, self.first) = (first.0, Some(first.1));
        if self.row.len() >= ROW {
            self.heap.push(Reverse(one));
            return;
        }
        let mut place = self.row.len();
        while place > 0 && is_before(&one, &self.row[place - 1]) {
            place -= 1;
        }
        if place == self.row.len() {
            self.row.push_back(one);
        } else {
            self.row.insert(place, one);
        }
    }

    /// When the first comes; the greatest number if nothing does.
    #[inline]
    pub fn first(&self) -> u128 {
        self.when
    }

    /// The first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let popped = self.first.take();
        self.when = u128::MAX;
        if !(self.row.is_empty() && self.heap.is_empty()) {
            self.next();
        }
        popped
    }

    /// The first of the others becomes the first.
    fn next(&mut self) {
        let from_heap = match (self.row.front(), self.heap.peek()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(one), Some(Reverse(other))) => is_before(other, one),
        };
        let next = if from_heap { self.heap.pop().map(|Reverse(other)| other) } else { self.row.pop_front() };
        if let Some((when, what)) = next {
            (self.when, self.first) = (when, Some(what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_seeds::Random;

    #[test]
    fn comes_in_the_order_of_a_heap() {
        for seed in laxity_seeds::seeds!(0..500) {
            let mut random = Random(seed);
            let (mut agenda, mut heap) = (Agenda::new(), BinaryHeap::new());
            let most = random.between(1, 100);
            for _ in 0..600 {
                // Fewer and fewer, then more again.
                if random.between(0, 99) < most {
                    let (when, what) = (u128::from(random.between(0, 50)), random.between(0, 3));
                    agenda.push(when, what);
                    heap.push(Reverse((when, what)));
                } else {
                    let first = heap.peek().map_or(u128::MAX, |Reverse(one)| one.0);
                    assert_eq!(agenda.first(), first, "seed {seed}");
                    assert_eq!(agenda.pop(), heap.pop().map(|Reverse(one)| one.1), "seed {seed}");
                }
            }
        }
    }
}
