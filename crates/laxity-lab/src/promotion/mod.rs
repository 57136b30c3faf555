//! Threads become real-time tasks of a loaded amp-rm and background ones again: `laxity load` decides, `laxity promote`, `demote`
//! and `resize` ask it over a socket.

mod authority;
mod messages;

pub use authority::{Authority, Reserved};
pub use messages::{Order, OrderOutcome, Proven, lateness};

use laxity_model::{Diagnostic, Result, ShownPath as _};
use laxity_run::{Channel, existing_state_directory};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;

/// Where the loader listens, in the directory for run-time state: only the loader's user may write there.
const SOCKET: &str = "amp-rm.socket";

/// Has the loader carry out an order.
///
/// # Errors
///
/// No loader listens, or it does not listen to this user; what the loader has against the order.
pub fn ask(order: &Order) -> Result<OrderOutcome> {
    let none_loaded = |why: String| {
        Diagnostic::environment(format!("no amp-rm is loaded: {why}"))
            .hint("load it first, as the same user: sudo laxity load amp-rm --server 25%/4ms")
    };
    let directory = existing_state_directory()?
        .ok_or_else(|| none_loaded("this user has no run-time state of laxity".into()))?;
    let path = directory.path().join(SOCKET);
    let stream = UnixStream::connect(&path).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => Diagnostic::environment(format!(
            "only the user who has loaded amp-rm may change its tasks: {}: {error}",
            path.shown()
        ))
        .hint("run this as that user: sudo laxity ..."),
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            none_loaded(format!("{}: {error}", path.shown()))
        }
        _ => Diagnostic::environment(format!("{}: {error}", path.shown())),
    })?;
    let mut loader = Channel::over(stream);
    let ended = |why: String| {
        Diagnostic::environment(format!("the loader of amp-rm has not answered: {why}"))
            .hint("it may have ended meanwhile; then all tasks are as they were before they were promoted")
    };
    loader.send(order).map_err(|error| ended(error.to_string()))?;
    loader.receive().map_err(|error| ended(error.to_string()))?.ok_or_else(|| ended("it has ended".into()))
}
