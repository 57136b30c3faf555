//! Real-time tasks that are admitted one by one beside background tasks, on fast and slow CPUs with deferrable
//! servers (calandrino2007, 5.1).

use crate::axis::{Axis, Variable};
use crate::file::{AdmissionWord, MixedFile};
use laxity_analysis::admission::{Admission, Entrant};
use laxity_analysis::{DoubleHit, SporadicTask};
use laxity_model::{
    Cell, Core, CpuList, DeferrableServer, Diagnostic, Duration, Platform, Reserve, Result, ServerSize, Task,
    TaskKind, TaskSet,
};
use laxity_sim::{Background, Servers, TICK};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The most background tasks of a simulation.
const ORDINARY_MOST: u32 = 10_000;

/// What is beside real-time tasks, in all simulations of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mixed {
    /// How many background tasks enter.
    pub ordinary: u32,
    /// Whether the scheduler looks only at ticks of 1 ms.
    pub at_ticks: bool,
    /// Period of the deferrable servers, where their size varies.
    pub server_period: Option<Duration>,
    /// Their size, where it does not.
    pub server: Option<ServerSize>,
    /// What real-time tasks leave of every CPU.
    pub reserve: Reserve,
}

impl Mixed {
    /// All that results depend on.
    pub(crate) fn description(&self) -> Value {
        let mut all = json!({
            "ordinary": self.ordinary,
            "at_ticks": self.at_ticks,
            "server_period_ns": self.server_period.map(Duration::as_ns),
            "server": self.server.map(|server| server.to_string()),
        });
        // Journals without one go on as they are.
        if !self.reserve.is_none() {
            all["reserve"] = json!(self.reserve.to_string());
        }
        all
    }

    /// What the file says, checked.
    ///
    /// # Errors
    ///
    /// Too many tasks; a reserve that is none, or without background tasks; a server that is not one, that is given although it varies, or
    /// lacks its period.
    pub(crate) fn of(file: &MixedFile, axis: &Axis) -> Result<Mixed> {
        let ordinary = file.tasks.unwrap_or(0);
        if ordinary > ORDINARY_MOST {
            return Err(Diagnostic::usage(format!(
                "ordinary: {ordinary} tasks are more than {ORDINARY_MOST}"
            ))
            .hint("take fewer; the paper has 100 (calandrino2007, 5.1)"));
        }
        let here = |error: Diagnostic| error.context("ordinary");
        let server_period: Option<Duration> =
            file.server_period.as_deref().map(str::parse).transpose().map_err(here)?;
        let server: Option<ServerSize> = file.server.as_deref().map(str::parse).transpose().map_err(here)?;
        let varies = axis.variable == Variable::Server;
        if varies != server_period.is_some_and(|period| !period.is_zero()) || (varies && server.is_some()) {
            return Err(Diagnostic::usage("ordinary: the size of servers needs one place").hint(
                "where `server` varies give `server-period`, as in \"10ms\"; else `server`, as in \"20%/10ms\", or nothing",
            ));
        }
        if varies && axis.decimal(axis.most()) > laxity_generate::Decimal::ONE {
            return Err(Diagnostic::usage(format!("axis: servers of {} of a CPU", axis.text(axis.most())))
                .hint("shares are at most 1: all of every CPU"));
        }
        let reserve = reserve_of(file).map_err(here)?;
        if ordinary == 0 && !reserve.is_none() {
            return Err(Diagnostic::usage(
                "ordinary: `reserve`: there are no background tasks for which it would be",
            )
            .hint("give `tasks`, as in tasks = 100, or leave `reserve` out"));
        }
        Ok(Mixed { ordinary, at_ticks: file.at_ticks, server_period, server, reserve })
    }

    /// The servers at a value of the axis: so much of the slowest CPU's time as work on every CPU, and all of every CPU at 1
    /// ("MAX").
    pub(crate) fn size_at(&self, axis: &Axis, value: u64) -> Result<Option<ServerSize>> {
        let Some(period) = self.server_period else { return Ok(self.server) };
        let (share, whole) = (axis.decimal(value), laxity_generate::Decimal::ONE);
        if share == whole {
            return Ok(Some(ServerSize::Share(DeferrableServer::new(period, period)?)));
        }
        let budget =
            u128::from(period.as_ns()) * u128::from(share.billionths()) / u128::from(whole.billionths());
        let budget = Duration::from_ns(u64::try_from(budget).expect("a part of a period"));
        Ok(Some(ServerSize::SlowestCoreUnits(DeferrableServer::new(budget, period)?)))
    }

