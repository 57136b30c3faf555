//! What a configuration is called: by its scheduler, and by its placement as well where several are compared: `p-rm@ffd`.

/// Between the names of a scheduler and of a placement, in neither of which it is.
const AT: char = '@';

/// The name of a configuration.
pub fn configuration_of(scheduler: &str, placement: &str) -> String {
    format!("{scheduler}{AT}{placement}")
}

/// The name of a configuration's scheduler, and that of its placement, if it has one.
pub fn scheduler_of(configuration: &str) -> (&str, Option<&str>) {
    match configuration.split_once(AT) {
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
        assert_eq!(scheduler_of("g-edf"), ("g-edf", None));
    }
}
