//! A run, seen from the program: start the guardian, show progress, pass on interruptions, collect the jobs.

#[cfg(test)]
mod tests;

use crate::bystanders::Bystanders;
use crate::channel::{Channel, news_of};
use crate::guardian::GUARDIAN_COMMAND;
use crate::memory::check_memory;
use crate::messages::{End, FromGuardian, RecordingEnd, ToGuardian};
use crate::perf::{self, Count};
use crate::plan::{Plan, PlannedTask};
use crate::runtime_dir::MachineLock;
use crate::sched::Policy;
use crate::shared::{NEVER, Shared, Slot, TaskEntry, job_end};
use laxity_kernel::RunningServer;
use laxity_kernel::rings::{RECORD_BYTES, Record};
use laxity_kernel::schedule::Recorded;
use laxity_model::{Diagnostic, Duration, OnMiss, Result};
use laxity_trace::{Counters, Disturbance, Job, JobOutcome, QuietRecord, RunStatus};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

/// What one job is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobOrder {
    /// Nominal release since the synchronous release.
    pub release: Duration,
    /// CPU time to use.
    pub demand: Duration,
    /// Accesses to make instead of using CPU time.
    pub accesses: Option<u64>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Jobs that ended.
    pub finished: u64,
    /// Of those, jobs that missed their deadline.
    pub missed: u64,
    /// Jobs that will be released.
    pub total: u64,
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// Jobs by task id, then index.
    pub jobs: Vec<Job>,
    /// How it went.
    pub status: RunStatus,
    /// Columns that were not measured, with the reason.
    pub not_measured: BTreeMap<String, String>,
    /// The plan's notes and what happened on the way.
    pub notes: Vec<String>,
    /// Under SCHED_DEADLINE: how often the kernel has told each task, by id, that its budget is used up.
    pub overruns: Option<Vec<(u32, u64)>>,
    /// What the kernel has counted while a policy was attached, by name.
    pub counters: BTreeMap<String, u64>,
    /// The records of the schedule, if it was to be recorded and could be.
    pub records: Option<RunRecords>,
    /// What else its CPUs did meanwhile, where the kernel says it.
    pub disturbance: Option<Disturbance>,
    /// With `--quiet-machine`: what was set on the machine and put back behind the run.
    pub quiet: Option<QuietRecord>,
}

/// What was recorded of a run's schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecords {
    /// The records.
    pub recorded: Recorded,
    /// The synchronous release, as CLOCK_MONOTONIC in ns.
    pub t0_ns: u64,
    /// Threads of the tasks: (position of the task in the plan, thread id).
    pub threads: Vec<(usize, u32)>,
    /// CPU time that taking the records has used, in ns.
    pub cpu_ns: u64,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// The deferrable servers of the policy.
    pub servers: Vec<RunningServer>,
}

/// How often progress is shown and interruptions are looked for.
const LOOK_EVERY_MS: u64 = 100;
/// How much longer than planned a guardian may take before it is given up.
const PATIENCE_NS: u64 = 150_000_000_000;

/// Runs a plan. `orders[k]` are the jobs of the plan's k-th task, `deadlines[k]` its relative deadline. When
/// `interrupt` becomes true the run stops and what was measured is returned.
pub fn execute(
    lock: &MachineLock,
    plan: &Plan,
    orders: &[Vec<JobOrder>],
    deadlines: &[Duration],
    interrupt: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress),
) -> Result<Executed> {
    check_memory(&plan.memory())?;
    let shared = prepare(orders, deadlines, &plan.regions)?;
    let file = plan.recorded.then(memory_for_records).transpose()?;
    let bystanders = Bystanders::watch(&plan.cpus());
    let end =
        Guardian::start(lock, &shared, plan, file.as_ref())?.attend(&shared, plan, interrupt, on_progress)?;
    // Does nothing unless the guardian died before it could clean up.
    recover(lock);
    let disturbance = bystanders.and_then(Bystanders::end);
    let mut notes = plan.notes.clone();
    notes.extend(end.notes);
    let ran = Duration::from_ns(end.ran_ns);
    let status = match end.cut_short {
        None => RunStatus::Completed,
        Some(reason) if ran.is_zero() => RunStatus::NotRun { reason: format!("{reason} before the release") },
        Some(reason) => RunStatus::Interrupted { reason, ran },
    };
    let horizon_ns = if status == RunStatus::Completed { NEVER } else { ran.as_ns() };
    let mut not_measured = perf::not_available();
    let records = match (file, end.recording) {
        (Some(file), Some(Ok(about))) => Some(records_of(file, about)),
        (Some(_), Some(Err(why))) => {
            not_measured.insert(SCHEDULE.into(), why);
            None
        }
        (Some(_), None) => {
            not_measured
                .insert(SCHEDULE.into(), "the run did not come to its release, or the guardian died".into());
            None
        }
        (None, _) => None,
    };
    let mut jobs = collect(&shared, plan, horizon_ns, &not_measured);
    skip_behind_unfinished(&mut jobs, plan.on_miss);
    notes.extend(overruns(plan, &jobs));
    notes.extend(early(plan, &shared));
    notes.extend(turns(plan));
    let overruns = plan.uses_deadline().then(|| overrun_signals(plan, &shared));
    let (counters, quiet) = (end.counters, end.quiet);
    Ok(Executed { jobs, status, not_measured, notes, overruns, counters, records, disturbance, quiet })
}

