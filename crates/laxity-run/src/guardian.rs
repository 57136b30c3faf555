//! The guardian: the process that changes the host for a run, ends the run at its time, and puts all back.
//!
//! It is a session of its own, so that Ctrl-C reaches only the program; it sees the program's end, however
//! that came, as the end of its connection. It runs at the highest real-time priority. SCHED_DEADLINE goes
//! before every priority, but its admitted bandwidth leaves part of each CPU free. Workers die with it.
//!
//! A policy of laxity's own is attached to the kernel by the guardian (`guardian/policy.rs`): when it dies, the kernel
//! detaches the policy by itself. A foreign scheduler's program is the guardian's child ([`crate::foreign`]).

mod admission;
mod crews;
mod ended;
mod policy;
mod quieting;
mod recorder;

use crate::busy::Busy;
use crate::channel::{Awaited, Channel, news_of};
use crate::clock::monotonic_ns;
use crate::cpuset::Hierarchy;
use crate::foreign::Foreign;
use crate::journal::{Journal, Undo};
use crate::messages::{End, FromGuardian, RecordingEnd, ToGuardian, WorkerOrders};
use crate::plan::{Confinement, GUARDIAN_PRIORITY, Plan};
use crate::private::PrivateDirectory;
use crate::quiet::Quiet;
use crate::sched::{self, Policy};
use crate::shared::Shared;
use admission::refused;
use crews::Crew;
use laxity_kernel::schedule::observe;
use laxity_model::{CpuList, Diagnostic, Result};
use laxity_trace::QuietRecord;
use policy::Attached;
use recorder::Recorder;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ExitCode, ExitStatus};

/// How long stopped workers may take to leave before they are killed.
const LEAVE_NS: u64 = 500_000_000;
/// How often it is looked whether the kernel has thrown out the policy.
const LOOK_AT_POLICY_MS: u64 = 50;
/// How much longer than their last period the bandwidth of tasks may stay taken: a task that overran its budget
/// has its deadline postponed by a period for every budget it used up.
const LINGER_SLACK_NS: u64 = 200_000_000;

/// The argument by which the program starts itself as a worker.
pub const WORKER_COMMAND: &str = "__worker";
/// The argument by which the program starts itself as a guardian.
pub const GUARDIAN_COMMAND: &str = "__guardian";

/// The whole life of a guardian process, behind the program's connection on standard input.
///
/// Records of the schedule, if it is to be recorded, go to the end of `records`.
pub fn guardian_main(shared: Shared, state_directory: &Path, records: Option<File>) -> ExitCode {
    // Fails only for a process that leads a session already.
    let _ = rustix::process::setsid();
    let (Ok(mut program), Ok(signals)) = (Channel::from_stdin(), termination_signals()) else {
        return ExitCode::FAILURE;
    };
    let Ok(Some(ToGuardian::Run(plan))) = program.receive() else { return ExitCode::FAILURE };
    let directory = match PrivateDirectory::open(state_directory) {
        Ok(directory) => directory,
        Err(error) => {
            // The program may be gone; then the answer is not needed.
            let _ = program.send(&FromGuardian::Failed(error.into()));
            return ExitCode::FAILURE;
        }
    };
    let mut guardian = Guardian {
        program,
        signals,
        shared,
        workers: Vec::new(),
        busy: None,
        cut_short: None,
        notes: Vec::new(),
        attached: None,
        foreign: None,
        quiet: None,
        quieted: None,
        records,
        recorder: None,
        not_recorded: None,
        recording: None,
        counters: BTreeMap::new(),
        threads: Vec::new(),
        t0_ns: 0,
        journal: Journal::create(directory),
    };
    let verdict = guardian.carry_out(&plan);
    guardian.clean_up();
    let message = match verdict {
        Ok(ran_ns) => FromGuardian::Ended(End {
            ran_ns,
            cut_short: guardian.cut_short.clone(),
            notes: std::mem::take(&mut guardian.notes),
            counters: std::mem::take(&mut guardian.counters),
            recording: guardian.recording.take().map(Ok).or(guardian.not_recorded.take().map(Err)),
            quiet: guardian.quieted.take(),
        }),
        Err(error) => FromGuardian::Failed(error.into()),
    };
    // The program may be gone; then the answer is not needed.
    let _ = guardian.program.send(&message);
    ExitCode::SUCCESS
}

