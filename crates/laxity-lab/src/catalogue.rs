//! What there is by name, and what this machine can run: the answer of `list`.

use crate::schedulers::Choice;
use laxity_analysis::scheduler::Analysed;
use laxity_generate::GENERATORS;
use laxity_generate::lelli2012::{GRID, GRID_SUMMARY};
use laxity_model::{
    Diagnostic, FOREIGN_LISTED, LinuxScheduler, Names, Platform, Policy, PolicyScheduler, PriorityRule,
    Result, Scope, ShippedPlatform, ShownPath as _,
};
use laxity_place::Method;
use laxity_run::{Capabilities, Hierarchy, KernelLimits};
use laxity_trace::Machine;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::str::FromStr;

laxity_model::listed_enum! {
    /// A part of what there is, in the order of the overview.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Part {
        /// This machine, and what it can run.
        Machine,
        /// Linux's schedulers, laxity's policies, and what is analysed only.
        Schedulers,
        /// Placements onto CPUs and clusters.
        Placements,
        /// Schedulability tests.
        Tests,
        /// Generators of task sets.
        Generators,
        /// Platforms that come with laxity.
        Platforms,
        /// Overheads that come with laxity.
        Overheads,
        /// Metrics of runs and of studies.
        Metrics,
    }
}

impl Part {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Schedulers => "schedulers",
            Part::Tests => "tests",
            Part::Generators => "generators",
            Part::Placements => "placements",
            Part::Platforms => "platforms",
            Part::Overheads => "overheads",
            Part::Metrics => "metrics",
            Part::Machine => "machine",
        }
    }

    /// The keys of the whole answer that are its own.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Part::Schedulers => &["schedulers", "policies", "analysed"],
            Part::Machine => &["machine", "can", "not_measured"],
            Part::Tests => &["tests"],
            Part::Generators => &["generators"],
            Part::Placements => &["placements"],
            Part::Platforms => &["platforms"],
            Part::Overheads => &["overheads"],
            Part::Metrics => &["metrics", "metrics_of_studies_run", "metrics_of_runs"],
        }
    }
}

impl FromStr for Part {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        let found =
            Part::ALL.into_iter().find(|part| part.name() == wanted || part.name() == format!("{wanted}s"));
        found.ok_or_else(|| {
            let other = [("policies", "`schedulers`"), ("cpus", "`machine`"), ("here", "`machine`")];
            Names::of("list", &Part::ALL.map(Part::name)).or(&other).unknown(text)
        })
    }
}

/// Version of the format.
const VERSION: u32 = 1;

/// The JSON Schema of [`Answer`]; published as `schemas/list.schema.json`. The answer on a part has its keys only.
pub fn schema() -> serde_json::Value {
    let mut schema = laxity_model::written_schema::<Answer>("list", "laxity list", VERSION);
    schema["required"] = serde_json::json!(["version"]);
    schema
}

/// The answer of `laxity list`; with the name of a part, `version` and the keys of that part only.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// Linux's.
    pub schedulers: Vec<SchedulerAnswer>,
    /// laxity's own.
    pub policies: Vec<PolicyAnswer>,
    /// What only analyses know.
    pub analysed: Vec<Named>,
    /// Of schedulability.
    pub tests: Vec<TestAnswer>,
    /// Of task sets.
    pub generators: Vec<Named>,
    /// Of tasks onto CPUs and clusters.
    pub placements: Vec<Named>,
    /// Those that come with laxity.
    pub platforms: Vec<Named>,
    /// Overheads that `--overheads` knows by name.
    pub overheads: Vec<Named>,
    /// Of studies by simulation.
    pub metrics: Vec<Named>,
    /// Of studies by simulation with --real, in their place or beside them.
    pub metrics_of_studies_run: Vec<Named>,
    /// Of every run, measured or simulated.
    pub metrics_of_runs: Vec<Named>,
    /// This machine.
    pub machine: Machine,
    /// What this process may do here: `yes`, or `no` and why not.
    pub can: BTreeMap<&'static str, String>,
    /// Counters that cannot be read here, and why not.
    pub not_measured: BTreeMap<String, String>,
}

