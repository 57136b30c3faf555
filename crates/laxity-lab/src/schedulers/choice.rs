//! How tasks are to be placed, as it is said on the command line.

use laxity_model::{Diagnostic, Result};
use laxity_place::{Fit, Fitting, Listed, Method};
use std::fmt;
use std::str::FromStr;

/// A way to place tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The least load; where the test of the scheduler does not prove that, the first of some heuristics that goes by the test.
    #[default]
    Auto,
    /// This one, and no other.
    Method(Method),
}

impl Choice {
    /// The name of what is no method.
    pub const AUTO: &str = "auto";

    /// Its line of `laxity list`.
    pub fn listed() -> Listed {
        let description = "ilp; where a scheduler's test does not prove its places, a heuristic or a search by the test (default)";
        Listed { name: Self::AUTO.into(), description: description.into() }
    }

    /// Where loads decide.
    pub fn method(self) -> Method {
        match self {
            Choice::Auto => Method::Ilp,
            Choice::Method(method) => method,
        }
    }

    /// Where this decides. The integer program, which `auto` is elsewhere, has no sum for demand bound functions.
    pub fn method_by(self, fit: Fitting) -> Method {
        match (self, fit) {
            (Choice::Auto, Fitting::Load(Some(Fit::DemandBound))) => "wfd".parse().expect("a heuristic"),
            _ => self.method(),
        }
    }

    /// What was named.
    pub fn named(self) -> Option<Method> {
        match self {
            Choice::Auto => None,
            Choice::Method(method) => Some(method),
        }
    }
}

impl From<Method> for Choice {
    fn from(method: Method) -> Self {
        Choice::Method(method)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => f.pad(Self::AUTO),
            Choice::Method(method) => method.fmt(f),
        }
    }
}

impl FromStr for Choice {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim().eq_ignore_ascii_case(Self::AUTO) {
            return Ok(Choice::Auto);
        }
        text.parse().map(Choice::Method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for name in ["auto", "ilp", "ffd", "lwfg-else:wfd", "ff:density:down"] {
            assert_eq!(name.parse::<Choice>().expect("a placement").to_string(), name);
        }
        assert_eq!(("AUTO".parse(), "automatic".parse::<Choice>().is_err()), (Ok(Choice::Auto), true));
    }
}
