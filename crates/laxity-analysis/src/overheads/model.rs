//! What scheduling costs: the overheads as functions of the number of tasks, and cache-related delays as functions of the
//! working set's size.

use crate::{TIME_MAX, Taken};
pub use laxity_model::overheads::Overhead;

/// A non-decreasing function from whole numbers to ns, at most [`TIME_MAX`], which no task survives.
pub type Monotone = laxity_model::overheads::Monotone<TIME_MAX>;

/// How many overheads there are.
const KINDS: usize = Overhead::ALL.len();

/// Where an overhead is in lists of all.
fn place(overhead: Overhead) -> usize {
    overhead as usize
}

/// The period of the timer tick if nothing else is said, in ns: 1 ms (cerqueira2014, Appendix B).
pub const TICK_PERIOD_DEFAULT: u64 = 1_000_000;

/// Whether jobs that are displaced where other CPUs are idle pay for it ([`super::PushPull`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Displacements {
    /// They do: what is proven holds.
    #[default]
    Counted,
    /// Brandenburg's accounting alone, as the papers have it, by which sets are accepted that miss.
    Ignored,
}

/// The overheads of one scheduler on one machine. An overhead that is not given costs nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overheads {
    functions: [Option<Monotone>; KINDS],
    /// The delay is the largest of these.
    cache: Vec<Monotone>,
    tick_period_ns: u64,
    displacements: Displacements,
    kernel_threads: Option<Taken>,
}

impl Default for Overheads {
    fn default() -> Self {
        Self::none()
    }
}

impl Overheads {
    /// Scheduling costs nothing.
    pub fn none() -> Self {
        Overheads {
            functions: [const { None }; KINDS],
            cache: Vec::new(),
            tick_period_ns: TICK_PERIOD_DEFAULT,
            displacements: Displacements::Counted,
            kernel_threads: None,
        }
    }

    /// With this overhead as a function of the number of tasks.
    #[must_use]
    pub fn with(mut self, overhead: Overhead, of_tasks: Monotone) -> Self {
        self.functions[place(overhead)] = Some(of_tasks);
        self
    }

    /// With cache-related preemption and migration delay as the largest of some functions of the working set's size in bytes
    /// ([`CacheDelays::within`]).
    #[must_use]
    pub fn with_cache(mut self, of_bytes: Vec<Monotone>) -> Self {
        self.cache = of_bytes;
        self
    }

    /// With a tick every so many ns: Q, which is also the quantum of quantum-based schedulers. Panics if it is 0.
    #[must_use]
    pub fn with_tick_period(mut self, ns: u64) -> Self {
        assert!(ns > 0, "ticks have a period");
        self.tick_period_ns = ns;
        self
    }

    /// Q in ns.
    pub fn tick_period(&self) -> u64 {
        self.tick_period_ns
    }

    /// With threads of the kernel that are bound to a processor and go before its tasks, all together for a time in each of the windows
    /// that follow each other (`policy/kernel_threads.h`). What they delay on a processor that is dedicated to scheduling is not counted.
    /// Panics if the time is more than its window, or that is more than [`TIME_MAX`].
    #[must_use]
    pub fn with_kernel_threads(mut self, threads: Taken) -> Self {
        assert!(
            threads.runtime_ns <= threads.period_ns && threads.period_ns <= TIME_MAX,
            "a part of a window"
        );
        self.kernel_threads = Some(threads).filter(|threads| threads.runtime_ns > 0);
        self
    }

    /// The kernel threads that go first; nothing: none.
    pub fn kernel_threads(&self) -> Option<Taken> {
        self.kernel_threads
    }

    /// With or without what displaced jobs pay under schedulers that push; it means nothing to others.
    #[must_use]
    pub fn with_displacements(mut self, displacements: Displacements) -> Self {
        self.displacements = displacements;
        self
    }

    /// Whether displaced jobs pay under schedulers that push.
    pub fn displacements(&self) -> Displacements {
        self.displacements
    }

    /// What each costs with `tasks` tasks in the cluster.
    pub fn at(&self, tasks: usize) -> Costs {
        let at = |overhead: Overhead| {
            self.functions[place(overhead)].as_ref().map_or(0, |function| function.at(tasks as u64))
        };
        Costs {
            ipi: at(Overhead::IpiLatency),
            schedule: at(Overhead::Schedule),
            release: at(Overhead::Release),
            context_switch: at(Overhead::ContextSwitch),
            tick: at(Overhead::Tick),
            release_latency: at(Overhead::ReleaseLatency),
            request: at(Overhead::RequestLatency),
            dsp: at(Overhead::DspHandler),
        }
    }

