//! What each job and each CPU lost, and why (`mod.rs`, 1).

use super::Evidence;
use super::history::{Histories, History, Piece, rank};
use crate::{About, Activity, Cause};
use laxity_trace::{Job, JobOutcome, MissCause};
use std::collections::BTreeMap;

/// Time in which a job cannot run, `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub from_ns: u64,
    pub to_ns: u64,
    pub cause: MissCause,
    /// It begins when the job has had the CPU for so long, in ns: its budget is used up then, whenever that is.
    pub after_ns: Option<u64>,
    /// It is scheduled by this deadline afterwards: a budget came later.
    pub then_deadline_ns: Option<u64>,
}

impl Block {
    fn waiting((from, to): (u64, u64), cause: MissCause) -> Self {
        Block { from_ns: from, to_ns: to, cause, after_ns: None, then_deadline_ns: None }
    }
}

/// What a job has to do and what it lost.
#[derive(Debug, Clone, Default)]
pub(super) struct JobLosses {
    /// CPU time from its first to its last instruction that it needs itself, in ns; `excess_ns` included.
    pub work_ns: u64,
    /// Of `work_ns`, what is beyond the WCET.
    pub excess_ns: u64,
    /// CPU time that was taken from it.
    pub taken_ns: u64,
    /// On its way to its first instruction.
    pub way_in_ns: u64,
    /// After its last instruction, until it leaves its CPU.
    pub way_out_ns: u64,
    /// Ascending.
    pub blocks: Vec<Block>,
}

/// A CPU that another thread has, `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Absence {
    pub from_ns: u64,
    pub to_ns: u64,
    pub cause: MissCause,
}

/// Which losses a replay leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Without {
    Nothing,
    One(MissCause),
    /// All but the unknown.
    Known,
    All,
}

impl Without {
    /// Whether losses of this cause are left out.
    pub fn leaves_out(self, cause: MissCause) -> bool {
        match self {
            Without::Nothing => false,
            Without::One(one) => one == cause,
            Without::Known => cause != MissCause::Unknown,
            Without::All => true,
        }
    }
}

/// All losses of a run.
pub(super) struct Losses {
    /// By history.
    pub of: Vec<JobLosses>,
    /// By CPU, ascending; on one CPU none overlap.
    pub absences: BTreeMap<u32, Vec<Absence>>,
    /// What takes time from a running job.
    taken: MissCause,
}

/// What an absence of a CPU is called, if the activity is one.
fn absence_of(cause: Cause) -> Option<MissCause> {
    match cause {
        Cause::KernelThread => Some(MissCause::KernelThread),
        Cause::HigherClass => Some(MissCause::OtherThread),
        Cause::Reserve | Cause::Server => Some(MissCause::Reserve),
        Cause::Switch
        | Cause::Decision
        | Cause::Push
        | Cause::Interrupt
        | Cause::ReleaseHandler
        | Cause::ReleaseLatency
        | Cause::Queue
        | Cause::BudgetTimer
        | Cause::Unseen => None,
    }
}

/// What waiting is called that the activity explains; nothing where it explains none.
fn waiting_of(cause: Cause) -> Option<MissCause> {
    match cause {
        Cause::ReleaseLatency => Some(MissCause::LateRelease),
        Cause::Switch
        | Cause::Decision
        | Cause::Push
        | Cause::Interrupt
        | Cause::ReleaseHandler
        | Cause::Queue => Some(MissCause::Scheduling),
        Cause::BudgetTimer | Cause::Unseen => None,
        Cause::KernelThread | Cause::HigherClass | Cause::Reserve | Cause::Server => absence_of(cause),
    }
}

