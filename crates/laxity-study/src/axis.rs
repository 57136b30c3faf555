//! What varies in a study, and the values at which it is looked at.
//!
//! Values are whole numbers of units: tasks, processors, billionths of total utilization, or millionths of a ratio of WCETs.

use crate::quantity::Quantity;
use crate::refinement::Refinement;
use laxity_generate::Decimal;
use laxity_model::{Diagnostic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The most points from one end of an axis to the other, before it is refined.
const POINTS_MOST: u64 = 10_000;

/// What varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variable {
    /// n, the number of tasks.
    Tasks,
    /// U, the total utilization that generators aim at or do not exceed.
    Utilization,
    /// m, the number of processors.
    Processors,
    /// What jobs ask for by the WCET that was reported of their task (lindsay2012, 6.3).
    Overrun,
    /// Size of the deferrable servers: a share of the slowest CPU, and at 1 all of every CPU (calandrino2007, 5.1).
    Server,
}

impl Variable {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Variable::Tasks => "tasks",
            Variable::Utilization => "utilization",
            Variable::Processors => "processors",
            Variable::Overrun => "overrun",
            Variable::Server => "server",
        }
    }

    /// Along an axis of figures.
    pub fn title(self) -> &'static str {
        match self {
            Variable::Tasks => "number of tasks n",
            Variable::Utilization => "total utilization U",
            Variable::Overrun => "actual / reported WCET",
            Variable::Server => "deferrable server / slowest CPU (1: all of every CPU)",
            Variable::Processors => "number of CPUs m",
        }
    }

    /// Whether it is a parameter of generators, by its name.
    pub(crate) fn is_of_generators(self) -> bool {
        matches!(self, Variable::Tasks | Variable::Utilization)
    }

    /// Whether only simulations depend on it.
    pub(crate) fn is_of_simulations(self) -> bool {
        matches!(self, Variable::Overrun | Variable::Server)
    }

    /// Whether the sets depend on it. Otherwise they are the same at all values, so that nothing but what varies differs.
    pub(crate) fn changes_sets(self) -> bool {
        !self.is_of_simulations()
    }

    /// Whether it is something at 0.
    fn may_be_zero(self) -> bool {
        matches!(self, Variable::Utilization | Variable::Server)
    }

    /// Units in 1.
    fn resolution(self) -> u64 {
        match self {
            Variable::Utilization => Decimal::ONE.billionths(),
            Variable::Overrun | Variable::Server => 1_000_000,
            Variable::Tasks | Variable::Processors => 1,
        }
    }
}

/// The values of what varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What varies.
    pub variable: Variable,
    grid: Grid,
    /// How the axis is sampled more densely where curves bend.
    pub refinement: Option<Refinement>,
}

/// The values before the axis is refined, as they are written: exact, or multiples of m.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenGrid {
    /// The first value, what no value is above, and from one value to the next.
    Steps([Quantity; 3]),
    /// All of them.
    Values(Vec<Quantity>),
}

/// The same in units of the axis.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Grid {
    Steps {
        from: u64,
        to: u64,
        step: u64,
    },
    /// Ascending.
    Values(Vec<u64>),
}

impl Axis {
    /// Checks the values; `processors` are those of the platform, if they do not vary.
    ///
    /// # Errors
    ///
    /// No or too many values, a list that does not ascend or that is refined, numbers that are not whole where they must be, or none at
    /// all.
    pub fn new(
        variable: Variable,
        written: &WrittenGrid,
        processors: Option<u32>,
        refinement: Option<Refinement>,
    ) -> Result<Self> {
        let units = |what: &str, quantity: Quantity| {
            if quantity.depends_on_processors() && processors.is_none() {
                return Err(Diagnostic::usage(format!("axis: {what} = `{quantity}` depends on what varies"))
                    .hint("give a number"));
            }
            let number = quantity.at(processors.unwrap_or(1))?;
            in_units(variable, number).ok_or_else(|| {
                let (wrong, hint) = match variable {
                    Variable::Overrun | Variable::Server => {
                        ("has more than 6 decimals".to_owned(), "give fewer decimals")
                    }
                    Variable::Tasks | Variable::Utilization | Variable::Processors => {
                        (format!("is not a whole number of {}", variable.name()), "give a whole number")
                    }
                };
                Diagnostic::usage(format!("axis: {what} = {number} {wrong}")).hint(hint)
            })
        };
        let grid = match written {
            WrittenGrid::Steps([from, to, step]) => Grid::Steps {
                from: units("from", *from)?,
                to: units("to", *to)?,
                step: units("step", *step)?,
            },
            WrittenGrid::Values(values) => {
                Grid::Values(values.iter().map(|&value| units("a value", value)).collect::<Result<_>>()?)
            }
        };
        let axis = Axis { variable, grid, refinement };
        match &axis.grid {
            &Grid::Steps { from, to, step } => axis.check_steps(from, to, step)?,
            Grid::Values(values) => axis.check_values(values)?,
        }
        Ok(axis)
    }

