//! The table says what the objects of `bpf/` call, and the documents say what the table says.

use super::super::{Support, refusal};
use super::*;
use std::collections::BTreeSet;
use std::path::Path;

/// The kernel functions that an object calls: the undefined symbols of an ELF file. Whether it can do without one (weak) is not
/// asked: the names that differ between kernels are all weak.
fn called(object: &[u8]) -> BTreeSet<String> {
    const SYMBOLS: u32 = 2;
    let word = |at: usize| u32::from_le_bytes(object[at..at + 4].try_into().expect("four bytes"));
    let half = |at: usize| u16::from_le_bytes(object[at..at + 2].try_into().expect("two bytes"));
    let long = |at: usize| {
        usize::try_from(u64::from_le_bytes(object[at..at + 8].try_into().expect("eight bytes")))
            .expect("64 bits")
    };
    let (sections, size, count) = (long(0x28), usize::from(half(0x3a)), usize::from(half(0x3c)));
    let section = |number: usize| sections + number * size;
    let mut names = BTreeSet::new();
    for table in (0..count).map(section).filter(|&at| word(at + 4) == SYMBOLS) {
        let (begin, length) = (long(table + 0x18), long(table + 0x20));
        let strings = long(section(word(table + 0x28) as usize) + 0x18);
        for symbol in (begin..begin + length).step_by(24) {
            let name = &object[strings + word(symbol) as usize..];
            let name = &name[..name.iter().position(|&byte| byte == 0).expect("it ends")];
            if half(symbol + 6) == 0 && !name.is_empty() {
                let name = String::from_utf8(name.to_vec()).expect("a name in C");
                // libbpf takes what stands before the last ___ for the name.
                names.insert(name.rsplit_once("___").map_or(name.clone(), |(before, _)| before.to_owned()));
            }
        }
    }
    names
}

#[test]
fn each_function_that_a_policy_calls_is_in_the_table_and_no_other() {
    for policy in Policy::all() {
        let Ok(object) = crate::object(policy.source_name()) else {
            return eprintln!("SKIPPED: built without a compiler for BPF");
        };
        let in_table: BTreeSet<String> = NEEDS
            .iter()
            .filter(|need| need.kind == Kind::Function && need.is_of(Some(policy)))
            .flat_map(|need| need.names.iter().map(|(name, _)| (*name).to_owned()))
            .collect();
        let mut calls = called(object);
        // A variable, which programs do without where types do not have it.
        calls.remove("runqueues");
        assert!(!calls.is_empty(), "{policy}: its symbols were not found");
        assert_eq!(calls, in_table, "{policy}: left what the object calls, right what needs.rs says");
    }
}

#[test]
fn a_name_is_in_the_table_once() {
    let names: Vec<&str> = NEEDS.iter().flat_map(|need| need.names.iter().map(|(name, _)| *name)).collect();
    let once: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(once.len(), names.len());
    for need in NEEDS {
        assert!(need.names.is_sorted_by(|newer, older| newer.1 > older.1), "{need}: the newest comes first");
    }
}

#[test]
fn seven_policies_need_6_14_and_two_6_15() {
    assert_eq!(kernel_least(None).to_string(), "6.14");
    for policy in Policy::all() {
        let least = if matches!(policy, Policy::PushPull | Policy::GEdfMp) { "6.15" } else { "6.14" };
        assert_eq!(kernel_least(Some(policy)).to_string(), least, "{policy}");
    }
}

/// What README and the documents say of kernels.
#[test]
fn the_documents_say_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (all, those) = (kernel_least(None), kernel_least(Some(Policy::PushPull)));
    for (page, words) in [
        ("README.md", format!("sched_ext, Linux {all} or later")),
        ("CHANGELOG.md", format!("on Linux {all} or later (push-pull and g-edf-mp: {those})")),
        ("docs/how-to/load.md", format!("sched_ext ({all} or later; push-pull and g-edf-mp: {those}")),
        ("docs/reference/kernel.md", format!("Linux {all} or later (push-pull and g-edf-mp: {those})")),
        ("docs/reference/checks.md", format!("older than Linux {all} (push-pull and g-edf-mp: {those})")),
        (
            "crates/laxity-doctor/src/checks/schedulers.rs",
            format!("older than Linux {all} (push-pull and g-edf-mp: {those})"),
        ),
        ("bpf/README.md", format!("from {all} to 7.x")),
    ] {
        let text = std::fs::read_to_string(root.join(page)).expect("the page is there");
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line.contains(&words), "{page} does not say `{words}`");
    }
}

