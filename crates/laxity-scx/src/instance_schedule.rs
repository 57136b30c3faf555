//! The schedule of an instance, and the definition that it is held against.

use crate::excuses;
use crate::memberships::{Membership, Memberships, Placed};
use crate::parts::Instance;
use crate::records::{Recorder, Written};
use crate::scenario::Settings;
use crate::terms::Terms;
use crate::world::world;
use laxity_kernel::rings::{Kind, NONE, Record};
use laxity_kernel::schedule::{Member, Origin, Recorded, Schedule, convert};
use laxity_model::{
    Arrival, BudgetMode, CpuList, Duration, Platform, Policy, PriorityRule, Result, Task, TaskSet,
};
use laxity_oracle::{Cluster, Definition, Verdict};
use laxity_trace::EventKind;

pub(crate) struct InstanceSchedule<'a> {
    pub schedule: Schedule,
    pub definition: Definition,
    excuses: excuses::Excuses<'a>,
}

impl<'a> InstanceSchedule<'a> {
    /// `None`: there is nothing to be judged.
    pub(crate) fn of(
        terms: &'a Terms,
        recorder: &'a Recorder,
        memberships: &'a Memberships,
        (number, instance): (u32, &'a Instance),
        end_ns: u64,
    ) -> Option<std::result::Result<Self, String>> {
        let end_ns = memberships.changed_at.get(&number).map_or(end_ns, |&at| at.min(end_ns));
        let all = memberships.all.iter().enumerate();
        let is_member = |(_, of): &Placed<'_>| of.instance == number && of.parameters.is_some();
        let mut members: Vec<Placed<'_>> = all.filter(is_member).collect();
        // Between equals the lower number goes first.
        members.sort_by_key(|&(place, of)| (of.index, place));
        if members.is_empty() || end_ns <= terms.t0_ns {
            return None;
        }
        let recorded = Recorded { records: records(recorder, memberships, end_ns), ..Recorded::default() };
        let mut schedule = convert(&recorded, &origin(terms, instance, &members, end_ns));
        let excuses = excuses::Excuses { recorder, memberships, number, instance, t0_ns: terms.t0_ns };
        excuses.add_to(&mut schedule, &members);
        let definition = definition(&terms.settings, terms.t0_ns, instance, &members, schedule.end_ns);
        let definition = definition.map_err(|why| format!("no definition: {why}"));
        Some(definition.map(|definition| InstanceSchedule { schedule, definition, excuses }))
    }

    pub(crate) fn without_excused(&self, verdict: Verdict) -> Verdict {
        self.excuses.without_excused(verdict)
    }
}

/// The records, with a number for each membership in the place of its thread's. A thread that becomes a member while it runs has no job
/// until its CPU, which is asked to decide, has taken it off: what it runs until then is none.
fn records(recorder: &Recorder, memberships: &Memberships, end_ns: u64) -> Vec<Record> {
    // What is written before its time or behind it is known from its writing on.
    let is_early = |record: &Record| {
        let kinds = [EventKind::Release, EventKind::Replenish].map(|kind| Kind::Event(kind).code());
        kinds.contains(&record.kind)
    };
    let is_past = |written: &Written| written.record.time_ns >= end_ns && !is_early(&written.record);
    let end_place = recorder.written.iter().position(is_past).unwrap_or(recorder.written.len());
    let all = recorder.written.iter().zip(&memberships.of).enumerate();
    let all = all.filter(|(place, (written, _))| *place < end_place || !is_early(&written.record));
    let all = all.map(|(_, one)| one);
    let record = |(written, of): (&Written, &Option<usize>)| {
        let record = written.record;
        let of = of.filter(|&place| !memberships.is_over(place, &record));
        let of = of.map(|place| (place, &memberships.all[place]));
        let has_job = of.is_none_or(|(_, of)| of.first_release_at.is_some_and(|at| at <= record.time_ns));
        let first_job = of.map_or(0, |(_, of)| of.first_job);
        let job = record.job.checked_sub(first_job).filter(|_| has_job && record.job != NONE);
        Record { pid: of.map_or(0, |(place, _)| tid(place)), job: job.unwrap_or(NONE), ..record }
    };
    let leaves = |(place, of): (usize, &Membership)| {
        let kind = Kind::Event(EventKind::Leave).code();
        let (time_ns, job, cpu) = (of.ended_at?, NONE, NONE);
        Some(Record { time_ns, kind, job, cpu, pid: tid(place), task: of.index, ..Record::default() })
    };
    // Of no CPU: the schedule goes on to the end, whether or not there is anything to be recorded.
    let kind = Kind::Event(EventKind::Ipi).code();
    let end = Record { time_ns: end_ns, kind, cpu: NONE, task: NONE, job: NONE, ..Record::default() };
    let left = memberships.all.iter().enumerate().filter_map(leaves);
    all.map(record).chain(left).chain([end]).collect()
}

fn few(number: usize) -> u32 {
    u32::try_from(number).expect("few")
}

fn tid(member: usize) -> u32 {
    few(member + 1)
}

fn name(place: usize, of: &Membership) -> String {
    format!("{}-{}-{place}", of.pid, of.index)
}

fn origin(terms: &Terms, instance: &Instance, members: &[Placed<'_>], end_ns: u64) -> Origin {
    let cpus: Vec<u32> = instance.cpus.iter().map(|&cpu| few(cpu)).collect();
    let member = |(task, &(place, of)): (u32, &Placed<'_>)| {
        let deadline_rel_ns = of.parameters.map_or(0, |asked| asked.deadline_rel_ns);
        Member { tid: tid(place), task, deadline_rel_ns, asked_deadline_ns: deadline_rel_ns }
    };
    Origin {
        t0_ns: terms.t0_ns,
        tasks: (0..).zip(members).map(member).collect(),
        names: members.iter().map(|&(place, of)| name(place, of)).collect(),
        first_job: 0,
        queues: policy().has_queue_per_core(),
        end_ns: Some(end_ns),
        servers: terms.servers.iter().filter(|of| cpus.contains(&of.cpu)).copied().collect(),
        cpus,
    }
}

fn definition(
    settings: &Settings,
    t0_ns: u64,
    instance: &Instance,
    members: &[Placed<'_>],
    end_ns: u64,
) -> Result<Definition> {
    let (mut free, mut tasks) = (Vec::new(), Vec::new());
    for (id, &(place, of)) in (0..).zip(members) {
        let released_at = of.first_release_at.filter(|&at| at < t0_ns + end_ns);
        let phase_ns = released_at.and_then(|at| at.checked_sub(t0_ns));
        if phase_ns.is_none() {
            free.push(id);
        }
        tasks.push(task(place, of, phase_ns));
    }
    let rule = match settings.rule {
        0 => PriorityRule::EarliestDeadlineFirst,
        _ => PriorityRule::DeadlineMonotonic,
    };
    let cpus = instance.cpus.iter().map(|&cpu| few(cpu)).collect();
    let mut cluster = Cluster::new(cpus, (0..).zip(members).map(|(id, _)| id).collect());
    if let Some(dedicated) = instance.dedicated {
        cluster.dedicated = [few(instance.cpus[dedicated])].into_iter().collect::<CpuList>();
    }
    let platform = Platform::symmetric(world(|w| few(w.cpus.len())))?;
    let set = TaskSet::new("memberships", tasks)?;
    let definition = Definition::clustered(set, &platform, rule, vec![cluster], Duration::from_ns(end_ns))?
        .with_budgets(match settings.budget_mode {
            0 => BudgetMode::Off,
            1 => BudgetMode::Throttle,
            _ => BudgetMode::Postpone,
        })
        .with_batching(settings.batching != 0)
        .with_free_arrivals(free);
    Ok(if policy().minds_laxity() { definition.with_laxities().seen_from_outside() } else { definition })
}

/// A membership as a task. `phase_ns`: its first release, if it has one.
fn task(place: usize, of: &Membership, phase_ns: Option<u64>) -> Task {
    let asked = of.parameters.expect("chosen so");
    let (period, deadline_rel) =
        (Duration::from_ns(asked.period_ns), Duration::from_ns(asked.deadline_rel_ns));
    let budget = Duration::from_ns(asked.runtime_ns).min(deadline_rel);
    let periodic = Task::periodic(name(place, of), budget, period);
    let arrival = match phase_ns {
        Some(_) => periodic.arrival,
        None => Arrival::Sporadic { min_interarrival: period },
    };
    Task { arrival, deadline_rel, phase: Duration::from_ns(phase_ns.unwrap_or(0)), ..periodic }
}

/// The host's policy, as laxity names it.
fn policy() -> Policy {
    let name = world(|w| w.host.name().replace('_', "-"));
    Policy::all().find(|policy| policy.name() == name).expect("each has a model")
}
