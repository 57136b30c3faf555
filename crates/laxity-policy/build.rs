//! Compiles `policy/` natively, warnings as errors.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    // Asked for when the script runs: two checkouts may share its compiled form.
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let policy = here.join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    compile(&policy);
    laxity_build::write_tables(&here.join("../.."), "lx_policy_");
}

fn compile(policy: &Path) {
    let mut build = cc::Build::new();
    if let Some(clang) = laxity_build::native_compiler() {
        build.compiler(clang);
    }
    build
        .file(policy.join("native.c"))
        .file(policy.join("arithmetic.c"))
        .std("gnu11")
        .opt_level(3)
        .force_frame_pointer(false)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true);
    if env::var_os("CARGO_FEATURE_CHECKED").is_some() {
        build.define("LX_CHECKED", None);
    }
    build.compile("laxity_policy");
}
