//! `laxity simulate --scheduler amp-rm`: tasks where `laxity place` puts them, refused tasks in the
//! background, and `--at`.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, text, utf8};
use host::{laxity, words};
use patience::patiently;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A CPU that is twice as fast as the other.
const AMP: &str = "version = 1\nname = \"amp\"\n[[cores]]\ncpu = 0\nspeed = 2\n[[cores]]\ncpu = 1\n";

/// A directory with a set and a platform.
struct Desk {
    directory: tempfile::TempDir,
}

/// Tasks: name, C, T in ms.
fn desk(tasks: &[(&str, u64, u64)]) -> Desk {
    desk_with(tasks.iter().map(|(name, wcet, period)| task(name, &format!("{wcet}ms"), *period)).collect())
}

/// Tasks of the same C: name, T in ms.
fn desk_of(wcet: &str, tasks: &[(&str, u64)]) -> Desk {
    desk_with(tasks.iter().map(|(name, period)| task(name, wcet, *period)).collect())
}

fn task(name: &str, wcet: &str, period: u64) -> String {
    format!("[[tasks]]\nname = \"{name}\"\nwcet = \"{wcet}\"\nperiod = \"{period}ms\"\n")
}

fn desk_with(tasks: String) -> Desk {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("set.toml"), format!("version = 1\nname = \"studio\"\n{tasks}"))
        .expect("write");
    fs::write(directory.path().join("platform.toml"), AMP).expect("write");
    Desk { directory }
}

impl Desk {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn call(&self, verb: &str, options: &[&str]) -> Output {
        patiently(|| {
            let mut command = laxity();
            command.arg(verb).arg(self.path("set.toml")).arg("--platform").arg(self.path("platform.toml"));
            command.args(options);
            command
        })
    }

    fn simulate(&self, options: &[&str]) -> Output {
        let always = ["--scheduler", "amp-rm", "--duration", "200ms", "--verify", "-q"];
        self.call("simulate", &[&always, options].concat())
    }
}

fn manifest(out: &Path) -> Value {
    json_file(&out.join("manifest.json"))
}

#[test]
fn tasks_are_simulated_where_they_are_placed() {
    let desk = desk(&[("a", 2, 4), ("b", 3, 6), ("c", 9, 10)]);
    let servers = ["--server", "20%/10ms"];
    let placed = desk.call("place", &[&servers[..], &["--placement", "slowest-fit", "--json"]].concat());
    let placed = json(&text(&placed.stdout));
    let out = desk.path("out");
    let simulated = desk.simulate(&[&servers[..], &["--busy", "1", "--out", utf8(&out)]].concat());
    assert!(simulated.status.success(), "{}", words(&simulated));
    let bins = |value: &Value| -> Vec<(String, String)> {
        let of = |bin: &Value| (bin["cpus"].to_string(), bin["tasks"].to_string());
        value.as_array().expect("bins").iter().map(of).collect()
    };
    let manifest = manifest(&out);
    assert_eq!(bins(&manifest["runs"][0]["placement"]["bins"]), bins(&placed["bins"]));
    assert!(manifest["runs"][0]["placement"].get("ordinary").is_none());
}

#[test]
fn who_is_refused_runs_as_an_ordinary_task() {
    let desk = desk(&[("a", 6, 10), ("b", 18, 20), ("one-too-many", 20, 20)]);
    let out = desk.path("out");
    let options = ["--server", "0=1ms/10ms", "--server", "1=2ms/10ms", "--busy", "1"];
    let simulated = desk.simulate(&[&options[..], &["--out", utf8(&out)]].concat());
    assert!(simulated.status.success(), "{}", words(&simulated));
    let shown = text(&simulated.stdout);
    assert!(shown.contains("runs as a background task: ") && shown.contains("`one-too-many`"), "{shown}");
    let manifest = manifest(&out);
    assert_eq!(manifest["runs"][0]["placement"]["ordinary"], serde_json::json!(["one-too-many"]));
    assert_eq!(manifest["options"]["server"], "0=1ms/10ms; 1=2ms/10ms");
    // Hard, less fits.
    let hard =
        desk.simulate(&[&options[..], &["--count-double-hit", "--force", "--out", utf8(&out)]].concat());
    assert!(hard.status.success(), "{}", words(&hard));
    let ordinary = self::manifest(&out)["runs"][0]["placement"]["ordinary"].clone();
    assert!(ordinary.as_array().is_some_and(|ordinary| !ordinary.is_empty()), "{ordinary}");
}

/// `a` and `b` need 1.5 ticks each on the fast CPU, which come to two: 2 of 3 and 2 of 4 ms.
#[test]
fn at_ticks_promises_count_whole_ticks() {
    let desk = desk_of("3ms", &[("a", 3), ("b", 4)]);
    for promise in [&["--count-double-hit"][..], &["--tardiness-bound", "0ms"]] {
        let options = [promise, &["--at-ticks", "--cpus", "1", "--fail-on-miss", "--json"]].concat();
        let always = ["--scheduler", "amp-rm", "--duration", "200ms", "-q"];
        let ended = desk.call("simulate", &[&always, &options[..]].concat());
        assert!(ended.status.success(), "{}", words(&ended));
        let run = json(&text(&ended.stdout))["runs"][0].clone();
        assert_eq!(run["ordinary"], 50, "{run}");
    }
}

