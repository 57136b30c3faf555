//! What the kernel takes for itself: the server of its fair class, and kernel threads that go first.

use crate::calls::{json, text};
use crate::host::words;
use crate::{Desk, bounds, set};
use serde_json::{Value, json};

/// The set that misses on Linux though the test of SCHED_FIFO accepts it: the kernel keeps 5 % of the CPU for others.
#[test]
fn linux_proves_nothing_at_98_per_cent_beside_its_fair_server() {
    let full = set("full", &[("often", 490, 1_000, ""), ("seldom", 490_000, 1_000_000, "")]);
    let room = set("room", &[("slow", 100_000, 300_000, ""), ("slower", 300_000, 1_000_000, "")]);
    let late = set("late", &[("a", 600, 1_000, ""), ("b", 600, 1_000, "")]);
    let desk = Desk::with(&[("full.toml", &full), ("room.toml", &room), ("late.toml", &late)]);
    let hard = |call: &[&str]| {
        let ended = desk.analyze_beside(&[call, &["--cpus", "1", "--json"]].concat());
        json(&text(&ended.stdout))["schedulers"][0].clone()
    };
    let server = json!("the fair server (50ms of every 1s)");
    for scheduler in ["p-rm", "p-dm", "c-rm", "g-rm", "p-edf", "g-edf"] {
        let answer = hard(&["full.toml", "--schedulers", scheduler]);
        assert_eq!(answer["hard"]["verdict"], "not-proven", "{scheduler}: {answer}");
        assert_eq!((&answer["hard"]["exact"], &answer["hard"]["proven_without"]), (&json!(false), &server));
        let assumed = answer["assumptions"].to_string();
        assert!(assumed.contains("the fair server's 50ms in 1s of each CPU (Linux's defaults)"), "{assumed}");
    }
    let without = hard(&["full.toml", "--schedulers", "p-rm", "--assume-no-background"]);
    assert_eq!(without["hard"]["verdict"], "schedulable", "{without}");
    assert!(without["assumptions"].to_string().contains("--assume-no-background"), "{without}");
    // 100 + 2 * 60 for two budgets and their ticks; 300 + 2 * 100, and then the third job of the first task.
    let room = hard(&["room.toml", "--schedulers", "p-rm"]);
    assert_eq!(bounds(&room["hard"]), [220_000_000, 720_000_000], "{room}");
    let room = hard(&["room.toml", "--schedulers", "p-edf"]);
    assert_eq!(room["hard"]["verdict"], "schedulable", "{room}");
    // What misses by itself is refuted, as before.
    let late = hard(&["late.toml", "--schedulers", "p-rm"]);
    assert_eq!((&late["hard"]["exact"], &late["hard"]["proven_without"]), (&json!(true), &Value::Null));
    // laxity's own policies are in sched_ext: the servers run what they choose.
    let own = hard(&["full.toml", "--schedulers", "p-fpp:rm"]);
    assert_eq!(own["hard"]["verdict"], "schedulable", "{own}");
    let assumed = own["assumptions"].to_string();
    assert!(assumed.contains("take nothing") && !assumed.contains("server"), "{assumed}");
}

/// 500 us of each 10 ms, twice in a row, above laxity's own policies: not above Linux's classes.
#[test]
fn kernel_threads_that_go_first_are_counted_where_they_are_asked_for() {
    let desk = Desk::with(&[(
        "two.toml",
        &set("two", &[("often", 1_000, 4_000, ""), ("seldom", 2_000, 10_000, "")]),
    )]);
    let first = |scheduler: &str, more: &[&str]| {
        desk.first(&[&["two.toml", "--cpus", "1", "--schedulers", scheduler], more].concat())
    };
    let counted = ["--kernel-threads", "500us"];
    // 500 + 500 + 1000; 2000 and one job of the other task, and still two budgets.
    let fixed = first("p-fpp:rm", &counted);
    assert_eq!(bounds(&fixed["hard"]), [2_000_000, 4_000_000], "{fixed}");
    let threads = &fixed["overheads"]["kernel_threads"];
    assert_eq!((&threads["runtime_ns"], &threads["period_ns"]), (&json!(500_000), &json!(10_000_000)));
    assert!(fixed["assumptions"].to_string().contains("500us of each 10ms, twice in a row"), "{fixed}");
    // (1000 + 2 * 1000)/0.95 of 4000, and 4000/0.95 of 10000: more than all there is.
    let by_deadline = first("p-edf-bh", &counted);
    assert_eq!(by_deadline["hard"]["verdict"], "not-proven", "{by_deadline}");
    assert_eq!(by_deadline["overheads"]["tasks"][0]["wcet_ns"], 2_157_895, "{by_deadline}");
    assert_eq!(first("p-edf-bh", &["--kernel-threads", "100us"])["hard"]["verdict"], "schedulable");
    let linux = first("p-rm", &counted);
    assert_eq!((bounds(&linux["hard"]), &linux["overheads"]), (vec![1_000_000, 3_000_000], &Value::Null));
    let refused = desk.analyze(&["two.toml", "--kernel-threads", "11ms"]);
    assert!(
        refused.status.code() == Some(2)
            && words(&refused).contains("more than the 10ms")
            && words(&refused).contains("write 10ms or less"),
        "{refused:?}"
    );
}
