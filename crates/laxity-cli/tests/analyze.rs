//! `laxity analyze`: verdicts that can be computed by hand, what overheads do to them, what would make a set fit, and that no
//! simulation contradicts them.

mod calls;
mod host;
#[path = "analyze/kernel.rs"]
mod kernel;
#[path = "analyze/largest_factor.rs"]
mod largest_factor;
mod patience;
#[path = "analyze/places.rs"]
mod places;
#[path = "analyze/quanta.rs"]
mod quanta;
#[path = "analyze/threads.rs"]
mod threads;

use calls::{json, json_file, prints, text, utf8};
use host::{laxity, words};
use patience::patiently;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A directory with files.
struct Desk(tempfile::TempDir);

impl Desk {
    fn with(files: &[(&str, &str)]) -> Self {
        let desk = Desk(tempfile::tempdir().expect("directory"));
        files.iter().for_each(|(name, content)| fs::write(desk.0.path().join(name), content).expect("write"));
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Beside nothing that the kernel takes.
    fn analyze(&self, call: &[&str]) -> Output {
        self.analyze_beside(&[call, &["--assume-no-background"]].concat())
    }

    fn analyze_beside(&self, call: &[&str]) -> Output {
        patiently(|| {
            let mut command = laxity();
            command.current_dir(self.0.path()).arg("analyze").args(call);
            command
        })
    }

    /// The answer, and the exit code.
    fn answer(&self, call: &[&str]) -> (Value, i32) {
        let ended = self.analyze(&[call, &["--json"]].concat());
        let code = ended.status.code().expect("a code");
        assert!(code <= 1, "laxity analyze {}\n{}", call.join(" "), words(&ended));
        (json(&text(&ended.stdout)), code)
    }

    /// What is said of the first scheduler.
    fn first(&self, call: &[&str]) -> Value {
        self.answer(call).0["schedulers"][0].clone()
    }
}

/// Tasks (name, C, T) in us, with more keys.
fn set(name: &str, tasks: &[(&str, u64, u64, &str)]) -> String {
    let task = |(name, wcet, period, more): &(&str, u64, u64, &str)| {
        format!("[[tasks]]\nname = \"{name}\"\nwcet = \"{wcet}us\"\nperiod = \"{period}us\"\n{more}\n")
    };
    format!("version = 1\nname = \"{name}\"\n{}", tasks.iter().map(task).collect::<String>())
}

/// Lehoczky's example: U = 0.991, under fixed priorities the second task responds within 118 of 100.
fn lehoczky() -> String {
    set("lehoczky", &[("short", 26, 70, ""), ("long", 62, 100, "")])
}

fn bounds(verdict: &Value) -> Vec<u64> {
    let tasks = verdict["bounds"]["tasks"].as_array().unwrap_or_else(|| panic!("bounds: {verdict}"));
    tasks.iter().map(|bound| bound["ns"].as_u64().expect("ns")).collect()
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn both_verdicts_with_tests_and_bounds() {
    let desk = Desk::with(&[("s.toml", &lehoczky())]);
    let (answer, code) = desk.answer(&["s.toml", "--cpus", "1", "--schedulers", "p-rm,p-edf"]);
    assert_eq!(code, 1);
    assert_eq!(
        (&answer["version"], &answer["guarantee"], &answer["cores"]),
        (&json!(1), &json!("hard"), &json!(1))
    );
    let [rm, edf] = [&answer["schedulers"][0], &answer["schedulers"][1]];
    assert_eq!((&rm["scheduler"], &rm["task_set"]), (&json!("p-rm"), &json!("lehoczky")));
    assert_eq!((&rm["hard"]["verdict"], &rm["hard"]["task"]), (&json!("not-proven"), &json!("long")));
    assert_eq!((&rm["hard"]["exact"], &rm["hard"]["bounds"]), (&json!(true), &Value::Null));
    assert_eq!(
        (&rm["soft"]["verdict"], &rm["soft"]["test"]),
        (&json!("schedulable"), &json!("fp-tardiness"))
    );
    assert_eq!(rm["soft"]["bounds"]["kind"], "tardiness");
    assert_eq!(bounds(&rm["soft"]), [0, 18_000]);
    assert_eq!((&edf["hard"]["verdict"], &edf["hard"]["test"]), (&json!("schedulable"), &json!("qpa")));
    assert_eq!(edf["hard"]["bounds"]["kind"], "deadline");
    assert_eq!(bounds(&edf["hard"]), [70_000, 100_000]);
    assert_eq!(bounds(&edf["soft"]), [0, 0]);
    assert_eq!(
        edf["cells"],
        json!([{ "cpus": "0", "processors": 1, "tasks": ["short", "long"], "server": null }])
    );
    // Both are bounded, and one of them meets its deadlines.
    for (more, code) in [(&["--guarantee", "soft"][..], 0), (&["--schedulers", "p-edf"], 0), (&[], 1)] {
        let call = [&["s.toml", "--cpus", "1"][..], more].concat();
        assert_eq!(desk.analyze(&call).status.code(), Some(code), "{more:?}");
    }
}

#[test]
fn words_name_the_task_and_the_bound() {
    let desk = Desk::with(&[("s.toml", &lehoczky())]);
    let told = text(&desk.analyze(&["s.toml", "--cpus", "1", "--schedulers", "p-rm,p-edf"]).stdout);
    for expected in [
        "lehoczky: 2 real-time tasks",
        "not schedulable for some arrivals",
        "task `long`",
        "(fp-tardiness)",
        "(qpa)",
        "late 18.000",
        "(D: the deadline)",
    ] {
        assert!(told.contains(expected), "{expected}:\n{told}");
    }
    let narrow = told.lines().all(|line| line.starts_with("assumed (") || line.chars().count() <= 100);
    assert!(narrow, "{told}");
}

/// Of two tasks with one priority either can go first: `b` may wait for all of `a`, and then misses. It does not if it goes first.
#[test]
fn equal_priorities_are_proven_in_any_order_and_refuted_in_none() {
    let task = |number: u32, deadline: u32| format!("priority = {number}\ndeadline = \"{deadline}us\"");
    let file = |a: u32, b: u32| {
        set("s", &[("a", 4, 20, &task(a, 20)), ("b", 3, 20, &task(b, 5)), ("c", 1, 40, &task(9, 40))])
    };
    let desk =
        Desk::with(&[("equal.toml", &file(5, 5)), ("first.toml", &file(5, 4)), ("last.toml", &file(4, 5))]);
    let hard = |name: &str, scheduler: &str| {
        let one = desk.first(&[name, "--cpus", "1", "--schedulers", scheduler]);
        (one["hard"]["verdict"].clone(), one["hard"]["task"].clone(), one["hard"]["exact"].clone())
    };
    let proven = (json!("schedulable"), Value::Null, json!(false));
    assert_eq!(hard("equal.toml", "p-fp"), (json!("not-proven"), json!("b"), json!(false)));
    assert_eq!(hard("first.toml", "p-fp"), proven);
    assert_eq!(hard("last.toml", "p-fp"), (json!("not-proven"), json!("b"), json!(true)));
    assert_eq!(hard("equal.toml", "p-dm"), proven);
    // laxity's own policy puts the first of two equals first, and it is known that `b` misses.
    assert_eq!(hard("equal.toml", "p-push-pull:fp"), (json!("not-proven"), json!("b"), json!(true)));
    // On two cores neither of two equals waits for the other.
    let two = desk.first(&["equal.toml", "--cpus", "2", "--schedulers", "g-fp"]);
    assert_eq!((&two["hard"]["verdict"], &two["hard"]["test"]), (&json!("schedulable"), &json!("gfp-guan")));
}

/// A test in floating point rejects this set.
#[test]
fn exact_arithmetic_decides() {
    let desk = Desk::with(&[("s.toml", &set("edge", &[("a", 4, 10, ""), ("b", 8, 10, "")]))]);
    let gfb = ["s.toml", "--cpus", "2", "--schedulers", "g-edf", "--test", "gfb"];
    assert_eq!(desk.answer(&gfb).1, 0);
    fs::write(desk.0.path().join("s.toml"), set("edge", &[("a", 4001, 10_000, ""), ("b", 8000, 10_000, "")]))
        .expect("write");
    assert_eq!(desk.answer(&gfb).1, 1);
}

#[test]
fn the_answer_is_what_its_schema_says() {
    let schema = json_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/analysis.schema.json"));
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let costs = examples().join("costs");
    let (overheads, delays) = (costs.join("overheads.csv"), costs.join("cpmd.csv"));
    let set = examples().join("avionics.toml");
    let desk = Desk::with(&[]);
    let calls: [&[&str]; 3] = [
        &["--cpus", "2", "--sensitivity", "--placement", "ffd"],
        &[
            "--cpus",
            "4",
            "--schedulers",
            "g-fl,pfair,gsn-edf-di,c-g-edf-mp:rm,edf-bh:fp",
            "--guarantee",
            "soft",
        ],
        &[
            "--cpus",
            "3",
            "--schedulers",
            "p-rm,g-edf-mp",
            "--overheads",
            utf8(&overheads),
            "--cache-delays",
            utf8(&delays),
        ],
    ];
    for call in calls {
        let (answer, _) = desk.answer(&[&[utf8(&set)], call].concat());
        let wrong: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{call:?}: {wrong:?}");
        for one in answer["schedulers"].as_array().expect("schedulers") {
            for verdict in [&one["hard"], &one["soft"]] {
                let proven = verdict["verdict"] == "schedulable";
                assert_eq!(
                    (verdict["test"].is_string(), verdict["bounds"].is_object()),
                    (proven, proven),
                    "{one}"
                );
            }
        }
    }
    let mut wrong = desk.answer(&[utf8(&set), "--cpus", "2"]).0;
    wrong["schedulers"][0]["hard"]["verdict"] = json!("maybe");
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn overheads_eat_and_leave_no_room() {
    let desk = Desk::with(&[
        ("s.toml", &set("s", &[("a", 40, 400, ""), ("b", 60, 400, "")])),
        ("all.csv", "TASK-COUNT, SCHEDULE, CXS, RELEASE-LATENCY\n1, 3, 2, 4\n8, 3, 2, 4\n"),
        ("large.csv", "TASK-COUNT, SCHEDULE\n1, 200\n"),
    ]);
    let call = ["s.toml", "--cpus", "1", "--schedulers"];
    let edf = desk.first(&[&call[..], &["p-edf", "--overheads", "all.csv"]].concat());
    // 2 (3 + 2) us of C, 4 us of T and D; nothing else costs anything, and that is said.
    let eaten = &edf["overheads"]["tasks"][0];
    assert_eq!(
        eaten,
        &json!({ "task": "a", "wcet_ns": 10_000, "deadline_ns": 4_000, "period_ns": 4_000, "jitter_ns": 0 })
    );
    assert_eq!(edf["overheads"]["utilization"], 0.25);
    let inflated = edf["overheads"]["utilization_inflated"].as_f64().expect("a number");
    assert!((inflated - 120.0 / 396.0).abs() < 1e-9, "{inflated}");
    assert!(edf["notes"][0].as_str().expect("a note").contains("IPI-LATENCY"), "{edf}");
    // Fixed priorities: response times from 40 and 100 us on: C' = 50 and 70, J' = 4.
    let rm = desk.first(&[&call[..], &["p-rm", "--overheads", "all.csv"]].concat());
    assert_eq!(bounds(&rm["hard"]), [54_000, 124_000]);
    let large = desk.first(&[&call[..], &["p-edf", "--overheads", "large.csv"]].concat());
    assert_eq!((&large["hard"]["verdict"], &large["hard"]["exact"]), (&json!("not-proven"), &json!(false)));
    assert!(large["hard"]["reason"].as_str().expect("a reason").contains("overheads"), "{large}");
    assert!(large["overheads"]["no_room"].as_str().expect("a reason").contains("task `a`"), "{large}");
    // Of one scheduler only.
    let both = ["p-edf,p-rm", "--overheads", "p-rm=large.csv", "--overheads", "all.csv"];
    let (answer, _) = desk.answer(&[&call[..], &both].concat());
    assert_eq!(answer["schedulers"][0]["overheads"]["file"], "all.csv");
    assert_eq!(answer["schedulers"][1]["overheads"]["file"], "large.csv");
}

#[test]
fn caches_count_as_far_as_jobs_migrate() {
    let platform = "version = 1\nname = \"p\"\ncores = 2\ncaches = [\n\
        { level = 1, kind = \"data\", size = \"32KiB\", cpus = \"0\" },\n\
        { level = 1, kind = \"data\", size = \"32KiB\", cpus = \"1\" },\n\
        { level = 2, kind = \"unified\", size = \"1MiB\", cpus = \"0-1\" },\n]\n";
    let walking = "working_set = { size = \"4KiB\" }";
    let desk = Desk::with(&[
        ("s.toml", &set("s", &[("a", 40, 400, walking), ("b", 60, 400, walking), ("c", 1, 400, "")])),
        ("p.toml", platform),
        ("cpmd.csv", "WSS, MEM, L1, L2\n4, 30, 1, 7\n8, 60, 2, 14\n"),
    ]);
    let eaten = |scheduler: &str| {
        let call = ["s.toml", "--platform", "p.toml", "--cache-delays", "cpmd.csv", "--placement", "ffd"];
        let one = desk.first(&[&call[..], &["--schedulers", scheduler]].concat());
        one["overheads"]["tasks"][0]["wcet_ns"].as_u64().unwrap_or_else(|| panic!("{one}"))
    };
    assert_eq!([eaten("p-edf"), eaten("gsn-edf")], [1_000, 7_000]);
    // Releases of the two others can displace a job, and it reloads each time.
    assert_eq!(eaten("g-edf"), 3 * 7_000);
}

#[test]
fn what_would_make_it_fit() {
    let heavy = |name: &'static str| (name, 60, 100, "");
    let desk = Desk::with(&[
        ("one.toml", &set("one", &[("a", 1, 4, "")])),
        ("three.toml", &set("three", &[heavy("a"), heavy("b"), heavy("c")])),
    ]);
    let sensitivity = |file: &str, scheduler: &str| {
        let one = desk.first(&[file, "--cpus", "4", "--schedulers", scheduler, "--sensitivity"]);
        let (fewest, scaling) = (&one["fewest_processors"], &one["largest_scaling"]);
        assert_eq!(scaling["denominator"], 1000);
        (
            fewest["processors"].as_u64(),
            scaling["numerator"].as_u64().expect("a number"),
            scaling["nothing_above"] == true,
        )
    };
    assert_eq!(sensitivity("one.toml", "p-edf"), (Some(1), 4000, true));
    // One core is dedicated; tests of several cores are not known to be monotonic.
    assert_eq!(sensitivity("one.toml", "gsn-edf-di"), (Some(2), 4000, false));
    // 0.6 each: two do not fit one core, and the processors of Pfair can be filled.
    assert_eq!(sensitivity("three.toml", "p-edf"), (Some(3), 1666, true));
    let fill = |tick: &'static str| {
        let one = desk.first(&[
            "three.toml",
            "--cpus",
            "4",
            "--schedulers",
            "pfair:aligned",
            "--tick",
            tick,
            "--sensitivity",
        ]);
        let scaling = &one["largest_scaling"];
        (
            one["fewest_processors"]["processors"].as_u64(),
            scaling["numerator"].clone(),
            scaling["nothing_above"] == true,
        )
    };
    assert_eq!(fill("1ns"), (Some(2), json!(1666), true));
    // Two quanta of 50 us are a whole period, and so with any factor up to it.
    assert_eq!(fill("50us"), (Some(3), json!(1666), true));
    let soft = desk.first(&[
        "three.toml",
        "--cpus",
        "2",
        "--schedulers",
        "g-edf",
        "--sensitivity",
        "--guarantee",
        "soft",
    ]);
    // U = 1.8 of 2: 10/9.
    assert_eq!(soft["largest_scaling"]["numerator"], 1111);
    assert_eq!(soft["fewest_processors"]["processors"], 2);
    let told =
        text(&desk.analyze(&["three.toml", "--cpus", "2", "--schedulers", "p-edf", "--sensitivity"]).stdout);
    assert!(told.contains("no placement") && told.contains("on 3 CPUs"), "{told}");
}

#[test]
fn threads_and_the_order_of_tasks_change_nothing() {
    let directory = tempfile::tempdir().expect("directory");
    let out = directory.path().join("sets");
    prints(&["generate", "emberson", "-n", "8", "-u", "1.6", "--count", "6", "-o", utf8(&out)]);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&out).expect("sets").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let files: Vec<&str> = files.iter().map(|path| utf8(path)).collect();
    assert_eq!(files.len(), 6);
    let desk = Desk::with(&[]);
    let call = ["--cpus", "2", "--placement", "ffd", "--sensitivity", "--json", "--threads"];
    let with = |threads: &str| desk.analyze(&[&files[..], &call, &[threads]].concat()).stdout;
    let one = with("1");
    assert!(one == with("2") && one == with("7"));
    let answer = json(&text(&one));
    assert_eq!(answer["schedulers"].as_array().map(Vec::len), Some(36));
}

/// What is proven hard misses nothing in simulations, periodic and synchronous as they are, and the proven bounds hold.
#[test]
fn no_simulation_contradicts_it() {
    let directory = tempfile::tempdir().expect("directory");
    let out = directory.path().join("sets");
    prints(&[
        "generate",
        "emberson",
        "-n",
        "6",
        "-u",
        "1.7",
        "--count",
        "12",
        "--periods",
        "uniform:2ms,20ms",
        "--granularity",
        "1ms",
        "-o",
        utf8(&out),
    ]);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&out).expect("sets").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let schedulers = "g-edf,p-edf,p-rm,edf-bh:rm,p-fpp:dm,gsn-edf";
    let place = ["--cpus", "2", "--placement", "ffd", "--overload", "least-loaded"];
    let (mut proven, mut contradicted) = (0, Vec::new());
    for file in &files {
        let call = [&[utf8(file), "--schedulers", schedulers][..], &place].concat();
        let answer = Desk::with(&[]).answer(&call).0;
        let simulate =
            [&["simulate", utf8(file), "--schedulers", schedulers, "--duration", "2s", "--json"][..], &place];
        let simulated = json(&prints(&simulate.concat()));
        for one in answer["schedulers"].as_array().expect("schedulers") {
            if one["hard"]["verdict"] == "schedulable" {
                proven += 1;
                let runs = simulated["schedulers"].as_array().expect("schedulers");
                let same = runs.iter().find(|run| run["scheduler"] == one["scheduler"]).expect("simulated");
                if same["misses"] != 0 {
                    contradicted.push(format!("{} under {}", file.display(), one["scheduler"]));
                }
            }
        }
    }
    assert!(proven >= 12, "{proven}");
    assert!(contradicted.is_empty(), "{contradicted:?}");
}

