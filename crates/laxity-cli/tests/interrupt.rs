//! The first SIGINT or SIGTERM ends whatever has nothing to keep yet. The work of each call takes hours, or seconds in the kindest of
//! orders: a call that does not look at the signal hangs here, or ends with another code.

mod calls;
mod host;
mod patience;

use calls::{json, prints, text, utf8};
use host::{kill, laxity};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Tasks whose demand bounds, or response times, take hours to check one by one.
const MANY: u64 = 20_000;

/// Every placement that the program lists, with an order where it wants one, and with every fallback that takes another way.
fn placements() -> Vec<String> {
    let listed = json(&prints(&["list", "placements", "--json"]));
    let listed = listed.as_array().or_else(|| listed["placements"].as_array()).expect("a list").clone();
    let names = listed.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned());
    let (forms, mut names): (Vec<String>, Vec<String>) =
        names.partition(|name| name.contains(char::is_uppercase));
    assert_eq!(forms, ["lwfg-else:NAME", "RULE:ORDER[:up|down]"], "a form that is not tried here");
    let rules: Vec<String> = names.iter().filter(|name| name.len() == 2).cloned().collect();
    assert_eq!(rules.len(), 6, "{names:?}");
    names.extend(rules.iter().map(|rule| format!("{rule}:period:down")));
    names.extend(["lwfg-else:wfd", "lwfg-else:ilp"].map(str::to_owned));
    names
}

/// Many small tasks, each with a deadline of its own.
fn many(folder: &Path) -> String {
    let rows = (0..MANY).map(|id| {
        let deadline = 900_000_000 - 7 * ((id * 7_919) % 20_011);
        format!("t{id},1000,{},{deadline},,\n", 1_000_000_000 + id)
    });
    let file = folder.join("many.csv");
    let head = "name,wcet_ns,period_ns,deadline_ns,phase_ns,wss_bytes\n".to_owned();
    fs::write(&file, head + &rows.collect::<String>()).expect("writes");
    utf8(&file).to_owned()
}

/// Tasks that fit onto 48 CPUs, but not evenly.
fn uneven(folder: &Path) -> String {
    let rows = (0..192u64).map(|id| {
        let period = 10_000_019 + 7_907 * ((id * 7_919) % 9_973);
        format!("t{id},{},{period},,,\n", period / 1_000 * (1 + (id * 104_729) % 360))
    });
    let file = folder.join("uneven.csv");
    let head = "name,wcet_ns,period_ns,deadline_ns,phase_ns,wss_bytes\n".to_owned();
    fs::write(&file, head + &rows.collect::<String>()).expect("writes");
    utf8(&file).to_owned()
}

/// Starts a call and sends a signal so long after it takes signals.
fn interrupted(call: &[&str], signal: i32, after_ms: u64) -> Output {
    let mut command = laxity();
    command.args(call).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().expect("starts");
    let pid = i32::try_from(running.id()).expect("a process id");
    let catches = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap_or("0");
        u64::from_str_radix(caught.trim(), 16).is_ok_and(|mask| mask >> (signal - 1) & 1 == 1)
    };
    // One that refuses its arguments has ended; the checks say so.
    while !catches() && running.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(after_ms));
    kill(pid, signal);
    running.wait_with_output().expect("ends")
}

/// Says in one line that it was interrupted, and ends as such; what it prints.
fn checked(ended: &Output, call: &[&str]) -> String {
    let (out, words) = (text(&ended.stdout), text(&ended.stderr));
    let call = call.join(" ");
    assert_eq!(ended.status.code(), Some(130), "{call}\n{out}{words}");
    assert!(words.lines().any(|line| line.starts_with("interrupted: ")), "{call}\n{words}");
    assert!(!words.contains("error:") && !words.contains("panicked"), "{call}\n{words}");
    out
}

