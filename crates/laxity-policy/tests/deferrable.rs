//! The deferrable server (`policy/deferrable.h`) and the balance of background work (`policy/balance.h`): by hand,
//! second by second, and against all moves.

mod random;

use laxity_policy::{Load, NEVER, Server};
use random::next_random;

#[test]
fn periods_by_hand() {
    // 3 of every 10, from 100 on.
    let mut server = Server::new(100, 3, 10);
    assert!(server.goes_first(100));
    assert_eq!((server.left(100), server.next(100)), (3, 100));
    server.charge(2, 104);
    assert_eq!(server.left(104), 1);
    server.charge(1, 105);
    assert!(!server.goes_first(105));
    assert_eq!((server.left(105), server.next(105)), (0, 110));
    // Late in a period: two budgets without a break, the double hit.
    assert_eq!(server.left(116), 3);
    assert_eq!(server.left(117), 3 + 3);
    assert_eq!(server.left(119), 1 + 3);
    // What background work had before a period is not charged to it.
    server.charge(5, 122);
    assert_eq!(server.left(122), 1);
}

#[test]
fn no_server_never_and_a_full_one_always_goes_first() {
    for (budget, period) in [(0, 0), (5, 0), (0, 10)] {
        let mut server = Server::new(0, budget, period);
        server.charge(1000, 1000);
        assert_eq!((server.goes_first(1000), server.left(1000), server.next(1000)), (false, 0, NEVER));
    }
    for budget in [10, 11] {
        let mut server = Server::new(0, budget, 10);
        server.charge(1000, 1000);
        assert_eq!((server.goes_first(1000), server.left(1000), server.next(1000)), (true, NEVER, 1000));
    }
}

#[test]
fn a_new_size_begins_with_a_period() {
    let mut server = Server::new(0, 4, 10);
    server.charge(4, 4);
    assert_eq!(server.resize(6, 8, 5), 10);
    assert_eq!((server.goes_first(9), server.next(9)), (false, 10));
    assert_eq!((server.left(10), server.next(10)), (6, 10));
    server.charge(6, 16);
    assert_eq!(server.next(16), 18);
    // Smaller, and what goes on until then goes on by the new one.
    assert_eq!(server.resize(1, 8, 24), 26);
    assert_eq!(server.left(25), 1);
    assert_eq!(server.left(26), 1);
    // None any more; and one at once where there was none.
    assert_eq!(server.resize(0, 0, 26), 34);
    server.charge(1, 34);
    assert_eq!((server.goes_first(34), server.next(34)), (false, NEVER));
    assert_eq!(server.resize(2, 5, 37), 37);
    assert_eq!((server.left(37), server.left(41)), (2, 1 + 2));
}

/// How much background work can at most have had the CPU, going first, in `length` ns: Strosnider, Lehoczky and
/// Sha (1995).
fn most(length: u64, budget: u64, period: u64) -> u64 {
    if length <= budget { length } else { budget + (length - budget).div_ceil(period) * budget }
}

