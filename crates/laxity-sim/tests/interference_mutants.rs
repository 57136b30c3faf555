//! Policies that take a CPU's withdrawal or return wrongly, and traces that keep it from the oracle: the oracles say what is wrong.

mod common;

use common::broken::{Mutant, build, mutant};
use common::{Case, GRACE_NS, definition_of};
use laxity_model::{Duration, Interference, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_oracle::{Oracle, Verdict, verify};
use laxity_policy::Table;
use laxity_sim::Recording;
use laxity_trace::EventKind;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

const MUTANTS: [Mutant; 10] = [
    mutant(
        "the policy is not told that a CPU is taken",
        Policy::EdfBh,
        "linking.h",
        "\t(void)by;\n\ts->actions = 0;\n\tlx_switch_to(s, cpu, LX_NONE);",
        "\t(void)by;\n\ts->actions = 0;\n\tif (now != LX_NEVER)\n\t\treturn;",
    ),
    mutant(
        "jobs are linked to a CPU that is taken",
        Policy::GsnEdf,
        "linking.h",
        "\tlx_cpu_enter_as(s, cpu, lx_cpu_absent());",
        "\tlx_cpu_enter(s, lx_cpu_idle(cpu));",
    ),
    mutant(
        "the job of a CPU that is taken is forgotten",
        Policy::EdfRbt,
        "linking.h",
        "\t\t/* What was linked goes before all that wait. */\n\t\tLX_Q(insert_first)(s, linked);",
        "",
    ),
    mutant(
        "the job of a CPU that is taken waits for a completion",
        Policy::Fpp,
        "linking.h",
        "\tLX_P(turn)(s, now);\n\tLX_P(preempt_all)(s);\n\tLX_P(settle)(s);\n}\n\n/* `cpu`, which was withdrawn",
        "\tLX_P(turn)(s, now);\n\tLX_P(settle)(s);\n}\n\n/* `cpu`, which was withdrawn",
    ),
    mutant(
        "a CPU that comes back takes nothing",
        Policy::GsnEdfDi,
        "linking.h",
        "\tLX_P(link_top)(s, cpu);\n\tLX_P(settle)(s);\n}\n\n/* The task has used",
        "\tLX_P(settle)(s);\n}\n\n/* The task has used",
    ),
    mutant(
        "what a CPU that is taken has is not pushed",
        Policy::PushPull,
        "push_pull.h",
        "\tlx_operation(s, by)->rest = LX_NONE;\n\tlx_push_from(s, by, cpu);",
        "\tlx_operation(s, by)->rest = LX_NONE;",
    ),
    mutant(
        "jobs are pushed to a CPU that is taken",
        Policy::PushPull,
        "push_pull/run_queue.h",
        "\tu32 withdrawn = lx_cpu(s, cpu)->withdrawn;",
        "\tu32 withdrawn = 0;",
    ),
    mutant(
        "a CPU that comes back does not pull",
        Policy::PushPull,
        "push_pull.h",
        "\tlx_cpu(s, cpu)->withdrawn = 0;\n\tlx_push_pull_vacate(s, cpu, LX_NONE);",
        "\tlx_cpu(s, cpu)->withdrawn = 0;\n\tlx_run_queue_publish(s, cpu);",
    ),
    mutant(
        "the DSP is not told that a client is taken",
        Policy::GEdfMp,
        "g_edf_mp.h",
        "\tlx_switch_to(s, cpu, LX_NONE);\n\tlx_g_edf_mp_say_withdrawn(s, by);",
        "\tlx_switch_to(s, cpu, LX_NONE);",
    ),
    mutant(
        "the DSP is not told that a client is there again",
        Policy::GEdfMp,
        "g_edf_mp.h",
        "\tLX_WRITE(c->withdrawn, c->withdrawn & ~(u32)LX_WITHDRAWN);\n\tlx_g_edf_mp_say_withdrawn(s, cpu);",
        "\tLX_WRITE(c->withdrawn, c->withdrawn & ~(u32)LX_WITHDRAWN);",
    ),
];

/// A random set, and intervals in which each CPU is taken.
fn case(seed: u64) -> (Case, Vec<Interference>) {
    let case = Case::random(seed);
    let mut rng = Pcg64::seed_from_u64(seed);
    let interference = |cpu: u32| {
        let [from, length] = [rng.random_range(0..=20u64), rng.random_range(2..=10)];
        let period = length + rng.random_range(1..=30);
        let [from, length, period] = [from, length, period].map(|units| Duration::from_ns(1_000 * units));
        Interference::new(cpu, from, length, Some(period)).expect("valid")
    };
    let all = (0..case.cores).map(interference).collect();
    (case, all)
}

fn of(policy: Policy) -> PolicyScheduler {
    PolicyScheduler { policy, scope: Scope::Global, rule: PriorityRule::EarliestDeadlineFirst }
}

fn cores(case: &Case, policy: Policy) -> u32 {
    case.cores + u32::from(policy.dedicates_a_core())
}

fn simulate(case: &Case, all: &[Interference], policy: Policy, table: Option<Table>) -> Recording {
    case.simulate_with(of(policy), cores(case, policy), |setup| {
        setup.interference = Vec::leak(all.to_vec());
        setup.table = table;
    })
}

fn judged(case: &Case, all: &[Interference], policy: Policy, recording: &Recording) -> Verdict {
    let definition = definition_of(case, of(policy), cores(case, policy)).with_interference(all.to_vec());
    verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS)
}

