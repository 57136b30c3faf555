//! How late a thread of SCHED_FIFO wakes: what delays cost, measured.
//!
//! One thread on each real-time CPU sleeps until the next millisecond, again and again. It has the lowest real-time
//! priority, so that no real-time task of the machine waits for it: what it sees is what a task of that priority sees.

use crate::evidence::Evidence;
use laxity_model::CpuList;
use laxity_run::{Policy, set_affinity, set_policy};
use rustix::thread::{ClockId, clock_nanosleep_absolute, gettid};
use rustix::time::{Timespec, clock_gettime};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Between two wakeups, ns.
const EVERY_NS: u64 = 1_000_000;
/// The lowest priority of SCHED_FIFO.
const PRIORITY: u32 = 1;
/// No more wakeups of a thread than these.
const COUNT_MAX: u64 = 1_000_000;
/// How long a thread may be late at its end before it is taken to another CPU.
const PATIENCE: Duration = Duration::from_secs(1);

/// The wakeups of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakeups {
    /// The CPU.
    pub cpu: u32,
    /// How many were measured.
    pub count: usize,
    /// Half of them were no later than this, ns.
    pub median_ns: u64,
    /// None was later than this, ns.
    pub longest_ns: u64,
    /// Whether the thread got the CPU for all of them; if not, the CPU was kept from it for a second at least.
    pub whole: bool,
}

/// What the threads tell.
enum Word {
    /// Thread `tid` is there, and about to go to this CPU.
    Began(u32, i32),
    /// How late each wakeup on this CPU was, ns.
    Ended(u32, Vec<u64>),
}

/// Measures wakeups on each of these CPUs for about this long. CPUs that cannot be had, and all of them where SCHED_FIFO is
/// refused, are left out.
pub fn measure(cpus: &CpuList, online: &CpuList, length: Duration) -> Vec<Wakeups> {
    let count = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX) / EVERY_NS;
    let count = count.clamp(1, COUNT_MAX);
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, words) = channel();
    for cpu in cpus.iter() {
        let (sender, stop) = (sender.clone(), Arc::clone(&stop));
        // A machine that has no room for a thread more is not measured.
        let _ = thread::Builder::new().spawn(move || sleeper(cpu, count, &sender, &stop));
    }
    drop(sender);
    gather(&words, &stop, online, length + PATIENCE)
}

/// Takes what the threads tell. One that does not get its CPU goes to any other one and ends there: else it would keep this process
/// from ending.
fn gather(words: &Receiver<Word>, stop: &AtomicBool, online: &CpuList, within: Duration) -> Vec<Wakeups> {
    let until = Instant::now() + within;
    let mut running: BTreeMap<u32, i32> = BTreeMap::new();
    let mut late: Vec<u32> = Vec::new();
    let mut all = Vec::new();
    loop {
        let left = if late.is_empty() { until.saturating_duration_since(Instant::now()) } else { PATIENCE };
        match words.recv_timeout(left) {
            Ok(Word::Began(cpu, tid)) => {
                running.insert(cpu, tid);
            }
            Ok(Word::Ended(cpu, lateness)) => {
                running.remove(&cpu);
                all.extend(summed_up(cpu, lateness, !late.contains(&cpu)));
            }
            Err(RecvTimeoutError::Timeout) if late.is_empty() && !running.is_empty() => {
                stop.store(true, Ordering::Relaxed);
                late = running.keys().copied().collect();
                for tid in running.values() {
                    let _ = set_affinity(*tid, online);
                }
            }
            Err(_) => break,
        }
    }
    all.sort_by_key(|one| one.cpu);
    all
}

fn summed_up(cpu: u32, mut lateness: Vec<u64>, whole: bool) -> Option<Wakeups> {
    lateness.sort_unstable();
    let longest_ns = *lateness.last()?;
    Some(Wakeups {
        cpu,
        count: lateness.len(),
        median_ns: lateness[(lateness.len() - 1) / 2],
        longest_ns,
        whole,
    })
}

/// The thread of a CPU.
fn sleeper(cpu: u32, count: u64, words: &Sender<Word>, stop: &AtomicBool) {
    let tid = gettid().as_raw_nonzero().get();
    // Without a listener the time for it is over.
    if words.send(Word::Began(cpu, tid)).is_ok() {
        let _ = words.send(Word::Ended(cpu, lateness(cpu, count, stop)));
    }
}

