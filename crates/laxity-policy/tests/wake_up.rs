//! What it means that a task wakes up (`policy/wake_up.h`): by hand-worked cases, and against exact arithmetic over random
//! times up to the largest that a host may give.

mod random;

use laxity_model::BudgetMode;
use laxity_model::Policy;
use laxity_policy::{Config, Instance, NEVER, NONE, Table, TaskParameters};
use random::next_random;

/// A task alone on its CPU.
struct Lone {
    instance: Instance,
}

impl Lone {
    fn new(mode: BudgetMode, budget_ns: u64, deadline_rel_ns: u64, period_ns: u64) -> Lone {
        let config = Config {
            cpus: 1,
            fixed_priorities: false,
            budget_mode: mode,
            batching: false,
            dedicated_cpu: false,
            retries_max: 1,
        };
        let task = TaskParameters { deadline_rel_ns, period_ns, budget_ns, priority: 0, batching: true };
        Lone { instance: Instance::new(Table::of(Policy::EdfBh), config, &[task], &[0]) }
    }

    /// A job arrives at `release`, uses `used` of its budget, and is suspended at `now`.
    fn blocks(&mut self, release: u64, used: u64, now: u64) {
        self.instance.arrive(0, release, 0, release);
        assert_eq!(self.instance.reschedule(0, release), 0);
        self.instance.consume(0, used);
        self.instance.suspend(0, now);
        assert_eq!(self.instance.reschedule(0, now), NONE);
    }

    /// The deadline and the budget after waking up, and when the job may run.
    fn wakes(&mut self, now: u64) -> (u64, u64, u64) {
        let ready = match self.instance.wake_up(0, now) {
            None => {
                self.instance.resume(0, 0, now);
                now
            }
            Some(release) => {
                self.instance.arrive(0, release, 0, now);
                release
            }
        };
        assert_eq!(self.instance.next_due(), if ready > now { ready } else { NEVER });
        (self.instance.deadline_abs(0), self.instance.budget_left(0), ready)
    }
}

