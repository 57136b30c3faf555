//! Overheads that laxity comes with, by name: the files of `studies/overheads`, as they are there.
//!
//! A name is directory and file without `.csv`, as in `cerqueira2014-text/g-edf-mp-max`. What a file is about and where its numbers
//! are from, its own comments say.

use laxity_analysis::overheads::Overheads;
use laxity_model::{Result, closest, read_file};
use std::path::Path;

/// A file of overheads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// The CSV text.
    pub text: &'static str,
}

macro_rules! profiles {
    ($($name:literal),* $(,)?) => {
        &[$(Profile {
            name: $name,
            text: include_str!(concat!("../../../studies/overheads/", $name, ".csv")),
        }),*]
    };
}

/// All of them, by name.
pub const PROFILES: &[Profile] = profiles![
    "ackelman2018-instructions/edf-bh-max",
    "ackelman2018-instructions/edf-bh-mean",
    "ackelman2018-instructions/edf-rbt-max",
    "ackelman2018-instructions/edf-rbt-mean",
    "ackelman2018-instructions/fpp-max",
    "ackelman2018-instructions/fpp-mean",
    "ackelman2018-instructions/g-edf-max",
    "ackelman2018-instructions/g-edf-mean",
    "cerqueira2014-text/g-edf-mp-m32-max",
    "cerqueira2014-text/g-edf-mp-m48-max",
    "cerqueira2014-text/g-edf-mp-m8-max",
    "cerqueira2014-text/g-edf-mp-max",
    "cerqueira2014-text/g-edf-mp-max-third",
    "cerqueira2014-text/g-edf-mp-mean",
    "cerqueira2014-text/gsn-edf-m24-max",
    "cerqueira2014-text/gsn-edf-m48-max",
    "cerqueira2014-text/gsn-edf-m8-max",
    "cerqueira2014-text/gsn-edf-m8-mean",
    "cerqueira2014-text/gsn-edf-max",
    "cerqueira2014-text/gsn-edf-max-24th",
    "cerqueira2014-text/gsn-edf-mean",
    "cerqueira2014-text/gsn-edf-mean-growing",
    "cerqueira2014-text/sched-deadline-m24-max",
    "cerqueira2014-text/sched-deadline-m32-max",
    "cerqueira2014-text/sched-deadline-m8-max",
    "cerqueira2014-text/sched-deadline-max",
    "cerqueira2014-text/sched-deadline-mean",
];

/// Reads overheads from a file, or from the profile of a name if there is no such file. The text comes with them.
///
/// # Errors
///
/// There is neither, or the text is wrong.
pub fn read_overheads(path: &Path, name: &str) -> Result<(String, Overheads)> {
    match Profile::named(name) {
        Some(profile) if !path.exists() => Ok((profile.text.to_owned(), Overheads::from_csv(profile.text)?)),
        _ => read_file(path, |text| Ok((text.to_owned(), Overheads::from_csv(text)?))).map_err(|error| {
            if path.exists() {
                return error;
            }
            error.hint(Profile::hint(name))
        }),
    }
}

impl Profile {
    /// The one of a name.
    pub fn named(name: &str) -> Option<Profile> {
        PROFILES.iter().copied().find(|profile| profile.name == name)
    }

    /// What it is about: the first sentence of its comments.
    pub fn description(self) -> String {
        let comments = self.text.lines().map_while(|line| line.strip_prefix('#'));
        let words = comments.map(str::trim).collect::<Vec<_>>().join(" ");
        // A full stop within a sentence, as in `Fig. 8` and `119.37`, has no capital letter behind it.
        let ends =
            |&(at, _): &(usize, &str)| words[at + 2..].starts_with(|letter: char| letter.is_uppercase());
        match words.match_indices(". ").find(ends) {
            Some((at, _)) => words[..=at].to_owned(),
            None => words,
        }
    }

    /// What to name instead of a name that is not known.
    pub fn hint(name: &str) -> String {
        let known: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        let meant = closest(name, &known).map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!(
            "{meant}name a file, or overheads that laxity comes with (`laxity list overheads`): {}",
            Profile::names_like(name)
        )
    }

    /// Names that begin like one that is not known: those of the same directory; all directories if there is no such.
    pub fn names_like(name: &str) -> String {
        let directory = |name: &'static str| name.split_once('/').map_or(name, |(directory, _)| directory);
        let wanted = name.split_once('/').map_or(name, |(directory, _)| directory);
        let mut names: Vec<&str> =
            PROFILES.iter().map(|it| it.name).filter(|name| directory(name) == wanted).collect();
        if names.is_empty() {
            names = PROFILES.iter().map(|profile| directory(profile.name)).collect();
            names.dedup();
        }
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_there_is_has_a_name_and_reads() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/overheads");
        let mut there = Vec::new();
        for directory in
            std::fs::read_dir(&root).expect("overheads").map(|entry| entry.expect("an entry").path())
        {
            let Ok(files) = std::fs::read_dir(&directory) else { continue };
            for path in files.map(|file| file.expect("a file").path()) {
                if path.extension().is_some_and(|ending| ending == "csv") {
                    let name = path.strip_prefix(&root).expect("below").with_extension("");
                    there.push(name.to_str().expect("UTF-8").to_owned());
                }
            }
        }
        there.sort();
        let known: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        assert_eq!(known, there);
        for profile in PROFILES {
            Overheads::from_csv(profile.text).unwrap_or_else(|error| panic!("{}: {error}", profile.name));
            assert!(profile.description().ends_with('.'), "{}: {}", profile.name, profile.description());
        }
    }

    /// The numbers that the paper's text states, as its text has them.
    #[test]
    fn the_papers_files_have_its_numbers() {
        let text = include_str!("../../../studies/overheads/cerqueira2014-text/README.md");
        let mut file = "";
        let (mut rows, mut files) = (0, Vec::new());
        for row in text.lines().filter(|line| line.starts_with('|')).skip(2) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            if !cells[1].is_empty() {
                file = cells[1].trim_matches('`');
                files.push(file);
            }
            let profile = Profile::named(&format!("cerqueira2014-text/{file}")).expect("a profile");
            let mut lines = profile.text.lines().filter(|line| !line.starts_with('#'));
            let [header, values] = [lines.next(), lines.next()].map(|line| line.expect("a line").split(", "));
            let column = if cells[3] == "release" { "RELEASE" } else { "SCHEDULE" };
            let value = header.zip(values).find(|(name, _)| *name == column).expect("a column").1;
            assert_eq!(value, cells[4], "{row}");
            rows += 1;
        }
        files.sort_unstable();
        let stated = PROFILES.iter().filter(|profile| !profile.description().starts_with("An assumption"));
        let stated = stated.filter_map(|profile| profile.name.strip_prefix("cerqueira2014-text/"));
        assert_eq!(files, stated.collect::<Vec<_>>());
        assert_eq!(rows, 23, "every value has its line");
    }

    #[test]
    fn names_that_are_not_known() {
        assert_eq!(Profile::named("cerqueira2014-text"), None);
        assert!(
            Profile::names_like("cerqueira2014-text/gsn")
                .starts_with("cerqueira2014-text/g-edf-mp-m32-max, ")
        );
        assert_eq!(Profile::names_like("costs"), "ackelman2018-instructions, cerqueira2014-text");
    }
}
