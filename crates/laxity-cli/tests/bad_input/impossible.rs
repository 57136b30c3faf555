//! Inputs that are well formed and ask for what cannot be.

use crate::bench::{Bench, set, task};
use crate::host::words;
use crate::patience::real_run;
use std::fs;

#[test]
fn impossible_parameters_of_generators_are_refused() {
    let bench = Bench::new(&[("file", ""), ("folder/x", "")]);
    let emberson = ["generate", "emberson", "-n", "4", "-u", "1"];
    let calls: &[(&[&str], &[&str])] = &[
        (&["emberson", "-n", "4", "-u", "5"], &["4 tasks", "utilization 5", "at least 5 tasks"]),
        (&["emberson", "-n", "4", "-u", "-1"], &["utilization", "`-1`", "non-negative"]),
        (&["emberson", "-n", "4", "-u", "0"], &["utilization 0", "positive"]),
        (&["emberson", "-n", "0", "-u", "1"], &["tasks 0", "1 to 100000"]),
        (&["emberson", "-n", "200000", "-u", "1"], &["tasks 200000", "1 to 100000"]),
        (&["emberson", "-n", "4", "-u", "much"], &["utilization", "`much`", "3.2"]),
        (&["emberson", "-n", "4"], &["--utilization"]),
        (&["emberson", "-n", "4", "-u", "1", "--periods", "poisson"], &["periods `poisson`", "log-uniform"]),
        (
            &["emberson", "-n", "4", "-u", "1", "--periods", "uniform:10ms,5ms"],
            &["10ms to 5ms", "the shorter"],
        ),
        (&["emberson", "-n", "4", "-u", "1", "--granularity", "0ms"], &["granularity"]),
        (&["emberson", "-n", "4", "-u", "1", "--wss", "16Kib"], &["wss", "unknown unit `Kib`", "KiB"]),
        (&["emberson", "-n", "4", "-u", "1", "--deadlines", "soon"], &["deadlines `soon`"]),
        (&["emberson", "-n", "4", "-u", "1", "--access", "zigzag"], &["access", "`zigzag`", "random"]),
        (&["emberson", "-n", "4", "-u", "1", "--count", "0"], &["--count", "from 1 to 1000000"]),
        (&["emberson", "-n", "4", "-u", "1", "--count", "2"], &["several sets", "-o DIR", "--json"]),
        (&["emberson", "-n", "4", "-u", "1", "--format", "xml"], &["'xml'", "toml, json, csv"]),
        (&["emberson", "-n", "4", "-u", "1", "-o", "set.xml"], &["set.xml", "XML", "*.toml"]),
        (
            &["emberson", "-n", "4", "-u", "1", "-o", "set.toml", "--format", "csv"],
            &["--format csv", "set.toml", "*.csv"],
        ),
        (&["emberson", "-n", "4", "-u", "1", "--colour", "red"], &["--colour"]),
        (&["uunifast", "-n", "100", "-u", "99.9"], &["100 tasks", "99.9", "`emberson`"]),
        (&["unc"], &["`unc`", "`tasks`", "`utilization`"]),
        (&["waters", "-u", "0"], &["utilization 0", "positive"]),
        (&["lelli2012", "-o", "grid"], &["--cpus"]),
        (&["lelli2012", "--cpus", "2"], &["several sets", "-o DIR"]),
        (&["lelli2012", "--cpus", "0", "-o", "grid"], &["'0'", "--cpus", "from 1 to 1024"]),
        (&["lelli2012", "--cpus", "99999", "-o", "grid"], &["'99999'", "--cpus", "from 1 to 1024"]),
        (&["lelli2012", "--cpus", "2", "--wss", "big", "-o", "grid"], &["--wss", "`big`"]),
        (&["gauss"], &["gauss"]),
        (&["mtt", "-u", "6"], &["--distribution"]),
        (&["mtt", "--distribution", "mxx", "-u", "6"], &["`mxx`", "mlu, mmu, mwl"]),
        (
            &["mtt", "--distribution", "mwl", "-u", "6", "--wss", "1MiB"],
            &["`wss` cannot be given", "Table 6.1"],
        ),
        (&["mtt", "--distribution", "mwl", "-u", "6", "--shared", "1.5"], &["shared part 1.5", "0.5"]),
        (&["mtt", "--distribution", "mwl", "-u", "0.01"], &["the set is empty", "mlu"]),
    ];
    for (call, names) in calls {
        bench.refuses(&[&["generate"], *call].concat(), names);
    }
    let to = |path| [&emberson[..], &["-o", path]].concat();
    bench.refuses(&to("folder"), &["cannot write folder", "is a directory", "name a file"]);
    bench.refuses(&to("nowhere/set.toml"), &["nowhere/set.toml", "does not exist"]);
    bench.refuses(&to("file/set.toml"), &["file/set.toml", "a file stands"]);
    bench.refuses(&[&to("file")[..], &["--count", "2"]].concat(), &["file", "a file stands"]);
}

