//! Deferrable servers: time of a CPU that is reserved for background tasks, and the notation of its size.

use crate::{Diagnostic, Duration, Platform, Result, Speed};
use std::fmt;
use std::str::FromStr;

/// A deferrable server of one CPU (Strosnider, Lehoczky, Sha 1995): background tasks run before real-time tasks
/// while the budget is positive, and use it up as they run. The budget is replenished every period; what was left
/// of it is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeferrableServer {
    budget: Duration,
    period: Duration,
}

impl DeferrableServer {
    /// No server: background tasks run only when no real-time task is ready.
    pub const NONE: DeferrableServer =
        DeferrableServer { budget: Duration::ZERO, period: Duration::from_ns(1) };

    /// A budget (time on its CPU, 0 for no server) per period. The period must be positive, the budget at most as long.
    pub fn new(budget: Duration, period: Duration) -> Result<Self> {
        if period.is_zero() {
            return Err(Diagnostic::usage(format!("a server of {budget} has a period of {period}"))
                .hint("give the time after which its budget is full again, as in 2ms/10ms"));
        }
        if budget > period {
            return Err(Diagnostic::usage(format!(
                "a server's budget of {budget} is longer than its period of {period}"
            ))
            .hint("give a budget of at most its period: budget = period reserves all of a CPU"));
        }
        Ok(DeferrableServer { budget, period })
    }

    /// For how long background tasks may go first within a period.
    pub fn budget(self) -> Duration {
        self.budget
    }

    /// The time after which the budget is full again.
    pub fn period(self) -> Duration {
        self.period
    }

    /// True for a server that reserves nothing.
    pub fn is_none(self) -> bool {
        self.budget.is_zero()
    }
}

impl fmt::Display for DeferrableServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.budget, self.period))
    }
}

/// How large the server of every CPU is, where CPUs have different speeds.
///
/// calandrino2007 has both: a share of each CPU "regardless of CPU speed" in its kernel (5.2), and a budget "with respect to the
/// slowest CPU", which a faster CPU gets done in less time, in its simulator (4.2 and 5.1).
///
/// Written `2ms/10ms` or `20%/10ms` (the same), and `2ms@slowest/10ms` or `20%@slowest/10ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerSize {
    /// The same time on each CPU, so the same share of it, whatever its speed.
    Share(DeferrableServer),
    /// As much work as the slowest CPU does in this budget. With 2ms/10ms it is 1ms/10ms on a CPU twice as fast.
    SlowestCoreUnits(DeferrableServer),
}

/// Follows the budget in texts.
const SLOWEST: &str = "@slowest";

impl ServerSize {
    /// The server of every CPU of a platform, by CPU number, ascending.
    pub fn on_cores(self, platform: &Platform) -> impl Iterator<Item = (u32, DeferrableServer)> {
        let slowest = platform.slowest();
        platform.cores().iter().map(move |core| (core.cpu, self.scaled(core.speed, slowest)))
    }

    /// The server of the platform's CPUs of this `speed`.
    pub fn on(self, platform: &Platform, speed: Speed) -> DeferrableServer {
        self.scaled(speed, platform.slowest())
    }

    /// A budget that is no whole number of ns is rounded up, so that background tasks have what they were promised;
    /// it never exceeds the period.
    fn scaled(self, speed: Speed, slowest: Speed) -> DeferrableServer {
        match self {
            ServerSize::Share(server) => server,
            ServerSize::SlowestCoreUnits(server) => {
                // budget * slowest / speed <= budget
                let work = u128::from(server.budget.as_ns())
                    * u128::from(slowest.numerator())
                    * u128::from(speed.denominator());
                let each = u128::from(slowest.denominator()) * u128::from(speed.numerator());
                let budget = u64::try_from(work.div_ceil(each)).unwrap_or(u64::MAX);
                DeferrableServer { budget: Duration::from_ns(budget).min(server.period), ..server }
            }
        }
    }

    /// As written, before it is scaled.
    fn server(self) -> DeferrableServer {
        match self {
            ServerSize::Share(server) | ServerSize::SlowestCoreUnits(server) => server,
        }
    }
}

impl fmt::Display for ServerSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeferrableServer { budget, period } = self.server();
        match self {
            ServerSize::Share(_) => f.pad(&format!("{budget}/{period}")),
            ServerSize::SlowestCoreUnits(_) => f.pad(&format!("{budget}{SLOWEST}/{period}")),
        }
    }
}

impl FromStr for ServerSize {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let unclear = |why: &str| {
            Diagnostic::usage(format!("server `{text}` {why}")).hint(
                "write a budget and a period, as in 2ms/10ms or 20%/10ms (of each CPU), or 2ms@slowest/10ms (as much work \
                 as the slowest CPU does in 2ms)",
            )
        };
        let (budget, period) = text.split_once('/').ok_or_else(|| unclear("has no period"))?;
        let period: Duration =
            period.parse().map_err(|it: Diagnostic| unclear(&format!("has no period: {}", it.message)))?;
        let (budget, scaled) = match budget.trim().strip_suffix(SLOWEST) {
            Some(budget) => (budget, true),
            None => (budget, false),
        };
        let budget = match budget.trim().strip_suffix('%') {
            Some(share) => share_of(share.trim(), period).map_err(unclear)?,
            None => {
                budget.parse().map_err(|it: Diagnostic| unclear(&format!("has no budget: {}", it.message)))?
            }
        };
        let server = DeferrableServer::new(budget, period)?;
        Ok(if scaled { ServerSize::SlowestCoreUnits(server) } else { ServerSize::Share(server) })
    }
}

