//! Work on several threads whose results come in order, so that the number of threads shows nowhere.

use laxity_model::{Result, start_thread};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Results that may wait for an earlier one, per thread: they bound the memory.
const WAITING_PER_THREAD: usize = 4;

struct Desk<T> {
    /// The next piece of work to be taken.
    next: usize,
    /// The next result to be handed over.
    due: usize,
    done: BTreeMap<usize, T>,
    /// Nothing more is wanted, or a worker is gone.
    closed: bool,
}

/// Does `work(0)`, ..., `work(count - 1)` on `threads` threads, and hands the results to `take` in this order, on the
/// thread that calls. With one thread, that does it all.
///
/// Errors: the first of `take`, which ends everything that has not begun; no thread can be started.
pub fn in_order<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let threads = threads.clamp(1, count.max(1));
    if threads == 1 {
        return (0..count).try_for_each(|index| take(index, work(index)));
    }
    let desk = Mutex::new(Desk { next: 0, due: 0, done: BTreeMap::new(), closed: false });
    let moved = Condvar::new();
    let lock = || -> MutexGuard<'_, Desk<T>> { desk.lock().unwrap_or_else(PoisonError::into_inner) };
    let wait = |guard| moved.wait(guard).unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        let _closing = CloseOnPanic { desk: &desk, moved: &moved };
        loop {
            let mut at = lock();
            while !at.closed && at.next < count && at.next >= at.due + threads * WAITING_PER_THREAD {
                at = wait(at);
            }
            if at.closed || at.next >= count {
                return;
            }
            let index = at.next;
            at.next += 1;
            drop(at);
            let result = work(index);
            lock().done.insert(index, result);
            moved.notify_all();
        }
    };
    std::thread::scope(|scope| {
        for started in 0..threads {
            match start_thread(scope, worker) {
                Err(error) if started == 0 => return Err(error),
                // Fewer take longer and come to the same.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        let mut outcome = Ok(());
        for index in 0..count {
            let mut at = lock();
            let result = loop {
                match at.done.remove(&index) {
                    None if at.closed => return outcome,
                    None => at = wait(at),
                    some => break some,
                }
            };
            at.due = index + 1;
            drop(at);
            moved.notify_all();
            if let Some(Err(error)) = result.map(|result| take(index, result)) {
                outcome = Err(error);
                break;
            }
        }
        lock().closed = true;
        moved.notify_all();
        outcome
    })
}

/// A worker that panics must not leave the others waiting; the scope passes the panic on.
struct CloseOnPanic<'a, T> {
    desk: &'a Mutex<Desk<T>>,
    moved: &'a Condvar,
}

impl<T> Drop for CloseOnPanic<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.desk.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
            self.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Diagnostic;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_whatever_takes_long() {
        for threads in [1, 2, 7, 100] {
            let mut seen = Vec::new();
            let work = |index: usize| {
                if index.is_multiple_of(5) {
                    std::thread::yield_now();
                }
                index * index
            };
            let take = |index, square| {
                seen.push((index, square));
                Ok(())
            };
            in_order(200, threads, work, take).expect("no error");
            assert_eq!(seen, (0..200).map(|index| (index, index * index)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn little_is_begun_ahead_of_what_is_due() {
        let begun = AtomicUsize::new(0);
        let work = |_| begun.fetch_add(1, Ordering::SeqCst);
        let take = |index, _| {
            let ahead = begun.load(Ordering::SeqCst) - index;
            assert!(ahead <= 3 * (WAITING_PER_THREAD + 1), "{ahead} ahead");
            Ok(())
        };
        in_order(500, 3, work, take).expect("no error");
    }

    #[test]
    fn an_error_ends_it() {
        let begun = AtomicUsize::new(0);
        let work = |_| begun.fetch_add(1, Ordering::SeqCst);
        let take = |index, _| if index < 10 { Ok(()) } else { Err(Diagnostic::usage("enough")) };
        assert_eq!(in_order(1000, 2, work, take), Err(Diagnostic::usage("enough")));
        assert!(begun.load(Ordering::SeqCst) < 100);
        assert_eq!(in_order(0, 2, |_| (), |_, ()| Ok(())), Ok(()));
    }
}
