//! What hosts compute beside a policy, natively and as BPF.

use laxity_conformance::{Programs, available};
use laxity_policy::{
    Admission, Claim, KernelThreads, Load, NEVER, Refused, Reserve, Server, Spot, Standing, StandingEvent,
    TaskParameters, Then, VirtualTime, slice_in_a_crowd, waits_too_long,
};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::collections::BTreeSet;

fn with_programs(test: impl Fn(&Programs)) {
    match available() {
        Err(reason) => eprintln!("SKIPPED: {reason}"),
        Ok(()) => test(&Programs::load_arithmetic().expect("the kernel has taken the probe")),
    }
}

/// All lengths alike.
fn draw(random: &mut Pcg64, bits_max: u32) -> u64 {
    random.random::<u64>() >> (64 - random.random_range(1..=bits_max))
}

#[test]
fn admission_is_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 3];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 1);
            let period_ns = draw(&mut random, 43);
            let deadline_rel_ns = if random.random_bool(0.9) { period_ns } else { draw(&mut random, 43) };
            let budget_ns =
                draw(&mut random, 43).min(if random.random_bool(0.9) { deadline_rel_ns } else { !0 });
            let limit = random.random_range(0..=1 << 20);
            let cpus = random.random_range(1..5);
            let mut native = Admission::new(limit, cpus);
            let task = TaskParameters { deadline_rel_ns, period_ns, budget_ns, priority: 0, batching: true };
            let admitted = native.admit(0, &task);
            let expected = match admitted {
                Ok(bandwidth) => [0, bandwidth, native.total(), 0],
                Err(Refused::Parameters) => [22, 0, 0, 0],
                Err(Refused::Bandwidth) => [16, 0, 0, 0],
            };
            seen[usize::from(expected[0] > 0) + usize::from(expected[0] == 16)] += 1;
            let numbers = [limit, 0, cpus.into(), budget_ns, deadline_rel_ns, period_ns];
            assert_eq!(programs.compute("admission", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 100), "{seen:?}");
    });
}

#[test]
fn reserves_are_the_same() {
    with_programs(|programs| {
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 2);
            let bits = random.random_range(2..40);
            let [start, period, used] = [bits; 3].map(|bits| draw(&mut random, bits));
            let runtime = random.random_range(0..=period + 1);
            let charged_at = start + draw(&mut random, bits);
            let now = charged_at + draw(&mut random, bits);
            let mut native = Reserve::new(start, runtime, period);
            native.charge(used, charged_at);
            let expected = [native.admits(now).into(), native.left(now), native.next(now), 0];
            let numbers = [start, period, runtime, used, charged_at, now];
            assert_eq!(programs.compute("reserve", numbers), Ok(expected), "{numbers:?}");
        }
    });
}

#[test]
fn servers_are_the_same() {
    with_programs(|programs| {
        let mut first = 0;
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 3);
            let bits = random.random_range(4..40);
            let [period, charged_at] = [bits; 2].map(|bits| draw(&mut random, bits));
            let next_period = if random.random_bool(0.5) { 0 } else { draw(&mut random, bits) };
            let [budget, next_budget] =
                [period, next_period].map(|period| random.random_range(0..=period + 1));
            let now = charged_at + draw(&mut random, bits);
            let mut native = Server::new(0, budget, period);
            if next_period > 0 {
                native.resize(next_budget, next_period, charged_at / 4);
            }
            native.charge(charged_at / 2, charged_at);
            let expected = [native.goes_first(now).into(), native.left(now), native.next(now), 0];
            first += expected[0];
            let numbers = [budget, period, next_budget, next_period, charged_at, now];
            assert_eq!(programs.compute("server", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!((1000..4700).contains(&first), "{first}");
    });
}

#[test]
fn claims_are_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 3];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 8);
            let bits = random.random_range(4..40);
            let [period, window, charged_at] = [bits; 3].map(|bits| draw(&mut random, bits));
            let [budget, runtime] = [period, window].map(|all| random.random_range(0..=all + 1));
            let now = charged_at + draw(&mut random, bits);
            let mut server = Server::new(0, budget, period);
            let mut reserve = Reserve::new(0, runtime, window);
            server.charge(charged_at / 2, charged_at);
            reserve.charge(charged_at / 2, charged_at);
            // The definition, apart from the code.
            let expected = match (server.goes_first(now), reserve.admits(now)) {
                (true, _) => Claim::Server,
                (false, false) => Claim::Reserve,
                (false, true) => Claim::RealTime,
            };
            let claim = Claim::first(&mut server, &reserve, now);
            assert_eq!(claim, expected);
            seen[claim.number() as usize] += 1;
            let ends = claim.ends(&mut server, &reserve, now);
            claim_lasts((claim, server, reserve), (now, ends));
            let without = if reserve.admits(now) { Claim::RealTime } else { Claim::Reserve };
            let expected = [claim.number().into(), without.number().into(), ends, 0];
            let numbers = [budget, period, runtime, window, charged_at, now];
            assert_eq!(programs.compute("claims", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 100), "{seen:?}");
    });
}

