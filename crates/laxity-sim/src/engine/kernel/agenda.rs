//! What is to come, the first first. Most of the time that is little, and what is planned comes last: it is kept in a sorted row, and in a
//! heap what that is too short for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// So many are in the row. Sorting into a longer one costs more than a heap does.
const ROW: usize = 32;

/// What is to come, each with its time and order in one number.
pub(super) struct Agenda<T> {
    /// That of the first; the greatest one where nothing is to come.
    first: u128,
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
        Agenda { first: u128::MAX, row: VecDeque::with_capacity(ROW), heap: BinaryHeap::new() }
    }

    pub fn push(&mut self, when: u128, what: T) {
        self.first = self.first.min(when);
        let one = (when, what);
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
        self.first
    }

    /// The first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if !self.heap.is_empty() {
            return self.pop_of_many();
        }
        let popped = self.row.pop_front();
        self.first = self.row.front().map_or(u128::MAX, |one| one.0);
        popped.map(|(_, what)| what)
    }

    /// The same where the heap has some.
    fn pop_of_many(&mut self) -> Option<T> {
        let from_heap = match (self.row.front(), self.heap.peek()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(one), Some(Reverse(other))) => is_before(other, one),
        };
        let popped =
            if from_heap { self.heap.pop().map(|Reverse(other)| other) } else { self.row.pop_front() };
        let in_row = self.row.front().map_or(u128::MAX, |one| one.0);
        self.first = self.heap.peek().map_or(u128::MAX, |Reverse(other)| other.0).min(in_row);
        popped.map(|(_, what)| what)
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
