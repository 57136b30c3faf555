//! How the values of options are read.

use laxity_lab::schedulers::Configuration;
use laxity_model::{Diagnostic, Duration, Reserve};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Parses an option value, keeping the hint.
pub fn value<T: FromStr<Err = Diagnostic>>(text: &str) -> std::result::Result<T, String> {
    text.parse().map_err(worded)
}

/// Parses the window of a reserve for background work.
pub fn reserve_window(text: &str) -> std::result::Result<Duration, String> {
    Reserve::checked_window(value(text)?).map_err(worded)
}

/// Parses the time for which kernel threads go first in each of their windows.
pub fn kernel_threads(text: &str) -> std::result::Result<Duration, String> {
    let (time, window) = (value::<Duration>(text)?, laxity_kernel::KERNEL_THREADS_WINDOW);
    if time > window {
        return Err(format!(
            "{time} is more than the {window} that it is a part of\nhint: write {window} or less; 500us is usual"
        ));
    }
    Ok(time)
}

/// Parses a scheduler that can be simulated.
pub fn simulated(text: &str) -> std::result::Result<Configuration, String> {
    Configuration::simulated(text).map_err(worded)
}

/// Parses a scheduler that can be run.
pub fn run_for_real(text: &str) -> std::result::Result<Configuration, String> {
    Configuration::run_for_real(text).map_err(worded)
}

/// An error with its hint, as clap shows it.
pub fn worded(error: Diagnostic) -> String {
    match error.hint {
        Some(hint) => format!("{}\nhint: {hint}", error.message),
        None => error.message,
    }
}

/// Parses a whole number of a range: digits only.
pub fn whole<N: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> std::result::Result<N, String> + Clone {
    move |text: &str| {
        let (least, most) = (*range.start(), *range.end());
        let number = text.trim().parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| {
            let rule = match (least, most) {
                (least, u64::MAX) => format!("not a whole number from {least} to 2^64 - 1"),
                _ => format!("not a whole number from {least} to {most}"),
            };
            format!("{rule}\nhint: write digits only, such as {}", 12.clamp(least, most))
        })
    }
}

/// Parses a number of things that there is one of at least.
pub fn count(text: &str) -> std::result::Result<u32, String> {
    whole(1..=u64::from(u32::MAX))(text)
}

/// The threads that were asked for, or one per CPU of this machine.
pub fn threads(asked: Option<u16>) -> usize {
    let one_per_cpu = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    asked.map_or_else(one_per_cpu, usize::from)
}

/// The schedulers that were asked for, or the six of lelli2012.
pub fn or_lelli2012(asked: &[Configuration]) -> Vec<Configuration> {
    if asked.is_empty() { Configuration::lelli2012() } else { asked.to_vec() }
}

/// `on` or `off`.
pub fn switch(text: &str) -> std::result::Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        "yes" | "true" | "1" => Err(format!("`{text}` is neither on nor off\nhint: did you mean `on`?")),
        "no" | "false" | "0" => Err(format!("`{text}` is neither on nor off\nhint: did you mean `off`?")),
        _ => Err(format!("`{text}` is neither on nor off\nhint: choose on or off")),
    }
}

/// A decimal in (0, 1] as an exact fraction.
pub fn share(text: &str) -> std::result::Result<(u64, u64), String> {
    let bad = || format!("`{text}` is not a share above 0 and at most 1, such as 0.95");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let scale = u32::try_from(fraction.len()).ok().and_then(|n| 10u64.checked_pow(n)).ok_or_else(bad)?;
    let plain = digits.chars().all(|c| c.is_ascii_digit());
    let value = digits.parse::<u64>().ok().filter(|&value| plain && value > 0 && value <= scale);
    value.map(|value| (value, scale)).ok_or_else(bad)
}

/// The same, or `kernel`: what the running kernel admits of SCHED_DEADLINE on each CPU.
pub fn share_or_kernel(text: &str) -> std::result::Result<(u64, u64), String> {
    if text == "kernel" {
        let limits = laxity_run::KernelLimits::read(&laxity_model::CpuList::default());
        return Ok((limits.admitted_q20(), 1 << 20));
    }
    share(text).map_err(|why| format!("{why}, nor `kernel`"))
}
