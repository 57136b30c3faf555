//! Where tasks go: the same places for every command, and none that are less proven than those by load.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, text, utf8};
use host::{laxity, words};
use patience::{patiently, real_run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

const ROBOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/robot-controller.toml");

/// A directory.
struct Desk(tempfile::TempDir);

/// A task: C, D, T in us, and the CPU that it is bound to.
type Task = (u64, u64, u64, Option<usize>);

impl Desk {
    fn new() -> Self {
        Desk(tempfile::tempdir().expect("directory"))
    }

    fn write(&self, name: &str, tasks: &[Task]) {
        let task = |(id, (wcet, deadline, period, cpu)): (usize, &Task)| {
            let affinity = cpu.map_or(String::new(), |cpu| format!("affinity = \"{cpu}\"\n"));
            format!(
                "[[tasks]]\nname = \"t{id}\"\nwcet = \"{wcet}us\"\ndeadline = \"{deadline}us\"\nperiod = \"{period}us\"\n{affinity}"
            )
        };
        let name = self.path(name);
        let stem = name.file_stem().expect("a name").to_string_lossy().into_owned();
        let head = format!("version = 1\nname = \"{stem}\"\n");
        let text: String = std::iter::once(head).chain(tasks.iter().enumerate().map(task)).collect();
        fs::write(name, text).expect("write");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, words: &[&str]) -> Output {
        patiently(|| {
            let mut command = laxity();
            command.current_dir(self.0.path()).args(words);
            command
        })
    }

    /// The answer as JSON, whether or not all is proven.
    fn answer(&self, call: &[&str]) -> Value {
        let ended = self.call(&[call, &["--json"]].concat());
        let code = ended.status.code();
        assert!(matches!(code, Some(0 | 1)), "laxity {}: {code:?}\n{}", call.join(" "), words(&ended));
        json(&text(&ended.stdout))
    }

    /// What an analysis says of each set under each scheduler where no background thread starves: beside the kernel's servers next
    /// to nothing of SCHED_FIFO is proven.
    fn analysed(&self, call: &[&str]) -> Vec<Value> {
        self.analysed_as_it_is(&[&["--assume-no-background"], call].concat())
    }

    /// The same beside all that the kernel takes.
    fn analysed_as_it_is(&self, call: &[&str]) -> Vec<Value> {
        self.answer(&[&["analyze"], call].concat())["schedulers"].as_array().expect("schedulers").clone()
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    /// So many tasks; half of the sets have deadlines before the periods.
    fn tasks(&mut self, number: u64) -> Vec<Task> {
        let constrained = self.next(2) == 0;
        let task = |_| {
            let period = 4 + self.next(17);
            let wcet = 1 + self.next(period * 2 / 3);
            let early = if constrained { self.next(period - wcet + 1) } else { 0 };
            (wcet * 100, (period - early) * 100, period * 100, None)
        };
        (0..number).map(task).collect()
    }
}

/// 2: hard, 1: soft, 0: nothing.
fn rank(one: &Value) -> u8 {
    match (&one["hard"]["verdict"] == "schedulable", &one["soft"]["verdict"] == "schedulable") {
        (true, _) => 2,
        (false, soft) => u8::from(soft),
    }
}

/// Tasks by CPUs.
fn cells(cells: &Value) -> BTreeMap<String, Vec<String>> {
    let name = |task: &Value| task.as_str().expect("a name").to_owned();
    let names = |tasks: &Value| tasks.as_array().expect("tasks").iter().map(name).collect::<Vec<_>>();
    let cells = cells.as_array().expect("cells").iter();
    let filled = cells.map(|cell| (name(&cell["cpus"]), names(&cell["tasks"])));
    filled.filter(|(_, tasks)| !tasks.is_empty()).collect()
}

#[test]
fn no_set_is_less_proven_than_by_load_and_what_can_be_proven_is() {
    let mut better = 0;
    // A seed is forty sets: the program is called for all of them together.
    for seed in laxity_seeds::seeds!(24..25) {
        let desk = Desk::new();
        let mut random = Random(seed);
        let sets: Vec<Vec<Task>> = (0..40).map(|_| random.tasks(5)).collect();
        let names: Vec<String> = (0..sets.len()).map(|at| format!("s{at:02}.toml")).collect();
        names.iter().zip(&sets).for_each(|(name, tasks)| desk.write(name, tasks));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let schedulers =
            ["--schedulers", "p-rm,p-dm,p-edf,c-rm,c-edf", "--cpus", "4", "--clusters", "0-1;2-3"];
        let with = |more: &[&str]| desk.analysed(&[&names[..], &schedulers[..], more].concat());
        let by_default = with(&[]);
        for method in ["ilp", "ffd", "wfd", "bfd", "lwfg", "lwfg-else:ffd"] {
            let load = with(&["--fit", "load", "--placement", method]);
            for (own, load) in with(&["--placement", method]).iter().zip(&load) {
                assert!(rank(own) >= rank(load), "{method}: by the test {own}\nby load {load}");
                better += usize::from(rank(own) > rank(load));
            }
            for (auto, load) in by_default.iter().zip(&load).filter(|_| method == "ilp") {
                assert!(rank(auto) >= rank(load), "auto: {auto}\nby load {load}");
            }
        }
    }
    laxity_seeds::assert_together!(better > 20, "the test made a difference {better} times");
}

#[test]
fn where_any_partition_is_proven_one_is_found() {
    let desk = Desk::new();
    let (mut proven, mut by_search) = (0, 0);
    for seed in laxity_seeds::seeds!(25..26) {
        let mut random = Random(seed);
        for at in 0..12 {
            let tasks = random.tasks(4 + at % 2);
            desk.write("set.toml", &tasks);
            let mut files = Vec::new();
            for assignment in 0..1_u32 << tasks.len() {
                let cpu = |id: usize| usize::try_from(assignment >> id & 1).expect("a bit");
                let pinned: Vec<Task> =
                    tasks.iter().enumerate().map(|(id, &(c, d, t, _))| (c, d, t, Some(cpu(id)))).collect();
                files.push(format!("pinned-{assignment}.toml"));
                desk.write(files.last().expect("one"), &pinned);
            }
            let on_two = ["--schedulers", "p-rm,p-edf", "--cpus", "2"];
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let every = desk.analysed(&[&files[..], &on_two].concat());
            for (found, name) in
                desk.analysed(&[&["set.toml"][..], &on_two].concat()).iter().zip(["p-rm", "p-edf"])
            {
                // Tests of one core are exact: this is the truth about all partitions.
                let any = every.iter().any(|one| one["scheduler"] == name && rank(one) == 2);
                assert_eq!(rank(found) == 2, any, "{name}: {tasks:?}: {found}");
                proven += usize::from(any);
                by_search += usize::from(found["placement"] == "a search of all partitions");
            }
        }
    }
    println!("{proven} proven, {by_search} of them by the search");
    laxity_seeds::assert_together!((3..24).contains(&proven), "{proven} of 24 show both");
}

#[test]
fn analyze_simulate_and_place_agree_on_the_places() {
    let desk = Desk::new();
    let call = ["--schedulers", "p-rm,p-edf,c-edf,p-fpp:dm,g-rm", "--cpus", "4", "--clusters", "0-1;2-3"];
    let mut compared = 0;
    for seed in laxity_seeds::seeds!(26..27) {
        let mut random = Random(seed);
        for at in 0..10 {
            desk.write("set.toml", &random.tasks(6));
            let placement: &[&str] = if at % 2 == 0 { &[] } else { &["--placement", "ffd"] };
            let analysed = desk.analysed_as_it_is(&[&["set.toml"], &call[..], placement].concat());
            let out = format!("out-{seed}-{at}");
            let simulate = ["simulate", "set.toml", "--duration", "20ms", "--out", &out];
            let ended = desk.call(&[&simulate[..], &call, placement].concat());
            if !ended.status.success() {
                // No core is fast enough, or all are too few: then nothing is placed.
                assert!(
                    analysed.iter().all(|one| one["placement"].is_null()),
                    "{}\n{analysed:?}",
                    words(&ended)
                );
                continue;
            }
            let manifest = json_file(&desk.path(&out).join("manifest.json"));
            for run in manifest["runs"].as_array().expect("runs") {
                let own = |one: &&Value| one["scheduler"] == run["scheduler"];
                let one = analysed.iter().find(own).expect("analysed");
                if run["placement"].is_null() {
                    assert!(one["placement"].is_null(), "{run}\n{one}");
                    continue;
                }
                assert_eq!(cells(&run["placement"]["bins"]), cells(&one["cells"]), "{run}\n{one}");
                compared += 1;
                let scheduler = one["scheduler"].as_str().expect("a name");
                if scheduler != "g-rm" {
                    let place = [
                        "place",
                        "set.toml",
                        "--scheduler",
                        scheduler,
                        "--cpus",
                        "4",
                        "--clusters",
                        "0-1;2-3",
                    ];
                    let placed = desk.answer(&[&place[..], placement].concat());
                    assert_eq!(cells(&placed["bins"]), cells(&one["cells"]), "{placed}\n{one}");
                    assert_eq!((&placed["fit"], &placed["method"]), (&one["fit"], &one["placement"]));
                }
            }
        }
    }
    laxity_seeds::assert_together!(compared > 20, "{compared}");
}

/// The set behind issue 24: rate-monotonic priorities prove it in places that a load does not find.
#[test]
fn the_robot_runs_where_it_is_proven() {
    let desk = Desk::new();
    let on_two = ["--scheduler", "p-rm", "--cpus", "2"];
    let verdict = |more: &[&str]| {
        let one = desk.analysed(&[&[ROBOT][..], &on_two, more].concat()).remove(0);
        (rank(&one), one["fit"].clone(), one["notes"].to_string())
    };
    assert_eq!(verdict(&["--fit", "load"]).0, 1, "by load it is not proven");
    let (rank, fit, notes) = verdict(&[]);
    assert_eq!((rank, fit), (2, json!("hard-test")), "{notes}");
    assert!(
        notes.contains("with the test of p-rm, because the places of least load are not proven"),
        "{notes}"
    );
    let (rank, _, notes) = verdict(&["--placement", "ilp"]);
    assert!(
        rank == 1 && notes.contains("--placement auto asks the test of p-rm"),
        "what was named stays: {notes}"
    );
    let simulated = desk.answer(&[&["simulate", ROBOT, "--duration", "2s"][..], &on_two].concat());
    assert_eq!(simulated["schedulers"][0]["misses"], 0);
    let by_load = [&["simulate", ROBOT, "--duration", "2s", "--fit", "load"][..], &on_two].concat();
    assert_ne!(desk.answer(&by_load)["schedulers"][0]["misses"], 0);
}

#[test]
fn places_are_written_and_kept_to() {
    let desk = Desk::new();
    let write = [
        "analyze",
        "--assume-no-background",
        ROBOT,
        "--scheduler",
        "p-rm",
        "--cpus",
        "2",
        "--write",
        "placed.toml",
    ];
    let ended = desk.call(&write);
    assert!(ended.status.success() && words(&ended).contains("the places of p-rm"), "{}", words(&ended));
    let told = text(&ended.stdout);
    assert!(told.contains("Places under") && told.contains("emergency-stop"), "{told}");
    let own = cells(&desk.analysed(&[ROBOT, "--scheduler", "p-rm", "--cpus", "2"])[0]["cells"]);
    assert_eq!(own.len(), 2, "{own:?}");
    for method in ["auto", "ilp", "ffd", "wfd", "bf-deadline", "lwfg", "slowest-fit", "bfd", "cf:density"] {
        let by = ["--placement", method, "--cpus", "2"];
        for fit in [&["--fit", "test"][..], &["--fit", "utilization"]] {
            let call = [&["placed.toml", "--scheduler", "p-rm"], &by[..], fit].concat();
            assert_eq!(cells(&desk.analysed(&call)[0]["cells"]), own, "{method} {fit:?}");
            let placed = desk.answer(&[&["place"], &call[..]].concat());
            assert_eq!(cells(&placed["bins"]), own, "{method} {fit:?}");
        }
        let call =
            [&["simulate", "placed.toml", "--scheduler", "p-rm", "--duration", "20ms", "--force"], &by[..]];
        let ended = desk.call(&[&call.concat()[..], &["--out", "out"]].concat());
        assert!(ended.status.success(), "{}", words(&ended));
        let manifest = json_file(&desk.path("out").join("manifest.json"));
        assert_eq!(cells(&manifest["runs"][0]["placement"]["bins"]), own, "{method}");
    }
    let settings = desk.answer(&["settings", "placed.toml", "--scheduler", "p-rm", "--cpus", "2"]);
    assert!(settings["tasks"].as_array().is_none_or(|tasks| !tasks.is_empty()), "{settings}");
    // Nothing is replaced unasked, and what is meant is to be clear.
    let again = desk.call(&write);
    assert_eq!(again.status.code(), Some(2), "{}", words(&again));
    assert!(desk.call(&[&write[..], &["--force"]].concat()).status.success());
    for (more, why) in [
        (&["--schedulers", "p-rm,p-edf,p-dm"][..], "are proven, in different places"),
        (&["--schedulers", "g-rm,g-edf"], "no places under g-rm, g-edf"),
        (&["placed.toml", "--scheduler", "p-rm"], "there are 2"),
        (&["--scheduler", "p-rm", "--json", "--write", "-"], "both want standard output"),
    ] {
        let call = [&["analyze", "--assume-no-background", ROBOT, "--cpus", "2"], more].concat();
        let write = if more.contains(&"-") { &[][..] } else { &["--write", "new.toml"] };
        let refused = desk.call(&[&call[..], write].concat());
        assert_eq!(refused.status.code(), Some(2), "{more:?}: {}", words(&refused));
        assert!(words(&refused).contains(why), "{more:?}: {}", words(&refused));
        assert!(!desk.path("new.toml").exists());
    }
}

#[test]
fn several_placements_are_configurations_and_the_same_places_are_one() {
    let desk = Desk::new();
    let call = ["simulate", ROBOT, "--cpus", "2", "--duration", "100ms", "--placement", "ilp,wfd,ffd,bfd"];
    let ended = desk.call(&[&call[..], &["--schedulers", "p-rm,g-rm,c-rm", "--out", "out"]].concat());
    assert!(ended.status.success(), "{}", words(&ended));
    let said = words(&ended);
    assert!(said.contains("p-rm@bfd has the places of p-rm@ffd, and is not made again"), "{said}");
    let manifest = json_file(&desk.path("out").join("manifest.json"));
    let runs = manifest["runs"].as_array().expect("runs");
    let names: Vec<&str> = runs.iter().map(|run| run["scheduler"].as_str().expect("a name")).collect();
    // Linux's order in tables; one cluster and the whole machine place nothing.
    assert!(
        names.contains(&"p-rm@ilp") && names.contains(&"p-rm@ffd") && !names.contains(&"p-rm@bfd"),
        "{names:?}"
    );
    assert_eq!(names.iter().filter(|name| !name.contains('@')).count(), 2, "{names:?}");
    assert_eq!(manifest["options"]["placement"], "ilp,wfd,ffd,bfd");
    let same = manifest["options"]["same-places"].as_str().expect("an option");
    assert!(same.contains("p-rm@bfd as p-rm@ffd"), "{same}");
    let told = text(&ended.stdout);
    assert!(told.contains("p-rm@ffd"), "{told}");
    // A configuration's name is one to ask for.
    let one =
        desk.answer(&["simulate", ROBOT, "--cpus", "2", "--duration", "100ms", "--scheduler", "p-rm@ffd"]);
    assert_eq!(one["schedulers"][0]["scheduler"], "p-rm@ffd");
    for (call, why) in [
        (&["simulate", ROBOT, "--scheduler", "g-rm@ffd"][..], "nothing is placed"),
        (&["place", ROBOT, "--placement", "ilp,ffd"], "place takes one placement"),
        (&["analyze", ROBOT, "--placement", "ilp,ffd"], "analyze takes one placement"),
        (&["place", ROBOT, "--fit", "test"], "the test of which scheduler"),
        (&["place", ROBOT, "--scheduler", "g-edf"], "nothing is placed"),
        (&["place", ROBOT, "--scheduler", "p-rm", "--onto", "clusters"], "tasks go onto CPUs"),
    ] {
        let refused = desk.call(&[call, &["--cpus", "2"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{call:?}: {}", words(&refused));
        assert!(words(&refused).contains(why), "{call:?}: {}", words(&refused));
    }
    let verified = desk.call(&[&call[..], &["--schedulers", "p-rm", "--verify"]].concat());
    assert!(verified.status.success(), "{}", words(&verified));
}

#[test]
fn without_a_scheduler_what_compare_runs_is_simulated() {
    let desk = Desk::new();
    let answer = desk.answer(&["simulate", ROBOT, "--cpus", "2", "--duration", "50ms"]);
    let names = answer["schedulers"].as_array().expect("schedulers").iter();
    let names: Vec<&str> = names.map(|one| one["scheduler"].as_str().expect("a name")).collect();
    assert_eq!(names, ["g-edf", "g-rm", "c-edf", "c-rm", "p-edf", "p-rm"]);
    // Each has its chart; a trace is of one.
    let charts = desk.call(&["simulate", ROBOT, "--cpus", "2", "--duration", "50ms", "--gantt"]);
    let told = text(&charts.stdout);
    assert_eq!(told.matches("robot-controller under").count(), 6, "{told}");
    let trace =
        desk.call(&["simulate", ROBOT, "--cpus", "2", "--duration", "50ms", "--perfetto", "trace.pb"]);
    assert_eq!(trace.status.code(), Some(2), "{}", words(&trace));
    assert!(words(&trace).contains("one scheduler"), "{}", words(&trace));
}

#[test]
fn compare_measures_where_it_is_proven() {
    let desk = Desk::new();
    let out = desk.path("out");
    let call =
        ["compare", ROBOT, "--schedulers", "p-rm,p-edf,g-rm", "--placement", "auto,ffd", "--cpus", "0-1"];
    let rest = [
        "--assume-no-background",
        "--duration",
        "200ms",
        "--alone",
        "0s",
        "--repeat",
        "1",
        "--repeat-disturbed",
        "0",
        "--out",
    ];
    let ended = real_run(|| {
        let mut command = laxity();
        command.args(call).args(rest).arg(utf8(&out));
        command
    });
    let Some(ended) = ended else { return };
    assert!(ended.status.success(), "{}", words(&ended));
    let manifest = json_file(&out.join("manifest.json"));
    let analysis = manifest["analysis"].as_array().expect("an analysis");
    let rm = analysis.iter().find(|one| one["scheduler"] == "p-rm@auto").expect("p-rm@auto");
    assert_eq!(rm["hard"]["verdict"], "schedulable", "{rm}");
    let analysed = desk.analysed(&[ROBOT, "--scheduler", "p-rm", "--cpus", "0-1"]).remove(0);
    let runs = manifest["runs"].as_array().expect("runs");
    let own: Vec<&Value> = runs.iter().filter(|run| run["scheduler"] == "p-rm@auto").collect();
    assert_eq!(own.len(), 2, "measured and simulated");
    for run in own {
        assert_eq!(cells(&run["placement"]["bins"]), cells(&analysed["cells"]), "{run}");
        assert_eq!(run["status"]["state"], "completed", "{run}");
    }
    let edf = runs.iter().find(|run| run["scheduler"] == "p-edf@auto").expect("p-edf@auto");
    assert_eq!(edf["status"]["state"], "completed", "within what the kernel admits: {edf}");
}
