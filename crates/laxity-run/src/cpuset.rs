//! Exclusive cpusets: each cell becomes a root domain of its own, under cgroup v1 or v2.
//!
//! SCHED_DEADLINE refuses an affinity narrower than its root domain, so partitions need root domains. Under v1
//! they come from exclusive cpusets below a cpuset whose load balancing is off; under v2 from partition roots.
//! A v2 partition may not take the parent's last CPU, so where cells cover the whole machine, the cell with the
//! lowest CPU stays what the parent has left. Its worker goes to the root cgroup: the one in which this program
//! was started may have fewer CPUs.
//!
//! Threads of one process can be in several cells, too. Under v1 a cpuset takes single threads. Under v2 the cells are
//! threaded cgroups then, which can be partition roots as well; their process has to be in the root cgroup, from which its
//! threads go on to theirs.

use crate::journal::{Journal, PinnedThread, Undo};
use laxity_model::{Cell, CpuList, Diagnostic, Result, ShownPath as _, cpus_named};
use std::fs;
use std::path::{Path, PathBuf};

/// Where this system keeps its cpusets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hierarchy {
    /// cgroup v1: the directory of our own cpuset.
    V1(PathBuf),
    /// cgroup v2: the root of the unified hierarchy.
    V2(PathBuf),
}

impl Hierarchy {
    /// Finds the cpuset controller, or says why there is none to use.
    pub fn find() -> Result<Self> {
        Self::find_under(Path::new("/"))
    }

    /// The same for the machine whose `/proc` and `/sys` are under `machine`. The directory is as that machine names it.
    pub fn find_under(machine: &Path) -> Result<Self> {
        let mounts = fs::read_to_string(machine.join("proc/self/mounts")).unwrap_or_default();
        let own = fs::read_to_string(machine.join("proc/self/cgroup")).unwrap_or_default();
        Self::find_in(&mounts, &own, |root| {
            let controllers = machine.join(root.strip_prefix("/").unwrap_or(root)).join("cgroup.controllers");
            fs::read_to_string(controllers).unwrap_or_default()
        })
    }

    fn find_in(mounts: &str, own_cgroups: &str, controllers: impl Fn(&Path) -> String) -> Result<Self> {
        let mounts: Vec<Vec<&str>> = mounts.lines().map(|line| line.split(' ').collect()).collect();
        let of_kind = |kind: &str| {
            mounts.iter().filter(move |f| f.len() > 3 && f[2] == kind).cloned().collect::<Vec<_>>()
        };
        if let Some(mount) =
            of_kind("cgroup").iter().find(|f| f[3].split(',').any(|option| option == "cpuset"))
        {
            let own = own_cgroups.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let ours = fields.next()?.split(',').any(|name| name == "cpuset");
                ours.then(|| fields.next()).flatten()
            });
            return Ok(Hierarchy::V1(Path::new(mount[1]).join(own.unwrap_or("").trim_start_matches('/'))));
        }
        for mount in of_kind("cgroup2") {
            let root = PathBuf::from(mount[1]);
            if controllers(&root).split_whitespace().any(|name| name == "cpuset") {
                return Ok(Hierarchy::V2(root));
            }
        }
        Err(Diagnostic::environment("no cpuset controller is mounted, neither cgroup v1 nor v2")
            .hint("mount one, e.g. `mount -t cgroup2 none /sys/fs/cgroup`"))
    }

    /// The cells that are partitions of cgroup v2, as this process has made them, and whether they are isolated.
    pub(crate) fn partitions<'a>(&self, cells: &'a [Cell]) -> Vec<(&'a Cell, bool)> {
        let Hierarchy::V2(base) = self else { return Vec::new() };
        let state = |(number, cell): (usize, &'a Cell)| {
            let home = base.join(cgroup_of(std::process::id(), &number.to_string()));
            Some((cell, read(&home.join("cpuset.cpus.partition")).ok()? == ISOLATED))
        };
        cells.iter().enumerate().filter_map(state).collect()
    }

    /// Makes one cpuset per cell, writing every change into the journal first. `crews` says which cells have one process
    /// between them; `isolated`, whether a partition of cgroup v2 with one CPU is to be without load balancing, where the kernel
    /// knows that. Returns how the tasks of each cell get there.
    pub fn confine(
        &self,
        cells: &[Cell],
        (crews, isolated): (&[Vec<usize>], bool),
        machine: &CpuList,
        journal: &mut Journal,
    ) -> Result<Vec<Home>> {
        let mut setup = Setup { journal, tag: std::process::id(), isolated };
        match self {
            Hierarchy::V1(base) => {
                let cpusets = setup.v1(base, cells, machine)?;
                Ok((0..cells.len()).map(|cell| home_v1(cell, crews, &cpusets)).collect())
            }
            Hierarchy::V2(base) => setup.v2(base, cells, crews, machine),
        }
    }
}

