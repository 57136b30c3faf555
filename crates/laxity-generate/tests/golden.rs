//! The exact output of every generator for one seed, pinned: the same bytes on every machine and in every
//! later version. `LAXITY_BLESS=1 cargo test -p laxity-generate --test golden` writes the files anew; a change
//! in them is a change of every published set and belongs into the change log.

use laxity_generate::{GENERATORS, Parameters, Request};
use laxity_model::TaskSet;
use std::fmt::Write as _;
use std::path::PathBuf;

fn text_of(set: &TaskSet) -> String {
    let provenance = set.provenance().expect("generated");
    let mut text = format!(
        "# {} seed {} set {} ({})\n",
        provenance.generator, provenance.seed, provenance.index, provenance.rng
    );
    for (name, value) in &provenance.parameters {
        writeln!(text, "# {name} = {value}").expect("text");
    }
    writeln!(
        text,
        "{:>8} {:>11} {:>11} {:>12} {:>11} {:>7} demand",
        "task", "wcet_ns", "period_ns", "deadline_ns", "phase_ns", "wss"
    )
    .expect("text");
    for task in set.tasks() {
        let [wcet, period, deadline, phase] =
            [task.wcet, task.period(), task.deadline_rel, task.phase].map(|time| time.as_ns());
        let (name, wss, demand) = (&task.name, task.working_set.size_bytes, task.demand.unwrap_or_default());
        write!(text, "{name:>8} {wcet:>11} {period:>11} {deadline:>12} {phase:>11} {wss:>7} {demand}")
            .expect("text");
        if let Some(group) = &task.group {
            write!(text, " shares {} with {}", group.shared_bytes, group.name).expect("text");
        }
        text.push('\n');
    }
    text
}

fn check(file: &str, generator: &str, parameters: &[(&str, &str)]) {
    let parameters: Parameters =
        parameters.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    let request = Request::from_parameters(generator, 20_261_121, &parameters).expect("valid");
    let prepared = request.prepare().expect("valid");
    let found: Vec<String> = [0, 7].map(|index| text_of(&prepared.generate(index).expect("set"))).into();
    let found = found.join("\n");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::write(&path, &found).expect("golden file written");
    }
    let expected = std::fs::read_to_string(&path).expect("golden file");
    assert!(found == expected, "{} differs; found:\n{found}", path.display());
}

type Pairs = &'static [(&'static str, &'static str)];

/// Files, generators and parameters.
const GOLDENS: &[(&str, &str, Pairs)] = &[
    ("emberson.txt", "emberson", &[("tasks", "8"), ("utilization", "3.2")]),
    (
        "emberson-rescaled.txt",
        "emberson",
        &[
            ("deadlines", "constrained:0.5"),
            ("phases", "uniform"),
            ("wss", "16KiB,256KiB"),
            ("tasks", "8"),
            ("utilization", "2.8"),
            ("rescale-cores", "4"),
        ],
    ),
    ("uunifast.txt", "uunifast", &[("tasks", "8"), ("utilization", "3.2"), ("periods", "uni-long")]),
    (
        "unc.txt",
        "unc",
        &[
            ("utilization", "3"),
            ("last", "squeeze"),
            ("utilizations", "exp-medium"),
            ("periods", "logunif-short"),
        ],
    ),
    ("waters.txt", "waters", &[("runnables", "200"), ("utilization", "1.5"), ("demand", "acet")]),
    ("mtt.txt", "mtt", &[("distribution", "mwlp"), ("utilization", "3"), ("shared", "0.75")]),
    ("calandrino2007.txt", "calandrino2007", &[("tasks", "8"), ("requirement", "0.5")]),
];

#[test]
fn every_generator_makes_the_bytes_that_it_made() {
    for &(file, generator, parameters) in GOLDENS {
        check(file, generator, parameters);
    }
    for known in GENERATORS {
        let name = known.name;
        assert!(
            GOLDENS.iter().any(|(_, of, _)| *of == name),
            "`{name}` has no golden: add a line to GOLDENS"
        );
    }
}
