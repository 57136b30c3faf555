//! A Parquet file whose end is an error to readers across it.
//!
//! All that the library reads piece by piece lies before the file's footer, so a file that is not damaged never ends
//! there. In a damaged one a page's header may say that billions of values are to be skipped; the library asks for each
//! of them, and takes the end of the file for an answer.

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, ErrorKind, Read};

/// The file.
pub(crate) struct WholeFile<R>(pub R);

/// A piece of it.
pub(crate) struct Piece<T>(T);

impl<R: Length> Length for WholeFile<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for WholeFile<R> {
    type T = Piece<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start).map(Piece)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

impl<T: Read> Read for Piece<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => {
                Err(io::Error::new(ErrorKind::UnexpectedEof, "it ends where more should follow"))
            }
            read => Ok(read),
        }
    }
}
