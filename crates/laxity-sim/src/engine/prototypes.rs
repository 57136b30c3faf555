//! Prototypes, which choose for all CPUs of a cell at once, and may choose what cannot be.

use super::Engine;
use crate::observer::Observer;
use laxity_model::{Duration, Result};

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// Brings all jobs of a cell up to date if its prototype is about to choose: it sees what they have used.
    pub(super) fn account_before_choice(&mut self, cell: usize) {
        if self.cells[cell].instance.is_to_choose() {
            for place in 0..self.cells[cell].cpus.len() {
                self.account(self.cells[cell].cpus[place] as usize);
            }
        }
    }

    /// Whether all prototypes have chosen what can be.
    pub(super) fn check_prototypes(&self) -> Result<()> {
        match self.cells.iter().find_map(|cell| cell.instance.failure()) {
            None => Ok(()),
            Some(failure) => Err(failure.clone().context(format!("at {}", Duration::from_ns(self.now_ns)))),
        }
    }
}