/// A scheduler of Linux.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SchedulerAnswer {
    /// As options take it.
    pub name: String,
    /// In words.
    pub description: String,
    /// Whether this kernel takes it now.
    pub runs_here: bool,
    /// Why it does not.
    pub why_not: Option<String>,
}

/// A policy of laxity's own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyAnswer {
    /// Of the policy, without its scope.
    pub name: &'static str,
    /// In words.
    pub description: &'static str,
    /// Names of the policy in all scopes that make sense: global, clustered, partitioned.
    pub scopes: Vec<String>,
    /// What may stand behind a name, and what it means.
    pub rules: Vec<Named>,
    /// Whether one CPU of every cell runs no task.
    pub dedicates_a_core: bool,
    /// Whether this kernel takes it now; it can be simulated anywhere.
    pub runs_here: bool,
    /// Why it does not.
    pub why_not: Option<String>,
}

/// A schedulability test.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestAnswer {
    /// As options take it.
    pub name: &'static str,
    /// For which priorities, what it proves, and what it means if it does not.
    pub description: String,
    /// Where it is published.
    pub source: String,
    /// Steps that it takes, in C, D, T, U, m and n.
    pub complexity: &'static str,
    /// Numbered from 1 in this order.
    pub assumptions: &'static [&'static str],
}

/// A name, and what it means.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Named {
    /// As options take it.
    pub name: String,
    /// In words.
    pub description: String,
}

/// All there is, and what a process of these rights can run on this platform, which is this machine's.
pub fn answer(platform: &Platform) -> Answer {
    let capabilities = Capabilities::probe();
    let whole_machine = laxity_run::online_cpus().is_ok_and(|online| online == platform.cpus());
    let answer = |name: String, description: String, verdict: std::result::Result<(), String>| {
        SchedulerAnswer { name, description, runs_here: verdict.is_ok(), why_not: verdict.err() }
    };
    let scheduler = |scheduler: LinuxScheduler| {
        let one_cell = scheduler.scope() == Scope::Global
            || scheduler.scope() == Scope::Clustered && platform.clusters().len() == 1
            || platform.core_count() == 1;
        let verdict = capabilities.scheduler(scheduler.clone(), whole_machine && one_cell);
        answer(scheduler.to_string(), scheduler.description(), verdict)
    };
    let foreign = || answer(FOREIGN_LISTED.0.into(), FOREIGN_LISTED.1.into(), capabilities.foreign());
    let verdict = |result: &std::result::Result<(), String>| match result {
        Ok(()) => "yes".to_owned(),
        Err(why) => format!("no: {why}"),
    };
    let cpusets = match &capabilities.cpusets {
        Ok(Hierarchy::V1(path)) => format!("yes: cgroup v1 at {}", path.shown()),
        Ok(Hierarchy::V2(path)) => format!("yes: cgroup v2 at {}", path.shown()),
        Err(why) => format!("no: {why}"),
    };
    let limit = limit_in_words(KernelLimits::read(&platform.cpus()));
    Answer {
        version: VERSION,
        schedulers: LinuxScheduler::all().map(scheduler).chain([foreign()]).collect(),
        policies: Policy::all().map(|one| policy(one, &capabilities)).collect(),
        analysed: Analysed::WITHOUT_SCHEDULER
            .iter()
            .map(|one| Named { name: one.to_string(), description: one.description() })
            .collect(),
        tests: laxity_analysis::catalogue::tests().iter().map(|test| test_answer(test.info())).collect(),
        generators: GENERATORS
            .iter()
            .map(|generator| (generator.name, generator.summary))
            .chain([(GRID, GRID_SUMMARY)])
            .map(|(name, description)| Named { name: name.into(), description: description.into() })
            .collect(),
        placements: std::iter::once(Choice::listed())
            .chain(Method::list())
            .map(|m| Named { name: m.name, description: m.description })
            .collect(),
        platforms: ShippedPlatform::all()
            .iter()
            .map(|p| Named { name: p.name.to_owned(), description: p.description.to_owned() })
            .collect(),
        overheads: laxity_study::PROFILES
            .iter()
            .map(|profile| Named { name: profile.name.into(), description: profile.description() })
            .collect(),
        metrics: of_studies(laxity_study::METRICS),
        metrics_of_studies_run: of_studies(laxity_study::METRICS_OF_RUNS),
        metrics_of_runs: laxity_trace::METRICS_OF_EVERY_RUN
            .iter()
            .map(|one| Named { name: one.name.into(), description: one.description.into() })
            .collect(),
        machine: Machine::this_machine(platform),
        can: BTreeMap::from([
            ("SCHED_FIFO", verdict(&capabilities.fifo)),
            ("SCHED_DEADLINE", verdict(&capabilities.deadline)),
            ("exclusive cpusets", cpusets),
            ("sched_ext", sched_ext(&capabilities)),
            ("recorded schedules", verdict(&laxity_run::can_record())),
            ("real-time bandwidth limit", limit),
        ]),
        not_measured: capabilities.not_measured,
    }
}

