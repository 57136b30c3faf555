//! Decimal numbers from files, as whole multiples of something small.

/// `text` (digits, at most one dot) times `scale`, rounded up to a whole number.
///
/// Overheads that tools write have any number of decimals; rounded up they are never less than what was measured.
///
/// # Errors
///
/// What is wrong with the text, to follow its quotation.
pub(super) fn scaled_up(text: &str, scale: u64) -> Result<u64, &'static str> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return Err("is not a non-negative decimal number");
    }
    let too_large = "is too large";
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large)? };
    let whole = whole.checked_mul(scale).ok_or(too_large)?;
    whole.checked_add(fraction_up(fraction, scale)).ok_or(too_large)
}

/// `0.fraction * scale`, rounded up, for any number of digits.
fn fraction_up(fraction: &str, scale: u64) -> u64 {
    // 19 digits times any scale fit 128 bits; what follows can only tip the rounding.
    let (digits, rest) = fraction.split_at(fraction.len().min(19));
    let numerator = digits.bytes().fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let denominator = digits.bytes().fold(1u128, |power, _| power * 10);
    let product = numerator * u128::from(scale);
    let inexact = product % denominator != 0 || rest.bytes().any(|digit| digit != b'0');
    u64::try_from(product / denominator).expect("less than the scale") + u64::from(inexact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_and_rounded_up() {
        for (text, scale, wanted) in [
            ("0", 1000, 0),
            ("12", 1000, 12_000),
            ("1.5", 1000, 1_500),
            (".5", 1000, 500),
            ("7.", 1000, 7_000),
            ("1.8543478260869565", 1000, 1_855),
            ("0.0001", 1000, 1),
            ("0.001", 1000, 1),
            ("0.0010000000000000000000000000000001", 1000, 2),
            ("0.0010000000000000000000000000000000", 1000, 1),
            ("0.99999999999999999999999", 1000, 1_000),
            ("18446744073709551.615", 1000, u64::MAX),
        ] {
            assert_eq!(scaled_up(text, scale), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_decimal_number() {
        for text in ["", ".", "-1", "+1", "1e3", "nan", "inf", "1.2.3", "1,5", " 1", "0x10", "١"] {
            assert!(scaled_up(text, 1000).is_err(), "{text}");
        }
        assert_eq!(scaled_up("18446744073709551.616", 1000), Err("is too large"));
        assert_eq!(scaled_up("99999999999999999999", 1), Err("is too large"));
    }
}
