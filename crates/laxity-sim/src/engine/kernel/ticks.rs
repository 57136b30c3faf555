//! Ticks that disturb nothing but the jobs that have the CPUs: most of what the kernel does under costs of every day is that.

use super::{Engine, NEVER, NONE, time_of};
use crate::observer::Observer;

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The ticks that come now, if nothing else happens until they are over: then jobs go on as much later, and it is that instant. False
    /// if there are none or something may happen meanwhile; then nothing has been done.
    pub(in crate::engine) fn only_ticks(&mut self) -> bool {
        // Events are shown, and watched for, at every instant; the others look at more than jobs.
        if O::EVENTS || self.has_background() || self.has_budgets() || self.has_prototypes || self.tick > 0 {
            return false;
        }
        let now = self.now_ns;
        let Some((end, count)) = self.ticks_until(now) else { return false };
        for _ in 0..count {
            let kernel = self.kernel();
            let Some((_, _, cpu)) = kernel.ticks.pop_front() else { break };
            let next = now + kernel.tick_period_ns.expect("there are ticks");
            // In the order in which they would be planned, as is the end of each tick.
            if next <= self.horizon_ns {
                self.kernel().plan_tick(next, cpu);
            }
            self.kernel().sequence += 1;
            self.now_ns = now;
            self.account(cpu as usize);
            self.cpus[cpu as usize].since_ns = NEVER;
            self.now_ns = end;
            self.progress(cpu);
        }
        self.now_ns = end;
        true
    }

    /// When the ticks that come now are over, and how many there are, if nothing else happens until then.
    fn ticks_until(&self, now: u64) -> Option<(u64, usize)> {
        let kernel = self.kernel.as_ref()?;
        let &(first, _, _) = kernel.ticks.front()?;
        if first != now {
            return None;
        }
        let end = now + kernel.tick_ns?;
        let coming = kernel.coming.peek().map_or(NEVER, |&(when, _)| time_of(when));
        let interference = self.interference.as_ref().map_or(NEVER, |those| those.next_instant());
        let next = coming.min(interference).min(self.clocks.next_instant()).min(self.timers.next_instant());
        let again = now + kernel.tick_period_ns?;
        if next.min(again) <= end || end > self.horizon_ns {
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
            if time != now || core.section.is_some() || !core.waiting.is_empty() || !settled {
                return None;
            }
            count += 1;
        }
        Some((end, count))
    }
}
