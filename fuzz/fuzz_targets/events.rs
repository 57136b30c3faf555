//! Events files.
#![no_main]

use bytes::Bytes;
use laxity_fuzz::{accepted, events_survive, let_readers_panic};
use laxity_trace::{Event, EventsReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: let_readers_panic(),
    |data: &[u8]| {
        let Some(reader) = accepted(EventsReader::new(Bytes::copy_from_slice(data), "events")) else { return };
        let events: laxity_model::Result<Vec<Event>> = reader.events().collect();
        if let Some(events) = accepted(events) {
            events_survive(&events, reader.run());
        }
        let _ = accepted(reader.between(1, 1 << 40).collect::<laxity_model::Result<Vec<Event>>>());
    }
);
