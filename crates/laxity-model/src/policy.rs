//! The schedulers of laxity's own: the policies in `policy/`, with a scope and a priority rule.

use crate::linux::GRUB;
use crate::prototype::PROTOTYPE;
use crate::scheduler_names::scheduler_names;
use crate::{Diagnostic, LinuxScheduler, PriorityRule, Prototype, Result, Scheduler, Scope, closest};
use std::fmt;
use std::str::FromStr;

/// A policy of the folder `policy/`, or a prototype of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// One lock, CPUs in a heap, ready queue: binary heap (ackelman2018, 5.2).
    EdfBh,
    /// The same with a red-black tree (ackelman2018, 5.3).
    EdfRbt,
    /// The same with fixed-priority lists and priority promotions (ackelman2018, 4.1 and 5.4).
    Fpp,
    /// Link-based, one lock, binomial heaps, release heaps merged at once (cerqueira2014, II-B).
    GsnEdf,
    /// The same with a processor that takes all release interrupts and runs no task (cerqueira2014, II-B).
    GsnEdfDi,
    /// A queue per CPU, push and pull with pairwise locks, as in Linux (cerqueira2014, II-C and II-D).
    PushPull,
    /// Message passing to a dedicated scheduling processor (cerqueira2014, III).
    GEdfMp,
    /// Rate-monotonic per CPU, with a deferrable server per CPU for background work (calandrino2007, 4).
    AmpRm,
    /// EDF until a job has no laxity left: that one then goes first (Baker, Cirinei, Bertogna 2008).
    Edzl,
    /// Written elsewhere, to be simulated; not one of [`Policy::all`].
    Prototype(Prototype),
}

impl Policy {
    /// Those that have every scope and every priority rule, in the order of the design's table.
    pub const GENERAL: &[Policy] = &[
        Policy::GsnEdf,
        Policy::GsnEdfDi,
        Policy::GEdfMp,
        Policy::PushPull,
        Policy::EdfBh,
        Policy::EdfRbt,
        Policy::Fpp,
    ];

    /// Those whose rule is part of them, with the scopes that each has.
    pub const SINGLE: &[PolicyScheduler] = {
        const fn edzl(scope: Scope) -> PolicyScheduler {
            PolicyScheduler { policy: Policy::Edzl, scope, rule: PriorityRule::EarliestDeadlineFirst }
        }
        let amp_rm = PolicyScheduler {
            policy: Policy::AmpRm,
            scope: Scope::Partitioned,
            rule: PriorityRule::RateMonotonic,
        };
        &[amp_rm, edzl(Scope::Global), edzl(Scope::Clustered), edzl(Scope::Partitioned)]
    };

    /// All policies of `policy/`, the general ones first.
    pub fn all() -> impl Iterator<Item = Policy> {
        let scopes = Policy::SINGLE.chunk_by(|one, next| one.policy == next.policy);
        Policy::GENERAL.iter().copied().chain(scopes.map(|of_one| of_one[0].policy))
    }

    /// What was written elsewhere, if it was.
    pub fn prototype(self) -> Option<Prototype> {
        match self {
            Policy::Prototype(prototype) => Some(prototype),
            _ => None,
        }
    }

