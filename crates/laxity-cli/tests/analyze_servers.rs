//! `laxity analyze --server`: amp-rm below deferrable servers (calandrino2007), by hand and beside `laxity place --server`.

mod calls;
mod host;
mod patience;

use calls::{json, text, utf8};
use host::{laxity, words};
use patience::patiently;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// A directory with a set and a platform.
struct Desk {
    _directory: tempfile::TempDir,
    set: PathBuf,
    platform: PathBuf,
}

/// A slow CPU, and one that is twice as fast.
const AMP: &str = "version = 1\nname = \"amp\"\n[[cores]]\ncpu = 0\nspeed = 2\n[[cores]]\ncpu = 1\n";
const ONE: &str = "version = 1\nname = \"one\"\n[[cores]]\ncpu = 0\n";

/// Tasks: name, C, T in ms, and more keys.
fn desk(platform: &str, tasks: &[(&str, u64, u64, &str)]) -> Desk {
    let directory = tempfile::tempdir().expect("directory");
    let (set, platform_file) = (directory.path().join("set.toml"), directory.path().join("platform.toml"));
    let task = |(name, wcet, period, more): &(&str, u64, u64, &str)| {
        format!("[[tasks]]\nname = \"{name}\"\nwcet = \"{wcet}ms\"\nperiod = \"{period}ms\"\n{more}\n")
    };
    let tasks: String = tasks.iter().map(task).collect();
    fs::write(&set, format!("version = 1\nname = \"studio\"\n{tasks}")).expect("write");
    fs::write(&platform_file, platform).expect("write");
    Desk { _directory: directory, set, platform: platform_file }
}

impl Desk {
    fn call(&self, verb: &str, options: &[&str]) -> Output {
        patiently(|| {
            let mut command = laxity();
            command.args([verb, utf8(&self.set), "--platform", utf8(&self.platform)]).args(options);
            command
        })
    }

    fn analyze(&self, options: &[&str]) -> Output {
        self.call("analyze", &[&["--scheduler", "amp-rm"], options].concat())
    }

    /// What is said, and the exit code.
    fn answer(&self, options: &[&str]) -> (Value, i32) {
        let ended = self.analyze(&[options, &["--json"]].concat());
        let code = ended.status.code().expect("a code");
        assert!(code <= 1, "{}", words(&ended));
        (json(&text(&ended.stdout))["schedulers"][0].clone(), code)
    }
}

