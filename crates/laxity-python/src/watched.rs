//! Long work on a thread of its own, while the thread of Python shows progress and listens to Ctrl-C.

use crate::asked::Asked;
use crate::own::{OneOfOwn, own_of_call};
use crate::progress::{Relay, StepState, Told};
use laxity_model::Result;
use laxity_program::call::{Given, Stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often progress is shown, and Ctrl-C looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Does long work on a thread of its own. Ctrl-C asks it for its end, and is raised when it has come to it, or with the second Ctrl-C.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    (sets, own): (Vec<laxity_model::TaskSet>, &[OneOfOwn<'_>]),
    watch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Given) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (relay, stop) = (Relay::default(), Stop::new());
    let asked = Asked::here(py)?;
    let own = own_of_call(py, own, (stop, &asked)).inspect_err(|_| stop.give_back())?;
    let given = Given { sets, own, observer: Arc::new(relay.clone()), stop };
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    let worker = std::thread::Builder::new()
        .name("laxity".to_owned())
        .spawn(move || send.send(work(given)))
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let (mut steps, mut raised, mut interrupted) = (Vec::new(), None, false);
    let ended = loop {
        let waited = py.detach(|| receive.lock().expect("this thread has it alone").recv_timeout(LOOK));
        // Ctrl-C is not to wait for a function that never returns.
        let signals = py.check_signals();
        if let Err(signal) = signals.as_ref() {
            asked.interrupt(py);
            // The second one does not wait for what cannot be interrupted, such as a function that sleeps: it ends by itself, later.
            if std::mem::replace(&mut interrupted, true) {
                return Err(signal.clone_ref(py));
            }
        }
        let mut look = signals.and_then(|()| asked.take().map_or(Ok(()), Err));
        // What is said of an end that was asked for is said by what is raised.
        if let Some(watch) = watch.filter(|_| look.is_ok() && raised.is_none()) {
            look = show(&relay, watch, &mut steps);
        }
        if let Err(error) = look
            && raised.is_none()
        {
            raised = Some(error);
            stop.ask();
        }
        match waited {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
            Ok(ended) => break Some(ended),
        }
    };
    let panicked = py.detach(|| worker.join()).is_err();
    stop.give_back();
    match (raised, ended) {
        (Some(raised), _) => Err(raised),
        (None, Some(ended)) => ended.map_err(|error| crate::error(py, &error)),
        (None, None) => {
            let how =
                if panicked { "it has panicked; the reason is on standard error" } else { "it has ended" };
            Err(PyRuntimeError::new_err(format!("a defect of laxity: {how}")))
        }
    }
}

/// Tells Python what was told since the last time, and how far the steps are.
fn show(relay: &Relay, watch: &Bound<'_, PyAny>, steps: &mut Vec<Arc<StepState>>) -> PyResult<()> {
    for told in relay.take() {
        match told {
            Told::Note(words) => drop(watch.call1(("note", words))?),
            Told::Warning(words) => drop(watch.call1(("warning", words))?),
            Told::Begun(step) => steps.push(step),
        }
    }
    for (number, step) in steps.iter().enumerate() {
        let over = step.over.load(Relaxed);
        if over < 2 {
            let (done, total) = (step.done.load(Relaxed), step.total.load(Relaxed));
            watch.call1(("step", number, &step.what, &step.unit, done, total, over == 1))?;
            // What is over is said once.
            step.over.store(over * 2, Relaxed);
        }
    }
    Ok(())
}
