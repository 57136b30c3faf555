//! A study of three trials whose numbers are worked out by hand, from results directories to the table, the page and the answer.

use super::{Answer, Evaluation, StudyOutputs};
use crate::study::Trial;
use crate::study::trial::trial;
use laxity_model::{CpuList, Duration, Task, TaskSet};
use laxity_trace::{
    Counters, ExcuseExtent, ExcuseLimits, Existing, Host, Job, JobOutcome, LongestExcuse, Machine,
    RESULTS_VERSION, Results, ResultsDirectory, RuleRecord, Run, RunStatus, ScheduleRecord, SpanRecord,
    VerificationRecord,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const MS: u64 = 1_000_000;

/// Finished so many ns after its release; released each 10 ms.
fn job(index: u32, response: Option<u64>) -> Job {
    let release_ns = u64::from(index) * 10 * MS;
    Job {
        task: 0,
        index,
        release_ns,
        deadline_ns: release_ns + 10 * MS,
        demand_ns: Some(MS),
        warm_ns: None,
        cause: None,
        outcome: if response.is_some() { JobOutcome::Completed } else { JobOutcome::Unfinished },
        start_ns: Some(release_ns),
        finish_ns: response.map(|response| release_ns + response),
        cpu_time_ns: response.map(|_| 2 * MS),
        first_cpu: Some(0),
        last_cpu: Some(0),
        migrations: response.map(|_| 1),
        context_switches: response.map(|_| 3),
        counters: Counters::default(),
    }
}

fn span(count: u64, longest_ns: u64) -> SpanRecord {
    SpanRecord { count, longest_ns, total_ns: 2 * longest_ns }
}

/// Of which the timer of a release was so late.
fn extent(longest_ns: u64) -> ExcuseExtent {
    let longest = LongestExcuse { kind: "release-latency".to_owned(), ns: longest_ns };
    ExcuseExtent::new((800_000, 80 * MS), (3, 4), Some(longest))
}

fn schedule(violated: &[(&str, SpanRecord)]) -> ScheduleRecord {
    let rule = |(rule, violations): &(&str, SpanRecord)| RuleRecord {
        rule: (*rule).to_owned(),
        violations: *violations,
    };
    ScheduleRecord {
        end_ns: 40 * MS,
        records: 100,
        lost: 1,
        recorder_cpu_ns: 5,
        decisions: 30,
        task_set: Value::Null,
        free_arrivals: vec![],
        budgets: "off".to_owned(),
        batching: false,
        longest_way_ns: 7,
        windows: [("decision".to_owned(), span(4, 2_000))].into(),
        verification: VerificationRecord {
            instants: 200,
            excused: span(10, 3_000),
            causes: [("kernel-thread".to_owned(), span(10, 3_000))].into(),
            overruns: Some(span(3, 400)),
            state: None,
            extent: Some(extent(if violated.is_empty() { 600_000 } else { 20_000 })),
            violated: violated.iter().map(rule).collect(),
            violations: violated.iter().map(|(rule, _)| format!("t=1ms [{rule}]")).collect(),
        },
        notes: vec![],
        causes: false,
        budgets_used_up: vec![],
    }
}

/// Writes a trial's results: 4 jobs, of which one is late and one never ends.
fn measured(trial: &Trial, status: RunStatus, schedule: Option<ScheduleRecord>) {
    let set = TaskSet::new("one", vec![Task::periodic("t", Duration::from_ms(1), Duration::from_ms(10))])
        .expect("a set");
    let not_measured = match schedule {
        Some(_) => BTreeMap::new(),
        None => [(laxity_run::SCHEDULE.to_owned(), "the kernel refuses the probes".to_owned())].into(),
    };
    let run = Run {
        grace: Duration::from_ms(20),
        not_measured,
        schedule,
        jobs: vec![job(0, Some(2 * MS)), job(1, Some(4 * MS)), job(2, Some(15 * MS)), job(3, None)],
        ..Run::new(trial.scheduler.name.clone(), Host::KernelPolicy, Duration::from_ms(40), status)
    };
    let cpus: CpuList = "0-1".parse().expect("CPUs");
    let machine = Machine {
        host_name: "here".into(),
        cpu_model: "some".into(),
        kernel: "6.18.15".into(),
        clusters: vec![cpus.clone()],
        cpus,
        caches: vec![],
        memory_bytes: Some(1),
        facts: BTreeMap::new(),
        tuning: None,
    };
    let manifest = Results {
        version: RESULTS_VERSION,
        laxity_version: "0".into(),
        command: vec![],
        created: "2026-01-01T00:00:00Z".into(),
        seed: 1,
        machine,
        platform: None,
        task_sets: vec![set.to_json_value()],
        options: BTreeMap::new(),
        background: vec![],
        analysis: vec![],
        runs: vec![Run { jobs: vec![], ..run.clone() }],
    };
    let mut directory =
        ResultsDirectory::create(trial.folder().expect("possible"), manifest, Existing::Replace)
            .expect("creates");
    directory.append_run(&run).expect("appends");
    directory.finish().expect("finishes");
}

/// A study with a clean trial, one that violates, one without a schedule, one whose policy was thrown out, one that is impossible
/// and one that is still to be measured.
fn study(folder: &Path) -> (Vec<Trial>, Evaluation) {
    let names =
        ["edf-bh/2/1/0", "edf-bh/2/4/0", "g-edf/2/4/0", "fpp/2/4/0", "g-edf-mp/1/4/0", "edf-rbt/2/4/0"];
    let trials: Vec<Trial> = names.into_iter().map(|name| trial(name, folder)).collect();
    measured(&trials[0], RunStatus::Completed, Some(schedule(&[])));
    let violated = [("global invariant", span(2, 70_000)), ("budgets", span(3, 0))];
    measured(&trials[1], RunStatus::Completed, Some(schedule(&violated)));
    measured(&trials[2], RunStatus::Completed, None);
    let thrown_out = "the kernel threw the policy out: stall".to_owned();
    let ran = Duration::from_ms(7);
    measured(&trials[3], RunStatus::Interrupted { reason: thrown_out, ran }, None);
    let evaluation = Evaluation::of(&trials).expect("readable");
    (trials, evaluation)
}

fn written(evaluation: &Evaluation) -> (String, String) {
    let schedulers = ["edf-bh", "fpp", "g-edf", "g-edf-mp", "edf-rbt"].map(String::from);
    let out = tempfile::tempdir().expect("a directory");
    let method = vec!["By hand.".to_owned()];
    StudyOutputs { schedulers: &schedulers, evaluation, method, limits: ExcuseLimits::DEFAULT }
        .write(out.path())
        .expect("writes");
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).expect("written");
    assert!(read("report.html").contains("<svg"));
    assert_eq!(std::fs::read_dir(out.path().join("plots")).expect("plots").count(), 3);
    (read("schedules.csv"), read("summary.md"))
}

