//! Shards of a study add up to the study: in any number and order, on however many machines, and whatever the axis is refined to.

use laxity_seeds::{Random, seeds};
use laxity_study::{
    ComputedPoints, NEVER, POINTS_FILE, Progress, Shard, Study, compute, compute_shard, merge, next_round,
    shard_directory,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use tempfile::TempDir;

/// The laxity that judges.
const LAXITY: &str = "1.2.3 (abc)";

const REFINED: &str = r#"
version = 1
title = "of proofs"
sets = 21
guarantees = ["hard", "soft"]
[platform]
processors = 4
[axis]
of = "utilization"
from = 1
to = "m"
step = 1
refine = { depth = 2, precision = 0.05, refine_noise = true }
[generator]
name = "unc"
[matrix]
utilizations = ["uni-light", "uni-heavy"]
[[curves]]
scheduler = "g-edf"
[[curves]]
scheduler = "fpp"
"#;

const SIMULATED: &str = r#"
version = 1
title = "simulated"
kind = "simulation"
sets = 5
duration = "50ms"
metrics = ["dsr", "max-tardiness"]
[platform]
processors = 2
[axis]
of = "utilization"
values = [0.5, 1.5, 2]
[generator]
name = "uunifast"
tasks = 4
periods = "log-uniform:10ms,50ms"
[[curves]]
scheduler = "gsn-edf"
[[curves]]
placement = "wfd"
scheduler = "p-edf"
"#;

fn study(text: &str) -> Study {
    Study::from_text(text, "test", Path::new("")).expect("a study")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn lines(directory: &Path) -> Vec<String> {
    let text = fs::read_to_string(directory.join(POINTS_FILE)).expect("a journal");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn judge(study: &Study, shard: Shard, directory: &Path) -> Progress {
    let progress = Progress::default();
    let done = compute_shard(study, (shard, LAXITY), directory, 2, &NEVER, &progress).expect("judges");
    assert!(done.complete);
    progress
}

fn shuffled(of: u32, random: &mut Random) -> Vec<Shard> {
    let mut shards: Vec<Shard> = Shard::all(of).collect();
    for at in (1..shards.len()).rev() {
        shards.swap(at, usize::try_from(random.below(at as u64 + 1)).expect("few"));
    }
    shards
}

fn reference(text: &str) -> (ComputedPoints, Vec<String>) {
    let whole = folder();
    let done = compute(&study(text), whole.path(), 2, &NEVER, &Progress::default()).expect("computes");
    (done, lines(whole.path()))
}

#[test]
fn shards_add_up_to_the_study() {
    for text in [REFINED, SIMULATED] {
        let (expected, expected_lines) = reference(text);
        for seed in seeds!(0..6) {
            let mut random = Random(seed);
            let of = u32::try_from(1 + random.below(9)).expect("few");
            let directory = folder();
            let mut judged = 0;
            let merged = loop {
                for shard in shuffled(of, &mut random) {
                    let progress = judge(&study(text), shard, directory.path());
                    judged += progress.judged.load(SeqCst) - progress.before.load(SeqCst);
                    let again = judge(&study(text), shard, directory.path());
                    assert_eq!(again.judged.load(SeqCst), again.before.load(SeqCst), "nothing twice");
                }
                let merged = merge(&study(text), directory.path(), &[], LAXITY).expect("merges");
                if merged.complete {
                    break merged;
                }
            };
            assert_eq!(merged, expected, "{of} shards");
            assert_eq!(judged, expected.points.len() as u64 * study(text).outline.sets, "nothing lost");
            assert_eq!(lines(directory.path()), expected_lines);
            let again = merge(&study(text), directory.path(), &[], LAXITY).expect("merges what is merged");
            assert_eq!(again, expected);
        }
    }
}

#[test]
fn shards_come_from_elsewhere_and_the_study_goes_on_in_one_process() {
    let (expected, _) = reference(REFINED);
    let (first, second, whole) = (folder(), folder(), folder());
    let shards: Vec<Shard> = Shard::all(2).collect();
    judge(&study(REFINED), shards[0], first.path());
    judge(&study(REFINED), shards[1], second.path());
    let named: Vec<PathBuf> = [(&second, shards[1]), (&first, shards[0])]
        .map(|(at, shard)| shard_directory(at.path(), shard))
        .to_vec();
    let merged = merge(&study(REFINED), whole.path(), &named, LAXITY).expect("merges");
    assert!(!merged.complete, "the axis is refined");
    assert!(!next_round(&study(REFINED), &merged.points).is_empty());
    let done = compute(&study(REFINED), whole.path(), 2, &NEVER, &Progress::default()).expect("goes on");
    assert_eq!(done, expected);
}

#[test]
fn rounds_are_judged_by_any_number_of_shards_also_where_they_are_copied_together_first() {
    let (expected, _) = reference(REFINED);
    let (elsewhere, directory) = (folder(), folder());
    let mut rounds = 0;
    for of in [2, 3, 1, 4, 2, 3, 4].into_iter().cycle().take(20) {
        // The first round comes from another directory: nothing but the shards is there then.
        let at = if rounds == 0 { elsewhere.path() } else { directory.path() };
        for shard in Shard::all(of) {
            judge(&study(REFINED), shard, at);
        }
        if rounds == 0 {
            fs::rename(elsewhere.path().join("shards"), directory.path().join("shards")).expect("moves");
        }
        rounds += 1;
        let merged = merge(&study(REFINED), directory.path(), &[], LAXITY).expect("merges");
        if merged.complete {
            assert_eq!(merged, expected);
            assert!(rounds > 1, "the axis is refined");
            return;
        }
    }
    panic!("a study without end");
}

#[test]
fn what_does_not_belong_together_is_refused_and_nothing_is_kept() {
    let directory = folder();
    let (at, of_two) = (directory.path(), |number| Shard::new(number, 2).expect("a shard"));
    let refused = |study: &Study, named: &[PathBuf], part: &str| {
        let why = merge(study, at, named, LAXITY).expect_err(part);
        assert!(why.message.contains(part) && why.hint.is_some(), "{why}");
        assert!(!at.join(POINTS_FILE).exists(), "{part}: nothing is kept");
    };
    refused(&study(REFINED), &[], "no shards are there");
    judge(&study(REFINED), of_two(1), at);
    refused(&study(REFINED), &[], "1 shard missing: 2/2");
    judge(&study(REFINED), of_two(2), at);
    let path = |number| shard_directory(at, of_two(number));
    refused(&study(REFINED), &[path(1), path(1)], "are both shard 1/2");
    refused(&study(REFINED), &[path(1), at.to_path_buf()], "has no shard of a study");
    let third = Shard::new(3, 3).expect("a shard");
    judge(&study(REFINED), third, at);
    refused(&study(REFINED), &[path(1), shard_directory(at, third)], "1 shard missing: 2/2");
    fs::remove_file(shard_directory(at, third).join("study.json")).expect("removes");
    refused(&study(REFINED), &[], "3-of-3 has points, and no study.json");
    fs::remove_dir_all(shard_directory(at, third)).expect("removes");
    refused(&study(&REFINED.replace("sets = 21", "sets = 22")), &[], "sets 21 there, 22 asked for");
    let newer = merge(&study(REFINED), at, &[], "1.2.3 (def)").expect_err("another commit");
    assert!(newer.message.contains("laxity 1.2.3 (abc) there, 1.2.3 (def) asked for"), "{newer}");
    // A shard that was killed: its last line is cut off.
    let journal = path(2).join(POINTS_FILE);
    let text = fs::read_to_string(&journal).expect("reads");
    fs::write(&journal, &text[..text.len() - 9]).expect("writes");
    refused(&study(REFINED), &[], "1 shard not finished: 2/2");
    fs::write(&journal, text.replacen("\"sets\":", "\"sets\":1", 1)).expect("writes");
    refused(&study(REFINED), &[], "line 1 is not what was written");
    fs::write(&journal, text).expect("writes");
    assert!(merge(&study(REFINED), at, &[], LAXITY).is_ok());
}
