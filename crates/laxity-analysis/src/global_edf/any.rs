//! Any: the first test that accepts, the cheapest first.
//!
//! No test dominates: a set is schedulable if any accepts it. Some do dominate others, on all sets or on those with D <= T, and then
//! only the stronger or the much cheaper is asked:
//!
//! 1. GFB first, as it takes no time, and for D <= T FF-DBF accepts whatever it accepts (for D = T just that);
//! 2. BCL-iterative accepts what BCL accepts, and RTA what BCL-iterative accepts;
//! 3. LA is BAR where D <= T.
//!
//! Each test may take as many steps as were given. If none accepts, the answer is that of the last one that applied, but out of work
//! if one was.

use super::{Bak, Bar, BclIterative, FfDbf, Gfb, La, Load, Rta};
use crate::{
    Exactness, Guarantee, NotProven, OutOfWork, Priorities, SporadicTask, Test, TestInfo, Verdict, Work,
};

/// The union of all tests of global EDF.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyGlobalEdf;

static INFO: TestInfo = TestInfo {
    name: "gedf",
    source: "gfb, bak, bar, bcl-iterative, rta, ff-dbf, load, la: the first that accepts",
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "that of its tests; as many steps for each",
    assumptions: &[super::assumptions::NO_JITTER],
};

/// For D <= T; the accepting test gives bounds only if it is RTA.
pub(super) const CONSTRAINED: [&dyn Test; 7] = [&Gfb, &BclIterative, &Bak, &Rta, &Bar, &Load, &FfDbf];

/// For arbitrary deadlines.
pub(super) const ARBITRARY: [&dyn Test; 4] = [&Gfb, &Bak, &Load, &La];

impl AnyGlobalEdf {
    /// The verdict, and the test that accepted.
    pub fn first_to_accept(
        &self,
        tasks: &[SporadicTask],
        processors: u32,
        work: Work,
    ) -> (Verdict, Option<&'static TestInfo>) {
        if let Some(verdict) = crate::sporadic::settled(tasks, processors, self.info().guarantee) {
            return (verdict, None);
        }
        let constrained = tasks.iter().all(|task| task.deadline <= task.period);
        let tests: &[&dyn Test] = if constrained { &CONSTRAINED } else { &ARBITRARY };
        let (mut answer, mut out_of_work) = (None, false);
        for test in tests {
            let verdict = test.verdict(tasks, processors, &mut work.clone()).unwrap_or(Verdict::OUT_OF_WORK);
            match verdict {
                Verdict::Schedulable(_) => return (verdict, Some(test.info())),
                Verdict::NotProven(NotProven { out_of_work: true, .. }) => out_of_work = true,
                Verdict::NotProven(_) => answer = Some(verdict),
                Verdict::NotApplicable(_) => answer = answer.or(Some(verdict)),
            }
        }
        let answer = if out_of_work { Verdict::OUT_OF_WORK } else { answer.unwrap_or(Verdict::FAILS) };
        (answer, None)
    }
}

impl Test for AnyGlobalEdf {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(
        &self,
        tasks: &[SporadicTask],
        processors: u32,
        work: &mut Work,
    ) -> Result<Verdict, OutOfWork> {
        Ok(self.first_to_accept(tasks, processors, *work).0)
    }
}
