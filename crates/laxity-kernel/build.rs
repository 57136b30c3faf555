//! Compiles `bpf/` for the kernel, where clang can; `$OUT_DIR/objects.rs` has the objects, or why there are none.

use laxity_build::Object;
use std::env;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../..")
        .canonicalize()
        .expect("this file is in it");
    for watched in ["bpf", "policy"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    laxity_build::write_objects(&laxity_build::bpf_compiler().and_then(|clang| objects(&clang, &root)));
}

fn objects(clang: &str, root: &Path) -> Result<Vec<Object>, String> {
    let arguments = arguments(root)?;
    let objects = laxity_build::objects(root, "bpf");
    for object in &objects {
        laxity_build::compile(clang, root, object, &arguments);
    }
    Ok(objects)
}

/// Where the headers are, and for which architecture's kernel: the registers of a system call differ.
fn arguments(root: &Path) -> Result<Vec<String>, String> {
    let architecture = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "x86",
        Ok("aarch64") => "arm64",
        other => {
            return Err(format!("what a system call leaves in the registers is not known for {other:?}"));
        }
    };
    let libbpf = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says where its headers are");
    Ok(vec![
        "-fno-strict-aliasing".into(),
        "-fno-stack-protector".into(),
        format!("-D__TARGET_ARCH_{architecture}"),
        format!("-I{}", root.join("policy").display()),
        format!("-isystem{libbpf}"),
    ])
}
