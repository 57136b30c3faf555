//! How much of its WCET a job really asks for.

use crate::{Diagnostic, Names, Result};
use std::fmt;
use std::str::FromStr;

/// The demand of a task's jobs, as a share of its WCET in parts per million (so that it is exact).
///
/// Written `wcet`, a fraction (`0.8`), or a distribution: `uniform:LOW,HIGH`, `normal:MEAN,SD` (clipped to
/// (0, 2]), `bimodal:LOW,HIGH,PROBABILITY_OF_HIGH`. Shares above 1 are overload: jobs that exceed the WCET
/// they promised (lindsay2012, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Demand {
    /// Every job asks for its WCET.
    #[default]
    Wcet,
    /// Every job asks for this share of the WCET, in ppm.
    Fraction(u32),
    /// Uniformly distributed between two shares, in ppm, both included.
    Uniform(u32, u32),
    /// Normally distributed (mean, standard deviation), in ppm, clipped to 1 ... 2 000 000.
    Normal(u32, u32),
    /// One of two shares; the third number is the probability of the second, all in ppm.
    Bimodal(u32, u32, u32),
}

/// The largest share a job may ask for: ten times its WCET.
const SHARE_PPM_MAX: u32 = 10_000_000;

impl FromStr for Demand {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: String| {
            Diagnostic::usage(format!("demand `{text}` {why}")).hint(
                "write `wcet`, a fraction of it such as `0.8`, `uniform:0.5,1`, `normal:0.8,0.1` or `bimodal:0.5,1.2,0.05`",
            )
        };
        let text_lower = text.trim().to_ascii_lowercase();
        let (name, arguments) = text_lower.split_once(':').unwrap_or((&text_lower, ""));
        let shares = |from: &str| -> Result<Vec<u32>> {
            from.split(',')
                .map(|part| parse_ppm(part).ok_or_else(|| bad(format!("has the bad share `{part}`"))))
                .collect()
        };
        let demand = match name {
            "wcet" => Demand::Wcet,
            "uniform" | "normal" | "bimodal" => match (name, shares(arguments)?.as_slice()) {
                ("uniform", &[low, high]) if low <= high => Demand::Uniform(low, high),
                ("normal", &[mean, sd]) => Demand::Normal(mean, sd),
                ("bimodal", &[low, high, probability]) if probability <= 1_000_000 => {
                    Demand::Bimodal(low, high, probability)
                }
                _ => return Err(bad("has the wrong number or order of arguments".into())),
            },
            _ => Demand::Fraction(parse_ppm(name).ok_or_else(|| unknown(text, name))?),
        };
        let smallest = match demand {
            Demand::Wcet => 1_000_000,
            Demand::Fraction(share) => share,
            Demand::Uniform(low, _) | Demand::Bimodal(low, _, _) => low,
            Demand::Normal(mean, _) => mean,
        };
        if smallest == 0 {
            return Err(bad("allows a job of no work; shares must be above 0".into()));
        }
        Ok(demand)
    }
}

/// A decimal share as parts per million, if it has at most six decimals and is at most ten.
fn unknown(text: &str, name: &str) -> Diagnostic {
    let names = ["wcet", "uniform", "normal", "bimodal"];
    let aliases = [("gauss", "`normal:MEAN,SD`"), ("full", "`wcet`"), ("random", "`uniform:LOW,HIGH`")];
    let hint = Names::of("demand", &names).or(&aliases).hint(name);
    Diagnostic::usage(format!("demand `{text}` is not known")).hint(format!(
        "{hint}, as in uniform:0.5,1, normal:0.8,0.1 or bimodal:0.5,1.2,0.05, or a fraction such as 0.8"
    ))
}

fn parse_ppm(text: &str) -> Option<u32> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if text.is_empty() || text == "." || !all_digits(whole) || !all_digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u32 = format!("{fraction:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(fraction).filter(|&ppm| ppm <= SHARE_PPM_MAX)
}

fn ppm(share: u32) -> String {
    let text = format!("{}.{:06}", share / 1_000_000, share % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Demand::Wcet => write!(f, "wcet"),
            Demand::Fraction(share) => write!(f, "{}", ppm(share)),
            Demand::Uniform(low, high) => write!(f, "uniform:{},{}", ppm(low), ppm(high)),
            Demand::Normal(mean, sd) => write!(f, "normal:{},{}", ppm(mean), ppm(sd)),
            Demand::Bimodal(low, high, p) => write!(f, "bimodal:{},{},{}", ppm(low), ppm(high), ppm(p)),
        }
    }
}

crate::text_form::serde_as_text!(Demand);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_every_form() {
        for (text, demand) in [
            ("wcet", Demand::Wcet),
            ("0.8", Demand::Fraction(800_000)),
            ("uniform:0.5,1", Demand::Uniform(500_000, 1_000_000)),
            ("normal:0.8,0.1", Demand::Normal(800_000, 100_000)),
            ("bimodal:0.5,1.2,0.05", Demand::Bimodal(500_000, 1_200_000, 50_000)),
        ] {
            assert_eq!(text.parse(), Ok(demand));
            assert_eq!(demand.to_string(), text);
        }
    }

    #[test]
    fn refuses_nonsense() {
        for text in
            ["", "0", "-1", "11", "uniform:1,0.5", "uniform:1", "normal:", "gamma:1,2", "0.1234567", "."]
        {
            assert!(text.parse::<Demand>().is_err(), "{text}");
        }
    }
}
