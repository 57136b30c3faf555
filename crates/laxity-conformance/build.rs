//! Compiles the policies for the rig: natively, with and without their assertions, and as BPF where clang can.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let policy = manifest.join("../../policy");
    println!("cargo::rerun-if-changed={}", policy.display());
    println!("cargo::rerun-if-changed=native");
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    native(&policy, "checked", true);
    native(&policy, "plain", false);
    bpf(&policy.join("bpf"));
}

fn works(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// As in `laxity-policy`, whose build is the one that counts.
fn native(policy: &Path, name: &str, checked: bool) {
    let mut build = cc::Build::new();
    if env::var_os("CC").is_none() && works("clang-19") {
        build.compiler("clang-19");
    }
    if checked {
        build.define("RIG_CHECKED", None);
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

/// `$OUT_DIR/objects.rs`: every `policy/bpf/NAME.bpf.c` as an object, or why there are none.
fn bpf(sources: &Path) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut text = String::new();
    match bpf_compiler() {
        Err(reason) => {
            writeln!(text, "static COMPILED: Result<&[(&str, &[u8])], &str> = Err({reason:?});")
                .expect("into a string");
        }
        Ok(clang) => {
            let mut names: Vec<String> = fs::read_dir(sources)
                .expect("policy/bpf is in the checkout")
                .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".bpf.c").map(String::from))
                .collect();
            names.sort();
            text.push_str("static COMPILED: Result<&[(&str, &[u8])], &str> = Ok(&[\n");
            for name in names {
                let object = out.join(format!("{name}.bpf.o"));
                compile(&clang, &sources.join(format!("{name}.bpf.c")), &object);
                writeln!(text, "    ({name:?}, aligned!({object:?})),").expect("into a string");
            }
            text.push_str("]);\n");
        }
    }
    fs::write(out.join("objects.rs"), text).expect("cargo's output directory can be written");
}

/// A clang with the target; 19 is what the repository is built with.
fn bpf_compiler() -> Result<String, String> {
    let clang = env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".into());
    let targets = Command::new(&clang)
        .arg("--print-targets")
        .output()
        .map_err(|error| format!("{clang} cannot be started when this was built: {error}"))?;
    if String::from_utf8_lossy(&targets.stdout).lines().any(|l| l.trim().starts_with("bpf ")) {
        Ok(clang)
    } else {
        Err(format!("{clang} has no target bpf"))
    }
}

fn compile(clang: &str, source: &Path, object: &Path) {
    let status = Command::new(clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-c"])
        .arg(source)
        .arg("-o")
        .arg(object)
        .status()
        .expect("it has just been started");
    assert!(status.success(), "{} does not compile as BPF", source.display());
}
