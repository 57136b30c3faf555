"""Reads the events of a run as researchers do, and the same schedule as Perfetto's own definitions read it.

Usage: read_events.py DIRECTORY    (with events/run-0.parquet and schedule.perfetto-trace of the same schedule)

polars, pandas and pyarrow must see the same rows with the types that the documentation promises. The trace must
have nothing that Perfetto's definitions do not know, slices that nest, names and tracks that are defined before
they are used, and the same intervals, jobs and laxities as the events.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import pandas
import polars
import pyarrow.parquet
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

TYPES = {
    "run": ("int32", False), "time_ns": ("int64", False), "cpu": ("int32", True), "kind": ("string", False),
    "task": ("int32", True), "job": ("int32", True), "argument": ("int64", True),
}  # fmt: skip
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def check(condition, message):
    """Fails with a message that says what was seen."""
    if not condition:
        sys.exit(f"error: {message}")


def read_events(path):
    """The events by three libraries, which must see the same rows."""
    schema = pyarrow.parquet.read_schema(path)
    seen = {field.name: (str(field.type), field.nullable) for field in schema}
    check(seen == TYPES, f"columns differ:\n  seen     {seen}\n  promised {TYPES}")
    by_polars, by_pandas = polars.read_parquet(path), pandas.read_parquet(path)
    by_arrow = pyarrow.parquet.read_table(path)
    check(by_polars.rows() == [tuple(row.values()) for row in by_arrow.to_pylist()], "polars and pyarrow disagree")
    check(len(by_pandas) == by_polars.height, f"pandas sees {len(by_pandas)} rows, polars {by_polars.height}")
    for name in TYPES:
        nulls = int(by_pandas[name].isna().sum())
        check(nulls == by_polars[name].null_count(), f"pandas sees {nulls} nulls in {name}, polars other")
    check(list(by_pandas["kind"]) == by_polars["kind"].to_list(), "pandas and polars see other kinds")
    check(by_polars["time_ns"].is_sorted(), "events are not in time order")
    return by_polars


def intervals(events):
    """(cpu, task, job) -> intervals in which the job had the CPU, by the rules of the schema."""
    running, found = {}, Counter()
    for event in events.iter_rows(named=True):
        key = (event["cpu"], event["task"], event["job"])
        if event["kind"] in ("start", "resume", "migrate"):
            running[key] = event["time_ns"]
        elif event["kind"] in ("preempt", "block", "throttle", "complete"):
            found[(*key, running.pop(key), event["time_ns"])] += 1
    last = events["time_ns"].max()
    found.update((*key, since, last) for key, since in running.items() if since < last)
    return found


class Trace:
    """A trace by Perfetto's definitions, checked while it is read."""

    def __init__(self, data):
        trace = proto.Trace()
        trace.ParseFromString(data)
        self.names, self.notes, self.tracks, self.events = {}, {}, {}, defaultdict(list)
        for packet in trace.packet:
            check(len(UnknownFieldSet(packet)) == 0, f"a packet with unknown fields: {packet}")
            check(packet.trusted_packet_sequence_id == 1, "a packet of another sequence")
            self.names.update((name.iid, name.name) for name in packet.interned_data.event_names)
            self.notes.update((name.iid, name.name) for name in packet.interned_data.debug_annotation_names)
            if packet.HasField("track_descriptor"):
                self.add_track(packet.track_descriptor)
            if packet.HasField("track_event"):
                self.add_event(packet)
        for events in self.events.values():
            events.sort(key=lambda entry: entry[0])
        self.check_slices()

    def add_track(self, track):
        check(len(UnknownFieldSet(track)) == 0, f"a track with unknown fields: {track}")
        check(track.uuid not in self.tracks, f"track {track.uuid} is made twice")
        check(not track.parent_uuid or track.parent_uuid in self.tracks, f"track {track.uuid} before its parent")
        self.tracks[track.uuid] = track

    def add_event(self, packet):
        event = packet.track_event
        check(len(UnknownFieldSet(event)) == 0, f"an event with unknown fields: {event}")
        check(event.track_uuid in self.tracks, f"an event before its track {event.track_uuid}")
        used = [event.name_iid] if event.name_iid else []
        check(all(name in self.names for name in used), f"a name before it is interned: {event}")
        check(all(note.name_iid in self.notes for note in event.debug_annotations), f"an unknown note: {event}")
        if used or event.debug_annotations:
            check(packet.sequence_flags & 2, "a packet with interned names that does not say so")
        self.events[event.track_uuid].append((packet.timestamp, event))

    def check_slices(self):
        begun = {}
        for uuid, events in self.events.items():
            since = None
            for time, event in events:
                if event.type == BEGIN:
                    check(since is None, f"a slice in a slice on {self.tracks[uuid].name} at {time}")
                    since = time
                elif event.type == END:
                    check(since is not None and since <= time, f"an end only on {self.tracks[uuid].name} at {time}")
                    since = None
                begun.update((flow, (time, uuid)) for flow in event.flow_ids)
            check(since is None, f"a slice without end on {self.tracks[uuid].name}")
        self.migrations = 0
        for uuid, events in self.events.items():
            for time, event in events:
                for flow in event.terminating_flow_ids:
                    check(begun[flow][0] <= time and begun[flow][1] != uuid, "an arrow back in time or in place")
                    self.migrations += 1

    def notes_of(self, event):
        return {self.notes[note.name_iid]: note.uint_value or note.int_value for note in event.debug_annotations}

    def slices(self):
        """(track name, slice name, job, from, to, notes of the end) of all tracks."""
        for uuid, events in self.events.items():
            begin = None
            for time, event in events:
                if event.type == BEGIN:
                    begin = (time, self.names[event.name_iid], self.notes_of(event).get("job"))
                elif event.type == END:
                    since, name, job = begin
                    yield self.tracks[uuid].name, name, job, since, time, self.notes_of(event)


