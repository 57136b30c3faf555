//! The jobs of a task: when they are released and how much they ask for.
//!
//! The one source of arrivals and demands for everything that executes a task set, so that two hosts given
//! the same seed execute the same jobs.
//!
//! 1. A periodic task releases job k at phase + k T. A sporadic task waits T plus a uniformly distributed
//!    extra of up to T after each release (integer ns, both ends included).
//! 2. Demand is a share of the WCET in ppm ([`Demand`]), rounded up to whole ns and at least 1 ns: rounding
//!    up never makes a job easier than what was asked for.
//! 3. Every task draws from its own PCG64 stream of (seed, task id): one task's jobs do not depend on another's.

use laxity_model::{Arrival, Demand, Duration, Task};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// One job to execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobSpec {
    /// Nominal release since the synchronous release.
    pub release: Duration,
    /// Execution it asks for, on a CPU of speed 1.
    pub demand: Duration,
}

/// The jobs of one task, without end unless it leaves; see [`jobs_of`].
#[derive(Clone)]
pub struct Jobs {
    arrival: Arrival,
    wcet: Duration,
    demand: Demand,
    /// Ns; the end of time if there is none.
    next_release_ns: u64,
    /// Jobs are released before this instant.
    leave_ns: u64,
    rng: Pcg64,
}

/// The jobs of task number `id`. The task's own demand model goes before `demand`, the run's.
pub fn jobs_of(task: &Task, id: usize, seed: u64, demand: Demand) -> Jobs {
    Jobs {
        arrival: task.arrival,
        wcet: task.wcet,
        demand: task.demand.unwrap_or(demand),
        next_release_ns: task.phase.as_ns(),
        leave_ns: task.leave.map_or(u64::MAX, Duration::as_ns),
        rng: stream_of(seed, id as u64),
    }
}

