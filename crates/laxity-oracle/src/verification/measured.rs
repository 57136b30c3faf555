//! How much of a job's waiting the activities of the run itself explain (`activity.rs` says which explain what).
//!
//! Complexity: O(1) per event and activity, amortized; O(k^2) per deviation with k activities that overlap it.

use super::rank::Rank;
use super::trace_state::{NONE, TraceState};
use crate::{About, Activity, Cause};

/// A part of an activity during which its CPU has not changed hands.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from_ns: u64,
    to_ns: u64,
    cause: Cause,
    /// What the CPU runs, or was taken from.
    ran: Option<Rank>,
    about: About,
}

#[derive(Default)]
struct CpuMeasured {
    cluster: u32,
    ran: Option<Rank>,
    /// Whether it runs that.
    runs: bool,
    open: Vec<Piece>,
    /// Until when something above the scheduler had it last, or is going to have it.
    taken_until_ns: u64,
}

/// Of a deviation: what remains unexplained, and what each cause explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Account {
    pub unexplained: u64,
    pub explained: [u64; Cause::ALL.len()],
}

pub(super) struct Measured {
    cpus: Vec<CpuMeasured>,
    /// By cluster, in the order in which they ended.
    closed: Vec<Vec<Piece>>,
    /// By cluster: when a job became ready last.
    last_ready_at: Vec<u64>,
    /// At how many it is worth forgetting some.
    limits: Vec<usize>,
    /// By task: its cluster, and when its job became ready by a timer or a wake-up.
    cluster_of: Vec<u32>,
    ready_at: Vec<Option<u64>>,
    /// By task: what the records say of how it became ready.
    told: Vec<Told>,
    /// By cluster: of which instants of releases that may still come up something is told.
    releases: Vec<Vec<((u64, u64), Told)>>,
    /// By cluster: the tasks of whose becoming ready nothing is told yet, or only that it was late.
    unhandled: Vec<Vec<u32>>,
}

/// What the records say of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Nothing,
    /// Its timer had not gone off until then.
    LateUntil(u64),
    /// It was handled.
    Handled,
}

/// Whether a release was seen to be handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    /// Something was recorded that handled it, or it was no release that made the job ready.
    Handled,
    /// Its timer had not gone off when the trace ended.
    Overdue,
    /// Nothing is known of it.
    Lost,
}

/// Fewer are not worth forgetting.
const PIECES_MIN: usize = 1024;

impl Measured {
    pub fn new(trace: &TraceState) -> Self {
        let clusters = trace.definition.clusters().len();
        let cpus =
            trace.cpus.iter().map(|cpu| CpuMeasured { cluster: cpu.cluster, ..CpuMeasured::default() });
        Measured {
            cpus: cpus.collect(),
            closed: vec![Vec::new(); clusters],
            last_ready_at: vec![0; clusters],
            limits: vec![PIECES_MIN; clusters],
            cluster_of: trace.tasks.iter().map(|task| task.cluster).collect(),
            ready_at: vec![None; trace.tasks.len()],
            told: vec![Told::Nothing; trace.tasks.len()],
            releases: vec![Vec::new(); clusters],
            unhandled: vec![Vec::new(); clusters],
        }
    }

    /// The task's job becomes ready now, by a timer or a wake-up.
    pub fn becomes_ready(&mut self, task: u32, now: u64) {
        self.ready_at[task as usize] = Some(now);
        let cluster = self.cluster_of[task as usize] as usize;
        let Some(unhandled) = self.unhandled.get_mut(cluster) else { return };
        self.last_ready_at[cluster] = now;
        unhandled.retain(|&other| other != task);
        self.releases[cluster].retain(|&((_, last), _)| last >= now);
        let about = self.releases[cluster].iter().filter(|&&((first, _), _)| first <= now);
        let told = about.map(|&(_, told)| told).max().unwrap_or(Told::Nothing);
        self.told[task as usize] = told;
        if told != Told::Handled {
            unhandled.push(task);
        }
    }

