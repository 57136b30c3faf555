//! Hostile names through every command of the program: what reaches a terminal, a page, an image or the disk is text.
//!
//! A failure says its seed and its call; `LAXITY_SEEDS=7..8` tries that seed alone.

mod host;
mod hostile;

use host::output;
use hostile::outputs::{check_files, check_streams, elements};
use hostile::{Names, Place};
use laxity_seeds::seeds;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

type Call = Vec<OsString>;

fn call(words: &[&dyn AsRef<OsStr>]) -> Call {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

/// Files of one seed, in the directory of the calls.
struct Files {
    /// A task set whose names are shown as they are.
    good: OsString,
    /// Files with names that none may have, or that are nothing at all.
    bad: Vec<OsString>,
    /// What a file that is there is not called.
    missing: OsString,
    study: OsString,
    platform: OsString,
}

fn set(names: [&str; 3], group: &str) -> Value {
    let task = |name: &str, wcet: &str| json!({"name": name, "wcet": wcet, "period": "10ms", "working_set": {"size": "4KiB"}, "group": group});
    let tasks = [
        task(&format!("1{}", names[1]), "9ms"),
        task(&format!("2{}", names[2]), "8ms"),
        task("plain", "7ms"),
    ];
    json!({"version": 1, "name": names[0], "tasks": tasks})
}

fn study(title: &str, curve: &str, note: &str) -> Value {
    json!({
        "version": 1, "kind": "simulation", "name": "study", "title": title, "sets": 1, "duration": "30ms",
        "notes": [note], "metrics": ["max-tardiness"], "platform": {"processors": 2},
        "axis": {"of": "utilization", "from": 1, "to": 1, "step": 1},
        "generator": {"name": "emberson", "tasks": 3},
        "curves": [{"name": curve, "note": note, "scheduler": "g-edf"}],
    })
}

/// Two files of each kind that has names: one that is refused, one whose names are only text.
fn files(place: &Place, names: &mut Names) -> Files {
    let mut bad = Vec::new();
    let mut wrong = |ending: &str, text: String, names: &mut Names| {
        let name = names.file(ending);
        place.write(&name, &text);
        bad.push(name);
    };
    for which in 0..4 {
        let control = names.control();
        let at = |place: usize| if place == which { control.as_str() } else { "plain" };
        wrong(".json", set([at(0), at(1), at(2)], at(3)).to_string(), names);
        if which < 3 {
            wrong(".json", study(at(0), at(1), at(2)).to_string(), names);
        }
    }
    let control = names.control();
    wrong(".toml", format!("version = 1\n{} = {}\n", json!(control), json!(control)), names);
    wrong(".toml", format!("version = 1\nname = {}\n[[cores]]\ncpu = 0\n", json!(control)), names);
    wrong(
        ".csv",
        format!("name,wcet_ns,period_ns\n\"{}\",1,{control}\n", control.replace('"', "\"\"")),
        names,
    );
    wrong(".csv", format!("TASK-COUNT,{control}\n1,2\n"), names);
    wrong(".xml", format!("<simulation><{control}/>"), names);
    let threads = json!({"tasks": {control.as_str(): {"loop": -1, "run": 1000, "timer": {"ref": control, "period": 10000}}}});
    wrong(".json", threads.to_string(), names);
    wrong("", control, names);
    let mut text = |value: Value, ending: &str| {
        let name = names.file(ending);
        place.write(&name, &value.to_string());
        name
    };
    let mut more = Names::of(names_seed(&bad));
    let mut printable = || more.printable();
    let unnamed = {
        let mut unnamed = set(["", &printable(), &printable()], &printable());
        unnamed.as_object_mut().expect("a set").remove("name");
        unnamed
    };
    let good = text(unnamed, ".json");
    let study = text(study(&printable(), &printable(), &printable()), ".json");
    let platform =
        text(json!({"version": 1, "name": printable(), "cores": [{"cpu": 0}, {"cpu": 1}]}), ".json");
    Files { good, bad, missing: names.file(".toml"), study, platform }
}

/// A seed of its own for what is printable.
fn names_seed(names: &[OsString]) -> u64 {
    names
        .iter()
        .flat_map(|name| name.as_bytes())
        .fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)))
}