/// What goes first runs from `now` on without a break: until `ends` nothing else goes first, and something may then.
fn claim_lasts((claim, server, reserve): (Claim, Server, Reserve), (now, ends): (u64, u64)) {
    let first_at = |at: u64| {
        let (mut server, mut reserve) = (server, reserve);
        match claim {
            Claim::RealTime => reserve.charge(at - now, at),
            Claim::Server | Claim::Reserve => server.charge(at - now, at),
        }
        Claim::first(&mut server, &reserve, at)
    };
    assert!(ends > now, "asked again at once");
    let last = ends.min(now.saturating_add(1 << 41)) - 1;
    for at in [now, now + (last - now) / 2, last] {
        assert_eq!(first_at(at), claim, "from {now} until {ends}, at {at}");
    }
    assert!(ends == NEVER || first_at(ends) != claim || claim == Claim::Reserve, "from {now} until {ends}");
}

#[test]
fn sizes_that_are_wanted_are_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 3];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 5);
            let bits = random.random_range(4..40);
            let [period, wanted_at] = [bits; 2].map(|bits| draw(&mut random, bits));
            let next_period = if random.random_bool(0.5) { period } else { draw(&mut random, bits) };
            let [budget, next_budget] =
                [period, next_period].map(|period| random.random_range(0..=period + 1));
            let quiet_at = wanted_at + draw(&mut random, bits);
            let mut native = Server::new(0, budget, period);
            let from = native.wants(next_budget, next_period, wanted_at % 2 == 1, wanted_at);
            let resized = native.quiet(quiet_at);
            let expected =
                [from.unwrap_or(NEVER), resized.into(), native.left(quiet_at), native.next(quiet_at)];
            seen[if resized { 2 } else { usize::from(from == Some(wanted_at)) }] += 1;
            let numbers = [budget, period, next_budget, next_period, wanted_at, quiet_at];
            assert_eq!(programs.compute("wanted", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 500), "{seen:?}");
    });
}

#[test]
fn balance_is_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 3];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 4);
            let bits = random.random_range(2..=32);
            let mut load = || Load {
                speed: u32::try_from(draw(&mut random, bits)).expect("32 bits").max(1),
                tasks: u32::try_from(draw(&mut random, bits)).expect("32 bits").min(u32::MAX - 1),
            };
            let (a, b) = (load(), load());
            let expected = [a.is_better_than(b), a.is_busier_than(b), a.moves_to(b)].map(u64::from);
            for (seen, answer) in seen.iter_mut().zip(expected) {
                *seen += answer;
            }
            let numbers = [a.speed, a.tasks, b.speed, b.tasks, 0, 0].map(u64::from);
            let [better, busier, moves] = expected;
            assert_eq!(programs.compute("balance", numbers), Ok([better, busier, moves, 0]), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 500), "{seen:?}");
    });
}