#[test]
fn assumptions_that_fail_are_named() {
    let desk = Desk::with(&[
        ("pinned.toml", &set("s", &[("a", 1, 10, "affinity = \"0\""), ("b", 1, 10, "")])),
        ("late.toml", &set("s", &[("a", 1, 10, "deadline = \"12us\""), ("b", 1, 10, "")])),
        ("plain.toml", &set("s", &[("a", 2, 10, "priority = 1"), ("b", 1, 10, "")])),
    ]);
    let hard = |call: &[&str]| {
        let one = desk.first(call);
        let verdict = &one["hard"];
        (verdict["verdict"].clone(), verdict["task"].clone(), verdict["reason"].clone())
    };
    let not = |task: Value, why: &str| (json!("not-applicable"), task, json!(why));
    let pinned = ["pinned.toml", "--cpus", "2", "--schedulers"];
    let affinity = "each task may run on every CPU of its cell";
    assert_eq!(hard(&[&pinned[..], &["g-edf"]].concat()), not(json!("a"), affinity));
    assert_eq!(hard(&[&pinned[..], &["p-edf"]].concat()).0, "schedulable");
    let late = ["late.toml", "--cpus", "2", "--schedulers", "g-rm"];
    assert_eq!(hard(&late), not(json!("a"), "D <= T"));
    for scheduler in ["p-fpp:fp", "p-fp"] {
        let given = ["plain.toml", "--cpus", "1", "--schedulers", scheduler];
        assert_eq!(hard(&given), not(json!("b"), "every task has a priority"));
        let notes = desk.first(&given)["notes"].to_string();
        assert!(notes.contains("priority = NUMBER") && notes.contains("-dm"), "{notes}");
    }
    // Slow cores: C is longer there. 446/1024 of speed: 2 us take 4.59..., rounded up 4592 ns.
    let uneven = examples().join("platforms/big-little.toml");
    let uneven = ["plain.toml", "--platform", utf8(&uneven), "--schedulers"];
    let speeds = "the CPUs of a cell that run tasks have the same speed";
    assert_eq!(hard(&[&uneven[..], &["g-edf"]].concat()), not(Value::Null, speeds));
    let slow = desk.first(&[&uneven[..], &["p-rm", "--placement", "ff:given"]].concat());
    assert_eq!(bounds(&slow["hard"]), [4_592, 6_888]);
}

