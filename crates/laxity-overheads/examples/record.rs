//! Records until a file appears: `record OUT STOP_FILE CLASS TASKS`. For tries in a virtual machine.

use laxity_overheads::{Class, Options, record, terminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, stop_file, class, tasks] = &arguments[..] else {
        return Err("usage: record OUT STOP_FILE CLASS TASKS".to_owned());
    };
    let class = Class::named(class).ok_or_else(|| format!("no class {class}"))?;
    let tasks = tasks.parse().map_err(|_| format!("{tasks} is not a number"))?;
    let options = Options { csv: Some((class, tasks)), out: Some(PathBuf::from(out)), ..Options::default() };
    static STOP: AtomicBool = AtomicBool::new(false);
    let stop_file = PathBuf::from(stop_file);
    let recorded = record(&options, &STOP, |_| {
        println!("recording");
        thread::spawn(move || {
            while !stop_file.exists() {
                thread::sleep(Duration::from_millis(50));
            }
            STOP.store(true, Ordering::Release);
        });
    })
    .map_err(|diagnostic| diagnostic.to_string())?;
    print!("{}", terminal(&recorded.summary));
    Ok(())
}
