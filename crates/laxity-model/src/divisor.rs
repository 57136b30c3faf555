//! Common divisors.

/// The greatest common divisor; of 0 and 0, 0.
pub const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_both_and_is_the_greatest() {
        for (a, b) in (0..40).flat_map(|a| (0..40).map(move |b| (a, b))) {
            let divides = |n: &u64| u64::is_multiple_of(a, *n) && u64::is_multiple_of(b, *n);
            let greatest = (1..40).filter(divides).max().unwrap_or(0);
            assert_eq!(gcd(a, b), if (a, b) == (0, 0) { 0 } else { greatest }, "{a} {b}");
        }
    }
}
