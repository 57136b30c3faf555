//! All policies under a host that interleaves what may happen, step by step where operations have several; tasks and CPUs come and go.
//!
//! The host (`tests/operations/`) is C, so that it sees the whole state: it checks the lock discipline of every call, that no
//! task is on two CPUs, that every operation ends, and, whenever nothing is under way, that the schedule is that of
//! global EDF or fixed priorities on the CPUs that are there. It is built here with the policies' own assertions, and once more with
//! each of a list of deliberate mistakes, every one of which it must notice.

#[path = "operations/mistakes.rs"]
mod mistakes;

use mistakes::{COMING_AND_GOING, EDZL, G_EDF_MP, Mistake, ONLY_CHECKED, PUSH_PULL, WITHDRAWN};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const HOST: [&str; 7] = ["calls.c", "cpus.c", "host.c", "locks.c", "mailboxes.c", "main.c", "model.c"];

/// What may happen between an event and its consequences (`enum mode`).
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Ordered = 0,
    Delayed = 1,
    Interleaved = 2,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn policy_sources() -> PathBuf {
    root().join("../../policy")
}

/// With `-DLX_CHECKED` or, to see what the host notices by itself, without.
fn compile(checked: bool, arguments: impl FnOnce(&mut Command)) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-DLX_LISTS"]).args(checked.then_some("-DLX_CHECKED"));
    arguments(&mut command);
    let output = command.output().expect("the compiler that built the library");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The host's object files, built once.
fn host() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let objects =
            HOST.map(|file| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("operations-{file}.o")));
        for (file, object) in HOST.iter().zip(&objects) {
            compile(true, |command| {
                command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(policy_sources());
                command.arg("-c").arg(root().join("tests/operations").join(file)).arg("-o").arg(object);
            });
        }
        objects.to_vec()
    })
}

/// Builds the host with the policies in `policy`.
fn build(policy: &Path, name: &str, flags: &[&str]) -> PathBuf {
    build_as(true, policy, name, flags)
}

fn build_as(checked: bool, policy: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    compile(checked, |command| {
        command.args(flags).args(host()).arg(policy.join("native.c")).arg("-o").arg(&program);
    });
    program
}

fn run(program: &Path, policy: &str, mode: Mode, first: u32, count: u32) -> Output {
    Command::new(program)
        .args([policy, &(mode as u32).to_string(), &first.to_string(), &count.to_string()])
        .output()
        .expect("built above")
}

/// Runs so many seeds from 1 on, or those that the environment says, which must all pass; how often each thing happened in them.
fn passes(program: &Path, policy: &str, mode: Mode, count: u32) -> BTreeMap<String, u64> {
    let seeds = laxity_seeds::range(1..u64::from(count) + 1);
    let number = |seed: u64| u32::try_from(seed).expect("seeds of the host have 32 bits");
    let output = run(program, policy, mode, number(seeds.start), number(seeds.end - seeds.start));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{policy}, mode {}: {text}\n{} {policy} {} SEED 1 trace shows what happened; {:?}",
        mode as u32,
        program.display(),
        mode as u32,
        output.status
    );
    text.split_whitespace()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("counts are numbers")))
        .collect()
}

#[test]
fn push_pull_is_global_and_only_abandoned_pushes_end_that() {
    let program = build(&policy_sources(), "operations-push-pull", &["-O2"]);
    for mode in [Mode::Ordered, Mode::Delayed] {
        let counts = passes(&program, "push_pull", mode, 4000);
        println!("{counts:?}");
        laxity_seeds::assert_together!(counts["push"] > 1000 && counts["pull"] > 1000);
        for never in ["push_failed", "push_abandoned", "push_overtaken", "pull_failed", "inversions"] {
            assert_eq!(counts[never], 0, "{never} without overlapping operations");
        }
    }
    let counts = passes(&program, "push_pull", Mode::Interleaved, 8000);
    println!("{counts:?}");
    for happens in ["push_failed", "push_abandoned", "push_overtaken", "pull_failed", "inversions"] {
        laxity_seeds::assert_together!(counts[happens] > 100, "{happens}: {}", counts[happens]);
    }
    laxity_seeds::assert_together!(
        counts["inversions"] < counts["push_abandoned"],
        "inversions are rarer than what leads to them"
    );
}

#[test]
fn g_edf_mp_is_global_once_all_messages_are_handled() {
    let program = build(&policy_sources(), "operations-g-edf-mp", &["-O2"]);
    for mode in [Mode::Ordered, Mode::Delayed, Mode::Interleaved] {
        let counts = passes(&program, "g_edf_mp", mode, 5000);
        println!("{counts:?}");
        assert_eq!(counts["inversions"], 0);
        for race in ["link_swap", "stale_message", "stale_job"] {
            // A client may be taken between the end of its job and the message of that.
            if mode == Mode::Ordered && race != "stale_message" {
                assert_eq!(counts[race], 0, "{race} although nothing overlaps");
            } else {
                laxity_seeds::assert_together!(counts[race] > 100, "{race}: {}", counts[race]);
            }
        }
    }
}

