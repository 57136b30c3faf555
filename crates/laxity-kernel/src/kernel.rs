//! Whether the running kernel takes schedulers, and what it lacks if not.

use std::fs;
use std::path::Path;

/// Kernel functions without which no scheduler here can be loaded.
const NEEDED: [&str; 5] =
    ["scx_bpf_create_dsq", "scx_bpf_dsq_insert", "scx_bpf_kick_cpu", "scx_bpf_task_cpu", "bpf_task_from_pid"];

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

/// The oldest kernel that laxity's policies run in. sched_ext is there since 6.12, in a form that they do not take.
pub const KERNEL_LEAST: &str = "6.16";

/// Looks at the running kernel; loads nothing.
pub fn support() -> Support {
    let version = rustix::system::uname().release().to_string_lossy().into_owned();
    let no = |reason: String, hint: &str| Support::No { reason, hint: hint.to_owned() };
    if !Path::new("/sys/kernel/sched_ext").exists() {
        return no(
            format!(
                "the running kernel {version} has no sched_ext (CONFIG_SCHED_CLASS_EXT, Linux {KERNEL_LEAST} or later)"
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
    match lacking() {
        Err(why) => {
            no(format!("the types of the running kernel {version} cannot be read: {why}"), "laxity vm -- ...")
        }
        Ok(missing) if !missing.is_empty() => no(
            format!(
                "the BTF of the running kernel {version} does not mark {} as callable from BPF: a known fault of some \
                 builds (Debian's 7.1.7, 7.1.8, 7.1.13, 7.2.9 and 7.2.12)",
                missing.join(", ")
            ),
            "boot another kernel (6.18, 7.0, 7.2.13, 7.3.4 are good), or: laxity vm -- ...",
        ),
        Ok(_) => Support::Yes,
    }
}

/// The needed functions that have no `bpf_kfunc` mark.
fn lacking() -> Result<Vec<&'static str>, String> {
    use libbpf_rs::btf::types::{DeclTag, Func};
    use libbpf_rs::btf::{Btf, ReferencesType as _};
    let btf = Btf::from_vmlinux().map_err(|error| error.to_string())?;
    let marked: std::collections::HashSet<_> = btf
        .type_by_kind::<DeclTag<'_>>()
        .filter(|tag| tag.name().is_some_and(|name| name == "bpf_kfunc"))
        .map(|tag| tag.referenced_type().type_id())
        .collect();
    let is_marked =
        |name: &str| btf.type_by_name::<Func<'_>>(name).is_some_and(|f| marked.contains(&f.type_id()));
    Ok(NEEDED.into_iter().filter(|name| !is_marked(name)).collect())
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
