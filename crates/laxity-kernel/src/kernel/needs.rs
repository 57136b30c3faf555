//! What laxity's policies need of a kernel, and the release of Linux that brought each. This is the one place that says it: what
//! `load`, `doctor` and the documents say of kernels follows from it.
//!
//! Releases are those of docs.ebpf.io (isovalent/ebpf-docs at 18ec5e93, of July 2026), with two exceptions. It has the flag
//! SCX_OPS_ENQ_MIGRATION_DISABLED as of 6.15; kernel/sched/ext.c of a tree of 6.14 (Wizards-Of-Os/Linux_6.14-Patches at ae8536d2) has
//! it, without the flags that came with 6.15. And it has scx_bpf_task_set_slice and scx_bpf_task_set_dsq_vtime as of 6.12; they are in
//! no kernel before 6.19 (bpf/kernel/sched_ext.h), and the policies do without them.
//!
//! That a kernel has all of it does not say that its verifier takes the policies: the oldest that they have been loaded into is 6.18.

use laxity_model::{Policy, one_of};
use std::fmt;

/// A release of Linux, such as 6.15.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    major: u16,
    minor: u16,
}

impl Release {
    const fn new(major: u16, minor: u16) -> Self {
        Release { major, minor }
    }

    /// That of a kernel's name, such as `6.18.15+deb13-cloud-amd64`; nothing if it does not begin like one.
    pub fn of(kernel: &str) -> Option<Self> {
        let mut numbers = kernel.split(|letter: char| !letter.is_ascii_digit());
        Some(Release { major: numbers.next()?.parse().ok()?, minor: numbers.next()?.parse().ok()? })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a kernel has of a name that a policy needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Has {
    /// It can be used.
    It,
    /// There is such a function, and the kernel's types do not mark it as one that BPF may call.
    Unmarked,
    /// Nothing of the name.
    Nothing,
}

/// What sort of thing is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A kernel function that BPF programs call.
    Function,
    /// A flag of schedulers; a kernel refuses those that it does not know.
    Flag,
}

/// Which policies need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    All,
    /// All whose background work is in one queue.
    AllBut(Policy),
    Only(&'static [Policy]),
}

/// Something that policies need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Its names, the newest first, and the release of Linux that brought each: any one of them will do.
    pub names: &'static [(&'static str, Release)],
    /// What it is.
    pub kind: Kind,
    /// Whether the policies do without it where the kernel has none.
    pub optional: bool,
    whose: Whose,
}

impl Need {
    const fn function(names: &'static [(&'static str, Release)], whose: Whose) -> Self {
        Need { names, kind: Kind::Function, optional: false, whose }
    }

    const fn all(names: &'static [(&'static str, Release)]) -> Self {
        Self::function(names, Whose::All)
    }

    /// The oldest Linux that has it.
    pub fn since(&self) -> Release {
        self.names.iter().map(|&(_, since)| since).min().expect("every need has a name")
    }

    /// Whether a policy needs it; with none, whether all policies do.
    pub fn is_of(&self, policy: Option<Policy>) -> bool {
        match (self.whose, policy) {
            (Whose::All, _) => true,
            (_, None) => false,
            (Whose::AllBut(other), Some(policy)) => policy != other,
            (Whose::Only(those), Some(policy)) => those.contains(&policy),
        }
    }
}

/// In words: `bpf_res_spin_lock (since Linux 6.15)`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_of(self.names.iter().map(|(name, since)| format!("{name} (since Linux {since})"))))
    }
}

/// Those with a lock per CPU or client, which they hold two of.
const MANY_LOCKS: Whose = Whose::Only(&[Policy::PushPull, Policy::GEdfMp]);
const V6_2: Release = Release::new(6, 2);
const V6_3: Release = Release::new(6, 3);
const V6_4: Release = Release::new(6, 4);
const V6_10: Release = Release::new(6, 10);
const V6_12: Release = Release::new(6, 12);
const V6_13: Release = Release::new(6, 13);
const V6_14: Release = Release::new(6, 14);
const V6_15: Release = Release::new(6, 15);
const V6_19: Release = Release::new(6, 19);
const V7_1: Release = Release::new(7, 1);

