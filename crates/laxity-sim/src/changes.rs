//! What changes while a simulation goes on, as `laxity promote`, `demote` and `resize` change a loaded amp-rm
//! (calandrino2007, 4.1): tasks enter and leave, real-time tasks move to the background and background tasks become
//! real-time, servers get other sizes.
//!
//! 1. A change comes before what arrives in the same instant; of several, the first of the list comes first.
//! 2. A background task of the set releases its jobs as it would as a real-time task, and runs them among the
//!    background tasks, within its affinity.
//! 3. A task that becomes real-time goes on where it is: a job that has arrived and is not done is released anew,
//!    and those behind it are as much later. So its real-time jobs are at least a period apart.
//! 4. A task that is demoted finishes its job, if one is pending, in the background; a task that leaves finishes it
//!    as it is. A task's own `leave` is one more change, before those of the same instant. A task whose `leave`
//!    precedes its `phase` never enters.
//! 5. The policy learns of a demoted task as in a kernel (`bpf/host/one_lock.h`): when it would be that task's
//!    turn.
//! 6. A server gets another budget with its next period, and another period when its CPU is quiet
//!    (`policy/deferrable.h`).
//! 7. Where admission decides, a request that is refused because of what has left is tried again when that no
//!    longer counts, as the loader of amp-rm does, within [`PATIENCE`]. A refused task moves to, or stays in, the
//!    background.
//! 8. When no more jobs are released no change is asked for, and no task becomes real-time.

use laxity_analysis::DoubleHit;
use laxity_model::{
    DeferrableServer, Diagnostic, Duration, Platform, Policy, Result, TaskKind, TaskSet, cpus_named,
};

/// How long a refusal that is due to departed tasks or earlier sizes is not final.
pub const PATIENCE: Duration = Duration::from_ms(200);

/// All changes of a simulation.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// In the order in which they are asked for; those of an earlier instant first.
    pub list: Vec<Change>,
    /// What each is called where it was asked for, by which errors name it. Those behind the last are called by their numbers, from 1 on.
    pub names: Vec<String>,
    /// Admission decides which tasks enter, and whether a server may have its size; otherwise everything is as it
    /// is asked for.
    pub admission: Option<Promise>,
}

/// What admission holds every real-time task to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promise {
    /// Whether a server that uses up two budgets in a row is counted: then no deadline is missed.
    pub double_hit: DoubleHit,
    /// How late a job may be at most; nothing: by any bound (Theorem 1).
    pub tardiness_max: Option<Duration>,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Duration,
    /// What.
    pub what: What,
}

/// What changes. Tasks are ids of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A task that has not been there asks to be a real-time task: of this CPU, or of the slowest that can take it.
    Enter {
        /// Its id.
        task: usize,
        /// Where; needed where no admission decides.
        cpu: Option<u32>,
    },
    /// The same of a background task.
    Promote {
        /// Its id.
        task: usize,
        /// Where; needed where no admission decides.
        cpu: Option<u32>,
    },
    /// A real-time task moves to the background.
    Demote {
        /// Its id.
        task: usize,
    },
    /// A task releases no more jobs.
    Leave {
        /// Its id.
        task: usize,
    },
    /// The deferrable server of a CPU gets another size.
    Resize {
        /// Of which CPU.
        cpu: u32,
        /// The size.
        server: DeferrableServer,
    },
}

/// The outcome of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its place in the list.
    pub number: usize,
    /// When that was decided, in ns.
    pub at_ns: u64,
    /// What.
    pub outcome: ChangeOutcome,
}

/// See [`Changed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The task is a real-time task of this CPU.
    RealTime {
        /// Its number.
        cpu: u32,
    },
    /// The task runs in the background.
    Ordinary,
    /// The task releases no more jobs.
    Left,
    /// The server was to have its size, with its next period or when its CPU is quiet.
    Resized {
        /// From when on it had that, in ns; nothing: it never did, as the simulation had ended before, or another size was asked for.
        from_ns: Option<u64>,
    },
    /// It cannot be. A task that wanted to enter runs in the background.
    Refused(Diagnostic),
}

impl What {
    /// The task that it is about.
    pub fn task(self) -> Option<usize> {
        match self {
            What::Enter { task, .. }
            | What::Promote { task, .. }
            | What::Demote { task }
            | What::Leave { task } => Some(task),
            What::Resize { .. } => None,
        }
    }
}

/// The simulation in which there are changes.
pub(crate) struct Around<'a> {
    /// What schedules.
    pub policy: Policy,
    /// Whether it looks at ticks only.
    pub at_ticks: bool,
    /// Jobs arrive in `[0, duration)`.
    pub duration: Duration,
    /// The tasks.
    pub set: &'a TaskSet,
    /// The machine.
    pub platform: &'a Platform,
}