    fn check_steps(&self, from: u64, to: u64, step: u64) -> Result<()> {
        let shown = |value| self.text(value);
        if step == 0 {
            return bad("step is 0: there would be no second value".to_owned(), "give a positive step");
        }
        if from > to {
            return bad(
                format!("from = {} is above to = {}: there are no values", shown(from), shown(to)),
                "write the smaller number as `from`",
            );
        }
        if from == 0 && !self.variable.may_be_zero() {
            return bad(
                format!("from = 0: a study of 0 {} says nothing", self.variable.name()),
                "begin with 1 or more",
            );
        }
        if (to - from) / step >= POINTS_MOST {
            return bad(
                format!("there are more than {POINTS_MOST} values from {} to {}", shown(from), shown(to)),
                "take larger steps",
            );
        }
        Ok(())
    }

    fn check_values(&self, values: &[u64]) -> Result<()> {
        if self.refinement.is_some() {
            return bad(
                "`refine` looks between steps, and `values` are all that there are".to_owned(),
                "leave one of the two out",
            );
        }
        if let Some(two) = values.windows(2).find(|two| two[0] >= two[1]) {
            return bad(
                format!("values: {} stands before {}", self.text(two[0]), self.text(two[1])),
                "let them ascend, each once",
            );
        }
        match values {
            [] => bad("values: there are none".to_owned(), "list at least one, as in `values = [1, 5, 20]`"),
            [0, ..] if !self.variable.may_be_zero() => bad(
                format!("values: a study of 0 {} says nothing", self.variable.name()),
                "begin with 1 or more",
            ),
            _ if values.len() as u64 > POINTS_MOST => bad(
                format!("values: there are {}, more than {POINTS_MOST}", values.len()),
                "make several studies of it",
            ),
            _ => Ok(()),
        }
    }

    /// All that results depend on.
    pub(crate) fn description(&self) -> Value {
        let (from, to, step) = match &self.grid {
            Grid::Values(values) => {
                let values: Vec<String> = values.iter().map(|&value| self.text(value)).collect();
                return json!({ "of": self.variable.name(), "values": values });
            }
            &Grid::Steps { from, to, step } => (from, to, step),
        };
        json!({
            "of": self.variable.name(),
            "from": self.text(from),
            "to": self.text(to),
            "step": self.text(step),
            "refine": self.refinement.map(|refinement| json!({
                "depth": refinement.depth,
                "precision": refinement.precision.to_string(),
                "noise": refinement.refine_noise,
            })),
        })
    }

    /// The values of the grid that are not known yet.
    pub(crate) fn open(&self, is_known: impl Fn(u64) -> bool) -> Vec<u64> {
        self.grid().into_iter().filter(|&value| !is_known(value)).collect()
    }

    /// The values before the axis is refined, ascending.
    pub fn grid(&self) -> Vec<u64> {
        match &self.grid {
            &Grid::Steps { from, to, step } => (0..=(to - from) / step).map(|k| from + k * step).collect(),
            Grid::Values(values) => values.clone(),
        }
    }

    /// Whether this is one of the values before the axis is refined.
    pub fn is_on_grid(&self, value: u64) -> bool {
        match &self.grid {
            &Grid::Steps { from, to, step } => {
                (from..=to).contains(&value) && (value - from).is_multiple_of(step)
            }
            Grid::Values(values) => values.contains(&value),
        }
    }

    /// No value is above this.
    pub fn most(&self) -> u64 {
        match &self.grid {
            &Grid::Steps { to, .. } => to,
            Grid::Values(values) => values.last().copied().unwrap_or(0),
        }
    }

    /// A value as a number: exact.
    pub fn decimal(&self, value: u64) -> Decimal {
        let text = self.text(value);
        text.parse().expect("values are at most 10^9")
    }

