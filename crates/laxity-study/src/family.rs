//! Families of task sets: a generator with parameters, some of which a matrix varies.

use crate::axis::{Axis, Variable};
use crate::file::Written;
use crate::quantity::Quantity;
use crate::sets::Given;
use laxity_generate::{GENERATORS, Parameters, Request, seed_of};
use laxity_model::{Diagnostic, Names, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Parameters that may be multiples of m.
const QUANTITIES: &[&str] = &["tasks", "utilization", "rescale-cores", "rescale-above"];
/// The most families of a study.
const FAMILIES_MOST: usize = 1_000;

/// Task sets of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// What the matrix chose for it, by parameter; empty without a matrix.
    pub varied: BTreeMap<String, String>,
    generator: String,
    parameters: BTreeMap<String, Parameter>,
}

/// A parameter of a generator.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Parameter {
    Text(String),
    Quantity(Quantity),
}

impl Family {
    /// Values of what the matrix varies, as in `log-uniform:1ms,1000ms, exp-light`; empty without a matrix.
    pub fn label(&self) -> String {
        self.varied.values().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Name of its files: letters, digits and `-`; empty without a matrix.
    pub fn stem(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        self.varied
            .values()
            .map(|value| value.chars().map(plain).collect::<String>())
            .collect::<Vec<_>>()
            .join("-")
    }

    /// The generator and its parameters in one line.
    pub fn words(&self) -> String {
        let parameter = |(name, value): (&String, &Parameter)| format!("{name} {}", value.text());
        let parameters: Vec<String> = self.parameters.iter().map(parameter).collect();
        format!("{}: {}", self.generator, parameters.join(", "))
    }

    pub(crate) fn description(&self) -> Value {
        let parameters: BTreeMap<&String, String> =
            self.parameters.iter().map(|(name, value)| (name, value.text())).collect();
        json!({ "generator": self.generator, "parameters": parameters })
    }

    /// Words for a seed: families differ in what they draw, and draw the same in every study.
    fn words_of_seed(&self) -> impl Iterator<Item = u64> {
        self.words().into_bytes().into_iter().map(u64::from)
    }

    /// The seed of the sets at a value of the axis.
    pub(crate) fn seed(&self, seed: u64, axis: &Axis, value: u64) -> u64 {
        let variable = axis.variable;
        let point = if variable.changes_sets() { vec![variable as u64, value] } else { Vec::new() };
        let words: Vec<u64> = std::iter::once(seed).chain(point).chain(self.words_of_seed()).collect();
        seed_of(&words)
    }

    /// What gives its sets, if no generator of laxity does, with the parameters.
    pub(crate) fn given(&self) -> Option<(Given, BTreeMap<String, String>)> {
        let given = Given::named(&self.generator)?;
        Some((given, self.parameters.iter().map(|(name, value)| (name.clone(), value.text())).collect()))
    }

    /// What draws the sets at a value of the axis: set k there is a function of the study's seed, the family, what varies and k.
    /// Where what varies changes nothing in the sets, they are the same at all values. Nothing where the total utilization is 0: the
    /// set without tasks.
    pub(crate) fn request(
        &self,
        seed: u64,
        axis: &Axis,
        value: u64,
        processors: u32,
    ) -> Result<Option<Request>> {
        let variable = axis.variable;
        if variable == Variable::Utilization && value == 0 {
            return Ok(None);
        }
        let mut parameters: Parameters = self
            .parameters
            .iter()
            .map(|(name, value)| Ok((name.clone(), value.at(processors)?)))
            .collect::<Result<_>>()?;
        if variable.is_of_generators() {
            parameters.insert(variable.name().to_owned(), axis.text(value));
        }
        let request = Request::from_parameters(&self.generator, self.seed(seed, axis, value), &parameters);
        request.map(Some).map_err(|error| error.context("generator"))
    }
}

impl Parameter {
    fn of(name: &str, Written(text): Written) -> Result<Self> {
        if !QUANTITIES.contains(&name) {
            return Ok(Parameter::Text(text));
        }
        let quantity = text.parse::<Quantity>();
        quantity
            .map(Parameter::Quantity)
            .map_err(|error| error.context(format!("generator: parameter `{name}`")))
    }

