//! Which configuration to deploy, and why.
//!
//! 1. Eligible is what ran to its end in every run that was asked for.
//! 2. Where an exact test or the simulation of the same jobs shows that a configuration misses deadlines by itself
//!    ([`Objection`]), it comes after all against which nothing is shown, whatever was measured of the two.
//! 3. Then the share of jobs missed (or of tasks that were refused), and where all that are left miss, the maximum
//!    tardiness: configurations that are worse than the best by more than noise drop out. What remains is a *tie*.
//! 4. A tie goes to that of which the most is proven (hard before soft before nothing), then to a mean normalized laxity
//!    that is better by more than noise, then to the simpler: partitioned before clustered before global, Linux's own
//!    classes before a loaded policy, then the order of the tables.
//!
//! Noise is what repetitions of the same jobs differ by (`noise.rs`); the floors at the criteria say which differences
//! are too small to matter. A single miss decides nothing in a measurement. Simulations have no noise, so there it does.
//! Configurations that are the same thing (clustered and global on one cluster) are taken together, and what differs
//! between them is noise. The criteria are applied to the best of those left, not to pairs, because "within noise" is
//! not transitive and a sort by it would depend on the order of its input. Measurements are evidence, not proof; the
//! caveats say how strong. Where there is one configuration, nothing is recommended.

mod candidate;
mod caveats;
mod criteria;
mod decision;
mod difference;
mod objections;
mod words;

pub use difference::{
    ConfigurationDifference, Difference, DifferenceVerdict, Metric, MetricDifference,
    VERSION as DIFFERENCE_VERSION,
};
pub use objections::Objection;

pub use crate::misses::MissesPerRun;
use crate::study::{Configuration, Evidence, Measured, Study, by_reason};
use candidate::Candidate;
use criteria::{FAILED_RATIO, tardiness_floor};
use decision::{Decision, all_groups, ranking};
use laxity_trace::Host;
use schemars::JsonSchema;
use serde::Serialize;
use words::{margins, needed, what_it_missed};

/// The configuration to deploy, with the numbers that speak for it and those that should temper it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Name of the scheduler; nothing if no configuration ran to its end, or there is only one.
    pub scheduler: Option<String>,
    /// What it is called in tables (the host added where results mix hosts).
    pub label: Option<String>,
    /// What carried it out: a recommendation from simulations alone is a weaker one.
    pub host: Option<Host>,
    /// It missed no deadline.
    pub misses_nothing: bool,
    /// It missed few, and a proof or the simulation of the same jobs shows a schedule without misses.
    #[serde(default)]
    pub misses_within_noise: bool,
    /// The configurations whose misses do not differ from its own by more than noise, it included, by label, best first.
    #[serde(default)]
    pub tied: Vec<String>,
    /// What each configuration missed in a run.
    #[serde(default)]
    pub misses_per_run: Vec<MissesPerRun>,
    /// Why, with numbers.
    pub reasons: Vec<String>,
    /// The next best, if there is one.
    pub runner_up: Option<String>,
    /// All eligible configurations, best first, by label.
    pub ranking: Vec<String>,
    /// The configurations of `ranking` that miss deadlines by themselves, whatever was measured of them.
    #[serde(default)]
    pub objections: Vec<Objection>,
    /// What a reader should know before trusting it.
    pub caveats: Vec<String>,
}

/// How strong an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// It met every deadline.
    Clean,
    /// It missed no more than noise makes.
    WithinNoise,
    /// It met every deadline, in a simulation.
    CleanSimulated,
    /// Deadlines were missed under all, or are for some arrivals.
    LeastBad,
    /// There is one configuration only.
    NothingCompared,
    /// No configuration ran to its end.
    Nothing,
}

impl Recommendation {
    pub(crate) fn strength(&self) -> Strength {
        let objected = |label: &String| self.objections.iter().any(|objection| objection.label == *label);
        match &self.label {
            Some(_) if self.misses_within_noise => Strength::WithinNoise,
            Some(label) if !self.misses_nothing || objected(label) => Strength::LeastBad,
            Some(_) if self.host == Some(Host::Simulator) => Strength::CleanSimulated,
            Some(_) => Strength::Clean,
            None if self.ranking.is_empty() => Strength::Nothing,
            None => Strength::NothingCompared,
        }
    }

