//! What `analyze` does: judge every case with the tests that know its scheduler, and say what would make it fit.
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

use crate::case::{Case, CaseSettings, Cases};
use crate::charges::{Failed, PlacedSet};
use crate::in_order::in_order;
use crate::placing::Placed;
use crate::schedulers::Scheduled;
use answer::{OverheadsAnswer, SchedulerAnswer, VerdictAnswer};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{Guarantee, catalogue};
use laxity_model::{Duration, Names, Result, TaskSet};
use std::fmt::Display;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// What is assumed of a scheduler before all else.
const NO_TEST: &str = "a test knows the scheduler";

/// How cases are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// For which guarantee the answer to what would make it fit is.
    pub guarantee: Guarantee,
    /// Whether to look for what would make it fit.
    pub sensitivity: bool,
    /// How many threads judge.
    pub threads: usize,
}

impl Default for Settings {
    /// For the hard guarantee; no search for what would make a set fit.
    fn default() -> Self {
        Settings { guarantee: Guarantee::Hard, sensitivity: false, threads: 1 }
    }
}

/// What judges a case.
struct Judge<'a> {
    of_case: &'a CaseSettings,
    guarantee: Guarantee,
    interrupt: &'static AtomicBool,
}

impl Judge<'_> {
    /// What is asked of a scheduler's analysis.
    fn asked(&self, guarantee: Guarantee) -> Asked {
        self.of_case.asked(guarantee, self.interrupt)
    }

    /// Whether the answers that are not there yet are not wanted any more. Trials after that mean nothing.
    fn is_interrupted(&self) -> bool {
        self.interrupt.load(SeqCst)
    }
}

/// Each thread has at least so many parts of the work, so that all end at about the same time.
const PARTS_PER_THREAD: usize = 16;
/// Cases in a part, at most.
const PART_MOST: usize = 32;

/// Proves what can be proven of every case. What an interruption has left out is not in the answers.
///
/// # Errors
///
/// No thread can be started.
pub fn prove<S: Scheduled + Display + Sync>(
    cases: &Cases<'_, S>,
    settings: &Settings,
    seen: impl FnMut(usize, usize),
) -> Result<Vec<SchedulerAnswer>> {
    let mut answers = Vec::with_capacity(cases.count());
    prove_each(cases, settings, seen, |answer| answers.push(answer))?;
    Ok(answers)
}

/// The same, for so many cases that not all answers are to be kept: hands out each as soon as those before it are known.
///
/// # Errors
///
/// No thread can be started.
pub fn prove_each<S: Scheduled + Display + Sync>(
    cases: &Cases<'_, S>,
    settings: &Settings,
    mut seen: impl FnMut(usize, usize),
    mut keep: impl FnMut(SchedulerAnswer),
) -> Result<()> {
    let judge = Judge { of_case: cases.settings, guarantee: settings.guarantee, interrupt: cases.interrupt };
    let one = |at: usize| {
        // A placement that was not found, or a proof, would have come later.
        let wanted = || !judge.is_interrupted();
        let case = wanted().then(|| cases.case(at)).filter(|_| wanted())?;
        answer(&case, &judge, settings.sensitivity)
    };
    // Small sets by the thousand: to hand over one takes as long as to judge it.
    let (count, threads) = (cases.count(), settings.threads.max(1));
    let part = (count / (threads * PARTS_PER_THREAD)).clamp(1, PART_MOST);
    let work = |at: usize| (at * part..count.min((at + 1) * part)).map(one).collect::<Vec<_>>();
    in_order(count.div_ceil(part), threads, work, |at, some| {
        some.into_iter().flatten().for_each(&mut keep);
        seen(count.min((at + 1) * part), count);
        Ok(())
    })
}

/// How the largest factor for all execution times is found, where a test covers the set.
enum Factor {
    /// There is one cell, with nothing to place.
    InOneCell(Box<PlacedSet>),
    /// Tasks are placed for each factor.
    Anew,
}

/// Nothing if it was interrupted before the verdicts.
fn answer<S: Scheduled + Display>(
    case: &Case<'_, S>,
    judge: &Judge<'_>,
    sensitivity: bool,
) -> Option<SchedulerAnswer> {
    let set = case.set;
    let mut answer = SchedulerAnswer::new(case);
    let Some(scheduler) = case.scheduler.analysed() else {
        answer.not_applicable(&Failed { assumption: NO_TEST, task: None, fix: None }, set);
        return Some(answer);
    };
    let factor = match &case.placed {
        Err(error) => {
            answer.not_placed(error);
            Some(Factor::Anew)
        }
        Ok(placed) => judged(set, scheduler, placed, judge, &mut answer),
    };
    if judge.is_interrupted() {
        return None;
    }
    answer.quantum_ns = judge.of_case.charges.quantum(scheduler).map(Duration::as_ns);
    answer.notes.extend(places::note(&answer, &judge.of_case.placement));
    if sensitivity {
        answer.fewest_processors = Some(sensitivity::fewest_processors(set, scheduler, judge));
        answer.largest_scaling = match factor {
            Some(Factor::InOneCell(placed)) => scaling::in_one_cell(&placed, judge),
            Some(Factor::Anew) => scaling::placed_anew(set, scheduler, judge),
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
    judge: &Judge<'_>,
    answer: &mut SchedulerAnswer,
) -> Option<Factor> {
    let (of_case, platform) = (judge.of_case, judge.of_case.platform());
    let charge = of_case.charges.of(scheduler, platform);
    match PlacedSet::of(set, scheduler, platform, placed, charge, of_case.servers(&scheduler)) {
        Err(failed) => {
            answer.not_applicable(&failed, set);
            None
        }
        Ok(placed) => {
            judge.verdicts(&placed, set, answer);
            let in_one_cell = answer.fit.is_none();
            Some(if in_one_cell { Factor::InOneCell(Box::new(placed)) } else { Factor::Anew })
        }
    }
}

impl Judge<'_> {
    fn verdicts(&self, placed: &PlacedSet, set: &TaskSet, answer: &mut SchedulerAnswer) {
        let names = placed.names(set);
        let [hard, soft] = verdicts::both(placed, |guarantee| self.asked(guarantee));
        answer.hard = VerdictAnswer::of(&hard, &names, placed, self.asked(Guarantee::Hard));
        answer.soft = VerdictAnswer::of(&soft, &names, placed, self.asked(Guarantee::Soft));
        // Where tardiness grows without end, deadlines are missed.
        answer.hard.exact |= answer.soft.exact && answer.hard.verdict == answer::VerdictName::NotProven;
        answer.show_servers(placed.servers());
        answer.overheads = OverheadsAnswer::of(placed, &names, self.guarantee);
        let charges = &self.of_case.charges;
        answer.assumptions = charges.assumptions(placed.scheduler, placed.processors_max());
        answer.notes.extend(placed.notes());
    }
}

/// Refuses a test that is not there.
pub fn test_name(text: &str) -> Result<&'static str> {
    catalogue::test(text).map(|test| test.info().name).ok_or_else(|| {
        let names: Vec<_> = catalogue::tests().iter().map(|test| test.info().name).collect();
        Names::of("test", &names).listed_by("laxity list tests").unknown(text)
    })
}
