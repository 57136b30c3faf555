//! Limits of waiting (`policy/virtual_time.h`, `policy/waiting.h`), by hand.

use laxity_policy::{VirtualTime, slice_in_a_crowd, waits_too_long};

const MS: u64 = 1_000_000;

#[test]
fn a_lead_is_limited() {
    let clock = VirtualTime(u64::MAX - 3);
    for lead_ns in [0, 1, 499 * MS, 500 * MS] {
        let vtime = VirtualTime(clock.0.wrapping_add(lead_ns));
        assert_eq!(vtime.leads(clock), vtime, "{lead_ns}");
    }
    for lead_ns in [500 * MS + 1, 86_680 * MS] {
        let vtime = VirtualTime(clock.0.wrapping_add(lead_ns));
        assert_eq!(vtime.leads(clock).0, clock.0.wrapping_add(500 * MS), "{lead_ns}");
    }
    let behind = VirtualTime(clock.0 - MS);
    assert_eq!(behind.leads(clock), behind);
}

/// What leads by the most that is allowed is reached within 16 s, whatever runs: half of what the kernel's watchdog waits.
#[test]
fn a_clock_goes_on_with_time() {
    let clock = VirtualTime(7);
    assert_eq!(clock.passes(0), clock);
    assert_eq!(clock.passes(32 * MS).0, 7 + MS);
    let last = VirtualTime(u64::MAX).leads(clock);
    assert!(clock.passes(15_000 * MS).is_before(VirtualTime(7 + 500 * MS)));
    assert!(!clock.passes(16_000 * MS).is_before(VirtualTime(7 + 500 * MS)));
    assert!(!clock.passes(16_000 * MS).is_before(last));
}

/// A round of all that wait takes half a second of the CPU, as long as slices are not at their least.
#[test]
fn slices_get_shorter_in_a_crowd() {
    assert_eq!(slice_in_a_crowd(5 * MS, 0), 5 * MS);
    assert_eq!(slice_in_a_crowd(5 * MS, 100), 5 * MS);
    assert_eq!(slice_in_a_crowd(5 * MS, 101), 500 * MS / 101);
    assert_eq!(slice_in_a_crowd(5 * MS, 1_000), MS / 2);
    assert_eq!(slice_in_a_crowd(5 * MS, u32::MAX), MS / 10);
    assert_eq!(slice_in_a_crowd(MS / 20, 1_000_000), MS / 20);
    for waiting in 1..5_000 {
        assert!(slice_in_a_crowd(5 * MS, waiting) * u64::from(waiting) <= 500 * MS, "{waiting}");
    }
}

#[test]
fn ten_seconds_are_too_long() {
    assert!(!waits_too_long(5, 5 + 10_000 * MS));
    assert!(waits_too_long(5, 6 + 10_000 * MS));
    // Another CPU's clock may be behind.
    assert!(!waits_too_long(6, 5));
}
