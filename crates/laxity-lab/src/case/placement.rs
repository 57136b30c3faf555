//! How tasks are placed, as `analyze`, `simulate`, `run` and `compare` are told it.

use crate::charges::Charges;
use crate::places::Finder;
use crate::placing::{BelowServers, Placed, Placing, SLOWEST_FIT, named_load};
use crate::schedulers::{Choice, Scheduled};
use laxity_model::{Duration, Platform, Result, TaskSet, Utilization};
use laxity_place::{Fitting, Method, Overload};
use std::sync::atomic::AtomicBool;

/// How tasks are placed, and onto what.
#[derive(Clone)]
pub struct PlacementSettings {
    /// The machine.
    pub platform: Platform,
    /// By which method, unless a configuration's name says it.
    pub choice: Choice,
    /// What may be placed together.
    pub fit: Fitting,
    /// How amp-rm's tasks are placed.
    pub amp_rm: Method,
    /// What those are below.
    pub below: BelowServers,
    /// How much of each CPU is filled at the most; nothing: all of it.
    pub limit: Option<Utilization>,
    /// What to do with a task that fits nowhere.
    pub overload: Overload,
    /// How long the ILP may look for the optimum; without a limit it answers after a fixed amount of work.
    pub ilp_time_limit: Option<Duration>,
}

impl PlacementSettings {
    /// By load and this method, onto all of each CPU.
    pub fn by_load(method: Method, platform: Platform) -> Self {
        PlacementSettings {
            platform,
            choice: method.into(),
            fit: Fitting::Load(None),
            amp_rm: SLOWEST_FIT,
            below: BelowServers::default(),
            limit: None,
            overload: Overload::Refuse,
            ilp_time_limit: None,
        }
    }

    /// As `laxity` places where nothing is said: the least load, or other places if only they are proven.
    pub fn auto(platform: Platform) -> Self {
        let choice = Choice::default();
        PlacementSettings { choice, fit: Fitting::Test, ..Self::by_load(choice.method(), platform) }
    }

    /// Where loads decide.
    pub fn placing<'a>(&'a self, interrupt: &'a AtomicBool) -> Placing<'a> {
        Placing {
            platform: &self.platform,
            method: self.choice.method(),
            fit: named_load(self.fit),
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
            interrupt,
        }
    }

    /// Where tests may decide, for a scheduler.
    pub fn finder<'a>(
        &'a self,
        scheduler: &impl Scheduled,
        charges: &'a Charges,
        interrupt: &'static AtomicBool,
    ) -> Finder<'a> {
        let how = (scheduler.placement().unwrap_or(self.choice), self.fit);
        Finder { limit: self.limit.clone(), ..Finder::new(self.placing(interrupt), how, charges, interrupt) }
    }

    /// Where a scheduler that admits its tasks itself puts them; nothing for others, and where tasks are to be placed by load: the
    /// integer program knows loads only. `absent` tasks are not placed; those that do not fit are refused, or else run in the
    /// background.
    pub fn admitted(
        &self,
        set: &TaskSet,
        scheduler: &impl Scheduled,
        (absent, refuse): (&[usize], bool),
        interrupt: &AtomicBool,
    ) -> Option<Result<Placed>> {
        let method = scheduler.placement().and_then(Choice::named).unwrap_or(self.amp_rm);
        if !scheduler.has_servers() || method.may_solve() {
            return None;
        }
        let placing = Placing { method, ..self.placing(interrupt) };
        Some(placing.place_below(set, &self.below, self.limit.clone(), (absent, refuse)))
    }
}
