//! Tests and prototypes of Python's in one call of laxity.

use crate::asked::{Asked, is_within};
use crate::own_tests::OwnTest;
use crate::prototypes::Prototype;
use laxity_model::Diagnostic;
use laxity_program::call::{Own, Stop};
use pyo3::prelude::*;

/// A test or a prototype.
#[derive(FromPyObject)]
pub enum OneOfOwn<'py> {
    Test(Bound<'py, OwnTest>),
    Prototype(Bound<'py, Prototype>),
}

/// What commands are given of it: what raises in a call ends that call.
pub fn own_of_call(py: Python<'_>, all: &[OneOfOwn<'_>], (stop, asked): (Stop, &Asked)) -> PyResult<Own> {
    let refused = |error: Diagnostic| crate::error(py, &error);
    let mut own = Own::default();
    for one in all {
        let (name, turn, version) = match one {
            OneOfOwn::Test(test) => {
                let test = test.get().0;
                own.tests.push(test.of_call(stop, asked.clone()));
                (test.info.name, &test.turn, &test.version)
            }
            OneOfOwn::Prototype(prototype) => {
                let prototype = prototype.get();
                let named = prototype.named();
                own.prototypes.add(named, prototype.begin(py, asked.clone())).map_err(refused)?;
                (named.name(), &*prototype.turn, &prototype.version)
            }
        };
        if is_within(turn) {
            return Err(refused(
                Diagnostic::usage(format!("`{name}` asks for itself")).hint("leave it out of the inner call"),
            ));
        }
        let version = version.call_method0(py, "of_call")?.extract(py)?;
        if own.versions.insert(name.to_owned(), version).is_some() {
            return Err(refused(
                Diagnostic::usage(format!("`{name}` is the name of two of your own"))
                    .hint("give one of them another name"),
            ));
        }
    }
    Ok(own)
}
