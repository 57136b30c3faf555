//! What the build scripts of `policy/` and `bpf/` have in common: the compilers, the list of policies, and the table of
//! BPF objects that a crate carries.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The clang that the repository is built with.
const CLANG: &str = "clang-19";

/// The policies' names in C: `policy/NAME.h`.
pub const POLICIES: [&str; 8] =
    ["amp_rm", "edf_bh", "edf_rbt", "edzl", "fpp", "g_edf_mp", "gsn_edf", "push_pull"];

/// The source that every policy is compiled from for BPF, once with each `-DPOLICY=NAME`.
pub const POLICY_SOURCE: &str = "policy";

/// Where the build script may write.
///
/// # Panics
///
/// Outside build scripts.
#[must_use]
pub fn out_directory() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"))
}

/// The C compiler for the native builds of `policy/`, if it is not cc's own choice: that of the BPF build, one compiler for
/// both. `CC` overrides it.
#[must_use]
pub fn native_compiler() -> Option<&'static str> {
    let works = || Command::new(CLANG).arg("--version").output().is_ok_and(|o| o.status.success());
    (env::var_os("CC").is_none() && works()).then_some(CLANG)
}

/// A clang that compiles BPF: `BPF_CLANG`, else version 19.
///
/// # Errors
///
/// There is none; in words for the user of the program that is built.
pub fn bpf_compiler() -> Result<String, String> {
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    let clang = env::var("BPF_CLANG").unwrap_or_else(|_| CLANG.into());
    let targets = Command::new(&clang)
        .arg("--print-targets")
        .output()
        .map_err(|error| format!("{clang} could not be started when this was built: {error}"))?;
    if String::from_utf8_lossy(&targets.stdout).lines().any(|l| l.trim().starts_with("bpf ")) {
        Ok(clang)
    } else {
        Err(format!("{clang} had no target bpf when this was built"))
    }
}

/// A BPF object to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// What it is called: `NAME.bpf.o`.
    pub name: String,
    /// What it is compiled from.
    pub source: PathBuf,
    /// The policy that the source is compiled for, if it is that of all policies.
    pub policy: Option<&'static str>,
}

impl Object {
    /// Where the compiled object is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        out_directory().join(format!("{}.bpf.o", self.name))
    }
}

/// Compiles an object for BPF, with `arguments` besides those that every object needs.
///
/// The kernel's verifier wants the types (BTF), which come with debug information; the rest of that goes to a file beside
/// the object (`-gsplit-dwarf`), and the names in it begin at the repository, wherever that is.
///
/// # Panics
///
/// It does not compile.
pub fn compile(clang: &str, root: &Path, object: &Object, arguments: &[String]) {
    let output = Command::new(clang)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-gsplit-dwarf=split", "-Wall", "-Werror"])
        .arg(format!("-ffile-prefix-map={}/=", root.display()))
        .args(arguments)
        .args(object.policy.map(|policy| format!("-DPOLICY={policy}")))
        .arg("-c")
        .arg(&object.source)
        .arg("-o")
        .arg(object.path())
        .output()
        .unwrap_or_else(|error| panic!("{clang}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile as BPF:\n{said}", object.name);
}

/// The objects of a directory: one per policy, and one per other `NAME.bpf.c`.
///
/// # Panics
///
/// The directory cannot be read.
#[must_use]
pub fn objects(directory: &Path) -> Vec<Object> {
    let source = |stem: &str| directory.join(format!("{stem}.bpf.c"));
    let mut all: Vec<Object> = fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".bpf.c").map(String::from))
        .filter(|stem| stem != POLICY_SOURCE)
        .map(|stem| Object { source: source(&stem), name: stem, policy: None })
        .chain(POLICIES.map(|policy| Object {
            name: policy.to_owned(),
            source: source(POLICY_SOURCE),
            policy: Some(policy),
        }))
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Writes `$OUT_DIR/objects.rs`, which a crate includes: `object(name)` gives the bytes of an object, or the reason why
/// there are none.
///
/// # Panics
///
/// Cargo's output directory cannot be written.
pub fn write_objects(compiled: &Result<Vec<Object>, String>) {
    let text = match compiled {
        Ok(objects) => table(objects),
        Err(reason) => format!("static COMPILED: Compiled = Err({reason:?});\n"),
    };
    fs::write(out_directory().join("objects.rs"), format!("{LOOK_UP}{text}"))
        .expect("cargo's output directory can be written");
}

fn table(objects: &[Object]) -> String {
    let mut text = String::from("static COMPILED: Compiled = Ok(&[\n");
    for object in objects {
        writeln!(text, "    ({:?}, aligned!({:?})),", object.name, object.path()).expect("into a string");
    }
    text + "]);\n"
}

/// How an object is found. libbpf looks at its words, so the bytes are aligned.
const LOOK_UP: &str = r#"type Compiled = Result<&'static [(&'static str, &'static [u8])], &'static str>;

#[allow(dead_code)]
#[repr(align(16))]
struct Aligned<T: ?Sized>(T);

#[allow(unused_macros)]
macro_rules! aligned {
    ($path:literal) => {{
        static ALIGNED: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &ALIGNED.0
    }};
}

/// The object `NAME.bpf.o`.
///
/// # Errors
///
/// Why this program was built without it.
pub fn object(name: &str) -> Result<&'static [u8], String> {
    let objects = COMPILED.map_err(String::from)?;
    let found = objects.iter().find(|(n, _)| *n == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| format!("there is no object {name}.bpf.o"))
}

"#;
