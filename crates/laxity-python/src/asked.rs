//! Functions of Python that laxity asks in a call: each is asked by one thread at a time and in the caller's context, what they raise
//! ends the call, and Ctrl-C ends them, too.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::ffi::PyThreadState_SetAsyncExc;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::RefCell;
use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whose turn it is to ask a function.
pub type Turn = Mutex<()>;

/// What functions of Python do in a call.
#[derive(Clone)]
pub struct Asked(Arc<State>);

struct State {
    /// The caller's variables of context, such as the precision of decimals.
    context: Py<PyAny>,
    /// What they have raised first.
    raised: Mutex<Option<PyErr>>,
    /// Threads that are in one of them, as Python numbers threads.
    inside: Mutex<Vec<c_long>>,
    /// None is to be asked any more.
    interrupted: AtomicBool,
}

thread_local! {
    /// Functions that this thread is in, from the outermost on.
    static WITHIN: RefCell<Vec<*const Turn>> = const { RefCell::new(Vec::new()) };
}

/// Whether this thread is in the function whose turn this is: it would wait for itself.
pub fn is_within(turn: &Turn) -> bool {
    WITHIN.with_borrow(|turns| turns.contains(&std::ptr::from_ref(turn)))
}

impl Asked {
    /// Nothing yet, in the context of this thread.
    pub fn here(py: Python<'_>) -> PyResult<Asked> {
        let context = py.import("contextvars")?.call_method0("copy_context")?.unbind();
        Ok(Asked(Arc::new(State {
            context,
            raised: Mutex::default(),
            inside: Mutex::default(),
            interrupted: AtomicBool::new(false),
        })))
    }

    /// Asks a function, when it is this thread's turn.
    pub fn ask<T>(&self, turn: &Turn, function: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
        // Before the interpreter, which a thread that has the turn may let go of and want back.
        let _turn = locked(turn);
        Python::attach(|py| {
            let _inside = Inside::enter(py, &self.0, turn)?;
            function(py)
        })
    }

    /// Calls a function of Python in the caller's context. Several may be in it at a time, so each has a copy.
    pub fn call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = function.py();
        let arguments = arguments.into_pyobject(py).map_err(Into::into)?.to_list();
        arguments.insert(0, function)?;
        self.0.context.bind(py).call_method0("copy")?.getattr("run")?.call1(arguments.to_tuple())
    }

    /// Raises KeyboardInterrupt in all threads that are in a function, or come to one.
    pub fn interrupt(&self, py: Python<'_>) {
        self.0.interrupted.store(true, SeqCst);
        let raised = py.get_type::<PyKeyboardInterrupt>();
        for &thread in &*locked(&self.0.inside) {
            // SAFETY: the interpreter is this thread's, and the exception is a class of Python. A thread that has gone is not found.
            unsafe { PyThreadState_SetAsyncExc(thread, raised.as_ptr()) };
        }
    }

    /// Keeps what one has raised, if it is the first.
    pub fn keep(&self, error: PyErr) {
        locked(&self.0.raised).get_or_insert(error);
    }

    /// Takes what was raised.
    pub fn take(&self) -> Option<PyErr> {
        locked(&self.0.raised).take()
    }
}

/// A thread that is in a function.
struct Inside<'s>(&'s State, c_long);

impl<'s> Inside<'s> {
    fn enter(py: Python<'_>, state: &'s State, turn: &Turn) -> PyResult<Self> {
        let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
        locked(&state.inside).push(thread);
        WITHIN.with_borrow_mut(|turns| turns.push(turn));
        let inside = Inside(state, thread);
        // After it is known to be inside: it is interrupted here, or there.
        match state.interrupted.load(SeqCst) {
            true => Err(PyKeyboardInterrupt::new_err(())),
            false => Ok(inside),
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        WITHIN.with_borrow_mut(Vec::pop);
        locked(&self.0.inside).retain(|&thread| thread != self.1);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
