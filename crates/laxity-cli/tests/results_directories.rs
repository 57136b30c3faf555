//! Directories that laxity fills: nothing in them is trusted, one process writes at a time, and what appears in them is whole
//! or not there, whatever fails meanwhile.

mod host;

use host::{laxity, output, words};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const ONE: &str = r#"{"version":1,"name":"alder","tasks":[{"name":"a","wcet":"1ms","period":"4ms"}]}"#;
const TWO: &str = r#"{"version":1,"name":"birch","tasks":[{"name":"b","wcet":"1ms","period":"3ms"},
    {"name":"c","wcet":"2ms","period":"7ms"}]}"#;

struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { root: tempfile::tempdir().expect("a directory") };
        fs::write(place.path("one.json"), ONE).expect("written");
        fs::write(place.path("two.json"), TWO).expect("written");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A simulation of the set into `results`, with options.
    fn simulate(&self, set: &str, options: &[&str]) -> Command {
        let mut command = laxity();
        command
            .current_dir(self.root.path())
            .args(["simulate", set, "--cpus", "1", "--out", "results", "-q"]);
        command.args(options);
        command
    }

    /// Results of the first set, with its report.
    fn with_results() -> Place {
        let place = Place::new();
        let made = output(&mut place.simulate("one.json", &["--duration", "100ms"]));
        assert!(made.status.success(), "{}", words(&made));
        place
    }

    fn report(&self) -> Output {
        output(laxity().current_dir(self.root.path()).args(["report", "results", "-q"]))
    }

    /// The name of the set that each file of the results tells of.
    fn sets_told(&self) -> Vec<&'static str> {
        let told =
            ["manifest.json", "summary.json", "summary.md", "report.html"].into_iter().filter_map(|name| {
                let text = fs::read_to_string(self.path("results").join(name)).ok()?;
                Some(match (text.contains("alder"), text.contains("birch")) {
                    (true, false) => "one",
                    (false, true) => "two",
                    both => panic!("{name} tells of {both:?}"),
                })
            });
        told.collect()
    }
}

/// All files below a directory with what they hold.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).expect("readable"))),
        }
    }
    all
}

#[test]
fn a_report_follows_no_links() {
    let place = Place::with_results();
    let precious = place.path("bashrc");
    fs::write(&precious, "mine").expect("written");
    for name in ["summary.md", "report.html", "summary.json"] {
        fs::remove_file(place.path("results").join(name)).expect("removed");
        symlink(&precious, place.path("results").join(name)).expect("a link");
        symlink(&precious, place.path("results").join(format!(".{name}.draft"))).expect("a link");
    }
    let reported = place.report();
    assert!(reported.status.success(), "{}", words(&reported));
    assert_eq!(fs::read_to_string(&precious).expect("there"), "mine");
    assert_eq!(place.sets_told(), ["one"; 4], "the links are replaced by files");
}

#[test]
fn a_directory_of_plots_that_is_a_link_is_refused() {
    let place = Place::with_results();
    let elsewhere = place.path("elsewhere");
    fs::create_dir(&elsewhere).expect("made");
    fs::write(elsewhere.join("old.svg"), "mine").expect("written");
    fs::remove_dir_all(place.path("results/plots")).expect("removed");
    symlink(&elsewhere, place.path("results/plots")).expect("a link");
    let reported = place.report();
    assert_eq!(reported.status.code(), Some(2), "{}", words(&reported));
    assert!(words(&reported).contains("results/plots: it is a link or a file"), "{}", words(&reported));
    let left: Vec<_> = contents(&elsewhere).into_values().collect();
    assert_eq!(left, [b"mine"]);
}

