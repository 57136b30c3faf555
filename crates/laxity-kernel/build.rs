//! Compiles every `bpf/NAME.bpf.c` for the kernel, where clang can; `$OUT_DIR/objects.rs` has them, or why there are none.

use libbpf_cargo::SkeletonBuilder;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory below `$OUT_DIR` into which `scx_cargo` puts its headers and the kernel's types.
const HEADERS: &str = "scx_utils-bpf_h";

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = manifest.join("../..");
    for watched in ["bpf", "policy"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let text = match headers(&out) {
        Err(reason) => format!("static COMPILED: Result<&[(&str, &[u8])], &str> = Err({reason:?});\n"),
        Ok(compiler) => objects(&compiler, &root, &out),
    };
    fs::write(out.join("objects.rs"), text).expect("cargo's output directory can be written");
}

/// What compiles for the kernel.
struct Compiler {
    clang: String,
    includes: Vec<PathBuf>,
}

/// Has the headers of the sched_ext tools unpacked.
fn headers(out: &Path) -> Result<Compiler, String> {
    let clang = env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".into());
    let targets = Command::new(&clang)
        .arg("--print-targets")
        .output()
        .map_err(|error| format!("{clang} could not be started when this was built: {error}"))?;
    if !String::from_utf8_lossy(&targets.stdout).lines().any(|l| l.trim().starts_with("bpf ")) {
        return Err(format!("{clang} had no target bpf when this was built"));
    }
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

fn objects(compiler: &Compiler, root: &Path, out: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(root.join("bpf"))
        .expect("bpf is in the checkout")
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".bpf.c").map(String::from))
        .collect();
    names.sort();
    let mut text = String::from("static COMPILED: Result<&[(&str, &[u8])], &str> = Ok(&[\n");
    for name in names {
        let object = out.join(format!("{name}.bpf.o"));
        compile(compiler, root, &name, &object);
        writeln!(text, "    ({name:?}, aligned!({object:?})),").expect("into a string");
    }
    text.push_str("]);\n");
    text
}

fn compile(compiler: &Compiler, root: &Path, name: &str, object: &Path) {
    let mut arguments: Vec<String> =
        ["-mcpu=v3", "-Wall", "-Werror", "-fno-strict-aliasing"].map(String::from).into();
    for include in &compiler.includes {
        arguments.extend(["-isystem".into(), include.display().to_string()]);
    }
    arguments.push(format!("-I{}", root.join("policy").display()));
    SkeletonBuilder::new()
        .source(root.join("bpf").join(format!("{name}.bpf.c")))
        .obj(object)
        .clang(&compiler.clang)
        .clang_args(arguments)
        .build()
        .unwrap_or_else(|error| panic!("bpf/{name}.bpf.c does not compile: {error:#}"));
}
