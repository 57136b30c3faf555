//! Simulated beside measured: differences are found job by job, named, and explained as far as the numbers go.

use crate::synthetic::{Noise, SIX, jobs_of, results, run, set_of_twelve};
use laxity_model::Duration;
use laxity_report::{Beside, Report, TextStyle};
use laxity_trace::{Host, Job, JobOutcome, Results, Run, RunStatus};

const DURATION: Duration = Duration::from_secs(2);

/// The same jobs under p-edf, measured and simulated; `change` alters what was measured.
fn twins(change: impl Fn(&mut Job)) -> Results {
    let set = set_of_twelve();
    let behaviour = SIX[4];
    let mut jobs = jobs_of(&set, behaviour, DURATION, &mut Noise(3));
    // Everything ended in time, and by then.
    jobs.retain(|job| job.finish_ns.is_some_and(|finish| finish <= job.deadline_ns));
    let simulated = Run { host: Host::Simulator, ..run(0, behaviour.scheduler, 0, DURATION, jobs.clone()) };
    jobs.iter_mut().for_each(change);
    results(&[set], vec![run(0, behaviour.scheduler, 0, DURATION, jobs), simulated], 2)
}

fn only(results: &Results) -> Beside {
    let report = Report::of(results).expect("valid");
    assert_eq!(report.beside().len(), 1);
    report.beside()[0].clone()
}

fn words(beside: &Beside) -> String {
    beside.differences.join(" ")
}

#[test]
fn the_same_jobs_are_equal() {
    let beside = only(&twins(|_| ()));
    let later = beside.later_ns.expect("jobs were compared");
    assert_eq!((later.median, later.p99, later.max), (0, 0, 0));
    assert!(beside.missed_only_measured.is_empty() && beside.missed_only_simulated.is_empty());
    assert_eq!(
        beside.differences,
        ["Equal: the same jobs are in time, and mean laxity is within 1 % of a period."]
    );
}

#[test]
fn costs_that_were_modelled_are_named() {
    let slower = |job: &mut Job| job.finish_ns = job.finish_ns.map(|finish| finish + 3_000_000);
    let report = |results: &Results| {
        Report::of(results).expect("valid").text(TextStyle { verbose: true, ..TextStyle::default() })
    };
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut results = twins(slower);
    let without = flat(report(&results));
    for words in ["without the costs of a real machine", "left than simulated without costs", "leaves out"] {
        assert!(without.contains(words), "{words}: {without}");
    }
    for (name, value) in [
        ("costs", "bench.toml"),
        ("modelled", "context switches, cold caches"),
        ("not-modelled", "release latency, timer ticks"),
    ] {
        results.options.insert(name.to_owned(), value.to_owned());
    }
    let with = flat(report(&results));
    for words in [
        "the same jobs, with the costs of bench.toml",
        "left than simulated with costs",
        "Simulated with the costs of bench.toml: context switches, cold caches.",
        "Left out of the simulation: release latency, timer ticks.",
    ] {
        assert!(with.contains(words), "{words}: {with}");
    }
    assert!(!with.contains("without costs") && !with.contains("leaves out"), "{with}");
    let earlier = only(&Results {
        options: results.options.clone(),
        ..twins(|job| job.finish_ns = job.finish_ns.map(|finish| finish - 1_000))
    });
    assert!(words(&earlier).contains("paid less than the costs file says"), "{}", words(&earlier));
}

#[test]
fn what_can_only_be_simulated_stands_beside_with_the_reason() {
    let mut results = twins(|_| ());
    let why = "a policy of laxity's own";
    let simulated = Run { scheduler: "p-edf-bh".into(), id: 2, ..results.runs[1].clone() };
    let asked = Run {
        host: Host::KernelPolicy,
        status: RunStatus::NotRun { reason: why.into() },
        jobs: vec![],
        id: 3,
        ..simulated.clone()
    };
    results.runs.extend([simulated, asked]);
    let report = Report::of(&results).expect("valid");
    let labels: Vec<&str> = report.configurations().iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["p-edf", "p-edf-bh"], "no host is named where every scheduler has one");
    assert_eq!(report.recommendation().ranking, ["p-edf"], "what was not measured is not ranked");
    let table_4 = report.text(TextStyle { verbose: true, ..TextStyle::default() });
    let table_4 = table_4.split("Schedulers at a glance").next().expect("what stands before");
    assert!(table_4.contains(" p-edf ") && !table_4.contains("p-edf-bh"), "nothing to show: {table_4}");
    let edf_bh = report.beside().iter().find(|one| one.scheduler == "p-edf-bh").expect("it is there");
    assert_eq!(words(edf_bh), format!("Not measured: not run: {why}."));
    assert_eq!((edf_bh.misses.measured, edf_bh.misses.simulated), (None, Some(0)));
    assert!(edf_bh.normalized_laxity.simulated.is_some() && edf_bh.normalized_laxity.measured.is_none());
}

