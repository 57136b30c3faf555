//! What a generator is.

use crate::draft::Draft;
use crate::parameter::Parameter;
use crate::parameters::Reader;
use laxity_model::{Diagnostic, Result};
use std::fmt;
use std::sync::Arc;

/// A generator.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// Name on the command line.
    pub name: &'static str,
    /// What its sets are like.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its own parameters; it has those of [`COMMON_PARAMETERS`] too.
    pub parameters: &'static [Parameter],
    /// Those of [`COMMON_PARAMETERS`] that it makes itself and that cannot be given: why, as a sentence goes on behind
    /// "generator `NAME`", and what says them.
    pub makes: &'static [(&'static str, &'static str, &'static str)],
    /// Options to try it with, behind `laxity generate NAME`.
    pub example: &'static str,
    /// Reads its options.
    pub(crate) read: fn(&Reader<'_>) -> Result<Generator>,
}

/// What a generator is, with its own options. One is a module: a type that does this, its description, and a line in
/// [`GENERATORS`].
pub(crate) trait Generate: fmt::Debug + Send + Sync {
    /// What it is and takes.
    fn description(&self) -> &'static Description;
    /// Every parameter that matters, defaults too.
    fn written(&self) -> Vec<(&'static str, String)>;
    /// Checks the options and computes once what all sets share.
    fn prepare(&self) -> Result<Arc<dyn Draw>>;
}

/// Checked options, by which sets are drawn.
pub(crate) trait Draw: fmt::Debug + Send + Sync {
    /// The tasks of a set.
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>>;
    /// Why a set is empty, as no set with a name may be; nothing of a generator whose sets never are.
    fn refuse_empty(&self, seed: u64, index: u64) -> Option<Diagnostic> {
        let _ = (seed, index);
        None
    }
}

/// A generator with its own options: `Generator::from(Emberson::new(...))`.
#[derive(Debug, Clone)]
pub struct Generator(pub(crate) Arc<dyn Generate>);

impl<G: Generate + 'static> From<G> for Generator {
    fn from(options: G) -> Self {
        Generator(Arc::new(options))
    }
}

/// The same generator with the same options.
impl PartialEq for Generator {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.0.written() == other.0.written()
    }
}

impl Eq for Generator {}

impl Generator {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        self.0.description().name
    }
}
