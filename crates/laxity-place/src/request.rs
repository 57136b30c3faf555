//! What is to be placed where, and what counts as fitting.

use crate::capacity::Capacities;
use crate::order::Item;
use crate::{Acceptance, Bin, Fit};
use laxity_model::{Diagnostic, Duration, Names, Result, Task, TaskSet, Utilization};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// What is never interrupted.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What to do with a task that fits nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Overload {
    /// Refuse the set.
    #[default]
    Refuse,
    /// Put the task where the load relative to capacity is lowest (lindsay2012, 6.1.5).
    LeastLoaded,
}

impl Overload {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Overload::Refuse => "refuse",
            Overload::LeastLoaded => "least-loaded",
        }
    }
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Overload {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        [Overload::Refuse, Overload::LeastLoaded]
            .into_iter()
            .find(|o| o.name() == wanted)
            .ok_or_else(|| Names::of("overload rule", &["refuse", "least-loaded"]).unknown(text))
    }
}

/// A task set, the bins to place it into, and the rules.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    set: &'a TaskSet,
    bins: Vec<Bin>,
    work: Vec<Duration>,
    fit: Fit,
    acceptance: Option<&'a dyn Acceptance>,
    overload: Overload,
    leaves_out: bool,
    capacity_limit: Utilization,
    capacities: Capacities,
    ilp_time_limit: Option<Duration>,
    interrupt: &'a AtomicBool,
}

impl<'a> Request<'a> {
    /// Places by WCET with [`Fit::default_for`] the set, up to the full capacity, refusing overload. An error
    /// without bins or if the bins share CPUs.
    pub fn new(set: &'a TaskSet, bins: Vec<Bin>) -> Result<Self> {
        if bins.is_empty() {
            return Err(Diagnostic::usage("there are no CPUs to place tasks onto")
                .hint("name at least one CPU or cluster"));
        }
        let mut owners = BTreeMap::new();
        for (bin, cpu) in bins.iter().flat_map(|bin| bin.cpus().iter().map(move |cpu| (bin, cpu))) {
            if let Some(other) = owners.insert(cpu, bin) {
                return Err(Diagnostic::usage(format!(
                    "{other} and {bin} overlap; a CPU can be in one partition or cluster only"
                ))
                .hint("make partitions and clusters disjoint"));
            }
        }
        let full = Utilization::whole(1);
        Ok(Request {
            set,
            capacities: Capacities::new(&bins, &full)?,
            bins,
            work: set.tasks().iter().map(|task| task.wcet).collect(),
            fit: Fit::default_for(set),
            acceptance: None,
            overload: Overload::Refuse,
            leaves_out: false,
            capacity_limit: full,
            ilp_time_limit: None,
            interrupt: &NEVER,
        })
    }

    /// Counts this much work per job, on a CPU of speed 1, instead of the WCET (a budget, for instance).
    #[must_use]
    pub fn with_work(mut self, work: impl Fn(usize, &Task) -> Duration) -> Self {
        self.work = self.set.tasks().iter().enumerate().map(|(id, task)| work(id, task)).collect();
        self
    }

    /// Uses another admission test. `dbf` needs bins of one CPU.
    pub fn with_fit(mut self, fit: Fit) -> Result<Self> {
        if let Some(bin) = self.bins.iter().find(|bin| fit == Fit::DemandBound && bin.cpus().len() > 1) {
            return Err(Diagnostic::usage(format!(
                "admission test `dbf` is defined for single CPUs, but tasks go to {bin}"
            ))
            .hint("use utilization or density for clusters"));
        }
        self.fit = fit;
        Ok(self)
    }

    /// Asks a test from outside besides, which is to decide: of the load only U is compared with the capacity. The ILP cannot.
    #[must_use]
    pub fn with_acceptance(mut self, acceptance: &'a dyn Acceptance) -> Self {
        self.fit = Fit::Utilization;
        self.acceptance = Some(acceptance);
        self
    }

    /// What to do with a task that fits nowhere.
    #[must_use]
    pub fn with_overload(mut self, overload: Overload) -> Self {
        self.overload = overload;
        self
    }

    /// A heuristic leaves out a task that fits nowhere ([`Placement::left_out`](crate::Placement::left_out)) and goes on with the
    /// next one, whatever is said of overload. Other methods give up as ever.
    #[must_use]
    pub fn leaving_out(mut self) -> Self {
        self.leaves_out = true;
        self
    }

