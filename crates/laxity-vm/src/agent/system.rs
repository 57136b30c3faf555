//! File systems, names and the clock of the machine.

use rustix::mount::{MountFlags, mount};
use std::ffi::CString;
use std::fs;
use std::path::Path;

/// What is mounted, where, and with which options. Those marked as needed must succeed: the others depend on how the
/// kernel was built.
const MOUNTS: [(&str, &str, &str, bool); 8] = [
    ("proc", "/proc", "", true),
    ("sysfs", "/sys", "", true),
    ("devtmpfs", "/dev", "", true),
    ("bpf", "/sys/fs/bpf", "", false),
    ("debugfs", "/sys/kernel/debug", "", false),
    ("tracefs", "/sys/kernel/tracing", "", false),
    ("cgroup2", "/sys/fs/cgroup", "", false),
    ("devpts", "/dev/pts", "", false),
];

/// Mounts what a Linux system has, names it, and brings its loopback device up.
pub fn set_up() -> Result<(), String> {
    for (kind, at, options, needed) in MOUNTS {
        let _ = fs::create_dir_all(at);
        let options = CString::new(options).map_err(|error| error.to_string())?;
        let mounted = mount(kind, at, kind, MountFlags::empty(), options.as_c_str());
        if needed && let Err(error) = mounted {
            return Err(format!("cannot mount {kind} on {at}: {error}"));
        }
    }
    for (link, target) in [("/dev/fd", "/proc/self/fd"), ("/dev/shm", "/run/tmp")] {
        if !Path::new(link).exists() {
            // Comforts; their absence shows in the program that wants them.
            let _ = std::os::unix::fs::symlink(target, link);
        }
    }
    let _ = rustix::system::sethostname(b"laxity-vm");
    let _ = loopback_up();
    Ok(())
}

/// `ip link set lo up`.
fn loopback_up() -> std::io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all zeros is a request without a name and without flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or(0);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    // SAFETY: the request is a whole ifreq with a name that ends in a zero, and lives across the call.
    let failed = unsafe {
        libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(&socket), libc::SIOCSIFFLAGS, &raw const request)
    };
    if failed == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Sets the clock to nanoseconds since 1970.
pub fn set_clock(ns: u64) {
    let second = 1_000_000_000;
    let (Ok(tv_sec), Ok(tv_nsec)) = (i64::try_from(ns / second), i64::try_from(ns % second)) else { return };
    let _ = rustix::time::clock_settime(
        rustix::time::ClockId::Realtime,
        rustix::time::Timespec { tv_sec, tv_nsec },
    );
}

/// Makes this thread precede all threads of SCHED_OTHER, so that the host's wish to end is heard whatever a
/// scheduler under test does. What it starts is of SCHED_OTHER again.
pub fn come_first() {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: of the calling thread; the parameters live across the call. A refusal leaves it in SCHED_OTHER.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters);
    }
}

/// Ends the machine.
pub fn power_off() {
    rustix::fs::sync();
    // Without it, the kernel says that the first process has ended.
    let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
}
