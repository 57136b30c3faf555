//! What happens to a job that has used up its budget.

use crate::text_form::serde_as_text;
use crate::{Diagnostic, Names, Result};
use std::fmt;
use std::str::FromStr;

crate::listed_enum! {
    /// What happens to a job that has used up its budget: the WCET, once a period.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum BudgetMode {
        /// Nothing: budgets are not enforced.
        #[default]
        Off,
        /// It waits for its next replenishment, one period after the last.
        Throttle,
        /// It goes on with a full budget and a deadline one period later.
        Postpone,
    }
}

impl BudgetMode {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            BudgetMode::Off => "off",
            BudgetMode::Throttle => "throttle",
            BudgetMode::Postpone => "postpone",
        }
    }

    /// The number that policies know it by: `enum lx_budget_mode` in `policy/state.h`.
    pub const fn code(self) -> u32 {
        match self {
            BudgetMode::Off => 0,
            BudgetMode::Throttle => 1,
            BudgetMode::Postpone => 2,
        }
    }
}

impl fmt::Display for BudgetMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BudgetMode {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let found = BudgetMode::ALL.into_iter().find(|mode| mode.name() == text);
        found.ok_or_else(|| Names::of("budget mode", &BudgetMode::ALL.map(BudgetMode::name)).unknown(text))
    }
}

serde_as_text!(BudgetMode);
