//! `laxity vm`.

use crate::arguments::{value, whole};
use crate::machine_terminal::Terminal;
use crate::{interrupt, output};
use clap::Args;
use laxity_lab::platforms::Speeds;
use laxity_model::{ByteSize, Diagnostic, Duration, Result};
use laxity_vm::{Acceleration, Flavour, KernelChoice, KnownKernel, Line, Order, Program, Settings};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// The longest timeout that is accepted; a longer one is a slip.
const TIMEOUT_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// `laxity vm`.
#[derive(Args)]
#[command(after_long_help = "\
The command works in a directory of the same path as this one. Every file and directory that its arguments name is copied in, \
and what is new or changed afterwards comes back to where it would be without the machine: everything below this directory, and \
below paths outside it that arguments name. Files come back whole and all together, also from a command that was interrupted or \
ran into --timeout; deletions do not. Output is passed on as it comes, and the exit code is the command's.

Kernels are fetched from Debian's archives (apt, with a configuration of its own; 50 MB) into ~/.cache/laxity/vm, once; \
LAXITY_VM_CACHE and LAXITY_VM_MIRROR name other places. Before it boots, each is examined: some builds cannot load any sched_ext \
scheduler. It takes QEMU (qemu-system-x86); scripts want busybox-static. No root, no KVM needed: without KVM the machine is \
emulated, some five times slower, and times measured in it mean nothing.

Exit codes: the command's; 2 usage or input; 3 no QEMU, no good kernel, a machine that does not boot, dies or takes too long; \
130 interrupted.

Examples:
  laxity vm -- run set.toml --scheduler edf-bh --duration 2s --out results
  laxity vm --cpus 4 --kernel-line newest -- list
  # by counted instructions: the load of this machine changes nothing
  laxity vm --deterministic --cpus 1 -- run set.toml --scheduler p-edf
  sudo laxity vm --cpus 2 --cpu-speeds 0.8,0.2 -- load amp-rm \\
      --speeds 0.8,0.2 --duration 5s
  # any program, with its libraries
  laxity vm --exec -- sh scenario.sh
  # which kernels there are, and which are good
  laxity vm --kernels")]
pub struct VmArguments {
    /// What to run in the machine: laxity's arguments or, with --exec, a program and its arguments
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "kernels")]
    pub command: Vec<String>,
    /// CPUs of the machine, 1 to 255
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "N", default_value_t = 2, value_parser = whole::<u32>(1..=255))]
    pub cpus: u32,
    /// What part of one of this machine's CPUs each of its CPUs gets, as in 0.5,0.5,0.25
    ///
    /// Unequal CPUs: needs root, and QEMU 8.1 or KVM. Time is this machine's then, and not counted.
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "SPEEDS", conflicts_with = "deterministic", value_parser = value::<Speeds>)]
    pub cpu_speeds: Option<Speeds>,
    /// Its memory, such as 512M or 2G
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "SIZE", default_value = "2G", value_parser = memory)]
    pub memory: ByteSize,
    /// Boot this kernel image
    #[arg(help_heading = "Kernel", long, value_name = "FILE", conflicts_with_all = ["kernel_line", "flavour", "offline"])]
    pub kernel: Option<PathBuf>,
    /// The newest good kernel of this line
    ///
    /// `newest`, the beginning of a version such as 7.3, or one version.
    #[arg(help_heading = "Kernel", long, value_name = "LINE", default_value_t = Line::long_term(), value_parser = value::<Line>)]
    pub kernel_line: Line,
    /// How Debian built the kernel: cloud, rt (PREEMPT_RT) or generic
    #[arg(help_heading = "Kernel", long, value_name = "NAME", default_value_t = Flavour::Cloud, value_parser = value::<Flavour>)]
    pub flavour: Flavour,
    /// Only kernels that have been fetched before
    #[arg(help_heading = "Kernel", long)]
    pub offline: bool,
    /// Boot a kernel even if it cannot load sched_ext schedulers
    #[arg(help_heading = "Kernel", long)]
    pub any_kernel: bool,
    /// Add this to the kernel's command line
    #[arg(help_heading = "Kernel", long, allow_hyphen_values = true, value_name = "OPTION")]
    pub append: Vec<String>,
    /// How the machine is executed: auto (KVM where it works, else counted), kvm, counted, or tcg
    ///
    /// `counted` and `tcg` emulate. With `counted`, time is the number of executed instructions, 2 ns each, and CPUs
    /// take turns of at most 30 us: the load of this machine is in nothing, and idle time takes none. With `tcg`,
    /// time is this machine's, and each CPU stands still for milliseconds whenever another one runs: deadlines are
    /// missed for it.
    #[arg(help_heading = "Machine", long, value_name = "WAY", default_value = "auto", value_parser = value::<Acceleration>)]
    pub accel: Acceleration,
    /// The same as --accel counted: nothing of this machine shows, its date neither; the same call gives the same run
    #[arg(help_heading = "Machine", long, conflicts_with = "accel")]
    pub deterministic: bool,
    /// How long the machine may take to boot
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", default_value = "3m", value_parser = time)]
    pub boot_timeout: Duration,
    /// How long the command may take
    #[arg(help_heading = "Command", long, allow_hyphen_values = true, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub timeout: Duration,
    /// Copy this file or directory in, too
    #[arg(help_heading = "Command", long, value_name = "PATH")]
    pub with: Vec<PathBuf>,
    /// Give the command this environment variable
    #[arg(help_heading = "Command", long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,
    /// Run a program instead of laxity: one of busybox, or one of this machine with its libraries
    #[arg(help_heading = "Command", long)]
    pub exec: bool,
    /// Show what the machine's kernel says, on standard error
    #[arg(help_heading = "Output", long)]
    pub console: bool,
    /// List the kernels in the cache and in the archives, and what is known of them
    #[arg(help_heading = "Kernel", long, conflicts_with_all = ["command", "kernel"])]
    pub kernels: bool,
    /// Print the list of kernels as JSON
    #[arg(help_heading = "Output", long, requires = "kernels", conflicts_with = "command")]
    pub json: bool,
}

