//! Releases where the kernel has no BPF timers (PREEMPT_RT): by a thread with a real-time priority.

use crate::clock::monotonic_ns;
use laxity_model::{Diagnostic, Result};
use libbpf_rs::{MapCore as _, MapFlags, MapHandle, Object, libbpf_sys};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// A release that becomes known while the thread sleeps is at most this late, in ns.
const LOOK_EVERY_NS: u64 = 500_000;
/// How long it waits for the CPU that it has asked to release what is due, in ns.
const LOOK_AGAIN_NS: u64 = 50_000;
/// Above all tasks of SCHED_FIFO that a run has, below its guardian.
const PRIORITY: i32 = 98;

/// The thread. It ends when this is dropped.
pub(crate) struct Releaser {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Releaser {
    pub(crate) fn start(object: &Object) -> Result<Releaser> {
        let missing = |what: &str| Diagnostic::environment(format!("the object has no {what}"));
        let program =
            object.progs_mut().find(|p| p.name() == "release_due").ok_or_else(|| missing("release_due"))?;
        let program = program
            .as_fd()
            .try_clone_to_owned()
            .map_err(|error| Diagnostic::environment(format!("release_due: {error}")))?;
        let map =
            object.maps().find(|m| m.name() == ".data.release").ok_or_else(|| missing(".data.release"))?;
        let map = MapHandle::try_from(&map)
            .map_err(|error| Diagnostic::environment(format!(".data.release: {error}")))?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("laxity-release".into())
            .spawn(move || release(&program, &map, &seen))
            .map_err(|error| Diagnostic::environment(format!("the thread that releases jobs: {error}")))?;
        Ok(Releaser { stop, thread: Some(thread) })
    }
}

impl Drop for Releaser {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It panics nowhere; if it did, there is nothing left to do.
            let _ = thread.join();
        }
    }
}

fn release(program: &OwnedFd, map: &MapHandle, stop: &AtomicBool) {
    let parameter = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the structure lives across the call. Without the priority, releases are later under load.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
    while !stop.load(Ordering::Relaxed) {
        let mut options = libbpf_sys::bpf_test_run_opts {
            sz: size_of::<libbpf_sys::bpf_test_run_opts>().try_into().expect("a small structure"),
            ..Default::default()
        };
        // SAFETY: the descriptor is a program's, and the options say their size.
        unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) };
        let next = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten();
        let next =
            next.and_then(|value| value.get(..8)?.try_into().ok()).map_or(u64::MAX, u64::from_ne_bytes);
        sleep(Duration::from_nanos(next.saturating_sub(monotonic_ns()).clamp(LOOK_AGAIN_NS, LOOK_EVERY_NS)));
    }
}
