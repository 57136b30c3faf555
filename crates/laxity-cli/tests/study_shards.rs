//! `laxity study FILE --shard I/N` and `laxity study merge`.

mod calls;
mod host;
mod patience;

use calls::{json, json_file, left_by_study as left, prints, text, utf8};
use host::{kill, laxity, output, wait_until, words};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const STUDY: &str = r#"
version = 1
title = "Two kinds of sets"
sets = 600
guarantees = ["hard", "soft"]
[platform]
processors = 4
[axis]
of = "utilization"
from = 1
to = "m"
step = 1
refine = { depth = 2 }
[generator]
name = "unc"
periods = "uni-moderate"
[matrix]
utilizations = ["uni-medium", "bimo-heavy"]
[[curves]]
scheduler = "g-edf"
[[curves]]
scheduler = "fpp"
"#;

/// In a folder of its own, with the study as `study.toml`.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join("study.toml"), STUDY).expect("writes");
        Place(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Exit code, what it prints, and what it says.
    fn ends(&self, call: &str) -> (Option<i32>, String, String) {
        let call = call.split_whitespace();
        let ended = output(laxity().arg("study").args(call).current_dir(self.0.path()));
        (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
    }

    fn refused(&self, call: &str, part: &str) {
        let (code, printed, said) = self.ends(call);
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{said}");
        assert!(
            said.contains(part) && (said.contains("hint: ") || said.contains("--help")),
            "no `{part}`: {said}"
        );
    }

    /// Judges all shards and merges, until the study is complete; how often.
    fn merged(&self, out: &str, shards: &[u32], of: u32) -> u32 {
        for round in 1..10 {
            for number in shards {
                let (code, _, said) = self.ends(&format!("study.toml -o {out} --shard {number}/{of}"));
                assert_eq!(code, Some(0), "{said}");
            }
            match self.ends(&format!("merge study.toml -o {out}")) {
                (Some(0), ..) => return round,
                (code, _, said) => {
                    assert_eq!(code, Some(1), "{said}");
                    assert!(said.contains("the study is not complete: curves bend"), "{said}");
                }
            }
        }
        panic!("a study without end");
    }
}

#[test]
fn shards_are_merged_to_the_same_bytes_also_if_one_was_killed() {
    let place = Place::new();
    let study = place.path("study.toml");
    prints(&["study", utf8(&study), "-o", utf8(&place.path("whole"))]);
    assert!(place.merged("in-order", &[1, 2, 3], 3) > 1, "the axis is refined");
    assert_eq!(left(&place.path("in-order")), left(&place.path("whole")));

    let parts = place.path("parts");
    let mut running = laxity()
        .args(["study", utf8(&study), "--threads", "1", "-o", utf8(&parts), "--shard", "2/2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let journal = parts.join("shards/2-of-2/points.jsonl");
    wait_until("a point is finished", || fs::metadata(&journal).is_ok_and(|file| file.len() > 0));
    kill(i32::try_from(running.id()).expect("a process id"), libc::SIGKILL);
    running.wait().expect("ends");
    place.merged("parts", &[2, 1], 2);
    assert_eq!(left(&parts), left(&place.path("whole")));
}

#[test]
fn a_shard_says_what_it_has_and_a_merge_what_it_lacks() {
    let place = Place::new();
    place.refused("study.toml --shard 3", "is no shard of a study");
    place.refused("study.toml --shard 3/2", "numbered from 1");
    place.refused("study.toml --shard 1/2 --real", "cannot be used with");
    place.refused("merge study.toml -o out", "no shards are there");
    assert!(!place.path("out").exists(), "nothing is left of what was refused");
    let (code, printed, said) = place.ends("study.toml --sets 9 -o out --shard 1/2");
    assert_eq!(code, Some(0), "{said}");
    assert!(printed.starts_with("shard 1/2 is finished: "), "{printed}");
    assert!(said.contains("when all 2 shards are: laxity study merge study.toml --sets 9 -o out"), "{said}");
    place.refused("merge study.toml --sets 9 -o out", "1 shard missing: 2/2");
    place.refused("merge study.toml -o out", "another study: sets 9 there, 600 asked for");
    let answer = json(&place.ends("study.toml --sets 9 -o out --shard 2/2 --json").1);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/study-shard.schema.json");
    let validator = jsonschema::validator_for(&json_file(&schema)).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
    assert_eq!((answer["shard"].as_str(), answer["complete"].as_bool()), (Some("2/2"), Some(true)));
    let shards = ["1-of-2", "2-of-2"].map(|name| format!("out/shards/{name}")).join(" ");
    let (code, printed, said) = place.ends(&format!("merge study.toml {shards} --sets 9 -o elsewhere"));
    assert_eq!(code, Some(1), "{said}");
    assert!(printed.contains("uni-medium") && place.path("elsewhere/points.csv").exists(), "{printed}");
    let ended = output(laxity().args(["study", "merge", "--help"]));
    assert!(words(&ended).is_empty() && text(&ended.stdout).contains("byte for byte"), "{}", words(&ended));
}

/// Does at once what it is to submit, and lets the second shard fail at first, or always.
const SBATCH: &str = r#"#!/bin/sh
array= script= mode= failed=
for word in "$@"; do
    case $word in
    --array=1-*) array=${word#--array=1-} ;;
    --*) ;;
    *) [ -z "$script" ] && script=$word || { [ -z "$mode" ] && mode=$word || failed=$word; } ;;
    esac
done
echo "$mode $failed" >>"$HERE/submitted"
if [ "$mode" = shard ]; then
    for task in $(seq "$array"); do
        [ "$task" = 2 ] && [ ! -e "$HERE/failed" ] && touch "$HERE/$FAILED" && continue
        SLURM_ARRAY_TASK_ID=$task sh "$script" shard >&2 || exit
    done
else
    sh "$script" merge "$failed" >>"$HERE/merge.log" 2>&1
fi
echo 17
"#;

impl Place {
    /// Runs a script that submits jobs; the second shard fails once where this is `failed`, else always. Which jobs
    /// there were, and what those that merge have said.
    fn submitted(&self, script: &Path, failed: &str) -> (String, String) {
        let bin = self.path("bin");
        fs::create_dir(&bin).expect("a directory");
        fs::write(bin.join("sbatch"), SBATCH).expect("writes");
        fs::set_permissions(bin.join("sbatch"), fs::Permissions::from_mode(0o755)).expect("may run");
        let path = format!("{}:{}", utf8(&bin), std::env::var("PATH").expect("a path"));
        let mut shell = std::process::Command::new("sh");
        shell.arg(script).env("PATH", path).env("HERE", self.0.path()).env("FAILED", failed).current_dir("/");
        let ended = shell.output().expect("a shell");
        assert!(ended.status.success(), "{}", words(&ended));
        let read = |name: &str| fs::read_to_string(self.path(name)).expect("what jobs leave");
        (read("submitted"), read("merge.log"))
    }
}

#[test]
fn jobs_of_slurm_give_up_after_three_tries() {
    let place = Place::new();
    let (code, _, said) = place.ends("study.toml --sets 9 -o out --slurm");
    assert_eq!(code, Some(0), "{said}");
    fs::write(place.path("out/slurm/shards"), "3\n").expect("writes");
    let (jobs, log) = place.submitted(&place.path("out/slurm/submit"), "never");
    assert_eq!(jobs, "shard \nmerge 0\nshard \nmerge 1\nshard \nmerge 2\n");
    let command = format!(
        "study {} --sets 9 -o {} --shard I/3",
        utf8(&place.path("study.toml")),
        utf8(&place.path("out"))
    );
    assert!(log.contains("1 shard missing: 2/3") && log.contains(&command), "{log}");
    let journal = fs::read_to_string(place.path("out/shards/3-of-3/points.jsonl")).expect("the rest goes on");
    assert!(!journal.is_empty());
}

#[test]
fn jobs_of_slurm_judge_merge_and_try_again() {
    let place = Place::new();
    let study = place.path("study.toml");
    prints(&["study", utf8(&study), "--sets", "40", "-o", utf8(&place.path("whole"))]);
    place.refused("study.toml --minutes 3", "--slurm");
    place.refused("- --slurm", "standard input");
    let (code, printed, said) = place.ends("study.toml --sets 40 -o it's --slurm");
    assert_eq!(code, Some(0), "{said}");
    assert!(printed.contains("it's/slurm/submit: 1 shard, about"), "{printed}");
    let script = place.path("it's/slurm/submit");
    let written = fs::read_to_string(&script).expect("a script");
    assert!(!written.replace("\"$@\"", "").contains('@'), "{written}");
    let count = place.path("it's/slurm/shards");
    assert_eq!(fs::read_to_string(&count).expect("a number"), "1\n");
    fs::write(&count, "3\n").expect("writes");
    let own = written.replace("#SBATCH --requeue", "#SBATCH --partition=mine");
    fs::write(&script, &own).expect("writes");
    let (jobs, log) = place.submitted(&script, "failed");
    assert!(log.contains("complete: "), "{log}");
    assert!(log.contains("1 shard not finished: 2/3") || log.contains("1 shard missing: 2/3"), "{log}");
    assert_eq!(left(&place.path("it's")), left(&place.path("whole")));
    assert!(jobs.starts_with("shard \nmerge 0\nshard \nmerge 1\nshard \nmerge 0\n"), "{jobs}");
    assert_eq!(fs::read_to_string(&script).expect("a script"), own, "what was changed stays");
    let answer = json(&place.ends("study.toml --sets 40 -o again --slurm --json").1);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/study-slurm.schema.json");
    let validator = jsonschema::validator_for(&json_file(&schema)).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
}