/// A size; one letter means the power of 1024, as for QEMU.
pub fn memory(text: &str) -> std::result::Result<ByteSize, String> {
    match text.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(_) => value(&format!("{text}iB")),
        None => value(text),
    }
    .map_err(|_| format!("size `{text}` is no amount of memory\nhint: write one such as 512M or 2G"))
}

/// A time limit.
fn time(text: &str) -> std::result::Result<Duration, String> {
    let limit: Duration = value(text)?;
    if limit.is_zero() || limit > TIMEOUT_MAX {
        return Err(format!("{text} is not between nothing and a week\nhint: such as 30s or 10m"));
    }
    Ok(limit)
}

fn variable(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, content)) if !name.is_empty() => Ok((name.to_owned(), content.to_owned())),
        _ => Err(format!("`{text}` is not of the form NAME=VALUE")),
    }
}

/// Whether words are a command line of this program; if not, what is said of them.
pub type Understood = fn(&[String]) -> std::result::Result<(), String>;

/// Carries out the command in a machine.
pub fn vm(arguments: &VmArguments, understood: Understood) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let mut terminal = Terminal::new(output::quiet(), arguments.console);
    let ended = if arguments.kernels {
        kernels(arguments, interrupt, &mut terminal)
    } else {
        run(arguments, understood, interrupt, &mut terminal)
    };
    match ended {
        Err(error) if error == laxity_vm::interrupted() => {
            output::say("interrupted: the virtual machine was stopped");
            Ok(ExitCode::from(output::INTERRUPTED))
        }
        other => other,
    }
}

/// What this program would not understand, it does not understand in the machine either. (A call for help is understood.)
fn check_words(command: &[String], understood: Understood) -> Result<()> {
    understood(command).map_err(|said| {
        let said = said.trim_start_matches("error: ").trim_end();
        Diagnostic::usage(format!("the command for the machine: {said}"))
            .hint("behind `--` come laxity's arguments; with --exec, a program and its arguments")
    })
}

/// This program, as machines start it.
///
/// # Errors
///
/// The system does not say where it is.
pub fn own_file() -> Result<PathBuf> {
    std::env::current_exe()
        .map_err(|error| Diagnostic::environment(format!("cannot find this program's own file: {error}")))
}

fn run(
    arguments: &VmArguments,
    understood: Understood,
    interrupt: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<ExitCode> {
    let agent = own_file()?;
    let cwd = std::env::current_dir()
        .map_err(|error| Diagnostic::environment(format!("cannot find the current directory: {error}")))?;
    let command = arguments.command.clone();
    if !arguments.exec {
        check_words(&command, understood)?;
    }
    let order = Order {
        program: if arguments.exec { Program::Any(command) } else { Program::Laxity(command) },
        cwd,
        with: arguments.with.clone(),
        environment: arguments.env.clone(),
    };
    let kernel = match &arguments.kernel {
        Some(file) => KernelChoice::File(file.clone()),
        None => KernelChoice::Line {
            line: arguments.kernel_line.clone(),
            flavour: arguments.flavour,
            offline: arguments.offline,
        },
    };
    let settings = Settings {
        cpus: arguments.cpus,
        cpu_speeds: arguments.cpu_speeds.clone().map_or_else(Vec::new, |speeds| speeds.0),
        memory_mib: arguments.memory.0 >> 20,
        kernel,
        any_kernel: arguments.any_kernel,
        acceleration: if arguments.deterministic { Acceleration::Counted } else { arguments.accel },
        append: arguments.append.clone(),
        boot_timeout: std::time::Duration::from_nanos(arguments.boot_timeout.as_ns()),
        timeout: std::time::Duration::from_nanos(arguments.timeout.as_ns()),
        verbose: arguments.console,
        ..Settings::with_agent(agent)
    };
    let ended = laxity_vm::run(&order, &settings, terminal, interrupt)?;
    Ok(ExitCode::from(ended.code))
}

/// Version of the format.
const VERSION: u32 = 1;

/// The kernels that are known.
#[derive(Serialize, JsonSchema)]
struct Answer {
    /// Version of this format.
    version: u32,
    /// Newest first.
    kernels: Vec<KnownKernel>,
}

/// The JSON Schema of [`Answer`]; published as `schemas/kernels.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("kernels", "laxity kernels", VERSION)
}

