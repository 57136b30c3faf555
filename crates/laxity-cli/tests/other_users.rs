//! What another user of the machine cannot do to this one: plant a journal that laxity executes, or hold its lock.
//!
//! Root plays both users; without root each test says that it was skipped.

mod host;
mod patience;

use host::{SMALL_SET, copy_program, is_root, laxity, output, words};
use patience::patiently;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const VICTIM: u32 = 54_321;
const ATTACKER: u32 = 54_322;

fn may_play_users() -> bool {
    if !is_root() {
        eprintln!("SKIPPED: only root can play several users");
    }
    is_root()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("root may");
}

/// A shared directory as /tmp is, the program in it, and the victim's home.
struct Machine {
    shared: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Machine { shared: tempfile::tempdir().expect("directory") };
        mode(machine.shared.path(), 0o1777);
        copy_program(&machine.path("laxity"));
        mode(&machine.path("laxity"), 0o755);
        fs::write(machine.path("small.toml"), SMALL_SET).expect("write");
        mode(&machine.path("small.toml"), 0o644);
        fs::create_dir(machine.path("home")).expect("made");
        fs::write(machine.path("home/.bashrc"), "mine").expect("write");
        for path in ["home", "home/.bashrc"] {
            chown(machine.path(path), Some(VICTIM), Some(VICTIM)).expect("root may");
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.shared.path().join(name)
    }

    fn run_of_victim(&self, environment: &[(&str, &Path)]) -> Output {
        let mut command = Command::new("setpriv");
        let id = VICTIM.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(self.path("laxity"));
        command.args([
            "run",
            "small.toml",
            "--scheduler",
            "p-edf",
            "--duration",
            "50ms",
            "--out",
            "home/results",
        ]);
        command
            .current_dir(self.shared.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("set"));
        output(command.env("TMPDIR", self.shared.path()).envs(environment.iter().copied()))
    }

    /// The attacker makes a directory for the victim's run-time state, with a journal that names the victim's file.
    fn plant(&self, directory: &Path) {
        fs::create_dir_all(directory).expect("made");
        mode(directory, 0o777);
        chown(directory, Some(ATTACKER), Some(ATTACKER)).expect("done by root");
        self.write_journal(directory, ATTACKER);
    }

    /// A user's journal that names the victim's file.
    fn write_journal(&self, directory: &Path, user: u32) {
        let (file, journal) = (self.path("home/.bashrc"), directory.join("undo-1.json"));
        fs::write(&journal, format!(r#"[{{"write":{{"path":{file:?},"value":"planted"}}}}]"#))
            .expect("write");
        chown(journal, Some(user), Some(user)).expect("done by root");
    }

    fn is_unharmed(&self, ended: &Output) {
        let found = fs::read_to_string(self.path("home/.bashrc")).expect("there");
        assert_eq!(found, "mine", "{}", words(ended));
    }
}

#[test]
fn a_planted_journal_is_not_executed() {
    if !may_play_users() {
        return;
    }
    let machine = Machine::new();
    let home = machine.path("home");
    // Where laxity once looked, and where it looks.
    machine.plant(&machine.path(&format!("laxity-{VICTIM}")));
    machine.is_unharmed(&machine.run_of_victim(&[("HOME", &home)]));
    assert!(home.join(".local/state/laxity").is_dir(), "the run has got as far as its own directory");

    let session = machine.path("session");
    machine.plant(&session.join("laxity"));
    let ended = machine.run_of_victim(&[("HOME", &home), ("XDG_RUNTIME_DIR", &session)]);
    machine.is_unharmed(&ended);
    assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
    assert!(words(&ended).contains("cannot trust"), "{}", words(&ended));
}

/// The victim's own directory is believed, but a journal that names what laxity does not change is not.
#[test]
fn a_journal_that_names_other_files_is_not_carried_out() {
    if !may_play_users() {
        return;
    }
    let machine = Machine::new();
    let (home, state) = (machine.path("home"), machine.path("home/.local/state/laxity"));
    machine.run_of_victim(&[("HOME", &home)]);
    fs::create_dir_all(&state).expect("made");
    machine.write_journal(&state, VICTIM);
    let ended = machine.run_of_victim(&[("HOME", &home)]);
    machine.is_unharmed(&ended);
    assert!(words(&ended).contains("no journal of laxity's"), "{}", words(&ended));
}

#[test]
fn without_a_private_directory_nothing_is_run() {
    if !may_play_users() {
        return;
    }
    let machine = Machine::new();
    let ended = machine.run_of_victim(&[]);
    assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
    assert!(words(&ended).contains("no private directory"), "{}", words(&ended));
}

/// Whatever the umask, root's directory and lock have modes that keep other users from opening, and so from holding, the lock.
#[test]
fn another_user_cannot_hold_roots_lock() {
    if !may_play_users() {
        return;
    }
    let here = tempfile::tempdir().expect("directory");
    fs::write(here.path().join("small.toml"), SMALL_SET).expect("write");
    patiently(|| {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(laxity().get_program());
        command.args([
            "run",
            "small.toml",
            "--scheduler",
            "p-edf",
            "--duration",
            "50ms",
            "--force",
            "--out",
            "results",
        ]);
        command.current_dir(here.path());
        command
    });
    for (path, is) in [("/run/laxity", 0o700), ("/run/laxity/lock", 0o600)] {
        assert_eq!(fs::metadata(path).expect("made by the run").mode() & 0o777, is, "{path}");
    }
    let id = ATTACKER.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
    let held = output(command.args(["flock", "--nonblock", "/run/laxity/lock", "true"]));
    assert_ne!(held.status.code(), Some(0), "{}", words(&held));
    // Root's own can.
    File::open("/run/laxity/lock").expect("root may");
}
