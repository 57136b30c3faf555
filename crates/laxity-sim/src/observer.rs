//! Observers of a simulation.

use laxity_trace::{Event, Job};

/// Sees every job, and every event if it wants them. An observer keeps what it needs: the simulator keeps nothing.
pub trait Observer {
    /// Whether it wants events. Without, the simulator does not even make them.
    const EVENTS: bool;

    /// A job has completed, or had not when the simulation ended. Jobs of one task come in order.
    fn job(&mut self, job: &Job);

    /// Something happened. Events come in time order.
    fn event(&mut self, event: Event);
}

/// Keeps all jobs.
impl Observer for Vec<Job> {
    const EVENTS: bool = false;

    fn job(&mut self, job: &Job) {
        self.push(job.clone());
    }

    fn event(&mut self, _: Event) {}
}

/// Keeps everything.
#[derive(Debug, Default, Clone)]
pub struct Recording {
    /// The jobs, as they ended.
    pub jobs: Vec<Job>,
    /// The events, in time order.
    pub events: Vec<Event>,
}

impl Observer for Recording {
    const EVENTS: bool = true;

    fn job(&mut self, job: &Job) {
        self.jobs.push(job.clone());
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
