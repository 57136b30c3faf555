//! What is known of a configuration that could be recommended.

use super::objections::Objection;
use crate::number;
use crate::study::{Configuration, Evidence, Measured};
use laxity_model::{PolicyScheduler, Scope};
use laxity_trace::{RunSummary, Sample};

/// One eligible configuration.
pub(super) struct Candidate<'s> {
    pub(super) configuration: &'s Configuration,
    pub(super) scope: Option<Scope>,
    pub(super) evidence: Evidence,
    pub(super) laxity_noise: f64,
    pub(super) miss_noise: f64,
    pub(super) tardiness_noise: f64,
    pub(super) migration_noise: f64,
    pub(super) repetitions_least: usize,
    pub(super) tasks_jobs_least: Option<(String, u64)>,
    pub(super) objection: Option<Objection>,
}

impl<'s> Candidate<'s> {
    pub(super) fn of(
        configuration: &'s Configuration,
        runs: &[Measured<'_>],
        evidence: Evidence,
        sets: &[usize],
    ) -> Self {
        let noise = |metric: fn(&RunSummary) -> Option<f64>| repetition_noise(runs, sets, metric);
        let repetitions = |&set: &usize| runs_of(runs, set).count();
        Candidate {
            configuration,
            scope: None,
            laxity_noise: noise(|s| s.normalized_laxity.map(|laxity| laxity.mean)),
            miss_noise: noise(|s| s.miss_ratio),
            tardiness_noise: noise(|s| s.tardiness_ns.map(|t| number::ratio(t.max, 1))),
            migration_noise: noise(|s| s.rates.migration_rate),
            repetitions_least: sets.iter().map(repetitions).filter(|&n| n > 0).min().unwrap_or(0),
            tasks_jobs_least: rarest_task(runs, sets),
            objection: None,
            evidence,
        }
    }

    /// It missed nothing, and all tasks had that guarantee.
    pub(super) fn served_all(&self) -> bool {
        self.evidence.counts.misses == 0 && self.evidence.counts.ordinary == 0
    }

    pub(super) fn miss_ratio(&self) -> f64 {
        self.evidence.counts.miss_ratio().unwrap_or(1.0)
    }

    pub(super) fn tardiness(&self) -> f64 {
        self.evidence.tardiness_ns_max.map_or(f64::INFINITY, |ns| number::ratio(ns, 1))
    }

    pub(super) fn laxity(&self) -> f64 {
        self.evidence.laxity.map_or(f64::NEG_INFINITY, |laxity| laxity.mean)
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

/// How far the jobs of a configuration migrate. One cluster of all cores is global scheduling by another name.
pub(super) fn scope_of(configuration: &Configuration, one_cluster: bool) -> Option<Scope> {
    match configuration.scheduler.parse::<PolicyScheduler>().ok()?.scope {
        Scope::Clustered if one_cluster => Some(Scope::Global),
        scope => Some(scope),
    }
}

fn runs_of<'r, 'a>(runs: &'r [Measured<'a>], set: usize) -> impl Iterator<Item = &'r Measured<'a>> {
    runs.iter().filter(move |m| usize::try_from(m.summary.set).is_ok_and(|of| of == set))
}

/// The standard deviation over the repetitions of one set, averaged (as variance) over the sets that were
/// repeated; 0 if none was.
fn repetition_noise(
    runs: &[Measured<'_>],
    sets: &[usize],
    metric: impl Fn(&RunSummary) -> Option<f64>,
) -> f64 {
    let of_set = |&set: &usize| {
        let values: Vec<f64> = runs_of(runs, set).filter_map(|m| metric(m.summary)).collect();
        let sd = Sample::of(&values)?.sd?;
        Some(sd * sd)
    };
    let variances: Vec<f64> = sets.iter().filter_map(of_set).collect();
    Sample::of(&variances).map_or(0.0, |sample| sample.mean.sqrt())
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
