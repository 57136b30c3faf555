//! What the oracles say: clean, too much excused to say, or which one saw what, when, where.

use crate::Cause;
use crate::names::{JobName, Names};
use laxity_model::{Duration, plural};
use laxity_trace::{ExcuseExtent, ExcuseLimits, LongestExcuse, VerdictState, percent_of_ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the verdict's JSON (`schemas/verdict.schema.json`).
pub const VERDICT_VERSION: u32 = 1;

/// How many violations a verdict keeps; all are counted.
pub const VIOLATIONS_KEPT: usize = 100;

laxity_model::listed_enum! {
    /// The oracles. What each assumes and checks is written in its file in `verification/`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Oracle {
        /// Events are in order and each is possible after those before it.
        WellFormed,
        /// No job on two CPUs, no CPU with two jobs.
        OneCpu,
        /// Jobs run only on CPUs of their cluster and affinity that are not dedicated to something else.
        Affinity,
        /// The min(m, r) ready jobs of highest priority run, in every cluster.
        GlobalInvariant,
        /// No CPU idles while a job that may run there waits.
        WorkConservation,
        /// A task's jobs run one after the other.
        Sequence,
        /// Budgets are enforced, exactly when they are used up.
        Budgets,
        /// A job ends when it has done the work it was asked to do.
        Demand,
        /// Jobs are released when their task's parameters say.
        Periods,
        /// Absolute deadlines are right, and misses are recorded where they happen.
        Deadlines,
        /// Jobs of one release instant are released together.
        Batching,
    }
}

impl Oracle {
    /// In words, as in texts.
    pub fn name(self) -> &'static str {
        match self {
            Oracle::WellFormed => "well-formed",
            Oracle::OneCpu => "one CPU per job",
            Oracle::Affinity => "affinity",
            Oracle::GlobalInvariant => "global invariant",
            Oracle::WorkConservation => "work conservation",
            Oracle::Sequence => "sequential jobs",
            Oracle::Budgets => "budgets",
            Oracle::Demand => "demand",
            Oracle::Periods => "periods",
            Oracle::Deadlines => "deadlines",
            Oracle::Batching => "batching",
        }
    }
}

/// One thing that should not have happened, during `[from, to)`; an instant if both are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The oracle that saw it.
    pub oracle: Oracle,
    /// When it began, in ns since the synchronous release.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// On which CPU, where that has meaning.
    pub cpu: Option<u32>,
    /// The job that ran, or that the event is about.
    pub ran: Option<JobName>,
    /// The job that should have run.
    pub should_have_run: Option<JobName>,
    /// Where the run's own activities excuse: for how long nothing did, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained_ns: Option<u64>,
    /// All of it in one line.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Deviations that the definition's [`crate::Transitions`] tolerate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tolerated {
    /// How many.
    pub count: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// All together, in ns.
    pub total_ns: u64,
    /// How many of them waited after an abandoned push, whatever they lasted.
    pub abandoned_pushes: u64,
}

/// Budgets of a real kernel that were enforced late, each while the run's own activities show that it was about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Overruns {
    /// How many.
    pub count: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// All together, in ns.
    pub total_ns: u64,
}

/// What one cause explains of the deviations that were excused by the run's own activities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excuse {
    /// The cause.
    pub cause: Cause,
    /// In how many deviations it took part.
    pub count: u64,
    /// The longest part of one that it explains, in ns.
    pub longest_ns: u64,
    /// All together, in ns.
    pub total_ns: u64,
}

/// What one oracle says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The oracle.
    pub oracle: Oracle,
    /// How often it had something to check. Zero: its silence means nothing.
    pub checked: u64,
    /// How often it was violated.
    pub violations: u64,
    /// The longest violation, in ns: what of it nothing explains. 0 where all were instants.
    #[serde(default)]
    pub longest_ns: u64,
    /// All together, in ns.
    #[serde(default)]
    pub total_ns: u64,
    /// Why it checked less than it could, if so.
    pub limited: Option<String>,
}

/// The verdict over one trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Version of this format.
    pub version: u32,
    /// Clean, too much excused, or violated.
    pub state: VerdictState,
    /// Whether it is clean: no oracle was violated, and no more is excused than the limits allow.
    pub clean: bool,
    /// Events seen.
    pub events: u64,
    /// Jobs completed.
    pub jobs_completed: u64,
    /// Where the trace ends, in ns since the synchronous release.
    pub end_ns: u64,
    /// Each oracle.
    pub findings: Vec<Finding>,
    /// Deviations from the global invariant and work conservation that were tolerated.
    pub tolerated: Tolerated,
    /// By what they were excused, where the run's own activities are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excused: Vec<Excuse>,
    /// Where the run's own activities excuse: how much they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ExcuseExtent>,
    /// And how much they may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<ExcuseLimits>,
    /// Budgets that were enforced late, where the run's own activities are known and excuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overruns: Option<Overruns>,
    /// The first violations, in the order in which they were noticed: at most [`VIOLATIONS_KEPT`].
    pub violations: Vec<Violation>,
}

