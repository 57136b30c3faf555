//! What a simulation can be told beyond the scheduler and its tasks, and how results say it.

use crate::case::CaseSettings;
use laxity_model::{
    BudgetMode, Cache, CacheKind, Duration, Interference, OnMiss, Platform, Reserve, Result, ServerSizes,
    ShownPath as _,
};
use laxity_sim::costs::Costs;
use laxity_sim::{Background, Prototypes, RETRIES_MAX, Servers};
use laxity_trace::CacheSummary;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Name of the manifest's option with what late jobs do; results of a version that let them all run on have none.
pub const ON_MISS: &str = "on-miss";

/// Name of the manifest's option with what changes while time goes on, if anything does.
pub const AT: &str = "at";

/// Name of the manifest's option that the scheduler looks at ticks only, if it does.
pub const AT_TICKS: &str = "at-ticks";

/// Name of the manifest's option with what real-time tasks leave to background tasks, if anything.
pub const RESERVE: &str = "reserve";

/// Name of the manifest's option with what takes CPUs from the scheduler, if anything does.
pub const INTERFERENCE: &str = "interference";

/// Name of the manifest's option with the costs, as a costs file that needs no other.
pub const COSTS_TOML: &str = "costs-toml";

/// What a simulation can be told beyond the scheduler and its tasks.
#[derive(Debug, Clone)]
pub struct Mechanics {
    /// What happens to a job that exceeds its budget.
    pub budget_mode: BudgetMode,
    /// What a job does once it has missed its deadline.
    pub on_miss: OnMiss,
    /// Whether jobs of one release instant are released together.
    pub batching: bool,
    /// push-pull: after how many failures a push is given up.
    pub retries_max: u32,
    /// Makes operations on different CPUs interleave in an order that this seed draws.
    pub interleaving: Option<u64>,
    /// What the kernel costs.
    pub costs: Costs,
    /// The file that says so, to be named in the results.
    pub costs_file: Option<PathBuf>,
    /// How many tasks that are not real-time run in the background.
    pub background: usize,
    /// How many others are always ready.
    pub busy: usize,
    /// What real-time tasks leave of each CPU to these.
    pub reserve: Reserve,
    /// What takes CPUs from the scheduler.
    pub interference: Vec<Interference>,
    /// Whether the scheduler looks at ticks of 1 ms only.
    pub at_ticks: bool,
    /// The prototypes that schedulers may name.
    pub prototypes: Prototypes,
}

impl Default for Mechanics {
    fn default() -> Self {
        Mechanics {
            budget_mode: BudgetMode::Off,
            on_miss: OnMiss::default(),
            batching: true,
            retries_max: RETRIES_MAX,
            interleaving: None,
            costs: Costs::default(),
            costs_file: None,
            background: 0,
            busy: 0,
            reserve: Reserve::NONE,
            interference: Vec::new(),
            at_ticks: false,
            prototypes: Prototypes::NONE,
        }
    }
}

impl Mechanics {
    /// The tasks that are not real-time, of a simulation of this length at the most.
    pub fn background(&self, seed: u64, horizon: Duration) -> Background {
        let mut background = Background::random(self.background, seed);
        background.tasks.splice(0..0, Background::busy(self.busy, horizon).tasks);
        background
    }

    /// What a reader of a run on this machine must know.
    pub fn notes(&self, platform: &Platform) -> Vec<String> {
        let note = match (self.costs.is_zero(), self.costs_file.as_ref()) {
            (true, _) => "simulated without costs: scheduling, context switches and cold caches take no time"
                .to_owned(),
            (false, file) => {
                let file = file.map_or_else(String::new, |file| format!(" of {}", file.shown()));
                format!("simulated with the costs{file}: {}", self.modelled().join(", "))
            }
        };
        let nothing = self.tracks_caches() && !self.follows_caches(platform);
        let nothing = nothing.then(|| {
            format!(
                "platform `{}` describes no caches: nothing is followed though caches are `tracked`, and every line comes from memory",
                platform.name()
            )
        });
        [Some(note), nothing, self.reserve_note(), self.interference_note()].into_iter().flatten().collect()
    }

    /// What proofs are worth beside the reserve: no test counts it.
    fn reserve_note(&self) -> Option<String> {
        (!self.reserve.is_none()).then(|| {
            format!(
                "with a reserve of {} of each CPU in {} for background tasks, which no proof and no admission counts: what they say \
                 holds without it",
                self.reserve.share(),
                self.reserve.window()
            )
        })
    }

