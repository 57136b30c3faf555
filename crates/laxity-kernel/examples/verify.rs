//! A policy, some threads, and whether what the kernel did is what the policy is: `verify POLICY SECONDS [SEED]`.
//!
//! Every task has twice the budget that its jobs use on average; now and then one asks for more than it has. `LAXITY_RECORDS=1`
//! prints all records, `LAXITY_EVENTS=1` all events.

use laxity_kernel::schedule::{Member, Origin, Recording, Schedule, convert, verify};
use laxity_kernel::{Enrolled, Length, Options, PolicyCpus, Scheduler};
use laxity_model::{BudgetMode, CpuList, Duration, Platform, Policy, PriorityRule, Reserve, Task, TaskSet};
use laxity_oracle::{Cluster, Definition, Verdict};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

type Failure = Box<dyn std::error::Error>;

fn now_ns(clock: rustix::time::ClockId) -> u64 {
    let now = rustix::time::clock_gettime(clock);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).expect("since boot")
}

fn clock() -> u64 {
    now_ns(rustix::time::ClockId::Monotonic)
}

fn spin(ns: u64) {
    let begin = now_ns(rustix::time::ClockId::ThreadCPUTime);
    while now_ns(rustix::time::ClockId::ThreadCPUTime) - begin < ns {}
}

/// A small generator of numbers that looks random enough.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Twice as many tasks as CPUs that run them, and one more, with some 80 % of their time in budgets.
fn task_set(cpus: u32, seed: u64) -> Result<TaskSet, Failure> {
    let mut draws = Draws(seed);
    let n = 2 * cpus + 1;
    let mut tasks = Vec::new();
    for number in 0..n {
        let period_ms = [20, 25, 40, 50, 100][usize::try_from(draws.below(5))?];
        let share = 800 * u64::from(cpus) / u64::from(n);
        let wcet_us = (period_ms * (share / 2 + draws.below(share))).min(period_ms * 900);
        let name = format!("t{number}");
        tasks.push(Task::periodic(name, Duration::from_us(wcet_us), Duration::from_ms(period_ms)));
    }
    Ok(TaskSet::new("example", tasks)?)
}

fn enter(task: &Task) -> Result<(), Failure> {
    let this_thread = Enrolled {
        tid: 0,
        runtime_ns: task.wcet.as_ns(),
        deadline_ns: task.deadline_rel.as_ns(),
        period_ns: task.period().as_ns(),
    };
    this_thread.ask().map_err(|error| format!("sched_setattr: {error}").into())
}

/// One thread: it sends its number, waits until it may enter, and does jobs until `end`.
fn run(task: &Task, seed: u64, said: &mpsc::Sender<u32>, may_enter: &mpsc::Receiver<()>, end: &AtomicU64) {
    let tid = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).expect("positive");
    said.send(tid).expect("the receiver is there");
    may_enter.recv().expect("the sender is there");
    if let Err(error) = enter(task) {
        println!("{}: {error}", task.name);
    }
    said.send(tid).expect("the receiver is there");
    let mut draws = Draws(seed);
    thread::yield_now();
    while clock() < end.load(Ordering::Relaxed) {
        let budget = task.wcet.as_ns();
        let percent = if draws.below(20) == 0 { 130 } else { 25 + draws.below(50) };
        spin(budget * percent / 100);
        thread::yield_now();
    }
}

fn options(policy: Policy, cpus: u32) -> Options {
    Options {
        policy,
        fixed_priorities: false,
        by_period: false,
        cells: vec![PolicyCpus { cpus: (0..cpus).collect(), sockets: vec![0; cpus as usize] }],
        budget: BudgetMode::Throttle,
        batching: true,
        retries_max: 3,
        tasks: 64,
        share_ppm: 1_000_000,
        reserve: Reserve::percent(5, Reserve::WINDOW).expect("a share"),
        kernel_threads: laxity_kernel::KERNEL_THREADS,
        cores: Vec::new(),
    }
}

/// What attaching took, and what of it the verifier went through.
fn describe(scheduler: &Scheduler, took_ns: u64) {
    let lengths = scheduler.lengths();
    let instructions: u32 = lengths.iter().map(|one| one.verified).sum();
    println!("attached in {} ms; {instructions} instructions verified", took_ns / 1_000_000);
    if std::env::var_os("LAXITY_PROGRAMS").is_some() {
        for Length { program, verified, instructions, native_bytes } in lengths {
            println!("  {program:16} {verified:9} {instructions:6} {native_bytes:6}");
        }
    }
}