/// The case's name; budget mode; Q, D, T; used before it blocks; when it wakes up; then its deadline, budget, and readiness. The
/// job arrived at 100.
type Case = (&'static str, BudgetMode, [u64; 3], u64, u64, (u64, u64, u64));

const CASES: [Case; 16] = {
    use laxity_model::BudgetMode::{Off, Postpone, Throttle};
    [
        ("1: at once", Throttle, [4, 10, 10], 1, 101, (110, 3, 101)),
        // 2 in the 5 that are left is 4 in 10, exactly.
        ("1: just in time", Throttle, [4, 10, 10], 2, 105, (110, 2, 105)),
        ("3: a moment too late", Throttle, [4, 10, 10], 2, 106, (116, 4, 106)),
        ("3: the same, not enforced", Off, [4, 10, 10], 2, 106, (116, 4, 106)),
        ("3: the same, postponing", Postpone, [4, 10, 10], 2, 106, (116, 4, 106)),
        ("1: a job without budget waits for it", Throttle, [4, 10, 10], 4, 109, (110, 0, 109)),
        ("4: at the deadline", Throttle, [4, 10, 10], 2, 110, (120, 4, 110)),
        ("4: after it", Throttle, [4, 10, 10], 2, 117, (127, 4, 117)),
        ("1: constrained, in time", Throttle, [4, 8, 20], 2, 104, (108, 2, 104)),
        // 4 in 8 is 1.5 in 3.
        ("2: constrained, too late", Throttle, [4, 8, 20], 2, 105, (108, 1, 105)),
        ("2: constrained, too late, not enforced", Off, [4, 8, 20], 2, 105, (108, 1, 105)),
        ("4: constrained, waits", Throttle, [4, 8, 20], 2, 108, (128, 4, 120)),
        ("4: constrained, waits no longer", Throttle, [4, 8, 20], 2, 120, (128, 4, 120)),
        ("4: constrained, postponing", Postpone, [4, 8, 20], 2, 108, (116, 4, 108)),
        ("1: a deadline behind the period, in time", Throttle, [4, 20, 10], 2, 115, (120, 2, 115)),
        ("3: a deadline behind the period, too late", Throttle, [4, 20, 10], 2, 116, (136, 4, 116)),
    ]
};

#[test]
fn cases_by_hand() {
    for (name, mode, [budget, deadline_rel, period], used, now, expected) in CASES {
        let mut task = Lone::new(mode, budget, deadline_rel, period);
        task.blocks(100, used, 100 + used.min(1));
        assert_eq!(task.wakes(now), expected, "{name}");
    }
}

#[test]
fn a_first_job_arrives_when_its_task_wakes_up() {
    for mode in [BudgetMode::Off, BudgetMode::Throttle, BudgetMode::Postpone] {
        for now in [0, 1, 1000] {
            assert_eq!(Lone::new(mode, 4, 8, 20).wakes(now), (now + 8, 4, now));
            // Also if one that had its number has left a deadline and a server period behind.
            let mut second = Lone::new(mode, 4, 8, 20);
            second.blocks(now, 1, now + 1);
            let parameters = TaskParameters {
                deadline_rel_ns: 5,
                period_ns: 7,
                budget_ns: 3,
                priority: 0,
                batching: true,
            };
            second.instance.enter(0, &parameters);
            assert_eq!(second.wakes(now + 2), (now + 7, 3, now + 2));
        }
    }
}

/// From 1 to 2^bits - 1, all lengths alike.
fn draw(state: &mut u64, bits_max: u64) -> u64 {
    let bits = 1 + next_random(state) % bits_max;
    (next_random(state) >> (64 - bits)).max(1)
}

/// Where the rule's two sides are nearly equal, and anywhere else.
fn draw_wake(state: &mut u64, budget: u64, left: u64, span: u64, deadline_abs: u64) -> u64 {
    let exact = u128::from(left) * u128::from(span) / u128::from(budget);
    let exact = u64::try_from(exact).expect("left is at most the budget");
    let laxity = match next_random(state) % 4 {
        0 => next_random(state) % (span + 1),
        _ => (exact + next_random(state) % 3).saturating_sub(1),
    };
    deadline_abs.saturating_sub(laxity)
}

#[test]
fn the_rule_is_exact() {
    // The four cases of the rule.
    let mut seen = [0; 5];
    for seed in laxity_seeds::seeds!(0..200_000_u64) {
        let state = &mut (seed << 1 | 1);
        let period = draw(state, 61);
        let deadline_rel =
            if next_random(state).is_multiple_of(2) { period } else { 1 + next_random(state) % (2 * period) };
        let span = period.min(deadline_rel);
        let budget = 1 + next_random(state) % span;
        let used = next_random(state) % (budget + 1);
        let left = budget - used;
        let release = draw(state, 61);
        let deadline_abs = release + deadline_rel;
        let now = draw_wake(state, budget, left, span, deadline_abs).max(release);
        let mut task = Lone::new(BudgetMode::Throttle, budget, deadline_rel, period);
        task.blocks(release, used, release);
        let laxity = u128::from(deadline_abs.saturating_sub(now));
        let too_much = u128::from(left) * u128::from(span) > laxity * u128::from(budget);
        let constrained = deadline_rel < period;
        let fits = u64::try_from(laxity * u128::from(budget) / u128::from(span)).unwrap_or(u64::MAX);
        let (case, expected) = match (laxity > 0, too_much, constrained) {
            (true, false, _) => (1, (deadline_abs, left, now)),
            (true, true, true) => (2, (deadline_abs, fits, now)),
            (true, true, false) => (3, (now + deadline_rel, budget, now)),
            (false, ..) => {
                let ready = if constrained { now.max(release + period) } else { now };
                (4, (ready + deadline_rel, budget, ready))
            }
        };
        seen[case] += 1;
        assert_eq!(task.wakes(now), expected, "seed {seed}, case {case}");
    }
    laxity_seeds::assert_together!(seen[1..].iter().all(|&times| times > 5000), "{seen:?}");
}
