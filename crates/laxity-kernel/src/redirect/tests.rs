//! Programs of several users under the filter: util-linux's `chrt` asks for SCHED_DEADLINE. Where no policy of laxity's is
//! attached, a caller that may have a deadline hears that there is no room for it.

use super::{filter, redirector};
use crate::privilege::players::{AMBIENT, BOUNDED, NOBODY, OWN_NAMESPACE, can_play, command};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

const ASK: [&str; 10] =
    ["chrt", "--deadline", "-T", "5000000", "-D", "50000000", "-P", "50000000", "0", "true"];

/// What `chrt` says as that user, under a redirector that is root's; nothing where no system call can be watched.
fn asked_by(confinement: &[&[&str]]) -> Option<String> {
    let mut asking = command(&[confinement, &[&ASK]].concat());
    asking.env("LC_ALL", "C").stdout(Stdio::null()).stderr(Stdio::piped());
    let (send, listener) = mpsc::channel();
    let caller = thread::spawn(move || {
        send.send(filter::install()).expect("the other end waits");
        asking.output().expect("util-linux")
    });
    let listener = match listener.recv().expect("it begins with that") {
        Ok(listener) => listener,
        Err(why) => {
            eprintln!("SKIPPED: system calls cannot be watched: {why}");
            return None;
        }
    };
    redirector::answer_all(&listener).expect("the kernel is answered");
    let said = caller.join().expect("no panic");
    Some(String::from_utf8_lossy(&said.stderr).into_owned())
}

#[test]
fn a_user_namespace_has_no_deadline_redirected() {
    if !can_play() || crate::attached().is_some() {
        return;
    }
    let ambient = [&NOBODY[..], &AMBIENT].concat();
    let cases: [(&[&[&str]], &str); 7] = [
        (&[], "busy"),
        (&[&ambient], "busy"),
        (&[&NOBODY], "not permitted"),
        (&[&BOUNDED], "not permitted"),
        (&[&OWN_NAMESPACE], "not permitted"),
        (&[&NOBODY, &OWN_NAMESPACE], "not permitted"),
        (&[&ambient, &OWN_NAMESPACE, &OWN_NAMESPACE], "not permitted"),
    ];
    for (confinement, answer) in cases {
        let Some(said) = asked_by(confinement) else { return };
        assert!(said.contains(answer), "{confinement:?}: {said}");
    }
}