#[test]
fn every_broken_policy_is_caught() {
    let directory = tempfile::tempdir().expect("a directory");
    for (number, mutant) in MUTANTS.iter().enumerate() {
        let table = build(directory.path(), number, Some(mutant), mutant.policy);
        let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
        for seed in laxity_seeds::seeds!(0..40) {
            let (case, all) = case(seed);
            let recording = simulate(&case, &all, mutant.policy, Some(table));
            let verdict = judged(&case, &all, mutant.policy, &recording);
            for oracle in Oracle::ALL {
                *seen.entry(oracle.name()).or_default() += verdict.count(oracle);
            }
        }
        seen.retain(|_, count| *count > 0);
        println!("{} ({}): {seen:?}", mutant.what, mutant.policy);
        laxity_seeds::assert_together!(
            !seen.is_empty(),
            "`{}` ({}) went unnoticed",
            mutant.what,
            mutant.policy
        );
    }
}

/// An engine that forgets an interval, all of it or one end of it, or that says one too many, in the trace or in what it does.
#[test]
fn a_trace_that_hides_an_interval_is_caught() {
    let mut caught: BTreeMap<&'static str, u64> = BTreeMap::new();
    for seed in laxity_seeds::seeds!(0..60) {
        let (case, all) = case(seed);
        let policy = Policy::GENERAL[usize::try_from(seed).expect("small") % Policy::GENERAL.len()];
        let right = simulate(&case, &all, policy, None);
        assert!(judged(&case, &all, policy, &right).clean, "seed {seed}, {policy}");
        let mut count = |what, wrong: &Recording| {
            let verdict = judged(&case, &all, policy, wrong);
            assert!(!verdict.clean, "{what}, seed {seed}, {policy}: {}", case.describe());
            let definition =
                definition_of(&case, of(policy), cores(&case, policy)).with_interference(all.clone());
            let end = case.duration.as_ns() + GRACE_NS;
            for oracle in [Oracle::WellFormed, Oracle::Affinity, Oracle::WorkConservation] {
                *caught.entry(oracle.name()).or_default() +=
                    verify(&definition, &wrong.events, end).count(oracle);
            }
        };
        let without = |dropped: &[EventKind]| {
            let mut events = right.events.clone();
            events.retain(|event| !dropped.contains(&event.kind));
            Recording { events, jobs: Vec::new() }
        };
        count("neither end is said", &without(&[EventKind::Withdraw, EventKind::Restore]));
        count("no beginning is said", &without(&[EventKind::Withdraw]));
        count("no end is said", &without(&[EventKind::Restore]));
        // The schedule that there would be without: its trace says nothing of it, or says so and jobs run all the same.
        let free = simulate(&case, &[], policy, None);
        count("no CPU is taken", &free);
        let mut said = free.events.clone();
        said.extend(
            right
                .events
                .iter()
                .filter(|event| matches!(event.kind, EventKind::Withdraw | EventKind::Restore)),
        );
        said.sort_by_key(|event| event.time_ns);
        let runs_on = Recording { events: said, jobs: Vec::new() };
        if free.events.iter().any(|event| event.kind.begins_running()) {
            let verdict = judged(&case, &all, policy, &runs_on);
            let expected = right.jobs != free.jobs;
            assert!(!expected || !verdict.clean, "jobs run on, seed {seed}, {policy}: {}", case.describe());
        }
        // What the definition does not know is no excuse.
        let definition = definition_of(&case, of(policy), cores(&case, policy));
        let verdict = verify(&definition, &right.events, case.duration.as_ns() + GRACE_NS);
        assert!(verdict.count(Oracle::WellFormed) > 0, "seed {seed}, {policy}");
    }
    println!("{caught:?}");
    laxity_seeds::assert_together!(caught.values().all(|&count| count > 0), "{caught:?}");
}