    /// A value as it is written.
    pub fn text(&self, value: u64) -> String {
        match self.variable {
            Variable::Tasks | Variable::Processors => value.to_string(),
            Variable::Utilization | Variable::Overrun | Variable::Server => {
                let resolution = self.variable.resolution();
                let (whole, part) = (value / resolution, value % resolution);
                let digits = resolution.ilog10() as usize;
                let text = format!("{whole}.{part:0digits$}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
    }

    /// A value to be drawn.
    pub fn position(&self, value: u64) -> f64 {
        self.decimal(value).to_f64()
    }
}

fn bad(why: String, hint: &str) -> Result<()> {
    Err(Diagnostic::usage(format!("axis: {why}")).hint(hint))
}

/// The number in units of the axis, if it is a whole number of them.
fn in_units(variable: Variable, number: Decimal) -> Option<u64> {
    let per_unit = Decimal::ONE.billionths() / variable.resolution();
    number.billionths().is_multiple_of(per_unit).then(|| number.billionths() / per_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(variable: Variable, texts: [&str; 3], processors: Option<u32>) -> Result<Axis> {
        let steps = WrittenGrid::Steps(texts.map(|text| text.parse().expect(text)));
        Axis::new(variable, &steps, processors, None)
    }

    fn listed(variable: Variable, texts: &[&str], refinement: Option<Refinement>) -> Result<Axis> {
        let values = texts.iter().map(|text| text.parse().expect(text)).collect();
        Axis::new(variable, &WrittenGrid::Values(values), Some(4), refinement)
    }

    #[test]
    fn values_are_exact() {
        let tasks = axis(Variable::Tasks, ["m", "3m", "32"], Some(64)).expect("an axis");
        assert_eq!(tasks.grid(), [64, 96, 128, 160, 192]);
        assert_eq!(tasks.text(96), "96");
        let load = axis(Variable::Utilization, ["0.1", "0.45", "0.1"], Some(4)).expect("an axis");
        let texts: Vec<String> = load.grid().into_iter().map(|value| load.text(value)).collect();
        assert_eq!(texts, ["0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(load.decimal(load.grid()[2]), "0.3".parse().expect("a number"));
        assert_eq!(load.text(2_000_000_000), "2");
        let one = axis(Variable::Processors, ["4", "4", "1"], None).expect("an axis");
        assert_eq!(one.grid(), [4]);
    }

    #[test]
    fn values_may_be_listed() {
        let tasks = listed(Variable::Tasks, &["1", "m", "2.5m", "16"], None).expect("an axis");
        assert_eq!((tasks.grid(), tasks.most()), (vec![1, 4, 10, 16], 16));
        assert!(tasks.is_on_grid(10) && !tasks.is_on_grid(11));
        assert_eq!(tasks.description(), json!({ "of": "tasks", "values": ["1", "4", "10", "16"] }));
        assert_eq!(tasks.open(|value| value == 4), [1, 10, 16]);
        let load = listed(Variable::Utilization, &["0", "0.25"], None).expect("an axis");
        assert_eq!(load.grid(), [0, 250_000_000]);
        let refinement = Refinement { depth: 1, precision: Decimal::ONE, refine_noise: false };
        for (texts, refinement, part) in [
            (&["4", "m"][..], None, "values: 4 stands before 4"),
            (&["5", "4"], None, "values: 5 stands before 4"),
            (&[], None, "there are none"),
            (&["0", "4"], None, "a study of 0 tasks"),
            (&["0.5"], None, "a value = 0.5 is not a whole number"),
            (&["1", "2"], Some(refinement), "`refine` looks between steps"),
        ] {
            let error = listed(Variable::Tasks, texts, refinement).expect_err(part);
            assert!(error.message.contains(part) && error.hint.is_some(), "{error}");
        }
    }

    #[test]
    fn refuses_what_is_no_axis() {
        for (variable, texts, processors, part) in [
            (Variable::Tasks, ["8", "4", "1"], Some(4), "no values"),
            (Variable::Tasks, ["4", "8", "0"], Some(4), "step is 0"),
            (Variable::Tasks, ["4", "8", "0.5"], Some(4), "step = 0.5 is not a whole number"),
            (Variable::Tasks, ["0", "8", "1"], Some(4), "from = 0"),
            (Variable::Processors, ["0", "8", "1"], None, "from = 0"),
            (Variable::Processors, ["1", "2m", "1"], None, "depends on what varies"),
            (Variable::Utilization, ["0", "1000", "0.0001"], Some(4), "more than 10000"),
        ] {
            let error = axis(variable, texts, processors).expect_err(part);
            assert!(error.message.contains(part) && error.hint.is_some(), "{error}");
        }
    }
}
