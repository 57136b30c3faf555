//! What measuring a simulated system would show of its costs, at most.
//!
//! Accounting and simulator mean different things by the same columns. The simulator's costs are of the work alone, and waiting
//! comes on top of them. Accounting has no term for waiting: its columns are what was *observed* (Brandenburg 2011, chapter 3; as
//! `laxity run --record-overheads` and Feather-Trace record them), with the waiting in them. So a set that is accepted with some numbers
//! may miss when the same numbers are simulated; one that is accepted with what is observed under them may not.
//!
//! What is waited for in a cell of k CPUs and n tasks, each at most once per job and n of them at a time:
//!
//! 1. Where all CPUs share one lock, a section waits for one of every other core: sch' = sch + (k - 1) most, rel' =
//!    rel + (k - 1) most, where most is the longest of them. Under push-pull no section waits for more. Under
//!    G-EDF-MP clients wait for no other, as the scheduling CPU is done with their links in no time; but it waits
//!    for their sections, link by link: rel' = rel + 2 (k - 1) sch, dsp' = dsp + 2 (k - 1) sch.
//! 2. Once a CPU decides for a job that matters less, it switches to it, and interrupts wait until it has: ipi' = ipi + sch' + cxs.
//! 3. A release interrupt waits as well: ev' = ev + n (sch' + cxs). Not 1, as a CPU that is asked to reschedule by a handler does
//!    so before it takes the interrupts that have come meanwhile: up to n - 1 jobs may be switched to in vain.
//! 4. On a dedicated CPU handlers wait for each other: ev' = ev + (n - 1) rel' + tck + 2 n dsp'. Accounting counts none of them there.
//! 5. G-EDF-MP: a request waits for all that the scheduling CPU may have to do before: req' = req + n rel' + tck + 2 n dsp'.
//!
//! A task that is alone waits for no other's sections: 2 and 3 add nothing then.

use laxity_analysis::overheads::{Monotone, Overhead, Overheads};

/// The simulator's costs in ns for a number of tasks, in the order of [`Overhead::ALL`].
pub type Row = [u64; Overhead::ALL.len()];

/// A cell, as far as waiting in it goes.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// All its CPUs.
    pub cores: u64,
    /// Whether one of them runs no tasks.
    pub dedicated: bool,
    /// Whether that one decides for the others, which send it messages.
    pub messages: bool,
}

/// What accounting is to be told where these are the costs for `n` tasks.
pub fn observed(costs: Row, n: u64, shape: Shape) -> Row {
    let [ipi, schedule, release, switch, tick, latency, request, dsp] = costs;
    let others = shape.cores - 1;
    let (waits, of_the_dedicated) = if shape.messages {
        (0, 2 * others * schedule)
    } else {
        let most = schedule.max(release);
        (others * most, others * most)
    };
    let [schedule, release, dsp] = [schedule + waits, release + of_the_dedicated, dsp + of_the_dedicated];
    let of_another = if n > 1 { schedule + switch } else { 0 };
    let before_a_request = n * release + tick + 2 * n * dsp;
    let before_a_release = if shape.dedicated { before_a_request - release } else { n * of_another };
    let [ipi, latency, request] = [ipi + of_another, latency + before_a_release, request + before_a_request];
    [ipi, schedule, release, switch, tick, latency, request, dsp]
}

/// Columns for all numbers of tasks up to `most`.
pub fn columns(row: impl Fn(u64) -> Row, most: u64) -> Overheads {
    let kinds = Overhead::ALL.into_iter().enumerate();
    kinds.fold(Overheads::none(), |overheads, (column, kind)| {
        let points = (1..=most).map(|n| (n, row(n)[column]));
        overheads.with(kind, Monotone::through(points).expect("small numbers"))
    })
}
