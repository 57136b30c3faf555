//! What to generate, and the generated sets.

use crate::calandrino2007::{Calandrino2007, PreparedCalandrino2007};
use crate::catalogue::{Description, GENERATORS, description};
use crate::common::Common;
use crate::draft::Draft;
use crate::emberson::{Emberson, PreparedEmberson};
use crate::mtt::{Mtt, PreparedMtt};
use crate::parameters::{Parameters, Parametric, Reader};
use crate::stream::RNG_NAME;
use crate::unc::{PreparedUnc, Unc};
use crate::uunifast::{PreparedUUniFast, UUniFast};
use crate::waters::{PreparedWaters, Waters};
use laxity_model::{Diagnostic, Names, Provenance, Result, Task, TaskSet};

/// A generator with its own options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// RandFixedSum utilizations.
    Emberson(Emberson),
    /// UUniFast-Discard.
    UUniFast(UUniFast),
    /// Independently drawn utilizations and periods.
    Unc(Unc),
    /// Automotive runnables.
    Waters(Waters),
    /// Multi-threaded tasks that share memory.
    Mtt(Mtt),
    /// Tasks that enter over time, for fast and slow CPUs.
    Calandrino2007(Calandrino2007),
}

impl Generator {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Generator::Emberson(_) => "emberson",
            Generator::UUniFast(_) => "uunifast",
            Generator::Unc(_) => "unc",
            Generator::Waters(_) => "waters",
            Generator::Mtt(_) => "mtt",
            Generator::Calandrino2007(_) => "calandrino2007",
        }
    }

    fn read(reader: &Reader<'_>, generator: &Description) -> Result<Self> {
        match generator.name {
            "emberson" => Emberson::read(reader).map(Generator::Emberson),
            "uunifast" => UUniFast::read(reader).map(Generator::UUniFast),
            "unc" => Unc::read(reader).map(Generator::Unc),
            "mtt" => Mtt::read(reader).map(Generator::Mtt),
            "calandrino2007" => Calandrino2007::read(reader).map(Generator::Calandrino2007),
            _ => Waters::read(reader).map(Generator::Waters),
        }
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        match self {
            Generator::Emberson(options) => options.written(),
            Generator::UUniFast(options) => options.written(),
            Generator::Unc(options) => options.written(),
            Generator::Waters(options) => options.written(),
            Generator::Mtt(options) => options.written(),
            Generator::Calandrino2007(options) => options.written(),
        }
    }
}

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
        let reader = Reader::new(generator, parameters)?;
        Ok(Request { generator: Generator::read(&reader, generator)?, common: Common::read(&reader)?, seed })
    }

    /// All parameters by name, defaults too: `from_parameters` makes the same request of them.
    pub fn parameters(&self) -> Parameters {
        let all = self.generator.written().into_iter().chain(self.common.written());
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Checks the request and computes once what all its sets share (RandFixedSum's table).
    pub fn prepare(&self) -> Result<Prepared> {
        self.common.check()?;
        if matches!(self.generator, Generator::Mtt(_)) && self.common.wss != Common::default().wss {
            return Err(Diagnostic::usage(
                "generator `mtt` draws the working sets itself: `wss` cannot be given",
            )
            .hint(
                "leave `wss` out; the distribution says how large working sets are (lindsay2012, Table 6.1)",
            ));
        }
        if matches!(self.generator, Generator::Calandrino2007(_))
            && self.common.phases != Common::default().phases
        {
            return Err(Diagnostic::usage(
                "generator `calandrino2007` says when tasks enter: `phases` cannot be given",
            )
            .hint("leave `phases` out; tasks enter 2 to 100 ms after one another (calandrino2007, 5.1)"));
        }
        let generator = match &self.generator {
            Generator::Emberson(options) => PreparedGenerator::Emberson(options.prepare()?),
            Generator::UUniFast(options) => PreparedGenerator::UUniFast(options.prepare()?),
            Generator::Unc(options) => PreparedGenerator::Unc(options.prepare()?),
            Generator::Waters(options) => PreparedGenerator::Waters(options.prepare()?),
            Generator::Mtt(options) => PreparedGenerator::Mtt(options.prepare()?),
            Generator::Calandrino2007(options) => PreparedGenerator::Calandrino2007(options.prepare()?),
        };
        Ok(Prepared { request: self.clone(), generator })
    }
}

#[derive(Debug, Clone)]
enum PreparedGenerator {
    Emberson(PreparedEmberson),
    UUniFast(PreparedUUniFast),
    Unc(PreparedUnc),
    Waters(PreparedWaters),
    Mtt(PreparedMtt),
    Calandrino2007(PreparedCalandrino2007),
}

/// A checked request, ready to generate any of its sets in any order and from many threads.
#[derive(Debug, Clone)]
pub struct Prepared {
    request: Request,
    generator: PreparedGenerator,
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
        if tasks.is_empty() {
            match &self.generator {
                PreparedGenerator::Unc(prepared) => return Err(prepared.refuse_empty(seed, index)),
                PreparedGenerator::Mtt(prepared) => return Err(prepared.refuse_empty(seed, index)),
                PreparedGenerator::Emberson(_)
                | PreparedGenerator::UUniFast(_)
                | PreparedGenerator::Waters(_)
                | PreparedGenerator::Calandrino2007(_) => {}
            }
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
        Ok(common.complete(self.drafts(index)?, seed, index))
    }

    fn drafts(&self, index: u64) -> Result<Vec<Draft>> {
        let seed = self.request.seed;
        match &self.generator {
            PreparedGenerator::Emberson(prepared) => Ok(prepared.draw(seed, index)),
            PreparedGenerator::UUniFast(prepared) => prepared.draw(seed, index),
            PreparedGenerator::Unc(prepared) => prepared.draw(seed, index),
            PreparedGenerator::Waters(prepared) => prepared.draw(seed, index),
            PreparedGenerator::Mtt(prepared) => prepared.draw(seed, index),
            PreparedGenerator::Calandrino2007(prepared) => Ok(prepared.draw(seed, index)),
        }
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