impl Losses {
    pub fn of(evidence: &Evidence<'_>, histories: &Histories) -> Self {
        let absences = absences(evidence.activities);
        let waits = Waits::of(evidence, histories, &absences);
        let on_cpu = |history: &History| {
            let job = history.job.map(|job| &evidence.jobs[job]);
            on_cpu(evidence, history, job)
        };
        let mut of: Vec<JobLosses> = histories.all.iter().map(on_cpu).collect();
        credit_usual_ways(&mut of);
        for (id, losses) in of.iter_mut().enumerate() {
            losses.blocks = waits.blocks(id, losses);
        }
        Losses { of, absences, taken: evidence.taken }
    }

    /// What takes time from a running job.
    pub fn taken(&self) -> MissCause {
        self.taken
    }

    /// The known causes that have a loss in a busy period of a cluster.
    pub fn causes_in(
        &self,
        cpus: &[u32],
        period: &[usize],
        histories: &Histories,
        end_ns: u64,
    ) -> Vec<MissCause> {
        let mut present = [false; MissCause::ALL.len()];
        let mut note = |cause: MissCause, there: bool| present[cause as usize] |= there;
        for losses in period.iter().map(|&id| &self.of[id]) {
            note(self.taken, losses.taken_ns > 0);
            note(MissCause::EarlierOverrun, losses.excess_ns > 0);
            note(MissCause::Scheduling, losses.way_in_ns + losses.way_out_ns > 0);
            losses.blocks.iter().for_each(|block| note(block.cause, true));
        }
        let from = period.iter().map(|&id| histories.all[id].release_ns).min().unwrap_or(0);
        let to = period.iter().map(|&id| histories.all[id].end(end_ns)).max().unwrap_or(0);
        for absence in cpus.iter().filter_map(|cpu| self.absences.get(cpu)).flatten() {
            note(absence.cause, absence.from_ns < to && absence.to_ns > from);
        }
        let known = MissCause::ALL.into_iter().filter(|cause| *cause != MissCause::Unknown);
        known.filter(|cause| present[*cause as usize]).collect()
    }
}

/// The CPUs that other threads had, as they follow one another.
fn absences(activities: &[Activity]) -> BTreeMap<u32, Vec<Absence>> {
    let mut of: BTreeMap<u32, Vec<Absence>> = BTreeMap::new();
    for one in activities.iter().filter(|one| one.about == About::Cpu) {
        let Some(cause) = absence_of(one.cause) else { continue };
        let own = of.entry(one.cpu).or_default();
        let from = own.last().map_or(one.from_ns, |last| last.to_ns.max(one.from_ns));
        if from < one.to_ns {
            own.push(Absence { from_ns: from, to_ns: one.to_ns, cause });
        }
    }
    of
}

/// What a job did with the CPU while it had it.
fn on_cpu(evidence: &Evidence<'_>, history: &History, job: Option<&Job>) -> JobLosses {
    let had: u64 = history.pieces.iter().map(|piece| piece.to_ns - piece.from_ns).sum();
    let Some(job) = job else { return JobLosses { work_ns: had, ..JobLosses::default() } };
    let within = |from: u64, to: u64| -> u64 {
        let part = |piece: &Piece| piece.to_ns.min(to).saturating_sub(piece.from_ns.max(from));
        history.pieces.iter().map(part).sum()
    };
    let Some(start) = job.start_ns else {
        // It has not begun; what it asked for is all that is known.
        return JobLosses { work_ns: job.demand_ns.unwrap_or(0), way_in_ns: had, ..JobLosses::default() };
    };
    let finish = job.finish_ns.unwrap_or(u64::MAX);
    let way_in = within(0, start);
    let inside = within(start, finish);
    let wcet = evidence.wcets_ns.get(history.task as usize).copied().unwrap_or(u64::MAX);
    let used = job.cpu_time_ns.unwrap_or(inside);
    let own = match job.demand_ns.filter(|_| !evidence.demand_is_work) {
        // CPU time beyond what it asked for passed without it.
        Some(asked) => asked,
        None => used,
    };
    let (work, taken) = match job.outcome {
        JobOutcome::Completed => (own.min(inside), inside.saturating_sub(own)),
        // What it would have had to do, and what was taken until it stopped.
        JobOutcome::Aborted | JobOutcome::Unfinished | JobOutcome::Skipped | JobOutcome::Ordinary => {
            (job.demand_ns.unwrap_or(inside), job.cpu_time_ns.map_or(0, |used| inside.saturating_sub(used)))
        }
    };
    JobLosses {
        work_ns: work,
        excess_ns: work.saturating_sub(wcet),
        taken_ns: taken,
        way_in_ns: way_in,
        way_out_ns: had - way_in - inside,
        blocks: Vec::new(),
    }
}