/// The same while the server gets other sizes at any instants: each from the end of the period in which it was
/// asked for, the last of a period counts. Where only budgets change, background work has in no window more than
/// with the largest of them all the time.
#[test]
fn every_period_has_the_budget_of_its_size() {
    let (mut resized, mut attained) = (0, 0);
    for seed in laxity_seeds::seeds!(0..4000_u64) {
        let state = &mut (seed << 1 | 1);
        let mut period = 2 + next_random(state) % 14;
        let mut budget = next_random(state) % (period + 1);
        let same_period = seed.is_multiple_of(2);
        let mut largest = budget;
        let start = next_random(state) % 20;
        let mut server = Server::new(start, budget, period);
        let (mut begun, mut used) = (start, 0);
        let mut asked: Option<(u64, u64)> = None;
        let mut wants = false;
        let (mut since, mut look_at) = (None, start);
        let mut had = vec![];
        for now in start..start + 150 {
            if now == begun + period {
                (begun, used) = (now, 0);
                (budget, period) = asked.take().unwrap_or((budget, period));
            }
            let changes = next_random(state).is_multiple_of(5);
            wants ^= changes;
            let resizes = next_random(state).is_multiple_of(12);
            if resizes {
                // A host looks anew when a size is asked for, as bpf/host/cores.h does.
                let length = if same_period { period } else { 2 + next_random(state) % 14 };
                let size = (next_random(state) % (length + 1), length);
                assert_eq!(server.resize(size.0, size.1, now), begun + period, "seed {seed}, at {now}");
                asked = Some(size);
                largest = largest.max(size.0);
                resized += 1;
            }
            if changes || resizes || now == look_at {
                if let Some(begin) = since.take() {
                    server.charge(now - begin, now);
                }
                let first = server.goes_first(now);
                assert_eq!(first, used < budget, "seed {seed}, at {now}: {used} of {budget}");
                let left = if first { server.left(now) } else { 0 };
                look_at = if first { now.saturating_add(left) } else { server.next(now) };
                assert!(look_at > now, "seed {seed}, at {now}");
                since = (wants && first).then_some(now);
            }
            assert_eq!(since.is_some(), wants && used < budget, "seed {seed}: {used} of {budget} at {now}");
            used += u64::from(since.is_some());
            had.push(u64::from(since.is_some()));
        }
        for length in (1..had.len()).filter(|_| same_period && largest < period) {
            let most = most(length as u64, largest, period);
            for window in had.windows(length) {
                let sum: u64 = window.iter().sum();
                assert!(sum <= most, "seed {seed}: {sum} in {length}");
                attained += u64::from(length as u64 > largest && sum == most);
            }
        }
    }
    laxity_seeds::assert_together!(
        resized > 10_000 && attained > 100,
        "{resized} sizes, {attained} full windows"
    );
}

#[test]
fn another_period_waits_for_a_quiet_core() {
    let mut server = Server::new(0, 2, 5);
    server.charge(2, 2);
    // The same period: with the next one, quiet or not.
    assert_eq!(server.wants(4, 5, true, 3), Some(5));
    assert_eq!((server.size(4), server.goes_first(4)), ((2, 5), false));
    assert_eq!((server.size(5), server.left(5)), ((4, 5), 4));
    // Another one is not taken by time, however much of that passes.
    assert_eq!(server.wants(3, 8, false, 6), None);
    assert_eq!(server.size(60), (4, 5));
    assert!(server.quiet(61) && !server.quiet(62));
    assert_eq!((server.size(61), server.left(61)), ((3, 8), 3));
    server.charge(3, 64);
    assert_eq!((server.left(64), server.next(64)), (0, 69));
    // None at all is another period, too; where the core is quiet it comes at once.
    assert_eq!(server.wants(0, 0, true, 65), Some(65));
    assert_eq!((server.size(65), server.next(65)), ((0, 0), NEVER));
}

#[test]
fn the_last_size_that_is_wanted_counts() {
    // One that comes with a period takes the place of one that waits,
    let mut server = Server::new(0, 2, 5);
    assert_eq!(server.wants(3, 8, false, 1), None);
    assert_eq!(server.wants(1, 5, false, 2), Some(5));
    assert!(!server.quiet(3));
    assert_eq!((server.size(3), server.size(5)), ((2, 5), (1, 5)));
    // and one that waits, as soon as it comes, of one that is to come with a period;
    assert_eq!(server.wants(4, 5, false, 6), Some(10));
    assert_eq!(server.wants(6, 9, false, 7), None);
    assert!(server.quiet(8));
    assert_eq!((server.size(8), server.size(10)), ((6, 9), (6, 9)));
    // but it still waits when that one has come.
    assert_eq!(server.wants(5, 9, false, 9), Some(17));
    assert_eq!(server.wants(1, 4, false, 10), None);
    assert_eq!(server.size(17), (5, 9));
    assert!(server.quiet(18));
    assert_eq!(server.size(18), (1, 4));
}

/// A server by definition, for hosts that look at each ns.
#[derive(Debug, Default)]
struct Account {
    budget: u64,
    period: u64,
    begun: u64,
    used: u64,
    /// A budget that comes with a period.
    comes: Option<(u64, u64)>,
    /// A size that waits for a quiet CPU.
    waits: Option<(u64, u64)>,
}

