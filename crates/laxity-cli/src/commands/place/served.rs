//! Rate-monotonic tasks below a deferrable server on every core (calandrino2007, 4.1 and 4.2): what fits is what admission takes.

use crate::arguments::PlaceArguments;
use laxity_analysis::admission::{Admission, Entrant, Why, judge_core};
use laxity_analysis::{Bounds, DeferrableRta, DeferrableTardiness, DoubleHit, SporadicTask, Test, Work};
use laxity_model::{Core, DeferrableServer, Diagnostic, Duration, Platform, Result, ServerSize, TaskSet};
use laxity_place::{Acceptance, Bin, Method, Rule};

/// Steps for the test of a core: far more than hundreds of tasks take.
const WORK: u64 = 1 << 28;

/// The cores with their servers, and what is to hold on them.
pub struct Served<'a> {
    set: &'a TaskSet,
    platform: &'a Platform,
    size: ServerSize,
    cores: Vec<Core>,
    double_hit: DoubleHit,
    tardiness_bound: Option<Duration>,
}

impl<'a> Served<'a> {
    /// Nothing if tasks are placed by load: where no server is spoken of, unless slowest-fit goes by no load.
    ///
    /// # Errors
    ///
    /// Servers are of single cores, and the integer program knows loads only.
    pub fn of(
        arguments: &PlaceArguments,
        set: &'a TaskSet,
        platform: &'a Platform,
        bins: &[Bin],
    ) -> Result<Option<Self>> {
        let (method, server) = (arguments.placement.placement, &arguments.server);
        let goes_by_test = matches!(method, Method::Pack(packing) if packing.rule == Rule::SlowestFit);
        if !server.any() && (arguments.fit.is_some() || !goes_by_test) {
            return Ok(None);
        }
        if let Some(fit) = arguments.fit {
            return Err(Diagnostic::usage(format!(
                "--fit {fit} goes by load, and below a server a test decides"
            ))
            .hint("leave out --fit, or --server, --tardiness-bound and --count-double-hit"));
        }
        if method.may_solve() {
            return Err(Diagnostic::usage(format!("placement `{method}` knows loads only, no servers"))
                .hint("choose a heuristic such as --placement slowest-fit"));
        }
        if let Some(bin) = bins.iter().find(|bin| bin.cpus().len() > 1) {
            return if server.any() {
                Err(Diagnostic::usage(format!("a server is of one core, but tasks go to {bin}"))
                    .hint("place --onto cores"))
            } else {
                Ok(None)
            };
        }
        let size = server.server.unwrap_or(ServerSize::Share(DeferrableServer::NONE));
        let double_hit = if server.count_double_hit { DoubleHit::Counted } else { DoubleHit::Ignored };
        let core =
            |bin: &Bin| bin.cpus().iter().map(|cpu| Core { cpu, speed: bin.fastest() }).collect::<Vec<_>>();
        let cores = bins.iter().flat_map(core).collect();
        let tardiness_bound = server.tardiness_bound;
        Ok(Some(Served { set, platform, size, cores, double_hit, tardiness_bound }))
    }

    /// The test, by its name.
    pub fn test(&self) -> &'static str {
        match self.double_hit {
            DoubleHit::Counted => DeferrableRta.info().name,
            DoubleHit::Ignored => DeferrableTardiness.info().name,
        }
    }

    /// The server of a core.
    pub fn server(&self, bin: usize) -> DeferrableServer {
        self.size.on(self.platform, self.cores[bin].speed)
    }

    /// What is proven of the tasks of a core, in their order; nothing where tasks were put that do not fit.
    pub fn bounds(&self, bin: usize, tasks: &[usize]) -> Option<Bounds> {
        self.judge(bin, tasks).ok()
    }

    fn judge(&self, bin: usize, tasks: &[usize]) -> std::result::Result<Bounds, Why> {
        let entrants: Vec<Entrant> = tasks.iter().map(|&id| self.entrant(id)).collect();
        judge_core(self.cores[bin].speed, self.server(bin), &entrants, self.double_hit, Work::steps(WORK))
    }

    fn entrant(&self, id: usize) -> Entrant {
        let task = &self.set.tasks()[id];
        Entrant {
            id: id as u64,
            task: SporadicTask::from(task),
            tardiness_max: self.tardiness_bound,
            affinity: task.affinity.clone(),
        }
    }

    fn name_of(&self, id: u64) -> String {
        let task = usize::try_from(id).ok().and_then(|id| self.set.tasks().get(id));
        task.map_or_else(|| id.to_string(), |task| task.name.clone())
    }
}

impl Acceptance for Served<'_> {
    fn name(&self) -> String {
        format!("the test of tasks below a server ({})", self.test())
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        self.judge(bin, tasks).is_ok()
    }

    /// As the admission of a loaded amp-rm says it.
    fn refusal(&self, assignment: &[Option<usize>], task: usize) -> Option<Diagnostic> {
        let mut admission = Admission::new(self.platform, self.size, self.double_hit).with_steps(WORK);
        for (id, bin) in assignment.iter().enumerate() {
            let Some(bin) = *bin else { continue };
            admission.enter_core(self.cores[bin].cpu, self.entrant(id)).ok()?;
        }
        let refused = admission.enter(self.entrant(task)).err()?;
        Some(refused.diagnostic(|id| self.name_of(id)))
    }
}
