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

/// A run is a function of policy, kind and seed.
#[test]
fn a_seed_is_a_run() {
    for host in Host::all() {
        let runs =
            || (0..5).map(|seed| run(host, Kind::Hostile, seed, Options::default())).collect::<Vec<_>>();
        assert_eq!(runs(), runs(), "{}", host.name());
    }
}
