//! Line-by-line JSON between the program, its guardian and the workers, over Unix sockets.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// One end of a connection.
pub struct Channel {
    reader: BufReader<UnixStream>,
}

impl Channel {
    /// Two connected ends; the second is for a child's standard input.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self::over(ours), theirs.into()))
    }

    /// The end that a parent gave us as standard input.
    pub fn from_stdin() -> io::Result<Self> {
        Ok(Self::over(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    /// One end of a connection that there is already.
    pub fn over(stream: UnixStream) -> Self {
        Channel { reader: BufReader::new(stream) }
    }

    /// Sends one message.
    pub fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.reader.get_ref().write_all(&line)
    }

    /// Waits for one message; nothing if the other end is closed.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line)?))
    }
}

/// What one waits for news from.
pub trait Awaited: AsFd {
    /// Whether a message was read together with an earlier one: the descriptor does not show it.
    fn has_buffered(&self) -> bool {
        false
    }
}

impl Awaited for Channel {
    fn has_buffered(&self) -> bool {
        !self.reader.buffer().is_empty()
    }
}

impl Awaited for UnixStream {}

/// Whether something can be read from it (or it was closed) within this time; false also after a signal.
pub fn readable_within(fd: &impl AsFd, time: std::time::Duration) -> io::Result<bool> {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Ok(readable(vec![fd.as_fd()], ms)? == [true])
}

/// Starts this program anew with these arguments, and a connection as its standard input.
pub fn connected_child(arguments: &[&OsStr]) -> io::Result<(Child, Channel)> {
    let (channel, theirs) = Channel::pair()?;
    let mut command = Command::new("/proc/self/exe");
    let child = command.args(arguments).stdin(Stdio::from(theirs)).stdout(Stdio::null()).spawn()?;
    Ok((child, channel))
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.get_ref().as_fd()
    }
}

/// From which of them there is news (or the end) within `timeout_ms`.
pub fn news_of(all: &[&dyn Awaited], timeout_ms: u64) -> io::Result<Vec<bool>> {
    let any_buffered = all.iter().any(|one| one.has_buffered());
    let fds = all.iter().map(|one| one.as_fd()).collect();
    let readable = readable(fds, if any_buffered { 0 } else { timeout_ms })?;
    Ok(all.iter().zip(readable).map(|(one, readable)| readable || one.has_buffered()).collect())
}

/// Which of the descriptors can be read (or were closed) within `timeout_ms`.
fn readable(fds: Vec<BorrowedFd<'_>>, timeout_ms: u64) -> io::Result<Vec<bool>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let count = fds.len();
    let mut polled: Vec<PollFd<'_>> =
        fds.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    let timeout = Timespec {
        tv_sec: i64::try_from(timeout_ms / 1000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(timeout_ms % 1000 * 1_000_000).expect("below 10^9"),
    };
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => Ok(polled.iter().map(|fd| !fd.revents().is_empty()).collect()),
        Err(rustix::io::Errno::INTR) => Ok(vec![false; count]),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_together_with_an_earlier_message_is_news() {
        let (near, far) = Channel::pair().expect("a pair");
        let mut far = Channel::over(far.into());
        let (other, _closed_last) = Channel::pair().expect("a pair");
        for message in ["run", "stop"] {
            near.send(&message).expect("sent");
        }
        assert_eq!(news_of(&[&far, &other], 10_000).expect("polled"), [true, false]);
        assert_eq!(far.receive::<String>().expect("read").as_deref(), Some("run"));
        assert_eq!(readable(vec![far.as_fd()], 0).expect("polled"), [false], "the socket is empty");
        assert_eq!(news_of(&[&far, &other], 10_000).expect("polled"), [true, false]);
        assert_eq!(far.receive::<String>().expect("read").as_deref(), Some("stop"));
        assert_eq!(news_of(&[&far, &other], 0).expect("polled"), [false, false]);
    }
}
