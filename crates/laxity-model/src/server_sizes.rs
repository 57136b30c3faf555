//! The sizes of the deferrable servers of a platform's CPUs, as users give them: one for all CPUs, or several for some.

use crate::{CpuList, DeferrableServer, Diagnostic, Platform, Result, ServerSize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A size, for all CPUs or for some. Written `2ms/10ms` or `0-1=2ms/10ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerChoice {
    cpus: Option<CpuList>,
    size: ServerSize,
}

impl ServerChoice {
    fn covers(&self, cpu: u32) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu))
    }
}

impl From<ServerSize> for ServerChoice {
    fn from(size: ServerSize) -> Self {
        ServerChoice { cpus: None, size }
    }
}

impl FromStr for ServerChoice {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            None => Ok(ServerChoice { cpus: None, size: text.parse()? }),
            Some((cpus, size)) => {
                let cpus: CpuList = cpus.trim().parse()?;
                if cpus.is_empty() {
                    return Err(Diagnostic::usage(format!("server `{text}` names no CPU"))
                        .hint("write 0-1=2ms/10ms for some CPUs, or 2ms/10ms for all"));
                }
                Ok(ServerChoice { cpus: Some(cpus), size: size.parse()? })
            }
        }
    }
}

impl fmt::Display for ServerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cpus {
            None => write!(f, "{}", self.size),
            Some(cpus) => write!(f, "{cpus}={}", self.size),
        }
    }
}

/// Sizes of which the last that is for a CPU counts there; a CPU that none is for has no server. Written with `; ` between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSizes(Vec<ServerChoice>);

impl ServerSizes {
    /// No servers.
    pub const NONE: ServerSizes = ServerSizes(Vec::new());

    /// Whether no CPU has a server.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every CPU has the same size.
    pub fn is_of_all_cores(&self) -> bool {
        self.0.iter().all(|choice| choice.cpus.is_none())
    }

    /// Refuses sizes for CPUs that the platform lacks.
    ///
    /// # Errors
    ///
    /// A usage error that names the first such CPU.
    pub fn check(&self, platform: &Platform) -> Result<()> {
        let known = platform.cpus();
        let named = self.0.iter().filter_map(|choice| choice.cpus.as_ref()).flat_map(CpuList::iter);
        match { named }.find(|&cpu| !known.contains(cpu)) {
            None => Ok(()),
            Some(cpu) => Err(Diagnostic::usage(format!(
                "--server {self}: CPU {cpu} is none of those that real-time tasks run on, {known}"
            ))
            .hint("give sizes for some of these, or choose others (--cpus, --platform)")),
        }
    }

    /// The server of a CPU of the platform, with a budget by its speed.
    pub fn on(&self, platform: &Platform, cpu: u32) -> DeferrableServer {
        let size = self.0.iter().rev().find(|choice| choice.covers(cpu)).map(|choice| choice.size);
        let core = platform.core(cpu);
        match (size, core) {
            (Some(size), Some(core)) => size.on(platform, core.speed),
            _ => DeferrableServer::NONE,
        }
    }

    /// The servers of all CPUs that a size is for, by CPU number.
    ///
    /// # Errors
    ///
    /// Those of [`ServerSizes::check`].
    pub fn on_cores(&self, platform: &Platform) -> Result<BTreeMap<u32, DeferrableServer>> {
        self.check(platform)?;
        let of_some = |cpu: &u32| self.0.iter().any(|choice| choice.covers(*cpu));
        Ok(platform.cpus().iter().filter(of_some).map(|cpu| (cpu, self.on(platform, cpu))).collect())
    }
}

impl From<ServerSize> for ServerSizes {
    fn from(size: ServerSize) -> Self {
        ServerSizes(vec![size.into()])
    }
}

impl From<Vec<ServerChoice>> for ServerSizes {
    fn from(choices: Vec<ServerChoice>) -> Self {
        ServerSizes(choices)
    }
}

impl FromStr for ServerSizes {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        text.split(';').map(|choice| choice.trim().parse()).collect::<Result<_>>().map(ServerSizes)
    }
}

impl fmt::Display for ServerSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, choice) in self.0.iter().enumerate() {
            let before = if number == 0 { "" } else { "; " };
            write!(f, "{before}{choice}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Core, Speed};

    /// Two slow CPUs and a fast one.
    fn platform() -> Platform {
        let half = Speed::new(1, 2).expect("positive");
        let core = |cpu, speed| Core { cpu, speed };
        let cores = vec![core(0, half), core(1, half), core(4, Speed::UNIT)];
        Platform::new("some", cores, vec![], vec![], None).expect("valid")
    }

    fn sizes(text: &str) -> ServerSizes {
        text.parse().expect("sizes")
    }

    fn on_cores(text: &str) -> String {
        let servers = sizes(text).on_cores(&platform()).expect("known CPUs");
        servers.iter().map(|(cpu, server)| format!("{cpu}:{server} ")).collect()
    }

    #[test]
    fn the_last_size_for_a_core_counts() {
        assert_eq!(on_cores("2ms/10ms"), "0:2ms/10ms 1:2ms/10ms 4:2ms/10ms ");
        assert_eq!(on_cores("2ms@slowest/10ms; 1=1ms/5ms"), "0:2ms/10ms 1:1ms/5ms 4:1ms/10ms ");
        assert_eq!(on_cores("1=1ms/5ms; 2ms/10ms"), "0:2ms/10ms 1:2ms/10ms 4:2ms/10ms ");
        assert_eq!(on_cores("1,4=20%/5ms; 4=0ms/5ms"), "1:1ms/5ms 4:0ns/5ms ");
        let some = sizes("1=1ms/5ms");
        assert_eq!(some.on(&platform(), 0), DeferrableServer::NONE);
        assert_eq!(some.on(&platform(), 9), DeferrableServer::NONE);
        assert!(!some.is_of_all_cores() && sizes("1ms/5ms").is_of_all_cores());
    }

    #[test]
    fn written_as_read() {
        for text in ["2ms/10ms", "2ms@slowest/10ms; 1=1ms/5ms", "0-1,4=1ms/5ms"] {
            assert_eq!(sizes(text).to_string(), text);
        }
        assert_eq!(ServerSizes::NONE.to_string(), "");
    }

    #[test]
    fn cores_that_are_not_there() {
        let error = sizes("2ms/10ms; 1-2=1ms/5ms").on_cores(&platform()).expect_err("no CPU 2");
        assert!(error.message.contains("CPU 2 is none of those"), "{}", error.message);
        let error = "=1ms/5ms".parse::<ServerChoice>().expect_err("no CPU");
        assert!(error.message.contains("names no CPU"), "{}", error.message);
        let error = "2ms/10ms; 3:1ms/5ms".parse::<ServerSizes>().expect_err("no `=`");
        assert!(error.message.contains("3:1ms"), "{}", error.message);
    }
}
