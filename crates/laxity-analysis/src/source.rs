//! Where a test is published.

use std::fmt;

/// What a test was taken from. Every test has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// What papers prove.
    Papers(&'static [Citation]),
    /// Other tests, by their names: the first that accepts.
    Tests(&'static [&'static str]),
}

/// What a test takes from a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation {
    /// Authors, title, venue and year.
    pub paper: &'static str,
    /// The theorem or the equation, with its number, and what the test takes from it where it takes several.
    /// Where its number is not known here, the result itself.
    pub theorem: &'static str,
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
            Source::Papers(citations) => {
                for (at, citation) in citations.iter().enumerate() {
                    let separator = if at > 0 { "; " } else { "" };
                    write!(formatter, "{separator}{citation}")?;
                }
                Ok(())
            }
            Source::Tests(names) => write!(formatter, "{}: the first that accepts", names.join(", ")),
        }
    }
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

    #[test]
    fn every_test_cites_a_theorem_or_names_the_tests_that_it_is_made_of() {
        for info in tests().iter().map(|test| test.info()) {
            match info.source {
                Source::Papers(citations) => {
                    assert!(!citations.is_empty(), "{} cites no paper", info.name);
                    for Citation { paper, theorem } in citations {
                        let year =
                            |word: &str| word.len() == 4 && word.bytes().all(|one| one.is_ascii_digit());
                        let words = |text: &'static str| text.split(|one: char| !one.is_alphanumeric());
                        assert!(words(paper).any(year), "{}: {paper} is of no year", info.name);
                        let numbered = theorem.contains(|one: char| one.is_ascii_digit());
                        assert!(numbered, "{}: what of {paper}? {theorem:?}", info.name);
                    }
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
            Citation { paper: "One: First, 2001", theorem: "Theorem 1" },
            Citation { paper: "Two: Second, 2002", theorem: "equation 2 (D = T)" },
        ];
        let line = "One: First, 2001, Theorem 1; Two: Second, 2002, equation 2 (D = T)";
        assert_eq!(Source::Papers(BOTH).to_string(), line);
        assert_eq!(Source::Tests(&["gfb", "bak"]).to_string(), "gfb, bak: the first that accepts");
        for info in tests().iter().map(|test| test.info()) {
            let line = info.source.to_string();
            assert!(!line.contains('\n') && !line.contains("  "), "{}: {line}", info.name);
        }
    }
}
