//! What can be analysed: the schedulers that laxity runs or simulates, and two that it has only tests for.

use super::Quanta;
use super::quanta::PFAIR;
use crate::Priorities;
use laxity_model::{
    Diagnostic, FOREIGN_LISTED, Fair, LinuxScheduler, Policy, PolicyScheduler, PriorityRule, Result,
    Scheduler, Scope,
};
use std::fmt;
use std::str::FromStr;

/// A scheduler as analyses know it, under the name by which it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analysed {
    /// One of Linux: `g-edf`, `p-rm` ...
    Linux(Scheduler),
    /// SCHED_DEADLINE whose tasks use what others leave: `p-edf:grub` ... It is EDF while every job is done before the next of its task
    /// comes (`reclaiming`).
    Reclaiming(Scope),
    /// A policy of laxity's own, such as `edf-bh`, `c-fpp:dm` or `g-edf-mp`.
    Policy(PolicyScheduler),
    /// `pfair`: an optimal scheduler with quanta, such as PD2, on all processors.
    Pfair(Quanta),
    /// `g-fl`: global fair lateness.
    FairLateness,
    /// `p-rr`, `other` ...: of Linux, and no test is about it.
    Unproven(Unproven),
}

/// A scheduler of Linux of which nothing is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unproven {
    /// SCHED_RR: `p-rr` ...
    RoundRobin(Scope),
    /// SCHED_OTHER: `other` ...
    Fair(Fair),
    /// What a program loads: `scx:PROGRAM`.
    Foreign,
}

impl Unproven {
    /// Nothing for any program's.
    fn linux(self) -> Option<LinuxScheduler> {
        match self {
            Unproven::RoundRobin(scope) => Some(LinuxScheduler::RoundRobin(scope)),
            Unproven::Fair(fair) => Some(LinuxScheduler::Fair(fair)),
            Unproven::Foreign => None,
        }
    }

    /// What a test would need.
    fn needs(self) -> &'static str {
        match self {
            Unproven::RoundRobin(_) => "jobs go by priorities: nothing is proven of the turns of SCHED_RR",
            Unproven::Fair(_) => "jobs go by priorities: nothing is proven of SCHED_OTHER, which shares CPUs",
            Unproven::Foreign => "jobs go by priorities: nothing is proven of what a program loads",
        }
    }
}

/// The other name of those that laxity cannot run.
const FAIR_LATENESS: &str = "g-fl";

impl Analysed {
    /// Those that are analysed only.
    pub const WITHOUT_SCHEDULER: &[Analysed] = &[
        Analysed::Pfair(Quanta { aligned: false, staggered: false, dedicated: false }),
        Analysed::FairLateness,
    ];

    /// How far jobs migrate.
    pub fn scope(self) -> Scope {
        match self {
            Analysed::Linux(scheduler) => scheduler.scope,
            Analysed::Policy(scheduler) => scheduler.scope,
            Analysed::Reclaiming(scope) => scope,
            Analysed::Pfair(_) | Analysed::FairLateness => Scope::Global,
            Analysed::Unproven(other) => other.linux().map_or(Scope::Global, |linux| linux.scope()),
        }
    }