    /// The background tasks beside a set.
    pub(crate) fn background(&self, seed: u64) -> Background {
        Background::random(self.ordinary as usize, seed)
    }
}

/// What is left to background tasks.
fn reserve_of(file: &MixedFile) -> Result<Reserve> {
    let window = file.reserve_period.as_deref().map_or(Ok(Reserve::WINDOW), |text| {
        let checked = text.parse().and_then(Reserve::checked_window);
        checked.map_err(|error: Diagnostic| error.context("`reserve-period`"))
    })?;
    match file.reserve {
        Some(percent) => Reserve::percent(percent, window),
        None if file.reserve_period.is_some() => {
            Err(Diagnostic::usage("`reserve-period` is of a reserve, and there is none")
                .hint("give `reserve`, as in reserve = 5, or leave `reserve-period` out"))
        }
        None => Ok(Reserve::NONE),
    }
}

/// Servers of this size on every CPU of the platform; none without a size.
pub(crate) fn servers(size: Option<ServerSize>, platform: &Platform) -> Servers {
    size.map(|size| Servers::everywhere(size, platform)).unwrap_or_default()
}

/// The admitted tasks, and their CPUs.
pub(crate) struct Admitted<'s> {
    /// The set; where some were refused, with these as background tasks that release no job.
    pub set: Cow<'s, TaskSet>,
    /// A cell for every CPU that has tasks.
    pub cells: Vec<Cell>,
    /// How many real-time tasks were admitted, and how many asked.
    pub count: (u64, u64),
}

/// What a CPU must be able to promise.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Whether two budgets in a row count.
    pub word: AdmissionWord,
    /// The most tardiness that is allowed; None: any.
    pub tardiness_max: Option<Duration>,
    /// The scheduler looks at ticks only.
    pub at_ticks: bool,
}

/// Admits the tasks in the order in which they enter, each onto the slowest CPU that can take it.
///
/// # Errors
///
/// None with sets that are sets already.
pub(crate) fn admit(
    tasks: &[Task],
    platform: &Platform,
    size: Option<ServerSize>,
    rules: Rules,
) -> Result<Admitted<'static>> {
    let double_hit = match rules.word {
        AdmissionWord::IgnoresDoubleHit => DoubleHit::Ignored,
        AdmissionWord::CountsDoubleHit => DoubleHit::Counted,
    };
    let tick = if rules.at_ticks { TICK } else { Duration::ZERO };
    let server = |core: &Core| size.map_or(DeferrableServer::NONE, |size| size.on(platform, core.speed));
    let mut admission = Admission::new(platform, server, double_hit).at_ticks(tick);
    let mut tasks = tasks.to_vec();
    let mut order: Vec<usize> = (0..tasks.len()).filter(|&id| tasks[id].kind == TaskKind::RealTime).collect();
    order.sort_by_key(|&id| (tasks[id].phase, id));
    let mut places: Vec<(u32, usize)> = Vec::new();
    let asked = order.len() as u64;
    for id in order {
        let task = SporadicTask::implicit(tasks[id].wcet.as_ns(), tasks[id].period().as_ns());
        let affinity = tasks[id].affinity.clone();
        match admission.enter(Entrant { id: id as u64, task, tardiness_max: rules.tardiness_max, affinity }) {
            Ok(cpu) => places.push((cpu, id)),
            Err(_) => tasks[id].kind = TaskKind::BestEffort,
        }
    }
    let count = (places.len() as u64, asked);
    places.sort_unstable();
    let cells = places.chunk_by(|a, b| a.0 == b.0).map(|of_core| {
        Cell::new(CpuList::from_iter([of_core[0].0]), of_core.iter().map(|&(_, id)| id).collect())
    });
    Ok(Admitted { cells: cells.collect(), count, set: Cow::Owned(TaskSet::new("set", tasks)?) })
}