/// A way to the first or from the last instruction that is longer than the run's usual one was lengthened by what takes time
/// from a running job: only the usual one is scheduling's.
fn credit_usual_ways(of: &mut [JobLosses]) {
    let usual_in = usual(of.iter().map(|losses| losses.way_in_ns).filter(|&way| way > 0).collect());
    let usual_out = usual(of.iter().map(|losses| losses.way_out_ns).filter(|&way| way > 0).collect());
    for losses in of {
        let beyond_in = losses.way_in_ns.saturating_sub(usual_in);
        let beyond_out = losses.way_out_ns.saturating_sub(usual_out);
        losses.way_in_ns -= beyond_in;
        losses.way_out_ns -= beyond_out;
        losses.taken_ns += beyond_in + beyond_out;
    }
}

/// An activity of scheduling explains no longer waiting than is usual for its kind in this run. Records say when a request
/// was sent and when it was taken up, or when a decision began and ended; on a machine that shares its processors, what makes
/// one of a hundred many times longer than the others is no cost of scheduling, and nothing records what it is.
fn credit_usual_activities(all: &mut [Activity]) {
    for kind in Cause::ALL.into_iter().filter(|&kind| waiting_of(kind) == Some(MissCause::Scheduling)) {
        let of_kind = || all.iter().filter(|one| one.cause == kind);
        let usual = usual(of_kind().map(length).collect());
        for one in all.iter_mut().filter(|one| one.cause == kind) {
            one.to_ns = one.to_ns.min(one.from_ns.saturating_add(usual));
        }
    }
}

/// In ns.
fn length(one: &Activity) -> u64 {
    one.to_ns.saturating_sub(one.from_ns)
}

/// What 99 of 100 lengths do not exceed, in ns: the longest where there are fewer than 100.
fn usual(mut lengths: Vec<u64>) -> u64 {
    lengths.sort_unstable();
    let rank = (lengths.len() * 99).div_ceil(100);
    rank.checked_sub(1).map_or(u64::MAX, |at| lengths[at])
}

/// Looks up which jobs had which CPU and what the kernel was at.
struct Waits<'a> {
    evidence: &'a Evidence<'a>,
    histories: &'a Histories,
    absences: &'a BTreeMap<u32, Vec<Absence>>,
    /// By CPU, ascending: the jobs that ran.
    ran: BTreeMap<u32, Vec<(Piece, usize)>>,
    /// What explains waiting, in the order of beginnings.
    explains: Vec<Activity>,
    /// No activity there is longer, in ns.
    longest_ns: u64,
}

impl<'a> Waits<'a> {
    fn of(
        evidence: &'a Evidence<'a>,
        histories: &'a Histories,
        absences: &'a BTreeMap<u32, Vec<Absence>>,
    ) -> Self {
        let mut ran: BTreeMap<u32, Vec<(Piece, usize)>> = BTreeMap::new();
        for (id, history) in histories.all.iter().enumerate() {
            for piece in &history.pieces {
                ran.entry(piece.cpu).or_default().push((*piece, id));
            }
        }
        ran.values_mut().for_each(|of| of.sort_by_key(|(piece, _)| piece.from_ns));
        let explains = |one: &&Activity| waiting_of(one.cause).is_some();
        let mut explains: Vec<Activity> = evidence.activities.iter().filter(explains).copied().collect();
        credit_usual_activities(&mut explains);
        explains.sort_by_key(|one| one.from_ns);
        let longest_ns = explains.iter().map(length).max().unwrap_or(0);
        Waits { evidence, histories, absences, ran, explains, longest_ns }
    }

