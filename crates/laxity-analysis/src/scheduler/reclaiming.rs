//! SCHED_DEADLINE with reclaiming (SCHED_FLAG_RECLAIM): when it is EDF, and what is proven of EDF holds.
//!
//! Linux has GRUB (Lipari, Baruah: Greedy reclamation of unused bandwidth in constant-bandwidth servers, ECRTS 2000; for several
//! processors Abeni, Lipari, Parri, Sun: Multicore CPU reclaiming: parallel or sequential?, SAC 2016). A task that runs for t uses up
//!
//! ```text
//! t max(u, U_max - U_inactive - U_extra) / U_max
//! ```
//!
//! of its budget Q, with its share u = Q/P, and the share U_max that the kernel grants real-time tasks (`grub_reclaim` in
//! kernel/sched/deadline.c). Nothing else is different.
//!
//! Let D <= T, Q >= C, a server deadline D after each arrival, and u <= U_max. Then the schedule is that of EDF, as long as that meets
//! all deadlines:
//!
//! 1. The factor is at most 1, in the kernel's integers as well, all of which it rounds down. So a budget lasts for Q or longer, and a
//!    job, which needs C <= Q, is never throttled.
//! 2. Until a first deadline is missed, each job completes by D <= T after its arrival. If that is before the next job of its task
//!    arrives, the thread sleeps until then, the server's deadline is over, whatever is left of its budget, and the job gets a
//!    deadline of D after its arrival and a budget of Q (rule 1 in [`crate::settings::Reservation`]), as without reclaiming. A job that
//!    arrives just when the one before it completes would go on with what that left, under a deadline that is over.
//! 3. With D = T the tests are asked about C + 1 ns. Where one accepts, each job completes before the next arrives: up to its completion
//!    the schedule is the same if this job needs 1 ns more, and then it completes by D, too.
//! 4. By 1 to 3 the threads that are ready, and their deadlines, are the jobs that are pending and theirs. EDF misses none, so there
//!    is no first deadline that is missed.
//!
//! This needs D <= T and that no deadline is missed: where jobs wait for earlier ones of their task, what is left of a budget is used for
//! the next. So nothing is said of bounded tardiness beyond 0. `tests/reclaiming.rs` holds the kernel's formulas against EDF.

use super::Analysed;
use crate::{Guarantee, SporadicTask, Test};

const DONE_BEFORE_NEXT: &str =
    "D <= T: under reclaiming, a job that waits for the one before it has what that left of its budget";
const NONE_LATE: &str = "no deadline is missed: nothing is proven of late jobs under reclaiming (GRUB)";

impl Analysed {
    /// The guarantee whose tests are asked: those of EDF hold under reclaiming where nothing is late.
    pub(super) fn proven_as(self, guarantee: Guarantee) -> Guarantee {
        if self.reclaims() { Guarantee::Hard } else { guarantee }
    }

    /// What must hold of some tasks, the number of one of them, and of tests, so that reclaiming is EDF to them, and does not.
    pub(super) fn unlike_edf(
        self,
        tasks: &[SporadicTask],
        tests: &[&dyn Test],
    ) -> Option<(&'static str, Option<usize>)> {
        if !self.reclaims() {
            return None;
        }
        if let Some(at) = tasks.iter().position(|task| task.deadline_rel_ns > task.period_ns) {
            return Some((DONE_BEFORE_NEXT, Some(at)));
        }
        let bounds_tardiness = |test: &&dyn Test| test.info().guarantee == Guarantee::Soft;
        tests.iter().any(bounds_tardiness).then_some((NONE_LATE, None))
    }

    /// Makes every job complete before the next one of its task arrives, if a test accepts what is left (3).
    pub(super) fn sleep_between_jobs(self, tasks: &mut [SporadicTask]) {
        if self.reclaims() {
            let until_next = tasks.iter_mut().filter(|task| task.deadline_rel_ns == task.period_ns);
            until_next.for_each(|task| task.wcet_ns = task.wcet_ns.saturating_add(1));
        }
    }

    /// Whether a set that an exact test refutes can meet its deadlines nevertheless: 1 ns can make the difference (3).
    pub fn asks_for_more(self) -> bool {
        self.reclaims()
    }

    fn reclaims(self) -> bool {
        matches!(self, Analysed::Reclaiming(_))
    }
}