#[test]
fn policies_under_one_lock_are_global() {
    let program = build(&policy_sources(), "operations-one-lock", &["-O2"]);
    let listed = Command::new(&program).arg("list").output().expect("built above").stdout;
    let policies = String::from_utf8(listed).expect("names in C");
    assert!(policies.lines().count() >= 5, "{policies}");
    for policy in policies.lines() {
        for mode in [Mode::Ordered, Mode::Delayed] {
            let counts = passes(&program, policy, mode, 2000);
            println!("{policy}: {counts:?}");
            assert_eq!(counts["inversions"], 0);
            laxity_seeds::assert_together!(counts["entered"] > 1000, "tasks come and go");
            laxity_seeds::assert_together!(counts["withdrawn"] > 1000, "CPUs are taken and come back");
        }
    }
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("cargo's directory for tests can be written");
    for entry in std::fs::read_dir(from).expect("policy/ is part of the checkout") {
        let entry = entry.expect("policy/ can be listed");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("sources are regular files");
        }
    }
}

/// Whether the host and the policies' checks notice the mistake, and how.
fn noticed(policy: &str, list: &str, number: usize, mistake: &Mistake) -> Option<String> {
    noticed_by(true, policy, list, number, mistake)
}

/// The same, without the policies' checks if they are not to be `checked`.
fn noticed_by(checked: bool, policy: &str, list: &str, number: usize, mistake: &Mistake) -> Option<String> {
    let name = format!("operations-{list}-mistake-{number}{}", if checked { "" } else { "-unchecked" });
    let sources = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-policy"));
    let _ = std::fs::remove_dir_all(&sources);
    copy_tree(&policy_sources(), &sources);
    let file = sources.join(mistake.file);
    let text = std::fs::read_to_string(&file).expect("copied above");
    assert_eq!(
        text.matches(mistake.right).count(),
        1,
        "{}: the text is not in {} once",
        mistake.name,
        mistake.file
    );
    std::fs::write(&file, text.replace(mistake.right, mistake.wrong)).expect("copied above");
    let program = build_as(checked, &sources, &name, &["-O0"]);
    [Mode::Ordered, Mode::Delayed, Mode::Interleaved].into_iter().find_map(|mode| {
        let output = run(&program, policy, mode, 1, 300);
        (!output.status.success()).then(|| {
            let said = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
            let text = String::from_utf8_lossy(said).trim().to_owned();
            format!(
                "mode {}: {}",
                mode as u32,
                if text.is_empty() { output.status.to_string() } else { text }
            )
        })
    })
}

fn all_noticed(policy: &str, mistakes: &[Mistake]) {
    for (number, mistake) in mistakes.iter().enumerate() {
        let how = noticed(policy, policy, number, mistake);
        println!("{policy}, {}: {how:?}", mistake.name);
        assert!(how.is_some(), "{policy}: no check notices that {}", mistake.name);
    }
}

#[test]
fn mistakes_in_push_pull_are_noticed() {
    all_noticed("push_pull", &PUSH_PULL);
}

#[test]
fn mistakes_in_g_edf_mp_are_noticed() {
    all_noticed("g_edf_mp", &G_EDF_MP);
}

#[test]
fn mistakes_in_edzl_are_noticed() {
    all_noticed("edzl", &EDZL);
}

#[test]
fn mistakes_about_tasks_that_come_and_go_are_noticed() {
    for (number, (policy, mistake)) in COMING_AND_GOING.iter().enumerate() {
        let how = noticed(policy, "coming", number, mistake);
        println!("{policy}, {}: {how:?}", mistake.name);
        assert!(how.is_some(), "{policy}: no check notices that {}", mistake.name);
    }
}

#[test]
fn mistakes_about_cpus_that_are_taken_are_noticed() {
    for (number, (policy, mistake)) in WITHDRAWN.iter().enumerate() {
        let how = noticed(policy, "withdrawn", number, mistake);
        println!("{policy}, {}: {how:?}", mistake.name);
        assert!(how.is_some(), "{policy}: no check notices that {}", mistake.name);
    }
}

#[test]
fn what_changes_no_schedule_is_noticed_by_the_checked_build_alone() {
    for (number, (policy, mistake)) in ONLY_CHECKED.iter().enumerate() {
        let how = noticed(policy, "checked", number, mistake);
        println!("{policy}, {}: {how:?}", mistake.name);
        assert!(how.is_some(), "{policy}: no check notices that {}", mistake.name);
        let unchecked = noticed_by(false, policy, "checked", number, mistake);
        assert_eq!(unchecked, None, "{policy}: the host itself notices that {}", mistake.name);
    }
}
