//! Schedules whose losses are known because they were put in: a machine that goes tick by tick, and knows nothing of replays.

use crate::causes::{Causes, Evidence, causes};
use crate::{About, Activity, Cause, Definition};
use laxity_model::{Duration, Platform, PriorityRule, Task, TaskSet};
use laxity_trace::{Event, EventKind, Job, JobOutcome, MissCause};

/// What disturbs a schedule. Times are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// A thread has a CPU in `[from, to)`.
    Thread { cpu: u32, from: u64, to: u64, cause: Cause },
    /// The timer of a job's release is late.
    Late { task: u32, job: u32, by: u64 },
    /// So much of the CPU is taken from a job after its first tick.
    Steal { task: u32, job: u32, ticks: u64 },
    /// A job needs so much more than its WCET.
    Overrun { task: u32, job: u32, ticks: u64 },
    /// A job is without budget when it has had the CPU for so long, until an instant.
    Throttle { task: u32, job: u32, after: u64, until: u64 },
}

impl Disturbance {
    /// What the misses that it makes are to be put down to: an overrun of the job itself or of another.
    pub fn causes(&self, of: (u32, u32)) -> MissCause {
        match *self {
            Disturbance::Thread { cause: Cause::KernelThread, .. } => MissCause::KernelThread,
            Disturbance::Thread { cause: Cause::HigherClass, .. } => MissCause::OtherThread,
            Disturbance::Thread { .. } => MissCause::Reserve,
            Disturbance::Late { .. } => MissCause::LateRelease,
            Disturbance::Steal { .. } => MissCause::Steal,
            Disturbance::Overrun { task, job, .. } if (task, job) == of => MissCause::DemandAboveWcet,
            Disturbance::Overrun { .. } => MissCause::EarlierOverrun,
            Disturbance::Throttle { .. } => MissCause::Throttled,
        }
    }
}

/// Wcet, period and relative deadline of a task, in ticks.
pub type Parameters = (u64, u64, u64);

pub struct World {
    pub rule: PriorityRule,
    pub cpus: u32,
    pub tasks: Vec<Parameters>,
    pub end: u64,
    pub disturbances: Vec<Disturbance>,
}

#[derive(Default)]
struct Running {
    /// Ticks on a CPU, and without those that were taken.
    had: u64,
    start: Option<u64>,
    cpu: Option<u32>,
    on: Option<u32>,
    throttled: bool,
}

/// What the machine has recorded.
#[derive(Default)]
pub struct Recorded {
    pub jobs: Vec<Job>,
    pub events: Vec<Event>,
    pub activities: Vec<Activity>,
}

impl World {
    pub fn definition(&self) -> Definition {
        let ns = Duration::from_ns;
        let task = |(id, &(wcet, period, deadline)): (usize, &Parameters)| {
            let mut task = Task::periodic(format!("t{id}"), ns(wcet), ns(period));
            task.deadline_rel = ns(deadline);
            task
        };
        let set = TaskSet::new("world", self.tasks.iter().enumerate().map(task).collect()).expect("a set");
        let platform = Platform::symmetric(self.cpus).expect("a platform");
        Definition::global(set, &platform, self.rule, ns(self.end)).expect("a definition")
    }

    fn sum(&self, of: impl Fn(&Disturbance) -> Option<u64>) -> u64 {
        self.disturbances.iter().filter_map(of).sum()
    }

    fn demand(&self, task: u32, job: u32) -> u64 {
        let more = self.sum(|one| match *one {
            Disturbance::Overrun { task: of, job: number, ticks } if (of, number) == (task, job) => {
                Some(ticks)
            }
            _ => None,
        });
        self.tasks[task as usize].0 + more
    }

    fn stolen(&self, task: u32, job: u32) -> u64 {
        self.sum(|one| match *one {
            Disturbance::Steal { task: of, job: number, ticks } if (of, number) == (task, job) => Some(ticks),
            _ => None,
        })
    }