    /// Of the task's job, which was released at this instant, when the trace ends.
    pub fn release(&self, task: u32, released_at: u64, end: u64) -> Release {
        let became_ready = self.ready_at[task as usize] == Some(released_at);
        match self.told[task as usize] {
            Told::Nothing if became_ready => Release::Lost,
            Told::LateUntil(to) if became_ready && to >= end => Release::Overdue,
            _ => Release::Handled,
        }
    }

    /// Something is told of the release of jobs that became ready, or will, between these instants.
    fn tells(&mut self, cluster: usize, (first, last): (u64, u64), told: Told) {
        self.releases[cluster].push(((first, last), told));
        let (ready_at, of) = (&self.ready_at, &mut self.told);
        self.unhandled[cluster].retain(|&task| {
            let task = task as usize;
            if ready_at[task].is_some_and(|at| first <= at && at <= last) {
                of[task] = of[task].max(told);
            }
            of[task] != Told::Handled
        });
    }

    /// An activity begins on a CPU.
    pub fn begins(&mut self, cpu: usize, activity: &Activity) {
        let &Activity { from_ns: from, to_ns: to, cause, about, .. } = activity;
        if let About::Released(first, last) = about {
            let told = match cause {
                Cause::ReleaseLatency => Told::LateUntil(to),
                Cause::ReleaseHandler | Cause::Unseen => Told::Handled,
                _ => Told::Nothing,
            };
            if told != Told::Nothing {
                self.tells(self.cpus[cpu].cluster as usize, (first, last), told);
            }
        }
        let of = &mut self.cpus[cpu];
        if matches!(cause, Cause::HigherClass | Cause::KernelThread) {
            of.taken_until_ns = of.taken_until_ns.max(to);
        }
        let ran = of.ran;
        let piece = Piece { from_ns: from, to_ns: to, cause, ran, about };
        match about {
            About::Cpu => of.open.push(piece),
            // What its CPU runs does not matter.
            About::Released(..) | About::Task(_) => self.closed[of.cluster as usize].push(piece),
        }
    }

    /// Whether something above the scheduler has the CPU, or has had it since a job of its cluster became ready.
    pub fn is_or_was_taken(&self, cpu: usize) -> bool {
        let of = &self.cpus[cpu];
        of.taken_until_ns > self.last_ready_at[of.cluster as usize]
    }

    /// From now on the CPU runs a job.
    pub fn runs(&mut self, cpu: usize, rank: Rank, now: u64) {
        for other in 0..self.cpus.len() {
            let of = &self.cpus[other];
            if other != cpu && !of.runs && of.ran.is_some_and(|(_, task)| task == rank.1) {
                self.changes(other, None, now);
            }
        }
        self.changes(cpu, Some(rank), now);
        self.cpus[cpu].runs = true;
    }

    /// The job is taken off the CPU.
    pub fn stops(&mut self, cpu: usize) {
        self.cpus[cpu].runs = false;
    }

    /// The job on the CPU has ended, or cannot go on.
    pub fn ends(&mut self, cpu: usize, now: u64) {
        self.changes(cpu, None, now);
        self.cpus[cpu].runs = false;
    }

    fn changes(&mut self, cpu: usize, ran: Option<Rank>, now: u64) {
        self.close(cpu, now);
        let of = &mut self.cpus[cpu];
        of.ran = ran;
        of.open.iter_mut().for_each(|piece| piece.ran = ran);
    }

    /// What has been open until now is a piece; what ends later goes on as another.
    fn close(&mut self, cpu: usize, now: u64) {
        let CpuMeasured { cluster, open, .. } = &mut self.cpus[cpu];
        let closed = &mut self.closed[*cluster as usize];
        open.retain_mut(|piece| {
            let to = piece.to_ns.min(now);
            if piece.from_ns < to {
                closed.push(Piece { to_ns: to, ..*piece });
                piece.from_ns = to;
            }
            piece.to_ns > now
        });
    }

