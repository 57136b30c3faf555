//! A busy period once more, without some of its losses: the jobs that go first run, one decision after the other, in no time.
//!
//! 1. The jobs of a task run one after the other, each from its release on, unless one of its blocks keeps it from that.
//! 2. A CPU that another thread has runs no job.
//! 3. Of equal ranks, what runs goes on; then the earlier release goes first, then the smaller task. A job stays on its CPU
//!    where it can.
//! 4. A job that is to abort when it is late leaves at its deadline, and has no finish then.

use super::history::{Histories, rank_by};
use super::losses::{Absence, Block, Losses, Without};
use crate::Definition;
use laxity_trace::MissCause;
use std::collections::BTreeMap;

/// A job of the replay.
struct Runner {
    task: u32,
    release_ns: u64,
    /// Until its last instruction, and from there until it leaves its CPU, in ns.
    left_ns: [u64; 2],
    /// How long it has had a CPU, in ns.
    had_ns: u64,
    blocks: Vec<Block>,
    scheduled_by: u64,
    leaves_at: Option<u64>,
    /// The CPU that it had last, and whether it has it now.
    cpu: Option<u32>,
    runs: bool,
}

impl Runner {
    /// What keeps it from running now, if anything does.
    fn blocked(&self, now: u64) -> bool {
        let begun = |block: &Block| match block.after_ns {
            Some(after) => self.had_ns >= after,
            None => block.from_ns <= now,
        };
        self.blocks.iter().any(|block| now < block.to_ns && begun(block))
    }

    /// When that may change next.
    fn changes(&self, now: u64) -> Option<u64> {
        let begins = |block: &Block| match block.after_ns {
            Some(after) if self.runs => now.saturating_add(after.saturating_sub(self.had_ns)),
            Some(_) => now,
            None => block.from_ns,
        };
        let borders = self.blocks.iter().flat_map(|block| [begins(block), block.to_ns]).chain(self.leaves_at);
        borders.filter(|&at| at > now).min()
    }

    fn rest(&self) -> u64 {
        self.left_ns[0] + self.left_ns[1]
    }
}

/// When each job of a busy period of a cluster does its last instruction, in the order of `period`; `u64::MAX` for a job that
/// never does.
pub(super) fn replay(
    definition: &Definition,
    histories: &Histories,
    losses: &Losses,
    (cluster, period): (usize, &[usize]),
    without: Without,
) -> Vec<u64> {
    let cpus: Vec<u32> = definition.clusters()[cluster].task_cpus().iter().collect();
    let runners = period.iter().map(|&id| runner(definition, histories, losses, id, without)).collect();
    let absences = cpus.iter().map(|cpu| {
        let all = losses.absences.get(cpu).map_or(&[][..], Vec::as_slice);
        let from = period.iter().map(|&id| histories.all[id].release_ns).min().unwrap_or(0);
        let first = all.partition_point(|absence| absence.to_ns <= from);
        let stays = |absence: &&Absence| !without.leaves_out(absence.cause);
        (*cpu, all[first..].iter().filter(stays).copied().collect())
    });
    Replay::new(definition, runners, absences.collect()).run()
}

fn runner(
    definition: &Definition,
    histories: &Histories,
    losses: &Losses,
    id: usize,
    without: Without,
) -> Runner {
    let (history, own) = (&histories.all[id], &losses.of[id]);
    let unless = |cause: MissCause, ns: u64| if without.leaves_out(cause) { 0 } else { ns };
    let work = own.work_ns - own.excess_ns + unless(MissCause::EarlierOverrun, own.excess_ns);
    let inside = unless(MissCause::Scheduling, own.way_in_ns) + work + unless(losses.taken(), own.taken_ns);
    let deadline_ns = history.deadline_at(history.release_ns);
    Runner {
        task: history.task,
        release_ns: history.release_ns,
        left_ns: [inside, unless(MissCause::Scheduling, own.way_out_ns)],
        had_ns: 0,
        blocks: own.blocks.iter().filter(|block| !without.leaves_out(block.cause)).copied().collect(),
        scheduled_by: deadline_ns,
        leaves_at: definition.on_miss().abort_ns(history.scheduled_by[0].1),
        cpu: None,
        runs: false,
    }
}

struct Replay<'a> {
    definition: &'a Definition,
    runners: Vec<Runner>,
    /// By task: the runner that is its turn, and the last one.
    turns: BTreeMap<u32, (usize, usize)>,
    may_use: BTreeMap<u32, Vec<u32>>,
    absences: Vec<(u32, Vec<Absence>)>,
    /// Which absence of each CPU is the first that is not over.
    at: Vec<usize>,
    finishes_ns: Vec<u64>,
    now_ns: u64,
}

impl<'a> Replay<'a> {
    fn new(definition: &'a Definition, runners: Vec<Runner>, absences: Vec<(u32, Vec<Absence>)>) -> Self {
        let mut turns: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for (place, runner) in runners.iter().enumerate() {
            turns.entry(runner.task).or_insert((place, place)).1 = place;
        }
        let may_use = turns.keys().map(|&task| (task, definition.cpus_of(task))).collect();
        let now = runners.iter().map(|runner| runner.release_ns).min().unwrap_or(0);
        let finishes = vec![u64::MAX; runners.len()];
        Replay {
            definition,
            turns,
            may_use,
            at: vec![0; absences.len()],
            absences,
            finishes_ns: finishes,
            runners,
            now_ns: now,
        }
    }

