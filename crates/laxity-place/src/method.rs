//! The names of placement methods and what each name means.

use crate::{Direction, Key, Order};
use laxity_model::{Diagnostic, Names, Result, closest, one_of};
use std::fmt;
use std::str::FromStr;

/// A row per rule: its name on the command line, and what it means.
macro_rules! rules {
    ($($(#[$documentation:meta])* $rule:ident: $name:literal, $description:literal;)*) => {
        /// How a packing heuristic chooses among the bins into which a task fits (lindsay2012, 5.2; next-fit: Johnson, Near-optimal
        /// bin packing algorithms, PhD thesis, MIT, 1973).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Rule {
            $($(#[$documentation])* $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: [Rule; [$($name),*].len()] = [$(Rule::$rule),*];

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$rule => $name,)*
                }
            }

            fn description(self) -> &'static str {
                match self {
                    $(Rule::$rule => $description,)*
                }
            }
        }
    };
}

rules! {
    /// The first bin.
    FirstFit: "ff", "first-fit: the first CPU or cluster with room";
    /// The bin with the least capacity left; the first of equals.
    BestFit: "bf", "best-fit: the one with the least room left that still has enough";
    /// The bin with the most capacity left; the first of equals.
    WorstFit: "wf", "worst-fit: the one with the most room left";
    /// The bin that took the task before, as long as it has room; else the first with room after it. Bins that have been left take
    /// nothing any more.
    NextFit: "nf", "next-fit: the one used last while it has room, then the next; never back to one that was left";
    /// The first bin after the one that took the task before, around the circle.
    CyclicFit: "cf", "cyclic-fit: the first with room after the one used last, around the circle";
    /// The slowest bin, by its fastest CPU; the first of equals (calandrino2007, 4.1).
    SlowestFit: "sf", "slowest-fit: the slowest one with room";
}

/// A packing heuristic: tasks one by one in an order, each into the bin its rule chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packing {
    /// Which bin.
    pub rule: Rule,
    /// Which task next.
    pub order: Order,
}

/// A way to place tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// A packing heuristic.
    Pack(Packing),
    /// Largest working set first, grouping tasks that share memory (lindsay2012, 5.3), and what is tried where that
    /// finds no place for a task (5.5).
    Lwfg(Option<Fallback>),
    /// The integer program that minimises the maximum load relative to capacity (lelli2012, 5.4).
    Ilp,
}

/// What places a set that LWFG cannot place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// A packing heuristic.
    Pack(Packing),
    /// The integer program.
    Ilp,
}

impl From<Fallback> for Method {
    fn from(fallback: Fallback) -> Self {
        match fallback {
            Fallback::Pack(packing) => Method::Pack(packing),
            Fallback::Ilp => Method::Ilp,
        }
    }
}

/// A line of `laxity list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name, or the form of a family of names.
    pub name: String,
    /// What it means.
    pub description: String,
}

const fn by_utilization(rule: Rule) -> Packing {
    Packing { rule, order: Order { key: Key::Utilization, direction: Direction::Down } }
}

const BF_DEADLINE: Packing =
    Packing { rule: Rule::FirstFit, order: Order { key: Key::Deadline, direction: Direction::Up } };

const SLOWEST_FIT: Packing = Packing { rule: Rule::SlowestFit, order: Order::GIVEN };

const LARGEST_WORKING_SET_FIRST: Packing =
    Packing { rule: Rule::CyclicFit, order: Order { key: Key::WorkingSet, direction: Direction::Down } };

/// Heuristics that have a name of their own.
static NAMED: &[(&str, Packing, &str)] = &[
    ("ffd", by_utilization(Rule::FirstFit), "first-fit, decreasing utilization"),
    ("wfd", by_utilization(Rule::WorstFit), "worst-fit, decreasing utilization: spreads the load"),
    ("bfd", by_utilization(Rule::BestFit), "best-fit, decreasing utilization: packs tightly"),
    ("nfd", by_utilization(Rule::NextFit), "next-fit, decreasing utilization"),
    ("bf-deadline", BF_DEADLINE, "Baruah and Fisher 2005: first-fit, non-decreasing relative deadline"),
    (
        "lwf",
        LARGEST_WORKING_SET_FIRST,
        "cyclic-fit, largest working set first: LWFG without its groups (lindsay2012, 5.3)",
    ),
    ("slowest-fit", SLOWEST_FIT, "the slowest CPU with room, in the order given (calandrino2007, 4.1)"),
];

const ILP: &str = "ilp";
const LWFG: &str = "lwfg";
/// Begins the name of LWFG with a fallback.
const LWFG_ELSE: &str = "lwfg-else:";

