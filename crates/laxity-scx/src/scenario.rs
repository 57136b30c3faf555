//! What a run is about: a machine, an instance or several, and threads, drawn from the seed.

use crate::host::Host;
use crate::parts::{
    Call, Class, Instance, Op, PF_KTHREAD, SCHED_EXT, SCHED_FIFO, SCHED_NORMAL, SetTo, TaskId,
};
use crate::thread::Task;
use crate::world::{World, cred};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// What the threads of a run do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Members that keep their promises, background work, kernel threads.
    Calm,
    /// Besides, threads that set the scheduling and the CPUs of others, fork, exec and end; SCHED_FIFO takes CPUs away.
    Hostile,
    /// Members of 85 % beside many loops of background work, one of least weight.
    Crowded,
    /// More endless jobs than CPUs, without budgets.
    Overloaded,
    /// Members that all CPUs but one have time for, while SCHED_FIFO holds one CPU for long times.
    Held,
}

impl Kind {
    /// All kinds, by name.
    pub const ALL: [(&'static str, Kind); 5] = [
        ("calm", Kind::Calm),
        ("hostile", Kind::Hostile),
        ("crowded", Kind::Crowded),
        ("overloaded", Kind::Overloaded),
        ("held", Kind::Held),
    ];

    /// How long a run is at most, in ns.
    #[must_use]
    pub fn length_ns(self) -> u64 {
        match self {
            Kind::Calm | Kind::Hostile | Kind::Held => 3_000 * MS,
            Kind::Crowded | Kind::Overloaded => 60_000 * MS,
        }
    }

    /// Whether its threads end before the run does.
    #[must_use]
    pub fn ends(self) -> bool {
        matches!(self, Kind::Calm | Kind::Hostile | Kind::Held)
    }
}

/// How an instance is set up, as `struct lx_config` says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub rule: u32,
    pub budget_mode: u32,
    pub batching: u32,
    pub sockets: u32,
    pub timers_refused: u32,
    pub bound_runtime_ns: u64,
}

/// How many CPUs the machine of that seed has.
pub(crate) fn cpus(host: Host, kind: Kind, seed: u64) -> usize {
    // One decides; one is held, and one is left.
    let least = if kind == Kind::Held { 3 } else { 1 + usize::from(host.name() == "g_edf_mp") };
    let most = if kind.ends() { 4 } else { 2 };
    least + usize::try_from(seed % (most - least as u64 + 1)).expect("few")
}

pub(crate) fn settings(w: &mut World, kind: Kind) -> Settings {
    let fixed = matches!(w.host.name(), "amp_rm" | "fpp");
    Settings {
        rule: fixed.into(),
        budget_mode: if kind == Kind::Overloaded { 0 } else { u32::try_from(w.below(3)).expect("few") },
        batching: u32::try_from(w.below(2)).expect("few"),
        sockets: 1 + u32::try_from(w.below(2)).expect("few"),
        timers_refused: if kind == Kind::Hostile && w.below(8) == 0 { 8 } else { 0 },
        bound_runtime_ns: [200 * US, 500 * US, 2 * MS][w.below(3)],
    }
}

/// The instances: one of all CPUs, or sometimes two; of one CPU each where cores have servers.
pub(crate) fn instances(w: &mut World, kind: Kind) -> Vec<Instance> {
    let all: Vec<usize> = (0..w.cpus.len()).collect();
    let size = if w.host.has_servers() {
        1
    } else if kind != Kind::Held && all.len() == 4 && w.below(3) == 0 {
        2
    } else {
        all.len()
    };
    let dedicates =
        w.host.name() == "g_edf_mp" || (w.host.name() == "gsn_edf" && size > 1 && w.below(3) == 0);
    all.chunks(size)
        .map(|cpus| Instance { cpus: cpus.to_vec(), tasks: 64, dedicated: dedicates.then(|| cpus.len() - 1) })
        .collect()
}

