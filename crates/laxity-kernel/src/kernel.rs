//! Whether the running kernel takes schedulers, and what it lacks if not.

mod needs;

pub use needs::{Release, kernel_least};

use crate::object::kernel_constants;
use laxity_model::{Policy, listed};
use needs::{Has, Kind, NEEDS, Need, missing};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// The name of laxity's schedulers in the kernel: `laxity` of bpf/host/host.h.
pub(crate) const NAME: &str = "laxity";

/// What the running kernel can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// It takes schedulers.
    Yes,
    /// It does not: why, and what helps.
    No {
        /// What is missing.
        reason: String,
        /// What to do about it.
        hint: String,
    },
}

/// The name of the running kernel, such as `6.18.15+deb13-cloud-amd64`.
pub(crate) fn running() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Whether the running kernel has what all of laxity's policies need; loads nothing.
pub fn support() -> Support {
    support_of(None)
}

/// The same of one policy, which may need more than others.
pub fn support_of(policy: Option<Policy>) -> Support {
    let version = running();
    let no = |reason: String, hint: &str| Support::No { reason, hint: hint.to_owned() };
    if !Path::new("/sys/kernel/sched_ext").exists() {
        return no(
            format!(
                "the running kernel {version} has no sched_ext (CONFIG_SCHED_CLASS_EXT, Linux {} or later)",
                kernel_least(policy)
            ),
            "run the same command in a virtual machine: laxity vm -- ...",
        );
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return no(
            format!("the running kernel {version} has no BTF (/sys/kernel/btf/vmlinux)"),
            "use a kernel with CONFIG_DEBUG_INFO_BTF, or: laxity vm -- ...",
        );
    }
    static TYPES: OnceLock<std::result::Result<Types, String>> = OnceLock::new();
    match TYPES.get_or_init(Types::read) {
        Err(why) => {
            no(format!("the types of the running kernel {version} cannot be read: {why}"), "laxity vm -- ...")
        }
        Ok(types) => match missing(policy, |need, name| types.has(need, name)) {
            lacks if lacks.is_empty() => Support::Yes,
            lacks => refusal(&version, policy, &lacks),
        },
    }
}

/// What is missing, each with the release of Linux that brought it.
fn refusal(version: &str, policy: Option<Policy>, lacks: &[(&Need, Has)]) -> Support {
    let all = |wanted: Has| {
        let those = lacks.iter().filter(|(_, has)| *has == wanted);
        listed(those.map(|(need, _)| need.to_string()))
    };
    let (nothing, unmarked) = (all(Has::Nothing), all(Has::Unmarked));
    let least = kernel_least(policy);
    let is_older = Release::of(version).is_some_and(|release| release < least);
    let mut reasons = Vec::new();
    if !nothing.is_empty() {
        let whose = policy.map_or_else(String::new, |policy| format!(", which {policy} needs"));
        let rule = match (is_older, policy) {
            (false, _) => String::new(),
            (true, None) => format!(": policies need Linux {least} or later"),
            (true, Some(policy)) => format!(": {policy} needs Linux {least} or later"),
        };
        reasons.push(format!("the running kernel {version} lacks {nothing}{whose}{rule}"));
    }
    if !unmarked.is_empty() {
        reasons.push(format!(
            "the BTF of the running kernel {version} does not mark {unmarked} as callable from BPF: a known fault of some builds \
             (Debian's 7.1.7, 7.1.8, 7.1.13, 7.2.9 and 7.2.12)"
        ));
    }
    let hint = if is_older {
        format!("boot Linux {least} or later, or: laxity vm -- ...")
    } else if unmarked.is_empty() {
        "boot another kernel, or: laxity vm -- ...".to_owned()
    } else {
        "boot another kernel (the BTF of Debian's 6.18, 7.0, 7.2.13 and 7.3.4 is whole), or: laxity vm -- ..."
            .to_owned()
    };
    Support::No { reason: reasons.join("; "), hint }
}

/// What the types of the running kernel say of all that policies need.
struct Types {
    functions: HashMap<String, Has>,
    constants: HashSet<String>,
}

