//! Progress of simulations, and their interruption.

use super::Control;
use crate::observer::{Observer, watched};
use laxity_model::Result;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::Duration;

/// How often the interruption is looked for and progress told.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` while another thread tells how many of the `expected` jobs are simulated, and passes an interruption on.
pub fn watching(
    control: &Control,
    interrupt: &AtomicBool,
    expected: u128,
    observer: &dyn Observer,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    watched(|over| watch(control, interrupt, expected, observer, over), work)
}

fn watch(
    control: &Control,
    interrupt: &AtomicBool,
    expected: u128,
    observer: &dyn Observer,
    over: &AtomicBool,
) {
    let expected = u64::try_from(expected).unwrap_or(u64::MAX);
    let step = observer.simulation(expected);
    while !over.load(SeqCst) {
        if interrupt.load(SeqCst) {
            control.stop.store(true, SeqCst);
        }
        step.show(control.jobs.load(Relaxed).min(expected), expected, "");
        std::thread::park_timeout(LOOK);
    }
    step.end(None);
}
