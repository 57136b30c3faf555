//! What a CPU was at while it ran no task: the intervals that excuse.
//!
//! ```text
//!   task ---COMPLETE/BLOCK/sleep---> [ decision: on the way ) [begin decision end) [ switch ) ---RESUME---> task
//!   task <--PREEMPT in the switch after a decision                                  it is recorded, with its ends
//!   task ---PREEMPT----------------> [ switch ) ---START---> kernel thread ---STOP---> [ on the way to a decision ...
//! ```
//!
//! A CPU that has left a thread without a decision is in the scheduler until it decides or runs the next one: it was not idle
//! in between. After a decision it may have been, so there only what was recorded counts.
//!
//! Where background work has a server, its account says how long it may excuse a deviation.

use super::MeasuredWindows;
use crate::rings::{NONE, Record};
use laxity_oracle::{About, Activity, Cause, ServerAccount};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Default)]
pub(super) struct CpuRecords {
    /// When it left a thread, if it has not decided or run another since.
    left_at: Option<u64>,
    /// The task that was taken off then, without a decision, if nothing else has been there since.
    set_aside: Option<u32>,
    /// It runs this task, by its number in the instance.
    runs: Option<u32>,
    /// It has decided to leave what it runs.
    decided: bool,
    /// When its last decision began and ended, if that chose a task.
    chose: Option<(u64, u64)>,
    /// When its last decision ended, if that chose none, and what it ran is still there.
    leaving_since_at: Option<u64>,
    /// When the decision began that is to have it leave what it runs.
    leaving_at: Option<u64>,
    /// A task that it has chosen and that has yet to run here, by its number; since when.
    awaits: Option<(u32, u64)>,
    /// What it runs that is none of the tasks: since when, and why it may.
    other: Option<(u64, Option<Cause>)>,
    /// When such a thing was taken off last.
    other_stopped: u64,
    /// Something has been seen to begin on it.
    seen: bool,
}

/// Where activities go.
pub(super) struct Found {
    pub activities: Vec<Activity>,
    pub windows: MeasuredWindows,
    /// CLOCK_MONOTONIC of time 0.
    pub t0_ns: u64,
    /// Of the servers of CPUs, in times of CLOCK_MONOTONIC.
    pub servers: BTreeMap<u32, ServerAccount>,
}

impl Found {
    pub fn push(&mut self, cpu: u32, cause: Cause, (from, to): (u64, u64), about: About) {
        let since = |time: u64| time.saturating_sub(self.t0_ns);
        let (from_ns, to_ns) = (since(from), since(to));
        let about = match about {
            About::Released(first, last) => About::Released(since(first), since(last)),
            About::Cpu | About::Task(_) => about,
        };
        if from_ns < to_ns {
            self.activities.push(Activity { from_ns, to_ns, cpu, cause, about });
        }
    }

    /// Something that is none of the tasks had the CPU, and said why: `None`, a background thread.
    fn other_work(&mut self, cpu: u32, cause: Option<Cause>, (from, to): (u64, u64)) {
        let is_ordinary = matches!(cause, None | Some(Cause::Reserve | Cause::Server));
        if let Some(account) = self.servers.get_mut(&cpu).filter(|_| is_ordinary) {
            for part in account.by_right(from, to) {
                self.windows.server.add(part.1 - part.0);
                self.push(cpu, Cause::Server, part, About::Cpu);
            }
            if cause == Some(Cause::Server) {
                return;
            }
        }
        let Some(cause) = cause else { return };
        let of = match cause {
            Cause::KernelThread => &mut self.windows.kernel_thread,
            Cause::Reserve => &mut self.windows.reserve,
            Cause::Server => &mut self.windows.server,
            Cause::HigherClass
            | Cause::Switch
            | Cause::Decision
            | Cause::Push
            | Cause::Interrupt
            | Cause::ReleaseHandler
            | Cause::ReleaseLatency
            | Cause::Queue
            | Cause::BudgetTimer
            | Cause::Unseen => &mut self.windows.higher_class,
        };
        of.add(to - from);
        self.push(cpu, cause, (from, to), About::Cpu);
    }
}

impl CpuRecords {
    /// A task begins to run.
    pub fn runs(&mut self, record: &Record, found: &mut Found) {
        let task = record.task;
        // It was taken off and put back, as where its affinity is set while it runs.
        let goes_on = self.set_aside.take() == Some(task) && task != NONE;
        if let Some(left) = self.left_at.filter(|_| goes_on) {
            found.push(record.cpu, Cause::Switch, (left, record.time_ns), About::Cpu);
        }
        (self.left_at, self.decided) = (None, false);
        (self.leaving_since_at, self.leaving_at, self.awaits) = (None, None, None);
        // That something else has left may not have been seen, and then is not known for how long it was there.
        self.other = None;
        self.seen = true;
        self.runs = Some(task).filter(|&task| task != NONE);
    }

    /// The decision that has led to `task` at this very instant had it in its hands, wherever it waited until then.
    pub fn took(&self, record: &Record, task: u32, found: &mut Found) {
        if let Some(decision) = self.chose.filter(|&(_, end)| end == record.time_ns) {
            found.push(record.cpu, Cause::Decision, decision, About::Task(task));
        }
    }

