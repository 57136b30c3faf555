//! What scheduling costs, from the files that the user gave.

use super::kernel::Kernel;
use laxity_analysis::overheads::{CacheDelays, Overhead, Overheads, TICK_PERIOD_DEFAULT};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Beside, Taken};
use laxity_model::{
    CacheKind, CpuList, Diagnostic, Duration, Platform, Result, ShownPath as _, Structure, read_file,
};
use laxity_study::read_overheads;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a file is that a user has named: its path, or that of a file that comes with the program.
pub type Locate = for<'p> fn(&'p Path) -> Cow<'p, Path>;

/// A file of overheads, of one scheduler or of all: `[SCHEDULER=]FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargedFile {
    scheduler: Option<Analysed>,
    path: PathBuf,
}

impl ChargedFile {
    /// Refuses a file of a scheduler that is not among those asked for: it would count for nothing.
    ///
    /// # Errors
    ///
    /// Names the scheduler and the file.
    pub fn check(&self, asked: &[Analysed]) -> Result<()> {
        match self.scheduler {
            Some(own) if !asked.contains(&own) => Err(Diagnostic::usage(format!(
                "--overheads {own}={}: {own} is not among the schedulers",
                self.path.shown()
            ))
            .hint("name it with --schedulers, or leave out `NAME=`: then the file is of all")),
            _ => Ok(()),
        }
    }

    /// Of all schedulers.
    pub fn of_all(path: &Path) -> Self {
        ChargedFile { scheduler: None, path: path.to_owned() }
    }
}

impl FromStr for ChargedFile {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let all = || ChargedFile { scheduler: None, path: text.into() };
        let Some((name, path)) = text.split_once('=') else { return Ok(all()) };
        match name.parse() {
            Ok(scheduler) => Ok(ChargedFile { scheduler: Some(scheduler), path: path.into() }),
            // What is before = belongs to the file's name, if there is such a file.
            Err(unknown) if !Path::new(text).exists() && guesses(&unknown) => Err(unknown),
            Err(_) => Ok(all()),
        }
    }
}

/// Whether it says which name is meant.
fn guesses(unknown: &Diagnostic) -> bool {
    unknown.hint.as_deref().is_some_and(|hint| hint.starts_with("did you mean"))
}

/// What is assumed of arrivals where nothing aligns them.
const ARRIVALS: &str = "jobs arrive at any time and wait for the next quantum, which is taken from periods and deadlines; under \
    pfair:aligned they arrive with quanta";

/// All that is known of costs.
#[derive(Debug, Clone)]
pub struct Charges {
    files: Vec<(ChargedFile, Overheads)>,
    cache_delays: Option<(PathBuf, CacheDelays)>,
    tick_period_ns: u64,
    /// Those of the kernel that go before tasks of laxity's own policies on each CPU; nothing: none is counted.
    kernel_threads: Option<Taken>,
    /// Beside which proofs hold; nothing: beside none.
    kernel: Option<Kernel>,
}

impl Default for Charges {
    fn default() -> Self {
        Charges {
            files: Vec::new(),
            cache_delays: None,
            tick_period_ns: TICK_PERIOD_DEFAULT,
            kernel_threads: None,
            kernel: None,
        }
    }
}

/// The costs of one scheduler in its places, and the quanta of pfair.
#[derive(Debug, Clone)]
pub struct Charge {
    /// For the accounting. Their tick's period is the quantum of pfair.
    pub overheads: Overheads,
    /// The file of overheads.
    pub file: Option<PathBuf>,
    /// The file of cache-related delays.
    pub cache_file: Option<PathBuf>,
}

