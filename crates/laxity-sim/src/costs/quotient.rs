//! Quotients of numbers of 128 bits that nearly always fit into 64, whose division takes a fraction of the time.

/// `of / by`.
#[inline]
pub fn quotient(of: u128, by: u128) -> u128 {
    match (u64::try_from(of), u64::try_from(by)) {
        (Ok(of), Ok(by)) => (of / by).into(),
        _ => of / by,
    }
}

/// The same, rounded up.
#[inline]
pub fn quotient_up(of: u128, by: u128) -> u128 {
    match (u64::try_from(of), u64::try_from(by)) {
        (Ok(of), Ok(by)) => of.div_ceil(by).into(),
        _ => of.div_ceil(by),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn are_those_of_a_long_division() {
        let mut rng = Pcg64::seed_from_u64(1);
        for _ in 0..100_000 {
            let mut number = || rng.random::<u128>() >> rng.random_range(0..128);
            let (of, by) = (number(), number().max(1));
            assert_eq!((quotient(of, by), quotient_up(of, by)), (of / by, of.div_ceil(by)), "{of} / {by}");
        }
    }
}
