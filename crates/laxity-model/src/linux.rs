//! The schedulers of Linux under which a task set can run: those that go by a priority rule ([`Scheduler`]), and those
//! that every system has and of which little or nothing is proven.
//!
//! | name | class | what is known |
//! |---|---|---|
//! | `g-edf`, `p-rm` ... | SCHED_DEADLINE, SCHED_FIFO | a rule: proven, simulated, verified |
//! | `p-edf:grub` ... | SCHED_DEADLINE with SCHED_FLAG_RECLAIM | proven where EDF misses nothing; verified by what the kernel's accounts say |
//! | `p-rr` ... | SCHED_RR at one priority | verified: some ready task runs on each CPU |
//! | `other` | SCHED_OTHER (EEVDF) | nothing |
//! | `scx:PROGRAM` | SCHED_EXT, under a program's scheduler | nothing |

use crate::{Diagnostic, Duration, PriorityRule, Result, Scheduler, Scope, is_escaped, shown};
use std::fmt;

/// A scheduler of Linux, by the class of its threads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinuxScheduler {
    /// SCHED_DEADLINE, or SCHED_FIFO with priorities by a rule: `g-edf`, `p-rm` ...
    Ruled(Scheduler),
    /// SCHED_DEADLINE whose tasks use what others leave (GRUB, SCHED_FLAG_RECLAIM): `p-edf:grub` ...
    Reclaiming(Scope),
    /// SCHED_RR, all tasks at one priority: `p-rr` ...
    RoundRobin(Scope),
    /// SCHED_OTHER on all CPUs: `other`, `other:nice=-10` ...
    Fair(Fair),
    /// A scheduler that a program loads by sched_ext: `scx:PROGRAM`.
    Foreign(ForeignProgram),
}

/// What the threads of SCHED_OTHER are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fair {
    /// The nice value of all tasks, -20 (most of the CPU) to 19.
    pub nice: i8,
    /// How much CPU time a thread asks for at a time.
    pub slice: Slice,
}

/// How much CPU time a thread of SCHED_OTHER asks for at a time: one that asks for less comes sooner (EEVDF).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slice {
    /// As the kernel has it.
    #[default]
    OfKernel,
    /// The same for all tasks.
    Of(Duration),
    /// The WCET of each task.
    Wcet,
}

/// A program that loads a scheduler: a path, or a name to be found in PATH.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignProgram(String);

/// Nice values (`setpriority(2)`).
const NICE: std::ops::RangeInclusive<i8> = -20..=19;
/// Slices that Linux keeps as they are (`__setparam_fair` in kernel/sched/fair.c).
const SLICE_LEAST: Duration = Duration::from_us(100);
const SLICE_MOST: Duration = Duration::from_ms(100);
const FAIR: &str = "other";
/// Behind the name of an EDF scheduler.
pub(crate) const GRUB: &str = ":grub";
const ROUND_ROBIN: &str = "rr";
pub(crate) const FOREIGN: &str = "scx:";
const SCOPES: [Scope; 3] = [Scope::Global, Scope::Clustered, Scope::Partitioned];

impl Slice {
    /// What a task with this WCET asks for; zero: what the kernel gives.
    pub fn of(self, wcet: Duration) -> Duration {
        match self {
            Slice::OfKernel => Duration::ZERO,
            Slice::Of(slice) => slice,
            Slice::Wcet => wcet.clamp(SLICE_LEAST, SLICE_MOST),
        }
    }
}

impl ForeignProgram {
    /// The path or the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl LinuxScheduler {
    /// All that can be listed by name; those of programs cannot.
    pub fn all() -> impl Iterator<Item = LinuxScheduler> {
        let ruled = Scheduler::ALL.map(LinuxScheduler::Ruled);
        ruled.into_iter().chain(Self::without_rule())
    }

    /// Those of [`LinuxScheduler::all`] that are no [`Scheduler`].
    pub fn without_rule() -> impl Iterator<Item = LinuxScheduler> {
        let reclaiming = SCOPES.map(LinuxScheduler::Reclaiming);
        let round_robin = SCOPES.map(LinuxScheduler::RoundRobin);
        let fair = [LinuxScheduler::Fair(Fair::default())];
        reclaiming.into_iter().chain(round_robin).chain(fair)
    }

