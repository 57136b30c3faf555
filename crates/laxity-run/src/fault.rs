//! Faults on request, for the tests that prove that a dying program leaves the machine as it was.
//!
//! `LAXITY_FAULT=panic@released` makes the program panic once the tasks run; `abort` and `kill` end it as the
//! kernel would, `memory` has it ask for more memory than there is. For the tests that prove that a wrong schedule is
//! seen, `inverted@priorities` turns the order of SCHED_FIFO priorities round; `forget@kicks` (laxity-kernel) lets
//! policies forget to ask CPUs to reschedule, `late@budgets` sets their budget timers a millisecond too late.
//! `refuse@threads` has the kernel refuse threaded cgroups. Without the variable nothing here does anything.

/// Whether a test asks for this fault.
pub fn wanted(what: &str, place: &str) -> bool {
    std::env::var("LAXITY_FAULT").is_ok_and(|wanted| wanted.split_once('@') == Some((what, place)))
}

/// A named place in a run at which a test can ask for a fault.
pub fn point(name: &str) {
    let Ok(wanted) = std::env::var("LAXITY_FAULT") else { return };
    match wanted.split_once('@') {
        Some(("panic", place)) if place == name => panic!("fault asked for at `{name}`"),
        Some(("abort", place)) if place == name => std::process::abort(),
        Some(("memory", place)) if place == name => {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(isize::MAX.unsigned_abs())));
        }
        Some(("kill", place)) if place == name => {
            // A process can always signal itself.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
        _ => {}
    }
}
