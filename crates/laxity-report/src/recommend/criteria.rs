//! What is measured of configurations to tell them apart, and how close is a tie.

use super::candidate::{Candidate, MISS_RATIO_FLOOR};
use crate::noise::{Layout, Prior, mean, of_count, to_count};
use crate::number;
use crate::study::Study;
use laxity_model::{AnyScheduler, scheduler_of};
use laxity_trace::{Counts, RunSummary};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Mean normalized laxities that differ by no more than this share of a period are a tie.
const LAXITY_FLOOR: f64 = 0.05;
/// Maximum tardiness that differs by no more than this share of the shortest period is a tie.
const TARDINESS_FLOOR_PERIODS: f64 = 0.01;

/// Of the sets: the least difference of maximum tardiness that counts, in ns.
pub(super) fn tardiness_floor(study: &Study<'_>, sets: &[usize]) -> f64 {
    let periods = sets.iter().filter_map(|&set| study.sets.get(set));
    let shortest = periods.flat_map(|set| set.real_time().map(|(_, task)| task.period().as_ns())).min();
    TARDINESS_FLOOR_PERIODS * number::ratio(shortest.unwrap_or(0), 1)
}

/// A criterion: which value, how close is a tie, and on which scale noise is the same everywhere.
#[derive(Clone, Copy)]
pub(super) struct Criterion {
    pub(super) name: &'static str,
    /// Of configurations that are the same thing, taken together; smaller is better.
    pub(super) value: fn(&[&Candidate<'_>]) -> f64,
    /// Of one run, with `floor`.
    observed: fn(&RunSummary, f64) -> f64,
    prior: Prior,
    /// Differences of `value` up to this are a tie, whatever the noise.
    pub(super) floor: f64,
    /// The same between two simulations, which have no noise.
    floor_exact: f64,
    pub(super) show: fn(f64) -> String,
}

/// Jobs that missed their deadlines, and those of tasks that were refused.
pub(super) const FAILED_RATIO: Criterion =
    Criterion { name: "share of jobs missed, or of tasks that were refused", ..MISS_RATIO };

pub(super) const MISS_RATIO: Criterion = Criterion {
    name: "share of jobs missed",
    value: |members| {
        let counts = counts(members);
        if counts.known() == 0 { 1.0 } else { number::ratio(counts.failed(), counts.known()) }
    },
    observed: |run, _| of_count(number::ratio(run.counts.failed(), 1)),
    // At least Poisson's; where noise is not measured, a variance of four times that.
    prior: Prior { sd_least: 1.0, sd_assumed: 2.0 },
    floor: MISS_RATIO_FLOOR,
    floor_exact: 0.0,
    show: |share| {
        if share == 0.0 { "0 %".to_owned() } else { format!("{} %", number::significant(share * 100.0)) }
    },
};

const TARDINESS: Criterion = Criterion {
    name: "maximum tardiness",
    value: |members| {
        let most = members.iter().filter_map(|candidate| candidate.evidence.tardiness_ns_max).max();
        most.map_or(f64::INFINITY, |ns| number::ratio(ns, 1))
    },
    // Extremes vary by factors. A run in which no job ended is later than any other.
    observed: |run, floor| {
        let most = run.tardiness_ns.map_or(f64::MAX, |tardiness| number::ratio(tardiness.max, 1));
        libm::log(most + floor.max(1.0))
    },
    prior: Prior { sd_least: 0.1, sd_assumed: 0.7 },
    floor: 0.0,
    floor_exact: 0.0,
    show: |ns| number::span(ns),
};

pub(super) const LAXITY: Criterion = Criterion {
    name: "mean normalized laxity",
    value: |members| {
        let means = members.iter().map(|c| c.evidence.laxity.map_or(f64::NEG_INFINITY, |laxity| laxity.mean));
        -means.sum::<f64>() / number::ratio(members.len().try_into().unwrap_or(1), 1)
    },
    observed: |run, _| run.normalized_laxity.map_or(f64::MAX, |laxity| -laxity.mean),
    prior: Prior { sd_least: 0.005, sd_assumed: 0.02 },
    floor: LAXITY_FLOOR,
    floor_exact: LAXITY_FLOOR,
    show: |negative| number::significant(-negative),
};

impl Criterion {
    /// Maximum tardiness, of which differences up to `floor_ns` are a tie.
    pub(super) fn tardiness(floor_ns: f64) -> Self {
        Criterion { floor: floor_ns, floor_exact: floor_ns, ..TARDINESS }
    }

    /// How noise lies in these groups of configurations.
    fn layout(&self, groups: &[Vec<&Candidate<'_>>]) -> Layout {
        let blocks = common_blocks(groups);
        let observed = |candidate: &&Candidate<'_>| -> Vec<f64> {
            let of_run = |run: &RunSummary| (self.observed)(run, self.floor);
            match blocks.is_empty() {
                // They have no jobs in common: each is one observation, whose noise is not known.
                true => vec![mean(candidate.runs.values().map(|run| of_run(run)))],
                false => blocks.iter().map(|block| of_run(candidate.runs[block])).collect(),
            }
        };
        let of_group = |group: &Vec<&Candidate<'_>>| group.iter().map(observed).collect();
        let sets: Vec<u32> =
            if blocks.is_empty() { vec![0] } else { blocks.iter().map(|block| block.0).collect() };
        Layout::of(&groups.iter().map(of_group).collect::<Vec<_>>(), &sets, self.prior)
    }

    /// Whether each group is as good as the best of those that are left, as far as can be told. The runs of all say how much
    /// noise there is.
    pub(super) fn ties(&self, groups: &[Vec<&Candidate<'_>>], left: &[bool]) -> Vec<bool> {
        let values: Vec<f64> = groups.iter().map(|group| (self.value)(group)).collect();
        // Where nothing was measured, there is nothing to vary.
        let measured: Vec<usize> = (0..groups.len()).filter(|&group| values[group].is_finite()).collect();
        let of_measured: Vec<Vec<&Candidate<'_>>> =
            measured.iter().map(|&group| groups[group].clone()).collect();
        let exact = groups.iter().flatten().all(|candidate| candidate.is_exact());
        let layout = (!exact && !measured.is_empty()).then(|| self.layout(&of_measured));
        let place = |group: usize| measured.iter().position(|&one| one == group);
        // The best is that of the least value: on the scale of the noise the order can be another.
        let in_order = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let Some(best) = (0..groups.len()).filter(|&group| left[group]).min_by(in_order) else {
            return vec![false; groups.len()];
        };
        let within_noise = |group: usize| match (&layout, place(best), place(group)) {
            (Some(layout), Some(best), Some(group)) => !layout.differ(best, group),
            _ => false,
        };
        // Infinite values (nothing measured) are worse than any other and equal to each other.
        let is_tied = |group: usize| {
            values[group] == values[best] || values[group] - values[best] <= self.floor || within_noise(group)
        };
        (0..groups.len()).map(is_tied).collect()
    }
}

/// Of [`MISS_RATIO`] and [`FAILED_RATIO`], whose scale is that of counts.
impl Criterion {
    /// By how many failures a run two groups must differ to be told apart, above those of the first; it is a count.
    pub(super) fn failures_told_apart(
        &self,
        groups: &[Vec<&Candidate<'_>>],
        first: usize,
        other: usize,
    ) -> f64 {
        let layout = self.layout(groups);
        let scaled = layout.mean(first);
        let noise = to_count(scaled + layout.least_difference(first, other)) - to_count(scaled);
        let jobs = groups[first].iter().flat_map(|candidate| candidate.runs.values());
        noise.max(self.floor * mean(jobs.map(|run| number::ratio(run.counts.known(), 1))))
    }

    /// Failures per run of each group, with the confidence interval of their mean where noise was measured.
    pub(super) fn failures_per_run(&self, groups: &[Vec<&Candidate<'_>>]) -> Vec<(f64, Option<[f64; 2]>)> {
        let layout = self.layout(groups);
        let exact = groups.iter().flatten().any(|candidate| candidate.is_exact());
        let interval = |group| {
            let ends = layout.interval(group).map(to_count);
            (layout.is_measured() && !exact).then_some(ends)
        };
        groups.iter().enumerate().map(|(index, group)| (failed_per_run(group), interval(index))).collect()
    }
}

/// Of configurations taken together.
fn counts(members: &[&Candidate<'_>]) -> Counts {
    members.iter().map(|candidate| candidate.evidence.counts).sum()
}

/// Jobs that failed in a run of these configurations, on average.
pub(super) fn failed_per_run(members: &[&Candidate<'_>]) -> f64 {
    let runs: usize = members.iter().map(|candidate| candidate.runs.len()).sum();
    number::ratio(counts(members).failed(), runs.try_into().unwrap_or(1).max(1))
}

/// Configurations, each in two results.
pub(super) struct Pairs<'p, 'c> {
    criterion: Criterion,
    pairs: &'p [[&'c Candidate<'c>; 2]],
    /// Blocks of each pair: the sets and repetitions in which both have run.
    blocks: Vec<BTreeSet<(u32, u32)>>,
}

impl<'p, 'c> Pairs<'p, 'c> {
    /// Both of each have a run in common.
    pub(super) fn of(criterion: Criterion, pairs: &'p [[&'c Candidate<'c>; 2]]) -> Self {
        let blocks = pairs.iter().map(|pair| common_blocks(&[pair.to_vec()])).collect();
        Pairs { criterion, pairs, blocks }
    }

    /// How the second of each compares with the first, where all of `comparisons` together are to be right: less is better.
    pub(super) fn verdicts(&self, comparisons: usize) -> Vec<Ordering> {
        let observed = self.pairs.iter().zip(&self.blocks).map(|(pair, blocks)| {
            let sets: Vec<u32> = blocks.iter().map(|block| block.0).collect();
            let observed = [0, 1].map(|side: usize| self.observed(pair[side], blocks));
            let noise = Layout::of_repetitions(&observed, &sets, self.criterion.prior);
            let least = noise.least_difference_of([blocks.len(); 2], comparisons);
            let [before, after] = [0, 1].map(|side| (self.criterion.value)(&[pair[side]]));
            let exact = pair.iter().all(|candidate| candidate.is_exact());
            let floor = if exact { self.criterion.floor_exact } else { self.criterion.floor };
            let told_apart = exact || (noise.mean(1) - noise.mean(0)).abs() >= least;
            match (after - before).abs() > floor && told_apart {
                true => after.total_cmp(&before),
                false => Ordering::Equal,
            }
        });
        observed.collect()
    }

    fn observed(&self, candidate: &Candidate<'_>, blocks: &BTreeSet<(u32, u32)>) -> Vec<f64> {
        let of_run = |block| (self.criterion.observed)(candidate.runs[block], self.criterion.floor);
        blocks.iter().map(of_run).collect()
    }
}

/// The sets and repetitions in which all have run.
fn common_blocks(groups: &[Vec<&Candidate<'_>>]) -> BTreeSet<(u32, u32)> {
    let mut candidates = groups.iter().flatten();
    let first =
        candidates.next().map(|candidate| candidate.runs.keys().copied().collect()).unwrap_or_default();
    candidates.fold(first, |common: BTreeSet<_>, candidate| {
        common.into_iter().filter(|block| candidate.runs.contains_key(block)).collect()
    })
}

/// The same rule in the same scope, placed in the same way: one would be the other under another name.
pub(super) fn twins(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    let apart = |one: &Candidate<'_>| {
        let (scheduler, placement) = scheduler_of(&one.configuration.scheduler);
        Some((scheduler.parse::<AnyScheduler>().ok()?, placement.map(str::to_owned)))
    };
    apart(a).zip(apart(b)).is_some_and(|((a, by), (b, other))| a.is_twin_of(&b) && by == other)
        && a.scope == b.scope
        && a.configuration.host == b.configuration.host
}
