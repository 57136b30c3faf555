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

use crate::charges::{Charges, PlacedSet};
use crate::in_order::in_order;
use crate::places::Finder;
use crate::placing::{BelowServers, Placing, named_load};
use crate::schedulers::Choice;
use answer::{OverheadsAnswer, SchedulerAnswer, VerdictAnswer};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{Guarantee, Work, catalogue};
use laxity_model::{Duration, Names, Platform, Result, TaskSet};
use laxity_place::{Fitting, Method, Overload};
use places::{Places, places, wanted};
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
    pub placement: Choice,
    /// What may be placed together.
    pub fit: Fitting,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may look for the optimum; without a limit it answers after a fixed amount of work.
    pub ilp_time_limit: Option<Duration>,
    /// What scheduling costs.
    pub charges: Charges,
    /// How amp-rm's tasks are placed.
    pub amp_rm: Method,
    /// What those are below.
    pub below: BelowServers,
    /// How many threads judge.
    pub threads: usize,
    /// Ends the work.
    pub interrupt: &'static AtomicBool,
}

impl Settings {
    /// What is asked of a scheduler's analysis.
    fn asked(&self, guarantee: Guarantee) -> Asked {
        let test = self.test.and_then(catalogue::test);
        let work = Work::steps(self.work).unless(self.interrupt);
        Asked { guarantee, test, work, beside: self.charges.beside() }
    }

    /// What decides where tasks go on a platform. Costs are those of the machine that was asked about, also where another number of its
    /// processors is tried.
    fn finder<'a>(&'a self, platform: &'a Platform) -> Finder<'a> {
        let placing = Placing {
            platform,
            method: self.placement.method(),
            fit: named_load(self.fit),
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            interrupt: self.interrupt,
        };
        let asked = self.asked(Guarantee::Hard);
        Finder {
            charges: (&self.charges, &self.platform),
            servers: &self.below.servers,
            asked: Asked { work: sensitivity::trial_work(self), ..asked },
            ..Finder::new(placing, (self.placement, self.fit), &self.charges, self.interrupt)
        }
    }

    /// Whether the answers that are not there yet are not wanted any more. Trials after that mean nothing.
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(SeqCst)
    }
}

/// One set under one scheduler.
struct Case<'a> {
    set: &'a TaskSet,
    scheduler: Analysed,
    places: Places,
}

/// Analyses every set under every scheduler, set by set. What an interruption has left out is not in the answers; before tasks are
/// placed in all sets, there are none.
///
/// # Errors
///
/// A scheduler cannot have cells on this platform.
pub fn prove(
    sets: &[TaskSet],
    settings: &Settings,
    mut seen: impl FnMut(usize, usize),
) -> Result<Vec<SchedulerAnswer>> {
    let cases = cases(sets, settings)?;
    let mut answers = Vec::with_capacity(cases.len());
    let work = |at: usize| cases[at].answer(settings);
    in_order(cases.len(), settings.threads, work, |at, answer| {
        answers.extend(answer);
        seen(at + 1, cases.len());
        Ok(())
    })?;
    Ok(answers)
}

fn cases<'a>(sets: &'a [TaskSet], settings: &Settings) -> Result<Vec<Case<'a>>> {
    let mut cases = Vec::new();
    for set in sets {
        settings.platform.check_affinities(set)?;
        let of = places(set, settings)?;
        if settings.is_interrupted() {
            break;
        }
        let case = |(&scheduler, places)| Case { set, scheduler, places };
        cases.extend(settings.schedulers.iter().zip(of).map(case));
    }
    Ok(cases)
}

/// How the largest factor for all execution times is found, where a test covers the set.
enum Factor {
    /// There is one cell, with nothing to place.
    InOneCell(Box<PlacedSet>),
    /// Tasks are placed for each factor.
    Anew,
}

impl Case<'_> {
    /// Nothing if it was interrupted before the verdicts: a placement that was not found, or a proof, would have come later.
    fn answer(&self, settings: &Settings) -> Option<SchedulerAnswer> {
        if settings.is_interrupted() {
            return None;
        }
        let name = self.scheduler.to_string();
        let wanted = wanted(self.set, self.scheduler, &name, &settings.platform);
        let found = self.places.found(wanted, settings);
        let mut factor = None;
        let mut answer = SchedulerAnswer::new(self.set, self.scheduler, found.as_ref().ok());
        match &found {
            Err(error) => {
                answer.not_placed(error);
                factor = Some(Factor::Anew);
            }
            Ok(placed) => {
                let charge = settings.charges.of(self.scheduler, &settings.platform);
                let platform = &settings.platform;
                match PlacedSet::of(
                    self.set,
                    self.scheduler,
                    platform,
                    placed,
                    charge,
                    &settings.below.servers,
                ) {
                    Err(failed) => answer.not_applicable(&failed, self.set),
                    Ok(placed) => {
                        judge(&placed, self.set, settings, &mut answer);
                        factor = Some(if answer.fit.is_some() {
                            Factor::Anew
                        } else {
                            Factor::InOneCell(Box::new(placed))
                        });
                    }
                }
            }
        }
        if settings.is_interrupted() {
            return None;
        }
        answer.quantum_ns = settings.charges.quantum(self.scheduler).map(Duration::as_ns);
        answer.notes.extend(places::note(&answer, settings));
        if settings.sensitivity {
            let fewest = sensitivity::fewest_processors(self.set, self.scheduler, settings);
            answer.fewest_processors = Some(fewest);
            answer.largest_scaling = match factor {
                Some(Factor::InOneCell(placed)) => scaling::in_one_cell(&placed, settings),
                Some(Factor::Anew) => scaling::placed_anew(self.set, self.scheduler, settings),
                None => None,
            };
        }
        Some(answer)
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
