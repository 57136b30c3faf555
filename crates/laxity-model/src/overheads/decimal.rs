//! Decimal numbers from files, as whole multiples of something small.

/// `text` (digits, at most one dot) times `scale`, rounded up to a whole number.
///
/// Overheads that tools write have any number of decimals; rounded up they are never less than what was measured. Exact for any
/// number of digits: no float comes in between.
///
/// # Errors
///
/// What is wrong with the text, to follow its quotation: it is no such number, or 2^64 or more.
pub fn scaled_up(text: &str, scale: u64) -> Result<u64, &'static str> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return Err("is not a non-negative decimal number");
    }
    let too_large = "is too large";
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large)? };
    whole.checked_mul(scale).and_then(|value| value.checked_add(part_up(fraction, scale))).ok_or(too_large)
}

/// A whole number, which may be written with decimals that are all 0, as tools write numbers of tasks.
///
/// # Errors
///
/// As [`scaled_up`]; or it is no whole number.
pub(super) fn whole(text: &str) -> Result<u64, &'static str> {
    let value = scaled_up(text, 1)?;
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    if fraction.bytes().any(|digit| digit != b'0') {
        return Err("is not a whole number");
    }
    Ok(value)
}

/// `0.fraction * scale`, rounded up. Digit by digit from the last: rest <- (digit * scale + rest) / 10, each rounded up;
/// ceilings of quotients nest.
fn part_up(fraction: &str, scale: u64) -> u64 {
    let nested = |rest: u128, digit: u8| (u128::from(digit - b'0') * u128::from(scale) + rest).div_ceil(10);
    u64::try_from(fraction.bytes().rev().fold(0, nested)).expect("at most the scale")
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    #[test]
    fn exact_and_rounded_up() {
        for (text, scale, wanted) in [
            ("0", 1_000, 0),
            ("12", 1_000, 12_000),
            ("1.5", 1_000, 1_500),
            (".5", 1_000, 500),
            ("7.", 1_000, 7_000),
            ("2.9999", 1_000, 3_000),
            ("1.8543478260869565", 1_000, 1_855),
            ("0.0001", 1_000, 1),
            ("0.001", 1_000, 1),
            ("0.0010000000000000000000000000000001", 1_000, 2),
            ("0.0010000000000000000000000000000000", 1_000, 1),
            ("0.3000000000000000000000000000000000000000000000", 1_000, 300),
            ("0.3000000000000000000000000000000000000000000001", 1_000, 301),
            ("0.99999999999999999999999", 1_000, 1_000),
            ("0.1", 1_024, 103),
            ("18446744073709551.615", 1_000, u64::MAX),
            ("0.99999999999999999999999", u64::MAX, u64::MAX),
        ] {
            assert_eq!(scaled_up(text, scale), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_decimal_number() {
        for text in ["", ".", "-1", "+1", "1e3", "nan", "inf", "1.2.3", "1,5", " 1", "0x10", "١"] {
            assert!(scaled_up(text, 1_000).is_err(), "{text}");
        }
        assert_eq!(scaled_up("18446744073709551.616", 1_000), Err("is too large"));
        assert_eq!(scaled_up("99999999999999999999", 1), Err("is too large"));
    }

    #[test]
    fn whole_numbers_may_have_zeros_after_the_dot() {
        assert_eq!(["10", "10.", "10.0", "010.00"].map(whole), [Ok(10); 4]);
        assert_eq!(["1.5", "0.01"].map(whole), [Err("is not a whole number"); 2]);
        assert_eq!(whole("ten"), Err("is not a non-negative decimal number"));
    }

    laxity_seeds::properties! {
        #[test]
        fn the_least_whole_number_not_below_the_product(
            whole in "[0-9]{0,12}", fraction in "[0-9]{1,40}", scale in 1u64..5_000_000,
        ) {
            let number = |digits: &str| digits.parse::<BigUint>().expect("digits");
            let product = number(&format!("{whole}{fraction}")) * scale;
            let below = BigUint::from(10u8).pow(u32::try_from(fraction.len()).expect("short"));
            let wanted = (&product + &below - 1u8) / below;
            let found = scaled_up(&format!("{whole}.{fraction}"), scale).map(BigUint::from);
            prop_assert_eq!(found, Ok(wanted));
        }
    }
}
