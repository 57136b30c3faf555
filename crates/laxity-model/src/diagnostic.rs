//! One error type for everything a user can cause: what is wrong, the rule it breaks, and the way out.

use crate::shown_message;
use std::fmt;

/// Which exit code an error ends the program with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The input or the command line is wrong: exit code 2.
    Usage,
    /// This machine, kernel or user cannot do it: exit code 3.
    Environment,
    /// A signal asked for the end before there was an answer: exit code 130.
    Interrupted,
}

impl Failure {
    /// The process exit code of this kind of failure.
    pub const fn exit_code(self) -> u8 {
        match self {
            Failure::Usage => 2,
            Failure::Environment => 3,
            Failure::Interrupted => 130,
        }
    }
}

/// An error a person can act on, or an interruption. `message` names the value and the rule, `hint` the fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where the fix lies: in the input, or in the machine's environment.
    pub failure: Failure,
    /// The value and the rule it breaks, without a leading "error:" (or "interrupted:").
    pub message: String,
    /// The fix, without a leading "hint:".
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error in the input or on the command line (exit code 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Diagnostic { failure: Failure::Usage, message: message.into(), hint: None }
    }

    /// Something this machine, kernel or user lacks (exit code 3).
    pub fn environment(message: impl Into<String>) -> Self {
        Diagnostic { failure: Failure::Environment, message: message.into(), hint: None }
    }

    /// What there is after a signal has asked for the end (exit code 130).
    pub fn interrupted(message: impl Into<String>) -> Self {
        Diagnostic { failure: Failure::Interrupted, message: message.into(), hint: None }
    }

    /// Adds the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, where no path or number of the user's is to blame, whatever the kernel says: [`Failure::Environment`].
    #[must_use]
    pub fn of_environment(mut self) -> Self {
        self.failure = Failure::Environment;
        self
    }

    /// Says where the error was met: `file.toml: ...`.
    #[must_use]
    pub fn context(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

/// A line for the message and one for the hint, whatever names are in them; further lines are quoted.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.failure {
            Failure::Usage | Failure::Environment => "error",
            Failure::Interrupted => "interrupted",
        };
        write!(f, "{word}: {}", shown_message(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", shown_message(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// The result of everything that can meet bad input or an unsuitable machine.
pub type Result<T> = std::result::Result<T, Diagnostic>;