#[test]
fn plots_of_earlier_results_go_and_files_of_the_user_stay() {
    let place = Place::with_results();
    fs::write(place.path("results/notes.txt"), "mine").expect("written");
    fs::write(place.path("results/plots/of-an-earlier-time.svg"), "").expect("written");
    for folder in ["", "/systemd", "/arm", "/arm/c", "/mine"] {
        fs::create_dir(place.path(&format!("results/deploy{folder}"))).expect("made");
    }
    let ours = ["run-as-root.sh", "systemd/laxity-a.service", "arm/plan.json", "arm/c/laxity_apply.c"];
    let users = ["mine/start.sh", "systemd/override.conf", "arm/program"];
    for file in ours.iter().chain(&users) {
        fs::write(place.path(&format!("results/deploy/{file}")), "").expect("written");
    }
    assert!(place.report().status.success());
    assert!(!place.path("results/plots/of-an-earlier-time.svg").exists());
    let replaced = output(&mut place.simulate("two.json", &["--duration", "100ms", "--force"]));
    assert!(replaced.status.success(), "{}", words(&replaced));
    assert_eq!(place.sets_told(), ["two"; 4]);
    assert_eq!(fs::read_to_string(place.path("results/notes.txt")).expect("kept"), "mine");
    for file in ours {
        assert!(
            !place.path(&format!("results/deploy/{file}")).exists(),
            "{file} is of the earlier experiment"
        );
    }
    for file in users {
        assert!(place.path(&format!("results/deploy/{file}")).exists(), "{file} is the user's");
    }
    assert!(!place.path(".results.draft").exists());
}

/// Killed at any moment, `--force` leaves the earlier experiment or the new one.
#[test]
fn force_replaces_an_experiment_as_a_whole_or_not_at_all() {
    let place = Place::with_results();
    let earlier = contents(&place.path("results"));
    let mut done = 0;
    for wait_ms in (0..).step_by(3) {
        let mut command = place.simulate("two.json", &["--duration", "20s", "--events", "--force"]);
        let mut running = command.stdout(Stdio::null()).spawn().expect("started");
        sleep(Duration::from_millis(wait_ms));
        running.kill().expect("it is ours");
        let ended = running.wait().expect("it ends");
        let told = place.sets_told();
        if told.contains(&"two") {
            assert!(told.iter().all(|set| *set == "two"), "after {wait_ms} ms: {told:?}");
            assert!(place.report().status.success(), "after {wait_ms} ms");
            done += 1;
            let again = output(&mut place.simulate("one.json", &["--duration", "100ms", "--force"]));
            assert!(again.status.success(), "{}", words(&again));
        } else {
            let now = contents(&place.path("results"));
            let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&now), names(&earlier), "after {wait_ms} ms");
        }
        if ended.success() {
            break;
        }
        assert_eq!(ended.signal(), Some(9));
    }
    assert!(done > 0, "one ran to its end");
}

#[test]
fn one_process_at_a_time_writes_to_a_directory() {
    let place = Place::with_results();
    let mut long = place.simulate("two.json", &["--duration", "10m", "--threads", "1", "--force"]);
    let mut first = long.stdout(Stdio::null()).spawn().expect("started");
    while !place.path(".results.draft/manifest.json").exists() {
        assert!(first.try_wait().expect("ours").is_none(), "it has ended before it was seen");
        sleep(Duration::from_millis(1));
    }
    let second = output(&mut place.simulate("one.json", &["--duration", "100ms", "--force"]));
    let report = place.report();
    let running = first.try_wait().expect("ours").is_none();
    first.kill().expect("ours");
    first.wait().expect("it ends");
    assert!(running, "the machine is so fast that the first one was done: make it longer");
    for refused in [second, report] {
        assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
        assert!(words(&refused).contains("another laxity is writing to results"), "{}", words(&refused));
    }
    let after = output(&mut place.simulate("two.json", &["--duration", "100ms", "--force"]));
    assert!(
        after.status.success(),
        "the lock and the draft of a killed process are no obstacle: {}",
        words(&after)
    );
}

/// The calls by which files come to be and go.
const CALLS: [&str; 5] = [
    "rename,renameat,renameat2",
    "mkdir,mkdirat",
    "fsync,fdatasync",
    "unlink,unlinkat,rmdir",
    "ftruncate,fallocate",
];

