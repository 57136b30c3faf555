//! One core: the tasks that count there, and the tasks that it can take.

use super::{Entrant, Why};
use crate::uniprocessor::deferrable::{as_task, response_times, tardiness};
use crate::uniprocessor::{Ceiling, Rank};
use crate::{Bounds, DoubleHit, SporadicTask, TIME_MAX, Verdict, Work};
use laxity_model::{DeferrableServer, Duration, Speed};

/// A CPU with its server and its tasks.
#[derive(Debug, Clone)]
pub(super) struct ServedCore {
    pub cpu: u32,
    pub speed: Speed,
    /// A task that is done keeps the CPU until the next multiple of this, in ns; 1: it leaves the CPU at once.
    pub tick_ns: u64,
    /// True: tasks of the same period have priorities by their numbers. False: in an unknown order.
    pub ties_by_id: bool,
    /// By priority.
    tasks: Vec<Entrant>,
    /// Tasks that have left since the CPU was last quiet.
    leavers: Vec<Entrant>,
    /// The wanted size of its server, and all sizes since the CPU was last quiet.
    servers: Vec<DeferrableServer>,
}

impl ServedCore {
    pub fn new(cpu: u32, speed: Speed, server: DeferrableServer) -> Self {
        let (tasks, leavers) = (Vec::new(), Vec::new());
        ServedCore { cpu, speed, tick_ns: 1, ties_by_id: true, tasks, leavers, servers: vec![server] }
    }

    pub fn tasks(&self) -> &[Entrant] {
        &self.tasks
    }

    pub fn server(&self) -> DeferrableServer {
        self.servers.last().copied().unwrap_or(DeferrableServer::NONE)
    }

    pub fn counts(&self, id: u64) -> bool {
        self.tasks.iter().chain(&self.leavers).any(|task| task.id == id)
    }

    pub fn is_unsettled(&self) -> bool {
        !self.leavers.is_empty() || self.servers.len() > 1
    }

    pub fn put(&mut self, entrant: Entrant) {
        let place = self.tasks.partition_point(|task| priority(task) < priority(&entrant));
        self.tasks.insert(place, entrant);
    }

    pub fn leave(&mut self, id: u64) -> bool {
        let place = self.tasks.iter().position(|task| task.id == id);
        let left = place.map(|place| self.tasks.remove(place));
        self.leavers.extend(left.clone());
        left.is_some()
    }

    pub fn resize(&mut self, server: DeferrableServer) {
        self.servers.retain(|&before| before != server);
        self.servers.push(server);
    }

    pub fn settle(&mut self) {
        self.leavers.clear();
        self.servers = vec![self.server()];
    }

    /// Checks that every promise holds with one task more, under each size of the server that still counts.
    pub fn takes(&self, entrant: &Entrant, double_hit: DoubleHit, work: Work) -> Result<(), Why> {
        if entrant.affinity.as_ref().is_some_and(|affinity| !affinity.contains(self.cpu)) {
            return Err(Why::Affinity);
        }
        let (needed, window) = (self.at_speed(&entrant.task).wcet_ns, entrant.task.density_window());
        if needed > window {
            return Err(Why::Slow { needed, window });
        }
        let all = self.counted(Some(entrant));
        self.servers.iter().try_for_each(|&server| self.keeps(&all, server, double_hit, work).map(drop))
    }

    /// Checks that every promise holds with this server, and returns what is proven then, by priority.
    pub fn bears(&self, server: DeferrableServer, double_hit: DoubleHit, work: Work) -> Result<Bounds, Why> {
        self.keeps(&self.counted(None), server, double_hit, work)
    }

    /// What it refuses of further tasks: both tests ask the plain schedule, in which the server is a periodic task.
    pub fn ceiling(&self, deadline_max_ns: u64) -> Option<Ceiling> {
        let server = as_task(self.at_ticks(self.server()), DoubleHit::Ignored);
        let tasks = self.tasks.iter().map(|entrant| (rank(entrant), self.at_speed(&entrant.task)));
        let tasks: Vec<_> = tasks.collect();
        Ceiling::of(&tasks, server.as_slice(), deadline_max_ns)
    }

    /// Tardiness bound in ns of each task on the CPU with its id, by priority: the largest under any size of the
    /// server that still counts, with the departed tasks that still count.
    pub fn tardiness(&self, double_hit: DoubleHit, work: Work) -> Result<Vec<(u64, u64)>, Why> {
        let all = self.counted(None);
        let mut late = vec![0; all.len()];
        for &server in &self.servers {
            // Response times are those of jobs that meet their deadlines.
            if let Bounds::Tardiness(bounds) = self.keeps(&all, server, double_hit, work)? {
                late.iter_mut().zip(bounds).for_each(|(late, bound)| *late = bound.max(*late));
            }
        }
        let bounds = all.iter().map(|entrant| entrant.id).zip(late);
        Ok(bounds.filter(|&(id, _)| self.tasks.iter().any(|task| task.id == id)).collect())
    }

    /// All that are counted, by priority.
    fn counted<'a>(&'a self, entrant: Option<&'a Entrant>) -> Vec<&'a Entrant> {
        let mut all: Vec<_> = self.tasks.iter().chain(&self.leavers).chain(entrant).collect();
        all.sort_by_key(|task| priority(task));
        all
    }

