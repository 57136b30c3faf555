//! A CPU whose tasks come and go as admission has it, one unit of time after the other.

use crate::Random;
use laxity_analysis::admission::{Admission, Entrant};
use laxity_model::DeferrableServer;
use std::collections::VecDeque;

/// The only CPU.
pub const CPU: u32 = 0;

/// When capacity that has become free is given away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settling {
    /// When the CPU is quiet, as it should be.
    WhenQuiet,
    /// The same, but what is left of a larger budget stays until the next replenishment.
    BudgetKept,
    /// Whenever something has become free.
    AtOnce,
}

struct Running {
    entrant: Entrant,
    /// Of equal periods the lower goes first.
    tie: u64,
    /// Nothing once it has left.
    next_release: Option<u64>,
    /// Release and work left of each job that is pending.
    jobs: VecDeque<(u64, u64)>,
}

/// The CPU, at speed 1.
pub struct Host {
    pub admission: Admission,
    pub settling: Settling,
    /// Draws which task of a period goes first; by id if there is none.
    pub(crate) ties: Option<Random>,
    pub now: u64,
    running: Vec<Running>,
    /// What the server goes by.
    server: DeferrableServer,
    replenished: u64,
    budget: u64,
    /// The first job that was later than its task allows.
    pub broken: Option<String>,
}

impl Host {
    pub fn new(admission: Admission, settling: Settling) -> Host {
        let server = admission.server_of(CPU).expect("a CPU");
        let budget = server.budget().as_ns();
        Host {
            admission,
            settling,
            ties: None,
            now: 0,
            running: Vec::new(),
            server,
            replenished: 0,
            budget,
            broken: None,
        }
    }

    /// Whether the task, which releases a job right now, was let in.
    pub fn enter(&mut self, entrant: Entrant) -> bool {
        let entered = self.admission.enter_core(CPU, entrant.clone()).is_ok();
        if entered {
            let (tie, next_release) = (entrant.id, Some(self.now));
            self.running.push(Running { entrant, tie, next_release, jobs: VecDeque::new() });
            self.order();
        }
        entered
    }

    /// By priority. Where ties are drawn they are drawn anew: a host that starts anew has its tasks in another order.
    fn order(&mut self) {
        if let Some(random) = &mut self.ties {
            self.running.iter_mut().for_each(|running| running.tie = random.below(u64::MAX));
        }
        self.running.sort_by_key(|running| (running.entrant.task.period_ns, running.tie));
    }

    pub fn leave(&mut self, id: u64) {
        if self.admission.leave(id).is_some() {
            self.running.iter_mut().filter(|it| it.entrant.id == id).for_each(|it| it.next_release = None);
            self.freed();
        }
    }

    pub fn resize(&mut self, server: DeferrableServer) -> bool {
        let resized = self.admission.resize(CPU, server).is_ok();
        if resized {
            self.freed();
        }
        resized
    }

    fn freed(&mut self) {
        if self.settling == Settling::AtOnce {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let wanted = self.admission.server_of(CPU).expect("a CPU");
        if wanted.period() != self.server.period() {
            self.replenished = self.now;
            self.budget = wanted.budget().as_ns();
        }
        if self.settling != Settling::BudgetKept {
            self.budget = self.budget.min(wanted.budget().as_ns());
        }
        self.server = wanted;
        self.admission.settle(CPU);
    }

    pub fn ids(&self) -> Vec<u64> {
        self.admission.tasks_of(CPU).iter().map(|entrant| entrant.id).collect()
    }

    /// What comes before anything enters or leaves at this instant.
    pub fn begin_unit(&mut self) {
        let is_quiet = self.running.iter().all(|running| running.jobs.is_empty());
        if is_quiet && self.settling != Settling::AtOnce && self.admission.is_unsettled(CPU) {
            self.settle();
        }
        if self.now >= self.replenished + self.server.period().as_ns() {
            let wanted = self.admission.server_of(CPU).expect("a CPU");
            if wanted.period() == self.server.period() {
                self.server = wanted;
            }
            self.replenished = self.now;
            self.budget = self.server.budget().as_ns();
        }
    }

    /// Releases, and a unit for the job that goes first. Jobs come at least a period apart, later where `late` has
    /// it.
    pub fn end_unit(&mut self, ordinary: bool, mut late: impl FnMut() -> u64) {
        for running in self.running.iter_mut().filter(|it| it.next_release == Some(self.now)) {
            running.jobs.push_back((self.now, running.entrant.task.wcet_ns));
            running.next_release = Some(self.now + running.entrant.task.period_ns + late());
        }
        let first = self.running.iter_mut().find(|running| !running.jobs.is_empty());
        if ordinary && self.budget > 0 {
            self.budget -= 1;
        } else if let Some(running) = first {
            running.jobs[0].1 -= 1;
            if running.jobs[0].1 == 0 {
                running.jobs.pop_front();
            }
        }
        self.now += 1;
        self.look();
        self.running.retain(|running| running.next_release.is_some() || !running.jobs.is_empty());
    }

    fn look(&mut self) {
        for Running { entrant, jobs, .. } in &self.running {
            let allowed = entrant.tardiness_max.map_or(u64::MAX / 2, |most| most.as_ns());
            if let Some(&(release, _)) = jobs.front() {
                // Still pending at its deadline: it will be later.
                if self.now >= release + entrant.task.deadline_rel_ns + allowed && self.broken.is_none() {
                    self.broken = Some(format!("task {} of {release} at {}", entrant.id, self.now));
                }
            }
        }
    }
}
