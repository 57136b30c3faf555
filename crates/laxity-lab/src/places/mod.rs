//! Where the tasks of a set go under a scheduler: decided here, for every command.
//!
//! 1. With one cell there is nothing to place: whether its tasks fit is for the tests to say.
//! 2. By the test (`--fit test`): what is proven hard goes before what is proven soft, and that before what is not proven. Of equals, a
//!    heuristic that asks the test of the scheduler for each task (`admission`) goes before the same by loads; the least load, which
//!    only the integer program knows, goes before heuristics that were not named and a search; of those, the places count that leave
//!    the most room below the deadlines.
//! 3. So no set is less proven than in its places by load, and where nothing is proven those show what fails.
//! 4. What is proven beside the kernel's servers for background threads goes before what is proven only where no such thread starves.
//! 5. By load means by density where a deadline is below its period. A density that is too high proves nothing: where tests judge, U
//!    is tried after it.
//! 6. What has to hold besides (the kernel's admission) is asked of each cell together with the test.
//! 7. amp-rm's tasks go where its own admission puts them ([`Placing::place_below`]).

mod admission;
mod search;

pub use search::{TASKS_MAX, search};

use crate::charges::{Charges, PlacedSet, TRIAL_WORK};
use crate::placing::FitAnswer;
use crate::placing::{Placed, Placing};
use crate::schedulers::{Choice, Scheduled};
use admission::{by_search, by_test, strain};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{Guarantee, Work};
use laxity_model::{CpuList, Failure, Platform, Result, Scope, ServerSizes, TaskSet, Utilization};
use laxity_place::{Fitting, Method};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// What is wanted of places: the better guarantee, if there are places with it.
const GUARANTEES: [Guarantee; 2] = [Guarantee::Hard, Guarantee::Soft];

/// What a search is called where a method is named.
pub const SEARCH: &str = "a search of all partitions";

static NO_SERVERS: ServerSizes = ServerSizes::NONE;

/// Heuristics that are tried where none was named.
const OTHERS: [&str; 3] = ["wfd", "ffd", "bf-deadline"];

/// Whether a cell, by its CPUs, may have these tasks, by id, whatever the test says.
pub type Takes<'a> = &'a dyn Fn(&CpuList, &[usize]) -> bool;

/// What decides where tasks go.
#[derive(Clone)]
pub struct Finder<'a> {
    /// Onto what, and by which method where loads decide.
    pub placing: Placing<'a>,
    /// Which method was asked for.
    pub choice: Choice,
    /// What may be placed together.
    pub fit: Fitting,
    /// How much of each CPU is filled at the most; nothing: all of it.
    pub limit: Option<Utilization>,
    /// The machine as tests see it: its speeds are those by which demands are counted.
    pub seen: &'a Platform,
    /// What scheduling costs, and on which machine.
    pub charges: (&'a Charges, &'a Platform),
    /// What goes before the tasks.
    pub servers: &'a ServerSizes,
    /// What a test is asked; each guarantee in turn.
    pub asked: Asked,
    /// What is to be proven: the first of these for which there are places.
    pub guarantees: &'a [Guarantee],
    /// What has to hold besides.
    pub takes: Option<Takes<'a>>,
}

/// A set that is to be placed for a scheduler.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Its tasks.
    pub set: &'a TaskSet,
    /// What the scheduler is called.
    pub name: &'a str,
    /// As analyses know it; nothing if they do not.
    pub scheduler: Option<Analysed>,
    /// How its tasks migrate.
    pub scope: Scope,
    /// Whether the last CPU of every cell runs none.
    pub dedicated: bool,
}

impl<'a> Wanted<'a> {
    /// A set under a scheduler of this name.
    pub fn of(set: &'a TaskSet, scheduler: &impl Scheduled, name: &'a str) -> Self {
        Wanted {
            set,
            name,
            scheduler: scheduler.analysed(),
            scope: scheduler.scope(),
            dedicated: scheduler.dedicates_a_core(),
        }
    }
}

/// The places of one set by load, each made when it is first asked for.
#[derive(Debug, Default)]
pub struct ByLoad {
    made: Vec<((Scope, bool, Choice), Result<Placed>)>,
}

impl ByLoad {
    /// Those of the set for a scope.
    pub fn places(
        &mut self,
        set: &TaskSet,
        finder: &Finder<'_>,
        (scope, dedicated): (Scope, bool),
    ) -> Result<Placed> {
        let key = (scope, dedicated, finder.choice);
        let known = self.made.iter().find(|(other, _)| *other == key).map(|(_, placed)| placed.clone());
        known.unwrap_or_else(|| {
            let placed = finder.by_load(set, scope, dedicated);
            self.made.push((key, placed.clone()));
            placed
        })
    }
}

