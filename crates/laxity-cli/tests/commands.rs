//! The ordinary ways through help, list, generate and place: what they print, what they write, what reads it back.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, prints, utf8};
use host::{SMALL_SET, small_set};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

#[test]
fn every_help_teaches() {
    for (call, lessons) in [
        (&[][..], &["laxity list", "sudo laxity compare", "Exit codes", "130"][..]),
        (&["compare"], &["Examples:", "laxity compare set.toml", "jobs.parquet", "10s", "uniform:0.5,1"]),
        (&["run"], &["Examples:", "--scheduler p-edf", "--json", "10s"]),
        (&["place"], &["Examples:", "--placement wfd", "--placement lwfg", "0.95", "clusters"]),
        (&["generate"], &["Examples:", "The same seed", "-o generated.toml"]),
        (&["generate", "emberson"], &["Source: Emberson", "10ms", "16KiB", "--granularity"]),
        (&["generate", "uunifast"], &["Source:", "10ms", "16KiB"]),
        (&["generate", "unc"], &["Source: ackelman2018", "exp-light", "uni-moderate (10-100ms)"]),
        (&["generate", "waters"], &["Source: Kramer", "16KiB"]),
        (&["generate", "mtt"], &["Source: lindsay2012", "Table 6.1", "mwlp", "--shared", "10-250ms"]),
        (&["generate", "lelli2012"], &["Source: lelli2012, 5.3", "16KiB,256KiB", "--cpus"]),
        (&["report"], &["Examples:", "report.html", "notes.md"]),
        (&["list"], &["Examples:", "--as-platform", "--json"]),
        (&["simulate"], &["Examples:", "--gantt", "edf-bh", "push and pull", "p-fpp:rm", "--costs"]),
        (&["analyze"], &["Examples:", "Exit codes", "--overheads", "tardiness", "g-fl", "--sensitivity"]),
        (&["verify"], &["Examples:", "oracles", "--events", "Exit codes"]),
    ] {
        let help = prints(&[call, &["--help"]].concat());
        for lesson in lessons {
            assert!(help.contains(lesson), "`{lesson}` is not in {call:?} --help:\n{help}");
        }
        assert!(help.lines().all(|line| line.chars().count() <= 112), "too wide: {call:?}\n{help}");
    }
}

#[test]
fn list_says_what_there_is_and_what_this_machine_can_run() {
    let answer = json(&prints(&["list", "--json"]));
    assert_eq!(answer["version"], 1);
    for (kind, part, least) in [
        ("schedulers", "schedulers", 12),
        ("policies", "schedulers", 7),
        ("analysed", "schedulers", 2),
        ("tests", "tests", 20),
        ("generators", "generators", 6),
        ("placements", "placements", 9),
        ("platforms", "platforms", 5),
        ("overheads", "overheads", 20),
        ("metrics", "metrics", 10),
    ] {
        let told = prints(&["list", part]);
        let only = json(&prints(&["list", part, "--json"]));
        assert_eq!(only[kind], answer[kind], "{part} --json");
        let entries = answer[kind].as_array().expect("a list");
        assert!(entries.len() >= least, "{kind}: {entries:?}");
        for entry in entries {
            let name = entry["name"].as_str().expect("a name");
            assert!(!entry["description"].as_str().expect("a description").is_empty());
            assert!(told.contains(&format!("\n  {name} ")), "{name} is not listed:\n{told}");
        }
    }
    for scheduler in answer["schedulers"].as_array().expect("a list") {
        let runs = scheduler["runs_here"].as_bool().expect("yes or no");
        assert_eq!(scheduler["why_not"].is_null(), runs, "{scheduler}");
    }
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    assert!(answer["machine"]["kernel"].as_str().expect("text").contains(kernel.trim()));
    assert!(answer["can"]["SCHED_DEADLINE"].is_string());
    let told = prints(&["list", "machine"]);
    assert!(told.contains("THIS MACHINE") && told.contains("WHAT IT CAN DO"), "{told}");
    let overview = prints(&["list"]);
    assert!(overview.starts_with("WHAT CAN RUN HERE\n"), "{overview}");
    assert!(overview.contains("laxity list tests") && overview.lines().count() < 40, "{overview}");
}

