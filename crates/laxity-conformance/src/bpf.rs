//! A policy as BPF programs in this kernel.

use crate::event::{
    ACTIONS_MAX, Decision, EVENT_BYTES, EVENTS_MAX, Event, RESULT_BYTES, TASK_BYTES, decode_order,
    decode_output, encode_parameters,
};
use crate::host::Recording;
use laxity_model::Policy;
use laxity_policy::{Action, Config, NONE, TaskParameters};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{
    MapCore, MapFlags, Object, ObjectBuilder, PrintLevel, Program, ProgramInput, ProgramMut, set_print,
};
use std::os::fd::AsFd;
use std::sync::Mutex;

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// Tasks that an instance in BPF has room for (`LX_TASKS_MAX`).
pub const TASKS_MAX: usize = 4096;
/// CPUs that the BPF build has room for (`LX_CPUS_MAX`).
const CPUS_MAX: usize = 256;

/// Whether BPF can be used here; if not, why not. A policy that the verifier refuses is no reason.
pub fn available() -> Result<(), String> {
    let object = object("probe")?;
    let probe = Programs::open(object).map_err(|why| {
        format!(
            "this kernel refuses BPF to this process: {}",
            why.lines().next().unwrap_or("no reason given")
        )
    })?;
    probe.run("probe", None).map_err(|why| format!("this kernel does not run BPF for this process: {why}"))
}

/// What the verifier and the compiler made of one program.
#[derive(Debug, Clone, serde::Serialize)]
pub struct ProgramSize {
    /// The program's name in `bpf/programs.h`: an entry point, or one operation of the queue.
    pub name: String,
    /// Instructions that the verifier went through, over all paths; it gives up at a million.
    pub verified_instructions: u32,
    /// Instructions of the program.
    pub instructions: usize,
}

/// The programs of one policy, loaded.
pub struct Programs {
    object: Object,
}

/// What libbpf has said since the last look.
static MESSAGES: Mutex<String> = Mutex::new(String::new());

fn keep_message(_level: PrintLevel, message: String) {
    MESSAGES.lock().expect("nothing panics while it is held").push_str(&message);
}

