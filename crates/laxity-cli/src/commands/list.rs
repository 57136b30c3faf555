//! `laxity list`.

use crate::arguments::ListArguments;
use crate::output;
use laxity_analysis::scheduler::Analysed;
use laxity_model::{
    Platform, Policy, PolicyScheduler, PriorityRule, Result, Scheduler, Scope, ShippedPlatform,
};
use laxity_place::Method;
use laxity_run::{Capabilities, Hierarchy, KernelLimits};
use laxity_trace::Machine;
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;

#[derive(Serialize)]
struct Answer {
    version: u32,
    schedulers: Vec<SchedulerAnswer>,
    policies: Vec<PolicyAnswer>,
    /// What only analyses know.
    analysed: Vec<Named>,
    tests: Vec<TestAnswer>,
    generators: Vec<Named>,
    placements: Vec<Named>,
    /// Those that come with laxity.
    platforms: Vec<Named>,
    /// Overheads that `--overheads` knows by name.
    overheads: Vec<Named>,
    machine: Machine,
    can: BTreeMap<&'static str, String>,
    not_measured: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct SchedulerAnswer {
    name: &'static str,
    description: String,
    runs_here: bool,
    why_not: Option<String>,
}

/// A policy of laxity's own.
#[derive(Serialize)]
struct PolicyAnswer {
    name: &'static str,
    description: &'static str,
    /// Names of the policy in all scopes that make sense: global, clustered, partitioned.
    scopes: Vec<String>,
    /// What may stand behind a name, and what it means.
    rules: Vec<Named>,
    /// Whether one core of every cell runs no task.
    dedicates_a_core: bool,
    /// Whether this kernel takes it now; it can be simulated anywhere.
    runs_here: bool,
    why_not: Option<String>,
}

/// A schedulability test.
#[derive(Serialize)]
struct TestAnswer {
    name: &'static str,
    /// For which priorities, what it proves, and what it means if it does not.
    description: String,
    source: &'static str,
    complexity: &'static str,
    /// Numbered from 1 in this order.
    assumptions: &'static [&'static str],
}

#[derive(Serialize)]
struct Named {
    name: String,
    description: String,
}