impl Charges {
    /// From files. A tick comes every so many ns; pfair's quanta are as long, whatever scheduling costs.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or two are for the same scheduler.
    pub fn read(
        files: &[ChargedFile],
        cache_delays: Option<&Path>,
        tick_period: u64,
        locate: Locate,
    ) -> Result<Self> {
        let mut read: Vec<(ChargedFile, Overheads)> = Vec::new();
        for file in files {
            if read.iter().any(|(other, _)| other.scheduler == file.scheduler) {
                let scheduler = file.scheduler.map_or("all schedulers".into(), |it| format!("`{it}`"));
                return Err(Diagnostic::usage(format!("--overheads: two files are for {scheduler}"))
                    .hint("give one file for all, and SCHEDULER=FILE for those that differ"));
            }
            if file.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
                return Err(Diagnostic::usage(format!(
                    "{}: overheads for an analysis come from CSV",
                    file.path.shown()
                ))
                .hint(
                    "`laxity run --record-overheads` writes such files (overheads/*-max.csv); TOML is for simulations",
                ));
            }
            let name = file.path.to_str().unwrap_or_default();
            let overheads = read_overheads(&locate(&file.path), name)?.1.with_tick_period(tick_period);
            read.push((file.clone(), overheads));
        }
        let cache_delays = match cache_delays {
            Some(path) => Some((path.to_owned(), read_file(&locate(path), CacheDelays::from_csv)?)),
            None => None,
        };
        Ok(Charges { files: read, cache_delays, tick_period_ns: tick_period, ..Self::default() })
    }

    /// Those of simulations, if their file is in the field's columns (CSV); else scheduling costs nothing.
    ///
    /// # Errors
    ///
    /// As for [`Charges::read`].
    pub fn of_costs(file: Option<&Path>, locate: Locate) -> Result<Self> {
        let is_csv = |file: &&Path| file.extension().is_some_and(|name| name.eq_ignore_ascii_case("csv"));
        let files: Vec<_> = file.into_iter().filter(is_csv).map(ChargedFile::of_all).collect();
        Self::read(&files, None, TICK_PERIOD_DEFAULT, locate)
    }

    /// What a scheduler costs on a platform; nothing if nothing was given for it and it has no quanta.
    pub fn of(&self, scheduler: Analysed, platform: &Platform) -> Option<Charge> {
        let of = |wanted| self.files.iter().find(|(file, _)| file.scheduler == wanted);
        let file = of(Some(scheduler)).or_else(|| of(None));
        let threads = self.kernel_threads.filter(|_| matches!(scheduler, Analysed::Policy(_)));
        let is_free = file.is_none() && self.cache_delays.is_none() && threads.is_none();
        if is_free && self.quantum(scheduler).is_none() {
            return None;
        }
        let overheads = match file {
            Some((_, overheads)) => overheads.clone(),
            None => Overheads::none().with_tick_period(self.tick_period_ns),
        };
        let overheads = match &self.cache_delays {
            Some((_, delays)) => {
                overheads.with_cache(delays.within(shared_level(platform, &cells(scheduler, platform))))
            }
            None => overheads,
        };
        let overheads = threads.into_iter().fold(overheads, Overheads::with_kernel_threads);
        Some(Charge {
            overheads,
            file: file.map(|(file, _)| file.path.clone()),
            cache_file: self.cache_delays.as_ref().map(|(path, _)| path.clone()),
        })
    }
}

impl Charges {
    /// With what this kernel takes.
    #[must_use]
    pub fn beside_kernel(self, kernel: Kernel) -> Self {
        Charges { kernel: Some(kernel), ..self }
    }

    /// With threads of the kernel that are bound to a CPU and go before tasks of laxity's own policies there.
    #[must_use]
    pub fn with_kernel_threads(self, threads: Taken) -> Self {
        Charges { kernel_threads: Some(threads), ..self }
    }

    /// What the kernel takes, for tests.
    pub fn beside(&self) -> Beside {
        self.kernel.map_or(Beside::default(), |kernel| kernel.beside())
    }

    /// Whether the kernel's servers are counted.
    pub fn has_servers(&self) -> bool {
        self.beside().servers.iter().any(|server| server.runtime_ns > 0)
    }

    /// What is assumed of the kernel, in cells of at most so many processors that run tasks.
    pub fn assumptions(&self, scheduler: Analysed, processors: u32) -> Vec<String> {
        match (scheduler, self.kernel_threads) {
            (Analysed::Policy(_), threads) => vec![of_kernel_threads(threads)],
            _ => self.kernel.map_or(Vec::new(), |kernel| kernel.assumptions(scheduler, processors)),
        }
    }

    /// How long a quantum is; nothing if the scheduler has none.
    pub fn quantum(&self, scheduler: Analysed) -> Option<Duration> {
        matches!(scheduler, Analysed::Pfair(_)).then(|| Duration::from_ns(self.tick_period_ns))
    }
}

impl Charge {
    /// Whether nothing costs anything: there are quanta only.
    pub fn is_free(&self) -> bool {
        self.file.is_none() && self.cache_file.is_none() && self.overheads.kernel_threads().is_none()
    }

    /// What the user should know of the numbers: when jobs arrive, what costs nothing as it was not given, and what is
    /// extrapolated.
    pub fn notes(&self, scheduler: Analysed, tasks_most: usize) -> Vec<String> {
        let waits = matches!(scheduler, Analysed::Pfair(quanta) if !quanta.aligned);
        let mut notes = Vec::from_iter(waits.then(|| ARRIVALS.to_owned()));
        notes.extend(self.notes_on_files(scheduler, tasks_most));
        notes
    }

