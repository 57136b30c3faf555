//! How fast events are written and read: `events_speed [EVENTS] [FILE]`. Words only; nothing is judged by the clock.

#[path = "../tests/schedule/mod.rs"]
mod schedule;

use laxity_trace::{Event, EventsReader, EventsWriter};
use schedule::{Imperfections, MS, Noise, global_edf, set_of};
use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

/// Twenty tasks with periods of 10 to 100 ms in steps of 1 ms and utilizations of 2 to 30 percent, on 4 CPUs.
fn schedule_of(count: usize) -> Vec<Event> {
    let mut noise = Noise(7);
    let row = |_| {
        let period = noise.within(10, 101) * MS;
        (period / 1000 * noise.within(20, 300), period)
    };
    let set = set_of(&(0..20).map(row).collect::<Vec<_>>());
    let imperfections = Imperfections { seed: Some(1), switch_ns: 0 };
    let mut events = global_edf(&set, 4, 20_000 * MS, imperfections);
    // The same again, later, until there are enough.
    let (length, span) = (events.len(), 20_000 * MS);
    for k in length..count {
        let before = events[k - length];
        let shifted = before.argument.map(|argument| if argument > 64 { argument + span } else { argument });
        events.push(Event { time_ns: before.time_ns + span, argument: shifted, ..before });
    }
    events.truncate(count);
    events
}

#[expect(clippy::cast_precision_loss, reason = "for display only")]
fn main() {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(5_000_000, |count| count.parse().expect("a number"));
    let path =
        arguments.next().map_or_else(|| std::env::temp_dir().join("events-speed.parquet"), PathBuf::from);
    let events = schedule_of(count);
    for _ in 0..3 {
        let start = Instant::now();
        let mut writer = EventsWriter::new(File::create(&path).expect("creates"), 0).expect("starts");
        events.iter().for_each(|event| writer.write(event).expect("writes"));
        let filled = start.elapsed().as_secs_f64();
        let file = writer.finish().expect("finishes");
        let written = start.elapsed().as_secs_f64();
        let bytes = file.metadata().expect("readable").len();
        let start = Instant::now();
        let reader = EventsReader::new(File::open(&path).expect("opens"), "events").expect("opens");
        let same = reader.events().map(|event| event.expect("reads")).eq(events.iter().copied());
        let read = start.elapsed().as_secs_f64();
        assert!(same, "what was read is not what was written");
        let millions = events.len() as f64 / 1e6;
        println!(
            "{millions} M events: written {:.2} M/s (handed over {:.2} M/s), read {:.2} M/s, {:.2} bytes each",
            millions / written,
            millions / filled,
            millions / read,
            bytes as f64 / events.len() as f64
        );
    }
}
