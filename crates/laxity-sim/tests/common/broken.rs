//! Policies that are broken on purpose: each is the real source with one change, built by the C compiler.

use laxity_model::{BudgetMode, Policy};
use laxity_policy::Table;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One change to one file of `policy/`.
pub struct Mutant {
    /// What it does wrong.
    pub what: &'static str,
    pub policy: Policy,
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
    pub budgets: BudgetMode,
}

pub const OFF: BudgetMode = BudgetMode::Off;

pub const fn mutant(
    what: &'static str,
    policy: Policy,
    file: &'static str,
    from: &'static str,
    to: &'static str,
) -> Mutant {
    Mutant { what, policy, file, from, to, budgets: OFF }
}

// Broken in ways that show with and without costs.

pub const NEVER_PREEMPTS: Mutant = mutant(
    "no job ever preempts",
    Policy::EdfBh,
    "linking.h",
    "\tif (lx_preempts(lx_task(s, task)->key, task, first))\n\t\tLX_P(preempt)",
    "\tif (lx_entry_task(first) == LX_NONE)\n\t\tLX_P(preempt)",
);

pub const PREEMPTS_THE_EARLIEST: Mutant = mutant(
    "the earliest deadline is preempted",
    Policy::EdfRbt,
    "cpu_heap.h",
    "return (a.key > b.key) | ((a.key == b.key) & (a.tie > b.tie));",
    "return a.key == LX_NEVER || (b.key != LX_NEVER && a.key && (a.key < b.key || !b.key));",
);

pub const RELEASED_JOBS_WAIT: Mutant = mutant(
    "released jobs wait for a completion",
    Policy::GsnEdf,
    "linking.h",
    "if (task == LX_NONE || !lx_preempts(",
    "if (task == LX_NONE || lx_entry_task(first) != LX_NONE || !lx_preempts(",
);

pub const GOES_TO_ITS_OWN_LIST: Mutant = mutant(
    "a preempted job goes to its own list",
    Policy::Fpp,
    "queues/promotions.h",
    "u32 list = t->level < first ? t->level : first;",
    "u32 list = t->level;",
);

pub const OFFERS_NOTHING: Mutant = mutant(
    "nothing is ever offered to another CPU",
    Policy::PushPull,
    "push_pull/run_queue.h",
    "\tif (next == LX_NONE)\n\t\treturn 0;",
    "\tif (next != LX_NEVER)\n\t\treturn 0;",
);

pub const NEVER_YIELDS: Mutant = mutant(
    "a CPU never yields to a pushed job",
    Policy::PushPull,
    "push_pull/run_queue.h",
    "return first == LX_NONE || lx_before(lx_task(s, task)->key, task, LX_READ(q->first_key), first);",
    "return first == LX_NONE;",
);

pub const FILLS_IDLE_CLIENTS: Mutant = mutant(
    "the DSP only fills idle clients",
    Policy::GEdfMp,
    "g_edf_mp/dsp.h",
    "if (!lx_preempts(",
    "if (lx_entry_task(first) != LX_NONE || !lx_preempts(",
);

/// The directory of the policies' sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy")
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("sources") {
        let entry = entry.expect("sources");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("sources").is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// Builds the policies with the change and gives the table of the policy; with none, the policies as they are.
pub fn build(directory: &Path, number: usize, mutant: Option<&Mutant>, policy: Policy) -> Table {
    let tree = directory.join(format!("policy-{number}"));
    copy_tree(&sources(), &tree);
    if let Some(mutant) = mutant {
        let path = tree.join(mutant.file);
        let text = std::fs::read_to_string(&path).expect("source");
        assert_eq!(text.matches(mutant.from).count(), 1, "`{}`: {} has changed", mutant.what, mutant.file);
        std::fs::write(&path, text.replace(mutant.from, mutant.to)).expect("written");
    }
    let library = directory.join(format!("policy-{number}.so"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "clang-19".to_owned());
    let run = |compiler: &str| {
        Command::new(compiler)
            .args(["-std=gnu11", "-O1", "-w", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(tree.join("native.c"))
            .status()
    };
    let built = run(&compiler).or_else(|_| run("cc")).expect("a C compiler");
    assert!(built.success(), "{:?} does not compile", mutant.map(|mutant| mutant.what));
    let path = CString::new(library.to_str().expect("text")).expect("no zero byte");
    let symbol = CString::new(format!("lx_policy_{}", policy.source_name())).expect("no zero byte");
    // SAFETY: a library just built from the same native.h, never closed; RTLD_NOW (2), symbols local to it.
    unsafe {
        let handle = dlopen(path.as_ptr(), 2);
        assert!(!handle.is_null(), "{}", CStr::from_ptr(dlerror()).to_string_lossy());
        let table = dlsym(handle, symbol.as_ptr());
        assert!(!table.is_null(), "{symbol:?} is missing");
        Table::from_raw(table)
    }
}
