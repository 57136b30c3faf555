//! Real runs in tests: one at a time on a machine, so each waits for its turn.

#![allow(dead_code, reason = "each test binary uses a part")]

use super::host::{can_run, output, words};
use std::fs::File;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs to the end, again for up to a minute while another run holds the machine.
pub fn patiently(make: impl Fn() -> Command) -> Output {
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        let ended = output(&mut make());
        if !words(&ended).contains("holds this machine") || Instant::now() > give_up {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The same for a run that needs real-time scheduling; nothing, and a word on why, where there is none.
pub fn real_run(make: impl Fn() -> Command) -> Option<Output> {
    can_run(&["p-edf", "g-rm"]).then(|| patiently(make))
}

/// Looks while no run holds the machine: what it then finds is not the work of another run.
pub fn at_rest<T>(look: impl FnOnce() -> T) -> T {
    let Ok(lock) = File::options().read(true).write(true).open("/run/laxity/lock") else {
        // No run was ever made here by root.
        return look();
    };
    let give_up = Instant::now() + Duration::from_secs(60);
    while lock.try_lock().is_err() {
        assert!(Instant::now() < give_up, "another run holds this machine for a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    look()
}