    /// A task is taken off. If the last decision was for none, since when it has been on its way: that is no job's time, and no switch
    /// to another one says so.
    pub fn stopped(&mut self, cpu: u32, now: u64, found: &mut Found) -> Option<u64> {
        if !self.decided {
            self.left_at.get_or_insert(now);
            self.set_aside = self.runs;
        }
        let since = self.leaving_since_at.take().filter(|&since| since < now)?;
        found.push(cpu, Cause::Decision, (since, now), About::Cpu);
        Some(since)
    }

    /// A task leaves the scheduler: the CPU that was on its way to it gets there and finds it gone.
    pub fn is_left_by(&mut self, cpu: u32, (number, task): (u32, u32), now: u64, found: &mut Found) {
        if let Some((_, since)) = self.awaits.take_if(|awaited| awaited.0 == number) {
            for about in [About::Task(task), About::Cpu] {
                found.push(cpu, Cause::Switch, (since, now), about);
            }
            self.left_at.get_or_insert(now);
            self.decided = false;
        }
    }

    /// When the decision began by which it leaves what it runs, if one has been made.
    pub fn leaving_at(&self) -> Option<u64> {
        self.leaving_at
    }

    /// The job on it has ended: the scheduler comes next, whatever was decided before.
    pub fn ended(&mut self, now: u64) {
        self.left_at.get_or_insert(now);
        self.decided = false;
    }

    /// The task that was taken off at `now` sleeps: nothing had been decided.
    pub fn slept(&mut self, stopped: u64) {
        self.left_at.get_or_insert(stopped);
        self.decided = false;
    }

    /// A thread that is none of the tasks begins to run.
    pub fn other_begins(&mut self, record: &Record, found: &mut Found) {
        let now = record.time_ns;
        let cause = match record.argument2 {
            0 => None,
            1 => Some(Cause::KernelThread),
            3 => Some(Cause::Reserve),
            4 => Some(Cause::Server),
            _ => Some(Cause::HigherClass),
        };
        // What the CPU had chosen had to give way to other work: since that decision it is on its way.
        let gives_way = matches!(cause, Some(Cause::Reserve | Cause::Server));
        let refused = self.chose.take_if(|_| gives_way).map(|(_, end)| end);
        (self.awaits, self.set_aside) = (None, None);
        // No decision has led to background work: a task that has left the scheduler goes on as that, and the CPU has yet to decide.
        let goes_on = cause.is_none();
        if let Some(left) = self.left_at.take_if(|_| !goes_on).into_iter().chain(refused).min() {
            found.push(record.cpu, Cause::Switch, (left, now), About::Cpu);
        }
        (self.decided, self.seen) = (false, true);
        self.other = Some((now, cause));
        self.runs = None;
    }

    /// The timer of the CPU's budgets was late. If background work was there, it is the one that is to end its server's budget: a request
    /// to decide that had not come.
    pub fn server_timer(&self, cpu: u32, late: (u64, u64), found: &mut Found) {
        if (self.other.is_some() || late.0 < self.other_stopped) && found.servers.contains_key(&cpu) {
            found.push(cpu, Cause::Interrupt, late, About::Cpu);
        }
    }

    /// It is taken off.
    pub fn other_stops(&mut self, record: &Record, found: &mut Found) {
        let now = record.time_ns;
        // Background work that was there before the recording began.
        let before = Some((found.t0_ns, None)).filter(|_| !self.seen && record.argument2 == 0);
        if let Some((since, cause)) = self.other.take().or(before) {
            found.other_work(record.cpu, cause, (since.min(now), now));
        }
        if let Some(left) = self.left_at.take() {
            found.push(record.cpu, Cause::Decision, (left, now), About::Cpu);
        }
        // A decision for a task that gave way to a server's work was one to leave that in the end; but it may have left by itself.
        let gave_way = self.chose.is_some() && found.servers.contains_key(&record.cpu);
        if !self.decided || gave_way {
            self.left_at = Some(now);
        }
        self.other_stopped = now;
    }

    /// What still runs at the end of the trace, or the decision to which it is on its way then.
    pub fn finish(&mut self, cpu: u32, end: u64, found: &mut Found) {
        if let Some(left) = self.left_at.take() {
            found.push(cpu, Cause::Decision, (left, end), About::Cpu);
        }
        if let Some((since, cause)) = self.other.take() {
            found.other_work(cpu, cause, (since, end));
        }
    }

    pub fn decides(&mut self, record: &Record, found: &mut Found) {
        let (begin, end) = (record.time_ns, record.time_ns + record.argument);
        let from = self.left_at.take().filter(|&left| left < begin).unwrap_or(begin);
        found.push(record.cpu, Cause::Decision, (from, end), About::Cpu);
        found.windows.decision.add(record.argument);
        let chose = Some(record.task).filter(|&task| task != NONE);
        self.decided = chose.is_none() || chose != self.runs;
        self.chose = chose.map(|_| (begin, end));
        self.set_aside = None;
        self.awaits = chose.filter(|_| self.decided).map(|task| (task, end));
        self.leaving_at = Some(begin).filter(|_| self.decided);
        self.leaving_since_at = Some(end).filter(|_| chose.is_none() && self.runs.is_some());
    }

    pub fn switches(&mut self, record: &Record, found: &mut Found) {
        // It begins with the last decision. If that chose nothing, the CPU was idle since.
        if self.chose.is_some_and(|(_, end)| end == record.time_ns) {
            found.push(
                record.cpu,
                Cause::Switch,
                (record.time_ns, record.time_ns + record.argument),
                About::Cpu,
            );
            found.windows.switch.add(record.argument);
        }
    }
}