/// A descriptor that becomes readable when this process gets a signal to terminate.
fn termination_signals() -> std::io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

struct Worker {
    child: Child,
    channel: Channel,
    gone: bool,
}

struct Guardian {
    program: Channel,
    signals: UnixStream,
    shared: Shared,
    workers: Vec<Worker>,
    busy: Option<Busy>,
    cut_short: Option<String>,
    notes: Vec<String>,
    /// The policy in the kernel.
    attached: Option<Attached>,
    /// The program whose scheduler is in the kernel.
    foreign: Option<Foreign>,
    /// Where records go, what takes them, and why they are not recorded.
    records: Option<File>,
    recorder: Option<Recorder>,
    not_recorded: Option<String>,
    recording: Option<RecordingEnd>,
    counters: BTreeMap<String, u64>,
    /// What `--quiet-machine` has set, while it is; and what there is to be said of it.
    quiet: Option<Quiet>,
    quieted: Option<QuietRecord>,
    /// Once released: whose threads they are, and when.
    threads: Vec<(usize, i32)>,
    t0_ns: u64,
    journal: Journal,
}

impl Guardian {
    /// Runs the plan to its end, an interruption or an error; the time since the release in ns.
    fn carry_out(&mut self, plan: &Plan) -> Result<u64> {
        let crews = self.confine(plan)?;
        self.make_quiet(plan)?;
        self.settle_afterwards(plan)?;
        if let Some(attachment) = &plan.attachment {
            let attached = self.attached.insert(Attached::attach(attachment)?);
            self.notes.extend(attached.notes());
        }
        if let Some(program) = &plan.foreign {
            self.load(program)?;
        }
        for crew in &crews {
            let orders = WorkerOrders { on_miss: plan.on_miss, tasks: crew.tasks(plan) };
            self.hire(crew.process_home(), &crew.cpus(plan), orders)?;
        }
        let mut threads = self.wait_until_ready(plan.tasks.len())?;
        // A policy in the kernel numbers tasks as they come, and its ties are by number.
        threads.sort_unstable();
        sched::set_policy(0, Policy::Fifo { priority: GUARDIAN_PRIORITY })
            .map_err(|error| refused("the guardian", Policy::Fifo { priority: GUARDIAN_PRIORITY }, &error))?;
        if plan.busy > 0 {
            let cpus = plan.cells.iter().flat_map(|cell| cell.cpus.iter()).collect();
            self.busy = Some(Busy::start(plan.busy, &cpus)?);
        }
        self.keep_away(plan);
        self.record(plan, &threads);
        let t0_ns = self.admit_all(plan, &threads)?;
        if self.cut_short.is_some() {
            return Ok(0);
        }
        self.threads = threads;
        self.t0_ns = t0_ns;
        self.shared.release_at(t0_ns);
        if let Some(recorder) = &mut self.recorder {
            recorder.released();
        }
        let _ = self.program.send(&FromGuardian::Released { t0_ns });
        Ok(self.watch(t0_ns, t0_ns + plan.duration.as_ns() + plan.grace.as_ns()))
    }

    /// Has a foreign program load its scheduler.
    fn load(&mut self, program: &str) -> Result<()> {
        let foreign = self.foreign.insert(Foreign::start(program, &mut self.journal)?);
        let mut loaded = foreign.loaded()?;
        while loaded.is_none() && self.cut_short.is_none() {
            // Not by `poll`, which would see that nothing is loaded yet.
            std::thread::sleep(std::time::Duration::from_millis(LOOK_AT_POLICY_MS / 5));
            self.look_for_orders();
            loaded = self.foreign.as_mut().map_or(Ok(None), Foreign::loaded)?;
        }
        let whole =
            std::fs::read_to_string("/sys/kernel/sched_ext/switch_all").is_ok_and(|all| all.trim() == "1");
        let others = if whole { "has all threads of the machine" } else { "has threads of SCHED_EXT only" };
        self.notes.extend(loaded.map(|name| format!("the kernel's scheduler was `{name}`, which {others}")));
        Ok(())
    }

