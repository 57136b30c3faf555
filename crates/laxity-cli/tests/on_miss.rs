//! Late jobs of real runs that are aborted, or whose later jobs are skipped (lindsay2012, 3.1.3).

mod host;
mod patience;

use host::{laxity, machine, words};
use laxity_model::TaskSet;
use laxity_trace::{Job, JobOutcome, Results, RunSummary};
use patience::real_run;
use std::fs;

/// Every job takes twice its WCET, which is more than one CPU can do: 0.7 + 0.5 + 0.24.
const UNDERSTATED: &str = "version = 1\nname = \"over\"\n\
    [[tasks]]\nname = \"a\"\nwcet = \"3500us\"\nperiod = \"10ms\"\n\
    [[tasks]]\nname = \"b\"\nwcet = \"5ms\"\nperiod = \"20ms\"\n\
    [[tasks]]\nname = \"c\"\nwcet = \"6ms\"\nperiod = \"50ms\"\n";

/// The results of an overloaded run; nothing where there are no real runs.
fn overloaded(scheduler: &str, on_miss: &str, more: &[&str]) -> Option<Results> {
    let _machine = machine();
    let directory = tempfile::tempdir().expect("directory");
    let (set, out) = (directory.path().join("over.toml"), directory.path().join("out"));
    fs::write(&set, UNDERSTATED).expect("write");
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(["run", "--scheduler", scheduler, "--on-miss", on_miss, "--duration", "600ms", "-q"]);
        command.args(["--cpus", "1", "--force", "--out"]).arg(&out);
        command.args(more).arg(&set);
        command
    })?;
    assert!(ended.status.success(), "{}", words(&ended));
    let results = laxity_trace::load(&out).expect("results");
    assert_eq!(results.options["on-miss"], on_miss);
    if let Some(schedule) = &results.runs[0].schedule {
        let verified = &schedule.verification;
        assert!(verified.violated.iter().all(|one| one.rule != "periods"), "{verified:?}");
    }
    Some(results)
}

fn of_task(results: &Results, task: u32) -> Vec<&Job> {
    results.runs[0].jobs.iter().filter(|job| job.task == task).collect()
}

fn summary(results: &Results) -> RunSummary {
    let set = TaskSet::from_json_value(&results.task_sets[0], "the set").expect("a set");
    RunSummary::of(&results.runs[0], &set, 1).expect("a summary")
}

#[test]
fn a_job_that_is_not_done_at_its_deadline_is_aborted_after_it() {
    // What work takes in CPU time depends on what else the machine does: much of it.
    // SCHED_DEADLINE gives a job its budget, and at the deadline, when it is to stop, the next one.
    for (scheduler, demand, model) in
        [("g-rm", "2", "cpu-time"), ("g-rm", "8", "work"), ("p-edf", "2", "cpu-time")]
    {
        let more = ["--demand", demand, "--demand-model", model];
        let Some(results) = overloaded(scheduler, "abort", &more) else { return };
        let counts = summary(&results).counts;
        assert!(counts.aborted > 5 && counts.skipped == 0, "{counts:?}");
        assert_eq!(counts.jobs, counts.completed + counts.unfinished + counts.aborted);
        assert_eq!(counts.misses, counts.jobs - counts.met);
        for task in 0..3 {
            let jobs = of_task(&results, task);
            for job in &jobs {
                match (job.outcome, job.finish_ns) {
                    (JobOutcome::Aborted, Some(end)) => {
                        assert!(end >= job.deadline_ns && job.start_ns <= job.finish_ns, "{job:?}");
                        assert!(job.cpu_time_ns.is_some() && job.response_ns().is_none(), "{job:?}");
                    }
                    (JobOutcome::Completed, Some(_)) | (JobOutcome::Unfinished, None) => {}
                    _ => panic!("{job:?}"),
                }
            }
            let grid: Vec<u64> =
                jobs.windows(2).map(|pair| pair[1].release_ns - pair[0].release_ns).collect();
            assert!(grid.iter().all(|gap| *gap == grid[0]), "{grid:?}");
        }
        // By priority the two short ones take all of the core: the longest gets nothing done.
        let starved = of_task(&results, 2);
        assert!(
            (scheduler, model) != ("g-rm", "cpu-time")
                || starved.iter().all(|job| job.outcome != JobOutcome::Completed),
            "{starved:?}"
        );
    }
}

/// What is simulated beside the measurements follows the same rule.
#[test]
fn simulations_beside_measurements_have_the_same_rule() {
    for (on_miss, own) in [("abort", JobOutcome::Aborted), ("skip", JobOutcome::Skipped)] {
        let _machine = machine();
        let directory = tempfile::tempdir().expect("directory");
        let (set, out) = (directory.path().join("over.toml"), directory.path().join("out"));
        fs::write(&set, UNDERSTATED).expect("write");
        let ended = real_run(|| {
            let mut command = laxity();
            command.args([
                "compare",
                "--schedulers",
                "g-rm",
                "--on-miss",
                on_miss,
                "--duration",
                "300ms",
                "-q",
            ]);
            command
                .args(["--demand", "2", "--alone", "0s", "--cpus", "1", "--force", "--out"])
                .arg(&out)
                .arg(&set);
            command
        });
        let Some(ended) = ended else { return };
        assert!(ended.status.success(), "{}", words(&ended));
        let results = laxity_trace::load(&out).expect("results");
        let simulated = results.runs.iter().find(|run| run.host == laxity_trace::Host::Simulator);
        let jobs = &simulated.expect("simulated, too").jobs;
        let with = |outcome: JobOutcome| jobs.iter().filter(|job| job.outcome == outcome).count();
        let other = if own == JobOutcome::Aborted { JobOutcome::Skipped } else { JobOutcome::Aborted };
        assert!(with(own) > 3 && with(other) == 0, "{on_miss}: {jobs:?}");
    }
}

#[test]
fn releases_that_pass_while_a_job_is_late_are_skipped_and_no_others() {
    for scheduler in ["g-rm", "p-edf"] {
        let Some(results) = overloaded(scheduler, "skip", &["--demand", "2"]) else { return };
        let counts = summary(&results).counts;
        assert!(counts.skipped > 5 && counts.aborted == 0, "{scheduler}: {counts:?}");
        assert!(
            summary(&results).rates.context_switch_rate.is_some(),
            "known for every job that was released"
        );
        for task in 0..3 {
            let jobs = of_task(&results, task);
            assert!(jobs.iter().zip(0..).all(|(job, index)| job.index == index), "each release has its row");
            for (at, job) in jobs.iter().enumerate() {
                let late = |other: &&Job| {
                    other.outcome != JobOutcome::Skipped
                        && other.deadline_ns <= job.release_ns
                        && other.finish_ns.is_none_or(|finish| job.release_ns < finish)
                };
                let passed_by = jobs[..at].iter().copied().find(late);
                assert_eq!(job.outcome == JobOutcome::Skipped, passed_by.is_some(), "{job:?} {passed_by:?}");
                if job.outcome == JobOutcome::Skipped {
                    assert_eq!((job.start_ns, job.finish_ns, job.cpu_time_ns), (None, None, None), "{job:?}");
                }
            }
        }
    }
}