    /// The scheduler of this name; nothing if no name of these begins so.
    ///
    /// # Errors
    ///
    /// Parameters that are not known or not possible.
    pub fn named(text: &str) -> Option<Result<Self>> {
        let (asked, wanted) = (text.trim(), text.trim().to_ascii_lowercase());
        if wanted.starts_with(FOREIGN) {
            return Some(foreign(&asked[FOREIGN.len()..]));
        }
        if let Some(known) = Self::all().find(|known| known.to_string() == wanted) {
            return Some(Ok(known));
        }
        let parameters = wanted.strip_prefix(FAIR)?.strip_prefix(':')?;
        Some(
            fair(parameters)
                .map(LinuxScheduler::Fair)
                .map_err(|why| why.context(format!("scheduler `{}`", shown(asked)))),
        )
    }

    /// How far jobs migrate.
    pub fn scope(&self) -> Scope {
        match self {
            LinuxScheduler::Ruled(scheduler) => scheduler.scope,
            LinuxScheduler::Reclaiming(scope) | LinuxScheduler::RoundRobin(scope) => *scope,
            LinuxScheduler::Fair(_) | LinuxScheduler::Foreign(_) => Scope::Global,
        }
    }

    /// The same in another scope, for those that have several.
    #[must_use]
    pub fn in_scope(&self, scope: Scope) -> Self {
        match self {
            LinuxScheduler::Ruled(scheduler) => LinuxScheduler::Ruled(Scheduler { scope, ..*scheduler }),
            LinuxScheduler::Reclaiming(_) => LinuxScheduler::Reclaiming(scope),
            LinuxScheduler::RoundRobin(_) => LinuxScheduler::RoundRobin(scope),
            other => other.clone(),
        }
    }

    /// The rule by which the kernel decides between two jobs, if there is one.
    pub fn rule(&self) -> Option<PriorityRule> {
        match self {
            LinuxScheduler::Ruled(scheduler) => Some(scheduler.rule),
            LinuxScheduler::Reclaiming(_) => Some(PriorityRule::EarliestDeadlineFirst),
            LinuxScheduler::RoundRobin(_) | LinuxScheduler::Fair(_) | LinuxScheduler::Foreign(_) => None,
        }
    }

    /// Whether tasks have reservations of SCHED_DEADLINE.
    pub fn has_reservations(&self) -> bool {
        self.rule() == Some(PriorityRule::EarliestDeadlineFirst)
    }

    /// The one that laxity has a model of, for simulations.
    ///
    /// # Errors
    ///
    /// Why there is none, in words that go on with "laxity has".
    pub fn model(&self) -> std::result::Result<Scheduler, &'static str> {
        match self {
            LinuxScheduler::Ruled(scheduler) => Ok(*scheduler),
            LinuxScheduler::Reclaiming(_) => Err("laxity has no model of reclaimed budgets (GRUB)"),
            LinuxScheduler::RoundRobin(_) => Err("laxity has no model of the turns of SCHED_RR"),
            LinuxScheduler::Fair(_) => Err("laxity has no model of SCHED_OTHER (EEVDF)"),
            LinuxScheduler::Foreign(_) => Err("laxity has no model of what a program loads"),
        }
    }

    /// Why no test of schedulability is about it, in words that go on with "nothing is proven of"; nothing where there are tests.
    pub fn nothing_proven(&self) -> Option<&'static str> {
        match self {
            LinuxScheduler::Ruled(_) | LinuxScheduler::Reclaiming(_) => None,
            LinuxScheduler::RoundRobin(_) => {
                Some("nothing is proven of SCHED_RR: no test of laxity's is about turns")
            }
            LinuxScheduler::Fair(_) => {
                Some("nothing is proven of SCHED_OTHER: it shares CPUs and knows no deadlines of tasks")
            }
            LinuxScheduler::Foreign(_) => Some(
                "nothing is proven of a scheduler that a program loads: laxity does not know what it does",
            ),
        }
    }

    /// Why a schedule of its is not checked; nothing where there is a definition.
    pub fn undefined(&self) -> Option<&'static str> {
        match self {
            LinuxScheduler::Fair(_) => Some("laxity has no definition of EEVDF"),
            LinuxScheduler::Foreign(_) => Some("laxity has no definition of what a program loads"),
            LinuxScheduler::Ruled(_) | LinuxScheduler::Reclaiming(_) | LinuxScheduler::RoundRobin(_) => None,
        }
    }

    /// The Linux scheduling policy of its threads.
    pub fn linux_policy(&self) -> &'static str {
        match self {
            LinuxScheduler::Ruled(scheduler) => scheduler.linux_policy(),
            LinuxScheduler::Reclaiming(_) => "SCHED_DEADLINE",
            LinuxScheduler::RoundRobin(_) => "SCHED_RR",
            LinuxScheduler::Fair(_) => "SCHED_OTHER",
            LinuxScheduler::Foreign(_) => "SCHED_EXT",
        }
    }

    /// One line for `laxity list`.
    pub fn description(&self) -> String {
        match self {
            LinuxScheduler::Ruled(scheduler) => scheduler.description(),
            LinuxScheduler::Reclaiming(scope) => {
                let edf = Scheduler { scope: *scope, rule: PriorityRule::EarliestDeadlineFirst };
                format!("{}; a task may use what others leave (GRUB)", edf.description())
            }
            LinuxScheduler::RoundRobin(scope) => {
                format!("equal tasks take turns, {}, on SCHED_RR", scope.cells())
            }
            LinuxScheduler::Fair(_) => {
                "what every thread has, all CPUs, on SCHED_OTHER (EEVDF); :nice=N, :slice=TIME, :slice=wcet"
                    .into()
            }
            LinuxScheduler::Foreign(_) => FOREIGN_DESCRIPTION.into(),
        }
    }
}

