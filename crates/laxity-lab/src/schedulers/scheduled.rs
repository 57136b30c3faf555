//! What placing asks of a scheduler, by whatever type it is known.

use super::Choice;
use laxity_analysis::scheduler::Analysed;
use laxity_model::{Result, Scope, TaskSet};

/// A scheduler whose tasks are placed.
pub trait Scheduled {
    /// As analyses know it, if they do.
    fn analysed(&self) -> Option<Analysed>;

    /// How far jobs migrate.
    fn scope(&self) -> Scope;

    /// Whether the last CPU of each of its cells runs no task.
    fn dedicates_a_core(&self) -> bool;

    /// Whether its CPUs can have deferrable servers for background tasks, below which it admits tasks itself.
    fn has_servers(&self) -> bool;

    /// The placement in its name, such as `p-rm@ffd`.
    fn placement(&self) -> Option<Choice>;

    /// Refuses a set without the priorities by which it goes.
    ///
    /// # Errors
    ///
    /// Names the task that has none.
    fn check_priorities(&self, set: &TaskSet) -> Result<()>;
}

impl Scheduled for Analysed {
    fn analysed(&self) -> Option<Analysed> {
        Some(*self)
    }

    fn scope(&self) -> Scope {
        Analysed::scope(*self)
    }

    fn dedicates_a_core(&self) -> bool {
        self.dedicates_a_processor()
    }

    fn has_servers(&self) -> bool {
        Analysed::has_servers(*self)
    }

    fn placement(&self) -> Option<Choice> {
        None
    }

    fn check_priorities(&self, set: &TaskSet) -> Result<()> {
        let rule = match self {
            Analysed::Linux(linux) => linux.rule,
            Analysed::Policy(own) => own.rule,
            Analysed::Reclaiming(_) | Analysed::Pfair(_) | Analysed::FairLateness | Analysed::Unproven(_) => {
                return Ok(());
            }
        };
        rule.check(set, self)
    }
}
