//! The ordinary ways through run, compare and report: what they print, what they write, what reads it back.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, prints, text, utf8};
use host::{laxity, output, small_set, takes_policies, words};
use patience::real_run;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A results directory of a comparison of the small set, and what it printed as JSON.
fn small_comparison(more: &[&str]) -> Option<(tempfile::TempDir, PathBuf, Output)> {
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let call = ["compare", utf8(&set), "--duration", "200ms", "--alone", "50ms", "--out", utf8(&out)];
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(call).args(more);
        command
    })?;
    assert!(ended.status.success(), "{}", words(&ended));
    Some((directory, out, ended))
}

fn validator(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name);
    jsonschema::draft202012::new(&json_file(&path)).expect("a valid schema")
}

fn check_against(name: &str, document: &Value) {
    let errors: Vec<String> = validator(name).iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

/// Whether a run that was made says why its schedule was not recorded.
fn says_why_unrecorded(run: &Value) -> bool {
    run["not_measured"].as_object().is_some_and(|reasons| reasons.contains_key("schedule"))
}

#[test]
fn a_comparison_leaves_everything_it_promises() {
    let Some((_directory, out, ended)) = small_comparison(&["--repeat", "2", "--assume-no-background"])
    else {
        return;
    };
    let manifest = json_file(&out.join("manifest.json"));
    check_against("manifest.schema.json", &manifest);
    let runs = manifest["runs"].as_array().expect("runs");
    let simulated: Vec<&Value> = runs.iter().filter(|run| run["host"] == "simulator").collect();
    assert_eq!((runs.len(), simulated.len()), (1 + 2 * 6 * 2, 6 * 2));
    // The schedule that the kernel made is that of the run beside it.
    assert!(simulated.iter().all(|run| run["schedule"].is_null()), "{simulated:#?}");
    assert!(runs.iter().any(|run| !run["schedule"].is_null()) || runs.iter().any(says_why_unrecorded));
    assert!(runs.iter().all(|run| run["status"]["state"] == "completed"), "{runs:#?}");
    assert_eq!(manifest["command"][1], "compare");
    assert_eq!(manifest["options"]["duration"], "200ms");
    let parquet = fs::read(out.join("jobs.parquet")).expect("jobs");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let summary = json_file(&out.join("summary.json"));
    check_against("answer.schema.json", &summary);
    // Periods of 10, 20, 40 and 100 ms in 200 ms.
    let jobs_of = |name: &str| {
        let all = summary["schedulers"].as_array().expect("a list");
        let one = all.iter().find(|entry| entry["scheduler"] == name).expect("a scheduler");
        assert_eq!(one["host"], "linux");
        one["jobs"].as_u64().expect("a number")
    };
    for name in ["p-edf", "c-edf", "g-edf", "p-rm", "c-rm", "g-rm"] {
        assert_eq!(jobs_of(name), 2 * (20 + 10 + 5 + 2), "{name}");
    }
    simulations_stand_beside(&summary);
    // U = 0.6 of one core: every scheduler is proven to meet all deadlines, in the answer and in the table.
    let every = ["c-edf", "c-rm", "g-edf", "g-rm", "p-edf", "p-rm"]
        .map(|name| (name.to_owned(), "schedulable".to_owned()));
    assert_eq!(proven_hard(&summary), every);
    let page = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(page.contains("Simulated beside measured"));
    assert!(page.matches("hard (").count() >= 6 && !page.contains("not proven"), "the column of analyses");
    assert!(page.contains("</html>") && !page.contains("src=\"http"), "self-contained");
    for (folder, ending) in [("plots", ".svg"), ("deploy", ".sh")] {
        let entries = fs::read_dir(out.join(folder)).expect(folder);
        let names: Vec<String> =
            entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        assert!(names.iter().any(|name| name.ends_with(ending)), "{folder}: {names:?}");
    }
    assert!(!out.join("jobs.parts").exists(), "finished");
    let told = text(&ended.stdout);
    assert!(told.contains("Deploy ") || told.contains("is the least bad"), "{told}");
    let said = words(&ended);
    assert!(said.contains("[13/13]") && said.contains("report: "), "{said}");
    deployment_scripts_are_sound(&out.join("deploy"));
    what_to_set_is_said_everywhere(&out, &told);
    a_report_made_again_is_the_same(&out);
}

/// What `analysis` says of hard deadlines, by scheduler.
fn proven_hard(summary: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{summary}")).to_owned();
    let all = summary["analysis"].as_array().expect("a list");
    let mut said: Vec<_> =
        all.iter().map(|one| (word(&one["scheduler"]), word(&one["hard"]["verdict"]))).collect();
    said.sort();
    said
}

/// U = 1.9 on one core: that it misses is shown, and the answer and the table say so beside a set that is proven.
#[test]
fn what_is_not_proven_stands_beside_what_is() {
    let directory = tempfile::tempdir().expect("directory");
    let [over, light, out] = ["over.toml", "light.toml", "out"].map(|name| directory.path().join(name));
    fs::write(&over, OVERLOAD).expect("write");
    fs::write(&light, LIGHT).expect("write");
    let call = [
        "compare",
        "--schedulers",
        "g-rm",
        "--assume-no-background",
        "--cpus",
        "1",
        "--overload",
        "least-loaded",
        "--json",
        "-q",
    ];
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(call).args([
            "--duration",
            "120ms",
            "--alone",
            "0s",
            "--record",
            "off",
            "--force",
            "--out",
        ]);
        command.arg(&out).args([&over, &light]);
        command
    });
    let Some(ended) = ended else { return };
    let answer = json(&text(&ended.stdout));
    check_against("answer.schema.json", &answer);
    let analysis = answer["analysis"].as_array().expect("a list");
    let said: Vec<[&Value; 3]> = analysis
        .iter()
        .map(|one| [&one["hard"]["verdict"], &one["hard"]["refuted"], &one["soft"]["verdict"]])
        .collect();
    let [no, yes] = [false, true].map(Value::Bool);
    assert_eq!(
        said,
        [
            [&"not-proven".into(), &yes, &"not-proven".into()],
            [&"schedulable".into(), &no, &"schedulable".into()]
        ]
    );
    assert_eq!(answer["recommendation"]["scheduler"], Value::Null, "nothing was compared");
    assert_eq!(answer["recommendation"]["objections"][0]["label"], "g-rm");
    let told = prints(&["report", "-v", utf8(&out)]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("not hard") && told.contains("hard (fp-rta)"), "{told}");
}

