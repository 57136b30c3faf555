//! How the CPU time and the memory of every command grow with the number of tasks: 10^2 to 10^5, on as many CPUs as they need.
//!
//! ```text
//! cargo bench -p laxity --bench growth [-- [--most N] [--limit SECONDS] [WORD ...]]
//! ```
//!
//! Only commands that have one of the words in their line are measured. A command that takes longer than the limit (60 s) is ended,
//! and not tried with more tasks. Sets have periods between 10 and 100 ms, log-uniform on a grid of 1 us, and 5 tasks a CPU that ask for
//! .8 of it, up to 4096 CPUs; beyond, more tasks share as much. The last column is the exponent between the last two numbers of
//! tasks: 1 is linear. It means little where the time is a few hundredths of a second.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

type Failure = Box<dyn Error>;

const LAXITY: &str = env!("CARGO_BIN_EXE_laxity");
const NUMBERS: [u32; 4] = [100, 1_000, 10_000, 100_000];
const CPUS_MOST: u32 = 4096;

/// Commands, as one would type them: SET is the file of the set, CPUS its CPUs, TASKS its tasks, RESULTS the results of an earlier
/// line and OUT a directory for new ones.
const COMMANDS: &[&str] = &[
    "check SET",
    "generate emberson -n TASKS -u CPUS/2 -o OUT/set.csv --force",
    "generate uunifast -n TASKS -u CPUS/2 -o OUT/set.csv --force",
    "place SET --cpus CPUS --placement ffd --json",
    "place SET --cpus CPUS --placement wfd --json",
    "place SET --cpus CPUS --placement ilp --json",
    "analyze SET --cpus CPUS --scheduler g-edf --json",
    "analyze SET --cpus CPUS --scheduler g-rm --json",
    "analyze SET --cpus CPUS --scheduler p-edf --placement ffd --json",
    "analyze SET --cpus CPUS --scheduler p-rm --placement ffd --json",
    "analyze SET --cpus CPUS --scheduler p-rm --placement wfd --json",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler edf-bh",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler fpp",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler gsn-edf",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler g-edf-mp",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler amp-rm",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler edzl",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler push-pull",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler g-rm",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler p-edf --placement wfd",
    "simulate SET --cpus CPUS --duration 100ms --json --scheduler p-rm --placement wfd",
    "simulate SET --cpus CPUS --duration 100ms --scheduler edf-bh",
    "simulate SET --cpus CPUS --duration 100ms --scheduler edf-bh --verify",
    "simulate SET --cpus CPUS --duration 100ms --scheduler edf-bh --gantt",
    "simulate SET --cpus CPUS --duration 100ms --scheduler edf-bh --perfetto OUT/trace --force",
    "simulate SET --cpus CPUS --duration 100ms --scheduler edf-bh -o RESULTS --force",
    "report RESULTS",
    "diff RESULTS RESULTS",
    "settings SET --cpus CPUS --scheduler p-edf --placement wfd",
];

struct Asked {
    most: u32,
    limit_s: u32,
    words: Vec<String>,
}

fn asked() -> Result<Asked, Failure> {
    let mut asked = Asked { most: NUMBERS[3], limit_s: 60, words: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || -> Result<u32, Failure> {
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a number"))?;
            value.parse().map_err(|error| format!("{argument} {value}: {error}").into())
        };
        match argument.as_str() {
            "--most" => asked.most = number()?,
            "--limit" => asked.limit_s = number()?,
            // Cargo says so to every benchmark.
            "--bench" => {}
            _ => asked.words.push(argument),
        }
    }
    Ok(asked)
}

fn main() -> Result<(), Failure> {
    let asked = asked()?;
    let home = tempfile::tempdir()?;
    let numbers: Vec<u32> = NUMBERS.into_iter().filter(|tasks| *tasks <= asked.most).collect();
    for &tasks in &numbers {
        fs::write(home.path().join(format!("set-{tasks}.csv")), set_of(tasks))?;
    }
    let mut header = format!("{:84}", "CPU seconds and MB");
    numbers.iter().for_each(|tasks| header += &format!(" {tasks:>14}"));
    println!("{header}  exponent");
    for line in COMMANDS {
        if asked.words.is_empty() || asked.words.iter().any(|word| line.contains(word)) {
            println!("{}", row(line, &numbers, home.path(), asked.limit_s)?);
        }
    }
    Ok(())
}