    /// When a job could not run although no job that goes first had the CPU.
    fn blocks(&self, id: usize, losses: &JobLosses) -> Vec<Block> {
        let history = &self.histories.all[id];
        let end = history.end(self.evidence.end_ns);
        let from = self.histories.before(id).map_or(0, |before| before.end(self.evidence.end_ns));
        let mut blocks = self.throttled(id, losses);
        let sleep = |&span: &(u64, u64)| Block::waiting(span, MissCause::Unknown);
        blocks.extend(history.sleeps.iter().map(sleep));
        blocks.extend(self.asleep(history).filter(|_| from <= history.release_ns));
        let ran = history.pieces.iter().map(|piece| (piece.from_ns, piece.to_ns));
        let blocked = blocks.iter().map(|block| (block.from_ns, block.to_ns));
        let waited = minus((history.release_ns.max(from), end), ran.chain(blocked).collect());
        let lost = waited.into_iter().flat_map(|wait| self.not_for_others(id, wait));
        let explained: Vec<Block> = lost.flat_map(|lost| self.explained(history, lost)).collect();
        blocks.extend(explained);
        blocks.sort_by_key(|block| (block.from_ns, block.to_ns));
        blocks
    }

    /// Until the timer of its release was handled: whatever else there was, it could not run. Where several timers were due at
    /// its release, it is the first that was handled.
    fn asleep(&self, history: &History) -> Option<Block> {
        let release = history.release_ns;
        let first_ran = history.pieces.first().map_or(u64::MAX, |piece| piece.from_ns);
        let begin = self.explains.partition_point(|one| one.from_ns < release);
        let near = self.explains[begin..].iter().take_while(|one| one.from_ns == release);
        let own = |one: &&Activity| {
            let about = matches!(one.about, About::Released(due, _) if due == release);
            about && one.cause == Cause::ReleaseLatency && release < one.to_ns && one.to_ns <= first_ran
        };
        let to = near.filter(own).map(|one| one.to_ns).min()?;
        Some(Block::waiting((release, to), MissCause::LateRelease))
    }

    /// While it waited for a budget.
    fn throttled(&self, id: usize, losses: &JobLosses) -> Vec<Block> {
        let history = &self.histories.all[id];
        let budget = self.evidence.budgets_ns.get(history.task as usize).copied().flatten();
        let before = self.histories.before(id);
        let one = |throttle: &super::history::Throttle| {
            // The kernel begins the periods of budgets with wake-ups: a late one makes the next job wait, whatever it has used.
            let of_period = !throttle.on_cpu
                && before.zip(budget).is_some_and(|(before, budget)| {
                    before.throttles.is_empty() && self.charged(before) < budget
                });
            let cause = match of_period {
                true => MissCause::LateRelease,
                false if losses.excess_ns > 0 => MissCause::EarlierOverrun,
                false => MissCause::Throttled,
            };
            let had: u64 = history
                .pieces
                .iter()
                .filter(|piece| piece.to_ns <= throttle.from_ns)
                .map(|p| p.to_ns - p.from_ns)
                .sum();
            Block {
                after_ns: Some(had).filter(|&had| had > 0),
                then_deadline_ns: Some(history.deadline_at(throttle.to_ns)),
                ..Block::waiting((throttle.from_ns, throttle.to_ns), cause)
            }
        };
        history.throttles.iter().map(one).collect()
    }

    fn charged(&self, history: &History) -> u64 {
        super::budgets::charged(self.evidence, history)
    }

    /// The parts of its waiting in which a CPU had neither a job that goes first nor another thread.
    fn not_for_others(&self, id: usize, wait: (u64, u64)) -> Vec<(u64, u64)> {
        let history = &self.histories.all[id];
        let mut lost = Vec::new();
        for cpu in self.cpus_of(history.task) {
            lost.extend(self.free_of_others(id, cpu, wait));
        }
        union(lost)
    }

