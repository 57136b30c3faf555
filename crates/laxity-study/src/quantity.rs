//! Numbers that may be multiples of m, the number of processors.

use laxity_generate::Decimal;
use laxity_model::{Diagnostic, Result};
use std::fmt;
use std::str::FromStr;

/// A non-negative number, or a multiple of m. Written `320`, `0.5`, `m`, `5m`, `0.6m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantity {
    factor: Decimal,
    per_processor: bool,
}

impl Quantity {
    /// A number that does not depend on m.
    pub fn constant(number: Decimal) -> Self {
        Quantity { factor: number, per_processor: false }
    }

    /// What it is with so many processors.
    ///
    /// # Errors
    ///
    /// It exceeds 10^9.
    pub fn at(self, processors: u32) -> Result<Decimal> {
        let factor = if self.per_processor { processors } else { 1 };
        self.factor.checked_mul(factor).ok_or_else(|| {
            Diagnostic::usage(format!("`{self}` with m = {processors} exceeds 1000000000"))
                .hint("give a smaller number")
        })
    }

    /// Whether it is a multiple of m.
    pub fn depends_on_processors(self) -> bool {
        self.per_processor
    }
}

impl FromStr for Quantity {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim();
        let (number, per_processor) = match wanted.strip_suffix('m') {
            Some("") => ("1", true),
            Some(factor) => (factor.trim_end(), true),
            None => (wanted, false),
        };
        let factor = number.parse::<Decimal>().map_err(|_| {
            Diagnostic::usage(format!("`{text}` is neither a number nor a multiple of m"))
                .hint("write a number such as 320 or 0.5, or a multiple such as \"5m\" or \"0.6m\"")
        })?;
        Ok(Quantity { factor, per_processor })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.per_processor, self.factor == Decimal::ONE) {
            (true, true) => f.write_str("m"),
            (true, false) => write!(f, "{}m", self.factor),
            (false, _) => write!(f, "{}", self.factor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_and_multiples_of_m() {
        for (text, at_8, written) in [
            ("320", "320", "320"),
            ("m", "8", "m"),
            ("5m", "40", "5m"),
            ("0.6m", "4.8", "0.6m"),
            ("0", "0", "0"),
        ] {
            let quantity: Quantity = text.parse().expect(text);
            assert_eq!(quantity.at(8).expect(text), at_8.parse().expect(at_8));
            assert_eq!(quantity.to_string(), written);
        }
        for text in ["", "mm", "-1", "1e3", "5 n", "m5"] {
            assert!(text.parse::<Quantity>().is_err(), "{text}");
        }
        assert!("1000000000m".parse::<Quantity>().expect("reads").at(2).is_err());
    }
}