#[test]
fn every_listed_name_is_accepted() {
    let (_directory, set) = small_set();
    let answer = json(&prints(&["list", "--json"]));
    for placement in answer["placements"].as_array().expect("a list") {
        let name = placement["name"].as_str().expect("a name");
        // A pattern such as `ff|bf:ORDER:up|down` stands for many names.
        if name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
            prints(&["place", utf8(&set), "--placement", name]);
        }
    }
    for platform in answer["platforms"].as_array().expect("a list") {
        let name = platform["name"].as_str().expect("a name");
        let placed =
            json(&prints(&["place", utf8(&set), "--platform", name, "--placement", "ffd", "--json"]));
        assert!(placed["bins"].as_array().expect("bins").len() > 3, "{name}");
    }
    for generator in answer["generators"].as_array().expect("a list") {
        prints(&["generate", generator["name"].as_str().expect("a name"), "--help"]);
    }
}

/// What a generator refuses is not offered.
#[test]
fn mtt_offers_no_working_sets() {
    let help = |generator: &str| prints(&["generate", generator, "--help"]);
    assert!(help("uunifast").contains("--wss") && !help("mtt").contains("--wss"));
    assert!(help("mtt").contains("--read-write 0:1"), "as the thesis' program, which increments");
}

#[test]
fn this_machines_platform_reads_back() {
    let (directory, set) = small_set();
    let machine = json(&prints(&["list", "--json"]));
    for (name, call) in
        [("p.toml", &["list", "--as-platform"][..]), ("p.json", &["list", "--as-platform", "--json"])]
    {
        let file = directory.path().join(name);
        fs::write(&file, prints(call)).expect("write");
        let there = json(&prints(&["place", utf8(&set), "--platform", utf8(&file), "--json"]));
        let here = json(&prints(&["place", utf8(&set), "--json"]));
        assert_eq!(there["bins"], here["bins"]);
        let clusters = ["place", utf8(&set), "--platform", utf8(&file), "--onto", "clusters", "--json"];
        let clusters = json(&prints(&clusters));
        let cpus = |bin: &Value| bin["cpus"].clone();
        let found: Vec<Value> = clusters["bins"].as_array().expect("bins").iter().map(cpus).collect();
        assert_eq!(Value::Array(found), machine["machine"]["clusters"]);
    }
}

/// A call of each generator that makes one set.
const GENERATORS: [&[&str]; 5] = [
    &["emberson", "-n", "8", "-u", "1.5", "--wss", "16KiB,256KiB"],
    &["uunifast", "-n", "8", "-u", "1.5"],
    &["unc", "-u", "1.5", "--utilizations", "exp-light", "--periods", "logunif-moderate"],
    &["waters", "-u", "1.5"],
    &["mtt", "--distribution", "mlu", "-u", "1.5"],
];

#[test]
fn a_seed_gives_the_same_bytes_and_another_gives_others() {
    for generator in GENERATORS {
        let with_seed = |seed| prints(&[&["generate"], generator, &["--seed", seed]].concat());
        assert_eq!(with_seed("7"), with_seed("7"), "{generator:?}");
        assert_ne!(with_seed("7"), with_seed("8"), "{generator:?}");
        assert!(with_seed("7").contains("seed = 7"), "{generator:?}");
    }
}

