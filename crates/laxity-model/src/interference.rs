//! Interference: what takes a CPU from the scheduler for a time, such as an interrupt that lasts or a thread of a class above.

use crate::{CpuList, Diagnostic, Duration, Result};
use std::fmt;
use std::str::FromStr;

/// One CPU is not there for the scheduler's tasks in `[from, from + length)`, and again every `period` if there is one. Written
/// CPU@FROM+LENGTH or CPU@FROM+LENGTH/PERIOD, as in 1@10ms+2ms/50ms. Times count from instant 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interference {
    cpu: u32,
    from: Duration,
    length: Duration,
    period: Option<Duration>,
}

const FORM: &str =
    "write CPU@FROM+LENGTH, as in 1@10ms+2ms, or with a period behind it, as in 1@10ms+2ms/50ms";

impl Interference {
    /// Where, from when, for how long, and how often.
    ///
    /// # Errors
    ///
    /// A length of 0; a period that is not longer than the length; times whose sum does not fit.
    pub fn new(cpu: u32, from: Duration, length: Duration, period: Option<Duration>) -> Result<Self> {
        let this = Interference { cpu, from, length, period };
        if length.is_zero() {
            return Err(Diagnostic::usage(format!("interference `{this}` takes no time"))
                .hint("give it a length above 0, as in 1@10ms+2ms"));
        }
        if let Some(period) = period.filter(|&period| period <= length) {
            return Err(Diagnostic::usage(format!(
                "interference `{this}` lasts for {length}, and comes again after {period}"
            ))
            .hint("give it a period that is longer than its length; or leave the CPU out of the platform"));
        }
        if from.checked_add(length).is_none() {
            return Err(Diagnostic::usage(format!("interference `{this}` ends later than time goes"))
                .hint("check the unit: ns, us, ms, s, m (minutes) or h"));
        }
        Ok(this)
    }

    /// The CPU's number.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// When it begins for the first time.
    pub fn from(&self) -> Duration {
        self.from
    }

    /// For how long it has the CPU each time.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// How long ago it began last, in ns; nothing before it began.
    fn since_begun(&self, at_ns: u64) -> Option<u64> {
        let since = at_ns.checked_sub(self.from.as_ns())?;
        Some(self.period.map_or(since, |period| since % period.as_ns()))
    }

    /// Whether it has the CPU at this instant.
    pub fn takes_at(&self, at_ns: u64) -> bool {
        self.since_begun(at_ns).is_some_and(|since| since < self.length.as_ns())
    }

    /// Whether it begins at this instant.
    pub fn begins_at(&self, at_ns: u64) -> bool {
        self.since_begun(at_ns) == Some(0)
    }

    /// Whether it ends at this instant.
    pub fn ends_at(&self, at_ns: u64) -> bool {
        self.since_begun(at_ns) == Some(self.length.as_ns())
    }

    /// The first instant behind this one at which it begins or ends; nothing: it is over.
    pub fn next_change(&self, at_ns: u64) -> Option<u64> {
        let Some(since) = self.since_begun(at_ns) else { return Some(self.from.as_ns()) };
        let length = self.length.as_ns();
        if since < length {
            return at_ns.checked_add(length - since);
        }
        at_ns.checked_add(self.period?.as_ns() - since)
    }

    /// How often it begins before this instant.
    pub fn begins_before(&self, at_ns: u64) -> u64 {
        match (at_ns.checked_sub(self.from.as_ns()), self.period) {
            (None | Some(0), _) => 0,
            (Some(_), None) => 1,
            (Some(since), Some(period)) => since.div_ceil(period.as_ns()),
        }
    }

    /// Whether the two have the same CPU at one instant, or one begins as the other ends. Of two with periods: at any instant, however
    /// late.
    pub fn meets(&self, other: &Interference) -> bool {
        if self.cpu != other.cpu {
            return false;
        }
        let (one, two) = (self.from.as_ns(), other.from.as_ns());
        let (of_one, of_two) = (self.length.as_ns(), other.length.as_ns());
        match (self.period, other.period) {
            (Some(p), Some(q)) => {
                let gcd = crate::gcd(p.as_ns(), q.as_ns());
                let (one, two) = (one % gcd, two % gcd);
                let apart = (two + (gcd - one)) % gcd;
                apart <= of_one || (gcd - apart) % gcd <= of_two
            }
            (None, Some(_)) => other.meets(self),
            // It has begun by the end of the other, and the last time before that it had not ended at its beginning.
            (_, None) => {
                let end = two + of_two;
                one <= end && {
                    let last = self.period.map_or(one, |p| one + (end - one) / p.as_ns() * p.as_ns());
                    last + of_one >= two
                }
            }
        }
    }

