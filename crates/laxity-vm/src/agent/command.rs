//! The command: its start, its output, its end.

use super::{Errand, Port};
use crate::protocol::{Frame, PAYLOAD_BYTES_MAX};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{self, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A running command.
pub struct Command {
    pid: Pid,
    readers: Vec<JoinHandle<()>>,
}

impl Command {
    /// Starts it in a session of its own.
    pub fn start(errand: &Errand, port: &Port) -> io::Result<Self> {
        let (program, arguments) =
            errand.argv.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut command = process::Command::new(program);
        command
            .args(arguments)
            .current_dir(&errand.cwd)
            .env_clear()
            .envs(errand.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let session = || rustix::process::setsid().map(|_| ()).map_err(io::Error::from);
        // SAFETY: between fork and exec only one system call is made.
        let mut child = unsafe { command.pre_exec(session) }.spawn()?;
        let pid = Pid::from_child(&child);
        let mut readers = Vec::new();
        if let Some(out) = child.stdout.take() {
            readers.push(forward(out, port.clone(), Frame::Out));
        }
        if let Some(err) = child.stderr.take() {
            readers.push(forward(err, port.clone(), Frame::Err));
        }
        Ok(Command { pid, readers })
    }

    /// Waits for its end, passing on signals to it and its children. Its exit code as shells count it.
    pub fn finish(self, signals: mpsc::Receiver<u32>) -> u32 {
        let group = self.pid;
        std::thread::spawn(move || {
            super::system::come_first();
            for number in signals {
                if let Some(signal) = i32::try_from(number).ok().and_then(Signal::from_named_raw) {
                    // Fails when it has just ended.
                    let _ = rustix::process::kill_process_group(group, signal);
                }
            }
        });
        let code = self.wait();
        // Whatever it left behind would keep its output open, and the machine ends anyway.
        // SAFETY: as the first process, this signals all processes but itself.
        unsafe { libc::kill(-1, libc::SIGKILL) };
        for reader in self.readers {
            let _ = reader.join();
        }
        code
    }

    /// Waits for it, and takes leave of orphans, as is the first process's duty.
    fn wait(&self) -> u32 {
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == self.pid => return exit_code(status),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // No child to wait for: cannot be, but must not become a loop.
                Err(_) => return 127,
            }
        }
    }
}

fn exit_code(status: WaitStatus) -> u32 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u32::try_from(code).ok()).unwrap_or(255)
}

/// Sends what comes out of a pipe, as it comes.
fn forward(mut pipe: impl Read + Send + 'static, port: Port, frame: fn(Vec<u8>) -> Frame) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut bytes = vec![0; PAYLOAD_BYTES_MAX];
        loop {
            match pipe.read(&mut bytes) {
                Ok(0) => return,
                Ok(length) => {
                    // Without a host it has no reader, but the command must not block.
                    if port.send(&frame(bytes[..length].to_vec())).is_err() {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    })
}
