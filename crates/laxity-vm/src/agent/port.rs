//! The way to the host: the virtio serial port `laxity`, or the second UART of a kernel without virtio.

use crate::protocol::Frame;
use laxity_model::ShownPath as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The port's name on the host's side.
pub const PORT_NAME: &str = "laxity";
const PORTS: &str = "/sys/class/virtio-ports";
const DRIVER: &str = "/sys/bus/virtio/drivers/virtio_console";
const UART: &str = "/dev/ttyS1";
/// The kernel announces ports some time after it has found the device.
const PORT_APPEARS_WITHIN: Duration = Duration::from_secs(10);

/// Sends frames; all threads share it.
#[derive(Clone)]
pub struct Port {
    file: Arc<Mutex<File>>,
}

/// Receives frames.
pub struct Receiver {
    file: File,
}

impl Port {
    /// Sends a frame, whole.
    pub fn send(&self, frame: &Frame) -> Result<(), String> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        frame.write(&mut *file).map_err(|error| format!("cannot write to the host: {error}"))
    }
}

impl Receiver {
    /// Waits for the next frame; nothing once the host is gone.
    pub fn next(&mut self) -> Option<Frame> {
        Frame::read(&mut self.file).ok().flatten()
    }
}

/// Opens the way to the host.
pub fn open() -> Result<(Port, Receiver), String> {
    let path = if Path::new(DRIVER).exists() { virtio_port()? } else { UART.into() };
    let file = File::options().read(true).write(true).open(&path);
    let file = file.map_err(|error| format!("cannot open {}: {error}", path.shown()))?;
    if path == Path::new(UART) {
        make_raw(&file).map_err(|error| format!("{UART}: {error}"))?;
    }
    let receiver = file.try_clone().map_err(|error| error.to_string())?;
    Ok((Port { file: Arc::new(Mutex::new(file)) }, Receiver { file: receiver }))
}

fn virtio_port() -> Result<PathBuf, String> {
    let give_up = Instant::now() + PORT_APPEARS_WITHIN;
    loop {
        for entry in fs::read_dir(PORTS).into_iter().flatten().flatten() {
            let name = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            let device = Path::new("/dev").join(entry.file_name());
            if name.trim() == PORT_NAME && device.exists() {
                return Ok(device);
            }
        }
        if Instant::now() > give_up {
            return Err(format!("no virtio port is called {PORT_NAME}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// No echo, no translation, no signals.
fn make_raw(file: &File) -> std::io::Result<()> {
    let mut settings = rustix::termios::tcgetattr(file)?;
    settings.make_raw();
    rustix::termios::tcsetattr(file, rustix::termios::OptionalActions::Now, &settings)?;
    Ok(())
}