impl Account {
    fn advance(&mut self, now: u64) {
        if self.period > 0 && now == self.begun + self.period {
            (self.begun, self.used) = (now, 0);
        }
        if let Some((_, budget)) = self.comes.filter(|&(at, _)| at == now) {
            (self.budget, self.comes) = (budget, None);
        }
    }

    fn wants(&mut self, (budget, period): (u64, u64), quiet: bool, now: u64) -> Option<u64> {
        if period != self.period {
            self.waits = Some((budget, period));
            return (quiet && self.quiet(now)).then_some(now);
        }
        self.waits = None;
        self.comes = (period > 0).then_some((self.begun + period, budget));
        Some(if period > 0 { self.begun + period } else { now })
    }

    fn quiet(&mut self, now: u64) -> bool {
        let Some((budget, period)) = self.waits.take() else { return false };
        *self = Account { budget, period, begun: now, ..Account::default() };
        true
    }
}

/// Real-time jobs come and go, and background work that always wants the CPU has it when it goes first or none of
/// them is pending; sizes of the same, of another and of no period are wanted at any instant. Against an account of
/// every ns.
#[test]
fn a_size_comes_when_it_should() {
    let mut seen = [0_u32; 5];
    for seed in laxity_seeds::seeds!(0..4000_u64) {
        let state = &mut (seed << 1 | 1);
        let size = |state: &mut u64, of: u64| {
            let period = match next_random(state) % 5 {
                0..=2 => of,
                3 => 0,
                _ => 2 + next_random(state) % 14,
            };
            (next_random(state) % (period + 1), period)
        };
        let (budget, period) = size(state, 9);
        let mut account = Account { budget, period, ..Account::default() };
        let mut server = Server::new(0, budget, period);
        let mut pending = false;
        for now in 0..150 {
            account.advance(now);
            pending ^= next_random(state).is_multiple_of(6);
            if next_random(state).is_multiple_of(12) {
                let wanted = size(state, account.period);
                let before = (account.comes.is_some(), account.waits.is_some());
                let from = account.wants(wanted, !pending, now);
                assert_eq!(
                    server.wants(wanted.0, wanted.1, !pending, now),
                    from,
                    "seed {seed}: {wanted:?} at {now}"
                );
                seen[0] += u32::from(from == Some(now) && wanted.1 > 0);
                seen[1] += u32::from(before.0 && account.comes.is_none());
                seen[2] += u32::from(before.1 && account.waits.is_none());
            }
            if !pending {
                let (comes, resized) = (account.comes, account.quiet(now));
                assert_eq!(server.quiet(now), resized, "seed {seed}, at {now}");
                seen[3] += u32::from(resized);
                seen[4] += u32::from(resized && comes.is_some());
            }
            assert_eq!(server.size(now), (account.budget, account.period), "seed {seed}, at {now}");
            let first = account.used < account.budget;
            assert_eq!(server.goes_first(now), first, "seed {seed}, at {now}: {account:?}");
            if first || !pending {
                account.used += 1;
                server.charge(1, now + 1);
            }
        }
    }
    laxity_seeds::assert_together!(seen.iter().all(|&times| times > 200), "{seen:?}");
}

