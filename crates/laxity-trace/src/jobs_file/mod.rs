//! `jobs.parquet`: one row per job, readable by pandas, polars and DuckDB as it is.
//!
//! Columns whose name ends in `_ns` are ns since the synchronous release of the run, or spans in ns. `response_ns`,
//! `laxity_ns` and `tardiness_ns` follow from the others; they are there for programs that read the file without
//! laxity. A null is a quantity that was not measured, or that a job which did not end does not have. The
//! key-value metadata carry the version of the layout.

mod chunk;
mod columns;
mod reader;
mod values;
mod writer;

pub use columns::{JOBS_VERSION, RunColumns};
pub use reader::JobsReader;
pub(crate) use writer::GROUP_ROWS;
pub use writer::JobsWriter;