/// Makes the threads of the run.
pub(crate) fn populate(w: &mut World, kind: Kind) {
    match kind {
        Kind::Calm => calm(w),
        Kind::Hostile => hostile(w),
        Kind::Crowded => crowded(w),
        Kind::Overloaded => overloaded(w),
        Kind::Held => held(w),
    }
}

fn thread(w: &mut World, name: &str, mask: u64) -> TaskId {
    let pid = w.take_pid();
    let cpu = mask.trailing_zeros() as usize;
    w.add(Task::new(format!("{name}/{pid}"), Class::Ext, pid, cred(true), cpu, mask))
}

fn all_cpus(w: &World) -> u64 {
    (1 << w.cpus.len()) - 1
}

/// The CPUs that tasks run on, of an instance.
fn mask_of(instance: &Instance) -> u64 {
    instance.cpus.iter().map(|cpu| 1 << cpu).sum()
}

fn members(w: &mut World, count: usize, jobs: u32) -> Vec<TaskId> {
    (0..count)
        .map(|_| {
            let instance = w.below(w.instances.len());
            let mask = mask_of(&w.instances[instance]);
            let task = thread(w, "member", mask);
            let period_ns = w.draw(2, 40) * 500 * US;
            let runtime_ns = period_ns * w.draw(5, 60) / 100;
            let enters =
                Op::Call(Call::SetAttributes(task, SetTo { policy: SCHED_EXT, runtime_ns, period_ns }));
            let used_ns = runtime_ns * w.draw(30, 130) / 100;
            let mut program = vec![enters];
            if w.below(3) == 0 {
                // It blocks in the middle of its job.
                program.extend([
                    Op::Compute(used_ns / 2),
                    Op::Sleep(w.draw(10, 4_000) * US),
                    Op::Compute(used_ns / 2),
                    Op::Yield,
                ]);
            } else {
                program.extend([Op::Compute(used_ns), Op::Yield]);
            }
            program.extend([Op::Repeat(1, jobs), Op::Exit]);
            w.tasks[task].program = program;
            task
        })
        .collect()
}

fn background(w: &mut World, count: usize, rounds: u32) -> Vec<TaskId> {
    (0..count)
        .map(|_| {
            let mask = if w.below(3) == 0 { 1 << w.below(w.cpus.len()) } else { all_cpus(w) };
            let task = thread(w, "background", mask);
            let (computes_ns, sleeps_ns) = (w.draw(20, 20_000) * US, w.draw(20, 8_000) * US);
            let sleeps = Op::Sleep(sleeps_ns);
            w.tasks[task].program = vec![Op::Compute(computes_ns), sleeps, Op::Repeat(0, rounds), Op::Exit];
            w.tasks[task].raw.scx.weight = [100, 100, 1, 900][w.below(4)];
            task
        })
        .collect()
}

fn kernel_threads(w: &mut World) {
    for cpu in 0..w.cpus.len() {
        let task = thread(w, "kworker", 1 << cpu);
        let (computes_ns, sleeps_ns) = (w.draw(5, 200) * US, w.draw(2, 30) * MS);
        w.tasks[task].raw.flags |= PF_KTHREAD;
        w.tasks[task].program =
            vec![Op::Sleep(sleeps_ns), Op::Compute(computes_ns), Op::Repeat(0, 20), Op::Exit];
    }
}

/// Kernel threads that have more to do than they may do first, bound to a CPU and not, for so many rounds.
fn busy_kernel_threads(w: &mut World, rounds: u32) {
    for cpu in 0..=w.cpus.len() {
        let is_bound = cpu < w.cpus.len();
        if is_bound && w.below(2) == 0 {
            continue;
        }
        let mask = if is_bound { 1 << cpu } else { all_cpus(w) };
        let task = thread(w, if is_bound { "ksoftirqd" } else { "kworker/u" }, mask);
        let (computes_ns, sleeps_ns) = (w.draw(1, 40) * MS, w.draw(10, 2_000) * US);
        w.tasks[task].raw.flags |= PF_KTHREAD;
        w.tasks[task].program =
            vec![Op::Compute(computes_ns), Op::Sleep(sleeps_ns), Op::Repeat(0, rounds), Op::Exit];
    }
}

