//! Every wrong input ends with exit code 2, an error that names the value and the rule, and a way out; nothing
//! is printed as data and nothing is written.

mod bench;
#[path = "../host/mod.rs"]
mod host;
mod impossible;
#[path = "../patience/mod.rs"]
mod patience;
mod plain;

use bench::{Bench, set, task};
use host::words;
use patience::real_run;
use std::fs;

/// Sets in files: file name, content, what the message must name.
fn wrong_sets() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let one = |wcet: &str, period: &str, more: &str| set(&[&task("a", wcet, period, more)]).into_bytes();
    let text = |text: &str| text.as_bytes().to_vec();
    let many = |count: usize| {
        let lines: String = (0..count).map(|at| format!("t{at},1,1000000\n")).collect();
        format!("name,wcet_ns,period_ns\n{lines}").into_bytes()
    };
    vec![
        // Not the format that the name says.
        (
            "malformed.toml",
            text("version = 1\n[[tasks]\n"),
            vec!["malformed.toml", "line 2", "`]` belongs here"],
        ),
        ("empty.toml", text(""), vec!["`version` is missing", "version = 1"]),
        (
            "malformed.json",
            text("{\"version\": 1, \"tasks\": ["),
            vec!["malformed.json", "line 1", "the text ends within a list"],
        ),
        ("array.json", text("[1, 2]"), vec!["array.json", "line 1"]),
        ("fields.csv", text("name,wcet_ns,period_ns\na,1,2,3\n"), vec!["line 2", "4 fields", "has 3"]),
        ("header.csv", text("name,wcet_ns\na,1\n"), vec!["lacks the column `period_ns`"]),
        (
            "malformed.xml",
            text("<?xml version=\"1.0\"?><simulation><tasks><task"),
            vec!["line 1", "not closed"],
        ),
        ("other.xml", text("<?xml version=\"1.0\"?><html></html>"), vec!["`html`", "simulation"]),
        ("binary.toml", vec![0xff, 0xfe, 0, 1], vec!["not UTF-8", "byte 0"]),
        ("newer.toml", text("version = 2\ntasks = []\n"), vec!["version 2 is not known", "version 1"]),
        // Times.
        ("zero.toml", one("0ms", "10ms", ""), vec!["task `a`", "wcet is 0", "positive"]),
        ("zero-period.toml", one("1ms", "0s", ""), vec!["task `a`", "period is 0"]),
        ("zero-deadline.toml", one("1ms", "10ms", "deadline = \"0ms\""), vec!["task `a`", "deadline is 0"]),
        ("negative.toml", one("-1ms", "10ms", ""), vec!["task `a`", "wcet", "`-1ms`", "non-negative"]),
        ("negative.csv", text("name,wcet_ns,period_ns\na,-5,9\n"), vec!["line 2", "wcet_ns", "`-5`"]),
        ("no-unit.toml", one("1", "10ms", ""), vec!["task `a`", "wcet", "`1` has no unit", "ms"]),
        (
            "bare-number.toml",
            text("version = 1\n[[tasks]]\nname = \"a\"\nwcet = 1\nperiod = \"9ms\"\n"),
            vec!["line 4", "task `a`", "wcet: `1` is not a time", "with a unit"],
        ),
        (
            "days.toml",
            one("1ms", "1d", ""),
            vec!["period", "unknown unit `d`", "ns, us, ms, s, m (minutes) or h"],
        ),
        ("fraction.toml", one("0.5ns", "1ms", ""), vec!["`0.5ns`", "whole number of nanoseconds"]),
        ("eternal.toml", one("1ms", "99999999999s", ""), vec!["period", "2^64 ns"]),
        ("c-above-d.toml", one("6ms", "10ms", "deadline = \"5ms\""), vec!["wcet 6ms", "deadline 5ms"]),
        ("c-above-t.toml", one("11ms", "10ms", "deadline = \"20ms\""), vec!["wcet 11ms", "period 10ms"]),
        // Tasks.
        (
            "twice.toml",
            set(&[&task("a", "1ms", "9ms", ""), &task("a", "1ms", "9ms", "")]).into_bytes(),
            vec!["two tasks", "`a`", "1 and 2", "unique"],
        ),
        (
            "unknown-field.toml",
            one("1ms", "9ms", "dedline = \"5ms\""),
            vec!["line 7", "task `a`", "`dedline`", "did you mean `deadline`"],
        ),
        (
            "both.toml",
            one("1ms", "9ms", "min_interarrival = \"9ms\""),
            vec!["both period and min_interarrival"],
        ),
        ("kind.toml", one("1ms", "9ms", "kind = \"soft\""), vec!["`soft`", "best-effort"]),
        ("demand.toml", one("1ms", "9ms", "demand = \"11\""), vec!["demand `11`"]),
        (
            "ratio.toml",
            one("1ms", "9ms", "working_set = { size = \"1KiB\", reads_to_writes = \"0:0\" }"),
            vec!["0:0"],
        ),
        (
            "working-set-as-text.toml",
            one("1ms", "9ms", "working_set = \"1KiB\""),
            vec!["task `a`", "a table such as { size"],
        ),
        ("empty-set.toml", text("version = 1\ntasks = []\n"), vec!["empty", "at least one task"]),
        ("header-only.csv", text("name,wcet_ns,period_ns\n"), vec!["empty", "at least one task"]),
        ("best-effort.toml", one("1ms", "9ms", "kind = \"best-effort\""), vec!["`s`", "no real-time task"]),
        (
            "escape.json",
            text(
                r#"{"version": 1, "name": "a\u001b]0;owned\u0007", "tasks": [{"name": "a", "wcet": "1ms", "period": "9ms"}]}"#,
            ),
            vec![r"`a\u{1b}]0;owned\u{7}`", "control characters", "printable"],
        ),
        ("many.csv", many(100_001), vec!["100000 tasks", "limit"]),
    ]
}

