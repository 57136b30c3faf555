//! Servers that get other sizes: with their next period, or when their CPU is quiet.

use super::super::{Engine, EventKind, index_u32};
use crate::changes::ChangeOutcome;
use crate::observer::Observer;
use laxity_model::DeferrableServer;
use laxity_trace::Event;

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    pub(super) fn resize(&mut self, number: usize, cpu: u32, server: DeferrableServer) -> ChangeOutcome {
        let now = self.now_ns;
        let core =
            self.cpus.iter().position(|core| core.number == cpu).expect("checked: a CPU of the platform");
        let core = index_u32(core);
        let lives = self.lives.as_mut().expect("something changes");
        if let Some(admission) = &mut lives.admission
            && let Err(refused) = admission.resize(cpu, server)
        {
            if refused.unsettled {
                lives.waiting.push(number);
            }
            return ChangeOutcome::Refused(refused.diagnostic(|id| lives.name(id)));
        }
        let servers =
            self.background.as_mut().and_then(|background| background.servers_mut()).expect("a size changes");
        let from_ns = servers.wants(core, server, now);
        lives.settles_from(core, from_ns.unwrap_or(now));
        match from_ns {
            // What waits for a quiet core is not wanted any more, nor what was to come with the same period.
            Some(from) if from > now => {
                lives.size_waits.remove(&core);
                lives.size_comes.insert(core, (from, number));
            }
            Some(_) => {
                lives.size_waits.remove(&core);
                lives.size_comes.remove(&core);
                self.show_size(core);
                return ChangeOutcome::Resized { from_ns };
            }
            None => {
                lives.size_waits.insert(core, number);
            }
        }
        ChangeOutcome::Resized { from_ns: None }
    }

    /// Sizes that come with a period.
    pub(super) fn sizes_come(&mut self) {
        let now = self.now_ns;
        let Some(lives) = &mut self.lives else { return };
        let come: Vec<(u32, usize)> = lives
            .size_comes
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(&core, &(_, number))| (core, number))
            .collect();
        lives.size_comes.retain(|_, (at, _)| *at > now);
        for (core, number) in come {
            self.size_is(core, number);
        }
    }

    /// The server has the size of this change from now on.
    pub(super) fn size_is(&mut self, core: u32, number: usize) {
        let from_ns = Some(self.now_ns);
        let outcome = self.lives.as_mut().and_then(|lives| lives.changed.get_mut(&number));
        if let Some((_, outcome)) = outcome {
            *outcome = ChangeOutcome::Resized { from_ns };
        }
        self.show_size(core);
    }

    /// The size that the CPU's server has from now on.
    fn show_size(&mut self, core: u32) {
        if O::EVENTS {
            let cpu = Some(self.cpus[core as usize].number);
            let servers = self
                .background
                .as_mut()
                .and_then(|background| background.servers_mut())
                .expect("a size changes");
            let (budget, period) = servers.size(core, self.now_ns);
            for (kind, length) in [(EventKind::ServerPeriod, period), (EventKind::ServerBudget, budget)] {
                let argument = Some(length);
                self.observer.event(Event {
                    time_ns: self.now_ns,
                    kind,
                    cpu,
                    task: None,
                    job: None,
                    argument,
                });
            }
        }
    }
}