#[test]
fn generated_sets_read_back_in_every_format() {
    let directory = tempfile::tempdir().expect("directory");
    for generator in GENERATORS {
        let mut loads = Vec::new();
        for format in ["toml", "json", "csv"] {
            let file = directory.path().join(format!("set.{format}"));
            let printed = prints(&[&["generate"], generator, &["--format", format]].concat());
            let to_file = [&["generate"], generator, &["-o", utf8(&file), "--force"]].concat();
            assert_eq!(prints(&to_file), "", "data went to the file");
            assert_eq!(fs::read_to_string(&file).expect("written"), printed, "{generator:?} {format}");
            let placed = ["place", utf8(&file), "--onto", "clusters", "--clusters", "all", "--json"];
            let placed = json(&prints(&[&placed[..], &["--overload", "least-loaded"]].concat()));
            loads.push(placed["bins"][0]["load"].clone());
        }
        assert!(loads.iter().all(|load| *load == loads[0]), "{generator:?}: {loads:?}");
    }
}

#[test]
fn many_sets_go_into_a_directory_and_are_those_of_the_array() {
    let directory = tempfile::tempdir().expect("directory");
    let folder = directory.path().join("sets/deep");
    let call = ["generate", "emberson", "-n", "4", "-u", "1", "--count", "5"];
    assert_eq!(prints(&[&call[..], &["-o", utf8(&folder), "--format", "json"]].concat()), "");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("written").map(|e| e.expect("entry").path()).collect();
    files.sort();
    assert_eq!(files.len(), 5, "{files:?}");
    let array = json(&prints(&[&call[..], &["--json"]].concat()));
    let mut sets = array.as_array().expect("an array").clone();
    sets.sort_by_key(|set| set["name"].as_str().expect("a name").to_owned());
    let read: Vec<Value> = files.iter().map(|file| json_file(file)).collect();
    assert_eq!(read, sets);
    let distinct: std::collections::BTreeSet<String> =
        sets.iter().map(|set| set["tasks"].to_string()).collect();
    assert_eq!(distinct.len(), 5, "sets of one seed differ");
    let first = prints(&["generate", "emberson", "-n", "4", "-u", "1", "--format", "json"]);
    assert!(sets.contains(&json(&first)), "one set is the first of many");
}

#[test]
fn the_grid_of_lelli2012_has_all_its_cells() {
    let directory = tempfile::tempdir().expect("directory");
    let folder = directory.path().join("grid");
    prints(&["generate", "lelli2012", "--cpus", "2", "--count", "1", "-o", utf8(&folder)]);
    let mut cells: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("written") {
        let path = entry.expect("entry").path();
        let set: toml::Table = fs::read_to_string(&path).expect("readable").parse().expect("TOML");
        let tasks = set["tasks"].as_array().expect("tasks");
        let size = tasks[0]["working_set"]["size"].as_str().expect("a size").to_owned();
        *cells.entry((tasks.len(), size)).or_default() += 1;
    }
    let expected =
        [4, 6, 8].into_iter().flat_map(|n| ["16KiB", "256KiB"].map(|size| ((n, size.to_owned()), 3)));
    assert_eq!(cells, expected.collect());
}

const FOUR_CORES: &str = "version = 1\nclusters = [\"0-1\", \"2-3\"]\n[[cores]]\ncpu = 0\n[[cores]]\ncpu = 1\n\
                          [[cores]]\ncpu = 2\n[[cores]]\ncpu = 3\n";

#[test]
fn a_placement_is_a_partition_whose_loads_sum_to_u() {
    let directory = tempfile::tempdir().expect("directory");
    let platform = directory.path().join("four.toml");
    fs::write(&platform, FOUR_CORES).expect("write");
    for seed in 1..=5 {
        let seed = seed.to_string();
        let set = directory.path().join("set.json");
        prints(&[
            "generate",
            "emberson",
            "-n",
            "16",
            "-u",
            "2.4",
            "--seed",
            &seed,
            "-o",
            utf8(&set),
            "--force",
        ]);
        let utilization = utilization_by_name(&json_file(&set));
        for method in [
            "ffd",
            "wfd",
            "bfd",
            "nfd",
            "cf",
            "bf-deadline",
            "wf:period:up",
            "lwf",
            "lwfg",
            "lwfg-else:ffd",
            "ilp",
        ] {
            for onto in ["cpus", "clusters"] {
                let call = ["place", utf8(&set), "--platform", utf8(&platform), "--placement", method];
                let call = [&call[..], &["--onto", onto, "--overload", "least-loaded"]].concat();
                let table = prints(&call);
                let answer = json(&prints(&[&call[..], &["--json"]].concat()));
                check_placement(&answer, &table, &utilization);
                assert_eq!(answer["bins"].as_array().map(Vec::len), Some(if onto == "cpus" { 4 } else { 2 }));
            }
        }
    }
}