    fn notes_on_files(&self, scheduler: Analysed, tasks_most: usize) -> Vec<String> {
        let Some(file) = &self.file else {
            let costs = self.cache_file.as_ref();
            let note =
                costs.map(|_| "no --overheads: nothing but cache-related delays costs anything".into());
            return Vec::from_iter(note);
        };
        let messages = scheduler.structure() == Structure::Messages;
        let counts = |kind: &Overhead| messages || !kind.is_of_messages();
        let columns =
            |kinds: Vec<Overhead>| kinds.into_iter().map(Overhead::column).collect::<Vec<_>>().join(", ");
        let absent = columns(self.overheads.absent().filter(counts).collect());
        let beyond = columns(self.overheads.extrapolated(tasks_most).filter(counts).collect());
        let mut notes = Vec::new();
        if !absent.is_empty() {
            notes.push(format!("{} has no {absent}: it costs nothing", file.shown()));
        }
        if !beyond.is_empty() {
            let what = format!("{tasks_most} tasks are outside of what was measured of {beyond}");
            notes.push(format!("{}: {what}: extrapolated", file.shown()));
        }
        notes
    }
}

/// What a proof under one of laxity's own policies assumes of kernel threads.
fn of_kernel_threads(counted: Option<Taken>) -> String {
    match counted.map(|threads| (Duration::from_ns(threads.runtime_ns), Duration::from_ns(threads.period_ns)))
    {
        Some((runtime, period)) => {
            format!("kernel threads of a CPU go first there for {runtime} of each {period}, twice in a row")
        }
        None => {
            "kernel threads of a CPU take nothing of it, though they go before the tasks for a bounded time \
            (`analyze --kernel-threads` counts that)"
                .into()
        }
    }
}

/// The processors of each cell that run tasks.
fn cells(scheduler: Analysed, platform: &Platform) -> Vec<CpuList> {
    platform.cells(scheduler.scope()).iter().map(|cpus| running(scheduler, cpus)).collect()
}

/// The closest cache that the processors of every cell have in common, level 1 for cells of one; nothing if only memory is.
fn shared_level(platform: &Platform, cells: &[CpuList]) -> Option<u32> {
    let of = |cell: &CpuList| {
        if cell.len() <= 1 {
            return Some(1);
        }
        let holds = |kind| matches!(kind, CacheKind::Data | CacheKind::Unified);
        let caches =
            platform.caches().iter().filter(|cache| holds(cache.kind) && cell.is_subset(&cache.cpus));
        caches.map(|cache| cache.level).min()
    };
    cells.iter().map(of).try_fold(1, |farthest, level| Some(farthest.max(level?)))
}

/// The processors of a cell that run tasks: all but the last, if that is dedicated.
pub fn running(scheduler: Analysed, cpus: &CpuList) -> CpuList {
    let dedicated = cpus.iter().last().filter(|_| scheduler.dedicates_a_processor());
    cpus.difference(&dedicated.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{Cache, Core, Speed};

    fn cpus(text: &str) -> CpuList {
        text.parse().expect("a list")
    }

    #[test]
    fn the_cache_that_all_cells_share_bounds_the_delay() {
        let cache = |level, list: &str| Cache {
            level,
            kind: CacheKind::Unified,
            size_bytes: 1 << 20,
            line_bytes: None,
            ways: None,
            cpus: cpus(list),
        };
        let cores = (0..4).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect();
        let caches = vec![cache(2, "0-1"), cache(2, "2-3"), cache(3, "0-2"), cache(3, "3")];
        let platform = Platform::new("p", cores, caches, vec![], None).expect("a platform");
        let level = |lists: &[&str]| {
            shared_level(&platform, &lists.iter().map(|list| cpus(list)).collect::<Vec<_>>())
        };
        assert_eq!(level(&["0", "3"]), Some(1));
        assert_eq!(level(&["0-1", "2-3"]), Some(2));
        assert_eq!(level(&["0-2", "3"]), Some(3));
        assert_eq!(level(&["0-1", "1-3"]), None);
        assert_eq!(level(&["0-3"]), None);
    }

    #[test]
    fn a_file_is_for_one_scheduler_or_for_all() {
        let file = |scheduler: Option<&str>, path: &str| ChargedFile {
            scheduler: scheduler.map(|name| name.parse().expect("a scheduler")),
            path: path.into(),
        };
        assert_eq!("a.csv".parse(), Ok(file(None, "a.csv")));
        assert_eq!("g-edf=a.csv".parse(), Ok(file(Some("g-edf"), "a.csv")));
        assert_eq!("n=8/a.csv".parse(), Ok(file(None, "n=8/a.csv")));
    }
}
