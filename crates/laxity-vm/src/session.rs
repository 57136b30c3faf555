//! A running machine: it boots, does its errand, and is watched meanwhile.

use crate::Audience;
use crate::console::{Tail, without_time};
use crate::files::Travel;
use crate::preflight::{Problem, refusal};
use crate::process::{LOOK_EVERY, Tied, interrupted};
use crate::protocol::Frame;
use crate::qemu::Lines;
use crate::results::Results;
use crate::{slowed, turns};
use laxity_model::{Diagnostic, Result, Speed};
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Signals as Linux numbers them on x86-64.
const SIGINT: u32 = 2;
const SIGPIPE: u32 = 13;
const SIGTERM: u32 = 15;
/// How long a command that was asked to end may take to write down what it has.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// How long the machine may be silent while it sends its files.
const SENDS_WITHIN: Duration = Duration::from_secs(60);
/// How long a machine whose lines are closed may take to vanish.
const VANISHES_WITHIN: Duration = Duration::from_secs(5);

/// Which way into the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Port,
    Uart,
}

enum Event {
    Frame(Way, Frame),
    /// Nothing more comes this way; why, if that is not because the machine has ended.
    Closed(Way, Option<String>),
    Console(Vec<u8>),
    /// QEMU's own words.
    Qemu(Vec<u8>),
}

/// Why a machine did not boot.
pub struct BootFailure {
    /// In words.
    pub why: String,
    /// The end of its console, with a line break before it, or nothing.
    pub console: String,
    /// It may boot the next time.
    pub may_pass: bool,
    /// It ran out of time.
    pub too_slow: bool,
}

/// How a command ended.
pub struct End {
    /// Its exit code.
    pub code: u8,
    /// How many files came back.
    pub files: usize,
}

/// A running machine. Dropping it ends it.
pub struct Session {
    process: Tied,
    events: Receiver<Event>,
    port: UnixStream,
    uart: UnixStream,
    way: Way,
    console: Tail,
    qemu: Tail,
    begun: Instant,
    booted: Duration,
}

impl Session {
    /// Watches a machine that has just been started.
    ///
    /// # Errors
    /// The host is out of descriptors or threads.
    pub fn over(mut process: Tied, lines: Lines) -> Result<Self> {
        let cannot =
            |error: std::io::Error| Diagnostic::environment(format!("cannot watch the machine: {error}"));
        // Bounded, so that a command that writes faster than the host reads has to wait.
        let (sender, events) = sync_channel(64);
        let port = lines.port.try_clone().map_err(cannot)?;
        let uart = lines.uart.try_clone().map_err(cannot)?;
        frames(lines.port, Way::Port, sender.clone());
        frames(lines.uart, Way::Uart, sender.clone());
        if let Some(out) = process.child().stdout.take() {
            bytes(out, Event::Console, sender.clone());
        }
        if let Some(err) = process.child().stderr.take() {
            bytes(err, Event::Qemu, sender);
        }
        Ok(Session {
            process,
            events,
            port,
            uart,
            way: Way::Port,
            console: Tail::default(),
            qemu: Tail::default(),
            begun: Instant::now(),
            booted: Duration::ZERO,
        })
    }

    /// How long it took from the start to the greeting.
    pub fn booted_in(&self) -> Duration {
        self.booted
    }

    /// Holds the machine's processors to parts of the host's.
    ///
    /// # Errors
    /// See [`slowed::hold`].
    pub fn slow(&mut self, speeds: &[Speed]) -> Result<()> {
        slowed::hold(self.process.child().id(), speeds)
    }