    /// Whether the program or a signal has asked for the end meanwhile.
    fn look_for_orders(&mut self) {
        let news = news_of(&[&self.program, &self.signals], 0).unwrap_or_default();
        self.take_orders(&news);
    }

    fn take_orders(&mut self, news: &[bool]) {
        if news.first() == Some(&true) {
            self.cut_short = Some(match self.program.receive::<ToGuardian>() {
                Ok(Some(_)) => "interrupted".into(),
                Ok(None) | Err(_) => "the program died".into(),
            });
        } else if news.get(1) == Some(&true) {
            self.cut_short = Some("the guardian was asked to terminate".into());
        }
    }

    /// Begins to record the schedule, if it is to be and can be.
    fn record(&mut self, plan: &Plan, threads: &[(usize, i32)]) {
        let Some(file) = self.records.take().filter(|_| plan.recorded) else { return };
        let begun = match &self.attached {
            Some(attached) => attached.record().map(|recording| (None, recording)),
            None => observe(&recorder::watched(plan, threads))
                .map(|(observer, recording)| (Some(observer), recording)),
        };
        match begun {
            Ok((observer, recording)) => self.recorder = Some(Recorder::new(recording, observer, file)),
            Err(error) => self.not_recorded = Some(error.message),
        }
    }

    /// Makes the cells' cpusets, if they are to have some. Returns which cells share a process, and how its threads
    /// get to their cells.
    fn confine(&mut self, plan: &Plan) -> Result<Vec<Crew>> {
        let together = crews::crews(plan);
        if plan.confinement != Confinement::Cpusets {
            return Ok(crews::anywhere(&together));
        }
        let machine = online_cpus()?;
        match self.make_cpusets(plan, &together, &machine) {
            Err(why) if !plan.uses_deadline() => {
                // SCHED_FIFO needs no root domains of its own: affinity masks keep its cells apart, too.
                self.undo();
                self.notes
                    .push(format!("confined by affinity masks, not by exclusive cpusets: {}", why.message));
                Ok(crews::anywhere(&together))
            }
            made => made,
        }
    }

    /// One cpuset per cell, for threads if a process has several. Where the kernel has none for threads, groups have several
    /// processes.
    fn make_cpusets(&mut self, plan: &Plan, together: &[Vec<usize>], machine: &CpuList) -> Result<Vec<Crew>> {
        let hierarchy = Hierarchy::find()?;
        let isolated = quieting::may_be_isolated(plan);
        let why = match hierarchy.confine(&plan.cells, (together, isolated), machine, &mut self.journal) {
            Ok(homes) => return Ok(crews::with_homes(together, &homes)),
            Err(why) => why,
        };
        let apart = crews::one_each(plan);
        if together == apart {
            return Err(why);
        }
        self.undo();
        let homes = hierarchy.confine(&plan.cells, (&apart, isolated), machine, &mut self.journal)?;
        self.notes.push(format!(
            "groups that are spread over cells have a process in each, which share their memory, as there are no cpusets \
             for single threads here: {}",
            why.message
        ));
        Ok(crews::with_homes(&apart, &homes))
    }

    /// Whatever comes next must find the bandwidth of these tasks given back.
    fn settle_afterwards(&mut self, plan: &Plan) -> Result<()> {
        if !plan.uses_deadline() {
            return Ok(());
        }
        self.journal.record(Undo::Settle { span_ns: plan.bandwidth_linger.as_ns() + LINGER_SLACK_NS })
    }