#[test]
fn a_job_that_waited_and_one_that_ran_longer_are_told_apart() {
    let late = |task: u32, index: u32, cpu: bool| {
        move |job: &mut Job| {
            job.finish_ns = job.finish_ns.map(|finish| finish + 1_000);
            if (job.task, job.index) == (task, index) {
                let extra = job.deadline_ns + 5_000_000 - job.finish_ns.expect("it ended");
                job.finish_ns = job.finish_ns.map(|finish| finish + extra);
                job.cpu_time_ns = job.cpu_time_ns.map(|ns| if cpu { ns + extra + 1_000 } else { ns });
            }
        }
    };
    let waited = only(&twins(late(2, 1, false)));
    assert_eq!((waited.misses.measured, waited.misses.simulated), (Some(1), Some(0)));
    assert_eq!(waited.missed_only_measured.len(), 1);
    assert_eq!(waited.missed_only_measured[0].jobs, 1);
    assert_eq!(waited.later_ns.expect("compared").median, 1_000);
    let said = words(&waited);
    assert!(
        said.contains("Missed only in reality: 1 job") && said.contains("waited longer than simulated"),
        "{said}"
    );
    assert!(said.contains("Most behind: job 1 of "), "jobs are counted from 0: {said}");
    let ran = words(&only(&twins(late(2, 1, true))));
    assert!(ran.contains("used more CPU time than they asked for"), "{ran}");
}

#[test]
fn unfinished_jobs_are_misses_and_earlier_ones_are_no_lateness() {
    let unfinished = only(&twins(|job| {
        if (job.task, job.index) == (0, 3) {
            (job.finish_ns, job.cpu_time_ns, job.outcome) = (None, None, JobOutcome::Unfinished);
        }
    }));
    assert_eq!(unfinished.missed_only_measured.iter().map(|count| count.jobs).sum::<u64>(), 1);
    let earlier = only(&twins(|job| job.finish_ns = job.finish_ns.map(|finish| finish - 1_000)));
    assert_eq!(earlier.later_ns.expect("compared").max, -1_000);
    assert!(words(&earlier).contains("1.00 µs or more earlier"), "{}", words(&earlier));
}

#[test]
fn only_measurements_are_ranked_and_plotted() {
    let results = twins(|_| ());
    let report = Report::of(&results).expect("valid");
    assert_eq!(report.configurations().len(), 1);
    assert_eq!(report.recommendation().ranking, ["p-edf"]);
    assert_eq!(report.recommendation().host, Some(Host::Linux));
    assert_eq!(report.summary().schedulers.len(), 2);
    let text = report.text(TextStyle { verbose: true, ..TextStyle::default() });
    assert!(text.contains("Simulated beside measured"), "{text}");
    assert!(report.html().expect("renders").contains("Simulated beside measured"));
    assert!(report.markdown().contains("Simulated beside measured"));
}

#[test]
fn a_simulation_recommends_nothing_where_measurements_failed() {
    let mut results = twins(|_| ());
    results.runs[0].status = RunStatus::NotRun { reason: "no permission".into() };
    results.runs[0].jobs.clear();
    let report = Report::of(&results).expect("valid");
    assert_eq!(report.recommendation().scheduler, None);
    assert_eq!(words(&report.beside()[0]), "Not measured: not run: no permission.");
    assert_eq!(report.beside()[0].misses.simulated, Some(0));
}

#[test]
fn simulations_alone_are_the_results() {
    let mut results = twins(|_| ());
    results.runs.remove(0);
    let report = Report::of(&results).expect("valid");
    assert!(report.beside().is_empty());
    assert_eq!(report.recommendation().host, Some(Host::Simulator));
    let text = report.text(TextStyle { verbose: true, ..TextStyle::default() });
    assert!(
        text.contains("p-edf met every deadline; nothing was compared with it.")
            && text.contains("A simulation is no proof"),
        "{text}"
    );
}