    /// Accounts for `[from, to)`, during which a job waited.
    pub fn account(&mut self, cluster: u32, (task, rank): (u32, Rank), (from, to): (u64, u64)) -> Account {
        for cpu in 0..self.cpus.len() {
            if self.cpus[cpu].cluster == cluster {
                self.close(cpu, to);
            }
        }
        let ready_at = self.ready_at[task as usize];
        let explains = |piece: &&Piece| match piece.about {
            About::Cpu => piece.ran.is_none_or(|ran| rank <= ran),
            About::Released(first, last) => ready_at.is_some_and(|at| first <= at && at <= last),
            About::Task(taken) => taken == task,
        };
        let closed = &self.closed[cluster as usize];
        let overlapping = closed.iter().filter(|piece| piece.from_ns < to && piece.to_ns > from);
        let mut pieces: Vec<&Piece> = overlapping.filter(explains).collect();
        pieces.sort_by_key(|piece| piece.cause);
        let mut account = Account::default();
        let mut left = vec![(from, to)];
        for piece in pieces {
            let before: u64 = left.iter().map(|(from, to)| to - from).sum();
            left = left.into_iter().flat_map(|rest| without(rest, (piece.from_ns, piece.to_ns))).collect();
            let after: u64 = left.iter().map(|(from, to)| to - from).sum();
            account.explained[piece.cause as usize] += before - after;
        }
        account.unexplained = left.iter().map(|(from, to)| to - from).sum();
        account
    }

    /// Forgets what ended before `oldest`, if that is much.
    pub fn forget(&mut self, cluster: u32, oldest: u64) {
        let closed = &mut self.closed[cluster as usize];
        if closed.len() > self.limits[cluster as usize] {
            closed.retain(|piece| piece.to_ns > oldest);
            self.limits[cluster as usize] = PIECES_MIN.max(2 * closed.len());
        }
    }
}

/// The parts of an interval that are not in another one.
fn without((from, to): (u64, u64), (start, end): (u64, u64)) -> impl Iterator<Item = (u64, u64)> {
    [(from, to.min(start)), (from.max(end), to)].into_iter().filter(|(from, to)| from < to)
}

