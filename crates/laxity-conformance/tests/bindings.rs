//! Rust's view of the C headers is what bindgen makes of them. The bindings are committed, so that building laxity
//! needs no libclang; this test does (`scripts/setup test` installs it). `LAXITY_BLESS=1` rewrites them.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// A header, the file that has its bindings, and which of its names are bound.
struct Bound {
    header: &'static str,
    bindings: &'static str,
    types: &'static str,
    functions: &'static str,
    variables: &'static str,
}

const BOUND: [Bound; 2] = [
    Bound {
        header: "policy/native.h",
        bindings: "crates/laxity-policy/src/ffi.rs",
        types: "lx_.*",
        functions: "lx_policy_.*",
        // Tables are found by name: policy/policies.h.
        variables: "none",
    },
    Bound {
        header: "bpf/host/setup.h",
        bindings: "crates/laxity-kernel/src/ffi.rs",
        types: "lx_host_setup|lx_counters|lx_config|lx_host_core|lx_background_times",
        functions: "none",
        variables: "LX_HOST_.*",
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

fn generated(bound: &Bound) -> String {
    let header = root().join(bound.header);
    let note = format!("//! Made from {} by bindgen: `make bless` rewrites it.", bound.header);
    bindgen::Builder::default()
        .header(header.to_str().expect("the path of the checkout is text"))
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
