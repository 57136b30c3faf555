//! What virtual machines say, on standard output and standard error.

use crate::output;
use laxity_vm::Audience;
use std::io::Write as _;

/// Where everything goes.
pub struct Terminal {
    quiet: bool,
    console: bool,
    /// The reader of standard output has left.
    deaf: bool,
}

impl Terminal {
    /// The words of machines, unless it is quiet, and their consoles, if they are wanted.
    pub fn new(quiet: bool, console: bool) -> Terminal {
        Terminal { quiet, console, deaf: false }
    }
}

impl Audience for Terminal {
    fn words(&mut self, line: &str) {
        if !self.quiet {
            output::say(line);
        }
    }

    fn out(&mut self, bytes: &[u8]) -> bool {
        if !self.deaf {
            let mut out = std::io::stdout().lock();
            self.deaf = out.write_all(bytes).and_then(|()| out.flush()).is_err();
        }
        !self.deaf
    }

    fn err(&mut self, bytes: &[u8]) {
        let _ = std::io::stderr().write_all(bytes);
    }

    fn console(&mut self, bytes: &[u8]) {
        if self.console {
            let _ = std::io::stderr().write_all(bytes);
        }
    }
}
