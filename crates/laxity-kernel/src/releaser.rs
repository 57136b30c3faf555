//! Releases where the kernel has no BPF timers (PREEMPT_RT): by a thread with a real-time priority.

use crate::clock::monotonic_ns;
use crate::maps::Typed;
use crate::skeleton::{NEXT_RELEASE_AT, RELEASE_DUE};
use laxity_model::{CpuList, Diagnostic, Result, cpus_named};
use laxity_sys::{Attributes, policy, set_affinity, set_attributes};
use libbpf_rs::{MapHandle, Object, libbpf_sys};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

/// A release that becomes known while the thread sleeps is at most this late, in ns.
const LOOK_EVERY_NS: u64 = 500_000;
/// How long it waits for the CPU that it has asked to release what is due, in ns.
const LOOK_AGAIN_NS: u64 = 50_000;
/// Above all tasks of SCHED_FIFO that a run has, below its guardian.
const PRIORITY: u32 = 98;

/// The thread. It ends when this is dropped.
pub(crate) struct Releaser {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// What it could not have, in words: releases may be later without it.
    lacks: Vec<String>,
}

impl Releaser {
    /// Starts it, on CPUs that run none of the policy's tasks (`rest`), if there are any.
    pub(crate) fn start(object: &Object, rest: &CpuList) -> Result<Releaser> {
        let program = object
            .progs_mut()
            .find(|p| p.name() == RELEASE_DUE)
            .ok_or_else(|| Diagnostic::environment(format!("the object has no {RELEASE_DUE}")))?;
        let program = program
            .as_fd()
            .try_clone_to_owned()
            .map_err(|error| Diagnostic::environment(format!("{RELEASE_DUE}: {error}")))?;
        let next = NEXT_RELEASE_AT.of(object).and_then(Typed::owned).map_err(Diagnostic::environment)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (seen, rest) = (Arc::clone(&stop), rest.clone());
        let (tell, told) = mpsc::channel();
        let body = move || {
            // It is waited for.
            let _ = tell.send(prepare(&rest));
            release(&program, &next, &seen);
        };
        let thread = std::thread::Builder::new()
            .name("laxity-release".into())
            .spawn(body)
            .map_err(|error| Diagnostic::environment(format!("the thread that releases jobs: {error}")))?;
        let lacks = told.recv().unwrap_or_default();
        Ok(Releaser { stop, thread: Some(thread), lacks })
    }

    /// What the thread could not have, in words.
    pub(crate) fn lacks(&self) -> &[String] {
        &self.lacks
    }
}

/// Gives the calling thread its priority and its CPUs; what it could not have.
fn prepare(rest: &CpuList) -> Vec<String> {
    let mut lacks = Vec::new();
    let wanted = Attributes { policy: policy::FIFO, priority: PRIORITY, ..Attributes::default() };
    if let Err(error) = set_attributes(0, wanted) {
        lacks.push(format!(
            "the thread that releases jobs has no real-time priority, so releases are late under load: {error}"
        ));
    }
    if !rest.is_empty()
        && let Err(error) = set_affinity(0, rest.iter())
    {
        let rest = cpus_named(rest);
        lacks.push(format!(
            "the thread that releases jobs could not go to {rest}, which no task has: {error}"
        ));
    }
    lacks
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

fn release(program: &OwnedFd, next: &Typed<MapHandle, u32, u64>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let mut options = libbpf_sys::bpf_test_run_opts {
            sz: size_of::<libbpf_sys::bpf_test_run_opts>().try_into().expect("a small structure"),
            ..Default::default()
        };
        // SAFETY: the descriptor is a program's, and the options say their size.
        unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) };
        let until_next_ns = next.get(&0).unwrap_or(u64::MAX).saturating_sub(monotonic_ns());
        sleep(Duration::from_nanos(until_next_ns.clamp(LOOK_AGAIN_NS, LOOK_EVERY_NS)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own, which others are not affected by.
    #[test]
    fn what_a_thread_cannot_have_is_said() {
        let elsewhere: CpuList = [8191].into_iter().collect();
        let lacks = std::thread::spawn(move || prepare(&elsewhere)).join().expect("it ends");
        let last = lacks.last().expect("there is no such CPU");
        assert!(last.contains("CPU 8191, which no task has"), "{last}");
        let lacks = std::thread::spawn(|| prepare(&CpuList::default())).join().expect("it ends");
        assert!(lacks.iter().all(|why| why.contains("no real-time priority")), "{lacks:?}");
    }
}
