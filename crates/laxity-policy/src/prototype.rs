//! Prototypes: policies that are not of `policy/` but written elsewhere, such as in Python, and of which only a simulator is the host.
//!
//! A prototype is one function: which of the pending jobs run. [`Instance::of_prototype`](crate::Instance::of_prototype) makes
//! an instance of it, with the entry points that every policy has (`policy/native.h`); what a policy has besides its choice is here: a
//! release queue, the jobs that are pending, a timer.
//!
//! 1. The prototype is asked once for each instant at which something has changed: jobs were released, one has ended, a CPU was taken or
//!    given back, or the instant has come that it has named itself. All of the instant has happened by then: every entry point kicks all
//!    CPUs, and the first of them that follows its link asks. If a job ends in the instant in which it begins, for it is late and
//!    aborts, the prototype is asked again.
//! 2. Of every task one job is pending at most, the first that has not ended.
//! 3. A choice that is none (a job that is not pending, a CPU twice) ends the instance: it runs nothing any more, and says why
//!    ([`Instance::failure`](crate::Instance::failure)).
//!
//! Complexity: O(n + m log m) for each choice, beside the function's own.

mod choice;
mod entries;

pub(crate) use entries::{ENTRIES, Prototyped, offset, place};

use laxity_model::Result;

/// A job that has been released and has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingJob {
    /// Its task, as the instance numbers them.
    pub task: u32,
    /// When it was released, in ns.
    pub release_ns: u64,
    /// By when it is to end, in ns.
    pub deadline_abs_ns: u64,
    /// What it has done, in whole ns of work on a CPU of speed 1.
    pub used_ns: u64,
    /// The CPU that runs it.
    pub cpu: Option<u32>,
}

/// Which jobs run from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Their tasks, each on this CPU, or where it runs already, or on the first CPU that is free.
    pub run: Vec<(u32, Option<u32>)>,
    /// When the prototype is to be asked again, in ns, though nothing else has changed.
    pub again_at_ns: Option<u64>,
}

/// A policy in one function. It may remember what it likes.
pub trait Prototype: Send {
    /// Chooses among the pending jobs, by task, for these CPUs, ascending: those of the instance that nothing else has taken.
    ///
    /// # Errors
    ///
    /// What ends the simulation.
    fn choose(&mut self, now_ns: u64, jobs: &[PendingJob], cpus: &[u32]) -> Result<Choice>;
}

/// What the tasks and CPUs of an instance are called elsewhere, by their numbers: for what is said of a wrong choice.
#[derive(Debug, Clone, Default)]
pub struct MemberNames {
    /// Tasks.
    pub tasks: Vec<String>,
    /// CPUs.
    pub cpus: Vec<u32>,
}

/// A prototype, and what its members are called.
pub type Named = (Box<dyn Prototype>, MemberNames);

impl MemberNames {
    fn task(&self, task: u32) -> String {
        self.tasks.get(task as usize).map_or_else(|| task.to_string(), |name| format!("`{name}`"))
    }

    fn cpu(&self, cpu: u32) -> u32 {
        self.cpus.get(cpu as usize).copied().unwrap_or(cpu)
    }
}