/// Both signals, at instants that differ from call to call: while the set is read, placed, or searched.
fn instants(number: usize) -> [(i32, u64); 2] {
    let after = |at: usize| [0, 3, 40, 150, 400, 900][at % 6];
    [(libc::SIGINT, after(number)), (libc::SIGTERM, after(number + 3))]
}

/// The options of a command under which a method has work for hours, whatever comes before it.
struct Work<'a> {
    many: &'a str,
    uneven: &'a str,
    /// How heuristics are kept busy.
    slow: &'a [&'a str],
}

impl<'a> Work<'a> {
    fn call(&self, command: &'a str, method: &'a str) -> Vec<&'a str> {
        let search = |cpus| vec![self.uneven, "--cpus", cpus, "--ilp-time-limit", "3h"];
        let options = match method {
            "ilp" => search("48"),
            // LWFG finds no place.
            "lwfg-else:ilp" => search("36"),
            _ => [&[self.many][..], self.slow].concat(),
        };
        [&[command, "--json", "--placement", method], &options[..]].concat()
    }
}

#[test]
fn place_stops_in_every_method() {
    let folder = tempfile::tempdir().expect("a directory");
    let (many, uneven) = (many(folder.path()), uneven(folder.path()));
    let work = Work { many: &many, uneven: &uneven, slow: &["--cpus", "1", "--fit", "dbf"] };
    let mut best_so_far = 0;
    for (number, method) in placements().iter().enumerate() {
        for (signal, after_ms) in instants(number) {
            let call = work.call("place", method);
            let out = checked(&interrupted(&call, signal, after_ms), &call);
            if out.is_empty() {
                continue;
            }
            assert!(method.ends_with("ilp"), "a heuristic has nothing to keep: {call:?}");
            let bins = json(&out)["bins"].as_array().expect("a list").clone();
            let tasks = |bin: &Value| bin["tasks"].as_array().expect("a list").len();
            assert_eq!(bins.iter().map(tasks).sum::<usize>(), 192, "whole");
            best_so_far += 1;
        }
    }
    assert!(best_so_far > 0, "the search was never reached");
}

#[test]
fn analyze_stops_in_every_method() {
    let folder = tempfile::tempdir().expect("a directory");
    let (many, uneven) = (many(folder.path()), uneven(folder.path()));
    let slow = ["--cpus", "2", "--fit", "dbf", "--schedulers", "p-edf"];
    let by_test = ["--cpus", "2", "--schedulers", "p-edf,p-rm"];
    for (number, method) in placements().iter().enumerate() {
        let slow: &[&str] = if number % 2 == 0 { &slow } else { &by_test };
        let work = Work { many: &many, uneven: &uneven, slow };
        let (signal, after_ms) = instants(number)[number / 2 % 2];
        let call = work.call("analyze", method);
        let answer = json(&checked(&interrupted(&call, signal, after_ms), &call));
        assert_eq!(answer["interrupted"], true, "{call:?}");
        // Those for which there is nothing to place were ready; the others were being placed.
        let ready = answer["schedulers"].as_array().expect("a list");
        assert!(ready.iter().all(|one| one["placement"] == "one queue for all CPUs"), "{call:?}: {answer}");
    }
}

#[test]
fn simulate_stops_in_every_method_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a directory");
    let (many, uneven) = (many(folder.path()), uneven(folder.path()));
    let out = folder.path().join("out");
    let slow = ["--cpus", "1", "--scheduler", "amp-rm", "--server", "1%/10ms", "--busy", "1"];
    let work = Work { many: &many, uneven: &uneven, slow: &slow };
    for (number, method) in placements().iter().enumerate() {
        let (signal, after_ms) = instants(number)[number / 2 % 2];
        let mut call = work.call("simulate", method);
        if method.ends_with("ilp") {
            call.extend(["--scheduler", "p-edf"]);
        }
        call.extend(["--duration", "1s", "--out", utf8(&out)]);
        assert_eq!(checked(&interrupted(&call, signal, after_ms), &call), "", "{call:?}");
        assert!(!out.exists(), "{call:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 2, "nothing but the sets");
}