#[test]
fn a_set_that_does_not_fit_names_the_task_the_room_and_another_method() {
    let tasks = [("a", "4ms"), ("b", "4ms"), ("c", "6ms"), ("d", "6ms")].map(|(n, c)| task(n, c, "10ms", ""));
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let two_cores = "version = 1\n[[cores]]\ncpu = 0\n[[cores]]\ncpu = 1\n";
    let bench = Bench::new(&[("s.toml", &set(&tasks)), ("two.toml", two_cores)]);
    let place = ["place", "s.toml", "--platform", "two.toml", "--placement"];
    let with = |method| [&place[..], &[method]].concat();
    let names = ["task `d`", "0.6000", "CPU 0 has 0.2000", "CPU 1 has 0.4000", "--placement ffd"];
    bench.refuses(&with("ff:given"), &names);
    let fits = bench.laxity(&with("ffd"));
    assert!(fits.status.success(), "the hint is wrong: {}", words(&fits));
    let heavy =
        set(&[&task("x", "6ms", "10ms", ""), &task("y", "6ms", "10ms", ""), &task("z", "6ms", "10ms", "")]);
    bench.write("s.toml", heavy);
    bench.refuses(&with("ilp"), &["task `z`", "1.2000", "--overload least-loaded"]);
    let placed = bench.laxity(&[&with("ilp")[..], &["--overload", "least-loaded"]].concat());
    assert!(placed.status.success(), "the hint is wrong: {}", words(&placed));
    bench.refuses(&with("lwfg-else:ffd"), &["neither lwfg (at task `z`) nor its fallback", "task `z`"]);
    bench.refuses(&with("lwfg-else:lwfg"), &["lwfg-else:lwfg", "falls back to itself", "lwfg"]);
}

#[test]
fn groups_that_contradict_themselves_are_refused_by_everybody() {
    let shares = |name, shared| {
        task(
            name,
            "1ms",
            "10ms",
            &format!("group = \"g\"\nshared = \"{shared}\"\nworking_set = {{ size = \"4KiB\" }}"),
        )
    };
    let bench = Bench::new(&[
        ("more.toml", &set(&[&shares("a", "3KiB"), &shares("b", "2KiB")])),
        ("none.toml", &set(&[&shares("a", "0B"), &shares("b", "2KiB")])),
    ]);
    let place = |set, method| ["place", set, "--platform", "four-cores", "--placement", method];
    bench.refuses(
        &place("more.toml", "lwfg"),
        &["task `a` shares 3KiB", "group `g`", "more than 2KiB", "`shared`"],
    );
    let none = &["none.toml: task `a` is in group `g`", "0 bytes", "leave its group out"];
    bench.refuses(&place("none.toml", "lwfg"), none);
    // They are also refused where groups have no effect.
    bench.refuses(&place("none.toml", "ffd"), none);
    bench.refuses(&["analyze", "none.toml", "--cpus", "2"], none);
    bench.refuses(&["simulate", "none.toml", "--scheduler", "g-edf", "--cpus", "2"], none);
}

