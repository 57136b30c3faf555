//! What the events say of each job, and the busy periods of clusters.

use super::Evidence;
use laxity_model::PriorityRule;
use laxity_trace::{Event, EventKind, JobOutcome};
use std::collections::BTreeMap;

/// A job on a CPU, `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub cpu: u32,
    pub from_ns: u64,
    pub to_ns: u64,
}

/// A job without budget, `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Throttle {
    pub from_ns: u64,
    pub to_ns: u64,
    /// It was on a CPU when its budget was used up; else it was woken up without one.
    pub on_cpu: bool,
}

/// A job as it was recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// Its place among the jobs of the run; nothing for one that they lack.
    pub job: Option<usize>,
    pub task: u32,
    pub release_ns: u64,
    /// From when on it is scheduled by which deadline, ascending; the first from its release on.
    pub scheduled_by: Vec<(u64, u64)>,
    pub pieces: Vec<Piece>,
    pub throttles: Vec<Throttle>,
    /// It slept before it was done.
    pub sleeps: Vec<(u64, u64)>,
    pub completed_ns: Option<u64>,
}

impl History {
    /// The deadline by which it is scheduled at an instant.
    pub fn deadline_at(&self, now: u64) -> u64 {
        let after = self.scheduled_by.partition_point(|&(from, _)| from <= now);
        self.scheduled_by[after.saturating_sub(1)].1
    }

    /// When it was over, at the latest where the record ends.
    pub fn end(&self, end_ns: u64) -> u64 {
        self.completed_ns.unwrap_or(end_ns)
    }
}

/// All of them.
pub(super) struct Histories {
    /// By task, then number.
    pub all: Vec<History>,
    /// By cluster, in the order of releases.
    of_clusters: Vec<Vec<usize>>,
    end_ns: u64,
}

impl Histories {
    pub fn of(evidence: &Evidence<'_>) -> Self {
        let places = places(evidence);
        let mut open: BTreeMap<(u32, u32), Growing> = BTreeMap::new();
        for event in evidence.events {
            let Some(key) = event.task.zip(event.job) else { continue };
            if evidence.definition.cluster_of(key.0).is_some() {
                open.entry(key).or_insert_with(|| Growing::new(key.0)).add(event);
            }
        }
        let all: Vec<History> = open
            .into_iter()
            .filter_map(|(key, growing)| growing.finish(evidence.end_ns, places.get(&key).copied()))
            .collect();
        let mut of_clusters = vec![Vec::new(); evidence.definition.clusters().len()];
        for (id, history) in all.iter().enumerate() {
            let cluster = evidence.definition.cluster_of(history.task);
            cluster.into_iter().for_each(|cluster| of_clusters[cluster].push(id));
        }
        of_clusters.iter_mut().for_each(|of| of.sort_by_key(|&id| (all[id].release_ns, id)));
        Histories { all, of_clusters, end_ns: evidence.end_ns }
    }

    /// The jobs of each busy period of a cluster, ordered by task, then number.
    pub fn busy_periods(&self, cluster: usize) -> Vec<Vec<usize>> {
        let mut periods: Vec<Vec<usize>> = Vec::new();
        let mut until = 0;
        for &id in &self.of_clusters[cluster] {
            let history = &self.all[id];
            match periods.last_mut().filter(|_| history.release_ns < until) {
                Some(period) => period.push(id),
                None => periods.push(vec![id]),
            }
            until = until.max(history.end(self.end_ns));
        }
        periods.iter_mut().for_each(|period| period.sort_unstable());
        periods
    }

    /// The job of the same task before this one.
    pub fn before(&self, id: usize) -> Option<&History> {
        let before = self.all.get(id.checked_sub(1)?)?;
        (before.task == self.all[id].task).then_some(before)
    }
}

/// Where the jobs of the run are that events name by task and number.
fn places(evidence: &Evidence<'_>) -> BTreeMap<(u32, u32), usize> {
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for (place, job) in evidence.jobs.iter().enumerate() {
        if !evidence.skipped_without_number {
            places.insert((job.task, job.index), place);
        } else if job.outcome != JobOutcome::Skipped {
            let number = next.entry(job.task).or_default();
            places.insert((job.task, *number), place);
            *number += 1;
        }
    }
    places
}

/// A history while its events come.
struct Growing {
    history: History,
    released: Option<u64>,
    on: Option<(u32, u64)>,
    throttled: Option<(u64, bool)>,
    asleep: Option<u64>,
}

impl Growing {
    fn new(task: u32) -> Self {
        let history = History { task, ..History::default() };
        Growing { history, released: None, on: None, throttled: None, asleep: None }
    }

    fn add(&mut self, event: &Event) {
        let now = event.time_ns;
        match event.kind {
            EventKind::Release => {
                self.released = Some(now);
                self.schedule_by(now, event.argument);
            }
            EventKind::Replenish | EventKind::Postpone => {
                self.ends_throttle(now);
                self.schedule_by(now, event.argument);
            }
            EventKind::Wake => self.wakes(now),
            kind if kind.begins_running() => {
                self.ends_throttle(now);
                self.wakes(now);
                self.on = event.cpu.map(|cpu| (cpu, now));
            }
            kind if kind.ends_running() => {
                self.leaves(now);
                match kind {
                    EventKind::Throttle => {
                        self.ends_throttle(now);
                        self.throttled = Some((now, event.cpu.is_some()));
                    }
                    EventKind::Block => self.asleep = Some(now),
                    kind if kind.ends_job() => self.history.completed_ns = Some(now),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn schedule_by(&mut self, now: u64, deadline_ns: Option<u64>) {
        self.history.scheduled_by.extend(deadline_ns.map(|deadline_ns| (now, deadline_ns)));
    }

    fn leaves(&mut self, now: u64) {
        if let Some((cpu, from)) = self.on.take().filter(|&(_, from)| from < now) {
            self.history.pieces.push(Piece { cpu, from_ns: from, to_ns: now });
        }
    }

    fn ends_throttle(&mut self, now: u64) {
        if let Some((from, on_cpu)) = self.throttled.take().filter(|&(from, _)| from < now) {
            self.history.throttles.push(Throttle { from_ns: from, to_ns: now, on_cpu });
        }
    }

    fn wakes(&mut self, now: u64) {
        let slept = self.asleep.take().filter(|&from| from < now);
        self.history.sleeps.extend(slept.map(|from| (from, now)));
    }

    /// Nothing of a job whose release is not in the record.
    fn finish(mut self, end_ns: u64, job: Option<usize>) -> Option<History> {
        self.leaves(end_ns);
        self.ends_throttle(end_ns);
        self.wakes(end_ns);
        let mut history = self.history;
        history.release_ns = self.released.filter(|_| !history.scheduled_by.is_empty())?;
        history.scheduled_by.sort_by_key(|&(from, _)| from);
        history.job = job;
        Some(history)
    }
}

/// What goes first has the smaller rank; of equal ranks, what runs goes on.
pub(super) type Rank = (u64, u32);

/// The rank of a job at an instant.
pub(super) fn rank(evidence: &crate::Definition, history: &History, now: u64) -> Rank {
    rank_by(evidence, history.task, history.deadline_at(now))
}

/// The rank of a job of this task that is scheduled by this deadline.
pub(super) fn rank_by(definition: &crate::Definition, task: u32, deadline: u64) -> Rank {
    let key = definition.key(task, deadline);
    let equals = definition.rule() == PriorityRule::EarliestDeadlineFirst
        || definition.cluster_of(task).is_some_and(|cluster| definition.has_free_ties(cluster));
    (key, if equals { 0 } else { task })
}
