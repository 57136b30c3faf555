//! How tasks come to a run: their processes are started and get ready, and each waiting thread gets its CPUs and its policy.

use super::{Guardian, LINGER_SLACK_NS, WORKER_COMMAND, Worker, ended};
use crate::channel::Channel;
use crate::clock::monotonic_ns;
use crate::cpuset;
use crate::messages::{FromWorker, WorkerOrders};
use crate::plan::Plan;
use crate::sched::{self, Policy};
use laxity_model::{CpuList, Diagnostic, Result, cpus_named};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;

/// Between admission and the synchronous release, for all threads to fall asleep until it. It is longer where a
/// SCHED_DEADLINE task has D < T: waking up for the release time opens a period, in which the kernel would
/// throttle a first job that comes after its deadline.
const SETTLE_NS: u64 = 100_000_000;
/// How long a thread is expected to take to become a policy's.
const ENTER_NS: u64 = 500_000;
/// How long workers may take to allocate and lock their memory.
const PREPARE_NS: u64 = 120_000_000_000;

impl Guardian {
    pub(super) fn hire(&mut self, home: Option<&Path>, cpus: &CpuList, orders: WorkerOrders) -> Result<()> {
        let cannot = |error: std::io::Error| {
            Diagnostic::environment(format!("cannot start a worker process: {error}"))
        };
        let (channel, theirs) = Channel::pair().map_err(cannot)?;
        let shared = self.shared.fd().try_clone_to_owned().map_err(cannot)?;
        rustix::io::fcntl_setfd(&shared, rustix::io::FdFlags::empty()).map_err(|e| cannot(e.into()))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORKER_COMMAND).arg(shared.as_raw_fd().to_string()).arg(std::process::id().to_string());
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null());
        let child = command.spawn().map_err(cannot)?;
        let pid = child.id();
        self.workers.push(Worker { child, channel, gone: false });
        if let Some(path) = home {
            cpuset::write(&path.join("cgroup.procs"), &pid.to_string())?;
        } else {
            let pid = i32::try_from(pid).expect("a process id");
            sched::set_affinity(pid, cpus).map_err(|error| {
                Diagnostic::environment(format!("cannot confine a worker to {}: {error}", cpus_named(cpus)))
                    .hint("use CPUs that are online and that this process may use")
            })?;
        }
        let worker = self.workers.last().expect("just hired");
        worker.channel.send(&orders).map_err(cannot)
    }

    /// Collects thread ids until every task waits for its release.
    pub(super) fn wait_until_ready(&mut self, tasks: usize) -> Result<Vec<(usize, i32)>> {
        let mut threads = Vec::new();
        let give_up = monotonic_ns() + PREPARE_NS;
        while threads.len() < tasks && self.cut_short.is_none() {
            if monotonic_ns() > give_up {
                return Err(Diagnostic::environment("tasks did not get their memory within 120 s")
                    .hint("use smaller working sets"));
            }
            for number in self.poll(1000) {
                match self.workers[number].channel.receive::<FromWorker>() {
                    Ok(Some(FromWorker::Ready(ready))) => threads.extend(ready),
                    Ok(Some(FromWorker::Failed(refusal))) => return Err(refusal.into()),
                    Ok(None) => {
                        self.workers[number].gone = true;
                        return Err(ended::while_preparing(self.workers[number].child.wait()));
                    }
                    Err(error) => {
                        return Err(Diagnostic::environment(format!(
                            "a worker process cannot be understood while it prepares its tasks: {error}"
                        )));
                    }
                }
            }
        }
        Ok(threads)
    }

    /// Gives all threads their CPUs and policies; when the synchronous release can be. A policy in the kernel must know
    /// of it when a thread comes, so it may turn out to be too early: then they come anew.
    pub(super) fn admit_all(&mut self, plan: &Plan, threads: &[(usize, i32)]) -> Result<u64> {
        let settle_ns = SETTLE_NS.max(plan.constrained_period_max().as_ns());
        let mut span_ns = ENTER_NS * threads.len() as u64;
        loop {
            let began_ns = monotonic_ns();
            let t0_ns = began_ns + span_ns + settle_ns;
            for &(position, tid) in threads {
                if let Some(attached) = &self.attached {
                    let first_ns =
                        self.shared.jobs_of(position).first().map_or(0, |job| job.release_ns.load(Relaxed));
                    attached.announce(tid, t0_ns + first_ns, plan.tasks[position].batching)?;
                }
                self.admit(plan, position, tid)?;
            }
            let now_ns = monotonic_ns();
            if self.attached.is_none() || self.cut_short.is_some() {
                return Ok(now_ns + settle_ns);
            }
            if now_ns + settle_ns <= t0_ns {
                return Ok(t0_ns);
            }
            span_ns = 2 * (now_ns - began_ns);
        }
    }

    /// Gives a waiting thread its CPUs and its policy. Bandwidth of tasks that are gone lingers in the kernel
    /// until their last deadline, so a refusal for lack of it is final only after that time.
    fn admit(&mut self, plan: &Plan, position: usize, tid: i32) -> Result<()> {
        let task = &plan.tasks[position];
        let name = format!("task `{}`", task.name);
        sched::set_affinity(tid, &task.affinity).map_err(|error| {
            Diagnostic::environment(format!(
                "{name}: cannot be confined to {}: {error}",
                cpus_named(&task.affinity)
            ))
            .hint("use CPUs that are online and that this process may use")
        })?;
        let give_up = monotonic_ns() + plan.bandwidth_linger.as_ns() + LINGER_SLACK_NS;
        loop {
            // Its process counts what the kernel tells it of budgets.
            match sched::set_policy_with_signal(tid, task.policy) {
                Ok(()) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) && monotonic_ns() < give_up => {
                    self.poll(10);
                    if self.cut_short.is_some() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(refused(&name, task.policy, &error)),
            }
        }
    }
}

pub(super) fn refused(thread: &str, policy: Policy, error: &std::io::Error) -> Diagnostic {
    let what = match policy {
        Policy::Deadline { runtime, deadline, period } => {
            format!("SCHED_DEADLINE with budget {runtime}, deadline {deadline}, period {period}")
        }
        Policy::Reclaiming { runtime, deadline, period } => {
            format!("SCHED_DEADLINE with reclaiming, budget {runtime}, deadline {deadline}, period {period}")
        }
        Policy::Ext { runtime, deadline, period } => {
            format!("SCHED_EXT with budget {runtime}, deadline {deadline}, period {period}")
        }
        Policy::Fifo { priority } => format!("SCHED_FIFO priority {priority}"),
        Policy::RoundRobin { priority } => format!("SCHED_RR priority {priority}"),
        Policy::Other => "SCHED_OTHER".into(),
        Policy::Fair { nice, slice } if slice.is_zero() => format!("SCHED_OTHER with nice value {nice}"),
        Policy::Fair { nice, slice } => format!("SCHED_OTHER with nice value {nice} and a slice of {slice}"),
        Policy::Foreign => "SCHED_EXT".into(),
    };
    let refusal = Diagnostic::environment(format!(
        "{thread}: the kernel refuses {what}: {}",
        sched::explain(error, policy)
    ));
    match error.raw_os_error() {
        Some(libc::EBUSY) => refusal.hint(
            "kernels since 6.12 also keep 5 % of every CPU for background tasks: lower the load, use a smaller \
             --budget-margin, more CPUs or a better-balanced placement",
        ),
        _ => refusal.hint("run as root; `laxity list` says what this machine can run"),
    }
}
