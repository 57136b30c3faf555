//! `laxity settings`: what is set, that it is proven by the other commands, too, and that the kernel takes it.

mod calls;
mod host;
mod patience;

use calls::{json, prints, text, utf8};
use host::{laxity, words};
use laxity_sys::{Attributes, policy, set_attributes};
use patience::patiently;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A directory with a set.
struct Desk(tempfile::TempDir);

impl Desk {
    /// Tasks (name, C, D, T) in us.
    fn with(tasks: &[(&str, u64, u64, u64)]) -> Self {
        let task = |(name, wcet, deadline, period): &(&str, u64, u64, u64)| {
            format!(
                "[[tasks]]\nname = \"{name}\"\nwcet = \"{wcet}us\"\ndeadline = \"{deadline}us\"\nperiod = \"{period}us\"\n"
            )
        };
        let desk = Desk(tempfile::tempdir().expect("directory"));
        let text: String = ["version = 1\n".to_owned()].into_iter().chain(tasks.iter().map(task)).collect();
        fs::write(desk.path("set.toml"), text).expect("write");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, command: &str, call: &[&str]) -> Output {
        patiently(|| {
            let mut program = laxity();
            program.current_dir(self.0.path()).arg(command).args(call);
            program
        })
    }

    /// The answer, and the exit code.
    fn answer(&self, call: &[&str]) -> (Value, i32) {
        let ended = self.call("settings", &[&["set.toml", "--json"], call].concat());
        let code = ended.status.code().expect("a code");
        assert!(code <= 1, "laxity settings {}\n{}", call.join(" "), words(&ended));
        (json(&text(&ended.stdout)), code)
    }
}

/// SCHED_FIFO with deadlines below two budgets of the fair server is proven only without it.
const ALONE: &str = "--assume-no-background";

fn parameters(task: &Value) -> [u64; 3] {
    ["runtime_ns", "deadline_ns", "period_ns"].map(|name| task[name].as_u64().expect("a time"))
}

#[test]
fn a_constrained_task_gets_its_own_parameters() {
    let desk = Desk::with(&[("fast", 500, 1_000, 5_000), ("slow", 4_000, 10_000, 10_000)]);
    let (answer, code) = desk.answer(&["--cpus", "1", "--scheduler", "p-edf"]);
    assert_eq!(code, 0);
    let settings = &answer["settings"];
    assert_eq!(parameters(&settings["tasks"][0]), [500_001, 1_000_001, 5_000_000], "1 ns beyond C");
    assert_eq!(parameters(&settings["tasks"][1]), [4_000_000, 10_000_000, 10_000_000]);
    assert_eq!(settings["hard"]["test"], "qpa, rta");
    let cell = &settings["cells"][0];
    assert_eq!(cell["bandwidth_q20"], (1 << 20) / 10 + (1 << 20) * 4 / 10);
    assert_eq!(cell["limit_q20"], 996_147 - 52_428, "0.95 less the fair server");
}

#[test]
fn the_simplest_order_that_is_proven_is_taken() {
    let order = |tasks: &[(&str, u64, u64, u64)]| {
        let (answer, code) = Desk::with(tasks).answer(&["--cpus", "1", "--scheduler", "p-fp", ALONE]);
        assert_eq!(code, 0, "{answer:#}");
        let settings = &answer["settings"];
        let tasks = settings["tasks"].as_array().expect("tasks").clone();
        let priorities: Vec<u64> = tasks.iter().map(|task| task["priority"].as_u64().expect("one")).collect();
        (settings["cells"][0]["priorities"].as_str().expect("words").to_owned(), priorities)
    };
    assert_eq!(
        order(&[("a", 100, 1_000, 1_000), ("b", 900, 3_000, 3_000)]),
        ("rate-monotonic".into(), vec![98, 97])
    );
    assert_eq!(
        order(&[("a", 900, 2_000, 2_000), ("b", 200, 300, 3_000)]),
        ("deadline-monotonic".into(), vec![97, 98])
    );
    // Lehoczky's example: with D > T neither is optimal. RM gives the second 118, and so does DM.
    let (words, _) = order(&[("a", 52, 110, 100), ("b", 52, 154, 140)]);
    assert!(["rate-monotonic", "Audsley's optimal assignment"].contains(&words.as_str()), "{words}");
}