    /// The same of what takes CPUs.
    fn interference_note(&self) -> Option<String> {
        (!self.interference.is_empty()).then(|| {
            let all: Vec<String> = self.interference.iter().map(ToString::to_string).collect();
            format!(
                "with CPUs that are taken from the scheduler for a time ({}), which no proof and no admission counts: what they say holds \
                 without it",
                all.join(", ")
            )
        })
    }

    /// All options, as the manifest of a simulation of such cases has them.
    pub fn options(&self, of_cases: &CaseSettings) -> BTreeMap<String, String> {
        let mut options = BTreeMap::from([
            ("background".to_owned(), self.background.to_string()),
            ("batching".to_owned(), if self.batching { "on" } else { "off" }.to_owned()),
            ("budget".to_owned(), self.budget_mode.to_string()),
            (ON_MISS.to_owned(), self.on_miss.to_string()),
            ("retries".to_owned(), self.retries_max.to_string()),
        ]);
        let changes = &of_cases.changes;
        options.extend(self.cost_options(of_cases.platform()));
        options.extend(of_cases.placement.below.options());
        options.extend((!changes.is_empty()).then(|| (AT.to_owned(), joined(changes))));
        options.extend((self.busy > 0).then(|| ("busy".to_owned(), self.busy.to_string())));
        options.extend((!self.reserve.is_none()).then(|| (RESERVE.to_owned(), self.reserve.to_string())));
        let interference = &self.interference;
        options.extend((!interference.is_empty()).then(|| (INTERFERENCE.to_owned(), joined(interference))));
        options.extend(self.at_ticks.then(|| (AT_TICKS.to_owned(), "on".to_owned())));
        options.extend(self.interleaving.map(|seed| ("interleave".to_owned(), seed.to_string())));
        options
    }

    /// The costs file, what it gives a cost to, and what a real system pays for that costs nothing all the same.
    pub fn cost_options(&self, platform: &Platform) -> BTreeMap<String, String> {
        let costs = self
            .costs_file
            .as_ref()
            .map_or_else(|| "none".to_owned(), |file| file.to_string_lossy().into_owned());
        let mut options = BTreeMap::from([("costs".to_owned(), costs)]);
        if self.costs_file.is_some() {
            options.insert(COSTS_TOML.to_owned(), self.costs.to_toml());
        }
        if self.follows_caches(platform) {
            let (name, word) = CacheSummary::FOLLOWED;
            options.insert(name.to_owned(), word.to_owned());
            let warm = self.costs.cache.as_ref().and_then(|cache| cache.ipc);
            options.extend(warm.map(|ipc| (CacheSummary::IPC.to_owned(), ipc.to_string())));
        }
        if !self.costs.is_zero() {
            options.insert("modelled".to_owned(), self.modelled().join(", "));
            let left_out = Some(self.left_out()).filter(|left_out| !left_out.is_empty());
            options.extend(left_out.map(|words| ("not-modelled".to_owned(), words.join(", "))));
        }
        options
    }

    /// Whether the simulation follows what the caches of this machine hold.
    fn follows_caches(&self, platform: &Platform) -> bool {
        let holds_data = |cache: &Cache| cache.kind != CacheKind::Instruction;
        self.tracks_caches() && platform.caches().iter().any(holds_data)
    }

    /// Whether what caches hold, if there are any, is to be followed: lines from memory are then counted.
    pub fn tracks_caches(&self) -> bool {
        self.costs.cache.as_ref().is_some_and(|cache| cache.tracked && !cache.is_zero())
    }

    /// What costs something, in words.
    fn modelled(&self) -> Vec<&'static str> {
        self.priced().filter(|(_, paid, _)| *paid).map(|(words, ..)| words).collect()
    }

    /// What costs nothing here and something under every scheduler of Linux.
    fn left_out(&self) -> Vec<&'static str> {
        self.priced().filter(|(_, paid, linux)| !paid && *linux).map(|(words, ..)| words).collect()
    }

    /// Every cost: its words, whether it is above zero, and whether Linux's own schedulers have it.
    fn priced(&self) -> impl Iterator<Item = (&'static str, bool, bool)> {
        let cold_caches = ("cold caches", self.costs.has_cold_caches(), true);
        self.costs.priced().into_iter().chain([cold_caches])
    }
}

/// Several of them in an option.
fn joined(several: &[impl ToString]) -> String {
    several.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Of the CPUs of a platform.
///
/// # Errors
///
/// A CPU that it lacks.
pub fn servers_of(sizes: &ServerSizes, platform: &Platform) -> Result<Servers> {
    Ok(Servers { of: sizes.on_cores(platform)?.into_iter().collect() })
}
