//! The report: the verifier's counts, the throughput of replaying, and the cost of queue operations.

use crate::bpf::{ProgramSize, Programs, available};
use crate::hold::{self, Effort, POLICY_OF_QUEUE, Row, SLACK_NS, Workload};
use crate::{Recording, Scenario};
use laxity_model::Policy;
use laxity_policy::Table;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// The policies that have programs of their own; gsn-edf-di is gsn-edf with another configuration.
fn policies() -> impl Iterator<Item = Policy> {
    Policy::all().filter(|&policy| policy != Policy::GsnEdfDi)
}

/// A policy's programs.
#[derive(Debug, Clone, Serialize)]
pub struct PolicySizes {
    /// The policy.
    pub policy: &'static str,
    /// Its programs.
    pub programs: Vec<ProgramSize>,
}

/// Replayed recordings.
#[derive(Debug, Clone, Serialize)]
pub struct Replay {
    /// The policy.
    pub policy: &'static str,
    /// Recordings, one per seed from 0.
    pub seeds: u64,
    /// Events with the same decision in both builds.
    pub events: usize,
    /// Events that the BPF build handled per second, copying included.
    pub events_per_s: f64,
}

/// Everything that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The version of this structure.
    pub version: u32,
    /// Why there is nothing of the BPF build, if there is not.
    pub bpf_skipped: Option<String>,
    /// The verifier's counts.
    pub sizes: Vec<PolicySizes>,
    /// The comparison of decisions.
    pub replays: Vec<Replay>,
    /// How much the benchmark measured.
    pub effort: Effort,
    /// How long before its deadline a job was popped, in ns.
    pub slack_ns: u64,
    /// The benchmark of the queues.
    pub hold: Vec<Row>,
}

fn replay(policy: Policy, programs: &Programs, seeds: u64) -> Result<Replay, String> {
    let mut events = 0;
    let mut seconds = 0.0;
    for seed in 0..seeds {
        let recording = Recording::make(Scenario::draw(policy, seed), Table::of(policy), 8000);
        let start = Instant::now();
        let decisions = programs.replay(&recording)?;
        seconds += start.elapsed().as_secs_f64();
        if decisions != recording.decisions {
            return Err(format!("{policy}, seed {seed}: the two builds decide differently"));
        }
        events += decisions.len();
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    let events_per_s = events as f64 / seconds;
    Ok(Replay { policy: policy.name(), seeds, events, events_per_s })
}

/// Measures everything; `watch` hears what comes next.
///
/// # Errors
///
/// A policy that the kernel refuses although it takes others, or two builds that differ.
pub fn make(sizes: &[u32], effort: Effort, watch: impl Fn(&str)) -> Result<Report, String> {
    let mut report = Report {
        version: 1,
        bpf_skipped: available().err(),
        sizes: Vec::new(),
        replays: Vec::new(),
        effort,
        slack_ns: SLACK_NS,
        hold: Vec::new(),
    };
    let mut of_queue = Vec::new();
    if report.bpf_skipped.is_none() {
        for policy in policies() {
            watch(&format!("{policy}: verifier, replay"));
            let programs = Programs::load(policy).map_err(|why| format!("{policy} does not load: {why}"))?;
            report.sizes.push(PolicySizes { policy: policy.name(), programs: programs.sizes() });
            report.replays.push(replay(policy, &programs, 20)?);
        }
        for policy in POLICY_OF_QUEUE {
            of_queue.push(Programs::load(policy).map_err(|why| format!("{policy} does not load: {why}"))?);
        }
    }
    let programs = report.bpf_skipped.is_none().then_some(&of_queue[..]);
    for workload in Workload::ALL {
        for &n in sizes {
            watch(&format!("queues: {n} jobs, {}", workload.description()));
            report.hold.push(hold::measure(workload, n, programs, effort)?);
        }
    }
    Ok(report)
}

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Some(reason) = &self.bpf_skipped {
            line(&mut text, format_args!("SKIPPED, the BPF build: {reason}\n"));
        } else {
            self.verifier_text(&mut text);
            self.replay_text(&mut text);
        }
        for workload in Workload::ALL {
            self.hold_text(&mut text, workload);
        }
        text
    }

    fn verifier_text(&self, text: &mut String) {
        let names: Vec<&str> = self.sizes.iter().map(|s| s.policy).collect();
        line(
            text,
            format_args!("Instructions that the verifier goes through (limit 1000000) / of the program\n"),
        );
        line(text, format_args!("{:<14}{}", "program", columns(&names, 16)));
        let mut programs: Vec<&str> = Vec::new();
        for program in self.sizes.iter().flat_map(|s| &s.programs) {
            if !programs.contains(&program.name.as_str()) {
                programs.push(&program.name);
            }
        }
        for name in programs {
            let cells: Vec<String> =
                self.sizes
                    .iter()
                    .map(|policy| {
                        policy.programs.iter().find(|p| p.name == name).map_or("-".into(), |p| {
                            format!("{} / {}", p.verified_instructions, p.instructions)
                        })
                    })
                    .collect();
            line(text, format_args!("{name:<14}{}", columns(&cells, 16)));
        }
        line(text, format_args!(""));
    }

    fn replay_text(&self, text: &mut String) {
        line(text, format_args!("The same events natively and as BPF: all decisions equal"));
        for replay in &self.replays {
            let Replay { policy, seeds, events, events_per_s } = replay;
            let thousands = events_per_s / 1000.0;
            line(text, format_args!("{policy:<14}{seeds} seeds, {events} events, {thousands:.0} k events/s"));
        }
        line(text, format_args!(""));
    }

    fn hold_text(&self, text: &mut String, workload: Workload) {
        let rows: Vec<&Row> = self.hold.iter().filter(|r| r.workload == workload).collect();
        let Some(first) = rows.first() else { return };
        let names: Vec<&str> = first.costs.iter().map(|c| c.policy).collect();
        for bpf in [false, true] {
            if bpf && first.costs[0].bpf.is_none() {
                continue;
            }
            line(
                text,
                format_args!(
                    "Pop and insert, {}, {}: median ns (quartiles) and ratio to {}",
                    if bpf { "BPF" } else { "native" },
                    workload.description(),
                    names[0],
                ),
            );
            line(text, format_args!("{:>6} {}{:>9}", "jobs", columns(&names, 24), "step 0"));
            for row in &rows {
                let cells: Vec<String> = row.costs.iter().map(|cost| cell(cost, bpf)).collect();
                let share = 100.0 * row.late_share;
                line(text, format_args!("{:>6} {}{share:>8.2}%", row.jobs, columns(&cells, 24)));
            }
            line(text, format_args!(""));
        }
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("into a string");
}

fn columns<T: AsRef<str>>(cells: &[T], width: usize) -> String {
    cells.iter().map(|cell| format!("{:>width$}", cell.as_ref())).collect()
}

fn cell(cost: &hold::Cost, bpf: bool) -> String {
    let (spread, ratio) = match (bpf, cost.bpf, cost.bpf_ratio) {
        (true, Some(spread), Some(ratio)) => (spread, ratio),
        _ => (cost.native, cost.native_ratio),
    };
    let hold::Spread { quartile_low_ns, median_ns, quartile_high_ns } = spread;
    format!("{median_ns:.0} ({quartile_low_ns:.0}-{quartile_high_ns:.0}) {ratio:.2}")
}