/// All commands that the program lists in its helps, with those of commands.
fn commands(above: &[String]) -> Vec<Vec<String>> {
    let help = output(host::laxity().args(above).arg("--help"));
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let Some((_, listed)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = listed.lines().take_while(|line| !line.is_empty());
    let names =
        lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let mut found = Vec::new();
    for name in names.filter(|name| *name != "help") {
        let command = [above, &[name.to_owned()]].concat();
        let below = commands(&command);
        found.push(command);
        found.extend(below);
    }
    found
}

/// The calls of a command with what it takes: files, directories, names. Every command has a line here.
fn calls_of(command: &str, files: &Files, names: &mut Names) -> Option<Vec<Call>> {
    let Files { good, missing, study, platform, .. } = files;
    let name = names.argument();
    let two = |first: &dyn AsRef<OsStr>, more: &[&str]| {
        let mut words = call(&[first]);
        words.extend(more.iter().map(OsString::from));
        words
    };
    let simulated =
        ["--cpus", "2", "--scheduler", "p-rm", "--overload", "least-loaded", "--duration", "30ms"];
    let refused = || files.bad.iter().chain([missing]).map(|file| call(&[file])).collect::<Vec<Call>>();
    let on_two = |file: &OsString| two(file, &["--cpus", "2"]);
    Some(match command {
        "check" => [
            refused(),
            vec![
                call(&[good, study, platform]),
                call(&[good, &"--json"]),
                call(&[&"out/changed", &"out/renamed"]),
            ],
        ]
        .concat(),
        // Real tasks run in other tests; here nothing comes so far.
        "compare" | "run" => refused(),
        "place" => [
            files.bad.iter().map(on_two).collect(),
            vec![
                on_two(good),
                call(&[good, &"--platform", platform]),
                call(&[good, &"--cpus", &"2", &"--json"]),
            ],
        ]
        .concat(),
        "analyze" => vec![
            on_two(good),
            on_two(&files.bad[0]),
            call(&[good, &"--platform", platform, &"-v"]),
            call(&[good, &"--cpus", &"2", &"--costs", &files.bad[10]]),
            call(&[good, &"--cpus", &"2", &"--json"]),
        ],
        "settings" => vec![
            on_two(good),
            on_two(&files.bad[0]),
            call(&[good, &"--platform", platform]),
            call(&[good, &"--cpus", &"2", &"--json"]),
            call(&[good, &"--cpus", &"2", &"--scheduler", &name]),
            call(&[good, &"--cpus", &"3", &"--scheduler", &"g-rm", &"--deploy", &"out/deploy", &"--force"]),
        ],
        "deployed" => vec![
            call(&[&"out"]),
            call(&[missing]),
            call(&[&files.bad[0]]),
            call(&[&"out", &"--pid", &name]),
            call(&[&"out", &"--json"]),
            call(&[&"out", &"--process", &name]),
        ],
        "simulate" => vec![
            two(good, &simulated),
            two(&files.bad[2], &simulated),
            two(good, &[&simulated[..], &["--text"]].concat()),
            two(good, &[&simulated[..], &["--gantt", "--verify"]].concat()),
            [two(good, &simulated), call(&[&"--perfetto", &"out/trace", &"--force"])].concat(),
            [two(good, &simulated), call(&[&"--costs", missing])].concat(),
            [two(good, &simulated), call(&[&"--placement", &name])].concat(),
        ],
        "verify" => ["out", "out/changed", "out/renamed"]
            .iter()
            .flat_map(|out| [two(out, &[]), two(out, &["--json"])])
            .chain([call(&[missing])])
            .collect(),
        "report" => {
            let of = |out: &&str| {
                [
                    two(out, &[]),
                    two(out, &["--json"]),
                    two(out, &["-v"]),
                    two(out, &["--run", "0", "--text", "--gantt"]),
                ]
            };
            ["out", "out/changed", "out/renamed"].iter().flat_map(of).chain([call(&[missing])]).collect()
        }
        "diff" => ["out", "out/changed", "out/renamed"]
            .iter()
            .flat_map(|out| [call(&[&"out", out]), call(&[out, &"out", &"--json"])])
            .chain([call(&[&"out", missing]), call(&[&files.bad[0], &"out"])])
            .collect(),
        "generate" => vec![
            call(&[&name]),
            call(&[&"emberson", &"-n", &name]),
            call(&[&"emberson", &"-n", &"3", &"-u", &"1", &"--format", &name]),
            call(&[&"emberson", &"-n", &"3", &"-u", &"1", &"-o", &names.file(".toml")]),
        ],
        // Each generator is a command of its own.
        generator if generator.starts_with("generate ") => {
            vec![call(&[&"-n", &"3", &"-u", &name]), call(&[&"-n", &name]), call(&[&"--seed", &name])]
        }
        "init" => vec![call(&[&names.file(".toml")]), call(&[&names.file(".json")])],
        "study" => vec![
            call(&[study, &"--out", &"out/study"]),
            call(&[&files.bad[1], &"--out", &"out/bad"]),
            call(&[&files.bad[3], &"--out", &"out/bad"]),
            call(&[missing]),
            call(&[&name]),
            call(&[study, &"--shard", &"1/1", &"--out", &"out/shards"]),
            call(&[study, &"--shard", &name]),
            call(&[study, &"--slurm", &"--out", &"out/jobs"]),
        ],
        "study merge" => vec![
            call(&[study, &"--out", &"out/shards"]),
            call(&[study, missing]),
            call(&[missing]),
            call(&[&name]),
        ],
        "study overheads" | "study schedules" => {
            vec![call(&[&"--schedulers", &name]), call(&[&"--cpus", &name])]
        }
        "vm" => vec![
            call(&[&"--", &name]),
            call(&[&"--kernel", missing, &"--", &"list"]),
            call(&[&"--flavour", &name, &"--", &"list"]),
        ],
        "load" => vec![call(&[&"g-edf", &"--cpus", &name]), call(&[&"g-edf", &"--speeds", &name])],
        "exec" => vec![call(&[missing])],
        "doctor" => vec![call(&[&name]), call(&[&"--cpus", &name])],
        "promote" | "demote" | "resize" => vec![call(&[&name, &name])],
        // They take words of lists only: what every command is called with.
        "list" | "schema" | "completions" | "overheads" => Vec::new(),
        _ => return None,
    })
}

/// Nothing that is called here may run tasks.
fn may_end(command: &str) -> &'static [i32] {
    if ["compare", "run"].contains(&command) { &[2] } else { &[0, 1, 2, 3] }
}

