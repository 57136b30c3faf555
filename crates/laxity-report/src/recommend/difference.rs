//! Two results directories, configuration by configuration: what differs by more than noise.
//!
//! The criteria are those of the recommendation. Between two directories there is no turn-taking: noise is what the repetitions of a
//! configuration vary by within each directory, for each configuration by itself, as one can miss 40 jobs in every run where another
//! misses 5 or 900. All comparisons together call two equal directories different with the probability
//! [`LEVEL`](crate::noise::LEVEL), as far as two directories differ by no more than their repetitions do.

use super::candidate::Candidate;
use super::criteria::{Criterion, Pairs, failed_per_run};
use crate::study::{Configuration, Evidence, Source, Study, by_reason};
use laxity_model::{Diagnostic, Result};
use laxity_trace::{Results, RunDigest};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the format of [`Difference`].
pub const VERSION: u32 = 1;

/// What two results directories have in common, and how it differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Version of this format.
    pub version: u32,
    /// Something is worse in the second by more than noise.
    pub worse: bool,
    /// Something is better in the second by more than noise.
    pub better: bool,
    /// The configurations that both have, in the order of the tables.
    pub configurations: Vec<ConfigurationDifference>,
    /// Names of the task sets that both have.
    pub task_sets: Vec<String>,
    /// What a reader should know: what only one of them has, which options and machines differ.
    pub notes: Vec<String>,
}

/// A configuration in both.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfigurationDifference {
    /// What it is called in tables.
    pub label: String,
    /// Pairs of runs of the same jobs.
    pub pairs: usize,
    /// One per metric.
    pub metrics: Vec<MetricDifference>,
}

/// A metric of a configuration in both.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MetricDifference {
    /// Which metric.
    pub metric: Metric,
    /// In the first: jobs missed per run; maximum tardiness in ns; mean normalized laxity.
    pub before: Option<f64>,
    /// In the second.
    pub after: Option<f64>,
    /// Whether the two differ by more than noise.
    pub verdict: DifferenceVerdict,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Jobs that missed their deadlines, and those of refused tasks.
    MissesPerRun,
    /// Maximum tardiness, where every run has misses.
    TardinessNs,
    /// Mean normalized laxity.
    NormalizedLaxity,
}

/// How the second differs from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceVerdict {
    /// By no more than noise, or not enough to matter.
    Same,
    /// Better by more than noise.
    Better,
    /// Worse by more than noise.
    Worse,
}

impl Difference {
    /// What changed from `before` to `after`.
    ///
    /// Errors: results that are not valid, or that have no task set or no configuration in common whose runs released jobs
    /// for the same time.
    pub fn of(before: &Results, after: &Results) -> Result<Difference> {
        Difference::of_digests([(before, BTreeMap::new()), (after, BTreeMap::new())])
    }

    /// The same from the first to the second, where some runs have not kept their jobs: with each, what was gathered of them, by
    /// number of the run.
    ///
    /// Errors: as [`Difference::of`].
    pub fn of_digests(both: [(&Results, BTreeMap<u32, RunDigest>); 2]) -> Result<Difference> {
        let [before, after] = both.map(|(results, digests)| Study::of(results, Source::Digests(digests)));
        let studies = [before?, after?];
        let common = Common::of(&studies)?;
        let pairs: Vec<Pair<'_>> =
            studies[0].configurations.iter().filter_map(|one| common.pair(one)).collect();
        if pairs.is_empty() {
            return Err(nothing_in_common("no configuration ran to its end in both"));
        }
        let configurations = compared(&pairs, common.tardiness_floor_ns());
        let any = |wanted| {
            configurations.iter().flat_map(|one| &one.metrics).any(|metric| metric.verdict == wanted)
        };
        Ok(Difference {
            version: VERSION,
            worse: any(DifferenceVerdict::Worse),
            better: any(DifferenceVerdict::Better),
            task_sets: common.sets.iter().map(|&(set, _)| studies[0].sets[set].name().to_owned()).collect(),
            notes: common.notes(&pairs),
            configurations,
        })
    }
}

/// What two studies share.
struct Common<'s, 'a> {
    studies: &'s [Study<'a>; 2],
    /// Indices of the same task set in both.
    sets: Vec<(usize, usize)>,
}

/// A configuration that ran to its end in both; runs of the second have the numbers that its sets have in the first.
struct Pair<'s> {
    label: &'s str,
    sides: [Candidate<'s>; 2],
}

