//! What a generator is.

use crate::draft::Draft;
use crate::parameter::Parameter;
use crate::parameters::{Parametric, Reader};
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
    /// Its own parameters; it has those of [`crate::COMMON_PARAMETERS`] too.
    pub parameters: &'static [Parameter],
    /// Those of [`crate::COMMON_PARAMETERS`] that it makes itself and that cannot be given: why, as a sentence goes on behind
    /// "generator `NAME`", and what says them.
    pub makes: &'static [(&'static str, &'static str, &'static str)],
    /// Options to try it with, behind `laxity generate NAME`.
    pub example: &'static str,
    /// Reads its options.
    pub(crate) read: fn(&Reader<'_>) -> Result<Generator>,
}

/// The options of a generator. One is a module: a type that does this, and a line in `GENERATORS`.
pub(crate) trait Options: Parametric + fmt::Debug + Send + Sync + 'static {
    /// Checked options.
    type Prepared: Draw + 'static;

    /// What it is and takes.
    const DESCRIPTION: &'static Description;

    /// Checks the options and computes once what all sets share.
    fn prepare(&self) -> Result<Self::Prepared>;
}

/// The same of any generator.
pub(crate) trait Generate: fmt::Debug + Send + Sync {
    fn description(&self) -> &'static Description;
    fn written(&self) -> Vec<(&'static str, String)>;
    fn prepare(&self) -> Result<Arc<dyn Draw>>;
}

impl<O: Options> Generate for O {
    fn description(&self) -> &'static Description {
        O::DESCRIPTION
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        Parametric::written(self)
    }

    fn prepare(&self) -> Result<Arc<dyn Draw>> {
        Ok(Arc::new(Options::prepare(self)?))
    }
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

impl<O: Options> From<O> for Generator {
    fn from(options: O) -> Self {
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
