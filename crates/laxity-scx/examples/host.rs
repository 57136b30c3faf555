//! Runs `bpf/host` with a policy under seeds: `host POLICY KIND FROM..TO [-v]`, with kind `calm`, `hostile`, `crowded`, `overloaded` or
//! `held`. Says which seeds fail and why; with `-v`, what happens. Exit code 1 if one fails, 2 for arguments that say nothing.

use laxity_scx::{Host, Kind, Options, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((hosts, kind, seeds)) = understood(&arguments) else {
        let kinds: Vec<&str> = Kind::ALL.iter().map(|(name, _)| *name).collect();
        let policies: Vec<&str> = Host::all().map(|host| host.name()).collect();
        eprintln!(
            "usage: host POLICY KIND FROM..TO [-v]; POLICY: all, {}; KIND: {}",
            policies.join(", "),
            kinds.join(", ")
        );
        return ExitCode::from(2);
    };
    let speaks = arguments.iter().any(|argument| argument == "-v");
    let mut failed = 0;
    for host in hosts {
        let (mut bad, mut events, mut jobs) = (0u64, 0u64, 0u64);
        for seed in seeds.clone() {
            match run(host, kind, seed, Options { speaks, ..Options::default() }) {
                Ok(summary) => (events, jobs) = (events + summary.events, jobs + summary.jobs_judged),
                Err(fault) => {
                    bad += 1;
                    println!("{} {} {seed}: {fault}", host.name(), arguments[1]);
                }
            }
        }
        println!(
            "{}: {} seeds, {bad} failed, {events} events, {jobs} jobs judged",
            host.name(),
            seeds.end - seeds.start
        );
        failed += bad;
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn understood(arguments: &[String]) -> Option<(Vec<Host>, Kind, std::ops::Range<u64>)> {
    let [policy, kind, seeds, ..] = arguments else { return None };
    let hosts =
        if policy == "all" { Host::all().collect() } else { vec![Host::named(&policy.replace('-', "_"))?] };
    let kind = Kind::ALL.iter().find(|(name, _)| name == kind)?.1;
    let (from, to) = seeds.split_once("..")?;
    Some((hosts, kind, from.parse().ok()?..to.parse().ok()?))
}
