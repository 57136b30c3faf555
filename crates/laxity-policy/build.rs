//! Compiles `policy/` natively, warnings as errors.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    // Asked for when the script runs: two checkouts may share its compiled form.
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let policy = here.join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    compile(&policy);
}

fn compile(policy: &Path) {
    let mut build = cc::Build::new();
    // The compiler of the BPF build, where it is there: one compiler for both.
    if env::var_os("CC").is_none() && std::process::Command::new("clang-19").arg("--version").output().is_ok()
    {
        build.compiler("clang-19");
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
