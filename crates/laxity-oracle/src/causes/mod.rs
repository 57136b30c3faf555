//! Why jobs missed their deadlines: one primary cause for each miss, by a *counterfactual*. Without this, would the job have
//! met its deadline?
//!
//! 1. A *loss* is time that the recorded schedule of the run shows a job, or a CPU, to have lost, each with its cause:
//!
//!    | cause | what is lost |
//!    |---|---|
//!    | throttled | from a `throttle` to its `replenish`, of a job whose budget the kernel's accounts used up though it asked for less |
//!    | late release | from the release until the timer's handler began |
//!    | kernel thread, other thread, reserve | the CPU, while such a thread had it |
//!    | steal, interrupt | time on the CPU, between the first and the last instruction of the job, beyond the work it asked for |
//!    | scheduling | waiting while a decision, a switch or a request to decide was under way; the way to the first and from the last instruction |
//!    | overrun | work beyond the WCET, and waiting for a budget that this used up |
//!    | unknown | waiting that nothing recorded explains |
//!
//!    Scheduling is credited with what is usual in the run only: of a way, a decision or a request that is longer than 99 of
//!    100 of its kind, the rest is steal or interrupts (a way: the job has the CPU) or unknown (the others).
//!    Waiting for a job that goes first is no loss of the job which waits: the loss is that of the other job, if it has one.
//! 2. A *busy period* of a cluster is a maximal interval in which a job of it is pending. What happens before it does not
//!    matter to it. It is *replayed* ([`replay`]): the jobs of the busy period with their releases, work and losses, under the
//!    scheduler's definition, where the losses happened. Let f be when the job finishes in the replay with all losses, f(c)
//!    without those of cause c, f(0) without any, and F when it really finished; max(0, F - f) is what the records do not
//!    explain, and it counts as an unknown loss in f(c), so that f(c) is later by it.
//! 3. The cause of a miss with the deadline d is
//!    - the *scheduler*, if f(0) > d;
//!    - else *throttled*, if f(throttled) <= d: whatever has used the budget up, a larger one had helped;
//!    - else the cause with the smallest f(c) among those with f(c) <= d;
//!    - else, if the job is in time without all known causes together, the one with the smallest f(c);
//!    - else *unknown*.
//!
//!    Ties go to the cause that [`MissCause::ALL`] has first. An overrun is the job's own, *demand above WCET*, if the job
//!    is in time without its own alone; else it is an *earlier overrun*, of another job.
//! 4. So losses are inherited: a throttled job that makes the next jobs of its task and those below it late is their cause.
//!
//! What cannot be told: steal and interrupts under a running job are one on a virtual machine, where the two have no records;
//! a hypervisor that takes a CPU while its timer is due shows as a late release. Losses stay where they happened, also in
//! a replay that is earlier by then: close calls may go to another cause. Nothing is told of a job of which the record lacks the end.
//!
//! Complexity: O(n log n) for n events; a replay of a busy period of j jobs takes O(j (t + b)) with t tasks and b losses per
//! job. Only busy periods with a miss are replayed.

mod budgets;
mod history;
mod losses;
mod replay;
#[cfg(test)]
mod tests;

use crate::{Activity, Definition};
use history::{Histories, History};
use laxity_trace::{BudgetRecord, Event, Job, JobOutcome, MissCause};
use losses::{Losses, Without};
use replay::replay;

/// What a run left behind.
pub struct Evidence<'a> {
    /// What its scheduler is defined to do.
    pub definition: &'a Definition,
    /// Its jobs, ordered by task, then index.
    pub jobs: &'a [Job],
    /// What was recorded of its schedule.
    pub events: &'a [Event],
    /// What the kernel was at.
    pub activities: &'a [Activity],
    /// Where the record ends, in ns.
    pub end_ns: u64,
    /// How much time the run covered, in ns: a job that was not done and whose deadline lies in it has missed.
    pub horizon_ns: u64,
    /// The tasks' WCETs by id, in ns: what jobs are promised to keep to, whatever the kernel was told.
    pub wcets_ns: &'a [u64],
    /// The tasks' budgets by id, in ns, where the kernel keeps accounts.
    pub budgets_ns: &'a [Option<u64>],
    /// What a task was charged for by the kernel's accounts between two instants, during which it had a CPU, in ns; nothing
    /// where that is not known: then it is the time between them.
    pub charged_ns: &'a dyn Fn(u32, (u64, u64)) -> Option<u64>,
    /// Releases that were skipped have no number in the events.
    pub skipped_without_number: bool,
    /// A job's demand is work, so that it may take longer than its demand by itself; else it is CPU time.
    pub demand_is_work: bool,
    /// What takes time from a running job: [`MissCause::Steal`] or [`MissCause::Interrupt`].
    pub taken: MissCause,
}

