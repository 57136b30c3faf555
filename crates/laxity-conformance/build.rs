//! Compiles the policies for the rig: natively, with and without their assertions, and as BPF where clang can.

use laxity_build::Object;
use std::env;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.join("../..").canonicalize().expect("this file is in it");
    let policy = root.join("policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rerun-if-changed=native");
    println!("cargo::rerun-if-changed=bpf");
    // For tests/bindings.rs.
    println!(
        "cargo::rustc-env=LIBBPF_HEADERS={}",
        env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where")
    );
    native(&policy, "checked", true);
    native(&policy, "plain", false);
    laxity_build::write_tables(&root, "checked_");
    laxity_build::write_objects(&laxity_build::bpf_compiler().map(|clang| objects(&clang, &root)));
}

/// As in `laxity-policy`, whose build is the one that counts.
fn native(policy: &Path, name: &str, checked: bool) {
    let mut build = cc::Build::new();
    if let Some(clang) = laxity_build::native_compiler() {
        build.compiler(clang);
    }
    if checked {
        build.define("RIG_CHECKED", None).define("LX_CHECKED", None);
    }
    build
        .file("native/rig.c")
        .include(policy)
        .define("RIG_BUILD", name)
        .std("gnu11")
        .opt_level(3)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile(&format!("laxity_rig_{name}"));
}

fn objects(clang: &str, root: &Path) -> Vec<Object> {
    let objects = laxity_build::objects(root, "crates/laxity-conformance/bpf");
    let policy = format!("-I{}", root.join("policy").display());
    for object in &objects {
        laxity_build::compile(clang, root, object, &["-Wextra".into(), policy.clone()]);
    }
    objects
}
