//! What time means where it was measured.
//!
//! A machine that counts instructions (`laxity vm --deterministic`; QEMU's `-icount shift=1`) lets its clocks advance by 2 ns for
//! every instruction of its processor, and by nothing else while it works. So a time between two stamps is a number of
//! instructions, exactly, times two: the same probes serve. The stamps are those of the timestamp counter, which such a machine
//! derives from the number of instructions.

use laxity_model::{Diagnostic, Duration, Result};
use std::fmt;

/// In what results are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds.
    Time,
    /// Instructions, at this many ns each.
    Instructions {
        /// Nanoseconds of the machine's time for one.
        ns_each: u32,
    },
}

impl Unit {
    /// What times are in a machine that counts: two nanoseconds for each instruction (`laxity_vm`).
    pub const COUNTED: Unit = Unit::Instructions { ns_each: 2 };

    /// What it is, as an error tells it.
    pub fn in_words(self) -> String {
        match self {
            Unit::Time => "microseconds".to_owned(),
            Unit::Instructions { ns_each } => format!("{ns_each} ns"),
        }
    }

    /// How a length in ns is told.
    pub fn of_ns(self, ns: f64) -> f64 {
        match self {
            Unit::Time => ns / 1_000.0,
            Unit::Instructions { ns_each } => ns / f64::from(ns_each),
        }
    }

    /// The number as text.
    pub fn text(self, ns: Option<f64>) -> String {
        match (self, ns) {
            (_, None) => "-".to_owned(),
            (Unit::Time, Some(ns)) => format!("{:.2}", self.of_ns(ns)),
            (Unit::Instructions { .. }, Some(ns)) => format!("{:.0}", self.of_ns(ns)),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Time => "µs",
            Unit::Instructions { .. } => "instructions",
        })
    }
}

/// Refuses a machine that does not count as [`Unit::COUNTED`] says.
///
/// # Errors
///
/// It counts otherwise, or cannot be asked.
pub fn check_counted() -> Result<()> {
    let counts = Unit::Instructions { ns_each: ns_per_instruction()? };
    if counts == Unit::COUNTED {
        return Ok(());
    }
    Err(Diagnostic::environment(format!(
        "this machine counts {} for an instruction, not {}",
        counts.in_words(),
        Unit::COUNTED.in_words()
    ))
    .hint("report this as a bug in laxity"))
}

/// Turns of the loop that the rate is measured with: shorter than the time between two ticks.
const TURNS: u64 = 100_000;
/// Measured this often; interrupts lengthen some.
const TRIES: usize = 20;

/// How many ns of this machine's time an instruction takes, if that is exactly a power of two: if it counts them.
///
/// # Errors
///
/// It does not: this machine's time is not made of instructions.
fn ns_per_instruction() -> Result<u32> {
    let shortest = (0..TRIES).map(|_| loop_ns(TURNS)).min().unwrap_or(0);
    let instructions = TURNS * INSTRUCTIONS_PER_TURN;
    let each = shortest.checked_div(instructions).unwrap_or(0);
    // Next to what the call itself takes.
    let exact = shortest % instructions < instructions / 200;
    match u32::try_from(each) {
        Ok(each) if exact && each.is_power_of_two() => Ok(each),
        _ => Err(Diagnostic::environment(format!(
            "this machine does not count instructions: {instructions} of them took {}",
            Duration::from_ns(shortest)
        ))
        .hint("laxity study overheads --instructions starts machines that do")),
    }
}

#[cfg(target_arch = "x86_64")]
const INSTRUCTIONS_PER_TURN: u64 = 2;

/// How long so many turns of a loop of known instructions take.
#[cfg(target_arch = "x86_64")]
fn loop_ns(turns: u64) -> u64 {
    let began = std::time::Instant::now();
    // SAFETY: counts a register down; touches no memory.
    unsafe {
        std::arch::asm!("2:", "dec {0}", "jnz 2b", inout(reg) turns => _, options(nomem, nostack));
    }
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(not(target_arch = "x86_64"))]
const INSTRUCTIONS_PER_TURN: u64 = 1;

#[cfg(not(target_arch = "x86_64"))]
fn loop_ns(_turns: u64) -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_in_their_unit() {
        assert_eq!(Unit::Time.text(Some(1_234.0)), "1.23");
        let counted = Unit::Instructions { ns_each: 2 };
        assert_eq!((counted.text(Some(1_234.0)), counted.text(None)), ("617".into(), "-".into()));
    }
}