/// How the tasks of a cell get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The cgroup that their process enters.
    pub of_process: PathBuf,
    /// The file by which each of their threads goes on to the cell's own, if that is another one.
    pub of_thread: Option<PathBuf>,
}

/// Under cgroup v1: a process enters the first of its cells, and threads the others.
fn home_v1(cell: usize, crews: &[Vec<usize>], cpusets: &[PathBuf]) -> Home {
    let first = crews.iter().find(|crew| crew.contains(&cell)).map_or(cell, |crew| crew[0]);
    let of_thread = (cell != first).then(|| cpusets[cell].join("tasks"));
    Home { of_process: cpusets[first].clone(), of_thread }
}

/// Under cgroup v2, the cell that stays what the other partitions leave of the machine: the one with the lowest CPU
/// where cells cover all CPUs, else none.
pub fn remainder(cells: &[Cell], machine: &CpuList) -> Option<usize> {
    let covered: CpuList = cells.iter().flat_map(|cell| cell.cpus.iter()).collect();
    let lowest = covered.lowest().filter(|_| covered == *machine)?;
    cells.iter().position(|cell| cell.cpus.contains(lowest))
}

struct Setup<'a> {
    journal: &'a mut Journal,
    tag: u32,
    isolated: bool,
}

impl Setup<'_> {
    fn v1(&mut self, base: &Path, cells: &[Cell], machine: &CpuList) -> Result<Vec<PathBuf>> {
        let all_nodes =
            read(&base.join("cpuset.effective_mems")).or_else(|_| read(&base.join("cpuset.mems")))?;
        let mut homes = Vec::new();
        for (number, cell) in cells.iter().enumerate() {
            let home = self.make(base, &number.to_string())?;
            write(&home.join("cpuset.cpus"), &cell.cpus.to_string())?;
            write(&home.join("cpuset.mems"), &nodes_of(cell, &all_nodes))?;
            write(&home.join("cpuset.cpu_exclusive"), "1").map_err(|error| {
                error.hint(format!(
                    "another cpuset below {} shares {} (containers do that), or {0} is not exclusive itself",
                    base.shown(),
                    cpus_named(&cell.cpus)
                ))
            })?;
            homes.push(home);
        }
        let rest = cells.iter().fold(machine.clone(), |left, cell| left.difference(&cell.cpus));
        if !rest.is_empty() {
            // So that background work on the other CPUs is still balanced.
            let home = self.make(base, "rest")?;
            write(&home.join("cpuset.cpus"), &rest.to_string())?;
            write(&home.join("cpuset.mems"), &all_nodes)?;
        }
        let balance = base.join("cpuset.sched_load_balance");
        self.change(&balance, "0")?;
        Ok(homes)
    }

    fn v2(
        &mut self,
        base: &Path,
        cells: &[Cell],
        crews: &[Vec<usize>],
        machine: &CpuList,
    ) -> Result<Vec<Home>> {
        let pinned = PinnedThread::all(machine);
        if !pinned.is_empty() {
            self.journal.record(Undo::Affinities { threads: pinned })?;
        }
        let control = base.join("cgroup.subtree_control");
        if !read(&control)?.split_whitespace().any(|name| name == "cpuset") {
            self.journal.record(Undo::Write { path: control.clone(), value: "-cpuset".into() })?;
            write(&control, "+cpuset")?;
        }
        let stays = remainder(cells, machine);
        let mut homes = Vec::new();
        for (number, cell) in cells.iter().enumerate() {
            if stays == Some(number) {
                homes.push(Home { of_process: base.to_owned(), of_thread: None });
                continue;
            }
            let of_threads = crews.iter().any(|crew| crew.len() > 1 && crew.contains(&number));
            let path = self.make(base, &number.to_string())?;
            if of_threads {
                let kind = if crate::fault::wanted("refuse", "threads") { "refused" } else { "threaded" };
                write(&path.join("cgroup.type"), kind)?;
            }
            // The CPUs of all isolated partitions have one root domain, so cells of several would not be apart.
            partition(&path, cell, self.isolated && cell.cpus.len() == 1)?;
            homes.push(match of_threads {
                true => Home { of_process: base.to_owned(), of_thread: Some(path.join("cgroup.threads")) },
                false => Home { of_process: path, of_thread: None },
            });
        }
        Ok(homes)
    }

    fn make(&mut self, base: &Path, suffix: &str) -> Result<PathBuf> {
        let path = base.join(cgroup_of(self.tag, suffix));
        self.journal.record(Undo::RemoveCgroup { path: path.clone() })?;
        fs::create_dir(&path).map_err(|error| cannot("create", &path, &error))?;
        Ok(path)
    }

    fn change(&mut self, path: &Path, value: &str) -> Result<()> {
        let old = read(path)?;
        if old == value {
            return Ok(());
        }
        self.journal.record(Undo::Write { path: path.to_owned(), value: old })?;
        write(path, value)
    }
}

