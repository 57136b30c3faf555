//! What meets a newcomer: nothing of theirs is overwritten, a slip in a name is answered, and options mean the same everywhere.

mod calls;
mod host;
mod patience;

use calls::{json, prints, text, utf8};
use host::{laxity, output, words};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

/// What a call is refused with: exit code 2, and nothing on standard output.
fn refused(call: &[&str]) -> String {
    let ended = output(laxity().args(call));
    let said = words(&ended);
    assert_eq!(ended.status.code(), Some(2), "{call:?}: {said}");
    assert!(ended.stdout.is_empty(), "{call:?} prints {}", text(&ended.stdout));
    said
}

/// A call with something on its standard input.
fn fed(call: &[&str], input: &str) -> Output {
    let mut command = laxity();
    let piped = command.args(call).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("takes it");
    child.wait_with_output().expect("ends")
}

/// Two tasks that are proven under any scheduler, beside whatever the kernel keeps for other threads.
const LIGHT: &str = "version = 1
name = \"light\"
tasks = [
    { name = \"slow\", wcet = \"10ms\", period = \"500ms\" },
    { name = \"slower\", wcet = \"10ms\", period = \"1s\" },
]
";

fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).expect("reads").map(|entry| entry.expect("reads").path());
    entries.map(|path| (utf8(&path).to_owned(), fs::read_to_string(&path).expect("a text"))).collect()
}

#[test]
fn files_of_the_user_are_left_alone_by_studies_and_recordings() {
    let desk = tempfile::tempdir().expect("a directory");
    let names =
        ["report.html", "points.csv", "deadline-mean.csv", "deadline-max.csv", "ext-mean.csv", ".profile"];
    for name in names {
        fs::write(desk.path().join(name), "mine").expect("writes");
    }
    let before = files(desk.path());
    let out = utf8(desk.path());
    let sweep = ["--cpu-counts", "1", "--tasks", "1", "--schedulers", "p-rm", "--duration", "10ms"];
    for (call, holds) in [
        (&["study", "studies/cerqueira2014-fig8a.toml", "--sets", "1"][..], "study"),
        (&["study", "studies/lindsay2012-two-cores.toml", "--sets", "1"], "study"),
        (&["study", "studies/lindsay2012-two-cores.toml", "--sets", "1", "--real"], "study"),
        (&[&["study", "overheads"], &sweep[..]].concat(), "study"),
        (&[&["study", "schedules"], &sweep[..]].concat(), "study"),
        (&["overheads", "--duration", "10ms"], "recording"),
        (&["overheads", "--duration", "10ms", "--force"], "recording"),
    ] {
        let said = refused(&[call, &["-o", out]].concat());
        let rule = format!("the directory {out} is not empty and holds no {holds} of laxity");
        assert!(said.contains(&rule) && said.contains("hint: choose another directory"), "{call:?}: {said}");
        assert_eq!(files(desk.path()), before, "{call:?}");
    }
}

#[test]
fn a_study_goes_on_in_its_own_directory() {
    let desk = tempfile::tempdir().expect("a directory");
    let out = desk.path().join("out");
    let call = ["study", "studies/cerqueira2014-fig8a.toml", "--sets", "1", "-o", utf8(&out)];
    let first = prints(&call);
    assert_eq!(prints(&call), first, "the same again");
    let said = refused(&[&call[..], &["--seed", "9"]].concat());
    assert!(said.contains("points of another study: seed 1 there, 9 asked for"), "{said}");
}

