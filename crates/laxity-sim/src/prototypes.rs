//! Prototypes that a simulation can be of, by their names.

use laxity_model::{Cell, Diagnostic, Names, Prototype as PrototypeName, Result, TaskSet};
use laxity_policy::Prototype;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Makes a prototype for a cell, once for each simulation. It numbers the cell's tasks and CPUs from 0, in the order that the cell has.
pub type Begin = Arc<dyn Fn(&TaskSet, &Cell) -> Result<Box<dyn Prototype>> + Send + Sync>;

/// The prototypes that there are.
#[derive(Clone, Default)]
pub struct Prototypes(BTreeMap<&'static str, Begin>);

impl Prototypes {
    /// None.
    pub const NONE: Prototypes = Prototypes(BTreeMap::new());

    /// One more.
    ///
    /// # Errors
    ///
    /// There is one of this name.
    pub fn add(&mut self, name: PrototypeName, begin: Begin) -> Result<()> {
        match self.0.insert(name.name(), begin) {
            None => Ok(()),
            Some(_) => Err(Diagnostic::usage(format!("prototype `{}` is there twice", name.name()))
                .hint("give one of them another name")),
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    ///
    /// There is none, and where prototypes come from.
    pub fn get(&self, prototype: PrototypeName) -> Result<&Begin> {
        let name = prototype.name();
        self.0.get(name).ok_or_else(|| {
            if self.0.is_empty() {
                return Diagnostic::usage(format!("`{prototype}`: no prototype is known here")).hint(
                    "a prototype is simulated by the call that defines it: laxity.prototype(...) in Python (docs/how-to/python.md)",
                );
            }
            let known: Vec<&str> = self.0.keys().copied().collect();
            Names::of("prototype", &known).unknown(name)
        })
    }
}

impl fmt::Debug for Prototypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
