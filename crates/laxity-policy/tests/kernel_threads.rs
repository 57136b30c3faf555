//! Kernel threads bound to a CPU (`policy/kernel_threads.h`): by hand, and against an account of every unit of time.

mod random;

use laxity_policy::{KernelThreads, NEVER, Reserve};
use random::next_random;

#[test]
fn threads_of_the_kernel_with_one_cpu_are_bound() {
    for (of_kernel, cpus, bound) in [(true, 1, true), (true, 2, false), (false, 1, false), (false, 4, false)]
    {
        assert_eq!(KernelThreads::is_bound(of_kernel, cpus), bound);
    }
}

#[test]
fn windows_by_hand() {
    // 5 of each 100; 20 of each 100 are real-time work's while background work waits.
    let mut threads = KernelThreads::new(5, 100);
    let mut background = Reserve::new(0, 20, 100);
    assert_eq!(threads.left(10), 5);
    threads.charge(&mut background, 3, 13);
    assert_eq!((threads.left(13), background.left(13)), (2, 17));
    // What is beyond its time is background work, which the reserve does not count.
    threads.charge(&mut background, 10, 30);
    assert_eq!((threads.left(30), background.left(30)), (0, 15));
    assert_eq!(threads.left(99), 0);
    assert_eq!(threads.left(100), 5);
    // Two budgets without a break.
    assert_eq!(threads.left(196), 4 + 5);
}

#[test]
fn without_a_bound_they_go_first_for_ever() {
    for (runtime, period) in [(10, 10), (0, 0)] {
        let mut threads = KernelThreads::new(runtime, period);
        threads.charge(&mut Reserve::off(), 1000, 1000);
        assert_eq!(threads.left(1000), NEVER);
    }
}

#[test]
fn they_take_turns_with_background_work() {
    assert!(KernelThreads::have_turn(false));
    assert!(!KernelThreads::have_turn(true));
}

/// Threads that want the CPU at random never go first for more than their time in a window, and have all of it where they want it.
#[test]
fn no_window_has_more_than_its_time() {
    for seed in laxity_seeds::seeds!(0..300) {
        let mut state = seed;
        let period = 2 + next_random(&mut state) % 58;
        let runtime = 1 + next_random(&mut state) % (period - 1);
        let mut threads = KernelThreads::new(runtime, period);
        let mut background = Reserve::new(0, 40, 50);
        let (mut first, mut wanted) = (0, 0);
        for now in 0..20 * period {
            if now.is_multiple_of(period) {
                (first, wanted) = (0, 0);
            }
            if next_random(&mut state).is_multiple_of(2) {
                wanted += 1;
                let goes_first = threads.left(now) > 0;
                first += u64::from(goes_first);
                threads.charge(&mut background, 1, now + 1);
            }
            assert_eq!(first, wanted.min(runtime), "seed {seed} at {now}: {runtime} of {period}");
        }
    }
}
