//! Whether EDF grants reservations: how much each asks for in a window of time.
//!
//! A server is a sporadic task (Q, d, P) where the budgets of a job are over by the next arrival. Where they are not, a job that comes
//! earlier finds a part of a budget, or begins a new one although the last was not P ago: then the server asks for more than floor(L/P) Q
//! in some windows of length L, though for no more than L Q/P, for a wake-up at t keeps the deadline e and the budget q only if
//! q/(e - t) <= Q/P (Abeni, Buttazzo 1998).

use crate::settings::Reservation;
use crate::{Gfb, Qpa, SporadicTask, TIME_MAX, Test as _, Work};
use laxity_model::{LoadSum, gcd};

/// Parts of a processor.
const WHOLE: u64 = 1 << 60;

/// A reservation, as EDF sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// A sporadic task.
    Sporadic(SporadicTask),
    /// d = P: at most L Q/P within any time L.
    Fluid(Reservation),
}

impl Granted {
    /// Of what serves jobs that come `interarrival` ns or more apart and ask for `demand` ns at the most.
    pub fn of(one: &Reservation, demand: u64, interarrival: u64) -> Self {
        let [budgets, period] = [demand.div_ceil(one.runtime_ns.max(1)), one.period_ns].map(u128::from);
        if budgets * period <= u128::from(interarrival) {
            return Granted::Sporadic(one.as_task());
        }
        // Where d < P, a wake-up keeps a budget of up to (e - t) Q/d.
        Granted::Fluid(Reservation { period_ns: one.deadline_rel_ns, ..*one })
    }
}

/// Whether EDF gives all of them their budgets by their deadlines, on so many processors. Sufficient.
///
/// On one processor the sporadic tasks have what the fluid ones leave: a demand of at most L (1 - sum of Q/P) within L. On more, by
/// densities: all pieces of a server fit into its bandwidth on a processor of its own, for which the bound of Goossens, Funk and Baruah
/// holds (Baruah, Goossens, Lipari: Implementing constant-bandwidth servers upon multiprocessor platforms, RTAS 2002).
pub fn are_granted(all: &[Granted], processors: u32, work: &mut Work) -> bool {
    let tasks: Vec<SporadicTask> = all
        .iter()
        .map(|one| match one {
            Granted::Sporadic(task) => *task,
            Granted::Fluid(one) => one.as_task(),
        })
        .collect();
    if processors > 1 {
        return Gfb.judge(&tasks, processors, work).is_schedulable();
    }
    let mut load = LoadSum::new();
    tasks.iter().for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
    if load.exceeds(1) {
        return false;
    }
    let (mut sporadic, mut fluid) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Granted::Sporadic(task) => sporadic.push(*task),
            Granted::Fluid(one) => fluid.push(*one),
        }
    }
    if sporadic.iter().all(|task| task.deadline_rel_ns >= task.period_ns) {
        return true;
    }
    let slower = on_what_is_left(&sporadic, &fluid).or_else(|| nearly_on_what_is_left(&sporadic, &fluid));
    slower.is_some_and(|tasks| Qpa.judge(&tasks, 1, work).is_schedulable())
}

/// The tasks as they are on a processor of speed a/n = 1 - sum of Q/P, in units of time that are a times as short: C n, D a and T a.
/// Nothing if such times are too long.
fn on_what_is_left(tasks: &[SporadicTask], servers: &[Reservation]) -> Option<Vec<SporadicTask>> {
    let common = |n: u64, one: &Reservation| n.checked_mul(one.period_ns / gcd(n, one.period_ns).max(1));
    let n = servers.iter().try_fold(1, common)?;
    let taken = |one: &Reservation| one.runtime_ns * (n / one.period_ns);
    let a = n.checked_sub(servers.iter().map(taken).sum())?;
    let (n, a) = (n / gcd(n, a).max(1), a / gcd(n, a).max(1));
    let times = |time: u64, factor: u64| time.checked_mul(factor).filter(|&time| time <= TIME_MAX);
    let slower = |task: &SporadicTask| {
        let (wcet, deadline) = (times(task.wcet_ns, n)?, times(task.deadline_rel_ns, a)?);
        Some(SporadicTask {
            wcet_ns: wcet,
            deadline_rel_ns: deadline,
            period_ns: times(task.period_ns, a)?,
            jitter_ns: times(task.jitter_ns, a)?,
        })
    };
    tasks.iter().map(slower).collect()
}