/// Under which name a schedule is missing among what was not measured.
pub const SCHEDULE: &str = "schedule";

fn memory_for_records() -> Result<File> {
    let memory = rustix::fs::memfd_create("laxity-records", rustix::fs::MemfdFlags::CLOEXEC);
    memory.map(File::from).map_err(|error| {
        Diagnostic::environment(format!("no memory for the records of the schedule: {error}"))
            .hint("run without them: --record off")
    })
}

/// Reads what the guardian has written.
fn records_of(mut file: File, about: RecordingEnd) -> RunRecords {
    let mut bytes = Vec::new();
    let mut notes: Vec<String> =
        about.ended.iter().map(|why| format!("recording ended early: {why}")).collect();
    if let Err(error) = file.rewind().and_then(|()| file.read_to_end(&mut bytes)) {
        notes.push(format!("the records could not be read: {error}"));
    }
    let (whole, _) = bytes.as_chunks::<RECORD_BYTES>();
    let records: Vec<Record> = whole.iter().map(|bytes| Record::from_bytes(*bytes)).collect();
    let latest = records.iter().map(|record| record.time_ns).filter(|_| about.ended.is_some()).max();
    let complete_until_ns = about.complete_until_ns.into_iter().chain(latest).min();
    let thread = |(position, tid): (usize, i32)| (position, u32::try_from(tid).unwrap_or(0));
    RunRecords {
        recorded: Recorded { records, lost: about.lost, complete_until_ns, ..Recorded::default() },
        t0_ns: about.t0_ns,
        threads: about.threads.into_iter().map(thread).collect(),
        cpu_ns: about.cpu_ns,
        notes,
        servers: about.servers,
    }
}

fn prepare(orders: &[Vec<JobOrder>], deadlines: &[Duration], regions: &[u64]) -> Result<Shared> {
    let counts: Vec<usize> = orders.iter().map(Vec::len).collect();
    let shared = Shared::create(&counts, regions).map_err(|error| {
        let regions = match regions.len() {
            0 => String::new(),
            some => format!(" and what {some} groups share"),
        };
        Diagnostic::environment(format!(
            "no memory for the records of {} jobs{regions}: {error}",
            counts.iter().sum::<usize>()
        ))
        .hint("use a shorter --duration, or share less")
    })?;
    for (task, (orders, deadline_rel)) in orders.iter().zip(deadlines).enumerate() {
        for (slot, order) in shared.jobs_of(task).iter().zip(orders) {
            slot.release_ns.store(order.release.as_ns(), Relaxed);
            let deadline_abs = order.release.checked_add(*deadline_rel).ok_or_else(|| {
                Diagnostic::usage(format!(
                    "a deadline {deadline_rel} after {} is past the end of time",
                    order.release
                ))
            })?;
            slot.deadline_ns.store(deadline_abs.as_ns(), Relaxed);
            slot.demand_ns.store(order.demand.as_ns(), Relaxed);
            slot.accesses.store(order.accesses.unwrap_or(NEVER), Relaxed);
        }
    }
    Ok(shared)
}

/// Says which tasks used more CPU time than their budget, and were throttled for it if budgets are enforced.
fn overruns(plan: &Plan, jobs: &[Job]) -> Vec<String> {
    let of_task = |task: &PlannedTask| {
        let (Policy::Deadline { runtime, .. }
        | Policy::Reclaiming { runtime, .. }
        | Policy::Ext { runtime, .. }) = task.policy
        else {
            return None;
        };
        let id = u32::try_from(task.id).ok()?;
        let over = |job: &&Job| job.task == id && job.cpu_time_ns.is_some_and(|used| used > runtime.as_ns());
        let count = jobs.iter().filter(over).count();
        (count > 0).then(|| {
            format!("{count} jobs of `{}` used more CPU time than their budget of {runtime}", task.name)
        })
    };
    plan.tasks.iter().filter_map(of_task).collect()
}