    fn keeps(
        &self,
        all: &[&Entrant],
        server: DeferrableServer,
        double_hit: DoubleHit,
        mut work: Work,
    ) -> Result<Bounds, Why> {
        let server = self.at_ticks(server);
        let bounds = self.judge(all, server, double_hit, &mut work)?;
        let bounds = match bounds {
            Bounds::ResponseTimes(bounds) if !self.ties_by_id => {
                Bounds::ResponseTimes(self.as_last_of_equals(all, bounds, (server, double_hit), work)?)
            }
            Bounds::Tardiness(bounds) if !self.ties_by_id => {
                Bounds::Tardiness(self.as_last_of_equals(all, bounds, (server, double_hit), work)?)
            }
            bounds => bounds,
        };
        within(all, bounds)
    }

    /// The bounds of tasks, each as if all others of its period had higher priority. That holds in whatever order
    /// those really run, even if the order changes: nothing else goes before a job of the task while it is pending.
    fn as_last_of_equals(
        &self,
        all: &[&Entrant],
        mut bounds: Vec<u64>,
        (server, double_hit): (DeferrableServer, DoubleHit),
        mut work: Work,
    ) -> Result<Vec<u64>, Why> {
        for at in 0..all.len() {
            let end = all.partition_point(|entrant| entrant.task.period_ns <= all[at].task.period_ns);
            if end == at + 1 {
                continue;
            }
            let mut order = all[..end].to_vec();
            order[at..].rotate_left(1);
            match self.judge(&order, server, double_hit, &mut work)? {
                Bounds::ResponseTimes(as_last) | Bounds::Tardiness(as_last) => bounds[at] = as_last[end - 1],
                Bounds::None => {}
            }
        }
        Ok(bounds)
    }

    /// What is proven of tasks in the order of their priorities.
    fn judge(
        &self,
        all: &[&Entrant],
        server: DeferrableServer,
        double_hit: DoubleHit,
        work: &mut Work,
    ) -> Result<Bounds, Why> {
        let tasks: Vec<SporadicTask> = all.iter().map(|entrant| self.at_speed(&entrant.task)).collect();
        let verdict = match double_hit {
            DoubleHit::Counted => response_times(server, &tasks, double_hit, work),
            DoubleHit::Ignored => tardiness(server, &tasks, work),
        };
        match verdict {
            Verdict::Schedulable(bounds) => Ok(bounds),
            Verdict::NotApplicable(why) => {
                Err(Why::NotApplicable { assumption: why.assumption, id: why.task.map(|at| all[at].id) })
            }
            Verdict::NotProven(why) if why.out_of_work => Err(Why::OutOfWork),
            Verdict::NotProven(why) => Err(match why.task {
                None => Why::Full,
                Some(at) => Why::Late {
                    id: all[at].id,
                    response: response_time(server, &tasks[..=at], double_hit, *work),
                    deadline: tasks[at].deadline_rel_ns,
                },
            }),
        }
    }

    pub(super) fn at_speed(&self, task: &SporadicTask) -> SporadicTask {
        SporadicTask { wcet_ns: self.until_tick(self.speed.time_for(task.wcet_ns)), ..*task }
    }

    /// What its budget comes to if it ends at ticks only.
    fn at_ticks(&self, server: DeferrableServer) -> DeferrableServer {
        let budget = Duration::from_ns(self.until_tick(server.budget().as_ns())).min(server.period());
        DeferrableServer::new(budget, server.period()).unwrap_or(server)
    }

    fn until_tick(&self, time: u64) -> u64 {
        time.checked_next_multiple_of(self.tick_ns).unwrap_or(u64::MAX)
    }
}

/// Rate-monotonic, the lower id first: the order of priorities.
fn priority(entrant: &Entrant) -> (u64, u64) {
    (entrant.task.period_ns, entrant.id)
}

pub(super) fn rank(entrant: &Entrant) -> Rank {
    let (period, id) = priority(entrant);
    (period, usize::try_from(id).unwrap_or(usize::MAX))
}

/// Refuses a task whose bound exceeds the tardiness that it allows.
fn within(all: &[&Entrant], bounds: Bounds) -> Result<Bounds, Why> {
    let Bounds::Tardiness(late) = &bounds else { return Ok(bounds) };
    let allowed = |entrant: &Entrant| entrant.tardiness_max.map_or(u64::MAX, |most| most.as_ns());
    match all.iter().zip(late).find(|&(entrant, &late)| late > allowed(entrant)) {
        None => Ok(bounds),
        Some((entrant, &bound)) => Err(Why::Tardy { id: entrant.id, bound, allowed: allowed(entrant) }),
    }
}

/// Of the last task, if it ends at all and within the range of parameters.
fn response_time(
    server: DeferrableServer,
    tasks: &[SporadicTask],
    double_hit: DoubleHit,
    mut work: Work,
) -> Option<u64> {
    let endless: Vec<_> =
        tasks.iter().map(|task| SporadicTask { deadline_rel_ns: TIME_MAX, ..*task }).collect();
    match response_times(server, &endless, double_hit, &mut work) {
        Verdict::Schedulable(Bounds::ResponseTimes(bounds)) => bounds.last().copied(),
        _ => None,
    }
}