/// The last lines of what libbpf has said.
fn messages() -> String {
    let text = std::mem::take(&mut *MESSAGES.lock().expect("nothing panics while it is held"));
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

impl Programs {
    /// Loads a policy's programs.
    ///
    /// # Errors
    ///
    /// What the kernel has against them, with the end of the verifier's log.
    pub fn load(policy: Policy) -> Result<Programs, String> {
        Programs::open(object(policy.source_name())?)
    }

    /// Loads what hosts compute beside a policy (`bpf/arithmetic.bpf.c`), for [`Programs::compute`].
    ///
    /// # Errors
    ///
    /// As [`Programs::load`].
    pub fn load_arithmetic() -> Result<Programs, String> {
        Programs::open(object("arithmetic")?)
    }

    /// Runs `admission` or `reserve` on numbers; what comes out.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn compute(&self, program: &str, numbers: [u64; 6]) -> Result<[u64; 4], String> {
        let mut context = Vec::with_capacity(80);
        numbers.iter().for_each(|number| context.extend_from_slice(&number.to_ne_bytes()));
        context.resize(80, 0);
        self.run(program, Some(&mut context))?;
        let mut out = [0; 4];
        for (slot, bytes) in out.iter_mut().zip(context[48..].chunks_exact(8)) {
            *slot = u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        }
        Ok(out)
    }

    fn open(object: &[u8]) -> Result<Programs, String> {
        set_print(Some((PrintLevel::Warn, keep_message)));
        let object = ObjectBuilder::default()
            .open_memory(object)
            .and_then(|open| open.load())
            .map_err(|error| format!("{error}\n{}", messages()))?;
        Ok(Programs { object })
    }

    fn run(&self, name: &str, context: Option<&mut [u8]>) -> Result<(), String> {
        let program: ProgramMut<'_> = self
            .object
            .progs_mut()
            .find(|p| p.name() == name)
            .ok_or_else(|| format!("there is no program {name}"))?;
        program
            .test_run(ProgramInput { context_in: context, ..Default::default() })
            .map(drop)
            .map_err(|error| format!("{name}: {error}"))
    }

    fn write(&self, map: &str, value: &[u8]) -> Result<(), String> {
        let found = self.object.maps().find(|m| m.name().to_string_lossy().ends_with(map));
        let found = found.ok_or_else(|| format!("there is no map {map}"))?;
        let size = found.value_size() as usize;
        if value.len() > size {
            return Err(format!("{map} has {size} bytes, and {} are to be written", value.len()));
        }
        let mut whole = value.to_vec();
        whole.resize(size, 0);
        found.update(&0_u32.to_ne_bytes(), &whole, MapFlags::ANY).map_err(|error| format!("{map}: {error}"))
    }

    fn output(&self) -> Result<Vec<u8>, String> {
        let map = self.object.maps().find(|m| m.name() == ".data.output").ok_or("there is no output")?;
        let expected = 8 + EVENTS_MAX * RESULT_BYTES + ACTIONS_MAX * Action::BYTES;
        if map.value_size() as usize != expected {
            return Err(format!("the output has {} bytes, event.rs expects {expected}", map.value_size()));
        }
        let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(|error| error.to_string())?;
        value.ok_or_else(|| "the output is not there".to_string())
    }

    /// Makes the state an instance of this configuration, whatever it was before.
    ///
    /// # Errors
    ///
    /// More tasks than [`TASKS_MAX`], or what the kernel says.
    pub fn set_up(&self, config: &Config, tasks: &[TaskParameters], sockets: &[u32]) -> Result<(), String> {
        if tasks.len() > TASKS_MAX {
            return Err(format!("{} tasks are more than {TASKS_MAX}", tasks.len()));
        }
        let budget_mode = config.budget_mode.code();
        let mut bytes = Vec::with_capacity(32 + tasks.len() * TASK_BYTES);
        let count = u32::try_from(tasks.len()).expect("checked above");
        let dedicated = if config.dedicated_cpu { config.cpus - 1 } else { NONE };
        let words = [
            count.max(1),
            config.cpus,
            config.fixed_priorities.into(),
            budget_mode,
            config.batching.into(),
            dedicated,
            config.retries_max,
            sockets.iter().max().map_or(1, |last| last + 1),
        ];
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_ne_bytes()));
        let sockets = sockets.iter().copied().chain(std::iter::repeat(0)).take(CPUS_MAX);
        sockets.for_each(|socket| bytes.extend_from_slice(&socket.to_ne_bytes()));
        tasks.iter().for_each(|task| encode_parameters(task, &mut bytes));
        self.write(".bss", &[])?;
        self.write(".data.setup", &bytes)?;
        self.run("setup", None)
    }

    /// Replays events, at most as many and with at most as many actions as fit.
    fn replay_part(&self, events: &[Event]) -> Result<Vec<Decision>, String> {
        let mut bytes = Vec::with_capacity(8 + events.len() * EVENT_BYTES);
        let count = u32::try_from(events.len()).expect("at most EVENTS_MAX");
        bytes.extend_from_slice(&count.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
        events.iter().for_each(|event| event.encode(&mut bytes));
        self.write(".data.input", &bytes)?;
        self.run("events", None)?;
        decode_output(&self.output()?, events.len())
    }

    /// Replays a recording from its beginning; the decisions of the BPF build.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn replay(&self, recording: &Recording) -> Result<Vec<Decision>, String> {
        let scenario = &recording.scenario;
        self.set_up(&scenario.config, &scenario.tasks, &scenario.sockets)?;
        let mut decisions = Vec::with_capacity(recording.events.len());
        while decisions.len() < recording.events.len() {
            let start = decisions.len();
            let end = part_end(recording, start);
            decisions.extend(self.replay_part(&recording.events[start..end])?);
        }
        Ok(decisions)
    }

    /// Fills the policy's queue for the hold benchmark (`bpf/hold.h`); after [`Programs::set_up`].
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn fill(&self) -> Result<(), String> {
        self.run("fill", None)
    }

    /// Runs the hold benchmark. [`Programs::hold_order`] says what it has popped.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn hold(&self, operations: u32, slack_ns: u64) -> Result<(), String> {
        let mut context = Vec::with_capacity(EVENT_BYTES);
        // As an event: only `task` and `time_ns` are read.
        Event {
            kind: crate::Kind::Step,
            cpu: 0,
            task: operations,
            time_ns: slack_ns,
            now: 0,
            parameters: None,
        }
        .encode(&mut context);
        self.run("hold", Some(&mut context))
    }

    /// A number that depends on which jobs the last [`Programs::hold`] popped, in which order.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn hold_order(&self) -> Result<u64, String> {
        Ok(decode_order(&self.output()?))
    }

    /// What the verifier had to look at, per program.
    pub fn sizes(&self) -> Vec<ProgramSize> {
        let ids: Vec<(u32, String)> = self
            .object
            .progs()
            .filter_map(|p| {
                Some((Program::id_from_fd(p.as_fd()).ok()?, p.name().to_string_lossy().into_owned()))
            })
            .collect();
        let options = ProgInfoQueryOptions::default().include_xlated_prog_insns(true);
        let infos: Vec<_> = ProgInfoIter::with_query_opts(options).collect();
        ids.into_iter()
            .filter_map(|(id, name)| {
                let info = infos.iter().find(|i| i.id == id)?;
                let instructions = info.xlated_prog_insns.len() / 8;
                Some(ProgramSize { name, verified_instructions: info.verified_insns, instructions })
            })
            .collect()
    }
}

/// Where a part that starts at `start` ends, so that its events and actions fit in one run.
fn part_end(recording: &Recording, start: usize) -> usize {
    let mut end = start;
    let mut actions = 0;
    while end < recording.events.len() && end - start < EVENTS_MAX {
        actions += recording.decisions[end].actions.len();
        // The BPF build may decide otherwise: leave room for that to be seen.
        if end > start && actions > ACTIONS_MAX / 2 {
            break;
        }
        end += 1;
    }
    end
}