    /// Whether a job goes first, whatever its deadline, as soon as its laxity has run out.
    pub fn minds_laxity(self) -> bool {
        self == Policy::Edzl
    }

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Policy::EdfBh => "edf-bh",
            Policy::EdfRbt => "edf-rbt",
            Policy::Fpp => "fpp",
            Policy::GsnEdf => "gsn-edf",
            Policy::GsnEdfDi => "gsn-edf-di",
            Policy::PushPull => "push-pull",
            Policy::GEdfMp => "g-edf-mp",
            Policy::AmpRm => "amp-rm",
            Policy::Edzl => "edzl",
            Policy::Prototype(_) => PROTOTYPE,
        }
    }

    /// The name of its source `policy/NAME.h`, and of its objects in BPF.
    pub fn source_name(self) -> &'static str {
        match self {
            Policy::EdfBh => "edf_bh",
            Policy::EdfRbt => "edf_rbt",
            Policy::Fpp => "fpp",
            Policy::GsnEdf | Policy::GsnEdfDi => "gsn_edf",
            Policy::PushPull => "push_pull",
            Policy::GEdfMp => "g_edf_mp",
            Policy::AmpRm => "amp_rm",
            Policy::Edzl => "edzl",
            Policy::Prototype(_) => PROTOTYPE,
        }
    }

    /// Whether its CPUs can have deferrable servers for background tasks.
    pub fn has_servers(self) -> bool {
        self == Policy::AmpRm
    }

    /// One line for `laxity list`.
    pub fn description(self) -> &'static str {
        match self {
            Policy::EdfBh => "one lock, CPUs in a heap by deadline, ready queue a binary heap (ackelman2018)",
            Policy::EdfRbt => {
                "one lock, CPUs in a heap by deadline, ready queue a red-black tree (ackelman2018)"
            }
            Policy::Fpp => {
                "one lock, CPUs in a heap by deadline, ready queue with priority promotions (ackelman2018)"
            }
            Policy::GsnEdf => "link-based, one lock, binomial heaps, releases merged at once (cerqueira2014)",
            Policy::GsnEdfDi => {
                "gsn-edf with one CPU for all release interrupts, tasks on the others (cerqueira2014)"
            }
            Policy::PushPull => {
                "a queue and a lock per CPU, push and pull as in SCHED_DEADLINE (cerqueira2014)"
            }
            Policy::GEdfMp => "message passing to one scheduling CPU, tasks on the others (cerqueira2014)",
            Policy::AmpRm => {
                "fast and slow CPUs, a deferrable server on each for background work (calandrino2007)"
            }
            Policy::Edzl => {
                "a job that has no laxity left goes first, one lock, a timer for laxities (baker2008)"
            }
            Policy::Prototype(_) => "a policy that its user has written outside of laxity",
        }
    }

    /// Where its decisions are made.
    pub fn structure(self) -> Structure {
        match self {
            Policy::GEdfMp => Structure::Messages,
            Policy::PushPull => Structure::Queues,
            Policy::EdfBh
            | Policy::EdfRbt
            | Policy::Fpp
            | Policy::GsnEdf
            | Policy::GsnEdfDi
            | Policy::AmpRm
            | Policy::Edzl
            | Policy::Prototype(_) => Structure::Linked,
        }
    }

    /// Whether every CPU has a queue of its own.
    pub fn has_queue_per_core(self) -> bool {
        self.structure() == Structure::Queues
    }

    /// Whether the last CPU of each cluster is dedicated to scheduling or interrupts and runs no task.
    pub fn dedicates_a_core(self) -> bool {
        match self {
            Policy::GsnEdfDi | Policy::GEdfMp => true,
            Policy::EdfBh
            | Policy::EdfRbt
            | Policy::Fpp
            | Policy::GsnEdf
            | Policy::PushPull
            | Policy::AmpRm
            | Policy::Edzl
            | Policy::Prototype(_) => false,
        }
    }
}

/// Where decisions are made. How they travel from there is at the head of `laxity-oracle`'s `transitions.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// Jobs are linked to CPUs under one lock, at releases and endings, by the CPU where they happen.
    Linked,
    /// Jobs are linked to CPUs by the dedicated CPU; the others send it messages.
    Messages,
    /// Every CPU has a queue and decides for itself; jobs are pushed and pulled between the queues. SCHED_DEADLINE and SCHED_FIFO are
    /// such, too.
    Queues,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Prototype(prototype) => prototype.fmt(f),
            policy => f.pad(policy.name()),
        }
    }
}

/// A policy with its scope and priority rule. Written `edf-bh` (global EDF), `c-edf-bh` (clustered), `p-edf-bh`
/// (partitioned), with `:rm`, `:dm` or `:fp` behind for fixed priorities, unless the policy has a rule of its own. The names of Linux's
/// schedulers (`g-edf`, `p-rm` ...) are read too: Linux's structure is push and pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyScheduler {
    /// The policy.
    pub policy: Policy,
    /// How far jobs migrate.
    pub scope: Scope,
    /// Which job goes first.
    pub rule: PriorityRule,
}

impl From<Scheduler> for PolicyScheduler {
    /// What simulates a scheduler of Linux.
    fn from(scheduler: Scheduler) -> Self {
        PolicyScheduler { policy: Policy::PushPull, scope: scheduler.scope, rule: scheduler.rule }
    }
}