impl Verdict {
    /// Under other limits, where the run's own activities excuse.
    #[must_use]
    pub fn judged_by(mut self, limits: &ExcuseLimits) -> Verdict {
        if let Some(extent) = &self.extent {
            self.state = limits.state(self.violations_count(), extent);
            self.clean = self.state == VerdictState::Clean;
            self.limits = Some(*limits);
        }
        self
    }

    /// How often any oracle was violated.
    pub fn violations_count(&self) -> u64 {
        self.findings.iter().map(|finding| finding.violations).sum()
    }

    /// How often an oracle was violated.
    pub fn count(&self, oracle: Oracle) -> u64 {
        self.findings.iter().find(|finding| finding.oracle == oracle).map_or(0, |finding| finding.violations)
    }

    /// The oracles that were violated.
    pub fn violated(&self) -> impl Iterator<Item = Oracle> + '_ {
        self.findings.iter().filter(|finding| finding.violations > 0).map(|finding| finding.oracle)
    }
}

impl fmt::Display for Verdict {
    /// The violations kept, one per line, then one line with the numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.violations {
            writeln!(f, "{violation}")?;
        }
        let total = self.violations_count();
        let more = total.saturating_sub(self.violations.len() as u64);
        if more > 0 {
            writeln!(f, "... and {} more", laxity_model::with_commas(more))?;
        }
        let seen = format!("{}, {}", plural(self.events, "event"), plural(self.jobs_completed, "job"));
        match self.state {
            VerdictState::Clean => write!(f, "clean: {seen}")?,
            VerdictState::Excused => write!(f, "excused, no verdict: {seen}")?,
            VerdictState::Violated => write!(f, "{}: {seen}", plural(total, "violation"))?,
        }
        let longest = Duration::from_ns(self.tolerated.longest_ns);
        if !self.excused.is_empty() {
            let deviations = plural(self.tolerated.count, "deviation");
            write!(f, ", {deviations} excused by what the run measured (longest {longest})")?;
        } else if self.tolerated.count > 0 {
            write!(f, ", {} tolerated (longest {longest})", plural(self.tolerated.count, "transition"))?;
        }
        if let Some(overruns) = self.overruns {
            let longest = Duration::from_ns(overruns.longest_ns);
            write!(
                f,
                ", {} ended late, while that was under way (longest {longest})",
                plural(overruns.count, "budget")
            )?;
        }
        let Some(extent) = &self.extent else { return Ok(()) };
        let (share, jobs) = (percent_of_ppm(extent.share_ppm), percent_of_ppm(extent.jobs_share_ppm));
        write!(f, "; {share} of the CPU time and {jobs} of the jobs needed excuses")?;
        match self.limits.as_ref().and_then(|limits| limits.exceeded(extent)) {
            Some(exceeded) => write!(f, ": {exceeded}"),
            None => Ok(()),
        }
    }
}

/// Collects while a trace is verified.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub checked: [u64; Oracle::ALL.len()],
    violated: [u64; Oracle::ALL.len()],
    longest: [u64; Oracle::ALL.len()],
    total: [u64; Oracle::ALL.len()],
    pub tolerated: Tolerated,
    pub overruns: Option<Overruns>,
    excused: [Option<Excuse>; Cause::ALL.len()],
    /// How long deviations were excused, without what servers were due.
    excused_ns: u64,
    /// By task: its last job that an excuse was needed for; and how many such jobs there are.
    excused_job: Vec<Option<u32>>,
    excused_jobs: u64,
    pub violations: Vec<Violation>,
    names: Names,
}

/// A violation before its text is made.
pub(crate) struct Sighting {
    pub oracle: Oracle,
    pub from_ns: u64,
    pub to_ns: u64,
    pub cpu: Option<u32>,
    pub ran: Option<JobName>,
    pub should_have_run: Option<JobName>,
    pub unexplained_ns: Option<u64>,
}

impl Sighting {
    /// At one instant.
    pub fn at(oracle: Oracle, now: u64) -> Self {
        Sighting {
            oracle,
            from_ns: now,
            to_ns: now,
            cpu: None,
            ran: None,
            should_have_run: None,
            unexplained_ns: None,
        }
    }

    pub fn on(self, cpu: Option<u32>) -> Self {
        Sighting { cpu, ..self }
    }

    pub fn of(self, job: JobName) -> Self {
        Sighting { ran: Some(job), ..self }
    }
}

impl Report {
    /// Of tasks that are called so.
    pub fn new(names: Names) -> Self {
        Report { names, ..Report::default() }
    }

    /// Counts a check.
    #[inline]
    pub fn checks(&mut self, oracle: Oracle) {
        self.checked[oracle as usize] += 1;
    }

    /// Counts several.
    #[inline]
    pub fn checks_often(&mut self, oracle: Oracle, times: u64) {
        self.checked[oracle as usize] += times;
    }

