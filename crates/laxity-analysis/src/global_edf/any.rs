//! Any: the first test that accepts, the cheapest first.
//!
//! No test dominates: a set is schedulable if any accepts it. Some do dominate others, on all sets or on those with D <= T, and then
//! only the stronger or the much cheaper is asked:
//!
//! 1. GFB first, as it takes no time, and for D <= T FF-DBF accepts whatever it accepts (for D = T just that);
//! 2. BCL-iterative accepts what BCL accepts, and RTA what BCL-iterative accepts;
//! 3. LA is BAR where D <= T.
//!
//! Each test may take as many steps as were given. If none accepts, the answer is out of work if one was. Otherwise it is a refusal
//! that names a task, as sums over all tasks name none: that of RTA if it applied, as its task is one whose response time nothing
//! bounds, else that of the last test that names one. If none does, it is that of the last test that applied.

use super::{Bak, Bar, BclIterative, FfDbf, Gfb, La, Load, Rta};
use crate::{
    Exactness, Guarantee, NotProven, Priorities, Source, SporadicTask, Test, TestInfo, Verdict, Work,
};

/// The union of all tests of global EDF.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyGlobalEdf;

static INFO: TestInfo = TestInfo {
    name: "gedf",
    source: Source::Tests(&["gfb", "bak", "bar", "bcl-iterative", "rta", "ff-dbf", "load", "la"]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "that of its tests; as many steps for each",
    assumptions: &[super::assumptions::NO_JITTER],
};

/// For D <= T; the accepting test gives bounds only if it is RTA.
pub(super) const CONSTRAINED: &[&dyn Test] = &[&Gfb, &BclIterative, &Bak, &Rta, &Bar, &Load, &FfDbf];

/// For arbitrary deadlines.
pub(super) const ARBITRARY: &[&dyn Test] = &[&Gfb, &Bak, &Load, &La];

impl AnyGlobalEdf {
    /// The verdict, and the test that accepted.
    pub fn first_to_accept(
        &self,
        tasks: &[SporadicTask],
        processors: u32,
        work: Work,
    ) -> (Verdict, Option<&'static TestInfo>) {
        if let Some(verdict) = crate::test::settled(tasks, processors, self.info().guarantee) {
            return (verdict, None);
        }
        let constrained = tasks.iter().all(|task| task.deadline_rel_ns <= task.period_ns);
        let tests: &[&dyn Test] = if constrained { CONSTRAINED } else { ARBITRARY };
        let (mut answer, mut out_of_work): (Option<Refusal>, bool) = (None, false);
        for test in tests {
            // Then it is said that steps were not enough, unless a test accepts.
            if out_of_work && !test.can_accept(tasks, processors, work) {
                continue;
            }
            let verdict = test.verdict(tasks, processors, &mut work.clone()).unwrap_or_else(|early| early);
            match verdict {
                Verdict::Schedulable(_) => return (verdict, Some(test.info())),
                Verdict::NotProven(NotProven { out_of_work: true, .. }) => out_of_work = true,
                _ => {
                    let refusal = Refusal { verdict, by: test.info() };
                    if answer.as_ref().is_none_or(|before| refusal.says_more_than(before)) {
                        answer = Some(refusal);
                    }
                }
            }
        }
        let said = answer.map_or(Verdict::FAILS, |refusal| refusal.verdict);
        (if out_of_work { Verdict::OUT_OF_WORK } else { said }, None)
    }
}

/// What a test says that does not accept.
struct Refusal {
    verdict: Verdict,
    by: &'static TestInfo,
}

impl Refusal {
    fn says_more_than(&self, before: &Refusal) -> bool {
        let applies = matches!(self.verdict, Verdict::NotProven(_));
        match (self.names_a_task(), before.names_a_task()) {
            (true, true) => before.by != Rta.info(),
            (named, named_before) => applies && named >= named_before,
        }
    }

    fn names_a_task(&self) -> bool {
        matches!(self.verdict, Verdict::NotProven(NotProven { task: Some(_), .. }))
    }
}

impl Test for AnyGlobalEdf {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        Ok(self.first_to_accept(tasks, processors, *work).0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_of, random_tasks};
    use super::*;
    use std::collections::BTreeSet;

    fn judged(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> Verdict {
        test.judge(tasks, processors, &mut Work::steps(1 << 24))
    }

    #[test]
    fn its_source_names_the_tests_that_it_asks() {
        let Source::Tests(named) = INFO.source else { panic!("{} is a union", INFO.name) };
        let asked: BTreeSet<&str> =
            CONSTRAINED.iter().chain(ARBITRARY).map(|test| test.info().name).collect();
        assert_eq!(BTreeSet::from_iter(named.iter().copied()), asked);
    }

    /// 6/10 + 6/11 + 6/12 on two processors: RTA cannot bound the third, and the sums of LOAD and FF-DBF name no task.
    #[test]
    fn a_refusal_names_the_task_that_rta_names() {
        let tasks = [10, 11, 12].map(|period| SporadicTask::implicit(6, period));
        assert_eq!(judged(&FfDbf, &tasks, 2), Verdict::FAILS);
        assert_eq!(judged(&Rta, &tasks, 2), Verdict::fails_at(2));
        assert_eq!(judged(&AnyGlobalEdf, &tasks, 2), Verdict::fails_at(2));
    }

    /// What it says if it asks every test, whether or not that can accept.
    fn of_all_its_tests(tasks: &[SporadicTask], processors: u32, steps: u64) -> Verdict {
        let constrained = tasks.iter().all(|task| task.deadline_rel_ns <= task.period_ns);
        let (mut answer, mut out_of_work): (Option<Refusal>, bool) = (None, false);
        for test in if constrained { CONSTRAINED } else { ARBITRARY } {
            match test.judge(tasks, processors, &mut Work::steps(steps)) {
                accepted @ Verdict::Schedulable(_) => return accepted,
                Verdict::OUT_OF_WORK => out_of_work = true,
                verdict => {
                    let refusal = Refusal { verdict, by: test.info() };
                    if answer.as_ref().is_none_or(|before| refusal.says_more_than(before)) {
                        answer = Some(refusal);
                    }
                }
            }
        }
        if out_of_work {
            Verdict::OUT_OF_WORK
        } else {
            answer.map_or(Verdict::FAILS, |refusal| refusal.verdict)
        }
    }

    #[test]
    fn with_few_steps_it_says_what_all_its_tests_say() {
        let (mut accepted, mut refused, mut open) = (0, 0, 0);
        for seed in laxity_seeds::seeds!(0..6_000) {
            let mut random = random_of(seed);
            let count = random.between(3, 12);
            let tasks = random_tasks(&mut random, count, 12);
            let processors = u32::try_from(random.between(2, 5)).expect("small");
            if crate::test::settled(&tasks, processors, Guarantee::Hard).is_some() {
                continue;
            }
            let steps = random.between(count, 12 * count * count);
            let verdict = AnyGlobalEdf.judge(&tasks, processors, &mut Work::steps(steps));
            let all = of_all_its_tests(&tasks, processors, steps);
            assert_eq!(verdict, all, "seed {seed}: {tasks:?}, {steps} steps");
            match verdict {
                Verdict::Schedulable(_) => accepted += 1,
                Verdict::OUT_OF_WORK => open += 1,
                _ => refused += 1,
            }
        }
        laxity_seeds::assert_together!(
            accepted > 100 && refused > 100 && open > 100,
            "{accepted}, {refused} and {open}"
        );
    }

    /// Where RTA does not apply, as D > T, another test names one.
    #[test]
    fn every_set_that_is_refused_has_a_witness() {
        let (mut constrained, mut others) = (0, 0);
        for seed in laxity_seeds::seeds!(0..4_000) {
            let mut random = random_of(seed);
            let count = random.between(3, 8);
            let mut tasks = random_tasks(&mut random, count, 12);
            if seed % 2 == 1 {
                tasks.iter_mut().for_each(|task| task.deadline_rel_ns += random.between(0, 9));
            }
            let verdict = judged(&AnyGlobalEdf, &tasks, 2);
            let Verdict::NotProven(why) = &verdict else { continue };
            if tasks.iter().all(|task| task.deadline_rel_ns <= task.period_ns) {
                assert_eq!(verdict, judged(&Rta, &tasks, 2), "seed {seed}: {tasks:?}");
                constrained += 1;
            } else if crate::test::settled(&tasks, 2, Guarantee::Hard).is_none() {
                assert!(why.task.is_some() && !why.out_of_work, "seed {seed}: {tasks:?}");
                others += 1;
            }
        }
        laxity_seeds::assert_together!(constrained > 100 && others > 100, "{constrained} and {others}");
    }
}
