//! The cores of amp-rm: how fast they are, and the deferrable servers on them.

use crate::{Options, Scheduler, ffi};
use laxity_model::{Diagnostic, Duration, Platform, Policy, Result};
use libbpf_rs::{MapCore as _, MapFlags};
use serde::Serialize;

/// A core, and the server on it. `bpf/host/setup.h` has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Core {
    /// The kernel's number.
    pub cpu: u32,
    /// Relative to the other cores', above 0.
    pub speed: u32,
    /// Budget of its server in ns of that core.
    pub budget_ns: u64,
    /// Period of its server in ns; 0: there is none. Cores outside all cells have none.
    pub period_ns: u64,
    /// What real-time tasks may be admitted for, in millionths of it.
    pub share_ppm: u64,
}

/// For how long ordinary tasks have had a core, by why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OrdinaryTimes {
    /// They went before real-time tasks: the server had a budget.
    pub server: Duration,
    /// They went before real-time tasks: those had had their share.
    pub reserve: Duration,
    /// No real-time task wanted the core.
    pub background: Duration,
    /// The last instant seen at which no real-time job of the core was pending, in ns of CLOCK_MONOTONIC.
    #[serde(skip)]
    pub quiet_ns: u64,
}

impl OrdinaryTimes {
    /// Since `before`.
    #[must_use]
    pub fn since(&self, before: &OrdinaryTimes) -> OrdinaryTimes {
        let less =
            |now: Duration, then: Duration| Duration::from_ns(now.as_ns().saturating_sub(then.as_ns()));
        OrdinaryTimes {
            server: less(self.server, before.server),
            reserve: less(self.reserve, before.reserve),
            background: less(self.background, before.background),
            quiet_ns: self.quiet_ns,
        }
    }
}

impl Options {
    /// The cores that the policy is told of.
    pub(crate) fn sized_cores(&self) -> Result<Vec<Core>> {
        if self.policy != Policy::AmpRm || !self.cores.is_empty() {
            return Ok(self.cores.clone());
        }
        let plain = |cpu| Core { cpu, speed: 1, budget_ns: 0, period_ns: 0, share_ppm: self.share_ppm };
        Ok(Platform::this_machine()?.cpus().iter().map(plain).collect())
    }
}

/// What the kernel's side answers.
const FROM_AT: usize = std::mem::offset_of!(ffi::lx_host_core, from);

impl Scheduler {
    /// Says how fast a core is and how large its server. An attached scheduler's server gets another budget when its present
    /// period ends, and another period as soon as no real-time job of the core is pending. Returns the instant, in ns of
    /// CLOCK_MONOTONIC, or `u64::MAX` for the latter if that is not now.
    ///
    /// # Errors
    ///
    /// The policy has no servers, the core is in no cell, or what else the kernel says.
    pub fn size(&self, core: &Core) -> Result<u64> {
        let said = ffi::lx_host_core {
            cpu: core.cpu,
            speed: core.speed,
            budget: core.budget_ns,
            period: core.period_ns,
            share: core.share_ppm,
            from: 0,
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

    /// For how long ordinary tasks have had each CPU, by the kernel's numbers; empty for a policy without servers.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn ordinary_times(&self) -> Result<Vec<OrdinaryTimes>> {
        let Some(map) = self.object.maps().find(|map| map.name() == "ordinary_times") else {
            return Ok(Vec::new());
        };
        let values = map.lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(|error| {
            Diagnostic::environment(format!("the times of servers cannot be read: {error}"))
        })?;
        Ok(values.unwrap_or_default().iter().map(|value| times_of(value)).collect())
    }
}

fn times_of(value: &[u8]) -> OrdinaryTimes {
    let at = |place: usize| {
        let bytes = value.get(place..place + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    };
    OrdinaryTimes {
        server: Duration::from_ns(at(std::mem::offset_of!(ffi::lx_ordinary_times, server))),
        reserve: Duration::from_ns(at(std::mem::offset_of!(ffi::lx_ordinary_times, reserve))),
        background: Duration::from_ns(at(std::mem::offset_of!(ffi::lx_ordinary_times, background))),
        quiet_ns: at(std::mem::offset_of!(ffi::lx_ordinary_times, quiet)),
    }
}