    fn cpus_of(&self, task: u32) -> Vec<u32> {
        self.evidence.definition.cpus_of(task)
    }

    fn free_of_others(&self, id: usize, cpu: u32, wait: (u64, u64)) -> Vec<(u64, u64)> {
        let history = &self.histories.all[id];
        let definition = self.evidence.definition;
        let mut others = Vec::new();
        let ran = self.ran.get(&cpu).map_or(&[][..], Vec::as_slice);
        let first = ran.partition_point(|(piece, _)| piece.to_ns <= wait.0);
        for (piece, other) in ran[first..].iter().take_while(|(piece, _)| piece.from_ns < wait.1) {
            let now = piece.from_ns.max(wait.0);
            if rank(definition, &self.histories.all[*other], now) <= rank(definition, history, now) {
                others.push((piece.from_ns, piece.to_ns));
            }
        }
        let absent = self.absences.get(&cpu).map_or(&[][..], Vec::as_slice);
        let first = absent.partition_point(|absence| absence.to_ns <= wait.0);
        for absence in absent[first..].iter().take_while(|absence| absence.from_ns < wait.1) {
            others.push((absence.from_ns, absence.to_ns));
        }
        minus(wait, others)
    }

    /// A lost interval, in parts by what explains it.
    fn explained(&self, history: &History, lost: (u64, u64)) -> Vec<Block> {
        let cpus = self.cpus_of(history.task);
        let about = |one: &Activity| match one.about {
            About::Cpu => cpus.contains(&one.cpu),
            About::Released(first, last) => first <= history.release_ns && history.release_ns <= last,
            About::Task(task) => task == history.task,
        };
        let first = self.explains.partition_point(|one| one.from_ns < lost.0.saturating_sub(self.longest_ns));
        let overlapping = self.explains[first..].iter().take_while(|one| one.from_ns < lost.1);
        let mut reasons: Vec<(MissCause, u64, u64)> = overlapping
            .filter(|one| one.to_ns > lost.0 && about(one))
            .filter_map(|one| Some((waiting_of(one.cause)?, one.from_ns, one.to_ns)))
            .collect();
        // A job that is not awake cannot wait for anything else.
        reasons.sort_by_key(|&(cause, from, _)| (cause, from));
        let mut blocks = Vec::new();
        let mut left = vec![lost];
        for (cause, from, to) in reasons {
            for &(start, end) in &left {
                let (start, end) = (start.max(from), end.min(to));
                if start < end {
                    blocks.push(Block::waiting((start, end), cause));
                }
            }
            left = without_all(left, (from, to));
        }
        blocks.extend(left.into_iter().map(|span| Block::waiting(span, MissCause::Unknown)));
        blocks
    }
}

/// The parts of intervals that are not in another one.
fn without_all(all: Vec<(u64, u64)>, (start, end): (u64, u64)) -> Vec<(u64, u64)> {
    let rest = |(from, to): (u64, u64)| [(from, to.min(start)), (from.max(end), to)];
    all.into_iter().flat_map(rest).filter(|(from, to)| from < to).collect()
}

/// The parts of an interval that are in none of others, ascending.
fn minus((from, to): (u64, u64), mut others: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    others.sort_unstable();
    let (mut left, mut begin) = (Vec::new(), from);
    for (start, end) in others {
        if begin < start.min(to) {
            left.push((begin, start.min(to)));
        }
        begin = begin.max(end);
    }
    if begin < to {
        left.push((begin, to));
    }
    left
}

/// The same time in intervals that do not overlap, ascending.
fn union(mut all: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    all.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (from, to) in all {
        match joined.last_mut().filter(|(_, end)| *end >= from) {
            Some((_, end)) => *end = to.max(*end),
            None => joined.push((from, to)),
        }
    }
    joined
}
