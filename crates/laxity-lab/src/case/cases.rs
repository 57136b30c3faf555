//! Cases of all sets under all schedulers: checked when they are made, and placed when each is first asked for.

use super::proof_places::{by_admission, check_cells, wanted};
use super::{Case, CaseSettings, changes, check_real_time};
use crate::observer::check_interrupt;
use crate::places::{ByLoad, Wanted};
use crate::placing::{Placed, check_capacity};
use crate::schedulers::{Configuration, Scheduled};
use laxity_model::{Result, TaskSet, scheduler_of};
use laxity_place::Overload;
use std::fmt::Display;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What cases are made for. It says what is refused at once, and whether tasks that do not fit run in the background.
/// Every back end takes cases that were made for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be placed, and no more.
    Places,
    /// To be proven. Whether tasks fit into one cell, and have the priorities that the scheduler asks for, is for the tests to say.
    Proof,
    /// To be simulated. Tasks that admission refuses run in the background, and those that enter later have no places.
    Simulation,
    /// To be run. What admission would refuse is not run.
    Run,
}

/// Every set under every scheduler, set by set.
pub struct Cases<'a, S = Configuration> {
    /// The sets.
    pub sets: &'a [TaskSet],
    /// The schedulers.
    pub schedulers: &'a [S],
    /// What they have in common.
    pub settings: &'a CaseSettings,
    /// Ends the work on them.
    pub interrupt: &'static AtomicBool,
    purpose: Purpose,
    by_load: Vec<Mutex<ByLoad>>,
    placed: Vec<OnceLock<Result<Placed>>>,
}

impl<'a, S: Scheduled + Display> Cases<'a, S> {
    /// Checks what can be checked before tasks are placed.
    ///
    /// # Errors
    ///
    /// A set without real-time tasks, or whose tasks may run on no CPU of the machine; without priorities, where it is simulated or run
    /// by them; a scheduler that cannot have cells on this machine, where it is proven.
    pub fn of(
        sets: &'a [TaskSet],
        schedulers: &'a [S],
        settings: &'a CaseSettings,
        purpose: Purpose,
        interrupt: &'static AtomicBool,
    ) -> Result<Self> {
        for set in sets {
            check_real_time(set)?;
            settings.platform().check_affinities(set)?;
            if matches!(purpose, Purpose::Simulation | Purpose::Run) {
                schedulers.iter().try_for_each(|scheduler| scheduler.check_priorities(set))?;
            }
        }
        if purpose == Purpose::Proof {
            schedulers.iter().try_for_each(|scheduler| check_cells(scheduler, settings, interrupt))?;
        }
        let count = sets.len() * schedulers.len();
        Ok(Cases {
            sets,
            schedulers,
            settings,
            interrupt,
            purpose,
            by_load: sets.iter().map(|_| Mutex::default()).collect(),
            placed: (0..count).map(|_| OnceLock::new()).collect(),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.placed.len()
    }

    /// Case number `at`, in its places.
    pub fn case(&self, at: usize) -> Case<'a, S> {
        let index = at / self.schedulers.len();
        let (set, scheduler) = (&self.sets[index], &self.schedulers[at % self.schedulers.len()]);
        let placed = self.placed[at].get_or_init(|| self.place(index, scheduler)).clone();
        Case { index, set, scheduler, settings: self.settings, placed }
    }

    /// All of them, in their places.
    ///
    /// # Errors
    ///
    /// An interruption, with the words for what there is then.
    pub fn all(&self, what_there_is: &str) -> Result<Vec<Case<'a, S>>> {
        let placed = |at| {
            let case = self.case(at);
            check_interrupt(self.interrupt, what_there_is).map(|()| case)
        };
        (0..self.count()).map(placed).collect()
    }

    /// All of them, in places that `place` finds for the schedulers of a set.
    ///
    /// # Errors
    ///
    /// What `place` refuses for all.
    pub fn each_placed(
        &self,
        mut place: impl FnMut(&'a TaskSet) -> Result<Vec<Result<Placed>>>,
    ) -> Result<Vec<Case<'a, S>>> {
        let mut cases = Vec::with_capacity(self.count());
        for (index, set) in self.sets.iter().enumerate() {
            let of = self.schedulers.iter().zip(place(set)?);
            let case = |(scheduler, placed)| Case { index, set, scheduler, settings: self.settings, placed };
            cases.extend(of.map(case));
        }
        Ok(cases)
    }

