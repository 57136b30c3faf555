//! Which callbacks of the attached policy the kernel calls while threads play a story: `callbacks OBJECT STORY PLAYER PAGE` (all in
//! `tests/vm/callbacks`; OBJECT is compiled from `callbacks.bpf.c`, PLAYER from `callbacks.c`). Compares with PAGE and prints `ok:`; or, if
//! five plays differ from it, `NOT OK:` with the differences, and lines `page: ...` of what was found. `LAXITY_RECORDS=1` prints every
//! callback.

mod sequence;

use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{MapCore, Object, ObjectBuilder, Program, ProgramType, RingBufferBuilder};
use sequence::Called;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

type Failure = Box<dyn std::error::Error>;

/// As `callbacks.bpf.c` numbers them.
const CALLBACKS: [&str; 14] = [
    "select_cpu",
    "enqueue",
    "dequeue",
    "dispatch",
    "running",
    "stopping",
    "quiescent",
    "yield",
    "set_cpumask",
    "init_task",
    "exit_task",
    "enable",
    "disable",
    "cpu_release",
];
/// What threads of the story are called, with their names behind it.
const PREFIX: &str = "cb:";
/// A kernel thread that happens to run at a step's very moment shows. What the kernel does differently shows each time.
const PLAYS: u32 = 5;
const RECORD_BYTES: usize = 48;

/// `struct called` of `callbacks.bpf.c`.
struct Record {
    now_ns: u64,
    task_address: u64,
    argument: u64,
    cpu: u32,
    callback: &'static str,
    name: String,
}

fn record(bytes: &[u8]) -> Record {
    assert_eq!(bytes.len(), RECORD_BYTES, "a record is struct called");
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let name = bytes[32..].split(|&byte| byte == 0).next().expect("a part");
    Record {
        now_ns: word(0),
        task_address: word(8),
        argument: word(16),
        cpu: half(24),
        callback: CALLBACKS[half(28) as usize],
        name: String::from_utf8_lossy(name).into_owned(),
    }
}

/// The programs that are called by the kernel now: of each name the newest.
fn loaded() -> Result<HashMap<String, OwnedFd>, Failure> {
    let mut newest: HashMap<String, u32> = HashMap::new();
    for program in ProgInfoIter::default().filter(|program| program.ty == ProgramType::StructOps) {
        let id = newest.entry(program.name.to_string_lossy().into_owned()).or_default();
        *id = program.id.max(*id);
    }
    newest.into_iter().map(|(name, id)| Ok((name, Program::fd_from_id(id)?))).collect()
}

/// Plays the story, with a tracing program at each callback meanwhile: its begin, and what was recorded. `None`: a thread did
/// not do what it should, or not in time.
fn recorded(object: &Path, story: &Path, player: &Path) -> Result<Option<(u64, Vec<Record>)>, Failure> {
    let loaded = loaded()?;
    let mut open = ObjectBuilder::default().open_file(object)?;
    for mut program in open.progs_mut() {
        let name = program.name().to_string_lossy().replace("called_", "on_");
        let fd = loaded.get(&name).ok_or_else(|| format!("no program {name} is loaded"))?;
        program.set_attach_target(fd.as_raw_fd(), Some(name))?;
    }
    let object = open.load()?;
    let mut links = Vec::new();
    for program in object.progs_mut() {
        links.push(program.attach_trace()?);
    }
    let mut player = Command::new(player).arg(story).stdout(Stdio::piped()).spawn()?;
    let mut begin_ns = None;
    let mut last = String::new();
    for line in BufReader::new(player.stdout.take().ok_or("no output")?).lines() {
        last = line?;
        if let Some(ns) = last.strip_prefix("t0 ") {
            begin_ns = Some(ns.parse()?);
        }
    }
    if !player.wait()?.success() {
        println!("play: not as the story is written: {last}");
        return Ok(None);
    }
    drop(links);
    Ok(Some((begin_ns.ok_or("the story has no begin")?, drained(&object)?)))
}

fn drained(object: &Object) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    let ring = object.maps().find(|map| map.name() == "ring").ok_or("no ring")?;
    let mut builder = RingBufferBuilder::new();
    builder.add(&ring, |bytes| {
        records.push(record(bytes));
        0
    })?;
    let ring = builder.build()?;
    ring.consume()?;
    drop(ring);
    let lost =
        object.maps().find(|map| map.name().to_string_lossy().ends_with(".bss")).ok_or("no variables")?;
    let lost = lost.lookup(&0_u32.to_ne_bytes(), libbpf_rs::MapFlags::ANY)?.ok_or("no variables")?;
    if lost[..8] != [0; 8] {
        return Err("records are lost".into());
    }
    Ok(records)
}

/// The callbacks with the story's names of tasks: a child's is its parent's, who calls the kernel for it.
fn named(records: &[Record], begin_ns: u64) -> Vec<Called> {
    let mut names: HashMap<u64, String> = HashMap::new();
    let mut called = Vec::new();
    for one in records {
        let own = one.name.strip_prefix(PREFIX).map(str::to_owned);
        if one.callback == "init_task" {
            names.insert(
                one.task_address,
                own.as_ref().map_or(String::new(), |parent| format!("{parent}'s child")),
            );
        }
        let task = names.entry(one.task_address).or_default();
        if let (Some(own), true, true) = (own, task.is_empty(), one.task_address != 0) {
            *task = own;
        }
        let Some(at_ns) = one.now_ns.checked_sub(begin_ns) else { continue };
        let task = task.clone();
        called.push(Called { at_ns, cpu: one.cpu, task, callback: one.callback, argument: one.argument });
    }
    called
}

/// What the page of this kernel begins with.
fn title() -> String {
    let name = rustix::system::uname();
    let of = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    format!("# Linux {} ({})", of(name.release()), of(name.machine()))
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [object, story, player, page] = &arguments[..] else {
        return Err("callbacks OBJECT STORY PLAYER PAGE".into());
    };
    let told = std::fs::read_to_string(story)?;
    let expected = std::fs::read_to_string(page).unwrap_or_default();
    for play in 1..=PLAYS {
        let Some((begin_ns, records)) = recorded(object.as_ref(), story.as_ref(), player.as_ref())? else {
            continue;
        };
        let called = named(&records, begin_ns);
        if std::env::var_os("LAXITY_RECORDS").is_some_and(|wish| !wish.is_empty()) {
            for one in &called {
                println!(
                    "{:>12} cpu{} {:10} {} {:#x}",
                    one.at_ns, one.cpu, one.task, one.callback, one.argument
                );
            }
        }
        let found = sequence::page(&called, &told);
        let Some(differences) = sequence::differences(&expected, &found, ("as written", "as called")) else {
            let count = called.iter().filter(|one| !one.task.is_empty()).count();
            println!("ok: {count} callbacks of play {play} are as written");
            return Ok(ExitCode::SUCCESS);
        };
        if play == PLAYS {
            let name = Path::new(story).file_stem().unwrap_or_default().to_string_lossy();
            let lines = std::iter::once(title()).chain(found.lines().map(str::to_owned));
            lines.for_each(|line| println!("page: {name}: {line}"));
        }
        println!("play {play}:\n{differences}");
    }
    println!("NOT OK: callbacks differ from {} in {PLAYS} plays", Path::new(page).display());
    Ok(ExitCode::FAILURE)
}
