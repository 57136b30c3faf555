//! Attaches the probes and takes their records.

use crate::cost::RunTimes;
use crate::ffi::lx_options;
use crate::probes::{self, Probe, Symbols};
use laxity_kernel::rings::{HostSamples, Record, Rings, SampleKind, Switch};
use laxity_model::{Diagnostic, Result};
use libbpf_rs::{
    KprobeMultiOpts, Link, Object, ObjectBuilder, OpenObject, PrintLevel, ProgramInput, ProgramMut, set_print,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use zerocopy::IntoBytes as _;

/// How long records may wait in their ring: 16384 records last 20 ms at 800 000 per second and CPU. A shorter wait
/// disturbs more.
const DRAIN_EVERY: Duration = Duration::from_millis(20);

/// Samples of the empty function.
const EMPTY_SAMPLES: usize = 1_000;

const OPTIONS_MAP: &str = ".rodata.lx_overheads";

/// What is recorded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection {
    /// Not only what concerns real-time threads.
    pub all_threads: bool,
    /// Also how long functions of scheduling classes take (lelli2012, Table 6). Their probes are inside of what is measured
    /// otherwise, and make that longer.
    pub functions: bool,
    /// The kernel measures how long the probes themselves run, which makes each of them some 50 ns longer.
    pub run_times: bool,
}

/// What this kernel does not offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// The probe.
    pub probe: String,
    /// Why it could not be attached.
    pub reason: String,
    /// The quantities that it takes part in; nothing: interrupts of this kind are not counted.
    pub quantities: Vec<String>,
}

/// The attached probes. They are removed when it is dropped.
pub struct Recorder {
    rings: Rings,
    switch: Switch,
    run_times: Option<RunTimes>,
    missing: Vec<Missing>,
    /// Before `object`: links go first.
    _links: Vec<Link>,
    object: Object,
}

/// What a recording was like, beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Records that found no place, by CPU.
    pub lost: Vec<u64>,
    /// Interrupts that were counted, by CPU.
    pub interrupts: Vec<u32>,
    /// How long probes ran in all, in ns, and how often; if that was asked for.
    pub run_times: Option<(u64, u64)>,
    /// Times that a probe was skipped because it was running already.
    pub skipped: u64,
    /// Samples that were there and could not be had.
    pub missing: Vec<Missing>,
}

impl Recorder {
    /// Attaches what this kernel offers.
    ///
    /// # Errors
    ///
    /// Nothing can be attached: no root, no BTF, or a laxity built without its programs.
    pub fn attach(selection: Selection) -> Result<Recorder> {
        Recorder::attach_with(selection, None)
    }

    /// As [`Recorder::attach`], with records in the rings of another object: those of a policy's host, whose events and
    /// samples are then read here too, with the interrupts that the probes count. From then on only this recorder may
    /// drain these rings.
    ///
    /// # Errors
    ///
    /// As [`Recorder::attach`].
    pub fn attach_to(selection: Selection, rings: &Rings) -> Result<Recorder> {
        Recorder::attach_with(selection, Some(rings))
    }

    fn attach_with(selection: Selection, shared: Option<&Rings>) -> Result<Recorder> {
        let bytes = laxity_kernel::object("overheads").map_err(|why| {
            Diagnostic::environment(format!("overheads cannot be measured: {why}"))
                .hint("install clang-19 and build laxity anew")
        })?;
        let symbols = Symbols::read();
        let mut left_out = absent(symbols.as_ref());
        let constants = Constants::of(selection, symbols.as_ref());
        let object = load(bytes, &constants, shared, &mut left_out)?;
        let rings = Rings::of(&object)?;
        let switch = Switch::of(&object)?;
        let links = quietly(|| attach_all(&object, &constants, &mut left_out));
        if links.is_empty() {
            let why = left_out.values().next().cloned().unwrap_or_default();
            return Err(Diagnostic::environment(format!("no probe could be attached: {why}"))
                .hint("tracing needs root and a kernel with BTF and fentry"));
        }
        let run_times = selection.run_times.then(RunTimes::enable).transpose()?;
        let mut missing = missing(&constants, &left_out);
        missing.extend(constants.unknown());
        Ok(Recorder { rings, switch, run_times, missing, _links: links, object })
    }

