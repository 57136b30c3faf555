//! What hardware counts of jobs that are really run, and not simulated (lindsay2012, 6.2.1 and 6.2.2).

use crate::Job;

/// Sums over completed jobs of which what is counted is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HardwareCounts {
    instructions: u128,
    cycles: u128,
    /// Misses of the last-level cache by jobs whose accesses are known.
    llc_misses: u128,
    /// What these jobs walked, in lines.
    accesses: u128,
}

impl HardwareCounts {
    /// One more job, which was to make so many accesses, if that is known; jobs that did not complete count nowhere.
    pub fn add(&mut self, job: &Job, accesses: Option<u64>) {
        if job.finish_ns.is_none() {
            return;
        }
        if let (Some(instructions), Some(cycles)) = (job.counters.instructions, job.counters.cycles) {
            self.instructions += u128::from(instructions);
            self.cycles += u128::from(cycles);
        }
        if let (Some(misses), Some(accesses)) = (job.counters.llc_misses, accesses) {
            self.llc_misses += u128::from(misses);
            self.accesses += u128::from(accesses);
        }
    }

    /// Instructions by cycles, both of user mode; nothing if none were counted.
    pub fn ipc(&self) -> Option<f64> {
        shown(self.instructions, self.cycles)
    }

    /// Misses of the last-level cache by lines walked; nothing if none were counted.
    pub fn llc_miss_rate(&self) -> Option<f64> {
        shown(self.llc_misses, self.accesses)
    }
}

/// The IPC of a run relative to another one of the same jobs, from the execution-time inflation of both: the instructions are the
/// same, so it is the other's inflation by this one's. Nothing if this one's is none.
pub fn relative_ipc(inflation: f64, inflation_of_other: f64) -> Option<f64> {
    (inflation > 0.0).then(|| inflation_of_other / inflation)
}

#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn shown(part: u128, whole: u128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counters, JobOutcome};

    fn job(finish_ns: Option<u64>, counters: Counters) -> Job {
        Job {
            demand_ns: Some(10),
            finish_ns,
            cpu_time_ns: Some(10),
            counters,
            ..Job::new(
                (0, 0),
                (0, 100),
                if finish_ns.is_some() { JobOutcome::Completed } else { JobOutcome::Unfinished },
            )
        }
    }

    #[test]
    fn ratios_are_of_sums_over_completed_jobs_that_were_counted() {
        let counters = |instructions, cycles, llc_misses| Counters {
            instructions,
            cycles,
            llc_misses,
            ..Counters::default()
        };
        let mut counted = HardwareCounts::default();
        counted.add(&job(Some(5), Counters::default()), Some(7));
        assert_eq!(
            (counted.ipc(), counted.llc_miss_rate()),
            (None, None),
            "nothing was counted, which is not 0"
        );
        counted.add(&job(Some(5), counters(Some(30), Some(10), Some(2))), Some(6));
        counted.add(&job(Some(5), counters(Some(10), Some(30), Some(1))), Some(6));
        counted.add(&job(Some(5), counters(Some(9), None, Some(1_000))), None);
        counted.add(&job(None, counters(Some(1_000), Some(1), Some(1_000))), Some(1));
        assert_eq!((counted.ipc(), counted.llc_miss_rate()), (Some(1.0), Some(0.25)));
    }

    #[test]
    fn a_run_that_is_inflated_twice_as_much_has_half_the_ipc() {
        assert_eq!(relative_ipc(3.0, 1.5), Some(0.5));
        assert_eq!(relative_ipc(0.0, 1.5), None, "a run without work has none");
    }
}