/// Without what tables end lines with.
fn lines(output: &Output) -> String {
    text(&output.stdout).lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn bounds(verdict: &Value) -> Vec<u64> {
    let tasks = verdict["bounds"]["tasks"].as_array().unwrap_or_else(|| panic!("bounds: {verdict}"));
    tasks.iter().map(|bound| bound["ns"].as_u64().expect("ns")).collect()
}

const MS: u64 = 1_000_000;

/// A server on the slow CPU only: [0, 2) and [2, 4) are ordinary work's there, and `decoder` would be done at 7 > 5.
#[test]
fn a_server_on_one_core() {
    let desk = desk(AMP, &[("mixer", 1, 5, ""), ("decoder", 2, 5, "")]);
    let slow = ["--count-double-hit", "--server", "1=2ms/6ms"];
    let (answer, code) = desk.answer(&slow);
    assert_eq!(
        (code, &answer["cells"][0]["tasks"], &answer["cells"][0]["server"]),
        (0, &json!(["decoder"]), &Value::Null)
    );
    assert_eq!(
        (&answer["cells"][1]["tasks"], &answer["cells"][1]["server"]),
        (&json!(["mixer"]), &json!("2ms/6ms"))
    );
    let (answer, _) = desk.answer(&[&slow[..], &["--sensitivity"]].concat());
    assert!(answer["fewest_processors"].to_string().contains("speeds than 1"), "{answer}");
    let foreign = desk.analyze(&["--server", "2=2ms/6ms"]);
    assert_eq!(foreign.status.code(), Some(2));
    assert!(words(&foreign).contains("CPU 2 is none of those"), "{}", words(&foreign));
}

/// 2 of every 6 ms on the slow CPU, and the same work in 1 of 6 ms on the fast one.
///
/// Slow core: ordinary work may have [0, 2) and, with the next budget, [2, 4). `mixer` has [4, 5) and [5, 6), `decoder` [6, 8). With
/// `logger`'s half, more than all would be needed. Fast core: two budgets of 1 ms and half of 6 ms make 5 ms.
#[test]
fn fast_and_slow_cores() {
    let desk = desk(AMP, &[("mixer", 1, 5, ""), ("decoder", 2, 10, ""), ("logger", 6, 12, "")]);
    let call = ["--count-double-hit", "--server", "2ms@slowest/6ms"];
    let (told, code) = desk.answer(&call);
    assert_eq!(code, 0);
    assert_eq!((&told["hard"]["test"], &told["fit"]), (&json!("ds-rta"), &json!("admission")));
    assert_eq!(bounds(&told["hard"]), [5 * MS, 8 * MS, 5 * MS]);
    assert_eq!(
        told["cells"],
        json!([
            { "cpus": "0", "processors": 1, "tasks": ["logger"], "server": "1ms/6ms" },
            { "cpus": "1", "processors": 1, "tasks": ["mixer", "decoder"], "server": "2ms/6ms" },
        ])
    );
    assert_eq!(lines(&desk.analyze(&call)), FAST_AND_SLOW);
    // Half of each core instead: two budgets alone are longer than the deadline of `mixer`.
    let (told, _) = desk.answer(&["--placement", "slowest-fit", "--server", "50%/6ms"]);
    assert_eq!(told["hard"]["verdict"], "not-proven");
}

const FAST_AND_SLOW: &str = "\
studio: 3 real-time tasks, utilization 0.9000, 2 CPUs of platform `amp`
────────────────────────────────────────────────────────────────
 Scheduler   Hard: no deadline missed   Soft: tardiness bounded
════════════════════════════════════════════════════════════════
 amp-rm      schedulable (ds-rta)       schedulable (ds-rta)
────────────────────────────────────────────────────────────────
──────────────────────────────────────────────────────────────
 Places under   by                       CPUs   tasks
══════════════════════════════════════════════════════════════
 amp-rm         slowest-fit, admission   0      logger
──────────────────────────────────────────────────────────────
                                         1      mixer decoder
──────────────────────────────────────────────────────────────
Proven bounds of response times (D: the deadline) and of tardiness (late), in ms, rounded up
───────────────────────────
 Task           D   amp-rm
═══════════════════════════
 mixer      5.000    5.000
───────────────────────────
 decoder   10.000    8.000
───────────────────────────
 logger    12.000    5.000
───────────────────────────
amp-rm: below deferrable servers of 1ms/6ms on CPU 0 and 2ms/6ms on CPU 1
assumed (amp-rm): kernel threads of a CPU take nothing of it, though they go before the tasks for a bounded time (`analyze --kernel-threads` counts that)
note (amp-rm): background tasks come at any time and take all that their servers give, two budgets in a row where they can (the double hit); scheduling costs nothing

";

/// With a deadline of 4 ms `mixer` is 1 ms late once two budgets meet it. Theorem 1: 2 + (1 + 2) = 5; for `decoder`
/// 2 * 2 + 2 * 1 + (2 + 2) = 10 of 10.
#[test]
fn late_by_a_second_budget() {
    let desk = desk(ONE, &[("mixer", 1, 5, "deadline = \"4ms\""), ("decoder", 2, 10, "")]);
    let (told, code) = desk.answer(&["--server", "2ms/6ms"]);
    assert_eq!(code, 1);
    assert_eq!((&told["hard"]["task"], &told["hard"]["exact"]), (&json!("mixer"), &json!(true)));
    assert_eq!((&told["soft"]["test"], &told["soft"]["exact"]), (&json!("ds-tardiness"), &json!(false)));
    assert_eq!(bounds(&told["soft"]), [MS, 0]);
    assert_eq!(lines(&desk.analyze(&["--server", "2ms/6ms"])), LATE);
    assert_eq!(desk.answer(&["--server", "2ms/6ms", "--guarantee", "soft"]).1, 0);
    // One call asks for no server, the other one for a server of nothing.
    for without in [&[][..], &["--server", "0ms/6ms"]] {
        let (told, code) = desk.answer(without);
        assert_eq!((code, &told["hard"]["test"]), (0, &json!("fp-rta")));
        assert_eq!((bounds(&told["hard"]), &told["cells"][0]["server"]), (vec![MS, 3 * MS], &Value::Null));
    }
}

const LATE: &str = "\
studio: 2 real-time tasks, utilization 0.4000, 1 CPU of platform `one`
─────────────────────────────────────────────────────────────────────────────────────────────────
 Scheduler   Hard: no deadline missed                                 Soft: tardiness bounded
═════════════════════════════════════════════════════════════════════════════════════════════════
 amp-rm      not schedulable for some arrivals: task `mixer`, CPU 0   schedulable (ds-tardiness)
─────────────────────────────────────────────────────────────────────────────────────────────────
Proven bounds of response times (D: the deadline) and of tardiness (late), in ms, rounded up
───────────────────────────────
 Task           D       amp-rm
═══════════════════════════════
 mixer      4.000   late 1.000
───────────────────────────────
 decoder   10.000      on time
───────────────────────────────
amp-rm: below deferrable servers of 2ms/6ms on CPU 0
assumed (amp-rm): kernel threads of a CPU take nothing of it, though they go before the tasks for a bounded time (`analyze --kernel-threads` counts that)
note (amp-rm): background tasks come at any time and take all that their servers give, two budgets in a row where they can (the double hit); scheduling costs nothing

";

/// With the double hit ignored `a` is admitted onto the slow CPU, where it may be late; `analyze` judges it there, and no other place
/// has a say: what runs is what is judged.
#[test]
fn judged_where_it_is_placed() {
    let desk = desk(AMP, &[("a", 1, 4, ""), ("b", 1, 20, "")]);
    let server = ["--server", "1600us/10ms"];
    let (told, code) = desk.answer(&server);
    assert_eq!(
        (code, &told["fit"], &told["hard"]["verdict"]),
        (1, &json!("admission"), &json!("not-proven"))
    );
    let placed = json(&text(&desk.call("place", &[&server[..], &["--json"]].concat()).stdout));
    assert_eq!(placed["bins"][1]["tasks"], json!(["a", "b"]));
    assert_eq!(
        (&told["cells"][0]["cpus"], &told["cells"][0]["tasks"]),
        (&json!("1"), &placed["bins"][1]["tasks"])
    );
    assert!(text(&desk.analyze(&server).stdout).contains("--count-double-hit asks the hard test"));
    let (hard, code) = desk.answer(&[&server[..], &["--count-double-hit"]].concat());
    assert_eq!((code, &hard["cells"][0]["tasks"]), (0, &json!(["a"])));
    // A promise that no core keeps, and placements that promise nothing.
    let (refused, code) = desk.answer(&["--server", "9ms/10ms", "--tardiness-bound", "0ms"]);
    assert_eq!((code, &refused["placement"]), (1, &Value::Null));
    assert!(refused["soft"]["reason"].to_string().contains("cannot enter"), "{refused}");
    for by_load in [["--placement", "ilp"], ["--fit", "density"]] {
        let ended = desk.analyze(&[&by_load[..], &["--count-double-hit"]].concat());
        assert_eq!(ended.status.code(), Some(2));
        assert!(words(&ended).contains("by loads"), "{}", words(&ended));
    }
    // On one core, too, a refused task is not judged.
    let one = self::desk(ONE, &[("a", 4, 10, ""), ("b", 3, 10, "")]);
    let (refused, code) = one.answer(&["--server", "2ms/10ms", "--count-double-hit", "--guarantee", "soft"]);
    assert_eq!((code, &refused["placement"]), (1, &Value::Null));
}

/// 2 + 2 + C <= 5: no more than C. Alone on a CPU of speed 1 it fits.
#[test]
fn what_would_make_it_fit() {
    let desk = desk(ONE, &[("mixer", 1, 5, "")]);
    let (told, code) = desk.answer(&["--server", "2ms/6ms", "--sensitivity"]);
    assert_eq!(code, 0);
    let scaling = &told["largest_scaling"];
    assert_eq!((&scaling["numerator"], &scaling["nothing_above"]), (&json!(1000), &json!(true)));
    assert_eq!(told["fewest_processors"]["processors"], 1);
    // Of two such tasks a core has room for one.
    let two = self::desk(ONE, &[("mixer", 1, 5, ""), ("other", 1, 5, "")]);
    let (told, code) = two.answer(&["--server", "2ms/6ms", "--sensitivity", "--placement", "ffd"]);
    assert_eq!((code, &told["fewest_processors"]["processors"]), (1, &json!(2)));
}

/// What `place` puts onto a CPU with its bounds, `analyze` puts there, with the same bounds.
#[test]
fn places_and_bounds_are_those_of_place() {
    let desk = desk(
        AMP,
        &[
            ("a", 1, 5, ""),
            ("b", 2, 12, ""),
            ("c", 1, 8, ""),
            ("d", 3, 15, "deadline = \"9ms\""),
            ("e", 4, 20, ""),
        ],
    );
    for size in ["10%/4ms", "1ms/6ms", "1ms@slowest/3ms", "500us@slowest/7ms", "2ms/15ms"] {
        let options = ["--count-double-hit", "--server", size];
        let placed = desk.call("place", &[&options[..], &["--json"]].concat());
        assert_eq!(placed.status.code(), Some(0), "{size}: {}", words(&placed));
        let placed = json(&text(&placed.stdout));
        let (told, code) = desk.answer(&options);
        assert_eq!((code, &told["fit"]), (0, &json!("admission")), "{size}");
        let all = ["a", "b", "c", "d", "e"].into_iter().zip(bounds(&told["hard"]));
        let bounds: std::collections::BTreeMap<&str, u64> = all.collect();
        let bins = placed["bins"].as_array().expect("bins").iter();
        let bins: Vec<_> = bins.filter(|bin| bin["tasks"] != json!([])).collect();
        let cells = told["cells"].as_array().expect("cells");
        assert_eq!(bins.len(), cells.len(), "{size}");
        for (bin, cell) in bins.into_iter().zip(cells) {
            assert_eq!((&bin["tasks"], &bin["server"]), (&cell["tasks"], &cell["server"]), "{size}");
            let tasks = bin["tasks"].as_array().expect("tasks").iter();
            let here: Vec<u64> = tasks.map(|task| bounds[task.as_str().expect("a name")]).collect();
            assert_eq!(bin["response_times_ns"], json!(here), "{size}");
        }
    }
}

#[test]
fn what_has_no_servers_is_refused() {
    let desk = desk(ONE, &[("mixer", 1, 5, "")]);
    let cases: [(&[&str], &str); 6] = [
        (&["--scheduler", "p-rm", "--server", "1ms/6ms"], "p-rm has no deferrable servers"),
        (&["--schedulers", "amp-rm,p-edf", "--server", "1ms/6ms"], "p-edf has no deferrable servers"),
        (&["--server", "1ms/6ms"], "amp-rm"),
        (&["--scheduler", "amp-rm", "--server", "7ms/6ms"], "longer than its period"),
        (&["--scheduler", "amp-rm", "--server", "-1ms/6ms"], "no budget"),
        (&["--scheduler", "amp-rm", "--server", "1ms"], "no period"),
    ];
    for (options, why) in cases {
        let ended = desk.call("analyze", options);
        let said = words(&ended);
        assert_eq!(ended.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(why) && said.contains("hint"), "{options:?}: {said}");
    }
}

#[test]
fn with_overheads_nothing_is_said() {
    let desk = desk(ONE, &[("mixer", 1, 5, "")]);
    let costs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/costs");
    for (option, file) in [("--overheads", "overheads.csv"), ("--cache-delays", "cpmd.csv")] {
        let file = costs.join(file);
        let (told, code) = desk.answer(&["--server", "1ms/6ms", option, utf8(&file)]);
        assert_eq!((code, &told["hard"]["verdict"]), (1, &json!("not-applicable")), "{option}");
        assert_eq!(told["soft"]["verdict"], "not-applicable");
        let reason = told["hard"]["reason"].as_str().expect("a reason");
        assert!(reason.contains("scheduling costs nothing below a deferrable server"), "{reason}");
        assert_eq!(told["overheads"], Value::Null);
    }
}