    fn late(&self, task: u32, job: u32) -> u64 {
        self.sum(|one| match *one {
            Disturbance::Late { task: of, job: number, by } if (of, number) == (task, job) => Some(by),
            _ => None,
        })
    }

    fn throttle(&self, task: u32, job: u32) -> Option<(u64, u64)> {
        self.disturbances.iter().find_map(|one| match *one {
            Disturbance::Throttle { task: of, job: number, after, until } if (of, number) == (task, job) => {
                Some((after, until))
            }
            _ => None,
        })
    }

    /// Goes through all ticks, and on until every job is done.
    pub fn run(&self) -> Recorded {
        let mut recorded = Recorded { activities: self.activities(), ..Recorded::default() };
        let definition = self.definition();
        let mut queues: Vec<Vec<(u32, Running)>> = self.tasks.iter().map(|_| Vec::new()).collect();
        let mut next: Vec<u32> = vec![0; self.tasks.len()];
        let mut now = 0;
        while now < self.end || queues.iter().any(|queue| !queue.is_empty()) {
            for (task, &(_, period, deadline)) in self.tasks.iter().enumerate() {
                if now < self.end && now % period == 0 {
                    queues[task].push((next[task], Running::default()));
                    let event = event(now, EventKind::Release, None, (id(task), next[task]));
                    recorded.events.push(Event { argument: Some(now + deadline), ..event });
                    next[task] += 1;
                }
            }
            self.replenish(now, &mut queues, &mut recorded.events);
            self.choose(now, &definition, &mut queues, &mut recorded.events);
            now += 1;
            self.tick(now, &mut queues, &mut recorded);
        }
        recorded.jobs.sort_by_key(|job| (job.task, job.index));
        recorded
    }

    fn activities(&self) -> Vec<Activity> {
        let one = |disturbance: &Disturbance| match *disturbance {
            Disturbance::Thread { cpu, from, to, cause } => {
                Some(Activity { from_ns: from, to_ns: to, cpu, cause, about: About::Cpu })
            }
            Disturbance::Late { task, job, by } => {
                let release = u64::from(job) * self.tasks[task as usize].1;
                let about = About::Released(release, release + by);
                let (from_ns, to_ns, cause) = (release, release + by, Cause::ReleaseLatency);
                Some(Activity { from_ns, to_ns, cpu: 0, cause, about })
            }
            _ => None,
        };
        let mut all: Vec<Activity> = self.disturbances.iter().filter_map(one).collect();
        all.sort_by_key(|one| one.from_ns);
        all
    }

    fn replenish(&self, now: u64, queues: &mut [Vec<(u32, Running)>], events: &mut Vec<Event>) {
        for (task, queue) in queues.iter_mut().enumerate() {
            let Some((number, job)) = queue.first_mut().filter(|(_, job)| job.throttled) else { continue };
            if self.throttle(id(task), *number).is_some_and(|(_, until)| until <= now) {
                job.throttled = false;
                let deadline = u64::from(*number) * self.tasks[task].1 + self.tasks[task].2;
                let event = event(now, EventKind::Replenish, None, (id(task), *number));
                events.push(Event { argument: Some(deadline), ..event });
            }
        }
    }