/// Every scheduler is there twice, with the same jobs; the recommendation is from what was measured.
fn simulations_stand_beside(summary: &Value) {
    let all = summary["schedulers"].as_array().expect("a list");
    let of = |host: &str| -> Vec<(&Value, &Value)> {
        all.iter().filter(|s| s["host"] == host).map(|s| (&s["scheduler"], &s["jobs"])).collect()
    };
    assert_eq!(of("linux"), of("simulator"), "the same schedulers and jobs");
    for simulated in all.iter().filter(|s| s["host"] == "simulator") {
        assert_eq!(simulated["misses"], 0, "U = 0.6 is no load: {simulated}");
    }
    assert_eq!(summary["recommendation"]["host"], "linux");
    assert_eq!(summary["recommendation"]["ranking"].as_array().map(Vec::len), Some(6));
    let beside = summary["beside"].as_array().expect("a list");
    assert_eq!(beside.len(), 6);
    for one in beside {
        assert!(one["jobs_compared"].as_u64().is_some_and(|jobs| jobs > 0), "{one}");
        assert!(!one["differences"].as_array().expect("sentences").is_empty(), "{one}");
        let later = &one["later_ns"];
        assert!(
            later["median"].as_i64() <= later["p99"].as_i64()
                && later["p99"].as_i64() <= later["max"].as_i64()
        );
    }
}

