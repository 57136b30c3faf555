//! What the build scripts of `policy/` and `bpf/` have in common: the compilers, the list of policies, and the table of
//! BPF objects that a crate carries.

use object::{Object as _, ObjectSymbol as _};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The clang that the repository is built with.
const CLANG: &str = "clang-19";

/// The list of policies, below the repository.
const LIST: &str = "policy/policies.h";

/// The policies' names in C, `policy/NAME.h`, as `policy/policies.h` lists them.
///
/// # Panics
///
/// The list cannot be read, is empty, or names a policy without a header.
#[must_use]
pub fn policies(root: &Path) -> Vec<String> {
    let list = root.join(LIST);
    let text = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    let named = |line: &str| Some(line.trim_start().strip_prefix("ONE(")?.split_once(',')?.0.to_owned());
    let names: Vec<String> = text.lines().filter_map(named).collect();
    assert!(!names.is_empty(), "{LIST} lists no policy as a line ONE(NAME, KIND)");
    for name in &names {
        let header = root.join("policy").join(format!("{name}.h"));
        assert!(header.is_file(), "{LIST} lists {name}, and there is no {}", header.display());
    }
    names
}

/// Writes `$OUT_DIR/tables.rs`, which a crate includes: `tables()` gives the name of each policy and where its `struct lx_policy` is,
/// which C calls `PREFIX` and the name.
///
/// # Panics
///
/// Cargo's output directory cannot be written, or [`policies`].
pub fn write_tables(root: &Path, prefix: &str) {
    let (mut statics, mut rows) = (String::new(), String::new());
    let names = policies(root);
    for name in &names {
        writeln!(statics, "    static {prefix}{name}: u8;").expect("into a string");
        writeln!(rows, "        ({name:?}, (&raw const {prefix}{name}).cast()),").expect("into a string");
    }
    let text = format!(
        "#[allow(non_upper_case_globals)]\nunsafe extern \"C\" {{\n{statics}}}\n\n\
         /// Every policy's name in C, and its table.\n\
         fn tables() -> [(&'static str, *const core::ffi::c_void); {}] {{\n    [\n{rows}    ]\n}}\n",
        names.len()
    );
    fs::write(out_directory().join("tables.rs"), text).expect("cargo's output directory can be written");
}

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
    pub policy: Option<String>,
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
        .args(object.policy.as_ref().map(|policy| format!("-DPOLICY={policy}")))
        .arg("-c")
        .arg(&object.source)
        .arg("-o")
        .arg(object.path())
        .output()
        .unwrap_or_else(|error| panic!("{clang}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile as BPF:\n{said}", object.name);
}

/// The objects of a directory below the repository: one per policy, and one per other `NAME.bpf.c`.
///
/// # Panics
///
/// The directory cannot be read, or [`policies`].
#[must_use]
pub fn objects(root: &Path, directory: &str) -> Vec<Object> {
    let directory = root.join(directory);
    let source = |stem: &str| directory.join(format!("{stem}.bpf.c"));
    let mut all: Vec<Object> = fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".bpf.c").map(String::from))
        .filter(|stem| stem != POLICY_SOURCE)
        .map(|stem| Object { source: source(&stem), name: stem, policy: None })
        .chain(policies(root).into_iter().map(|policy| Object {
            name: policy.clone(),
            source: source(POLICY_SOURCE),
            policy: Some(policy),
        }))
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Writes `$OUT_DIR/objects.rs`, which a crate includes: `object(name)` gives the bytes of an object, or the reason why
/// there are none, and `SYMBOLS` the programs, maps and variables of each by name, with their sizes in bytes.
///
/// # Panics
///
/// Cargo's output directory cannot be written.
pub fn write_objects(compiled: &Result<Vec<Object>, String>) {
    let text = match compiled {
        Ok(objects) => table(objects),
        Err(reason) => format!(
            "static COMPILED: Compiled = Err({reason:?});\n#[allow(dead_code)]\nconst SYMBOLS: Symbols = &[];\n"
        ),
    };
    fs::write(out_directory().join("objects.rs"), format!("{LOOK_UP}{text}"))
        .expect("cargo's output directory can be written");
}

fn table(objects: &[Object]) -> String {
    let mut text = String::from("static COMPILED: Compiled = Ok(&[\n");
    for object in objects {
        writeln!(text, "    ({:?}, aligned!({:?})),", object.name, object.path()).expect("into a string");
    }
    text += "]);\n#[allow(dead_code)]\nconst SYMBOLS: Symbols = &[\n";
    for object in objects {
        let bytes = fs::read(object.path()).expect("it has been compiled");
        let file = object::File::parse(&*bytes).expect("clang writes ELF");
        for symbol in file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition()) {
            let (name, size) = (symbol.name().expect("a name"), symbol.size());
            writeln!(text, "    ({:?}, {name:?}, {size}),", object.name).expect("into a string");
        }
    }
    text + "];\n"
}

/// How an object is found. libbpf looks at its words, so the bytes are aligned.
const LOOK_UP: &str = r#"type Symbols = &'static [(&'static str, &'static str, usize)];
type Compiled = Result<&'static [(&'static str, &'static [u8])], &'static str>;

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