#[test]
fn a_slip_in_a_name_is_answered_with_the_name() {
    let desk = tempfile::tempdir().expect("a directory");
    let set = desk.path().join("set.toml");
    prints(&["init", utf8(&set)]);
    let set = utf8(&set);
    let study = desk.path().join("study.toml");
    fs::write(&study, "version = 1\nkind = \"simulaton\"\ncurves = []\n").expect("writes");
    let study = utf8(&study);
    let generate =
        |slip: [&'static str; 2]| [&["generate", "uunifast", "-n", "3", "-u", "1"][..], &slip].concat();
    for (call, meant) in [
        (generate(["--access", "randm"]), "`random`"),
        (generate(["--arrivals", "sporadc"]), "`sporadic`"),
        (generate(["--phases", "unifrm"]), "`uniform`"),
        (generate(["--deadlines", "constraned:0.5"]), "`constrained`"),
        (vec!["generate", "unc", "-u", "1", "--last", "drp"], "`drop`"),
        (vec!["generate", "waters", "--demand", "acett"], "`acet`"),
        (vec!["place", set, "--placement", "ff:utilisation"], "`utilization`"),
        (vec!["place", set, "--placement", "ff:density:dwn"], "`down`"),
        (vec!["analyze", set, "--overheads", "g-edff=x.csv"], "`g-edf`"),
        (vec!["simulate", set, "--schedulers", "g-edf:rmm"], "`g-rm`"),
        (vec!["run", set, "--schedulers", "c-rm:grb"], "`c-edf:grub`"),
        (vec!["study", study], "`simulation`"),
        (vec!["check", study], "`simulation`"),
        (vec!["schema", "result"], "`results`, which is `manifest`"),
        (vec!["study", "overheds"], "`overheads`"),
    ] {
        let said = refused(&call);
        assert!(said.contains(&format!("did you mean {meant}")), "{call:?}: {said}");
    }
    // A file whose name has = in it is a file.
    let said = refused(&["analyze", set, "--overheads", "dir/a=b.csv"]);
    assert!(said.contains("dir/a=b.csv: no such file"), "{said}");
}

#[test]
fn shipped_files_and_standard_input_are_read_by_all() {
    let elsewhere = tempfile::tempdir().expect("a directory");
    let checked =
        output(laxity().args(["-q", "check", "examples/avionics.toml"]).current_dir(elsewhere.path()));
    assert_eq!(checked.status.code(), Some(0), "{}", words(&checked));
    assert!(text(&checked.stdout).starts_with("examples/avionics.toml: task set, valid"));
    assert!(checked.stderr.is_empty(), "-q: {}", words(&checked));
    let csv = prints(&["generate", "uunifast", "-n", "3", "-u", "1", "--format", "csv"]);
    let read = fed(&["check", "-"], &csv);
    assert!(text(&read.stdout).contains("3 tasks, utilization 1.000"), "{}", words(&read));
    // CSV has no comments: that is what is said, and not that it is no TOML.
    let read = fed(&["check", "-"], &format!("# by hand\n{csv}"));
    assert!(words(&read).contains("standard input: the header has the unknown column"), "{}", words(&read));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/lindsay2012-two-cores.toml");
    let study = fs::read_to_string(path).expect("reads");
    let out = elsewhere.path().join("out");
    let ended = fed(&["study", "-", "-o", utf8(&out)], &study.replacen("kind =", "knd =", 1));
    assert!(words(&ended).contains("standard input: "), "it is read: {}", words(&ended));
}

#[test]
fn options_mean_the_same_everywhere() {
    // A number is how many, a list is which.
    for (cpus, real_time) in [("1", "0"), ("0-0", "0")] {
        let ended = output(laxity().args(["doctor", "--json", "--cpus", cpus]));
        assert_eq!(json(&text(&ended.stdout))["cpus"], real_time, "--cpus {cpus}");
    }
    assert!(refused(&["doctor", "--cpus", "8000"]).contains("--cpus 8000: the platform"), "too many");
    assert!(refused(&["doctor", "--cpus", "2-1"]).contains("--cpus: CPU list `2-1`"));
    let desk = tempfile::tempdir().expect("a directory");
    let set = desk.path().join("set.toml");
    fs::write(&set, LIGHT).expect("writes");
    let told = |option| prints(&["settings", utf8(&set), option, "p-fp", "--cpus", "2"]);
    assert_eq!(told("--schedulers"), told("--scheduler"));
    let said = refused(&["settings", utf8(&set), "--schedulers", "p-fp,p-edf"]);
    assert!(said.contains("for one scheduler") && said.contains("`auto`"), "{said}");
}

#[test]
fn cpus_and_numbers_of_things_agree_with_their_words() {
    let desk = tempfile::tempdir().expect("a directory");
    let set = desk.path().join("set.toml");
    fs::write(&set, LIGHT).expect("writes");
    let told = prints(&["settings", utf8(&set), "--scheduler", "p-fp", "--cpus", "2"]);
    assert!(told.contains("\nCPU ") && !told.contains("CPUs 0: ") && !told.contains("CPUs 1: "), "{told}");
    let told = prints(&["analyze", utf8(&set), "--cpus", "1", "--schedulers", "g-edf"]);
    assert!(told.contains("1 CPU of platform `1 identical CPU`"), "{told}");
}

#[test]
fn help_is_plain_whole_and_hides_what_is_hidden() {
    let general = prints(&["--help"]);
    let listed = general.split("Commands:\n").nth(1).expect("commands");
    let names: Vec<&str> = listed
        .lines()
        .map_while(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    assert!(names.len() > 20 && !names.contains(&"__man"), "{names:?}");
    for name in names {
        let call = if name == "help" { vec!["--help"] } else { vec![name, "--help"] };
        let help = text(&output(laxity().args(&call).env("LC_ALL", "C")).stdout);
        assert!(help.is_ascii(), "{name}: {help}");
        assert!(help.contains("Exit codes:"), "{name}: {help}");
    }
    let said = refused(&["-q"]);
    assert!(said.contains("no command is named") && !said.contains("__man"), "{said}");
    let full = output(laxity().arg("--help").stdout(File::create("/dev/full").expect("opens")));
    assert_eq!(full.status.code(), Some(3), "{}", words(&full));
    // What is called a value is one: with the case in which it is taken.
    let help = prints(&["generate", "unc", "--help"]);
    for value in
        ["deadlines: implicit |", "none (synchronous) |", "periodic | sporadic", "sequential | random\n"]
    {
        assert!(help.contains(value), "{value}: {help}");
    }
    assert!(help.contains("Examples:\n  laxity generate unc "), "{help}");
    // No description of `list` ends in the middle of a sentence.
    let answer = json(&prints(&["list", "overheads", "--json"]));
    for one in answer["overheads"].as_array().expect("a list") {
        assert!(one["description"].as_str().is_some_and(|words| words.ends_with('.')), "{one}");
    }
}

#[test]
fn check_says_of_what_laxity_writes_what_it_is() {
    let desk = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = desk.path().join(name);
        fs::write(&path, text).expect("writes");
        path
    };
    let set = file("light.toml", LIGHT);
    let deployed = desk.path().join("deployed");
    let results = desk.path().join("results");
    prints(&["settings", utf8(&set), "--cpus", "2", "--deploy", utf8(&deployed)]);
    prints(&["simulate", utf8(&set), "--cpus", "2", "--duration", "1s", "--out", utf8(&results)]);
    assert!(prints(&["check", utf8(&deployed)]).contains("plan of what to set, valid"));
    let sets = prints(&["generate", "uunifast", "-n", "2", "-u", "1", "--count", "2", "--json"]);
    for (path, why) in [
        (results.join("summary.json"), "laxity has written this file itself"),
        (file("sets.json", &sets), "it is an array of 2 entries"),
        (file("README.md", "# Title\n\nWords: and more.\n"), "it is neither TOML nor JSON"),
        (file("samples.csv", "# by hand\nus\n1.1\n"), "samples of a cost"),
        (desk.path().to_owned(), "neither manifest.json nor plan.json is in it"),
    ] {
        let said = refused(&["check", utf8(&path)]);
        assert!(said.contains(why), "{}: {said}", path.display());
    }
}

/// Its first job ends long after the last release.
#[test]
fn a_job_that_does_not_end_is_drawn() {
    let desk = tempfile::tempdir().expect("a directory");
    let set = desk.path().join("long.toml");
    fs::write(&set, "version = 1\ntasks = [{ name = \"long\", wcet = \"1min\", period = \"1h\" }]\n")
        .expect("writes");
    let call = ["simulate", utf8(&set), "--cpus", "1", "--scheduler", "g-edf", "--duration", "10s"];
    assert!(prints(&call).contains("No job ended."));
    let drawn = prints(&[&call[..], &["--gantt"]].concat());
    assert!(drawn.contains("t in [0, 10s)") && drawn.contains("100 %"), "{drawn}");
}

/// Answers that no other test checks against their schemas.
#[test]
fn answers_are_what_their_schemas_say() {
    let folder = tempfile::tempdir().expect("a directory");
    let set = folder.path().join("light.toml");
    fs::write(&set, LIGHT).expect("writes");
    let set = utf8(&set);
    for (schema, call) in [
        ("placement", vec!["place", set, "--cpus", "2", "--json"]),
        ("placement", vec!["place", set, "--cpus", "2", "--placement", "ilp", "--json"]),
        ("placement", vec!["place", set, "--cpus", "2", "--scheduler", "p-rm", "--json"]),
        ("check", vec!["check", set, "--json"]),
        ("list", vec!["list", "--json"]),
        ("list", vec!["list", "tests", "--json"]),
        ("kernels", vec!["vm", "--kernels", "--json", "--offline"]),
    ] {
        let schema = json(&prints(&["schema", schema]));
        let answer = json(&prints(&call));
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let wrong: Vec<String> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{call:?}: {wrong:?}\n{answer:#}");
    }
}