#[test]
fn the_table_has_what_was_measured() {
    let folder = tempfile::tempdir().expect("a directory");
    let (_, evaluation) = study(folder.path());
    let (table, _) = written(&evaluation);
    let rows: Vec<&str> = table.lines().skip(1).collect();
    // 4 jobs; 3 completed, 1 of them late by 5 ms; the one that never ends misses too. Laxity: (8 + 6 - 5)/3 ms of 10 ms.
    let jobs = "4,3,2,1,1666666.7,5000000,0.3000,-5000000,3,9,0.2000";
    assert_eq!(rows.len(), 3);
    assert_eq!(
        rows[0],
        format!("2,1,2,0,edf-bh,{jobs},200,30,10,3000,6000,0,0,0,1,40000000,10000,3,excused,off")
    );
    assert_eq!(
        rows[1],
        format!("2,4,8,0,edf-bh,{jobs},200,30,10,3000,6000,5,70000,140000,1,40000000,10000,3,violated,off")
    );
    assert_eq!(rows[2], format!("2,4,8,0,g-edf,{jobs},,,,,,,,,,,,,,off"));
    let columns = |line: &str| line.split(',').count();
    assert!(table.lines().all(|line| columns(line) == columns(rows[0])), "{table}");
}

#[test]
fn the_page_says_what_was_violated_and_what_is_missing() {
    let folder = tempfile::tempdir().expect("a directory");
    let (_, evaluation) = study(folder.path());
    assert_eq!((evaluation.violations(), evaluation.open()), (5, 1));
    let (_, page) = written(&evaluation);
    for part in [
        "- 2 CPUs: 2 schedules, 400 instants and 60 decisions checked; violations: edf-bh 3 x budgets, 2 x global invariant \
         (up to 70.0 µs); no verdict on 1 schedule: too much is excused.",
        "- 2 CPUs: jobs that missed their deadlines: edf-bh 50.0 % of 8, g-edf 50.0 % of 4.",
        "| edf-bh | 2 | 400 | 60 | 20 | 1.00 % | 75.00 % | kernel thread 3.00 µs | 5 | global invariant 70.0 µs | 1 | 2 |",
        "| edf-bh | 4 | t=1ms [budgets] |",
        "| edf-bh | 20 x kernel thread (up to 3.00 µs) |",
        "| decision | 8: 1.00 µs, 2.00 µs |",
        "| edf-bh | 4 | 4 | 2 | 1 | 5.00 ms | 0.300 | -0.500 | 0.200 | 0.750 | 2.25 | 200 | 5 |",
        "| g-edf with 2 CPUs | 4 | no schedule: the kernel refuses the probes |",
        "| fpp with 2 CPUs | 4 | ended after 7ms: the kernel threw the policy out: stall |",
        "| g-edf-mp with 1 CPU | 4 | g-edf-mp dedicates a CPU to scheduling, and there is only one",
    ] {
        assert!(page.contains(part), "no {part} in\n{page}");
    }
}

fn told_state(answer: &Value, trial: usize) -> &str {
    answer["trials"][trial]["schedule"]["state"].as_str().expect("a state")
}

#[test]
fn the_answer_keeps_to_its_schema() {
    let folder = tempfile::tempdir().expect("a directory");
    let (trials, evaluation) = study(folder.path());
    let answer = serde_json::to_value(Answer::of(&evaluation, &ExcuseLimits::DEFAULT)).expect("serializes");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/study-schedules.schema.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(schema).expect("published")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!((&answer["clean"], &answer["state"]), (&false.into(), &"violated".into()));
    assert_eq!(told_state(&answer, 0), "excused");
    assert_eq!(told_state(&answer, 1), "violated");
    let wide = Answer::of(&evaluation, &ExcuseLimits::EMULATED);
    assert_eq!(told_state(&serde_json::to_value(wide).expect("serializes"), 0), "clean");
    let told = answer["trials"].as_array().expect("a list");
    assert_eq!(told.len(), trials.len());
    assert_eq!(told[1]["schedule"]["windows"]["decision"]["longest_ns"], 2_000);
    assert_eq!(told[1]["schedule"]["verification"]["violated"][0]["rule"], "global invariant");
    assert_eq!((&told[0]["jobs"]["misses"], &told[0]["jobs"]["migrations"]), (&2.into(), &3.into()));
    assert_eq!(told[2]["schedule_not_recorded"], "the kernel refuses the probes");
    assert_eq!(told[5]["not_measured"], "not measured yet");
    assert!(told[3]["not_measured"].as_str().is_some_and(|why| why.contains("stall")));
}
