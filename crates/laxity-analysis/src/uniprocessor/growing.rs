//! One processor under fixed priorities that gets tasks one by one: what `fp-rta` says of one more, from what is known of those before.
//!
//! Task i meets its deadline if and only if W_i(t) <= t for some t in (0, D_i] (Lehoczky, Sha, Ding 1989; W as in `releases`). Such a
//! t is kept of each task. A further one adds ceil(t / T) C there, so that a comparison is enough until t - W_i(t) is used up; then
//! another t is looked for: D_i, else the one that leaves the most.
//!
//! 1. D <= T, and no jitter but that of what is above all tasks.
//! 2. Where tasks share a level, each waits for all others of it as if these were above it (`crate::equals`).

use super::ceiling::Rank;
use super::releases::{all_until, requested_by};
use crate::{SporadicTask, TIME_MAX};
use std::cmp::Ordering;

/// So many releases are looked at for one task, and so many more for each that it waits for.
const RELEASES: (usize, usize) = (1024, 16);

/// Tasks that are schedulable together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Growing {
    /// Above all tasks, whatever their deadlines.
    others: Vec<SporadicTask>,
    /// By rank.
    tasks: Vec<(Rank, SporadicTask)>,
    /// One of each task.
    witnesses: Vec<Witness>,
}

/// A time by which a job that was released at the critical instant has completed.
#[derive(Debug, Clone, Copy)]
struct Witness {
    at: u64,
    /// W(at) of the others and of so many tasks from the first on.
    requested: u128,
    end: usize,
}

impl Growing {
    /// No tasks yet, below these.
    pub(crate) fn below(others: Vec<SporadicTask>) -> Self {
        Growing { others, ..Growing::default() }
    }

    /// What is above all tasks.
    pub(crate) fn others(&self) -> &[SporadicTask] {
        &self.others
    }

    /// Takes a task if all remain schedulable, and says whether. `levels_of` gives the level of each of some tasks by rank, or nothing
    /// if no two share one. Nothing if it would take too long, or the task is not one of those above; then, and after a refusal,
    /// all is as before.
    pub(crate) fn take(
        &mut self,
        rank: Rank,
        task: SporadicTask,
        levels_of: impl FnOnce(&[(Rank, SporadicTask)]) -> Option<Vec<usize>>,
    ) -> Option<bool> {
        let parameters = [task.wcet_ns, task.deadline_rel_ns, task.period_ns];
        let valid = parameters.into_iter().all(|value| 0 < value && value <= TIME_MAX);
        if !valid || task.jitter_ns > 0 || task.deadline_rel_ns > task.period_ns {
            return None;
        }
        let place = self.tasks.partition_point(|(other, _)| *other < rank);
        self.tasks.insert(place, (rank, task));
        let ends = match levels_of(&self.tasks) {
            None => (1..=self.tasks.len()).collect(),
            Some(levels) => ends_of(&levels),
        };
        let found = self.witnesses_with(place, &ends);
        match &found {
            Some(Some(witnesses)) => self.witnesses.clone_from(witnesses),
            Some(None) | None => drop(self.tasks.remove(place)),
        }
        found.map(|witnesses| witnesses.is_some())
    }

    /// Those of all tasks, the one at `place` being new, each waiting for those before its end. Nothing inside if one has none.
    fn witnesses_with(&self, place: usize, ends: &[usize]) -> Option<Option<Vec<Witness>>> {
        let mut witnesses = Vec::with_capacity(ends.len());
        // What is refused is refused for the lowest task, most of the time.
        for (at, &end) in ends.iter().enumerate().rev() {
            let known = match at.cmp(&place) {
                Ordering::Less => Some(self.witnesses[at]),
                Ordering::Equal => None,
                Ordering::Greater => Some(self.witnesses[at - 1]),
            };
            let kept = known.map(|known| self.moved(known, place, end)).filter(Witness::holds);
            match kept.map_or_else(|| self.search(at, end), |kept| Some(Some(kept))) {
                Some(Some(witness)) => witnesses.push(witness),
                nothing => return nothing.map(|_| None),
            }
        }
        witnesses.reverse();
        Some(Some(witnesses))
    }

    /// At the same time, with the new task and another end.
    fn moved(&self, witness: Witness, place: usize, end: usize) -> Witness {
        let Witness { at, mut requested, end: mut now } = witness;
        let of = |number: usize| requested_by(&self.tasks[number].1, at);
        if place < now {
            requested += of(place);
            now += 1;
        }
        while now < end {
            requested += of(now);
            now += 1;
        }
        while now > end {
            now -= 1;
            requested -= of(now);
        }
        Witness { at, requested, end }
    }

    /// A new one. Nothing inside if there is none.
    fn search(&self, at: usize, end: usize) -> Option<Option<Witness>> {
        let deadline = self.tasks[at].1.deadline_rel_ns;
        let waits_for = || self.tasks[..end].iter().map(|(_, task)| task).chain(&self.others);
        let requested = waits_for().map(|task| requested_by(task, deadline)).sum();
        let last = Witness { at: deadline, requested, end };
        if last.holds() {
            return Some(Some(last));
        }
        let mut best = last;
        let most = RELEASES.0 + RELEASES.1 * end;
        let complete = all_until(waits_for(), deadline, most, |at, requested| {
            let here = Witness { at, requested, end };
            if here.left() > best.left() {
                best = here;
            }
        });
        if best.holds() {
            return Some(Some(best));
        }
        complete.then_some(None)
    }
}