/// Runs the threads and records what the kernel does.
fn record(
    scheduler: &Scheduler,
    set: &TaskSet,
    (cpus, queues): (u32, bool),
    length_ns: u64,
) -> Result<Schedule, Failure> {
    let mut recording = Recording::start(scheduler.rings()?, scheduler.trace_switch()?);
    let t0_ns = clock() + 1_000_000_000;
    let end = AtomicU64::new(t0_ns + length_ns);
    let mut tasks = Vec::new();
    let recorded = thread::scope(|scope| -> Result<_, Failure> {
        for (id, task) in (0_u32..).zip(set.tasks()) {
            let (say, said) = mpsc::channel();
            let (allow, may_enter) = mpsc::channel();
            let end = &end;
            scope.spawn(move || run(task, u64::from(id) + 77, &say, &may_enter, end));
            let tid = said.recv()?;
            scheduler.set_first_release(tid, t0_ns)?;
            allow.send(())?;
            said.recv()?;
            let deadline_ns = task.deadline_rel.as_ns();
            tasks.push(Member {
                tid,
                task: id,
                deadline_rel_ns: deadline_ns,
                asked_deadline_ns: deadline_ns,
            });
        }
        let early_ns =
            t0_ns.checked_sub(clock()).ok_or("the machine is so slow that the tasks entered too late")?;
        println!("{} tasks entered {} ms before their release", tasks.len(), early_ns / 1_000_000);
        while clock() < t0_ns + length_ns + 20_000_000 {
            thread::sleep(std::time::Duration::from_millis(5));
            recording.drain();
        }
        scheduler.note_pending()?;
        Ok(recording.finish())
    })?;
    if std::env::var_os("LAXITY_RECORDS").is_some() {
        let mut records = recorded.records.clone();
        records.sort_by_key(|record| record.time_ns);
        for r in records.iter().filter(|record| record.time_ns >= t0_ns) {
            let kind = laxity_kernel::rings::Kind::of(r.kind);
            let place = |value: u32| i64::from(value.cast_signed());
            let at = r.time_ns - t0_ns;
            let sent = r.argument2.checked_sub(t0_ns);
            println!(
                "R {at:>12} cpu{} {kind:?} tid{} task{} job{} {} {sent:?}",
                place(r.cpu),
                r.pid,
                place(r.task),
                place(r.job),
                r.argument
            );
        }
    }
    println!("{} records, {} lost", recorded.records.len(), recorded.lost);
    let cpus = (0..cpus).collect();
    let (end_ns, servers) = (Some(t0_ns + length_ns), vec![]);
    let origin = Origin { t0_ns, tasks, names: Vec::new(), first_job: 1, cpus, queues, end_ns, servers };
    Ok(convert(&recorded, &origin))
}

fn definition(set: TaskSet, policy: Policy, cpus: u32, schedule: &Schedule) -> Result<Definition, Failure> {
    let tasks = (0..u32::try_from(set.tasks().len())?).collect();
    let platform = Platform::symmetric(cpus)?;
    let mut cluster = Cluster::new(platform.cpus(), tasks);
    if policy.dedicates_a_core() {
        cluster.dedicated = [cpus - 1].into_iter().collect::<CpuList>();
    }
    let duration = Duration::from_ns(schedule.end_ns);
    let rule = PriorityRule::EarliestDeadlineFirst;
    let definition = Definition::clustered(set, &platform, rule, vec![cluster], duration)?;
    Ok(definition.with_budgets(BudgetMode::Throttle).with_batching(true))
}

fn print(verdict: &Verdict, schedule: &Schedule) {
    println!("{verdict}");
    for note in &schedule.notes {
        println!("note: {note}");
    }
    println!("{} decisions of CPUs", schedule.decisions);
    for finding in &verdict.findings {
        println!(
            "  {:18} checked {:6}  violated {}",
            finding.oracle.name(),
            finding.checked,
            finding.violations
        );
    }
    for excuse in &verdict.excused {
        let (longest, total) = (Duration::from_ns(excuse.longest_ns), Duration::from_ns(excuse.total_ns));
        println!(
            "  excused by {:20} {:5} times, longest {longest}, all {total}",
            excuse.cause.name(),
            excuse.count
        );
    }
    let w = &schedule.windows;
    for (name, span) in [
        ("release latency", w.release_latency),
        ("release", w.release),
        ("wake-up", w.wake_up),
        ("interrupt", w.interrupt),
        ("decision", w.decision),
        ("switch", w.switch),
        ("kernel threads", w.kernel_thread),
    ] {
        println!(
            "  measured {name:16} {:6} times, longest {}",
            span.count,
            Duration::from_ns(span.longest_ns)
        );
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let policy = Policy::all().find(|policy| policy.name() == arguments[1]).ok_or("no such policy")?;
    let length_ns = arguments[2].parse::<u64>()? * 1_000_000_000;
    let seed = arguments.get(3).map_or(Ok(1), |text| text.parse())?;
    let cpus = u32::try_from(thread::available_parallelism()?.get())?;
    let begin_ns = clock();
    let scheduler = Scheduler::attach(&options(policy, cpus))?;
    println!("=== {} on {cpus} CPUs, seed {seed}", policy.name());
    describe(&scheduler, clock() - begin_ns);
    let set = task_set(cpus - u32::from(policy.dedicates_a_core()), seed)?;
    let schedule = record(&scheduler, &set, (cpus, policy.has_queue_per_core()), length_ns)?;
    if let Some(exit) = scheduler.exited() {
        println!("EXIT {exit:?}");
    }
    println!("{:?}", scheduler.counters()?);
    drop(scheduler);
    if std::env::var_os("LAXITY_EVENTS").is_some() {
        schedule.events.iter().for_each(|event| println!("{event:?}"));
        schedule.activities.iter().for_each(|activity| println!("{activity:?}"));
    }
    let definition = definition(set, policy, cpus, &schedule)?;
    print(&verify(&definition, &schedule), &schedule);
    Ok(())
}
