//! Numbers of things, in words.

/// A number of things, with commas between thousands: `1 job`, `1,200 misses`, `2 retries`.
///
/// `word` is the singular; its plural has to follow the rule (`s`, `es`, `ies`).
pub fn plural(number: impl TryInto<u64>, word: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {}", with_commas(number), if number == 1 { word.to_owned() } else { plural_of(word) })
}

/// CPUs with the word before them: `CPU 0`, `CPUs 0-1`.
pub fn cpus_named(cpus: impl std::fmt::Display) -> String {
    let cpus = cpus.to_string();
    format!("CPU{} {cpus}", if cpus.chars().all(|letter| letter.is_ascii_digit()) { "" } else { "s" })
}

/// Parts of a sentence as a list: `a`, `a and b`, `a, b and c`.
pub fn listed<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> String {
    joined(parts, " and ")
}

/// The same, of which one is meant: `a`, `a or b`, `a, b or c`.
pub fn one_of<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> String {
    joined(parts, " or ")
}

fn joined<T: AsRef<str>>(parts: impl IntoIterator<Item = T>, before_the_last: &str) -> String {
    let parts: Vec<T> = parts.into_iter().collect();
    let mut text = String::new();
    for (place, part) in parts.iter().enumerate() {
        text += match place {
            0 => "",
            last if last + 1 == parts.len() => before_the_last,
            _ => ", ",
        };
        text += part.as_ref();
    }
    text
}

/// A number with commas between thousands: `1,200`.
pub fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The plural of an English word that follows the rule.
fn plural_of(word: &str) -> String {
    let before = word.chars().rev().nth(1);
    match word.chars().last() {
        Some('y') if before.is_some_and(|letter| !"aeiou".contains(letter)) => {
            format!("{}ies", &word[..word.len() - 1])
        }
        Some('s' | 'x') => format!("{word}es"),
        Some('h') if matches!(before, Some('c' | 's')) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_list_follows_an_and() {
        for (parts, text) in
            [(&[][..], ""), (&["a"], "a"), (&["a", "b"], "a and b"), (&["a", "b", "c"], "a, b and c")]
        {
            assert_eq!(listed(parts), text);
            assert_eq!(one_of(parts), text.replace(" and ", " or "));
        }
    }

    #[test]
    fn one_thing_stands_in_the_singular_and_others_in_the_plural() {
        for (number, word, text) in [
            (1u64, "job", "1 job"),
            (0, "job", "0 jobs"),
            (1200, "miss", "1,200 misses"),
            (2, "retry", "2 retries"),
            (2, "delay", "2 delays"),
            (3, "switch", "3 switches"),
            (2, "task set", "2 task sets"),
        ] {
            assert_eq!(plural(number, word), text);
        }
        assert_eq!(plural(1_234_567usize, "core"), "1,234,567 cores");
    }
}
