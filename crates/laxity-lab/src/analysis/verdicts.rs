//! Both verdicts on a placed set.

use crate::charges::PlacedSet;
use laxity_analysis::scheduler::{Analysed, Asked, Judgement};
use laxity_analysis::{
    Bounds, DeferrableRta, DeferrableTardiness, Exactness, Guarantee, Priorities, Rta, Test, Verdict,
};

/// The hard verdict and the soft one. Where no deadline is missed, nothing is late, whatever bound of tardiness there is.
pub fn both(placed: &PlacedSet, asked: impl Fn(Guarantee) -> Asked) -> [Judgement; 2] {
    let hard = placed.judge(asked(Guarantee::Hard));
    if hard.verdict.is_schedulable() {
        let on_time = Verdict::Schedulable(Bounds::Tardiness(vec![0; placed.tasks.len()]));
        let soft = Judgement { verdict: on_time, ..hard.clone() };
        return [with_response_times(hard, placed, asked(Guarantee::Hard)), soft];
    }
    let soft = placed.judge(asked(Guarantee::Soft));
    [hard, soft]
}

/// Most tests of EDF prove deadlines and no more. Where one has, the response-time analysis is asked for bounds, which it has if
/// it proves the set as well. (It holds for one processor, too.)
fn with_response_times(hard: Judgement, placed: &PlacedSet, asked: Asked) -> Judgement {
    if hard.verdict != Verdict::SCHEDULABLE || asked.test.is_some() {
        return hard;
    }
    let bounded = placed.judge(Asked { test: Some(&Rta), ..asked });
    match bounded.verdict {
        Verdict::Schedulable(Bounds::ResponseTimes(_)) => {
            let proven_by = [hard.proven_by, bounded.proven_by].concat();
            Judgement { proven_by, ..bounded }
        }
        _ => hard,
    }
}

/// Whether what the tests do not accept cannot be guaranteed: what they say in the end is exact, and nothing was added for overheads.
/// Where tasks share a priority, tests are not exact. Whole quanta add nothing where jobs arrive with them, as that is how long processors
/// are given away for.
pub fn is_exact(placed: &PlacedSet, asked: Asked) -> bool {
    let guarantee = asked.guarantee;
    let conclusive = |test: &dyn Test| {
        let info = test.info();
        let same = info.guarantee == guarantee || info.priorities == Priorities::Pfair;
        (info.exactness == Exactness::Exact || is_of_servers(placed, test)) && same
    };
    let with_quanta =
        matches!(placed.scheduler, Analysed::Pfair(quanta) if quanta.aligned && !quanta.staggered);
    placed.charge.as_ref().is_none_or(|charge| charge.is_free() && with_quanta)
        && !placed.scheduler.shares_levels(&placed.as_placed(&placed.tasks))
        && !placed.scheduler.asks_for_more()
        && judging(placed, asked, |tests| tests.last().is_some_and(|&test| conclusive(test)))
}

/// Whether it is the test with the double hit, below servers: what it refuses some background work delays for too long. (By its name
/// it is sufficient, for the first task may be no server.)
fn is_of_servers(placed: &PlacedSet, test: &dyn Test) -> bool {
    placed.is_served() && test.info().name == DeferrableRta.info().name
}

/// Whether shorter execution times can only help: so it is with all tests here that are exact (EDF and fixed priorities on one
/// processor, U <= m, Pfair), unless a bound of tardiness has to be 0, and with those of servers, which
/// are response-time analyses, too.
pub fn is_monotonic(placed: &PlacedSet, asked: Asked) -> bool {
    let monotonic = |test: &&'static dyn Test| {
        let info = test.info();
        let bound_of_zero = asked.guarantee == Guarantee::Hard && info.guarantee == Guarantee::Soft;
        let of_servers = is_of_servers(placed, *test) || info.name == DeferrableTardiness.info().name;
        (info.exactness == Exactness::Exact || of_servers) && !bound_of_zero
    };
    judging(placed, asked, |tests| tests.iter().all(monotonic))
}

/// Whether something holds of the tests that judge each cell.
fn judging(placed: &PlacedSet, asked: Asked, holds: impl Fn(&[&'static dyn Test]) -> bool) -> bool {
    match asked.test {
        Some(test) => holds(&[test]),
        None => {
            let tests = |(processors, server)| placed.scheduler.tests(asked.guarantee, processors, server);
            placed.shapes().all(|shape| holds(tests(shape)))
        }
    }
}
