//! What is known of a configuration that could be recommended.

use super::objections::{self, Objection};
use crate::analysis::{self, Guarantee};
use crate::causes::{self, MissCauses};
use crate::noise::mean;
use crate::number;
use crate::study::{Configuration, Evidence, Measured, Study};
use laxity_model::{AnyScheduler, Scope, scheduler_of};
use laxity_trace::{Host, RunSummary};
use std::collections::BTreeMap;

/// Shares of missed jobs that differ by no more are a tie.
pub(super) const MISS_RATIO_FLOOR: f64 = 0.001;

/// One eligible configuration.
pub(super) struct Candidate<'s> {
    pub(super) configuration: &'s Configuration,
    pub(super) scope: Option<Scope>,
    pub(super) evidence: Evidence,
    /// Its runs, by set and repetition.
    pub(super) runs: BTreeMap<(u32, u32), &'s RunSummary>,
    pub(super) tasks_jobs_least: Option<(String, u64)>,
    pub(super) objection: Option<Objection>,
    /// What is proven of it on all sets; nothing where it was not analysed.
    pub(super) guarantee: Option<Guarantee>,
    /// Why it missed, where that is known.
    pub(super) causes: Option<MissCauses>,
    /// The same jobs were simulated, and met every deadline.
    clean_when_simulated: bool,
}

impl<'s> Candidate<'s> {
    pub(super) fn of(
        study: &Study<'_>,
        sets: &[usize],
        configuration: &'s Configuration,
        runs: &[Measured<'s>],
        evidence: Evidence,
    ) -> Self {
        let summaries = runs.iter().map(|measured| measured.summary);
        Candidate {
            configuration,
            scope: scope_of(configuration, study.one_cluster()),
            runs: summaries.map(|summary| ((summary.set, summary.repetition), summary)).collect(),
            tasks_jobs_least: rarest_task(runs, sets),
            objection: Objection::to(study, sets, configuration),
            clean_when_simulated: objections::is_clean_when_simulated(study, sets, configuration),
            guarantee: analysis::guarantee(study, sets, &configuration.scheduler),
            causes: (evidence.counts.misses > 0).then(|| causes::of(study, sets, configuration)).flatten(),
            evidence,
        }
    }

    /// The fewest repetitions of a set.
    pub(super) fn repetitions_least(&self) -> usize {
        let mut of_sets: BTreeMap<u32, usize> = BTreeMap::new();
        self.runs.keys().for_each(|(set, _)| *of_sets.entry(*set).or_default() += 1);
        of_sets.into_values().min().unwrap_or(0)
    }

    /// On average.
    pub(super) fn jobs_per_run(&self) -> f64 {
        mean(self.runs.values().map(|run| number::ratio(run.counts.known(), 1)))
    }

    /// They are the same configuration.
    pub(super) fn is(&self, other: &Candidate<'_>) -> bool {
        self.configuration == other.configuration
    }

    /// It was simulated: what it shows is no sample, and has no noise.
    pub(super) fn is_exact(&self) -> bool {
        self.configuration.host == Host::Simulator
    }

    /// It missed nothing, and all tasks had that guarantee.
    pub(super) fn served_all(&self) -> bool {
        self.evidence.counts.failed() == 0
    }

    /// How many jobs it missed, of how many, in words.
    pub(super) fn missed(&self) -> String {
        let counts = self.evidence.counts;
        format!(
            "{} {} of {}",
            self.configuration.label,
            number::count(counts.misses),
            number::counted(counts.jobs, "job")
        ) + &match counts.ordinary {
            0 => String::new(),
            some => format!(" and refused {} more", number::count(some)),
        }
    }

    /// It missed, but few, and it is proven or simulated that its schedule has no misses.
    pub(super) fn missed_within_noise(&self) -> bool {
        let counts = self.evidence.counts;
        let few = counts.miss_ratio().is_some_and(|ratio| ratio <= MISS_RATIO_FLOOR);
        let shown = self.guarantee == Some(Guarantee::Hard) || self.clean_when_simulated;
        counts.misses > 0 && few && shown && self.objection.is_none()
    }

    /// Smaller is simpler.
    pub(super) fn scope_rank(&self) -> u8 {
        match self.scope {
            Some(Scope::Partitioned) => 0,
            Some(Scope::Clustered) => 1,
            Some(Scope::Global) => 2,
            None => 3,
        }
    }
}

/// How far the jobs of a configuration migrate. One cluster of all CPUs is global scheduling by another name.
fn scope_of(configuration: &Configuration, one_cluster: bool) -> Option<Scope> {
    match scheduler_of(&configuration.scheduler).0.parse::<AnyScheduler>().ok()?.scope() {
        Scope::Clustered if one_cluster => Some(Scope::Global),
        scope => Some(scope),
    }
}

fn runs_of<'r, 'a>(runs: &'r [Measured<'a>], set: usize) -> impl Iterator<Item = &'r Measured<'a>> {
    runs.iter().filter(move |m| usize::try_from(m.summary.set).is_ok_and(|of| of == set))
}

/// The task with the fewest jobs, and how many.
fn rarest_task(runs: &[Measured<'_>], sets: &[usize]) -> Option<(String, u64)> {
    let mut least: Option<(String, u64)> = None;
    for &set in sets {
        let Some(first) = runs_of(runs, set).next() else { continue };
        for (place, task) in first.summary.tasks.iter().enumerate() {
            let of_run = |m: &Measured<'_>| {
                m.summary.tasks.get(place).map_or(0, |t| t.counts.jobs + t.counts.ordinary)
            };
            let jobs = runs_of(runs, set).map(of_run).sum();
            if least.as_ref().is_none_or(|(_, fewest)| jobs < *fewest) {
                let set_name =
                    if sets.len() > 1 { format!("{} / ", first.summary.set_name) } else { String::new() };
                least = Some((format!("{set_name}{}", task.name), jobs));
            }
        }
    }
    least
}