fn kernels(arguments: &VmArguments, interrupt: &AtomicBool, terminal: &mut Terminal) -> Result<ExitCode> {
    let kernels = laxity_vm::known(arguments.flavour, arguments.offline, interrupt, terminal)?;
    if arguments.json {
        output::print_json(&Answer { version: VERSION, kernels })?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = kernels.iter().map(|kernel| kernel.release.len()).max().unwrap_or(0);
    let text: String = kernels.iter().map(|kernel| describe(kernel, width)).collect();
    output::print(if text.is_empty() { "no kernels\n" } else { &text })?;
    Ok(ExitCode::SUCCESS)
}

fn describe(kernel: &KnownKernel, width: usize) -> String {
    let place = match (kernel.cached, kernel.in_archive) {
        (true, Some(true) | None) => "here",
        (true, Some(false)) => "here only",
        (false, _) => "archive",
    };
    let judged = match (kernel.passes, &kernel.problem) {
        (Some(true), _) => "good",
        (_, Some(problem)) => problem,
        (_, None) => "not examined yet",
    };
    format!("{:width$}  {place:<9}  {judged}\n", kernel.release)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{Cli, Command};
    use clap::Parser;

    fn parse(call: &[&str]) -> std::result::Result<VmArguments, String> {
        let words = ["laxity", "vm"].iter().chain(call);
        match Cli::try_parse_from(words).map_err(|error| error.to_string())?.command {
            Command::Vm(arguments) => Ok(arguments),
            _ => Err("another command".into()),
        }
    }

    #[test]
    fn the_command_is_what_follows_the_dashes() {
        let found =
            parse(&["--cpus", "4", "--", "run", "set.toml", "--json", "--cpus", "1"]).expect("a command");
        assert_eq!((found.cpus, found.json), (4, false));
        assert_eq!(found.command, ["run", "set.toml", "--json", "--cpus", "1"]);
        assert_eq!(found.kernel_line, Line::long_term());
        assert!(parse(&["run", "set.toml"]).is_err(), "dashes are needed");
        assert!(parse(&[]).is_err() && parse(&["--json", "--", "list"]).is_err());
        assert!(parse(&["--kernels", "--json"]).is_ok());
    }

    #[test]
    fn options_are_checked() {
        let with = |call: &[&str]| parse(&[call, &["--", "list"]].concat());
        assert_eq!(with(&["--memory", "512M"]).map(|found| found.memory), Ok(ByteSize(512 << 20)));
        assert_eq!(with(&["--memory", "1GiB"]).map(|found| found.memory), Ok(ByteSize(1 << 30)));
        assert_eq!(with(&["--timeout", "2m"]).map(|found| found.timeout), Ok(Duration::from_secs(120)));
        assert_eq!(
            with(&["--boot-timeout", "1500ms"]).map(|found| found.boot_timeout),
            Ok(Duration::from_ms(1500))
        );
        assert_eq!(with(&["--env", "A=b=c"]).map(|found| found.env), Ok(vec![("A".into(), "b=c".into())]));
        assert_eq!(with(&["--cpu-speeds", "1,1/4"]).map(|found| found.cpu_speeds), Ok("1,0.25".parse().ok()));
        let bad: [&[&str]; 11] = [
            &["--cpu-speeds", "1,0"],
            &["--cpu-speeds", "0.5,0.5", "--deterministic"],
            &["--cpus", "0"],
            &["--memory", "lots"],
            &["--timeout", "0s"],
            &["--timeout", "9999999m"],
            &["--kernel-line", "old"],
            &["--flavour", "vanilla"],
            &["--accel", "magic"],
            &["--env", "=x"],
            &["--kernel", "k", "--kernel-line", "7.3"],
        ];
        for call in bad {
            assert!(with(call).is_err(), "{call:?}");
        }
    }

    #[test]
    fn a_kernel_is_described_in_a_line() {
        let kernel = KnownKernel {
            release: "6.18.15".into(),
            cached: true,
            in_archive: Some(false),
            passes: Some(true),
            problem: None,
            path: None,
        };
        assert_eq!(describe(&kernel, 8), "6.18.15   here only  good\n");
    }
}
