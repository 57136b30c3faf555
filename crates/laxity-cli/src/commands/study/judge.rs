//! `laxity __judge`: what a worker of another engine does of a study whose units another program hands out. On standard input it is told of
//! the study, a line, and of a unit in each line behind it; on standard output is a tally in a line for each.

use crate::{interrupt, output, shipped};
use laxity_model::{Diagnostic, Result};
use laxity_study::Told;
use std::io::BufRead as _;
use std::process::ExitCode;

pub fn judge() -> Result<ExitCode> {
    let mut lines = std::io::stdin()
        .lock()
        .lines()
        .map(|line| line.map_err(|error| Diagnostic::usage(format!("cannot read standard input: {error}"))));
    let none = || Diagnostic::usage("nothing is on standard input").hint("`laxity study --on` calls this");
    let told = lines.next().unwrap_or_else(|| Err(none()))?;
    let units = lines.collect::<Result<Vec<String>>>()?;
    let tallies = Told::judge_texts(&told, &units, shipped::VERSION, interrupt::flag()?)?;
    output::print_data(&tallies.into_iter().map(|tally| tally + "\n").collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