    /// The answer in a sentence without its full stop; `shown` makes a name fit for where it goes.
    pub(crate) fn headline(&self, shown: impl Fn(&str) -> String) -> String {
        let label = self.ranking.first().map(|label| shown(label)).unwrap_or_default();
        match self.strength() {
            Strength::Clean => format!("Deploy {label}{}", self.tie()),
            Strength::WithinNoise => format!("Deploy {label}{}: its few misses are noise", self.tie()),
            Strength::CleanSimulated => format!("Best in simulation: {label}{}", self.tie()),
            Strength::LeastBad if self.misses_nothing => {
                format!(
                    "{label} is the least bad: it met every deadline here, and misses some for other arrivals"
                )
            }
            Strength::LeastBad => format!("{label} is the least bad{}, but it misses", self.tie()),
            Strength::NothingCompared if self.misses_nothing => {
                format!("{label} met every deadline; nothing was compared with it")
            }
            Strength::NothingCompared => format!("{label} missed deadlines; nothing was compared with it"),
            Strength::Nothing => "No recommendation".to_owned(),
        }
    }

    /// That others are as good, in brackets.
    fn tie(&self) -> String {
        match self.tied.len() {
            0 | 1 => String::new(),
            2 => " (a tie with another)".to_owned(),
            more => format!(" (a tie with {} others)", more - 1),
        }
    }