fn calm(w: &mut World) {
    let count = 1 + w.below(2 + 2 * w.cpus.len());
    members(w, count, 12);
    let count = w.below(5);
    background(w, count, 12);
    kernel_threads(w);
}

/// A call of a hostile thread on one of the tasks.
fn hostile_call(w: &mut World, tasks: &[TaskId]) -> Call {
    let target = tasks[w.below(tasks.len())];
    let period_ns = w.draw(2, 40) * 500 * US;
    let to = |policy, share: u64| SetTo { policy, runtime_ns: period_ns * share / 100, period_ns };
    match w.below(9) {
        0..=2 => {
            let share = w.draw(1, 60);
            Call::SetAttributes(target, to(SCHED_EXT, share))
        }
        3 => Call::SetAttributes(target, SetTo { policy: SCHED_EXT, runtime_ns: 0, period_ns: 0 }),
        4 => Call::SetScheduler(target, SCHED_EXT),
        5 => Call::SetScheduler(target, SCHED_NORMAL),
        6 => {
            let mask = 1 + w.draw(0, all_cpus(w));
            Call::SetAffinity(target, if w.below(2) == 0 { all_cpus(w) } else { mask })
        }
        7 => {
            let computes = Op::Compute(w.draw(10, 3_000) * US);
            let enters = Op::Call(Call::SetAttributes(target, to(SCHED_EXT, 5)));
            Call::Fork(vec![computes.clone(), enters, computes, Op::Exit], w.below(2) == 0)
        }
        _ => Call::SetScheduler(target, if w.below(2) == 0 { SCHED_FIFO } else { SCHED_NORMAL }),
    }
}

/// Tasks that leave and enter again, by calls of their own.
fn come_and_go(w: &mut World, count: usize) -> Vec<TaskId> {
    let tasks = members(w, count, 2);
    for &task in &tasks {
        let leaves = if w.below(2) == 0 {
            Call::SetAttributes(task, SetTo { policy: SCHED_EXT, runtime_ns: 0, period_ns: 0 })
        } else {
            Call::SetScheduler(task, if w.below(2) == 0 { SCHED_EXT } else { SCHED_NORMAL })
        };
        let program = &mut w.tasks[task].program;
        let again = [Op::Call(leaves), Op::Compute(200 * US), Op::Sleep(300 * US)];
        let jobs = program.len() - 1;
        // The jobs twice: one count of repetitions is all that a thread has.
        let once: Vec<Op> =
            program[..jobs].iter().filter(|op| !matches!(op, Op::Repeat(..))).cloned().collect();
        *program =
            [once.clone(), again.to_vec(), once.clone(), again.to_vec(), vec![Op::Repeat(0, 4), Op::Exit]]
                .concat();
    }
    tasks
}

fn hostile(w: &mut World) {
    let count = 1 + w.below(1 + w.cpus.len());
    let mut tasks = members(w, count, 12);
    let count = w.below(3);
    tasks.extend(come_and_go(w, count));
    let count = w.below(4);
    tasks.extend(background(w, count, 12));
    kernel_threads(w);
    busy_kernel_threads(w, 4);
    // A process whose second thread becomes a member, and execs at last.
    if w.below(2) == 0 {
        let team = members(w, 2, 6);
        w.tasks[team[1]].leader = team[0];
        let at = w.tasks[team[1]].program.len() - 1;
        w.tasks[team[1]]
            .program
            .splice(at..at, [Op::Call(Call::Exec), Op::Compute(US), Op::Yield, Op::Repeat(at + 1, 3)]);
        tasks.extend(team);
    }
    for cpu in 0..w.cpus.len() {
        if w.below(2) == 0 {
            let task = thread(w, "fifo", 1 << cpu);
            w.tasks[task].class = Class::RealTime;
            w.tasks[task].raw.policy = SCHED_FIFO;
            let (computes_ns, sleeps_ns) = (w.draw(10, 60_000) * US, w.draw(1, 40) * MS);
            w.tasks[task].program =
                vec![Op::Sleep(sleeps_ns), Op::Compute(computes_ns), Op::Repeat(0, 8), Op::Exit];
        }
    }
    for _ in 0..1 + w.below(4) {
        let mask = all_cpus(w);
        let task = thread(w, "hostile", mask);
        let mut program = Vec::new();
        for _ in 0..1 + w.below(20) {
            let gap_ns = if w.below(2) == 0 { 0 } else { w.draw(1, 4_000) * US };
            program.extend([Op::Sleep(gap_ns), Op::Call(hostile_call(w, &tasks))]);
        }
        program.push(Op::Exit);
        w.tasks[task].program = program;
    }
}