/// Half a tick of a job that comes between two of them is a whole one: nothing is promised there.
#[test]
fn what_comes_between_ticks_is_promised_nothing() {
    let task = |period: &str, more: &str| {
        format!("[[tasks]]\nname = \"a\"\nwcet = \"900us\"\nperiod = \"{period}\"\n{more}\n")
    };
    for (task, server, why) in [
        (task("2500us", ""), "1ms/10ms", "period of task `a`, 2.5ms"),
        (task("5ms", "phase = \"500us\""), "1ms/10ms", "phase of task `a`"),
        (task("5ms", ""), "1ms/2500us", "the server of CPU 0"),
    ] {
        let desk = desk_with(task);
        let options = ["--scheduler", "amp-rm", "--duration", "50ms", "--at-ticks", "--server", server];
        let ended = desk.call("simulate", &[&options[..], &["--count-double-hit"]].concat());
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        assert!(words(&ended).contains(why), "{}", words(&ended));
        assert!(desk.call("simulate", &options).status.success());
    }
}

/// A refused task was promised nothing: its late jobs are no misses.
#[test]
fn jobs_of_ordinary_tasks_are_counted_apart() {
    let desk = desk(&[("a", 9, 10), ("b", 9, 20), ("c", 20, 20), ("one-too-many", 20, 20)]);
    let ended = desk.simulate(&["--busy", "1", "--fail-on-miss", "--json"]);
    assert!(ended.status.success(), "{}", words(&ended));
    let run = json(&text(&ended.stdout))["runs"][0].clone();
    assert_eq!(
        (&run["misses"], &run["ordinary"], &run["jobs"]),
        (&0.into(), &10.into(), &40.into()),
        "{run}"
    );
    assert_eq!(run["ordinary_tasks"], serde_json::json!(["one-too-many"]));
    let shown = text(&desk.simulate(&["--busy", "1"]).stdout);
    assert!(shown.contains("Background") && shown.contains("without any guarantee"), "{shown}");
}

#[test]
fn promises_need_an_admission() {
    let desk = desk(&[("a", 9, 10)]);
    for (options, said) in [
        (&["--placement", "ilp", "--tardiness-bound", "0ms"][..], "goes by loads"),
        (&["--scheduler", "edf-bh", "--count-double-hit"], "none of the schedulers admits"),
    ] {
        let ended = desk.call("simulate", &[&["--scheduler", "amp-rm"][..], options].concat());
        let ended = if options[0] == "--scheduler" { desk.call("simulate", options) } else { ended };
        assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
        assert!(words(&ended).contains(said), "{}", words(&ended));
    }
}

#[test]
fn schedules_at_ticks_are_not_verified_later() {
    let desk = desk_of("1500us", &[("a", 3)]);
    let out = desk.path("out");
    let options =
        ["--scheduler", "amp-rm", "--duration", "30ms", "--at-ticks", "--events", "--out", utf8(&out)];
    assert!(desk.call("simulate", &options).status.success());
    let ended = patiently(|| {
        let mut command = laxity();
        command.arg("verify").arg(&out);
        command
    });
    assert_eq!(ended.status.code(), Some(2), "{}", words(&ended));
    assert!(words(&ended).contains("--at-ticks"), "{}", words(&ended));
}

#[test]
fn tasks_enter_and_leave_and_servers_are_resized() {
    let desk = desk(&[("a", 6, 10), ("b", 9, 20), ("late", 9, 20)]);
    let out = desk.path("out");
    let changes = [
        "--at",
        "50ms=enter:late",
        "--at",
        "100ms=demote:a",
        "--at",
        "101ms=promote:late",
        "--at",
        "120ms=resize:1:3ms/10ms",
        "--at",
        "130ms=resize:0:9ms/10ms",
        "--at",
        "150ms=leave:b",
        "--at",
        "160ms=promote:a",
    ];
    let options = ["--server", "2ms/10ms", "--busy", "2", "--events", "--out", utf8(&out)];
    let simulated = desk.simulate(&[&options[..], &changes].concat());
    assert!(simulated.status.success(), "{}", words(&simulated));
    let shown = text(&simulated.stdout);
    for line in [
        "at 100ms: `a` is a background task",
        "at 150ms: `b` leaves",
        "at 130ms: refused: the server of CPU 0",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let verified = patiently(|| {
        let mut command = laxity();
        command.arg("verify").arg(&out);
        command
    });
    assert!(verified.status.success(), "{}", words(&verified));
    let events = desk.simulate(&[&["--server", "2ms/10ms", "--busy", "2", "--text"][..], &changes].concat());
    let events = text(&events.stdout);
    for words in [
        "and what follows it are background work",
        "and what follows it are real-time",
        "runs as a background task",
    ] {
        assert!(events.contains(words), "{words}\n{}", events.chars().take(2000).collect::<String>());
    }
}

#[test]
fn what_cannot_change_is_refused() {
    let desk = desk(&[("a", 2, 10)]);
    for (options, why) in [
        (&["--at", "1ms=demote:x"][..], "no real-time task `x`"),
        (&["--at", "1ms=resize:7:1ms/10ms"], "no CPU 7"),
        (&["--at", "1ms=vanish:a"], "`vanish`"),
        (
            &["--at", "260ms=promote:a", "--at", "1ms=demote:a"],
            "--at 260ms=promote:a: nothing changes from 200ms on",
        ),
        (
            &["--at", "100ms=enter:a", "--at", "50ms=demote:a"],
            "--at 100ms=enter:a: `--at 50ms=demote:a` is for task `a` before it enters",
        ),
        (
            &["--at", "100ms=enter:a", "--at", "50ms=enter:a"],
            "--at 100ms=enter:a: task `a` has entered by `--at 50ms=enter:a`",
        ),
        (&["--at", "200ms=resize:0:1ms/10ms"], "--duration 200ms now"),
        (&["--at", "10s=leave:a"], "--at 10s=leave:a: nothing changes"),
        (&["--server", "7=1ms/10ms", "--busy", "1"], "CPU 7"),
    ] {
        let refused = desk.simulate(options);
        assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
        assert!(words(&refused).contains(why), "{why}: {}", words(&refused));
    }
}
