//! Which tests judge a cell, and what they say together.
//!
//! | priorities | m | hard | soft |
//! |---|---|---|---|
//! | EDF | 1 | `qpa` (exact) | `qpa`, `compliant-vector` |
//! | EDF | more | `gedf`: any of its tests | `devi-anderson`, `compliant-vector` |
//! | EDZL | 1 | `qpa` (exact) | `qpa` |
//! | EDZL | more | `gedf`, `edzl` | `gedf`, `edzl` |
//! | G-FL | more | `compliant-vector-g-fl`, if it bounds every tardiness by 0 | `compliant-vector-g-fl` |
//! | fixed | 1 | `fp-rta` (exact) | `fp-tardiness` (exact) |
//! | fixed, below a deferrable server | 1 | `ds-rta`, exact here | `ds-rta`, `ds-tardiness` |
//! | fixed | more | `gfp-guan` | `gfp-guan`, `fp-tardiness`, which needs m = 1 |
//! | Pfair | any | `pfair` (exact) | `pfair` |
//!
//! 1. Hard: the first that accepts.
//! 2. Soft: all are asked, until nothing is late; each bound holds for every task, so the least for each task does. A hard test
//!    that accepts says that nothing is late.
//! 3. `gfp-rta` accepts nothing that `gfp-guan` does not (proven there), and is not asked.
//! 4. No bound of tardiness is known for global fixed priorities: a set with U <= m can have none (Devi, PhD thesis, 2006).
//! 5. Below a server background work arrives at any time and without bound, and the answer is that of
//!    [`crate::admission`] for the same core: hard with the double hit counted, soft what the plain test accepts, late by
//!    at most what Theorem 1 says. Another test that was named sees a task that asks for as much as the server can.
//! 6. Tasks that share a priority (`crate::equals`) wait for each other, whatever the test is.
//! 7. What Linux takes on several processors ([`Beside`]) is known to `gfp-guan`. Another test that was named sees tasks that need as much
//!    longer as all processors can stand still until their deadlines.
//! 8. What EDF is proven to meet, EDZL meets: it decides the same as long as nothing that waits has its laxity run out, and if that
//!    could happen, EDF would miss a deadline. No bound of tardiness of EDZL is known here.
//! 9. U <= 1 is enough on one processor under EDF for bounded tardiness. The bounds are those of compliant vectors, with m = 1.

use super::bounds::completions;
use crate::{
    AnyGlobalEdf, Beside, Bounds, CompliantVector, DeferrableRta, DeferrableTardiness, DeviAnderson,
    FixedPriorityRta, FixedPriorityTardiness, GlobalFixedPriorityGuan, Guarantee, Levels, NotProven, Pfair,
    Priorities, PriorityPoints, Qpa, SporadicTask, Test, TestInfo, Verdict, Work, ZeroLaxity,
};
use laxity_model::DeferrableServer;

/// What judges a cell of so many processors that run tasks, and this server.
pub(super) fn tests_for(
    priorities: Priorities,
    guarantee: Guarantee,
    processors: u32,
    server: DeferrableServer,
) -> &'static [&'static dyn Test] {
    const EDF: CompliantVector = CompliantVector { priority_points: PriorityPoints::Deadline };
    const FAIR_LATENESS: CompliantVector = CompliantVector { priority_points: PriorityPoints::FairLateness };
    use Guarantee::{Hard, Soft};
    match (priorities, guarantee) {
        (Priorities::EarliestDeadlineFirst, Hard) if processors == 1 => &[&Qpa],
        (Priorities::EarliestDeadlineFirst, Soft) if processors == 1 => &[&Qpa, &EDF],
        (Priorities::EarliestDeadlineFirst, Hard) => &[&AnyGlobalEdf],
        (Priorities::EarliestDeadlineFirst, Soft) => &[&DeviAnderson, &EDF],
        (Priorities::ZeroLaxity, _) if processors == 1 => &[&Qpa],
        (Priorities::ZeroLaxity, _) => &[&AnyGlobalEdf, &ZeroLaxity],
        (Priorities::FairLateness, _) => &[&FAIR_LATENESS],
        (Priorities::Fixed, Hard) if !server.is_none() => &[&DeferrableRta],
        (Priorities::Fixed, Soft) if !server.is_none() => &[&DeferrableRta, &DeferrableTardiness],
        (Priorities::Fixed, Hard) if processors == 1 => &[&FixedPriorityRta],
        (Priorities::Fixed, Soft) if processors == 1 => &[&FixedPriorityTardiness],
        (Priorities::Fixed, Hard) => &[&GlobalFixedPriorityGuan],
        (Priorities::Fixed, Soft) => &[&GlobalFixedPriorityGuan, &FixedPriorityTardiness],
        (Priorities::Pfair, _) => &[&Pfair],
    }
}

