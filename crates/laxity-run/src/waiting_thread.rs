//! A thread for tests to work on.

use std::sync::mpsc::{Sender, channel};

/// A thread that stays until the sender is dropped, and its number.
pub fn waiting_thread() -> (Sender<()>, i32) {
    let (stay, left) = channel();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("still listening");
        left.recv()
    });
    (stay, told.recv().expect("the thread starts"))
}