#[test]
fn wrong_task_sets_are_refused_by_every_command_that_reads_them() {
    for (name, content, names) in wrong_sets() {
        let bench = Bench::new(&[]);
        bench.write(name, content);
        bench.refuses(&["place", name], &names);
        bench.refuses(&["run", name, "--scheduler", "g-rm", "--duration", "100ms", "--out", "out"], &names);
        bench.refuses(&["compare", name, "--duration", "100ms"], &names);
        bench.refuses(&["simulate", name, "--duration", "100ms"], &names);
    }
}

#[test]
fn one_wrong_set_among_good_ones_stops_everything() {
    let bench = Bench::new(&[("good.toml", &set(&[&task("a", "1ms", "9ms", "")])), ("bad.csv", "name\n")]);
    bench.refuses(&["compare", "good.toml", "bad.csv", "--out", "out"], &["bad.csv", "wcet_ns"]);
}

#[test]
fn paths_that_are_no_files_are_named() {
    let bench = Bench::new(&[("folder/set.toml", ""), ("good.toml", &set(&[&task("a", "1ms", "9ms", "")]))]);
    for command in [&["place"][..], &["compare"], &["run", "--scheduler", "g-rm"]] {
        let with = |path| [command, &[path]].concat();
        bench.refuses(&with("missing.toml"), &["missing.toml", "no such file", "check the path"]);
        bench.refuses(&with("folder"), &["folder", "is a directory", "name a file"]);
        bench.refuses(&with("good.toml/set.toml"), &["good.toml/set.toml"]);
    }
    bench.refuses(&["report", "folder"], &["folder", "no manifest.json", "laxity run"]);
    bench.refuses(&["report", "missing"], &["missing", "does not exist"]);
    bench.refuses(&["place", "good.toml", "--platform", "missing.toml"], &["missing.toml", "no such file"]);
    bench
        .refuses(&["place", "good.toml", "--platform", "good.toml"], &["`tasks` is not known here", "cores"]);
    bench.refuses(
        &["place", "good.toml", "--platform", "opteron"],
        &["`opteron`", "opteron-6164-he", "a file"],
    );
}

