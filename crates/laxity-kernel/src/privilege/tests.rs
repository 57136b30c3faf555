//! Processes of several users, in namespaces of their own and not, as `/proc` and sockets show them.
//!
//! Root plays the users; without root each test says that it was skipped.

use super::*;
use players::*;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where a peer that one of these tests has started connects to.
const SOCKET: &str = "LAXITY_TEST_SOCKET";

/// A program that stands still once it is what it is to be.
struct Sleeper(Child);

impl Sleeper {
    fn start(words: &[&[&str]]) -> Self {
        let sleeper = Sleeper(command(&[words, &[&["sleep", "1000"]]].concat()).spawn().expect("util-linux"));
        let begun = Instant::now();
        let name = format!("/proc/{}/comm", sleeper.0.id());
        while fs::read_to_string(&name).expect("there") != "sleep\n" {
            assert!(begun.elapsed() < Duration::from_secs(60), "{words:?} does not begin");
            std::thread::sleep(Duration::from_millis(1));
        }
        sleeper
    }

    fn may_have_deadlines(&self) -> bool {
        Privileges::of_thread(self.0.id()).expect("root may look").has(Capability::SysNice)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_capability_counts_in_the_initial_namespace_only() {
    if !can_play() {
        return;
    }
    let ambient = [&NOBODY[..], &AMBIENT].concat();
    let cases: [(&[&[&str]], bool); 8] = [
        (&[], true),
        (&[&NOBODY], false),
        (&[&ambient], true),
        (&[&BOUNDED], false),
        (&[&OWN_NAMESPACE], false),
        (&[&NOBODY, &OWN_NAMESPACE], false),
        (&[&ambient, &OWN_NAMESPACE], false),
        (&[&NOBODY, &OWN_NAMESPACE, &OWN_NAMESPACE], false),
    ];
    for (confinement, may) in cases {
        assert_eq!(Sleeper::start(confinement).may_have_deadlines(), may, "{confinement:?}");
    }
}

/// Not a test of its own: what `peer` starts.
#[test]
fn connects_where_it_is_told_to() {
    if let Some(path) = std::env::var_os(SOCKET) {
        let _stream = UnixStream::connect(path).expect("connected");
        std::thread::sleep(Duration::from_secs(1000));
    }
}

/// This program as a user, connected to the socket there.
fn peer(words: &[&[&str]], socket: &Path) -> Command {
    let this = std::env::current_exe().expect("known");
    let this = this.to_str().expect("UTF-8");
    let test = "privilege::tests::connects_where_it_is_told_to";
    let mut command = command(&[words, &[&[this, "--exact", test]]].concat());
    command.env(SOCKET, socket).stdout(Stdio::null());
    command
}

/// All are root by their number, and may connect to what is root's.
#[test]
fn root_in_a_namespace_or_a_container_is_not_the_peer_that_root_is() {
    if !can_play() {
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).expect("bound");
    let cases: [(&[&[&str]], bool); 4] = [
        (&[], true),
        (&[&OWN_NAMESPACE], false),
        (&[&OWN_NAMESPACE, &OWN_NAMESPACE], false),
        (&[&BOUNDED], false),
    ];
    for (confinement, may) in cases {
        let started = Sleeper(peer(confinement, &path).spawn().expect("started"));
        let (stream, _) = listener.accept().expect("connected");
        let found = Privileges::of_peer(&stream).expect("there");
        assert_eq!(found.has(Capability::SysNice), may, "{confinement:?}");
        drop(started);
    }
}

/// A process of root's that has the number of one that is gone, if the kernel gives it away.
fn successor(number: u32) -> Option<Sleeper> {
    for _ in 0..100 {
        // The next process has the next number that is free. Others may be faster.
        fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).ok()?;
        let started = Sleeper::start(&[]);
        if started.0.id() == number {
            return Some(started);
        }
    }
    None
}

#[test]
fn a_process_with_the_number_of_a_peer_that_is_gone_does_not_speak_for_it() {
    if !can_play() {
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).expect("bound");
    let started = Sleeper(peer(&[&BOUNDED], &path).spawn().expect("started"));
    let (stream, _) = listener.accept().expect("connected");
    let number = started.0.id();
    drop(started);
    Privileges::of_peer(&stream).expect_err("it is gone");
    match successor(number) {
        Some(other) if other.may_have_deadlines() => {
            Privileges::of_peer(&stream).expect_err("it is another process");
        }
        _ => eprintln!("SKIPPED: no other process gets its number"),
    }
}
