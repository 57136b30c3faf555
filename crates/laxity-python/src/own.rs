//! Tests and prototypes of Python's in one call of laxity.

use crate::own_tests::OwnTest;
use crate::prototypes::Prototype;
use crate::raised::Raised;
use laxity_model::{Diagnostic, Result};
use laxity_program::call::{Own, Stop};
use pyo3::prelude::*;

/// A test or a prototype.
#[derive(FromPyObject)]
pub enum OneOfOwn<'py> {
    Test(Bound<'py, OwnTest>),
    Prototype(Bound<'py, Prototype>),
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
