//! Records of all CPUs into one schedule.

use super::cpus::{CpuRecords, Found};
use super::tasks::{Member, Placed, TaskRecords, placed};
use super::{MeasuredWindows, Recorded, Unseen};
use crate::RunningServer;
use crate::rings::{Kind, NONE, OVERDUE, Record, UNSEEN};
use laxity_model::plural;
use laxity_oracle::{About, Activity, Cause, ServerAccount};
use laxity_trace::{Event, EventKind};
use std::collections::BTreeMap;

/// What the records are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The instant of CLOCK_MONOTONIC that becomes time 0: the synchronous release, in ns.
    pub t0_ns: u64,
    /// The threads.
    pub tasks: Vec<Member>,
    /// Names of the tasks by their ids, for notes. A task without one goes by its id.
    pub names: Vec<String>,
    /// The number that the host gives to what is to be job 0: 1 where the first job only waits for the synchronous release.
    pub first_job: u32,
    /// The CPUs of the schedule; records about others are passed over.
    pub cpus: Vec<u32>,
    /// Whether every CPU has a queue, from which no other CPU takes a job while that CPU has yet to decide (push-pull).
    pub queues: bool,
    /// Where the schedule ends at the latest, in ns of CLOCK_MONOTONIC; without it where the records do.
    pub end_ns: Option<u64>,
    /// The deferrable servers of CPUs.
    pub servers: Vec<RunningServer>,
}

impl Origin {
    fn name_of(&self, task: u32) -> String {
        let name = usize::try_from(task).ok().and_then(|task| self.names.get(task));
        name.cloned().unwrap_or_else(|| task.to_string())
    }

    fn accounts(&self) -> BTreeMap<u32, ServerAccount> {
        let account =
            |of: &RunningServer| Some((of.cpu, ServerAccount::new(of.server().ok()?, of.since_ns)?));
        self.servers.iter().filter_map(account).collect()
    }
}

/// A schedule of the kernel. Times are in ns since the origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What the kernel was at, in the order of beginnings.
    pub activities: Vec<Activity>,
    /// Where it ends: records were lost, or the recording ended.
    pub end_ns: u64,
    /// What was measured on the way.
    pub windows: MeasuredWindows,
    /// Decisions of CPUs.
    pub decisions: u64,
    /// What a reader should know: losses, records that contradict each other.
    pub notes: Vec<String>,
}

/// Of an activity that explains the waiting of any job, whenever that became ready.
const ANY_WAITING_JOB: About = About::Released(0, u64::MAX >> 1);

struct Conversion<'a> {
    origin: &'a Origin,
    tasks: BTreeMap<u32, TaskRecords>,
    cpus: BTreeMap<u32, CpuRecords>,
    events: Vec<Placed>,
    found: Found,
    decisions: u64,
    skipped: u64,
    unseen: Vec<Unseen>,
}

/// Makes a schedule of what was recorded.
pub fn convert(recorded: &Recorded, origin: &Origin) -> Schedule {
    let mut records: Vec<&Record> = recorded
        .records
        .iter()
        .filter(|record| matches!(Kind::of(record.kind), Some(Kind::Event(_))))
        .collect();
    // Stable: records of one CPU and one instant stay in the order of their writing. What begins on a CPU may have ended on
    // another in the same instant.
    records.sort_by_key(|record| (record.time_ns, begins(record)));
    let mut end = records.iter().filter(|r| !is_to_come(r)).map(|r| r.time_ns).max().unwrap_or(origin.t0_ns);
    let limits = [recorded.complete_until_ns, origin.end_ns];
    end = limits.into_iter().flatten().fold(end, u64::min).max(origin.t0_ns);
    let task = |member: &Member| (member.tid, TaskRecords::of(member));
    let mut conversion = Conversion {
        origin,
        tasks: origin.tasks.iter().map(task).collect(),
        cpus: origin.cpus.iter().map(|&cpu| (cpu, CpuRecords::default())).collect(),
        events: Vec::new(),
        found: Found {
            activities: Vec::new(),
            windows: MeasuredWindows::default(),
            t0_ns: origin.t0_ns,
            servers: origin.accounts(),
        },
        decisions: 0,
        skipped: recorded.skipped,
        unseen: recorded.unseen.clone(),
    };
    let (inside, after) = records.split_at(records.partition_point(|record| record.time_ns < end));
    inside.iter().for_each(|record| conversion.record(record));
    after
        .iter()
        .filter(|record| record.argument2 < end)
        .for_each(|record| conversion.on_its_way(record, end));
    conversion.finish(end, recorded)
}

