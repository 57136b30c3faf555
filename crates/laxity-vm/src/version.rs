//! Versions of Debian's kernels: how they are written, which is newer, and what a line of them is.

use laxity_model::{Diagnostic, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A kernel's release, such as `6.18.15+deb13-cloud-amd64`, ordered by age.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelVersion {
    /// Major, minor and patch; a patch that is not written is 0.
    pub numbers: [u32; 3],
    release: String,
}

impl KernelVersion {
    /// The release as `uname -r` prints it.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// What stands behind the numbers: `+deb13-cloud-amd64`.
    fn rest(&self) -> &str {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        self.release.trim_start_matches(is_number)
    }
}

impl FromStr for KernelVersion {
    type Err = Diagnostic;

    fn from_str(release: &str) -> Result<Self> {
        let bad =
            || Diagnostic::usage(format!("`{release}` is not the release of a kernel, such as 6.18.15"));
        let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
        let mut numbers = [0; 3];
        let mut given = 0;
        for (place, text) in release[..end].trim_end_matches('.').split('.').enumerate() {
            // A fourth number (6.6.1.2) is left to the rest.
            if let Some(number) = numbers.get_mut(place) {
                *number = text.parse().map_err(|_| bad())?;
                given += 1;
            }
        }
        if given < 2 {
            return Err(bad());
        }
        Ok(KernelVersion { numbers, release: release.to_owned() })
    }
}

impl Ord for KernelVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| natural(self.rest(), other.rest()))
            .then_with(|| self.release.cmp(&other.release))
    }
}

impl PartialOrd for KernelVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.release)
    }
}

/// Compares texts with the numbers in them by value: `-9-` is before `-56-`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (pieces(a).into_iter(), pieces(b).into_iter());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match compare_pieces(a, b) {
                Ordering::Equal => {}
                decided => return decided,
            },
        }
    }
}

fn compare_pieces(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => a.cmp(b),
    }
}

/// Splits a text where digits begin or end.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let bytes = text.as_bytes();
    for at in 1..bytes.len() {
        if bytes[at].is_ascii_digit() != bytes[at - 1].is_ascii_digit() && text.is_char_boundary(at) {
            pieces.push(&text[begin..at]);
            begin = at;
        }
    }
    if begin < text.len() {
        pieces.push(&text[begin..]);
    }
    pieces
}

/// Which kernels will do: the newest at all, or the newest whose version begins with given numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The newest good one.
    Newest,
    /// `6.18`, or one version such as `7.2.13`.
    Numbers(Vec<u32>),
}

impl Line {
    /// The line that is used unless another is asked for: the long-term kernel that has sched_ext.
    pub fn long_term() -> Self {
        Line::Numbers(vec![6, 18])
    }

    /// Whether a version belongs to the line.
    pub fn has(&self, version: &KernelVersion) -> bool {
        match self {
            Line::Newest => true,
            Line::Numbers(numbers) => version.numbers.starts_with(numbers),
        }
    }

    /// Whether the line is one single version.
    pub fn is_one_version(&self) -> bool {
        matches!(self, Line::Numbers(numbers) if numbers.len() == 3)
    }
}

impl FromStr for Line {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        if text == "newest" {
            return Ok(Line::Newest);
        }
        let numbers: std::result::Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        match numbers {
            Ok(numbers) if (1..=3).contains(&numbers.len()) => Ok(Line::Numbers(numbers)),
            _ => Err(Diagnostic::usage(format!("`{text}` is not a line of kernels"))
                .hint("a line is `newest`, the beginning of a version such as 6.18 or 7, or one version such as 7.2.13")),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Newest => f.write_str("newest"),
            Line::Numbers(numbers) => {
                let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
                f.write_str(&texts.join("."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> KernelVersion {
        text.parse().expect("a version")
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let ascending = [
            "6.1.0-9-cloud-amd64",
            "6.1.0-56-cloud-amd64",
            "6.12.48+deb13-cloud-amd64",
            "6.16.3+deb13-cloud-amd64",
            "6.16.12+deb13-cloud-amd64",
            "6.18.9+deb13-cloud-amd64",
            "6.18.15+deb13-cloud-amd64",
            "7.2.13+deb13-cloud-amd64",
            "7.2.13+deb14-cloud-amd64",
            "7.3.4+deb13-cloud-amd64",
            "7.10.1",
        ];
        let mut shuffled: Vec<KernelVersion> = ascending.iter().rev().map(|text| version(text)).collect();
        shuffled.sort();
        assert_eq!(shuffled.iter().map(KernelVersion::release).collect::<Vec<_>>(), ascending);
    }

    #[test]
    fn lines_have_the_versions_that_begin_with_them() {
        let line = |text: &str| text.parse::<Line>().expect("a line");
        assert!(line("6.18").has(&version("6.18.15+deb13-cloud-amd64")));
        assert!(!line("6.1").has(&version("6.18.15+deb13-cloud-amd64")), "6.1 is not the beginning of 6.18");
        assert!(line("7").has(&version("7.2.13+deb14-rt-amd64")));
        assert!(line("7.2.13").is_one_version() && !line("7.2").is_one_version());
        assert!(line("newest").has(&version("9.9")));
        assert_eq!(Line::long_term(), line("6.18"));
        assert_eq!(line("7.2.13").to_string(), "7.2.13");
    }

    #[test]
    fn what_is_no_version_or_line_is_refused() {
        for text in ["", "six", "6", ".", "6.x", "99999999999.1"] {
            assert!(text.parse::<KernelVersion>().is_err(), "{text}");
        }
        for text in ["", "new", "6.", "6.18.1.2", "-1", "6.18+deb13"] {
            let refused = text.parse::<Line>().expect_err(text);
            assert!(refused.hint.is_some_and(|hint| hint.contains("newest")));
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn any_text_is_a_version_or_an_error(text in "\\PC*") {
            if let Ok(version) = text.parse::<KernelVersion>() {
                prop_assert_eq!(version.release(), &text);
                prop_assert_eq!(version.cmp(&version), Ordering::Equal);
            }
        }

        #[test]
        fn the_order_is_total(a in "[0-9]\\.[0-9]{1,2}[-+0-9a.]{0,6}", b in "[0-9]\\.[0-9]{1,2}[-+0-9a.]{0,6}") {
            if let (Ok(a), Ok(b)) = (a.parse::<KernelVersion>(), b.parse::<KernelVersion>()) {
                prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
                prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
            }
        }
    }
}
