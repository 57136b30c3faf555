//! Code that stops at places where others may go first, and goes on when it is resumed: a stack of its own each.

use crate::parts::Wait;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};

const STACK_BYTES: usize = 256 * 1024;

thread_local! {
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
    static CURRENT: Cell<*const Yielder<(), Wait>> = const { Cell::new(std::ptr::null()) };
}

/// What the kernel does on a CPU, until it is done: it stops at [`suspend`].
pub(crate) struct Fibre(Option<Coroutine<(), Wait, (), DefaultStack>>);

impl Fibre {
    pub(crate) fn new(body: impl FnOnce() + 'static) -> Fibre {
        let stack = STACKS
            .with_borrow_mut(Vec::pop)
            .unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("memory for a stack"));
        Fibre(Some(Coroutine::with_stack(stack, move |yielder: &Yielder<(), Wait>, ()| {
            CURRENT.set(std::ptr::from_ref(yielder));
            body();
        })))
    }

    /// Goes on to the next place where others may go first: for what it waits there; `None` at the end.
    pub(crate) fn resume(&mut self) -> Option<Wait> {
        let before = CURRENT.get();
        let result = self.0.as_mut().expect("it has not ended").resume(());
        CURRENT.set(before);
        match result {
            CoroutineResult::Yield(wait) => Some(wait),
            CoroutineResult::Return(()) => {
                let ended = self.0.take().expect("it has just ended");
                STACKS.with_borrow_mut(|stacks| stacks.push(ended.into_stack()));
                None
            }
        }
    }
}

impl Drop for Fibre {
    fn drop(&mut self) {
        if let Some(mut left) = self.0.take() {
            // SAFETY: what is on the stack, of C and of the model, is plain data or is leaked: nothing has to be undone. Its frames of
            // C cannot be unwound.
            unsafe { left.force_reset() };
            STACKS.with_borrow_mut(|stacks| stacks.push(left.into_stack()));
        }
    }
}

/// Whether a fibre runs: else the model itself does.
pub(crate) fn is_in_fibre() -> bool {
    !CURRENT.get().is_null()
}

/// Others go first, and the caller goes on when what it waits for is there.
pub(crate) fn suspend(wait: Wait) {
    let yielder = CURRENT.get();
    assert!(!yielder.is_null(), "code of the kernel runs in a fibre");
    // SAFETY: it is the yielder of the fibre that runs, which is on that fibre's stack.
    unsafe { (*yielder).suspend(wait) };
    CURRENT.set(yielder);
}