#[test]
fn wrong_calls_are_refused() {
    let desk = Desk::with(&[
        ("s.toml", &set("s", &[("a", 1, 10, "")])),
        ("costs.toml", "version = 1\n"),
        ("bad.csv", "TASK-COUNT, SHEDULE\n1, 2\n"),
        ("idle.toml", &set("s", &[("a", 1, 10, "kind = \"best-effort\"")])),
    ]);
    let calls: &[(&[&str], &[&str])] = &[
        (&["s.toml", "--schedulers", "edf"], &["`edf`", "g-fl"]),
        (&["s.toml", "--test", "gbf"], &["`gbf`", "gfb"]),
        (&["s.toml", "--guarantee", "firm"], &["`firm`", "hard, soft"]),
        (&["s.toml", "--overheads", "costs.toml"], &["costs.toml", "CSV", "overheads/*-max.csv"]),
        (&["s.toml", "--overheads", "bad.csv"], &["bad.csv", "`SHEDULE`", "SCHEDULE"]),
        (&["s.toml", "--overheads", "missing.csv"], &["missing.csv"]),
        (&["s.toml", "--overheads", "bad.csv", "--cache-delays", "bad.csv"], &["bad.csv"]),
        (&["s.toml", "--tick", "0ms"], &["--tick"]),
        (&["s.toml", "--work", "0"], &["--work"]),
        (&["s.toml", "--cpus", "2", "--schedulers", "p-gsn-edf-di"], &["p-gsn-edf-di", "two CPUs or more"]),
        (&["idle.toml"], &["no real-time task"]),
        (&["missing.toml"], &["missing.toml"]),
        (&[], &["<SET>"]),
    ];
    for (call, names) in calls {
        let ended = desk.analyze(call);
        let said = words(&ended);
        assert_eq!(ended.status.code(), Some(2), "{call:?}: {said}");
        assert!(ended.stdout.is_empty(), "{call:?}");
        names.iter().for_each(|name| assert!(said.contains(name), "`{name}` is not named: {call:?}\n{said}"));
    }
}