#[test]
fn more_load_than_cores_is_refused() {
    let half: Vec<String> = (0..400).map(|at| task(&format!("t{at}"), "9ms", "10ms", "")).collect();
    let half: Vec<&str> = half.iter().map(String::as_str).collect();
    let three = [&task("a", "9ms", "10ms", "")[..], &task("b", "9ms", "10ms", "")];
    let bench = Bench::new(&[("crowd.toml", &set(&half)), ("two.toml", &set(&three))]);
    let names = ["utilization 360.0000 exceeds the", "CPUs used", "--overload least-loaded"];
    bench.refuses(&["compare", "crowd.toml"], &names);
    bench.refuses(&["run", "crowd.toml", "--scheduler", "g-edf"], &names);
    let names = ["utilization 1.8000 exceeds the 1 CPUs used"];
    bench.refuses(&["compare", "two.toml", "--cpus", "1"], &names);
    bench.refuses(&["run", "two.toml", "--cpus", "1", "--scheduler", "g-rm"], &names);
}

#[test]
fn working_sets_that_exceed_the_memory_are_refused() {
    let huge = task("hog", "1ms", "9ms", "working_set = { size = \"4096TiB\" }");
    let bench = Bench::new(&[("huge.toml", &set(&[&huge, &task("b", "1ms", "9ms", "")]))]);
    let names = ["task set `s`", "task `hog`", "4096TiB", "available", "smaller working sets"];
    bench.refuses(&["compare", "huge.toml"], &names);
    bench.refuses(&["run", "huge.toml", "--scheduler", "p-edf"], &names);
}

#[test]
fn wrong_options_of_runs_are_refused() {
    let bench = Bench::new(&[
        ("s.toml", &set(&[&task("a", "1ms", "10ms", "")])),
        ("busy.toml", "version = 1\ntick = \"2ms\"\ntick_period = \"1ms\"\n"),
    ]);
    let eternal = &["18446744073s", "at most", "year"];
    for (option, value, names) in [
        ("--duration", "0s", &["--duration", "release jobs for some time"][..]),
        ("--duration", "10", &["--duration", "`10` has no unit"]),
        ("--duration", "-1s", &["--duration", "`-1s`", "non-negative"]),
        ("--duration", "1d", &["--duration", "unknown unit `d`"]),
        ("--duration", "0.1ns", &["--duration", "whole number of nanoseconds"]),
        ("--duration", "99999999999s", &["--duration", "2^64 ns"]),
        ("--duration", "18446744073s", eternal),
        ("--duration", "1000000s", &["100000000 jobs", "task `a`", "period 10ms", "limit is 20000000"]),
        ("--grace", "18446744073s", eternal),
        ("--grace", "5", &["--grace", "no unit"]),
        ("--repeat", "0", &["--repeat", "not a whole number from 1 to 10000", "digits only"]),
        ("--repeat", "many", &["--repeat", "many"]),
        ("--demand", "11", &["--demand", "`11`", "uniform:0.5,1"]),
        ("--demand", "uniform:1,0.5", &["--demand", "order of arguments"]),
        ("--demand-model", "cycles", &["`cycles`", "cpu-time", "work"]),
        ("--budget-margin", "200%", &["`200%`", "0% and 100%"]),
        ("--budget-margin", "much", &["budget margin", "`much`"]),
        ("--seed", "-1", &["--seed", "-1"]),
        ("--ilp-time-limit", "soon", &["--ilp-time-limit", "`soon`"]),
        ("--placement", "best", &["placement `best`", "ffd", "ilp"]),
        ("--placement", "ff:colour", &["ff:colour"]),
        ("--overload", "never", &["`never`", "refuse", "least-loaded"]),
        ("--cpus", "0", &["--cpus 0", "CPUs", "between 1 and"]),
        ("--cpus", "9999", &["--cpus 9999", "CPUs"]),
        ("--cpus", "0,8000", &["--cpus `0,8000`", "has CPU"]),
        ("--cpus", "1-0", &["--cpus", "`1-0`"]),
        ("--cpus", "two", &["--cpus", "`two`", "0-3,8"]),
        ("--cpus", "", &["--cpus ``", "has CPU"]),
        ("--clusters", "many", &["--clusters `many`", "`many`"]),
        ("--clusters", "0;0", &["--clusters `0;0`", "overlaps"]),
        ("--clusters", "0-8000", &["--clusters `0-8000`", "outside"]),
        ("--clusters", "", &["--clusters ``", "empty"]),
        ("--platform", "s.toml", &["s.toml", "`tasks` is not known here"]),
        ("--colour", "red", &["--colour"]),
    ] {
        bench.refuses(&["compare", "s.toml", option, value], names);
        bench.refuses(&["run", "s.toml", "--scheduler", "g-rm", option, value], names);
    }
    bench.refuses(&["run", "s.toml", "--scheduler", "g-fifo"], &["`g-fifo`", "g-edf", "p-fp", "`p-`"]);
    bench.refuses(&["run", "s.toml", "--scheduler", "edf-bh:xx"], &["`edf-bh:xx`", "`:rm`"]);
    bench.refuses(&["run", "s.toml", "--scheduler", "edf-bh", "--budget", "soft"], &["`soft`", "postpone"]);
    bench.refuses(
        &["run", "s.toml", "--scheduler", "edf-bh", "--batching", "maybe"],
        &["`maybe`", "on or off"],
    );
    bench.refuses(&["compare", "s.toml", "--retries", "0"], &["--retries"]);
    bench.refuses(&["run", "s.toml", "--scheduler", "g-rm,"], &["scheduler ``", "g-edf"]);
    bench.refuses(&["run", "s.toml"], &["--scheduler"]);
    bench.refuses(&["run", "--scheduler", "g-rm"], &["SET"]);
    bench.refuses(&["compare", "s.toml", "--schedulers", "p-edf,cfs"], &["`cfs`", "p-rm"]);
    bench.refuses(&["compare", "s.toml", "--alone", "half"], &["--alone", "`half`"]);
    bench.refuses(&["compare", "s.toml", "--costs", "costs.toml", "--no-simulation"], &["--costs"]);
    bench.refuses(&["compare", "s.toml", "--costs", "missing.toml"], &["missing.toml", "no such file"]);
    bench.refuses(&["compare", "s.toml", "--costs", "busy.toml"], &["task set", "a tick costs"]);
    bench.refuses(&["measure", "s.toml"], &["measure"]);
}