#[test]
fn places_of_background_work_are_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 4];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 6);
            let bits = random.random_range(2..=32);
            let mut load = || Load {
                speed: u32::try_from(draw(&mut random, bits)).expect("32 bits").max(1),
                tasks: u32::try_from(draw(&mut random, bits)).expect("32 bits").min(u32::MAX - 1),
            };
            let (a, b) = (Spot { cpu: 0, load: load() }, Spot { cpu: 1, load: load() });
            let waiting = random.random_range(0..2);
            let runs = random.random_bool(0.5);
            let expected = [
                Spot::NOWHERE.or_for_one_more(a).or_for_one_more(b).cpu.into(),
                Spot::NOWHERE.or_to_pull_from(a).or_to_pull_from(b).cpu.into(),
                u64::from(a.is_left_for(b)),
                u64::from(a.load.gives_to(waiting, runs, b.load)),
            ];
            for (seen, answer) in seen.iter_mut().zip(expected) {
                *seen += answer;
            }
            let numbers =
                [a.load.speed, a.load.tasks, b.load.speed, b.load.tasks, waiting, runs.into()].map(u64::from);
            assert_eq!(programs.compute("background", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 280), "{seen:?}");
    });
}

#[test]
fn virtual_times_are_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 2];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 7);
            let bits = random.random_range(8..50);
            let [had, lead, slice] = [bits; 3].map(|bits| draw(&mut random, bits));
            let [from, to]: [u64; 2] = random.random();
            let weight = random.random_range(1..=10_000);
            let vtime = from.wrapping_sub(lead);
            let moved = VirtualTime(vtime).after(had, weight).moved(VirtualTime(from), VirtualTime(to));
            let clock = VirtualTime(to);
            let before = moved.is_before(clock);
            seen[usize::from(before)] += 1;
            let expected = [moved.0, moved.waits(clock, slice).0, moved.begins(clock).0, before.into()];
            let numbers = [vtime, had, weight.into(), from, to, slice];
            assert_eq!(programs.compute("virtual_time", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 500), "{seen:?}");
    });
}

#[test]
fn limits_of_waiting_are_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 2];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 11);
            let clock: u64 = random.random();
            let [lead, passed, slice] = [40, 50, 30].map(|bits| draw(&mut random, bits));
            let waiting = u32::try_from(draw(&mut random, 32)).expect("32 bits");
            let vtime = clock.wrapping_add(lead);
            let limited = VirtualTime(vtime).leads(VirtualTime(clock));
            seen[usize::from(limited.0 == vtime)] += 1;
            let too_long = waits_too_long(vtime, clock);
            let expected = [
                limited.0,
                VirtualTime(clock).passes(passed).0,
                slice_in_a_crowd(slice, waiting),
                too_long.into(),
            ];
            let numbers = [vtime, clock, passed, waiting.into(), slice, 0];
            assert_eq!(programs.compute("virtual_limits", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 500), "{seen:?}");
    });
}

#[test]
fn kernel_threads_are_the_same() {
    with_programs(|programs| {
        let mut seen = [0; 2];
        for seed in laxity_seeds::seeds!(0..5000) {
            let mut random = Pcg64::new(seed.into(), 13);
            let period = 1 + draw(&mut random, 30);
            let runtime = random.random_range(0..=period);
            let used = random.random_range(0..=2 * runtime);
            let until = used + draw(&mut random, 34);
            let now = until + random.random_range(0..=period);
            let cpus = random.random_range(0..5);
            let mut threads = KernelThreads::new(runtime, period);
            let mut background = Reserve::new(0, period * 2, period * 3);
            threads.charge(&mut background, used, until);
            seen[usize::from(threads.left(now) == 0)] += 1;
            let expected = [
                threads.left(now),
                background.left(now),
                KernelThreads::is_bound(cpus % 2 == 1, cpus).into(),
                KernelThreads::have_turn(cpus % 2 == 1).into(),
            ];
            let numbers = [period, runtime, used, until, now, cpus.into()];
            assert_eq!(programs.compute("kernel_threads", numbers), Ok(expected), "{numbers:?}");
        }
        laxity_seeds::assert_together!(seen.iter().all(|&times| times > 300), "{seen:?}");
    });
}

/// What is so of a number, by what its standing means; what the policy is being told counts as known to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    has_number: bool,
    is_member: bool,
    is_runnable: bool,
    policy_has_job: bool,
    being_told: bool,
}

