//! What the run itself measured of the ways by which decisions travel.

use serde::Serialize;

/// Intervals of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Span {
    /// How many.
    pub count: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// All together, in ns.
    pub total_ns: u64,
}

impl Span {
    pub(super) fn add(&mut self, ns: u64) {
        self.count += 1;
        self.longest_ns = self.longest_ns.max(ns);
        self.total_ns = self.total_ns.saturating_add(ns);
    }
}

/// Everything that was measured in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct MeasuredWindows {
    /// From the instant that the release timer was set to until its handler began.
    pub release_latency: Span,
    /// That handler.
    pub release: Span,
    /// From a wake-up until its handling was over.
    pub wake_up: Span,
    /// From asking a CPU to decide until it began to.
    pub interrupt: Span,
    /// From the instant that a CPU's budget timer was set to until it went off, or the job that it was for left the CPU.
    pub budget_timer: Span,
    /// Decisions of CPUs.
    pub decision: Span,
    /// From a decision until the task that it chose ran.
    pub switch: Span,
    /// Sending waiting tasks to other CPUs: after a switch, or because another CPU has asked for it.
    pub push: Span,
    /// Times that a kernel thread had a CPU.
    pub kernel_thread: Span,
    /// Times that a thread of a class above had a CPU, where that was recorded.
    pub higher_class: Span,
    /// Times that other work had a CPU because real-time work had used up its share.
    pub reserve: Span,
    /// Times that other work had a CPU by its deferrable server.
    pub server: Span,
}

impl MeasuredWindows {
    /// All of them by name, as in results.
    pub fn named(&self) -> [(&'static str, Span); 12] {
        [
            ("release-latency", self.release_latency),
            ("release", self.release),
            ("wake-up", self.wake_up),
            ("interrupt", self.interrupt),
            ("budget-timer", self.budget_timer),
            ("decision", self.decision),
            ("switch", self.switch),
            ("push", self.push),
            ("kernel-thread", self.kernel_thread),
            ("higher-class", self.higher_class),
            ("reserve", self.reserve),
            ("server", self.server),
        ]
    }

    /// The longest that a decision may be on its way: a timer late, its handler, an interrupt on its way from there, and a
    /// decision, each at most as long as it ever was in this run.
    pub fn longest_way_ns(&self) -> u64 {
        let ways = [self.release_latency, self.release, self.interrupt, self.decision];
        ways.iter().fold(0, |sum, way| sum.saturating_add(way.longest_ns))
    }
}
