//! Writes an events file, a row group at a time, and encodes on a thread of its own.

use super::columns::Rows;
use super::encoder::Encoder;
use crate::Event;
use parquet::errors::{ParquetError, Result};
use std::io::Write;
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Rows in a group: about 10 MB of values in memory, of which the writer has at most three.
const GROUP_ROWS: usize = 1 << 18;

/// Writes the events of one run, with memory for three row groups.
///
/// The caller only fills buffers: a thread encodes, compresses and writes them. The same events make
/// the same bytes. A writer that is dropped without [`EventsWriter::finish`] leaves a file that cannot be read.
pub struct EventsWriter<W: Write + Send + 'static> {
    rows: Rows,
    last_ns: u64,
    encoding: Encoding<W>,
}

/// Where row groups are encoded.
enum Encoding<W: Write + Send + 'static> {
    /// By the caller: there was no full row group yet, so that a thread is not worth it.
    Here(Box<Encoder<W>>),
    /// By a thread, which takes full buffers and gives empty ones back.
    Thread { full: SyncSender<Rows>, empty: Receiver<Rows>, thread: JoinHandle<Result<Encoder<W>>> },
    /// No more: it has failed, and said why.
    Failed,
}

impl<W: Write + Send + 'static> EventsWriter<W> {
    /// Starts the file of the run of this number.
    ///
    /// Errors: those of the sink; a number of 2^31 or more.
    pub fn new(sink: W, run: u32) -> Result<Self> {
        let encoding = Encoding::Here(Box::new(Encoder::new(sink, run)?));
        Ok(EventsWriter { rows: Rows::default(), last_ns: 0, encoding })
    }

    /// Appends an event.
    ///
    /// Errors: an event earlier than the one before; a number that does not fit its column (2^63 ns, 2^31 for CPUs,
    /// tasks and jobs); those of the sink, which may come later than the event that caused them.
    #[inline]
    pub fn write(&mut self, event: &Event) -> Result<()> {
        if event.time_ns < self.last_ns {
            return Err(out_of_order(event.time_ns, self.last_ns));
        }
        self.rows.push(event)?;
        self.last_ns = event.time_ns;
        if self.rows.len() < GROUP_ROWS { Ok(()) } else { self.hand_over() }
    }

    /// Writes what is left and the footer, and gives the sink back.
    ///
    /// Errors: those of the sink.
    pub fn finish(mut self) -> Result<W> {
        let rows = mem::take(&mut self.rows);
        let mut encoder = match mem::replace(&mut self.encoding, Encoding::Failed) {
            Encoding::Here(encoder) => *encoder,
            Encoding::Thread { full, thread, .. } => {
                drop(full);
                joined(thread)?
            }
            Encoding::Failed => return Err(failed_before()),
        };
        if rows.len() > 0 {
            encoder.write(&rows)?;
        }
        encoder.finish()
    }

    /// Gives the full buffer to the encoding thread, and takes an empty one.
    #[cold]
    fn hand_over(&mut self) -> Result<()> {
        let (full, empty, thread) = match mem::replace(&mut self.encoding, Encoding::Failed) {
            Encoding::Here(encoder) => encoding_thread(*encoder)?,
            Encoding::Thread { full, empty, thread } => (full, empty, thread),
            Encoding::Failed => return Err(failed_before()),
        };
        if full.send(mem::take(&mut self.rows)).is_err() {
            // The thread has stopped, which it does only with an error.
            return joined(thread).and(Err(failed_before()));
        }
        self.rows = empty.try_recv().unwrap_or_default();
        self.encoding = Encoding::Thread { full, empty, thread };
        Ok(())
    }
}

type Handles<W> = (SyncSender<Rows>, Receiver<Rows>, JoinHandle<Result<Encoder<W>>>);

fn encoding_thread<W: Write + Send + 'static>(mut encoder: Encoder<W>) -> Result<Handles<W>> {
    // One buffer waits while one is encoded and one is filled.
    let (full, to_encode) = sync_channel::<Rows>(1);
    let (encoded, empty) = sync_channel::<Rows>(2);
    let encode = move || {
        for mut rows in to_encode {
            encoder.write(&rows)?;
            rows.clear();
            // The channel is closed when the writer has ended.
            let _ = encoded.try_send(rows);
        }
        Ok(encoder)
    };
    let thread = Builder::new().name("events-file".to_owned()).spawn(encode)?;
    Ok((full, empty, thread))
}

fn joined<W: Write + Send>(thread: JoinHandle<Result<Encoder<W>>>) -> Result<Encoder<W>> {
    let panicked = |_| Err(ParquetError::General("the encoding thread panicked".to_owned()));
    thread.join().unwrap_or_else(panicked)
}

fn failed_before() -> ParquetError {
    ParquetError::General("writing has failed before".to_owned())
}

#[cold]
fn out_of_order(time_ns: u64, last_ns: u64) -> ParquetError {
    ParquetError::General(format!(
        "an event at {time_ns} ns comes after one at {last_ns} ns; events are in time order"
    ))
}
