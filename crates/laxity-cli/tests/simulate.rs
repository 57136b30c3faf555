//! `laxity simulate` and `laxity verify` from end to end.

mod host;

use host::{laxity, output, small_set, wait_until, words};
use laxity_trace::{EventKind, EventsFile, events_path, open_events};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two tasks on one CPU under EDF, one of which is always preempted: small enough to follow by hand.
const PAIR: &str = r#"
version = 1
name = "pair"
[[tasks]]
name = "a"
wcet = "2ms"
period = "5ms"
[[tasks]]
name = "b"
wcet = "4ms"
period = "10ms"
"#;

/// More than one CPU can do.
const TOO_MUCH: &str = r#"
version = 1
name = "too-much"
[[tasks]]
name = "a"
wcet = "3ms"
period = "5ms"
[[tasks]]
name = "b"
wcet = "6ms"
period = "10ms"
"#;

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    path
}

fn simulate(call: &[&str]) -> Output {
    output(laxity().arg("simulate").args(call))
}

/// What a call that must succeed prints.
fn prints(call: &[&str]) -> String {
    let ended = simulate(call);
    assert!(ended.status.success(), "laxity simulate {}\n{}", call.join(" "), words(&ended));
    String::from_utf8(ended.stdout).expect("UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn an_answer_has_what_run_and_compare_have() {
    let (_directory, set) = small_set();
    let names = "edf-bh,gsn-edf-di,g-edf-mp,push-pull,p-fpp:rm,g-edf";
    let answer =
        json(&prints(&[utf8(&set), "--schedulers", names, "--cpus", "3", "--duration", "2s", "--json"]));
    let schema: Value = json(
        &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/answer.schema.json"))
            .expect("the schema"),
    );
    jsonschema::validate(&schema, &answer).expect("the answer fits its schema");
    let schedulers = answer["schedulers"].as_array().expect("a list");
    let found: Vec<&str> = schedulers.iter().map(|s| s["scheduler"].as_str().expect("a name")).collect();
    assert_eq!(found.join(","), names, "names and order are those asked for");
    for scheduler in schedulers {
        assert_eq!(scheduler["host"], "simulator");
        // 200 + 100 + 50 + 20 jobs in two seconds, all of them in time.
        assert_eq!((&scheduler["jobs"], &scheduler["misses"]), (&Value::from(370), &Value::from(0)));
        assert_eq!(scheduler["deadline_satisfaction"], 1.0);
        assert!((scheduler["measured_utilization"].as_f64().expect("known") - 0.6).abs() < 1e-9);
        for metric in ["normalized_laxity", "tardiness_ns", "migration_rate", "context_switch_rate"] {
            assert!(!scheduler[metric].is_null(), "{metric}: {scheduler}");
        }
        assert!(scheduler["llc_miss_rate_per_us"].is_null());
        assert!(
            scheduler["not_measured"]["llc_miss_rate_per_us"].as_str().expect("why").contains("simulation")
        );
    }
    assert_eq!(answer["results"], Value::Null, "nothing was written");
    assert_eq!(answer["recommendation"]["host"], "simulator");
}

#[test]
fn bytes_do_not_depend_on_threads_or_time() {
    let directory = tempfile::tempdir().expect("directory");
    let sets = directory.path().join("sets");
    let call = ["generate", "emberson", "-n", "7", "-u", "1.8", "--count", "9", "-o", utf8(&sets)];
    assert!(output(laxity().args(call)).status.success());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&sets).expect("sets").map(|e| e.expect("entry").path()).collect();
    files.sort();
    let files: Vec<&str> = files.iter().map(|path| utf8(path)).collect();
    let more = ["--schedulers", "fpp,c-edf-bh,g-rm", "--cpus", "2", "--duration", "1s", "--repeat", "3"];
    let demand = ["--demand", "uniform:0.5,1", "--overload", "least-loaded"];
    let of = |threads: &str, kind: &str| {
        prints(&[&files[..], &more, &demand, &["--threads", threads, kind]].concat())
    };
    let once = of("1", "--json");
    for threads in ["1", "2", "13"] {
        assert_eq!(of(threads, "--json"), once, "{threads} threads");
    }
    let text = of("1", "--text");
    assert_eq!(of("5", "--text"), text);
    assert_eq!(text.lines().filter(|line| line.starts_with("# run ")).count(), 9 * 3 * 3);
    let other_seed = prints(&[&files[..], &more, &demand, &["--seed", "2", "--json"]].concat());
    assert_ne!(other_seed, once, "the seed matters");
}

