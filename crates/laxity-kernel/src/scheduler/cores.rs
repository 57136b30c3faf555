//! What an attached scheduler is told of its CPUs, and what it answers: speeds, servers, times of background tasks.

use super::{Options, Scheduler};
use crate::maps::Typed;
use crate::{BackgroundTimes, Core, RunningServer, ffi, skeleton};
use laxity_model::{Diagnostic, Duration, Platform, Result, Speed};

impl Options {
    /// The CPUs that the policy is told of: all of the machine; those that were not named count as the fastest.
    pub(crate) fn sized_cores(&self) -> Result<Vec<Core>> {
        let mut cores = self.cores.clone();
        if self.policy.has_servers() {
            let named = |cpu: &u32| self.cores.iter().any(|core| core.cpu == *cpu);
            let others =
                Platform::this_machine()?.cpus().iter().filter(|cpu| !named(cpu)).collect::<Vec<_>>();
            let plain = |cpu| Core::new(cpu, Speed::UNIT, Speed::UNIT, self.share_ppm);
            cores.extend(others.into_iter().map(plain));
        }
        Ok(cores)
    }
}

impl Scheduler {
    /// Says what all CPUs are, before the policy is attached.
    pub(crate) fn size_all(&mut self, cores: &[Core]) -> Result<()> {
        for core in cores {
            let since_ns = self.size(core)?;
            let Core { cpu, budget_ns, period_ns, .. } = *core;
            if period_ns > 0 {
                self.servers.push(RunningServer { cpu, budget_ns, period_ns, since_ns });
            }
        }
        Ok(())
    }

    /// The servers that the policy was attached with.
    pub fn servers(&self) -> &[RunningServer] {
        &self.servers
    }

    /// Sets the speed of a CPU and the size of its server. The server of an attached scheduler gets another budget
    /// when its present period ends, and another period as soon as no real-time job of the CPU is pending. Returns
    /// the instant from which the size counts, in ns of CLOCK_MONOTONIC; `u64::MAX` while a job is pending that
    /// must end first.
    ///
    /// # Errors
    ///
    /// The policy has no servers, the CPU is in no cell, or another error of the kernel.
    pub fn size(&self, core: &Core) -> Result<u64> {
        let said = ffi::lx_host_core {
            cpu: core.cpu,
            speed: core.speed,
            budget_ns: core.budget_ns,
            period_ns: core.period_ns,
            share_ppm: core.share_ppm,
            closed: u64::from(core.closed),
            from_at: 0,
        };
        let failed = |why: String| Diagnostic::environment(format!("the server of CPU {}: {why}", core.cpu));
        let map = skeleton::CORE.of(&self.object).map_err(failed)?;
        map.put(&0, &said).and_then(|()| self.run(skeleton::SIZE_CORE)).map_err(failed)?;
        let answer = map.get(&0).ok_or_else(|| failed("the kernel's side does not answer".into()))?;
        Ok(answer.from_at)
    }

    /// For how long background tasks have had each CPU, by the kernel's numbers; empty for a policy without
    /// servers.
    ///
    /// # Errors
    ///
    /// An error of the kernel.
    pub fn background_times(&self) -> Result<Vec<BackgroundTimes>> {
        let Ok(map) = skeleton::BACKGROUND_TIMES.of(&self.object) else { return Ok(Vec::new()) };
        Ok(map.of_cpus(&0).map_err(Diagnostic::environment)?.iter().map(times_of).collect())
    }

    /// Threads that real-time tasks or their children have created, each with its real-time task, until
    /// [`Scheduler::forget_born`].
    ///
    /// # Errors
    ///
    /// The policy does not track the children of its tasks: it has no servers.
    pub fn born(&self) -> Result<Vec<(i32, i32)>> {
        Ok(self.born_map()?.all())
    }

    /// Removes a child that has been dealt with.
    pub fn forget_born(&self, child: i32) {
        if let Ok(map) = self.born_map() {
            // It may have ended: then it is forgotten.
            let _ = map.remove(&child);
        }
    }

    fn born_map(&self) -> Result<Typed<libbpf_rs::Map<'_>, i32, i32>> {
        skeleton::BORN.of(&self.object).map_err(|why| {
            Diagnostic::environment(format!("the policy does not track the children of its tasks: {why}"))
        })
    }
}

fn times_of(times: &ffi::lx_background_times) -> BackgroundTimes {
    BackgroundTimes {
        server: Duration::from_ns(times.server_ns),
        reserve: Duration::from_ns(times.reserve_ns),
        background: Duration::from_ns(times.background_ns),
        quiet_ns: times.quiet_at,
    }
}
