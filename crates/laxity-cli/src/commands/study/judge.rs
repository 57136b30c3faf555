//! `laxity __judge`: what a worker of another engine does of a study whose units another program hands out. On standard input it is told of
//! the study, a line, and of a unit in each line behind it; on standard output is a tally in a line for each.

use crate::{interrupt, output, shipped};
use laxity_model::{Diagnostic, Result};
use laxity_study::{Told, WorkUnit};
use std::io::BufRead as _;
use std::process::ExitCode;

pub fn judge() -> Result<ExitCode> {
    let mut lines = std::io::stdin()
        .lock()
        .lines()
        .map(|line| line.map_err(|error| Diagnostic::usage(format!("cannot read standard input: {error}"))));
    let none = || Diagnostic::usage("nothing is on standard input").hint("`laxity study --on` calls this");
    let told: Told = read(&lines.next().unwrap_or_else(|| Err(none()))?)?;
    let units: Vec<WorkUnit> = lines.map(|line| read(&line?)).collect::<Result<_>>()?;
    let Some(tallies) = told.judge(&units, shipped::VERSION, interrupt::flag()?)? else {
        return Err(Diagnostic::interrupted("the units are not judged"));
    };
    let text: String =
        tallies.iter().map(|tally| serde_json::to_string(tally).expect("serializes") + "\n").collect();
    output::print_data(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn read<T: serde::de::DeserializeOwned>(line: &str) -> Result<T> {
    serde_json::from_str(line).map_err(|error| {
        Diagnostic::usage(format!("neither a study nor a unit of one: {error}"))
            .hint("`laxity study --on` calls this")
    })
}