#[test]
fn a_schedule_can_be_read() {
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "pair.toml", PAIR);
    let text = prints(&[utf8(&set), "--scheduler", "edf-bh", "--cpus", "1", "--duration", "10ms", "--text"]);
    // Equal deadlines at 5 ms: task a has the lower id and goes first.
    let expected = "\
t=0 a.0 is released, deadline 5ms
t=0 b.0 is released, deadline 10ms
t=0 cpu0 a.0 starts
t=2ms cpu0 a.0 completes, laxity 3ms
t=2ms cpu0 b.0 starts
t=5ms a.1 is released, deadline 10ms
t=5ms cpu0 a.1 preempts b.0
t=7ms cpu0 a.1 completes, laxity 3ms
t=7ms cpu0 b.0 resumes
t=8ms cpu0 b.0 completes, laxity 2ms
";
    assert_eq!(text, expected);
    let window = prints(&[
        utf8(&set),
        "--scheduler",
        "edf-bh",
        "--cpus",
        "1",
        "--duration",
        "10ms",
        "--text",
        "--from",
        "6ms",
        "--to",
        "8ms",
    ]);
    assert_eq!(window, "t=7ms cpu0 a.1 completes, laxity 3ms\nt=7ms cpu0 b.0 resumes\n");
    let chart = prints(&[
        utf8(&set),
        "--scheduler",
        "edf-bh",
        "--cpus",
        "1",
        "--duration",
        "10ms",
        "--gantt",
        "--to",
        "10ms",
        "--from",
        "0ms",
    ]);
    assert!(chart.contains("cpu0") && chart.contains("Schedulers at a glance"), "{chart}");
}

#[test]
fn misses_and_violations_have_exit_codes() {
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "too-much.toml", TOO_MUCH);
    let call = [utf8(&set), "--cpus", "1", "--duration", "1s", "--overload", "least-loaded", "--quiet"];
    let with = |more: &[&str]| simulate(&[&call, more].concat()).status.code();
    assert_eq!(with(&[]), Some(0), "misses alone are no failure");
    assert_eq!(with(&["--fail-on-miss"]), Some(1));
    assert_eq!(with(&["--verify"]), Some(0), "an overloaded schedule is one, too");
    for budget in ["off", "throttle", "postpone"] {
        assert_eq!(with(&["--verify", "--budget", budget, "--demand", "1.5"]), Some(0), "{budget}");
    }
}