    /// What could not be attached.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// The lengths in ns of samples around a function of the kernel that does nothing: what a sample holds of
    /// tracing. Nothing where that function cannot be traced. To be called before [`Recorder::record`].
    pub fn empty_samples(&mut self) -> Vec<u64> {
        let mut lengths = Vec::new();
        self.switch.set(Switch::SAMPLES);
        for _ in 0..EMPTY_SAMPLES {
            let program = self.object.progs_mut().find(|p| p.name() == probes::EMPTY.programs[0]);
            let ran = program.is_some_and(|program| program.test_run(ProgramInput::default()).is_ok());
            self.rings.drain(|record| {
                if record.kind == SampleKind::Empty.code() {
                    lengths.push(record.argument);
                }
            });
            if !ran {
                break;
            }
        }
        self.switch.set(0);
        self.rings.drain(|_| ());
        lengths
    }

    /// Records until `stop`, and hands every record to `each`: those of one CPU in the order of their writing.
    pub fn record(&mut self, stop: &AtomicBool, mut each: impl FnMut(&Record)) -> Recording {
        let before = self.totals();
        self.switch.set(Switch::SAMPLES);
        let mut hosts = HostSamples::find();
        while !stop.load(Ordering::Acquire) {
            self.rings.drain(&mut each);
            hosts.drain(&mut each);
            thread::sleep(DRAIN_EVERY);
        }
        self.switch.set(0);
        // What had begun by then is written within this time.
        thread::sleep(DRAIN_EVERY);
        self.rings.drain(&mut each);
        hosts.drain(&mut each);
        let after = self.totals();
        let since = |(after, before): (&u64, &u64)| after - before;
        let lost_by_hosts = hosts.lost().into_iter().chain(std::iter::repeat(0));
        let lost = after.lost.iter().zip(&before.lost).map(since);
        Recording {
            lost: lost.zip(lost_by_hosts).map(|(probes, hosts)| probes + hosts).collect(),
            interrupts: (after.interrupts.iter().zip(&before.interrupts))
                .map(|(a, b)| a.wrapping_sub(*b))
                .collect(),
            run_times: self
                .run_times
                .is_some()
                .then(|| (after.run_ns - before.run_ns, after.runs - before.runs)),
            skipped: after.skipped - before.skipped,
            missing: missing_of_hosts(&hosts),
        }
    }

    fn totals(&self) -> Totals {
        let (mut run_ns, mut runs, mut skipped) = (0, 0, 0);
        for program in self.object.progs_mut() {
            let times = RunTimes::of(&program);
            run_ns += times.run_ns;
            runs += times.runs;
            skipped += times.skipped;
        }
        Totals { lost: self.rings.lost(), interrupts: self.rings.interrupts(), run_ns, runs, skipped }
    }
}

/// What only the attached policy can measure.
pub const POLICY_SAMPLES: &str = "samples of the attached policy";

/// A policy's own samples, where another process reads them.
fn missing_of_hosts(hosts: &HostSamples) -> Vec<Missing> {
    let kinds =
        [SampleKind::ReleaseLatency, SampleKind::Release, SampleKind::RequestLatency, SampleKind::DspHandler];
    let missing = Missing {
        probe: POLICY_SAMPLES.to_owned(),
        reason: "another recording on this machine reads its samples".to_owned(),
        quantities: kinds.iter().map(|kind| kind.name().to_owned()).collect(),
    };
    if hosts.read_by_others() > 0 { vec![missing] } else { Vec::new() }
}

struct Totals {
    lost: Vec<u64>,
    interrupts: Vec<u32>,
    run_ns: u64,
    runs: u64,
    skipped: u64,
}

/// What the probes are told.
struct Constants {
    all_threads: bool,
    functions: bool,
    /// Where the handlers of [`HANDLERS`] are.
    handlers: [Option<u64>; 3],
}