/// A third of what is left of the machine: also where a CPU is dedicated. Where every CPU is an instance, nothing is left of it.
fn held(w: &mut World) {
    if w.host.has_servers() {
        return calm(w);
    }
    w.patience_ns = 100 * MS;
    let instance = w.instances[0].clone();
    let there = instance.cpus.len() - usize::from(instance.dedicated.is_some()) - 1;
    let count = 1 + w.below(2 * there);
    for _ in 0..count {
        let task = thread(w, "member", mask_of(&instance));
        let period_ns = w.draw(4, 20) * MS;
        let runtime_ns = (period_ns * 33 * there as u64 / 100 / count as u64).min(period_ns / 2);
        let to = SetTo { policy: SCHED_EXT, runtime_ns, period_ns };
        w.tasks[task].program = vec![
            Op::Call(Call::SetAttributes(task, to)),
            Op::Compute(runtime_ns * 9 / 10),
            Op::Yield,
            Op::Repeat(1, 100),
            Op::Exit,
        ];
    }
    let count = w.below(3);
    background(w, count, 12);
    kernel_threads(w);
    busy_kernel_threads(w, 8);
    let at = w.below(instance.cpus.len());
    let fifo = thread(w, "fifo", 1 << instance.cpus[at]);
    w.tasks[fifo].class = Class::RealTime;
    w.tasks[fifo].raw.policy = SCHED_FIFO;
    let (computes_ns, sleeps_ns) = (w.draw(1, 700) * MS, w.draw(1, 60) * MS);
    w.tasks[fifo].program = vec![Op::Sleep(sleeps_ns), Op::Compute(computes_ns), Op::Repeat(0, 3), Op::Exit];
}

fn endless(w: &mut World, mask: u64, share: u64) {
    let task = thread(w, "endless", mask);
    let period_ns = 100 * MS;
    let to = SetTo { policy: SCHED_EXT, runtime_ns: period_ns * share / 100, period_ns };
    w.tasks[task].program = vec![Op::Call(Call::SetAttributes(task, to)), Op::Compute(1_000_000 * MS)];
}

fn crowded(w: &mut World) {
    for instance in w.instances.clone() {
        let mask = mask_of(&instance);
        for _ in 0..instance.cpus.len() - usize::from(instance.dedicated.is_some()) {
            let task = thread(w, "member", mask);
            let to = SetTo { policy: SCHED_EXT, runtime_ns: 85 * MS, period_ns: 100 * MS };
            w.tasks[task].program =
                vec![Op::Call(Call::SetAttributes(task, to)), Op::Compute(84 * MS), Op::Yield, Op::Goto(1)];
        }
    }
    busy_kernel_threads(w, u32::MAX);
    let count = 20 * w.cpus.len() + w.below(20);
    for i in 0..=count {
        let mask = all_cpus(w);
        let task = thread(w, "loop", mask);
        w.tasks[task].program = vec![Op::Compute(1_000_000 * MS)];
        w.tasks[task].raw.scx.weight = if i == 0 { 1 } else { 100 };
    }
}

fn overloaded(w: &mut World) {
    for instance in w.instances.clone() {
        let share = 90 * (instance.cpus.len() as u64) / (instance.cpus.len() as u64 + 1) / 2;
        for _ in 0..=instance.cpus.len() {
            endless(w, mask_of(&instance), share.max(5));
        }
    }
    background(w, 2, u32::MAX);
    busy_kernel_threads(w, u32::MAX);
}