/// `a` and `b` need 0.6 of a CPU each.
#[test]
fn late_jobs_abort_or_have_releases_skipped_and_are_counted_apart() {
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "too-much.toml", TOO_MUCH);
    let overloaded = [utf8(&set), "--cpus", "1", "--duration", "1s", "--overload", "least-loaded", "--quiet"];
    for (rule, event, columns) in
        [("abort", "abort", ("aborted", "skipped")), ("skip", "skip", ("skipped", "aborted"))]
    {
        let out = directory.path().join(rule);
        let call = [&overloaded[..], &["--on-miss", rule]].concat();
        let kept = [&call[..], &["--verify", "--events", "--json", "--out", utf8(&out)]].concat();
        let summary = json(&prints(&kept));
        let counts = &summary["runs"][0];
        let count = |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("no {name} in {summary:#}"));
        let (own, other) = columns;
        assert!(count(own) > 20 && count(other) == 0, "{rule}: {counts}");
        assert_eq!(
            count("jobs"),
            count("completed") + count("unfinished") + count("aborted"),
            "{rule}: {counts}"
        );
        let results = laxity_trace::load(&out).expect("results");
        assert_eq!(results.options["on-miss"], rule);
        let of_jobs = results.runs[0].jobs.iter().filter(|job| job.outcome.name() == own).count();
        assert_eq!(u64::try_from(of_jobs).ok(), Some(count(own)), "{rule}: the file of jobs");
        let events = open_events(&out, 0).expect("reads").expect("events");
        let of_events =
            events.events().filter(|one| one.as_ref().is_ok_and(|one| one.kind.name() == event)).count();
        assert_eq!(of_events, of_jobs, "{rule}: the file of events");
        assert!(output(laxity().args(["verify", utf8(&out)])).status.success(), "{rule}");
        let table = prints(&call);
        let heading = if rule == "abort" { "Aborted" } else { "Skipped" };
        assert!(table.contains(heading), "{table}");
        let text = prints(&[&call[..], &["--text", "--to", "100ms"]].concat());
        let word = if rule == "abort" { " is aborted" } else { " is skipped" };
        assert!(text.contains(word), "{text}");
        // What a run on is no schedule where late jobs do not, and the other way round.
        let manifest = fs::read_to_string(out.join("manifest.json")).expect("reads");
        let other_rule = manifest.replace(&format!("\"on-miss\": \"{rule}\""), "\"on-miss\": \"continue\"");
        assert_ne!(manifest, other_rule);
        fs::write(out.join("manifest.json"), other_rule).expect("writes");
        fs::remove_file(out.join("SHA256SUMS")).expect("it is changed on purpose");
        assert_eq!(output(laxity().args(["verify", utf8(&out)])).status.code(), Some(1), "{rule}");
    }
    let refused = simulate(&[&overloaded[..], &["--on-miss", "abort", "--at-ticks"]].concat());
    assert!(
        refused.status.code() == Some(2) && words(&refused).contains("ticks only"),
        "{}",
        words(&refused)
    );
}

#[test]
fn every_policy_verifies() {
    let (_directory, set) = small_set();
    let names = "edf-bh,edf-rbt,fpp,gsn-edf,gsn-edf-di,push-pull,g-edf-mp,c-edf-bh:rm,p-fpp:dm,c-gsn-edf-di,g-edf,p-rm,c-dm";
    let call =
        [utf8(&set), "--schedulers", names, "--cpus", "4", "--clusters", "0-1;2-3", "--duration", "1s"];
    let verified = simulate(&[&call[..], &["--verify", "--json"]].concat());
    assert!(verified.status.success(), "{}", words(&verified));
    let answer = json(&String::from_utf8_lossy(&verified.stdout));
    let verdicts = answer["verdicts"].as_array().expect("a list");
    assert_eq!(verdicts.len(), names.split(',').count());
    for verdict in verdicts {
        assert_eq!(verdict["verdict"]["clean"], true, "{verdict}");
        assert_eq!(verdict["verdict"]["jobs_completed"], 185);
    }
}

