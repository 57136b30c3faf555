//! What the model knows and no record says, where that excuses. In production a schedule begins when all threads have entered, and ends
//! before the first one leaves; here threads enter and leave all the time.
//!
//! 1. A thread that must not migrate, as it has a program of BPF called, is left where it is for a moment: the one that enters. And a call
//!    that sets a thread's scheduling or its CPUs has it in its hands for a moment. What was fetched behind a thread that then rose to a
//!    class above runs there when that has left, before the CPU decides.
//! 2. What becomes a member while it runs goes on until its CPU, which is asked to decide, has taken it off.
//! 3. Threads are woken up by CPUs of other instances.
//! 4. Classes above may have all CPUs of an instance, and none is left for what is due. The stopper, which belongs to its CPU, is not
//!    recorded.
//! 5. A job whose predecessor ends late is released before that, and recorded behind it: where the schedule has ended meanwhile, that is
//!    no job which never came.
//! 6. A CPU has chosen a thread, which a call has in its hands before it gets there: the CPU is told when that is over.
//! 7. What takes a CPU from a member without having been decided for is recorded when it has it, and not while the CPU switches.
//! 8. A CPU has chosen a thread which leaves before it gets there: that is recorded, and then the CPU is asked to decide.

use crate::memberships::{Membership, Memberships, Placed};
use crate::parts::Instance;
use crate::records::{Above, Moment, Recorder};
use laxity_kernel::rings::{Kind, OVERDUE, Record};
use laxity_kernel::schedule::Schedule;
use laxity_oracle::{About, Activity, Cause, Oracle, Verdict, Violation};
use laxity_trace::EventKind;
use std::collections::BTreeMap;

/// What it explains is the waiting of any job, whenever that became ready.
const ANY_WAITING_JOB: About = About::Released(0, u64::MAX >> 1);

/// Of the record that says that something else than a member has a CPU: a class above has, or a bound kernel thread.
const ABOVE: u64 = 1;
/// At most so long after its decision a CPU stops what it ran, in ns.
const SWITCH_NS: u64 = 5_000;

pub(crate) struct Excuses<'a> {
    pub recorder: &'a Recorder,
    pub memberships: &'a Memberships,
    pub number: u32,
    pub instance: &'a Instance,
    pub t0_ns: u64,
}

fn is(record: &Record, kind: EventKind) -> bool {
    Kind::of(record.kind) == Some(Kind::Event(kind))
}

