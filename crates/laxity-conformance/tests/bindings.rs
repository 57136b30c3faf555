//! Rust's view of the C headers is what bindgen makes of them. The bindings are committed, so that building laxity
//! needs no libclang; this test does (`scripts/setup test` installs it). `LAXITY_BLESS=1` rewrites them.

use bindgen::callbacks::{DeriveInfo, ParseCallbacks};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Text in C, the file that has its bindings, and which of its names are bound.
struct Bound {
    header: &'static str,
    arguments: &'static [&'static str],
    bindings: &'static str,
    types: &'static str,
    functions: &'static str,
    variables: &'static str,
    derives: &'static [&'static str],
}

/// As the build of laxity-kernel compiles it.
const BPF: &[&str] = &["-target", "bpf", "-D__TARGET_ARCH_x86", concat!("-isystem", env!("LIBBPF_HEADERS"))];
/// What maps keep: any bytes are one.
const PLAIN: &[&str] = &["zerocopy::FromBytes", "zerocopy::IntoBytes", "zerocopy::Immutable"];

const BOUND: [Bound; 4] = [
    Bound {
        header: "policy/native.h",
        arguments: &[],
        bindings: "crates/laxity-policy/src/ffi.rs",
        types: "lx_.*",
        functions: "lx_policy_.*",
        // Tables are found by name: policy/policies.h.
        variables: "none",
        derives: &[],
    },
    Bound {
        // Of all policies, the one that has servers, too.
        header: "bpf/policy.bpf.c",
        arguments: &["-DPOLICY=amp_rm"],
        bindings: "crates/laxity-kernel/src/ffi.rs",
        types: "lx_host_setup|lx_host_core|lx_parameters|lx_counters|lx_background_times|lx_exit|lx_ring",
        functions: "none",
        variables: "LX_HOST_.*|LX_RING_RECORDS",
        derives: PLAIN,
    },
    Bound {
        header: "bpf/schedule.bpf.c",
        arguments: &[],
        bindings: "crates/laxity-kernel/src/ffi_observer.rs",
        types: "lx_watched",
        functions: "none",
        variables: "none",
        derives: PLAIN,
    },
    Bound {
        header: "bpf/overheads.bpf.c",
        arguments: &[],
        bindings: "crates/laxity-overheads/src/ffi.rs",
        types: "lx_options",
        functions: "none",
        variables: "none",
        derives: PLAIN,
    },
];

#[derive(Debug)]
struct Derives(&'static [&'static str]);

impl ParseCallbacks for Derives {
    fn add_derives(&self, _: &DeriveInfo<'_>) -> Vec<String> {
        self.0.iter().map(|&name| name.to_owned()).collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

fn generated(bound: &Bound) -> String {
    let header = root().join(bound.header);
    let note = format!("//! Made from {} by bindgen: `make bless` rewrites it.", bound.header);
    let target = if bound.header.ends_with(".bpf.c") { BPF } else { &[] };
    bindgen::Builder::default()
        .header(header.to_str().expect("the path of the checkout is text"))
        .clang_args(target.iter().chain(bound.arguments))
        .parse_callbacks(Box::new(Derives(bound.derives)))
        .clang_arg(format!("-I{}", root().join("policy").display()))
        .allowlist_type(bound.types)
        .allowlist_function(bound.functions)
        .allowlist_var(bound.variables)
        .use_core()
        .layout_tests(true)
        .derive_default(true)
        .default_enum_style(bindgen::EnumVariation::Consts)
        .formatter(bindgen::Formatter::Prettyplease)
        .disable_header_comment()
        .raw_line(note)
        .generate()
        .expect("a header of C that libclang reads")
        .to_string()
}

#[test]
fn committed_bindings_are_what_bindgen_makes_of_the_headers() {
    if catch_unwind(bindgen::clang_version).is_err() {
        println!(
            "SKIPPED: libclang is not installed (Debian: libclang1-19), so the bindings cannot be made again"
        );
        return;
    }
    for bound in &BOUND {
        let path = root().join(bound.bindings);
        let made = generated(bound);
        if std::env::var_os("LAXITY_BLESS").is_some() {
            std::fs::write(&path, &made).expect("the checkout can be written");
        }
        let committed = std::fs::read_to_string(&path).expect("the bindings are in the checkout");
        assert!(
            committed == made,
            "{} is not what bindgen makes of {}: run `make bless` and read the difference",
            bound.bindings,
            bound.header
        );
    }
}