    /// Waits for the machine's greeting. A reason, if it does not come.
    ///
    /// # Errors
    /// `interrupt` became true.
    pub fn boot(
        &mut self,
        release: &str,
        limit: Duration,
        audience: &mut dyn Audience,
        interrupt: &AtomicBool,
    ) -> Result<Option<BootFailure>> {
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            match self.next(audience) {
                Some(Event::Frame(way, Frame::Hello)) => {
                    self.way = way;
                    self.booted = self.begun.elapsed();
                    if self.console.has("Oops: int3") {
                        return Ok(Some(
                            self.failure("the emulated kernel died while patching itself", true),
                        ));
                    }
                    // It may be too late to be of use, and the machine then shows that.
                    let _ = self.send(&Frame::Clock(now_ns()));
                    return Ok(None);
                }
                Some(Event::Closed(..)) => {
                    let why = self.how_it_died(audience);
                    return Ok(Some(self.failure(&why, self.console.has("Oops: int3"))));
                }
                _ => {}
            }
            if let Some(said) =
                self.qemu.line_with("KVM internal error").or(self.qemu.line_with("KVM: entry failed"))
            {
                return Ok(Some(self.failure(&said, false)));
            }
            if self.begun.elapsed() > limit {
                let why = format!("{release} has not started within {} s", limit.as_secs());
                return Ok(Some(BootFailure { too_slow: true, ..self.failure(&why, true) }));
            }
        }
    }

    fn failure(&self, why: &str, may_pass: bool) -> BootFailure {
        BootFailure { why: why.to_owned(), console: self.console.shown(), may_pass, too_slow: false }
    }

    /// The next event, if one comes soon. Words of the kernel and of QEMU are taken care of.
    fn next(&mut self, audience: &mut dyn Audience) -> Option<Event> {
        match self.events.recv_timeout(LOOK_EVERY) {
            Ok(Event::Console(bytes)) => {
                audience.console(&bytes);
                self.console.add(&bytes);
                None
            }
            Ok(Event::Qemu(bytes)) => {
                self.qemu.add(&bytes);
                None
            }
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::Closed(self.way, None)),
        }
    }

    fn send(&mut self, frame: &Frame) -> std::io::Result<()> {
        match self.way {
            Way::Port => frame.write(&mut self.port),
            Way::Uart => frame.write(&mut self.uart),
        }
    }

    /// Why the machine is gone, once its lines are closed.
    fn how_it_died(&mut self, audience: &mut dyn Audience) -> String {
        let give_up = Instant::now() + VANISHES_WITHIN;
        let status = loop {
            match self.process.child().try_wait() {
                Ok(None) if Instant::now() < give_up => {
                    self.next(audience);
                }
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        // Its last words may still be on their way.
        while let Ok(event) = self.events.recv_timeout(LOOK_EVERY) {
            match event {
                Event::Console(bytes) => self.console.add(&bytes),
                Event::Qemu(bytes) => self.qemu.add(&bytes),
                _ => {}
            }
        }
        if let Some(panic) = self.console.line_with("Kernel panic") {
            return format!("its kernel panicked: {}", without_time(&panic));
        }
        match (status, self.qemu.lines().into_iter().rfind(|line| !turns::warns_of_filter(line))) {
            (Some(status), Some(said)) if !status.success() => format!("QEMU failed: {said}"),
            (Some(status), None) if !status.success() => format!("QEMU ended with {status}"),
            (Some(_), _) => "the machine switched itself off".into(),
            (None, _) => "the machine does not answer any more".into(),
        }
    }

    /// Passes on the command's output until it ends, and brings its files home.
    ///
    /// # Errors
    /// The kernel is refused, the machine dies, the command takes longer than `timeout`, its results cannot be
    /// written, or `interrupt` became true twice.
    pub fn converse(
        &mut self,
        travel: &Travel,
        timeout: Duration,
        audience: &mut dyn Audience,
        interrupt: &AtomicBool,
    ) -> Result<End> {
        let mut results = Results::of(travel);
        let mut watch = Watch::new(timeout);
        let mut code = None;
        loop {
            if let Some(signal) = watch.look(interrupt, code.is_some(), audience)? {
                // A machine that takes no signals runs into the next limit.
                let _ = self.send(&Frame::Signal(signal));
            }
            let Some(event) = self.next(audience) else { continue };
            match event {
                Event::Frame(_, Frame::Out(bytes)) => {
                    if !audience.out(&bytes) {
                        // As if the reader had left a pipe within the machine.
                        let _ = self.send(&Frame::Signal(SIGPIPE));
                    }
                }
                Event::Frame(_, Frame::Err(bytes)) => audience.err(&bytes),
                Event::Frame(_, Frame::Remark(words)) => {
                    audience.words(&format!("vm: {}", String::from_utf8_lossy(&words)));
                }
                Event::Frame(_, Frame::Refused(json)) => return Err(refused(&json)),
                Event::Frame(_, Frame::Ended(ended)) => code = Some(u8::try_from(ended).unwrap_or(u8::MAX)),
                Event::Frame(_, Frame::Done) => {
                    let files = results.settle()?;
                    return watch.conclude(End { code: code.unwrap_or(u8::MAX), files });
                }
                Event::Frame(_, frame) => results.take(frame)?,
                Event::Closed(way, Some(why)) if way == self.way => return Err(self.died(&why)),
                Event::Closed(..) => {
                    let why = self.how_it_died(audience);
                    return Err(self.died(&why));
                }
                Event::Console(_) | Event::Qemu(_) => {}
            }
            watch.heard();
        }
    }

    fn died(&self, why: &str) -> Diagnostic {
        let hint = if self.console.has("Oops: int3") {
            "the emulation of several CPUs fails like this now and then: run it again, or with --cpus 1"
        } else {
            "results of the command are lost with the machine; --console shows all that its kernel says"
        };
        Diagnostic::environment(format!("the virtual machine died: {why}{}", self.console.shown())).hint(hint)
    }
}

fn refused(json: &[u8]) -> Diagnostic {
    match serde_json::from_slice::<Problem>(json) {
        Ok(problem) => refusal("of the machine", &problem),
        Err(error) => {
            Diagnostic::environment(format!("the machine refuses its kernel and does not say why: {error}"))
        }
    }
}

/// Limits and wishes to end.
struct Watch {
    /// When the command has to have ended, and what it was told then.
    limit: Instant,
    timeout: Duration,
    asked: Option<Reason>,
    last_heard: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Timeout,
    Interrupt,
}

impl Watch {
    fn new(timeout: Duration) -> Self {
        let now = Instant::now();
        Watch { limit: now + timeout, timeout, asked: None, last_heard: now }
    }

    fn heard(&mut self) {
        self.last_heard = Instant::now();
    }

    /// A signal that the command is to get now.
    fn look(
        &mut self,
        interrupt: &AtomicBool,
        ended: bool,
        audience: &mut dyn Audience,
    ) -> Result<Option<u32>> {
        if interrupt.swap(false, Ordering::Relaxed) {
            if self.asked == Some(Reason::Interrupt) {
                return Err(interrupted());
            }
            self.ask(Reason::Interrupt);
            if !ended {
                audience.words("vm: interrupting the command; once more stops the machine at once");
                return Ok(Some(SIGINT));
            }
        }
        if ended {
            return match self.last_heard.elapsed() > SENDS_WITHIN {
                true => Err(Diagnostic::environment("the machine has stopped sending the command's files")
                    .hint("none of them were put in their places")),
                false => Ok(None),
            };
        }
        if Instant::now() < self.limit {
            return Ok(None);
        }
        match self.asked {
            None => {
                self.ask(Reason::Timeout);
                Ok(Some(SIGTERM))
            }
            Some(Reason::Timeout) => {
                Err(self.too_long("it did not end when it was told to, so its results are lost"))
            }
            Some(Reason::Interrupt) => Err(interrupted()),
        }
    }

    fn ask(&mut self, reason: Reason) {
        self.asked = Some(reason);
        self.limit = Instant::now() + ENDS_WITHIN;
    }

    fn too_long(&self, remark: &str) -> Diagnostic {
        Diagnostic::environment(format!(
            "the command took longer than {} s; {remark}",
            self.timeout.as_secs_f64()
        ))
        .hint("--timeout gives it more time")
    }

    fn conclude(&self, end: End) -> Result<End> {
        match self.asked {
            Some(Reason::Timeout) => {
                Err(self.too_long("it was ended, and what it had written until then is here"))
            }
            _ => Ok(end),
        }
    }
}

/// Nanoseconds since 1970.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads frames in a thread of its own, which ends with the machine.
fn frames(mut stream: UnixStream, way: Way, events: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let event = match Frame::read(&mut stream) {
                Ok(Some(frame)) => Event::Frame(way, frame),
                Ok(None) => Event::Closed(way, None),
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    Event::Closed(way, Some(error.to_string()))
                }
                // Cut off by its end.
                Err(_) => Event::Closed(way, None),
            };
            let is_last = matches!(event, Event::Closed(..));
            if events.send(event).is_err() || is_last {
                return;
            }
        }
    });
}

