//! What a configuration is called: by its scheduler, and by its placement as well where several are compared: `p-rm@ffd`.

use crate::linux::FOREIGN;

/// Between the names of a scheduler and of a placement, in neither of which it is.
const AT: char = '@';

/// The name of a configuration.
pub fn configuration_of(scheduler: &str, placement: &str) -> String {
    format!("{scheduler}{AT}{placement}")
}

/// The name of a configuration's scheduler, and that of its placement, if it has one.
pub fn scheduler_of(configuration: &str) -> (&str, Option<&str>) {
    match configuration.split_once(AT) {
        // The path of a program may have such a character; a foreign scheduler is global, nothing is placed.
        Some(_) if configuration.to_ascii_lowercase().starts_with(FOREIGN) => (configuration, None),
        Some((scheduler, placement)) => (scheduler, Some(placement)),
        None => (configuration, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_as_they_were_made() {
        assert_eq!(
            scheduler_of(&configuration_of("p-rm", "ff:density:down")),
            ("p-rm", Some("ff:density:down"))
        );
        for whole in ["g-edf", "scx:/opt/a@b/scx_simple"] {
            assert_eq!(scheduler_of(whole), (whole, None));
        }
    }
}