/// Every command gets these: a word and an option that it does not know.
fn any_calls(names: &mut Names) -> Vec<Call> {
    let mut option = OsString::from("--");
    option.push(names.argument());
    vec![vec![names.argument()], vec![option], vec!["-q".into(), names.argument(), names.argument()]]
}

/// What is simulated for pages: more than the CPUs can do, so that there are misses to be named.
const EXPERIMENT: [&str; 12] = [
    "--cpus",
    "2",
    "--schedulers",
    "g-edf,p-rm",
    "--duration",
    "50ms",
    "--overload",
    "least-loaded",
    "--events",
    "--verify",
    "--out",
    "out",
];

/// A results directory, and beside it two of somebody who has changed all words of the manifest: all but the schedulers'
/// names, and these, too.
fn results(place: &Place, files: &Files, names: &mut Names) -> Call {
    let made = [call(&[&"simulate", &files.good]), EXPERIMENT.iter().map(OsString::from).collect()].concat();
    let ended = output(&mut place.laxity(&made));
    assert_eq!(ended.status.code(), Some(0), "{made:?}: {}", host::words(&ended));
    for copy in ["changed", "renamed"] {
        let copied = Command::new("cp").args(["-r", "out", copy]).current_dir(place.here()).status();
        assert!(copied.expect("coreutils").success());
    }
    for copy in ["changed", "renamed"] {
        let within = place.path("out").join(copy);
        fs::rename(place.path(copy), &within).expect("renamed");
        let manifest = within.join("manifest.json");
        let mut document: Value = serde_json::from_slice(&fs::read(&manifest).expect("there")).expect("JSON");
        change(&mut document, copy == "renamed", names);
        fs::write(manifest, document.to_string()).expect("written");
        // Nothing says what it was.
        fs::remove_file(within.join("SHA256SUMS")).expect("there");
    }
    made
}