/// All of it. A test compares the functions with those that the objects of `bpf/` call.
pub const NEEDS: &[Need] = &[
    Need { kind: Kind::Flag, ..Need::all(&[("SCX_OPS_ENQ_MIGRATION_DISABLED", V6_14)]) },
    Need::all(&[
        ("scx_bpf_dsq_insert___v2", V6_19),
        ("scx_bpf_dsq_insert", V6_13),
        ("scx_bpf_dispatch", V6_12),
    ]),
    Need::all(&[
        ("__scx_bpf_dsq_insert_vtime", V6_19),
        ("scx_bpf_dsq_insert_vtime", V6_13),
        ("scx_bpf_dispatch_vtime", V6_12),
    ]),
    Need::all(&[
        ("scx_bpf_dsq_move_to_local___v2", V7_1),
        ("scx_bpf_dsq_move_to_local", V6_13),
        ("scx_bpf_consume", V6_12),
    ]),
    Need::all(&[("scx_bpf_create_dsq", V6_12)]),
    Need::all(&[("scx_bpf_dsq_nr_queued", V6_12)]),
    Need::all(&[("scx_bpf_kick_cpu", V6_12)]),
    Need::all(&[("scx_bpf_select_cpu_dfl", V6_12)]),
    Need::all(&[("scx_bpf_task_cpu", V6_12)]),
    Need::all(&[("scx_bpf_reenqueue_local", V6_12)]),
    Need::all(&[("scx_bpf_dump_bstr", V6_12)]),
    Need::all(&[("scx_bpf_test_and_clear_cpu_idle", V6_12)]),
    Need::function(&[("scx_bpf_pick_idle_cpu", V6_12)], Whose::AllBut(Policy::AmpRm)),
    Need::function(&[("bpf_iter_scx_dsq_new", V6_12)], Whose::AllBut(Policy::AmpRm)),
    Need::function(&[("bpf_iter_scx_dsq_next", V6_12)], Whose::AllBut(Policy::AmpRm)),
    Need::function(&[("bpf_iter_scx_dsq_destroy", V6_12)], Whose::AllBut(Policy::AmpRm)),
    Need::function(&[("scx_bpf_error_bstr", V6_12)], MANY_LOCKS),
    Need { optional: true, ..Need::all(&[("scx_bpf_task_set_slice", V6_19)]) },
    Need { optional: true, ..Need::all(&[("scx_bpf_task_set_dsq_vtime", V6_19)]) },
    Need::function(&[("bpf_res_spin_lock", V6_15)], MANY_LOCKS),
    Need::function(&[("bpf_res_spin_unlock", V6_15)], MANY_LOCKS),
    Need::all(&[("bpf_task_from_pid", V6_2)]),
    Need::all(&[("bpf_task_release", V6_2)]),
    Need::all(&[("bpf_cpumask_first", V6_3)]),
    Need::all(&[("bpf_cpumask_test_cpu", V6_3)]),
    Need::all(&[("bpf_iter_num_new", V6_4)]),
    Need::all(&[("bpf_iter_num_next", V6_4)]),
    Need::all(&[("bpf_iter_num_destroy", V6_4)]),
    Need::all(&[("bpf_preempt_disable", V6_10)]),
    Need::all(&[("bpf_preempt_enable", V6_10)]),
];

/// What a policy cannot do without; with none, what no policy can.
fn of(policy: Option<Policy>) -> impl Iterator<Item = &'static Need> {
    NEEDS.iter().filter(move |need| need.is_of(policy) && !need.optional)
}

/// The oldest Linux that has what a policy needs; with none, what all policies need: older ones take no policy at all.
pub fn kernel_least(policy: Option<Policy>) -> Release {
    of(policy).map(Need::since).max().expect("policies need something")
}

/// What is missing in a kernel, by what it `has`: nothing of it, or not marked as callable.
pub(super) fn missing(policy: Option<Policy>, has: impl Fn(&Need, &str) -> Has) -> Vec<(&'static Need, Has)> {
    let best = |need: &Need| {
        let all = need.names.iter().map(|(name, _)| has(need, name));
        all.min_by_key(|has| *has as u8).expect("every need has a name")
    };
    of(policy).map(|need| (need, best(need))).filter(|(_, best)| *best != Has::It).collect()
}

#[cfg(test)]
mod tests;
