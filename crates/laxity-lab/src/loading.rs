//! A policy of laxity's own in this kernel, for whatever runs, until it is stopped: attached, watched, and attached anew where CPUs
//! come or go.

mod limits;
mod servers;

pub use servers::CpuTimes;

use crate::experiment::elsewhere;
use crate::observer::{Caller, is_over};
use crate::platforms::{PlatformChoice, Speeds};
use crate::promotion::{Authority, Reserved};
use laxity_analysis::DoubleHit;
use laxity_kernel::{
    Counters, Enrolled, Exit, LimitedCgroup, Options, PolicyCpus, Scheduler as Attached, Support,
    limited_cgroups,
};
use laxity_model::{
    BudgetMode, CpuList, Diagnostic, Duration, Platform, PolicyScheduler, PriorityRule, Reserve, Result,
    Scope, ServerChoice, cpus_named,
};
use laxity_run::{Refusal, RememberedThread};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration as Span, Instant};

/// How often it is looked whether the scheduler still is one.
const LOOK_EVERY: Span = Span::from_millis(50);
/// Restarts within this time of the start before are counted.
const CALM: Span = Span::from_secs(10);
/// More of them in a row mean that something is wrong.
const RESTARTS_MAX: u32 = 20;

/// What is loaded, and for how long.
pub struct Loading {
    /// The policy.
    pub policy: PolicyScheduler,
    /// The CPUs that real-time tasks run on.
    pub platform: PlatformChoice,
    /// What happens to a job that has used up its runtime.
    pub budget: BudgetMode,
    /// Whether jobs of one release instant are released together.
    pub batching: bool,
    /// push-pull: failures after which a push is given up.
    pub retries_max: u32,
    /// What real-time tasks leave of every CPU to everything else, in percent; also what is not admitted.
    pub reserve_percent: u8,
    /// The time within which that is granted.
    pub reserve_period: Duration,
    /// For how long kernel threads of a CPU go before its real-time tasks, in each [`laxity_kernel::KERNEL_THREADS_WINDOW`].
    pub kernel_threads: Duration,
    /// Real-time tasks that a cell has room for.
    pub tasks_max: u32,
    /// amp-rm: deferrable servers.
    pub servers: Vec<ServerChoice>,
    /// amp-rm: speeds of the CPUs; without them, the platform's.
    pub speeds: Option<Speeds>,
    /// amp-rm: what promoted tasks are promised.
    pub double_hit: DoubleHit,
    /// Whether it begins although cgroups of this machine have CPU limits, which then have no effect.
    pub void_cgroup_limits: bool,
    /// When it ends by itself, if it does.
    pub duration: Option<Duration>,
    /// How often it is reported what happened, if at all before the end.
    pub report_every: Option<Duration>,
}

/// What happened, in all or since the report before.
#[derive(Serialize)]
pub struct Report {
    /// The policy.
    pub policy: String,
    /// Since it was attached for the first time.
    pub seconds: f64,
    /// Whether these are the sums since the beginning rather than since the report before.
    pub total: bool,
    /// What the kernel's side counts.
    #[serde(flatten)]
    pub counters: Counters,
    /// amp-rm: for how long background tasks have had each CPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ordinary: Vec<CpuTimes>,
    /// With the sums: cgroups whose CPU limits have had no effect, as they were when it began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub void_cgroup_limits: Vec<LimitedCgroup>,
}