/// Says which tasks were given the CPU for a job before its release, and had to wait for it themselves.
fn early(plan: &Plan, shared: &Shared) -> Vec<String> {
    let of_task = |(task, entry): (&PlannedTask, &TaskEntry)| {
        let count = entry.early.load(Relaxed);
        let most = Duration::from_ns(entry.early_most_ns.load(Relaxed));
        (count > 0).then(|| {
            format!("the policy released {count} jobs of `{}` too early, by up to {most}", task.name)
        })
    };
    plan.tasks.iter().zip(shared.tasks()).filter_map(of_task).collect()
}

/// How often the kernel has told each task that its budget is used up.
fn overrun_signals(plan: &Plan, shared: &Shared) -> Vec<(u32, u64)> {
    let of_task = |(task, entry): (&PlannedTask, &TaskEntry)| {
        Some((u32::try_from(task.id).ok()?, entry.overruns.load(Relaxed)))
    };
    plan.tasks.iter().zip(shared.tasks()).filter_map(of_task).collect()
}

/// How long a turn of SCHED_RR is, as the kernel has it now.
fn turns(plan: &Plan) -> Option<String> {
    let priority = plan.tasks.iter().find_map(|task| match task.policy {
        Policy::RoundRobin { priority } => Some(priority),
        _ => None,
    })?;
    let file = "/proc/sys/kernel/sched_rr_timeslice_ms";
    let turn = match std::fs::read_to_string(file) {
        Ok(ms) => format!("{} ms (sched_rr_timeslice_ms)", ms.trim()),
        Err(error) => format!("unknown length ({file}: {error})"),
    };
    Some(format!(
        "all tasks have priority {priority} of SCHED_RR; those that are ready on a CPU take turns of {turn}"
    ))
}

/// The guardian died: put back what it changed.
fn recover(lock: &MachineLock) {
    if let Err(error) = crate::journal::recover(lock.directory()) {
        crate::journal::warn(error);
    }
}

/// The guardian process. Dropping it closes the connection, upon which the guardian cleans up.
struct Guardian {
    child: Child,
    channel: Channel,
}

