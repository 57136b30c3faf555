//! Which jobs missed their deadlines, as the table of jobs has it: so that timelines and tables count the same.
//!
//! Of a real kernel's schedule a job goes on until its thread sleeps, some microseconds after its last instruction. A job that
//! does its last instruction in time has met its deadline, though its thread may sleep after it.

use laxity_model::Result;
use laxity_trace::{Event, EventKind, Host, JobOutcome, Run};
use std::collections::BTreeSet;

/// The jobs that missed, and those that are known, by task and number in events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fates {
    known: BTreeSet<(u32, u32)>,
    missed: BTreeSet<(u32, u32)>,
}

impl Fates {
    /// Of the jobs of a run; nothing if it has not kept them.
    pub fn of(run: &Run) -> Option<Fates> {
        let horizon_ns = run.horizon().as_ns();
        let (mut known, mut missed) = (BTreeSet::new(), BTreeSet::new());
        let mut next = (0, 0);
        for job in &run.jobs {
            // The events of Linux's own classes number the jobs that there were.
            let number = match (run.host, job.outcome) {
                (Host::Linux, JobOutcome::Skipped) => continue,
                (Host::Linux, _) if next.0 == job.task => next.1,
                (Host::Linux, _) => 0,
                _ => job.index,
            };
            next = (job.task, number + 1);
            known.insert((job.task, number));
            if job.missed(horizon_ns) {
                missed.insert((job.task, number));
            }
        }
        (!known.is_empty()).then_some(Fates { known, missed })
    }

    /// How many jobs missed in the run.
    pub fn missed(&self) -> usize {
        self.missed.len()
    }

    /// The events, in which only those jobs miss that have missed.
    pub fn agree<'f>(
        fates: Option<&'f Fates>,
        events: impl Iterator<Item = Result<Event>> + 'f,
    ) -> impl Iterator<Item = Result<Event>> + 'f {
        events.filter_map(move |event| match (event, fates) {
            (Ok(event), Some(fates)) => fates.corrected(event).map(Ok),
            (event, _) => Some(event),
        })
    }

    fn corrected(&self, event: Event) -> Option<Event> {
        let met = event
            .task
            .zip(event.job)
            .is_some_and(|job| self.known.contains(&job) && !self.missed.contains(&job));
        match event.kind {
            EventKind::DeadlineMiss if met => None,
            EventKind::Complete
                if met && event.argument.is_some_and(|deadline_ns| deadline_ns < event.time_ns) =>
            {
                Some(Event { argument: None, ..event })
            }
            _ => Some(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Duration;
    use laxity_trace::{Job, RunStatus};

    fn job(index: u32, outcome: JobOutcome, finish_ns: Option<u64>) -> Job {
        Job {
            finish_ns,
            ..Job::new((0, index), (10 * u64::from(index), 10 * u64::from(index) + 10), outcome)
        }
    }

    fn run(host: Host, jobs: Vec<Job>) -> Run {
        Run { jobs, ..Run::new("p-edf", host, Duration::from_ns(100), RunStatus::Completed) }
    }

    #[test]
    fn only_jobs_that_missed_miss_in_the_events() {
        let jobs = vec![
            job(0, JobOutcome::Completed, Some(10)),
            job(1, JobOutcome::Skipped, None),
            job(2, JobOutcome::Completed, Some(31)),
            job(3, JobOutcome::Unfinished, None),
        ];
        let event = |time_ns, kind, number, argument| Event {
            time_ns,
            kind,
            cpu: None,
            task: Some(0),
            job: Some(number),
            argument,
        };
        let events = [
            event(10, EventKind::DeadlineMiss, 0, None),
            event(12, EventKind::Complete, 0, Some(10)),
            event(30, EventKind::DeadlineMiss, 1, None),
            event(33, EventKind::Complete, 1, Some(30)),
            event(40, EventKind::DeadlineMiss, 2, None),
        ];
        let shown = |host| -> Vec<(u64, Option<u64>)> {
            let fates = Fates::of(&run(host, jobs.clone()));
            let agreed = Fates::agree(fates.as_ref(), events.iter().map(|event| Ok(*event)));
            agreed
                .map(|event| event.map(|event| (event.time_ns, event.argument)).expect("no error"))
                .collect()
        };
        assert_eq!(shown(Host::Linux), [(12, None), (30, None), (33, Some(30)), (40, None)]);
        assert_eq!(Fates::of(&run(Host::Linux, jobs.clone())).map(|fates| fates.missed()), Some(2));
        // Other hosts number releases that were skipped, too: the table has nothing against job 1 there.
        assert_eq!(shown(Host::Simulator).len(), 3);
        assert_eq!(Fates::of(&run(Host::Linux, Vec::new())), None);
    }
}