/// C/T by task name, computed from the file.
fn utilization_by_name(set: &Value) -> BTreeMap<String, f64> {
    let ns = |text: &Value| {
        let text = text.as_str().expect("a time");
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').expect("a unit");
        let scale = match &text[split..] {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            unit => panic!("unit {unit}"),
        };
        text[..split].parse::<f64>().expect("a number") * scale
    };
    let tasks = set["tasks"].as_array().expect("tasks").iter();
    tasks
        .map(|task| {
            (task["name"].as_str().expect("a name").to_owned(), ns(&task["wcet"]) / ns(&task["period"]))
        })
        .collect()
}

/// Every task in exactly one bin; every load the sum of its tasks'; the table tells the same.
fn check_placement(answer: &Value, table: &str, utilization: &BTreeMap<String, f64>) {
    let mut placed = Vec::new();
    let mut most: f64 = 0.0;
    for bin in answer["bins"].as_array().expect("bins") {
        let names: Vec<&str> =
            bin["tasks"].as_array().expect("tasks").iter().filter_map(Value::as_str).collect();
        let sum: f64 = names.iter().map(|&name| utilization[name]).sum();
        let load = bin["load"].as_f64().expect("a load");
        assert!((sum - load).abs() < 1e-9, "{names:?}: {sum} is not {load}");
        most = most.max(load / bin["capacity"].as_f64().expect("a capacity"));
        assert!(table.contains(&format!("{load:.4}")), "{load} is not in\n{table}");
        placed.extend(names.into_iter().map(str::to_owned));
    }
    placed.sort();
    assert_eq!(placed, utilization.keys().cloned().collect::<Vec<_>>());
    let max_load = answer["max_load"].as_f64().expect("a load");
    assert!((most - max_load).abs() < 1e-9, "{most} is not {max_load}");
    if let Some(bound) = answer["lower_bound"].as_f64() {
        let total: f64 = utilization.values().sum();
        assert!(bound <= max_load + 1e-9 && bound >= total / 4.0 - 1e-9, "{bound} for {max_load}");
    }
}

#[test]
fn tasks_that_share_memory_are_placed_together_by_lwfg() {
    let directory = tempfile::tempdir().expect("directory");
    let (platform, set) = (directory.path().join("four.toml"), directory.path().join("mwl.toml"));
    fs::write(&platform, FOUR_CORES).expect("write");
    prints(&["generate", "mtt", "--distribution", "mwl", "-u", "3", "--seed", "3", "-o", utf8(&set)]);
    let place = |how: &str, json: &[&str]| {
        let call = ["place", utf8(&set), "--platform", utf8(&platform), "--placement", how];
        prints(&[&call[..], &["--overload", "least-loaded"], json].concat())
    };
    let split = |how: &str| {
        let answer = json(&place(how, &["--json"]));
        let groups = answer["groups"].as_array().expect("groups").clone();
        assert!(groups.len() > 1, "{answer}");
        // What a bin walks is at least its largest task's working set, and a group's counts once.
        let bytes =
            answer["bins"].as_array().expect("bins").iter().map(|bin| bin["working_set_bytes"].as_u64());
        let all: u64 = bytes.map(|bytes| bytes.expect("known")).sum();
        (groups.iter().filter(|group| group["cpus"].as_array().expect("cpus").len() > 1).count(), all)
    };
    let (lwfg, wfd) = (split("lwfg"), split("wfd"));
    assert!(lwfg.0 < wfd.0 && lwfg.1 < wfd.1, "{lwfg:?} against {wfd:?}");
    let table = place("wfd", &[]);
    assert!(table.contains("working sets") && table.contains("is split over CPUs"), "{table}");
    assert!(place("lwfg", &[]).contains("groups that share memory are together"));
    let simulated =
        ["simulate", utf8(&set), "--scheduler", "p-edf", "--placement", "lwfg", "--duration", "100ms"];
    prints(&[&simulated[..], &["--platform", utf8(&platform), "--overload", "least-loaded"]].concat());
}