/// Other words wherever a manifest may have any.
fn change(manifest: &mut Value, schedulers: bool, names: &mut Names) {
    let mut word = || if names.below(2) == 0 { names.control() } else { names.printable() };
    for key in ["laxity_version", "created"] {
        manifest[key] = json!(word());
    }
    manifest["command"] = json!([word(), word()]);
    for key in ["host_name", "cpu_model", "kernel"] {
        manifest["machine"][key] = json!(word());
    }
    manifest["machine"]["facts"] = json!({word(): word(), "governor": word()});
    manifest["options"][word()] = json!(word());
    let runs = manifest["runs"].as_array_mut().expect("runs");
    for run in runs.iter_mut() {
        if schedulers {
            run["scheduler"] = json!(word());
        }
        run["notes"] = json!([word(), word()]);
        let reasons = run["not_measured"].as_object_mut().expect("reasons");
        reasons.values_mut().for_each(|reason| *reason = json!(word()));
        reasons.insert(word(), json!(word()));
        run["placement"]["method"] = json!(word());
        run["placement"]["notes"] = json!([word()]);
        for bin in run["placement"]["bins"].as_array_mut().expect("bins") {
            bin["tasks"].as_array_mut().expect("tasks").iter_mut().for_each(|task| *task = json!(word()));
        }
    }
    let reason = word();
    runs[1]["status"] = match reason.len() % 2 {
        0 => json!({"state": "interrupted", "reason": reason, "ran": "20ms"}),
        _ => json!({"state": "not-run", "reason": reason}),
    };
}

#[test]
fn whatever_a_name_is_it_reaches_terminals_pages_and_files_as_text() {
    let commands = commands(&[]);
    assert!(commands.len() > 20, "the help lists them: {commands:?}");
    for seed in seeds!(0..3) {
        let (place, mut names) = (Place::new(), Names::of(seed));
        let files = files(&place, &mut names);
        let made = results(&place, &files, &mut names);
        let writers = ["init", "generate"];
        for command in &commands {
            let name = command.join(" ");
            let own = calls_of(&name, &files, &mut names).unwrap_or_else(|| {
                panic!("`laxity {name}` has no calls with hostile names in this test, nor a word on why it takes none")
            });
            for one in own.into_iter().chain(any_calls(&mut names)) {
                let words = [command.iter().map(OsString::from).collect(), one].concat();
                let before = place.files();
                let ended = output(&mut place.laxity(&words));
                let said =
                    |wrong: String| panic!("LAXITY_SEEDS={seed}..{}: laxity {words:?}: {wrong}", seed + 1);
                check_streams(&ended, may_end(&name)).unwrap_or_else(said);
                let beside = place.beside_out(&before);
                let may_write = writers.contains(&name.as_str())
                    && beside.len() == 1
                    && beside[0].parent() == Some(&place.here());
                if !(beside.is_empty() || may_write)
                    || place.files().iter().any(|file| file.ends_with("PWNED"))
                {
                    said(format!("wrote {beside:?}"));
                }
            }
        }
        let checked = check_files(&place.path("out"));
        checked.unwrap_or_else(|wrong| panic!("LAXITY_SEEDS={seed}..{}: after {made:?}: {wrong}", seed + 1));
    }
}

