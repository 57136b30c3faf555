//! Rate-monotonic tasks below a deferrable server on every CPU (calandrino2007, 4.1 and 4.2): what fits is what admission takes.

use super::{FitAnswer, Placed, Placing};
use laxity_analysis::admission::{
    CORES_LISTED_MAX, Entrant, Why, judge_core, refused_by_all, refused_by_core,
};
use laxity_analysis::{Bounds, DeferrableRta, DeferrableTardiness, DoubleHit, SporadicTask, Test, Work};
use laxity_model::{
    Core, DeferrableServer, Diagnostic, Duration, Failure, Platform, Result, Scope, ServerSizes, TaskKind,
    TaskSet, Utilization,
};
use laxity_place::{Acceptance, Bin, Fit, Method, Others, Packing, Refuses, Request, Rule};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Steps for the test of a core: far more than hundreds of tasks take.
const WORK: u64 = 1 << 28;

/// What is below which servers, and what is promised there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BelowServers {
    /// Sizes of servers.
    pub servers: ServerSizes,
    /// Whether the double hit counts.
    pub double_hit: DoubleHit,
    /// How late jobs may be.
    pub tardiness_bound: Option<Duration>,
    /// Between two looks of the scheduler; 0 for one that looks whenever something happens.
    pub tick: Duration,
}

impl Default for BelowServers {
    fn default() -> Self {
        BelowServers {
            servers: ServerSizes::NONE,
            double_hit: DoubleHit::Ignored,
            tardiness_bound: None,
            tick: Duration::ZERO,
        }
    }
}

impl BelowServers {
    /// As options in results.
    pub fn options(&self) -> impl Iterator<Item = (String, String)> {
        let server = (!self.servers.is_empty()).then(|| ("server", self.servers.to_string()));
        let bound = self.tardiness_bound.map(|bound| ("tardiness-bound", bound.to_string()));
        let counted = self.double_hit == DoubleHit::Counted;
        let counted = counted.then(|| ("count-double-hit", "on".to_owned()));
        [server, bound, counted].into_iter().flatten().map(|(name, value)| (name.to_owned(), value))
    }

    /// As they are given on the command line.
    pub fn words(&self) -> String {
        let word = |(name, value): (String, String)| match value.as_str() {
            "on" => format!("--{name}"),
            _ => format!("--{name} {value}"),
        };
        self.options().map(word).collect::<Vec<_>>().join(" ")
    }

    /// Whether it says anything.
    pub fn any(&self) -> bool {
        !self.servers.is_empty() || self.promises()
    }

    /// Whether it says what tasks are promised.
    pub fn promises(&self) -> bool {
        self.tardiness_bound.is_some() || self.double_hit == DoubleHit::Counted
    }

    /// The placement of amp-rm: what its admission does, unless another is asked for.
    ///
    /// # Errors
    ///
    /// A placement by loads, which keeps no promise.
    pub fn method(&self, asked: Option<Method>) -> Result<Method> {
        let method = asked.unwrap_or(SLOWEST_FIT);
        if method.may_solve() && self.promises() {
            return Err(Diagnostic::usage(format!(
                "{}: placement `{method}` goes by loads, and promises nothing",
                self.words()
            ))
            .hint("leave --placement out, or choose a heuristic such as slowest-fit"));
        }
        Ok(method)
    }
}

/// The CPUs with their servers, and what is to hold on them.
pub struct ServedCpus<'a> {
    set: &'a TaskSet,
    servers: BTreeMap<u32, DeferrableServer>,
    cores: Vec<Core>,
    double_hit: DoubleHit,
    tardiness_bound: Option<Duration>,
    tick: Duration,
    deadline_max: Duration,
    /// No deadline is after its period.
    all_constrained: bool,
    /// The task that it refused first.
    refused: Cell<Option<usize>>,
}