impl PolicyScheduler {
    /// Itself, where it is to be run.
    ///
    /// # Errors
    ///
    /// A prototype.
    pub fn run_for_real(self) -> Result<Self> {
        match self.policy.prototype() {
            Some(prototype) => {
                Err(Diagnostic::usage(format!("`{prototype}` is a prototype: it can be simulated, not run"))
                    .hint("a policy that runs in the kernel is a file of policy/ (docs/how-to/extend.md)"))
            }
            None => Ok(self),
        }
    }

    /// One line on what it is.
    pub fn description(self) -> String {
        format!("{}, {}: {}", self.rule.description(), self.scope.description(), self.policy.description())
    }
}

impl fmt::Display for PolicyScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.policy == Policy::AmpRm && Policy::SINGLE.contains(self) {
            return f.pad(self.policy.name());
        }
        let scope = if self.scope == Scope::Global { "" } else { self.scope.prefix() };
        let is_said = match self.policy {
            Policy::Prototype(prototype) => prototype.claims_order(),
            _ => self.rule != PriorityRule::EarliestDeadlineFirst,
        };
        let rule = if is_said { format!(":{}", self.rule.name()) } else { String::new() };
        f.pad(&format!("{scope}{}{rule}", self.policy))
    }
}

impl FromStr for PolicyScheduler {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        if let Some(linux) = LinuxScheduler::named(text) {
            let linux = linux?;
            return linux.model().map(PolicyScheduler::from).map_err(|why| without_model(&linux, why));
        }
        if let Some(single) = Policy::SINGLE.iter().copied().find(|single| single.to_string() == wanted) {
            return Ok(single);
        }
        let (name, rule) = wanted.split_once(':').unwrap_or((&wanted, "edf"));
        if let Some((scope, ())) = scoped(name, |name| (name == PROTOTYPE).then_some(())) {
            let (prototype, rule) = Prototype::read(wanted.split_once(':').map_or("", |(_, behind)| behind))?;
            return Ok(PolicyScheduler { policy: Policy::Prototype(prototype), scope, rule });
        }
        let named = |name: &str| Policy::GENERAL.iter().copied().find(|policy| policy.name() == name);
        let (scope, policy) = scoped(name, named).ok_or_else(|| {
            // A scheduler of Linux, whose rule is in its name already.
            let linux = Scheduler::ALL.into_iter().find(|linux| linux.name() == name);
            linux
                .filter(|_| wanted.contains(':'))
                .map_or_else(|| unknown(text), |linux| already(text, linux, rule))
        })?;
        let rule = PriorityRule::ALL.into_iter().find(|known| known.name() == rule).ok_or_else(|| {
            Diagnostic::usage(format!("scheduler `{text}`: priority rule `{rule}` is not known"))
                .hint("write `:rm`, `:dm` or `:fp` behind the name, or nothing for EDF")
        })?;
        Ok(PolicyScheduler { policy, scope, rule })
    }
}

/// What is named, perhaps behind the prefix of a scope.
fn scoped<T>(name: &str, named: impl Fn(&str) -> Option<T>) -> Option<(Scope, T)> {
    let behind = |scope: Scope| Some((scope, named(name.strip_prefix(scope.prefix())?)?));
    let global = named(name).map(|it| (Scope::Global, it));
    global.or_else(|| [Scope::Clustered, Scope::Partitioned].into_iter().find_map(behind))
}

/// What is asked of a model that there is not.
fn without_model(linux: &LinuxScheduler, why: &str) -> Diagnostic {
    Diagnostic::usage(format!("`{}`: {why}", crate::shown(&linux.to_string())))
        .hint("it can be run (`laxity run`, `laxity compare`), not simulated or loaded")
}

