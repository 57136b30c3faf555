//! How fast CPUs are, and how far a job got: work in whole numbers.

use laxity_model::{Speed, gcd};
use laxity_trace::EventKind;

/// The speed of a CPU in whole numbers. Work is counted in parts of a ns at speed 1, so small that whatever a CPU of the
/// cluster does in a ns is a whole number of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    /// Parts done in a ns on this CPU.
    pub per_ns: u64,
    /// Parts in a ns at speed 1: below 2^32.
    pub scale: u64,
}

impl Rate {
    /// By CPU. Should the denominators of a cluster have no common multiple below 2^32, work is rounded down.
    pub fn of(speeds: &[Speed]) -> Vec<Rate> {
        let multiple = |scale: u64, speed: &Speed| {
            let below = u64::from(speed.denominator());
            Some(scale / gcd(scale, below) * below)
                .filter(|&next| next <= u64::from(u32::MAX))
                .unwrap_or(scale)
        };
        let scale = speeds.iter().fold(1, multiple);
        let per_ns = |speed: &Speed| u64::from(speed.numerator()) * scale / u64::from(speed.denominator());
        speeds.iter().map(|speed| Rate { per_ns: per_ns(speed), scale }).collect()
    }

    /// What a CPU of this rate does in `ns`.
    #[inline]
    pub fn work(self, ns: u64) -> u128 {
        u128::from(ns) * u128::from(self.per_ns)
    }

    /// By how much work may be too much because it ends at a whole ns: less than what is done in one.
    #[inline]
    pub fn rounding(self) -> u128 {
        u128::from(self.per_ns.saturating_sub(1))
    }
}

/// How a job leaves its CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// It is not over.
    Stopped,
    Complete,
    Aborted,
}

impl Leaves {
    /// How a job is over with this event; nothing if it is not.
    pub fn of(kind: EventKind) -> Option<Leaves> {
        match kind {
            EventKind::Complete => Some(Leaves::Complete),
            EventKind::Abort => Some(Leaves::Aborted),
            _ => None,
        }
    }
}

/// The work of a task's first incomplete job.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    /// What the job has done.
    pub done_parts: u128,
    /// The part of it that was cold caches.
    pub delay_parts: u128,
    /// By how much that may be wrong.
    rounding_parts: u128,
    /// One of the two is not zero.
    pub has_parts: bool,
    pub reported: bool,
}

impl Work {
    /// The job got this far.
    #[inline(always)]
    pub fn progresses(&mut self, net: u128, rate: Rate) {
        self.done_parts = self.done_parts.saturating_add(net);
        if rate.per_ns > 1 {
            self.rounding_parts = self.rounding_parts.saturating_add(rate.rounding());
            self.has_parts = true;
        }
    }

    /// A cache delay of the job, as work.
    pub fn cache_delay(&mut self, delay: u128) {
        self.delay_parts = self.delay_parts.saturating_add(delay);
        self.has_parts = true;
    }

    /// Whether the job has done more or less than it was asked to, as far as that is known.
    pub fn is_beyond(&self, asked: u128, leaves: Leaves) -> bool {
        let asked = asked.saturating_add(self.delay_parts);
        let short = self.done_parts.saturating_add(self.rounding_parts) < asked;
        let long = self.done_parts > asked.saturating_add(self.rounding_parts);
        match leaves {
            Leaves::Stopped => long,
            Leaves::Complete => short || long,
            Leaves::Aborted => self.done_parts >= asked,
        }
    }
}
