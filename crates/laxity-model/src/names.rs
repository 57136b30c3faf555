//! Names that a user mistypes: which known one was meant, and which there are; and names that are refused.

use crate::{Diagnostic, Result, shown};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A hint lists so many names at most; `laxity list` has the others.
const LISTED_MAX: usize = 16;
/// Longer words are no slips.
const WORD_MAX: usize = 64;

/// The names of one kind of thing, such as placements.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// What has the name: "placement".
    pub what: &'a str,
    /// All names, in the order in which they are listed.
    pub known: &'a [&'a str],
    /// What people type instead, and the words that answer it.
    pub aliases: &'a [(&'a str, &'a str)],
    /// The command that lists them all: "laxity list placements".
    pub listed_by: Option<&'a str>,
}

impl<'a> Names<'a> {
    /// Names without aliases that no command lists.
    pub fn of(what: &'a str, known: &'a [&'a str]) -> Self {
        Names { what, known, aliases: &[], listed_by: None }
    }

    /// The command that lists them all.
    #[must_use]
    pub fn listed_by(self, command: &'a str) -> Self {
        Names { listed_by: Some(command), ..self }
    }

    /// What people type instead.
    #[must_use]
    pub fn or(self, aliases: &'a [(&'a str, &'a str)]) -> Self {
        Names { aliases, ..self }
    }

    /// The error for a name that is none of these.
    pub fn unknown(&self, text: &str) -> Diagnostic {
        Diagnostic::usage(format!("{} `{}` is not known", self.what, shown(text))).hint(self.hint(text))
    }

    /// `did you mean ...? Choose from ...`
    pub fn hint(&self, text: &str) -> String {
        let mut hint = self.meant(text).map_or(String::new(), |meant| format!("did you mean {meant}? "));
        let choose = if hint.is_empty() { "choose" } else { "Choose" };
        let shown = match self.known.len() <= LISTED_MAX {
            true => self.known,
            false => &self.known[..LISTED_MAX - 2],
        };
        let _ = write!(hint, "{choose} from {}", shown.join(", "));
        if shown.len() < self.known.len() {
            hint += " ...";
        }
        if let Some(command) = self.listed_by {
            let _ = match shown.len() < self.known.len() {
                true => write!(hint, " (`{command}` has all)"),
                false => write!(hint, " (`{command}`)"),
            };
        }
        hint
    }

    /// The words for what was meant, if there is a guess.
    fn meant(&self, text: &str) -> Option<String> {
        let wanted = plain(text);
        let alias = self.aliases.iter().find(|(typed, _)| plain(typed) == wanted);
        alias
            .map(|(_, answer)| (*answer).to_owned())
            .or_else(|| closest(text, self.known).map(|near| format!("`{near}`")))
    }
}

/// Lower case, without what joins words: `G_EDF` and `g-edf` are one.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The known word nearest to `word`, if it is near enough to be a slip: an edit, and another for every three letters.
/// Words that differ only in case and hyphens come first.
pub fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.is_empty() || word.len() > WORD_MAX {
        return None;
    }
    if let Some(same) = known.iter().find(|candidate| plain(candidate) == plain(word)) {
        return Some(same);
    }
    let edits = |candidate: &str| strsim::damerau_levenshtein(&word.to_ascii_lowercase(), candidate);
    let nearest = known.iter().map(|candidate| (edits(candidate), *candidate)).min()?;
    (nearest.0 <= 1 + word.len() / 3 && nearest.0 < word.len()).then_some(nearest.1)
}

/// Refuses a name that would not be shown as it is; `what` has it ("task name").
///
/// # Errors
///
/// The name, escaped.
pub fn check_name(what: &str, name: &str) -> Result<()> {
    match shown(name) {
        Cow::Borrowed(_) => Ok(()),
        Cow::Owned(shown) => {
            let kind = if name.contains(char::is_control) { "control" } else { "invisible" };
            Err(Diagnostic::usage(format!("{what} `{shown}` has {kind} characters"))
                .hint("use printable characters in names"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_word() {
        let known = ["name", "wcet", "period", "min_interarrival", "deadline"];
        assert_eq!(closest("peroid", &known), Some("period"));
        assert_eq!(closest("WCET", &known), Some("wcet"));
        assert_eq!(closest("dead-line", &known), Some("deadline"));
        assert_eq!(closest("colour", &known), None);
        assert_eq!(closest("", &known), None);
        assert_eq!(closest("x", &["ab"]), None, "nothing of it is left");
    }

    #[test]
    fn an_unknown_name_meets_the_nearest_one_and_the_list() {
        let names = Names::of("scheduler", &["g-edf", "p-edf"]).listed_by("laxity list schedulers");
        let error = names.or(&[("fifo", "`p-rm`")]).unknown("gedf");
        assert_eq!(error.message, "scheduler `gedf` is not known");
        assert_eq!(
            error.hint.as_deref(),
            Some("did you mean `g-edf`? Choose from g-edf, p-edf (`laxity list schedulers`)")
        );
        let hint = names.or(&[("fifo", "`p-rm`")]).hint("FIFO");
        assert!(hint.starts_with("did you mean `p-rm`? Choose"), "{hint}");
        assert_eq!(Names::of("x", &["a1", "b2"]).hint("zzzz"), "choose from a1, b2");
    }

    #[test]
    fn a_long_list_is_cut_and_says_where_the_rest_is() {
        let many: Vec<String> = (0..30).map(|at| format!("name{at:02}")).collect();
        let known: Vec<&str> = many.iter().map(String::as_str).collect();
        let hint = Names::of("test", &known).listed_by("laxity list tests").hint("qqqqqqqq");
        assert!(hint.contains("name13 ... (`laxity list tests` has all)"), "{hint}");
        assert!(!hint.contains("name14"), "{hint}");
    }

    #[test]
    fn a_name_that_is_not_shown_as_it_is_is_refused_in_the_form_that_is_shown() {
        assert_eq!(check_name("task name", "vidéo 1"), Ok(()));
        let error = |name| check_name("task name", name).expect_err("refused").message;
        assert_eq!(error("a\u{1b}b"), r"task name `a\u{1b}b` has control characters");
        assert_eq!(error("a\u{202e}b"), r"task name `a\u{202e}b` has invisible characters");
    }
}