    /// Waits for the end: all tasks done, the time up, or a request to stop.
    fn watch(&mut self, t0_ns: u64, end_ns: u64) -> u64 {
        while self.cut_short.is_none() && self.workers.iter().any(|worker| !worker.gone) {
            let now = monotonic_ns();
            if now >= end_ns {
                break;
            }
            for number in self.poll(((end_ns - now) / 1_000_000).clamp(1, 1000)) {
                self.workers[number].gone = true;
                let status = self.workers[number].child.wait();
                if !status.as_ref().is_ok_and(ExitStatus::success) && self.cut_short.is_none() {
                    self.cut_short = Some(ended::why(status));
                }
            }
        }
        monotonic_ns().saturating_sub(t0_ns)
    }

    /// Waits for news; the workers that have some. Sets `cut_short` if the run should end.
    fn poll(&mut self, timeout_ms: u64) -> Vec<usize> {
        let present: Vec<usize> =
            (0..self.workers.len()).filter(|&number| !self.workers[number].gone).collect();
        let mut awaited: Vec<&dyn Awaited> = vec![&self.program, &self.signals];
        awaited.extend(present.iter().map(|&number| &self.workers[number].channel as &dyn Awaited));
        let most_ms = match &self.recorder {
            Some(recorder) => recorder.wait_ms(),
            None if self.attached.is_some() || self.foreign.is_some() => LOOK_AT_POLICY_MS,
            None => timeout_ms,
        };
        let news = news_of(&awaited, timeout_ms.min(most_ms)).unwrap_or_else(|_| vec![false; awaited.len()]);
        if let Some(recorder) = &mut self.recorder {
            recorder.drain();
        }
        self.take_orders(&news[..2]);
        if self.cut_short.is_none() {
            self.cut_short = self.attached.as_ref().and_then(Attached::thrown_out);
        }
        if self.cut_short.is_none() {
            self.cut_short = self.foreign.as_mut().and_then(Foreign::thrown_out);
        }
        present.into_iter().zip(&news[2..]).filter(|(_, news)| **news).map(|(number, _)| number).collect()
    }

    /// Stops the tasks, by force if need be, and puts the host back.
    fn clean_up(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            self.attached.iter().for_each(Attached::note_pending);
            let servers = self.attached.as_ref().map(Attached::servers).unwrap_or_default();
            let end = recorder.finish(self.t0_ns, std::mem::take(&mut self.threads));
            self.recording = Some(RecordingEnd { servers, ..end });
        }
        self.shared.stop();
        if self.busy.take().is_some_and(|mut busy| busy.is_gone()) {
            self.notes
                .push("the background threads beside the tasks (--busy) ended before the run did".into());
        }
        // Before the workers are waited for: threads that wait for the policy to release them could not leave.
        if let Some(attached) = self.attached.take() {
            self.counters = attached.detach();
        }
        if let Some(mut foreign) = self.foreign.take() {
            self.notes.extend(foreign.stop());
        }
        let give_up = monotonic_ns() + LEAVE_NS;
        for worker in &mut self.workers {
            while !worker.gone {
                match worker.child.try_wait() {
                    Ok(Some(_)) => worker.gone = true,
                    Ok(None) if monotonic_ns() < give_up => {
                        std::thread::sleep(std::time::Duration::from_millis(2))
                    }
                    _ => {
                        let _ = worker.child.kill();
                        let _ = worker.child.wait();
                        worker.gone = true;
                    }
                }
            }
        }
        drop(self.quiet.take());
        self.undo();
    }

    fn undo(&mut self) {
        for failure in self.journal.undo() {
            crate::journal::warn(format_args!("warning: could not restore {failure}"));
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        self.clean_up();
    }
}

/// Every CPU that is online.
pub fn online_cpus() -> Result<CpuList> {
    let path = "/sys/devices/system/cpu/online";
    let text = std::fs::read_to_string(path).map_err(|error| {
        Diagnostic::environment(format!("cannot read {path}: {error}")).hint("is /sys mounted?")
    })?;
    text.parse()
}