impl Loading {
    /// Has the policy schedule this machine until `stop` is set or the time is over. What happened goes to `report`, at the end in
    /// any case.
    ///
    /// # Errors
    ///
    /// A policy that cannot have these CPUs, options that are another policy's; a kernel that takes no such scheduler, has another
    /// one, or has ended this one; those of `report`.
    pub fn run(
        &self,
        caller: &Caller,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Report) -> Result<()>,
    ) -> Result<()> {
        let mut options = self.options()?;
        if let Support::No { reason, hint } = laxity_kernel::support_of(Some(self.policy.policy)) {
            let words = caller.command.iter().skip(1).cloned();
            let hint = elsewhere::hint(&Refusal { reason: reason.clone(), hint }, words);
            return Err(Diagnostic::environment(reason).hint(hint));
        }
        let limited = self.limits_given_up(limited_cgroups(Path::new("/")))?;
        if !limited.is_empty() {
            caller.observer.warn(&format!("{}: {}", self.policy, limits::void(&limited)));
        }
        let mut loaded = Loaded { loading: self, caller, stop, begin: None, authority: None };
        let (mut tasks, mut threads) = (Vec::new(), BTreeMap::new());
        let mut restarts = 0;
        loop {
            let scheduler = loaded.attach(&options)?;
            // The verifier may take seconds; they are none of the schedule's.
            let started = Instant::now();
            let begin = *loaded.begin.get_or_insert(started);
            // Not earlier: the kernel may throw out at once what it has taken.
            let at_once = scheduler.wait_until_enabled()?;
            let was_enabled = at_once.is_none();
            let end = match at_once {
                Some(exit) => Some(exit),
                None => {
                    loaded.announce(&options, &scheduler);
                    loaded.ask_again(&tasks, &threads);
                    if let Some(authority) = &mut loaded.authority {
                        authority.goes_on();
                    }
                    loaded.watch(&scheduler, report)?
                }
            };
            if let Some(authority) = &mut loaded.authority {
                authority.put_all_back(&scheduler);
            }
            let sums = self.report(begin, Sums::of(&scheduler)?, true);
            report(&Report { void_cgroup_limits: limited.clone(), ..sums })?;
            let Some(exit) = end else { break };
            restarts = if started.elapsed() < CALM { restarts + 1 } else { 1 };
            if !exit.wants_restart() || restarts > RESTARTS_MAX {
                return Err(self.thrown_out(&exit, was_enabled));
            }
            // One that was never enabled has not asked them again.
            if was_enabled {
                tasks = scheduler.roster()?;
                threads = tasks.iter().filter_map(remembered).collect();
            }
            drop(scheduler);
            loaded.say(&format!("{}: starting anew with {} tasks", words(&exit), tasks.len()));
            let Some(left) = loaded.options_of_what_is_left() else { break };
            options = left;
            if let Some(authority) = &mut loaded.authority {
                authority.starts_anew(&mut options.cores, &mut tasks);
            }
        }
        loaded.say("stopped; the kernel's own scheduler goes on");
        Ok(())
    }

    /// What the policy is told, as the machine is now.
    fn options(&self) -> Result<Options> {
        let platform = self.platform.resolve()?;
        let scheduler = self.policy;
        let share = 100 - u64::from(self.reserve_percent);
        let cells = cells(&platform, scheduler.scope);
        let least = if scheduler.policy.dedicates_a_core() { 2 } else { 1 };
        if let Some(small) = cells.iter().find(|cell| cell.cpus.len() < least) {
            return Err(Diagnostic::usage(format!(
                "{scheduler}: a cell has CPU {} only, and one CPU of each is dedicated to scheduling",
                small.cpus[0]
            ))
            .hint("use larger cells (--clusters), or another policy"));
        }
        Ok(Options {
            policy: scheduler.policy,
            fixed_priorities: scheduler.rule != PriorityRule::EarliestDeadlineFirst,
            by_period: scheduler.rule == PriorityRule::RateMonotonic,
            cells,
            budget: self.budget,
            batching: self.batching,
            retries_max: self.retries_max,
            tasks: self.tasks_max,
            share_ppm: share * 10_000,
            reserve: Reserve::percent(self.reserve_percent, self.reserve_period)?,
            kernel_threads: self.kernel_threads,
            cores: self.cores(&platform, share * 10_000)?,
        })
    }

    fn report(&self, begin: Instant, sums: Sums, total: bool) -> Report {
        let Sums { counters, ordinary } = sums;
        Report {
            policy: self.policy.to_string(),
            seconds: begin.elapsed().as_secs_f64(),
            total,
            counters,
            ordinary,
            void_cgroup_limits: Vec::new(),
        }
    }

    /// `was_enabled`: not at once, before it scheduled anything.
    fn thrown_out(&self, exit: &Exit, was_enabled: bool) -> Diagnostic {
        let when = if was_enabled { "" } else { " at once, before it scheduled" };
        Diagnostic::environment(format!("the kernel has ended {}{when}: {}", self.policy, words(exit)))
            .hint("all tasks go on under the kernel's own scheduler; `dmesg` may say more")
    }
}

fn remembered(task: &Enrolled) -> Option<(i32, RememberedThread)> {
    RememberedThread::of(task.tid).ok().map(|thread| (task.tid, thread))
}

/// The policy while it is loaded, whichever scheduler it is at the moment.
struct Loaded<'a> {
    loading: &'a Loading,
    caller: &'a Caller,
    stop: &'a AtomicBool,
    /// When it was attached for the first time.
    begin: Option<Instant>,
    /// amp-rm: what decides on promotions.
    authority: Option<Authority>,
}

