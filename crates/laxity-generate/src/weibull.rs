//! A Weibull distribution on [min, max] with a given mean.
//!
//! If E is exponential with mean 1, `min + (max - min) (E / E*)^a` is Weibull with shape 1/a; it reaches max
//! at E = E*. Cutting E at `E* = ln 1000` drops the 1/1000 of the distribution beyond max. What is left has
//! the mean `min + (max - min) g(a)`, where, with p = e^-E*,
//!
//! `g(a) = 1/(1 - p) integral_0^E* (t/E*)^a e^-t dt = p/(1 - p) sum_{i>=0} E*^(i+1) / ((a+1) ... (a+i+1))`
//!
//! (the series of the lower incomplete gamma function; all terms are positive). g falls from 1 at a = 0
//! towards 0, so that bisection finds the a of any mean inside (min, max).

/// E*: the exponential's 1/1000 tail begins here.
const CUT: f64 = 6.907_755_278_982_137;

/// The part of the distribution that is cut off: e^-CUT.
const TAIL: f64 = 0.001;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CutWeibull {
    min: f64,
    width: f64,
    /// a, the inverse of the Weibull's shape.
    exponent: f64,
}

impl CutWeibull {
    /// The distribution on [min, max] with the given mean, which must be inside.
    pub(crate) fn with_mean([min, mean, max]: [f64; 3]) -> Self {
        let wanted = (mean - min) / (max - min);
        let (mut low, mut high) = (0.0, 64.0);
        // 64 halvings: to the last bit of a double
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if mean_share(middle) > wanted { low = middle } else { high = middle }
        }
        CutWeibull { min, width: max - min, exponent: low }
    }

    /// The value below which a share of `unit`, in [0, 1), of the distribution lies.
    pub(crate) fn quantile(&self, unit: f64) -> f64 {
        let exponential = -libm::log(1.0 - unit * (1.0 - TAIL));
        self.min + self.width * libm::pow(exponential / CUT, self.exponent).min(1.0)
    }
}

/// g(a) of the module.
fn mean_share(exponent: f64) -> f64 {
    let (mut term, mut sum, mut divisor) = (1.0, 0.0, exponent);
    while term > 1e-18 * sum {
        divisor += 1.0;
        term *= CUT / divisor;
        sum += term;
    }
    TAIL / (1.0 - TAIL) * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_where_a_thousandth_lies_beyond() {
        assert!((libm::exp(-CUT) - TAIL).abs() < 1e-18);
    }

    /// a = 0 puts everything at max; a = 1 is the truncated exponential with its closed form.
    #[test]
    fn the_mean_has_its_closed_forms() {
        assert!((mean_share(0.0) - 1.0).abs() < 1e-12);
        let exponential = 1.0 / CUT - TAIL / (1.0 - TAIL);
        assert!((mean_share(1.0) - exponential).abs() < 1e-12);
    }

    /// The mean of the quantiles over an even grid is the distribution's mean, by another way than the series.
    #[test]
    fn the_quantiles_have_the_wanted_mean_and_range() {
        for [min, mean, max] in
            [[0.21, 10.09, 309.87], [0.37, 0.43, 0.46], [0.34, 5.0, 30.11], [0.22, 2.56, 21.95]]
        {
            let weibull = CutWeibull::with_mean([min, mean, max]);
            let steps = 1_000_000;
            let grid = (0..steps).map(|step| weibull.quantile((f64::from(step) + 0.5) / f64::from(steps)));
            let found = grid.sum::<f64>() / f64::from(steps);
            assert!((found / mean - 1.0).abs() < 1e-4, "{found} is not {mean}");
            assert!(weibull.quantile(0.0) >= min && weibull.quantile(1.0 - f64::EPSILON) <= max);
            assert!((weibull.quantile(1.0 - f64::EPSILON) / max - 1.0).abs() < 1e-9);
        }
    }
}
