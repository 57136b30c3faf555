//! What takes the jobs or events of a simulation, in their order: at once, or on a thread of its own beside the simulation.
//!
//! Which of the two shows nowhere but in the time. On a thread, things come in batches; a simulation that is faster waits, so that no more
//! than [`BATCHES`] are there.

use laxity_model::start_thread;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// Things in a batch.
const BATCH: usize = 4096;

/// Batches that are on their way, or being taken.
const BATCHES: usize = 3;

/// What takes things.
pub(super) trait Takes<T> {
    /// Takes the next one.
    fn take(&mut self, thing: &T);
}

/// Takes things, and is a `S` in the end.
pub(super) enum Taker<'scope, T, S> {
    AtOnce(S),
    Beside(Line<'scope, T, S>),
}

pub(super) struct Line<'scope, T, S> {
    batch: Vec<T>,
    full: SyncSender<Vec<T>>,
    taken: Receiver<Vec<T>>,
    thread: ScopedJoinHandle<'scope, S>,
}

impl<'scope, T: Clone + Send + 'scope, S: Takes<T> + Send + 'scope> Taker<'scope, T, S> {
    /// On a thread of this scope, if there is one and it can be started.
    pub fn new(scope: Option<&'scope Scope<'scope, '_>>, state: S) -> Self {
        match scope {
            None => Taker::AtOnce(state),
            Some(scope) => Self::beside(scope, state),
        }
    }

    fn beside(scope: &'scope Scope<'scope, '_>, state: S) -> Self {
        let (full, batches) = sync_channel::<Vec<T>>(BATCHES);
        let (back, taken) = channel();
        // The state goes to the thread when it runs: where none can be started, it is still here.
        let (hand_over, state_of) = channel::<S>();
        let started = start_thread(scope, move || {
            let mut state = state_of.recv().expect("it is handed over at once");
            for mut batch in batches {
                batch.iter().for_each(|thing| state.take(thing));
                batch.clear();
                // At the end nothing is sent any more.
                drop(back.send(batch));
            }
            state
        });
        match started {
            Err(_) => Taker::AtOnce(state),
            Ok(thread) => {
                hand_over.send(state).expect("the thread waits for it");
                Taker::Beside(Line { batch: Vec::with_capacity(BATCH), full, taken, thread })
            }
        }
    }

    #[inline]
    pub fn take(&mut self, thing: &T) {
        match self {
            Taker::AtOnce(state) => state.take(thing),
            Taker::Beside(line) => line.push(thing),
        }
    }

    /// All has been taken.
    pub fn finish(self) -> S {
        match self {
            Taker::AtOnce(state) => state,
            Taker::Beside(Line { batch, full, thread, .. }) => {
                // A thread that has panicked takes nothing; what it says comes below.
                drop(full.send(batch));
                drop(full);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        }
    }
}

impl<T: Clone, S> Line<'_, T, S> {
    #[inline]
    fn push(&mut self, thing: &T) {
        self.batch.push(thing.clone());
        if self.batch.len() == BATCH {
            self.pass_on();
        }
    }

    #[inline(never)]
    fn pass_on(&mut self) {
        let next = self.taken.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        drop(self.full.send(std::mem::replace(&mut self.batch, next)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many, and a sum in which the order counts.
    impl Takes<u64> for (u64, u64) {
        fn take(&mut self, thing: &u64) {
            *self = (self.0 + 1, self.1.wrapping_mul(31).wrapping_add(*thing));
        }
    }

    struct BelowTen;

    impl Takes<u64> for BelowTen {
        fn take(&mut self, thing: &u64) {
            assert!(*thing < 10, "{thing}");
        }
    }

    #[test]
    fn all_things_are_taken_in_their_order_on_a_thread_as_at_once() {
        let count = 5 * BATCH as u64 + 7;
        for things in [0, 1, BATCH as u64, count] {
            let both = std::thread::scope(|scope| {
                [None, Some(scope)].map(|scope| {
                    let mut taker = Taker::new(scope, (0, 0));
                    (0..things).for_each(|thing| taker.take(&thing));
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
                (0..20 * BATCH as u64).for_each(|thing| taker.take(&thing));
                taker.finish();
            })
        });
        assert!(
            said.is_err_and(|said| said.downcast_ref::<String>().is_some_and(|said| said.contains("10")))
        );
    }
}
