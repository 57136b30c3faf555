//! What the pages of all studies have in common: where they are written, and what they say of places and of trials that could
//! not be measured.

use super::trial::{Place, Trial};
use laxity_model::{OutputDirectory, Result, plural};
use laxity_report::{PlainTable, StudyPage};

/// The page.
pub const PAGE_FILE: &str = "report.html";
const MARKDOWN_FILE: &str = "summary.md";
const PLOTS_DIRECTORY: &str = "plots";

/// Writes a page into a study's directory: as HTML, as Markdown, and its figures by themselves.
///
/// # Errors
///
/// What the file system refuses.
pub fn write_page(directory: &OutputDirectory, page: &StudyPage) -> Result<()> {
    let images = page.images()?;
    let plots = images.iter().map(|(stem, svg)| (stem.as_str(), svg.as_str()));
    directory.fill_subdirectory(PLOTS_DIRECTORY, "svg", plots)?;
    directory.write(MARKDOWN_FILE, page.markdown().as_bytes())?;
    directory.write(PAGE_FILE, page.html()?.as_bytes())
}

/// Numbers of CPUs, in ascending order.
pub fn numbers_of_cpus<'a>(places: impl Iterator<Item = &'a Place>) -> Vec<u32> {
    ascending(places.map(|place| place.cpus))
}

/// Numbers of tasks per CPU with this number of CPUs, in ascending order.
pub fn sizes<'a>(places: impl Iterator<Item = &'a Place>, cpus: u32) -> Vec<u32> {
    ascending(places.filter(|place| place.cpus == cpus).map(|place| place.tasks_per_cpu))
}

fn ascending(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// `1 CPU`, `2 CPUs`.
pub fn cpus_in_words(cpus: u32) -> String {
    plural(cpus, "CPU")
}

/// Trials that could not be measured, those of one scheduler, number of CPUs and reason in one row: what, tasks per CPU, why.
pub fn refusals(refused: &[(Trial, String)]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (trial, why) in refused {
        let what = format!("{} with {}", trial.scheduler, cpus_in_words(trial.cpus));
        let size = trial.tasks_per_cpu.to_string();
        match rows.iter_mut().find(|row| row[0] == what && row[2] == *why) {
            Some(row) if row[1].split(", ").any(|n| n == size) => {}
            Some(row) => row[1] += &format!(", {size}"),
            None => rows.push(vec![what, size, why.clone()]),
        }
    }
    rows
}

/// The table of what was not measured: rows of [`refusals`] and others like them; nothing if there are none.
pub fn not_measured(rows: Vec<Vec<String>>) -> Option<PlainTable> {
    (!rows.is_empty()).then(|| PlainTable {
        caption: "Not measured".to_owned(),
        columns: ["what", "tasks per CPU", "why"].map(String::from).into(),
        words: 3,
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_one_reason_share_a_row() {
        let trial = |text: &str| crate::study::trial::trial(text, std::path::Path::new(""));
        let refused = [
            (trial("g-edf-mp/1/1/0"), "one CPU".to_owned()),
            (trial("g-edf-mp/1/1/1"), "one CPU".to_owned()),
            (trial("g-edf-mp/1/4/0"), "one CPU".to_owned()),
            (trial("g-edf-mp/2/4/0"), "died".to_owned()),
        ];
        let rows = refusals(&refused);
        assert_eq!(rows, [["g-edf-mp with 1 CPU", "1, 4", "one CPU"], ["g-edf-mp with 2 CPUs", "4", "died"]]);
        assert!(not_measured(rows).is_some() && not_measured(Vec::new()).is_none());
    }
}
