//! The search: local search for the answer, exact search for the bound, in turns.
//!
//! The exact search asks for a placement at a level a step above the proven bound. If there is none, that level is the
//! new bound and the step grows; if there is one, it is the new answer (iterative weakening: Schreiber and Korf, 2014;
//! see [`super::completion`]). It ends when answer and bound are within the tolerance.
//!
//! Unless a time limit is given, a search ends after a fixed amount of work.

use super::completion::{Completion, Size, Verdict};
use super::instance::{Instance, Level};
use super::neighbourhood::Neighbourhood;
use super::subsets::{Set, TASKS_MAX};
use super::work::{Stopped, Work};

/// Work of the local search in the first round, and of the exact search.
const FIRST_ROUND: (u64, u64) = (16_000_000, 16_000_000);
/// How many groups of each size may fail in a row, per bin, in the first round of the local search.
const FIRST_PATIENCE: usize = 16;
/// Sets listed by the exact search at most: 32 MiB for each half of each kind of tasks, 64 MiB for a window.
const SIZE: Size = Size { entries: 1 << 20, window: 1 << 21 };
/// The first step of the exact search above the bound, as a part of the distance to the answer.
const FIRST_STEP: Level = 64;

/// What a search found.
pub(crate) struct Searched {
    /// By position: the bin.
    pub bin_of: Vec<usize>,
    /// No placement is below this.
    pub lower: Level,
    /// How it ended.
    pub ended: Ended,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Answer and bound are within the tolerance.
    Proven,
    /// The work of an ordinary search is done.
    Done,
    /// Stopped early.
    Stopped(Stopped),
}

struct Exact {
    completion: Completion,
    step: Level,
}

/// Improves a placement whose maximum load is above the bound `lower`. A `thorough` search goes on until the proof or
/// the time limit.
pub(crate) fn search(
    instance: &Instance,
    start: Vec<usize>,
    mut lower: Level,
    thorough: bool,
    work: &mut Work,
) -> Searched {
    let mut placement = Neighbourhood::new(instance, start);
    let (mut local, mut exact) = FIRST_ROUND;
    let (mut engine, mut patience) = (None, FIRST_PATIENCE);
    let ended = loop {
        work.allow(local);
        placement.improve(lower, patience, work);
        if placement.level() <= lower + instance.tolerance {
            break Ended::Proven;
        }
        if let Some(stopped) = work.stopped() {
            break Ended::Stopped(stopped);
        }
        work.allow(exact);
        let engine = engine.get_or_insert_with(|| Exact::new(instance, placement.level(), lower, work));
        if let Some(engine) = engine {
            engine.narrow(instance, &mut placement, &mut lower, work);
        }
        if placement.level() <= lower + instance.tolerance {
            break Ended::Proven;
        }
        if let Some(stopped) = work.stopped() {
            break Ended::Stopped(stopped);
        }
        if !thorough {
            break Ended::Done;
        }
        (local, exact) = (local.saturating_mul(2), exact.saturating_mul(4));
        patience = patience.saturating_mul(2);
    };
    Searched { bin_of: placement.bin_of, lower, ended }
}

impl Exact {
    /// Nothing if there are too many tasks or sets of tasks.
    fn new(instance: &Instance, level: Level, lower: Level, work: &mut Work) -> Option<Self> {
        let tasks = instance.weights.len();
        if tasks > TASKS_MAX {
            return None;
        }
        let bins = 0..instance.capacities.len();
        let tops: Vec<u64> = bins.clone().map(|bin| instance.limit(bin, level)).collect();
        let eligible = |bin: usize| {
            let tasks = (0..tasks).filter(|&position| instance.allows(position, bin));
            tasks.fold(0, |set: Set, position| set | 1 << position)
        };
        let completion =
            Completion::new(instance.weights.clone(), bins.map(eligible).collect(), &tops, SIZE)?;
        work.spend(completion.entries() as u64);
        Some(Exact { completion, step: (level - lower) / FIRST_STEP })
    }

    /// Moves answer and bound towards each other until they meet or the work is spent.
    fn narrow(
        &mut self,
        instance: &Instance,
        placement: &mut Neighbourhood,
        lower: &mut Level,
        work: &mut Work,
    ) {
        while work.left() && placement.level() > *lower + instance.tolerance {
            self.step = self.step.max(instance.least_step());
            let target = (*lower + self.step).min(placement.level() - instance.least_step());
            let bins = 0..instance.capacities.len();
            let limits: Vec<u64> = bins.map(|bin| instance.limit(bin, target)).collect();
            match self.completion.search(&limits, SIZE, work) {
                Verdict::Fits(sets) => {
                    let position =
                        |set: Set| (0..instance.weights.len()).filter(move |task| set >> task & 1 == 1);
                    let mut bin_of = vec![0; instance.weights.len()];
                    for (bin, &set) in sets.iter().enumerate() {
                        position(set).for_each(|position| bin_of[position] = bin);
                    }
                    placement.set(bin_of);
                }
                Verdict::Impossible => {
                    *lower = instance.next_above(target).max(*lower);
                    self.step *= 2;
                }
                Verdict::Unknown => return,
            }
        }
    }
}