#[test]
fn steps_that_run_out_are_said() {
    let desk = Desk::with(&[(
        "s.toml",
        &set("s", &[("a", 3, 10, "deadline = \"5us\""), ("b", 3, 11, "deadline = \"6us\"")]),
    )]);
    let one = desk.first(&["s.toml", "--cpus", "1", "--schedulers", "p-edf", "--work", "2"]);
    assert_eq!((&one["hard"]["verdict"], &one["hard"]["out_of_work"]), (&json!("not-proven"), &json!(true)));
    assert_eq!(one["hard"]["exact"], false);
    let one = desk.first(&["s.toml", "--cpus", "1", "--schedulers", "p-edf"]);
    assert_eq!(
        (&one["hard"]["verdict"], &one["hard"]["out_of_work"]),
        (&json!("schedulable"), &json!(false))
    );
}

/// LOAD and FF-DBF, which are asked last, name no task.
#[test]
fn what_global_edf_does_not_prove_names_a_task() {
    let desk = Desk::with(&[("s.toml", &set("s", &[("a", 6, 10, ""), ("b", 6, 11, ""), ("c", 6, 12, "")]))]);
    for scheduler in ["g-edf", "c-edf", "gsn-edf"] {
        let one = desk.first(&["s.toml", "--cpus", "2", "--clusters", "all", "--schedulers", scheduler]);
        assert_eq!(
            (&one["hard"]["verdict"], &one["hard"]["task"]),
            (&json!("not-proven"), &json!("c")),
            "{one}"
        );
    }
}

