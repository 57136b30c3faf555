//! Rate-monotonic tasks below a deferrable server on every core (calandrino2007, 4.1 and 4.2): what fits is what admission takes.

use crate::arguments::PlaceArguments;
use laxity_analysis::admission::{Entrant, Why, judge_core};
use laxity_analysis::{Bounds, DeferrableRta, DeferrableTardiness, DoubleHit, SporadicTask, Test, Work};
use laxity_model::{DeferrableServer, Diagnostic, Duration, Platform, Result, ServerSize, Speed, TaskSet};
use laxity_place::{Acceptance, Bin, Method, Rule};

/// Steps for the test of a core: far more than hundreds of tasks take.
const WORK: u64 = 1 << 28;

/// The cores with their servers, and what is to hold on them.
pub struct Served<'a> {
    set: &'a TaskSet,
    cores: Vec<(Speed, DeferrableServer)>,
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
        platform: &Platform,
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
        let cores = bins.iter().map(|bin| (bin.fastest(), size.on(platform, bin.fastest()))).collect();
        Ok(Some(Served { set, cores, double_hit, tardiness_bound: server.tardiness_bound }))
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
        self.cores[bin].1
    }

    /// What is proven of the tasks of a core, in their order; nothing where tasks were put that do not fit.
    pub fn bounds(&self, bin: usize, tasks: &[usize]) -> Option<Bounds> {
        self.judge(bin, tasks).ok()
    }

    fn judge(&self, bin: usize, tasks: &[usize]) -> std::result::Result<Bounds, Why> {
        let entrant = |&id: &usize| Entrant {
            id: id as u64,
            task: SporadicTask::from(&self.set.tasks()[id]),
            tardiness_max: self.tardiness_bound,
            affinity: None,
        };
        let entrants: Vec<Entrant> = tasks.iter().map(entrant).collect();
        let (speed, server) = self.cores[bin];
        judge_core(speed, server, &entrants, self.double_hit, Work::steps(WORK))
    }
}

impl Acceptance for Served<'_> {
    fn name(&self) -> String {
        format!("the test of tasks below a server ({})", self.test())
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        self.judge(bin, tasks).is_ok()
    }
}