#[test]
fn costs_and_schedulers_that_cannot_run_are_simulated_beside() {
    let costs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/costs/constant.toml");
    if takes_policies() {
        eprintln!("SKIPPED: the kernel of this machine takes policies");
        return;
    }
    let demand = ["--demand", "1.1"];
    let call = ["--schedulers", "edf-bh,p-rm,g-edf-mp", "--costs", utf8(&costs)];
    let call = [&call[..], &["--budget", "off", "--repeat", "1"], &demand].concat();
    let Some((_directory, out, _)) = small_comparison(&call) else { return };
    let manifest = json_file(&out.join("manifest.json"));
    check_against("manifest.schema.json", &manifest);
    let state = |run: &Value| format!("{} {} {}", run["scheduler"], run["host"], run["status"]["state"]);
    let runs: Vec<String> = manifest["runs"].as_array().expect("runs")[1..].iter().map(state).collect();
    let wanted = [
        r#""edf-bh" "kernel-policy" "not-run""#,
        r#""p-rm" "linux" "completed""#,
        r#""g-edf-mp" "kernel-policy" "not-run""#,
        r#""edf-bh" "simulator" "completed""#,
        r#""p-rm" "simulator" "completed""#,
        r#""g-edf-mp" "simulator" "completed""#,
    ];
    assert_eq!(runs, wanted);
    let unenforced = |run: &&Value| run["notes"].to_string().contains("simulated without budgets");
    let unenforced = manifest["runs"].as_array().expect("runs").iter().filter(unenforced);
    assert_eq!(unenforced.count(), 2, "of laxity's own policies; SCHED_FIFO has no budgets: {manifest:#}");
    assert_eq!(manifest["options"]["budget"], "off");
    assert_eq!(manifest["options"]["costs"], utf8(&costs));
    let modelled = manifest["options"]["modelled"].as_str().expect("what costs something");
    assert!(modelled.contains("context switches") && modelled.contains("timer ticks"), "{modelled}");
    let summary = json_file(&out.join("summary.json"));
    check_against("answer.schema.json", &summary);
    assert_eq!(summary["recommendation"]["ranking"], serde_json::json!(["p-rm"]), "only what was measured");
    let besides = summary["beside"].as_array().expect("a list");
    let of = |name: &str| besides.iter().find(|one| one["scheduler"] == name).expect("a scheduler");
    assert!(of("edf-bh")["differences"][0].as_str().expect("words").contains("sched_ext"));
    assert!(of("g-edf-mp")["normalized_laxity"]["simulated"].is_f64());
    let laxity = |entry: &Value| entry["normalized_laxity"]["mean"].as_f64().expect("a mean");
    let simulated = summary["schedulers"].as_array().expect("a list").iter();
    let p_rm = { simulated }.find(|s| s["scheduler"] == "p-rm" && s["host"] == "simulator").expect("there");
    let (_other, set) = small_set();
    let call = ["simulate", utf8(&set), "--scheduler", "p-rm", "--duration", "200ms", "--json"];
    let call = [&call[..], &demand].concat();
    let free = json(&prints(&call));
    let same = json(&prints(&[&call[..], &["--costs", utf8(&costs)]].concat()));
    assert_eq!(laxity(p_rm), laxity(&same["schedulers"][0]), "the costs are those of simulate");
    assert!(laxity(p_rm) < laxity(&free["schedulers"][0]), "and they cost something");
    let told = prints(&["report", "-v", utf8(&out)]).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["with the costs of", "edf-bh, g-edf-mp: not run: "] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn simulation_can_be_left_out() {
    let Some((_directory, out, _)) =
        small_comparison(&["--no-simulation", "--record", "off", "--schedulers", "p-rm"])
    else {
        return;
    };
    let summary = json_file(&out.join("summary.json"));
    assert!(summary["beside"].as_array().is_some_and(Vec::is_empty));
    assert!(summary["schedulers"].as_array().expect("a list").iter().all(|s| s["host"] == "linux"));
    assert!(json_file(&out.join("manifest.json")).get("platform").is_none());
}

/// In the answer, in its JSON, on the page and in the files.
fn what_to_set_is_said_everywhere(out: &Path, told: &str) {
    assert!(told.contains("What to set ("), "{told}");
    let page = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(page.contains("id=\"what-to-set\""), "the page has the table");
    assert!(fs::read_to_string(out.join("summary.md")).expect("a summary").contains("## What to set"));
    let plan = json_file(&out.join("deploy/plan.json"));
    check_against("deploy-plan.schema.json", &plan);
    assert_eq!(json_file(&out.join("summary.json"))["what_to_set"], Value::from(vec![plan.clone()]));
    let threads = plan["threads"].as_array().expect("a list");
    assert_eq!(threads.len(), 4);
    for name in
        ["start.sh", "README.md", "c/laxity_apply.c", "rust/laxity_apply.rs", "python/laxity_apply.py"]
    {
        assert!(out.join("deploy").join(name).is_file(), "{name}");
    }
    let count = |folder: &str| fs::read_dir(out.join("deploy").join(folder)).expect("a folder").count();
    assert!(count("systemd") > threads.len() && count("oci") == threads.len());
}

/// Shells read them; shellcheck has nothing to say where it is installed.
fn deployment_scripts_are_sound(folder: &Path) {
    for entry in fs::read_dir(folder).expect("deploy") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "sh") {
            continue;
        }
        let checked = output(Command::new("sh").arg("-n").arg(&path));
        assert!(checked.status.success(), "{}", words(&checked));
        match Command::new("shellcheck").arg(&path).output() {
            Ok(checked) => assert!(checked.status.success(), "{}", text(&checked.stdout)),
            Err(_) => eprintln!("SKIPPED: shellcheck is not installed"),
        }
        // Without its variables it says what it wants, and starts nothing.
        let started = output(Command::new("sh").arg(&path).arg("start").env_clear());
        assert!(!started.status.success());
        assert!(words(&started).contains("set TASK_1_"), "{}", words(&started));
    }
}