    /// Adds on how many of several sets the same configuration is the best, and which are on the others.
    pub(crate) fn count_sets(&mut self, sets: &[Recommendation]) {
        let Some(label) = self.label.clone().filter(|_| sets.len() > 1) else {
            return;
        };
        let best_on = |label: &str| sets.iter().filter(|set| set.label.as_deref() == Some(label)).count();
        let mut others: Vec<(&str, usize)> = Vec::new();
        for other in sets.iter().filter_map(|set| set.label.as_deref()).filter(|other| *other != label) {
            if !others.iter().any(|(known, _)| *known == other) {
                others.push((other, best_on(other)));
            }
        }
        others.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let others: Vec<String> = others.iter().map(|(other, count)| format!("{other} on {count}")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        self.reasons.push(format!(
            "Taken set by set, {label} is the best on {} of {} sets{others}.",
            best_on(&label),
            sets.len()
        ));
    }
}

/// The recommendation for these sets taken together.
pub(crate) fn recommend(study: &Study<'_>, sets: &[usize]) -> Recommendation {
    let all: Vec<(&Configuration, Vec<Measured<'_>>, Evidence)> = study
        .configurations
        .iter()
        .map(|configuration| {
            let runs = study.runs(sets, configuration);
            let evidence = Evidence::of(&runs);
            (configuration, runs, evidence)
        })
        .filter(|(_, runs, _)| !runs.is_empty())
        .collect();
    let incomplete = all.iter().filter(|(_, _, evidence)| !evidence.complete());
    let incomplete = incomplete
        .map(|(configuration, _, evidence)| (configuration.label.clone(), evidence.incomplete.join("; ")));
    let left_out: Vec<String> =
        by_reason(incomplete).into_iter().map(|(labels, why)| format!("{labels} ({why})")).collect();
    let real = |c: &Configuration| c.host != Host::Simulator;
    let any_real = all.iter().any(|(configuration, ..)| real(configuration));
    let candidates: Vec<Candidate<'_>> = all
        .into_iter()
        .filter(|(configuration, _, evidence)| evidence.complete() && (real(configuration) || !any_real))
        .map(|(configuration, runs, evidence)| Candidate::of(study, sets, configuration, &runs, evidence))
        .collect();
    if candidates.is_empty() {
        return nothing_ran(left_out);
    }
    let mut answer = match (&candidates[..], study.configurations.len()) {
        ([sole], 1) => nothing_compared(sole),
        _ => compared(&candidates, tardiness_floor(study, sets)),
    };
    let best = candidates.iter().find(|one| Some(&one.configuration.label) == answer.ranking.first());
    if let Some(best) = best {
        answer.caveats = caveats::caveats(study, sets, best, &candidates);
    }
    if !left_out.is_empty() {
        answer.caveats.push(format!("Not compared, because incomplete: {}.", left_out.join(", ")));
    }
    if let Some(same) = study.results.options.get(laxity_trace::SAME_PLACES) {
        answer.caveats.push(format!("Made once, because their tasks have the same places: {same}."));
    }
    answer
}

/// The best of several configurations.
fn compared(candidates: &[Candidate<'_>], tardiness_floor: f64) -> Recommendation {
    let order = ranking(candidates, tardiness_floor);
    let winner = &candidates[order[0]];
    let all: Vec<usize> = (0..candidates.len()).collect();
    let mut reasons = vec![what_it_missed(winner)];
    let decision = Decision::among(candidates, &all, tardiness_floor);
    reasons.extend(decision.reasons.iter().cloned());
    let label = |index: usize| candidates[index].configuration.label.clone();
    let tied = order.iter().copied().filter(|index| decision.tied.contains(index)).map(label);
    reasons.extend(margins(winner));
    reasons.extend(order.get(1).map(|&second| needed(candidates, &decision, second)));
    Recommendation {
        scheduler: Some(winner.configuration.scheduler.clone()),
        label: Some(winner.configuration.label.clone()),
        host: Some(winner.configuration.host),
        misses_nothing: missed_nothing(winner),
        misses_within_noise: winner.missed_within_noise(),
        tied: tied.collect(),
        misses_per_run: misses_per_run(candidates),
        reasons,
        runner_up: order.get(1).map(|&second| candidates[second].configuration.label.clone()),
        ranking: order.iter().map(|&index| candidates[index].configuration.label.clone()).collect(),
        objections: order.iter().filter_map(|&index| candidates[index].objection.clone()).collect(),
        caveats: vec![],
    }
}

/// What is known of the only configuration.
fn nothing_compared(sole: &Candidate<'_>) -> Recommendation {
    let reasons = [what_it_missed(sole)].into_iter().chain(margins(sole));
    Recommendation {
        scheduler: None,
        label: None,
        host: Some(sole.configuration.host),
        misses_nothing: missed_nothing(sole),
        misses_within_noise: sole.missed_within_noise(),
        tied: vec![],
        misses_per_run: misses_per_run(std::slice::from_ref(sole)),
        reasons: reasons.collect(),
        runner_up: None,
        ranking: vec![sole.configuration.label.clone()],
        objections: sole.objection.iter().cloned().collect(),
        caveats: vec![],
    }
}

/// In the order of the tables.
fn misses_per_run(candidates: &[Candidate<'_>]) -> Vec<MissesPerRun> {
    let groups = all_groups(candidates);
    let of_group = |(group, of): (&Vec<&Candidate<'_>>, (f64, Option<[f64; 2]>))| MissesPerRun {
        labels: group.iter().map(|candidate| candidate.configuration.label.clone()).collect(),
        mean: of.0,
        interval: of.1,
    };
    groups.iter().zip(FAILED_RATIO.failures_per_run(&groups)).map(of_group).collect()
}

fn missed_nothing(candidate: &Candidate<'_>) -> bool {
    candidate.evidence.counts.misses == 0 && candidate.evidence.counts.jobs > 0
}

fn nothing_ran(left_out: Vec<String>) -> Recommendation {
    let reasons = if left_out.is_empty() {
        vec!["The results hold no run of any scheduler.".to_owned()]
    } else {
        vec![format!(
            "No configuration ran to its end in every run that was asked for: {}.",
            left_out.join("; ")
        )]
    };
    Recommendation {
        scheduler: None,
        label: None,
        host: None,
        misses_nothing: false,
        misses_within_noise: false,
        tied: vec![],
        misses_per_run: vec![],
        reasons,
        runner_up: None,
        ranking: vec![],
        objections: vec![],
        caveats: vec![],
    }
}
