//! Compiles `bpf/` for the kernel, where clang can; `$OUT_DIR/objects.rs` has the objects, or why there are none.

use laxity_build::Object;
use libbpf_cargo::SkeletonBuilder;
use std::env;
use std::path::{Path, PathBuf};

/// The directory below `$OUT_DIR` into which `scx_cargo` puts its headers and the kernel's types.
const HEADERS: &str = "scx_utils-bpf_h";

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.join("../..");
    for watched in ["bpf", "policy"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    laxity_build::write_objects(&headers(&out).map(|compiler| objects(&compiler, &root)));
}

/// What compiles for the kernel.
struct Compiler {
    clang: String,
    includes: Vec<PathBuf>,
}

/// Has the headers of the sched_ext tools unpacked.
fn headers(out: &Path) -> Result<Compiler, String> {
    let clang = laxity_build::bpf_compiler()?;
    let architecture = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "x86",
        Ok("aarch64") => "arm64",
        other => return Err(format!("there are no kernel types for {other:?}")),
    };
    // SAFETY: a build script has one thread here.
    unsafe { env::set_var("BPF_CLANG", &clang) };
    scx_cargo::BpfBuilder::new().map_err(|error| format!("the headers of sched_ext: {error:#}"))?;
    let headers = out.join(HEADERS);
    let includes = vec![headers.join("arch").join(architecture), headers.join("bpf-compat"), headers.clone()];
    Ok(Compiler { clang, includes })
}

fn objects(compiler: &Compiler, root: &Path) -> Vec<Object> {
    let objects = laxity_build::objects(&root.join("bpf"));
    for object in &objects {
        compile(compiler, root, object);
    }
    objects
}

fn compile(compiler: &Compiler, root: &Path, object: &Object) {
    let mut arguments: Vec<String> =
        ["-mcpu=v3", "-Wall", "-Werror", "-fno-strict-aliasing"].map(String::from).into();
    for include in &compiler.includes {
        arguments.extend(["-isystem".into(), include.display().to_string()]);
    }
    arguments.push(format!("-I{}", root.join("policy").display()));
    arguments.extend(object.definition());
    SkeletonBuilder::new()
        .source(&object.source)
        .obj(object.path())
        .clang(&compiler.clang)
        .clang_args(arguments)
        .build()
        .unwrap_or_else(|error| panic!("{} does not compile: {error:#}", object.name));
}