/// Handlers of timers that the probes tell apart, and what is not measured where their addresses are hidden.
const HANDLERS: [(&str, &[SampleKind]); 3] = [
    ("hrtimer_wakeup", &[SampleKind::ReleaseLatency, SampleKind::Release]),
    ("dl_task_timer", &[SampleKind::ReleaseLatency, SampleKind::Release, SampleKind::Replenish]),
    ("tick_nohz_handler", &[SampleKind::Tick]),
];

impl Constants {
    fn of(selection: Selection, symbols: Option<&Symbols>) -> Constants {
        let address = |(name, _): (&str, _)| symbols.and_then(|symbols| symbols.address(name));
        Constants {
            all_threads: selection.all_threads,
            functions: selection.functions,
            handlers: HANDLERS.map(address),
        }
    }

    fn options(&self) -> lx_options {
        let [hrtimer_wakeup, dl_task_timer, tick] = self.handlers.map(|at| at.unwrap_or(0));
        lx_options { all: self.all_threads.into(), unused: 0, hrtimer_wakeup, dl_task_timer, tick }
    }

    /// Handlers that the kernel does not have or hides.
    fn unknown(&self) -> Vec<Missing> {
        let of_handler = |((name, kinds), address): ((&str, &[SampleKind]), Option<u64>)| match address {
            Some(_) => None,
            None => Some(Missing {
                probe: format!("the timer handler {name}"),
                reason: "/proc/kallsyms has no address for it (kernel.kptr_restrict hides them)".to_owned(),
                quantities: kinds.iter().map(|kind| kind.name().to_owned()).collect(),
            }),
        };
        HANDLERS.into_iter().zip(self.handlers).filter_map(of_handler).collect()
    }
}

/// The probes that were asked for.
fn chosen(constants: &Constants) -> impl Iterator<Item = &'static Probe> {
    let functions = constants.functions;
    probes::all().filter(move |probe| functions || !probe.is_nested())
}

/// Programs that are left out, with the reason.
type LeftOut = BTreeMap<&'static str, String>;

/// Probes on functions that this kernel does not have under their name.
fn absent(symbols: Option<&Symbols>) -> LeftOut {
    let Some(symbols) = symbols else { return LeftOut::new() };
    let lacks = |probe: &&Probe| probe.function.is_some_and(|function| !symbols.has(function));
    let with_reason = |probe: &'static Probe| {
        let reason = "this kernel has no such function, or has it inlined";
        probe.programs.iter().map(move |program| (*program, reason.to_owned()))
    };
    probes::all().filter(lacks).flat_map(with_reason).collect()
}

/// What libbpf has said since the last look.
static MESSAGES: Mutex<String> = Mutex::new(String::new());

fn keep_message(_: PrintLevel, message: String) {
    MESSAGES.lock().expect("nothing panics while it is held").push_str(&message);
}

fn messages() -> String {
    std::mem::take(&mut *MESSAGES.lock().expect("nothing panics while it is held"))
}

/// Keeps what libbpf says: its messages go to one place, so that this is done once at a time.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let previous = set_print(Some((PrintLevel::Warn, keep_message)));
    let done = work();
    set_print(previous);
    done
}

/// Loads all programs that this kernel takes: what one load fails for is left out of the next.
fn load(
    bytes: &[u8],
    constants: &Constants,
    shared: Option<&Rings>,
    left_out: &mut LeftOut,
) -> Result<Object> {
    quietly(|| load_what_fits(bytes, constants, shared, left_out))
}

