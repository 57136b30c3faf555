//! Why deadlines were missed, as reports have it.

use crate::synthetic::{Noise, SIX, jobs_of, results, run, set_of_twelve};
use laxity_model::Duration;
use laxity_report::{MissCauses, Report, TextStyle};
use laxity_trace::{BudgetRecord, Host, Job, MissCause, Results, Run, ScheduleRecord, VerificationRecord};
use std::collections::BTreeMap;

const DURATION: Duration = Duration::from_secs(2);
const TABLE: &str = "<table aria-label=\"Why deadlines were missed\"";

/// A recorded schedule in which this task was throttled.
fn recorded(task: u32, refused: Option<&str>) -> ScheduleRecord {
    ScheduleRecord {
        end_ns: DURATION.as_ns(),
        records: 1,
        lost: 0,
        recorder_cpu_ns: 0,
        decisions: 1,
        task_set: serde_json::Value::Null,
        free_arrivals: vec![],
        budgets: "kernel".into(),
        batching: false,
        longest_way_ns: 0,
        windows: BTreeMap::new(),
        verification: VerificationRecord::default(),
        notes: vec![],
        causes: true,
        budgets_used_up: vec![BudgetRecord {
            task,
            wcet_ns: 800_000,
            budget_ns: 820_000,
            throttles: 9,
            charged_most_ns: 844_000,
            margin_ns: 45_000,
            refused: refused.map(str::to_owned),
        }],
    }
}

/// Every job of g-rm that missed has a cause: of each fourth a kernel thread, of all others throttling.
fn told(refused: Option<&str>) -> Results {
    let set = set_of_twelve();
    let (worse, better) = (SIX[1], SIX[0]);
    let mut jobs = jobs_of(&set, worse, DURATION, &mut Noise(3));
    for (number, job) in jobs.iter_mut().filter(|job| job.missed(DURATION.as_ns())).enumerate() {
        job.cause = Some(if number % 4 == 1 { MissCause::KernelThread } else { MissCause::Throttled });
    }
    let measured = Run { schedule: Some(recorded(5, refused)), ..run(0, worse.scheduler, 0, DURATION, jobs) };
    let clean = run(0, better.scheduler, 0, DURATION, jobs_of(&set, better, DURATION, &mut Noise(4)));
    results(&[set], vec![measured, clean], 2)
}

fn of_g_rm(results: &Results) -> MissCauses {
    let report = Report::of(results).expect("valid");
    let found = report.causes().iter().find(|of| of.scheduler == "g-rm").expect("it missed");
    let counted = report.summary().schedulers.iter().find(|of| of.scheduler == "g-rm").expect("it ran");
    assert_eq!(found.misses, counted.counts.misses, "one count of misses");
    let told: u64 = found.causes.iter().map(|count| count.misses).sum();
    assert_eq!(told + found.not_recorded, found.misses, "one cause for each");
    found.clone()
}

fn text(results: &Results) -> String {
    let text = Report::of(results).expect("valid").text(TextStyle::default());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_miss_has_one_cause_and_the_answer_says_it() {
    let results = told(None);
    let found = of_g_rm(&results);
    assert_eq!(found.not_recorded, 0);
    assert_eq!(found.causes[0].cause, MissCause::Throttled, "most first");
    assert_eq!((found.margin_ns, &found.margin_refused), (Some(45_000), &None));
    let text = text(&results);
    let line = format!(
        "g-rm {} missed: {} throttled (`planner`; a margin of 45us would have sufficed), {} by kernel threads",
        found.misses, found.causes[0].misses, found.causes[1].misses
    );
    assert!(text.contains(&line), "{line}\n{text}");
    assert!(text.contains("Raise `--budget-margin` to 45us:"), "what the runner-up needs: {text}");
}

#[test]
fn a_margin_that_is_not_admitted_is_no_advice() {
    let results = told(Some("CPUs 0-1: their budgets need 2.1 CPUs"));
    let text = text(&results);
    assert!(text.contains("a margin of 45us would have sufficed, and is not admitted"), "{text}");
    assert!(text.contains("that would have sufficed is not admitted: CPUs 0-1"), "{text}");
    assert!(!text.contains("Raise `--budget-margin`"), "{text}");
}

#[test]
fn the_page_has_the_table() {
    let page = Report::of(&told(None)).expect("valid").html().expect("it renders");
    assert!(page.contains(TABLE));
    for words in ["Times throttled", "Margin needed", "Kernel thread"] {
        assert!(page.contains(words), "{words}");
    }
    let old = forgotten(told(None));
    let page = Report::of(&old).expect("valid").html().expect("it renders");
    assert!(!page.contains(TABLE), "nothing is known");
}

/// The same as an earlier version has kept them.
fn forgotten(mut results: Results) -> Results {
    for run in &mut results.runs {
        run.jobs.iter_mut().for_each(|job: &mut Job| job.cause = None);
        run.schedule = None;
    }
    results
}

#[test]
fn old_results_say_that_causes_were_not_recorded() {
    let old = forgotten(told(None));
    let found = of_g_rm(&old);
    assert_eq!((found.not_recorded, found.causes.len()), (found.misses, 0));
    let text = text(&old);
    assert!(text.contains(&format!("g-rm {} missed: causes were not recorded", found.misses)), "{text}");
}

#[test]
fn what_the_simulation_shows_too_is_the_schedulers() {
    let mut results = told(None);
    let twin = Run { host: Host::Simulator, schedule: None, ..results.runs[0].clone() };
    results.runs.push(Run { id: 2, ..twin });
    let found = of_g_rm(&results);
    assert_eq!(found.causes.len(), 1, "{:?}", found.causes);
    assert_eq!((found.causes[0].cause, found.causes[0].misses), (MissCause::Scheduler, found.misses));
    let text = text(&results);
    assert!(!text.contains("Raise `--budget-margin`"), "no margin helps: {text}");
    // Without a record the simulation tells all the same.
    let old = forgotten(results);
    assert_eq!(of_g_rm(&old).causes[0].cause, MissCause::Scheduler);
}