/// Real-time work always waits. Background work comes and goes, and has the CPU as long as the server lets it go
/// first; a host that looks only when `left` and `next` say so. Against an account of every ns; and in no window of
/// any length does it have more than the double hit allows.
#[test]
fn every_period_has_its_budget() {
    let mut attained = 0;
    for seed in laxity_seeds::seeds!(0..3000_u64) {
        let state = &mut (seed << 1 | 1);
        let period = 2 + next_random(state) % 14;
        let budget = 1 + next_random(state) % (period - 1);
        let start = next_random(state) % 20;
        let mut server = Server::new(start, budget, period);
        let mut used = 0;
        let mut wants = false;
        let (mut since, mut look_at) = (None, start);
        let mut had = vec![];
        for now in start..start + 12 * period {
            if (now - start).is_multiple_of(period) {
                used = 0;
            }
            let changes = next_random(state).is_multiple_of(5);
            wants ^= changes;
            if changes || now == look_at {
                if let Some(begin) = since.take() {
                    server.charge(now - begin, now);
                }
                let first = server.goes_first(now);
                assert_eq!(first, used < budget, "seed {seed}, at {now}");
                look_at = if first { now + server.left(now) } else { server.next(now) };
                assert!(look_at > now, "seed {seed}, at {now}");
                since = (wants && first).then_some(now);
            }
            assert_eq!(since.is_some(), wants && used < budget, "seed {seed}: {used} of {budget} at {now}");
            used += u64::from(since.is_some());
            had.push(u64::from(since.is_some()));
        }
        for length in 1..had.len() {
            let mut sum: u64 = had[..length].iter().sum();
            for end in length..had.len() {
                assert!(
                    sum <= most(length as u64, budget, period),
                    "seed {seed}: {sum} in {length} to {end}"
                );
                attained += u64::from(length as u64 > budget && sum == most(length as u64, budget, period));
                sum = sum + had[end] - had[end - length];
            }
        }
    }
    laxity_seeds::assert_together!(attained > 1000, "the double hit is met: {attained} times");
}

/// The best place for one more, and the CPU that gives it a task: the busiest of those that do.
fn next_move(loads: &[Load]) -> Option<(usize, usize)> {
    let first_best =
        |best: usize, core: usize| if loads[core].is_better_than(loads[best]) { core } else { best };
    let to = (0..loads.len()).reduce(first_best)?;
    let busier = |best: usize, core: usize| if loads[core].is_busier_than(loads[best]) { core } else { best };
    let from =
        (0..loads.len()).filter(|&core| core != to && loads[core].moves_to(loads[to])).reduce(busier)?;
    Some((from, to))
}

/// Moving as long as anything moves comes to an end, where no CPU idles beside one with several tasks or a slower one with a
/// task, and no load could be made more even.
#[test]
fn queues_are_as_long_as_cores_are_fast() {
    for seed in laxity_seeds::seeds!(0..3000_u64) {
        let state = &mut (seed << 1 | 1);
        let cores = 1 + next_random(state) % 8;
        let mut loads: Vec<Load> = (0..cores)
            .map(|_| Load {
                speed: 1 + u32::try_from(next_random(state) % 8).expect("small"),
                tasks: u32::try_from(next_random(state) % 12).expect("small"),
            })
            .collect();
        let mut moves = 0;
        while let Some((from, to)) = next_move(&loads) {
            loads[from].tasks -= 1;
            loads[to].tasks += 1;
            moves += 1;
            assert!(moves < 1000, "seed {seed}: moves do not end");
        }
        // In real numbers, as the other way to say it.
        let relative = |load: &Load, more: u32| f64::from(load.tasks + more) / f64::from(load.speed);
        for (from, to) in loads.iter().flat_map(|from| loads.iter().map(move |to| (from, to))) {
            if to.tasks == 0 {
                assert!(
                    from.tasks == 0 || (from.tasks == 1 && from.speed >= to.speed),
                    "seed {seed}: {loads:?}"
                );
            } else if from.tasks > 1 {
                assert!(relative(to, 1) >= relative(from, 0) - 1e-9, "seed {seed}: {loads:?}");
            }
        }
    }
}

#[test]
fn a_task_goes_to_an_idle_core_first_and_then_by_speed() {
    let load = |speed, tasks| Load { speed, tasks };
    assert!(load(1, 0).is_better_than(load(8, 1)) && !load(8, 1).is_better_than(load(1, 0)));
    assert!(load(2, 0).is_better_than(load(1, 0)));
    // (3 + 1) / 4 is less than (1 + 1) / 1, and (1 + 1) / 2 as much as (3 + 1) / 4, where the faster is preferred.
    assert!(load(4, 3).is_better_than(load(1, 1)) && load(4, 3).is_better_than(load(2, 1)));
    assert!(!load(4, 3).is_better_than(load(4, 3)));
}
