//! On machines that are directories.

use super::*;
use crate::journal::recover_anything;
use crate::private::for_test;

const GOVERNOR: &str = "cpufreq/scaling_governor";

/// A machine of four CPUs with five interrupts; the last CPU has no frequencies.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("directory");
    let put = |path: String, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("made");
        fs::write(path, text).expect("written");
    };
    for (cpu, governor) in [(0, "schedutil"), (1, "schedutil"), (2, "performance")] {
        put(format!("{CPUS}/cpu{cpu}/{GOVERNOR}"), &format!("{governor}\n"));
    }
    for (irq, cpus) in [(4, "0"), (5, "0-3"), (6, "2-3"), (7, "3"), (8, "1-2")] {
        put(format!("{IRQS}/{irq}/smp_affinity_list"), &format!("{cpus}\n"));
    }
    put(format!("{IRQS}/{IRQ_DEFAULT}"), "f\n");
    put("dev/cpu_dma_latency".into(), "");
    root
}

/// All files of such a machine that are to be as they were.
fn all(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.join("sys"), root.join("proc")];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).expect("readable").flatten() {
            match entry.path() {
                path if path.is_dir() => left.push(path),
                path => {
                    let text = fs::read_to_string(&path).expect("readable").trim().to_owned();
                    found.insert(path.strip_prefix(root).expect("below").to_owned(), text);
                }
            }
        }
    }
    found
}

fn cpus(list: &str) -> CpuList {
    list.parse().expect("CPUs")
}

fn now(root: &Path, file: String) -> String {
    fs::read_to_string(root.join(file)).expect("readable").trim().to_owned()
}

#[test]
fn what_can_be_set_is_set_and_put_back() {
    let (root, (_parent, state)) = (machine(), for_test());
    let before = all(root.path());
    let mut journal = Journal::create(state);
    let quiet = Quiet::make(root.path(), &cpus("1-3"), &cpus("0-3"), &mut journal).expect("made");
    let governor = |cpu: u32| now(root.path(), format!("{CPUS}/cpu{cpu}/{GOVERNOR}"));
    assert_eq!([0, 1, 2].map(governor), ["schedutil", "performance", "performance"]);
    let irq = |irq: u32| now(root.path(), format!("{IRQS}/{irq}/smp_affinity_list"));
    assert_eq!([4, 5, 6, 7, 8].map(irq), ["0"; 5]);
    assert_eq!(now(root.path(), format!("{IRQS}/{IRQ_DEFAULT}")), "1");
    assert_eq!(fs::read(root.path().join("dev/cpu_dma_latency")).expect("readable"), [0; 4]);
    assert_eq!(
        quiet.record.set,
        [
            "governor performance on CPU 1",
            "exit latency of idle states at most 0 us (/dev/cpu_dma_latency)",
            "4 interrupts (5-8) and those set up later kept away from CPUs 1-3",
        ]
    );
    assert_eq!(quiet.record.not_set, ["governor of CPU 3: it has none (cpufreq/scaling_governor)"]);
    assert_eq!(journal.undo(), Vec::<String>::new());
    assert_eq!(all(root.path()), before);
}

/// Interrupts stay among the CPUs that their owners chose, as far as some of them are left.
#[test]
fn an_interrupt_goes_to_those_of_its_cpus_that_are_left() {
    let (root, (_parent, state)) = (machine(), for_test());
    let mut journal = Journal::create(state);
    Quiet::make(root.path(), &cpus("3"), &cpus("0-3"), &mut journal).expect("made");
    let irq = |irq: u32| now(root.path(), format!("{IRQS}/{irq}/smp_affinity_list"));
    assert_eq!([4, 5, 6, 7, 8].map(irq), ["0", "0-2", "2", "0-2", "1-2"]);
    assert_eq!(now(root.path(), format!("{IRQS}/{IRQ_DEFAULT}")), "7");
}

#[test]
fn a_refusal_half_way_is_said_and_all_else_is_put_back() {
    for refused in ["cpu1/cpufreq", "irq/5", "irq/6", "irq/8", IRQ_DEFAULT] {
        let (root, (_parent, state)) = (machine(), for_test());
        let before = all(root.path());
        let mut journal = Journal::create(state);
        let write = |path: &Path, value: &str| match path.to_string_lossy().contains(refused) {
            true => Err(io::Error::from_raw_os_error(libc::EIO)),
            false => overwrite(path, value),
        };
        let quiet =
            Quiet::make_by(&write, root.path(), &cpus("1-3"), &cpus("0-3"), &mut journal).expect("made");
        let changed = all(root.path()).iter().zip(&before).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 5, "{refused}: one of six is not");
        let said = quiet.record.not_set.iter().filter(|why| why.contains("Input/output error"));
        assert_eq!(said.count(), 1, "{refused}: {:?}", quiet.record.not_set);
        assert_eq!(journal.undo(), Vec::<String>::new(), "{refused}");
        assert_eq!(all(root.path()), before, "{refused}");
    }
}

/// The next holder of the machine lock does it, from the journal.
#[test]
fn what_a_killed_guardian_has_set_is_put_back_by_another() {
    let (root, (_parent, state)) = (machine(), for_test());
    let before = all(root.path());
    for killed_after in 0..=6 {
        let mut journal = Journal::create(state.clone());
        let written = std::cell::Cell::new(0);
        // A process that is killed writes nothing more.
        let write = |path: &Path, value: &str| {
            written.set(written.get() + 1);
            if written.get() <= killed_after { overwrite(path, value) } else { Ok(()) }
        };
        Quiet::make_by(&write, root.path(), &cpus("1-3"), &cpus("0-3"), &mut journal).expect("made");
        std::mem::forget(journal);
        assert_eq!(all(root.path()) == before, killed_after == 0);
        let restored = recover_anything(&state).expect("put back");
        assert_eq!(restored, [CPUS, IRQS].map(|directory| root.path().join(directory)));
        assert_eq!(all(root.path()), before, "{killed_after}");
    }
}

#[test]
fn what_is_gone_when_it_is_to_be_put_back_needs_nothing() {
    let (root, (_parent, state)) = (machine(), for_test());
    let mut journal = Journal::create(state);
    Quiet::make(root.path(), &cpus("1-3"), &cpus("0-3"), &mut journal).expect("made");
    fs::remove_dir_all(root.path().join(IRQS).join("6")).expect("unplugged");
    assert_eq!(journal.undo(), Vec::<String>::new());
    assert!(!root.path().join(IRQS).join("6").exists());
    assert_eq!(now(root.path(), format!("{IRQS}/8/smp_affinity_list")), "1-2");
}

#[test]
fn a_machine_without_such_files_says_what_it_lacks() {
    let (root, (_parent, state)) = (tempfile::tempdir().expect("directory"), for_test());
    let mut journal = Journal::create(state);
    let of = |machine: &str, journal: &mut Journal| {
        Quiet::make(root.path(), &cpus("1"), &cpus(machine), journal).expect("made").record
    };
    let record = of("0-1", &mut journal);
    assert_eq!((record.set.len(), record.not_set.len()), (0, 3), "{record:?}");
    assert!(record.not_set[2].contains("no /proc/irq"), "{record:?}");
    assert!(of("1", &mut journal).not_set[2].contains("the run has every CPU"));
    assert_eq!(fs::read_dir(root.path()).expect("readable").count(), 0, "nothing is made");
}
