//! Costs of cold caches from files.

use super::cache_costs::{CacheCosts, LineLatencies, Reload};
use super::given::WrittenDelays;
use laxity_generate::Decimal;
use laxity_model::overheads::scaled_up;
use laxity_model::{ByteSize, Diagnostic, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// A line where neither the platform nor the file says how long one is.
const LINE_BYTES: u32 = 64;

/// Cache-related preemption and migration delay: measured (`cpmd`), or from the latencies of a line (the others).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "cache")]
pub(super) struct CacheFile {
    /// Delays as functions of the working set: a CSV file in µs and KiB, with the header WSS, MEM, L1, L2, L3; or points.
    #[serde(default)]
    cpmd: Option<WrittenDelays>,
    /// The share of a CPU's own caches that is evicted while a job is preempted: "1" if it is not given.
    #[serde(default)]
    evicted: Option<String>,
    /// `true`: follow what each cache of the platform holds, by what each task walked since, instead of charging by
    /// the distance to the last CPU. For latencies of a line only.
    #[serde(default)]
    tracked: Option<bool>,
    /// Size of a line, where the platform does not say; 64B if it is not given.
    #[serde(default)]
    line: Option<String>,
    /// To load one line from the L1 of an SMT sibling.
    #[serde(default)]
    l1: Option<String>,
    /// To load one line from the L2: "4.5ns".
    #[serde(default)]
    l2: Option<String>,
    /// From the L3.
    #[serde(default)]
    l3: Option<String>,
    /// From the L4.
    #[serde(default)]
    l4: Option<String>,
    /// From memory.
    #[serde(default)]
    memory: Option<String>,
    /// From the memory or the caches of another node.
    #[serde(default)]
    remote_memory: Option<String>,
    /// For `tracked` caches: how long a job with warm caches works for each line that it walks, with loading it: "10ns". Then jobs
    /// of a group that run at the same time on different CPUs take lines from each other, which they have to load again. Not
    /// modelled if it is not given.
    #[serde(default)]
    access: Option<String>,
    /// Instructions per cycle of a job with warm caches: "0.7". For the IPC of studies by simulation, which is relative to it if it is
    /// not given; costs nothing.
    #[serde(default)]
    ipc: Option<String>,
}

impl CacheFile {
    pub(super) fn read(self, folder: &Path) -> Result<CacheCosts> {
        let evicted = self.evicted.as_deref().map(evicted_ppm).transpose()?;
        let latencies = [
            &self.l1,
            &self.l2,
            &self.l3,
            &self.l4,
            &self.memory,
            &self.remote_memory,
            &self.line,
            &self.access,
        ];
        let reload = match self.cpmd {
            Some(_) if latencies.iter().any(|latency| latency.is_some()) => {
                return Err(Diagnostic::usage("has both measured delays (`cpmd`) and latencies of a line")
                    .hint("give one of them"));
            }
            Some(delays) => Reload::Measured(delays.read(folder).map_err(|e| e.context("cpmd"))?),
            None => Reload::Lines(self.latencies()?),
        };
        let ipc = self.ipc.as_deref().map(ipc).transpose()?;
        let costs = CacheCosts::new(reload).evicting(evicted.unwrap_or(1_000_000))?;
        let costs = CacheCosts { ipc, ..costs };
        match (self.tracked, &self.access) {
            (Some(true), _) => costs.tracking(),
            (_, None) => Ok(costs),
            (_, Some(_)) => Err(Diagnostic::usage("`access` is given, but caches are not `tracked`")
                .hint("write `tracked = true`, or leave `access` out")),
        }
    }

    fn latencies(&self) -> Result<LineLatencies> {
        let time = |name: &str, text: &Option<String>| {
            let read = |text: &String| picoseconds(text).map_err(|e| e.context(name));
            text.as_ref().map(read).transpose()
        };
        let mut levels_ps = std::collections::BTreeMap::new();
        for (level, name, text) in
            [(1, "l1", &self.l1), (2, "l2", &self.l2), (3, "l3", &self.l3), (4, "l4", &self.l4)]
        {
            if let Some(ps) = time(name, text)? {
                levels_ps.insert(level, ps);
            }
        }
        let memory_ps = time("memory", &self.memory)?.ok_or_else(|| {
            Diagnostic::usage("has neither `cpmd` nor `memory`")
                .hint("give the time to load one line from memory (`memory = \"80ns\"`), or measured delays")
        })?;
        let line_bytes = match &self.line {
            Some(text) => {
                let bytes: ByteSize = text.parse().map_err(|e: Diagnostic| e.context("line"))?;
                u32::try_from(bytes.0).map_err(|_| {
                    Diagnostic::usage(format!("line: {text} is no size of a cache line")).hint("64B is usual")
                })?
            }
            None => LINE_BYTES,
        };
        let latencies = LineLatencies::new(
            line_bytes,
            levels_ps,
            memory_ps,
            time("remote_memory", &self.remote_memory)?,
        )?;
        match time("access", &self.access)? {
            Some(access_ps) => latencies.accessing(access_ps).map_err(|e| e.context("access")),
            None => Ok(latencies),
        }
    }
}

fn ipc(text: &str) -> Result<Decimal> {
    let number: Decimal = text.parse().map_err(|e: Diagnostic| e.context("ipc"))?;
    if number == Decimal::ZERO {
        return Err(Diagnostic::usage("ipc: 0 instructions in a cycle").hint("give a number such as \"0.7\""));
    }
    Ok(number)
}

/// A time with a unit, in ps, rounded up.
fn picoseconds(text: &str) -> Result<u64> {
    let refused = |why: &str| {
        Diagnostic::usage(format!("latency `{text}` {why}"))
            .hint("write the time of one line, such as \"4.5ns\"")
    };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let scale = match unit.trim() {
        "ps" => 1,
        "ns" => 1_000,
        "us" | "µs" | "μs" => 1_000_000,
        "" => return Err(refused("has no unit")),
        _ => return Err(refused("has an unknown unit; known are ps, ns and us")),
    };
    scaled_up(number, scale).map_err(refused)
}

/// A share in parts per million, rounded up.
fn evicted_ppm(text: &str) -> Result<u32> {
    let share = scaled_up(text.trim(), 1_000_000).ok().and_then(|ppm| u32::try_from(ppm).ok());
    share.filter(|&ppm| ppm <= 1_000_000).ok_or_else(|| {
        Diagnostic::usage(format!("evicted: `{text}` is not a share from 0 to 1"))
            .hint("write \"1\" or \"0.5\"")
    })
}