fn load_what_fits(
    bytes: &[u8],
    constants: &Constants,
    shared: Option<&Rings>,
    left_out: &mut LeftOut,
) -> Result<Object> {
    loop {
        messages();
        let mut open = open(bytes, constants, left_out)?;
        match shared {
            Some(rings) => rings.share(&mut open)?,
            None => Rings::prepare(&mut open)?,
        }
        let error = match open.load() {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        let said = messages();
        let refused = refused_program(&said).and_then(|name| {
            probes::all().find(|probe| probe.programs.contains(&name) && !left_out.contains_key(name))
        });
        let Some(probe) = refused else {
            return Err(Diagnostic::environment(format!(
                "the kernel refuses the probes: {error}; {}",
                reason_of(&said)
            ))
            .hint("tracing needs root and a kernel with BTF and BPF"));
        };
        let reason = reason_of(&said);
        left_out.extend(probe.programs.iter().map(|program| (*program, reason.clone())));
    }
}

fn open(bytes: &[u8], constants: &Constants, left_out: &LeftOut) -> Result<OpenObject> {
    let failed = |what: &str, error: &libbpf_rs::Error| {
        Diagnostic::environment(format!("{what}: {error}")).hint("report this as a bug in laxity")
    };
    let mut open =
        ObjectBuilder::default().open_memory(bytes).map_err(|e| failed("the probes cannot be opened", &e))?;
    for mut program in open.progs_mut() {
        // The headers of the sched_ext tools bring a program of their own, which needs sched_ext.
        let name = program.name().to_str().unwrap_or_default();
        let ours = chosen(constants).any(|probe| probe.programs.contains(&name));
        program.set_autoload(ours && !left_out.contains_key(name));
    }
    let mut options = open
        .maps_mut()
        .find(|map| map.name() == OPTIONS_MAP)
        .ok_or_else(|| Diagnostic::environment("the probes have no options").hint("build laxity anew"))?;
    options
        .set_initial_value(constants.options().as_bytes())
        .map_err(|e| failed("the probes' options", &e))?;
    Ok(open)
}

/// The program that libbpf names last.
fn refused_program(said: &str) -> Option<&str> {
    said.lines().rev().find_map(|line| line.split_once("prog '")?.1.split_once('\'').map(|(name, _)| name))
}

/// The last line that is a reason: not a summary that follows it.
fn reason_of(said: &str) -> String {
    let names = |line: &&str| line.contains("prog '") && !line.contains("failed to load:");
    let line = said.lines().rev().find(names).or_else(|| said.lines().last());
    line.unwrap_or("no reason given").trim_start_matches("libbpf: ").trim().to_owned()
}

fn attach_all(object: &Object, constants: &Constants, left_out: &mut LeftOut) -> Vec<Link> {
    let symbols = Symbols::read();
    let mut links = Vec::new();
    for probe in chosen(constants) {
        if probe.programs.iter().any(|program| left_out.contains_key(program)) {
            continue;
        }
        let attached: std::result::Result<Vec<Link>, String> =
            probe.programs.iter().map(|name| attach(object, name, symbols.as_ref())).collect();
        match attached {
            Ok(attached) => links.extend(attached),
            Err(reason) => left_out.extend(probe.programs.iter().map(|program| (*program, reason.clone()))),
        }
    }
    links
}

fn attach(object: &Object, name: &str, symbols: Option<&Symbols>) -> std::result::Result<Link, String> {
    let program: ProgramMut<'_> =
        object.progs_mut().find(|p| p.name() == name).ok_or("it was built without it")?;
    let said = |error: libbpf_rs::Error| error.to_string();
    if name != "finish_task_switch" {
        return program.attach().map_err(said);
    }
    let symbol = symbols
        .and_then(|symbols| symbols.variant_of(name))
        .ok_or("this kernel has no such function, or has it inlined")?;
    let options = KprobeMultiOpts { symbols: vec![symbol.to_owned()], ..KprobeMultiOpts::default() };
    program.attach_kprobe_multi_with_opts(options).map_err(said)
}

fn missing(constants: &Constants, left_out: &LeftOut) -> Vec<Missing> {
    let of_probe = |probe: &Probe| {
        let reason = probe.programs.iter().find_map(|program| left_out.get(program))?;
        Some(Missing {
            probe: probe.what.to_owned(),
            reason: reason.clone(),
            quantities: probe.kinds.iter().map(|kind| kind.name().to_owned()).collect(),
        })
    };
    chosen(constants).filter_map(of_probe).collect()
}
