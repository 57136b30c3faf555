//! Places by the test: a task goes into a cell only if the scheduler's own test accepts the cell with it, with the overheads of as
//! many tasks.
//!
//! An interruption ends the search, and the test that is at work.

use super::{Finder, SEARCH, Takes, Wanted, search};
use crate::charges::{given_priorities, running, server_of};
use crate::placing::Placed;
use laxity_analysis::scheduler::{Analysed, Asked, EmptyCell, TestedCells};
use laxity_analysis::{Bounds, Guarantee, Verdict};
use laxity_model::{CpuList, TaskSet, Utilization};
use laxity_place::{Acceptance, Method, Order, Packing, Refuses, Request, Rule};
use std::sync::atomic::Ordering::SeqCst;

/// A scheduler's test, asked for tasks one by one, and what else cells have to take.
struct Admission<'a> {
    test: TestedCells,
    cells: Vec<Whole>,
    takes: Option<Takes<'a>>,
}

/// A cell.
struct Whole {
    cpus: CpuList,
    seen: EmptyCell,
}

/// The placement by a method, in which the test accepts every cell; nothing if it finds none, or would solve an integer program.
pub fn by_test(
    finder: &Finder<'_>,
    wanted: Wanted<'_>,
    scheduler: Analysed,
    (method, guarantee): (Method, Guarantee),
) -> Option<Placed> {
    let (set, placing) = (wanted.set, &finder.placing);
    if method.may_solve() {
        return None;
    }
    let (wholes, bins) = placing.bins(wanted.scope, wanted.dedicated).ok()?;
    let admission = Admission::of(finder, wanted, (scheduler, guarantee), &wholes)?;
    // What no test accepts need not be asked, of thousands of cells.
    let room =
        admission.test.room().filter(|room| matches!(method, Method::Pack(_)) && *room > Utilization::zero());
    let limits = finder.limit.clone().into_iter().chain(room);
    let limit = limits.min().unwrap_or_else(|| Utilization::whole(1));
    let request = Request::new(set, bins).ok()?.with_capacity_limit(limit).ok()?;
    let request = request.with_acceptance(&admission).with_interrupt(placing.interrupt);
    request.find(method).map(|placement| placing.placed(set, placement, &wholes))
}

/// Questions of a search.
const TRIALS: u64 = 5_000;

/// How near to its limit the most strained cell of a placement is, as [`Admission::strain`] has it.
pub fn strain(
    finder: &Finder<'_>,
    wanted: Wanted<'_>,
    of: (Analysed, Guarantee),
    placed: &Placed,
) -> Option<u64> {
    let (wholes, _) = finder.placing.bins(wanted.scope, wanted.dedicated).ok()?;
    let admission = Admission::of(finder, wanted, of, &wholes)?;
    let bins = placed.placement.as_ref()?.tasks_by_bin();
    let strains = bins.iter().enumerate().map(|(bin, tasks)| admission.strain(bin, tasks));
    strains.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// A placement of few tasks in which the test accepts every cell, and the most strained one is strained the least, by a search of all
/// partitions; nothing if it finds none within some questions.
pub fn by_search(
    finder: &Finder<'_>,
    wanted: Wanted<'_>,
    scheduler: Analysed,
    guarantee: Guarantee,
) -> Option<Placed> {
    let (wholes, _) = finder.placing.bins(wanted.scope, wanted.dedicated).ok()?;
    let admission = Admission::of(finder, wanted, (scheduler, guarantee), &wholes)?;
    let cells: Vec<_> = admission.cells.iter().map(|cell| (cell.cpus.clone(), cell.seen.speed)).collect();
    let interrupted = || finder.placing.interrupt.load(SeqCst);
    // The sum of fourth powers: almost the strain of the most strained cell.
    let cost = |cell: usize, of: &[usize]| {
        if interrupted() { None } else { admission.strain(cell, of).map(|strain| u128::from(strain).pow(4)) }
    };
    let places = search(wanted.set, &cells, (TRIALS, 0), cost).ok()?;
    // Where each task has its cell, every method puts it there; so the bins are as of any other placement.
    let mut tasks = wanted.set.tasks().to_vec();
    for (ids, cpus) in places.iter().zip(&wholes) {
        ids.iter().for_each(|&id| tasks[id].affinity = Some(cpus.clone()));
    }
    let pinned = TaskSet::new(wanted.set.name(), tasks).ok()?;
    let method = Method::Pack(Packing { rule: Rule::FirstFit, order: Order::GIVEN });
    let mut placed = by_test(finder, Wanted { set: &pinned, ..wanted }, scheduler, (method, guarantee))?;
    placed.record.method = SEARCH.to_owned();
    Some(placed)
}

impl<'a> Admission<'a> {
    fn of(
        finder: &Finder<'a>,
        wanted: Wanted<'_>,
        (scheduler, guarantee): (Analysed, Guarantee),
        wholes: &[CpuList],
    ) -> Option<Self> {
        let set = wanted.set;
        let cells: Vec<Whole> = wholes.iter().map(|whole| Whole::of(finder, scheduler, whole)).collect();
        let seen = cells.iter().map(|cell| cell.seen).collect();
        let overheads = finder.charges.0.of(scheduler, finder.charges.1).map(|charge| charge.overheads);
        let test = TestedCells::of(scheduler, set, seen, Asked { guarantee, ..finder.asked })
            .with_priorities(given_priorities(set, scheduler).ok()?)
            .with_overheads(overheads);
        Some(Admission { test, cells, takes: finder.takes })
    }

    /// How near to its limit a cell is with these tasks, by id, in units of 2^-20: the largest share of its deadline that a response
    /// takes at the most; where the test bounds no response, the share of the cell that is used. Nothing if they are not accepted.
    fn strain(&self, bin: usize, ids: &[usize]) -> Option<u64> {
        if !self.accepts(bin, ids) {
            return None;
        }
        let (judgement, tasks) = self.test.judge_alone(bin, ids)?;
        let share = |part: u64, whole: u64| {
            u64::try_from((u128::from(part) << 20) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
        };
        Some(match judgement.verdict {
            Verdict::Schedulable(Bounds::ResponseTimes(responses)) => {
                let shares =
                    responses.iter().zip(&tasks).map(|(&time, task)| share(time, task.deadline_rel_ns));
                shares.max().unwrap_or(0)
            }
            _ => {
                let used = tasks.iter().map(|task| share(task.wcet_ns, task.period_ns)).sum::<u64>();
                used / u64::from(self.cells[bin].seen.processors.max(1))
            }
        })
    }
}

impl Whole {
    fn of(finder: &Finder<'_>, scheduler: Analysed, cpus: &CpuList) -> Self {
        let running = running(scheduler, cpus);
        let seen = EmptyCell {
            processors: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
            speed: finder.seen.one_speed(&running),
            server: server_of(finder.servers, finder.seen, &running),
        };
        Whole { cpus: cpus.clone(), seen }
    }
}

impl Acceptance for Admission<'_> {
    fn name(&self) -> String {
        self.test.name()
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        let may = |takes: Takes<'_>| takes(&self.cells[bin].cpus, tasks);
        self.test.accepts(bin, tasks) && self.takes.is_none_or(may)
    }

    fn refuses(&self, bin: usize, tasks: &[usize]) -> Option<Refuses<'_>> {
        let refuses = self.test.refuses(bin, tasks)?;
        Some(Refuses { above_q64: refuses.above_q64, task: refuses.task })
    }
}