impl Types {
    fn read() -> std::result::Result<Types, String> {
        use libbpf_rs::btf::types::{DeclTag, Func};
        use libbpf_rs::btf::{Btf, ReferencesType as _};
        let btf = Btf::from_vmlinux().map_err(|error| error.to_string())?;
        let marked: HashSet<_> = btf
            .type_by_kind::<DeclTag<'_>>()
            .filter(|tag| tag.name().is_some_and(|name| name == "bpf_kfunc"))
            .map(|tag| tag.referenced_type().type_id())
            .collect();
        let needed: HashSet<&str> = NEEDS
            .iter()
            .filter(|need| need.kind == Kind::Function)
            .flat_map(|need| need.names.iter().map(|(name, _)| *name))
            .collect();
        let mut functions = HashMap::new();
        // Not by name: bpf_res_spin_lock is a structure, too.
        for function in btf.type_by_kind::<Func<'_>>() {
            let Some(name) = function.name().and_then(OsStr::to_str).filter(|name| needed.contains(name))
            else {
                continue;
            };
            if marked.contains(&function.type_id()) {
                functions.insert(name.to_owned(), Has::It);
            } else {
                functions.entry(name.to_owned()).or_insert(Has::Unmarked);
            }
        }
        Ok(Types { functions, constants: kernel_constants()?.into_keys().collect() })
    }

    fn has(&self, need: &Need, name: &str) -> Has {
        match need.kind {
            Kind::Function => self.functions.get(name).copied().unwrap_or(Has::Nothing),
            Kind::Flag if self.constants.contains(name) => Has::It,
            Kind::Flag => Has::Nothing,
        }
    }
}

/// The name of the scheduler that is attached by sched_ext; none if there is none.
pub fn attached() -> Option<String> {
    attached_under(Path::new("/"))
}

/// The same for the machine whose `/sys` is under `root`.
pub fn attached_under(root: &Path) -> Option<String> {
    let folder = root.join("sys/kernel/sched_ext");
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok().map(|text| text.trim().to_owned());
    let state = read("state")?;
    (state != "disabled").then(|| read("root/ops").unwrap_or(state))
}

/// Whether the kernel has a scheduler of laxity's schedule the machine; else what it says instead.
pub(crate) fn enabled() -> std::result::Result<(), String> {
    enabled_under(Path::new("/"))
}

fn enabled_under(root: &Path) -> std::result::Result<(), String> {
    let folder = root.join("sys/kernel/sched_ext");
    let read = |file: &str| {
        fs::read_to_string(folder.join(file))
            .map_or_else(|error| error.to_string(), |text| text.trim().to_owned())
    };
    match (read("state").as_str(), read("root/ops").as_str()) {
        ("enabled", NAME) => Ok(()),
        ("enabled", other) => Err(format!("enabled, with another scheduler: {other}")),
        (state, _) => Err(state.to_owned()),
    }
}

/// Waits for one that is on its way out.
pub(crate) fn wait_until_free() -> Option<String> {
    for _ in 0..40 {
        let name = attached()?;
        if !["disabling", "enabling"].contains(&name.as_str()) {
            return Some(name);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    attached()
}

/// Whether the running kernel is PREEMPT_RT: it refuses BPF timers, and a thread of the kernel handles its other
/// timers.
pub fn is_preempt_rt() -> bool {
    rustix::system::uname().version().to_string_lossy().split_whitespace().any(|word| word == "PREEMPT_RT")
}

/// Whether `bpf` is among the security modules that the running kernel has active: its programs are asked then.
pub(crate) fn has_bpf_security_module() -> bool {
    const LSM_LIST_MODULES: libc::c_long = 461;
    const LSM_ID_BPF: u64 = 109;
    let mut modules = [0_u64; 32];
    let mut size = u32::try_from(size_of_val(&modules)).expect("a small array");
    // SAFETY: the array and its size live across the call, which writes no more than that; an older kernel refuses the number.
    let count = unsafe { libc::syscall(LSM_LIST_MODULES, modules.as_mut_ptr(), &raw mut size, 0_u32) };
    usize::try_from(count).is_ok_and(|count| modules.iter().take(count).any(|&module| module == LSM_ID_BPF))
}