impl<'s, 'a> Common<'s, 'a> {
    fn of(studies: &'s [Study<'a>; 2]) -> Result<Self> {
        let documents = |side: usize| &studies[side].results.task_sets;
        let same = |document: &serde_json::Value| documents(1).iter().position(|other| other == document);
        let sets: Vec<(usize, usize)> =
            documents(0).iter().enumerate().filter_map(|(index, set)| Some((index, same(set)?))).collect();
        if sets.is_empty() {
            let names = |side: usize| {
                let names: Vec<String> =
                    studies[side].sets.iter().map(|set| format!("`{}`", set.name())).collect();
                laxity_model::listed(names)
            };
            return Err(nothing_in_common(&format!(
                "no task set is the same in both: {} and {}{}",
                names(0),
                names(1),
                if names(0) == names(1) { " of the same name have different tasks" } else { "" }
            )));
        }
        Ok(Common { studies, sets })
    }

    /// The common sets, as one of the two numbers them.
    fn sets_of(&self, side: usize) -> Vec<usize> {
        self.sets.iter().map(|&(first, second)| if side == 0 { first } else { second }).collect()
    }

    /// What one of the two has of a configuration.
    fn own(&self, side: usize, configuration: &Configuration) -> Option<&'s Configuration> {
        let same = |other: &&Configuration| {
            (&other.scheduler, other.host) == (&configuration.scheduler, configuration.host)
        };
        self.studies[side].configurations.iter().find(same)
    }

    /// Nothing unless both have it, all of its runs on the common sets ended in both, and released jobs for the same time.
    fn pair(&self, configuration: &'s Configuration) -> Option<Pair<'s>> {
        let of = |side: usize| {
            let (study, sets) = (&self.studies[side], self.sets_of(side));
            let own = self.own(side, configuration)?;
            let runs = study.runs(&sets, own);
            let evidence = Evidence::of(&runs);
            let durations: Vec<_> = runs.iter().map(|measured| measured.run.duration).collect();
            let mut candidate =
                evidence.complete().then(|| Candidate::of(study, &sets, own, &runs, evidence))?;
            candidate.runs = candidate
                .runs
                .into_iter()
                .filter_map(|((set, repetition), run)| {
                    let of_first = |&&(first, second): &&(usize, usize)| {
                        usize::try_from(set).is_ok_and(|set| set == if side == 0 { first } else { second })
                    };
                    let first = self.sets.iter().find(of_first)?.0;
                    Some(((u32::try_from(first).ok()?, repetition), run))
                })
                .collect();
            Some((candidate, durations))
        };
        let ((before, first), (after, second)) = (of(0)?, of(1)?);
        let one_duration = first.iter().chain(&second).all(|duration| *duration == first[0]);
        let pair = Pair { label: &configuration.label, sides: [before, after] };
        (one_duration && pair.blocks().next().is_some()).then_some(pair)
    }

    fn tardiness_floor_ns(&self) -> f64 {
        super::criteria::tardiness_floor(&self.studies[0], &self.sets_of(0))
    }

    /// What is not compared, and under which conditions the two differ.
    fn notes(&self, pairs: &[Pair<'_>]) -> Vec<String> {
        let mut notes = Vec::new();
        let compared = |label: &str| pairs.iter().any(|pair| pair.label == label);
        for (study, which) in self.studies.iter().zip(["first", "second"]) {
            let left = study.configurations.iter().filter(|one| !compared(&one.label));
            for (names, why) in by_reason(left.map(|one| (one.label.clone(), self.why_not(one)))) {
                notes.push(format!("Of the {which}, not compared, because {why}: {names}."));
            }
            let more = study.sets.len() - self.sets.len();
            if more > 0 {
                let sets = crate::number::counted(more, "task set");
                notes.push(format!("The {which} has {sets} that the other lacks."));
            }
        }
        if pairs.iter().any(Pair::is_one_run) {
            notes.push(
                "With one run of each, noise is assumed, not measured, and a configuration that varies much can differ by chance: \
                 make both with --repeat 3."
                    .to_owned(),
            );
        }
        notes.extend(self.conditions());
        notes
    }

    /// Why a configuration of one of the two is not compared.
    fn why_not(&self, configuration: &Configuration) -> String {
        let of = |side: usize| {
            let runs = self.studies[side].runs(&self.sets_of(side), self.own(side, configuration)?);
            Some(Evidence::of(&runs).complete())
        };
        match (of(0), of(1)) {
            (None, _) | (_, None) => "the other lacks it".to_owned(),
            (Some(true), Some(true)) => "its jobs were released for another time".to_owned(),
            _ => "it did not run to its end in both".to_owned(),
        }
    }

    /// Options and facts of the machines that differ.
    fn conditions(&self) -> Vec<String> {
        let [before, after] = [0, 1].map(|side| self.studies[side].results);
        let mut notes = Vec::new();
        let mut differs = |what: &str, first: Option<&str>, second: Option<&str>| {
            if first != second {
                let [first, second] = [first, second].map(|value| value.unwrap_or("nothing"));
                notes.push(format!("Not the same in both: {what}, {first} and {second}."));
            }
        };
        let names = before.options.keys().chain(after.options.keys());
        for name in names.collect::<std::collections::BTreeSet<_>>() {
            differs(
                name,
                before.options.get(name).map(String::as_str),
                after.options.get(name).map(String::as_str),
            );
        }
        let [one, other] = [before, after].map(|results| &results.machine);
        differs("kernel", Some(&one.kernel), Some(&other.kernel));
        differs("processor", Some(&one.cpu_model), Some(&other.cpu_model));
        differs("seed", Some(&before.seed.to_string()), Some(&after.seed.to_string()));
        differs("CPUs", Some(&one.cpus.to_string()), Some(&other.cpus.to_string()));
        notes
    }
}

impl Pair<'_> {
    /// Set and repetition of the runs that both have.
    fn blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let [before, after] = &self.sides;
        before.runs.keys().copied().filter(|block| after.runs.contains_key(block))
    }

    /// Whether there is no repetition to see noise in, and noise there is: not in a simulation.
    fn is_one_run(&self) -> bool {
        !self.sides[0].is_exact() && self.sides.iter().all(|side| side.repetitions_least() < 2)
    }

    /// Every run of both has misses: only then does the latest job say anything.
    fn always_late(&self) -> bool {
        let runs = self.sides.iter().flat_map(|side| side.runs.values());
        { runs }.all(|run| run.counts.misses > 0)
    }
}

