//! Which configuration to deploy, and why.
//!
//! 1. Eligible is what ran to its end in every run that was asked for.
//! 2. Where an exact test or the simulation of the same jobs shows that a configuration misses deadlines by itself
//!    ([`Objection`]), it comes after all against which nothing is shown, whatever was measured of the two.
//! 3. Then configurations are compared on one criterion after the other; those that are worse than the best on it
//!    *by more than the noise* drop out:
//!    no missed deadline and no task refused; share of jobs missed, or of tasks that were refused; maximum tardiness; mean normalized laxity.
//! 4. What remains is a tie, and goes to the cheaper and simpler: fewer migrations, then partitioned before
//!    clustered before global, then fewer context switches, then the order of the tables. On a machine of one
//!    cluster, clustered scheduling is global scheduling, and the tie between the two goes to the order of the
//!    tables.
//! 5. Noise of a metric is its standard deviation over the repetitions of one set (the mean of the variances
//!    over sets, so that differences between sets do not count as noise), and at least the floor given at the
//!    criterion. "Misses nothing" is exact: one miss is one miss.
//!
//! The criteria are applied to the best of those left, not to pairs, because "within noise" is not transitive
//! and a sort by it would depend on the order of its input. Measurements are evidence, not proof; the caveats
//! say how strong. Where there is one configuration, nothing is recommended.

mod candidate;
mod caveats;
mod decision;
mod objections;
mod words;

pub use objections::Objection;

use crate::study::{Configuration, Evidence, Measured, Study, by_reason};
use candidate::{Candidate, scope_of};
use decision::{Decision, ranking, tardiness_floor};
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
            Strength::Clean => format!("Deploy {label}"),
            Strength::CleanSimulated => format!("Best in simulation: {label}"),
            Strength::LeastBad if self.misses_nothing => {
                format!(
                    "{label} is the least bad: it met every deadline here, and misses some for other arrivals"
                )
            }
            Strength::LeastBad => format!("{label} is the least bad, but it misses"),
            Strength::NothingCompared if self.misses_nothing => {
                format!("{label} met every deadline; nothing was compared with it")
            }
            Strength::NothingCompared => format!("{label} missed deadlines; nothing was compared with it"),
            Strength::Nothing => "No recommendation".to_owned(),
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
        by_reason(incomplete).into_iter().map(|(who, why)| format!("{who} ({why})")).collect();
    let real = |c: &Configuration| c.host != Host::Simulator;
    let any_real = all.iter().any(|(configuration, ..)| real(configuration));
    let candidates: Vec<Candidate<'_>> = all
        .into_iter()
        .filter(|(configuration, _, evidence)| evidence.complete() && (real(configuration) || !any_real))
        .map(|(configuration, runs, evidence)| Candidate {
            scope: scope_of(configuration, study.one_cluster()),
            objection: Objection::to(study, sets, configuration),
            ..Candidate::of(configuration, &runs, evidence, sets)
        })
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
    answer
}

/// The best of several configurations.
fn compared(candidates: &[Candidate<'_>], tardiness_floor: f64) -> Recommendation {
    let order = ranking(candidates, tardiness_floor);
    let winner = &candidates[order[0]];
    let all: Vec<usize> = (0..candidates.len()).collect();
    let mut reasons = vec![what_it_missed(winner)];
    reasons.extend(Decision::among(candidates, &all, tardiness_floor).reasons);
    reasons.extend(margins(winner));
    reasons.extend(order.get(1).map(|&second| needed(candidates, order[0], second, tardiness_floor)));
    Recommendation {
        scheduler: Some(winner.configuration.scheduler.clone()),
        label: Some(winner.configuration.label.clone()),
        host: Some(winner.configuration.host),
        misses_nothing: missed_nothing(winner),
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
        reasons: reasons.collect(),
        runner_up: None,
        ranking: vec![sole.configuration.label.clone()],
        objections: sole.objection.iter().cloned().collect(),
        caveats: vec![],
    }
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
        reasons,
        runner_up: None,
        ranking: vec![],
        objections: vec![],
        caveats: vec![],
    }
}
