//! A run from its seed to its end: the loader's part, the threads' start, and what is left when they are gone.

use crate::called::CalledBack;
use crate::ext::{ops, raw as record};
use crate::fibre::Fibre;
use crate::host::Host;
use crate::judge;
use crate::parts::{Class, Instance};
use crate::raw::{self, CPUS_MAX, InitArgs, Setup};
use crate::run::{run_until, settle};
use crate::scenario::{self, Kind, Settings};
use crate::story::{self, Told};
use crate::terms::Terms;
use crate::watch;
use crate::watch::BOUND_PERIOD_NS;
use crate::world::{Fault, World, enter, world};
use laxity_kernel::RunningServer;
use std::sync::{Mutex, PoisonError};

/// What a run has been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Places where others might have gone first.
    pub events: u64,
    /// The time that has passed, in ns.
    pub passed_ns: u64,
    /// Jobs that the oracles have judged to their ends.
    pub jobs_judged: u64,
}

/// The variables of the host's objects are there once: one run at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How a run differs from the usual one of its seed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// With a log on standard output.
    pub speaks: bool,
    /// One of so many kicks is forgotten by the host; 0: none. What looks at a run has to see that.
    pub kicks_forgotten: u32,
    /// The host sets budget timers so much too late, in ns. Only the oracles can see that.
    pub budgets_late_ns: u64,
    /// The host orders jobs by fixed priorities where it should by deadlines, or the other way round. Only the oracles can see that.
    pub has_other_rule: bool,
}

/// Runs the scenario of that kind and seed under the host's policy.
///
/// # Errors
///
/// What does not hold, and when.
pub fn run(host: Host, kind: Kind, seed: u64, options: Options) -> Result<Summary, Fault> {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    host.load_afresh();
    enter(Some(World::new(host, scenario::cpus(host, kind, seed), seed, options.speaks)));
    let start = world(|w| w.now);
    let (settings, instances) = world(|w| (scenario::settings(w, kind), scenario::instances(w, kind)));
    let terms = load(settings, instances, options);
    world(|w| scenario::populate(w, kind));
    start_threads();
    run_until(start + kind.length_ns());
    if kind.ends() {
        finish();
    }
    let mut jobs_judged = 0;
    if world(|w| w.fault.is_none()) {
        end_recording(kind);
        jobs_judged = judge::judge(&terms);
    }
    let (fault, summary) =
        world(|w| (w.fault.take(), Summary { events: w.events, passed_ns: w.now - start, jobs_judged }));
    enter(None);
    fault.map_or(Ok(summary), Err)
}

/// Plays a story under the host's policy, as `tests/vm/callbacks/README.md` says: the callbacks from its begin to its end. The seed
/// decides about everything that the story leaves open.
///
/// # Errors
///
/// What does not hold, and when.
///
/// # Panics
///
/// The story is none.
pub fn callbacks(host: Host, story: &str, seed: u64, options: Options) -> Result<Vec<CalledBack>, Fault> {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    host.load_afresh();
    let (cpus, instance) = story::machine(story);
    enter(Some(World::new(host, cpus, seed, options.speaks)));
    load(story::SETTINGS, vec![instance], options);
    let told = world(|w| {
        w.called = Some(Vec::new());
        w.becomes_prompt();
        Told::of(w, story)
    });
    start_threads();
    run_until(told.end_at);
    let (fault, called) = world(|w| (w.fault.take(), told.compared(w)));
    enter(None);
    fault.map_or(Ok(called), Err)
}

/// Code of the kernel that nothing else interferes with.
fn alone(body: impl FnOnce() + 'static) {
    let mut fibre = Fibre::new(body);
    while fibre.resume().is_some() {}
}

fn load(settings: Settings, instances: Vec<Instance>, options: Options) -> Terms {
    for (number, instance) in instances.iter().enumerate() {
        set_up(number, instances.len(), instance, settings, options);
    }
    world(|w| {
        w.instances = instances;
        w.bound_ns = (settings.timers_refused == 0).then_some(settings.bound_runtime_ns);
    });
    alone(move || {
        assert_eq!((ops().init)(), 0, "the host begins");
        size_cores();
    });
    world(|w| Terms { settings, t0_ns: w.now, servers: std::mem::take(&mut w.servers) })
}

