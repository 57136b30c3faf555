//! Compiles `policy/` natively, warnings as errors, and makes Rust's view of its types.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    // Asked for when the script runs: two checkouts may share its compiled form.
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let policy = here.join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    let header = policy.join("native.h");
    compile(&policy);
    let bindings = bindgen::Builder::default()
        .header(header.to_str().expect("the path of the checkout is text"))
        .allowlist_type("lx_.*")
        .allowlist_function("lx_policy_.*")
        .allowlist_var("lx_policy_.*")
        .use_core()
        .layout_tests(false)
        .derive_default(true)
        .default_enum_style(bindgen::EnumVariation::Consts)
        .generate()
        .expect("policy/native.h is C that libclang reads");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    bindings.write_to_file(out.join("policy.rs")).expect("cargo's output directory can be written");
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
