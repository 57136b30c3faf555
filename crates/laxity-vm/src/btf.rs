//! What a kernel's type information (BTF) says about sched_ext. Read by libbpf, which checks what it reads.
//!
//! A scheduler calls kernel functions (kfuncs) that the kernel has marked in its BTF with the declaration tag
//! `bpf_kfunc`. Several Debian builds (7.1.7 - 7.2.12 of trixie-backports) lack the tag on some of them, and refuse to
//! load every scheduler that calls one with EINVAL. From 7.1 on, a kfunc with implicit arguments has a twin whose name
//! ends in `_impl`, which is rightly without a tag.

use libbpf_rs::btf::types::{DeclTag, Func, Struct};
use libbpf_rs::btf::{Btf, ReferencesType as _};
use std::collections::{BTreeSet, HashSet};
use std::io::Write as _;

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
    let btf = parsed(btf)?;
    let tags = btf.type_by_kind::<DeclTag<'_>>();
    let tagged: HashSet<_> = tags
        .filter(|tag| tag.name().is_some_and(|name| name == "bpf_kfunc"))
        .map(|tag| tag.referenced_type().type_id())
        .collect();
    let untagged = btf.type_by_kind::<Func<'_>>().filter_map(|function| {
        let name = function.name()?.to_string_lossy();
        let is_ours = name.starts_with("scx_bpf_") && !name.ends_with("_impl");
        (is_ours && !tagged.contains(&function.type_id())).then(|| name.into_owned())
    });
    // Old BTF has no tags at all, and kernels of its time need none.
    let untagged: BTreeSet<String> = untagged.filter(|_| !tagged.is_empty()).collect();
    let has_ops = btf.type_by_name::<Struct<'_>>("sched_ext_ops").is_some();
    Ok(SchedExt { has_ops, untagged: untagged.into_iter().collect() })
}

/// libbpf reads files only.
fn parsed(btf: &[u8]) -> Result<Btf<'static>, String> {
    let cannot = |error: std::io::Error| format!("its BTF cannot be put where libbpf reads it: {error}");
    let mut file = tempfile::NamedTempFile::new().map_err(cannot)?;
    file.write_all(btf).map_err(cannot)?;
    // What it prints of broken types has no name of a kernel with it.
    let printed = libbpf_rs::set_print(None);
    let parsed = Btf::from_path(file.path());
    libbpf_rs::set_print(printed);
    parsed.map_err(|error| format!("its BTF is broken ({error:#})"))
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
        // What every function is.
        types.extend([0, 13 << 24, 0]);
        let mut next_id = 2;
        if with_ops {
            types.extend([name("sched_ext_ops"), 4 << 24 | 1, 8, name("member"), 0, 0]);
            next_id += 1;
        }
        for &(function, tagged) in functions {
            types.extend([name(function), 12 << 24, 1]);
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
        let refused = |btf: &[u8]| sched_ext(btf).expect_err("broken");
        for btf in [&b"\x9f\xeb"[..], b"", b"nonsense"] {
            assert!(refused(btf).starts_with("its BTF is broken ("), "{}", refused(btf));
        }
        let mut cut = forge::btf(true, &SOUND);
        // The types claim to be shorter than they are by a word.
        cut[12] -= 4;
        assert!(refused(&cut).contains("broken"));
        let mut unknown = forge::btf(true, &SOUND);
        unknown[24 + 7] = 31;
        assert!(refused(&unknown).contains("broken"));
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