#[test]
fn options_of_a_placement_are_used() {
    let directory = tempfile::tempdir().expect("directory");
    let (platform, set) = (directory.path().join("four.toml"), directory.path().join("s.toml"));
    fs::write(&platform, FOUR_CORES).expect("write");
    fs::write(&set, SMALL_SET).expect("write");
    let with = |more: &[&str]| {
        let call = ["place", utf8(&set), "--platform", utf8(&platform), "--json", "--placement", "ffd"];
        json(&prints(&[&call[..], more].concat()))
    };
    let bins = |answer: &Value| answer["bins"].as_array().expect("bins").len();
    let used = |answer: &Value| {
        answer["bins"].as_array().expect("bins").iter().filter(|bin| bin["load"] != 0.0).count()
    };
    assert_eq!((bins(&with(&[])), used(&with(&[]))), (4, 1));
    assert_eq!(bins(&with(&["--cpus", "3"])), 3);
    assert_eq!(with(&["--cpus", "2,3"])["bins"][0]["cpus"], "2");
    assert_eq!(bins(&with(&["--onto", "clusters"])), 2);
    assert_eq!(bins(&with(&["--onto", "clusters", "--clusters", "each"])), 4);
    assert_eq!(bins(&with(&["--onto", "clusters", "--clusters", "all"])), 1);
    assert_eq!(with(&["--onto", "clusters", "--clusters", "0;1-3"])["bins"][1]["cpus"], "1-3");
    // Tasks of 0.1, 0.2, 0.2, 0.1: two of 0.2 and two of 0.1 together, or two pairs of both.
    assert_eq!(used(&with(&["--limit", "0.25"])), 3);
    assert_eq!(used(&with(&["--limit", "0.3"])), 2);
    assert_eq!(with(&["--fit", "dbf"])["fit"], "dbf");
}

/// What is there already stays, whatever it is, unless --force is given; what is no regular file is written through.
#[test]
fn generate_loses_nothing_that_is_there() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let generate = |to: &str, more: &[&str]| {
        let call = [&["generate", "uunifast", "-n", "3", "-u", "1", "-o", to], more].concat();
        host::output(host::laxity().args(call).current_dir(directory.path()))
    };
    let said = |ended: &std::process::Output| String::from_utf8_lossy(&ended.stderr).into_owned();
    fs::write(at("mine.toml"), "precious").expect("write");
    let refused = generate("mine.toml", &[]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("mine.toml is there already") && said(&refused).contains("--force"));
    assert_eq!(fs::read_to_string(at("mine.toml")).expect("there"), "precious");
    symlink("mine.toml", at("link.toml")).expect("a link");
    assert_eq!(generate("link.toml", &["--force"]).status.code(), Some(0));
    assert!(fs::symlink_metadata(at("link.toml")).expect("there").is_symlink());
    assert!(fs::read_to_string(at("mine.toml")).expect("there").contains("[[tasks]]"));
    let full = generate("/dev/full", &[]);
    assert_eq!(full.status.code(), Some(3), "{}", said(&full));
    assert!(said(&full).contains("cannot write /dev/full"), "{}", said(&full));
    assert_eq!(generate("/dev/null", &[]).status.code(), Some(0));
    for device in ["/dev/full", "/dev/null"] {
        assert!(fs::metadata(device).expect("there").file_type().is_char_device(), "{device}");
    }
    for (name, more, why) in [
        ("set.yaml", &[][..], "laxity writes no .yaml"),
        ("sets.toml", &["--count", "5"], "several sets do not go into one file"),
    ] {
        let refused = generate(name, more);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains(why), "{}", said(&refused));
        assert!(!at(name).exists());
    }
    let quiet = generate("quiet.toml", &["-q"]);
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", said(&quiet));
    let standard = generate("-", &[]);
    assert!(String::from_utf8_lossy(&standard.stdout).contains("[[tasks]]"));
}