    fn run(mut self) -> Vec<u64> {
        while !self.turns.is_empty() {
            self.end_jobs();
            self.dispatch();
            let Some(next) = self.next_change() else { break };
            let passed = next - self.now_ns;
            for runner in self.runners_now().filter(|runner| runner.runs) {
                runner.had_ns += passed;
                let first = runner.left_ns[0].min(passed);
                runner.left_ns[0] -= first;
                runner.left_ns[1] -= (passed - first).min(runner.left_ns[1]);
            }
            self.note_finishes(next);
            self.now_ns = next;
        }
        self.finishes_ns
    }

    /// The jobs whose turn it is.
    fn runners_now(&mut self) -> impl Iterator<Item = &mut Runner> {
        let turns: Vec<usize> = self.turns.values().map(|&(place, _)| place).collect();
        self.runners
            .iter_mut()
            .enumerate()
            .filter(move |(place, _)| turns.contains(place))
            .map(|(_, one)| one)
    }

    /// A job has done its last instruction: when it is seen first.
    fn note_finishes(&mut self, now: u64) {
        for &(place, _) in self.turns.values() {
            let runner = &self.runners[place];
            if runner.runs && runner.left_ns[0] == 0 && self.finishes_ns[place] == u64::MAX {
                self.finishes_ns[place] = now;
            }
        }
    }

    /// Jobs that are through, and those that leave because they are late.
    fn end_jobs(&mut self) {
        let now = self.now_ns;
        let mut over = Vec::new();
        for (&task, turn) in &mut self.turns {
            while turn.0 <= turn.1 {
                let runner = &self.runners[turn.0];
                let aborts = runner.leaves_at.is_some_and(|at| at <= now && runner.left_ns[0] > 0);
                let has_run = self.finishes_ns[turn.0] != u64::MAX;
                let may = runner.release_ns <= now && (has_run || !runner.blocked(now));
                if !(aborts && runner.release_ns <= now || may && runner.rest() == 0) {
                    break;
                }
                if !aborts {
                    self.finishes_ns[turn.0] = self.finishes_ns[turn.0].min(now);
                }
                turn.0 += 1;
            }
            if turn.0 > turn.1 {
                over.push(task);
            }
        }
        self.turns.retain(|task, _| !over.contains(task));
    }

    /// Which job has which CPU from now on.
    fn dispatch(&mut self) {
        let now = self.now_ns;
        let mut free: Vec<u32> = Vec::new();
        for ((cpu, absences), at) in self.absences.iter().zip(&mut self.at) {
            while absences.get(*at).is_some_and(|absence| absence.to_ns <= now) {
                *at += 1;
            }
            if absences.get(*at).is_none_or(|absence| absence.from_ns > now) {
                free.push(*cpu);
            }
        }
        let mut ready = Vec::new();
        for &(place, _) in self.turns.values() {
            let runner = &mut self.runners[place];
            let over = runner
                .blocks
                .iter()
                .filter(|block| block.to_ns <= now)
                .filter_map(|block| block.then_deadline_ns);
            runner.scheduled_by = over.fold(runner.scheduled_by, u64::max);
            if runner.release_ns <= now && !runner.blocked(now) {
                let rank = rank_by(self.definition, runner.task, runner.scheduled_by);
                ready.push((rank, !runner.runs, runner.release_ns, runner.task, place));
            }
            runner.runs = false;
        }
        ready.sort_unstable();
        for (.., task, place) in ready {
            let runner = &mut self.runners[place];
            let usable = |cpu: &&u32| self.may_use[&task].contains(cpu);
            let own = free.iter().filter(usable).find(|cpu| Some(**cpu) == runner.cpu);
            let Some(&cpu) = own.or_else(|| free.iter().find(usable)) else { continue };
            free.retain(|other| *other != cpu);
            (runner.cpu, runner.runs) = (Some(cpu), true);
        }
    }

    /// When anything happens next.
    fn next_change(&self) -> Option<u64> {
        let now = self.now_ns;
        let of_jobs = self.turns.values().flat_map(|&(place, _)| {
            let runner = &self.runners[place];
            let first = if runner.left_ns[0] > 0 { runner.left_ns[0] } else { runner.left_ns[1] };
            let ends = (runner.runs).then_some(now.saturating_add(first));
            let release = Some(runner.release_ns).filter(|&release| release > now);
            [ends, release, runner.changes(now)]
        });
        let of_cpus = self.absences.iter().zip(&self.at).flat_map(|((_, absences), &at)| {
            let next = absences.get(at);
            [next.map(|absence| absence.from_ns), next.map(|absence| absence.to_ns)]
        });
        of_jobs.chain(of_cpus).flatten().filter(|&at| at > now).min()
    }
}