/// Together 1.2 of a CPU, each below it: what stands in the way is the second member, and the group is named with its size.
#[test]
fn a_group_that_fits_no_core_is_named_with_its_size() {
    let of = |group| {
        move |name: &&str| {
            let sharing = format!("group = \"{group}\"\nworking_set = {{ size = \"48KiB\" }}");
            task(name, "6ms", "10ms", &sharing)
        }
    };
    let tasks: Vec<String> = ["a", "b", "c"].iter().map(of("video")).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let two_cores = "version = 1\n[[cores]]\ncpu = 0\n[[cores]]\ncpu = 1\n";
    let bench = Bench::new(&[("video.toml", &set(&tasks)), ("two.toml", two_cores)]);
    bench.refuses(
        &["place", "video.toml", "--platform", "two.toml", "--placement", "lwfg"],
        &["task `c` (utilization 0.6000) fits on no CPU", "group `video` (3 tasks that walk 48KiB)"],
    );
}

#[test]
fn where_no_scheduler_can_run_a_set_every_reason_is_given() {
    let stray = task("a", "1ms", "10ms", "affinity = \"8000\"");
    let late = task("a", "1ms", "10ms", "deadline = \"20ms\"");
    let rare = task("a", "1ms", "5s", "");
    let often = task("a", "10us", "50us", "");
    let bench = Bench::new(&[
        ("stray.toml", &set(&[&stray])),
        ("late.toml", &set(&[&late])),
        ("rare.toml", &set(&[&rare])),
        ("often.toml", &set(&[&often])),
    ]);
    let names = ["task `a`", "CPU 8000", "correct the task's affinity"];
    bench.refuses(&["place", "stray.toml"], &names);
    for command in ["place", "analyze"] {
        bench.refuses(&[command, "late.toml", "--force"], &["--write"]);
    }
    bench.refuses(&["compare", "stray.toml", "--out", "out"], &names);
    let edf = |set| ["run", set, "--scheduler", "g-edf", "--out", "out"];
    bench.refuses(&edf("late.toml"), &["task `a`", "deadline 20ms", "period 10ms", "D <= T", "SCHED_FIFO"]);
    bench.refuses(&edf("rare.toml"), &["task `a`", "period 5s", "4194.304ms", "sched_deadline_period"]);
    bench.refuses(&edf("often.toml"), &["task `a`", "period 50us", "100us"]);
}

/// Runs a set under EDF and RM; checks that EDF was not run for a reason in which `names` occur, and RM was.
fn edf_is_not_run(tasks: &[&str], edf: &str, names: &[&str]) {
    let bench = Bench::new(&[("s.toml", &set(tasks))]);
    let schedulers = format!("{edf},g-rm");
    let call = ["run", "s.toml", "--scheduler", &schedulers, "--duration", "100ms", "--out", "out"];
    let Some(ran) = real_run(|| bench.command(&call)) else { return };
    assert!(ran.status.success(), "{}", words(&ran));
    let manifest = fs::read_to_string(bench.path("out/manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let status = |at: usize| &manifest["runs"][at]["status"];
    assert_eq!(status(0)["state"], "not-run");
    assert_eq!(status(1)["state"], "completed");
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    let reason = status(0)["reason"].as_str().expect("a reason");
    for name in names {
        assert!(reason.contains(name), "{reason}");
        let unwrapped = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(name), "{told}");
    }
}

#[test]
fn deadlines_beyond_the_period_leave_edf_out() {
    let late = task("a", "1ms", "10ms", "deadline = \"20ms\"");
    edf_is_not_run(&[&late], "g-edf", &["task `a`", "deadline 20ms", "period 10ms", "D <= T"]);
}

#[test]
fn periods_beyond_four_seconds_leave_edf_out() {
    let rare = task("a", "1ms", "5s", "");
    edf_is_not_run(
        &[&rare, &task("b", "1ms", "10ms", "")],
        "g-edf",
        &["task `a`", "period 5s", "4194.304ms"],
    );
}
