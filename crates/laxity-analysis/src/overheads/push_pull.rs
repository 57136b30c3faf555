//! Global scheduling with a queue per CPU, between which jobs are pushed and pulled: `push-pull`, and Linux's SCHED_DEADLINE and
//! SCHED_FIFO on several CPUs.
//!
//! 1. Everything that [`JobLevel`] counts, interrupts shared, is counted.
//! 2. In addition, a job pays for its own displacements. The CPU that handles a release takes the released job if that goes before the
//!    job that runs there, and pushes the latter to another CPU, *also if that one is idle*. While the displaced job is on its way, fewer
//!    than m jobs of higher priority may be pending: a test of global scheduling sees nothing that it waits for. (Under a scheduler that
//!    links jobs to CPUs, a released job goes to an idle CPU, and jobs are displaced only where m others go before them.)
//! 3. One displacement takes `d_i` = (2 (sch + cxs) + cpd_i)/s + 2 c_pre + ipi at most, which is what [`JobLevel`] counts once per job.
//! 4. A release displaces a job at most once: it begins one chain of pushes, each to a job of lower priority.
//! 5. Job J of task i, arrived at a, is displaced by releases of jobs that go before it, and of these only by such as are noticed
//!    while it is pending, or so shortly before that their chain reaches it: within m `d_i`. They have arrived after a - ev - J_j - m
//!    `d_i`. Under EDF their deadlines are at a + D_i at the latest, also where J itself is late, so that they arrive until a + D_i - D_j.
//!    Under fixed priorities they arrive until J completes, hence until a + D_i: what is proven is that nothing is late.
//! 6. So C_i' = C_i'([`JobLevel`]) + `d_i` P_i, where P_i is the sum over the other tasks that can go before it of
//!    floor((L_j + ev + J_j + m `d_i`)/T_j) + 1; L_j = D_i - D_j under EDF, if that sum is not negative, and D_i under fixed priorities.
//!
//! Nothing here is in Brandenburg's accounting, which cerqueira2014 (Appendix B) applies to SCHED_DEADLINE as well: by that alone, sets
//! are accepted whose jobs are late (`laxity-sim/tests/accounting`, seed 1000300). To have the paper's curves, a study says so
//! ([`Displacements::Ignored`]).
//!
//! A push that has lost its target too often is given up, and what waits then is in no accounting.
//!
//! O(n^2) for n tasks.

use super::preemption::shortened;
use super::{Accounting, Displacements, Inflated, Interrupts, JobLevel, Overheads, Rejected, RejectedWhy};
use crate::{SporadicTask, TIME_MAX};

/// What goes before what in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The job with the earlier deadline.
    Deadlines,
    /// The task that comes first among those that are accounted for.
    Tasks,
}

/// Accounting for several processors with a queue each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushPull<'a> {
    /// Processors in the cluster.
    pub processors: u32,
    /// What goes before what.
    pub order: Order,
    /// The relative deadline of each task, in ns, also where what is accounted for is to have none.
    pub deadlines: &'a [u64],
}

impl Accounting for PushPull<'_> {
    fn source(&self) -> &'static str {
        "Brandenburg: Scheduling and Locking in Multiprocessor Real-Time Operating Systems, PhD thesis, University of North \
            Carolina at Chapel Hill, 2011, chapter 3, and displacements (laxity's own)"
    }

    fn inflate(
        &self,
        overheads: &Overheads,
        tasks: &[SporadicTask],
        working_sets: &[u64],
    ) -> Result<Inflated, Rejected> {
        let cluster = JobLevel { processors: self.processors, interrupts: Interrupts::Shared };
        if overheads.displacements() == Displacements::Ignored {
            return cluster.inflate(overheads, tasks, working_sets);
        }
        let preempted = cluster.preempted(overheads, tasks, working_sets)?;
        let latency_ns = preempted.release_latency_ns;
        Inflated::of(tasks, |place, task| {
            let once = preempted.takes(place, task.wcet_ns).ok_or(RejectedWhy::Overrun)?;
            let one = preempted.takes(place, 0).ok_or(RejectedWhy::Overrun)?;
            let count = self.displacements(place, tasks, latency_ns, one);
            let wcet_ns = u64::try_from(u128::from(once) + u128::from(one) * count);
            let wcet_ns = wcet_ns.ok().filter(|&wcet_ns| wcet_ns <= TIME_MAX).ok_or(RejectedWhy::Overrun)?;
            shortened(task, wcet_ns, latency_ns)
        })
    }
}

impl PushPull<'_> {
    /// P_i, where one displacement takes `one` ns.
    fn displacements(&self, place: usize, tasks: &[SporadicTask], release_latency: u64, one: u64) -> u128 {
        let chain = u128::from(self.processors) * u128::from(one);
        let own = u128::from(self.deadlines[place]);
        let by = |(other, task): (usize, &SporadicTask)| {
            let noticed = own + u128::from(release_latency) + u128::from(task.jitter_ns) + chain;
            let within = match self.order {
                Order::Tasks => (other < place).then_some(noticed),
                Order::Deadlines => {
                    noticed.checked_sub(self.deadlines[other].into()).filter(|_| other != place)
                }
            };
            within.map_or(0, |within| within / u128::from(task.period_ns) + 1)
        };
        tasks.iter().enumerate().map(by).sum()
    }
}