fn set_up(number: usize, instances: usize, instance: &Instance, settings: Settings, options: Options) {
    let few = |number: usize| u32::try_from(number).expect("few");
    let mut setup = Box::new(Setup {
        instance: few(number),
        reserved: 0,
        tasks: instance.tasks,
        cpus: few(instance.cpus.len()),
        rule: if options.has_other_rule { 1 - settings.rule } else { settings.rule },
        budget_mode: settings.budget_mode,
        batching: settings.batching,
        dedicated_cpu: instance.dedicated.map_or(u32::MAX, few),
        retries_max: 3,
        sockets: settings.sockets.min(few(instance.cpus.len())),
        share_ppm: 950_000,
        reserve_period_ns: 1_000_000_000,
        reserve_runtime_ns: 950_000_000,
        cpu: [0; CPUS_MAX],
        socket: [0; CPUS_MAX],
    });
    for (index, &cpu) in instance.cpus.iter().enumerate() {
        setup.cpu[index] = few(cpu);
        setup.socket[index] = few(index) % setup.sockets;
    }
    alone(move || {
        let (table, cpus) = world(|w| (w.host.table(), few(w.cpus.len())));
        (table.prepare)(&raw::Options {
            cpus,
            instances: few(instances),
            timers_refused: settings.timers_refused,
            kicks_forgotten: options.kicks_forgotten,
            bound_runtime_ns: settings.bound_runtime_ns,
            bound_period_ns: BOUND_PERIOD_NS,
            budgets_late_ns: options.budgets_late_ns,
            setup: &raw const *setup,
        });
        assert_eq!((table.set_up)(std::ptr::null_mut()), 0, "the instance is set up");
    });
}

/// Where cores have servers: each has one of a tenth, 95 % are for real-time tasks.
fn size_cores() {
    let (size, cpus) = world(|w| (w.host.table().size_core, w.cpus.len()));
    for cpu in 0..cpus {
        if let Some(size) = size {
            let cpu = u32::try_from(cpu).expect("few");
            let (budget_ns, period_ns) = (2_000_000, 20_000_000);
            let mut since_ns = 0;
            let error = size(cpu, 1_000, budget_ns, period_ns, 900_000, &raw mut since_ns);
            assert_eq!(error, 0, "the core is sized");
            world(|w| w.servers.push(RunningServer { cpu, budget_ns, period_ns, since_ns }));
        }
    }
}

/// The threads that are there when the scheduler is attached, each of which begins some time soon.
fn start_threads() {
    let tasks = world(|w| w.tasks.len());
    for task in 0..tasks {
        let class = world(|w| w.tasks[task].class);
        alone(move || {
            assert_eq!(
                (ops().init_task)(record(task), &mut InitArgs { fork: false }),
                0,
                "the task is known"
            );
            if class == Class::Ext {
                (ops().enable)(record(task));
            }
        });
        world(|w| {
            if matches!(w.tasks[task].class, Class::Ext | Class::RealTime) {
                // Those of a story in turn: each falls asleep where it has been.
                let in_turn_ns = 1_000_000 * task as u64;
                let at = w.now + if w.called.is_some() { in_turn_ns } else { w.draw(0, 5_000_000) };
                let cpu = w.tasks[task].cpu;
                w.cpus[cpu].wakes.insert((at, task));
            }
        });
    }
}

/// Time for all threads to end, after which nothing of them is left.
fn finish() {
    const AT_MOST_NS: u64 = 100_000_000_000;
    const PIECE_NS: u64 = 200_000_000;
    let all_gone =
        || world(|w| w.tasks.iter().all(|t| t.is_freed || matches!(t.class, Class::Idle | Class::Stop)));
    let mut left_ns = AT_MOST_NS;
    while !all_gone() && left_ns > 0 && world(|w| w.fault.is_none()) {
        let until = world(|w| w.now) + PIECE_NS;
        run_until(until);
        left_ns -= PIECE_NS;
    }
    if world(|w| w.fault.is_some()) {
        return;
    }
    if all_gone() {
        watch::at_the_end();
    } else {
        world(|w| {
            let left: Vec<String> = w
                .tasks
                .iter()
                .filter(|t| !t.is_freed && !matches!(t.class, Class::Idle | Class::Stop))
                .map(|t| format!("{} ({:?}, op {})", t.name, t.state, t.at))
                .collect();
            w.fail(format!("threads do not end: {}", left.join(", ")));
        });
    }
}

/// What is under way is over, and what is overdue is recorded as far as it has come.
fn end_recording(kind: Kind) {
    settle();
    if !kind.ends() {
        alone(|| {
            let note = world(|w| w.host.table().note_pending);
            note(std::ptr::null_mut());
        });
    }
}
