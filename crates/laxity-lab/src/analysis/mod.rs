//! What `analyze` does: place every set for every scheduler, judge it with the tests that know the scheduler, and say what would
//! make it fit.
//!
//! The answers and their order do not depend on the number of threads.

pub mod answer;
#[cfg(test)]
mod below_servers;
mod beside;
mod places;
mod scaling;
mod sensitivity;
mod verdicts;
pub mod written;

pub use beside::analyse_beside;
pub use verdicts::both as both_verdicts;

use crate::case::{Case, PlacementSettings};
use crate::charges::{Charges, PlacedSet};
use crate::in_order::in_order;
use crate::places::Finder;
use crate::placing::Placed;
use answer::{OverheadsAnswer, SchedulerAnswer, VerdictAnswer};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{Guarantee, Work, catalogue};
use laxity_model::{Duration, Names, Platform, Result, TaskSet};
use places::places;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Steps for each test on each cell, unless others are asked for.
pub const WORK_STEPS_DEFAULT: u64 = 1 << 28;

/// Everything the user chose.
pub struct Settings {
    /// Which schedulers.
    pub schedulers: Vec<Analysed>,
    /// For which guarantee the answer to what would make it fit is.
    pub guarantee: Guarantee,
    /// The only test that is asked, by its name.
    pub test: Option<&'static str>,
    /// Steps for each test on each cell.
    pub work_steps: u64,
    /// Whether to look for what would make it fit.
    pub sensitivity: bool,
    /// Where tasks go.
    pub placement: PlacementSettings,
    /// What scheduling costs.
    pub charges: Charges,
    /// How many threads judge.
    pub threads: usize,
    /// Ends the work.
    pub interrupt: &'static AtomicBool,
}

impl Settings {
    /// These schedulers on this platform, where scheduling costs nothing; no search for what would make a set fit.
    pub fn plain(schedulers: Vec<Analysed>, platform: Platform, interrupt: &'static AtomicBool) -> Self {
        Settings {
            schedulers,
            guarantee: Guarantee::Hard,
            test: None,
            work_steps: WORK_STEPS_DEFAULT,
            sensitivity: false,
            placement: PlacementSettings::auto(platform),
            charges: Charges::default(),
            threads: 1,
            interrupt,
        }
    }

    /// What is asked of a scheduler's analysis.
    fn asked(&self, guarantee: Guarantee) -> Asked {
        let test = self.test.and_then(catalogue::test);
        let work = Work::steps(self.work_steps).unless(self.interrupt);
        Asked { guarantee, test, work, beside: self.charges.beside() }
    }

    /// What decides where tasks go under such settings. Costs are those of the machine that was asked about, also where another number
    /// of its processors is tried.
    fn finder<'a>(&'a self, placement: &'a PlacementSettings, scheduler: Analysed) -> Finder<'a> {
        Finder {
            charges: (&self.charges, &self.placement.platform),
            servers: &self.placement.below.servers,
            asked: Asked { work: sensitivity::trial_work(self), ..self.asked(Guarantee::Hard) },
            ..placement.finder(&scheduler, &self.charges, self.interrupt)
        }
    }

    /// Whether the answers that are not there yet are not wanted any more. Trials after that mean nothing.
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(SeqCst)
    }
}

/// Proves what can be proven of every set under every scheduler, set by set. What an interruption has left out is not in the answers.
///
/// # Errors
///
/// A scheduler cannot have cells on this platform.
pub fn prove(
    sets: &[TaskSet],
    settings: &Settings,
    mut seen: impl FnMut(usize, usize),
) -> Result<Vec<SchedulerAnswer>> {
    let place = |set| places(set, settings);
    let cases = Case::each(sets, &settings.schedulers, place)?;
    let mut answers = Vec::with_capacity(cases.len());
    let work = |at: usize| answer(&cases[at], settings);
    in_order(cases.len(), settings.threads, work, |at, answer| {
        answers.extend(answer);
        seen(at + 1, cases.len());
        Ok(())
    })?;
    Ok(answers)
}

/// How the largest factor for all execution times is found, where a test covers the set.
enum Factor {
    /// There is one cell, with nothing to place.
    InOneCell(Box<PlacedSet>),
    /// Tasks are placed for each factor.
    Anew,
}

/// Nothing if it was interrupted before the verdicts: a placement that was not found, or a proof, would have come later.
fn answer(case: &Case<'_, Analysed>, settings: &Settings) -> Option<SchedulerAnswer> {
    if settings.is_interrupted() {
        return None;
    }
    let (set, &scheduler) = (case.set, case.scheduler);
    let found = places::tested(case, settings);
    let mut answer = SchedulerAnswer::new(set, scheduler, found.as_ref().ok());
    let factor = match &found {
        Err(error) => {
            answer.not_placed(error);
            Some(Factor::Anew)
        }
        Ok(placed) => judged(set, scheduler, placed, settings, &mut answer),
    };
    if settings.is_interrupted() {
        return None;
    }
    answer.quantum_ns = settings.charges.quantum(scheduler).map(Duration::as_ns);
    answer.notes.extend(places::note(&answer, settings));
    if settings.sensitivity {
        answer.fewest_processors = Some(sensitivity::fewest_processors(set, scheduler, settings));
        answer.largest_scaling = match factor {
            Some(Factor::InOneCell(placed)) => scaling::in_one_cell(&placed, settings),
            Some(Factor::Anew) => scaling::placed_anew(set, scheduler, settings),
            None => None,
        };
    }
    Some(answer)
}

/// The verdicts on a placed set, and how its largest factor is found, where a test covers it.
fn judged(
    set: &TaskSet,
    scheduler: Analysed,
    placed: &Placed,
    settings: &Settings,
    answer: &mut SchedulerAnswer,
) -> Option<Factor> {
    let PlacementSettings { platform, below, .. } = &settings.placement;
    let charge = settings.charges.of(scheduler, platform);
    match PlacedSet::of(set, scheduler, platform, placed, charge, &below.servers) {
        Err(failed) => {
            answer.not_applicable(&failed, set);
            None
        }
        Ok(placed) => {
            judge(&placed, set, settings, answer);
            let in_one_cell = answer.fit.is_none();
            Some(if in_one_cell { Factor::InOneCell(Box::new(placed)) } else { Factor::Anew })
        }
    }
}

fn judge(placed: &PlacedSet, set: &TaskSet, settings: &Settings, answer: &mut SchedulerAnswer) {
    let names = placed.names(set);
    let [hard, soft] = verdicts::both(placed, |guarantee| settings.asked(guarantee));
    answer.hard = VerdictAnswer::of(&hard, &names, placed, settings.asked(Guarantee::Hard));
    answer.soft = VerdictAnswer::of(&soft, &names, placed, settings.asked(Guarantee::Soft));
    // Where tardiness grows without end, deadlines are missed.
    answer.hard.exact |= answer.soft.exact && answer.hard.verdict == answer::VerdictName::NotProven;
    answer.show_servers(placed.servers());
    answer.overheads = OverheadsAnswer::of(placed, &names, settings.guarantee);
    answer.assumptions = settings.charges.assumptions(placed.scheduler, placed.processors_max());
    answer.notes.extend(placed.notes());
}

/// Refuses a test that is not there.
pub fn test_name(text: &str) -> Result<&'static str> {
    catalogue::test(text).map(|test| test.info().name).ok_or_else(|| {
        let names: Vec<_> = catalogue::tests().iter().map(|test| test.info().name).collect();
        Names::of("test", &names).listed_by("laxity list tests").unknown(text)
    })
}
