//! What happened to one job.

use crate::MissCause;

laxity_model::listed_enum! {
    /// How a job ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum JobOutcome {
        /// It ran to its end.
        Completed,
        /// It was released but had not ended when the run did.
        Unfinished,
        /// It was not done at its deadline, and stopped at its next safe point (lindsay2012, 3.1.3).
        Aborted,
        /// It belonged to a background task when it ended, or when the run did: its task had been refused or demoted, and nothing was
        /// promised to it (calandrino2007, 4.1). Its times are those of any other.
        Ordinary,
        /// Its release was not made up: an earlier job of the task was late when it passed.
        Skipped,
    }
}

/// Hardware event counts over one job. A counter that the machine lacks is `None`, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Instructions retired.
    pub instructions: Option<u64>,
    /// CPU cycles.
    pub cycles: Option<u64>,
    /// L1 data cache read misses.
    pub l1d_misses: Option<u64>,
    /// L2 cache misses.
    pub l2_misses: Option<u64>,
    /// Last-level cache misses.
    pub llc_misses: Option<u64>,
}

/// One job of one task in one run. All instants are ns since the synchronous release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Id of the task: its index in the set.
    pub task: u32,
    /// Number of the job in its task, from 0.
    pub index: u32,
    /// Nominal release.
    pub release_ns: u64,
    /// Absolute deadline: nominal release plus D.
    pub deadline_ns: u64,
    /// The work the job was asked to do, where work is time.
    pub demand_ns: Option<u64>,
    /// CPU time that what it did of that takes with warm caches on the CPUs where it was, by their speed; where a simulation follows
    /// what caches hold.
    pub warm_ns: Option<u64>,
    /// How it ended.
    pub outcome: JobOutcome,
    /// When its first instruction ran.
    pub start_ns: Option<u64>,
    /// When it ended: completed or aborted.
    pub finish_ns: Option<u64>,
    /// CPU time it used.
    pub cpu_time_ns: Option<u64>,
    /// CPU on which it started.
    pub first_cpu: Option<u32>,
    /// CPU on which it ended.
    pub last_cpu: Option<u32>,
    /// Migrations from the end of the job before to the end of this one.
    pub migrations: Option<u32>,
    /// Context switches from the end of the job before to the end of this one.
    pub context_switches: Option<u32>,
    /// Hardware counters.
    pub counters: Counters,
    /// Of a job that missed its deadline: why, as far as the recorded schedule of its run tells; nothing where none was recorded.
    pub cause: Option<MissCause>,
}

impl JobOutcome {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            JobOutcome::Completed => "completed",
            JobOutcome::Unfinished => "unfinished",
            JobOutcome::Aborted => "aborted",
            JobOutcome::Ordinary => "ordinary",
            JobOutcome::Skipped => "skipped",
        }
    }
}

impl Job {
    /// Job `index` of a task, released and due at these times (ns), of which nothing else is known but how it ended.
    pub fn new((task, index): (u32, u32), (release_ns, deadline_ns): (u64, u64), outcome: JobOutcome) -> Job {
        Job {
            task,
            index,
            release_ns,
            deadline_ns,
            demand_ns: None,
            warm_ns: None,
            outcome,
            start_ns: None,
            finish_ns: None,
            cpu_time_ns: None,
            first_cpu: None,
            last_cpu: None,
            migrations: None,
            context_switches: None,
            counters: Counters::default(),
            cause: None,
        }
    }

    /// The CPU time that its work takes by itself: with warm caches where it was, if that is known, else the demand.
    pub fn work_ns(&self) -> Option<u64> {
        self.warm_ns.or(self.demand_ns)
    }

    /// What its times say against each other, if they do; no producer makes such jobs.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let Job { release_ns, deadline_ns, .. } = *self;
        if deadline_ns < release_ns {
            return Some(format!("its deadline, {deadline_ns} ns, is before its release, {release_ns} ns"));
        }
        match (self.outcome, self.start_ns, self.finish_ns) {
            (_, Some(start), Some(finish)) if finish < start => {
                Some(format!("its finish, {finish} ns, is before its start, {start} ns"))
            }
            (JobOutcome::Completed | JobOutcome::Aborted, _, None) => {
                Some(format!("it is {} but has no finish", self.outcome.name()))
            }
            (JobOutcome::Completed | JobOutcome::Aborted, _, Some(_))
            | (JobOutcome::Unfinished | JobOutcome::Skipped | JobOutcome::Ordinary, ..) => None,
        }
    }

    /// Whether it missed its deadline, in a run that covered `[0, horizon_ns]`: it completed late, was aborted, or had neither
    /// completed nor been excused when its deadline passed. All counts of misses are counts of this.
    pub fn missed(&self, horizon_ns: u64) -> bool {
        match (self.outcome, self.completed_ns()) {
            (_, Some(finish)) => finish > self.deadline_ns,
            (JobOutcome::Aborted, _) => true,
            (JobOutcome::Skipped | JobOutcome::Ordinary, _) => false,
            (JobOutcome::Completed | JobOutcome::Unfinished, None) => self.deadline_ns <= horizon_ns,
        }
    }

    /// When it completed. Nothing for a job that ended otherwise, or not at all.
    pub fn completed_ns(&self) -> Option<u64> {
        self.finish_ns.filter(|_| self.outcome == JobOutcome::Completed)
    }

    /// Finish minus release. Nothing for a job that did not complete.
    pub fn response_ns(&self) -> Option<u64> {
        self.completed_ns().map(|finish| finish.saturating_sub(self.release_ns))
    }

    /// Absolute deadline minus finish; negative when late. Nothing for a job that did not complete.
    pub fn laxity_ns(&self) -> Option<i64> {
        self.completed_ns().map(|finish| {
            i64::try_from(i128::from(self.deadline_ns) - i128::from(finish)).expect("instants fit 63 bits")
        })
    }

    /// max(0, finish - deadline). Nothing for a job that did not complete.
    pub fn tardiness_ns(&self) -> Option<u64> {
        self.completed_ns().map(|finish| finish.saturating_sub(self.deadline_ns))
    }
}