/// By the given priorities `b` goes first, then `a` and `c` in the order of the set; by deadlines `c` does. Names stay those of Linux.
#[test]
fn given_and_deadline_monotonic_priorities_decide_the_schedule() {
    let task = |name: &str, deadline: &str, priority: u32| {
        format!(
            "[[tasks]]\nname = \"{name}\"\nwcet = \"1ms\"\nperiod = \"10ms\"\ndeadline = \"{deadline}\"\n\
             priority = {priority}\n"
        )
    };
    let tasks = [task("a", "9ms", 7), task("b", "8ms", 3), task("c", "3ms", 7)].concat();
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "three.toml", &format!("version = 1\n{tasks}"));
    let names = "p-fp,c-fp,g-fp,p-dm,c-dm,g-dm";
    let call = [utf8(&set), "--cpus", "1", "--schedulers", names, "--duration", "10ms", "--verify", "--json"];
    let answer = json(&prints(&call));
    let schedulers = answer["schedulers"].as_array().expect("a list");
    let found: Vec<&str> = schedulers.iter().map(|one| one["scheduler"].as_str().expect("a name")).collect();
    assert_eq!(found.join(","), names);
    for verdict in answer["verdicts"].as_array().expect("a list") {
        assert_eq!(verdict["verdict"]["clean"], true, "{verdict}");
    }
    let order = |scheduler: &str| {
        let call = [utf8(&set), "--cpus", "1", "--schedulers", scheduler, "--duration", "10ms", "--text"];
        let text = prints(&call);
        let ended = text.lines().filter(|line| line.contains(" completes,"));
        ended.filter_map(|line| line.split_once(".0 ")?.0.chars().last()).collect::<String>()
    };
    assert_eq!((order("p-fp").as_str(), order("p-dm").as_str()), ("bac", "cba"));
}

/// A results directory with the events of two runs.
fn with_events(directory: &Path) -> PathBuf {
    let set = write(directory, "pair.toml", PAIR);
    let out = directory.join("results");
    prints(&[
        utf8(&set),
        "--cpus",
        "1",
        "--duration",
        "100ms",
        "--schedulers",
        "edf-bh,p-fpp:rm",
        "--events",
        "--out",
        utf8(&out),
    ]);
    out
}

#[test]
fn kept_events_verify_and_tampered_ones_do_not() {
    let directory = tempfile::tempdir().expect("directory");
    let out = with_events(directory.path());
    for file in ["manifest.json", "jobs.parquet", "report.html", "summary.json", "events/run-0.parquet"] {
        assert!(out.join(file).is_file(), "{file}");
    }
    let verify = |more: &[&str]| output(laxity().arg("verify").arg(&out).args(more));
    let clean = verify(&[]);
    let said = String::from_utf8_lossy(&clean.stdout).into_owned();
    assert_eq!(clean.status.code(), Some(0), "{}", words(&clean));
    assert_eq!(said.matches("clean: ").count(), 2, "{said}");
    // The first job of `a` starts a millisecond late.
    let reader = open_events(&out, 0).expect("readable").expect("there");
    let mut events: Vec<_> = reader.events().map(|event| event.expect("an event")).collect();
    drop(reader);
    let start = events.iter_mut().find(|event| event.kind == EventKind::Start).expect("a start");
    start.time_ns = 1_000_000;
    fs::remove_file(events_path(&out, 0)).expect("removed");
    let mut file = EventsFile::create(events_path(&out, 0), 0).expect("created");
    events.iter().for_each(|event| file.write(event).expect("written"));
    file.finish().expect("finished");
    let changed = verify(&[]);
    assert_eq!(changed.status.code(), Some(2), "{}", words(&changed));
    assert!(words(&changed).contains("run-0.parquet differs from its sum"), "{}", words(&changed));
    fs::remove_file(out.join("SHA256SUMS")).expect("it is changed on purpose");
    let violated = verify(&["--json"]);
    assert_eq!(violated.status.code(), Some(1), "{}", words(&violated));
    let answer = json(&String::from_utf8_lossy(&violated.stdout));
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/verification.schema.json");
    let schema = json(&fs::read_to_string(schema).expect("the schema"));
    jsonschema::validate(&schema, &answer).expect("the answer fits its schema");
    assert_eq!(
        (&answer["clean"], &answer["runs"][0]["verdict"]["clean"]),
        (&Value::from(false), &Value::from(false))
    );
    assert_eq!(answer["runs"][1]["verdict"]["clean"], true);
    assert_eq!(verify(&["--run", "1"]).status.code(), Some(0), "the other run is untouched");
    assert_eq!(verify(&["--run", "7"]).status.code(), Some(2));
}