impl Guardian {
    fn start(lock: &MachineLock, shared: &Shared, plan: &Plan, records: Option<&File>) -> Result<Self> {
        let cannot = |error: std::io::Error| {
            Diagnostic::environment(format!("cannot start the guardian process: {error}"))
        };
        let (channel, theirs) = Channel::pair().map_err(cannot)?;
        let inherited = [shared.fd(), lock.fd()].map(|fd| fd.try_clone_to_owned());
        let [shared_fd, lock_fd] = inherited;
        let (shared_fd, lock_fd) = (shared_fd.map_err(cannot)?, lock_fd.map_err(cannot)?);
        for fd in [&shared_fd, &lock_fd] {
            rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()).map_err(|e| cannot(e.into()))?;
        }
        let records_fd = records.map(|file| file.as_fd().try_clone_to_owned()).transpose().map_err(cannot)?;
        if let Some(fd) = &records_fd {
            rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty()).map_err(|e| cannot(e.into()))?;
        }
        let mut command = Command::new("/proc/self/exe");
        command.arg(GUARDIAN_COMMAND).arg(shared_fd.as_raw_fd().to_string()).arg(lock.directory().path());
        command.args(records_fd.as_ref().map(|fd| fd.as_raw_fd().to_string()));
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null());
        let child = command.spawn().map_err(cannot)?;
        let guardian = Guardian { child, channel };
        guardian.channel.send(&ToGuardian::Run(Box::new(plan.clone()))).map_err(cannot)?;
        Ok(guardian)
    }

    /// Waits for the end of the run.
    fn attend(
        mut self,
        shared: &Shared,
        plan: &Plan,
        interrupt: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<End> {
        let mut told_to_stop = false;
        let give_up = crate::clock::monotonic_ns() + plan.duration.as_ns() + plan.grace.as_ns() + PATIENCE_NS;
        loop {
            if interrupt.load(SeqCst) && !told_to_stop {
                told_to_stop = true;
                // Should it be gone, its closed connection tells us below.
                let _ = self.channel.send(&ToGuardian::Stop);
            }
            if news_of(&[&self.channel], LOOK_EVERY_MS).is_ok_and(|news| news[0]) {
                match self.channel.receive::<FromGuardian>() {
                    Ok(Some(FromGuardian::Released { .. })) => crate::fault::point("released"),
                    Ok(Some(FromGuardian::Ended(end))) => return Ok(end),
                    Ok(Some(FromGuardian::Failed(refusal))) => return Err(refusal.into()),
                    Ok(None) | Err(_) => {
                        // Its last state, to show; it is dead whatever this says.
                        let status = self.child.wait().map_or("unknown".into(), |status| status.to_string());
                        shared.stop();
                        return Ok(End {
                            ran_ns: ran_so_far(shared),
                            cut_short: Some(format!("the guardian died ({status})")),
                            notes: Vec::new(),
                            counters: BTreeMap::new(),
                            recording: None,
                            quiet: None,
                        });
                    }
                }
            }
            on_progress(progress(shared));
            if crate::clock::monotonic_ns() > give_up {
                let _ = self.child.kill();
            }
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // Closing our end is the order to clean up; the machine must not be left before that is done.
        let _ = self.channel.send(&ToGuardian::Stop);
        let _ = self.child.wait();
    }
}

fn ran_so_far(shared: &Shared) -> u64 {
    let t0_ns = shared.header().t0_ns.load(Relaxed);
    if t0_ns == 0 { 0 } else { crate::clock::monotonic_ns().saturating_sub(t0_ns) }
}

fn progress(shared: &Shared) -> Progress {
    let tasks = shared.tasks();
    Progress {
        finished: tasks.iter().map(|task| task.finished.load(Acquire)).sum(),
        missed: tasks.iter().map(|task| task.missed.load(Relaxed)).sum(),
        total: (0..tasks.len()).map(|task| shared.jobs_of(task).len() as u64).sum(),
    }
}

/// The jobs released before `horizon_ns`, by task id, then index.
/// A counter that does not work here has counted nothing, not zero events.
fn collect(
    shared: &Shared,
    plan: &Plan,
    horizon_ns: u64,
    not_measured: &BTreeMap<String, String>,
) -> Vec<Job> {
    let works = Count::ALL.map(|count| !not_measured.contains_key(count.column()));
    let mut jobs = Vec::new();
    for (position, task) in plan.tasks.iter().enumerate() {
        let mut before = shared.tasks()[position].baseline.each_ref().map(|count| count.load(Relaxed));
        let id = u32::try_from(task.id).expect("a set has at most 100 000 tasks");
        for (index, slot) in (0u32..).zip(shared.jobs_of(position)) {
            if slot.release_ns.load(Relaxed) >= horizon_ns {
                break;
            }
            let after = slot.counts.each_ref().map(|count| count.load(Relaxed));
            let during = |count: Count| {
                let (before, after) = (before[count as usize], after[count as usize]);
                let known = works[count as usize] && before != NEVER && after != NEVER;
                known.then(|| after.wrapping_sub(before))
            };
            let job = job(id, index, slot, during);
            // What was not released has counted nothing.
            if job.outcome != JobOutcome::Skipped {
                before = after;
            }
            jobs.push(job);
        }
    }
    jobs.sort_by_key(|job| (job.task, job.index));
    jobs
}

/// A job that was late when the run ended has had releases pass, too; its thread, still at work on it, has not said so.
fn skip_behind_unfinished(jobs: &mut [Job], on_miss: OnMiss) {
    // The first job of the present task that was under way at the end: (task, deadline).
    let mut under_way: Option<(u32, u64)> = None;
    for job in jobs.iter_mut().filter(|job| job.outcome == JobOutcome::Unfinished) {
        match under_way {
            Some((task, deadline_ns)) if task == job.task => {
                if on_miss.skips(job.release_ns, deadline_ns, None) {
                    job.outcome = JobOutcome::Skipped;
                }
            }
            _ => under_way = Some((job.task, job.deadline_ns)),
        }
    }
}

fn job(task: u32, index: u32, slot: &Slot, during: impl Fn(Count) -> Option<u64>) -> Job {
    let word = |word: &std::sync::atomic::AtomicU64| Some(word.load(Relaxed)).filter(|&value| value != NEVER);
    let cpu = |shift: u32| word(&slot.cpus).and_then(|cpus| u32::try_from(cpus >> shift & 0xffff_ffff).ok());
    let small = |count: Count| during(count).and_then(|value| u32::try_from(value).ok());
    let finish_ns = word(&slot.finish_ns);
    let outcome = match slot.end.load(Acquire) {
        job_end::COMPLETED => JobOutcome::Completed,
        job_end::ABORTED => JobOutcome::Aborted,
        job_end::SKIPPED => JobOutcome::Skipped,
        _ => JobOutcome::Unfinished,
    };
    Job {
        task,
        index,
        release_ns: slot.release_ns.load(Relaxed),
        deadline_ns: slot.deadline_ns.load(Relaxed),
        demand_ns: word(&slot.demand_ns),
        warm_ns: None,
        cause: None,
        outcome,
        start_ns: word(&slot.start_ns),
        finish_ns,
        cpu_time_ns: word(&slot.cpu_time_ns).filter(|_| finish_ns.is_some()),
        first_cpu: cpu(32),
        last_cpu: cpu(0),
        migrations: small(Count::Migrations),
        context_switches: small(Count::ContextSwitches),
        counters: Counters {
            instructions: during(Count::Instructions),
            cycles: during(Count::Cycles),
            l1d_misses: during(Count::L1dMisses),
            l2_misses: None,
            llc_misses: during(Count::LlcMisses),
        },
    }
}
