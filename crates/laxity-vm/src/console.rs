//! What a machine writes on its console: the end of it, and what of that to show.

use std::collections::VecDeque;

/// How much of a console is kept.
const TAIL_BYTES: usize = 32 << 10;
/// How much of it is shown when something fails.
const TAIL_LINES: usize = 15;
/// Signs of trouble on a console, and how many lines before the first one are shown.
const TROUBLE: [&str; 3] = ["BUG: ", "Oops: ", "Kernel panic"];
const LINES_BEFORE_TROUBLE: usize = 7;

/// The end of a text that may be long.
#[derive(Default)]
pub struct Tail {
    bytes: VecDeque<u8>,
}

impl Tail {
    /// Takes more; the beginning goes.
    pub fn add(&mut self, more: &[u8]) {
        self.bytes.extend(more);
        let beyond = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..beyond);
    }

    /// Its lines without those that are empty.
    pub fn lines(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    /// The first line with these words.
    pub fn line_with(&self, words: &str) -> Option<String> {
        self.lines().into_iter().find(|line| line.contains(words))
    }

    /// Whether there is one.
    pub fn has(&self, words: &str) -> bool {
        self.line_with(words).is_some()
    }

    /// Its last lines, or those around the first sign of trouble, indented, as an appendix to a message.
    pub fn shown(&self) -> String {
        let mut lines = self.lines();
        let is_trouble = |line: &String| TROUBLE.iter().any(|sign| line.contains(sign));
        if let Some(trouble) = lines.iter().position(is_trouble) {
            lines.truncate((trouble + TAIL_LINES).saturating_sub(LINES_BEFORE_TROUBLE));
        }
        let begin = lines.len().saturating_sub(TAIL_LINES);
        if lines.is_empty() {
            return String::new();
        }
        let shown: String = lines[begin..].iter().map(|line| format!("\n  | {line}")).collect();
        format!("\non its console:{shown}")
    }
}

/// A line of the kernel without the time in brackets that it begins with.
pub fn without_time(line: &str) -> &str {
    line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(line, |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_bounded_and_shown_by_lines() {
        let mut tail = Tail::default();
        assert_eq!(tail.shown(), "");
        for number in 0..10_000 {
            tail.add(format!("[    1.000000] line {number}\r\n").as_bytes());
        }
        assert_eq!(tail.bytes.len(), TAIL_BYTES);
        let shown = tail.shown();
        assert!(
            shown.ends_with("| [    1.000000] line 9999") && shown.lines().count() == TAIL_LINES + 2,
            "{shown}"
        );
        assert!(tail.has("line 9998") && !tail.has("line 1 "));
        let mut trouble = Tail::default();
        for number in 0..100 {
            let sign = if number == 50 || number == 70 { "Kernel panic " } else { "" };
            trouble.add(format!("{sign}{number}\n").as_bytes());
        }
        let shown = trouble.shown();
        assert!(
            shown.contains("| Kernel panic 50\n") && shown.contains("| 43\n") && shown.ends_with("| 57"),
            "{shown}"
        );
        assert_eq!(without_time("[   12.345] Kernel panic"), "Kernel panic");
        assert_eq!(without_time("Kernel panic"), "Kernel panic");
    }
}