/// Reads bytes in a thread of its own.
fn bytes(mut stream: impl Read + Send + 'static, event: fn(Vec<u8>) -> Event, events: SyncSender<Event>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 4096];
        while let Ok(length) = stream.read(&mut buffer) {
            if length == 0 || events.send(event(buffer[..length].to_vec())).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Quiet;

    #[test]
    fn the_first_wish_to_end_is_a_signal_and_the_second_an_end() {
        let interrupt = AtomicBool::new(true);
        let mut watch = Watch::new(Duration::from_secs(1000));
        assert_eq!(watch.look(&interrupt, false, &mut Quiet), Ok(Some(SIGINT)));
        assert_eq!(watch.look(&interrupt, false, &mut Quiet), Ok(None), "it was heard");
        assert!(watch.conclude(End { code: 130, files: 0 }).is_ok_and(|end| end.code == 130));
        interrupt.store(true, Ordering::Relaxed);
        assert_eq!(watch.look(&interrupt, false, &mut Quiet), Err(interrupted()));
    }

    #[test]
    fn a_command_that_takes_too_long_is_told_and_then_ended() {
        let interrupt = AtomicBool::new(false);
        let mut watch = Watch::new(Duration::ZERO);
        assert_eq!(watch.look(&interrupt, false, &mut Quiet), Ok(Some(SIGTERM)));
        assert_eq!(watch.look(&interrupt, false, &mut Quiet), Ok(None), "it has time to write its results");
        let told = watch.conclude(End { code: 143, files: 1 }).err().expect("too long");
        assert!(told.message.contains("longer than 0 s") && told.message.contains("is here"), "{told}");
        watch.limit = Instant::now();
        let ended = watch.look(&interrupt, false, &mut Quiet).expect_err("too long");
        assert_eq!(ended.failure.exit_code(), 3);
        assert!(ended.message.contains("lost"), "{ended}");
    }

    #[test]
    fn files_are_waited_for_while_they_come() {
        let interrupt = AtomicBool::new(false);
        let mut watch = Watch::new(Duration::ZERO);
        assert_eq!(watch.look(&interrupt, true, &mut Quiet), Ok(None), "the limit is the command's");
        watch.last_heard = Instant::now().checked_sub(SENDS_WITHIN + Duration::from_secs(1)).expect("a time");
        assert!(
            watch
                .look(&interrupt, true, &mut Quiet)
                .is_err_and(|error| error.message.contains("stopped sending"))
        );
    }
}