/// An independent generator for (seed, stream): both words go through the seeding function of `rand`.
fn stream_of(seed: u64, stream: u64) -> Pcg64 {
    let mut outer = Pcg64::seed_from_u64(seed);
    let salt: u64 = outer.random();
    Pcg64::seed_from_u64(salt.wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

impl Iterator for Jobs {
    type Item = JobSpec;

    /// Ends when the task leaves, and where the next release would be past 2^64 ns.
    #[inline(always)]
    fn next(&mut self) -> Option<JobSpec> {
        let release = self.next_release_ns;
        if release >= self.leave_ns {
            return None;
        }
        let demand = if self.demand == Demand::Wcet { self.wcet } else { self.drawn() };
        let gap = match self.arrival {
            Arrival::Periodic { period } => period.as_ns(),
            Arrival::Sporadic { min_interarrival } => {
                let least = min_interarrival.as_ns();
                least.saturating_add(self.rng.random_range(0..=least))
            }
        };
        self.next_release_ns = release.saturating_add(gap);
        Some(JobSpec { release: Duration::from_ns(release), demand })
    }
}

/// The share of the WCET, rounded up, at least 1 ns.
fn share_of(wcet: Duration, share_ppm: u32) -> Duration {
    let scaled = (u128::from(wcet.as_ns()) * u128::from(share_ppm)).div_ceil(1_000_000);
    Duration::from_ns(u64::try_from(scaled).unwrap_or(u64::MAX).max(1))
}

impl Jobs {
    /// Those of them that are released before `end`.
    #[must_use]
    pub fn before(self, end: Duration) -> Jobs {
        Jobs { leave_ns: self.leave_ns.min(end.as_ns()), ..self }
    }

    /// Those that are still to come, all of them released so much later. When the task leaves does not change.
    #[must_use]
    pub fn delayed(self, by: Duration) -> Jobs {
        Jobs { next_release_ns: self.next_release_ns.saturating_add(by.as_ns()), ..self }
    }

    /// What the next job asks for. Most ask for the WCET: this is not worth a place in every loop over jobs.
    #[inline(never)]
    fn drawn(&mut self) -> Duration {
        let share = self.share_ppm();
        share_of(self.wcet, share)
    }

    fn share_ppm(&mut self) -> u32 {
        match self.demand {
            Demand::Wcet => 1_000_000,
            Demand::Fraction(share) => share,
            Demand::Uniform(low, high) => self.rng.random_range(low..=high),
            Demand::Bimodal(low, high, probability) => {
                if self.rng.random_range(0..1_000_000) < probability {
                    high
                } else {
                    low
                }
            }
            Demand::Normal(mean, sd) => {
                let share = f64::from(mean) + f64::from(sd) * self.standard_normal();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clipped to 1 ... 2e6 before the cast"
                )]
                let share = libm::round(share.clamp(1.0, 2e6)) as u32;
                share
            }
        }
    }

    /// Box and Muller's transform of two 53-bit uniforms, with libm so that every machine draws the same.
    fn standard_normal(&mut self) -> f64 {
        let mut uniform = || {
            #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
            let share = (self.rng.random::<u64>() >> 11) as f64 / (1u64 << 53) as f64;
            share
        };
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform()));
        radius * libm::cos(2.0 * std::f64::consts::PI * uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        let task = Task::periodic("a", Duration::from_ms(2), Duration::from_ms(10));
        Task { phase: Duration::from_ms(3), ..task }
    }

    #[test]
    fn periodic_jobs_are_exactly_a_period_apart() {
        let jobs: Vec<JobSpec> = jobs_of(&task(), 0, 1, Demand::Wcet).take(3).collect();
        let expected =
            [3, 13, 23].map(|ms| JobSpec { release: Duration::from_ms(ms), demand: Duration::from_ms(2) });
        assert_eq!(jobs, expected);
    }

    #[test]
    fn sporadic_jobs_keep_their_distance() {
        let min_interarrival = Duration::from_ms(10);
        let sporadic = Task { arrival: Arrival::Sporadic { min_interarrival }, ..task() };
        let jobs: Vec<JobSpec> = jobs_of(&sporadic, 4, 9, Demand::Wcet).take(10_000).collect();
        let gaps: Vec<u64> = jobs.windows(2).map(|w| (w[1].release - w[0].release).as_ns()).collect();
        assert!(gaps.iter().all(|gap| (10_000_000..=20_000_000).contains(gap)));
        let mean = gaps.iter().sum::<u64>() / gaps.len() as u64;
        assert!((14_900_000..15_100_000).contains(&mean), "mean gap {mean}");
    }

    #[test]
    fn demands_follow_their_distribution() {
        let share_of = |demand: Demand| -> Vec<f64> {
            let wcet = task().wcet.as_secs_f64();
            jobs_of(&task(), 1, 5, demand).take(20_000).map(|job| job.demand.as_secs_f64() / wcet).collect()
        };
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / 20_000.0;
        assert!(share_of(Demand::Fraction(800_000)).iter().all(|&share| (share - 0.8).abs() < 1e-9));
        let uniform = share_of(Demand::Uniform(500_000, 1_000_000));
        assert!(
            uniform.iter().all(|share| (0.5..=1.0).contains(share)) && (mean(&uniform) - 0.75).abs() < 0.006
        );
        let normal = share_of(Demand::Normal(800_000, 100_000));
        let sd = (normal.iter().map(|share| (share - 0.8).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!((mean(&normal) - 0.8).abs() < 0.004 && (sd - 0.1).abs() < 0.003);
        let bimodal = share_of(Demand::Bimodal(500_000, 1_200_000, 50_000));
        assert!((mean(&bimodal) - 0.535).abs() < 0.006);
    }

    #[test]
    fn a_tasks_jobs_depend_on_nothing_but_seed_and_id() {
        let draw = |id, seed| -> Vec<JobSpec> {
            jobs_of(&task(), id, seed, Demand::Uniform(1, 1_000_000)).take(8).collect()
        };
        assert_eq!(draw(3, 7), draw(3, 7));
        assert_ne!(draw(3, 7), draw(4, 7));
        assert_ne!(draw(3, 7), draw(3, 8));
    }

    #[test]
    fn an_end_ends_the_jobs_before_it() {
        let released = |end| jobs_of(&task(), 0, 1, Demand::Wcet).before(Duration::from_ms(end)).count();
        assert_eq!([3, 4, 13, 14].map(released), [0, 1, 1, 2]);
        let leaving = Task { leave: Some(Duration::from_ms(20)), ..task() };
        let jobs = jobs_of(&leaving, 0, 1, Demand::Wcet).before(Duration::from_ms(1000));
        assert_eq!(jobs.count(), 2, "the task leaves earlier");
    }

    #[test]
    fn a_release_past_the_end_of_time_ends_the_jobs() {
        let far = Task { phase: Duration::from_ns(u64::MAX - 5), ..task() };
        assert_eq!(jobs_of(&far, 0, 1, Demand::Wcet).count(), 1);
    }
}
