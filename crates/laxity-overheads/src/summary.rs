//! What a recording came to: the data of `--json`.

use crate::recorder::{Missing, Recording};
use crate::sample::Class;
use crate::statistics::{Groups, Statistics};
use laxity_kernel::rings::SampleKind;
use laxity_trace::Tuning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the layout of [`Summary`].
pub const OVERHEADS_SUMMARY_VERSION: u32 = 1;

/// A recording of overheads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this format.
    pub version: u32,
    /// The running kernel's release.
    pub kernel: String,
    /// Possible CPUs.
    pub cpus: u32,
    /// How long was recorded, in ns.
    pub duration_ns: u64,
    /// Samples of each kind and class.
    pub overheads: Vec<Overhead>,
    /// Probes that this kernel does not offer.
    pub missing: Vec<Missing>,
    /// What recording itself cost.
    pub tracing: TracingCost,
    /// Records that found no place because the reader was behind, by CPU.
    pub lost: Vec<u64>,
    /// Interrupts during the recording, by CPU.
    pub interrupts: Vec<u32>,
    /// How the machine is set up for real-time work, as it was before the recording; absent where a manifest has it, and in
    /// recordings of before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
}

/// One kind of overhead of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// What was measured.
    pub kind: String,
    /// Of whose scheduling: `deadline`, `fixed-priority`, `ext` or `other`.
    pub class: String,
    /// In ns.
    #[serde(flatten)]
    pub statistics: Statistics,
}

/// What tracing costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracingCost {
    /// What a sample holds of tracing: the length of samples around a function of the kernel that does nothing. They
    /// are not subtracted. Nothing if that function cannot be traced.
    pub empty_sample_ns: Option<Statistics>,
    /// How long all probes ran, per sample, in ns; nothing if it was not asked for. What the kernel needs to get into a
    /// probe and out of it comes on top.
    pub probes_per_sample_ns: Option<f64>,
    /// How often a probe ran in all; nothing if it was not asked for.
    pub probe_runs: Option<u64>,
    /// How often a probe did not run because it was running already.
    pub probes_skipped: u64,
}

impl Summary {
    /// Of what was recorded in `duration_ns`.
    pub(crate) fn of(
        groups: &Groups,
        recording: Recording,
        missing: Vec<Missing>,
        empty: &[u64],
        duration_ns: u64,
    ) -> Summary {
        let overhead = |(kind, class, group): (SampleKind, Class, &crate::Group)| Overhead {
            kind: kind.name().to_owned(),
            class: class.name().to_owned(),
            statistics: group.statistics(),
        };
        let overheads: Vec<Overhead> = groups.iter().map(overhead).collect();
        Summary {
            version: OVERHEADS_SUMMARY_VERSION,
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
            cpus: u32::try_from(recording.lost.len()).expect("few CPUs"),
            duration_ns,
            missing,
            tracing: TracingCost::of(&overheads, &recording, empty),
            overheads,
            lost: recording.lost,
            interrupts: recording.interrupts,
            tuning: None,
        }
    }

    /// Why a quantity could not be measured in full; nothing if it was.
    pub fn absent(&self, kind: SampleKind) -> Option<String> {
        let kind = match kind {
            // The sum of both is lost with either.
            SampleKind::ScheduleBoth => SampleKind::Schedule2.name(),
            other => other.name(),
        };
        let missing =
            self.missing.iter().find(|missing| missing.quantities.iter().any(|name| name == kind))?;
        Some(format!("{}: {}", missing.probe, missing.reason))
    }
}

impl TracingCost {
    #[expect(clippy::cast_precision_loss, reason = "a number to be shown")]
    fn of(overheads: &[Overhead], recording: &Recording, empty: &[u64]) -> TracingCost {
        let made = |overhead: &&Overhead| overhead.kind != SampleKind::ScheduleBoth.name();
        let samples: u64 = overheads
            .iter()
            .filter(made)
            .map(|overhead| overhead.statistics.number + overhead.statistics.disturbed)
            .sum();
        let mut group = crate::Group::new(0);
        empty.iter().for_each(|&length| group.add(length, false));
        TracingCost {
            empty_sample_ns: (!empty.is_empty()).then(|| group.statistics()),
            probes_per_sample_ns: recording
                .run_times
                .filter(|_| samples > 0)
                .map(|(run_ns, _)| run_ns as f64 / samples as f64),
            probe_runs: recording.run_times.map(|(_, runs)| runs),
            probes_skipped: recording.skipped,
        }
    }
}

/// The JSON Schema of [`Summary`]; published as `schemas/overheads.schema.json`.
pub fn overheads_schema() -> Value {
    laxity_model::written_schema::<Summary>("overheads", "laxity overheads", OVERHEADS_SUMMARY_VERSION)
}
