//! CPUs that are taken: what runs there stops, and they are none of those that jobs are put on.

use super::Machine;
use crate::ActiveJob;
use laxity_trace::{Event, EventKind};

impl Machine<'_> {
    /// CPUs that come back now, and those that are taken.
    pub(super) fn interfere(&mut self, now: u64) {
        let definition = self.definition;
        for one in definition.interference().iter().filter(|one| one.ends_at(now)) {
            self.say(now, EventKind::Restore, one.cpu());
        }
        for one in definition.interference().iter().filter(|one| one.begins_at(now)) {
            let runs = |job: &ActiveJob| job.running_on == Some(one.cpu());
            if let Some(place) = self.active.iter().position(runs) {
                let cpu = self.active[place].running_on.take();
                let job = self.active[place].clone();
                self.emit(now, EventKind::Preempt, &job, cpu, None);
            }
            self.say(now, EventKind::Withdraw, one.cpu());
        }
    }

    fn say(&mut self, time_ns: u64, kind: EventKind, cpu: u32) {
        self.events.push(Event { time_ns, kind, cpu: Some(cpu), task: None, job: None, argument: None });
    }

    /// Whether a CPU is there.
    pub(super) fn is_there(&self, cpu: u32, now: u64) -> bool {
        !self.definition.interference().iter().any(|one| one.cpu() == cpu && one.takes_at(now))
    }
}
