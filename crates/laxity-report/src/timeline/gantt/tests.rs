//! Charts by hand, and the rows of CPUs against a count of every ns.

use super::*;
use crate::timeline::sample;
use laxity_trace::{Activity, segments};
use proptest::prelude::*;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;

const PLAIN: GanttOptions = GanttOptions {
    window: (0, 15 * MS),
    known_until_ns: 0,
    cpus: 2,
    width: 100,
    tasks: false,
    unicode: false,
    color: false,
};

fn chart(options: GanttOptions) -> String {
    draw(&sample::set(), sample::events().into_iter().map(Ok), &options).expect("draws")
}

#[test]
fn golden() {
    let charts = [
        chart(PLAIN),
        chart(GanttOptions { tasks: true, ..PLAIN }),
        chart(GanttOptions { tasks: true, unicode: true, width: 60, ..PLAIN }),
        chart(GanttOptions { window: (2 * MS, 4 * MS), cpus: 3, ..PLAIN }),
    ];
    sample::golden("gantt.txt", &charts.join("\n\n"));
}

#[test]
fn colours_add_only_escape_sequences() {
    let plain = chart(GanttOptions { tasks: true, ..PLAIN });
    let colored = chart(GanttOptions { tasks: true, color: true, ..PLAIN });
    assert!(colored.contains("\x1b[1;31m!\x1b[0m"), "a miss stands out");
    let mut parts = colored.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest: String = parts.filter_map(|part| part.split_once('m')).map(|(_, text)| text).collect();
    assert_eq!(first + &rest, plain);
}

#[test]
fn a_line_is_never_wider_than_the_terminal() {
    for width in 40..200 {
        for tasks in [false, true] {
            let chart = chart(GanttOptions { width, tasks, ..PLAIN });
            let widest = chart.lines().skip(1).map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= usize::from(width), "{widest} columns in {width}:\n{chart}");
        }
    }
}

#[test]
fn windows_without_anything_are_refused() {
    let error = |window| {
        let events = sample::events().into_iter().map(Ok);
        draw(&sample::set(), events, &GanttOptions { window, ..PLAIN }).expect_err("nothing to draw")
    };
    assert!(error((5, 5)).message.contains("from 5ns to 5ns is empty"));
    assert!(error((20 * MS, u64::MAX)).message.contains("ends at 14ms, before the window from 20ms"));
}

/// One job runs from the first instant to the end: its release and its start are all events.
#[test]
fn a_schedule_without_an_end_is_drawn_as_far_as_it_is_known() {
    let begin: Vec<_> = sample::events().into_iter().take_while(|event| event.time_ns == 0).collect();
    let drawn = |known_until_ns| {
        let options = GanttOptions { window: (0, 30 * MS), known_until_ns, ..PLAIN };
        draw(&sample::set(), begin.iter().copied().map(Ok), &options)
    };
    assert!(drawn(0).expect_err("nothing is known").message.contains("ends at 0"));
    let chart = drawn(20 * MS).expect("a chart");
    assert!(chart.starts_with("t in [0, 20ms)"), "{chart}");
}

laxity_seeds::properties! {
    /// Compares every column of a CPU's row with what ran in each ns of it.
    #[test]
    fn columns_show_who_has_them_longest(events in sample::any_events(), from in 0u64..30, length in 1u64..40, width in 40u16..60) {
        let window = (from, from + length);
        let options = GanttOptions { window, cpus: 3, width, ..PLAIN };
        let drawn = draw(&sample::set(), events.iter().copied().map(Ok), &options);
        let Ok(drawn) = drawn else { return Ok(()) };
        // A schedule that ends in the window ends it.
        let last = events.last().map_or(0, |event| event.time_ns);
        let to = last.min(window.1);
        let inside = events.iter().copied().filter(|event| event.time_ns < window.1);
        let all = segments(inside.map(Ok), to).collect::<Result<Vec<_>>>().expect("no error");
        let columns = Columns::fitting(window.0, to, usize::from(width) - 13);
        for cpu in 0..3 {
            let line = drawn.lines().find(|line| line.starts_with(&format!("cpu{cpu}"))).expect("a row");
            let row: Vec<char> = line.chars().skip(6).take(columns.count).collect();
            for (column, shown) in row.iter().enumerate() {
                let start = window.0 + u64::try_from(column).expect("small") * columns.span_ns;
                let stop = (start + columns.span_ns).min(to);
                let (mut kernel, mut ran_ns) = (0, BTreeMap::<(u8, u32), u64>::new());
                for ns in start..stop {
                    for segment in all.iter().filter(|s| s.cpu == cpu && s.from_ns <= ns && ns < s.to_ns) {
                        match segment.activity {
                            Activity::Kernel(_) => kernel += 1,
                            Activity::Job { task, .. } => *ran_ns.entry((0, task)).or_default() += 1,
                            Activity::Background { task } => *ran_ns.entry((1, task)).or_default() += 1,
                            Activity::Taken => *ran_ns.entry((2, 0)).or_default() += 1,
                        }
                    }
                }
                let most = ran_ns.values().max().copied().unwrap_or(0);
                // The first of those with the most.
                let expected = match ran_ns.iter().find(|(_, ns)| **ns == most) {
                    _ if kernel > columns.span_ns / 2 => '#',
                    Some(((2, _), _)) => 'x',
                    Some(((1, _), _)) => '~',
                    Some(((_, task), _)) => char::from(b"ABCD"[usize::try_from(*task).expect("small")]),
                    None => '.',
                };
                prop_assert_eq!(*shown, expected, "cpu{} column {} of\n{}", cpu, column, drawn);
            }
        }
    }
}
