//! What a kernel's type information (BTF) says about sched_ext.
//!
//! A scheduler calls kernel functions (kfuncs) that the kernel has marked in its BTF with the declaration tag
//! `bpf_kfunc`. Several Debian builds (7.1.7 - 7.2.12 of trixie-backports) lack the tag on some of them, and refuse to
//! load every scheduler that calls one with EINVAL. From 7.1 on, a kfunc with implicit arguments has a twin whose name
//! ends in `_impl`, which is rightly without a tag.
//!
//! Layout: Linux, Documentation/bpf/btf.rst. A header, types of varying length numbered from 1, and their names.

use crate::elf::u32_at;
use std::collections::{BTreeMap, BTreeSet};

const MAGIC: &[u8] = &[0x9f, 0xeb];
const KIND_STRUCT: u32 = 4;
const KIND_FUNC: u32 = 12;
const KIND_DECL_TAG: u32 = 17;

/// What BTF says about sched_ext.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchedExt {
    /// `struct sched_ext_ops` exists: the kernel was built with CONFIG_SCHED_CLASS_EXT.
    pub has_ops: bool,
    /// Functions for schedulers without the tag `bpf_kfunc`, in alphabetical order. None on a sound kernel.
    pub untagged: Vec<String>,
}

/// Reads the BTF of a kernel.
///
/// # Errors
/// What is wrong with it, in words.
pub fn sched_ext(btf: &[u8]) -> Result<SchedExt, String> {
    let (types, names) = parts(btf).ok_or("its BTF is not BTF (broken header)")?;
    let mut found = Found::default();
    let mut at = 0;
    let mut id = 1;
    while at < types.len() {
        let kind = read_type(types, names, &mut at, id, &mut found)?;
        // Also ends a walk over more types than numbers.
        id = u32::checked_add(id, 1).ok_or_else(|| format!("its BTF has too many types (kind {kind})"))?;
    }
    Ok(found.conclude())
}

/// The types and the names.
fn parts(btf: &[u8]) -> Option<(&[u8], &[u8])> {
    if !btf.starts_with(MAGIC) {
        return None;
    }
    let field = |at| u32_at(btf, at).and_then(|value| usize::try_from(value).ok());
    let header = field(4)?;
    let part = |offset: usize, length: usize| {
        let begin = header.checked_add(offset)?;
        btf.get(begin..begin.checked_add(length)?)
    };
    Some((part(field(8)?, field(12)?)?, part(field(16)?, field(20)?)?))
}

#[derive(Default)]
struct Found {
    has_ops: bool,
    /// Functions of sched_ext by the number of their type.
    functions: BTreeMap<u32, String>,
    /// Numbers of the types with the tag `bpf_kfunc`.
    tagged: BTreeSet<u32>,
}

impl Found {
    fn conclude(self) -> SchedExt {
        // Old BTF has no tags at all, and kernels of its time need none.
        let untagged: BTreeSet<String> = match self.tagged.is_empty() {
            true => BTreeSet::new(),
            false => self
                .functions
                .into_iter()
                .filter(|(id, name)| !self.tagged.contains(id) && !name.ends_with("_impl"))
                .map(|(_, name)| name)
                .collect(),
        };
        SchedExt { has_ops: self.has_ops, untagged: untagged.into_iter().collect() }
    }
}

/// Reads the type at `at`, moves `at` behind it, and returns its kind.
fn read_type(types: &[u8], names: &[u8], at: &mut usize, id: u32, found: &mut Found) -> Result<u32, String> {
    let word = |offset: usize| u32_at(types, offset).ok_or("its BTF ends within a type");
    let (name, info, target) = (word(*at)?, word(*at + 4)?, word(*at + 8)?);
    let (kind, members) = ((info >> 24) & 0x1f, info & 0xffff);
    match kind {
        KIND_STRUCT if name_is(names, name, b"sched_ext_ops") => found.has_ops = true,
        KIND_FUNC => {
            if let Some(name) = name_at(names, name).filter(|name| name.starts_with(b"scx_bpf_")) {
                found.functions.insert(id, String::from_utf8_lossy(name).into_owned());
            }
        }
        KIND_DECL_TAG if name_is(names, name, b"bpf_kfunc") => {
            found.tagged.insert(target);
        }
        _ => {}
    }
    let more =
        more_words(kind, members).ok_or_else(|| format!("its BTF has a type of the unknown kind {kind}"))?;
    *at += 12 + 4 * usize::try_from(more).map_err(|_| "its BTF has a type that is too long")?;
    Ok(kind)
}