impl Changes {
    /// Whether a task is not there before a change lets it enter.
    pub fn lets_enter(&self, task: usize) -> bool {
        let first = self.list.iter().find(|change| change.what.task() == Some(task));
        first.is_some_and(|change| matches!(change.what, What::Enter { .. }))
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    ///
    /// Usage errors that name the change: changes of other schedulers than amp-rm or with costs, out of order, when no jobs are released
    /// any more, of tasks that are none, onto CPUs that are none, not named, or outside a task's affinity.
    pub(crate) fn check(&self, around: &Around<'_>) -> Result<()> {
        if self.list.is_empty() {
            return Ok(());
        }
        if !around.policy.has_servers() {
            // The caller may know the scheduler by another name, and adds it.
            return Err(Diagnostic::usage(
                "only under amp-rm do tasks enter and leave, and servers change, at run time",
            )
            .context(self.name(0))
            .hint("use amp-rm, or give the tasks of the set a `phase` and a `leave`"));
        }
        if around.at_ticks {
            return Err(Diagnostic::usage(
                "a scheduler that looks at ticks only does not take changes between them",
            )
            .hint("leave out --at-ticks"));
        }
        for number in 0..self.list.len() {
            self.check_time(number, around.duration)
                .and_then(|()| self.check_task(number, around))
                .and_then(|()| self.check_core(number, around))
                .map_err(|wrong| wrong.context(self.name(number)))?;
        }
        Ok(())
    }

    fn name(&self, number: usize) -> String {
        let by_number = || format!("change {}, at {}", number + 1, self.list[number].at);
        self.names.get(number).cloned().unwrap_or_else(by_number)
    }

    fn check_time(&self, number: usize, duration: Duration) -> Result<()> {
        let at = self.list[number].at;
        if number > 0 && self.list[number - 1].at > at {
            return Err(Diagnostic::usage("it comes after a later one")
                .hint("give changes in the order of their instants"));
        }
        if at >= duration {
            return Err(Diagnostic::usage(format!(
                "nothing changes from {duration} on, when no more jobs are released"
            ))
            .hint(format!("change it before, or simulate for longer (--duration {duration} now)")));
        }
        Ok(())
    }

    fn check_task(&self, number: usize, around: &Around<'_>) -> Result<()> {
        let Change { what, .. } = self.list[number];
        let Some(id) = what.task() else { return Ok(()) };
        let known = around.set.tasks().get(id).filter(|task| task.kind == TaskKind::RealTime);
        if known.is_none() {
            return Err(
                Diagnostic::usage(format!("there is no real-time task {id}")).hint("name a task of the set")
            );
        }
        let earlier = self.list[..number].iter().position(|other| other.what.task() == Some(id));
        let (What::Enter { .. }, Some(task), Some(earlier)) = (what, known, earlier) else { return Ok(()) };
        let (name, before) = (&task.name, self.name(earlier));
        Err(match self.list[earlier].what {
            What::Enter { .. } => Diagnostic::usage(format!("task `{name}` has entered by `{before}`"))
                .hint("a task enters once; promote it to make it real-time again"),
            _ => Diagnostic::usage(format!("`{before}` is for task `{name}` before it enters")).hint(
                "change it after it has entered; or do not let it enter: then it is there from the beginning",
            ),
        })
    }

    fn check_core(&self, number: usize, around: &Around<'_>) -> Result<()> {
        let cpu = match self.list[number].what {
            What::Enter { cpu, .. } | What::Promote { cpu, .. } => {
                if cpu.is_none() && self.admission.is_none() {
                    return Err(Diagnostic::usage("without admission nothing says onto which CPU")
                        .hint("name the CPU"));
                }
                cpu
            }
            What::Resize { cpu, .. } => Some(cpu),
            What::Demote { .. } | What::Leave { .. } => None,
        };
        let Some(cpu) = cpu else { return Ok(()) };
        if !around.platform.cpus().contains(cpu) {
            let what = format!("platform `{}` has no CPU {cpu}", around.platform.name());
            return Err(Diagnostic::usage(what).hint("use CPUs of the platform"));
        }
        let task = self.list[number].what.task().map(|id| &around.set.tasks()[id]);
        match task.and_then(|task| Some((task, task.affinity.as_ref()?))) {
            Some((task, own)) if !own.contains(cpu) => {
                let what =
                    format!("task `{}` may run on {} only, not on CPU {cpu}", task.name, cpus_named(own));
                Err(Diagnostic::usage(what).hint("name a CPU of its affinity"))
            }
            _ => Ok(()),
        }
    }
}
