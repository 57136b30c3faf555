//! Which schedulers are asked for, the first of them under which all is proven, and its files for a machine.

use super::{Found, NotFound, Question};
use crate::deploy;
use laxity_model::{
    CpuList, Diagnostic, Names, OutputDirectory, Platform, PriorityRule, Result, Scheduler, Scope, TaskSet,
};
use laxity_run::Hierarchy;
use std::path::Path;
use std::str::FromStr;

/// The schedulers that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The first under which all is proven.
    Auto,
    /// This one.
    One(Scheduler),
}

const SCOPES: [Scope; 3] = [Scope::Partitioned, Scope::Clustered, Scope::Global];

impl FromStr for Asked {
    type Err = Diagnostic;

    fn from_str(name: &str) -> Result<Self> {
        if name == "auto" {
            return Ok(Asked::Auto);
        }
        if name.contains(',') {
            return Err(Diagnostic::usage(format!("`{name}`: settings are worked out for one scheduler"))
                .hint("name one of them, or `auto`: the first of several under which all is proven"));
        }
        let known = Scheduler::ALL.into_iter().find(|scheduler| scheduler.name() == name);
        known.map(Asked::One).ok_or_else(|| {
            let names: Vec<&str> = ["auto"].into_iter().chain(Scheduler::ALL.map(Scheduler::name)).collect();
            Names::of("scheduler", &names).unknown(name)
        })
    }
}

impl Asked {
    /// The schedulers, in the order in which they are tried: scopes with the same cells once. Where some tasks are soft, only those
    /// that can have them.
    ///
    /// # Errors
    ///
    /// The one that is named cannot.
    pub fn schedulers(self, is_soft: bool, platform: &Platform) -> Result<Vec<Scheduler>> {
        let Asked::One(scheduler) = self else {
            let cells = |scope: &Scope| platform.cells(*scope);
            let is_first = |&at: &usize| !SCOPES[..at].iter().any(|other| cells(other) == cells(&SCOPES[at]));
            let rules = [PriorityRule::Given, PriorityRule::EarliestDeadlineFirst];
            let rules = if is_soft { &rules[1..] } else { &rules[..] };
            let of = |at: usize| rules.iter().map(move |&rule| Scheduler { scope: SCOPES[at], rule });
            return Ok((0..SCOPES.len()).filter(is_first).flat_map(of).collect());
        };
        if is_soft && scheduler.rule != PriorityRule::EarliestDeadlineFirst {
            return Err(Diagnostic::usage(format!(
                "{scheduler} has no settings with which jobs miss deadlines as seldom as asked"
            ))
            .hint("--soft takes p-edf, c-edf or g-edf: SCHED_DEADLINE's budgets keep tasks apart"));
        }
        Ok(vec![scheduler])
    }
}

impl Question<'_> {
    /// What is found under the first of some schedulers under which all is proven, and why nothing is under those before it.
    ///
    /// # Errors
    ///
    /// As [`Question::answer`].
    pub fn first(&self, schedulers: Vec<Scheduler>) -> Result<(Option<Found>, Vec<NotFound>)> {
        let mut not = Vec::new();
        for scheduler in schedulers {
            match self.answer(scheduler)? {
                Ok(found) => return Ok((Some(found), not)),
                Err(reason) => not.push(reason),
            }
        }
        Ok((None, not))
    }
}

impl Found {
    /// Writes what is found as files: for this machine, or for another one, whose cells are made by cgroup v2.
    ///
    /// # Errors
    ///
    /// The directory cannot be written.
    pub fn write(&self, set: &TaskSet, is_this_machine: bool, directory: &Path) -> Result<()> {
        let output = OutputDirectory::create(directory)?;
        let (hierarchy, machine): (_, CpuList) = match is_this_machine {
            true => (Hierarchy::find().ok(), laxity_run::online_cpus()?),
            false => (
                Some(Hierarchy::V2("/sys/fs/cgroup".into())),
                self.cells.iter().flat_map(|cell| cell.cpus.iter()).collect(),
            ),
        };
        let host = deploy::Host {
            hierarchy: hierarchy.as_ref(),
            machine: &machine,
            interrupt_threads: is_this_machine && deploy::has_interrupt_threads(Path::new("/")),
            // What is proven here runs under Linux's own schedulers.
            limited: &[],
        };
        deploy::write_tree(&output, &self.deployed(set, &host))
    }
}
