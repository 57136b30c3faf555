//! Words of a command line, to be read by a shell.

use std::borrow::Cow;

/// A word as a shell reads it: as it is, or in single quotes.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_word_and_nothing_else() {
        for word in ["", "plain-1.0/x=,:+@%", "it's", "$(echo no) `echo no` \"; echo no #", "a\nb", "\\"] {
            let script = format!("printf %s {}", shell_word(word));
            let ended = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&ended.stdout), word);
        }
    }
}