fn a_report_made_again_is_the_same(out: &Path) {
    let files = ["summary.json", "report.html", "summary.md"].map(|name| out.join(name));
    let read = || files.each_ref().map(|file| fs::read_to_string(file).expect("readable"));
    let before = read();
    for file in &files {
        fs::remove_file(file).expect("removable");
    }
    let printed = prints(&["report", utf8(out), "--json"]);
    assert!(read() == before, "the report differs when it is made again");
    assert_eq!(printed, before[0], "--json prints the summary");
}

#[test]
fn json_of_a_run_is_the_published_answer() {
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let call = ["run", utf8(&set), "--scheduler", "g-rm", "--duration", "100ms", "--json", "-q"];
    let Some(ended) = real_run(|| {
        let mut command = laxity();
        command.args(call).arg("--out").arg(&out).arg("--force");
        command
    }) else {
        return;
    };
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = json(&text(&ended.stdout));
    check_against("answer.schema.json", &answer);
    assert_eq!(answer, json_file(&out.join("summary.json")));
    let scheduler = &answer["schedulers"][0];
    for promised in [
        "scheduler",
        "host",
        "jobs",
        "misses",
        "normalized_laxity",
        "tardiness_ns",
        "deadline_satisfaction",
        "measured_utilization",
        "migration_rate",
        "context_switch_rate",
    ] {
        let value = scheduler.get(promised).unwrap_or_else(|| panic!("{promised} is missing"));
        assert!(!value.is_null() || scheduler["not_measured"][promised].is_string(), "{promised}");
    }
    for part in ["mean", "sd"] {
        assert!(scheduler["normalized_laxity"].get(part).is_some(), "{part}");
    }
    assert!(scheduler["tardiness_ns"]["mean"].is_number() && scheduler["tardiness_ns"]["max"].is_number());
    let wrong = {
        let mut wrong = answer.clone();
        wrong["version"] = 2.into();
        wrong
    };
    assert!(!validator("answer.schema.json").is_valid(&wrong));
    assert_eq!(words(&ended).lines().count(), 0, "quiet says nothing: {}", words(&ended));
}