/// The same in ns: the tasks take as much longer, rounded up.
fn nearly_on_what_is_left(tasks: &[SporadicTask], servers: &[Reservation]) -> Option<Vec<SporadicTask>> {
    let taken =
        |one: &Reservation| (u128::from(one.runtime_ns) * u128::from(WHOLE)).div_ceil(one.period_ns.into());
    let taken: u128 = servers.iter().map(taken).sum();
    let left = u128::from(WHOLE).checked_sub(taken).filter(|&left| left > 0)?;
    let slower = |task: &SporadicTask| {
        let wcet = (u128::from(task.wcet_ns) * u128::from(WHOLE)).div_ceil(left);
        let wcet = u64::try_from(wcet).ok().filter(|&wcet| wcet <= TIME_MAX)?;
        Some(SporadicTask { wcet_ns: wcet, ..*task })
    };
    tasks.iter().map(slower).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn fluid_where_budgets_of_jobs_overlap() {
        let one =
            |runtime, period| Reservation { runtime_ns: runtime, deadline_rel_ns: period, period_ns: period };
        let is_fluid = |one: &Reservation, demand, interarrival| {
            matches!(Granted::of(one, demand, interarrival), Granted::Fluid(_))
        };
        assert!(!is_fluid(&one(5, 10), 5, 10), "its own budget");
        assert!(is_fluid(&one(5, 10), 6, 10), "a second budget");
        assert!(!is_fluid(&one(5, 10), 10, 20), "two, and both are over");
        assert!(is_fluid(&one(5, 10), 10, 19));
        assert!(is_fluid(&one(15, 36), 10, 24), "jobs share a period");
    }

    #[test]
    fn a_part_of_a_budget_late_in_its_period_delays_a_short_deadline() {
        // Q = 15, P = 36 for jobs of 10 every 24: the second finds 5 with 12 to go, and (19, 28, 35) is late by that.
        let short = Granted::Sporadic(SporadicTask::constrained(19, 28, 35));
        let shared = Reservation { runtime_ns: 15, deadline_rel_ns: 36, period_ns: 36 };
        let granted = |all: &[Granted]| are_granted(all, 1, &mut Work::default());
        assert!(granted(&[short, Granted::Sporadic(shared.as_task())]), "if it were a sporadic task");
        assert!(!granted(&[short, Granted::of(&shared, 10, 24)]));
        // 28 (1 - 9/36) >= 19: just so much is left.
        let less = Reservation { runtime_ns: 9, ..shared };
        assert!(granted(&[short, Granted::of(&less, 6, 24)]));
        let more = Reservation { runtime_ns: 12, ..shared };
        assert!(!granted(&[short, Granted::of(&more, 8, 24)]), "28 (1 - 12/36) < 19");
    }

    #[test]
    fn long_times_are_rounded_to_the_safe_side() {
        let tasks = [SporadicTask::constrained(3 * MS + 1, 7 * MS, 9 * MS)];
        let servers = [5 * MS + 3, 7 * MS + 11, 11 * MS + 7].map(|period| Reservation {
            runtime_ns: period / 8,
            deadline_rel_ns: period,
            period_ns: period,
        });
        assert_eq!(on_what_is_left(&tasks, &servers), None, "the periods have no short common multiple");
        let slower = nearly_on_what_is_left(&tasks, &servers).expect("there is room")[0].wcet_ns;
        // C / (1 - 3/8), less what 1 ns of budgets is, rounded up.
        let least = 8 * (3 * MS + 1) / 5;
        assert!((least - 10..=least + 1).contains(&slower), "{slower}, {least}");
    }
}