    /// The first jobs of the ready tasks, those that go first, each on the CPU it has, or had, or the first free one.
    fn choose(
        &self,
        now: u64,
        definition: &Definition,
        queues: &mut [Vec<(u32, Running)>],
        events: &mut Vec<Event>,
    ) {
        let absent = |cpu: u32| {
            self.disturbances.iter().any(|one| {
                matches!(*one, Disturbance::Thread { cpu: of, from, to, .. } if of == cpu && from <= now && now < to)
            })
        };
        let mut free: Vec<u32> = (0..self.cpus).filter(|&cpu| !absent(cpu)).collect();
        let mut ready = Vec::new();
        for (task, queue) in queues.iter().enumerate() {
            let Some((number, job)) = queue.first() else { continue };
            let release = u64::from(*number) * self.tasks[task].1;
            if release + self.late(id(task), *number) <= now && !job.throttled {
                let key = definition.key(id(task), release + self.tasks[task].2);
                let equals = self.rule == PriorityRule::EarliestDeadlineFirst;
                let tie = if equals { (u64::from(job.on.is_none()), release) } else { (0, 0) };
                ready.push((key, tie, task));
            }
        }
        ready.sort_unstable();
        let mut chosen: Vec<Option<u32>> = vec![None; queues.len()];
        for (.., task) in ready {
            let last = queues[task][0].1.cpu;
            let place = free.iter().position(|cpu| Some(*cpu) == last).or((!free.is_empty()).then_some(0));
            chosen[task] = place.map(|place| free.remove(place));
        }
        for begins in [false, true] {
            for (task, queue) in queues.iter_mut().enumerate() {
                let Some((number, job)) = queue.first_mut() else { continue };
                if job.on != chosen[task] && !begins {
                    if let Some(cpu) = job.on.take() {
                        events.push(event(now, EventKind::Preempt, Some(cpu), (id(task), *number)));
                    }
                } else if job.on != chosen[task] {
                    let kind = if job.start.is_none() { EventKind::Start } else { EventKind::Resume };
                    events.push(event(now, kind, chosen[task], (id(task), *number)));
                    job.start.get_or_insert(now);
                    (job.on, job.cpu) = (chosen[task], chosen[task]);
                }
            }
        }
    }

    /// What the tick before `now` came to.
    fn tick(&self, now: u64, queues: &mut [Vec<(u32, Running)>], recorded: &mut Recorded) {
        for (task, queue) in queues.iter_mut().enumerate() {
            let Some((number, job)) = queue.first_mut().filter(|(_, job)| job.on.is_some()) else { continue };
            let number = *number;
            job.had += 1;
            let demand = self.demand(id(task), number);
            if job.had == demand + self.stolen(id(task), number) {
                recorded.events.push(event(now, EventKind::Complete, job.on, (id(task), number)));
                recorded.jobs.push(self.job((id(task), number), demand, (job.start, now)));
                queue.remove(0);
            } else if self
                .throttle(id(task), number)
                .is_some_and(|(after, until)| after == job.had && until > now)
            {
                recorded.events.push(event(now, EventKind::Throttle, job.on.take(), (id(task), number)));
                job.throttled = true;
            }
        }
    }

    fn job(&self, (task, index): (u32, u32), demand: u64, (start, finish): (Option<u64>, u64)) -> Job {
        let (_, period, deadline) = self.tasks[task as usize];
        let release = u64::from(index) * period;
        Job {
            demand_ns: Some(demand),
            start_ns: start,
            finish_ns: Some(finish),
            cpu_time_ns: Some(demand),
            ..Job::new((task, index), (release, release + deadline), JobOutcome::Completed)
        }
    }

    /// The causes that are found in the record.
    pub fn judged(&self) -> (Recorded, Causes) {
        let recorded = self.run();
        let found = self.judge(&recorded);
        (recorded, found)
    }

    pub fn judge(&self, recorded: &Recorded) -> Causes {
        let wcets: Vec<u64> = self.tasks.iter().map(|task| task.0).collect();
        let budgets: Vec<Option<u64>> = wcets.iter().map(|&wcet| Some(wcet)).collect();
        let definition = self.definition();
        causes(&Evidence {
            definition: &definition,
            jobs: &recorded.jobs,
            events: &recorded.events,
            activities: &recorded.activities,
            end_ns: recorded.events.last().map_or(0, |event| event.time_ns + 1),
            horizon_ns: u64::MAX >> 1,
            wcets_ns: &wcets,
            budgets_ns: &budgets,
            charged_ns: &|_, _| None,
            skipped_without_number: true,
            demand_is_work: false,
            taken: MissCause::Steal,
        })
    }
}

fn id(task: usize) -> u32 {
    u32::try_from(task).expect("few")
}

fn event(time_ns: u64, kind: EventKind, cpu: Option<u32>, (task, job): (u32, u32)) -> Event {
    Event { time_ns, kind, cpu, task: Some(task), job: Some(job), argument: None }
}
