//! All checks together.

use crate::checks::ALL;
use crate::evidence::{Evidence, Unseen};
use crate::host::Host;
use crate::remedy::Remedy;
use crate::verdict::{Check, Found, Severity, Verdict};
use laxity_model::CpuList;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The version of what `--json` prints (`schemas/doctor.schema.json`).
pub const DIAGNOSIS_VERSION: u32 = 1;

/// What the checks came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Version of this format.
    pub version: u32,
    /// The CPUs that were judged as real-time CPUs, as a list such as `2-3`.
    pub cpus: String,
    /// The CPUs that are online.
    pub online: String,
    /// For how long counters were watched, ms.
    pub watched_ms: u64,
    /// What is wrong, the gravest first.
    pub findings: Vec<Finding>,
    /// What is wrong and was said to be accepted: it does not count.
    pub accepted: Vec<Finding>,
    /// What was measured, whatever the checks say of it.
    pub measured: Vec<Evidence>,
    /// Checks that could not be made: neither passed nor findings.
    pub unseen: Vec<Unmade>,
    /// Checks that have no sense on this machine.
    pub not_applicable: Vec<Unmade>,
    /// Checks that found nothing wrong.
    pub passed: Vec<Passed>,
}

/// Something that is wrong.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Finding {
    /// The check that found it.
    pub check: String,
    /// How grave it is.
    pub severity: Severity,
    /// What was found.
    pub what: String,
    /// Where it is seen.
    pub evidence: Vec<Evidence>,
    /// Why it matters to real-time work.
    pub why: String,
    /// What it cost while laxity looked, or costs by its settings; null: this was not measured.
    pub measured: Option<String>,
    /// What ends it, and takes that back.
    pub remedy: Remedy,
}

/// A check that was not made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Unmade {
    /// The check.
    pub check: String,
    /// Why not.
    pub reason: String,
}

/// A check that found nothing wrong.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Passed {
    /// The check.
    pub check: String,
    /// Where it is seen.
    pub evidence: Vec<Evidence>,
}

impl Diagnosis {
    /// How many findings are that grave.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Makes these checks, or all where none is named. What those of `accepted` find does not count.
pub fn examine(host: &Host, wanted: &[&'static Check], accepted: &[&'static Check]) -> Diagnosis {
    let all: Vec<&Check> = match wanted {
        [] => ALL.iter().flat_map(|group| group.iter()).collect(),
        some => some.to_vec(),
    };
    let list = |cpus: &CpuList| cpus.to_string();
    let mut diagnosis = Diagnosis {
        version: DIAGNOSIS_VERSION,
        cpus: list(host.cpus()),
        online: list(host.online()),
        watched_ms: u64::try_from(host.length().as_millis()).unwrap_or(u64::MAX),
        findings: Vec::new(),
        accepted: Vec::new(),
        measured: host.measurements(),
        unseen: Vec::new(),
        not_applicable: Vec::new(),
        passed: Vec::new(),
    };
    for check in all {
        let name = check.name.to_owned();
        match (check.judge)(host) {
            Ok(Verdict::Fine(evidence)) => diagnosis.passed.push(Passed { check: name, evidence }),
            Ok(Verdict::NotHere(reason)) => diagnosis.not_applicable.push(Unmade { check: name, reason }),
            Err(Unseen(reason)) => diagnosis.unseen.push(Unmade { check: name, reason }),
            Ok(Verdict::Found(found)) => {
                let is_accepted = accepted.iter().any(|one| one.name == check.name);
                let place = if is_accepted { &mut diagnosis.accepted } else { &mut diagnosis.findings };
                place.push(finding(check, *found));
            }
        }
    }
    diagnosis.findings.sort_by_key(|finding| finding.severity);
    diagnosis
}

fn finding(check: &Check, found: Found) -> Finding {
    Finding {
        check: check.name.to_owned(),
        severity: check.severity,
        what: found.what,
        evidence: found.evidence,
        why: check.why.to_owned(),
        measured: found.measured,
        remedy: found.remedy,
    }
}

/// The JSON Schema of a diagnosis.
pub fn doctor_schema() -> Value {
    laxity_model::written_schema::<Diagnosis>("doctor", "laxity doctor", DIAGNOSIS_VERSION)
}