impl super::Verification<'_> {
    /// From now on only activities excuse deviations (the definition's transitions should be none) and budgets that are enforced
    /// late. Replenishments that were noticed off a CPU may be `late`, and a task may wake up to `late` after the last release for a job
    /// whose release nothing else tells of.
    #[must_use]
    pub fn measured(mut self, late: laxity_model::Duration) -> Self {
        self.order.measured = Some(Measured::new(&self.trace));
        self.is_plain = false;
        self.budgets.noticed_late_on(self.trace.cpus.len(), late.as_ns());
        self.periods.may_be_late(late.as_ns());
        self
    }

    /// Takes an activity: in the order of their beginnings among themselves and the events, before events of its instant.
    /// CPUs that are not of the definition are passed over.
    pub fn activity(&mut self, activity: &Activity) {
        if activity.from_ns >= activity.to_ns {
            return;
        }
        self.advance(activity.from_ns);
        if let Some(cpu) =
            self.trace.cpu_index(activity.cpu).filter(|&cpu| self.trace.cpus[cpu].cluster != NONE)
            && let Some(measured) = &mut self.order.measured
        {
            self.budgets.activity(cpu, activity);
            // It says nothing of jobs that wait.
            if activity.cause != Cause::BudgetTimer {
                measured.begins(cpu, activity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(from: u64, to: u64, cause: Cause, ran: Option<Rank>) -> Piece {
        Piece { from_ns: from, to_ns: to, cause, ran, about: About::Cpu }
    }

    fn one_cpu() -> Measured {
        Measured {
            cpus: vec![CpuMeasured::default()],
            closed: vec![Vec::new()],
            last_ready_at: vec![0],
            limits: vec![PIECES_MIN],
            cluster_of: vec![0; 4],
            ready_at: vec![None; 4],
            told: vec![Told::Nothing; 4],
            releases: vec![Vec::new()],
            unhandled: vec![Vec::new()],
        }
    }

    fn activity(from_ns: u64, to_ns: u64, cause: Cause) -> Activity {
        Activity { from_ns, to_ns, cpu: 0, cause, about: About::Cpu }
    }

    #[test]
    fn time_is_accounted_for_once_by_the_first_cause() {
        let mut measured = one_cpu();
        measured.closed[0] = vec![
            piece(10, 30, Cause::Interrupt, None),
            piece(20, 25, Cause::KernelThread, None),
            piece(28, 35, Cause::Decision, None),
            piece(0, 100, Cause::Switch, Some((3, 3))),
        ];
        let account = measured.account(0, (1, (5, 1)), (5, 40));
        assert_eq!(account.unexplained, 5 + 5);
        assert_eq!(account.explained[Cause::KernelThread as usize], 5);
        assert_eq!(account.explained[Cause::Decision as usize], 7);
        assert_eq!(account.explained[Cause::Interrupt as usize], 13);
        assert_eq!(account.explained[Cause::Switch as usize], 0, "that CPU has a job that goes before");
    }

    #[test]
    fn a_cpu_that_changes_hands_explains_by_turns() {
        let mut measured = one_cpu();
        measured.runs(0, (3, 3), 0);
        measured.begins(0, &activity(10, 50, Cause::Interrupt));
        measured.ends(0, 20);
        measured.runs(0, (9, 2), 40);
        assert_eq!(measured.account(0, (1, (5, 1)), (10, 60)).unexplained, 10 + 10);
        let mut measured = one_cpu();
        measured.runs(0, (3, 3), 0);
        measured.stops(0);
        measured.begins(0, &activity(10, 50, Cause::KernelThread));
        assert_eq!(
            measured.account(0, (1, (5, 1)), (10, 20)).unexplained,
            10,
            "the one taken off goes before"
        );
        assert_eq!(measured.account(0, (3, (3, 3)), (10, 20)).unexplained, 0, "it waits itself");
    }

    #[test]
    fn a_release_explains_only_its_jobs() {
        let mut measured = one_cpu();
        measured.becomes_ready(1, 12);
        measured.becomes_ready(2, 9);
        let release = Activity { about: About::Released(10, 30), ..activity(10, 25, Cause::ReleaseLatency) };
        measured.begins(0, &release);
        assert_eq!(measured.account(0, (1, (5, 1)), (12, 27)).unexplained, 2);
        assert_eq!(measured.account(0, (2, (5, 2)), (12, 27)).unexplained, 15);
    }

    #[test]
    fn a_release_is_handled_before_or_after_its_instant_or_never() {
        let mut measured = one_cpu();
        let release = |from: u64, to: u64, cause: Cause| Activity {
            about: About::Released(10, 25),
            ..activity(from, to, cause)
        };
        measured.begins(0, &release(10, 20, Cause::ReleaseLatency));
        measured.becomes_ready(1, 10);
        measured.becomes_ready(2, 26);
        assert_eq!(measured.release(1, 10, 40), Release::Handled, "its timer was late, and went off");
        assert_eq!(measured.release(1, 10, 20), Release::Overdue);
        assert_eq!(measured.release(2, 26, 40), Release::Lost);
        assert_eq!(measured.release(2, 27, 40), Release::Handled, "what made it ready was no release");
        let later = Activity { about: About::Released(20, 40), ..activity(38, 40, Cause::ReleaseHandler) };
        measured.begins(0, &Activity { cause: Cause::Queue, ..later });
        assert_eq!(measured.release(2, 26, 40), Release::Lost, "what waits in a queue is no release");
        measured.begins(0, &later);
        assert_eq!(measured.release(2, 26, 40), Release::Handled);
        measured.becomes_ready(3, 39);
        assert_eq!(measured.release(3, 39, 40), Release::Handled);
    }

    #[test]
    fn a_decision_has_in_its_hands_what_it_takes() {
        let mut measured = one_cpu();
        measured.runs(0, (3, 3), 0);
        measured.begins(0, &activity(10, 25, Cause::Decision));
        measured.begins(0, &Activity { about: About::Task(1), ..activity(10, 25, Cause::Decision) });
        assert_eq!(measured.account(0, (1, (5, 1)), (12, 27)).unexplained, 2);
        assert_eq!(measured.account(0, (2, (5, 2)), (12, 27)).unexplained, 15);
    }
}