/// All metrics of all configurations.
fn compared(pairs: &[Pair<'_>], tardiness_floor_ns: f64) -> Vec<ConfigurationDifference> {
    let metrics = [
        (Metric::MissesPerRun, super::criteria::FAILED_RATIO),
        (Metric::TardinessNs, Criterion::tardiness(tardiness_floor_ns)),
        (Metric::NormalizedLaxity, super::criteria::LAXITY),
    ];
    let comparisons = pairs.len() * metrics.len();
    let mut found: Vec<ConfigurationDifference> = pairs
        .iter()
        .map(|pair| ConfigurationDifference {
            label: pair.label.to_owned(),
            pairs: pair.blocks().count(),
            metrics: vec![],
        })
        .collect();
    for (metric, criterion) in metrics {
        let with: Vec<usize> =
            (0..pairs.len()).filter(|&at| metric != Metric::TardinessNs || pairs[at].always_late()).collect();
        let sides: Vec<[&Candidate<'_>; 2]> =
            with.iter().map(|&at| [&pairs[at].sides[0], &pairs[at].sides[1]]).collect();
        let verdicts = Pairs::of(criterion, &sides).verdicts(comparisons);
        for (&at, order) in with.iter().zip(verdicts) {
            let [before, after] = [0, 1].map(|side| metric.value(&pairs[at].sides[side]));
            let verdict = match order {
                std::cmp::Ordering::Less => DifferenceVerdict::Better,
                std::cmp::Ordering::Equal => DifferenceVerdict::Same,
                std::cmp::Ordering::Greater => DifferenceVerdict::Worse,
            };
            found[at].metrics.push(MetricDifference { metric, before, after, verdict });
        }
    }
    found
}

impl Metric {
    /// To show.
    fn value(self, candidate: &Candidate<'_>) -> Option<f64> {
        let evidence = &candidate.evidence;
        match self {
            Metric::MissesPerRun => Some(failed_per_run(&[candidate])),
            Metric::TardinessNs => Some(crate::number::ratio(evidence.tardiness_ns_max?, 1)),
            Metric::NormalizedLaxity => Some(evidence.laxity?.mean),
        }
    }
}

fn nothing_in_common(why: &str) -> Diagnostic {
    Diagnostic::usage(format!("the two have nothing in common: {why}"))
        .hint("compare directories of the same task sets, schedulers and --duration; `laxity check DIR` says what is in one")
}
