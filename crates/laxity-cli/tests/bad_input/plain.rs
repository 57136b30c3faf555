//! Whatever is wrong with a file, the message has no words of the libraries that read it, nor of Rust.

use crate::bench::Bench;
use crate::host::words;

/// Theirs.
const FOREIGN: [&str; 22] = [
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown field",
    "unknown variant",
    "missing field",
    "duplicate field",
    " expected ",
    "EOF",
    "sequence",
    "struct ",
    "enum ",
    "untagged",
    "serde",
    "TOML parse",
    "u64",
    "u32",
    "f64",
    "Some(",
    "None",
    "floating point",
    "panicked",
];

/// What a value of any field may be replaced with.
const VALUES: [&str; 9] = ["1", "-1", "1.5", "true", "\"x\"", "[]", "{}", "[{}]", "\"\""];

const SET: &str = "version = 1\nname = \"s\"\n[[tasks]]\nname = \"a\"\nwcet = \"1ms\"\nperiod = \"10ms\"\ndeadline = \"9ms\"\n\
    phase = \"1ms\"\nleave = \"1s\"\nbatching = true\npriority = 1\nkind = \"real-time\"\naffinity = \"0\"\ndemand = \"0.5\"\n\
    group = \"g\"\nshared = \"1KiB\"\nworking_set = { size = \"4KiB\", reads_to_writes = \"4:1\", access = \"random\" }\n\
    [[tasks]]\nwcet = \"1ms\"\nperiod = \"20ms\"\ngroup = \"g\"\nshared = \"1KiB\"\nworking_set = { size = \"2KiB\" }\n";
const PLATFORM: &str = "version = 1\nname = \"p\"\ncores = 2\nclusters = [\"0-1\"]\n\
    caches = [{ level = 1, kind = \"data\", size = \"32KiB\", line = 64, ways = 8, cpus = \"0\" }]\nnuma = [{ id = 0, cpus = \"0-1\" }]\n";
const STUDY: &str = "version = 1\nname = \"s\"\ntitle = \"t\"\nseed = 1\nsets = 2\nsteps = 4096\nguarantees = [\"hard\"]\n\
    [platform]\nprocessors = 2\n[axis]\nof = \"utilization\"\nfrom = 0\nto = \"m\"\nstep = 1\n\
    [generator]\nname = \"emberson\"\ntasks = 4\n[[curves]]\nname = \"EDF\"\nscheduler = \"g-edf\"\n";

/// The document with each value replaced by each other kind of value, each key misspelt or left out, and each beginning of it.
fn broken(document: &str) -> Vec<String> {
    let lines: Vec<&str> = document.lines().collect();
    let with = |at: usize, line: Option<String>| -> String {
        let lines = lines
            .iter()
            .enumerate()
            .filter_map(|(other, text)| if other == at { line.clone() } else { Some((*text).to_owned()) });
        lines.map(|line| line + "\n").collect()
    };
    let mut all: Vec<String> =
        vec![String::new(), "[".into(), "x".into(), "x,y\n1,2\n".into(), "\u{feff}".into(), "\0".into()];
    for (at, line) in lines.iter().enumerate() {
        if let Some((key, value)) = line.split_once(" = ") {
            all.extend(
                VALUES
                    .iter()
                    .filter(|it| **it != value)
                    .map(|value| with(at, Some(format!("{key} = {value}")))),
            );
            all.push(with(at, Some(format!("{key}x = {value}"))));
            all.push(with(at, Some(format!("{line}\n{line}"))));
        }
        all.push(with(at, None));
        all.push(lines[..at].join("\n") + &line[..line.len() / 2]);
    }
    all
}

/// The same in JSON.
fn in_json(toml: &str) -> Option<String> {
    let value: serde_json::Value = toml::from_str(toml).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

#[test]
fn messages_are_in_plain_words() {
    let bench = Bench::new(&[("good.toml", SET)]);
    let readers: [(&str, &str, &[&str]); 4] = [
        (SET, "set", &["check"]),
        (PLATFORM, "platform", &["analyze", "good.toml", "--schedulers", "g-edf", "--platform"]),
        (STUDY, "study", &["check"]),
        (SET, "deploy", &["deployed"]),
    ];
    let mut refused = 0;
    for (document, name, call) in readers {
        for (at, text) in broken(document).into_iter().enumerate() {
            let json = in_json(&text).map(|json| (format!("{name}-{at}.json"), json));
            for (file, text) in [(format!("{name}-{at}.toml"), text)].into_iter().chain(json) {
                bench.write(&file, &text);
                let ended = bench.laxity(&[call, &[file.as_str()]].concat());
                if ended.status.code() != Some(2) {
                    continue;
                }
                refused += 1;
                // What is quoted is the user's.
                let said: String = words(&ended).split('`').step_by(2).collect::<Vec<_>>().join(" ");
                let foreign = FOREIGN.iter().find(|word| said.contains(*word));
                assert!(foreign.is_none(), "{}: {}\n{text}", call.join(" "), words(&ended));
                assert!(said.contains("hint: "), "{}: {}\n{text}", call.join(" "), words(&ended));
            }
        }
    }
    assert!(refused > 500, "{refused} files were refused");
}
