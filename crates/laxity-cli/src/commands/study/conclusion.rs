//! The end of a study that a file describes.

use crate::{output, tables, terminal};
use laxity_lab::study::PAGE_FILE;
use laxity_lab::study::described::StudyOutputs;
use laxity_model::Result;
use laxity_study::{ComputedPoints, StudyAnswer};
use std::path::Path;
use std::process::ExitCode;

/// Writes what a study has come to into its directory, and prints it as a table or JSON.
pub fn conclude(
    outputs: &StudyOutputs<'_>,
    directory: &Path,
    json: bool,
    answer: impl FnOnce() -> StudyAnswer,
) -> Result<()> {
    outputs.write(directory, &terminal::caller())?;
    if json {
        output::print_json(&answer())?;
    }
    if !output::wants_text(json) {
        return Ok(());
    }
    let summary = outputs.summary();
    let mut table = tables::table(output::columns());
    table.set_header(summary.table.columns);
    summary.table.rows.into_iter().for_each(|row| _ = table.add_row(row));
    let lines = summary.lines.into_iter().map(|line| line + "\n");
    output::print(&(tables::fitted(table) + &lines.collect::<String>()))
}

/// Says where the page is, and whether the study is whole.
pub fn ended(computed: &ComputedPoints, directory: &Path) -> ExitCode {
    output::note_page(&directory.join(PAGE_FILE));
    if computed.complete {
        return ExitCode::SUCCESS;
    }
    output::interrupted(format_args!(
        ": {} points are finished and kept; the same command goes on",
        computed.points.len()
    ))
}
