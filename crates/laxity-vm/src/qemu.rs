//! QEMU: its command line, and the process.

use crate::accelerator::Accelerator;
use crate::agent::{AGENT_ALONE, AGENT_COMMAND, AGENT_FILE, PORT_NAME};
use crate::archive::find_program;
use crate::process::Tied;
use crate::qemu_version::{Version, version};
use crate::turns::Turns;
use laxity_model::{Diagnostic, Result, ShownPath as _};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = "qemu-system-x86_64";
/// Always given. The machine ends with its kernel; what only slows the start is switched off (certificates, a random
/// number generator, encrypted keys: a second under emulation); mitigations protect nothing here; a virtual timestamp
/// counter is one clock for all processors.
const KERNEL_OPTIONS: &str = "console=ttyS0 panic=-1 nokaslr mitigations=off audit=0 apparmor=0 selinux=0 \
    random.trust_cpu=on tsc=reliable no_timer_check cryptomgr.notests \
    initcall_blacklist=load_system_certificate_list,jent_mod_init,init_encrypted";
/// For emulated machines: measuring how long a loop takes takes long, and would measure the host's load.
const EMULATED_OPTIONS: &str = "lpj=4000000";
/// When a machine thinks it is that is not to know of the host: 2026-01-01.
const OWN_CLOCK: &str = "base=2026-01-01T00:00:00,clock=vm";
/// A counted machine's clock goes on with its instructions, from the host's time.
const COUNTED_CLOCK: &str = "clock=vm";

/// A machine to be started.
pub struct Hardware<'a> {
    /// Processors.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// What executes its instructions.
    pub accelerator: Accelerator,
    /// Nothing of the host shows in it, its time neither. For counted machines.
    pub alone: bool,
    /// The kernel image.
    pub kernel: &'a Path,
    /// More for the kernel's command line.
    pub append: &'a [String],
    /// Kernel messages while it boots.
    pub verbose: bool,
    /// The first file system.
    pub initramfs: &'a File,
}

/// The host's ends of what leads into the machine.
pub struct Lines {
    /// The virtio port.
    pub port: UnixStream,
    /// The second UART, for kernels without virtio.
    pub uart: UnixStream,
}

/// Finds QEMU.
///
/// # Errors
/// It is not installed.
pub fn find() -> Result<PathBuf> {
    find_program(PROGRAM).ok_or_else(|| {
        Diagnostic::environment(format!("{PROGRAM} is not here: virtual machines need QEMU"))
            .hint("apt-get install --no-install-recommends qemu-system-x86")
    })
}

/// How several processors are emulated at the same time.
///
/// Before 8.1 it may translate instructions that another processor is writing at that moment, and execute a breakpoint that is
/// not there any more; Linux writes one whenever it patches its own code, as it does where a scheduler is attached or
/// detached, and panics. One thread for all processors has no such race.
fn emulation(version: Option<Version>) -> &'static str {
    if version >= Some(Version(8, 1)) { "tcg,thread=multi" } else { "tcg,thread=single" }
}

