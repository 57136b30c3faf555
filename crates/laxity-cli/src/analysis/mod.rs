//! What `analyze` does: place every set for every scheduler, judge it with the tests that know the scheduler, and say what would
//! make it fit.
//!
//! The answers and their order do not depend on the number of threads.

pub mod answer;
mod beside;
mod costs;
mod placed;
mod sensitivity;
pub mod text;
mod verdicts;

pub use beside::analyse_beside;
pub use costs::{ChargedFile, Charges};

use crate::experiment::{Placed, Placements, Placing};
use crate::simulation::in_order;
use answer::{OverheadsAnswer, SchedulerAnswer, VerdictAnswer};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{Guarantee, Work, catalogue};
use laxity_model::{Diagnostic, Duration, Platform, Result, Scope, TaskSet};
use laxity_place::{Method, Overload};
use placed::PlacedSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Everything the user chose.
pub struct Settings {
    /// Which schedulers.
    pub schedulers: Vec<Analysed>,
    /// For which guarantee the answer to what would make it fit is.
    pub guarantee: Guarantee,
    /// The only test that is asked, by its name.
    pub test: Option<&'static str>,
    /// Steps for each test on each cell.
    pub work: u64,
    /// Whether to look for what would make it fit.
    pub sensitivity: bool,
    /// The machine.
    pub platform: Platform,
    /// How tasks are placed.
    pub placement: Method,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may take.
    pub ilp_time_limit: Duration,
    /// What scheduling costs.
    pub charges: Charges,
    /// How many threads judge.
    pub threads: usize,
}

impl Settings {
    /// What is asked of a scheduler's analysis.
    fn asked(&self, guarantee: Guarantee) -> Asked {
        let test = self.test.and_then(catalogue::test);
        Asked { guarantee, test, work: Work::steps(self.work) }
    }

    /// How tasks are placed onto a platform.
    fn placing<'a>(&self, platform: &'a Platform, interrupt: &'a AtomicBool) -> Placing<'a> {
        Placing {
            platform,
            method: self.placement,
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            interrupt,
        }
    }
}

/// One set under one scheduler.
struct Case<'a> {
    set: &'a TaskSet,
    scheduler: Analysed,
    /// Or why there is no placement.
    placed: Result<Placed>,
}

/// Analyses every set under every scheduler, set by set. What an interruption has left out is not in the answers.
///
/// # Errors
///
/// A scheduler cannot have cells on this platform.
pub fn conduct(
    sets: &[TaskSet],
    settings: &Settings,
    interrupt: &AtomicBool,
    mut seen: impl FnMut(usize, usize),
) -> Result<Vec<SchedulerAnswer>> {
    let cases = cases(sets, settings, interrupt)?;
    let mut answers = Vec::with_capacity(cases.len());
    let work = |at: usize| (!interrupt.load(SeqCst)).then(|| cases[at].answer(settings, interrupt));
    in_order(cases.len(), settings.threads, work, |at, answer| {
        answers.extend(answer);
        seen(at + 1, cases.len());
        Ok(())
    })?;
    Ok(answers)
}

fn cases<'a>(sets: &'a [TaskSet], settings: &Settings, interrupt: &AtomicBool) -> Result<Vec<Case<'a>>> {
    let placing = settings.placing(&settings.platform, interrupt);
    let mut cases = Vec::new();
    for set in sets {
        let mut placements = Placements::new(set, placing);
        for &scheduler in &settings.schedulers {
            let (scope, dedicated) = (scheduler.scope(), scheduler.dedicates_a_processor());
            // Whether there are cells at all is the command line's matter; whether tasks fit is the answer's.
            placing.capacity(scope, dedicated).map_err(|error| error.context(scheduler))?;
            let placed = placements.of(scope_of_cells(scope, &settings.platform), dedicated).clone();
            cases.push(Case { set, scheduler, placed });
        }
    }
    Ok(cases)
}

/// Where there is one cell, there is nothing to place: whether its tasks fit is for the tests to say, which know more than the
/// loads by which tasks are placed.
fn scope_of_cells(scope: Scope, platform: &Platform) -> Scope {
    let cells = match scope {
        Scope::Global => 1,
        Scope::Clustered => platform.clusters().len(),
        Scope::Partitioned => platform.core_count(),
    };
    if cells == 1 { Scope::Global } else { scope }
}

impl Case<'_> {
    fn answer(&self, settings: &Settings, interrupt: &AtomicBool) -> SchedulerAnswer {
        let mut answer = SchedulerAnswer::new(self.set, self.scheduler, self.placed.as_ref().ok());
        match &self.placed {
            Err(error) => answer.not_placed(error),
            Ok(placed) => {
                let charge = settings.charges.of(self.scheduler, &settings.platform);
                match PlacedSet::of(self.set, self.scheduler, &settings.platform, placed, charge) {
                    Err(failed) => answer.not_applicable(&failed, self.set),
                    Ok(placed) => judge(&placed, self.set, settings, &mut answer),
                }
            }
        }
        if settings.sensitivity {
            let fewest = sensitivity::fewest_processors(self.set, self.scheduler, settings, interrupt);
            answer.fewest_processors = Some(fewest);
        }
        answer
    }
}

fn judge(placed: &PlacedSet, set: &TaskSet, settings: &Settings, answer: &mut SchedulerAnswer) {
    let names = placed.names(set);
    let [hard, soft] = verdicts::both(placed, |guarantee| settings.asked(guarantee));
    answer.hard = VerdictAnswer::of(&hard, &names, placed, settings.asked(Guarantee::Hard));
    answer.soft = VerdictAnswer::of(&soft, &names, placed, settings.asked(Guarantee::Soft));
    answer.overheads = OverheadsAnswer::of(placed, &names, settings.guarantee);
    answer.notes.extend(placed.notes());
    if settings.sensitivity {
        answer.largest_scaling = Some(sensitivity::scaling(placed, settings));
    }
}

/// Refuses a test that is not there.
pub fn test_name(text: &str) -> Result<&'static str> {
    catalogue::test(text).map(|test| test.info().name).ok_or_else(|| {
        let names: Vec<_> = catalogue::tests().iter().map(|test| test.info().name).collect();
        Diagnostic::usage(format!("test `{text}` is not known"))
            .hint(format!("choose from {} (see `laxity list`)", names.join(", ")))
    })
}
