//! Which configuration to deploy, and why.
//!
//! 1. Eligible is what ran to its end in every run that was asked for.
//! 2. Configurations are compared on one criterion after the other; those that are worse than the best on it
//!    *by more than the noise* drop out:
//!    no missed deadline and no task refused; share of jobs missed, or of tasks that were refused; maximum tardiness; mean normalized laxity.
//! 3. What remains is a tie, and goes to the cheaper and simpler: fewer migrations, then partitioned before
//!    clustered before global, then fewer context switches, then the order of the tables. On a machine of one
//!    cluster, clustered scheduling is global scheduling, and the tie between the two goes to the order of the
//!    tables.
//! 4. Noise of a metric is its standard deviation over the repetitions of one set (the mean of the variances
//!    over sets, so that differences between sets do not count as noise), and at least the floor given at the
//!    criterion. "Misses nothing" is exact: one miss is one miss.
//!
//! The criteria are applied to the best of those left, not to pairs, because "within noise" is not transitive
//! and a sort by it would depend on the order of its input. Measurements are evidence, not proof; the caveats
//! say how strong.

mod caveats;

use crate::number;
use crate::study::{Configuration, Evidence, Measured, Study, by_reason};
use laxity_model::{PolicyScheduler, Scope};
use laxity_trace::{Host, RunSummary, Sample};
use schemars::JsonSchema;
use serde::Serialize;

/// Shares of missed jobs closer than this are a tie.
const MISS_RATIO_FLOOR: f64 = 0.001;
/// Mean normalized laxities closer than this share of a period are a tie.
const LAXITY_FLOOR: f64 = 0.01;
/// Maximum tardiness closer than this share of the shortest period is a tie.
const TARDINESS_FLOOR_PERIODS: f64 = 0.01;
/// Migrations and context switches per task are a tie within this share.
const EVENTS_FLOOR_SHARE: f64 = 0.05;

/// The configuration to deploy, with the numbers that speak for it and those that should temper it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Name of the scheduler; nothing if no configuration ran to its end.
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
    /// What a reader should know before trusting it.
    pub caveats: Vec<String>,
}

impl Recommendation {
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

/// One eligible configuration.
struct Candidate<'s> {
    configuration: &'s Configuration,
    scope: Option<Scope>,
    evidence: Evidence,
    laxity_noise: f64,
    miss_noise: f64,
    tardiness_noise: f64,
    migration_noise: f64,
    repetitions_least: usize,
    tasks_jobs_least: Option<(String, u64)>,
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
            ..Candidate::of(configuration, &runs, evidence, sets)
        })
        .collect();
    if candidates.is_empty() {
        return nothing_ran(left_out);
    }
    let floor = tardiness_floor(study, sets);
    let order = ranking(&candidates, floor);
    let winner = &candidates[order[0]];
    let mut reasons = vec![what_it_missed(winner)];
    reasons.extend(decided(&candidates, &all_indices(&candidates), floor).1);
    reasons.extend(margins(winner));
    let mut caveats = caveats::caveats(study, sets, winner);
    if !left_out.is_empty() {
        caveats.push(format!("Not compared, because incomplete: {}.", left_out.join(", ")));
    }
    Recommendation {
        scheduler: Some(winner.configuration.scheduler.clone()),
        label: Some(winner.configuration.label.clone()),
        host: Some(winner.configuration.host),
        misses_nothing: winner.evidence.counts.misses == 0 && winner.evidence.counts.jobs > 0,
        reasons,
        runner_up: order.get(1).map(|&second| candidates[second].configuration.label.clone()),
        ranking: order.iter().map(|&index| candidates[index].configuration.label.clone()).collect(),
        caveats,
    }
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
        caveats: vec![],
    }
}

