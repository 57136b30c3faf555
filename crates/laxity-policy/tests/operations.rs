//! All policies under a host that interleaves what may happen, step by step where operations have several; tasks come and go.
//!
//! The host (`tests/operations/`) is C, so that it sees the whole state: it checks the lock discipline of every call, that no
//! task is on two CPUs, that every operation ends, and, whenever nothing is under way, that the schedule is that of
//! global EDF or fixed priorities. It is built here with the policies' own assertions, and once more with each of a
//! list of deliberate mistakes, every one of which it must notice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const HOST: [&str; 5] = ["host.c", "locks.c", "mailboxes.c", "main.c", "model.c"];

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

fn compile(arguments: impl FnOnce(&mut Command)) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-DLX_CHECKED", "-DLX_LISTS"]);
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
            compile(|command| {
                command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(policy_sources());
                command.arg("-c").arg(root().join("tests/operations").join(file)).arg("-o").arg(object);
            });
        }
        objects.to_vec()
    })
}

/// Builds the host with the policies in `policy`.
fn build(policy: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    compile(|command| {
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

/// Runs seeds that must all pass; how often each thing happened in them.
fn passes(program: &Path, policy: &str, mode: Mode, count: u32) -> BTreeMap<String, u64> {
    let output = run(program, policy, mode, 1, count);
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
        assert!(counts["push"] > 1000 && counts["pull"] > 1000);
        for never in ["push_failed", "push_abandoned", "push_overtaken", "pull_failed", "inversions"] {
            assert_eq!(counts[never], 0, "{never} without overlapping operations");
        }
    }
    let counts = passes(&program, "push_pull", Mode::Interleaved, 8000);
    println!("{counts:?}");
    for happens in ["push_failed", "push_abandoned", "push_overtaken", "pull_failed", "inversions"] {
        assert!(counts[happens] > 100, "{happens}: {}", counts[happens]);
    }
    assert!(counts["inversions"] < counts["push_abandoned"], "inversions are rarer than what leads to them");
}

#[test]
fn g_edf_mp_is_global_once_all_messages_are_handled() {
    let program = build(&policy_sources(), "operations-g-edf-mp", &["-O2"]);
    for mode in [Mode::Ordered, Mode::Delayed, Mode::Interleaved] {
        let counts = passes(&program, "g_edf_mp", mode, 5000);
        println!("{counts:?}");
        assert_eq!(counts["inversions"], 0);
        for race in ["link_swap", "stale_message", "stale_job"] {
            if mode == Mode::Ordered {
                assert_eq!(counts[race], 0, "{race} although nothing overlaps");
            } else {
                assert!(counts[race] > 100, "{race}: {}", counts[race]);
            }
        }
    }
}

/// A deliberate mistake: in `file`, `right` becomes `wrong`.
struct Mistake {
    name: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
}

const fn mistake(
    name: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Mistake {
    Mistake { name, file, right, wrong }
}

#[test]
fn policies_under_one_lock_are_global() {
    let program = build(&policy_sources(), "operations-one-lock", &["-O2"]);
    for policy in ["edf_bh", "edf_rbt", "fpp", "gsn_edf", "amp_rm"] {
        for mode in [Mode::Ordered, Mode::Delayed] {
            let counts = passes(&program, policy, mode, 2000);
            println!("{policy}: {counts:?}");
            assert_eq!(counts["inversions"], 0);
            assert!(counts["entered"] > 1000, "tasks come and go");
        }
    }
}

/// Mistakes about tasks that come and go, each under one policy that has them.
const COMING_AND_GOING: [(&str, Mistake); 8] = [
    ("edf_bh", FORGETS_THE_CPU),
    ("push_pull", FORGETS_THE_CPU),
    ("g_edf_mp", FORGETS_THE_CPU),
    (
        "edf_rbt",
        mistake(
            "a task that enters lives on the server period of the one before",
            "core.h",
            "\tt->deadline_abs = 0;\n\tt->replenished = LX_NEVER;\n",
            "\tt->deadline_abs = 0;\n",
        ),
    ),
    (
        "fpp",
        mistake(
            "levels are not made anew",
            "queues/promotions.h",
            "entered(struct lx_state *s)\n{\n\tlx_promotions_levels(s);\n",
            "entered(struct lx_state *s)\n{\n\t(void)s;\n",
        ),
    ),
    (
        "g_edf_mp",
        mistake(
            "the message that a task has left is forgotten when its number is used again",
            "g_edf_mp.h",
            "\tlx_task_enter(s, task);\n",
            "\tlx_task_enter(s, task);\n\tlx_flight(s, task)->ended = 0;\n",
        ),
    ),
    (
        "edf_bh",
        mistake(
            "a job with a constrained deadline that wakes up too late is replaced",
            "wake_up.h",
            "\t\tif (t->deadline_rel < t->period) {\n",
            "\t\tif (t->deadline_rel < t->period && span == 0) {\n",
        ),
    ),
    (
        "edf_bh",
        mistake(
            "a constrained task that wakes up has two budgets in one period",
            "wake_up.h",
            "return t->deadline_rel < t->period && next > now ? next : now;",
            "return next > LX_NEVER / 2 ? next : now;",
        ),
    ),
];

const FORGETS_THE_CPU: Mistake = mistake(
    "a task that enters is not looked for where the one before has yet to be switched away from",
    "core.h",
    "\tif (lx_scheduled_on(s, task) == LX_NONE)\n\t\tt->last_cpu = LX_NONE;\n",
    "\tt->last_cpu = LX_NONE;\n",
);

const PUSH_PULL: [Mistake; 13] = [
    mistake(
        "the release queue is written under the lock of a CPU",
        "push_pull.h",
        "\tlx_list_begin(s, cpu);\n\tif (next_release != LX_NEVER)\n\t\tready = lx_next_job(s, task, next_release);\n",
        "\tlx_list_begin(s, cpu);\n\tif (next_release != LX_NEVER)\n\t\tready = lx_next_job(s, task, next_release);\n\tif (ready > now && ready != LX_NEVER)\n\t\tlx_due_push(s, ready, task);\n",
    ),
    mistake(
        "actions are in the list of the CPU that they are about",
        "push_pull/run_queue.h",
        "\t\tlx_list_kick(s, by, cpu);\n",
        "\t\tlx_list_kick(s, cpu, cpu);\n",
    ),
    mistake(
        "a push does not look again at the target",
        "push_pull/migrate.h",
        "} else if (lx_run_queue_yields(s, target, task)) {",
        "} else if (target != source) {",
    ),
    mistake(
        "a push does not look again at the source",
        "push_pull/migrate.h",
        "if (lx_run_queue(s, source)->next != task) {",
        "if (target == source) {",
    ),
    mistake(
        "a pull does not look again",
        "push_pull/migrate.h",
        "if (lx_run_queue_offers(s, source, cpu)) {\n\t\tu32 task",
        "if (source != cpu) {\n\t\tu32 task",
    ),
    mistake(
        "one push only",
        "push_pull/migrate.h",
        "\t\top->task = LX_NONE;\n\t} else {",
        "\t\treturn 0;\n\t} else {",
    ),
    mistake(
        "no push after a release",
        "push_pull/migrate.h",
        "\tlx_push_from(s, cpu, op->target);\n",
        "\tlx_release_next(s, cpu);\n",
    ),
    mistake(
        "a push is given up in silence",
        "push_pull/migrate.h",
        "\t\t\tlx_note(s, cpu, LX_NOTE_PUSH_ABANDONED, source, target, task);\n",
        "",
    ),
    mistake(
        "one lock instead of two",
        "push_pull/migrate.h",
        "lx_go_on(s, cpu, lx_locks(source, target));",
        "lx_go_on(s, cpu, lx_locks(source, LX_NO_LOCK));",
    ),
    mistake(
        "a CPU that has yet to reschedule offers its running job",
        "push_pull/run_queue.h",
        "u32 next = LX_NONE;\n\n\tif (current",
        "u32 next = current;\n\n\tif (current",
    ),
    mistake(
        "a job wakes up elsewhere before its CPU has switched away",
        "push_pull/run_queue.h",
        "if (held != LX_NONE)\n\t\treturn held;",
        "if (held != LX_NONE)\n\t\town = held;",
    ),
    mistake("no pull", "push_pull.h", "\tlx_operation(s, cpu)->source = 0;\n\tlx_pull_seek(s, cpu);\n", ""),
    mistake(
        "no push after a preemption",
        "push_pull.h",
        "\tlx_operation(s, cpu)->rest = LX_NONE;\n\tlx_push_from(s, cpu, cpu);\n",
        "",
    ),
];

const G_EDF_MP: [Mistake; 12] = [
    mistake(
        "an arrival that overtakes the suspension resumes the job that was given up",
        "g_edf_mp/dsp.h",
        "\tif (early == LX_MESSAGE_RESUME)\n",
        "\tif (early)\n",
    ),
    mistake(
        "a stale job stays in the ready queue",
        "g_edf_mp/dsp.h",
        "\t\tlx_binomial_heap_remove(s, task);\n",
        "",
    ),
    mistake(
        "a job that has ended is swapped back",
        "g_edf_mp/dsp.h",
        "\tif (LX_READ(lx_flight(s, task)->ended)) {\n\t\tlx_dsp_drop(s);\n\t\treturn;\n\t}\n",
        "",
    ),
    mistake(
        "a job that has ended is linked",
        "g_edf_mp/dsp.h",
        "\tif (LX_READ(lx_flight(s, op->task)->ended)) {\n\t\tlx_dsp_drop(s);\n\t\treturn;\n\t}\n",
        "",
    ),
    mistake(
        "no link swap",
        "g_edf_mp/dsp.h",
        "if (held != LX_NONE && held != op->target) {",
        "if (held != LX_NONE && held == LX_NO_LOCK) {",
    ),
    mistake(
        "a swap without looking again",
        "g_edf_mp/dsp.h",
        "if (lx_cpu(s, source)->scheduled == task) {",
        "if (lx_dsp_copy(s, source) != task) {",
    ),
    mistake(
        "a swap under the lock of the wrong client",
        "g_edf_mp/dsp.h",
        "lx_dsp_go_on(s, LX_DSP_SWAP, held);",
        "lx_dsp_go_on(s, LX_DSP_SWAP, op->target);",
    ),
    mistake(
        "a resumption that overtakes the suspension is forgotten",
        "g_edf_mp/dsp.h",
        "\t\tflight->early = LX_MESSAGE_RESUME;\n",
        "\t\treturn;\n",
    ),
    mistake(
        "an arrival that overtakes the completion is forgotten",
        "g_edf_mp/dsp.h",
        "\t\tflight->early = LX_MESSAGE_ARRIVE;\n",
        "",
    ),
    mistake(
        "a preempted job is not kept",
        "g_edf_mp/dsp.h",
        "\tif (!LX_READ(lx_flight(s, task)->ended))\n\t\tlx_dsp_ready(s, task);\n",
        "",
    ),
    mistake(
        "a client gives up a link that is not its job's",
        "g_edf_mp.h",
        "\tif (c->linked == task)\n\t\tc->linked = LX_NONE;",
        "\tc->linked = LX_NONE;",
    ),
    mistake(
        "the first mailbox is always read first",
        "g_edf_mp/mailbox.h",
        "\ts->mailbox_next = socket + 1 < s->config.sockets ? socket + 1 : 0;\n",
        "\ts->mailbox_next = tried + 1 < s->config.sockets && kind == LX_MESSAGE_NONE ? tried + 1 : 0;\n",
    ),
];

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

/// Whether the host notices the mistake, and how.
fn noticed(policy: &str, list: &str, number: usize, mistake: &Mistake) -> Option<String> {
    let name = format!("operations-{list}-mistake-{number}");
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
    let program = build(&sources, &name, &["-O0"]);
    [Mode::Ordered, Mode::Delayed, Mode::Interleaved].into_iter().find_map(|mode| {
        let output = run(&program, policy, mode, 1, 300);
        (!output.status.success()).then(|| {
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
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
fn mistakes_about_tasks_that_come_and_go_are_noticed() {
    for (number, (policy, mistake)) in COMING_AND_GOING.iter().enumerate() {
        let how = noticed(policy, "coming", number, mistake);
        println!("{policy}, {}: {how:?}", mistake.name);
        assert!(how.is_some(), "{policy}: no check notices that {}", mistake.name);
    }
}
