//! The criteria, one after the other, and what is left after each.

use super::candidate::Candidate;
use super::criteria::{Criterion, FAILED_RATIO, LAXITY, MISS_RATIO, twins};
use crate::analysis::Guarantee;
use laxity_model::listed;
use laxity_trace::Host;

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

/// What sets configurations apart.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Some miss deadlines by themselves, others do not.
    Objections,
    /// In simulations, some missed deadlines, others did not.
    Misses,
    /// Some are worse by more than noise.
    Worse(Criterion),
    /// More is proven of some.
    Proven,
}

/// The winner among some configurations, and what decided.
pub(super) struct Decision {
    pub(super) winner: usize,
    /// In sentences.
    pub(super) reasons: Vec<String>,
    /// Those that something sets apart from the winner, and what; the others are equal to it within noise.
    pub(super) dropped: Vec<(usize, Step)>,
    /// Those that no measured miss tells apart from the winner, it included, in the order of the tables.
    pub(super) tied: Vec<usize>,
    /// Those whose runs say how much noise there is, those that are the same thing together.
    peers: Vec<Vec<usize>>,
}

impl Decision {
    /// `among` is not empty.
    pub(super) fn among(candidates: &[Candidate<'_>], among: &[usize], tardiness_floor: f64) -> Decision {
        let mut field = Field {
            candidates,
            peers: peers(candidates, among),
            left: among.to_vec(),
            reasons: Vec::new(),
            dropped: Vec::new(),
        };
        field.keep_sound();
        if !field.keep_clean() {
            let refused = field.left.iter().any(|&i| candidates[i].evidence.counts.ordinary > 0);
            field.keep_best(if refused { &FAILED_RATIO } else { &MISS_RATIO });
            if !field.left.iter().any(|&index| candidates[index].served_all()) {
                field.keep_best(&Criterion::tardiness(tardiness_floor));
            }
        }
        let tied = field.left.clone();
        field.say_tie();
        field.keep_proven();
        field.keep_best(&LAXITY);
        let winner = field.simplest();
        Decision { winner, reasons: field.reasons, dropped: field.dropped, tied, peers: field.peers }
    }

    /// Those whose runs say how much noise there is.
    pub(super) fn peers<'c, 's>(&self, candidates: &'c [Candidate<'s>]) -> Vec<Vec<&'c Candidate<'s>>> {
        members(candidates, &self.peers)
    }
}

