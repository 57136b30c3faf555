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
    /// The first value.
    pub from: u64,
    /// No value is above this.
    pub to: u64,
    /// From one value to the next.
    pub step: u64,
    /// How the axis is sampled more densely where curves bend.
    pub refinement: Option<Refinement>,
}

impl Axis {
    /// Checks the ends; `processors` are those of the platform, if they do not vary.
    ///
    /// # Errors
    ///
    /// No or too many values, numbers that are not whole where they must be, or none at all.
    pub fn new(
        variable: Variable,
        [from, to, step]: [Quantity; 3],
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
                    _ => (format!("is not a whole number of {}", variable.name()), "give a whole number"),
                };
                Diagnostic::usage(format!("axis: {what} = {number} {wrong}")).hint(hint)
            })
        };
        let axis = Axis {
            variable,
            from: units("from", from)?,
            to: units("to", to)?,
            step: units("step", step)?,
            refinement,
        };
        axis.check()?;
        Ok(axis)
    }

    fn check(&self) -> Result<()> {
        let bad = |why: String, hint: &str| Err(Diagnostic::usage(format!("axis: {why}")).hint(hint));
        let shown = |value| self.text(value);
        if self.step == 0 {
            return bad("step is 0: there would be no second value".to_owned(), "give a positive step");
        }
        if self.from > self.to {
            return bad(
                format!("from = {} is above to = {}: there are no values", shown(self.from), shown(self.to)),
                "write the smaller number as `from`",
            );
        }
        if self.from == 0 && !self.variable.may_be_zero() {
            return bad(
                format!("from = 0: a study of 0 {} says nothing", self.variable.name()),
                "begin with 1 or more",
            );
        }
        if (self.to - self.from) / self.step >= POINTS_MOST {
            return bad(
                format!(
                    "there are more than {POINTS_MOST} values from {} to {}",
                    shown(self.from),
                    shown(self.to)
                ),
                "take larger steps",
            );
        }
        Ok(())
    }

    /// All that results depend on.
    pub(crate) fn description(&self) -> Value {
        json!({
            "of": self.variable.name(),
            "from": self.text(self.from),
            "to": self.text(self.to),
            "step": self.text(self.step),
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
        (0..=(self.to - self.from) / self.step).map(|k| self.from + k * self.step).collect()
    }

    /// Whether this is one of the values before the axis is refined.
    pub fn is_on_grid(&self, value: u64) -> bool {
        (self.from..=self.to).contains(&value) && (value - self.from).is_multiple_of(self.step)
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

/// The number in units of the axis, if it is a whole number of them.
fn in_units(variable: Variable, number: Decimal) -> Option<u64> {
    let per_unit = Decimal::ONE.billionths() / variable.resolution();
    number.billionths().is_multiple_of(per_unit).then(|| number.billionths() / per_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(variable: Variable, texts: [&str; 3], processors: Option<u32>) -> Result<Axis> {
        Axis::new(variable, texts.map(|text| text.parse().expect(text)), processors, None)
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
