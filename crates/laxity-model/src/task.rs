//! A recurring task and its parameters.

use crate::{CpuList, Demand, Diagnostic, Duration, Result, Utilization, check_name};

/// How a task's jobs arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// Exactly `period` apart, from the task's phase on.
    Periodic {
        /// Time between two arrivals.
        period: Duration,
    },
    /// At least `min_interarrival` apart.
    Sporadic {
        /// Least time between two arrivals.
        min_interarrival: Duration,
    },
}

/// The order in which a job walks its working set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AccessPattern {
    /// Cache line after cache line.
    #[default]
    Sequential,
    /// In a random permutation of the cache lines.
    Random,
}

/// The memory a job walks (lelli2012, 5.2): one access per cache line, `reads` reads to `writes` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkingSet {
    /// Size in bytes; 0 if the job touches no memory of its own.
    pub size_bytes: u64,
    /// Reads in the read-to-write ratio.
    pub reads: u32,
    /// Writes in the read-to-write ratio.
    pub writes: u32,
    /// Order of the accesses.
    pub pattern: AccessPattern,
}

impl Default for WorkingSet {
    /// No memory; 4 reads to 1 write, sequentially (lelli2012, 5.2).
    fn default() -> Self {
        WorkingSet { size_bytes: 0, reads: 4, writes: 1, pattern: AccessPattern::Sequential }
    }
}

/// Tasks of one group share memory (lindsay2012, 3.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Bytes of the task's working set that the whole group shares.
    pub shared_bytes: u64,
}

/// Whether a task has deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TaskKind {
    /// A recurring task with deadlines.
    #[default]
    RealTime,
    /// Background work: not real-time.
    BestEffort,
}

/// A recurring task. Its place in the [`crate::TaskSet`] is its id, the last word in every tie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Unique within its set.
    pub name: String,
    /// Worst-case execution time C on a CPU of speed 1.
    pub wcet: Duration,
    /// Periodic or sporadic, with T.
    pub arrival: Arrival,
    /// Relative deadline D.
    pub deadline_rel: Duration,
    /// Arrival of the first job after the synchronous release.
    pub phase: Duration,
    /// What a job walks in memory.
    pub working_set: WorkingSet,
    /// The group that shares its memory, if there is one.
    pub group: Option<Group>,
    /// The CPUs it may run on; none given: all.
    pub affinity: Option<CpuList>,
    /// Real-time or not.
    pub kind: TaskKind,
    /// Demand of its jobs, if it differs from the run's.
    pub demand: Option<Demand>,
    /// Its priority where priorities are given; the smaller the number, the higher the priority.
    pub priority: Option<u32>,
    /// When it leaves: no job arrives from then on. (It enters with its first job, at its phase.)
    pub leave: Option<Duration>,
    /// Whether its jobs may be released together with others of their instant (ackelman2018, 5.1), where the scheduler does so.
    pub batching: bool,
}

impl Task {
    /// A periodic real-time task with an implicit deadline, no phase and no working set.
    pub fn periodic(name: impl Into<String>, wcet: Duration, period: Duration) -> Self {
        Task {
            name: name.into(),
            wcet,
            arrival: Arrival::Periodic { period },
            deadline_rel: period,
            phase: Duration::ZERO,
            working_set: WorkingSet::default(),
            group: None,
            affinity: None,
            kind: TaskKind::RealTime,
            demand: None,
            priority: None,
            leave: None,
            batching: true,
        }
    }

    /// T: the period, or the least time between arrivals.
    pub fn period(&self) -> Duration {
        match self.arrival {
            Arrival::Periodic { period } => period,
            Arrival::Sporadic { min_interarrival } => min_interarrival,
        }
    }

    /// U = C/T.
    pub fn utilization(&self) -> Utilization {
        Utilization::of(self.wcet, self.period())
    }

    /// min(D, T), the window in which density counts C.
    pub fn density_window(&self) -> Duration {
        self.deadline_rel.min(self.period())
    }

    /// C/min(D, T).
    pub fn density(&self) -> Utilization {
        Utilization::of(self.wcet, self.density_window())
    }

    /// Checks the rules that hold for every task, whatever its use.
    pub fn validate(&self) -> Result<()> {
        let task = |message: String| Diagnostic::usage(format!("task `{}`: {message}", self.name));
        if self.name.is_empty() {
            return Err(Diagnostic::usage("a task has an empty name").hint("give every task a unique name"));
        }
        check_name("task name", &self.name)?;
        for (what, value) in
            [("wcet", self.wcet), (self.period_word(), self.period()), ("deadline", self.deadline_rel)]
        {
            if value.is_zero() {
                return Err(task(format!("{what} is 0; it must be positive"))
                    .hint(format!("give {what} a positive time such as \"10ms\"")));
            }
        }
        if self.wcet > self.deadline_rel {
            return Err(task(format!(
                "wcet {} exceeds deadline {} on a CPU of speed 1",
                self.wcet, self.deadline_rel
            ))
            .hint(
                "shorten the wcet or lengthen the deadline; where CPUs are faster, let the fastest have speed 1 and give wcets on it",
            ));
        }
        if self.wcet > self.period() {
            return Err(task(format!(
                "wcet {} exceeds {} {} (utilization above 1); its jobs pile up on any CPU",
                self.wcet,
                self.period_word(),
                self.period()
            ))
            .hint("shorten the wcet, lengthen the period, or split the task"));
        }
        if let Some(leave) = self.leave
            && leave <= self.phase
        {
            return Err(task(format!("leaves at {leave}, before its first job at {}", self.phase))
                .hint("let it leave after its phase, or leave the task out"));
        }
        self.validate_memory()
    }

    fn validate_memory(&self) -> Result<()> {
        let task = |message: String| Diagnostic::usage(format!("task `{}`: {message}", self.name));
        if self.working_set.reads == 0 && self.working_set.writes == 0 {
            return Err(task("working set has a read:write ratio of 0:0".into())
                .hint("write the ratio as in \"4:1\""));
        }
        if let Some(group) = &self.group {
            if group.name.is_empty() {
                return Err(task("has a group without a name".into()).hint("name the group, or leave it out"));
            }
            check_name("group name", &group.name)
                .map_err(|error| error.context(format!("task `{}`", self.name)))?;
        }
        if let Some(group) = &self.group
            && group.shared_bytes > self.working_set.size_bytes
        {
            return Err(task(format!(
                "shares {} bytes with group `{}` but its working set has only {}",
                group.shared_bytes, group.name, self.working_set.size_bytes
            ))
            .hint("make the working set at least as large as its shared part"));
        }
        if self.affinity.as_ref().is_some_and(CpuList::is_empty) {
            return Err(task("affinity is empty; the task could run nowhere".into())
                .hint("list at least one CPU, or leave affinity out"));
        }
        Ok(())
    }

    /// The word the user wrote for T.
    pub fn period_word(&self) -> &'static str {
        match self.arrival {
            Arrival::Periodic { .. } => "period",
            Arrival::Sporadic { .. } => "min_interarrival",
        }
    }
}