impl Witness {
    fn holds(&self) -> bool {
        self.requested <= u128::from(self.at)
    }

    /// t - W(t).
    fn left(&self) -> i128 {
        i128::from(self.at) - i128::try_from(self.requested).unwrap_or(i128::MAX)
    }
}

/// Of each task how many have its level or a higher one.
fn ends_of(levels: &[usize]) -> Vec<usize> {
    let mut ends = Vec::with_capacity(levels.len());
    for level in levels.chunk_by(|one, next| one == next) {
        let end = ends.len() + level.len();
        ends.resize(end, end);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::super::Ceiling;
    use super::*;
    use crate::{FixedPriorityRta, Levels, Test, Verdict, Work};
    use laxity_seeds::{Random, seeds};

    /// Every `per_level` tasks that follow each other share a level; none do if it is 1.
    fn levels_of(count: usize, per_level: usize) -> Option<Vec<usize>> {
        (per_level > 1).then(|| (0..count).map(|at| at / per_level).collect())
    }

    fn verdict(others: &[SporadicTask], ranked: &[(Rank, SporadicTask)], per_level: usize) -> Verdict {
        let all: Vec<SporadicTask> =
            others.iter().copied().chain(ranked.iter().map(|(_, task)| *task)).collect();
        let levels = levels_of(ranked.len(), per_level).unwrap_or_else(|| (0..ranked.len()).collect());
        let sizes = levels.chunk_by(|one, next| one == next).map(<[usize]>::len);
        let sizes: Vec<usize> = others.iter().map(|_| 1).chain(sizes).collect();
        FixedPriorityRta.judge_among_equals(&all, Levels::new(&sizes), 1, &mut Work::default())
    }

    #[test]
    fn a_growing_cell_takes_what_response_time_analysis_accepts_and_ceilings_refuse_nothing_of_it() {
        let (mut taken, mut refused, mut at_once) = (0, 0, 0);
        for seed in seeds!(0..3000) {
            let mut random = Random(seed);
            let longest = random.between(4, 60);
            let per_level = usize::try_from(random.between(1, 3)).expect("small");
            let others: Vec<SporadicTask> = (0..random.between(0, 2).saturating_sub(1))
                .map(|_| SporadicTask {
                    jitter_ns: random.between(0, 9),
                    ..SporadicTask::constrained(1, TIME_MAX, longest / 2)
                })
                .collect();
            let mut growing = Growing::below(others.clone());
            let mut ranked: Vec<(Rank, SporadicTask)> = Vec::new();
            for number in 0..12 {
                let period = random.between(2, longest);
                let wcet = random.between(1, period.div_ceil(4));
                let deadline = if seed % 2 == 0 { period } else { random.between(wcet, period) };
                let (rank, task) =
                    ((random.between(1, 9), number), SporadicTask::constrained(wcet, deadline, period));
                let mut with = ranked.clone();
                with.insert(with.partition_point(|(other, _)| *other < rank), (rank, task));
                let accepted = verdict(&others, &with, per_level).is_schedulable();
                let mine = growing.take(rank, task, |all| levels_of(all.len(), per_level));
                assert_eq!(
                    mine,
                    Some(accepted),
                    "{rank:?} {task:?} with {ranked:?} below {others:?}, {per_level} a level"
                );
                let ceiling = Ceiling::of(&ranked, &others, longest);
                if ceiling.is_some_and(|ceiling| ceiling.refuses(rank, &task)) {
                    assert!(
                        !accepted,
                        "{rank:?} {task:?} with {ranked:?} below {others:?}, {per_level} a level"
                    );
                    at_once += 1;
                }
                match accepted {
                    true => (ranked, taken) = (with, taken + 1),
                    false => refused += 1,
                }
            }
        }
        let shares = format!("{taken} taken, {refused} refused, {at_once} of these at once");
        assert!(taken > refused / 9 && refused > taken / 9 && at_once > refused / 9, "{shares}");
    }

    #[test]
    fn other_tasks_and_windows_with_too_many_releases_are_for_the_test() {
        let mut growing = Growing::default();
        let mut take = |number, task| growing.take((0, number), task, |_| None);
        assert_eq!(take(0, SporadicTask::constrained(1, 6, 5)), None);
        assert_eq!(take(1, SporadicTask { jitter_ns: 1, ..SporadicTask::implicit(1, 5) }), None);
        assert_eq!(take(2, SporadicTask::implicit(1, 2)), Some(true));
        // One is left at every release, and never two; the deadline is after too many of them.
        assert_eq!(take(3, SporadicTask::implicit(30_000, 50_001)), None);
        assert_eq!(take(4, SporadicTask::implicit(20_000, 50_001)), Some(true));
    }
}
