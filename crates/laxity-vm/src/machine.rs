//! From an order to its end: kernel, file system, boot, again if the emulation failed, and the command.

use crate::accelerator::{Acceleration, Accelerator, Experience, kvm_may_work};
use crate::agent::Errand;
use crate::cache::Kernel;
use crate::files::Travel;
use crate::initramfs::{self, Contents};
use crate::kernels::{self, KernelChoice};
use crate::process::interrupted;
use crate::qemu::{self, Hardware};
use crate::qemu_version::version;
use crate::session::{BootFailure, Session};
use crate::{Audience, files, slowed};
use laxity_model::{Diagnostic, Result, Speed};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often an emulated machine is booted before giving up. Its processors do not see each other's patched code in
/// time: a kernel that patches itself then hangs in its first seconds or dies of its own breakpoint.
const BOOTS: u32 = 3;
/// KVM that works boots within a second or two.
const KVM_BOOTS_WITHIN: Duration = Duration::from_secs(20);
/// A kernel of Debian does not boot with less.
const MEMORY_MIB_MIN: u64 = 192;

/// What to run.
#[derive(Debug, Clone)]
pub enum Program {
    /// laxity, with these arguments.
    Laxity(Vec<String>),
    /// Any program of the machine or, copied in with its libraries, of this host; and its arguments.
    Any(Vec<String>),
}

/// A command and what it needs.
#[derive(Debug, Clone)]
pub struct Order {
    /// What to run.
    pub program: Program,
    /// Where; absolute. Results come back to it.
    pub cwd: PathBuf,
    /// Files and directories to copy in beside those that the arguments name.
    pub with: Vec<PathBuf>,
    /// More environment variables.
    pub environment: Vec<(String, String)>,
}

/// The machine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its first process: laxity, or a program that calls [`crate::internal_role`].
    pub agent: PathBuf,
    /// Processors.
    pub cpus: u32,
    /// What part of one of the host's each of them gets once the machine has booted, at most 1; or nothing, for as much as there is.
    pub cpu_speeds: Vec<Speed>,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Its kernel.
    pub kernel: KernelChoice,
    /// Boot a kernel that fails the preflight too.
    pub any_kernel: bool,
    /// What executes its instructions.
    pub acceleration: Acceleration,
    /// More for the kernel's command line.
    pub append: Vec<String>,
    /// How long a boot may take.
    pub boot_timeout: Duration,
    /// How long the command may take.
    pub timeout: Duration,
    /// Have the kernel say what it does while it boots.
    pub verbose: bool,
}

impl Settings {
    /// Two processors, 2 GiB, the long-term kernel, KVM where it works.
    pub fn with_agent(agent: PathBuf) -> Self {
        Settings {
            agent,
            cpus: 2,
            cpu_speeds: Vec::new(),
            memory_mib: 2048,
            kernel: KernelChoice::default(),
            any_kernel: false,
            acceleration: Acceleration::Auto,
            append: Vec::new(),
            boot_timeout: Duration::from_secs(180),
            timeout: Duration::from_secs(600),
            verbose: false,
        }
    }
}

/// How it ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The command's exit code.
    pub code: u8,
    /// How many files came back.
    pub files: usize,
    /// The kernel.
    pub release: String,
    /// What executed it.
    pub accelerator: Accelerator,
    /// From the start of QEMU to the start of the command.
    pub boot: Duration,
}

/// Whether a machine's time is the count of its instructions by default, because KVM does not work here.
///
/// # Errors
/// There is no QEMU.
pub fn counts_by_default() -> Result<bool> {
    Ok(!kvm_may_work(&version(&qemu::find()?)))
}