impl<'a> ServedCpus<'a> {
    /// Nothing if tasks are placed by load: where no server is spoken of, unless slowest-fit goes by no load.
    ///
    /// # Errors
    ///
    /// Servers are of single CPUs, and the integer program knows loads only.
    pub fn of(
        (method, fit, below): (Method, Option<Fit>, &BelowServers),
        set: &'a TaskSet,
        platform: &'a Platform,
        bins: &[Bin],
    ) -> Result<Option<Self>> {
        let goes_by_test = matches!(method, Method::Pack(packing) if packing.rule == Rule::SlowestFit);
        if !below.any() && (fit.is_some() || !goes_by_test) {
            return Ok(None);
        }
        if let Some(fit) = fit {
            return Err(Diagnostic::usage(format!(
                "--fit {fit} goes by load, and below a server a test decides"
            ))
            .hint("leave out --fit, or --server, --tardiness-bound and --count-double-hit"));
        }
        if method.may_solve() {
            return Err(Diagnostic::usage(format!("placement `{method}` knows loads only, no servers"))
                .hint("choose a heuristic such as --placement slowest-fit"));
        }
        if let Some(bin) = bins.iter().find(|bin| bin.cpus().len() > 1) {
            return if below.any() {
                Err(Diagnostic::usage(format!("a server is of one CPU, but tasks go to {bin}"))
                    .hint("place --onto cpus"))
            } else {
                Ok(None)
            };
        }
        Self::below(below, set, platform, bins).map(Some)
    }

    /// On bins of one CPU each.
    fn below(below: &BelowServers, set: &'a TaskSet, platform: &'a Platform, bins: &[Bin]) -> Result<Self> {
        let core =
            |bin: &Bin| bin.cpus().iter().map(|cpu| Core { cpu, speed: bin.fastest() }).collect::<Vec<_>>();
        let deadlines = || set.real_time().map(|(_, task)| (task.deadline_rel, task.period()));
        Ok(ServedCpus {
            deadline_max: deadlines().map(|(deadline, _)| deadline).max().unwrap_or(Duration::ZERO),
            all_constrained: deadlines().all(|(deadline, period)| deadline <= period),
            set,
            servers: below.servers.on_cores(platform)?,
            cores: bins.iter().flat_map(core).collect(),
            double_hit: below.double_hit,
            tardiness_bound: below.tardiness_bound,
            tick: below.tick,
            refused: Cell::new(None),
        })
    }

    /// The test, by its name.
    pub fn test(&self) -> &'static str {
        match self.double_hit {
            DoubleHit::Counted => DeferrableRta.info().name,
            DoubleHit::Ignored => DeferrableTardiness.info().name,
        }
    }

    /// The server of the CPU that a bin is.
    pub fn server(&self, bin: usize) -> DeferrableServer {
        self.server_of(self.cores[bin].cpu)
    }

    fn server_of(&self, cpu: u32) -> DeferrableServer {
        self.servers.get(&cpu).copied().unwrap_or(DeferrableServer::NONE)
    }

    /// What is proven of the tasks of a CPU, in their order; nothing where tasks were put that do not fit.
    pub fn bounds(&self, bin: usize, tasks: &[usize]) -> Option<Bounds> {
        self.judge(bin, tasks).ok()
    }

    fn judge(&self, bin: usize, tasks: &[usize]) -> std::result::Result<Bounds, Why> {
        let entrants: Vec<Entrant> = tasks.iter().map(|&id| self.entrant(id)).collect();
        let below = (self.server(bin), self.tick);
        judge_core(self.cores[bin].speed, below, &entrants, self.double_hit, Work::steps(WORK))
    }

    fn entrant(&self, id: usize) -> Entrant {
        let task = &self.set.tasks()[id];
        Entrant {
            id: id as u64,
            task: SporadicTask::from(task),
            tardiness_max: self.tardiness_bound,
            affinity: task.affinity.clone(),
        }
    }

    fn name_of(&self, id: u64) -> String {
        let task = usize::try_from(id).ok().and_then(|id| self.set.tasks().get(id));
        task.map_or_else(|| id.to_string(), |task| task.name.clone())
    }
}