/// Names that people type, and what they are told.
#[test]
fn a_name_that_is_not_known_is_guessed() {
    let (_directory, set) = small_set();
    let set = utf8(&set);
    for (call, meant) in [
        (&["simulate", set, "--scheduler", "gedf"][..], "did you mean `g-edf`?"),
        (&["simulate", set, "--scheduler", "G_EDF"], "did you mean `g-edf`?"),
        (&["analyze", set, "--scheduler", "fifo"], "did you mean `p-rm`, `p-dm` or `p-fp`"),
        (&["simulate", set, "--scheduler", "edf"], "did you mean `p-edf`, `c-edf` or `g-edf`"),
        (&["simulate", set, "--scheduler", "eevdf"], "did you mean `other`"),
        (&["place", set, "--placement", "first-fit"], "did you mean `ff`"),
        (&["place", set, "--placement", "fdd"], "did you mean `ffd`?"),
        (&["place", set, "--platform", "big-litle"], "did you mean `big-little`?"),
        (&["place", set, "--fit", "utilisation"], "did you mean `utilization`?"),
        (&["analyze", set, "--test", "gbf"], "did you mean `gfb`?"),
        (&["analyze", set, "--overheads", "cerqueira2014-text/gsn-edf-maxx"], "did you mean `cerqueira"),
        (&["simulate", set, "--demand", "unifrom:0.5,1"], "did you mean `uniform`?"),
        (&["simulate", set, "--budget", "postpon"], "did you mean `postpone`?"),
        (&["simulate", set, "--on-miss", "kill"], "did you mean `abort`?"),
        (&["compare", set, "--demand-model", "worc"], "did you mean `work`?"),
        (&["list", "scheduler-"], "did you mean `schedulers`?"),
        (&["schema", "taks-set"], "did you mean `task-set`?"),
        (&["promote", "abc", "--runtime", "1ms", "--period", "9ms"], "not the number of a process"),
        (&["simulate", set, "--repeat", "1.5"], "not a whole number from 1 to 10000"),
    ] {
        let ended = host::output(host::laxity().args(call));
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{call:?}: {said}");
        assert!(said.contains(meant), "{call:?} is not told `{meant}`:\n{said}");
        assert!(!said.contains("invalid digit"), "{said}");
    }
}

#[test]
fn check_says_what_a_file_is_and_what_is_wrong() {
    let (directory, set) = small_set();
    let platform = directory.path().join("here.toml");
    fs::write(&platform, prints(&["list", "--as-platform"])).expect("write");
    let slip = directory.path().join("slip.toml");
    fs::write(&slip, "version = 1\n[[tasks]]\nwcet = \"1ms\"\nperiod = \"9ms\"\nwss = \"4KiB\"\n")
        .expect("write");
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../");
    let costs = examples.join("examples/costs/measured.toml");
    let study = examples.join("studies/ackelman2018.toml");
    let call = ["check", utf8(&set), utf8(&platform), utf8(&costs), utf8(&study), utf8(&slip), "--json"];
    let ended = host::output(host::laxity().args(call));
    assert_eq!(ended.status.code(), Some(2), "one of them is wrong");
    let answer = json(&String::from_utf8_lossy(&ended.stdout));
    let kinds: Vec<_> =
        answer["files"].as_array().expect("files").iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["task set", "platform", "costs", "study", "task set"]);
    let valid: Vec<_> =
        answer["files"].as_array().expect("files").iter().map(|one| one["valid"].clone()).collect();
    assert_eq!(valid, [true, true, true, true, false], "{answer}");
    let wrong = &answer["files"][4];
    let (error, hint) = (wrong["error"].as_str().expect("text"), wrong["hint"].as_str().expect("text"));
    assert!(error.contains("line 5") && error.contains("`wss`") && !error.contains("expected"), "{error}");
    assert!(hint.contains("did you mean `working_set`?"), "{hint}");
}