/// A page with plain names and one with hostile names are of the same elements.
#[test]
fn a_name_adds_no_element_to_a_page() {
    let page = |names: [&str; 3], group: &str| {
        let place = Place::new();
        place.write("set.json", &set(names, group).to_string());
        let words = [&["simulate", "set.json"][..], &EXPERIMENT].concat();
        let ended = output(&mut place.laxity(&words));
        assert_eq!(ended.status.code(), Some(0), "{}", host::words(&ended));
        let page = fs::read_to_string(place.path("out/report.html")).expect("written");
        let mut elements = elements(&page).unwrap_or_else(|wrong| panic!("{names:?}: {wrong}"));
        // Backticks in laxity's own words make code, and pair with those of names.
        elements.retain(|tag, _| !tag.ends_with("code"));
        elements
    };
    let plain = page(["plain", "a", "b"], "c");
    assert!(plain.len() > 20 && plain.contains_key("script"), "{plain:?}");
    for seed in seeds!(0..3) {
        let mut names = Names::of(seed + 1_000_000);
        let [name, first, second, group] = [0; 4].map(|_| names.printable());
        assert_eq!(
            page([&name, &first, &second], &group),
            plain,
            "seed {seed}: {name:?} {first:?} {second:?} {group:?}"
        );
    }
}

/// The escape sequences that a terminal gets are those of tables, charts and progress.
#[test]
fn a_terminal_gets_no_sequence_of_a_name() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("SKIPPED: script (util-linux) is not here, which plays a terminal");
        return;
    }
    for seed in seeds!(0..3) {
        let (place, mut names) = (Place::new(), Names::of(seed + 2_000_000));
        let files = files(&place, &mut names);
        results(&place, &files, &mut names);
        let simulated =
            ["--cpus", "3", "--scheduler", "g-edf", "--duration", "30ms", "--gantt"].map(OsString::from);
        for words in [
            call(&[&"report", &"out/changed", &"-v"]),
            call(&[&"report", &"out/changed", &"--run", &"0", &"--gantt"]),
            [call(&[&"simulate", &files.good]), simulated.to_vec()].concat(),
            call(&[&"check", &files.bad[0]]),
            call(&[&"list", &names.argument()]),
        ] {
            let mut line = OsString::from(env!("CARGO_BIN_EXE_laxity"));
            for word in &words {
                line.push(" ");
                line.push(quoted(word));
            }
            let mut script = Command::new("script");
            script.args(["-qec".as_ref(), line.as_os_str(), "/dev/null".as_ref()]).current_dir(place.here());
            let ended = output(
                script
                    .env("LC_ALL", "C.UTF-8")
                    .env("TERM", "xterm")
                    .env_remove("NO_COLOR")
                    .env_remove("COLUMNS"),
            );
            let text = String::from_utf8_lossy(&ended.stdout).replace("\r\n", "\n");
            own_sequences(&text)
                .unwrap_or_else(|wrong| panic!("LAXITY_SEEDS={seed}..{}: {words:?}: {wrong}", seed + 1));
        }
    }
}

/// As a shell reads it.
fn quoted(word: &OsStr) -> OsString {
    let bytes = word.as_bytes().iter().flat_map(|byte| match byte {
        b'\'' => br"'\''".to_vec(),
        other => vec![*other],
    });
    OsStr::from_bytes(&[b"'", &bytes.collect::<Vec<u8>>()[..], b"'"].concat()).to_owned()
}

/// Colours (without the pink of hostile names) and what progress moves the cursor by; no other control character.
fn own_sequences(text: &str) -> Result<(), String> {
    let mut rest = text;
    let mut plain = String::new();
    while let Some(at) = rest.find('\u{1b}') {
        plain += &rest[..at];
        let sequence = rest[at..]
            .strip_prefix("\u{1b}[")
            .ok_or(format!("{:?}", &rest[at..].chars().take(40).collect::<String>()))?;
        let end = sequence.find(|c: char| !c.is_ascii_digit() && !";?".contains(c)).ok_or("no end")?;
        let (values, last) = (&sequence[..end], sequence[end..].chars().next());
        let own = match last {
            Some('m') => values.split(';').all(|value| value != "95"),
            Some('K' | 'A' | 'B' | 'G') => true,
            Some('h' | 'l') => values.starts_with('?'),
            _ => false,
        };
        if !own {
            return Err(format!("{:?}", &sequence.chars().take(40).collect::<String>()));
        }
        rest = &sequence[end + last.map_or(0, char::len_utf8)..];
    }
    plain += rest;
    hostile::outputs::unseen(plain.replace('\r', "").as_bytes())
}