pub fn list(arguments: &ListArguments) -> Result<ExitCode> {
    let platform = Platform::this_machine()?;
    if arguments.platform {
        let text = if arguments.json { platform.to_json() } else { platform.to_toml() };
        output::print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = answer(&platform);
    if arguments.json {
        output::print_json(&answer)?
    } else {
        output::print(&text(&answer))?
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(platform: &Platform) -> Answer {
    let capabilities = Capabilities::probe();
    let whole_machine = laxity_run::online_cpus().is_ok_and(|online| online == platform.cpus());
    let scheduler = |scheduler: Scheduler| {
        let one_cell = scheduler.scope == Scope::Global
            || scheduler.scope == Scope::Clustered && platform.clusters().len() == 1
            || platform.core_count() == 1;
        let verdict = capabilities.scheduler(scheduler, whole_machine && one_cell);
        SchedulerAnswer {
            name: scheduler.name(),
            description: scheduler.description(),
            runs_here: verdict.is_ok(),
            why_not: verdict.err(),
        }
    };
    let verdict = |result: &std::result::Result<(), String>| match result {
        Ok(()) => "yes".to_owned(),
        Err(why) => format!("no: {why}"),
    };
    let cpusets = match &capabilities.cpusets {
        Ok(Hierarchy::V1(path)) => format!("yes: cgroup v1 at {}", path.display()),
        Ok(Hierarchy::V2(path)) => format!("yes: cgroup v2 at {}", path.display()),
        Err(why) => format!("no: {why}"),
    };
    let limit = match KernelLimits::read().share() {
        Some((runtime, period)) => {
            format!("{:.1} % of every core (sched_rt_runtime_us)", runtime as f64 * 100.0 / period as f64)
        }
        None => "none (sched_rt_runtime_us is off)".into(),
    };
    Answer {
        version: 1,
        schedulers: Scheduler::ALL.into_iter().map(scheduler).collect(),
        policies: Policy::all().map(|one| policy(one, &capabilities)).collect(),
        analysed: Analysed::WITHOUT_SCHEDULER
            .into_iter()
            .map(|one| Named { name: one.to_string(), description: one.description() })
            .collect(),
        tests: laxity_analysis::catalogue::tests().iter().map(|test| test_answer(test.info())).collect(),
        generators: super::generate::generators()
            .into_iter()
            .map(|(name, description)| Named { name, description })
            .collect(),
        placements: Method::list()
            .into_iter()
            .map(|m| Named { name: m.name, description: m.description })
            .collect(),
        platforms: ShippedPlatform::all()
            .iter()
            .map(|p| Named { name: p.name.to_owned(), description: p.description.to_owned() })
            .collect(),
        overheads: laxity_study::PROFILES
            .iter()
            .map(|profile| Named { name: profile.name.into(), description: profile.description().into() })
            .collect(),
        machine: Machine::this_machine(platform),
        can: BTreeMap::from([
            ("SCHED_FIFO", verdict(&capabilities.fifo)),
            ("SCHED_DEADLINE", verdict(&capabilities.deadline)),
            ("exclusive cpusets", cpusets),
            ("sched_ext", sched_ext(&capabilities)),
            ("real-time bandwidth limit", limit),
        ]),
        not_measured: capabilities.not_measured,
    }
}

fn test_answer(info: &laxity_analysis::TestInfo) -> TestAnswer {
    use laxity_analysis::{Exactness, Guarantee, Priorities};
    let priorities = match info.priorities {
        Priorities::EarliestDeadlineFirst => "EDF",
        Priorities::FairLateness => "global fair lateness",
        Priorities::Fixed => "fixed priorities",
        Priorities::Pfair => "Pfair",
    };
    let guarantee = match info.guarantee {
        Guarantee::Hard => "hard",
        Guarantee::Soft => "soft",
    };
    let exactness = match info.exactness {
        Exactness::Exact => "exact",
        Exactness::Sufficient => "sufficient",
        Exactness::Necessary => "necessary",
    };
    TestAnswer {
        name: info.name,
        description: format!("{priorities}, {guarantee}, {exactness}"),
        source: info.source,
        complexity: info.complexity,
        assumptions: info.assumptions,
    }
}

/// `1. J = 0, 2. D <= T`
fn numbered(assumptions: &[&str]) -> String {
    let number = |(at, text): (usize, &&str)| format!("{}. {text}", at + 1);
    assumptions.iter().enumerate().map(number).collect::<Vec<_>>().join(", ")
}

/// Each test with what it needs, its source and its complexity.
fn tests_text(tests: &[TestAnswer]) -> String {
    let mut text = String::from("\nTESTS (laxity analyze --test)\n");
    for test in tests {
        let needs = match test.assumptions {
            [] => String::new(),
            some => format!("; needs {}", numbered(some)),
        };
        text += &format!("  {:<22} {}{needs}\n", test.name, test.description);
        text += &format!("  {:<22} {}\n", "", test.source);
        text += &format!("  {:<22} {}\n", "", test.complexity);
    }
    text
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
    // A cell of one core has none to dedicate.
    let possible = |scope: &Scope| !(policy.dedicates_a_core() && *scope == Scope::Partitioned);
    let name = |scope| PolicyScheduler { policy, scope, rule: edf }.to_string();
    let rule = |rule: PriorityRule| Named {
        name: if rule == edf { String::new() } else { format!(":{}", rule.name()) },
        description: rule.description().to_owned(),
    };
    let rules = [edf, PriorityRule::RateMonotonic, PriorityRule::DeadlineMonotonic, PriorityRule::Given];
    PolicyAnswer {
        name: policy.name(),
        description: policy.description(),
        scopes: scopes.into_iter().filter(possible).map(name).collect(),
        rules: rules.map(rule).into(),
        dedicates_a_core: policy.dedicates_a_core(),
        runs_here: why_not.is_none(),
        why_not,
    }
}

/// The policies: what each is, then what makes a name.
fn policies_text(policies: &[PolicyAnswer]) -> String {
    let mut text = String::from(
        "\nPOLICIES OF LAXITY'S OWN (laxity simulate; laxity run and compare where the kernel has sched_ext)\n",
    );
    let some_run = policies.iter().any(|policy| policy.runs_here);
    for policy in policies {
        text += &format!("  {:<22} {}\n", policy.name, policy.description);
        if let Some(why) = policy.why_not.as_ref().filter(|_| some_run) {
            text += &format!("  {:<22} not in the kernel: {why}\n", "");
        }
    }
    if let Some(why) = policies.first().and_then(|policy| policy.why_not.as_ref()).filter(|_| !some_run) {
        text += &format!("  {:<22} in the kernel, none of them here: {why}\n", "");
    }
    text += "  c-NAME, p-NAME         clustered, partitioned; without, one queue for all cores\n";
    for rule in policies.first().into_iter().flat_map(|policy| &policy.rules) {
        text += &format!("  {:<22} {}\n", format!("NAME{}", rule.name), rule.description);
    }
    text + "  g-edf, p-rm ...        the schedulers above can be simulated, too: as push-pull, Linux's structure\n"
}

fn named_text(all: &[Named]) -> String {
    all.iter().map(|one| format!("  {:<22} {}\n", one.name, one.description)).collect()
}

fn text(answer: &Answer) -> String {
    let mut text = String::from("SCHEDULERS OF LINUX (laxity run, laxity compare)\n");
    for scheduler in &answer.schedulers {
        text += &format!("  {:<22} {}\n", scheduler.name, scheduler.description);
        if let Some(why) = &scheduler.why_not {
            text += &format!("  {:<22} not here: {why}\n", "");
        }
    }
    text += &policies_text(&answer.policies);
    text += "\nANALYSED ONLY (laxity analyze, laxity study FILE)\n";
    text += &named_text(&answer.analysed);
    text += &tests_text(&answer.tests);
    text += "\nGENERATORS (laxity generate)\n";
    text += &named_text(&answer.generators);
    text += "\nPLACEMENTS (--placement)\n";
    text += &named_text(&answer.placements);
    text += "\nPLATFORMS (--platform; or a file)\n";
    text += &named_text(&answer.platforms);
    text += "\nOVERHEADS (laxity analyze --overheads, and curves of studies; or a file)\n";
    text += &named_text(&answer.overheads);
    let machine = &answer.machine;
    text += &format!("\nTHIS MACHINE\n  {:<22} {}, cores {}\n", "processor", machine.cpu_model, machine.cpus);
    let clusters: Vec<String> = machine.clusters.iter().map(ToString::to_string).collect();
    text += &format!("  {:<22} {}\n", "clusters", clusters.join("; "));
    machine.caches.iter().for_each(|cache| text += &format!("  {:<22} {cache}\n", "cache"));
    text += &format!("  {:<22} {}\n", "kernel", machine.kernel);
    machine.facts.iter().for_each(|(name, fact)| text += &format!("  {name:<22} {fact}\n"));
    text += "\nWHAT IT CAN DO\n";
    answer.can.iter().for_each(|(what, verdict)| text += &format!("  {what:<22} {verdict}\n"));
    for (column, why) in &answer.not_measured {
        text += &format!("  {:<22} not measured: {why}\n", column.replace('_', " "));
    }
    text
}
