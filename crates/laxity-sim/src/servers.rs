//! Which CPUs have deferrable servers: a share that background work has before real-time work (calandrino2007,
//! 4.2).

use laxity_model::{DeferrableServer, Diagnostic, Platform, Result, ServerSize, cpus_named};

/// The servers of a machine; their first periods begin at 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Servers {
    /// By CPU number, ascending. On other CPUs background work runs only where no real-time work does.
    pub of: Vec<(u32, DeferrableServer)>,
}

impl Servers {
    /// A server of this size on every CPU.
    pub fn everywhere(size: ServerSize, platform: &Platform) -> Servers {
        Servers { of: size.on_cores(platform).collect() }
    }

    /// The server of a CPU.
    pub fn on(&self, cpu: u32) -> DeferrableServer {
        let found = self.of.iter().find(|&&(of, _)| of == cpu);
        found.map_or(DeferrableServer::NONE, |&(_, server)| server)
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    ///
    /// Usage errors: a CPU that the platform lacks, or that comes after one with a higher number or twice.
    pub fn check(&self, platform: &Platform) -> Result<()> {
        let known = platform.cpus();
        let wrong = |cpu: u32, what: String, hint: &str| {
            Err(Diagnostic::usage(format!("deferrable server of CPU {cpu}: {what}")).hint(hint))
        };
        for (number, &(cpu, _)) in self.of.iter().enumerate() {
            if !known.contains(cpu) {
                let what = format!("platform `{}` has only {}", platform.name(), cpus_named(&known));
                return wrong(cpu, what, "use CPUs of the platform");
            }
            if number > 0 && self.of[number - 1].0 >= cpu {
                let what = format!("it comes after one of CPU {}", self.of[number - 1].0);
                return wrong(cpu, what, "give every CPU one server at most, in the order of the CPUs");
            }
        }
        Ok(())
    }
}
