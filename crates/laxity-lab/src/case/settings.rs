//! What cases have in common.

use super::{ChangeAt, PlacementSettings};
use crate::charges::{Charges, TRIAL_WORK};
use crate::places::Finder;
use crate::schedulers::Scheduled;
use laxity_analysis::scheduler::Asked;
use laxity_analysis::{Guarantee, Work, catalogue};
use laxity_model::{Demand, Platform, ServerSizes};
use laxity_place::Method;
use std::sync::atomic::AtomicBool;

/// Steps for each test on each cell, unless others are asked for.
pub const WORK_STEPS_DEFAULT: u64 = 1 << 28;

static NO_SERVERS: ServerSizes = ServerSizes::NONE;

/// All that places, proofs and schedules depend on, beside the set and the scheduler.
#[derive(Clone)]
pub struct CaseSettings {
    /// The machine, and where tasks go.
    pub placement: PlacementSettings,
    /// What scheduling costs, as tests count it, and the kernel beside which proofs hold.
    pub charges: Charges,
    /// How much of its WCET a job asks for.
    pub demand: Demand,
    /// What changes while time goes on, under amp-rm.
    pub changes: Vec<ChangeAt>,
    /// What tests are asked, where they place as where they judge.
    pub tests: TestSettings,
}

/// What tests are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSettings {
    /// The only one, by its name; nothing: all that know the scheduler.
    pub only: Option<&'static str>,
    /// Steps that a test may take for a verdict on each cell. Trials take fewer.
    pub work_steps: u64,
}

impl Default for TestSettings {
    fn default() -> Self {
        TestSettings { only: None, work_steps: WORK_STEPS_DEFAULT }
    }
}

impl CaseSettings {
    /// On this machine, where scheduling costs nothing, jobs take their WCETs and nothing changes; placed as `laxity` places where
    /// nothing is said.
    pub fn plain(platform: Platform) -> Self {
        Self::placed(PlacementSettings::auto(platform))
    }

    /// The same, placed by load and this method.
    pub fn by_load(method: Method, platform: Platform) -> Self {
        Self::placed(PlacementSettings::by_load(method, platform))
    }

    /// The same, placed like this.
    pub fn placed(placement: PlacementSettings) -> Self {
        CaseSettings {
            placement,
            charges: Charges::default(),
            demand: Demand::Wcet,
            changes: Vec::new(),
            tests: TestSettings::default(),
        }
    }

    /// The machine.
    pub fn platform(&self) -> &Platform {
        &self.placement.platform
    }

    /// The servers that go before the tasks of a scheduler: there are none under most.
    pub fn servers(&self, scheduler: &impl Scheduled) -> &ServerSizes {
        if scheduler.has_servers() { &self.placement.below.servers } else { &NO_SERVERS }
    }

    /// What a scheduler's tests are asked for a verdict.
    pub fn asked(&self, guarantee: Guarantee, interrupt: &'static AtomicBool) -> Asked {
        let test = self.tests.only.and_then(catalogue::test);
        let work = Work::steps(self.tests.work_steps).unless(interrupt);
        Asked { guarantee, test, work, beside: self.charges.beside() }
    }

    /// The same in a trial, of which there may be many.
    pub fn asked_in_trials(&self, guarantee: Guarantee, interrupt: &'static AtomicBool) -> Asked {
        let work = Work::steps(self.tests.work_steps.min(TRIAL_WORK)).unless(interrupt);
        Asked { work, ..self.asked(guarantee, interrupt) }
    }

    /// What decides where tasks go by such a placement, which need not be the cases' own: costs are those of their machine also where
    /// another number of its processors is tried.
    pub fn finder<'a>(
        &'a self,
        placement: &'a PlacementSettings,
        scheduler: &impl Scheduled,
        interrupt: &'static AtomicBool,
    ) -> Finder<'a> {
        Finder {
            charges: (&self.charges, self.platform()),
            servers: self.servers(scheduler),
            asked: self.asked_in_trials(Guarantee::Hard, interrupt),
            ..placement.finder(scheduler, &self.charges, interrupt)
        }
    }
}