fn cgroup_of(guardian: u32, suffix: &str) -> String {
    format!("laxity-{guardian}-{suffix}")
}

/// The states of partitions: with a root domain of its own, and without load balancing (since Linux 6.1).
const ROOT: &str = "root";
const ISOLATED: &str = "isolated";

/// Makes a cgroup (v2) a partition with the CPUs of a cell: an isolated one, if that is wanted and the kernel takes it.
fn partition(path: &Path, cell: &Cell, isolated: bool) -> Result<()> {
    write(&path.join("cpuset.cpus"), &cell.cpus.to_string())?;
    if !cell.memory_nodes.is_empty() {
        write(&path.join("cpuset.mems"), &cell.memory_nodes.to_string())?;
    }
    let partition = path.join("cpuset.cpus.partition");
    if isolated && fs::write(&partition, ISOLATED).is_ok() && read(&partition)? == ISOLATED {
        return Ok(());
    }
    write(&partition, ROOT)?;
    let state = read(&partition)?;
    if state == ROOT {
        return Ok(());
    }
    Err(Diagnostic::environment(format!(
        "the kernel refuses {} as a partition: `{state}`",
        cpus_named(&cell.cpus)
    ))
    .hint("another cgroup holds some of these CPUs exclusively"))
}

fn nodes_of(cell: &Cell, all: &str) -> String {
    if cell.memory_nodes.is_empty() { all.to_owned() } else { cell.memory_nodes.to_string() }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(|error| cannot("read", path, &error))
}

/// Writes a cgroup file.
pub fn write(path: &Path, value: &str) -> Result<()> {
    fs::write(path, value).map_err(|error| cannot(&format!("write `{value}` to"), path, &error))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::environment(format!("cannot {what} {}: {error}", path.shown()))
        .hint("cpusets need root and a writable cgroup file system")
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
                      cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn finds_v1_with_the_processes_own_cpuset() {
        let none = |_: &Path| String::new();
        let own = "4:memory:/a\n3:cpuset:/box/inner\n0::/x\n";
        assert_eq!(
            Hierarchy::find_in(V1, own, none),
            Ok(Hierarchy::V1("/sys/fs/cgroup/cpuset/box/inner".into()))
        );
        let joint = "3:cpuset,cpu:/\n";
        assert_eq!(Hierarchy::find_in(V1, joint, none), Ok(Hierarchy::V1("/sys/fs/cgroup/cpuset/".into())));
    }

    #[test]
    fn a_process_enters_its_first_cell_and_its_threads_the_others() {
        let cpusets: Vec<PathBuf> = ["/a", "/b", "/c"].map(PathBuf::from).to_vec();
        let homes: Vec<Home> = (0..3).map(|cell| home_v1(cell, &[vec![0, 2], vec![1]], &cpusets)).collect();
        let home = |process: &str, thread: Option<&str>| Home {
            of_process: process.into(),
            of_thread: thread.map(PathBuf::from),
        };
        assert_eq!(homes, [home("/a", None), home("/b", None), home("/a", Some("/c/tasks"))]);
    }

    #[test]
    fn finds_v2_only_where_it_has_the_controller() {
        let mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
        let find =
            |controllers: &'static str| Hierarchy::find_in(mounts, "0::/\n", move |_| controllers.into());
        assert_eq!(find("cpu cpuset io"), Ok(Hierarchy::V2("/sys/fs/cgroup".into())));
        assert!(find("hugetlb").expect_err("no cpuset").message.contains("no cpuset controller"));
    }
}
