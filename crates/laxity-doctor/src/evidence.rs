//! What is seen of a machine, and what is not.

use schemars::JsonSchema;
use serde::Serialize;

/// A file and what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Its path, or the system call that was asked.
    pub file: String,
    /// The value, or the part of it that matters.
    pub value: String,
}

impl Evidence {
    /// A file and its value.
    pub fn new(file: impl Into<String>, value: impl Into<String>) -> Self {
        Evidence { file: file.into(), value: value.into() }
    }
}

/// Why a check cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unseen(pub String);

/// Why a check cannot be made.
pub(crate) fn unseen<T>(why: impl Into<String>) -> Result<T, Unseen> {
    Err(Unseen(why.into()))
}
