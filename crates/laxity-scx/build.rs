//! Compiles `bpf/host` natively, once with each policy, its text as it is.
//!
//! Every object keeps its names to itself but that of its table, and has all that it may change in one section, which the model copies
//! once and puts back before each run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.join("../..");
    for source in ["policy", "bpf"].map(|name| root.join(name)).iter().chain([&here.join("native")]) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let mut library = cc::Build::new();
    for policy in laxity_build::policies(&root) {
        library.object(compile(&root, &here, &policy));
    }
    library.compile("laxity_scx");
    laxity_build::write_tables(&root, "lx_scx_");
}

fn compile(root: &Path, here: &Path, policy: &str) -> PathBuf {
    let out = laxity_build::out_directory();
    let object = out.join(format!("{policy}.o"));
    let clang = laxity_build::native_compiler().unwrap_or("clang");
    let mut command = Command::new(clang);
    command.args(["-std=gnu11", "-O2", "-g", "-fPIC", "-Wall", "-Werror"]);
    // The types are the kernel's, found by name there; here they are the model's own.
    command.args(["-Wno-ignored-attributes", "-Wno-unknown-attributes"]);
    command.args(["-fno-zero-initialized-in-bss", "-DLX_HOSTED", "-D__TARGET_ARCH_x86"]);
    if !has_several_locks(root, policy) {
        command.arg("-DLX_CHECKED");
    }
    command.arg(format!("-DPOLICY={policy}"));
    for directory in [here.join("native"), root.join("bpf"), root.join("policy")] {
        command.arg("-I").arg(directory);
    }
    run(command.arg("-c").arg(here.join("native/host.c")).arg("-o").arg(&object));
    let section = format!("lxscx_{policy}");
    let mut keep = Command::new("objcopy");
    keep.arg(format!("--keep-global-symbol=lx_scx_{policy}"));
    for before in [".data", ".rodata", ".bss"] {
        keep.arg(format!("--rename-section={before}={section},alloc,load,data,contents"));
    }
    run(keep.arg(&object));
    object
}

/// The checks of such policies look at what other CPUs may be changing: they hold where calls do not run at the same time.
fn has_several_locks(root: &Path, policy: &str) -> bool {
    let header = std::fs::read_to_string(root.join(format!("policy/{policy}.h"))).expect("listed");
    header.contains("#define LX_STEPS")
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