    /// Counts a violation, and keeps it with its text if there is room. `what` says what happened, without time and place,
    /// of tasks called by their names.
    pub fn violation(&mut self, sighting: Sighting, what: impl FnOnce(&Names) -> String) {
        let of = sighting.oracle as usize;
        let length = sighting.unexplained_ns.unwrap_or(sighting.to_ns.saturating_sub(sighting.from_ns));
        self.violated[of] += 1;
        self.longest[of] = self.longest[of].max(length);
        self.total[of] = self.total[of].saturating_add(length);
        if self.violations.len() < VIOLATIONS_KEPT {
            let Sighting { oracle, from_ns, to_ns, cpu, ran, should_have_run, unexplained_ns } = sighting;
            let mut text = format!("t={}", Duration::from_ns(from_ns));
            if to_ns > from_ns {
                text += &format!("..{}", Duration::from_ns(to_ns));
            }
            if let Some(cpu) = cpu {
                text += &format!(" cpu{cpu}");
            }
            text += &format!(" {} [{}]", what(&self.names), oracle.name());
            self.violations.push(Violation {
                oracle,
                from_ns,
                to_ns,
                cpu,
                ran,
                should_have_run,
                unexplained_ns,
                text,
            });
        }
    }

    /// The wait of a job was excused: by cause, for how long in ns.
    pub fn excuse(&mut self, job: (u32, u32), explained: &[u64; Cause::ALL.len()]) {
        let ns: u64 = explained.iter().sum::<u64>() - explained[Cause::Server as usize];
        self.excused_ns = self.excused_ns.saturating_add(ns);
        if ns > 0 {
            self.needs_excuse(job);
        }
        for (cause, &ns) in Cause::ALL.into_iter().zip(explained).filter(|(_, ns)| **ns > 0) {
            let none = Excuse { cause, count: 0, longest_ns: 0, total_ns: 0 };
            let excuse = self.excused[cause as usize].get_or_insert(none);
            excuse.count += 1;
            excuse.longest_ns = excuse.longest_ns.max(ns);
            excuse.total_ns = excuse.total_ns.saturating_add(ns);
        }
    }

    /// A job, not before those of its task that did, needs an excuse.
    pub fn needs_excuse(&mut self, (task, job): (u32, u32)) {
        let task = task as usize;
        if self.excused_job.len() <= task {
            self.excused_job.resize(task + 1, None);
        }
        if self.excused_job[task].is_none_or(|last| last < job) {
            self.excused_job[task] = Some(job);
            self.excused_jobs += 1;
        }
    }

    /// How much was excused, of so much CPU time and so many jobs.
    fn extent(&self, observed_ns: u64, jobs: u64) -> ExcuseExtent {
        let late = self.excused.iter().flatten().filter(|excuse| excuse.cause.is_lateness());
        let late = late.map(|excuse| (excuse.cause.code_name(), excuse.longest_ns));
        let overruns = self.overruns.unwrap_or_default();
        let longest = late.chain([("budget-overrun", overruns.longest_ns)]).max_by_key(|(_, ns)| *ns);
        let longest = longest.filter(|(_, ns)| *ns > 0);
        ExcuseExtent::new(
            (self.excused_ns.saturating_add(overruns.total_ns), observed_ns),
            (self.excused_jobs, jobs),
            longest.map(|(kind, ns)| LongestExcuse { kind: kind.to_owned(), ns }),
        )
    }

    /// All together, of what was seen. `measured` says of how much CPU time and how many jobs, where the run's own activities
    /// excuse.
    pub fn verdict(
        self,
        (events, jobs_completed, end_ns): (u64, u64, u64),
        findings: Vec<Finding>,
        measured: Option<(u64, u64)>,
    ) -> Verdict {
        let clean = findings.iter().all(|finding| finding.violations == 0);
        let verdict = Verdict {
            version: VERDICT_VERSION,
            state: if clean { VerdictState::Clean } else { VerdictState::Violated },
            clean,
            events,
            jobs_completed,
            end_ns,
            findings,
            tolerated: self.tolerated,
            excused: self.excuses(),
            extent: measured.map(|(observed_ns, jobs)| self.extent(observed_ns, jobs)),
            limits: None,
            overruns: self.overruns,
            violations: self.violations,
        };
        verdict.judged_by(&ExcuseLimits::DEFAULT)
    }

    /// A budget was enforced so late, in ns, and that is excused.
    pub fn overrun(&mut self, ns: u64) {
        if ns > 0 {
            let of = self.overruns.get_or_insert_default();
            of.count += 1;
            of.longest_ns = of.longest_ns.max(ns);
            of.total_ns = of.total_ns.saturating_add(ns);
        }
    }

    /// What excused deviations, cause by cause.
    fn excuses(&self) -> Vec<Excuse> {
        self.excused.iter().flatten().copied().collect()
    }

    pub fn findings(&self, limited: impl Fn(Oracle) -> Option<String>) -> Vec<Finding> {
        let finding = |oracle: Oracle| Finding {
            oracle,
            checked: self.checked[oracle as usize],
            violations: self.violated[oracle as usize],
            longest_ns: self.longest[oracle as usize],
            total_ns: self.total[oracle as usize],
            limited: limited(oracle),
        };
        Oracle::ALL.into_iter().map(finding).collect()
    }
}
