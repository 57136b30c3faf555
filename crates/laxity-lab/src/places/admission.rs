//! Places by the test: a task goes into a cell only if the scheduler's own test accepts the cell with it, with the overheads of as
//! many tasks.
//!
//! 1. A cell whose processors differ in speed is judged by no test, and takes no task here.
//! 2. An interruption ends the search, and the test that is at work.

use super::{Finder, SEARCH, Takes, Wanted, search};
use crate::charges::{Charge, given_priorities, running, server_of};
use crate::placing::Placed;
use laxity_analysis::overheads::working_sets_of;
use laxity_analysis::scheduler::{self, Analysed, Asked};
use laxity_analysis::{AnalysedCell, Bounds, Guarantee, SporadicTask, Verdict};
use laxity_model::{CpuList, DeferrableServer, Platform, ServerSizes, Speed, TaskSet, Utilization};
use laxity_place::{Acceptance, Method, Order, Packing, Request, Rule};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;

/// A scheduler's test, asked for tasks one by one.
struct Admission<'a> {
    scheduler: Analysed,
    cells: Vec<Bin>,
    /// The tasks as they are at each speed that a cell has.
    at_speed: BTreeMap<Speed, Vec<SporadicTask>>,
    /// Among the real-time tasks, by id.
    numbers: BTreeMap<usize, usize>,
    working_sets: Vec<u64>,
    given_priorities: Vec<u32>,
    charge: Option<Charge>,
    asked: Asked,
    takes: Option<Takes<'a>>,
}

/// A cell.
struct Bin {
    cpus: CpuList,
    processors: u32,
    /// Nothing if they differ.
    speed: Option<Speed>,
    server: DeferrableServer,
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
    let full = || Utilization::whole(1);
    let request =
        Request::new(set, bins).ok()?.with_capacity_limit(finder.limit.clone().unwrap_or_else(full)).ok()?;
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
    let cells: Vec<_> = admission.cells.iter().map(|cell| (cell.cpus.clone(), cell.speed)).collect();
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
        let bin = |whole| Bin::of(finder.seen, scheduler, whole, finder.servers);
        let cells: Vec<Bin> = wholes.iter().map(bin).collect();
        Some(Admission {
            scheduler,
            at_speed: at_speeds(set, &cells),
            cells,
            numbers: set.real_time().enumerate().map(|(number, (id, _))| (id, number)).collect(),
            working_sets: working_sets_of(set),
            given_priorities: given_priorities(set, scheduler).ok()?,
            charge: finder.charges.0.of(scheduler, finder.charges.1),
            asked: Asked { guarantee, ..finder.asked },
            takes: finder.takes,
        })
    }

    /// How near to its limit a cell is with these tasks, by id, in units of 2^-20: the largest share of its deadline that a response
    /// takes at the most; where the test bounds no response, the share of the cell that is used. Nothing if they are not accepted.
    fn strain(&self, bin: usize, ids: &[usize]) -> Option<u64> {
        if !self.accepts(bin, ids) {
            return None;
        }
        let Bin { processors, speed, .. } = self.cells[bin];
        let all = self.at_speed.get(&speed?)?;
        let mut numbers: Vec<usize> = ids.iter().map(|id| self.numbers[id]).collect();
        numbers.sort_unstable();
        let tasks: Vec<SporadicTask> = numbers.iter().map(|&number| all[number]).collect();
        let cells = [AnalysedCell { processors, tasks: (0..tasks.len()).collect() }];
        let of = |values: &[u32]| numbers.iter().filter_map(|&number| values.get(number).copied()).collect();
        let given_priorities: Vec<u32> = of(&self.given_priorities);
        let working_sets: Vec<u64> = numbers.iter().map(|&number| self.working_sets[number]).collect();
        let placed = scheduler::Placed {
            tasks: &tasks,
            working_sets: &working_sets,
            given_priorities: &given_priorities,
            cells: &cells,
            servers: &[],
            overheads: self.charge.as_ref().map(|charge| &charge.overheads),
        };
        let share = |part: u64, whole: u64| {
            u64::try_from((u128::from(part) << 20) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
        };
        Some(match self.scheduler.judge(&placed, self.asked).verdict {
            Verdict::Schedulable(Bounds::ResponseTimes(responses)) => {
                let shares = responses.iter().zip(&tasks).map(|(&time, task)| share(time, task.deadline));
                shares.max().unwrap_or(0)
            }
            _ => {
                let used = tasks.iter().map(|task| share(task.wcet, task.period)).sum::<u64>();
                used / u64::from(processors.max(1))
            }
        })
    }
}

fn at_speeds(set: &TaskSet, cells: &[Bin]) -> BTreeMap<Speed, Vec<SporadicTask>> {
    let tasks = SporadicTask::of_set(set);
    let slower = |speed: Speed| tasks.iter().map(|task| task.at_speed(speed)).collect();
    cells.iter().filter_map(|cell| cell.speed).map(|speed| (speed, slower(speed))).collect()
}

impl Bin {
    fn of(platform: &Platform, scheduler: Analysed, whole: &CpuList, servers: &ServerSizes) -> Self {
        let running = running(scheduler, whole);
        Bin {
            cpus: whole.clone(),
            processors: u32::try_from(whole.len()).unwrap_or(u32::MAX),
            speed: platform.one_speed(&running),
            server: server_of(servers, platform, &running),
        }
    }
}

impl Acceptance for Admission<'_> {
    fn name(&self) -> String {
        format!("the test of {}", self.scheduler)
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        let Bin { ref cpus, processors, speed, server } = self.cells[bin];
        let Some(seen) = speed.and_then(|speed| self.at_speed.get(&speed)) else { return false };
        let cell = AnalysedCell { processors, tasks: tasks.iter().map(|id| self.numbers[id]).collect() };
        let placed = scheduler::Placed {
            tasks: seen,
            working_sets: &self.working_sets,
            given_priorities: &self.given_priorities,
            cells: &[],
            servers: &[],
            overheads: self.charge.as_ref().map(|charge| &charge.overheads),
        };
        self.scheduler.judge_cell(&placed, &cell, server, self.asked).is_schedulable()
            && self.takes.is_none_or(|takes| takes(cpus, tasks))
    }
}
