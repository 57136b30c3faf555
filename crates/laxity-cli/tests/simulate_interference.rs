//! `laxity simulate --interference`: CPUs that something above the scheduler takes for a time.

mod calls;
mod host;
mod patience;

use calls::{json_file, utf8};
use host::{laxity, words};
use patience::patiently;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Proven on one CPU, and so on two of which one is not there.
const SET: &str = "version = 1\nname = \"light\"\n[[tasks]]\nname = \"a\"\nwcet = \"1ms\"\nperiod = \"4ms\"\n\
    [[tasks]]\nname = \"b\"\nwcet = \"5ms\"\nperiod = \"10ms\"\n";

fn simulate(directory: &Path, options: &[&str]) -> Output {
    patiently(|| {
        let mut command = laxity();
        command.arg("simulate").arg(directory.join("set.toml"));
        command.args(["--duration", "1s", "-q"]).args(options);
        command
    })
}

fn verify(directory: &Path) -> Output {
    patiently(|| {
        let mut command = laxity();
        command.arg("verify").arg(directory);
        command
    })
}

#[test]
fn kept_schedules_say_when_a_cpu_is_taken_and_are_verified() {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("set.toml"), SET).expect("written");
    let when = ["--interference", "0@1ms+9ms/20ms", "--interference", "1@10500us+9ms/20ms"];
    // One at a time is taken. Of g-edf-mp, the third is dedicated.
    for (scheduler, cpus) in [("g-edf", "2"), ("edf-bh", "2"), ("edzl", "2"), ("g-edf-mp", "3")] {
        let out = directory.path().join(scheduler);
        let options = ["--scheduler", scheduler, "--cpus", cpus, "--verify", "--events", "--fail-on-miss"];
        let done = simulate(directory.path(), &[&options[..], &when, &["--out", utf8(&out)]].concat());
        assert!(done.status.success(), "{scheduler}: {}", words(&done));
        let path = out.join("manifest.json");
        let manifest = json_file(&path);
        assert_eq!(manifest["options"]["interference"], "0@1ms+9ms/20ms; 1@10.5ms+9ms/20ms");
        let notes = manifest["runs"][0]["notes"].to_string();
        assert!(notes.contains("which no proof and no admission counts"), "{notes}");
        let verified = verify(&out);
        assert!(verified.status.success(), "{scheduler}: {}", words(&verified));
    }
}

#[test]
fn partitioned_jobs_wait_for_their_cpu_and_may_be_late() {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("set.toml"), SET).expect("written");
    let options = ["--scheduler", "p-edf-bh", "--cpus", "1", "--verify", "--interference", "0@0ms+8ms/100ms"];
    let done = simulate(directory.path(), &options);
    assert!(done.status.success(), "a schedule with misses is as defined: {}", words(&done));
    let missed = simulate(directory.path(), &[&options[..], &["--fail-on-miss"]].concat());
    assert_eq!(missed.status.code(), Some(1), "{}", words(&missed));
}

#[test]
fn what_cannot_be_is_refused() {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("set.toml"), SET).expect("written");
    for (scheduler, options, why) in [
        ("g-edf", &["--interference", "0@1ms"][..], "interference `0@1ms` has no length"),
        ("g-edf", &["--interference", "0@1ms+0ms"], "takes no time"),
        ("g-edf", &["--interference", "0@1ms+2ms/2ms"], "comes again after 2ms"),
        ("g-edf", &["--interference", "7@1ms+2ms"], "there is no CPU 7"),
        ("g-edf", &["--interference", "0@1ms+2ms", "--interference", "0@2ms+2ms"], "overlap"),
        ("g-edf", &["--interference", "0@1s+2ms"], "begins when no more jobs are released"),
        ("g-edf-mp", &["--interference", "1@1ms+2ms"], "`g-edf-mp` dedicates CPU 1"),
        ("g-edf", &["--interference", "0@1ms+2ms", "--reserve", "5", "--busy", "1"], "a reserve or servers"),
        ("g-edf", &["--interference", "0@1ms+2ms", "--at-ticks"], "looks at ticks only"),
        ("amp-rm", &["--interference", "0@1ms+2ms", "--busy", "1"], "wait for one CPU each"),
    ] {
        let refused =
            simulate(directory.path(), &[&["--cpus", "2", "--scheduler", scheduler][..], options].concat());
        assert_eq!(refused.status.code(), Some(2), "{why}: {}", words(&refused));
        assert!(words(&refused).contains(why), "{why}: {}", words(&refused));
        assert!(words(&refused).contains("hint: "), "{}", words(&refused));
    }
}
