//! Jobs files.
#![no_main]

use bytes::Bytes;
use laxity_fuzz::let_readers_panic;
use laxity_trace::JobsReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: let_readers_panic(),
    |data: &[u8]| {
        if let Ok(reader) = JobsReader::new(Bytes::copy_from_slice(data)) {
            let _ = reader.read_all();
        }
    }
);