/// A rule behind the name of a scheduler that says its rule itself.
fn already(text: &str, linux: Scheduler, rule: &str) -> Diagnostic {
    let reclaiming = GRUB.trim_start_matches(':');
    let rule = closest(rule, &["edf", "rm", "dm", "fp", reclaiming]).unwrap_or(rule);
    let of_rule = |rule: &str| {
        let mut all = Scheduler::ALL.into_iter();
        all.find(|other| other.scope == linux.scope && other.rule.name() == rule)
    };
    let wanted = match rule == reclaiming {
        true => of_rule("edf").map(|edf| format!("{edf}{GRUB}")),
        false => of_rule(rule).map(|other| other.to_string()),
    };
    let meant = wanted.map_or(String::new(), |other| format!("did you mean `{other}`? "));
    Diagnostic::usage(format!("scheduler `{text}`: `{linux}` takes no priority rule behind its name")).hint(format!(
        "{meant}`g-edf`, `g-rm`, `g-dm` and `g-fp` (or with `c-` or `p-`) are Linux's own; `:rm`, `:dm` and `:fp` are for \
         laxity's policies, such as `p-fpp:rm`"
    ))
}

fn unknown(text: &str) -> Diagnostic {
    let linux: Vec<String> = LinuxScheduler::all().map(|scheduler| scheduler.to_string()).collect();
    let mut names: Vec<&str> = linux.iter().map(String::as_str).collect();
    for policy in Policy::all() {
        names.push(policy.name());
    }
    let error = scheduler_names(&names).unknown(text);
    let hint = error.hint.clone().unwrap_or_default();
    error.hint(format!(
        "{hint}; `c-` or `p-` before a policy's name makes it clustered or partitioned, `:rm`, `:dm` or `:fp` behind it \
         gives fixed priorities"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_general_or_has_a_rule_of_its_own() {
        for policy in Policy::all() {
            let single = Policy::SINGLE.iter().any(|single| single.policy == policy);
            assert_ne!(Policy::GENERAL.contains(&policy), single, "{policy}");
            assert_eq!(Policy::all().filter(|&one| one == policy).count(), 1, "{policy} is listed twice");
        }
    }

    #[test]
    fn reads_what_it_writes() {
        use PriorityRule::*;
        for &policy in Policy::GENERAL {
            for scope in [Scope::Global, Scope::Clustered, Scope::Partitioned] {
                for rule in [EarliestDeadlineFirst, RateMonotonic, DeadlineMonotonic, Given] {
                    let scheduler = PolicyScheduler { policy, scope, rule };
                    assert_eq!(scheduler.to_string().parse(), Ok(scheduler));
                }
            }
        }
        let fpp = PolicyScheduler { policy: Policy::Fpp, scope: Scope::Partitioned, rule: DeadlineMonotonic };
        assert_eq!("p-fpp:dm".parse(), Ok(fpp));
        for &single in Policy::SINGLE {
            assert_eq!(single.to_string().parse(), Ok(single));
        }
        let linux =
            PolicyScheduler { policy: Policy::PushPull, scope: Scope::Clustered, rule: RateMonotonic };
        assert_eq!("c-rm".parse(), Ok(linux));
        let given = PolicyScheduler { policy: Policy::PushPull, scope: Scope::Partitioned, rule: Given };
        assert_eq!("p-fp".parse(), Ok(given));
        let edzl =
            PolicyScheduler { policy: Policy::Edzl, scope: Scope::Clustered, rule: EarliestDeadlineFirst };
        assert_eq!("c-edzl".parse(), Ok(edzl));
        assert_eq!("g-edf-mp".parse::<PolicyScheduler>().map(|s| s.policy), Ok(Policy::GEdfMp));
        for name in ["prototype:llf", "c-prototype:llf", "p-prototype:llf:edf", "prototype:llf:rm"] {
            let scheduler: PolicyScheduler = name.parse().expect("a prototype");
            assert_eq!(scheduler.to_string(), name);
            assert_eq!(scheduler.policy.prototype().map(|prototype| prototype.name()), Some("llf"));
        }
    }

    #[test]
    fn refuses_other_names() {
        for text in [
            "",
            "fppp",
            "c-",
            "p-p-fpp",
            "fpp:",
            "fpp:edff",
            "c-g-edf",
            "g-fpp",
            "p-amp-rm",
            "amp-rm:dm",
            "edzl:rm",
            "prototype",
            "prototype:",
            "prototype:a:b",
            "g-prototype:a",
        ] {
            assert!(text.parse::<PolicyScheduler>().is_err(), "{text}");
        }
    }
}
