//! What takes the jobs or events of a simulation, in their order: on the simulation's thread, or on one of its own beside that.
//!
//! Which of the two shows nowhere but in the time. Things come in batches, so that what takes them has its code and data at hand for
//! many. A simulation that is faster than a thread waits, so that no more than [`BATCHES`] are there.

use laxity_model::start_thread;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// Things in a batch on the same thread: they stay in a core's closest cache.
const FEW: usize = 128;

/// Things in a batch that goes to another thread.
const MANY: usize = 4096;

/// Batches that are on their way, or being taken.
const BATCHES: usize = 3;

/// What takes things.
pub(super) trait Takes<T> {
    /// Takes the next ones.
    fn take(&mut self, things: &[T]);
}

/// Takes things, and is a `S` in the end.
pub(super) struct Taker<'scope, T, S> {
    batch: Vec<T>,
    /// When it is passed on.
    size: usize,
    to: To<'scope, T, S>,
}

enum To<'scope, T, S> {
    SameThread(S),
    Thread { full: SyncSender<Vec<T>>, taken: Receiver<Vec<T>>, thread: ScopedJoinHandle<'scope, S> },
}

impl<'scope, T: Send + 'scope, S: Takes<T> + Send + 'scope> Taker<'scope, T, S> {
    /// On a thread of this scope, if there is one and it can be started.
    pub fn new(scope: Option<&'scope Scope<'scope, '_>>, state: S) -> Self {
        let to = match scope {
            None => To::SameThread(state),
            Some(scope) => To::thread(scope, state),
        };
        let size = if matches!(to, To::SameThread(_)) { FEW } else { MANY };
        Taker { batch: Vec::with_capacity(size), size, to }
    }

    #[inline]
    pub fn take(&mut self, thing: T) {
        self.batch.push(thing);
        if self.batch.len() == self.size {
            self.pass_on();
        }
    }

    #[inline(never)]
    fn pass_on(&mut self) {
        match &mut self.to {
            To::SameThread(state) => {
                state.take(&self.batch);
                self.batch.clear();
            }
            To::Thread { full, taken, .. } => {
                let next = taken.try_recv().unwrap_or_else(|_| Vec::with_capacity(MANY));
                // A thread that has panicked takes nothing; what it says comes at the end.
                drop(full.send(std::mem::replace(&mut self.batch, next)));
            }
        }
    }

    /// All has been taken.
    pub fn finish(mut self) -> S {
        self.pass_on();
        match self.to {
            To::SameThread(state) => state,
            To::Thread { full, thread, .. } => {
                drop(full);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        }
    }
}

impl<'scope, T: Send + 'scope, S: Takes<T> + Send + 'scope> To<'scope, T, S> {
    fn thread(scope: &'scope Scope<'scope, '_>, state: S) -> Self {
        let (full, batches) = sync_channel::<Vec<T>>(BATCHES);
        let (back, taken) = channel();
        // The state goes to the thread when it runs: where none can be started, it is still here.
        let (hand_over, state_of) = channel::<S>();
        let started = start_thread(scope, move || {
            let mut state = state_of.recv().expect("it is handed over at once");
            for mut batch in batches {
                state.take(&batch);
                batch.clear();
                // At the end nothing is sent any more.
                drop(back.send(batch));
            }
            state
        });
        match started {
            Err(_) => To::SameThread(state),
            Ok(thread) => {
                hand_over.send(state).expect("the thread waits for it");
                To::Thread { full, taken, thread }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many, and a sum in which the order counts.
    impl Takes<u64> for (u64, u64) {
        fn take(&mut self, things: &[u64]) {
            for thing in things {
                *self = (self.0 + 1, self.1.wrapping_mul(31).wrapping_add(*thing));
            }
        }
    }

    struct BelowTen;

    impl Takes<u64> for BelowTen {
        fn take(&mut self, things: &[u64]) {
            things.iter().for_each(|thing| assert!(*thing < 10, "{thing}"));
        }
    }

    #[test]
    fn all_things_are_taken_in_their_order_on_a_thread_as_at_once() {
        let count = 5 * MANY as u64 + 7;
        for things in [0, 1, FEW as u64, MANY as u64, count] {
            let both = std::thread::scope(|scope| {
                [None, Some(scope)].map(|scope| {
                    let mut taker = Taker::new(scope, (0, 0));
                    (0..things).for_each(|thing| taker.take(thing));
                    taker.finish()
                })
            });
            assert_eq!(both[0], both[1]);
            assert_eq!(both[0].0, things);
        }
    }

    #[test]
    fn what_a_thread_says_when_it_panics_is_not_lost() {
        let said = std::panic::catch_unwind(|| {
            std::thread::scope(|scope| {
                let mut taker = Taker::new(Some(scope), BelowTen);
                (0..20 * MANY as u64).for_each(|thing| taker.take(thing));
                taker.finish();
            })
        });
        assert!(
            said.is_err_and(|said| said.downcast_ref::<String>().is_some_and(|said| said.contains("10")))
        );
    }
}