/// So many per cent (a decimal number) of a period, if that is a whole number of ns.
fn share_of(percent: &str, period: Duration) -> std::result::Result<Duration, &'static str> {
    let no_number = "has a share that is no number of per cent";
    // As a fraction of 100: 12.5 % is 125/1000.
    let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
    let digits = format!("{whole}{decimals}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(no_number);
    }
    let above: u64 = digits.parse().map_err(|_| no_number)?;
    let below = u32::try_from(decimals.len()).ok().and_then(|places| 10_u128.checked_pow(places));
    let below = below.and_then(|it| it.checked_mul(100)).ok_or(no_number)?;
    let share = u128::from(above) * u128::from(period.as_ns());
    if share % below != 0 {
        return Err("has a share that is no whole number of nanoseconds");
    }
    u64::try_from(share / below).map(Duration::from_ns).map_err(|_| no_number)
}

crate::text_form::serde_as_text!(ServerSize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Core;

    fn size(text: &str) -> ServerSize {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn server(budget_us: u64, period_us: u64) -> DeferrableServer {
        DeferrableServer::new(Duration::from_us(budget_us), Duration::from_us(period_us)).expect("valid")
    }

    #[test]
    fn reads_what_it_writes_and_shares() {
        for (text, expected) in [
            ("2ms/10ms", ServerSize::Share(server(2_000, 10_000))),
            ("20%/10ms", ServerSize::Share(server(2_000, 10_000))),
            ("12.5% / 4ms", ServerSize::Share(server(500, 4_000))),
            ("100%/10ms", ServerSize::Share(server(10_000, 10_000))),
            ("0ms/10ms", ServerSize::Share(server(0, 10_000))),
            ("2ms@slowest/10ms", ServerSize::SlowestCoreUnits(server(2_000, 10_000))),
            ("33.3%@slowest/10ms", ServerSize::SlowestCoreUnits(server(3_330, 10_000))),
        ] {
            assert_eq!(size(text), expected, "{text}");
            assert_eq!(size(&expected.to_string()), expected, "{text}");
        }
        assert_eq!(size("20%/10ms").to_string(), "2ms/10ms");
        assert_eq!(size("20%@slowest/10ms").to_string(), "2ms@slowest/10ms");
    }

    #[test]
    fn refuses_what_is_no_server() {
        for (text, why) in [
            ("", "has no period"),
            ("2ms", "has no period"),
            ("2ms/0ms", "has a period of 0ns"),
            ("2ms/10", "has no period"),
            ("2/10ms", "has no budget"),
            ("11ms/10ms", "longer than its period"),
            ("101%/10ms", "longer than its period"),
            ("%/10ms", "no number of per cent"),
            ("-5%/10ms", "no number of per cent"),
            ("1.2.3%/10ms", "no number of per cent"),
            ("33.3%/10ns", "no whole number of nanoseconds"),
            ("99999999999999999999%/10ms", "no number of per cent"),
            ("18446744073709551615%/18446744073709551615ns", "no whole number"),
            ("2ms@fastest/10ms", "has no budget"),
        ] {
            let error = text.parse::<ServerSize>().expect_err(text);
            assert!(error.message.contains(why), "{text}: {}", error.message);
            assert!(error.hint.is_some(), "{text}");
        }
    }

    #[test]
    fn a_share_is_of_each_core_and_units_are_those_of_the_slowest() {
        let speed = |numerator, denominator| Speed::new(numerator, denominator).expect("positive");
        let of = |speeds: &[Speed]| {
            let cores = (0..).zip(speeds).map(|(cpu, &speed)| Core { cpu, speed }).collect();
            Platform::new("amp", cores, vec![], vec![], None).expect("valid")
        };
        let platform = of(&[Speed::UNIT, speed(1, 2), speed(4, 1), speed(3, 2)]);
        assert_eq!(platform.slowest(), speed(1, 2));
        assert_eq!(size("2ms/10ms").on(&platform, Speed::UNIT), server(2_000, 10_000));
        let units = size("2ms@slowest/10ms");
        let budgets: Vec<_> =
            units.on_cores(&platform).map(|(cpu, server)| (cpu, server.budget().as_ns())).collect();
        // 2 ms / 3, rounded up
        assert_eq!(budgets, [(0, 1_000_000), (1, 2_000_000), (2, 250_000), (3, 666_667)]);
        for (core, (_, server)) in platform.cores().iter().zip(units.on_cores(&platform)) {
            assert_eq!(units.on(&platform, core.speed), server);
        }
        let huge = ServerSize::SlowestCoreUnits(
            DeferrableServer::new(Duration::from_ns(u64::MAX), Duration::from_ns(u64::MAX)).expect("valid"),
        );
        let (fast, slow) = (speed(u32::MAX, u32::MAX - 1), speed(1, u32::MAX));
        let extreme = of(&[fast, slow]);
        assert_eq!(huge.on(&extreme, slow).budget().as_ns(), u64::MAX);
        assert_eq!(huge.on(&extreme, fast).budget().as_ns(), 4_294_967_296);
    }
}