    /// D(bytes): how long a job may need to load its working set again, in ns.
    pub fn cache_delay(&self, bytes: u64) -> u64 {
        self.cache.iter().map(|function| function.at(bytes)).max().unwrap_or(0)
    }

    /// What has not been given and so costs nothing.
    pub fn absent(&self) -> impl Iterator<Item = Overhead> {
        Overhead::ALL.into_iter().filter(|overhead| self.functions[place(*overhead)].is_none())
    }

    /// What was not measured with that many tasks, and is extrapolated.
    pub fn extrapolated(&self, tasks: usize) -> impl Iterator<Item = Overhead> {
        Overhead::ALL.into_iter().filter(move |overhead| {
            let function = self.functions[place(*overhead)].as_ref();
            function.is_some_and(|function| function.is_extrapolated(tasks as u64))
        })
    }
}

/// What the overheads are for one number of tasks, in ns, at most 2^50 each. [`Overhead`] says what each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Costs {
    /// ipi.
    pub ipi: u64,
    /// sch.
    pub schedule: u64,
    /// rel.
    pub release: u64,
    /// cxs.
    pub context_switch: u64,
    /// tck.
    pub tick: u64,
    /// ev.
    pub release_latency: u64,
    /// req.
    pub request: u64,
    /// dsp.
    pub dsp: u64,
}

/// Cache-related preemption and migration delays by the closest cache that the processors have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDelays {
    /// By level, ascending.
    levels: Vec<(u32, Monotone)>,
    /// If they share no cache.
    memory: Monotone,
}

impl CacheDelays {
    /// Of caches by their levels, in any order, and of memory; functions of bytes.
    pub fn new(mut levels: Vec<(u32, Monotone)>, memory: Monotone) -> Self {
        levels.sort_by_key(|&(level, _)| level);
        CacheDelays { levels, memory }
    }

    /// Where jobs migrate among processors that have the cache of this level in common (nothing: only memory): the
    /// functions of which the delay is the largest. Level 1 is for tasks that do not migrate.
    ///
    /// A job may also resume on a processor that is closer: the delays of closer caches count as well. If there is none for
    /// the level itself, the next farther one bounds it.
    pub fn within(&self, level: Option<u32>) -> Vec<Monotone> {
        let farther = |level| self.levels.partition_point(|&(known, _)| known < level);
        let closer = level.map_or(self.levels.len(), farther);
        let own = self.levels.get(closer).map_or(&self.memory, |(_, delay)| delay);
        self.levels[..closer].iter().map(|(_, delay)| delay).chain([own]).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_costs_nothing_and_is_named() {
        let schedule = Monotone::through([(2, 100), (4, 300)]).expect("valid");
        let overheads =
            Overheads::none().with(Overhead::Schedule, schedule).with(Overhead::Tick, Monotone::constant(9));
        let costs = Costs { schedule: 200, tick: 9, ..Costs::default() };
        assert_eq!(overheads.at(3), costs);
        assert_eq!(overheads.absent().count(), 6);
        assert!(overheads.absent().all(|kind| ![Overhead::Schedule, Overhead::Tick].contains(&kind)));
        assert_eq!(overheads.extrapolated(4).count(), 0);
        assert_eq!(overheads.extrapolated(5).collect::<Vec<_>>(), [Overhead::Schedule]);
        assert_eq!((overheads.cache_delay(1 << 20), overheads.tick_period()), (0, 1_000_000));
    }

    #[test]
    fn a_delay_is_the_largest_of_what_is_as_close() {
        let constant = Monotone::constant;
        let delays = CacheDelays::new(vec![(3, constant(30)), (1, constant(50))], constant(40));
        let delay = |level| Overheads::none().with_cache(delays.within(level)).cache_delay(1);
        // L2 is not there: L3 bounds it, and staying in L1 may cost more than that.
        assert_eq!([Some(1), Some(2), Some(3), Some(4), None].map(delay), [50, 50, 50, 50, 50]);
        let delays = CacheDelays::new(vec![(1, constant(10)), (3, constant(30))], constant(40));
        let delay = |level| Overheads::none().with_cache(delays.within(level)).cache_delay(1);
        assert_eq!([Some(1), Some(2), Some(3), Some(4), None].map(delay), [10, 30, 30, 40, 40]);
    }
}