/// Three tasks that need 1.9 times a CPU.
const OVERLOAD: &str = "version = 1\nname = \"over\"\n\
    [[tasks]]\nname = \"a\"\nwcet = \"19ms\"\nperiod = \"30ms\"\n\
    [[tasks]]\nname = \"b\"\nwcet = \"19ms\"\nperiod = \"30ms\"\n\
    [[tasks]]\nname = \"c\"\nwcet = \"19ms\"\nperiod = \"30ms\"\n";

const LIGHT: &str = "version = 1\n[[tasks]]\nwcet = \"1ms\"\nperiod = \"100ms\"\n";

#[test]
fn misses_fail_where_asked_to_judge() {
    let directory = tempfile::tempdir().expect("directory");
    let (set, out) = (directory.path().join("over.toml"), directory.path().join("out"));
    fs::write(&set, OVERLOAD).expect("write");
    let judged = |more: &[&'static str]| {
        real_run(|| {
            let mut command = laxity();
            command.args([
                "run",
                "--scheduler",
                "g-rm",
                "--cpus",
                "1",
                "--duration",
                "300ms",
                "-q",
                "--force",
            ]);
            command.args(["--overload", "least-loaded", "--out"]).arg(&out).arg(&set).args(more);
            command
        })
    };
    let Some(failed) = judged(&["--fail-on-miss"]) else { return };
    assert_eq!(failed.status.code(), Some(1), "{}", words(&failed));
    let unjudged = judged(&[]).expect("it ran before");
    assert_eq!(unjudged.status.code(), Some(0), "{}", words(&unjudged));
    let light = directory.path().join("light.toml");
    fs::write(&light, LIGHT).expect("write");
    let clean = real_run(|| {
        let mut command = laxity();
        command.args([
            "run",
            "--scheduler",
            "g-rm",
            "--duration",
            "300ms",
            "--fail-on-miss",
            "--force",
            "--out",
        ]);
        command.arg(&out).arg(&light);
        command
    });
    assert_eq!(clean.expect("it ran before").status.code(), Some(0));
}

/// One set with everything that a task can have.
const RICH: &str = r#"
version = 1
name = "rich"
[[tasks]]
name = "constrained"
wcet = "1ms"
period = "20ms"
deadline = "10ms"
[[tasks]]
name = "phased"
wcet = "1ms"
period = "20ms"
phase = "7ms"
working_set = { size = "64KiB", access = "random", reads_to_writes = "1:1" }
[[tasks]]
name = "sporadic"
wcet = "1ms"
min_interarrival = "20ms"
demand = "uniform:0.2,0.4"
[[tasks]]
name = "sharer"
wcet = "1ms"
period = "25ms"
working_set = { size = "16KiB" }
group = "g"
[[tasks]]
name = "background"
wcet = "1s"
period = "1s"
kind = "best-effort"
"#;

