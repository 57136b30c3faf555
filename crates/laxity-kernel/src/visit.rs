//! CPUs that a class above has had since before the scheduler was attached. The scheduler learns of such a class where a CPU switches to
//! it; so a thread of SCHED_FIFO is on every CPU for a moment.

use laxity_sys::{Attributes, policy, set_affinity, set_attributes};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The highest: what has it already cannot be interrupted, and is not noticed.
const PRIORITY: u32 = 99;
/// How long all CPUs together may keep it waiting. SCHED_DEADLINE goes before it, and leaves a part of each second.
const PATIENCE: Duration = Duration::from_secs(2);

/// The thread, which waits to be sent. Without a sender it ends.
pub(crate) struct Visitor {
    send: Sender<Vec<u32>>,
    seen: Receiver<()>,
}

impl Visitor {
    /// Before the scheduler is attached, so that it is never the scheduler's own. Nothing where it may not be of SCHED_FIFO: the scheduler
    /// then learns at the next switch.
    pub(crate) fn ready() -> Option<Visitor> {
        let (send, sent) = channel::<Vec<u32>>();
        let (tell, seen) = channel();
        let body = move || {
            let wanted = Attributes { policy: policy::FIFO, priority: PRIORITY, ..Attributes::default() };
            if set_attributes(0, wanted).is_err() || tell.send(()).is_err() {
                return;
            }
            let Ok(cpus) = sent.recv() else { return };
            let begin = Instant::now();
            for cpu in cpus {
                if begin.elapsed() < PATIENCE {
                    // It returns on that CPU; one that is not this process's is left out.
                    let _ = set_affinity(0, [cpu]);
                }
            }
            let _ = tell.send(());
        };
        std::thread::Builder::new().name("laxity-visit".into()).spawn(body).ok()?;
        seen.recv().ok().map(|()| Visitor { send, seen })
    }

    /// Has it be on each of the CPUs once.
    pub(crate) fn visit(self, cpus: Vec<u32>) {
        if self.send.send(cpus).is_ok() {
            let _ = self.seen.recv_timeout(PATIENCE);
        }
    }
}