/// Starts a machine. Its console is on QEMU's standard output.
///
/// # Errors
/// QEMU cannot be started.
pub fn start(qemu: &Path, hardware: &Hardware) -> Result<(Tied, Lines)> {
    let cannot =
        |error: std::io::Error| Diagnostic::environment(format!("cannot start {}: {error}", qemu.shown()));
    let pair = || {
        let flags = SocketFlags::CLOEXEC;
        socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(|error| cannot(error.into()))
    };
    let ((port, port_inside), (uart, uart_inside)) = (pair()?, pair()?);
    let mut command = Command::new(qemu);
    let version = Version::in_words(&version(qemu));
    command.args(arguments(hardware, version, port_inside.as_raw_fd(), uart_inside.as_raw_fd()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    inherit(
        &mut command,
        vec![port_inside.as_raw_fd(), uart_inside.as_raw_fd(), hardware.initramfs.as_raw_fd()],
    );
    let tied = Tied::spawn(&mut command).map_err(cannot)?;
    let stream = |end: OwnedFd| UnixStream::from(end);
    Ok((tied, Lines { port: stream(port), uart: stream(uart) }))
}

/// Leaves descriptors open for the program.
fn inherit(command: &mut Command, descriptors: Vec<RawFd>) {
    let keep = move || {
        for &fd in &descriptors {
            // SAFETY: a system call on a descriptor that the parent holds while this runs.
            if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made; the list was allocated before.
    unsafe { command.pre_exec(keep) };
}

fn arguments(hardware: &Hardware, version: Option<Version>, port: RawFd, uart: RawFd) -> Vec<String> {
    let mut words: Vec<String> = [
        "-name",
        // Threads are called by the processors they are.
        "laxity-vm,debug-threads=on",
        "-no-user-config",
        "-nodefaults",
        "-display",
        "none",
        "-no-reboot",
        // The console, the second UART, and the port.
        "-chardev",
        "stdio,id=console,signal=off",
        "-serial",
        "chardev:console",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|&word| word.to_owned()));
    add(&["-chardev", &format!("socket,id=uart,fd={uart}"), "-serial", "chardev:uart"]);
    add(&["-chardev", &format!("socket,id=port,fd={port}"), "-device", "virtio-serial-pci"]);
    add(&["-device", &format!("virtserialport,chardev=port,name={PORT_NAME}")]);
    add(&["-m", &format!("{}M", hardware.memory_mib)]);
    let turns = (hardware.accelerator == Accelerator::Counted).then(|| Turns::of(hardware.cpus, version));
    let cpus = hardware.cpus.to_string();
    match hardware.accelerator {
        Accelerator::Counted => {
            // Two nanoseconds an instruction; idle time passes at once. The same random numbers every time.
            add(&["-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off"]);
            // In the belief that it is a guest the kernel takes locks that are not fair: where one CPU runs after the other, one
            // may find them taken whenever its turn comes, for good.
            let clock = if hardware.alone { OWN_CLOCK } else { COUNTED_CLOCK };
            add(&["-rtc", clock, "-seed", "1", "-cpu", "max,-rdrand,-rdseed,-hypervisor"]);
        }
        Accelerator::Kvm => add(&["-smp", &cpus, "-accel", "kvm", "-cpu", "host"]),
        Accelerator::Tcg => add(&["-smp", &cpus, "-accel", emulation(version), "-cpu", "max"]),
    }
    words.extend(turns.iter().flat_map(Turns::arguments));
    let mut add = |more: &[&str]| words.extend(more.iter().map(|&word| word.to_owned()));
    add(&["-kernel", &hardware.kernel.to_string_lossy()]);
    add(&["-initrd", &format!("/proc/self/fd/{}", hardware.initramfs.as_raw_fd())]);
    add(&["-append", &kernel_command_line(hardware, turns)]);
    words
}

/// What follows `--` goes to the first process.
fn kernel_command_line(hardware: &Hardware, turns: Option<Turns>) -> String {
    let loudness = if hardware.verbose { "loglevel=6" } else { "quiet" };
    let mut line = format!("{KERNEL_OPTIONS} {loudness} rdinit={AGENT_FILE}");
    let emulated = (hardware.accelerator != Accelerator::Kvm).then(|| EMULATED_OPTIONS.to_owned());
    let processors = turns.and_then(|turns| turns.kernel_option());
    for more in emulated.iter().chain(&processors).chain(hardware.append) {
        line.push(' ');
        line.push_str(more);
    }
    let alone = if hardware.alone { format!(" {AGENT_ALONE}") } else { String::new() };
    format!("{line} -- {AGENT_COMMAND}{alone}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(accelerator: Accelerator, append: &[String]) -> String {
        let initramfs = tempfile::tempfile().expect("a file");
        let hardware = Hardware {
            cpus: 3,
            memory_mib: 512,
            accelerator,
            alone: accelerator == Accelerator::Counted,
            kernel: Path::new("/k/vmlinuz"),
            append,
            verbose: false,
            initramfs: &initramfs,
        };
        arguments(&hardware, Some(Version(10, 0)), 7, 8).join(" ")
    }

    #[test]
    fn the_machine_is_what_was_asked_for() {
        let append = ["cgroup_disable=cpuset".to_owned(), "loglevel=7".to_owned()];
        let said = line(Accelerator::Tcg, &append);
        for part in
            ["-smp 3", "-m 512M", "tcg,thread=multi", "-kernel /k/vmlinuz", "-no-reboot", "fd=7", "fd=8"]
        {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(
            said.ends_with("rdinit=/init lpj=4000000 cgroup_disable=cpuset loglevel=7 -- __vm_agent"),
            "{said}"
        );
        assert!(!said.contains("icount"));
        assert!(line(Accelerator::Kvm, &[]).contains("-accel kvm -cpu host"));
    }

    #[test]
    fn processors_are_emulated_at_once_where_that_is_safe() {
        for (version, threads) in [
            ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", "tcg,thread=single"),
            ("QEMU emulator version 8.0.5", "tcg,thread=single"),
            ("QEMU emulator version 8.1.0", "tcg,thread=multi"),
            ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)", "tcg,thread=multi"),
            ("No such file or directory", "tcg,thread=single"),
        ] {
            assert_eq!(emulation(Version::in_words(version)), threads, "{version}");
        }
    }

    #[test]
    fn a_counted_machine_is_emulated_by_one_thread_and_hears_nothing_of_the_host() {
        let said = line(Accelerator::Counted, &[]);
        assert!(
            said.contains("tcg,thread=single -icount shift=1,sleep=off") && !said.contains("kvm"),
            "{said}"
        );
        assert!(said.contains(",-hypervisor") && said.contains("interval=60"), "{said}");
        assert!(said.ends_with("-- __vm_agent alone"), "{said}");
    }
}
