//! What an attached scheduler is told of its CPUs, and what it answers: speeds, servers, times of background tasks.

use super::{Options, Scheduler};
use crate::{BackgroundTimes, Core, RunningServer, ffi};
use laxity_model::{Diagnostic, Duration, Platform, Result, Speed};
use libbpf_rs::{MapCore as _, MapFlags};

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

/// What the kernel's side answers.
const FROM_AT: usize = std::mem::offset_of!(ffi::lx_host_core, from_at);

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
        // SAFETY: plain numbers, all of them initialized.
        let bytes = unsafe {
            std::slice::from_raw_parts((&raw const said).cast::<u8>(), size_of::<ffi::lx_host_core>())
        };
        let failed = |why: String| Diagnostic::environment(format!("the server of CPU {}: {why}", core.cpu));
        self.say(".data.core", bytes).and_then(|()| self.run("size_core", None)).map_err(failed)?;
        let map = self.object.maps().find(|map| map.name() == ".data.core");
        let value = map.and_then(|map| map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
        let from = value.and_then(|value| value.get(FROM_AT..FROM_AT + 8)?.try_into().ok());
        from.map(u64::from_ne_bytes).ok_or_else(|| failed("the kernel's side does not answer".into()))
    }

    /// For how long background tasks have had each CPU, by the kernel's numbers; empty for a policy without
    /// servers.
    ///
    /// # Errors
    ///
    /// An error of the kernel.
    pub fn background_times(&self) -> Result<Vec<BackgroundTimes>> {
        let Some(map) = self.object.maps().find(|map| map.name() == "background_times") else {
            return Ok(Vec::new());
        };
        let values = map.lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(|error| {
            Diagnostic::environment(format!("the times of servers cannot be read: {error}"))
        })?;
        Ok(values.unwrap_or_default().iter().map(|value| times_of(value)).collect())
    }

    /// Threads that real-time tasks or their children have created, each with its real-time task, until
    /// [`Scheduler::forget_born`].
    ///
    /// # Errors
    ///
    /// The policy does not track the children of its tasks: it has no servers.
    pub fn born(&self) -> Result<Vec<(i32, i32)>> {
        let map = self.born_map()?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(i32::from_ne_bytes);
        let of_key = |key: Vec<u8>| Some((number(&key)?, number(&map.lookup(&key, MapFlags::ANY).ok()??)?));
        Ok(map.keys().filter_map(of_key).collect())
    }

    /// Removes a child that has been dealt with.
    pub fn forget_born(&self, child: i32) {
        if let Ok(map) = self.born_map() {
            // It may have ended: then it is forgotten.
            let _ = map.delete(&child.to_ne_bytes());
        }
    }

    fn born_map(&self) -> Result<libbpf_rs::Map<'_>> {
        let map = self.object.maps().find(|map| map.name() == "born");
        map.ok_or_else(|| {
            Diagnostic::environment("the policy does not track the children of its tasks".to_owned())
        })
    }
}

fn times_of(value: &[u8]) -> BackgroundTimes {
    let at = |place: usize| {
        let bytes = value.get(place..place + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    };
    BackgroundTimes {
        server: Duration::from_ns(at(std::mem::offset_of!(ffi::lx_background_times, server_ns))),
        reserve: Duration::from_ns(at(std::mem::offset_of!(ffi::lx_background_times, reserve_ns))),
        background: Duration::from_ns(at(std::mem::offset_of!(ffi::lx_background_times, background_ns))),
        quiet_ns: at(std::mem::offset_of!(ffi::lx_background_times, quiet_at)),
    }
}