impl<'a> Finder<'a> {
    /// Goes by this choice, whatever method `placing` has; on all of each CPU, with nothing before the tasks.
    pub fn new(
        placing: Placing<'a>,
        (choice, fit): (Choice, Fitting),
        charges: &'a Charges,
        interrupt: &'static AtomicBool,
    ) -> Self {
        Finder {
            placing: Placing { method: choice.method_by(fit), ..placing },
            choice,
            fit,
            limit: None,
            seen: placing.platform,
            charges: (charges, placing.platform),
            servers: &NO_SERVERS,
            asked: Asked {
                work: Work::steps(TRIAL_WORK).unless(interrupt),
                beside: charges.beside(),
                ..Asked::of(Guarantee::Hard)
            },
            guarantees: &GUARANTEES,
            takes: None,
        }
    }
}

impl Finder<'_> {
    /// Places by load: the first load of those that may decide by which all tasks fit.
    ///
    /// # Errors
    ///
    /// As the first of them says it: a task that fits nowhere.
    pub fn by_load(&self, set: &TaskSet, scope: Scope, dedicated: bool) -> Result<Placed> {
        let mut refused = None;
        for fit in self.fit.loads(set) {
            let placing = Placing { fit: Some(fit), ..self.placing };
            match placing.place(set, scope, dedicated, self.limit.clone()) {
                Ok(placed) => {
                    let fit = (scope != Scope::Global).then(|| fit.into());
                    return Ok(Placed { fit, ..placed });
                }
                Err(why) if why.failure == Failure::Interrupted => return Err(why),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        Err(refused.expect("there is a load to place by"))
    }

    /// Where the tasks go, given their places by load.
    ///
    /// # Errors
    ///
    /// There are none by load, and no others are found.
    pub fn find(&self, wanted: Wanted<'_>, by_load: Result<Placed>) -> Result<Placed> {
        let in_one_cell = self.placing.platform.cells(wanted.scope).len() == 1;
        if !self.fit.is_test() || wanted.scope == Scope::Global || in_one_cell {
            return by_load;
        }
        let Some(scheduler) = wanted.scheduler else {
            return by_load.map(|placed| with(placed, unknown(wanted)));
        };
        for &guarantee in self.guarantees {
            for finder in self.beside_each() {
                if let Some(found) = finder.proven((wanted, scheduler), guarantee, &by_load) {
                    if finder.asked.beside == self.asked.beside {
                        return Ok(found);
                    }
                    let counted = crate::charges::kernel_words(&self.asked.beside, scheduler);
                    let note =
                        format!("under {}, these places are proven only without {counted}", wanted.name);
                    return Ok(with(found, note));
                }
            }
        }
        by_load.map(|placed| match self.is_interrupted() {
            true => placed,
            false => {
                let note = not_proven(self.choice, wanted, &placed);
                with(placed, note)
            }
        })
    }

    /// The same beside all that the kernel takes, and where no background thread starves.
    fn beside_each(&self) -> Vec<Self> {
        let beside = self.asked.beside;
        let mut besides = vec![beside, beside.alone()];
        besides.dedup();
        let finder = |beside| Finder { asked: Asked { beside, ..self.asked }, ..self.clone() };
        besides.into_iter().map(finder).collect()
    }

    /// The places in which the set has a guarantee; with advice instead, where they are by another method than the one that was
    /// asked for.
    fn proven(
        &self,
        (wanted, scheduler): (Wanted<'_>, Analysed),
        guarantee: Guarantee,
        by_load: &Result<Placed>,
    ) -> Option<Placed> {
        let named = self.choice.named().filter(|method| !method.may_solve());
        if let Some(placed) = named.and_then(|method| self.by(method, guarantee, wanted, scheduler)) {
            return Some(match guarantee {
                Guarantee::Hard => placed,
                Guarantee::Soft => with(placed, soft_only(self.choice, wanted)),
            });
        }
        let own = by_load.as_ref().ok();
        let is_proven =
            |placed: &&Placed| self.all_taken(placed) && self.proves(wanted, scheduler, placed, guarantee);
        if let Some(placed) = own.filter(is_proven) {
            let note = named.map(|method| by_load_after_all(method, wanted, placed));
            return Some(note.map_or(placed.clone(), |note| with(placed.clone(), note)));
        }
        if named.is_some() {
            return None;
        }
        let better = self.another(guarantee, wanted, scheduler)?;
        match self.choice {
            Choice::Auto => {
                let why = match own.is_some_and(|own| self.proves(wanted, scheduler, own, guarantee)) {
                    true => "the kernel does not admit those of least load",
                    false => "the places of least load are not proven",
                };
                let note = instead(&better, guarantee, wanted, why);
                Some(with(better, note))
            }
            Choice::Method(_) => own.map(|own| with(own.clone(), advice(&better, wanted))),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.placing.interrupt.load(SeqCst)
    }

    fn by(
        &self,
        method: Method,
        guarantee: Guarantee,
        wanted: Wanted<'_>,
        scheduler: Analysed,
    ) -> Option<Placed> {
        let fit = match guarantee {
            Guarantee::Hard => FitAnswer::HardTest,
            Guarantee::Soft => FitAnswer::SoftTest,
        };
        let placed = by_test(self, wanted, scheduler, (method, guarantee))?;
        Some(Placed { fit: Some(fit), ..placed })
    }

    /// By that of the heuristics that were not named, or a search, which leaves the most room below the deadlines.
    fn another(&self, guarantee: Guarantee, wanted: Wanted<'_>, scheduler: Analysed) -> Option<Placed> {
        let methods = OTHERS.iter().filter_map(|name| name.parse::<Method>().ok());
        let found = methods.filter_map(|method| self.by(method, guarantee, wanted, scheduler));
        let strain = |placed: &Placed| strain(self, wanted, (scheduler, guarantee), placed);
        found
            .chain(self.searched(guarantee, wanted, scheduler))
            .min_by_key(|placed| strain(placed).unwrap_or(u64::MAX))
    }

    /// By a search of all partitions of few tasks onto single CPUs in which no deadline is missed.
    fn searched(&self, guarantee: Guarantee, wanted: Wanted<'_>, scheduler: Analysed) -> Option<Placed> {
        let few = wanted.set.real_time().count() <= TASKS_MAX && wanted.scope == Scope::Partitioned;
        if !few || guarantee != Guarantee::Hard {
            return None;
        }
        let placed = by_search(self, wanted, scheduler, guarantee)?;
        Some(Placed { fit: Some(FitAnswer::HardTest), ..placed })
    }

    fn all_taken(&self, placed: &Placed) -> bool {
        self.takes.is_none_or(|takes| placed.cells.iter().all(|cell| takes(&cell.cpus, &cell.tasks)))
    }

    /// Whether the tests prove a guarantee of a set in places.
    fn proves(&self, wanted: Wanted<'_>, scheduler: Analysed, placed: &Placed, guarantee: Guarantee) -> bool {
        let charge = self.charges.0.of(scheduler, self.charges.1);
        let seen = PlacedSet::of(wanted.set, scheduler, self.seen, placed, charge, self.servers);
        seen.is_ok_and(|seen| seen.judge(Asked { guarantee, ..self.asked }).verdict.is_schedulable())
    }
}

fn with(mut placed: Placed, note: String) -> Placed {
    placed.record.notes.push(note);
    placed
}

fn unknown(wanted: Wanted<'_>) -> String {
    format!("placed by load: no test says anything of {}", wanted.name)
}

fn instead(placed: &Placed, guarantee: Guarantee, wanted: Wanted<'_>, why: &str) -> String {
    let method = &placed.record.method;
    let which = match guarantee {
        Guarantee::Hard => "test",
        Guarantee::Soft => "soft test",
    };
    format!("placed by {method} with the {which} of {}, because {why}", wanted.name)
}

fn advice(placed: &Placed, wanted: Wanted<'_>) -> String {
    let method = &placed.record.method;
    format!(
        "these places are of the least load, and not proven; --placement auto asks the test of {} for each task and finds proven ones, \
         by {method}",
        wanted.name
    )
}

fn soft_only(choice: Choice, wanted: Wanted<'_>) -> String {
    format!(
        "by {choice} no placement passes the hard test of {}: these places are by the soft one",
        wanted.name
    )
}

fn by_load_after_all(method: Method, wanted: Wanted<'_>, placed: &Placed) -> String {
    let load = placed.fit.map_or("load", FitAnswer::word);
    format!(
        "by {method} and the test of {} a task fits nowhere: these places are by {load}, and proven",
        wanted.name
    )
}

fn not_proven(choice: Choice, wanted: Wanted<'_>, placed: &Placed) -> String {
    let load = placed.fit.map_or("load", FitAnswer::word);
    format!("by {choice} no placement passes the test of {}: these places are by {load}", wanted.name)
}