def check_same(events, trace):
    """The trace says what the events say. Tasks of the schedule are called T1, T2, ..."""
    on_cpus = Counter(
        (int(track.removeprefix("CPU ")), int(name[1:]) - 1, job, since, until)
        for track, name, job, since, until, _ in trace.slices()
        if track.startswith("CPU ") and not track.endswith("kernel")
    )
    check(on_cpus == intervals(events), "CPUs run other jobs in the trace than in the events")
    complete = events.filter(polars.col("kind") == "complete")
    laxities = Counter(zip(complete["task"], complete["job"], complete["argument"] - complete["time_ns"]))
    seen = Counter(
        (int(name[1:]) - 1, job, notes["laxity_ns"])
        for _, name, job, _, _, notes in trace.slices()
        if "laxity_ns" in notes
    )
    check(seen == laxities, "jobs have other laxities in the trace than in the events")
    overheads = events.filter(polars.col("kind").str.ends_with("-overhead"))["argument"].sum()
    kernel = sum(until - since for track, _, _, since, until, _ in trace.slices() if track.endswith("kernel"))
    check(kernel == overheads, f"{kernel} ns of kernel work in the trace, {overheads} in the events")
    instants = Counter(trace.names[e.name_iid] for all in trace.events.values() for _, e in all if e.type == INSTANT)
    kinds = Counter(events["kind"].to_list())
    check(instants["deadline"] == kinds["release"] - kinds["deadline-miss"], f"{instants} but {kinds}")
    check(instants["deadline miss"] == kinds["deadline-miss"] > 0, f"{instants} but {kinds}")


def main():
    directory = Path(sys.argv[1])
    events = read_events(directory / "events" / "run-0.parquet")
    trace = Trace((directory / "schedule.perfetto-trace").read_bytes())
    check_same(events, trace)
    moved = events.filter(polars.col("kind") == "migrate").height
    check(trace.migrations == moved > 0, f"{trace.migrations} arrows for {moved} migrations")
    print(f"{events.height} events read the same by three libraries; Perfetto's definitions read the same schedule")


if __name__ == "__main__":
    main()
