//! Ticks that disturb nothing but the jobs that have the CPUs: most of what the kernel does under costs of every day is that.
//!
//! Such a tick delays the job on its CPU by what it costs, and does nothing else: the job's clock comes as much later, and what it has
//! done is as if it had begun as much later. Where all CPUs have their ticks at the same instants, and nothing else comes between, the
//! ticks of many instants are carried out in one go.

use super::{Engine, NEVER, NONE, time_of};
use crate::observer::Observer;

/// So many instants are passed over in one go at most: between two looks at whether the simulation is interrupted.
const ROUNDS_MAX: u64 = 4096;

/// Ticks during which nothing else happens.
struct Quiet {
    /// How many come at one instant: the first ones of [`super::Kernel`]'s.
    count: usize,
    /// At how many instants, one period after the other; 1 unless all ticks come at one instant.
    rounds: u64,
    tick_ns: u64,
    period_ns: u64,
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The ticks that come now and at later instants, if nothing else happens until they are over: then jobs go on as much later, and it
    /// is that instant. False if there are none or something may happen meanwhile; then nothing has been done.
    #[inline]
    pub(in crate::engine) fn only_ticks(&mut self) -> bool {
        // Events are shown, and watched for, at every instant; the others look at more than jobs.
        if O::EVENTS || self.has_background() || self.has_budgets() || self.has_prototypes || self.tick > 0 {
            return false;
        }
        let Some(kernel) = &self.kernel else { return false };
        if kernel.ticks.front().is_none_or(|&(time, _, _)| time != self.now_ns) {
            return false;
        }
        let Some(quiet) = self.quiet_ticks() else { return false };
        self.delay_jobs(&quiet);
        self.plan_ticks_after(&quiet);
        self.now_ns += (quiet.rounds - 1) * quiet.period_ns + quiet.tick_ns;
        true
    }

    /// The ticks that come now, if nothing else happens until they are over.
    fn quiet_ticks(&self) -> Option<Quiet> {
        let kernel = self.kernel.as_ref()?;
        let (tick_ns, period_ns) = (kernel.tick_ns?, kernel.tick_period_ns?);
        let mut end = self.now_ns + tick_ns;
        let interference = self.interference.as_ref().map_or(NEVER, |those| those.next_instant());
        let others = time_of(kernel.coming.first()).min(interference).min(self.timers.next_instant());
        let mut clock = self.clocks.next_instant();
        if others.min(clock) <= end || period_ns <= tick_ns || end > self.horizon_ns {
            return None;
        }
        let mut count = 0;
        for &(time, _, cpu) in &kernel.ticks {
            if time > end {
                break;
            }
            let (core, state) = (&kernel.cores[cpu as usize], &self.cpus[cpu as usize]);
            let goes_on = state.running == NONE || self.tasks[state.running as usize].goes_on();
            let settled = state.running == state.decided && goes_on;
            if time != self.now_ns || core.section.is_some() || !core.waiting.is_empty() || !settled {
                return None;
            }
            count += 1;
        }
        let mut rounds = 1;
        // A job that stops at its deadline is not delayed beyond that, and a policy that counts use is told of it after each tick.
        let many = count == kernel.ticks.len() && !self.counts_use() && !self.late.aborts_jobs();
        while many && rounds < ROUNDS_MAX {
            // The job on every CPU is delayed by each.
            clock = clock.saturating_add(tick_ns);
            let next_end = end + period_ns;
            if others.min(clock) <= next_end || next_end > self.horizon_ns {
                break;
            }
            (end, rounds) = (next_end, rounds + 1);
        }
        Some(Quiet { count, rounds, tick_ns, period_ns })
    }

    /// The jobs on the CPUs are delayed by their ticks.
    fn delay_jobs(&mut self, quiet: &Quiet) {
        let delay_ns = quiet.rounds * quiet.tick_ns;
        let (counts_use, aborts) = (self.counts_use(), self.late.aborts_jobs());
        for place in 0..quiet.count {
            let kernel = self.kernel.as_ref().expect("it has those ticks");
            let (_, _, cpu) = kernel.ticks[place];
            let core = &mut self.cpus[cpu as usize];
            if core.running == NONE {
                continue;
            }
            if counts_use {
                let now = self.now_ns;
                self.account(cpu as usize);
                self.now_ns += quiet.tick_ns;
                self.progress(cpu);
                self.now_ns = now;
                continue;
            }
            core.since_ns += delay_ns;
            let mut clock = self.clocks.instant(cpu as usize) + delay_ns;
            if aborts {
                clock = clock.min(self.tasks[core.running as usize].deadline());
            }
            self.clocks.set(cpu as usize, clock);
        }
    }

    /// The ticks after those, in the order in which they would be planned one by one, as would be the end of each tick.
    fn plan_ticks_after(&mut self, quiet: &Quiet) {
        let next = self.now_ns + quiet.rounds * quiet.period_ns;
        let is_within = next <= self.horizon_ns;
        let Some(kernel) = &mut self.kernel else { return };
        if !is_within {
            // No round after the first one is beyond the horizon, but for the one that would be next.
            kernel.sequence += (quiet.rounds - 1) * 2 * quiet.count as u64 + quiet.count as u64;
            kernel.ticks.drain(..quiet.count);
            return;
        }
        kernel.sequence += (quiet.rounds - 1) * 2 * quiet.count as u64;
        if quiet.count == kernel.ticks.len() {
            for (time, order, _) in &mut kernel.ticks {
                (*time, *order) = (next, kernel.sequence + 1);
                kernel.sequence += 2;
            }
            return;
        }
        for _ in 0..quiet.count {
            let Some((_, _, cpu)) = kernel.ticks.pop_front() else { break };
            kernel.plan_tick(next, cpu);
            kernel.sequence += 1;
        }
    }
}