    /// Refuses what a machine with these CPUs cannot have.
    ///
    /// # Errors
    ///
    /// A CPU that is none of them; two that have one CPU at a time, or one right after the other.
    pub fn check_all(all: &[Interference], cpus: &CpuList) -> Result<()> {
        for (place, one) in all.iter().enumerate() {
            if !cpus.contains(one.cpu) {
                return Err(Diagnostic::usage(format!(
                    "interference `{one}`: there is no CPU {}, only {}",
                    one.cpu,
                    crate::cpus_named(cpus)
                ))
                .hint("name a CPU of the platform"));
            }
            if let Some(other) = all[..place].iter().find(|other| other.meets(one)) {
                return Err(Diagnostic::usage(format!(
                    "interference `{other}` and `{one}` overlap, or one follows the other at once, on CPU {}",
                    one.cpu
                ))
                .hint("make them one, or move one of them; two with periods must never meet, however late"));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Interference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = self.period.map_or_else(String::new, |period| format!("/{period}"));
        f.pad(&format!("{}@{}+{}{period}", self.cpu, self.from, self.length))
    }
}

impl FromStr for Interference {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let unclear = |why: &str| Diagnostic::usage(format!("interference `{text}` {why}")).hint(FORM);
        let (cpu, times) = text.split_once('@').ok_or_else(|| unclear("names no CPU"))?;
        let cpu = cpu.parse().map_err(|_| unclear(&format!("names no CPU: `{cpu}` is no number")))?;
        let (from, lasts) = times.split_once('+').ok_or_else(|| unclear("has no length"))?;
        let (length, period) = match lasts.split_once('/') {
            Some((length, period)) => (length, Some(period)),
            None => (lasts, None),
        };
        let time = |text: &str, what: &str| {
            let time = text.parse::<Duration>();
            time.map_err(|error| unclear(&format!("has no {what}: {}", error.message)))
        };
        let period = period.map(|period| time(period, "period")).transpose()?;
        Interference::new(cpu, time(from, "beginning")?, time(length, "length")?, period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Interference {
        text.parse().expect("interference")
    }

    #[test]
    fn reads_what_it_writes() {
        for text in ["1@10ms+2ms", "0@0ns+1ns", "17@1.5us+2us/50ms"] {
            assert_eq!(of(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_the_rule_and_a_way_out() {
        let cpus: CpuList = (0..2).collect();
        let all = |texts: &[&str]| {
            let all: Vec<Interference> = texts.iter().map(|text| of(text)).collect();
            Interference::check_all(&all, &cpus).map(|()| all[0])
        };
        for (error, why) in [
            ("10ms+2ms".parse(), "names no CPU"),
            ("x@10ms+2ms".parse(), "`x` is no number"),
            ("1@10ms".parse(), "has no length"),
            ("1@10+2ms".parse(), "has no beginning"),
            ("1@10ms+2ms/".parse(), "has no period"),
            ("1@10ms+0ns".parse(), "takes no time"),
            ("1@10ms+2ms/2ms".parse(), "lasts for 2ms, and comes again after 2ms"),
            (all(&["2@0ns+1ms"]), "no CPU 2, only CPUs 0-1"),
            (all(&["1@0ns+1ms", "1@1ms+1ms"]), "overlap"),
        ] {
            let error: Diagnostic = error.expect_err(why);
            assert!(error.message.contains(why), "{}", error.message);
            assert!(error.hint.is_some(), "{why}");
        }
        assert!(all(&["1@0ns+1ms", "0@500us+1ms", "1@2ms+1ms"]).is_ok());
    }

    /// Everything against the list of its intervals, over all small ones.
    #[test]
    fn says_what_its_intervals_say() {
        const END: u64 = 40;
        let mut small = Vec::new();
        for from in 0..5 {
            for length in 1..4 {
                let periods = (length + 1..7).map(|period| Some(Duration::from_ns(period)));
                for period in std::iter::once(None).chain(periods) {
                    let [from, length] = [from, length].map(Duration::from_ns);
                    small.push(Interference::new(0, from, length, period).expect("valid"));
                }
            }
        }
        let intervals = |one: &Interference| -> Vec<(u64, u64)> {
            let from = one.from.as_ns();
            let times = if one.period.is_some() { 0..100 } else { 0..1 };
            times
                .map(|k| from + k * one.period.map_or(0, Duration::as_ns))
                .map(|from| (from, from + one.length.as_ns()))
                .collect()
        };
        for one in &small {
            let list = intervals(one);
            for at in 0..END {
                let taken = |at: u64| list.iter().any(|&(from, to)| from <= at && at < to);
                assert_eq!(one.takes_at(at), taken(at), "{one} at {at}");
                assert_eq!(one.begins_at(at), list.iter().any(|&(from, _)| from == at), "{one} at {at}");
                assert_eq!(one.ends_at(at), list.iter().any(|&(_, to)| to == at), "{one} at {at}");
                let next = list.iter().flat_map(|&(from, to)| [from, to]).filter(|&change| change > at).min();
                assert_eq!(one.next_change(at), next, "{one} at {at}");
                assert_eq!(one.begins_before(at), list.iter().filter(|&&(from, _)| from < at).count() as u64);
            }
            for other in &small {
                let touch =
                    |&(from, to): &(u64, u64)| intervals(other).iter().any(|&(f, t)| f <= to && from <= t);
                // Two with periods meet within the product of these, and both have begun by then.
                assert_eq!(one.meets(other), list.iter().any(touch), "{one} and {other}");
            }
        }
    }
}