    /// What a test would need, of those of which nothing is proven.
    pub fn unproven(self) -> Option<&'static str> {
        match self {
            Analysed::Unproven(other) => Some(other.needs()),
            Analysed::Policy(scheduler) if scheduler.policy.prototype().is_some() => {
                Some("a scheduler that laxity knows: nothing is proven of a prototype")
            }
            Analysed::Linux(_)
            | Analysed::Policy(_)
            | Analysed::Reclaiming(_)
            | Analysed::Pfair(_)
            | Analysed::FairLateness => None,
        }
    }

    /// Whether the last processor of each cell runs no task.
    pub fn dedicates_a_processor(self) -> bool {
        match self {
            Analysed::Pfair(quanta) => quanta.dedicated,
            Analysed::Policy(scheduler) => scheduler.policy.dedicates_a_core(),
            Analysed::Linux(_) | Analysed::Reclaiming(_) | Analysed::FairLateness | Analysed::Unproven(_) => {
                false
            }
        }
    }

    /// Whether its CPUs can have deferrable servers.
    pub fn has_servers(self) -> bool {
        self.policy().is_some_and(Policy::has_servers)
    }

    /// How many of a cell's processors run tasks.
    pub fn running(self, processors: u32) -> u32 {
        processors.saturating_sub(u32::from(self.dedicates_a_processor()))
    }

    /// The priority rule among jobs that share `processors`: with one, fair lateness is EDF.
    pub fn priorities(self, processors: u32) -> Priorities {
        let by_rule = |rule| match rule {
            PriorityRule::EarliestDeadlineFirst => Priorities::EarliestDeadlineFirst,
            PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => {
                Priorities::Fixed
            }
        };
        match self {
            Analysed::Pfair(_) => Priorities::Pfair,
            Analysed::FairLateness if processors > 1 => Priorities::FairLateness,
            Analysed::Linux(scheduler) => by_rule(scheduler.rule),
            Analysed::Policy(scheduler) if scheduler.policy.minds_laxity() => Priorities::ZeroLaxity,
            Analysed::Policy(scheduler) => by_rule(scheduler.rule),
            // Of those of which nothing is proven no test is asked.
            Analysed::FairLateness | Analysed::Reclaiming(_) | Analysed::Unproven(_) => {
                Priorities::EarliestDeadlineFirst
            }
        }
    }

    /// Whether tasks have reservations of SCHED_DEADLINE.
    pub fn has_reservations(self) -> bool {
        match self {
            Analysed::Linux(scheduler) => scheduler.rule == PriorityRule::EarliestDeadlineFirst,
            Analysed::Reclaiming(_) => true,
            Analysed::Policy(_) | Analysed::Pfair(_) | Analysed::FairLateness | Analysed::Unproven(_) => {
                false
            }
        }
    }

    /// Whether every task needs a priority of its own (`:fp`).
    pub fn goes_by_given_priorities(self) -> bool {
        self.rule() == Some(PriorityRule::Given)
    }

    /// What it is, in one line.
    pub fn description(self) -> String {
        match self {
            Analysed::Linux(scheduler) => scheduler.description(),
            Analysed::Policy(scheduler) => scheduler.description(),
            Analysed::Reclaiming(scope) => LinuxScheduler::Reclaiming(scope).description(),
            Analysed::Pfair(_) => {
                "proportionate fairness quantum by quantum, as PD2; :aligned, :staggered, :dedicated: only analysed"
                    .into()
            }
            Analysed::FairLateness => "global fair lateness (G-FL): only analysed".into(),
            Analysed::Unproven(other) => other
                .linux()
                .map_or_else(|| FOREIGN_LISTED.1.to_owned(), |linux| linux.description()),
        }
    }

    pub(super) fn policy(self) -> Option<Policy> {
        match self {
            Analysed::Policy(scheduler) => Some(scheduler.policy),
            Analysed::Linux(_)
            | Analysed::Reclaiming(_)
            | Analysed::Pfair(_)
            | Analysed::FairLateness
            | Analysed::Unproven(_) => None,
        }
    }

    /// What decides between jobs, if it has a rule of the model's.
    pub(super) fn rule(self) -> Option<PriorityRule> {
        match self {
            Analysed::Linux(scheduler) => Some(scheduler.rule),
            Analysed::Policy(scheduler) => Some(scheduler.rule),
            Analysed::Reclaiming(_) => Some(PriorityRule::EarliestDeadlineFirst),
            Analysed::Pfair(_) | Analysed::FairLateness | Analysed::Unproven(_) => None,
        }
    }
}

impl From<Scheduler> for Analysed {
    fn from(scheduler: Scheduler) -> Self {
        Analysed::Linux(scheduler)
    }
}

impl From<LinuxScheduler> for Analysed {
    fn from(scheduler: LinuxScheduler) -> Self {
        Analysed::Unproven(match scheduler {
            LinuxScheduler::Ruled(scheduler) => return Analysed::Linux(scheduler),
            LinuxScheduler::Reclaiming(scope) => return Analysed::Reclaiming(scope),
            LinuxScheduler::RoundRobin(scope) => Unproven::RoundRobin(scope),
            LinuxScheduler::Fair(fair) => Unproven::Fair(fair),
            LinuxScheduler::Foreign(_) => Unproven::Foreign,
        })
    }
}

impl From<PolicyScheduler> for Analysed {
    fn from(scheduler: PolicyScheduler) -> Self {
        Analysed::Policy(scheduler)
    }
}

impl fmt::Display for Analysed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Analysed::Linux(scheduler) => scheduler.fmt(f),
            Analysed::Policy(scheduler) => scheduler.fmt(f),
            Analysed::Reclaiming(scope) => LinuxScheduler::Reclaiming(*scope).fmt(f),
            Analysed::Pfair(quanta) => quanta.fmt(f),
            Analysed::FairLateness => f.pad(FAIR_LATENESS),
            Analysed::Unproven(other) => match other.linux() {
                Some(linux) => linux.fmt(f),
                None => f.pad(FOREIGN_LISTED.0),
            },
        }
    }
}

impl FromStr for Analysed {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        if let Some(quanta) = Quanta::of_name(&wanted) {
            return quanta.map(Analysed::Pfair);
        }
        if let Some(analysed) = Self::WITHOUT_SCHEDULER.iter().copied().find(|it| it.to_string() == wanted) {
            return Ok(analysed);
        }
        if let Some(linux) = LinuxScheduler::named(text) {
            return linux.map(Analysed::from);
        }
        wanted.parse::<PolicyScheduler>().map(Analysed::from).map_err(|mut error| {
            if let Some(hint) = &mut error.hint {
                hint.push_str(&format!("; {PFAIR} and {FAIR_LATENESS} can be analysed, not run"));
            }
            error
        })
    }
}