/// What some tests say of a cell.
pub(super) enum Answer {
    Proven(Proven),
    /// What the last test said, or that one was out of work.
    Not(Verdict),
}

/// When jobs have completed at the latest, and which tests prove it.
pub(super) struct Proven {
    /// After each task's arrivals; its deadline where nothing better is known.
    pub(super) completions: Vec<u64>,
    /// Whether a test gave bounds of its own.
    pub(super) bounded: bool,
    /// The tests, in the order in which they were asked.
    pub(super) by: Vec<&'static str>,
}

/// A cell as tests see it.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) tasks: &'a [SporadicTask],
    /// Those of fixed priorities; nothing if no two tasks share one.
    pub(super) levels: Option<Levels<'a>>,
    pub(super) processors: u32,
    /// What all of several processors stand still for.
    pub(super) beside: Beside,
}

/// Asks tests as the rules above have it; each may take as many steps as `work` has.
pub(super) fn ask(tests: &[&'static dyn Test], guarantee: Guarantee, cell: Judged<'_>, work: Work) -> Answer {
    let tasks = cell.tasks;
    let mut proven: Option<Proven> = None;
    let (mut last, mut out_of_work) = (Verdict::FAILS, false);
    for test in tests {
        let (verdict, name) = judged_by(*test, cell, work);
        let bounds = match verdict {
            Verdict::Schedulable(bounds) => bounds,
            other => {
                out_of_work |= matches!(other, Verdict::NotProven(NotProven { out_of_work: true, .. }));
                last = other;
                continue;
            }
        };
        let found = Proven {
            bounded: bounds != Bounds::None,
            completions: completions(tasks, bounds),
            by: vec![name],
        };
        let late = tasks.iter().zip(&found.completions).position(|(task, &at)| at > task.deadline_rel_ns);
        match (guarantee, late) {
            (Guarantee::Hard, Some(task)) => last = Verdict::fails_at(task),
            (_, None) => return Answer::Proven(found),
            (Guarantee::Soft, Some(_)) => match &mut proven {
                Some(before) => before.lower(&found),
                None => proven = Some(found),
            },
        }
    }
    match proven {
        Some(proven) => Answer::Proven(proven),
        None if out_of_work => Answer::Not(Verdict::OUT_OF_WORK),
        None => Answer::Not(last),
    }
}

/// The verdict, and the name of the test that has come to it: one of those that `gedf` stands for.
fn judged_by(test: &'static dyn Test, cell: Judged<'_>, mut work: Work) -> (Verdict, &'static str) {
    let Judged { tasks, levels, processors, beside } = cell;
    let info: &TestInfo = test.info();
    if info.name == AnyGlobalEdf.info().name {
        let (verdict, accepted) = AnyGlobalEdf.first_to_accept(tasks, processors, work);
        return (verdict, accepted.unwrap_or(info).name);
    }
    let stopped = |task: &SporadicTask| beside.stopped(processors, task.deadline_rel_ns);
    if !beside.is_nothing() && info.name == GlobalFixedPriorityGuan.info().name {
        return (
            GlobalFixedPriorityGuan.judge_stopped(tasks, levels, processors, &stopped, &mut work),
            info.name,
        );
    }
    let longer =
        |task: &SporadicTask| SporadicTask { wcet_ns: task.wcet_ns.saturating_add(stopped(task)), ..*task };
    let longer: Vec<SporadicTask> = tasks.iter().map(longer).collect();
    let verdict = match levels {
        None => test.judge(&longer, processors, &mut work),
        Some(levels) => test.judge_among_equals(&longer, levels, processors, &mut work),
    };
    (verdict, info.name)
}

impl Proven {
    /// The least of both for each task.
    fn lower(&mut self, other: &Proven) {
        let mut lowered = false;
        for (mine, &theirs) in self.completions.iter_mut().zip(&other.completions) {
            lowered |= theirs < *mine;
            *mine = theirs.min(*mine);
        }
        if lowered {
            self.by.extend(&other.by);
        }
    }
}
