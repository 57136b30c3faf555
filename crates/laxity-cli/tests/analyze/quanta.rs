//! Quanta of pfair, with and without overheads.

use crate::calls::text;
use crate::host::words;
use crate::{Desk, set};
use serde_json::{Value, json};

#[test]
fn quanta_are_as_the_name_of_pfair_says() {
    let desk = Desk::with(&[
        ("s.toml", &set("s", &[("a", 580, 5_000, ""), ("b", 580, 5_000, "")])),
        ("odd.toml", &set("s", &[("a", 580, 5_500, "")])),
        ("q.csv", "TASK-COUNT, SCHEDULE, RELEASE, RELEASE-LATENCY\n1, 100, 50, 300\n"),
    ]);
    let call = ["--cpus", "3", "--overheads", "q.csv", "--schedulers"];
    let names = "pfair,pfair:dedicated,pfair:staggered,pfair:aligned:staggered";
    let (answer, code) = desk.answer(&[&["s.toml"], &call[..], &[names]].concat());
    assert_eq!(code, 0, "{answer}");
    let eaten = |one: &Value| {
        let task = &one["overheads"]["tasks"][0];
        (one["scheduler"].clone(), task["wcet_ns"].clone(), task["period_ns"].clone())
    };
    let seen: Vec<_> = answer["schedulers"].as_array().expect("schedulers").iter().map(eaten).collect();
    // C = 580 of quanta of 550 or, without releases, 600 us; T = 5000 us less 1350, and 667 more.
    let expected = [
        ("pfair", 1_420_000, 2_000_000),
        ("pfair:dedicated", 420_000, 2_000_000),
        ("pfair:staggered", 1_420_000, 3_000_000),
        ("pfair:aligned:staggered", 1_420_000, 1_000_000),
    ]
    .map(|(name, wcet, period)| (json!(name), json!(wcet), json!(period)));
    assert_eq!(seen, expected);
    assert_eq!(answer["schedulers"][1]["cells"][0]["processors"], 2);
    let odd = desk.first(&[&["odd.toml"], &call[..], &["pfair:aligned"]].concat());
    assert_eq!((&odd["hard"]["verdict"], &odd["hard"]["task"]), (&json!("not-applicable"), &json!("a")));
    let wrong = desk.analyze(&["s.toml", "--schedulers", "pfair:fast"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(words(&wrong).contains("`fast`") && words(&wrong).contains(":staggered"), "{}", words(&wrong));
}

/// Three tasks of 0.1 ms in every 1 ms on two cores: with a quantum of 1 ms they need three in every ms.
#[test]
fn a_quantum_is_honoured_without_overheads() {
    let three = [("a", 100, 1_000, ""), ("b", 100, 1_000, ""), ("c", 100, 1_000, "")];
    let desk = Desk::with(&[("pf2.toml", &set("pf2", &three))]);
    let ask = |more: &[&str]| desk.first(&[&["pf2.toml", "--cpus", "2", "--schedulers"], more].concat());
    for explicit in
        [&["pfair:aligned", "--tick", "1ms"][..], &["pfair:aligned"], &["pfair:aligned", "--test", "pfair"]]
    {
        let one = ask(explicit);
        assert_eq!(
            (&one["hard"]["verdict"], &one["hard"]["exact"]),
            (&json!("not-proven"), &json!(true)),
            "{one}"
        );
        assert_eq!(one["quantum_ns"], 1_000_000);
        assert_eq!(one["overheads"]["utilization_inflated"], 3.0);
    }
    // Jobs that come at any time have no whole quantum in 1 ms.
    let any = ask(&["pfair"]);
    assert_eq!(
        (&any["hard"]["verdict"], &any["hard"]["exact"]),
        (&json!("not-proven"), &json!(false)),
        "{any}"
    );
    assert!(any["hard"]["reason"].as_str().is_some_and(|why| why.contains("next quantum")), "{any}");
    for tick in ["500us", "100us", "1ns"] {
        let one = ask(&["pfair:aligned", "--tick", tick]);
        assert_eq!(one["hard"]["verdict"], "schedulable", "{tick}: {one}");
        let tested = ask(&["pfair:aligned", "--tick", tick, "--test", "pfair"]);
        assert_eq!(tested["hard"]["verdict"], "schedulable", "{tick}: {tested}");
    }
    let told =
        text(&desk.analyze(&["pf2.toml", "--cpus", "2", "--schedulers", "pfair,pfair:aligned,g-edf"]).stdout);
    let aligned = "pfair:aligned: quanta of 1ms (--tick) take the utilization from 0.3000 to 3.0000";
    assert!(told.contains(aligned) && told.contains("note (pfair): jobs arrive at any time"), "{told}");
    assert_eq!(ask(&["g-edf"])["quantum_ns"], Value::Null);
}

/// What costs nothing changes nothing, whatever the tick: not a verdict, and not a bound.
#[test]
fn overheads_of_nothing_are_none() {
    let desk = Desk::with(&[
        (
            "s.toml",
            &set(
                "s",
                &[
                    ("a", 300, 2_000, "priority = 3"),
                    ("b", 1_400, 4_000, "priority = 1"),
                    ("c", 2_600, 8_000, "priority = 2"),
                ],
            ),
        ),
        (
            "tight.toml",
            &set(
                "t",
                &[("a", 900, 2_000, "deadline = \"1ms\"\npriority = 1"), ("b", 3_500, 4_000, "priority = 2")],
            ),
        ),
        (
            "zero.csv",
            "TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY\n1, 0, 0, 0, 0, 0, 0\n",
        ),
    ]);
    let schedulers = "g-edf,g-rm,p-edf,p-rm,c-edf,c-rm,pfair,pfair:aligned,pfair:staggered,pfair:aligned:dedicated,g-fl,gsn-edf-di,\
        c-g-edf-mp:rm,edf-bh:fp,p-fpp:dm";
    let mut proven = 0;
    for file in ["s.toml", "tight.toml"] {
        for tick in ["1ns", "250us", "300us", "1ms", "2ms"] {
            let call =
                [file, "--cpus", "3", "--clusters", "0-1;2", "--schedulers", schedulers, "--tick", tick];
            let (none, _) = desk.answer(&call);
            let (zero, _) = desk.answer(&[&call[..], &["--overheads", "zero.csv"]].concat());
            let both = none["schedulers"]
                .as_array()
                .expect("many")
                .iter()
                .zip(zero["schedulers"].as_array().expect("many"));
            for (none, zero) in both {
                for guarantee in ["hard", "soft"] {
                    let said = |one: &Value| {
                        ["verdict", "test", "bounds", "task", "cpus"].map(|key| one[guarantee][key].clone())
                    };
                    assert_eq!(said(none), said(zero), "{file}, {tick}: {none} {zero}");
                    proven += u32::from(none[guarantee]["verdict"] == "schedulable");
                }
            }
        }
    }
    assert!((80..250).contains(&proven), "{proven}");
}
