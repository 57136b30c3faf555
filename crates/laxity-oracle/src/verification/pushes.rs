//! A push that was given up had a reason: the CPU that it was for had, or had just been given, a job that goes before the
//! pushed one.
//!
//! 1. A push fails when the first job of the target's queue goes before its job. That job runs there, or it will run there
//!    next unless one that goes before it comes in between: no CPU moves what another has yet to decide on.
//! 2. So at the instant at which the last try failed, one of these is true:
//!    a) The target runs a job that goes before the pushed one.
//!    b) Such a job has ended there, or was throttled or postponed, and the target has been at work since: it has yet to
//!    say so.
//!    c) The target is about to run such a job: it is at work, or an interrupt is on the way to it. Until it pauses after
//!    that, such a job begins there, because of the interrupt or because the target decides for itself before.
//! 3. Only the last try is checked. The tries before it are recorded like those that were overtaken, whose reason is in the
//!    queue that they come from, and a trace does not show all that enters a queue; they excuse nothing.
//!
//! Complexity: O(1) per event, and per push given up whose target is at work.

use super::rank::Rank;
use crate::verdict::{Report, Sighting};
use crate::{JobName, Oracle, Transitions};

/// A push that was given up, while its reason is not known.
struct GivenUp {
    at: u64,
    /// From where.
    cpu: u32,
    target: u32,
    rank: Rank,
    job: JobName,
    /// What the target ran.
    ran: Option<JobName>,
    /// By then an interrupt that asks for it has arrived at the target.
    latest: u64,
    /// Until then that may be on the way, or the target is at work.
    explained: u64,
    /// The target is at work, or was interrupted.
    told: bool,
    /// A job that goes before has begun there.
    begun: bool,
}

#[derive(Default)]
struct Target {
    /// It is at work, or was, `[since, until)`.
    since_ns: u64,
    until_ns: u64,
    /// What left it last.
    left: Option<(Rank, u64)>,
    open: Vec<GivenUp>,
}

/// What is known of the pushes that were given up.
pub(super) struct Pushes {
    bound: u64,
    ipi: u64,
    targets: Vec<Target>,
}

/// The two ends of a push, by number and index, and its job.
pub(super) struct Push {
    pub cpu: u32,
    pub target: u32,
    pub index: usize,
    pub rank: Rank,
    pub job: JobName,
}

impl Pushes {
    /// Nothing where a push that is given up excuses nothing.
    pub fn new(transitions: Transitions, cpus: usize) -> Option<Pushes> {
        let ipi = transitions.kernel.map_or(0, |kernel| kernel.ipi.as_ns());
        let targets = (0..cpus).map(|_| Target::default()).collect();
        transitions.abandoned_pushes.then(|| Pushes { bound: transitions.bound.as_ns(), ipi, targets })
    }

    /// A push is given up; its target runs this.
    pub fn abandoned(&mut self, push: Push, runs: Option<(Rank, JobName)>, now: u64, report: &mut Report) {
        report.checks(Oracle::GlobalInvariant);
        let bound = self.bound;
        let latest = now.saturating_add(self.ipi).saturating_add(bound);
        let target = &mut self.targets[push.index];
        let at_work = target.until_ns >= now;
        let before = |rank: Rank| rank < push.rank;
        let runs_before = runs.is_some_and(|(rank, _)| before(rank));
        let left_before = target.left.is_some_and(|(rank, at)| {
            before(rank) && (now - at <= bound || at_work && target.since_ns <= at.saturating_add(bound))
        });
        if !runs_before && !left_before {
            target.open.push(GivenUp {
                at: now,
                cpu: push.cpu,
                target: push.target,
                rank: push.rank,
                job: push.job,
                ran: runs.map(|(_, name)| name),
                latest,
                explained: target.until_ns.max(latest),
                told: at_work,
                begun: false,
            });
        }
    }

    /// A CPU is at work `[from, to)`.
    pub fn section(&mut self, cpu: usize, (from, to): (u64, u64)) {
        let bound = self.bound;
        let target = &mut self.targets[cpu];
        if from > target.until_ns {
            target.since_ns = from;
        }
        target.until_ns = target.until_ns.max(to);
        for push in &mut target.open {
            if from <= push.explained.saturating_add(bound) {
                push.explained = push.explained.max(to);
            }
            push.told |= from <= push.at.saturating_add(bound);
        }
    }

    /// An interrupt arrives at a CPU.
    pub fn interrupt(&mut self, cpu: usize, now: u64) {
        for push in &mut self.targets[cpu].open {
            push.told |= now <= push.latest;
        }
    }

    /// A job of this rank has ended on a CPU, or goes on with another one.
    pub fn leaves(&mut self, cpu: usize, rank: Rank, now: u64) {
        self.targets[cpu].left = Some((rank, now));
    }

    /// A job begins on a CPU.
    pub fn begins(&mut self, cpu: usize, rank: Rank, now: u64, report: &mut Report) {
        let bound = self.bound;
        self.targets[cpu].open.retain_mut(|push| {
            if rank < push.rank && now <= push.explained.saturating_add(bound) {
                push.begun = true;
                push.told |= now <= push.at.saturating_add(bound);
            }
            let known = push.told && push.begun;
            let late = !known && now > push.latest;
            if late {
                push.without_reason(report);
            }
            !known && !late
        });
    }

    /// The trace is over: what may still be on its way is a reason.
    pub fn finish(&mut self, end: u64, report: &mut Report) {
        for push in self.targets.iter_mut().flat_map(|target| target.open.drain(..)) {
            let explained = push.explained.saturating_add(self.bound);
            if !push.told && end > push.latest || !push.begun && end > explained {
                push.without_reason(report);
            }
        }
    }
}

impl GivenUp {
    fn without_reason(&self, report: &mut Report) {
        let &GivenUp { at, cpu, target, job, ran, .. } = self;
        let mut sighting = Sighting::at(Oracle::GlobalInvariant, at).on(Some(cpu));
        (sighting.ran, sighting.should_have_run) = (ran, Some(job));
        report.violation(sighting, |names| {
            let had = ran.map_or("was idle".to_owned(), |ran| format!("ran {ran}", ran = names.job(ran)));
            format!(
                "gave up pushing {job} to cpu{target}, which {had}, without a reason",
                job = names.job(job)
            )
        });
    }
}
