//! The properties that hold for any text: a reader does not panic, a refusal says what to do about it, and
//! whatever is accepted survives being written and read again.

use laxity_model::{Platform, Result, TaskSet};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Checks a refusal or hands on what was accepted.
pub fn accepted<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!error.message.is_empty() && error.hint.is_some(), "a bare error: {error}");
            None
        }
    }
}

/// A task set that was accepted survives TOML, JSON and (by count) CSV.
pub fn set_survives(set: &TaskSet) {
    assert_eq!(TaskSet::from_toml(&set.to_toml(), "x").as_ref(), Ok(set));
    assert_eq!(TaskSet::from_json(&set.to_json(), "x").as_ref(), Ok(set));
    let csv = TaskSet::from_csv(&set.to_csv().text, set.name());
    assert_eq!(csv.map(|read| read.set.tasks().len()), Ok(set.tasks().len()));
}

/// A platform that was accepted survives TOML and JSON.
pub fn platform_survives(platform: &Platform) {
    assert_eq!(Platform::from_toml(&platform.to_toml(), "x").as_ref(), Ok(platform));
    assert_eq!(Platform::from_json(&platform.to_json(), "x").as_ref(), Ok(platform));
}

/// A value that was accepted survives being shown.
pub fn value_survives<T>(text: &str)
where
    T: FromStr<Err = laxity_model::Diagnostic> + Display + Debug + PartialEq,
{
    if let Some(value) = accepted(text.parse::<T>()) {
        assert_eq!(value.to_string().parse::<T>().as_ref(), Ok(&value));
    }
}
