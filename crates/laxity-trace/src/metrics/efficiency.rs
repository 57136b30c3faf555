//! How efficiently jobs ran whose work is known: instructions per cycle, and misses per access (lindsay2012, 6.2.1 and 6.2.2).

use crate::Job;

/// Sums over completed jobs of which work and CPU time are known.
///
/// 1. What a job is asked to do takes some time with warm caches on the CPUs where it is ([`Job::work_ns`]). So that time stands for its
///    instructions: time * frequency * base IPC, where the base IPC is that of a job with warm caches.
/// 2. Its cycles are its CPU time * frequency. The frequency is the same, and cancels: IPC / base IPC = time / CPU time, which is
///    an exact ratio of sums. A slower CPU has fewer cycles for the same instructions in a time, and fewer instructions.
/// 3. With one line walked every `access` of work, the accesses are demand / access: the miss rate is of lines from beyond all
///    caches by lines that were walked. (The paper's is of loads that reach the last level; here hits closer by count as well.)
///
/// Only where demand is work (simulations, and real jobs of fixed work) does this say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Efficiency {
    work_ns: u128,
    cpu_time_ns: u128,
    /// Demand of those jobs whose misses are known.
    counted_ns: u128,
    llc_misses: u128,
}

impl Efficiency {
    /// One more job; jobs that did not complete count nowhere.
    pub fn add(&mut self, job: &Job) {
        let (Some(demand), Some(work)) = (job.demand_ns, job.work_ns()) else { return };
        let (Some(cpu_time), Some(_)) = (job.cpu_time_ns, job.completed_ns()) else {
            return;
        };
        self.work_ns += u128::from(work);
        self.cpu_time_ns += u128::from(cpu_time);
        if let Some(misses) = job.counters.llc_misses {
            self.counted_ns += u128::from(demand);
            self.llc_misses += u128::from(misses);
        }
    }

    /// IPC by the IPC of jobs with warm caches, as a fraction: work and CPU time, in ns. Nothing if no time is known.
    pub fn relative_ipc(&self) -> Option<(u128, u128)> {
        (self.cpu_time_ns > 0).then_some((self.work_ns, self.cpu_time_ns))
    }

    /// Misses of the last-level cache by accesses, one of which takes `access_ps` with warm caches, as a fraction. Nothing if no
    /// misses are known.
    pub fn llc_miss_rate(&self, access_ps: u64) -> Option<(u128, u128)> {
        let misses_ps = self.llc_misses.checked_mul(access_ps.into())?;
        (self.counted_ns > 0).then_some((misses_ps, self.counted_ns * 1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counters, JobOutcome};

    fn job(demand_ns: u64, cpu_time_ns: u64, finish_ns: Option<u64>, llc_misses: Option<u64>) -> Job {
        Job {
            demand_ns: Some(demand_ns),
            finish_ns,
            cpu_time_ns: Some(cpu_time_ns),
            counters: Counters { llc_misses, ..Counters::default() },
            ..Job::new(
                (0, 0),
                (0, 100),
                if finish_ns.is_some() { JobOutcome::Completed } else { JobOutcome::Unfinished },
            )
        }
    }

    #[test]
    fn ratios_are_of_sums_over_completed_jobs() {
        let mut found = Efficiency::default();
        assert_eq!((found.relative_ipc(), found.llc_miss_rate(10_000)), (None, None));
        found.add(&job(400, 500, Some(500), Some(7)));
        found.add(&job(200, 700, Some(900), Some(5)));
        found.add(&job(1_000, 9, None, Some(1_000)));
        found.add(&Job { outcome: JobOutcome::Aborted, ..job(1_000, 9, Some(9), Some(1_000)) });
        assert_eq!(found.relative_ipc(), Some((600, 1_200)));
        // 600 ns of 10 ns each: 60 accesses, 12 misses.
        assert_eq!(found.llc_miss_rate(10_000), Some((120_000, 600_000)));
        found.add(&job(300, 300, Some(1), None));
        assert_eq!(found.relative_ipc(), Some((900, 1_500)));
        assert_eq!(
            found.llc_miss_rate(10_000),
            Some((120_000, 600_000)),
            "not of jobs whose misses are unknown"
        );
        // At half the speed it takes 400 with warm caches; its accesses are as many.
        let slow = Job { warm_ns: Some(400), ..job(200, 500, Some(9), Some(3)) };
        found.add(&slow);
        assert_eq!(found.relative_ipc(), Some((1_300, 2_000)));
        assert_eq!(found.llc_miss_rate(10_000), Some((150_000, 800_000)));
    }
}
