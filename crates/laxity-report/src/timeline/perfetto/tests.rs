//! What Perfetto would read: decoded again, checked for what its importer demands, and a golden.

use super::messages::{TracePacket, TrackDescriptor, TrackEvent};
use super::*;
use crate::timeline::sample;
use prost::Message;
use std::fmt::Write as _;

/// The whole file.
#[derive(Clone, PartialEq, Message)]
struct TraceFile {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

fn decoded(set: &TaskSet, cpus: u32, events: &[Event]) -> TraceFile {
    let bytes =
        write(set, cpus, events.iter().copied().map(Ok), Vec::new(), Path::new("trace")).expect("writes");
    TraceFile::decode(bytes.as_slice()).expect("decodes")
}

/// A trace with its names looked up.
struct Read {
    names: BTreeMap<u64, String>,
    notes: BTreeMap<u64, String>,
    correlations: BTreeMap<u64, String>,
    tracks: BTreeMap<u64, TrackDescriptor>,
    /// By track, in the order in which Perfetto sorts them.
    events: BTreeMap<u64, Vec<(u64, TrackEvent)>>,
}

fn read(file: TraceFile) -> Read {
    let mut read = Read {
        names: BTreeMap::new(),
        notes: BTreeMap::new(),
        correlations: BTreeMap::new(),
        tracks: BTreeMap::new(),
        events: BTreeMap::new(),
    };
    for packet in file.packet {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        let interned = packet.interned_data.unwrap_or_default();
        let entry = |name: messages::InternedName| (name.iid.expect("an id"), name.name.expect("a name"));
        read.names.extend(interned.event_names.into_iter().map(entry));
        read.notes.extend(interned.debug_annotation_names.into_iter().map(entry));
        read.correlations.extend(interned.correlation_ids.into_iter().map(entry));
        if let Some(track) = packet.track_descriptor {
            assert!(track.parent_uuid.is_none_or(|parent| read.tracks.contains_key(&parent)));
            assert!(read.tracks.insert(track.uuid.expect("an id"), track).is_none(), "a track is made twice");
        }
        if let Some(event) = packet.track_event {
            let track = event.track_uuid.expect("a track");
            assert!(read.tracks.contains_key(&track), "an event before its track");
            assert!(
                event.name_iid.is_none_or(|name| read.names.contains_key(&name)),
                "a name before it is interned"
            );
            read.events.entry(track).or_default().push((packet.timestamp.expect("a time"), event));
        }
    }
    read.events.values_mut().for_each(|events| events.sort_by_key(|(time_ns, _)| *time_ns));
    read
}

/// Slices of a track nest (here: follow each other), arrows lead from one CPU to another and not back in time, and
/// slices of jobs (which have a note at their begin) have the colour of their task.
fn check(read: &Read) {
    let mut arrows = BTreeMap::new();
    for (track, events) in &read.events {
        let mut open = None;
        for (time_ns, event) in events {
            match event.kind {
                Some(TYPE_SLICE_BEGIN) => {
                    assert_eq!(open.replace(*time_ns), None, "a slice in a slice");
                    let task = event.correlation_iid.map(|iid| read.correlations[&iid].as_str());
                    let name = read.names[&event.name_iid.expect("a name")].as_str();
                    assert_eq!(task, event.debug_annotation.as_ref().map(|_| name));
                }
                Some(TYPE_SLICE_END) => {
                    assert!(open.take().is_some_and(|from| from <= *time_ns), "an end only")
                }
                _ => {}
            }
            arrows.extend(event.flow_id.iter().map(|arrow| (*arrow, (*time_ns, *track))));
        }
        assert_eq!(open, None, "a slice without end");
    }
    for (track, events) in &read.events {
        for (time_ns, event) in events {
            if let Some(arrow) = &event.terminating_flow_id {
                let (from_ns, from) = arrows.get(arrow).expect("an arrow that begins nowhere");
                assert!(from_ns <= time_ns && from != track);
            }
        }
    }
}

/// Tracks in the order of the interface, with what is on them.
fn text(read: &Read) -> String {
    fn add(read: &Read, parent: Option<u64>, indent: usize, out: &mut String) {
        let mut children: Vec<_> = read.tracks.values().filter(|track| track.parent_uuid == parent).collect();
        children.sort_by_key(|track| track.sibling_order_rank);
        for track in children {
            let about = track.description.as_ref().map(|about| format!(" ({about})")).unwrap_or_default();
            let counter = if track.counter.is_some() { ", a counter in ns" } else { "" };
            let _ = writeln!(out, "{:indent$}{}{about}{counter}", "", track.name.as_deref().unwrap_or("?"));
            for (time_ns, event) in read.events.get(&track.uuid.expect("an id")).into_iter().flatten() {
                let kind = match event.kind {
                    Some(TYPE_SLICE_BEGIN) => "begin",
                    Some(TYPE_SLICE_END) => "end",
                    Some(TYPE_INSTANT) => "instant",
                    _ => "value",
                };
                let mut line = format!("{time_ns} {kind}");
                let name = event.name_iid.map(|name| read.names[&name].as_str());
                let _ = name.map(|name| write!(line, " {name}"));
                let _ = event.counter_value.map(|value| write!(line, " {value}"));
                if let Some(note) = &event.debug_annotation {
                    let value =
                        note.uint_value.map(i128::from).or(note.int_value.map(i128::from)).expect("a value");
                    let _ = write!(line, " {}={value}", read.notes[&note.name_iid.expect("a name")]);
                }
                let _ = event.flow_id.map(|arrow| write!(line, " ->{arrow}"));
                let _ = event.terminating_flow_id.map(|arrow| write!(line, " {arrow}->"));
                let _ = writeln!(out, "{:indent$}  {line}", "");
            }
            add(read, track.uuid, indent + 2, out);
        }
    }
    let mut out = String::new();
    add(read, None, 0, &mut out);
    out
}

#[test]
fn golden() {
    let (set, events) = (sample::set(), sample::events());
    let read = read(decoded(&set, 2, &events));
    check(&read);
    sample::golden("perfetto.txt", &text(&read));
}

/// A job that aborts ends there, without laxity, and its task's track says so.
#[test]
fn aborted_jobs_end_and_are_marked() {
    let (set, events) = (sample::set(), sample::events_of_every_kind());
    let read = read(decoded(&set, 2, &events));
    check(&read);
    let (whole, before) = (text(&read), text(&self::read(decoded(&set, 2, &sample::events()))));
    assert!(whole.contains("24000000 instant aborted"), "{whole}");
    assert!(!before.contains("aborted"), "{before}");
    let laxities = |text: &str| text.lines().filter(|line| line.contains("counter")).count();
    assert_eq!(laxities(&whole), laxities(&before));
}

/// The bytes of a first packet, by hand from the definition of the format: a change of the messages fails here.
#[test]
fn packets_are_fields_of_the_trace() {
    let set = sample::set();
    let bytes = write(&set, 0, std::iter::empty(), Vec::new(), Path::new("trace")).expect("writes");
    // Trace.packet, length; sequence 1; interned_data { debug_annotation_names { iid 1, "job" } ...
    assert_eq!(bytes[..16], [0x0a, 30, 0x50, 1, 0x62, 24, 0x1a, 7, 8, 1, 0x12, 3, b'j', b'o', b'b', 0x1a]);
    // ... sequence_flags: state cleared, state needed.
    assert_eq!(bytes[30..32], [0x68, 3]);
}

#[test]
fn a_full_disk_is_a_diagnostic() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let written =
        write(&sample::set(), 2, sample::events().into_iter().map(Ok), Full, Path::new("a.perfetto-trace"));
    let error = written.map(|_| ()).expect_err("no room");
    assert!(error.message.contains("cannot write a.perfetto-trace"), "{}", error.message);
}

laxity_seeds::properties! {
    /// Whatever the events, Perfetto gets slices that nest and names that it knows.
    #[test]
    fn any_events_make_a_valid_trace(events in sample::any_events(), cpus in 0u32..3) {
        check(&read(decoded(&sample::set(), cpus, &events)));
    }
}
