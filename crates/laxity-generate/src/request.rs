//! What to generate, and the generated sets.

use crate::catalogue::{GENERATORS, description};
use crate::common::Common;
use crate::generator::{Draw, Generator};
use crate::parameters::{Parameters, Parametric as _, Reader};
use crate::stream::RNG_NAME;
use laxity_model::{Diagnostic, Names, Provenance, Result, Task, TaskSet};
use std::sync::Arc;

/// Everything that determines a sequence of task sets: set k is a function of the request and k alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Which generator, with its own options.
    pub generator: Generator,
    /// The options that all generators have.
    pub common: Common,
    /// Seed.
    pub seed: u64,
}

impl Request {
    /// Reads a request from parameters by name; those left out have their defaults ([`GENERATORS`]).
    pub fn from_parameters(generator: &str, seed: u64, parameters: &Parameters) -> Result<Self> {
        let generator = description(generator).ok_or_else(|| {
            let known: Vec<&str> = GENERATORS.iter().map(|generator| generator.name).collect();
            Names::of("generator", &known).listed_by("laxity list generators").unknown(generator)
        })?;
        let reader = Reader::new(generator.name, generator.parameters, parameters)?;
        Ok(Request { generator: (generator.read)(&reader)?, common: Common::read(&reader)?, seed })
    }

    /// All parameters by name, defaults too: `from_parameters` makes the same request of them.
    pub fn parameters(&self) -> Parameters {
        let all = self.generator.0.written().into_iter().chain(self.common.written());
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Refuses options of all generators that this one makes itself.
    fn check_made(&self) -> Result<()> {
        let (given, defaults) = (self.common.written(), Common::default().written());
        let description = self.generator.0.description();
        let refused = description.makes.iter().find(|(name, ..)| {
            given.iter().zip(&defaults).any(|(one, default)| one.0 == *name && one.1 != default.1)
        });
        match refused {
            None => Ok(()),
            Some((name, why, instead)) => Err(Diagnostic::usage(format!(
                "generator `{}` {why}: `{name}` cannot be given",
                description.name
            ))
            .hint(format!("leave `{name}` out; {instead}"))),
        }
    }

    /// Checks the request and computes once what all its sets share (RandFixedSum's table).
    pub fn prepare(&self) -> Result<Prepared> {
        self.common.check()?;
        self.check_made()?;
        let generator = self.generator.0.prepare()?;
        Ok(Prepared { request: self.clone(), generator })
    }
}

/// A checked request, ready to generate any of its sets in any order and from many threads.
#[derive(Debug, Clone)]
pub struct Prepared {
    request: Request,
    generator: Arc<dyn Draw>,
}

impl Prepared {
    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Set number `index`, with its provenance. Named `GENERATOR-SEED-INDEX`; tasks are named by the
    /// generator.
    pub fn generate(&self, index: u64) -> Result<TaskSet> {
        let Request { ref generator, seed, .. } = self.request;
        let tasks = self.tasks(index)?;
        if let Some(refused) = tasks.is_empty().then(|| self.generator.refuse_empty(seed, index)).flatten() {
            return Err(refused);
        }
        let provenance = Provenance {
            generator: generator.name().to_owned(),
            rng: RNG_NAME.to_owned(),
            seed,
            index,
            parameters: self.request.parameters(),
        };
        Ok(TaskSet::new(format!("{}-{seed}-{index}", generator.name()), tasks)?.with_provenance(provenance))
    }

    /// The tasks of set number `index` and nothing around them: for studies of millions of sets. A cap on the total
    /// utilization that the first task drawn exceeds makes an empty set, of which [`Prepared::generate`] makes an error.
    ///
    /// # Errors
    ///
    /// The request asks for more than there is: too many tasks for a utilization, too many attempts.
    pub fn tasks(&self, index: u64) -> Result<Vec<Task>> {
        let Request { ref common, seed, .. } = self.request;
        Ok(common.complete(self.generator.draw(seed, index)?, seed, index))
    }
}

/// Set number `index` of a request. For many sets, [`Request::prepare`] once.
pub fn generate(request: &Request, index: u64) -> Result<TaskSet> {
    request.prepare()?.generate(index)
}

/// The set that a provenance describes, with the name that the generator gave it.
pub fn regenerate(provenance: &Provenance) -> Result<TaskSet> {
    if provenance.rng != RNG_NAME {
        return Err(Diagnostic::usage(format!(
            "the set was generated with the random number generator `{}`; this version has `{RNG_NAME}`",
            provenance.rng
        ))
        .hint("regenerate the set with the version that made it, or keep the file"));
    }
    let request = Request::from_parameters(&provenance.generator, provenance.seed, &provenance.parameters)?;
    generate(&request, provenance.index)
}