impl Excuses<'_> {
    /// Moments of members, and whose they are.
    fn moments(&self) -> impl Iterator<Item = (&Moment, usize)> {
        self.memberships.moments.iter().map(|&(moment, member)| (&self.recorder.moments[moment], member))
    }

    pub(crate) fn add_to(&self, schedule: &mut Schedule, members: &[Placed<'_>]) {
        let mut found = Vec::new();
        let mut add = |(from_at, to_at): (u64, u64), cpu: u32, cause: Cause, about: About| {
            let since = |at: u64| at.saturating_sub(self.t0_ns).min(schedule.end_ns);
            let (from_ns, to_ns) = (since(from_at), since(to_at));
            if from_ns < to_ns {
                found.push(Activity { from_ns, to_ns, cpu, cause, about });
            }
        };
        let number = |cpu: usize| u32::try_from(cpu).expect("few");
        for (moment, member) in self.moments() {
            let task = (0..).zip(members).find(|(_, of)| of.0 == member).map(|(task, _)| task);
            let during = (moment.from_ns, moment.to_ns.unwrap_or(u64::MAX));
            for about in task.into_iter().flat_map(|task| [About::Task(task), ANY_WAITING_JOB]) {
                add(during, number(moment.cpu), Cause::HigherClass, about);
            }
        }
        let own_stops = |above: &&Above| above.is_stop && self.instance.cpus.contains(&above.cpu);
        for above in self.recorder.above.iter().filter(own_stops) {
            let during = (above.from_ns, above.to_ns.unwrap_or(u64::MAX));
            add(during, number(above.cpu), Cause::HigherClass, About::Cpu);
        }
        for (during, cpu, index) in self.chosen_in_vain() {
            let task = (0..).zip(members).find(|(_, of)| of.0 == index).map(|(task, _)| task);
            if let Some(task) = task {
                add(during, cpu, Cause::Switch, About::Task(task));
            }
        }
        for (during, cpu) in self.not_yet_told() {
            add(during, cpu, Cause::Switch, About::Cpu);
        }
        let mut stopped_at = BTreeMap::new();
        let (mut decided_at, mut left_at) = (BTreeMap::new(), BTreeMap::new());
        for (written, of) in self.recorder.written.iter().zip(&self.memberships.of) {
            let record = &written.record;
            if is(record, EventKind::BackgroundStop) {
                stopped_at.insert(record.cpu, record.time_ns);
            }
            if is(record, EventKind::Preempt) {
                let decided_at = decided_at.get(&record.cpu).copied();
                let switches_at = decided_at.filter(|&at| record.time_ns < at + SWITCH_NS);
                left_at.insert(record.cpu, switches_at.unwrap_or(record.time_ns).min(record.time_ns));
            }
            if is(record, EventKind::SchedulingOverhead) && record.argument2 == 0 {
                decided_at.insert(record.cpu, record.time_ns + record.argument);
            }
            if is(record, EventKind::BackgroundStart)
                && record.argument2 == ABOVE
                && let Some(&from_at) = left_at.get(&record.cpu)
                && self.has(record.cpu)
            {
                add((from_at, record.time_ns), record.cpu, Cause::HigherClass, About::Cpu);
            }
            if is(record, EventKind::BackgroundStart) || is(record, EventKind::Resume) {
                left_at.remove(&record.cpu);
            }
            let of = of.map(|place| &self.memberships.all[place]);
            if let Some(until) = of.and_then(|of| self.enters(record, of)) {
                let from_at = stopped_at.get(&record.cpu).copied().unwrap_or(record.time_ns);
                add((from_at, until), record.cpu, Cause::HigherClass, ANY_WAITING_JOB);
            }
            if is(record, EventKind::SchedulingOverhead) && record.argument2 != 0 && !self.has(record.cpu) {
                let until = record.time_ns + record.argument;
                let since = |at: u64| at.saturating_sub(self.t0_ns);
                let about = About::Released(since(record.argument2), since(until));
                add((record.time_ns, until), number(self.instance.cpus[0]), Cause::ReleaseHandler, about);
            }
        }
        schedule.activities.extend(found);
        schedule.activities.sort_by_key(|activity| activity.from_ns);
    }

    /// Members that a CPU has chosen, and which have not run there before it decided again: when that was, where, and the membership.
    fn chosen_in_vain(&self) -> Vec<((u64, u64), u32, usize)> {
        let mut found = Vec::new();
        // By CPU: the membership that runs, and what was chosen since when.
        let mut running: BTreeMap<u32, usize> = BTreeMap::new();
        let mut chosen: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
        let mut present: BTreeMap<u32, usize> = BTreeMap::new();
        for (written, of) in self.recorder.written.iter().zip(&self.memberships.of) {
            let record = &written.record;
            if let Some(place) = of.filter(|&place| self.memberships.all[place].instance == self.number) {
                present.insert(record.task, place);
                if is(record, EventKind::Resume) {
                    running.insert(record.cpu, place);
                    // Another one than was chosen: it has become a member while a class above had it there.
                    let in_vain = chosen.remove(&record.cpu).filter(|&(_, other)| other != place);
                    found.extend(in_vain.map(|(since, other)| ((since, record.time_ns), record.cpu, other)));
                } else if is(record, EventKind::Preempt) {
                    running.remove(&record.cpu);
                }
            }
            if is(record, EventKind::SchedulingOverhead) && self.has(record.cpu) {
                if let Some((since, place)) = chosen.remove(&record.cpu) {
                    found.push(((since, record.time_ns), record.cpu, place));
                }
                let next = present.get(&record.task).filter(|&place| running.get(&record.cpu) != Some(place));
                if let Some(&place) = next {
                    chosen.insert(record.cpu, (record.time_ns + record.argument, place));
                }
            }
        }
        found.extend(chosen.into_iter().map(|(cpu, (since, place))| ((since, u64::MAX), cpu, place)));
        found
    }

    /// From when a member has left that a CPU had chosen until that CPU is asked to decide (8), and which CPU. One that is never asked,
    /// or decides before, has no such excuse.
    fn not_yet_told(&self) -> Vec<((u64, u64), u32)> {
        let chosen = self.chosen_in_vain();
        let mut found = Vec::new();
        for (written, of) in self.recorder.written.iter().zip(&self.memberships.of) {
            let left_at = written.record.time_ns;
            let Some(left) = of.filter(|_| is(&written.record, EventKind::Leave)) else { continue };
            for &((from_at, to_at), cpu, _) in chosen.iter().filter(|&&(.., place)| place == left) {
                let asked_at = self.asked_at(cpu, left_at).filter(|&at| at < to_at && from_at <= left_at);
                found.extend(asked_at.map(|at| ((left_at, at), cpu)));
            }
        }
        found
    }

    /// When that CPU was asked to decide, at or after an instant.
    fn asked_at(&self, cpu: u32, since_at: u64) -> Option<u64> {
        let asks = |record: &&Record| {
            is(record, EventKind::Ipi)
                && record.cpu == cpu
                && record.argument < OVERDUE
                && record.argument2 >= since_at
        };
        self.recorder
            .written
            .iter()
            .map(|written| &written.record)
            .filter(asks)
            .map(|record| record.argument2)
            .min()
    }

    fn has(&self, cpu: u32) -> bool {
        self.instance.cpus.iter().any(|&own| u32::try_from(own) == Ok(cpu))
    }

    /// The record says that a member of the instance runs, which has no job until some instant.
    fn enters(&self, record: &Record, of: &Membership) -> Option<u64> {
        let begins_at = of.first_release_at.unwrap_or(u64::MAX);
        let enters = is(record, EventKind::Resume) && record.time_ns < begins_at;
        (enters && of.instance == self.number).then_some(begins_at)
    }

    /// In a moment a member may be on the dedicated CPU; releases wait for a CPU (4).
    pub(crate) fn without_excused(&self, mut verdict: Verdict) -> Verdict {
        let (excused, left) = std::mem::take(&mut verdict.violations)
            .into_iter()
            .partition::<Vec<_>, _>(|violation| self.is_excused(violation));
        for violation in excused {
            let of = verdict.findings.iter_mut().find(|finding| finding.oracle == violation.oracle);
            of.into_iter().for_each(|finding| finding.violations -= 1);
        }
        verdict.violations = left;
        verdict
    }

    /// Classes above have all CPUs at an instant between these: no CPU is left that could handle a release.
    fn is_left_by_all(&self, from_at: u64, to_at: u64) -> bool {
        let all = &self.recorder.above;
        let begins = all.iter().map(|above| above.from_ns.max(from_at)).filter(|&at| at < to_at);
        let is_taken = |cpu: usize, at: u64| all.iter().any(|above| above.has(cpu, at));
        begins.into_iter().any(|at| self.instance.cpus.iter().all(|&cpu| is_taken(cpu, at)))
    }

    /// Whether the record of a release at that instant was written at all (5).
    fn is_released(&self, at: u64) -> bool {
        let mut all = self.recorder.written.iter().zip(&self.memberships.of);
        all.any(|(written, of)| {
            is(&written.record, EventKind::Release)
                && written.record.time_ns == at
                && of.is_some_and(|place| self.memberships.all[place].instance == self.number)
        })
    }

    fn is_excused(&self, violation: &Violation) -> bool {
        let at = violation.from_ns + self.t0_ns;
        if violation.oracle == Oracle::Periods {
            return self.is_released(at) || self.is_left_by_all(at, violation.to_ns + self.t0_ns);
        }
        if violation.oracle != Oracle::Affinity {
            return false;
        }
        let is_in = |moment: &Moment| {
            violation.cpu == u32::try_from(moment.cpu).ok()
                && moment.from_ns <= at
                && moment.to_ns.is_none_or(|to_ns| at <= to_ns)
        };
        self.moments().any(|(moment, _)| is_in(moment))
    }
}