/// Each of the calls fails in turn, as on a full disk, until there are no more; `strace` does that. Gives how many did.
fn each_failing(calls: &str, command: impl Fn() -> Command, mut check: impl FnMut(&Output, &str)) -> u32 {
    for when in 1.. {
        let plain = command();
        let directory = plain.get_current_dir().expect("it has one").to_owned();
        let mut traced = Command::new("strace");
        traced.current_dir(&directory).args(["-f", "-qq", "-o", "trace", "-e", &format!("trace={calls}")]);
        traced.args(["-e", &format!("inject={calls}:error=ENOSPC:when={when}")]);
        traced.arg(plain.get_program()).args(plain.get_args()).env("LC_ALL", "C.UTF-8");
        let ran = output(&mut traced);
        let failed =
            fs::read_to_string(directory.join("trace")).expect("strace writes it").contains("(INJECTED)");
        check(&ran, &format!("{calls} number {when}"));
        if !failed {
            assert!(ran.status.success(), "{}", words(&ran));
            return when - 1;
        }
    }
    unreachable!("numbers do not end")
}

/// Files cannot grow beyond `blocks` of 512 bytes.
fn with_small_files(command: &Command, blocks: u32) -> Output {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh"]);
    limited.arg(command.get_program()).args(command.get_args()).env("LC_ALL", "C.UTF-8");
    output(limited.current_dir(command.get_current_dir().expect("it has one")))
}

fn has_strace() -> bool {
    let there =
        Command::new("strace").arg("--version").output().is_ok_and(|version| version.status.success());
    if !there {
        eprintln!("SKIPPED: strace is not installed");
    }
    there
}

/// It ended well, or said why not.
fn ended_in_words(ran: &Output, what: &str) {
    let said = words(ran);
    match ran.status.code() {
        Some(0) => {}
        Some(3) => assert!(said.contains("error: ") && said.contains("cannot "), "{what}: {said}"),
        code => panic!("{what}: exit code {code:?}: {said}"),
    }
    assert!(!said.contains("panicked"), "{what}: {said}");
}

#[test]
fn a_report_is_whole_whatever_fails() {
    let place = Place::with_results();
    let whole = contents(&place.path("results"));
    let command = || {
        let mut command = laxity();
        command.current_dir(place.root.path()).args(["report", "results", "-q"]);
        command
    };
    let check = |ran: &Output, what: &str| {
        ended_in_words(ran, what);
        assert_eq!(contents(&place.path("results")), whole, "{what}");
    };
    let blocks = (0..).find(|&blocks| {
        let ran = with_small_files(&command(), blocks * 8);
        check(&ran, &format!("files of at most {} blocks", blocks * 8));
        ran.status.success()
    });
    assert!(blocks > Some(3), "the page has some 100 kB");
    if has_strace() {
        assert!(each_failing(CALLS[0], command, check) > 3, "a report has four files and more");
    }
}

#[test]
fn an_experiment_is_replaced_as_a_whole_whatever_fails() {
    let place = Place::with_results();
    let command = || place.simulate("two.json", &["--duration", "100ms", "--events", "--force"]);
    let check = |ran: &Output, what: &str| {
        ended_in_words(ran, what);
        let told = place.sets_told();
        assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{what}: {told:?}");
        let back = output(&mut place.simulate("one.json", &["--duration", "100ms", "--force"]));
        assert!(back.status.success(), "{what}: what has failed is in the way of the next: {}", words(&back));
        assert_eq!(place.sets_told(), ["one"; 4], "{what}");
    };
    for blocks in [0, 1, 2, 4, 8, 16, 64, 256] {
        check(&with_small_files(&command(), blocks), &format!("files of at most {blocks} blocks"));
    }
    if has_strace() {
        let failed: Vec<u32> = CALLS.iter().map(|calls| each_failing(calls, command, check)).collect();
        assert!(failed[0] > 3 && failed[1] > 0 && failed[3] > 0, "{failed:?}");
    }
}