impl<'s> Candidate<'s> {
    fn of(
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
            evidence,
        }
    }

    /// It missed nothing, and all tasks had that guarantee.
    fn served_all(&self) -> bool {
        self.evidence.counts.misses == 0 && self.evidence.counts.ordinary == 0
    }

    fn miss_ratio(&self) -> f64 {
        self.evidence.counts.miss_ratio().unwrap_or(1.0)
    }

    fn tardiness(&self) -> f64 {
        self.evidence.tardiness_ns_max.map_or(f64::INFINITY, |ns| number::ratio(ns, 1))
    }

    fn laxity(&self) -> f64 {
        self.evidence.laxity.map_or(f64::NEG_INFINITY, |laxity| laxity.mean)
    }

    /// Smaller is simpler.
    fn scope_rank(&self) -> u8 {
        match self.scope {
            Some(Scope::Partitioned) => 0,
            Some(Scope::Clustered) => 1,
            Some(Scope::Global) => 2,
            None => 3,
        }
    }
}

/// How far the jobs of a configuration migrate. One cluster of all cores is global scheduling by another name.
fn scope_of(configuration: &Configuration, one_cluster: bool) -> Option<Scope> {
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

fn tardiness_floor(study: &Study<'_>, sets: &[usize]) -> f64 {
    let periods = sets.iter().filter_map(|&set| study.sets.get(set));
    let shortest = periods.flat_map(|set| set.real_time().map(|(_, task)| task.period().as_ns())).min();
    TARDINESS_FLOOR_PERIODS * number::ratio(shortest.unwrap_or(0), 1)
}

fn all_indices(candidates: &[Candidate<'_>]) -> Vec<usize> {
    (0..candidates.len()).collect()
}

/// Best first: the winner, then the winner of the others, and so on.
fn ranking(candidates: &[Candidate<'_>], tardiness_floor: f64) -> Vec<usize> {
    let mut left = all_indices(candidates);
    let mut order = Vec::new();
    while !left.is_empty() {
        let (winner, _) = decided(candidates, &left, tardiness_floor);
        left.retain(|&index| index != winner);
        order.push(winner);
    }
    order
}

/// A criterion: which value, how it is written, and how close is a tie.
struct Criterion {
    name: &'static str,
    /// Smaller is better.
    value: fn(&Candidate<'_>) -> f64,
    noise: fn(&Candidate<'_>) -> f64,
    floor: f64,
    show: fn(f64) -> String,
}

/// The winner among `left` (not empty), and the sentences that say what decided.
fn decided(candidates: &[Candidate<'_>], left: &[usize], tardiness_floor: f64) -> (usize, Vec<String>) {
    let mut left = left.to_vec();
    let mut reasons = Vec::new();
    let clean: Vec<usize> = left.iter().copied().filter(|&i| candidates[i].served_all()).collect();
    if !clean.is_empty() && clean.len() < left.len() {
        let others = left.iter().filter(|index| !clean.contains(index));
        let others: Vec<String> = others.map(|&i| missed(&candidates[i])).collect();
        reasons.push(format!("Others missed deadlines: {}.", others.join(", ")));
        left = clean;
    } else if clean.is_empty() {
        let refused = left.iter().any(|&i| candidates[i].evidence.counts.ordinary > 0);
        let criterion = if refused { &FAILED_RATIO } else { &MISS_RATIO };
        eliminate(candidates, &mut left, &mut reasons, criterion);
        eliminate(candidates, &mut left, &mut reasons, &Criterion { floor: tardiness_floor, ..TARDINESS });
    }
    eliminate(candidates, &mut left, &mut reasons, &LAXITY);
    (cheapest(candidates, &mut left, &mut reasons), reasons)
}

const FAILED_RATIO: Criterion = Criterion {
    name: "share of jobs missed, or of tasks that were refused",
    value: |candidate| {
        let counts = candidate.evidence.counts;
        match counts.jobs + counts.ordinary {
            0 => 1.0,
            all => number::ratio(counts.misses + counts.ordinary, all),
        }
    },
    noise: |candidate| candidate.miss_noise,
    floor: MISS_RATIO_FLOOR,
    show: |share| format!("{} %", number::significant(share * 100.0)),
};

const MISS_RATIO: Criterion = Criterion {
    name: "share of jobs missed",
    value: |candidate| candidate.miss_ratio(),
    noise: |candidate| candidate.miss_noise,
    floor: MISS_RATIO_FLOOR,
    show: |share| format!("{} %", number::significant(share * 100.0)),
};

const TARDINESS: Criterion = Criterion {
    name: "maximum tardiness",
    value: |candidate| candidate.tardiness(),
    noise: |candidate| candidate.tardiness_noise,
    floor: 0.0,
    show: |ns| number::span(ns),
};

const LAXITY: Criterion = Criterion {
    name: "mean normalized laxity",
    value: |candidate| -candidate.laxity(),
    noise: |candidate| candidate.laxity_noise,
    floor: LAXITY_FLOOR,
    show: |negative| number::significant(-negative),
};

/// Drops those that are worse than the best by more than the noise of either, or the floor.
fn eliminate(
    candidates: &[Candidate<'_>],
    left: &mut Vec<usize>,
    reasons: &mut Vec<String>,
    criterion: &Criterion,
) {
    let value = |index: usize| (criterion.value)(&candidates[index]);
    let Some(best) = left.iter().copied().min_by(|&a, &b| value(a).total_cmp(&value(b))) else {
        return;
    };
    let noise = |index: usize| (criterion.noise)(&candidates[index]);
    let tie = |index: usize| {
        let allowed = noise(best).max(noise(index)).max(criterion.floor);
        // Infinite values (nothing measured) are worse than any other and equal to each other.
        value(index) == value(best) || value(index) - value(best) <= allowed
    };
    let (kept, dropped): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&index| tie(index));
    if !dropped.is_empty() {
        let show = |&index: &usize| {
            format!("{} {}", candidates[index].configuration.label, (criterion.show)(value(index)))
        };
        let kept: Vec<String> = kept.iter().map(show).collect();
        let dropped: Vec<String> = dropped.iter().map(show).collect();
        reasons.push(format!(
            "Better {}: {}, against {}.",
            criterion.name,
            kept.join(", "),
            dropped.join(", ")
        ));
    }
    *left = kept;
}

/// Rule 3. `left` is not empty.
fn cheapest(candidates: &[Candidate<'_>], left: &mut Vec<usize>, reasons: &mut Vec<String>) -> usize {
    let label = |index: &usize| candidates[*index].configuration.label.clone();
    let tied = left.clone();
    let mut because: Vec<String> = Vec::new();
    let migrations =
        |index: usize| candidates[index].evidence.migration_rate.map_or(f64::INFINITY, |r| r.mean);
    let fewest = left.iter().map(|&index| migrations(index)).fold(f64::INFINITY, f64::min);
    let noise = |index: usize| candidates[index].migration_noise.max(fewest * EVENTS_FLOOR_SHARE);
    left.retain(|&index| migrations(index) == fewest || migrations(index) - fewest <= noise(index));
    if left.len() < tied.len() {
        let rates = tied.iter().map(|i| format!("{} {}", label(i), number::significant(migrations(*i))));
        because.push(format!("fewer migrations per task and run ({})", rates.collect::<Vec<_>>().join(", ")));
    }
    let before = left.len();
    let scope = left.iter().map(|&index| candidates[index].scope_rank()).min();
    left.retain(|&index| Some(candidates[index].scope_rank()) == scope);
    if left.len() < before {
        because.push("a narrower scope (partitioned before clustered before global)".to_owned());
    }
    let twin_before =
        |index: usize| left.iter().any(|&other| other < index && twins(candidates, other, index));
    let distinct: Vec<usize> = left.iter().copied().filter(|&index| !twin_before(index)).collect();
    if distinct.len() < left.len() {
        because.push(
            "needing no cpusets (on one cluster, clustered scheduling is global scheduling)".to_owned(),
        );
    }
    let rate =
        |index: usize| candidates[index].evidence.context_switch_rate.map_or(f64::INFINITY, |r| r.mean);
    let fewest = distinct.iter().map(|&index| rate(index)).fold(f64::INFINITY, f64::min);
    let few = |index: usize| rate(index) == fewest || rate(index) <= fewest * (1.0 + EVENTS_FLOOR_SHARE);
    let calm: Vec<usize> = distinct.iter().copied().filter(|&index| few(index)).collect();
    if calm.len() < distinct.len() {
        let rates = distinct.iter().map(|i| format!("{} {}", label(i), number::significant(rate(*i))));
        because.push(format!(
            "fewer context switches per task and run ({})",
            rates.collect::<Vec<_>>().join(", ")
        ));
    } else if calm.len() > 1 {
        because.push("its place in the tables, for want of any difference".to_owned());
    }
    // Indices are in the order of the tables.
    let winner = calm.first().copied().unwrap_or(left[0]);
    if tied.len() > 1 {
        let names: Vec<String> = tied.iter().map(label).collect();
        reasons.push(format!(
            "On what remains, {} are equal within the noise of these runs; {} is preferred for {}.",
            names.join(", "),
            label(&winner),
            because.join(", then ")
        ));
    }
    winner
}

/// The same rule in the same scope: one would be the other under another name.
fn twins(candidates: &[Candidate<'_>], a: usize, b: usize) -> bool {
    let rule = |index: usize| {
        let scheduler = candidates[index].configuration.scheduler.parse::<PolicyScheduler>().ok();
        scheduler.map(|s| (s.rule, s.policy))
    };
    let host = |index: usize| candidates[index].configuration.host;
    rule(a).is_some()
        && rule(a) == rule(b)
        && candidates[a].scope == candidates[b].scope
        && host(a) == host(b)
}

fn missed(candidate: &Candidate<'_>) -> String {
    let counts = candidate.evidence.counts;
    format!(
        "{} {} of {}",
        candidate.configuration.label,
        number::count(counts.misses),
        number::counted(counts.jobs, "job")
    ) + &match counts.ordinary {
        0 => String::new(),
        some => format!(" and refused {} more", number::count(some)),
    }
}

fn what_it_missed(winner: &Candidate<'_>) -> String {
    let counts = winner.evidence.counts;
    let jobs = number::counted(counts.jobs, "job");
    let runs = number::counted(u64::try_from(winner.evidence.runs).unwrap_or(0), "run");
    let ordinary = match counts.ordinary {
        0 => String::new(),
        some => format!("; {} more were of tasks that ran in the background", number::count(some)),
    };
    if counts.misses == 0 {
        return format!("{} met every deadline: {jobs} in {runs}{ordinary}.", winner.configuration.label);
    }
    let tardiness = match winner.evidence.tardiness_ns_max {
        Some(ns) if ns > 0 => format!(", by at most {}", number::span_ns(ns)),
        _ => String::new(),
    };
    let ends = [
        (counts.unfinished, "of them never completed"),
        (counts.aborted, "of them were aborted at their deadlines"),
        (counts.skipped, "more were not released, because an earlier one was late"),
    ];
    let ends = ends.iter().filter(|(count, _)| *count > 0);
    let ends: String = ends.map(|&(count, what)| format!("; {} {what}", number::count(count))).collect();
    format!(
        "{} missed {} of {jobs} ({}) in {runs}{tardiness}{ends}{ordinary}.",
        winner.configuration.label,
        number::count(counts.misses),
        number::percent(counts.misses, counts.jobs)
    )
}

fn margins(winner: &Candidate<'_>) -> Option<String> {
    let (mean, least) = (winner.evidence.laxity?, winner.evidence.laxity_min?);
    Some(format!(
        "Margin: jobs finish with {} of their period left on average; the closest call was {}.",
        percent_of_period(mean.mean),
        percent_of_period(least)
    ))
}

fn percent_of_period(laxity: f64) -> String {
    format!("{} %", number::significant(laxity * 100.0))
}
