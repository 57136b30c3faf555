//! What placing asks of a scheduler, by whatever type it is known.

use super::{Choice, Configuration};
use laxity_analysis::scheduler::Analysed;
use laxity_model::{Policy, Scope, scheduler_of};

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
}

impl Scheduled for Configuration {
    fn analysed(&self) -> Option<Analysed> {
        scheduler_of(&self.name).0.parse().ok()
    }

    fn scope(&self) -> Scope {
        self.scheduler.scope()
    }

    fn dedicates_a_core(&self) -> bool {
        self.policy().map(|own| own.policy).is_some_and(Policy::dedicates_a_core)
    }

    fn has_servers(&self) -> bool {
        self.policy().is_some_and(|own| own.policy.has_servers())
    }

    fn placement(&self) -> Option<Choice> {
        self.placement
    }
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
}