/// How many 32-bit words follow the three that every type has.
fn more_words(kind: u32, members: u32) -> Option<u32> {
    match kind {
        // INT, VAR, DECL_TAG
        1 | 14 | KIND_DECL_TAG => Some(1),
        // PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG
        2 | 7..=KIND_FUNC | 16 | 18 => Some(0),
        // ARRAY
        3 => Some(3),
        // STRUCT, UNION, DATASEC, ENUM64
        KIND_STRUCT | 5 | 15 | 19 => Some(3 * members),
        // ENUM, FUNC_PROTO
        6 | 13 => Some(2 * members),
        _ => None,
    }
}

fn name_at(names: &[u8], at: u32) -> Option<&[u8]> {
    let rest = names.get(usize::try_from(at).ok()?..)?;
    Some(&rest[..rest.iter().position(|&byte| byte == 0)?])
}

fn name_is(names: &[u8], at: u32, wanted: &[u8]) -> bool {
    name_at(names, at) == Some(wanted)
}

/// BTF for tests.
#[cfg(test)]
pub mod forge {
    /// BTF with functions (name, tagged) and, if asked for, `struct sched_ext_ops` with one member.
    pub fn btf(with_ops: bool, functions: &[(&str, bool)]) -> Vec<u8> {
        let mut names = vec![0];
        let mut types: Vec<u32> = Vec::new();
        let mut name = |text: &str| {
            let at = u32::try_from(names.len()).expect("short");
            names.extend(text.as_bytes());
            names.push(0);
            at
        };
        let mut next_id = 1;
        if with_ops {
            types.extend([name("sched_ext_ops"), 4 << 24 | 1, 8, name("member"), 0, 0]);
            next_id += 1;
        }
        for &(function, tagged) in functions {
            types.extend([name(function), 12 << 24, 0]);
            if tagged {
                types.extend([name("bpf_kfunc"), 17 << 24, next_id, u32::MAX]);
                next_id += 1;
            }
            next_id += 1;
        }
        let types: Vec<u8> = types.into_iter().flat_map(u32::to_le_bytes).collect();
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short").to_le_bytes();
        let mut btf = vec![0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0];
        btf.extend(length(&types));
        btf.extend(length(&types));
        btf.extend(length(&names));
        btf.extend(types);
        btf.extend(names);
        btf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: [(&str, bool); 3] =
        [("scx_bpf_kick_cpu", true), ("scx_bpf_kick_cpu_impl", false), ("schedule", false)];

    #[test]
    fn sound_kernels_are_sound() {
        let found = sched_ext(&forge::btf(true, &SOUND)).expect("BTF");
        assert_eq!(found, SchedExt { has_ops: true, untagged: Vec::new() });
    }

    #[test]
    fn a_function_without_its_tag_is_found() {
        let functions =
            [("scx_bpf_kick_cpu", true), ("scx_bpf_error_bstr", false), ("scx_bpf_create_dsq", false)];
        let found = sched_ext(&forge::btf(true, &functions)).expect("BTF");
        assert_eq!(found.untagged, ["scx_bpf_create_dsq", "scx_bpf_error_bstr"]);
    }

    #[test]
    fn without_any_tags_none_is_missing() {
        let found = sched_ext(&forge::btf(true, &[("scx_bpf_kick_cpu", false)])).expect("BTF");
        assert!(found.untagged.is_empty());
    }

    #[test]
    fn a_kernel_without_sched_ext_is_recognized() {
        let found = sched_ext(&forge::btf(false, &[("schedule", true)])).expect("BTF");
        assert_eq!(found, SchedExt::default());
    }

    #[test]
    fn what_is_no_btf_is_named() {
        assert!(sched_ext(b"\x9f\xeb").is_err_and(|why| why.contains("header")));
        assert!(sched_ext(b"").is_err());
        let mut cut = forge::btf(true, &SOUND);
        // The types claim to be shorter than they are by a word.
        cut[12] -= 4;
        assert!(sched_ext(&cut).is_err_and(|why| why.contains("ends within")));
        let mut unknown = forge::btf(true, &SOUND);
        unknown[24 + 7] = 31;
        assert!(sched_ext(&unknown).is_err_and(|why| why.contains("unknown kind 31")));
    }

    laxity_seeds::properties! {
        #[test]
        fn broken_btf_is_survived(at in 0usize..120, value: u8) {
            let mut btf = forge::btf(true, &SOUND);
            let length = btf.len();
            btf[at % length] = value;
            let _ = sched_ext(&btf);
        }
    }
}
