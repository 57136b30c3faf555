//! Servers that get other sizes.

use super::super::{Engine, EventKind, index_u32};
use crate::changes::Outcome;
use crate::observer::Observer;
use laxity_model::DeferrableServer;
use laxity_trace::Event;

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    pub(super) fn resize(&mut self, number: usize, cpu: u32, server: DeferrableServer) -> Outcome {
        let now = self.now;
        let core =
            self.cpus.iter().position(|core| core.number == cpu).expect("checked: a core of the platform");
        let core = index_u32(core);
        let lives = self.lives.as_mut().expect("something changes");
        if let Some(admission) = &mut lives.admission
            && let Err(refused) = admission.resize(cpu, server)
        {
            if refused.unsettled {
                lives.waiting.push(number);
            }
            return Outcome::Refused(refused.diagnostic(|id| lives.name(id)));
        }
        let servers = self.idle.as_mut().and_then(|idle| idle.servers_mut()).expect("a size changes");
        let from_ns = servers.wants(core, server, now);
        lives.settles_from(core, from_ns.unwrap_or(now));
        match from_ns {
            Some(from) if from > now => {
                lives.size_comes.insert(core, from);
            }
            Some(_) => {
                lives.size_comes.remove(&core);
                self.show_size(core);
            }
            None => {}
        }
        Outcome::Resized { from_ns }
    }

    /// The size that the core's server has from now on.
    pub(super) fn show_size(&mut self, core: u32) {
        if O::EVENTS {
            let cpu = Some(self.cpus[core as usize].number);
            let servers = self.idle.as_mut().and_then(|idle| idle.servers_mut()).expect("a size changes");
            let (budget, period) = servers.size(core, self.now);
            for (kind, length) in [(EventKind::ServerPeriod, period), (EventKind::ServerBudget, budget)] {
                let argument = Some(length);
                self.observer.event(Event { time_ns: self.now, kind, cpu, task: None, job: None, argument });
            }
        }
    }
}