/// Those that are left, and what the others fell for.
struct Field<'c, 's> {
    candidates: &'c [Candidate<'s>],
    /// Those whose runs say how much noise there is, grouped.
    peers: Vec<Vec<usize>>,
    left: Vec<usize>,
    reasons: Vec<String>,
    dropped: Vec<(usize, Step)>,
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
        let candidates = self.candidates;
        self.narrowed_by(Step::Objections, |index| candidates[index].objection.is_none());
    }

    /// Of simulations, which have no noise: drops those that missed deadlines or refused tasks, unless all did. True if
    /// one has done neither.
    fn keep_clean(&mut self) -> bool {
        if !self.left.iter().all(|&index| self.candidates[index].is_exact()) {
            return false;
        }
        let (clean, others): (Vec<usize>, Vec<usize>) =
            self.left.iter().partition(|&&index| self.candidates[index].served_all());
        if !clean.is_empty() && !others.is_empty() {
            let others = others.iter().map(|&index| self.candidates[index].missed());
            self.reasons.push(format!("Others missed deadlines: {}.", listed(others)));
            self.narrowed_by(Step::Misses, |index| clean.contains(&index));
        }
        !clean.is_empty()
    }

    /// Drops those that are worse than the best by more than noise, and by more than the floor.
    fn keep_best(&mut self, criterion: &Criterion) {
        let candidates = self.candidates;
        let has_left = |group: &Vec<usize>| group.iter().any(|index| self.left.contains(index));
        let here: Vec<bool> = self.peers.iter().map(has_left).collect();
        let ties = criterion.ties(&members(candidates, &self.peers), &here);
        let of = |tied: bool| -> Vec<usize> {
            let groups = self.peers.iter().zip(&ties).filter(|(_, of_group)| **of_group == tied);
            let indices = groups.flat_map(|(group, _)| group.iter().copied());
            let mut indices: Vec<usize> = indices.filter(|index| self.left.contains(index)).collect();
            indices.sort_unstable();
            indices
        };
        let (kept, dropped) = (of(true), of(false));
        if !dropped.is_empty() {
            let show = |&index: &usize| {
                let own = &candidates[index];
                format!("{} {}", own.configuration.label, (criterion.show)((criterion.value)(&[own])))
            };
            self.reasons.push(format!(
                "Better {}: {}, against {}.",
                criterion.name,
                listed(kept.iter().map(show)),
                listed(dropped.iter().map(show))
            ));
        }
        self.narrowed_by(Step::Worse(*criterion), |index| kept.contains(&index));
    }

    fn say_tie(&mut self) {
        let labels = self.labels();
        if labels.len() < 2 {
            return;
        }
        let mut left = self.left.iter().map(|&index| &self.candidates[index]);
        let labels = listed(labels);
        self.reasons.push(if left.clone().all(Candidate::served_all) {
            format!("Tie: {labels} met every deadline.")
        } else if left.all(Candidate::is_exact) {
            format!("Tie: the misses of {labels} are no reason to prefer one.")
        } else {
            format!("Tie: the misses of {labels} differ by no more than noise.")
        });
    }

    /// Drops those of which less is proven than of others.
    fn keep_proven(&mut self) {
        let candidates = self.candidates;
        let proven = |index: usize| candidates[index].guarantee.unwrap_or(Guarantee::Nothing);
        let strongest = self.left.iter().map(|&index| proven(index)).max().unwrap_or(Guarantee::Nothing);
        if self.narrowed_by(Step::Proven, |index| proven(index) == strongest) {
            let labels = listed(self.labels());
            self.reasons.push(match strongest {
                Guarantee::Hard => format!("Proven to meet every deadline, of these: {labels}."),
                Guarantee::Soft | Guarantee::Nothing => {
                    format!("Tardiness proven to be bounded, of these: {labels}.")
                }
            });
        }
    }

    /// Of those that are equal otherwise: a narrower scope, no cpusets that change nothing, what Linux brings itself, the
    /// order of the tables. All of that is known beforehand: the same set gets the same answer.
    fn simplest(&mut self) -> usize {
        let labels = listed(self.labels());
        let several = self.left.len() > 1;
        let mut because: Vec<&str> = Vec::new();
        because.extend(self.keep_narrowest());
        because.extend(self.keep_one_of_twins());
        because.extend(self.keep_linux());
        if self.left.len() > 1 {
            because.push("being listed first, as nothing else tells them apart");
        }
        // Indices are in the order of the tables.
        let winner = self.left[0];
        if several {
            self.reasons.push(format!(
                "Of {labels}, {} is preferred for {}.",
                self.candidates[winner].configuration.label,
                because.join(", then ")
            ));
        }
        winner
    }

    fn keep_narrowest(&mut self) -> Option<&'static str> {
        let candidates = self.candidates;
        let scope = self.left.iter().map(|&index| candidates[index].scope_rank()).min();
        self.narrowed_to(|index| Some(candidates[index].scope_rank()) == scope)
            .then_some("a narrower scope (partitioned before clustered before global)")
    }

    fn keep_one_of_twins(&mut self) -> Option<&'static str> {
        let (all, candidates) = (self.left.clone(), self.candidates);
        let twin_before = |index: usize| {
            all.iter().any(|&other| other < index && twins(&candidates[other], &candidates[index]))
        };
        self.narrowed_to(|index| !twin_before(index))
            .then_some("needing no cpusets (on one cluster, clustered scheduling is global scheduling)")
    }

    fn keep_linux(&mut self) -> Option<&'static str> {
        let candidates = self.candidates;
        let own = |index: usize| candidates[index].configuration.host == Host::KernelPolicy;
        if self.left.iter().all(|&index| own(index)) {
            return None;
        }
        self.narrowed_to(|index| !own(index)).then_some("being a part of Linux")
    }

    fn labels(&self) -> Vec<String> {
        self.left.iter().map(|&index| self.candidates[index].configuration.label.clone()).collect()
    }

    /// Whether some of those left are not `kept`, and were dropped.
    fn narrowed_to(&mut self, kept: impl Fn(usize) -> bool) -> bool {
        let before = self.left.len();
        self.left.retain(|&index| kept(index));
        self.left.len() < before
    }

    /// The same, and it is kept what set them apart.
    fn narrowed_by(&mut self, step: Step, kept: impl Fn(usize) -> bool) -> bool {
        self.dropped.extend(self.left.iter().filter(|&&index| !kept(index)).map(|&index| (index, step)));
        self.narrowed_to(kept)
    }
}

/// Those whose runs say how much noise there is among some configurations, grouped: all without an objection, or where
/// all of `among` have one, all with one. So the runner-up is found with the noise with which the winner was, and the
/// swings of what misses by itself blur nothing.
fn peers(candidates: &[Candidate<'_>], among: &[usize]) -> Vec<Vec<usize>> {
    let is_sound = |index: usize| candidates[index].objection.is_none();
    let any_sound = among.iter().any(|&index| is_sound(index));
    let peers: Vec<usize> = (0..candidates.len()).filter(|&index| is_sound(index) == any_sound).collect();
    groups(candidates, &peers)
}

/// All configurations, those that are the same thing together.
pub(super) fn all_groups<'c, 's>(candidates: &'c [Candidate<'s>]) -> Vec<Vec<&'c Candidate<'s>>> {
    let all: Vec<usize> = (0..candidates.len()).collect();
    members(candidates, &groups(candidates, &all))
}

fn members<'c, 's>(candidates: &'c [Candidate<'s>], groups: &[Vec<usize>]) -> Vec<Vec<&'c Candidate<'s>>> {
    groups.iter().map(|group| group.iter().map(|&index| &candidates[index]).collect()).collect()
}

/// These configurations, those that are the same thing together.
fn groups(candidates: &[Candidate<'_>], of: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &index in of {
        match groups.iter_mut().find(|group| twins(&candidates[group[0]], &candidates[index])) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}