/// How late each wakeup was, ns; none where the CPU or SCHED_FIFO is refused.
fn lateness(cpu: u32, count: u64, stop: &AtomicBool) -> Vec<u64> {
    let mut lateness = vec![0; usize::try_from(count).unwrap_or(0)];
    let only = [cpu].into_iter().collect();
    if set_affinity(0, &only).is_err() || set_policy(0, Policy::Fifo { priority: PRIORITY }).is_err() {
        return Vec::new();
    }
    let mut done = 0;
    let mut next = now_ns() + EVERY_NS;
    for place in &mut lateness {
        if clock_nanosleep_absolute(ClockId::Monotonic, &timespec(next)).is_err() {
            continue;
        }
        let now = now_ns();
        *place = now.saturating_sub(next);
        done += 1;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        // What is over is not asked for again.
        next = (next + EVERY_NS).max(now - now % EVERY_NS + EVERY_NS);
    }
    lateness.truncate(done);
    lateness
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (s, ns) = (u64::try_from(now.tv_sec).unwrap_or(0), u64::try_from(now.tv_nsec).unwrap_or(0));
    s.saturating_mul(1_000_000_000).saturating_add(ns)
}

fn timespec(ns: u64) -> Timespec {
    let of = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    Timespec { tv_sec: of(ns / 1_000_000_000), tv_nsec: of(ns % 1_000_000_000) }
}

/// How long one reading of CLOCK_MONOTONIC takes, ns: the mean of many.
pub fn clock_reading_ns() -> u64 {
    const MANY: u64 = 2000;
    let begin = now_ns();
    let last = (0..MANY).fold(begin, |_, _| now_ns());
    last.saturating_sub(begin) / MANY
}

/// What was measured as text, with its length.
pub(crate) fn evidence(all: &[Wakeups]) -> Option<Evidence> {
    let worst = all.iter().max_by_key(|one| (!one.whole, one.longest_ns))?;
    let cpus: CpuList = all.iter().map(|one| one.cpu).collect();
    let count: usize = all.iter().map(|one| one.count).sum();
    let median = all.iter().map(|one| one.median_ns).max()?;
    let kept = if worst.whole { "" } else { "; its thread did not get that CPU to the end" };
    Some(Evidence::new(
        "clock_nanosleep at SCHED_FIFO, priority 1",
        format!(
            "woke up to {} late on CPU {}; half of the wakeups of each CPU ({cpus}) at most {}; {count} wakeups, one in 1 ms{kept}",
            shown(worst.longest_ns),
            worst.cpu,
            shown(median)
        ),
    ))
}

/// A time in us, or in ms from 10 ms on.
fn shown(ns: u64) -> String {
    match ns {
        10_000_000.. => format!("{}.{} ms", ns / 1_000_000, ns / 100_000 % 10),
        _ => format!("{} us", ns.div_ceil(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakeups_are_summed_up_by_median_and_longest() {
        let all = summed_up(3, vec![5000, 1000, 90_000, 2000], true);
        assert_eq!(all, Some(Wakeups { cpu: 3, count: 4, median_ns: 2000, longest_ns: 90_000, whole: true }));
        assert_eq!(summed_up(3, Vec::new(), true), None);
        let late = Wakeups { cpu: 1, count: 2, median_ns: 1000, longest_ns: 12_345_678, whole: true };
        let said = evidence(&[all.expect("some"), late]).expect("some").value;
        assert!(
            said.starts_with(
                "woke up to 12.3 ms late on CPU 1; half of the wakeups of each CPU (1,3) at most 2 us; 6"
            ),
            "{said}"
        );
    }

    #[test]
    fn here_threads_wake_or_are_refused() {
        let online = laxity_run::online_cpus().expect("CPUs");
        let all = measure(&online, &online, Duration::from_millis(20));
        for one in &all {
            assert!(one.count >= 1 && one.median_ns <= one.longest_ns && online.contains(one.cpu), "{one:?}");
        }
        if all.is_empty() {
            eprintln!("SKIPPED: SCHED_FIFO is refused here");
        }
        assert!(clock_reading_ns() < 1_000_000, "a reading is no millisecond");
    }

    #[test]
    fn a_thread_that_does_not_end_is_taken_elsewhere_and_marked() {
        let (sender, words) = channel();
        let stop = AtomicBool::new(false);
        let tid = gettid().as_raw_nonzero().get();
        let online = laxity_run::online_cpus().expect("CPUs");
        sender.send(Word::Began(0, tid)).expect("heard");
        thread::scope(|scope| {
            let told = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                sender.send(Word::Ended(0, vec![7])).expect("heard");
                drop(sender);
            });
            let all = gather(&words, &stop, &online, Duration::from_millis(10));
            assert_eq!(all.iter().map(|one| (one.count, one.whole)).collect::<Vec<_>>(), [(1, false)]);
            told.join().expect("told");
        });
    }
}