/// A kernel that has everything up to a release, and nothing newer; `other` says what else is so.
fn kernel(release: Release, other: impl Fn(&str) -> Option<Has>) -> impl Fn(&Need, &str) -> Has {
    move |need, name| {
        let since = need.names.iter().find(|(own, _)| *own == name).expect("one of its names").1;
        let by_release = if since <= release { Has::It } else { Has::Nothing };
        other(name).unwrap_or(by_release)
    }
}

/// The refusal of a kernel of this name, if it is refused.
fn refused(
    version: &str,
    policy: Option<Policy>,
    has: impl Fn(&Need, &str) -> Has,
) -> Option<(String, String)> {
    let lacks = missing(policy, has);
    if lacks.is_empty() {
        return None;
    }
    match refusal(version, policy, &lacks) {
        Support::No { reason, hint } => Some((reason, hint)),
        Support::Yes => panic!("something is missing"),
    }
}

#[test]
fn each_release_takes_what_it_has_all_of() {
    for minor in 12..20 {
        let release = Release::new(6, minor);
        for policy in Policy::all().map(Some).chain([None]) {
            let taken = refused(&release.to_string(), policy, kernel(release, |_| None)).is_none();
            assert_eq!(taken, release >= kernel_least(policy), "{policy:?} on {release}");
        }
    }
}

#[test]
fn an_older_kernel_is_told_what_it_lacks_since_when_and_what_helps() {
    let (reason, hint) =
        refused("6.14.11-arch1", Some(Policy::PushPull), kernel(V6_14, |_| None)).expect("refused");
    assert_eq!(
        reason,
        "the running kernel 6.14.11-arch1 lacks bpf_res_spin_lock (since Linux 6.15) and bpf_res_spin_unlock (since Linux 6.15), \
         which push-pull needs: push-pull needs Linux 6.15 or later"
    );
    assert_eq!(hint, "boot Linux 6.15 or later, or: laxity vm -- ...");
    let (reason, hint) = refused("6.12.48", None, kernel(V6_12, |_| None)).expect("refused");
    assert_eq!(
        reason,
        "the running kernel 6.12.48 lacks SCX_OPS_ENQ_MIGRATION_DISABLED (since Linux 6.14): policies need Linux 6.14 or later"
    );
    assert_eq!(hint, "boot Linux 6.14 or later, or: laxity vm -- ...");
    assert!(!reason.contains("Debian"), "no fault of a build: {reason}");
}

#[test]
fn the_fault_of_some_builds_is_named_where_a_function_is_there_and_not_marked() {
    let unmarked = |name: &str| (name == "scx_bpf_kick_cpu").then_some(Has::Unmarked);
    let (reason, hint) = refused("7.2.12+deb13", None, kernel(V7_1, unmarked)).expect("refused");
    assert!(reason.contains("does not mark scx_bpf_kick_cpu (since Linux 6.12) as callable"), "{reason}");
    assert!(reason.contains("7.2.12") && hint.contains("7.2.13"), "{reason}\n{hint}");
    // What no kernel of this age should lack is lacking for a reason that is not known.
    let gone = |name: &str| (name == "scx_bpf_kick_cpu").then_some(Has::Nothing);
    let (reason, hint) = refused("7.2.12+deb13", None, kernel(V7_1, gone)).expect("refused");
    assert_eq!(reason, "the running kernel 7.2.12+deb13 lacks scx_bpf_kick_cpu (since Linux 6.12)");
    assert_eq!(hint, "boot another kernel, or: laxity vm -- ...");
}

#[test]
fn one_of_several_names_will_do_and_what_is_optional_is_not_missed() {
    let old = |name: &str| match name {
        "scx_bpf_dsq_insert" | "scx_bpf_dsq_insert___v2" => Some(Has::Unmarked),
        "scx_bpf_task_set_slice" | "scx_bpf_task_set_dsq_vtime" => Some(Has::Nothing),
        _ => None,
    };
    assert_eq!(refused("6.18", Some(Policy::EdfBh), kernel(V7_1, old)), None);
}

#[test]
fn releases_are_read_from_the_names_of_kernels() {
    assert_eq!(Release::of("6.18.15+deb13-cloud-amd64"), Some(Release::new(6, 18)));
    assert_eq!(Release::of("7.3-rc1"), Some(Release::new(7, 3)));
    for name in ["", "linux", "6", "6.", "-6.1", "99999999.1"] {
        assert_eq!(Release::of(name), None, "{name}");
    }
    assert!(Release::new(6, 9) < V6_10);
}