/// A thread begins to run.
fn begins(record: &Record) -> bool {
    match Kind::of(record.kind) {
        Some(Kind::Event(kind)) => kind.begins_running() || kind == EventKind::BackgroundStart,
        _ => false,
    }
}

/// Written before its time.
fn is_to_come(record: &Record) -> bool {
    let early = [EventKind::Release, EventKind::Replenish];
    early.into_iter().any(|kind| Kind::of(record.kind) == Some(Kind::Event(kind)))
}

impl Conversion<'_> {
    fn record(&mut self, record: &Record) {
        let Some(Kind::Event(kind)) = Kind::of(record.kind) else { return };
        match kind {
            EventKind::Ipi
            | EventKind::ReleaseOverhead
            | EventKind::SchedulingOverhead
            | EventKind::SwitchOverhead
            | EventKind::Push
            | EventKind::BackgroundStart
            | EventKind::BackgroundStop => self.of_cpu(kind, record),
            EventKind::Leave => self.leaves(record),
            _ => self.of_task(kind, record),
        }
    }

    fn of_cpu(&mut self, kind: EventKind, record: &Record) {
        let Some(cpu) = self.cpus.get_mut(&record.cpu) else { return };
        let found = &mut self.found;
        let (begin, end) = (record.time_ns, record.time_ns.saturating_add(record.argument));
        match kind {
            EventKind::Ipi if record.argument == UNSEEN => {
                self.skipped += 1;
                let (cpu, from_ns, to_ns) = (record.cpu, record.argument2, begin);
                self.unseen.push(Unseen { cpu, from_ns, to_ns, released: None });
                return;
            }
            EventKind::Ipi if record.argument == OVERDUE => {
                found.push(record.cpu, Cause::BudgetTimer, (record.argument2, begin), About::Cpu);
                cpu.server_timer(record.cpu, (record.argument2, begin), found);
                found.windows.budget_timer.add(begin.saturating_sub(record.argument2));
                return;
            }
            EventKind::Ipi => {
                found.push(record.cpu, Cause::Interrupt, (record.argument2, begin), About::Cpu);
                if self.origin.queues {
                    found.push(record.cpu, Cause::Queue, (record.argument2, begin), ANY_WAITING_JOB);
                }
                found.windows.interrupt.add(begin.saturating_sub(record.argument2));
            }
            EventKind::ReleaseOverhead => {
                let due = record.argument2;
                let released = About::Released(due, end);
                found.push(record.cpu, Cause::ReleaseLatency, (due, begin), released);
                found.push(record.cpu, Cause::ReleaseHandler, (begin, end), released);
                found.windows.release_latency.add(begin.saturating_sub(due));
                found.windows.release.add(record.argument);
            }
            EventKind::SchedulingOverhead if record.argument2 != 0 => {
                let released = About::Released(record.argument2, end);
                found.push(record.cpu, Cause::ReleaseHandler, (begin, end), released);
                found.windows.wake_up.add(record.argument);
            }
            EventKind::SchedulingOverhead => {
                // One that took no time only says that the CPU idles.
                self.decisions += u64::from(record.argument > 0);
                cpu.decides(record, found);
                if self.origin.queues {
                    found.push(record.cpu, Cause::Queue, (begin, end), ANY_WAITING_JOB);
                }
            }
            // Any waiting job may be the one that is sent, or that takes the place of one without budget.
            EventKind::Push => {
                let (cause, span) = match record.argument2 {
                    0 => (Cause::Push, &mut found.windows.push),
                    _ => (Cause::Interrupt, &mut found.windows.interrupt),
                };
                span.add(record.argument);
                found.push(record.cpu, cause, (begin, end), ANY_WAITING_JOB);
                return;
            }
            EventKind::SwitchOverhead => cpu.switches(record, found),
            EventKind::BackgroundStart => cpu.other_begins(record, found),
            _ => cpu.other_stops(record, found),
        }
        if let Some(time_ns) = begin.checked_sub(self.origin.t0_ns) {
            let cpu = Some(record.cpu);
            // An interrupt has the CPU that sent it, if there is one.
            let argument = Some(record.argument)
                .filter(|&argument| kind != EventKind::Ipi || argument != u64::from(NONE));
            self.events.push(placed(Event { time_ns, kind, cpu, task: None, job: None, argument }));
        }
    }

    fn leaves(&mut self, record: &Record) {
        let Some(task) = self.tasks.get_mut(&record.pid) else { return };
        let Some(now) = record.time_ns.checked_sub(self.origin.t0_ns) else { return };
        if let Some(cpu) = task.cpu().and_then(|cpu| self.cpus.get_mut(&cpu)) {
            cpu.ended(record.time_ns);
        }
        for (&cpu, of) in &mut self.cpus {
            of.is_left_by(cpu, (record.task, task.id), record.time_ns, &mut self.found);
        }
        task.leaves(now, &mut self.events);
    }

    /// What had been sent or was due before the end, and arrived after it.
    fn on_its_way(&mut self, record: &Record, end: u64) {
        let sent = record.argument2;
        let found = &mut self.found;
        match Kind::of(record.kind) {
            Some(Kind::Event(EventKind::Ipi)) if record.argument == OVERDUE => {
                found.push(record.cpu, Cause::BudgetTimer, (sent, end), About::Cpu);
                if let Some(cpu) = self.cpus.get(&record.cpu) {
                    cpu.server_timer(record.cpu, (sent, end), found);
                }
                found.windows.budget_timer.add(end - sent);
            }
            Some(Kind::Event(EventKind::Ipi)) if record.argument != UNSEEN => {
                found.push(record.cpu, Cause::Interrupt, (sent, end), About::Cpu);
                if self.origin.queues {
                    found.push(record.cpu, Cause::Queue, (sent, end), ANY_WAITING_JOB);
                }
                found.windows.interrupt.add(end - sent);
            }
            Some(Kind::Event(EventKind::ReleaseOverhead)) => {
                found.push(record.cpu, Cause::ReleaseLatency, (sent, end), About::Released(sent, end));
                found.windows.release_latency.add(end - sent);
            }
            _ => {}
        }
    }

    /// What was not seen may have taken as long as the longest that was: a timer, its handler, an interrupt, a decision.
    fn excuse_unseen(&mut self, end: u64) {
        let most = self.found.windows.longest_way_ns();
        for one in self.unseen.iter().filter(|one| one.to_ns <= end) {
            let from = one.from_ns.max(one.to_ns.saturating_sub(most));
            let about = one.released.map_or(About::Cpu, |(first, last)| About::Released(first, last));
            self.found.push(one.cpu, Cause::Unseen, (from, one.to_ns), about);
        }
    }

    fn of_task(&mut self, kind: EventKind, record: &Record) {
        let t0 = self.origin.t0_ns;
        let Some(task) = self.tasks.get_mut(&record.pid) else { return };
        let cpu = self.cpus.get_mut(&record.cpu);
        let events = &mut self.events;
        let job = record.job.checked_sub(self.origin.first_job).filter(|_| record.job != NONE);
        let Some((job, now)) = job.zip(record.time_ns.checked_sub(t0)) else {
            // A job that does not count leaves its CPU all the same.
            if let Some(cpu) = cpu {
                match kind {
                    EventKind::Resume => cpu.runs(record, &mut self.found),
                    EventKind::Preempt => drop(cpu.stopped(record.cpu, record.time_ns, &mut self.found)),
                    EventKind::Complete | EventKind::Throttle => cpu.ended(record.time_ns),
                    _ => {}
                }
            }
            return;
        };
        let argument = record.argument.saturating_sub(t0);
        match kind {
            EventKind::Throttle if record.cpu == NONE => task.waits_for_budget(now, job, events),
            EventKind::Release => task.released(now, job, argument, events),
            EventKind::Wake => task.wakes(now, job, events),
            EventKind::Replenish => task.replenished(now, job, argument, events),
            EventKind::Postpone => task.postponed(now, job, argument, events),
            EventKind::Resume if task.has_ended(job) => {}
            EventKind::Start | EventKind::Resume | EventKind::Migrate => {
                task.runs(now, record.cpu, job, events);
                if let Some(cpu) = cpu {
                    cpu.took(record, task.id, &mut self.found);
                    cpu.runs(record, &mut self.found);
                }
            }
            EventKind::Preempt => {
                let leaving_at =
                    cpu.as_ref().and_then(|cpu| cpu.leaving_at()).and_then(|at| at.checked_sub(t0));
                task.stopped(now, record.cpu, leaving_at, events);
                let since = cpu.and_then(|cpu| cpu.stopped(record.cpu, record.time_ns, &mut self.found));
                if let Some(since) = since.and_then(|since| since.checked_sub(t0)) {
                    events.push(placed(Event {
                        time_ns: since,
                        kind: EventKind::SwitchOverhead,
                        cpu: Some(record.cpu),
                        task: None,
                        job: None,
                        argument: Some(now - since),
                    }));
                }
            }
            EventKind::Complete | EventKind::Throttle => {
                task.ends(now, kind, job, events);
                cpu.into_iter().for_each(|cpu| cpu.ended(record.time_ns));
            }
            EventKind::Block => {
                let since = task.blocks(events).map_or(record.time_ns, |since| since + t0);
                cpu.into_iter().for_each(|cpu| cpu.slept(since));
            }
            _ => {}
        }
    }

    fn finish(mut self, end: u64, recorded: &Recorded) -> Schedule {
        let end_ns = end - self.origin.t0_ns;
        for (&cpu, of) in &mut self.cpus {
            of.finish(cpu, end, &mut self.found);
        }
        self.excuse_unseen(end);
        let mut notes = Vec::new();
        for task in self.tasks.values_mut() {
            task.finish(end_ns, &mut self.events);
            notes.extend(
                task.strange.iter().map(|what| format!("task `{}` {what}", self.origin.name_of(task.id))),
            );
            if task.jobs.is_empty() {
                notes.push(format!("task `{}` has no job", self.origin.name_of(task.id)));
            }
        }
        if self.skipped > 0 {
            notes.push(format!(
                "{} missing in the kernel's trace (a task left a CPU on which it had not been seen, or ran without a recorded \
                 wake-up): the times of the jobs and the other records filled the gaps",
                plural(self.skipped, "record")
            ));
        }
        if recorded.lost > 0 {
            notes.push(format!(
                "{} lost: the schedule ends before the first loss",
                plural(recorded.lost, "record")
            ));
        }
        self.events.sort_by_key(|placed| (placed.event.time_ns, placed.class));
        self.found.activities.sort_by_key(|activity| activity.from_ns);
        Schedule {
            events: self.events.into_iter().map(|placed| placed.event).collect(),
            activities: self.found.activities,
            end_ns,
            windows: self.found.windows,
            decisions: self.decisions,
            notes,
        }
    }
}