    fn text(&self) -> String {
        match self {
            Parameter::Text(text) => text.clone(),
            Parameter::Quantity(quantity) => quantity.to_string(),
        }
    }

    fn at(&self, processors: u32) -> Result<String> {
        match self {
            Parameter::Text(text) => Ok(text.clone()),
            Parameter::Quantity(quantity) => Ok(quantity.at(processors)?.to_string()),
        }
    }
}

/// All combinations of the matrix, its last parameter (in alphabetical order) varying fastest.
pub(crate) fn families(
    generator: &BTreeMap<String, Written>,
    matrix: &BTreeMap<String, Vec<Written>>,
    variable: Variable,
) -> Result<Vec<Family>> {
    let (name, parameters) = split(generator)?;
    let mut combinations = vec![BTreeMap::new()];
    for (parameter, values) in matrix {
        check_matrix(parameter, values, &parameters)?;
        combinations = combinations
            .into_iter()
            .flat_map(|chosen: BTreeMap<String, Written>| {
                values.iter().map(move |value| {
                    let mut chosen = chosen.clone();
                    chosen.insert(parameter.clone(), value.clone());
                    chosen
                })
            })
            .collect();
        if combinations.len() > FAMILIES_MOST {
            return Err(Diagnostic::usage(format!(
                "matrix: there are more than {FAMILIES_MOST} combinations"
            ))
            .hint("make several studies of it"));
        }
    }
    let varies = variable.name();
    if parameters.contains_key(varies) || matrix.contains_key(varies) {
        return Err(Diagnostic::usage(format!("generator: `{varies}` is given, and also what varies"))
            .hint(format!("leave `{varies}` out of the generator, or let something else vary")));
    }
    let families: Vec<Family> =
        combinations.into_iter().map(|chosen| family(&name, &parameters, chosen)).collect::<Result<_>>()?;
    for (given, parameters) in families.iter().filter_map(Family::given) {
        given.check(&parameters, varies, variable.changes_sets() && variable != Variable::Processors)?;
    }
    Ok(families)
}

/// The generator's name, and the rest.
fn split(generator: &BTreeMap<String, Written>) -> Result<(String, BTreeMap<String, Written>)> {
    let mut parameters = generator.clone();
    let Some(Written(name)) = parameters.remove("name") else {
        return Err(Diagnostic::usage("generator: `name` is missing")
            .hint("name a generator, as in `name = \"unc\"` (see `laxity list`)"));
    };
    let known: Vec<&str> =
        GENERATORS.iter().map(|generator| generator.name).chain(Given::ALL.map(Given::name)).collect();
    if !known.contains(&name.as_str()) {
        return Err(Names::of("generator", &known).unknown(&name).context("generator"));
    }
    Ok((name, parameters))
}

fn check_matrix(parameter: &str, values: &[Written], parameters: &BTreeMap<String, Written>) -> Result<()> {
    if values.is_empty() {
        return Err(Diagnostic::usage(format!("matrix: `{parameter}` has no values"))
            .hint("list at least one, or leave the parameter out"));
    }
    if parameters.contains_key(parameter) {
        return Err(Diagnostic::usage(format!("`{parameter}` is in the generator and in the matrix"))
            .hint("leave it out of one of them"));
    }
    if let Some(at) = (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
        return Err(Diagnostic::usage(format!("matrix: `{parameter}` has `{}` twice", values[at].0))
            .hint("list every value once"));
    }
    Ok(())
}

fn family(
    name: &str,
    parameters: &BTreeMap<String, Written>,
    chosen: BTreeMap<String, Written>,
) -> Result<Family> {
    let all = parameters.clone().into_iter().chain(chosen.clone());
    Ok(Family {
        varied: chosen.into_iter().map(|(parameter, Written(value))| (parameter, value)).collect(),
        generator: name.to_owned(),
        parameters: all
            .map(|(parameter, written)| Ok((parameter.clone(), Parameter::of(&parameter, written)?)))
            .collect::<Result<_>>()?,
    })
}
