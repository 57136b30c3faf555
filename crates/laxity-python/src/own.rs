//! Tests and prototypes of Python's in one call of laxity.

use crate::own_tests::OwnTest;
use crate::prototypes::Prototype;
use laxity_model::{Diagnostic, Result};
use laxity_program::call::{Own, Stop};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A test or a prototype.
#[derive(FromPyObject)]
pub enum OneOfOwn<'py> {
    Test(Bound<'py, OwnTest>),
    Prototype(Bound<'py, Prototype>),
}

/// What functions of Python have raised first in a call.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps it, if it is the first.
    pub fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Takes it.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What commands are given of it: what raises in a call ends that call.
pub fn own_of_call(py: Python<'_>, all: &[OneOfOwn<'_>], (stop, raised): (Stop, &Raised)) -> Result<Own> {
    let mut own = Own::default();
    for one in all {
        let (name, version) = match one {
            OneOfOwn::Test(test) => {
                let test = test.get().0;
                own.tests.push(test.of_call(stop, raised.clone()));
                (test.info.name, &test.version)
            }
            OneOfOwn::Prototype(prototype) => {
                let prototype = prototype.get();
                let named = prototype.scheduler.policy.prototype().expect("a prototype's scheduler");
                own.prototypes.add(named, prototype.begin(py, raised.clone()))?;
                (named.name(), &prototype.version)
            }
        };
        if own.versions.insert(name.to_owned(), version.clone()).is_some() {
            return Err(Diagnostic::usage(format!("`{name}` is the name of two of your own"))
                .hint("give one of them another name"));
        }
    }
    Ok(own)
}