    /// Fills bins only up to this share of their capacity: 95/100 for SCHED_DEADLINE. In (0, 1].
    pub fn with_capacity_limit(mut self, limit: Utilization) -> Result<Self> {
        if limit <= Utilization::zero() || limit > Utilization::whole(1) {
            return Err(Diagnostic::usage(format!("capacity limit {limit} is not above 0 and at most 1"))
                .hint("give the usable share of a CPU, such as 95/100"));
        }
        self.capacities = Capacities::new(&self.bins, &limit)?;
        self.capacity_limit = limit;
        Ok(self)
    }

    /// How long the ILP may look for the optimum and its proof; 0 keeps the best heuristic's answer. Without a limit it
    /// answers after a fixed amount of work, in about a tenth of a second, the same on every machine.
    #[must_use]
    pub fn with_ilp_time_limit(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.ilp_time_limit = limit.into();
        self
    }

    /// Ends the work soon after this becomes true, which it then stays: within milliseconds, or as soon as an [`Acceptance`] has
    /// answered.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: &'a AtomicBool) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// The task set.
    pub fn set(&self) -> &'a TaskSet {
        self.set
    }

    /// The bins.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The admission test.
    pub fn fit(&self) -> Fit {
        self.fit
    }

    /// The test from outside.
    pub fn acceptance(&self) -> Option<&'a dyn Acceptance> {
        self.acceptance
    }

    /// What happens to a task that fits nowhere.
    pub fn overload(&self) -> Overload {
        self.overload
    }

    pub(crate) fn leaves_out(&self) -> bool {
        self.leaves_out
    }

    /// The share of their capacity up to which bins are filled.
    pub fn capacity_limit(&self) -> &Utilization {
        &self.capacity_limit
    }

    /// How long the ILP may look for the optimum, if that was said.
    pub fn ilp_time_limit(&self) -> Option<Duration> {
        self.ilp_time_limit
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Relaxed)
    }

    pub(crate) fn interrupt(&self) -> &'a AtomicBool {
        self.interrupt
    }

    pub(crate) fn capacities(&self) -> &Capacities {
        &self.capacities
    }

    /// The tasks to place, by id.
    pub(crate) fn items(&self) -> Vec<Item<'a>> {
        let item = |(id, task)| Item { id, task, work: self.work[id] };
        self.set.real_time().map(item).collect()
    }

    /// What a task puts on a bin.
    pub(crate) fn load(&self, item: Item) -> Utilization {
        self.fit.load(item.task, item.work)
    }

    /// True if the task's affinity covers the bin and one of its CPUs is fast enough for the task alone.
    pub(crate) fn permits(&self, item: Item, bin: usize) -> bool {
        self.fast_enough(item, bin) && self.within_affinity(item, bin)
    }

    /// The bins the task may go into; if none is fast enough for it, those within its affinity.
    pub(crate) fn candidates(&self, item: Item) -> Vec<usize> {
        let within: Vec<usize> =
            (0..self.bins.len()).filter(|&bin| self.within_affinity(item, bin)).collect();
        let fast: Vec<usize> = within.iter().copied().filter(|&bin| self.fast_enough(item, bin)).collect();
        if fast.is_empty() { within } else { fast }
    }

    /// The first of these bins that the task may go into; if none is fast enough for it, the first within its affinity.
    pub(crate) fn first_candidate(&self, item: Item, bins: &[usize]) -> Option<usize> {
        let first = |may: &dyn Fn(usize) -> bool| bins.iter().copied().find(|&bin| may(bin));
        first(&|bin| self.permits(item, bin)).or_else(|| first(&|bin| self.within_affinity(item, bin)))
    }

    /// True if the task's affinity covers the bin.
    pub(crate) fn within_affinity(&self, item: Item, bin: usize) -> bool {
        item.task.affinity.as_ref().is_none_or(|affinity| self.bins[bin].cpus().is_subset(affinity))
    }

    fn fast_enough(&self, item: Item, bin: usize) -> bool {
        // work / window <= speed
        let speed = self.bins[bin].fastest();
        let needed = u128::from(item.work.as_ns()) * u128::from(speed.denominator());
        needed <= u128::from(self.window(item).as_ns()) * u128::from(speed.numerator())
    }

    /// Within which a job's work has to be possible on one core: min(D, T), or T where D is a test's to judge.
    pub(crate) fn window(&self, item: Item) -> Duration {
        match self.acceptance {
            None => item.task.density_window(),
            Some(_) => item.task.period(),
        }
    }
}
