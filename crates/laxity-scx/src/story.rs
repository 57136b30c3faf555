//! A story that threads play, step by step (`tests/vm/callbacks/README.md` says how one is written): the same in a virtual machine and
//! under the model, so that the callbacks of both can be compared.

use crate::called::{Called, CalledBack};
use crate::parts::{Call, Class, Instance, Op, SCHED_EXT, SCHED_FIFO, SCHED_NORMAL, SetTo, TICK_NS, TaskId};
use crate::scenario::Settings;
use crate::thread::Task;
use crate::world::{World, cred};

const MS: u64 = 1_000_000;

/// Time for all threads to fall asleep before the story begins.
const BEFORE_NS: u64 = 40 * MS;

/// As `laxity load` has it.
pub(crate) const SETTINGS: Settings = Settings {
    rule: 0,
    budget_mode: 1,
    batching: 1,
    sockets: 1,
    timers_refused: 0,
    bound_runtime_ns: 500_000,
};

/// How many CPUs the story's machine has, and those that its policy has.
pub(crate) fn machine(story: &str) -> (usize, Instance) {
    let said = |word: &str| {
        let line = story.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("the story does not say `{word}`"))
    };
    let of_policy = mask(said("policy"));
    let cpus = usize::try_from(number(said("cpus"))).expect("few");
    let own = (0..cpus).filter(|cpu| of_policy >> cpu & 1 == 1).collect();
    (cpus, Instance { cpus: own, tasks: 64, dedicated: None })
}

/// A story whose threads have been made: when it begins and ends, in ns, and which threads are not compared.
pub(crate) struct Told {
    pub begin_at: u64,
    pub end_at: u64,
    pub asides: Vec<TaskId>,
}

impl Told {
    pub(crate) fn of(w: &mut World, story: &str) -> Told {
        // Between two ticks, as the threads of the virtual machine begin.
        let begin_at = (w.now + BEFORE_NS) / TICK_NS * TICK_NS + TICK_NS * 5 / 8;
        for cpu in &mut w.cpus {
            cpu.tick_at = begin_at / TICK_NS * TICK_NS - BEFORE_NS / TICK_NS * TICK_NS;
        }
        let mut told = Told { begin_at, end_at: begin_at, asides: Vec::new() };
        for line in story.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match *words.as_slice() {
                [] => {}
                ["cpus" | "policy", ..] => {}
                [kind @ ("thread" | "aside"), name, cpus, ref more @ ..] => {
                    let said = |word| more.iter().position(|one| *one == word).map(|at| more[at + 1]);
                    let leader = said("of").map(|leader| named(w, leader));
                    let task = thread(w, name, mask(cpus), mask(said("from").unwrap_or(cpus)));
                    w.tasks[task].leader = leader.unwrap_or(task);
                    if kind == "aside" {
                        told.asides.push(task);
                    }
                }
                [chapter, ..] if chapter.starts_with('[') => {
                    told.end_at = begin_at + number(chapter.trim_matches(['[', ']'])) * MS;
                }
                [name, ref step @ ..] => {
                    let task = named(w, name);
                    let ops = ops(w, told.end_at, step);
                    w.tasks[task].program.extend(ops);
                }
            }
        }
        // What has no more to do sleeps until it is killed.
        for task in &mut w.tasks {
            if task.class == Class::Ext && !matches!(task.program.last(), Some(Op::Exit)) {
                task.program.push(Op::Sleep(crate::parts::FOR_EVER));
            }
        }
        told
    }

    /// The callbacks from the begin on, of the threads that are compared and of none.
    pub(crate) fn compared(&self, w: &World) -> Vec<CalledBack> {
        let is_own = |task: TaskId| {
            matches!(w.tasks[task].class, Class::Ext | Class::RealTime) && !self.asides.contains(&task)
        };
        let compared = |one: &Called| CalledBack {
            at_ns: one.at_ns - self.begin_at,
            cpu: u32::try_from(one.cpu).expect("few"),
            task: one
                .task
                .filter(|&task| is_own(task))
                .map_or(String::new(), |task| w.tasks[task].name.clone()),
            callback: one.callback,
            argument: one.argument,
        };
        w.called.iter().flatten().filter(|one| one.at_ns >= self.begin_at).map(compared).collect()
    }
}

fn thread(w: &mut World, name: &str, mask: u64, from: u64) -> TaskId {
    let pid = w.take_pid();
    let cpu = from.trailing_zeros() as usize;
    w.add(Task::new(name.to_owned(), Class::Ext, pid, cred(true), cpu, mask))
}

fn named(w: &World, name: &str) -> TaskId {
    let found = w.tasks.iter().position(|task| task.name == name);
    found.unwrap_or_else(|| panic!("the story has no thread {name}"))
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|_| panic!("the story has {word} for a number"))
}

/// CPUs as `0` or `0-1`.
fn mask(word: &str) -> u64 {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    (number(first)..=number(last)).map(|cpu| 1 << cpu).sum()
}

/// What a line is, in the chapter that begins then.
fn ops(w: &World, chapter_at: u64, words: &[&str]) -> Vec<Op> {
    let (at, words) = match words {
        [at, rest @ ..] if at.starts_with('+') => (Some(number(&at[1..])), rest),
        all => (None, all),
    };
    let (is_refused, words) = match words {
        ["refused", rest @ ..] => (true, rest),
        all => (false, all),
    };
    let mut ops: Vec<Op> = at.map(|ms| Op::SleepUntil(chapter_at + ms * MS)).into_iter().collect();
    let to = |runtime_ms, period_ms| SetTo {
        policy: SCHED_EXT,
        runtime_ns: runtime_ms * MS,
        period_ns: period_ms * MS,
    };
    let call = match *words {
        ["compute", ms] => return [ops, vec![Op::Compute(number(ms) * MS)]].concat(),
        ["sleep", ms] => return [ops, vec![Op::Sleep(number(ms) * MS)]].concat(),
        ["yield"] => return [ops, vec![Op::Yield]].concat(),
        ["exit"] => return [ops, vec![Op::Exit]].concat(),
        ["exec"] => return [ops, vec![Op::Call(Call::Exec)]].concat(),
        ["nice", name, _] => return [ops, vec![Op::Call(Call::SetNice(named(w, name)))]].concat(),
        ["kill", name] => return [ops, vec![Op::Call(Call::Kill(named(w, name)))]].concat(),
        ["fork"] => Call::Fork(vec![Op::Compute(4 * MS), Op::Exit], false),
        ["member", name, runtime, period] => {
            Call::SetAttributes(named(w, name), to(number(runtime), number(period)))
        }
        ["plain", name] => Call::SetAttributes(named(w, name), to(0, 0)),
        ["ext", name] => Call::SetScheduler(named(w, name), SCHED_EXT),
        ["other", name] => Call::SetScheduler(named(w, name), SCHED_NORMAL),
        ["fifo", name] => Call::SetScheduler(named(w, name), SCHED_FIFO),
        ["affinity", name, cpus] => Call::SetAffinity(named(w, name), mask(cpus)),
        _ => panic!("the story has no step {}", words.join(" ")),
    };
    ops.extend([Op::Call(call), Op::Answered(is_refused)]);
    ops
}
