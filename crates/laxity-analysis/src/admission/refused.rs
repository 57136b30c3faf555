//! Why something was refused.

use laxity_model::{DeferrableServer, Diagnostic, Duration, Speed};

/// The request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// That this task enters.
    Enter(u64),
    /// That a CPU's server has this size.
    Resize(u32, DeferrableServer),
}

/// A refusal: why, for every CPU that was asked, the slowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The request.
    pub wanted: Wanted,
    /// The answer of each CPU, or of the first ones.
    pub cores: Vec<CoreRefused>,
    /// How many CPUs have refused it.
    pub asked: usize,
    /// Of a server: the largest budget per period that breaks nothing.
    pub largest_budget: Option<Duration>,
    /// Whether departed tasks or earlier sizes still count: the answer may differ once the CPU has been quiet.
    pub unsettled: bool,
}

/// The answer of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreRefused {
    /// Its number.
    pub cpu: u32,
    /// Its speed, if it exists and was asked.
    pub speed: Option<Speed>,
    /// Its reason.
    pub why: Why,
}

/// A reason. Times are ns on the CPU that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There is no such CPU.
    NoCore,
    /// The task is here, or has left and still counts.
    Present,
    /// The task may not run here.
    Affinity,
    /// Even alone a job takes longer than its window, min(D, T).
    Slow {
        /// C on this CPU.
        needed: u64,
        /// min(D, T).
        window: u64,
    },
    /// More than all of the CPU would be needed.
    Full,
    /// A task would miss its deadline: by the plain test, or with the double hit if that is counted.
    Late {
        /// Which.
        id: u64,
        /// After which it would respond, if it would.
        response: Option<u64>,
        /// Its relative deadline.
        deadline: u64,
    },
    /// A task could be later than it has asked for (Theorem 1).
    Tardy {
        /// Which.
        id: u64,
        /// How late it could be.
        bound: u64,
        /// How late it may be.
        allowed: u64,
    },
    /// The test is not for such tasks.
    NotApplicable {
        /// What would have to hold.
        assumption: &'static str,
        /// For which task it does not.
        id: Option<u64>,
    },
    /// The test has taken all its steps.
    OutOfWork,
}

/// More CPUs than this are not listed in a message.
pub const CORES_LISTED_MAX: usize = 8;

impl Refused {
    pub(super) fn new(wanted: Wanted) -> Self {
        Refused { wanted, cores: Vec::new(), asked: 0, largest_budget: None, unsettled: false }
    }

    pub(super) fn add(&mut self, cpu: u32, speed: Option<Speed>, why: Why) {
        self.cores.push(CoreRefused { cpu, speed, why });
        self.asked += 1;
    }

    /// So many CPUs have refused it, more than there are reasons of.
    #[must_use]
    pub fn by(self, asked: usize) -> Self {
        Refused { asked, ..self }
    }

    /// In words, with the names of tasks by their ids.
    pub fn diagnostic(&self, name: impl Fn(u64) -> String) -> Diagnostic {
        let what = match self.wanted {
            Wanted::Enter(id) => format!("task `{}` cannot enter", name(id)),
            Wanted::Resize(cpu, server) => format!("the server of CPU {cpu} cannot be {server}"),
        };
        let of_core = |core: &CoreRefused| {
            let speed = core.speed.map_or_else(String::new, |speed| format!(" (speed {speed})"));
            format!("CPU {}{speed}: {}", core.cpu, core.why.text(&name))
        };
        let mut reasons: Vec<String> = self.cores.iter().take(CORES_LISTED_MAX).map(of_core).collect();
        if self.asked > CORES_LISTED_MAX {
            reasons.push(format!("{} in all", self.asked));
        }
        Diagnostic::usage(format!("{what}: {}", reasons.join("; "))).hint(self.hint())
    }

    fn hint(&self) -> String {
        let has = |wanted: fn(&Why) -> bool| self.cores.iter().any(|core| wanted(&core.why));
        let mut advice = match self.wanted {
            Wanted::Resize(_, server) => match self.largest_budget {
                Some(budget) if !budget.is_zero() => {
                    format!("give it at most {budget} per {}", server.period())
                }
                Some(_) => "no budget fits: let a task leave first, or move it to a faster CPU".into(),
                None => "name a CPU of the platform".into(),
            },
            Wanted::Enter(_) if has(|why| *why == Why::NoCore) => "name a CPU of the platform".into(),
            Wanted::Enter(_) if has(|why| *why == Why::Present) => {
                "give every task a number of its own; one that has left is free again once its CPU has been quiet".into()
            }
            Wanted::Enter(_) if has(|why| matches!(why, Why::NotApplicable { .. })) => {
                "give it a deadline of at most its period, or count the double hit".into()
            }
            Wanted::Enter(_) if has(|why| matches!(why, Why::Tardy { .. })) => {
                "allow more tardiness, shorten its execution time, or make the servers smaller".into()
            }
            Wanted::Enter(_) => {
                "shorten its execution time, lengthen its period, make the servers smaller, or add a faster CPU"
                    .to_owned()
            }
        };
        if self.unsettled {
            advice.push_str(
                "; what has left, or was larger, counts until its CPU has been quiet: try again then",
            );
        }
        advice
    }
}

impl Why {
    /// In words, with the names of tasks by their ids.
    pub fn text(&self, name: &impl Fn(u64) -> String) -> String {
        let time = Duration::from_ns;
        match *self {
            Why::NoCore => "there is no such CPU".into(),
            Why::Present => "it is there already, or has left and still counts".into(),
            Why::Affinity => "outside its affinity".into(),
            Why::Slow { needed, window } => {
                format!("a job would need {} of {}", time(needed), time(window))
            }
            Why::Full => "more than all of its time would be needed".into(),
            Why::Late { id, response: Some(response), deadline } => format!(
                "`{}` would respond after {}, {} later than its deadline of {}",
                name(id),
                time(response),
                time(response.saturating_sub(deadline)),
                time(deadline)
            ),
            Why::Late { id, response: None, deadline } => {
                format!("`{}` would miss its deadline of {} by more and more", name(id), time(deadline))
            }
            Why::Tardy { id, bound, allowed } => {
                format!("`{}` could be {} late, and may be {}", name(id), time(bound), time(allowed))
            }
            Why::NotApplicable { assumption, id: Some(id) } => {
                format!("the test needs {assumption}, which `{}` has not", name(id))
            }
            Why::NotApplicable { assumption, id: None } => format!("the test needs {assumption}"),
            Why::OutOfWork => "the test has taken all its steps".into(),
        }
    }
}
