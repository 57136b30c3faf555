//! The CPUs of amp-rm: how fast they are, and the deferrable servers on them.

use laxity_model::{DeferrableServer, Diagnostic, Duration, Result, Speed};
use serde::{Deserialize, Serialize};

/// What the fastest CPU's speed is to the policy, which compares products of speeds and numbers of tasks.
const FASTEST: u32 = 1 << 16;
const MILLION: u64 = 1_000_000;
/// A server's budget comes and goes by timers: more often than this, and they are all that the machine does.
const SERVER_PERIOD_MIN: Duration = Duration::from_us(100);

/// A CPU, and the server on it. `bpf/host/setup.h` has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    /// The kernel's number.
    pub cpu: u32,
    /// Relative to the other CPUs', above 0.
    pub speed: u32,
    /// Budget of its server in ns of that CPU.
    pub budget_ns: u64,
    /// Period of its server in ns; 0: there is none. CPUs outside all cells have none.
    pub period_ns: u64,
    /// The share of the CPU that real-time tasks may be admitted for, in millionths.
    pub share_ppm: u64,
    /// True: only this process may admit tasks there, or change those that are there.
    pub closed: bool,
}

impl Core {
    /// A CPU of this `speed`, relative to the `fastest` CPU of the machine, without a server. `share_ppm` is the
    /// share of it that real-time tasks may be admitted for, in millionths.
    pub fn new(cpu: u32, speed: Speed, fastest: Speed, share_ppm: u64) -> Core {
        Core { cpu, speed: scaled(speed, fastest), budget_ns: 0, period_ns: 0, share_ppm, closed: false }
    }

    /// The CPU with this server. `share_ppm` is the share that other limits leave to real-time tasks, in
    /// millionths.
    #[must_use]
    pub fn with_server(self, server: DeferrableServer, share_ppm: u64) -> Core {
        let (budget_ns, period_ns) = match server.is_none() {
            true => (0, 0),
            false => (server.budget().as_ns(), server.period().as_ns()),
        };
        Core { budget_ns, period_ns, share_ppm: share_beside(server, share_ppm), ..self }
    }

    /// Its server.
    pub fn server(&self) -> DeferrableServer {
        let times = (Duration::from_ns(self.budget_ns), Duration::from_ns(self.period_ns));
        DeferrableServer::new(times.0, times.1).unwrap_or(DeferrableServer::NONE)
    }
}

/// A server that the kernel's side can carry out.
///
/// # Errors
///
/// Its period is too short or too long for that.
pub fn checked_server(server: DeferrableServer) -> Result<DeferrableServer> {
    let longest = Duration::from_ns(crate::PERIOD_MAX_NS);
    if !server.is_none() && (server.period() < SERVER_PERIOD_MIN || server.period() > longest) {
        return Err(Diagnostic::usage(format!(
            "server {server}: the period is not between {SERVER_PERIOD_MIN} and {longest}"
        ))
        .hint("the paper's is 4ms; the share is what counts, and a longer period costs fewer interrupts"));
    }
    Ok(server)
}

/// The share of a CPU with this server that real-time tasks may use, in millionths: at most what the server
/// leaves.
pub fn share_beside(server: DeferrableServer, share_ppm: u64) -> u64 {
    if server.is_none() {
        return share_ppm;
    }
    let budget = u128::from(server.budget().as_ns()) * u128::from(MILLION);
    let taken = budget.div_ceil(u128::from(server.period().as_ns()));
    share_ppm.min(MILLION.saturating_sub(u64::try_from(taken).unwrap_or(MILLION)))
}

/// Relative to the fastest, rounded down, but no CPU stands still.
fn scaled(speed: Speed, fastest: Speed) -> u32 {
    let above = u128::from(FASTEST) * u128::from(speed.numerator()) * u128::from(fastest.denominator());
    let below = u128::from(speed.denominator()) * u128::from(fastest.numerator());
    u32::try_from(above / below).unwrap_or(u32::MAX).max(1)
}

/// A server and the instant at which a scheduler was attached with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    /// The kernel's number of its CPU.
    pub cpu: u32,
    /// Its budget, in ns.
    pub budget_ns: u64,
    /// Its period, in ns.
    pub period_ns: u64,
    /// The instant from which its periods count, in ns of CLOCK_MONOTONIC.
    pub since_ns: u64,
}

impl RunningServer {
    /// The server's size.
    ///
    /// # Errors
    ///
    /// The CPU has no server: the period is 0.
    pub fn server(&self) -> Result<DeferrableServer> {
        DeferrableServer::new(Duration::from_ns(self.budget_ns), Duration::from_ns(self.period_ns))
    }
}

/// For how long background tasks have had a CPU, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BackgroundTimes {
    /// Before real-time tasks, as the server had a budget.
    pub server: Duration,
    /// Before real-time tasks, as those had had their share.
    pub reserve: Duration,
    /// While no real-time task wanted the CPU.
    pub background: Duration,
    /// The last instant seen at which no real-time job of the CPU was pending, in ns of CLOCK_MONOTONIC.
    #[serde(skip)]
    pub quiet_ns: u64,
}

impl BackgroundTimes {
    /// The times since `before`.
    #[must_use]
    pub fn since(&self, before: &BackgroundTimes) -> BackgroundTimes {
        let less =
            |now: Duration, then: Duration| Duration::from_ns(now.as_ns().saturating_sub(then.as_ns()));
        BackgroundTimes {
            server: less(self.server, before.server),
            reserve: less(self.reserve, before.reserve),
            background: less(self.background, before.background),
            quiet_ns: self.quiet_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{Platform, ServerSize};

    fn speed(above: u32, below: u32) -> Speed {
        Speed::new(above, below).expect("positive")
    }

    #[test]
    fn real_time_tasks_may_have_what_the_server_leaves() {
        let platform = Platform::symmetric(1).expect("one");
        let server = |text: &str| text.parse::<ServerSize>().expect("a size").on(&platform, Speed::UNIT);
        assert_eq!(share_beside(DeferrableServer::NONE, 950_000), 950_000);
        assert_eq!(share_beside(server("25%/4ms"), 950_000), 750_000);
        assert_eq!(share_beside(server("1ms/3ms"), 950_000), 666_666);
        assert_eq!(share_beside(server("1%/1ms"), 950_000), 950_000);
        assert_eq!(share_beside(server("100%/1ms"), 950_000), 0);
        let core = Core::new(3, Speed::UNIT, Speed::UNIT, 950_000);
        assert_eq!((core.server(), core.share_ppm), (DeferrableServer::NONE, 950_000));
        let core = core.with_server(server("1ms/3ms"), 950_000);
        assert_eq!((core.server(), core.share_ppm), (server("1ms/3ms"), 666_666));
        assert_eq!(core.with_server(DeferrableServer::NONE, 950_000).server(), DeferrableServer::NONE);
    }

    #[test]
    fn speeds_are_relative_to_the_fastest() {
        assert_eq!(scaled(speed(1, 2), speed(1, 2)), 65536);
        assert_eq!(scaled(speed(1, 2), speed(2, 1)), 16384);
        assert_eq!(scaled(speed(1, u32::MAX), speed(u32::MAX, 1)), 1);
    }
}
