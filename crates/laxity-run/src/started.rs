//! A program that was started to load a scheduler, as it is ended, and its scheduler detached: by the run, or by a journal after the
//! run has died.

use laxity_kernel::attached;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// In the environment of such a program and of its children: what is ended by a journal has it.
pub const MARK: &str = "LAXITY_FOREIGN_SCHEDULER";
/// Where the kernel says which scheduler is attached.
pub const SCHED_EXT: &str = "/sys/kernel/sched_ext";
/// How long a program may take to end once it is asked to, and the kernel to detach what it had loaded.
pub const END: Duration = Duration::from_secs(5);
/// From one look at a condition to the next.
pub const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A process that leads a group, and is not another one that has its number since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// When it began, in ticks since boot.
    pub began: u64,
}

impl Identity {
    /// Of a process that is there and no zombie.
    pub fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may have anything in it.
        let mut words = stat.rsplit_once(')')?.1.split_whitespace();
        let state = words.next()?;
        let began = words.nth(18)?.parse().ok()?;
        (!matches!(state, "Z" | "X")).then_some(Identity { pid, began })
    }

    fn is_there(self) -> bool {
        Identity::of(self.pid) == Some(self)
    }

    /// Whether it was started here: what has not is never ended.
    fn is_marked(self) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == format!("{MARK}=1").as_bytes())
    }

    /// Asks its group to end, and makes it if it does not.
    ///
    /// # Errors
    ///
    /// It was not started here, or goes on all the same.
    pub fn end(self) -> io::Result<()> {
        if !self.is_there() {
            return Ok(());
        }
        if !self.is_marked() {
            return Err(io::Error::other(format!("process {} was not started by laxity", self.pid)));
        }
        let group = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        let Some(group) = group else { return Ok(()) };
        for signal in [rustix::process::Signal::TERM, rustix::process::Signal::KILL] {
            // It may be gone by now.
            let _ = rustix::process::kill_process_group(group, signal);
            if wait_until(END, || !self.is_there()) {
                // Children that have stayed behind; mostly there are none.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                return Ok(());
            }
        }
        Err(io::Error::other(format!("process {} does not end", self.pid)))
    }
}

/// Detaches the scheduler that was attached next after `before`, the `enable_seq` of then, if it is still there; whether that took
/// SysRq.
///
/// # Errors
///
/// It stays.
pub fn detach(before: Option<u64>) -> io::Result<bool> {
    let is_gone = || attached().is_none();
    if is_gone() || before.is_none() || enable_seq() != before.map(|before| before + 1) {
        return Ok(false);
    }
    if wait_until(END, is_gone) {
        return Ok(false);
    }
    fs::write("/proc/sysrq-trigger", "S")?;
    match wait_until(END, is_gone) {
        true => Ok(true),
        false => Err(io::Error::other("SysRq S has not detached it")),
    }
}

/// Waits until a condition holds, for so long at the most; whether it does.
pub fn wait_until(most: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let give_up = Instant::now() + most;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= give_up {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// How many schedulers have been attached since boot.
pub fn enable_seq() -> Option<u64> {
    fs::read_to_string(format!("{SCHED_EXT}/enable_seq")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    /// A process of ours that leads a group, started as programs are or not.
    fn sleeper(marked: bool, script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0).stdout(Stdio::piped());
        if marked {
            command.env(MARK, "1");
        }
        let mut child = command.spawn().expect("a shell");
        // It is past whatever it does with signals.
        let mut ready = [0];
        child.stdout.take().expect("piped").read_exact(&mut ready).expect("ready");
        child
    }

    #[test]
    fn what_was_started_here_is_ended_and_nothing_else() {
        let mut stranger = sleeper(false, "echo; sleep 1000");
        let identity = Identity::of(stranger.id()).expect("there");
        assert!(identity.end().is_err() && identity.is_there());
        // Another process that had the number before.
        let other = Identity { began: identity.began + 1, ..identity };
        assert!(other.end().is_ok() && identity.is_there());
        rustix::process::kill_process_group(
            rustix::process::Pid::from_raw(i32::try_from(stranger.id()).expect("a pid")).expect("a pid"),
            rustix::process::Signal::KILL,
        )
        .expect("ours");
        stranger.wait().expect("ended");
        let mut ours = sleeper(true, "echo; sleep 1000 & wait");
        let identity = Identity::of(ours.id()).expect("there");
        identity.end().expect("it ends");
        assert!(!identity.is_there() && identity.end().is_ok());
        ours.wait().expect("ended");
    }
}