#[test]
fn overheads_that_laxity_comes_with_have_names() {
    let desk = Desk::with(&[("s.toml", &set("s", &[("a", 400, 4_000, "")]))]);
    let call = ["s.toml", "--cpus", "2", "--schedulers", "g-edf", "--overheads"];
    let one = desk.first(&[&call[..], &["cerqueira2014-text/sched-deadline-m8-max"]].concat());
    // 2 (52.11 us) of C: the paper's number for eight cores.
    assert_eq!(one["overheads"]["tasks"][0]["wcet_ns"], 104_220, "{one}");
    assert_eq!(one["overheads"]["file"], "cerqueira2014-text/sched-deadline-m8-max");
    let unknown = desk.analyze(&[&call[..], &["cerqueira2014-text/sched-deadline-m9-max"]].concat());
    assert_eq!(unknown.status.code(), Some(2));
    assert!(words(&unknown).contains("cerqueira2014-text/sched-deadline-m8-max"), "{}", words(&unknown));
    for (part, said) in [
        ("overheads", "cerqueira2014-text/g-edf-mp-m48-max"),
        ("tests", "1. J = 0, 2. D <= T"),
        ("schedulers", ":staggered"),
    ] {
        assert!(prints(&["list", part]).contains(said), "{said}");
    }
}
