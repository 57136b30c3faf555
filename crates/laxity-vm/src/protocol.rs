//! What host and machine say to each other, over a virtio serial port (or, where the kernel has none, a UART).
//!
//! A frame is its kind (a byte), the length of what follows (32 bits, little endian), and that. All paths are absolute.

use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The most that follows in one frame.
pub const PAYLOAD_BYTES_MAX: usize = 64 << 10;
/// Begins the greeting: the port carries nothing else before it.
pub const GREETING: &[u8] = b"laxity machine 1";

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Machine: it is there.
    Hello,
    /// Host: nanoseconds since 1970.
    Clock(u64),
    /// Machine: the kernel will not do; a `Problem` as JSON. Nothing follows.
    Refused(Vec<u8>),
    /// Machine: the command has been started.
    Started,
    /// Machine: standard output of the command.
    Out(Vec<u8>),
    /// Machine: standard error of the command.
    Err(Vec<u8>),
    /// Host: a signal for the command.
    Signal(u32),
    /// Machine: the command has ended with this exit code; its files follow.
    Ended(u32),
    /// Machine: a new directory with these permissions.
    Directory(PathBuf, u32),
    /// Machine: a new or changed file with these permissions begins.
    File(PathBuf, u32),
    /// Machine: a part of the content of that file.
    Part(Vec<u8>),
    /// Machine: a new or changed symbolic link and its target.
    Link(PathBuf, PathBuf),
    /// Machine: something that does not travel, in words.
    Remark(Vec<u8>),
    /// Machine: that was all.
    Done,
}

impl Frame {
    fn parts(&self) -> (u8, Vec<u8>) {
        let path_and =
            |number: u32, path: &Path| [&number.to_le_bytes()[..], path.as_os_str().as_bytes()].concat();
        match self {
            Frame::Hello => (1, GREETING.to_vec()),
            Frame::Clock(ns) => (2, ns.to_le_bytes().to_vec()),
            Frame::Refused(json) => (3, json.clone()),
            Frame::Started => (4, Vec::new()),
            Frame::Out(bytes) => (5, bytes.clone()),
            Frame::Err(bytes) => (6, bytes.clone()),
            Frame::Signal(number) => (7, number.to_le_bytes().to_vec()),
            Frame::Ended(code) => (8, code.to_le_bytes().to_vec()),
            Frame::Directory(path, permissions) => (9, path_and(*permissions, path)),
            Frame::File(path, permissions) => (10, path_and(*permissions, path)),
            Frame::Part(bytes) => (11, bytes.clone()),
            Frame::Link(path, target) => {
                let length = u32::try_from(path.as_os_str().len()).unwrap_or(u32::MAX);
                (12, [path_and(length, path), target.as_os_str().as_bytes().to_vec()].concat())
            }
            Frame::Remark(words) => (13, words.clone()),
            Frame::Done => (14, Vec::new()),
        }
    }

    fn of(kind: u8, payload: Vec<u8>) -> Option<Self> {
        let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?));
        let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
        Some(match kind {
            1 if payload == GREETING => Frame::Hello,
            2 => Frame::Clock(u64::from_le_bytes(payload.try_into().ok()?)),
            3 => Frame::Refused(payload),
            4 => Frame::Started,
            5 => Frame::Out(payload),
            6 => Frame::Err(payload),
            7 => Frame::Signal(number(&payload)?),
            8 => Frame::Ended(number(&payload)?),
            9 => Frame::Directory(path(payload.get(4..)?), number(&payload)?),
            10 => Frame::File(path(payload.get(4..)?), number(&payload)?),
            11 => Frame::Part(payload),
            12 => {
                let end = usize::try_from(number(&payload)?).ok()?.checked_add(4)?;
                Frame::Link(path(payload.get(4..end)?), path(payload.get(end..)?))
            }
            13 => Frame::Remark(payload),
            14 => Frame::Done,
            _ => return None,
        })
    }

    /// Sends the frame.
    ///
    /// # Errors
    /// The port does not take it, or it is too long.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (kind, payload) = self.parts();
        let length = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= PAYLOAD_BYTES_MAX);
        let length = length.ok_or_else(|| io::Error::other("a frame is too long"))?;
        // In one piece: the port hands every write to the other side by itself.
        let bytes = [&[kind][..], &length.to_le_bytes(), &payload].concat();
        out.write_all(&bytes)
    }

    /// Waits for a frame; nothing at the end of the stream.
    ///
    /// # Errors
    /// The port breaks, or what comes is no frame.
    pub fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut kind = [0];
        loop {
            match input.read(&mut kind) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let mut length = [0; 4];
        input.read_exact(&mut length)?;
        let nonsense = || {
            io::Error::new(io::ErrorKind::InvalidData, "the machine does not speak the language of laxity")
        };
        let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| nonsense())?;
        if length > PAYLOAD_BYTES_MAX {
            return Err(nonsense());
        }
        let mut payload = vec![0; length];
        input.read_exact(&mut payload)?;
        Frame::of(kind[0], payload).map(Some).ok_or_else(nonsense)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> Vec<Frame> {
        vec![
            Frame::Hello,
            Frame::Clock(u64::MAX),
            Frame::Refused(b"{}".to_vec()),
            Frame::Started,
            Frame::Out(b"\r\n\0\xff".to_vec()),
            Frame::Err(vec![7; PAYLOAD_BYTES_MAX]),
            Frame::Signal(2),
            Frame::Ended(130),
            Frame::Directory("/a".into(), 0o755),
            Frame::File(std::ffi::OsString::from_vec(b"/a/\xff".to_vec()).into(), 0o4644),
            Frame::Part(Vec::new()),
            Frame::Link("/a/b".into(), "../c".into()),
            Frame::Remark(b"a socket".to_vec()),
            Frame::Done,
        ]
    }

    #[test]
    fn frames_arrive_as_they_were_sent() {
        let mut wire = Vec::new();
        for frame in all() {
            frame.write(&mut wire).expect("memory");
        }
        let mut input = wire.as_slice();
        for frame in all() {
            assert_eq!(Frame::read(&mut input).expect("a frame"), Some(frame));
        }
        assert_eq!(Frame::read(&mut input).expect("the end"), None);
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        assert!(Frame::read(&mut &b"[    0.000000] Linux version"[..]).is_err());
        assert!(Frame::read(&mut &b"\x01\x02\0\0\0xy"[..]).is_err(), "another greeting");
        assert!(Frame::read(&mut &b"\x08\x04\0\0\0"[..]).is_err(), "cut off");
        assert!(Frame::Out(vec![0; PAYLOAD_BYTES_MAX + 1]).write(&mut Vec::new()).is_err());
    }

    laxity_seeds::properties! {
        #[test]
        fn noise_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut input = bytes.as_slice();
            while let Ok(Some(_)) = Frame::read(&mut input) {}
        }
    }
}