#[test]
fn wrong_options_of_simulations_are_refused() {
    let costs = "version = 1\nrelease = \"-1us\"\n";
    let bench = Bench::new(&[
        ("s.toml", &set(&[&task("a", "1ms", "10ms", ""), &task("b", "1ms", "20ms", "")])),
        ("hog.toml", &set(&[&task("a", "9ms", "10ms", ""), &task("b", "9ms", "10ms", "")])),
        ("costs.toml", costs),
    ]);
    for (option, value, names) in [
        ("--scheduler", "g-fifo", &["`g-fifo`", "p-fp", "g-edf"][..]),
        ("--scheduler", "", &["scheduler ``"]),
        ("--scheduler", "edf-bh:xx", &["`edf-bh:xx`", "`xx`", "`:rm`"]),
        ("--scheduler", "fpp:fp", &["task `a` has no priority", "fpp:fp", "`:rm`"]),
        ("--scheduler", "g-rm,c-fp", &["task `a` has no priority", "`c-fp`", "priority = NUMBER"]),
        ("--scheduler", "p-gsn-edf-di", &["dedicates", "two CPUs", "--clusters"]),
        ("--cpus", "0", &["--cpus `0`", "1 to 4096"]),
        ("--cpus", "4097", &["--cpus `4097`", "1 to 4096"]),
        ("--cpus", "0,5000", &["--cpus `0,5000`", "too high"]),
        ("--cpus", "many", &["--cpus", "`many`"]),
        ("--clusters", "0-99", &["--clusters `0-99`", "outside"]),
        ("--duration", "0s", &["--duration", "release jobs for some time"]),
        ("--duration", "18446744073s", &["at most", "year"]),
        ("--grace", "5", &["--grace", "no unit"]),
        ("--repeat", "0", &["--repeat", "not a whole number from 1 to 10000", "digits only"]),
        ("--demand", "11", &["--demand", "`11`"]),
        ("--budget", "soft", &["`soft`", "off, throttle, postpone"]),
        ("--batching", "maybe", &["`maybe`", "on nor off", "hint: choose on or off"]),
        ("--retries", "-1", &["--retries", "-1"]),
        ("--interleave", "x", &["--interleave", "'x'", "not a whole number", "digits only"]),
        ("--threads", "0", &["--threads", "0"]),
        ("--costs", "missing.toml", &["missing.toml", "no such file"]),
        ("--costs", "s.toml", &["s.toml"]),
        ("--costs", "costs.toml", &["costs.toml", "release", "-1us"]),
        ("--from", "5ms", &["--from", "--gantt"]),
        ("--tolerate", "5ms", &["--verify"]),
        ("--placement", "best", &["placement `best`"]),
        ("--platform", "missing.toml", &["missing.toml", "no such file"]),
        ("--out", "s.toml", &["s.toml", "is a file"]),
    ] {
        bench.refuses(
            &["simulate", "s.toml", "--duration", "100ms"][..2 + 2 * usize::from(option != "--duration")]
                .iter()
                .chain(&[option, value])
                .copied()
                .collect::<Vec<_>>(),
            names,
        );
    }
    let with = |more: &[&'static str]| [&["simulate", "s.toml"], more].concat();
    bench.refuses(&with(&["--gantt", "--json"]), &["--gantt", "--json"]);
    bench.refuses(&with(&["--events"]), &["--out"]);
    let quiet =
        ["--quiet-machine is for commands that run tasks", "`laxity simulate` runs none", "leave it out"];
    bench.refuses(&with(&["--quiet-machine"]), &quiet);
    bench.refuses(
        &["analyze", "s.toml", "--quiet-machine"],
        &["--quiet-machine", "`laxity analyze` runs none"],
    );
    bench.refuses(&["study", "s.toml", "--quiet-machine"], &["--real"]);
    bench.refuses(&with(&["--force"]), &["--force", "--out", "--perfetto"]);
    bench.refuses(&with(&["--gantt", "--from", "9ms", "--to", "3ms"]), &["--from 9ms", "--to 3ms", "empty"]);
    bench.refuses(
        &with(&["--scheduler", "edf-bh", "--repeat", "2", "--perfetto", "x"]),
        &["--perfetto x", "there are 2", "laxity report"],
    );
    bench.refuses(
        &with(&["--cpus", "1", "--scheduler", "g-edf-mp"]),
        &["`g-edf-mp`", "dedicates", "two CPUs"],
    );
    let load = ["1.8", "--overload least-loaded", "--cpus"];
    bench.refuses(&["simulate", "hog.toml", "--cpus", "1"], &load);
    bench.refuses(&["simulate", "hog.toml", "--cpus", "2", "--scheduler", "gsn-edf-di"], &load);
    let endless = ["simulate", "hog.toml", "--cpus", "2", "--duration", "31000000s"];
    bench.refuses(&endless, &["task `a`", "3100000000 jobs", "2^31"]);
    bench.refuses(
        &["verify", "missing"],
        &["missing", "does not exist", "laxity simulate SET --events --out DIR"],
    );
    bench.refuses(&["report", "missing", "--run", "0"], &["--run", "--gantt"]);
}

#[test]
fn wrong_options_of_place_are_refused() {
    let bench = Bench::new(&[("s.toml", &set(&[&task("a", "1ms", "10ms", "")]))]);
    for (option, value, names) in [
        ("--onto", "sockets", &["`sockets`", "cpus", "clusters"][..]),
        ("--limit", "0", &["`0`", "above 0 and at most 1"]),
        ("--limit", "1.5", &["`1.5`", "at most 1"]),
        ("--limit", "-0.5", &["`-0.5`", "above 0"]),
        ("--fit", "size", &["`size`", "utilization", "dbf"]),
        ("--placement", "best", &["`best`", "wfd"]),
        ("--cpus", "9999", &["--cpus `9999`", "1 to 4096"]),
    ] {
        bench.refuses(&["place", "s.toml", option, value], names);
    }
}

#[test]
fn an_out_directory_with_something_else_is_left_alone() {
    let bench =
        Bench::new(&[("s.toml", &set(&[&task("a", "1ms", "10ms", "")])), ("full/precious.txt", "keep")]);
    let call = ["run", "s.toml", "--scheduler", "g-rm", "--duration", "100ms", "--out"];
    let with = |more: &[&'static str]| [&call[..], more].concat();
    bench.refuses(&with(&["full"]), &["full", "not empty", "--out DIR"]);
    bench.refuses(&with(&["full", "--force"]), &["full", "no results of laxity", "--out DIR"]);
    bench.refuses(&with(&["s.toml"]), &["s.toml", "is a file"]);
}

#[test]
fn force_replaces_results_and_nothing_else() {
    let tight = set(&[&task("a", "1ms", "10ms", "")]);
    let bench = Bench::new(&[("s.toml", &tight)]);
    let call = ["run", "s.toml", "--scheduler", "g-rm", "--duration", "50ms", "--out", "out"];
    let Some(first) = real_run(|| bench.command(&call)) else { return };
    assert!(first.status.success(), "{}", words(&first));
    bench.write("out/notes.md", "what I think of it");
    bench.write("out/precious.txt", "keep");
    bench.refuses(&call, &["out", "already holds results", "--force"]);
    let created = || fs::read_to_string(bench.path("out/manifest.json")).expect("a manifest");
    let before = created();
    let forced = [&call[..], &["--force"]].concat();
    let second = real_run(|| bench.command(&forced)).expect("it ran before");
    assert!(second.status.success(), "{}", words(&second));
    assert_ne!(created(), before, "the results were replaced");
    for (name, content) in [("out/notes.md", "what I think of it"), ("out/precious.txt", "keep")] {
        assert_eq!(fs::read_to_string(bench.path(name)).expect("still there"), content);
    }
}

#[test]
fn wrong_options_of_what_needs_a_kernel_are_refused_without_one() {
    let bench = Bench::new(&[]);
    let calls: &[(&[&str], &[&str])] = &[
        (&["load", "edf"], &["`edf`", "edf-bh", "push-pull"]),
        (&["load", "g-edf"], &["`g-edf`", "SCHED_DEADLINE", "nothing to attach"]),
        (&["load", "edf-bh", "--budget", "strict"], &["--budget", "`strict`", "throttle"]),
        (&["load", "edf-bh", "--reserve", "91"], &["--reserve", "91", "from 0 to 90"]),
        (&["load", "edf-bh", "--reserve-period", "0s"], &["--reserve-period", "0s", "10ms"]),
        (&["load", "edf-bh", "--tasks", "100000"], &["--tasks", "100000", "2048"]),
        (&["load", "push-pull", "--retries", "0"], &["--retries", "0"]),
        (&["load", "edf-bh", "--cpus", "0,9999"], &["--cpus", "9999"]),
        (&["load", "p-gsn-edf-di"], &["p-gsn-edf-di", "CPU 0 only", "--clusters"]),
        (&["exec", "--", "./no-such-program"], &["./no-such-program", "No such file", "PATH"]),
        (&["vm", "--", "fly", "to", "the", "moon"], &["'fly'", "--exec"]),
        (&["vm", "--", "run", "s.toml", "--duration"], &["--duration", "--exec"]),
        (&["vm", "--cpus", "0", "--", "list"], &["--cpus", "0", "from 1 to 255"]),
    ];
    for (call, names) in calls {
        bench.refuses(call, names);
    }
}

#[test]
fn a_path_is_named_as_it_was_given() {
    let bench = Bench::new(&[]);
    let odd = "päth with spaces.toml";
    bench.write(odd, "version = 1\n");
    bench.refuses(&["place", odd], &[odd, "tasks"]);
}
