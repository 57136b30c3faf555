//! The few messages of Perfetto's trace format that a schedule needs, with the field numbers of
//! `protos/perfetto/trace/` in Perfetto's repository. Fields that are not written are left out.

use prost::Message;

/// A packet: at most one of its messages, and what it is about.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
}

/// The first packet: names interned before are forgotten.
pub(super) const SEQ_INCREMENTAL_STATE_CLEARED: u32 = 1;
/// A packet that uses interned names.
pub(super) const SEQ_NEEDS_INCREMENTAL_STATE: u32 = 2;

/// Names that later packets use by their ids.
#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub(super) event_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "3")]
    pub(super) debug_annotation_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "43")]
    pub(super) correlation_ids: Vec<InternedName>,
}

/// `EventName`, `DebugAnnotationName` and `InternedString`, which look the same.
#[derive(Clone, PartialEq, Message)]
pub(super) struct InternedName {
    #[prost(uint64, optional, tag = "1")]
    pub(super) iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
}

/// A row of the timeline.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(super) counter: Option<CounterDescriptor>,
    #[prost(int32, optional, tag = "11")]
    pub(super) child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    pub(super) sibling_order_rank: Option<i32>,
    #[prost(string, optional, tag = "14")]
    pub(super) description: Option<String>,
    #[prost(int32, optional, tag = "15")]
    pub(super) sibling_merge_behavior: Option<i32>,
    #[prost(uint64, optional, tag = "17")]
    pub(super) sibling_merge_key: Option<u64>,
}

/// Children are ordered by their rank.
pub(super) const CHILD_ORDERING_EXPLICIT: i32 = 3;
/// A row of its own, even if another one has its name.
pub(super) const SIBLING_MERGE_NONE: i32 = 2;
/// One row with those that have the same key.
pub(super) const SIBLING_MERGE_BY_KEY: i32 = 3;

/// Says that a track is a counter.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CounterDescriptor {
    #[prost(int32, optional, tag = "3")]
    pub(super) unit: Option<i32>,
}

/// The counter's values are ns.
pub(super) const UNIT_TIME_NS: i32 = 1;

/// Something on a track.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    /// Perfetto allows several; none is made with more than one.
    #[prost(message, optional, tag = "4")]
    pub(super) debug_annotation: Option<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    pub(super) kind: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
    /// The same goes for these.
    #[prost(fixed64, optional, tag = "47")]
    pub(super) flow_id: Option<u64>,
    #[prost(fixed64, optional, tag = "48")]
    pub(super) terminating_flow_id: Option<u64>,
    #[prost(uint64, optional, tag = "54")]
    pub(super) correlation_iid: Option<u64>,
}

pub(super) const TYPE_SLICE_BEGIN: i32 = 1;
pub(super) const TYPE_SLICE_END: i32 = 2;
pub(super) const TYPE_INSTANT: i32 = 3;
pub(super) const TYPE_COUNTER: i32 = 4;

/// A value that the interface shows with an event.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    pub(super) name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) uint_value: Option<u64>,
    #[prost(int64, optional, tag = "4")]
    pub(super) int_value: Option<i64>,
}