/// Costs are kept with the results, whatever their file is called; results that have only its name cannot be judged.
#[test]
fn costs_are_read_from_the_results() {
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "pair.toml", PAIR);
    let costs = write(directory.path(), "none", "version = 1\nscheduling = \"20us\"\nrelease = \"30us\"\n");
    let out = directory.path().join("results");
    let call = [
        "simulate",
        "pair.toml",
        "--cpus",
        "1",
        "--duration",
        "100ms",
        "--costs",
        "none",
        "--events",
        "--out",
    ];
    let simulated = output(laxity().args(call).arg(&out).current_dir(directory.path()));
    assert!(simulated.status.success(), "{}", words(&simulated));
    fs::remove_file(costs).and(fs::remove_file(set)).expect("removed");
    let verify = || output(laxity().arg("verify").arg(&out));
    assert_eq!(verify().status.code(), Some(0), "{}", words(&verify()));
    let manifest = out.join("manifest.json");
    let mut document = json(&fs::read_to_string(&manifest).expect("the manifest"));
    let options = document["options"].as_object_mut().expect("options");
    options.insert("costs".to_owned(), "other.toml".into());
    assert!(options.remove("costs-toml").is_some());
    fs::write(&manifest, document.to_string()).expect("written");
    fs::remove_file(out.join("SHA256SUMS")).expect("it is changed on purpose");
    let refused = verify();
    let said = words(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("`other.toml`") && said.contains("simulate again"), "{said}");
}

/// lindsay2012, 6.2.2: tasks that share memory miss the last-level cache less where they are on one CPU.
#[test]
fn followed_caches_count_lines_from_memory_and_verify() {
    let directory = tempfile::tempdir().expect("directory");
    let costs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/costs/opteron-6164-he.toml");
    let set = directory.path().join("mwl.toml");
    let generate = ["generate", "mtt", "--distribution", "mwl", "-u", "8", "--read-write", "1:1", "-o"];
    assert!(output(laxity().args(generate).arg(&set)).status.success());
    let misses = |placement: &str| {
        let call = [utf8(&set), "--scheduler", "p-edf", "--platform", "opteron-6164-he", "--json"];
        let how = ["--placement", placement, "--costs", utf8(&costs), "--duration", "500ms", "--verify"];
        let answer = json(&prints(&[&call[..], &how[..]].concat()));
        let scheduler = &answer["schedulers"][0];
        assert!(scheduler["not_measured"]["llc_miss_rate_per_us"].is_null(), "{scheduler}");
        scheduler["llc_miss_rate_per_us"].as_f64().expect("counted")
    };
    let (together, apart) = (misses("lwfg"), misses("wfd"));
    assert!(0.0 < together && 2.0 * together < apart, "{together} against {apart}");
}

#[test]
fn a_report_shows_kept_schedules() {
    let directory = tempfile::tempdir().expect("directory");
    let out = with_events(directory.path());
    let report = |more: &[&str]| output(laxity().arg("report").arg(&out).args(more));
    let text = report(&["--run", "0", "--text"]);
    assert!(String::from_utf8_lossy(&text.stdout).starts_with("t=0 a.0 is released"), "{}", words(&text));
    let both = report(&["--gantt"]);
    assert_eq!(String::from_utf8_lossy(&both.stdout).matches("# run ").count(), 2);
    let trace = directory.path().join("trace.perfetto");
    assert_eq!(report(&["--run", "1", "--perfetto", utf8(&trace)]).status.code(), Some(0));
    assert!(fs::metadata(&trace).expect("written").len() > 1000);
    assert_eq!(report(&["--perfetto", utf8(&trace)]).status.code(), Some(2), "one file for two runs");
    assert_eq!(report(&["--run", "0"]).status.code(), Some(2), "shown how?");
    let page = fs::read_to_string(out.join("report.html")).expect("written");
    assert!(page.contains("id=\"schedules\"") && page.contains("Best in simulation"));
}