impl Packing {
    /// Every heuristic, those with a name of their own first.
    pub fn all() -> Vec<Packing> {
        let mut all: Vec<Packing> = NAMED.iter().map(|&(_, packing, _)| packing).collect();
        for key in Key::ALL {
            for direction in [key.default_direction(), opposite(key.default_direction())] {
                for rule in Rule::ALL {
                    let packing = Packing { rule, order: Order { key, direction } };
                    if !all.contains(&packing) {
                        all.push(packing);
                    }
                }
            }
        }
        all
    }
}

fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
    }
}

impl Method {
    /// The methods with names of their own.
    pub fn named() -> Vec<Method> {
        let packings = NAMED.iter().map(|&(_, packing, _)| Method::Pack(packing));
        packings.chain([Method::Lwfg(None), Method::Ilp]).collect()
    }

    /// True if the integer program may have to decide.
    pub fn may_solve(self) -> bool {
        matches!(self, Method::Ilp | Method::Lwfg(Some(Fallback::Ilp)))
    }

    /// Everything `laxity list` says about placement methods.
    pub fn list() -> Vec<Listed> {
        let line =
            |name: &str, description: &str| Listed { name: name.into(), description: description.into() };
        let named = NAMED.iter().map(|(name, _, description)| line(name, description));
        let ilp = line(
            ILP,
            "integer program: the least maximum load, by an exact search of bounded length (lelli2012, 5.4)",
        );
        let rules = Rule::ALL.iter().map(|rule| line(rule.name(), rule.description()));
        let keys = Key::ALL.map(Key::name).join("|");
        let order = line(
            "RULE:ORDER[:up|down]",
            &format!(
                "a rule above with tasks ordered by {keys}; loads and working sets fall, times rise by default"
            ),
        );
        let lwfg = line(
            LWFG,
            "largest working set first, tasks of a group that share memory together, cyclic-fit (lindsay2012, 5.3)",
        );
        let fallback = format!("{LWFG_ELSE}NAME");
        let fallback = line(
            &fallback,
            "lwfg, and another placement, such as wfd or ilp, where lwfg finds no place (5.5)",
        );
        named.chain([lwfg, fallback, ilp]).chain(rules).chain([order]).collect()
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, ..)) = NAMED.iter().find(|(_, packing, _)| packing == self) {
            return f.pad(name);
        }
        match self.order {
            Order::GIVEN => f.pad(self.rule.name()),
            Order { key, direction } => {
                f.pad(&format!("{}:{}:{}", self.rule.name(), key.name(), direction.name()))
            }
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Pack(packing) => packing.fmt(f),
            Method::Lwfg(None) => f.pad(LWFG),
            Method::Lwfg(Some(fallback)) => f.pad(&format!("{LWFG_ELSE}{fallback}")),
            Method::Ilp => f.pad(ILP),
        }
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Method::from(*self).fmt(f)
    }
}

impl FromStr for Packing {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse()? {
            Method::Pack(packing) => Ok(packing),
            Method::Ilp | Method::Lwfg(_) => {
                Err(Diagnostic::usage(format!("placement `{text}` is not a packing heuristic"))
                    .hint("write a heuristic such as wfd or ff:density:down"))
            }
        }
    }
}

impl FromStr for Method {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        if wanted == ILP {
            return Ok(Method::Ilp);
        }
        if wanted == LWFG {
            return Ok(Method::Lwfg(None));
        }
        if let Some(fallback) = wanted.strip_prefix(LWFG_ELSE) {
            return match fallback.parse()? {
                Method::Pack(packing) => Ok(Method::Lwfg(Some(Fallback::Pack(packing)))),
                Method::Ilp => Ok(Method::Lwfg(Some(Fallback::Ilp))),
                Method::Lwfg(_) => Err(unknown(text, "falls back to itself")),
            };
        }
        if let Some((_, packing, _)) = NAMED.iter().find(|(name, ..)| *name == wanted) {
            return Ok(Method::Pack(*packing));
        }
        let short = wanted.split_once(':').filter(|(name, _)| NAMED.iter().any(|(known, ..)| known == name));
        if let Some((name, _)) = short {
            return Err(unknown(text, &format!("has an order, and `{name}` has one already")));
        }
        generic(&wanted).map(Method::Pack).map_err(|why| unknown(text, &why))
    }
}

/// `has the unknown order ...`, and which one is meant.
fn unknown_part(what: &str, text: &str, known: &[&str]) -> String {
    let meant = closest(text, known).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
    format!("has the unknown {what} `{text}`{meant}")
}

