//! Runs that were disturbed are made again.

use super::Settings;
use laxity_model::Result;
use laxity_run::Executed;
use laxity_trace::{Disturbance, RunStatus};
use std::cell::Cell;

/// After so many runs in a row that were made again and were disturbed again, the machine is not quiet, and no further
/// run is.
const IN_VAIN_MOST: u32 = 3;

/// Makes disturbed runs again, as often as that is allowed and of use.
pub struct Repeating {
    most: u32,
    in_vain: Cell<u32>,
}

impl Repeating {
    pub fn new(settings: &Settings) -> Self {
        Repeating { most: settings.repeat_disturbed, in_vain: Cell::new(0) }
    }

    /// The first run that is not disturbed, or the least disturbed of those made; `again` is told what others had of the
    /// CPUs before each repetition. What comes after an interruption replaces nothing.
    pub fn least_disturbed(
        &self,
        execute: &mut impl FnMut() -> Result<Executed>,
        again: impl Fn(&str),
    ) -> Result<Executed> {
        let mut best = execute()?;
        let mut attempts = 1;
        while let Some(taken) = disturbed(&best) {
            if attempts > self.most || self.in_vain.get() >= IN_VAIN_MOST {
                break;
            }
            again(&format!("{:.1} %", 100.0 * taken));
            let next = execute()?;
            attempts += 1;
            if next.status != RunStatus::Completed {
                break;
            }
            self.in_vain.set(if disturbed(&next).is_some() { self.in_vain.get() + 1 } else { 0 });
            if disturbed(&next).is_none_or(|next| next < taken) {
                best = next;
            }
        }
        if let Some(disturbance) = &mut best.disturbance {
            disturbance.attempts = attempts;
        }
        Ok(best)
    }
}

/// What share others had of the CPUs of a complete run, if that is too much.
fn disturbed(executed: &Executed) -> Option<f64> {
    let of = executed.disturbance.filter(|of| executed.status == RunStatus::Completed && of.is_disturbed());
    of.as_ref().and_then(Disturbance::share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    /// A run of which others had so many percent; without one, it was interrupted.
    fn run(percent: Option<u64>) -> Executed {
        let disturbance = Disturbance {
            load_average: 0.0,
            capacity_ns: 100,
            others_ns: percent.unwrap_or(0),
            stolen_ns: 0,
            attempts: 1,
        };
        let interrupted =
            RunStatus::Interrupted { reason: "interrupted".into(), ran: laxity_model::Duration::ZERO };
        Executed {
            jobs: vec![],
            status: percent.map_or(interrupted, |_| RunStatus::Completed),
            not_measured: BTreeMap::new(),
            overruns: None,
            notes: vec![],
            counters: BTreeMap::new(),
            records: None,
            disturbance: Some(disturbance),
            quiet: None,
        }
    }

    /// What is kept of runs that come out like this: percent of others and attempts; and what was said.
    fn kept(repeating: &Repeating, runs: &[Option<u64>]) -> (u64, u32, Vec<String>) {
        let mut left = runs.iter();
        let said = RefCell::new(vec![]);
        let mut execute = || Ok(run(*left.next().expect("no more runs than planned")));
        let again = |share: &str| said.borrow_mut().push(share.to_owned());
        let best = repeating.least_disturbed(&mut execute, again).expect("runs do not fail");
        assert_eq!(left.next(), None, "fewer runs than planned");
        let of = best.disturbance.expect("known");
        (of.others_ns, of.attempts, said.into_inner())
    }

    fn repeating(most: u32) -> Repeating {
        Repeating { most, in_vain: Cell::new(0) }
    }

    #[test]
    fn the_first_quiet_run_or_the_quietest_is_kept() {
        assert_eq!(kept(&repeating(2), &[Some(5)]), (5, 1, vec![]));
        assert_eq!(kept(&repeating(2), &[Some(40), Some(3)]), (3, 2, vec!["40.0 %".into()]));
        assert_eq!(kept(&repeating(2), &[Some(40), Some(9), Some(20)]).0, 9);
        assert_eq!(kept(&repeating(2), &[Some(40), Some(90), Some(50)]), (40, 3, vec!["40.0 %".into(); 2]));
        assert_eq!(kept(&repeating(0), &[Some(40)]), (40, 1, vec![]));
    }

    #[test]
    fn an_interrupted_repetition_loses_no_run() {
        assert_eq!(kept(&repeating(2), &[Some(40), None]), (40, 2, vec!["40.0 %".into()]));
    }

    #[test]
    fn a_machine_that_stays_busy_is_not_asked_forever() {
        let busy = repeating(2);
        assert_eq!(kept(&busy, &[Some(40), Some(40), Some(40)]).1, 3);
        assert_eq!(kept(&busy, &[Some(40), Some(40)]).1, 2, "the third in vain");
        assert_eq!(kept(&busy, &[Some(40)]).1, 1);
        let better = repeating(2);
        assert_eq!(kept(&better, &[Some(40), Some(40), Some(1)]).1, 3);
        assert_eq!(kept(&better, &[Some(40), Some(40), Some(40)]).1, 3, "a quiet one in between counts");
    }
}
