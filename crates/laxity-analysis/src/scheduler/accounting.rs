//! What overheads make of the tasks of a cell, and for which guarantee.
//!
//! | scheduler | accounting |
//! |---|---|
//! | EDF, fixed priorities on several processors | [`JobLevel`], interrupts shared |
//! | `push-pull` and Linux's classes there | [`PushPull`]: also what displaced jobs pay |
//! | fixed priorities on one processor | [`FixedPriority`], interrupts shared |
//! | `gsn-edf-di` | the same, interrupts dedicated |
//! | `g-edf-mp` | [`MessagePassing`] |
//! | `g-fl` | [`JobLevel`]; a priority point is then D' - C' (m - 1)/m |
//! | `pfair` | [`QuantumBased`], arrivals not aligned, quanta not staggered, interrupts shared, unless its name says so |
//!
//! 1. Where deadlines may be missed, they do not limit what overheads may take: accounting refuses a task only if it needs more
//!    than its period. It sees a deadline that is late enough, and what it takes from that is taken from D.
//! 2. Under Pfair jobs complete within T whatever D is. Where deadlines may be missed, D < T counts as D = T.
//! 3. Interrupts in the guise of tasks have no deadlines: a handler that waits for others only delays tasks, and that is counted.
//!    The accounting's own condition remains: each must end before the next of its kind comes.

use super::{Analysed, Quanta};
use crate::overheads::{
    Accounting, Eaten, FixedPriority, Inflated, Interrupts, JobLevel, MessagePassing, Order, Overheads,
    PushPull, QuantumBased, Rejected, RejectedWhy,
};
use crate::{Guarantee, Priorities, SporadicTask, TIME_MAX};
use laxity_model::{Policy, Structure};

/// The tasks of a cell, as overheads are charged to them.
struct Charged<'a> {
    /// Those that run tasks.
    processors: u32,
    tasks: &'a [SporadicTask],
    working_sets: &'a [u64],
    /// Those of the tasks as given.
    deadlines: &'a [u64],
}

impl Analysed {
    /// The tasks of a cell on so many processors that run tasks, with what overheads take.
    pub(super) fn inflate(
        self,
        tasks: &[SporadicTask],
        working_sets: &[u64],
        processors: u32,
        guarantee: Guarantee,
        overheads: Option<&Overheads>,
    ) -> Result<Inflated, Rejected> {
        let priorities = self.priorities(processors);
        let seen: Vec<_> = match guarantee {
            Guarantee::Hard => tasks.to_vec(),
            Guarantee::Soft => tasks.iter().map(|task| unlimited(task, priorities)).collect(),
        };
        let mut inflated = match overheads {
            None => free(seen),
            Some(overheads) => {
                let deadlines: Vec<u64> = tasks.iter().map(|task| task.deadline_rel_ns).collect();
                let cell = Charged { processors, tasks: &seen, working_sets, deadlines: &deadlines };
                self.charge(priorities, overheads, &cell)?
            }
        };
        let (interrupts, own) = inflated.tasks.split_at_mut(inflated.interrupts);
        interrupts.iter_mut().for_each(|interrupt| interrupt.deadline_rel_ns = TIME_MAX);
        if guarantee == Guarantee::Soft && priorities != Priorities::Pfair {
            for (at, (after, before)) in own.iter_mut().zip(tasks).enumerate() {
                let left = before.deadline_rel_ns.checked_sub(inflated.eaten[at].deadline_rel_ns);
                let no_window = Rejected { task: Some(at), reason: RejectedWhy::NoWindow };
                after.deadline_rel_ns =
                    left.filter(|&left| left > 0 || before.deadline_rel_ns == 0).ok_or(no_window)?;
            }
        }
        Ok(inflated)
    }

    fn charge(
        self,
        priorities: Priorities,
        overheads: &Overheads,
        cell: &Charged<'_>,
    ) -> Result<Inflated, Rejected> {
        let &Charged { processors, tasks, working_sets, deadlines } = cell;
        let interrupts = match self.policy().is_some_and(Policy::dedicates_a_core) {
            true => Interrupts::Dedicated,
            false => Interrupts::Shared,
        };
        let charge = |accounting: &dyn Accounting| accounting.inflate(overheads, tasks, working_sets);
        match (self.structure(), priorities) {
            (Structure::Messages, _) => charge(&MessagePassing),
            (_, Priorities::Pfair) => charge(&self.quanta().accounting(processors)),
            (_, Priorities::Fixed) if processors == 1 => charge(&FixedPriority { interrupts }),
            (Structure::Queues, Priorities::Fixed) => {
                charge(&PushPull { processors, order: Order::Tasks, deadlines })
            }
            (Structure::Queues, _) if processors > 1 => {
                charge(&PushPull { processors, order: Order::Deadlines, deadlines })
            }
            (Structure::Queues | Structure::Linked, _) => charge(&JobLevel { processors, interrupts }),
        }
    }

    /// Where its decisions are made.
    pub fn structure(self) -> Structure {
        match self {
            Analysed::Linux(_) | Analysed::Reclaiming(_) | Analysed::Unproven(_) => Structure::Queues,
            Analysed::Policy(scheduler) => scheduler.policy.structure(),
            Analysed::Pfair(_) | Analysed::FairLateness => Structure::Linked,
        }
    }
}

impl Analysed {
    fn quanta(self) -> Quanta {
        match self {
            Analysed::Pfair(quanta) => quanta,
            Analysed::Linux(_)
            | Analysed::Policy(_)
            | Analysed::Reclaiming(_)
            | Analysed::FairLateness
            | Analysed::Unproven(_) => Quanta::default(),
        }
    }

    /// The first task that breaks what is assumed of arrivals where quanta have a length: as short as need be, every arrival is at
    /// one.
    pub(super) fn not_aligned(self, tasks: &[SporadicTask], overheads: Option<&Overheads>) -> Option<usize> {
        let quantum = overheads.filter(|_| self.quanta().aligned)?.tick_period();
        tasks.iter().position(|task| !task.period_ns.is_multiple_of(quantum))
    }
}

impl Quanta {
    /// On so many processors that run tasks. Quanta are staggered over all, also the one that is dedicated.
    fn accounting(self, processors: u32) -> QuantumBased {
        let interrupts = if self.dedicated { Interrupts::Dedicated } else { Interrupts::Shared };
        let all = processors.saturating_add(u32::from(self.dedicated));
        QuantumBased { interrupts, aligned: self.aligned, staggered: self.staggered.then_some(all) }
    }
}

/// The task without the deadline that it may miss. Nothing else is touched: what is no task stays none.
fn unlimited(task: &SporadicTask, priorities: Priorities) -> SporadicTask {
    let deadline = match priorities {
        _ if !(1..=TIME_MAX).contains(&task.deadline_rel_ns) => task.deadline_rel_ns,
        Priorities::Pfair => task.deadline_rel_ns.max(task.period_ns),
        Priorities::EarliestDeadlineFirst
        | Priorities::ZeroLaxity
        | Priorities::FairLateness
        | Priorities::Fixed => TIME_MAX,
    };
    SporadicTask { deadline_rel_ns: deadline, ..*task }
}

fn free(tasks: Vec<SporadicTask>) -> Inflated {
    let eaten = vec![Eaten::default(); tasks.len()];
    Inflated { tasks, interrupts: 0, eaten }
}
