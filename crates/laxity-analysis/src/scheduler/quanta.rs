//! How Pfair's quanta and interrupts are arranged: what its accounting has to know (`overheads`, quantum-based).
//!
//! `pfair` alone assumes the least: jobs arrive at any time, quanta begin at the same time on all processors, and every processor
//! handles release interrupts. Parts of the name, in any order, change that, as in `pfair:staggered:dedicated`.

use laxity_model::{Diagnostic, Result};
use std::fmt;

/// What is assumed of quanta and interrupts. Where nothing says how long a quantum is (`Placed::overheads`), only `dedicated` matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quanta {
    /// `aligned`: jobs arrive periodically, at multiples of the quantum, of which every period is one.
    pub aligned: bool,
    /// `staggered`: quanta begin at different times on different processors, evenly spread over one quantum.
    pub staggered: bool,
    /// `dedicated`: the last processor handles all release interrupts, and runs no task.
    pub dedicated: bool,
}

/// `pfair`, before what follows it.
pub(super) const PFAIR: &str = "pfair";

impl Quanta {
    /// The part of a name, and what it stands for.
    fn parts(&mut self) -> [(&'static str, &mut bool); 3] {
        [
            ("aligned", &mut self.aligned),
            ("staggered", &mut self.staggered),
            ("dedicated", &mut self.dedicated),
        ]
    }

    /// From a whole name in lower case; nothing if it is of another scheduler.
    pub(super) fn of_name(name: &str) -> Option<Result<Self>> {
        let mut parts = name.split(':');
        if parts.next() != Some(PFAIR) {
            return None;
        }
        let mut quanta = Quanta::default();
        for part in parts {
            let meant = quanta.parts().into_iter().find(|(name, is_so)| *name == part && !**is_so);
            let Some((_, is_so)) = meant else { return Some(Err(unknown(name, part))) };
            *is_so = true;
        }
        Some(Ok(quanta))
    }
}

fn unknown(name: &str, part: &str) -> Diagnostic {
    Diagnostic::usage(format!("scheduler `{name}`: `{part}` is not known, or there twice")).hint(
        "write pfair and any of :aligned, :staggered and :dedicated, each once, as in pfair:staggered:dedicated",
    )
}

impl fmt::Display for Quanta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = PFAIR.to_owned();
        let mut copy = *self;
        for (part, _) in copy.parts().into_iter().filter(|(_, is_so)| **is_so) {
            name += ":";
            name += part;
        }
        f.pad(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_written() {
        for bits in 0..8_u32 {
            let [aligned, staggered, dedicated] = [1, 2, 4].map(|bit| bits & bit > 0);
            let quanta = Quanta { aligned, staggered, dedicated };
            assert_eq!(Quanta::of_name(&quanta.to_string()), Some(Ok(quanta)));
        }
        let both = Quanta { staggered: true, dedicated: true, aligned: false };
        assert_eq!(Quanta::of_name("pfair:dedicated:staggered"), Some(Ok(both)));
        assert_eq!(both.to_string(), "pfair:staggered:dedicated");
        for name in ["pfairy", "g-edf", "", "aligned"] {
            assert_eq!(Quanta::of_name(name), None, "{name}");
        }
        for name in ["pfair:", "pfair:align", "pfair:aligned:aligned"] {
            let refused = Quanta::of_name(name).expect("pfair").expect_err(name);
            assert!(refused.hint.expect("a hint").contains(":staggered"), "{name}");
        }
    }
}
