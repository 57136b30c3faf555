//! `laxity simulate --reserve`: what real-time tasks leave of every CPU to background tasks.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, text, utf8};
use host::{laxity, words};
use patience::patiently;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Two tasks that ask for one CPU, all of it.
const SET: &str = "version = 1\nname = \"full\"\n[[tasks]]\nname = \"a\"\nwcet = \"2ms\"\nperiod = \"4ms\"\n\
    [[tasks]]\nname = \"b\"\nwcet = \"5ms\"\nperiod = \"10ms\"\n";

fn simulate(directory: &Path, options: &[&str]) -> Output {
    patiently(|| {
        let mut command = laxity();
        command.arg("simulate").arg(directory.join("set.toml"));
        command.args(["--cpus", "1", "--duration", "1s", "--grace", "0ms", "-q"]).args(options);
        command
    })
}

#[test]
fn background_work_has_exactly_the_reserve_and_verification_says_so() {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("set.toml"), SET).expect("written");
    for scheduler in ["g-edf", "p-rm", "amp-rm", "edzl"] {
        let out = directory.path().join(scheduler);
        let options = ["--scheduler", scheduler, "--busy", "1", "--verify", "--events", "--json"];
        let reserve = ["--reserve", "10", "--reserve-period", "100ms", "--out", utf8(&out)];
        let done = simulate(directory.path(), &[&options[..], &reserve[..]].concat());
        assert!(done.status.success(), "{}", words(&done));
        let manifest = json_file(&out.join("manifest.json"));
        // A full CPU: the task that is always ready has the reserve, and nothing beside. (amp-rm refuses `b`, which is beside it then.)
        if scheduler != "amp-rm" {
            assert_eq!(manifest["background"][0]["run_ns"], 100_000_000, "{scheduler}");
        }
        assert_eq!(manifest["options"]["reserve"], "10ms/100ms");
        let notes = manifest["runs"][0]["notes"].to_string();
        assert!(notes.contains("which no proof and no admission counts"), "{notes}");
        let verified = patiently(|| {
            let mut command = laxity();
            command.arg("verify").arg(&out).arg("--json");
            command
        });
        assert!(verified.status.success(), "{}", words(&verified));
        assert!(text(&verified.stdout).contains("which job waits for a CPU that gives way"));
        assert!(json(&text(&done.stdout)).is_object());
    }
}

#[test]
fn what_is_no_reserve_is_refused() {
    let directory = tempfile::tempdir().expect("directory");
    fs::write(directory.path().join("set.toml"), SET).expect("written");
    for (options, why) in [
        (&["--reserve", "91"][..], "not a whole number from 0 to 90"),
        (&["--reserve", "5", "--reserve-period", "9ms", "--busy", "1"], "9ms is not between 10ms and 10s"),
        (&["--reserve", "5"], "--reserve 5: there are no background tasks"),
        (
            &["--reserve-period", "100ms", "--busy", "1"],
            "--reserve-period 100ms is of a reserve, and there is none",
        ),
        (&["--reserve", "5", "--busy", "1", "--interleave", "1"], "a reserve of 50ms/1s is simulated"),
    ] {
        let refused = simulate(directory.path(), &[&["--scheduler", "p-edf"][..], options].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
        assert!(words(&refused).contains(why), "{why}: {}", words(&refused));
        assert!(words(&refused).contains("hint: "), "{}", words(&refused));
    }
}