impl Loaded<'_> {
    fn say(&self, words: &str) {
        self.caller.observer.warn(&format!("{}: {words}", self.loading.policy));
    }

    fn attach(&mut self, options: &Options) -> Result<Attached> {
        let scheduler = Attached::attach(options)?;
        if self.authority.is_none() && options.policy.has_servers() {
            let platform = self.loading.with_speeds(&self.loading.platform.resolve()?)?;
            let reserved = Reserved { share_ppm: options.share_ppm };
            let (double_hit, observer) = (self.loading.double_hit, self.caller.observer.clone());
            self.authority =
                Some(Authority::open(&platform, &options.cores, reserved, double_hit, observer)?);
        }
        Ok(scheduler)
    }

    fn announce(&self, options: &Options, scheduler: &Attached) {
        let cpus = |cell: &PolicyCpus| cell.cpus.iter().copied().collect::<CpuList>().to_string();
        let cells: Vec<String> = options.cells.iter().map(cpus).collect();
        self.say(&format!(
            "schedules this machine; real-time tasks on {}, {} % for all else (Ctrl-C ends it)",
            cpus_named(cells.join(" | ")),
            self.loading.reserve_percent
        ));
        self.say(&laxity_kernel::kernel_threads_words(self.loading.kernel_threads));
        scheduler.notes().iter().for_each(|note| self.say(note));
        if !scheduler.hears_all() {
            self.caller.observer.warn(
                "note: the kernel has no active security module `bpf` (lsm= on its command line): of many tasks that ask to \
                 be admitted at the same time, some may not be heard",
            );
        }
    }

    /// Tasks of a scheduler that a CPU's coming or going has ended. Verifying the next one takes seconds: until then a thread may end, and
    /// its number may be another's.
    fn ask_again(&self, tasks: &[Enrolled], threads: &BTreeMap<i32, RememberedThread>) {
        for task in tasks {
            let is_alive = threads.get(&task.tid).is_some_and(RememberedThread::is_alive);
            let asked = if is_alive { task.ask() } else { Err(std::io::Error::other("it has ended")) };
            if let Err(error) = asked {
                let words = format!("thread {} is not one of the scheduler's any more: {error}", task.tid);
                self.caller.observer.warn(&words);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.begin.is_some_and(|begin| is_over(begin, self.loading.duration, self.stop))
    }

    /// Until it is to stop: `None`; or until the kernel ends it: how.
    fn watch(
        &mut self,
        scheduler: &Attached,
        report: &mut dyn FnMut(&Report) -> Result<()>,
    ) -> Result<Option<Exit>> {
        let mut before = Sums::default();
        let mut reported = Instant::now();
        let every = self.loading.report_every.map(|every| Span::from_nanos(every.as_ns()));
        loop {
            if let Some(exit) = scheduler.exited() {
                return Ok(Some(exit));
            }
            if self.is_over() {
                return Ok(None);
            }
            if every.is_some_and(|every| reported.elapsed() >= every) {
                reported = Instant::now();
                let now = Sums::of(scheduler)?;
                let begin = self.begin.unwrap_or(reported);
                report(&self.loading.report(begin, now.since(&before), false))?;
                before = now;
            }
            match &mut self.authority {
                Some(authority) => authority.serve(scheduler, LOOK_EVERY),
                None => sleep(LOOK_EVERY),
            }
        }
    }

    /// After a CPU has come or gone: what the policy is to have now. If too little is left for it, it waits until enough is back,
    /// and its tasks go on under the kernel's own scheduler; nothing if it is to stop first.
    fn options_of_what_is_left(&self) -> Option<Options> {
        let mut told = false;
        loop {
            match self.loading.options() {
                Ok(options) => return Some(options),
                Err(why) if !told => {
                    told = true;
                    self.say(&format!("waits for its CPUs: {}", why.message));
                }
                Err(_) => {}
            }
            if self.is_over() {
                return None;
            }
            sleep(LOOK_EVERY);
        }
    }
}

/// What the kernel's side has counted.
#[derive(Default)]
struct Sums {
    counters: Counters,
    ordinary: Vec<CpuTimes>,
}

impl Sums {
    fn of(scheduler: &Attached) -> Result<Sums> {
        Ok(Sums { counters: scheduler.counters()?, ordinary: servers::times(scheduler)? })
    }

    fn since(&self, before: &Sums) -> Sums {
        Sums {
            counters: self.counters.since(&before.counters),
            ordinary: servers::times_since(&self.ordinary, &before.ordinary),
        }
    }
}

fn words(exit: &Exit) -> String {
    if exit.message.is_empty() { exit.reason.clone() } else { format!("{} ({})", exit.reason, exit.message) }
}

/// One scheduler each.
fn cells(platform: &Platform, scope: Scope) -> Vec<PolicyCpus> {
    let of = |cpus: &CpuList| {
        let socket = |cpu: u32| {
            let at = platform.numa_nodes().iter().position(|node| node.cpus.contains(cpu));
            at.map_or(0, |at| u32::try_from(at).expect("few nodes"))
        };
        PolicyCpus { cpus: cpus.iter().collect(), sockets: cpus.iter().map(socket).collect() }
    };
    platform.cells(scope).iter().map(of).collect()
}