/// What stands for the schedulers of programs where schedulers are listed: name and description.
pub const FOREIGN_LISTED: (&str, &str) = ("scx:PROGRAM", FOREIGN_DESCRIPTION);
const FOREIGN_DESCRIPTION: &str = "what PROGRAM loads into a kernel with sched_ext, all CPUs, on SCHED_EXT";

fn foreign(program: &str) -> Result<LinuxScheduler> {
    let refused = |why: &str, hint: &str| {
        Err(Diagnostic::usage(format!("scheduler `{FOREIGN}{}`: {why}", shown(program))).hint(hint))
    };
    if program.is_empty() {
        return refused("no program is named", "write scx:PROGRAM, with a path or a name that is in PATH");
    }
    if program.chars().any(|c| is_escaped(c) || c.is_whitespace()) {
        return refused(
            "a program's name has no spaces, and it gets no arguments",
            "write a script that starts it with its arguments (`exec scx_bpfland -s 5000`), and name that",
        );
    }
    Ok(LinuxScheduler::Foreign(ForeignProgram(program.to_owned())))
}

/// Of `nice=N` and `slice=TIME`, with colons between.
fn fair(parameters: &str) -> Result<Fair> {
    let mut fair = Fair::default();
    let hint = "write other:nice=-10, other:slice=1ms, other:slice=wcet, or other:nice=-10:slice=1ms";
    for parameter in parameters.split(':') {
        match parameter.split_once('=') {
            Some(("nice", value)) => {
                fair.nice = value.parse().ok().filter(|nice| NICE.contains(nice)).ok_or_else(|| {
                    Diagnostic::usage(format!(
                        "nice value `{}` is no whole number from -20 to 19",
                        shown(value)
                    ))
                    .hint(hint)
                })?;
            }
            Some(("slice", "wcet")) => fair.slice = Slice::Wcet,
            Some(("slice", value)) => {
                let slice = value.parse::<Duration>()?;
                if !(SLICE_LEAST..=SLICE_MOST).contains(&slice) {
                    return Err(Diagnostic::usage(format!(
                        "slice {slice} is outside the {SLICE_LEAST} to {SLICE_MOST} that Linux grants"
                    ))
                    .hint(hint));
                }
                fair.slice = Slice::Of(slice);
            }
            _ => return Err(Diagnostic::usage(format!("`{}` is no parameter", shown(parameter))).hint(hint)),
        }
    }
    Ok(fair)
}

impl From<Scheduler> for LinuxScheduler {
    fn from(scheduler: Scheduler) -> Self {
        LinuxScheduler::Ruled(scheduler)
    }
}

impl fmt::Display for Fair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FAIR)?;
        if self.nice != 0 {
            write!(f, ":nice={}", self.nice)?;
        }
        match self.slice {
            Slice::OfKernel => Ok(()),
            Slice::Of(slice) => write!(f, ":slice={slice}"),
            Slice::Wcet => f.write_str(":slice=wcet"),
        }
    }
}