/// What is found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Causes {
    /// Of each job, in their order: why it missed; nothing for a job that did not.
    pub of_jobs: Vec<Option<MissCause>>,
    /// Budgets that were used up, task by task.
    pub budgets: Vec<BudgetRecord>,
}

/// The primary cause of every miss, and what budgets there were too small.
pub fn causes(evidence: &Evidence<'_>) -> Causes {
    let histories = Histories::of(evidence);
    let losses = Losses::of(evidence, &histories);
    let missed = |job: &Job| job.missed(evidence.horizon_ns).then_some(MissCause::Unknown);
    let mut of_jobs: Vec<Option<MissCause>> = evidence.jobs.iter().map(missed).collect();
    for cluster in 0..evidence.definition.clusters().len() {
        for period in histories.busy_periods(cluster) {
            let has_miss = |&id: &usize| histories.all[id].job.is_some_and(|job| of_jobs[job].is_some());
            if period.iter().any(has_miss) {
                Judgement::of(evidence, &histories, &losses, (cluster, &period)).tell(&mut of_jobs);
            }
        }
    }
    Causes { of_jobs, budgets: budgets::used_up(evidence, &histories) }
}

/// The replays of a busy period: when its jobs finish.
struct Judgement<'a> {
    evidence: &'a Evidence<'a>,
    histories: &'a Histories,
    losses: &'a Losses,
    period: &'a [usize],
    with_all: Vec<u64>,
    without_any: Vec<u64>,
    without_known: Vec<u64>,
    /// Without each cause that has a loss.
    without: Vec<(MissCause, Vec<u64>)>,
}

impl<'a> Judgement<'a> {
    fn of(
        evidence: &'a Evidence<'a>,
        histories: &'a Histories,
        losses: &'a Losses,
        (cluster, period): (usize, &'a [usize]),
    ) -> Self {
        let finishes =
            |without: Without| replay(evidence.definition, histories, losses, (cluster, period), without);
        let cpus: Vec<u32> = evidence.definition.clusters()[cluster].task_cpus().iter().collect();
        let present = losses.causes_in(&cpus, period, histories, evidence.end_ns);
        let without = present.into_iter().map(|cause| (cause, finishes(Without::One(cause)))).collect();
        Judgement {
            evidence,
            histories,
            losses,
            period,
            with_all: finishes(Without::Nothing),
            without_any: finishes(Without::All),
            without_known: finishes(Without::Known),
            without,
        }
    }

    fn tell(&self, of_jobs: &mut [Option<MissCause>]) {
        for (place, &id) in self.period.iter().enumerate() {
            let history = &self.histories.all[id];
            let Some(job) = history.job.filter(|&job| of_jobs[job].is_some()) else { continue };
            of_jobs[job] = Some(self.cause(place, history, &self.evidence.jobs[job]));
        }
    }

    /// Of the job at this place of the busy period.
    fn cause(&self, place: usize, history: &History, job: &Job) -> MissCause {
        let deadline = job.deadline_ns;
        if self.without_any[place] > deadline {
            return MissCause::Scheduler;
        }
        // A job whose end was not recorded: nothing is known of what came after.
        if history.completed_ns.is_none() && job.finish_ns > Some(self.evidence.end_ns) {
            return MissCause::Unknown;
        }
        let unexplained = match job.finish_ns.filter(|_| job.outcome == JobOutcome::Completed) {
            Some(finish) => finish.saturating_sub(self.with_all[place]),
            None => 0,
        };
        let finish = |of: &[u64]| of[place].saturating_add(unexplained);
        let throttled =
            |(cause, of): &&(MissCause, Vec<u64>)| *cause == MissCause::Throttled && finish(of) <= deadline;
        let least = || self.without.iter().min_by_key(|(cause, of)| (finish(of), *cause));
        match self.without.iter().find(throttled).or_else(least) {
            Some((cause, of)) if finish(of) <= deadline || finish(&self.without_known) <= deadline => {
                self.of_job(*cause, place, job, unexplained)
            }
            _ => MissCause::Unknown,
        }
    }

    /// An overrun is the job's own if its own alone makes it late.
    fn of_job(&self, cause: MissCause, place: usize, job: &Job, unexplained: u64) -> MissCause {
        if cause != MissCause::EarlierOverrun {
            return cause;
        }
        let own = self.losses.of[self.period[place]].excess_ns;
        let without_own = self.with_all[place].saturating_sub(own).saturating_add(unexplained);
        match own > 0 && without_own <= job.deadline_ns {
            true => MissCause::DemandAboveWcet,
            false => MissCause::EarlierOverrun,
        }
    }
}
