//! What is to come, the first first. Most of the time that is little, and what is planned comes last: it is kept in a sorted row, and in a
//! heap what that is too short for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// So many are in the row. Sorting into a longer one costs more than a heap does.
const ROW: usize = 32;

/// What is to come.
pub(super) struct Agenda<T> {
    row: VecDeque<T>,
    heap: BinaryHeap<Reverse<T>>,
}

impl<T: Ord> Agenda<T> {
    /// Nothing.
    pub fn new() -> Self {
        Agenda { row: VecDeque::with_capacity(ROW), heap: BinaryHeap::new() }
    }

    pub fn push(&mut self, one: T) {
        if self.row.len() >= ROW {
            self.heap.push(Reverse(one));
            return;
        }
        let mut place = self.row.len();
        while place > 0 && one < self.row[place - 1] {
            place -= 1;
        }
        if place == self.row.len() {
            self.row.push_back(one);
        } else {
            self.row.insert(place, one);
        }
    }

    /// The first.
    #[inline]
    pub fn peek(&self) -> Option<&T> {
        match (self.row.front(), self.heap.peek()) {
            (Some(one), Some(Reverse(other))) => Some(one.min(other)),
            (Some(one), None) => Some(one),
            (None, other) => other.map(|Reverse(other)| other),
        }
    }

    pub fn pop(&mut self) -> Option<T> {
        let from_heap = match (self.row.front(), self.heap.peek()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(one), Some(Reverse(other))) => other < one,
        };
        if from_heap { self.heap.pop().map(|Reverse(other)| other) } else { self.row.pop_front() }
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
                    let one = (random.between(0, 50), random.between(0, 3));
                    agenda.push(one);
                    heap.push(Reverse(one));
                } else {
                    assert_eq!(agenda.peek(), heap.peek().map(|Reverse(one)| one), "seed {seed}");
                    assert_eq!(agenda.pop(), heap.pop().map(|Reverse(one)| one), "seed {seed}");
                }
            }
        }
    }
}