    fn place(&self, index: usize, scheduler: &S) -> Result<Placed> {
        let (set, settings) = (&self.sets[index], self.settings);
        if let Some(admitted) = self.admitted(set, scheduler) {
            return admitted;
        }
        let finder = settings.finder(&settings.placement, scheduler, self.interrupt);
        if self.purpose == Purpose::Simulation {
            check_capacity(set, scheduler, &finder.placing)?;
        }
        let name = scheduler.to_string();
        let name = scheduler_of(&name).0;
        let wanted = match self.purpose {
            Purpose::Proof => wanted(set, scheduler, name, settings.platform()),
            Purpose::Places | Purpose::Simulation | Purpose::Run => Wanted::of(set, scheduler, name),
        };
        let mut by_load = self.by_load[index].lock().unwrap_or_else(PoisonError::into_inner);
        let own = by_load.places(set, &finder, (wanted.scope, wanted.dedicated));
        drop(by_load);
        finder.find(wanted, own)
    }

    /// Where admission puts the tasks of a scheduler that has one.
    fn admitted(&self, set: &TaskSet, scheduler: &S) -> Option<Result<Placed>> {
        let placement = &self.settings.placement;
        match self.purpose {
            Purpose::Proof => by_admission(set, scheduler, placement, self.interrupt),
            Purpose::Places | Purpose::Run => {
                placement.admitted(set, scheduler, (&[], false), self.interrupt)
            }
            Purpose::Simulation if scheduler.has_servers() => match self.absent(set) {
                Err(why) => Some(Err(why)),
                Ok(absent) => {
                    let refused_run = placement.overload == Overload::Refuse;
                    placement.admitted(set, scheduler, (&absent, refused_run), self.interrupt)
                }
            },
            Purpose::Simulation => None,
        }
    }

    /// Tasks that enter later.
    fn absent(&self, set: &TaskSet) -> Result<Vec<usize>> {
        let CaseSettings { placement, changes: asked, .. } = self.settings;
        let changes = changes(asked, set, &placement.platform, &placement.below)?;
        Ok((0..set.tasks().len()).filter(|&task| changes.lets_enter(task)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::PlacementSettings;
    use crate::placing::BelowServers;
    use laxity_model::{Duration, Platform, ServerChoice, Task};
    use laxity_place::Method;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn set() -> TaskSet {
        let task = |name: &str| Task::periodic(name, Duration::from_ms(5), Duration::from_ms(10));
        TaskSet::new("halves", vec![task("a"), task("b")]).expect("valid")
    }

    #[test]
    fn places_by_load_are_held_against_servers_whatever_they_are_for() {
        let ilp: Method = "ilp".parse().expect("a method");
        let below = |sizes: &[&str]| {
            let servers: Vec<ServerChoice> = sizes.iter().map(|size| size.parse().expect("a size")).collect();
            BelowServers { servers: servers.into(), ..BelowServers::default() }
        };
        let is_unproven = |below: BelowServers, scheduler: &str, purpose| {
            let auto = PlacementSettings::auto(Platform::symmetric(2).expect("two"));
            let settings =
                CaseSettings::placed(PlacementSettings { choice: ilp.into(), amp_rm: ilp, below, ..auto });
            let (sets, schedulers) = ([set()], [scheduler.parse().expect("a scheduler")]);
            let cases: Cases<'_> = Cases::of(&sets, &schedulers, &settings, purpose, &NEVER).expect("valid");
            let notes = cases.case(0).placed.expect("they fit").record.notes;
            notes.iter().any(|note| note.contains("no placement passes the test"))
        };
        for purpose in [Purpose::Places, Purpose::Proof, Purpose::Simulation, Purpose::Run] {
            assert!(!is_unproven(below(&[]), "amp-rm", purpose), "{purpose:?}");
            assert!(is_unproven(below(&["6ms/10ms"]), "amp-rm", purpose), "{purpose:?}");
            // Others have no servers.
            assert!(!is_unproven(below(&["6ms/10ms"]), "p-rm", purpose), "{purpose:?}");
        }
    }
}
