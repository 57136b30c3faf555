//! The progress callback of HiGHS, which its Rust binding does not wrap.

use super::Progress;
use highs::{HighsStatus, Model, SolvedModel};
use highs_sys::{HighsCallbackDataIn, HighsCallbackDataOut};
use std::any::Any;
use std::ffi::{c_char, c_int, c_void};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Least time between two reports.
const REPORT_INTERVAL_S: f64 = 0.1;

/// A solve with someone watching.
pub(crate) struct Watched<'w> {
    watch: &'w mut dyn FnMut(&Progress) -> ControlFlow<()>,
    /// The best load and the lower bound known before the solver started.
    known: (f64, f64),
    reported_s: Option<f64>,
    stop: bool,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'w> Watched<'w> {
    pub fn new(watch: &'w mut dyn FnMut(&Progress) -> ControlFlow<()>, known: (f64, f64)) -> Self {
        Watched { watch, known, reported_s: None, stop: false, panic: None }
    }

    /// Solves the model. A panic of the watcher stops the solver and continues here.
    pub fn solve(&mut self, mut model: Model) -> Result<SolvedModel, HighsStatus> {
        let highs = model.as_mut_ptr();
        let data: *mut Self = self;
        // SAFETY: `highs` is the live instance owned by `model`. The callback is taken away again below, before
        // `self`, to which `data` points, can go; until then nothing else touches `self`.
        unsafe {
            highs_sys::Highs_setCallback(highs, Some(report), data.cast());
            highs_sys::Highs_startCallback(highs, highs_sys::kHighsCallbackMipInterrupt);
        }
        let mut solved = model.try_solve();
        if let Ok(solved) = &mut solved {
            // SAFETY: the same instance, now owned by `solved`. (If solving failed, it has been destroyed.)
            unsafe {
                highs_sys::Highs_stopCallback(solved.as_mut_ptr(), highs_sys::kHighsCallbackMipInterrupt);
                highs_sys::Highs_setCallback(solved.as_mut_ptr(), None, std::ptr::null_mut());
            }
        }
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        solved
    }

    fn report(&mut self, elapsed_s: f64, best: f64, lower_bound: f64) {
        let due = self.reported_s.is_none_or(|last| elapsed_s - last >= REPORT_INTERVAL_S);
        if self.stop || !due {
            return;
        }
        self.reported_s = Some(elapsed_s);
        let progress =
            Progress { elapsed_s, best: best.min(self.known.0), lower_bound: lower_bound.max(self.known.1) };
        match catch_unwind(AssertUnwindSafe(|| (self.watch)(&progress))) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => self.stop = true,
            Err(panic) => {
                self.panic = Some(panic);
                self.stop = true;
            }
        }
    }
}

/// Called by HiGHS between two steps of the search.
unsafe extern "C" fn report(
    _kind: c_int,
    _message: *const c_char,
    out: *const HighsCallbackDataOut,
    into: *mut HighsCallbackDataIn,
    data: *mut c_void,
) {
    // SAFETY: HiGHS passes valid structures for this kind of callback, and `data` is what `Watched::solve`
    // registered, alive and unused while the solver runs.
    unsafe {
        let watched = &mut *data.cast::<Watched>();
        watched.report((*out).running_time, (*out).mip_primal_bound, (*out).mip_dual_bound);
        (*into).user_interrupt = c_int::from(watched.stop);
    }
}
