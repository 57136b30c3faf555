//! Configurations: a scheduler and a placement under one name, such as `p-rm@ffd`.

use super::Choice;
use laxity_model::{Diagnostic, Platform, Result, Scope, configuration_of};

/// The names of a scheduler's configurations, one for each of these placements, where there is anything to place and its name has no
/// placement of its own; else its own name.
pub fn configurations(
    name: &str,
    (scope, own): (Scope, Option<Choice>),
    placements: &[Choice],
    platform: &Platform,
) -> impl Iterator<Item = (String, Option<Choice>)> {
    let nothing_to_place = scope == Scope::Global || platform.cells(scope).len() == 1;
    let many = !nothing_to_place && own.is_none() && placements.len() > 1;
    let all = match many {
        true => placements
            .iter()
            .map(|&choice| (configuration_of(name, &choice.to_string()), Some(choice)))
            .collect(),
        false => vec![(name.to_owned(), own)],
    };
    all.into_iter()
}

/// The name of a configuration by those of its scheduler and placement, and the placement.
///
/// # Errors
///
/// The placement is not known, or the scheduler is global.
pub fn taken_apart((scheduler, placement): (&str, &str), scope: Scope) -> Result<(String, Choice)> {
    let choice: Choice = placement.parse()?;
    if scope == Scope::Global {
        return Err(Diagnostic::usage(format!(
            "`{scheduler}@{placement}`: {scheduler} is global: nothing is placed"
        ))
        .hint(format!("write {scheduler}, or choose a partitioned or clustered scheduler")));
    }
    Ok((configuration_of(scheduler, &choice.to_string()), choice))
}