#[test]
fn every_kind_of_task_and_every_demand_runs() {
    let directory = tempfile::tempdir().expect("directory");
    let set = directory.path().join("rich.toml");
    fs::write(&set, RICH).expect("write");
    let calls: [&[&str]; 6] = [
        &["--demand", "uniform:0.5,1"],
        &["--demand", "0.5", "--demand-model", "work"],
        &["--demand", "normal:0.6,0.1", "--placement", "wfd"],
        &["--demand", "bimodal:0.2,0.9,0.1", "--clusters", "each"],
        &["--clusters", "all", "--grace", "100ms", "--seed", "18446744073709551615"],
        &["--cpus", "1", "--budget-margin", "1%,50us"],
    ];
    for (at, more) in calls.into_iter().enumerate() {
        let out = directory.path().join(at.to_string());
        let Some(ended) = real_run(|| {
            let mut command = laxity();
            command.args([
                "run",
                "--schedulers",
                "p-edf,c-rm,g-rm",
                "--duration",
                "200ms",
                "--force",
                "--out",
            ]);
            command.arg(&out).arg(&set).args(more);
            command
        }) else {
            return;
        };
        assert!(ended.status.success(), "{more:?}: {}", words(&ended));
        let manifest = json_file(&out.join("manifest.json"));
        for run in manifest["runs"].as_array().expect("runs") {
            assert_eq!(run["status"]["state"], "completed", "{more:?}: {run:#}");
        }
        let summary = json_file(&out.join("summary.json"));
        let tasks = summary["runs"][0]["tasks"].as_array().expect("tasks");
        let jobs_of = |name: &str| {
            let task = tasks.iter().find(|task| task["task"] == name || task["name"] == name);
            task.unwrap_or_else(|| panic!("{name} in {tasks:#?}"))["jobs"].as_u64().expect("a number")
        };
        assert_eq!(jobs_of("constrained"), 10, "{more:?}");
        assert_eq!(jobs_of("phased"), 10, "{more:?}");
        assert!((1..=10).contains(&jobs_of("sporadic")), "{more:?}");
        assert_eq!(jobs_of("sharer"), 8, "{more:?}");
        assert_eq!(tasks.len(), 4, "no jobs of background work");
    }
}

#[test]
fn clusters_shape_the_run() {
    let (directory, set) = small_set();
    let machine = json(&prints(&["list", "--json"]));
    let cpus = machine["machine"]["cpus"].as_str().expect("a list");
    if cpus.parse::<u32>().is_ok() {
        eprintln!("SKIPPED: one CPU has one way to be clustered");
        return;
    }
    for (clusters, bins) in [("each", None), ("all", Some(1)), ("llc", None), ("0;1", Some(2))] {
        if clusters == "0;1" && cpus != "0-1" {
            continue;
        }
        let out = directory.path().join(clusters);
        let Some(ended) = real_run(|| {
            let mut command = laxity();
            command.args([
                "run",
                "--scheduler",
                "c-edf",
                "--duration",
                "100ms",
                "--force",
                "--clusters",
                clusters,
            ]);
            command.arg("--out").arg(&out).arg(&set);
            command
        }) else {
            return;
        };
        assert!(ended.status.success(), "{clusters}: {}", words(&ended));
        let manifest = json_file(&out.join("manifest.json"));
        let run = &manifest["runs"][0];
        assert_eq!(run["status"]["state"], "completed", "{clusters}: {run:#}");
        let found = run["placement"]["bins"].as_array().expect("bins").len();
        assert_eq!(found, manifest["machine"]["clusters"].as_array().expect("clusters").len(), "{clusters}");
        assert!(bins.is_none_or(|bins| bins == found), "{clusters}: {found}");
    }
}

#[test]
fn sets_of_one_name_are_told_apart() {
    let (directory, set) = small_set();
    let twin = directory.path().join("twin.toml");
    fs::copy(&set, &twin).expect("copy");
    let out = directory.path().join("out");
    let Some(ended) = real_run(|| {
        let mut command = laxity();
        command.args(["run", "--scheduler", "g-rm", "--duration", "100ms", "--force", "--out"]).arg(&out);
        command.arg(&set).arg(&twin);
        command
    }) else {
        return;
    };
    assert!(ended.status.success(), "{}", words(&ended));
    let manifest = json_file(&out.join("manifest.json"));
    assert_eq!(manifest["task_sets"][0]["name"], "small");
    assert!(manifest["task_sets"][1]["name"].as_str().expect("a name").contains("twin.toml"));
    assert_eq!(manifest["runs"].as_array().map(Vec::len), Some(2));
}
