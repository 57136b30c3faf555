//! `bpf/host` with every policy beneath the model of the kernel. A seed that fails alone:
//! `cargo run --release -p laxity-scx --example host -- POLICY KIND SEED..SEED+1 -v`.

use laxity_scx::{Host, Kind, Options, run};
use laxity_seeds::seeds;
use std::ops::Range;

fn all_hold(kind: &str, seeds: impl Iterator<Item = u64> + Clone) {
    let kind_of = Kind::ALL.iter().find(|(name, _)| *name == kind).expect("a kind").1;
    for host in Host::all() {
        for seed in seeds.clone() {
            if let Err(fault) = run(host, kind_of, seed, Options::default()) {
                panic!(
                    "{} {kind} {seed}: {fault}\ncargo run --release -p laxity-scx --example host -- {} {kind} {seed}..{} -v",
                    host.name(),
                    host.name(),
                    seed + 1
                );
            }
        }
    }
}

/// The seeds of a test, as often as there are policies.
fn of(usual: Range<u64>) -> impl Iterator<Item = u64> + Clone {
    seeds!(usual).collect::<Vec<_>>().into_iter()
}

#[test]
fn policies_hold_in_a_calm_world() {
    all_hold("calm", of(0..60));
}

#[test]
fn policies_hold_in_a_hostile_world() {
    all_hold("hostile", of(0..60));
}

/// More background work than there is time for, beside members of 85 %: all of it has its turn within half a minute.
#[test]
fn a_crowd_has_its_turns() {
    all_hold("crowded", of(0..2));
}

/// SCHED_FIFO holds one CPU for long times: the others have the members, and what the dedicated one has to do.
#[test]
fn members_go_on_while_a_cpu_is_held() {
    all_hold("held", of(0..40));
}

/// More endless jobs than CPUs, without budgets.
#[test]
fn endless_jobs_have_their_moments() {
    all_hold("overloaded", of(0..2));
}

/// What looks at a run sees that a CPU is not asked to decide: of each policy, in some of few runs.
#[test]
fn a_forgotten_kick_is_seen() {
    for host in Host::all() {
        let options = Options { kicks_forgotten: 20, ..Options::default() };
        let seen = (0..20).any(|seed| run(host, Kind::Calm, seed, options).is_err());
        assert!(seen, "{}: one of 20 kicks is forgotten, and all looks well", host.name());
    }
}

/// What only the oracles see: budget timers are set so much too late. Of each policy, in some of few runs.
#[test]
fn budgets_that_end_late_are_seen_by_the_oracles() {
    for host in Host::all() {
        let options = Options { budgets_late_ns: 20_000, ..Options::default() };
        let whys: Vec<String> = (0..20)
            .filter_map(|seed| run(host, Kind::Calm, seed, options).err())
            .map(|fault| fault.why)
            .collect();
        assert!(
            whys.iter().any(|why| why.contains("the oracles say") && why.contains("[budgets]")),
            "{}: budgets end late, and all looks well but {whys:?}",
            host.name()
        );
        assert!(whys.iter().all(|why| why.contains("the oracles say")), "{}: {whys:?}", host.name());
    }
}

/// Another one: jobs are linked in a wrong order, by fixed priorities. A CPU that takes another job than it should is seen where one
/// waits that goes before, or that nothing keeps waiting.
#[test]
fn a_wrong_order_is_seen_by_the_oracles() {
    let mut orders = 0;
    for host in ["edf_bh", "edf_rbt", "gsn_edf", "push_pull", "g_edf_mp"].into_iter().filter_map(Host::named)
    {
        let options = Options { has_other_rule: true, ..Options::default() };
        let whys: Vec<String> = (0..20)
            .filter_map(|seed| run(host, Kind::Calm, seed, options).err())
            .map(|fault| fault.why)
            .collect();
        assert!(!whys.is_empty(), "{}: jobs are in a wrong order, and all looks well", host.name());
        assert!(whys.iter().all(|why| why.contains("the oracles say")), "{}: {whys:?}", host.name());
        orders += whys.iter().filter(|why| why.contains("[global invariant]")).count();
    }
    assert!(orders > 1, "{orders} runs say that the order is wrong");
}

/// The oracles have something to say: of each policy and kind of run, jobs are judged.
#[test]
fn jobs_are_judged() {
    for host in Host::all() {
        for kind in [Kind::Calm, Kind::Hostile, Kind::Held] {
            let judged =
                |seed| run(host, kind, seed, Options::default()).map_or(0, |summary| summary.jobs_judged);
            let jobs: u64 = (0..10).map(judged).sum();
            assert!(jobs > 30, "{} {kind:?}: {jobs} jobs of 10 runs", host.name());
        }
    }
}

/// A run is a function of policy, kind and seed.
#[test]
fn a_seed_is_a_run() {
    for host in Host::all() {
        let runs =
            || (0..5).map(|seed| run(host, Kind::Hostile, seed, Options::default())).collect::<Vec<_>>();
        assert_eq!(runs(), runs(), "{}", host.name());
    }
}