impl fmt::Display for LinuxScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinuxScheduler::Ruled(scheduler) => scheduler.fmt(f),
            LinuxScheduler::Reclaiming(scope) => f.pad(&format!("{}edf{GRUB}", scope.prefix())),
            LinuxScheduler::RoundRobin(scope) => f.pad(&format!("{}{ROUND_ROBIN}", scope.prefix())),
            LinuxScheduler::Fair(fair) => f.pad(&fair.to_string()),
            LinuxScheduler::Foreign(program) => f.pad(&format!("{FOREIGN}{}", program.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyScheduler, PolicyScheduler};

    fn named(text: &str) -> LinuxScheduler {
        LinuxScheduler::named(text).unwrap_or_else(|| panic!("{text}: no name")).expect("valid")
    }

    #[test]
    fn each_name_is_read_as_what_it_names() {
        let mut names: Vec<String> = LinuxScheduler::all().map(|one| one.to_string()).collect();
        for one in LinuxScheduler::all() {
            assert_eq!(named(&one.to_string()), one);
            assert_eq!(one.to_string().parse(), Ok(AnyScheduler::Linux(one)));
        }
        for name in ["g-edf:grub", "c-edf:grub", "p-edf:grub", "g-rr", "c-rr", "p-rr", "other", "p-fp"] {
            assert!(names.iter().any(|one| one == name), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), LinuxScheduler::all().count());
        for (text, shown) in [
            ("other:nice=-5", "other:nice=-5"),
            (" OTHER:slice=1ms:nice=19 ", "other:nice=19:slice=1ms"),
            ("other:slice=WCET", "other:slice=wcet"),
            ("other:nice=0", "other"),
            ("scx:/opt/My_Sched", "scx:/opt/My_Sched"),
            ("SCX:scx_simple", "scx:scx_simple"),
            ("P-EDF:GRUB", "p-edf:grub"),
        ] {
            assert_eq!(named(text).to_string(), shown);
            assert_eq!(named(&named(text).to_string()), named(text));
        }
    }

    #[test]
    fn refuses_what_linux_does_not_have() {
        for text in [
            "other:",
            "other:nice",
            "other:nice=20",
            "other:nice=-21",
            "other:nice=1.5",
            "other:slice=10us",
            "other:slice=1s",
            "other:slice=1",
            "other:priority=3",
            "other:nice=1:",
            "scx:",
            "scx:scx_simple -v",
            "scx:a\nb",
        ] {
            let refused = LinuxScheduler::named(text).expect("begins like one").expect_err(text);
            assert!(refused.hint.is_some(), "{text}: {refused}");
            assert!(text.parse::<AnyScheduler>().is_err(), "{text}");
        }
        for text in
            ["p-rm:grub", "p-fp:grub", "grub", "rr", "other-nice", "others", "c-other", "p-edf:grub:grub"]
        {
            assert_eq!(LinuxScheduler::named(text), None, "{text}");
            assert!(text.parse::<AnyScheduler>().is_err(), "{text}");
        }
    }

    /// Nothing without a rule is proven or simulated by the rule of another, and what is not known says why.
    #[test]
    fn what_has_no_rule_has_no_model_and_no_proof() {
        let foreign = named("scx:scx_simple");
        for one in LinuxScheduler::without_rule().chain([foreign]) {
            assert_eq!(one.nothing_proven().is_none(), one.rule().is_some(), "{one}");
            assert!(one.model().is_err(), "{one}");
            let refused = one.to_string().parse::<PolicyScheduler>().expect_err("it has no model");
            assert!(refused.message.contains(one.model().expect_err("none")), "{refused}");
            assert!(one.to_string().parse::<Scheduler>().is_err(), "{one}");
        }
        for one in Scheduler::ALL.map(LinuxScheduler::Ruled) {
            assert_eq!((one.nothing_proven(), one.model().ok()), (None, one.to_string().parse().ok()));
        }
    }

    #[test]
    fn slices_are_what_linux_grants() {
        let ms = Duration::from_ms;
        assert_eq!(Slice::OfKernel.of(ms(3)), Duration::ZERO);
        assert_eq!(Slice::Of(ms(2)).of(ms(3)), ms(2));
        assert_eq!(
            [Duration::from_us(1), ms(3), ms(500)].map(|wcet| Slice::Wcet.of(wcet)),
            [SLICE_LEAST, ms(3), SLICE_MOST]
        );
    }
}
