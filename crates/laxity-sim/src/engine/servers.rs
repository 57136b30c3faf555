//! Deferrable servers (`policy/deferrable.h`) and the reserve (`policy/reserve.h`): which CPUs background tasks have before real-time
//! tasks (`policy/claims.h`).
//!
//! Each instant, after what happens to jobs and before CPUs follow their links, they are asked; a CPU whose answer has
//! changed decides anew, and its clock says when the answer will change by itself. (`background/claims.rs` says which CPU it is that
//! gives way by the reserve where one queue is there for all.)

use super::{NEVER, index_u32};
use crate::changes::What;
use crate::setup::Setup;
use laxity_model::DeferrableServer;
use laxity_policy::{Claim, Reserve, Server};

/// The servers and reserves of the CPUs while they are simulated.
pub(super) struct Servers {
    cores: Vec<CoreState>,
    /// Whether real-time tasks leave background tasks anything.
    has_reserve: bool,
    /// Ends come at multiples of this, if not 0.
    tick: u64,
}

struct CoreState {
    server: Server,
    reserve: Reserve,
    /// Up to when the background task that runs here has been charged.
    charged: u64,
    /// Which work goes first here; real-time work, where no background task is.
    claim: Claim,
}

impl Servers {
    /// Those of a setup; nothing if it has none.
    pub fn of(setup: &Setup<'_>) -> Option<Servers> {
        let changes = setup.changes.list.iter().any(|change| matches!(change.what, What::Resize { .. }));
        if setup.servers.of.is_empty() && !changes && setup.reserve.is_none() {
            return None;
        }
        let size = |cpu: u32| {
            let found = setup.servers.of.iter().find(|&&(of, _)| of == cpu);
            found.map_or((0, 0), |(_, server)| (server.budget().as_ns(), server.period().as_ns()))
        };
        // Where nothing is left, that is off: real-time work has all of each window.
        let (runtime, window) = (setup.reserve.runtime().as_ns(), setup.reserve.window().as_ns());
        let state = |cpu: u32| {
            let (budget, period) = size(cpu);
            CoreState {
                server: Server::new(0, budget, period),
                reserve: Reserve::new(0, runtime, window),
                charged: 0,
                claim: Claim::RealTime,
            }
        };
        Some(Servers {
            cores: setup.platform.cores().iter().map(|core| state(core.cpu)).collect(),
            has_reserve: !setup.reserve.is_none(),
            tick: if setup.at_ticks { setup.background.tick.as_ns() } else { 0 },
        })
    }

    /// Whether real-time tasks leave background tasks anything.
    pub fn has_reserve(&self) -> bool {
        self.has_reserve
    }

    /// Whether background tasks go first on the CPU by the reserve.
    pub fn is_reserved(&self, core: u32) -> bool {
        self.cores[core as usize].claim == Claim::Reserve
    }

    /// Whether background tasks go first on the CPU.
    pub fn goes_first(&self, core: u32) -> bool {
        self.cores[core as usize].claim != Claim::RealTime
    }

    /// Requests another size of the CPU's server. Returns the instant from which the server has it; None:
    /// [`Servers::quiet`] decides. (Whether the CPU is quiet is known only at the end of an instant.)
    pub fn wants(&mut self, core: u32, size: DeferrableServer, now: u64) -> Option<u64> {
        let server = &mut self.cores[core as usize].server;
        server.wants(size.budget().as_ns(), size.period().as_ns(), false, now)
    }

    /// The CPU is quiet. Returns whether its server has another size from now on.
    pub fn quiet(&mut self, core: u32, now: u64) -> bool {
        self.cores[core as usize].server.quiet(now)
    }

    /// Budget and period of the CPU's server, in ns.
    pub fn size(&mut self, core: u32, now: u64) -> (u64, u64) {
        self.cores[core as usize].server.size(now)
    }

    /// A background task begins on the CPU.
    pub fn begin(&mut self, core: u32, now: u64) {
        self.cores[core as usize].charged = now;
    }

    /// The background task that runs on the CPU is charged.
    pub fn charge(&mut self, core: u32, now: u64) {
        let state = &mut self.cores[core as usize];
        if now > state.charged {
            state.server.charge(now - state.charged, now);
            state.charged = now;
        }
    }

    /// A job has had the CPU for `used` until `now`.
    pub fn charge_job(&mut self, core: u32, used: u64, now: u64) {
        if self.has_reserve {
            self.cores[core as usize].reserve.charge(used, now);
        }
    }

    /// Asks again, where background tasks run (`runs`) or wait (`waits`). `gives_way` says, of a CPU, the answer and the one before,
    /// whether it is that CPU which gives way. Returns the CPUs whose answer has changed.
    pub fn ask(
        &mut self,
        runs: impl Fn(u32) -> bool,
        waits: impl Fn(u32) -> bool,
        mut gives_way: impl FnMut(u32, Claim, Claim) -> bool,
        now: u64,
    ) -> Vec<u32> {
        let mut changed = Vec::new();
        for core in 0..index_u32(self.cores.len()) {
            let runs = runs(core);
            if runs {
                self.charge(core, now);
            }
            let state = &mut self.cores[core as usize];
            let there = runs || waits(core);
            let mut claim =
                if there { Claim::first(&mut state.server, &state.reserve, now) } else { Claim::RealTime };
            if claim != Claim::RealTime && !gives_way(core, claim, state.claim) {
                claim = Claim::RealTime;
            }
            if claim != std::mem::replace(&mut state.claim, claim) {
                changed.push(core);
            }
        }
        changed
    }

    /// When the CPU is to be asked again, if nothing happens before; `job` says whether one runs there.
    pub fn asks_at(&mut self, core: u32, runs: bool, waits: bool, job: bool, now: u64) -> u64 {
        let state = &mut self.cores[core as usize];
        let there = runs || waits || state.claim != Claim::RealTime;
        // What real-time work does not use up does not run out; what it has used up brings nothing by itself.
        let lasts = state.claim == Claim::Reserve || (job && state.reserve.admits(now));
        let reserve = if lasts { state.reserve } else { Reserve::off() };
        let at = if there { state.claim.ends(&mut state.server, &reserve, now) } else { NEVER };
        self.at_tick(at)
    }

    fn at_tick(&self, at: u64) -> u64 {
        if self.tick == 0 { at } else { at.checked_next_multiple_of(self.tick).unwrap_or(NEVER) }
    }
}
