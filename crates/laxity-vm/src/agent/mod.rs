//! The machine's first process: makes a system, runs the command, sends its output and its files to the host.
//!
//! It is laxity itself, in the initramfs under the name `/init`. Its own words go to the machine's console.

mod changes;
mod command;
mod port;
mod system;

use crate::preflight::judge;
use crate::protocol::Frame;
use changes::Snapshot;
use command::Command;
pub use port::PORT_NAME;
use port::{Port, Receiver};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

/// The agent's name in the machine, where the kernel looks for the first process.
pub const AGENT_FILE: &str = "/init";
/// What the agent is told on its command line, so that it knows that it is the agent.
pub const AGENT_COMMAND: &str = "__vm_agent";
/// What follows it where the agent is not to wait for the host's clock: what the host does must not show.
pub const AGENT_ALONE: &str = "alone";
/// Where it finds what it is to do.
pub const ORDERS_FILE: &str = "/laxity-errand.json";
/// Type information of the running kernel.
const BTF_FILE: &str = "/sys/kernel/btf/vmlinux";
/// How long the agent waits for the host's clock, and after its last word for the host to stop the machine.
const HOST_ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// What the agent is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// The program, as found in the machine, and its arguments.
    pub argv: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its environment, all of it.
    pub environment: Vec<(String, String)>,
    /// Paths at and below which new and changed files are results.
    pub watched: Vec<PathBuf>,
    /// Look for sched_ext in the running kernel first, because the host could not look into its image.
    pub examine: bool,
}

/// Becomes the agent if the command line says so and this is the first process of a machine.
pub fn internal_role(arguments: &[String]) -> Option<ExitCode> {
    // What the kernel does not understand of its own command line precedes it.
    let is_first = std::process::id() == 1 && Path::new(ORDERS_FILE).is_file();
    let at = arguments.iter().position(|argument| argument == AGENT_COMMAND)?;
    if !is_first && at != 1 {
        return None;
    }
    if !is_first {
        say(&format!("error: {AGENT_COMMAND} is for the first process of a virtual machine"));
        return Some(ExitCode::from(2));
    }
    let alone = arguments.get(at + 1).is_some_and(|word| word == AGENT_ALONE);
    if let Err(words) = serve(alone) {
        // On the console, whose end the host shows.
        say(&format!("laxity: the machine's first process fails: {words}"));
    }
    system::power_off();
    Some(ExitCode::FAILURE)
}

/// A line on standard error.
fn say(words: &str) {
    let _ = writeln!(std::io::stderr(), "{}", laxity_model::shown_message(words));
}

/// Does the errand.
fn serve(alone: bool) -> Result<(), String> {
    system::set_up()?;
    let orders = std::fs::read(ORDERS_FILE).map_err(|error| format!("{ORDERS_FILE}: {error}"))?;
    let errand: Errand =
        serde_json::from_slice(&orders).map_err(|error| format!("{ORDERS_FILE}: {error}"))?;
    let (port, receiver) = port::open()?;
    let (to_command, signals) = mpsc::channel();
    let (clock_set, clock) = mpsc::channel();
    listen(receiver, alone, clock_set, to_command);
    port.send(&Frame::Hello)?;
    if !alone {
        // Without an answer the clock stays as the machine has it.
        let _ = clock.recv_timeout(HOST_ANSWERS_WITHIN);
    }
    if errand.examine
        && let Some(problem) =
            std::fs::read(BTF_FILE).map_or(Some(crate::preflight::Problem::NoBtf), |btf| judge(&btf))
    {
        let json = serde_json::to_vec(&problem).map_err(|error| error.to_string())?;
        port.send(&Frame::Refused(json))?;
        return linger();
    }
    run(&errand, &port, signals)?;
    linger()
}

/// Runs the command and sends its outcome.
fn run(errand: &Errand, port: &Port, signals: mpsc::Receiver<u32>) -> Result<(), String> {
    let before = Snapshot::of(&errand.watched);
    let code = match Command::start(errand, port) {
        Ok(command) => {
            port.send(&Frame::Started)?;
            command.finish(signals)
        }
        Err(error) => {
            let program = errand.argv.first().map_or("", String::as_str);
            port.send(&Frame::Err(format!("laxity: cannot run {program}: {error}\n").into_bytes()))?;
            // As shells count it.
            if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 }
        }
    };
    port.send(&Frame::Ended(code))?;
    changes::send(&before, &errand.watched, port)?;
    port.send(&Frame::Done)
}

/// The host stops the machine once it has everything.
fn linger() -> Result<(), String> {
    std::thread::sleep(HOST_ANSWERS_WITHIN);
    Err("the host does not stop this machine".into())
}

/// Takes what the host says; about the time, unless the machine is to be alone.
fn listen(mut receiver: Receiver, alone: bool, clock_set: mpsc::Sender<()>, signals: mpsc::Sender<u32>) {
    std::thread::spawn(move || {
        system::come_first();
        while let Some(frame) = receiver.next() {
            match frame {
                Frame::Clock(ns) if !alone => {
                    system::set_clock(ns);
                    let _ = clock_set.send(());
                }
                Frame::Signal(number) => {
                    let _ = signals.send(number);
                }
                _ => {}
            }
        }
    });
}