/// A command with every number of tasks.
fn row(line: &str, numbers: &[u32], home: &Path, limit_s: u32) -> Result<String, Failure> {
    let mut row = format!("{line:84}");
    let mut times: Vec<f64> = Vec::new();
    for &tasks in numbers {
        match measure(line, tasks, home, limit_s)? {
            Measured::Took { cpu_s, memory_mb } => {
                times.push(cpu_s);
                write!(row, " {cpu_s:8.2} {memory_mb:5}")?;
            }
            Measured::Refused(why) => {
                write!(row, " {:>14}", "refused")?;
                eprintln!("{line} with {tasks} tasks: {why}");
                times.clear();
            }
            Measured::TooLong => {
                write!(row, " {:>14}", format!("> {limit_s}"))?;
                times.clear();
                break;
            }
        }
    }
    if let [.., before, last] = times[..] {
        write!(row, "  {:.2}", (last / before).log10())?;
    }
    Ok(row)
}

enum Measured {
    Took { cpu_s: f64, memory_mb: i64 },
    Refused(String),
    TooLong,
}

fn measure(line: &str, tasks: u32, home: &Path, limit_s: u32) -> Result<Measured, Failure> {
    let cpus = (tasks / 5).min(CPUS_MOST);
    let (out, results) = (home.join("out"), home.join(format!("results-{tasks}")));
    fs::create_dir_all(&out)?;
    let arguments = line.split(' ').map(|word| match word {
        "SET" => home.join(format!("set-{tasks}.csv")).display().to_string(),
        "CPUS" => cpus.to_string(),
        "CPUS/2" => (f64::from(cpus) / 2.0).to_string(),
        "TASKS" => tasks.to_string(),
        "RESULTS" => results.display().to_string(),
        "OUT" => out.display().to_string(),
        "OUT/trace" => out.join("trace").display().to_string(),
        "OUT/set.csv" => out.join("set.csv").display().to_string(),
        other => other.to_owned(),
    });
    let errors = home.join("errors");
    let mut limited = Command::new("timeout");
    limited.args(["--signal", "KILL", &(2 * limit_s).to_string(), LAXITY]).args(arguments).arg("--quiet");
    let child = limited.stdout(Stdio::null()).stderr(fs::File::create(&errors)?).spawn()?;
    let (status, cpu_s, memory_mb) = waited_for(child.id())?;
    match (status.code(), status.signal()) {
        (Some(137), _) | (_, Some(_)) => Ok(Measured::TooLong),
        (Some(0 | 1), _) if cpu_s > f64::from(limit_s) => Ok(Measured::TooLong),
        (Some(0 | 1), _) => Ok(Measured::Took { cpu_s, memory_mb }),
        _ => {
            let said = fs::read_to_string(errors)?;
            Ok(Measured::Refused(said.lines().next().unwrap_or("no word").to_owned()))
        }
    }
}

/// How a child ended, the CPU time of it and its own children, and the most memory that one of them had.
fn waited_for(child: u32) -> Result<(ExitStatus, f64, i64), Failure> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are valid for writes, and nothing else waits for this child.
    let ended = unsafe { libc::wait4(i32::try_from(child)?, &raw mut status, 0, &raw mut usage) };
    if ended < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    let seconds = |time: libc::timeval| -> Result<f64, Failure> {
        Ok(f64::from(i32::try_from(time.tv_sec)?) + f64::from(i32::try_from(time.tv_usec)?) / 1e6)
    };
    let cpu_s = seconds(usage.ru_utime)? + seconds(usage.ru_stime)?;
    Ok((ExitStatus::from_raw(status), cpu_s, usage.ru_maxrss / 1024))
}

/// A set as CSV. The same number of tasks always gives the same set.
fn set_of(tasks: u32) -> String {
    let mut random = Random(u64::from(tasks));
    let parts: Vec<f64> = (0..tasks).map(|_| -random.unit().ln()).collect();
    let whole: f64 = parts.iter().sum();
    let utilization = 0.8 * f64::from((tasks / 5).min(CPUS_MOST));
    let mut text = "name,wcet_ns,period_ns\n".to_owned();
    for (place, part) in parts.iter().enumerate() {
        let period_us = (10_000.0 * 10f64.powf(random.unit())).round();
        // Few parts are above .9: what is cut off is a small share of the whole.
        let wcet_us = (period_us * (part / whole * utilization).min(0.9)).floor().max(1.0);
        let _ = writeln!(text, "t{place},{wcet_us}000,{period_us}000");
    }
    text
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// In (0, 1].
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let high = u32::try_from(bits >> 32).unwrap_or(u32::MAX);
        (f64::from(high) + 1.0) / 4_294_967_296.0
    }
}
