//! The criteria, one after the other, and what is left after each.

use super::candidate::Candidate;
use super::words::missed;
use crate::number;
use crate::study::Study;
use laxity_model::{PolicyScheduler, listed};

/// Shares of missed jobs closer than this are a tie.
const MISS_RATIO_FLOOR: f64 = 0.001;
/// Mean normalized laxities closer than this share of a period are a tie.
const LAXITY_FLOOR: f64 = 0.01;
/// Maximum tardiness closer than this share of the shortest period is a tie.
const TARDINESS_FLOOR_PERIODS: f64 = 0.01;
/// Migrations and context switches per task are a tie within this share.
const EVENTS_FLOOR_SHARE: f64 = 0.05;

/// Of the sets: the least difference of maximum tardiness that counts, in ns.
pub(super) fn tardiness_floor(study: &Study<'_>, sets: &[usize]) -> f64 {
    let periods = sets.iter().filter_map(|&set| study.sets.get(set));
    let shortest = periods.flat_map(|set| set.real_time().map(|(_, task)| task.period().as_ns())).min();
    TARDINESS_FLOOR_PERIODS * number::ratio(shortest.unwrap_or(0), 1)
}

/// Best first: the winner, then the winner of the others, and so on.
pub(super) fn ranking(candidates: &[Candidate<'_>], tardiness_floor: f64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..candidates.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let winner = Decision::among(candidates, &left, tardiness_floor).winner;
        left.retain(|&index| index != winner);
        order.push(winner);
    }
    order
}

/// A criterion: which value, how it is written, and how close is a tie.
#[derive(Clone, Copy)]
pub(super) struct Criterion {
    pub(super) name: &'static str,
    /// Smaller is better.
    pub(super) value: fn(&Candidate<'_>) -> f64,
    noise: fn(&Candidate<'_>) -> f64,
    floor: f64,
    pub(super) show: fn(f64) -> String,
}

/// What sets configurations apart.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Some miss deadlines by themselves, others do not.
    Objections,
    /// Some missed deadlines, others did not.
    Misses,
    /// Some are worse by more than noise.
    Worse(Criterion),
}

/// The winner among some configurations, and what decided.
pub(super) struct Decision {
    pub(super) winner: usize,
    /// In sentences.
    pub(super) reasons: Vec<String>,
    /// What has set some apart from the winner, in this order; nothing where all are equal within noise.
    pub(super) steps: Vec<Step>,
}

impl Decision {
    /// `among` is not empty.
    pub(super) fn among(candidates: &[Candidate<'_>], among: &[usize], tardiness_floor: f64) -> Decision {
        let mut field = Field { candidates, left: among.to_vec(), reasons: Vec::new(), steps: Vec::new() };
        field.keep_sound();
        if !field.keep_clean() {
            let refused = field.left.iter().any(|&i| candidates[i].evidence.counts.ordinary > 0);
            field.keep_best(if refused { &FAILED_RATIO } else { &MISS_RATIO });
            field.keep_best(&Criterion { floor: tardiness_floor, ..TARDINESS });
        }
        field.keep_best(&LAXITY);
        let winner = field.cheapest();
        Decision { winner, reasons: field.reasons, steps: field.steps }
    }
}

/// Those that are left, and what the others fell for.
struct Field<'c, 's> {
    candidates: &'c [Candidate<'s>],
    left: Vec<usize>,
    reasons: Vec<String>,
    steps: Vec<Step>,
}

impl Field<'_, '_> {
    /// Drops those against which there is an objection, unless there is one against all.
    fn keep_sound(&mut self) {
        let objections = |&&index: &&usize| self.candidates[index].objection.as_ref();
        let against: Vec<String> =
            self.left.iter().filter_map(|index| Some(objections(&index)?.words())).collect();
        if against.is_empty() || against.len() == self.left.len() {
            return;
        }
        self.reasons.push(format!("Others miss deadlines whatever the machine does: {}.", listed(against)));
        self.left.retain(|&index| self.candidates[index].objection.is_none());
        self.steps.push(Step::Objections);
    }

    /// Drops those that missed deadlines or refused tasks, unless all did. True if one has done neither.
    fn keep_clean(&mut self) -> bool {
        let (clean, others): (Vec<usize>, Vec<usize>) =
            self.left.iter().partition(|&&index| self.candidates[index].served_all());
        if !clean.is_empty() && !others.is_empty() {
            let others = others.iter().map(|&index| missed(&self.candidates[index]));
            self.reasons.push(format!("Others missed deadlines: {}.", listed(others)));
            self.steps.push(Step::Misses);
            self.left.clone_from(&clean);
        }
        !clean.is_empty()
    }

