//! Results that are damaged after they were written: exit code 2, the file by its name, and no panic; and directories that are
//! not of results.

mod host;

use host::{laxity, output, words};
use laxity_seeds::Damage;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

const SET: &str = r#"{"version":1,"name":"alder","tasks":[{"name":"a","wcet":"1ms","period":"4ms"},
    {"name":"b","wcet":"2ms","period":"7ms"}]}"#;

/// Flipped bits in each file.
const FLIPS: u64 = 60;

struct Place {
    root: tempfile::TempDir,
}

impl Place {
    /// Simulations of two schedulers in `results`, with their events.
    fn with_results() -> Place {
        let place = Place { root: tempfile::tempdir().expect("a directory") };
        fs::write(place.path("set.json"), SET).expect("written");
        let made = place.laxity(&[
            "simulate",
            "set.json",
            "--cpus",
            "2",
            "--schedulers",
            "g-edf,p-rm",
            "--duration",
            "100ms",
            "--events",
            "--out",
            "results",
            "-q",
        ]);
        assert!(made.status.success(), "{}", words(&made));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn laxity(&self, arguments: &[&str]) -> Output {
        output(laxity().current_dir(self.root.path()).args(arguments))
    }

    fn refuses(&self, arguments: &[&str], wanted: &[&str]) {
        let ended = self.laxity(arguments);
        let said = words(&ended);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains("\nhint: "), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        wanted.iter().for_each(|word| assert!(said.contains(word), "`{word}` is not in: {said}"));
    }
}

#[test]
fn a_flipped_bit_is_refused_by_every_command_that_reads_it() {
    let place = Place::with_results();
    let report: &[&str] = &["report", "results", "-q"];
    let verify: &[&str] = &["verify", "results"];
    let look: &[&str] = &["report", "results", "--gantt", "--run", "1"];
    for (name, readers) in [
        ("manifest.json", &[report, verify, look, &["check", "results"]][..]),
        ("jobs.parquet", &[report]),
        ("events/run-1.parquet", &[verify, look, report]),
    ] {
        let file = place.path("results").join(name);
        let whole = fs::read(&file).expect("readable");
        let page = fs::read(place.path("results/report.html")).expect("a page");
        for seed in laxity_seeds::seeds!(0..FLIPS) {
            let mut bytes = whole.clone();
            let at = Damage::of(seed).flip(&mut bytes);
            fs::write(&file, bytes).expect("written");
            let reader = readers[usize::try_from(seed).expect("small") % readers.len()];
            println!("seed {seed}: byte {at} of {name}, {reader:?}");
            match reader[0] {
                // It says which files are wrong, and that is its answer.
                "check" => {
                    let checked = place.laxity(reader);
                    assert_eq!(checked.status.code(), Some(2), "{}", words(&checked));
                }
                _ => {
                    place.refuses(reader, &[&format!("results/{name}"), "differs from its sum in SHA256SUMS"])
                }
            }
        }
        fs::write(&file, whole).expect("written");
        assert_eq!(
            fs::read(place.path("results/report.html")).expect("a page"),
            page,
            "the report is as it was"
        );
    }
    let again = place.laxity(report);
    assert!(again.status.success(), "{}", words(&again));
}

/// Without sums what is believed is what a person cannot tell from the real: no panic, and exit code 0 or 2.
#[test]
fn older_results_are_read_and_their_contradictions_refused() {
    let place = Place::with_results();
    fs::remove_file(place.path("results/SHA256SUMS")).expect("removed");
    assert!(place.laxity(&["report", "results", "-q"]).status.success());
    let jobs = place.path("results/jobs.parquet");
    let whole = fs::read(&jobs).expect("readable");
    for seed in laxity_seeds::seeds!(0..FLIPS) {
        let mut bytes = whole.clone();
        let at = Damage::of(seed).flip(&mut bytes);
        fs::write(&jobs, bytes).expect("written");
        let ended = place.laxity(&["report", "results", "-q"]);
        println!("seed {seed}: byte {at}, {:?}", ended.status.code());
        assert!(matches!(ended.status.code(), Some(0 | 2)), "seed {seed}: {}", words(&ended));
        assert!(!words(&ended).contains("panicked"), "seed {seed}: {}", words(&ended));
    }
    fs::write(&jobs, whole).expect("written");
    // Jobs of other results, of the same runs: there are more of them than the manifest says.
    let longer = place.laxity(&[
        "simulate",
        "set.json",
        "--cpus",
        "2",
        "--schedulers",
        "g-edf,p-rm",
        "--duration",
        "200ms",
        "--out",
        "longer",
        "-q",
    ]);
    assert!(longer.status.success(), "{}", words(&longer));
    fs::copy(place.path("longer/jobs.parquet"), &jobs).expect("copied");
    place.refuses(
        &["report", "results"],
        &["results/jobs.parquet", "jobs of run 0", "by its record in manifest.json"],
    );
}

#[test]
fn the_directory_of_a_study_is_told_from_results() {
    let place = Place::with_results();
    fs::create_dir(place.path("study")).expect("made");
    let manifest =
        r#"{"version": 1, "kind": "schedulability-study", "name": "s", "complete": true, "points": 3}"#;
    fs::write(place.path("study/manifest.json"), manifest).expect("written");
    for command in [&["report", "study"][..], &["verify", "study"], &["report", "study", "--gantt"]] {
        place.refuses(
            command,
            &["study is the directory of a study (schedulability-study)", "laxity study FILE --out study"],
        );
    }
}
