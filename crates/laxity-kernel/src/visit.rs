//! CPUs that a class above has had since before the scheduler was attached. The scheduler learns of such a class where a CPU switches to
//! it; so a thread of SCHED_FIFO is on every CPU for a moment.

use laxity_sys::{Attributes, policy, set_affinity, set_attributes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The highest: what has it already cannot be interrupted, and is not noticed.
const PRIORITY: u32 = 99;
/// How long all CPUs together may keep it waiting. SCHED_DEADLINE goes before it, and leaves a part of each second.
const PATIENCE: Duration = Duration::from_secs(2);

/// Is on each of the CPUs once. What it may not do, or has no time for, stays undone: the scheduler learns of it at the next switch there.
pub(crate) fn visit(cpus: Vec<u32>) {
    let given_up = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&given_up);
    let (tell, told) = channel::<()>();
    let body = move || {
        let wanted = Attributes { policy: policy::FIFO, priority: PRIORITY, ..Attributes::default() };
        if set_attributes(0, wanted).is_ok() {
            for cpu in cpus {
                if !seen.load(Ordering::Relaxed) {
                    // It returns on that CPU; one that is not this process's is left out.
                    let _ = set_affinity(0, [cpu]);
                }
            }
        }
        drop(tell);
    };
    if std::thread::Builder::new().name("laxity-visit".into()).spawn(body).is_ok() {
        // The end of the thread ends the wait, too.
        let _ = told.recv_timeout(PATIENCE);
        given_up.store(true, Ordering::Relaxed);
    }
}