#[test]
fn results_without_events_say_how_to_get_them() {
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "pair.toml", PAIR);
    let out = directory.path().join("results");
    prints(&[utf8(&set), "--cpus", "1", "--duration", "50ms", "--out", utf8(&out)]);
    for call in [&["verify", utf8(&out)][..], &["report", utf8(&out), "--gantt"]] {
        let refused = output(laxity().args(call));
        assert_eq!(refused.status.code(), Some(2), "{call:?}");
        assert!(words(&refused).contains("--events"), "{}", words(&refused));
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn nothing_is_left_of_schedules_that_were_only_looked_at() {
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "pair.toml", PAIR);
    let scratch = directory.path().join("scratch");
    fs::create_dir(&scratch).expect("directory");
    let call = ["simulate", utf8(&set), "--cpus", "1", "--duration", "50ms", "--gantt"];
    let ended = output(laxity().args(call).env("TMPDIR", &scratch).current_dir(directory.path()));
    assert!(ended.status.success(), "{}", words(&ended));
    assert_eq!(fs::read_dir(&scratch).expect("readable").count(), 0);
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 2, "nothing but what was there");
}

/// User time of a process, in ticks of 10 ms; 0 if it is not there.
fn cpu_ticks(pid: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may have blanks. utime is field 14, the twelfth behind it.
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    behind_name.split_whitespace().nth(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

#[test]
fn interrupted_simulations_keep_what_there_is() {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let directory = tempfile::tempdir().expect("directory");
    let set = write(directory.path(), "pair.toml", PAIR);
    for more in [&["--json"][..], &["--json", "--verify"]] {
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        // So much simulated time takes minutes.
        let mut child = laxity()
            .args(["simulate", utf8(&set), "--cpus", "1", "--duration", "10000000s"])
            .args(["--schedulers", "edf-bh,fpp,gsn-edf", "--threads", "1"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let pid = i32::try_from(child.id()).expect("a pid");
        // What comes before takes next to no time; an interruption there has no answer.
        wait_until("it simulates", || cpu_ticks(pid) >= 20);
        host::kill(pid, libc::SIGINT);
        let mut out = String::new();
        std::io::Read::read_to_string(child.stdout.as_mut().expect("a pipe"), &mut out).expect("UTF-8");
        assert_eq!(child.wait().expect("ends").code(), Some(130), "call {number}: {out}");
        let answer = json(&out);
        let states: Vec<&str> = answer["runs"]
            .as_array()
            .expect("runs")
            .iter()
            .map(|run| run["status"]["state"].as_str().expect("a state"))
            .collect();
        assert!(states.iter().all(|state| ["interrupted", "not-run"].contains(state)), "{states:?}");
        assert_eq!(states.last(), Some(&"not-run"), "{states:?}");
        // What had not ended is judged by when the simulation ended.
        for run in answer["runs"].as_array().expect("runs") {
            assert_eq!(run["misses"], 0, "{run}");
        }
    }
}

#[test]
fn background_tasks_take_what_is_left_and_change_nothing_else() {
    let folder = tempfile::tempdir().expect("a directory");
    let set = write(folder.path(), "pair.toml", PAIR);
    let call = [utf8(&set), "--scheduler", "edf-bh", "--cpus", "1", "--duration", "1s", "--json"];
    let without = json(&prints(&call));
    let with = json(&prints(&[&call[..], &["--background", "5"]].concat()));
    assert!(without.get("background").is_none(), "{}", without["background"]);
    let [one] = with["background"].as_array().expect("a list").as_slice() else { panic!("{with}") };
    let number = |name: &str| one[name].as_u64().unwrap_or_else(|| panic!("{name}: {one}"));
    assert_eq!((one["scheduler"].as_str(), number("runs"), number("entered")), (Some("edf-bh"), 1, 5));
    // Releases go on for a second, late jobs may end in the grace after it; the set leaves 0.2 of the core.
    let horizon = with["runs"][0]["horizon_ns"].as_u64().expect("a horizon");
    assert_eq!(number("capacity_ns"), horizon);
    assert!(number("run_ns") > 0 && number("run_ns") <= horizon - 800_000_000, "{one}");
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    let near = |name: &str, wanted: f64| (one[name].as_f64().expect("a share") - wanted).abs() < 1e-9;
    assert!(near("capacity_share", share(number("run_ns"), horizon)), "{one}");
    assert!(near("run_share", share(number("run_ns"), number("run_ns") + number("ready_ns"))), "{one}");
    for metric in ["jobs", "misses", "normalized_laxity", "tardiness_ns", "context_switch_rate"] {
        assert_eq!(with["schedulers"][0][metric], without["schedulers"][0][metric], "{metric}");
    }
    // Kept results say it run by run, and a report made again says the same.
    let out = folder.path().join("results");
    let kept = ["--background", "5", "--repeat", "2", "--out", utf8(&out)];
    prints(&[&call[..], &kept].concat());
    let manifest = json(&fs::read_to_string(out.join("manifest.json")).expect("a manifest"));
    let records = manifest["background"].as_array().expect("a list");
    assert_eq!(records.iter().map(|record| record["run"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!(records[0]["run_ns"], one["run_ns"]);
    let again =
        json(&String::from_utf8_lossy(&output(laxity().arg("report").arg(&out).arg("--json")).stdout));
    assert_eq!(again["background"][0]["runs"], 2);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    for (name, document) in [("answer", &again), ("manifest", &manifest)] {
        let schema = json(&fs::read_to_string(schema.join(format!("{name}.schema.json"))).expect("a schema"));
        jsonschema::validate(&schema, document).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let page = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(page.contains("Tasks in the background"), "the page shows it");
    let told = prints(&[
        utf8(&set),
        "--scheduler",
        "edf-bh",
        "--cpus",
        "1",
        "--duration",
        "1s",
        "--background",
        "5",
    ]);
    assert!(told.contains("Tasks in the background") && !told.contains("background:"), "{told}");
}

#[test]
fn two_results_are_compared_and_the_exit_code_says_whether_the_second_is_worse() {
    let folder = tempfile::tempdir().expect("a folder");
    let set = write(folder.path(), "pair.toml", PAIR);
    let simulated = |name: &str, demand: &str| {
        let out = folder.path().join(name);
        let call = ["--schedulers", "p-edf,p-rm", "--cpus", "1", "--duration", "1s", "--demand", demand];
        prints(&[&[utf8(&set)], &call[..], &["--out", utf8(&out)]].concat());
        out
    };
    let (light, again, full) =
        (simulated("light", "0.5"), simulated("again", "0.5"), simulated("full", "wcet"));
    let diff = |call: &[&Path]| output(laxity().arg("diff").args(call));
    let said = |ended: &Output| String::from_utf8(ended.stdout.clone()).expect("UTF-8");

    let same = diff(&[&light, &again]);
    assert_eq!(
        (same.status.code(), said(&same).lines().next()),
        (Some(0), Some("No difference beyond noise."))
    );
    let worse = diff(&[&light, &full]);
    assert_eq!(worse.status.code(), Some(1), "{}", words(&worse));
    let text = said(&worse);
    assert!(
        text.starts_with("Worse: p-edf (mean normalized laxity ") && text.contains("demand, 0.5 and wcet"),
        "{text}"
    );
    assert_eq!(diff(&[&full, &light]).status.code(), Some(0), "better is not worse");

    let json = diff(&[&light, &full, Path::new("--json")]);
    let difference: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((json.status.code(), &difference["worse"]), (Some(1), &Value::Bool(true)));
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/difference.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).expect("published")).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
    assert!(validator.is_valid(&difference), "{difference:#}");

    let nothing = diff(&[&light, &folder.path().join("nothing")]);
    assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(2), 0), "{}", words(&nothing));
}