/// Reads `RULE`, `RULE:ORDER` and `RULE:ORDER:DIRECTION`.
fn generic(text: &str) -> std::result::Result<Packing, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let rule = Rule::ALL.into_iter().find(|rule| rule.name() == name).ok_or("is not known")?;
    let order = match parts.next() {
        None => Order::GIVEN,
        Some(name) => {
            let key = Key::ALL.into_iter().find(|key| key.name() == name);
            let key = key.ok_or_else(|| unknown_part("order", name, &Key::ALL.map(Key::name)))?;
            let direction = match parts.next() {
                None => key.default_direction(),
                Some("up") => Direction::Up,
                Some("down") => Direction::Down,
                Some(other) => return Err(unknown_part("direction", other, &["up", "down"])),
            };
            Order { key, direction }
        }
    };
    match parts.next() {
        None => Ok(Packing { rule, order }),
        Some(part) => Err(format!("has one part too many: `{part}`")),
    }
}

/// Names from papers and other tools.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("first-fit", "`ff`, or `ffd` by falling utilization"),
    ("best-fit", "`bf`, or `bfd` by falling utilization"),
    ("worst-fit", "`wf`, or `wfd` by falling utilization"),
    ("next-fit", "`nf`, or `nfd` by falling utilization"),
    ("next-fit-decreasing", "`nfd`"),
    ("cyclic-fit", "`cf`"),
    ("round-robin", "`cf`: around the circle of those with room"),
    ("first-fit-decreasing", "`ffd`"),
    ("best-fit-decreasing", "`bfd`"),
    ("worst-fit-decreasing", "`wfd`"),
    ("optimal", "`ilp`"),
    ("milp", "`ilp`"),
    ("lp", "`ilp`"),
    ("exact", "`ilp`"),
    ("balanced", "`ilp` (the least load of the fullest CPU) or `wfd`"),
];

fn unknown(text: &str, why: &str) -> Diagnostic {
    let named: Vec<String> = Method::named().iter().map(Method::to_string).collect();
    let (rules, keys) = (one_of(Rule::ALL.map(Rule::name)), Key::ALL.map(Key::name).join(", "));
    let known: Vec<&str> = named.iter().map(String::as_str).collect();
    let names = Names::of("placement", &known).or(OTHER_NAMES).listed_by("laxity list placements");
    Diagnostic::usage(format!("placement `{text}` {why}")).hint(format!(
        "{}, or write {rules} with an order ({keys}) and up or down, as in ff:density:down",
        names.hint(text)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_reads_back_as_written() {
        let packings = Packing::all();
        assert_eq!(packings.len(), Rule::ALL.len() * Key::ALL.len() * 2);
        let fallbacks = packings.iter().copied().map(Fallback::Pack).chain([Fallback::Ilp]);
        let lwfg = fallbacks.map(Some).chain([None]).map(Method::Lwfg).collect::<Vec<_>>();
        for method in packings.into_iter().map(Method::Pack).chain(lwfg).chain([Method::Ilp]) {
            assert_eq!(method.to_string().parse(), Ok(method), "{method}");
        }
    }

    #[test]
    fn names_mean_what_they_say() {
        for (short, long) in [
            ("wfd", "wf:utilization:down"),
            ("FFD", "ff:utilization"),
            ("bf-deadline", "ff:deadline"),
            ("nf", "nf:given:up"),
            ("wf:wss", "wf:wss:down"),
            ("bf:period", "bf:period:up"),
            ("lwf", "cf:wss:down"),
            ("nfd", "nf:utilization:down"),
            ("slowest-fit", "sf:given:up"),
            ("sf", "slowest-fit"),
            ("LWFG-else:FFD", "lwfg-else:ff:utilization:down"),
        ] {
            assert_eq!(short.parse::<Method>(), long.parse::<Method>(), "{short}");
        }
        assert_eq!("ff:utilization:down".parse::<Method>().expect("valid").to_string(), "ffd");
        assert_eq!("ff:density".parse::<Method>().expect("valid").to_string(), "ff:density:down");
    }

    #[test]
    fn refuses_unknown_names_and_teaches() {
        for (text, why) in [
            ("lpt", "is not known"),
            ("", "is not known"),
            ("ff:size", "unknown order `size`"),
            ("ff:density:sideways", "unknown direction"),
            ("ff:density:up:up", "one part too many"),
            ("lwfg-else:", "is not known"),
            ("lwfg:ffd", "is not known"),
            ("lwfg-else:lwfg", "falls back to itself"),
        ] {
            let error = text.parse::<Method>().expect_err(text);
            assert!(error.message.contains(why), "{}", error.message);
            assert!(error.hint.expect("a hint").contains("ff:density:down"));
        }
        for text in ["ilp", "lwfg", "lwfg-else:ffd"] {
            assert!(text.parse::<Packing>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_list_names_every_named_method() {
        let names: Vec<String> = Method::list().into_iter().map(|listed| listed.name).collect();
        assert!(Method::named().iter().all(|method| names.contains(&method.to_string())));
    }
}
