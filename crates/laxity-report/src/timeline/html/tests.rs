//! The page says what the events say: the data decoded again, and nothing that breaks out of it.

use super::*;
use crate::timeline::sample;
use laxity_model::Task;
use laxity_trace::{Activity, EventKind, Segment, segments};
use proptest::prelude::*;
use serde_json::Value;

fn shown(set: &TaskSet, events: &[Event], options: &HtmlOptions) -> String {
    fragment(set, 2, events.iter().copied().map(Ok), options).expect("no error")
}

fn data_of(fragment: &str) -> Value {
    let (_, rest) = fragment.split_once("class=\"schedule-data\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

/// The numbers of the page, by the description in `data.rs`.
struct Numbers {
    bytes: std::vec::IntoIter<u8>,
}

impl Numbers {
    fn of(data: &Value) -> Numbers {
        let text = data["numbers"].as_str().expect("text");
        let value = |c: u8| match c {
            b'A'..=b'Z' => u32::from(c - b'A'),
            b'a'..=b'z' => u32::from(c - b'a') + 26,
            b'0'..=b'9' => u32::from(c - b'0') + 52,
            b'+' => 62,
            b'/' => 63,
            other => panic!("{} is no base 64", char::from(other)),
        };
        let mut bytes = Vec::new();
        for group in text.trim_end_matches('=').as_bytes().chunks(4) {
            let bits = group.iter().fold(0, |bits, c| bits << 6 | value(*c)) << (6 * (4 - group.len()));
            bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
        }
        Numbers { bytes: bytes.into_iter() }
    }

    fn next(&mut self) -> i64 {
        let (mut code, mut shift) = (0u64, 0);
        loop {
            let byte = self.bytes.next().expect("a number");
            code |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                let half = i64::try_from(code / 2).expect("small");
                return if code % 2 == 1 { -half - 1 } else { half };
            }
        }
    }

    fn unsigned(&mut self) -> u64 {
        u64::try_from(self.next()).expect("not negative")
    }
}

/// The segments of the page.
fn decoded(data: &Value, ids: &[u32]) -> Vec<Segment> {
    let mut numbers = Numbers::of(data);
    let mut out = Vec::new();
    let small = |number: i64| u32::try_from(number).expect("small");
    for cpu in data["cpus"].as_array().expect("a list") {
        let cpu = u32::try_from(cpu.as_u64().expect("a number")).expect("small");
        for kernel in [false, true] {
            let mut end_ns = data["from"].as_i64().expect("a number");
            let mut last = vec![0; ids.len()];
            for _ in 0..numbers.next() {
                let from_ns = end_ns + numbers.next();
                end_ns = from_ns + numbers.next();
                let what = numbers.next();
                let taken = what < 0;
                let what = usize::try_from(what.max(0)).expect("an index");
                let activity = if kernel {
                    let name = data["overheads"][what].as_str().expect("a name");
                    Activity::Kernel(
                        EventKind::ALL.into_iter().find(|kind| kind.name() == name).expect("a kind"),
                    )
                } else if taken {
                    Activity::Taken
                } else if what % 2 == 1 {
                    Activity::Background { task: u32::try_from(what / 2).expect("few") }
                } else {
                    last[what / 2] += numbers.next();
                    Activity::Job { task: ids[what / 2], job: small(last[what / 2]) }
                };
                let [from_ns, to_ns] = [from_ns, end_ns].map(|ns| u64::try_from(ns).expect("not negative"));
                out.push(Segment { cpu, from_ns, to_ns, activity });
            }
        }
    }
    out
}

/// The ids of the tasks of the page, by their names in the sample, or `T7` for an id that the set does not have.
fn ids_of(set: &TaskSet, data: &Value) -> Vec<u32> {
    let id = |task: &Value| {
        let name = task["name"].as_str().expect("a name");
        let known = set.tasks().iter().position(|task| task.name == name);
        let unknown =
            || name.strip_prefix('T').and_then(|number| number.parse::<u32>().ok()).expect("a number") - 1;
        known.map_or_else(unknown, |id| u32::try_from(id).expect("small"))
    };
    data["tasks"].as_array().expect("a list").iter().map(id).collect()
}

fn by_place(mut segments: Vec<Segment>) -> Vec<Segment> {
    segments.sort_by_key(|s| (s.cpu, matches!(s.activity, Activity::Kernel(_)), s.from_ns));
    segments
}

laxity_seeds::properties! {
    #[test]
    fn the_data_are_the_segments_of_the_events(events in sample::any_events(), from in 0u64..20, length in 1u64..40) {
        let set = sample::set();
        let options = HtmlOptions { window: (from, from + length), ..HtmlOptions::new("a", "b") };
        let data = data_of(&shown(&set, &events, &options));
        let to = data["to"].as_u64().expect("a number");
        let inside = events.iter().copied().filter(|event| event.time_ns < from + length).map(Ok);
        let all = segments(inside, to).map(|segment| segment.expect("no error").within(from, to));
        prop_assert_eq!(decoded(&data, &ids_of(&set, &data)), by_place(all.flatten().collect()));
    }
}

#[test]
fn jobs_have_their_releases_deadlines_and_completions() {
    let set = sample::set();
    let data = data_of(&shown(&set, &sample::events_of_every_kind(), &HtmlOptions::new("a", "b")));
    let ids = ids_of(&set, &data);
    let mut numbers = Numbers::of(&data);
    // Past the segments: as many as were decoded before, with their counts.
    for _ in 0..data["cpus"].as_array().expect("a list").len() {
        for kernel in [false, true] {
            for _ in 0..numbers.next() {
                let (_, _, what) = (numbers.next(), numbers.next(), numbers.next());
                let _ = (!kernel && what % 2 == 0).then(|| numbers.next());
            }
        }
    }
    let mut lines = Vec::new();
    for id in ids {
        let (mut number, mut release, mut gap, mut relative) = (0, 0, 0, 0);
        for _ in 0..numbers.unsigned() {
            number += numbers.unsigned();
            let flags = numbers.unsigned();
            let mut line = format!("{id}.{number}");
            if flags & 1 > 0 {
                gap += numbers.next();
                release += gap;
                line += &format!(" from {release}");
            }
            if flags & 2 > 0 {
                relative += numbers.next();
                line += &format!(" deadline {}", release + relative);
            }
            if flags & 4 > 0 {
                line += &format!(" complete {}", release + numbers.next());
            }
            line += if flags & 8 > 0 { " missed" } else { "" };
            lines.push(line + if flags & 16 > 0 { " aborted" } else { "" });
        }
    }
    let expected = [
        "0.0 from 0 deadline 5000000 complete 2175000",
        "0.1 from 5000000 deadline 10000000 complete 7000000",
        "0.2 from 10000000 deadline 15000000 complete 12100000",
        "1.0 from 0 deadline 10000000 complete 8600000",
        "2.0 from 0 deadline 12000000 complete 13250000 missed",
        "2.1 from 12000000 deadline 24000000 complete 24000000 missed aborted",
    ];
    assert_eq!(lines, expected);
    assert_eq!(numbers.bytes.len(), 0, "numbers that no reader needs");
}

#[test]
fn the_words_say_what_is_shown() {
    let set = sample::set();
    let all = shown(&set, &sample::events(), &HtmlOptions::new("a", "g-edf"));
    assert!(
        all.contains("<strong>g-edf</strong> from 0 to 14ms, 1 deadline missed.</p>"),
        "{}",
        &all[..3000]
    );
    let options = HtmlOptions {
        segments_most: 5,
        another_window: Some("Another with `--from`.".to_owned()),
        ..HtmlOptions::new("a", "g-edf")
    };
    let cut = shown(&set, &sample::events(), &options);
    let words = "from 0 to 2.175ms, no deadline missed. The schedule goes on: this is its part with the first 5 intervals. \
        Another with `--from`.</p>";
    assert!(cut.contains(words), "{}", cut.split("schedule-words").nth(2).unwrap_or(&cut));
    assert!(decoded(&data_of(&cut), &[0, 1, 2]).iter().all(|segment| segment.to_ns <= 2_175_000));
}

#[test]
fn names_cannot_break_out() {
    let evil = "</script><script>alert(1)</script><b>&\"'";
    let task = Task::periodic(evil, laxity_model::Duration::from_ms(1), laxity_model::Duration::from_ms(5));
    let set = TaskSet::new("evil", vec![task]).expect("a valid set");
    let page = page(&set, 2, sample::events().into_iter().map(Ok), &HtmlOptions::new("x\"><b>", evil))
        .expect("a page");
    assert!(!page.contains("alert(1)</script><b>"), "a name ends a script");
    assert!(!page.contains("<b>"), "a name is markup");
    assert!(page.contains("id=\"schedule-xb\""));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(data_of(&page)["tasks"][0]["name"], evil);
}

#[test]
fn the_page_loads_nothing_and_is_the_same_again() {
    let page_of =
        || page(&sample::set(), 2, sample::events().into_iter().map(Ok), &HtmlOptions::new("a", "b"));
    let page = page_of().expect("a page");
    assert_eq!(page, page_of().expect("a page"));
    for forbidden in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(forbidden), "the page has {forbidden}");
    }
}

#[test]
fn many_tasks_are_named_but_not_all_have_a_row() {
    let task = |id| {
        Task::periodic(
            format!("t{id}"),
            laxity_model::Duration::from_ns(1),
            laxity_model::Duration::from_ms(5),
        )
    };
    let set = TaskSet::new("many", (0..500).map(task).collect()).expect("a valid set");
    let event = |task| Event {
        time_ns: 0,
        kind: EventKind::Release,
        cpu: None,
        task: Some(task),
        job: Some(0),
        argument: Some(5_000_000),
    };
    let events: Vec<Event> = (0..500).map(event).collect();
    let fragment = shown(&set, &events, &HtmlOptions::new("a", "b"));
    assert!(fragment.contains("Only 400 tasks have a row of their own."));
    let rows = data_of(&fragment)["tasks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|task| task["row"] == true)
        .count();
    assert_eq!(rows, TASK_ROWS_MOST);
}