#[test]
fn standard_input_is_a_file_and_minutes_are_a_unit() {
    let (_directory, set) = small_set();
    let read = |call: &[&str]| {
        let input = fs::File::open(&set).expect("a set");
        host::laxity().args(call).stdin(input).output().expect("laxity starts")
    };
    let placed = read(&["place", "-", "--json", "--cpus", "7"]);
    assert!(placed.status.success(), "{}", String::from_utf8_lossy(&placed.stderr));
    let placed = json(&String::from_utf8_lossy(&placed.stdout));
    assert_eq!(placed["bins"].as_array().expect("bins").len(), 7, "more CPUs than this machine may have");
    let simulated = read(&["simulate", "-", "--duration", "0.01m", "--json"]);
    assert!(simulated.status.success(), "{}", String::from_utf8_lossy(&simulated.stderr));
    let twice = read(&["analyze", "-", "-"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&twice.stderr).contains("asked for twice"));
}

/// Tables, symbols and charts are in ASCII where the locale is not UTF-8, and what is data stays as it is.
#[test]
fn a_locale_without_utf8_gets_ascii() {
    let directory = tempfile::tempdir().expect("a directory");
    let set = directory.path().join("set.toml");
    fs::write(
        &set,
        "version = 1\nname = \"é\"\n[[tasks]]\nname = \"tâche\"\nwcet = \"1ms\"\nperiod = \"10ms\"\n",
    )
    .expect("writes");
    let set = set.to_str().expect("UTF-8");
    let out = directory.path().join("out");
    let out = out.to_str().expect("UTF-8");
    let calls: [&[&str]; 6] = [
        &["list"],
        &["place", set, "--cpus", "1"],
        &["analyze", set, "--cpus", "1", "--assume-no-background"],
        &["simulate", set, "--cpus", "1", "--gantt", "--to", "20ms"],
        &["simulate", set, "--cpus", "1", "--out", out, "-v"],
        &["report", out],
    ];
    for call in calls {
        let ended = host::output(host::laxity().args(call).env("LC_ALL", "C"));
        assert!(ended.status.success(), "{call:?}: {}", String::from_utf8_lossy(&ended.stderr));
        for bytes in [&ended.stdout, &ended.stderr] {
            assert!(bytes.is_ascii(), "{call:?}: {}", String::from_utf8_lossy(bytes));
        }
        assert!(!ended.stdout.is_empty() || !ended.stderr.is_empty(), "{call:?} says nothing");
    }
    let data =
        host::output(host::laxity().args(["simulate", set, "--cpus", "1", "--json"]).env("LC_ALL", "C"));
    assert!(String::from_utf8_lossy(&data.stdout).contains("tâche"), "JSON is UTF-8 everywhere");
}

/// Piped tables are as wide as `COLUMNS` says, and names stay whole.
#[test]
fn piped_tables_respect_columns() {
    let (_directory, set) = small_set();
    let set = utf8(&set);
    for call in [&["analyze", set, "--cpus", "2"][..], &["simulate", set, "--cpus", "2"]] {
        for columns in ["60", "80", "100"] {
            let ended = host::output(host::laxity().args(call).env("COLUMNS", columns));
            let told = String::from_utf8(ended.stdout).expect("UTF-8");
            let widest = columns.parse::<usize>().expect("a number");
            let tables = told.lines().filter(|line| line.starts_with(' ') || line.starts_with('─'));
            for line in tables {
                assert!(line.trim_end().chars().count() <= widest, "{call:?} in {columns} columns:\n{told}");
            }
        }
    }
}
