//! SHA-256 sums of files, a line each, in the format of `sha256sum`.

use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

/// Bytes read at a time: memory does not grow with the file.
const PIECE: usize = 1 << 16;

/// The SHA-256 (FIPS 180-4) of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum([u8; 32]);

impl Sum {
    /// Of a whole file, which is at its beginning afterwards.
    pub(super) fn of(file: &mut File) -> io::Result<Sum> {
        file.rewind()?;
        let mut sum = Sha256::new();
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => sum.update(&piece[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        file.rewind()?;
        Ok(Sum(sum.finalize().into()))
    }

    fn from_hex(digits: &str) -> Option<Sum> {
        let mut sum = [0; 32];
        let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|nibble| u8::try_from(nibble).ok());
        if digits.len() != 2 * sum.len() {
            return None;
        }
        for (byte, pair) in sum.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Sum(sum))
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The line of a file, with its end.
pub(super) fn line(sum: Sum, name: &str) -> String {
    format!("{sum}  {name}\n")
}

/// The sum and the name that a line has, both as text and as a binary file; nothing if it is no such line.
pub(super) fn read_line(line: &str) -> Option<(Sum, &str)> {
    let (digits, name) = line.split_once(' ')?;
    let name = name.strip_prefix([' ', '*'])?;
    Some((Sum::from_hex(digits)?, name))
}

/// A writer that knows the sum of what went through it.
pub(super) struct Summing<W> {
    sink: W,
    sum: Sha256,
}

impl<W: Write> Summing<W> {
    pub(super) fn new(sink: W) -> Self {
        Summing { sink, sum: Sha256::new() }
    }

    /// The sum, once everything is with the system, and the writer.
    pub(super) fn finish(mut self) -> io::Result<(Sum, W)> {
        self.sink.flush()?;
        Ok((Sum(self.sum.finalize().into()), self.sink))
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, the example of one block: `abc`.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_sum_of_a_file_is_that_of_what_was_written() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut writer = Summing::new(&mut file);
        writer.write_all(b"ab").and_then(|()| writer.write_all(b"c")).expect("written");
        let (written, _) = writer.finish().expect("flushed");
        assert_eq!(written.to_string(), ABC);
        assert_eq!(Sum::of(&mut file).expect("readable"), written);
    }

    #[test]
    fn lines_are_those_of_sha256sum() {
        let sum = Sum::from_hex(ABC).expect("64 digits");
        let line = line(sum, "events/run-1.parquet");
        assert_eq!(line, format!("{ABC}  events/run-1.parquet\n"));
        assert_eq!(read_line(line.trim_end()), Some((sum, "events/run-1.parquet")));
        assert_eq!(read_line(&format!("{ABC} *a")), Some((sum, "a")));
        for wrong in
            [&ABC[1..], ABC, &format!("{ABC} a"), &format!("0{ABC}  a"), &format!("g{}  a", &ABC[1..]), ""]
        {
            assert_eq!(read_line(wrong), None, "{wrong}");
        }
    }
}
