//! Packets of one sequence: encoding, interned names, tracks.

use super::messages::{
    CHILD_ORDERING_EXPLICIT, CounterDescriptor, DebugAnnotation, InternedData, InternedName,
    SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE, SIBLING_MERGE_BY_KEY, SIBLING_MERGE_NONE,
    TracePacket, TrackDescriptor, TrackEvent, UNIT_TIME_NS,
};
use prost::bytes::BufMut;
use prost::{Message, encode_length_delimiter, length_delimiter_len};
use std::collections::HashMap;
use std::io::{self, Write};

/// There is one writer, so one sequence.
const SEQUENCE: u32 = 1;

/// Tag of `Trace.packet`: field 1, length-delimited.
const PACKET_TAG: u8 = 0x0a;

/// Packets are gathered up to this size.
const BUFFER_BYTES: usize = 1 << 16;

/// Values shown with an event, by the ids of their interned names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// Number of the job, from 0.
    Job = 1,
    /// Laxity at completion in ns, negative if late.
    Laxity = 2,
}

impl Note {
    const NAMES: [(Note, &'static str); 2] = [(Note::Job, "job"), (Note::Laxity, "laxity_ns")];

    fn id(self) -> u64 {
        self as u64
    }

    pub(super) fn unsigned(self, value: u64) -> DebugAnnotation {
        DebugAnnotation { name_iid: Some(self.id()), uint_value: Some(value), int_value: None }
    }

    pub(super) fn signed(self, value: i64) -> DebugAnnotation {
        DebugAnnotation { name_iid: Some(self.id()), uint_value: None, int_value: Some(value) }
    }
}

/// A row of the timeline to be made.
pub(super) struct NewTrack {
    pub(super) name: String,
    pub(super) parent: Option<u64>,
    /// Tracks of the same key are shown as one.
    pub(super) key: Option<u64>,
    /// Place among the children of the parent.
    pub(super) rank: i32,
    /// A counter in ns.
    pub(super) counter: bool,
    pub(super) description: Option<String>,
}

/// Writes packets.
pub(super) struct Packets<W: Write> {
    sink: W,
    /// Packets that are encoded: the first `filled` bytes of it.
    buffer: Vec<u8>,
    filled: usize,
    names: HashMap<String, u64>,
    /// Those that tell the interface which slices belong together.
    correlations: HashMap<String, u64>,
    tracks: u64,
}

impl<W: Write> Packets<W> {
    /// Starts the sequence.
    pub(super) fn new(sink: W) -> io::Result<Self> {
        let mut packets = Packets {
            sink,
            buffer: vec![0; BUFFER_BYTES],
            filled: 0,
            names: HashMap::new(),
            correlations: HashMap::new(),
            tracks: 0,
        };
        let name =
            |(note, name): (Note, &str)| InternedName { iid: Some(note.id()), name: Some(name.to_owned()) };
        let interned = InternedData {
            debug_annotation_names: Note::NAMES.into_iter().map(name).collect(),
            ..InternedData::default()
        };
        packets.write(TracePacket {
            interned_data: Some(interned),
            sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED | SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        })?;
        Ok(packets)
    }

    fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        let length = packet.encoded_len();
        let needed = 1 + length_delimiter_len(length) + length;
        if self.buffer.len() - self.filled < needed {
            self.flush()?;
            self.buffer.resize(self.buffer.len().max(needed), 0);
        }
        // Into room that is there: prost asks a vector for it byte by byte.
        let mut room = &mut self.buffer[self.filled..];
        room.put_u8(PACKET_TAG);
        encode_length_delimiter(length, &mut room)?;
        packet.encode(&mut room)?;
        self.filled += needed;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.buffer[..self.filled])?;
        self.filled = 0;
        Ok(())
    }

    /// The id of a name, interned on first use.
    pub(super) fn name(&mut self, name: &str) -> io::Result<u64> {
        if let Some(iid) = self.names.get(name) {
            return Ok(*iid);
        }
        let iid = add_name(&mut self.names, name);
        let event_names = vec![InternedName { iid: Some(iid), name: Some(name.to_owned()) }];
        self.intern(InternedData { event_names, ..InternedData::default() })?;
        Ok(iid)
    }

    /// The id of what slices have in common: the interface gives them one colour. (By default it takes the colour
    /// from the slice's name without its digits, so that T1 and T2 would look the same.)
    pub(super) fn correlation(&mut self, name: &str) -> io::Result<u64> {
        if let Some(iid) = self.correlations.get(name) {
            return Ok(*iid);
        }
        let iid = add_name(&mut self.correlations, name);
        let correlation_ids = vec![InternedName { iid: Some(iid), name: Some(name.to_owned()) }];
        self.intern(InternedData { correlation_ids, ..InternedData::default() })?;
        Ok(iid)
    }

    fn intern(&mut self, names: InternedData) -> io::Result<()> {
        self.write(TracePacket {
            interned_data: Some(names),
            sequence_flags: Some(SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        })
    }

    /// Makes a track; gives its id.
    pub(super) fn track(&mut self, track: NewTrack) -> io::Result<u64> {
        self.tracks += 1;
        let uuid = self.tracks;
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            name: Some(track.name),
            parent_uuid: track.parent,
            counter: track.counter.then_some(CounterDescriptor { unit: Some(UNIT_TIME_NS) }),
            child_ordering: Some(CHILD_ORDERING_EXPLICIT),
            sibling_order_rank: Some(track.rank),
            description: track.description,
            sibling_merge_behavior: Some(track.key.map_or(SIBLING_MERGE_NONE, |_| SIBLING_MERGE_BY_KEY)),
            sibling_merge_key: track.key,
        };
        self.write(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() })?;
        Ok(uuid)
    }

    /// Writes an event.
    pub(super) fn event(&mut self, time_ns: u64, event: TrackEvent) -> io::Result<()> {
        // Only packets that use interned names say so, which saves bytes.
        let interned =
            event.name_iid.is_some() || event.correlation_iid.is_some() || event.debug_annotation.is_some();
        self.write(TracePacket {
            timestamp: Some(time_ns),
            track_event: Some(event),
            sequence_flags: interned.then_some(SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        })
    }

    /// Writes what is left and gives the sink back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.sink.flush()?;
        Ok(self.sink)
    }
}

/// Ids are from 1, in order of first use.
fn add_name(names: &mut HashMap<String, u64>, name: &str) -> u64 {
    let iid = u64::try_from(names.len()).unwrap_or(u64::MAX).saturating_add(1);
    names.insert(name.to_owned(), iid);
    iid
}