/// Runs a command in a machine. `interrupt` becoming true interrupts the command; a second time, it stops the machine.
/// The flag is put back to false when it was heard.
///
/// # Errors
/// No kernel, no QEMU, an unsuitable kernel, a machine that does not boot, dies, or takes too long; and
/// [`interrupted`], if the command did not end by itself.
pub fn run(
    order: &Order,
    settings: &Settings,
    audience: &mut dyn Audience,
    interrupt: &AtomicBool,
) -> Result<Ended> {
    slowed::check(&settings.cpu_speeds, settings.cpus)?;
    let qemu = qemu::find()?;
    let travel = Travel::of(&order.cwd, arguments(&order.program), &order.with)?;
    check_memory(settings.memory_mib)?;
    let kernel = kernels::find(&settings.kernel, settings.any_kernel, interrupt, audience)?;
    let errand = errand(order, settings, &kernel, &travel);
    let initramfs = initramfs::build(&Contents {
        agent: &settings.agent,
        errand: &errand,
        travel: &travel,
        // The archive and the files unpacked from it are in memory at the same time.
        bytes_max: (settings.memory_mib << 20) / 5 * 2,
    })?;
    let machine = Machine { qemu, settings, kernel: &kernel, initramfs: &initramfs };
    let (mut session, accelerator) = machine.boot(audience, interrupt)?;
    let release = kernel.preflight.release.clone();
    let boot = session.booted_in();
    let kind = match accelerator {
        Accelerator::Kvm => "KVM",
        Accelerator::Counted => "emulated, time is counted instructions",
        Accelerator::Tcg => "emulated by this machine's time",
    };
    let cpus = settings.cpus;
    audience.words(&format!(
        "vm: Linux {release}, {cpus} CPU{}, {kind}, booted in {:.1} s",
        if cpus == 1 { "" } else { "s" },
        boot.as_secs_f64()
    ));
    session.slow(&settings.cpu_speeds)?;
    let end = session.converse(&travel, settings.timeout, audience, interrupt)?;
    Ok(Ended { code: end.code, files: end.files, release, accelerator, boot })
}

fn arguments(program: &Program) -> &[String] {
    match program {
        Program::Laxity(arguments) | Program::Any(arguments) => arguments,
    }
}

fn errand(order: &Order, settings: &Settings, kernel: &Kernel, travel: &Travel) -> Errand {
    let argv = match &order.program {
        Program::Laxity(arguments) => [&[initramfs::LAXITY.to_owned()], arguments.as_slice()].concat(),
        Program::Any(argv) => argv.clone(),
    };
    let defaults = [
        ("PATH", "/bin"),
        ("HOME", files::HOME),
        ("USER", "root"),
        ("TMPDIR", files::SCRATCH),
        ("LANG", "C.UTF-8"),
        ("NO_COLOR", "1"),
        ("LAXITY_VM", "1"),
    ];
    let defaults = defaults.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Errand {
        argv,
        cwd: files::resolve(&order.cwd, Path::new(".")),
        environment: defaults.into_iter().chain(order.environment.iter().cloned()).collect(),
        watched: travel.watched.clone(),
        examine: kernel.preflight.not_examined.is_some() && !settings.any_kernel,
    }
}

/// Refuses a machine that this one has no memory for: it would be killed while it runs, or something else would.
fn check_memory(wanted_mib: u64) -> Result<()> {
    if wanted_mib < MEMORY_MIB_MIN {
        return Err(Diagnostic::usage(format!("a machine with {wanted_mib} MiB does not boot"))
            .hint(format!("give it at least {MEMORY_MIB_MIN}M; 2G is what it gets by default")));
    }
    let available = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = available.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    match kib {
        Some(kib) if kib >> 10 < wanted_mib => Err(Diagnostic::environment(format!(
            "the machine is to have {wanted_mib} MiB of memory, and this one has {} MiB left",
            kib >> 10
        ))
        .hint("give it less with --memory, or end what uses this machine's memory")),
        _ => Ok(()),
    }
}

struct Machine<'a> {
    qemu: PathBuf,
    settings: &'a Settings,
    kernel: &'a Kernel,
    initramfs: &'a File,
}

