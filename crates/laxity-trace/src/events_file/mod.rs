//! `events/run-N.parquet`: one row per event of a run, readable by pandas, polars and DuckDB as it is.
//!
//! Columns: `run`, `time_ns` (since the synchronous release), `cpu`, `kind` (the name of the [`EventKind`] in kebab
//! case, as a dictionary), `task` and `job` (both from 0), `argument` (what the kind says). A null is what the event
//! does not have. Rows are in time order, those of one instant in the order in which they took effect. The key-value
//! metadata carry the version of the layout and the number of the run.
//!
//! A trace can be far larger than memory: it is written and read a row group at a time, and nothing reads it unless
//! it is asked for events.
//!
//! [`EventKind`]: crate::EventKind

mod columns;
mod encoder;
mod reader;
mod writer;

pub use columns::EVENTS_VERSION;
pub use reader::{Events, EventsReader};
pub use writer::EventsWriter;