impl Acceptance for ServedCpus<'_> {
    fn name(&self) -> String {
        format!("the test of tasks below a server ({})", self.test())
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        self.judge(bin, tasks).is_ok()
    }

    fn refuses(&self, bin: usize, tasks: &[usize]) -> Option<Refuses<'_>> {
        let entrants: Vec<Entrant> = tasks.iter().map(|&id| self.entrant(id)).collect();
        let below = (self.server(bin), self.tick);
        let longest = self.deadline_max.as_ns();
        let refused = refused_by_core(self.cores[bin].speed, below, &entrants, longest)?;
        Some(Refuses {
            above_q64: refused.above_q64.filter(|_| self.all_constrained),
            task: Box::new(move |id| refused.refuses(&self.entrant(id))),
        })
    }

    /// As the admission of a loaded amp-rm says it, which asks the slowest CPU first.
    fn refusal(&self, task: usize, others: &Others<'_>) -> Option<Diagnostic> {
        self.refused.set(self.refused.get().or(Some(task)));
        let mut bins: Vec<usize> = (0..self.cores.len()).collect();
        bins.sort_by_key(|&bin| (self.cores[bin].speed, self.cores[bin].cpu));
        let asked = if others.refused_by_all { CORES_LISTED_MAX } else { bins.len() };
        let core = |&bin: &usize| {
            let tasks = (others.tasks_in)(bin).into_iter().map(|id| self.entrant(id)).collect();
            (self.cores[bin].clone(), (self.server(bin), self.tick), tasks)
        };
        let cores = bins.iter().take(asked).map(core);
        let refused = refused_by_all(cores, &self.entrant(task), self.double_hit, WORK)?;
        Some(refused.by(bins.len()).diagnostic(|id| self.name_of(id)))
    }
}

/// What amp-rm's admission does.
pub const SLOWEST_FIT: Method =
    Method::Pack(Packing { rule: Rule::SlowestFit, order: laxity_place::Order::GIVEN });

impl Placing<'_> {
    /// Places a set under amp-rm, as `laxity place` does, and fills at most `limit` of each CPU (nothing:
    /// all of it). Tasks in `absent` are not placed. Where `refused_run`, a refused task runs as a background
    /// task.
    ///
    /// # Errors
    ///
    /// What [`Placing::place`] and [`ServedCpus::of`] refuse; a task that is refused, unless it may run as a
    /// background task.
    pub fn place_below(
        &self,
        set: &TaskSet,
        below: &BelowServers,
        limit: Option<Utilization>,
        (absent, refused_run): (&[usize], bool),
    ) -> Result<Placed> {
        let limit = limit.unwrap_or_else(|| Utilization::whole(1));
        let mut ordinary: Vec<usize> = absent.to_vec();
        let mut notes = Vec::new();
        loop {
            let left = without(set, &ordinary)?;
            let (wholes, bins) = self.bins(Scope::Partitioned, false)?;
            let served = ServedCpus::of((self.method, self.fit, below), &left, self.platform, &bins)?;
            let request = Request::new(&left, bins)?
                .with_fit(self.fit.unwrap_or_else(|| Fit::default_for(&left)))?
                .with_capacity_limit(limit.clone())?
                .with_overload(self.overload)
                .with_ilp_time_limit(self.ilp_time_limit)
                .with_interrupt(self.interrupt);
            let request = match &served {
                Some(served) if refused_run => request.with_acceptance(served).leaving_out(),
                Some(served) => request.with_acceptance(served),
                None => request,
            };
            let placement = request.place(self.method);
            let refused = served.as_ref().and_then(|served| served.refused.get()).filter(|_| refused_run);
            match (placement, refused) {
                (Err(why), _) if why.failure == Failure::Interrupted => return Err(why),
                (Ok(mut placement), _) => {
                    for (task, why) in std::mem::take(&mut placement.left_out) {
                        ordinary.push(task);
                        notes.push(in_background(&why));
                    }
                    let mut placed = self.placed(&left, placement, &wholes);
                    ordinary.sort_unstable();
                    placed.record.ordinary =
                        ordinary.iter().map(|&id| set.tasks()[id].name.clone()).collect();
                    placed.record.notes.extend(notes);
                    placed.fit = served.as_ref().map(|_| FitAnswer::Admission);
                    placed.ordinary = ordinary.into_iter().filter(|id| !absent.contains(id)).collect();
                    return Ok(placed);
                }
                (Err(why), Some(task)) => {
                    ordinary.push(task);
                    notes.push(in_background(&why));
                }
                (Err(why), None) => return Err(why),
            }
        }
    }
}

fn in_background(why: &Diagnostic) -> String {
    format!("runs as a background task: {}", why.message)
}

/// The set without these tasks, whose ids they keep.
fn without(set: &TaskSet, ordinary: &[usize]) -> Result<TaskSet> {
    if ordinary.is_empty() {
        return Ok(set.clone());
    }
    let mut tasks = set.tasks().to_vec();
    ordinary.iter().for_each(|&id| tasks[id].kind = TaskKind::BestEffort);
    TaskSet::new(set.name(), tasks)
}