#[test]
fn what_is_not_proven_is_said_with_the_reason() {
    // 0.92 is proven under EDF, and is not admitted beside the kernel's servers.
    let desk = Desk::with(&[("half", 500, 1_000, 1_000), ("rest", 840, 2_000, 2_000)]);
    let (answer, code) = desk.answer(&["--cpus", "1", "--scheduler", "p-edf"]);
    assert_eq!(code, 1);
    assert!(
        answer["not_proven"][0]["reason"].as_str().expect("words").contains("0.9200 is needed, of 0.9000"),
        "{answer:#}"
    );
    let (answer, code) = desk.answer(&["--cpus", "1", ALONE]);
    assert_eq!((code, answer["settings"]["scheduler"].as_str()), (0, Some("p-fp")), "{answer:#}");
    let (answer, code) = desk.answer(&["--cpus", "1", "--scheduler", "p-fp"]);
    assert_eq!(code, 1, "{answer:#}");
    let reason = answer["not_proven"][0]["reason"].as_str().expect("words");
    assert!(reason.contains("the fair server") && reason.contains(ALONE), "{answer:#}");
    let (answer, code) = desk.answer(&["--cpus", "2", "--scheduler", "p-edf"]);
    assert_eq!(code, 0, "{answer:#}");
    let refused = desk.call("settings", &["set.toml", "--scheduler", "edf"]);
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
}

#[test]
fn late_deadlines_become_reservations_that_the_kernel_takes() {
    let desk = Desk::with(&[("late", 10, 120, 50), ("other", 300, 400, 1_000)]);
    let (answer, code) = desk.answer(&["--cpus", "1", "--scheduler", "p-edf"]);
    assert_eq!(code, 0, "{answer:#}");
    assert_eq!(
        parameters(&answer["settings"]["tasks"][0]),
        [20_000, 100_000, 100_000],
        "two jobs share a period"
    );
    assert_eq!(answer["settings"]["tasks"][0]["response_ns"], 120_000);
    let (answer, _) = Desk::with(&[("often", 10, 50, 50)]).answer(&["--cpus", "1", "--scheduler", "p-edf"]);
    assert_eq!(
        parameters(&answer["settings"]["tasks"][0]),
        [60_000, 100_000, 100_000],
        "10 us by 50 are 60 by 100"
    );
}

#[test]
fn other_commands_honour_the_set_that_is_written() {
    let desk = Desk::with(&[
        ("a", 2_000, 4_000, 10_000),
        ("b", 6_000, 10_000, 10_000),
        ("c", 5_000, 20_000, 20_000),
        ("d", 1_000, 2_000, 20_000),
    ]);
    let written = desk.path("placed.toml");
    let ended = desk.call(
        "settings",
        &["set.toml", "--cpus", "2", "--scheduler", "p-fp", ALONE, "--write", "placed.toml"],
    );
    assert_eq!(ended.status.code(), Some(0), "{}", words(&ended));
    let (answer, _) = desk.answer(&["--cpus", "2", "--scheduler", "p-fp", ALONE]);
    let proven = json(&prints(&[
        "analyze",
        utf8(&written),
        "--cpus",
        "2",
        "--schedulers",
        "p-push-pull:fp",
        "--json",
    ]));
    assert_eq!(proven["schedulers"][0]["hard"]["verdict"], "schedulable", "{proven:#}");
    let cells = |answer: &Value| -> Vec<(String, usize)> {
        let cell = |cell: &Value| {
            (cell["cpus"].as_str().expect("cpus").to_owned(), cell["tasks"].as_array().expect("tasks").len())
        };
        answer["cells"].as_array().expect("cells").iter().map(cell).collect()
    };
    assert_eq!(cells(&answer["settings"]), cells(&proven["schedulers"][0]));
    let again = desk.call("settings", &["set.toml", "--cpus", "2", ALONE, "--write", "placed.toml"]);
    assert_eq!(again.status.code(), Some(2), "nothing is replaced unasked: {}", words(&again));
}