fn of_studies(metrics: &[laxity_study::Metric]) -> Vec<Named> {
    metrics.iter().map(|one| Named { name: one.name.into(), description: one.description.into() }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn limit_in_words(limits: KernelLimits) -> String {
    let per_cent = |q20: u64| q20 as f64 * 100.0 / f64::from(1 << 20);
    let servers = limits.servers_words();
    match (limits.is_limited(), servers.is_empty()) {
        (false, _) => "none (sched_rt_runtime_us is off)".into(),
        (true, true) => {
            format!("{:.1} % of every CPU (sched_rt_runtime_us)", per_cent(limits.admitted_q20()))
        }
        (true, false) => {
            format!(
                "{:.1} % of every CPU (sched_rt_runtime_us less {servers})",
                per_cent(limits.admitted_q20())
            )
        }
    }
}

fn test_answer(info: &laxity_analysis::TestInfo) -> TestAnswer {
    use laxity_analysis::{Exactness, Priorities};
    let priorities = match info.priorities {
        Priorities::EarliestDeadlineFirst => "EDF",
        Priorities::ZeroLaxity => "EDZL",
        Priorities::FairLateness => "global fair lateness",
        Priorities::Fixed => "fixed priorities",
        Priorities::Pfair => "Pfair",
    };
    let exactness = match info.exactness {
        Exactness::Exact => "exact",
        Exactness::Sufficient => "sufficient",
        Exactness::Necessary => "necessary",
    };
    TestAnswer {
        name: info.name,
        description: format!("{priorities}, {}, {exactness}", laxity_study::guarantee_name(info.guarantee)),
        source: info.source.to_string(),
        complexity: info.complexity,
        assumptions: info.assumptions,
    }
}

fn sched_ext(capabilities: &Capabilities) -> String {
    match &capabilities.sched_ext {
        Ok(()) => "yes".to_owned(),
        Err(refusal) => format!("no: {} ({})", refusal.reason, refusal.hint),
    }
}

fn policy(policy: Policy, capabilities: &Capabilities) -> PolicyAnswer {
    let why_not = capabilities.policy(policy).err();
    let edf = PriorityRule::EarliestDeadlineFirst;
    let scopes = [Scope::Global, Scope::Clustered, Scope::Partitioned];
    // A cell of one CPU has none to dedicate, and a policy with servers has one scope.
    let possible = |name: &String| name.parse::<PolicyScheduler>().is_ok();
    let name = |scope| PolicyScheduler { policy, scope, rule: edf }.to_string();
    let suffixes = ["", ":rm", ":dm", ":fp"];
    let rule = |suffix: &str| {
        let scheduler: PolicyScheduler = format!("{}{suffix}", policy.name()).parse().ok()?;
        Some(Named { name: suffix.to_owned(), description: scheduler.rule.description().to_owned() })
    };
    PolicyAnswer {
        name: policy.name(),
        description: policy.description(),
        scopes: scopes.map(name).into_iter().filter(possible).collect(),
        rules: suffixes.into_iter().filter_map(rule).collect(),
        dedicates_a_core: policy.dedicates_a_core(),
        runs_here: why_not.is_none(),
        why_not,
    }
}
