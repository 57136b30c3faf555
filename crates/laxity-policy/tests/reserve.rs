//! The reserve of a CPU (`policy/reserve.h`): by hand, and second by second.

mod random;

use laxity_policy::{NEVER, Reserve};
use random::next_random;

#[test]
fn windows_by_hand() {
    // 7 of every 10, from 100 on.
    let mut reserve = Reserve::new(100, 7, 10);
    assert!(reserve.admits(100));
    assert_eq!(reserve.left(100), 7);
    assert_eq!(reserve.left(102), 7);
    // From 104 on it lasts until the next window, and goes on there.
    assert_eq!(reserve.left(103), 7 + 7);
    assert_eq!(reserve.left(104), 6 + 7);
    reserve.charge(4, 104);
    assert_eq!((reserve.left(104), reserve.next(104)), (3, 104));
    reserve.charge(3, 107);
    assert!(!reserve.admits(107));
    assert_eq!((reserve.left(107), reserve.next(107)), (0, 110));
    // A late timer: what was too much is not paid back.
    reserve.charge(1, 108);
    assert_eq!((reserve.admits(109), reserve.next(109)), (false, 110));
    assert!(reserve.admits(110));
    // Of 8 until 112, 2 are in the window that began at 110.
    reserve.charge(8, 112);
    assert_eq!(reserve.left(112), 5);
    // Windows without a look at the reserve.
    assert_eq!(reserve.left(175), 5 + 7);
    reserve.charge(100, 179);
    assert_eq!((reserve.left(179), reserve.next(179)), (0, 180));
}

#[test]
fn without_a_reserve_everything_goes() {
    for (runtime, period) in [(10, 10), (11, 10), (0, 0), (5, 0)] {
        let mut reserve = Reserve::new(0, runtime, period);
        reserve.charge(1000, 1000);
        assert!(reserve.admits(1000));
        assert_eq!((reserve.left(1000), reserve.next(1000)), (NEVER, 1000));
    }
}

#[test]
fn without_runtime_nothing_goes() {
    let reserve = Reserve::new(0, 0, 10);
    assert!(!reserve.admits(25));
    assert_eq!((reserve.left(25), reserve.next(25)), (0, NEVER));
}

#[test]
fn an_instant_before_the_window_is_in_it() {
    let mut reserve = Reserve::new(100, 3, 10);
    reserve.charge(2, 97);
    assert_eq!((reserve.admits(97), reserve.left(98)), (true, 3));
}

/// Real-time work that comes and goes, beside background work that always waits. It is charged whenever it stops,
/// and now and then meanwhile. Compared with an account kept for every ns: real-time work runs whenever it wants to
/// and its window has some left, and only then.
#[test]
fn every_window_has_its_share() {
    for seed in laxity_seeds::seeds!(0..2000_u64) {
        let state = &mut (seed << 1 | 1);
        let period = 2 + next_random(state) % 30;
        let runtime = 1 + next_random(state) % (period - 1);
        let start = next_random(state) % 50;
        let mut reserve = Reserve::new(start, runtime, period);
        let mut wants = false;
        let (mut window, mut used) = (u64::MAX, 0);
        let (mut since, mut stops_at) = (None, NEVER);
        for now in start..start + 20 * period {
            if (now - start) / period != window {
                (window, used) = ((now - start) / period, 0);
            }
            if next_random(state).is_multiple_of(7) {
                wants = !wants;
            }
            let runs = wants && used < runtime;
            if let Some(from) = since
                && (!runs || next_random(state).is_multiple_of(5))
            {
                assert!(now <= stops_at, "seed {seed}, {now}: it was said to stop at {stops_at}");
                assert!(runs || !wants || now == stops_at, "seed {seed}, {now}: stops before {stops_at}");
                reserve.charge(now - from, now);
                since = None;
            }
            assert_eq!(reserve.admits(now) || since.is_some(), used < runtime || since.is_some());
            if runs && since.is_none() {
                assert_eq!(reserve.next(now), now, "seed {seed}, {now}");
                (since, stops_at) = (Some(now), now + reserve.left(now));
                assert!(stops_at > now);
            } else if wants && !runs {
                assert_eq!((reserve.left(now), reserve.next(now)), (0, start + (window + 1) * period));
            }
            used += u64::from(runs);
        }
    }
}