#[test]
fn the_answer_is_of_its_schema() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/settings.schema.json");
    let schema = calls::json_file(&schema);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for tasks in [&[("a", 500, 1_000, 1_000)][..], &[("tiny", 50, 50, 50)][..]] {
        for scheduler in ["auto", "p-edf", "g-rm"] {
            let (answer, _) = Desk::with(tasks).answer(&["--cpus", "2", "--scheduler", scheduler]);
            let errors: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}");
        }
    }
}

/// Sets the calling thread to SCHED_DEADLINE with these parameters, or to SCHED_OTHER.
fn set(parameters: Option<[u64; 3]>) -> std::io::Result<()> {
    let [runtime_ns, deadline_ns, period_ns] = parameters.unwrap_or_default();
    let policy = if parameters.is_some() { policy::DEADLINE } else { policy::OTHER };
    set_attributes(0, Attributes { policy, runtime_ns, deadline_ns, period_ns, ..Attributes::default() })
}

/// Each set of parameters is admitted, of hard tasks and of soft ones.
#[test]
fn the_kernel_takes_all_parameters() {
    let _machine = host::machine();
    let first = std::thread::spawn(|| set(Some([100_000, 1_000_000, 10_000_000])).and_then(|()| set(None)));
    if let Err(error) = first.join().expect("the thread ends") {
        eprintln!("SKIPPED: this user may not set SCHED_DEADLINE here: {error}");
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(2);
    let mut tried = 0;
    for seed in laxity_seeds::seeds!(1..61) {
        let (count, load) = (1 + seed % 6, 5 + seed % 4);
        let generated = laxity()
            .args([
                "generate",
                "emberson",
                "-n",
                &count.to_string(),
                "-u",
                &format!("0.{load}"),
                "--seed",
                &seed.to_string(),
            ])
            .output()
            .expect("laxity runs");
        let desk = Desk(tempfile::tempdir().expect("directory"));
        let hard = text(&generated.stdout);
        // The same tasks, of which one job in 20 may be late.
        let soft = hard.replace("wcet =", "demand = \"normal:0.5,0.1\"\nwcet =");
        assert_ne!(hard, soft, "the tasks have demands now");
        for (set, call) in [(&hard, &[][..]), (&soft, &["--soft", "0.05"])] {
            fs::write(desk.path("set.toml"), set).expect("write");
            let cpus = cores.to_string();
            let call = [&["--cpus", cpus.as_str(), "--scheduler", "p-edf"], call].concat();
            let (answer, code) = desk.answer(&call);
            if code == 0 {
                takes(&answer, seed);
                tried += 1;
            }
        }
    }
    laxity_seeds::assert_together!(tried > 60, "{tried} sets of parameters were tried");
}

/// All threads of an answer have their parameters at a time.
fn takes(answer: &Value, seed: u64) {
    let tasks: Vec<[u64; 3]> =
        answer["settings"]["tasks"].as_array().expect("tasks").iter().map(parameters).collect();
    let barrier = std::sync::Barrier::new(tasks.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = tasks
            .iter()
            .map(|&of| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let set_all = set(Some(of));
                    barrier.wait();
                    // The bandwidth goes back at once: of a reservation that counts as nothing.
                    let _ = set(Some([1_024, 4_000_000_000, 4_000_000_000]));
                    let _ = set(None);
                    (of, set_all)
                })
            })
            .collect();
        for thread in threads {
            let (of, outcome) = thread.join().expect("the thread ends");
            assert!(outcome.is_ok(), "seed {seed}: {of:?} of {tasks:?}: {outcome:?}");
        }
    });
}
