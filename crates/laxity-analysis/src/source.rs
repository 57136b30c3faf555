//! Where a test is published.

use std::fmt;

/// What a test was taken from. Every test has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// What papers prove.
    Papers(&'static [Citation]),
    /// What laxity proves itself, in the header of a module, after what papers have.
    Proof {
        /// The module's file in this crate.
        file: &'static str,
        /// What is proven there, by its name there.
        what: &'static str,
        /// What it begins from.
        after: &'static [Citation],
    },
    /// Other tests, by their names: the first that accepts.
    Tests(&'static [&'static str]),
}

/// What a test takes from a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation {
    /// Authors, title, venue and year.
    pub paper: &'static str,
    /// The theorem or the equation, and what the test takes from it where it takes several.
    pub theorem: Theorem,
}

/// What a paper proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theorem {
    /// By its number in the paper.
    Numbered(&'static str),
    /// The result itself: its number is not known here, or it has none.
    Unnumbered(&'static str),
}

impl fmt::Display for Theorem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Theorem::Numbered(text) | Theorem::Unnumbered(text)) = self;
        formatter.write_str(text)
    }
}

impl fmt::Display for Citation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.paper, self.theorem)
    }
}

/// One line.
impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Papers(citations) => formatter.write_str(&listed(citations)),
            Source::Proof { file, what, after } => {
                write!(formatter, "laxity's own proof in {file} ({what}), after {}", listed(after))
            }
            Source::Tests(names) => write!(formatter, "{}: the first that accepts", names.join(", ")),
        }
    }
}

fn listed(citations: &[Citation]) -> String {
    citations.iter().map(Citation::to_string).collect::<Vec<_>>().join("; ")
}

/// Papers that several tests cite.
pub(crate) mod papers {
    pub(crate) const AUDSLEY_1993: &str = "\
        Audsley, Burns, Richardson, Tindell, Wellings: Applying new scheduling theory to static priority \
        pre-emptive scheduling, Software Engineering Journal 8(5), 1993";
    pub(crate) const BARUAH_2007: &str = "\
        Baruah: Techniques for multiprocessor global schedulability analysis, RTSS 2007";
    pub(crate) const BERTOGNA_2005: &str = "\
        Bertogna, Cirinei, Lipari: Improved schedulability analysis of EDF on multiprocessor platforms, \
        ECRTS 2005";
    pub(crate) const BERTOGNA_2007: &str = "\
        Bertogna, Cirinei: Response-time analysis for globally scheduled symmetric multiprocessor \
        platforms, RTSS 2007";
    pub(crate) const LEHOCZKY_1990: &str = "\
        Lehoczky: Fixed priority scheduling of periodic task sets with arbitrary deadlines, RTSS 1990";
    pub(crate) const TINDELL_1994: &str = "\
        Tindell, Burns, Wellings: An extendible approach for analyzing fixed priority hard real-time \
        tasks, Real-Time Systems 6, 1994";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{test, tests};
    use std::fs;
    use std::path::Path;

    /// Whether a text names a part of a paper by its number.
    fn is_numbered(text: &str) -> bool {
        const PARTS: [&str; 8] =
            ["theorem", "corollary", "lemma", "equation", "equations", "section", "chapter", "algorithm"];
        let words: Vec<String> = text.split([' ', ',', ';', '(', ')']).map(str::to_ascii_lowercase).collect();
        let begins_with_digit = |word: &str| word.starts_with(|one: char| one.is_ascii_digit());
        words.windows(2).any(|two| PARTS.contains(&&*two[0]) && begins_with_digit(&two[1]))
    }

    fn check(name: &str, citations: &[Citation]) {
        assert!(!citations.is_empty(), "{name} cites no paper");
        for Citation { paper, theorem } in citations {
            let year = |word: &str| word.len() == 4 && word.bytes().all(|one| one.is_ascii_digit());
            let dated = paper.split(|one: char| !one.is_alphanumeric()).any(year);
            assert!(dated, "{name}: {paper} is of no year");
            match theorem {
                Theorem::Numbered(text) => assert!(is_numbered(text), "{name}: what of {paper}? {text}"),
                Theorem::Unnumbered(text) => assert!(!is_numbered(text), "{name}: {text} has a number"),
            }
        }
    }

    #[test]
    fn every_test_cites_a_theorem_or_has_a_proof_or_names_the_tests_that_it_is_made_of() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/global_edf");
        for info in tests().iter().map(|test| test.info()) {
            match info.source {
                Source::Papers(citations) => check(info.name, citations),
                Source::Proof { file, what, after } => {
                    check(info.name, after);
                    let module = fs::read_to_string(sources.join(file)).expect("a module with a proof");
                    let header: String = module.lines().take_while(|line| line.starts_with("//!")).collect();
                    let named = what.split_once(' ').expect("its kind and its name").1;
                    assert!(named.split(" and ").all(|one| header.contains(one)), "{}: {what}?", info.name);
                }
                Source::Tests(names) => {
                    assert!(names.len() > 1, "{} is made of one test or none", info.name);
                    let unknown = names.iter().find(|name| test(name).is_none());
                    assert_eq!(unknown, None, "{} is made of a test that there is not", info.name);
                }
            }
        }
    }

    #[test]
    fn a_source_is_a_line() {
        const BOTH: &[Citation] = &[
            Citation { paper: "One: First, 2001", theorem: Theorem::Numbered("Theorem 1") },
            Citation { paper: "Two: Second, 2002", theorem: Theorem::Unnumbered("that it is so") },
        ];
        let line = "One: First, 2001, Theorem 1; Two: Second, 2002, that it is so";
        assert_eq!(Source::Papers(BOTH).to_string(), line);
        let proof = Source::Proof { file: "here.rs", what: "condition 3", after: BOTH };
        assert_eq!(proof.to_string(), format!("laxity's own proof in here.rs (condition 3), after {line}"));
        assert_eq!(Source::Tests(&["gfb", "bak"]).to_string(), "gfb, bak: the first that accepts");
        for info in tests().iter().map(|test| test.info()) {
            let line = info.source.to_string();
            assert!(!line.contains('\n') && !line.contains("  "), "{}: {line}", info.name);
        }
    }
}