impl Machine<'_> {
    /// Boots, with KVM if that may work, else emulated and several times if need be.
    fn boot(&self, audience: &mut dyn Audience, interrupt: &AtomicBool) -> Result<(Session, Accelerator)> {
        let wanted = match self.settings.acceleration {
            // Processors of counted machines are equally fast.
            Acceleration::Auto if !self.settings.cpu_speeds.is_empty() => Acceleration::HostTime,
            wanted => wanted,
        };
        let experience = Experience::with(&version(&self.qemu));
        if experience.first(wanted)? == Accelerator::Kvm {
            // A machine that has booted with it before is given its time.
            let limit = match experience.known() {
                Some(true) => self.settings.boot_timeout,
                _ => KVM_BOOTS_WITHIN.min(self.settings.boot_timeout),
            };
            match self.boot_once(Accelerator::Kvm, &self.kernel.path, limit, audience, interrupt)? {
                Ok(session) => {
                    experience.keep(true);
                    return Ok((session, Accelerator::Kvm));
                }
                Err(failure) if wanted == Acceleration::Kvm => {
                    return Err(self.refuse(&failure, Accelerator::Kvm));
                }
                Err(failure) => {
                    experience.keep(false);
                    let why = &failure.why;
                    audience.words(&format!(
                        "vm: KVM does not boot it here ({why}); emulating, now and from now on"
                    ));
                }
            }
        }
        let emulated = wanted.emulated();
        self.boot_emulated(emulated, audience, interrupt).map(|session| (session, emulated))
    }

    fn boot_emulated(
        &self,
        emulated: Accelerator,
        audience: &mut dyn Audience,
        interrupt: &AtomicBool,
    ) -> Result<Session> {
        let mut tried = 0;
        loop {
            tried += 1;
            // A kernel that does not start as it is may do so in the usual way.
            let image = self.kernel.unpacked.as_ref().filter(|_| tried == 1).unwrap_or(&self.kernel.path);
            match self.boot_once(emulated, image, self.settings.boot_timeout, audience, interrupt)? {
                Ok(session) => return Ok(session),
                // With one processor the emulation is not to blame.
                Err(failure)
                    if tried < BOOTS
                        && failure.may_pass
                        && (self.settings.cpus > 1 || *image != self.kernel.path) =>
                {
                    audience.words(&format!("vm: {}; trying again ({} of {BOOTS})", failure.why, tried + 1));
                }
                Err(failure) => return Err(self.refuse(&failure, emulated)),
            }
        }
    }

    fn boot_once(
        &self,
        accelerator: Accelerator,
        image: &Path,
        limit: Duration,
        audience: &mut dyn Audience,
        interrupt: &AtomicBool,
    ) -> Result<std::result::Result<Session, BootFailure>> {
        if interrupt.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        let hardware = Hardware {
            cpus: self.settings.cpus,
            memory_mib: self.settings.memory_mib,
            accelerator,
            alone: self.settings.acceleration == Acceleration::Counted,
            kernel: image,
            append: &self.settings.append,
            verbose: self.settings.verbose,
            initramfs: self.initramfs,
        };
        let (process, lines) = qemu::start(&self.qemu, &hardware)?;
        let mut session = Session::over(process, lines)?;
        match session.boot(&self.kernel.preflight.release, limit, audience, interrupt)? {
            None => Ok(Ok(session)),
            Some(failure) => Ok(Err(failure)),
        }
    }

    fn refuse(&self, failure: &BootFailure, accelerator: Accelerator) -> Diagnostic {
        let hint = match accelerator {
            Accelerator::Kvm => "leave --accel out to have the machine emulated",
            Accelerator::Tcg | Accelerator::Counted if failure.too_slow => {
                "--boot-timeout gives it more time; --console shows what it does"
            }
            Accelerator::Tcg | Accelerator::Counted => {
                "--console shows what it does; --kernel-line 6.18 is known to boot"
            }
        };
        Diagnostic::environment(format!(
            "kernel {} does not boot: {}{}",
            self.kernel.preflight.release, failure.why, failure.console
        ))
        .hint(hint)
    }
}