impl Facts {
    const FREE: Facts = Facts {
        has_number: false,
        is_member: false,
        is_runnable: false,
        policy_has_job: false,
        being_told: false,
    };

    fn standing(self) -> Standing {
        match self {
            Facts { has_number: false, .. } => Standing::Free,
            Facts { is_member: false, .. } => Standing::Departed,
            Facts { being_told: true, is_runnable: false, .. } => Standing::Dropping,
            Facts { being_told: true, is_runnable: true, .. } => Standing::Returning,
            Facts { policy_has_job: true, is_runnable: true, .. } => Standing::Present,
            Facts { policy_has_job: true, is_runnable: false, .. } => Standing::Absent,
            Facts { policy_has_job: false, .. } => Standing::Blocked,
        }
    }

    /// A host's next event, if it can happen: the facts after it, and what the host has to do.
    fn after(self, event: StandingEvent, had_job: bool) -> Option<(Facts, Then)> {
        let apart = !self.is_runnable || !self.is_member;
        let mut next = self;
        let mut then = Then::Nothing;
        match event {
            StandingEvent::Take if !self.has_number => {
                next = Facts { has_number: true, is_member: true, ..Facts::FREE };
            }
            StandingEvent::Come if self.is_member && !self.is_runnable => {
                next.is_runnable = true;
                if !self.policy_has_job && !self.being_told {
                    next.policy_has_job = true;
                    then = if had_job { Then::Wake } else { Then::Arrive };
                }
            }
            StandingEvent::Go if self.is_member && self.is_runnable => next.is_runnable = false,
            StandingEvent::Turn if self.policy_has_job && apart => {
                (next.policy_has_job, next.being_told) = (false, true);
                then = Then::Suspend;
            }
            StandingEvent::Told if self.being_told => {
                next.being_told = false;
                if !self.is_member {
                    (next, then) = (Facts::FREE, Then::Free);
                } else if self.is_runnable {
                    next.policy_has_job = true;
                    then = Then::Wake;
                }
            }
            StandingEvent::Leave if self.is_member => {
                next.is_member = false;
                if !self.policy_has_job && !self.being_told {
                    (next, then) = (Facts::FREE, Then::Free);
                }
            }
            _ => return None,
        }
        Some((next, then))
    }
}

#[test]
fn standings_follow_from_what_is_so() {
    with_programs(|programs| {
        let mut seen = BTreeSet::new();
        for seed in laxity_seeds::seeds!(0..3000) {
            let mut random = Pcg64::new(seed.into(), 9);
            let (mut facts, mut had_job) = (Facts::FREE, false);
            let (mut standing, mut thens, mut events, mut count) = (Standing::Free, 0u64, 0u64, 0);
            while count < 16 {
                let event = StandingEvent::ALL[random.random_range(0..StandingEvent::ALL.len())];
                let Some((next, then)) = facts.after(event, had_job) else { continue };
                let after = standing.after(event);
                had_job = next.has_number && (had_job || then == Then::Arrive);
                let entered = next.has_number && !had_job && next.is_member;
                let expected = if entered { Standing::Entered } else { next.standing() };
                assert_eq!(after, (expected, then), "{standing:?} {event:?} {facts:?}");
                seen.insert((standing as u32, event as u32));
                (facts, standing) = (next, after.0);
                events |= (event as u64) << (4 * count);
                thens = thens << 4 | then as u64;
                count += 1;
            }
            let apart = [Standing::Absent, Standing::Departed, Standing::Dropping, Standing::Returning];
            assert_eq!(standing.is_apart(), apart.contains(&standing));
            let expected = [standing as u64, thens, standing.is_apart().into(), 0];
            assert_eq!(programs.compute("standing", [0, events, 16, 0, 0, 0]), Ok(expected), "{events:#x}");
        }
        // Every entry of the table at the head of policy/standing.h, and the turns of a departed number while the policy is told.
        laxity_seeds::assert_together!(seen.len() >= 17, "{seen:?}");
    });
}