    /// Drops those that are worse than the best by more than the noise of either, or the floor.
    fn keep_best(&mut self, criterion: &Criterion) {
        let candidates = self.candidates;
        let value = |index: usize| (criterion.value)(&candidates[index]);
        let best = self.left.iter().copied().min_by(|&a, &b| value(a).total_cmp(&value(b)));
        let Some(best) = best else { return };
        let noise = |index: usize| (criterion.noise)(&candidates[index]);
        let tie = |index: usize| {
            let allowed = noise(best).max(noise(index)).max(criterion.floor);
            // Infinite values (nothing measured) are worse than any other and equal to each other.
            value(index) == value(best) || value(index) - value(best) <= allowed
        };
        let (kept, dropped): (Vec<usize>, Vec<usize>) = self.left.iter().partition(|&&index| tie(index));
        if !dropped.is_empty() {
            let show = |&index: &usize| {
                format!("{} {}", candidates[index].configuration.label, (criterion.show)(value(index)))
            };
            self.reasons.push(format!(
                "Better {}: {}, against {}.",
                criterion.name,
                listed(kept.iter().map(show)),
                listed(dropped.iter().map(show))
            ));
            self.steps.push(Step::Worse(*criterion));
        }
        self.left = kept;
    }

    /// Of those that are equal otherwise: fewer migrations, a narrower scope, no cpusets that change nothing, fewer
    /// context switches, the order of the tables.
    fn cheapest(&mut self) -> usize {
        let label = |index: usize| self.candidates[index].configuration.label.clone();
        let tied = self.left.clone();
        let mut because: Vec<String> = Vec::new();
        because.extend(self.keep_fewest_migrations());
        because.extend(self.keep_narrowest());
        because.extend(self.keep_one_of_twins());
        because.extend(self.keep_fewest_switches());
        // Indices are in the order of the tables.
        let winner = self.left[0];
        if tied.len() > 1 {
            self.reasons.push(format!(
                "On what remains, {} are equal within the noise of these runs; {} is preferred for {}.",
                listed(tied.iter().map(|&index| label(index))),
                label(winner),
                because.join(", then ")
            ));
        }
        winner
    }

    fn keep_fewest_migrations(&mut self) -> Option<String> {
        let candidates = self.candidates;
        let rate = |index: usize| candidates[index].evidence.migration_rate.map_or(f64::INFINITY, |r| r.mean);
        let fewest = self.left.iter().map(|&index| rate(index)).fold(f64::INFINITY, f64::min);
        let noise = |index: usize| candidates[index].migration_noise.max(fewest * EVENTS_FLOOR_SHARE);
        let few = |index: usize| rate(index) == fewest || rate(index) - fewest <= noise(index);
        let rates = self.rates(rate);
        self.narrowed_to(few).then(|| format!("fewer migrations per task and run ({rates})"))
    }

    fn keep_narrowest(&mut self) -> Option<String> {
        let candidates = self.candidates;
        let scope = self.left.iter().map(|&index| candidates[index].scope_rank()).min();
        self.narrowed_to(|index| Some(candidates[index].scope_rank()) == scope)
            .then(|| "a narrower scope (partitioned before clustered before global)".to_owned())
    }

    fn keep_one_of_twins(&mut self) -> Option<String> {
        let all = self.left.clone();
        let twin_before =
            |index| all.iter().any(|&other| other < index && twins(self.candidates, other, index));
        let distinct: Vec<usize> = all.iter().copied().filter(|&index| !twin_before(index)).collect();
        self.narrowed_to(|index| distinct.contains(&index)).then(|| {
            "needing no cpusets (on one cluster, clustered scheduling is global scheduling)".to_owned()
        })
    }

    fn keep_fewest_switches(&mut self) -> Option<String> {
        let candidates = self.candidates;
        let rate =
            |index: usize| candidates[index].evidence.context_switch_rate.map_or(f64::INFINITY, |r| r.mean);
        let fewest = self.left.iter().map(|&index| rate(index)).fold(f64::INFINITY, f64::min);
        let few = |index: usize| rate(index) == fewest || rate(index) <= fewest * (1.0 + EVENTS_FLOOR_SHARE);
        let rates = self.rates(rate);
        if self.narrowed_to(few) {
            return Some(format!("fewer context switches per task and run ({rates})"));
        }
        (self.left.len() > 1).then(|| "its place in the tables, for want of any difference".to_owned())
    }

    /// Of those left, with their names.
    fn rates(&self, rate: impl Fn(usize) -> f64) -> String {
        let named = |&index: &usize| {
            format!("{} {}", self.candidates[index].configuration.label, number::significant(rate(index)))
        };
        self.left.iter().map(named).collect::<Vec<_>>().join(", ")
    }

    /// Whether some of those left are not `kept`, and were dropped.
    fn narrowed_to(&mut self, kept: impl Fn(usize) -> bool) -> bool {
        let before = self.left.len();
        self.left.retain(|&index| kept(index));
        self.left.len() < before
    }
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
