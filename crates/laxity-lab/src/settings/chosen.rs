//! What is set for the tasks of one cell: priorities or reservations with which the scheduler's own test accepts them, overheads
//! included, and which the kernel admits. It is asked by placements, too.

use super::cells::{Cells, Inside};
use super::order::{Order, order_of};
use laxity_analysis::settings::{Reservation, choose};
use laxity_model::PriorityRule;
use laxity_place::Acceptance;

/// Choices of reservations that are tried for a cell.
const CHOICES: u64 = 512;

/// What is set for the tasks of a cell, in their order.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// On a CPU of speed 1.
    Reservations(Vec<Reservation>),
    /// The level of each, 0 the highest.
    Levels(Order, Vec<usize>),
}

impl Cells<'_> {
    /// What is set for these tasks, by id, on a cell; nothing if nothing is proven.
    pub fn choose(&self, cell: usize, ids: &[usize]) -> Option<Chosen> {
        let (cpus, speed) = &self.cells[cell];
        let numbers: Vec<usize> = ids.iter().map(|id| self.numbers[id]).collect();
        let inside =
            Inside { cells: self, processors: u32::try_from(cpus.len()).ok()?, speed: (*speed)?, numbers };
        if self.scheduler.rule == PriorityRule::EarliestDeadlineFirst {
            if !inside.may_be_granted() {
                return None;
            }
            let lists: Vec<_> =
                inside.numbers.iter().map(|&number| self.candidates[number].clone()).collect();
            return choose(&lists, CHOICES, |of| inside.grants(of)).map(Chosen::Reservations);
        }
        if !inside.is_within_share() {
            return None;
        }
        order_of(&inside).map(|(order, levels)| Chosen::Levels(order, levels))
    }

    /// What a choice costs, in units of 2^-64 of a core: priorities nothing.
    pub fn cost(&self, chosen: &Chosen) -> u128 {
        match chosen {
            Chosen::Reservations(of) => of.iter().map(bandwidth_q64).sum(),
            Chosen::Levels(..) => 0,
        }
    }

    /// What every choice costs at the least.
    pub fn least_cost(&self) -> u128 {
        match self.scheduler.rule {
            PriorityRule::EarliestDeadlineFirst => {
                self.candidates.iter().filter_map(|list| list.first()).map(bandwidth_q64).sum()
            }
            PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => 0,
        }
    }
}

fn bandwidth_q64(one: &Reservation) -> u128 {
    (u128::from(one.runtime_ns) << 64) / u128::from(one.period_ns)
}

impl Acceptance for Cells<'_> {
    fn name(&self) -> String {
        format!("what can be set for {}", self.scheduler)
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        self.choose(bin, tasks).is_some()
    }
}
