//! Every check on machines made of files: a tuned one gives no finding; each check is provoked by changes of the tuned one, and
//! nothing else is found then; where files are absent or say nonsense, no check passes and none finds anything.

mod machine;

use laxity_doctor::{ALL, Check, Diagnosis, Host, SAMPLE, Severity, Wakeups, examine};
use machine::{Change, Made, gone, provocations, says};
use std::collections::BTreeSet;

fn all() -> impl Iterator<Item = &'static Check> {
    ALL.iter().flat_map(|group| group.iter())
}

fn diagnose(changes: &[Change]) -> Diagnosis {
    diagnose_made(&Made::with(changes))
}

fn diagnose_made(made: &Made) -> Diagnosis {
    let mut host = Host::look(made.root(), made.cpus(), made.probes()).expect("a machine");
    host.watch(SAMPLE, || made.time_passes());
    examine(&host, &[], &[])
}

/// The tuned machine with one file after the other as `change` leaves it; `may` be found then.
fn one_file_at_a_time(change: impl Fn(&Made, &str), may: impl Fn(&str) -> &'static [&'static str]) {
    let made = Made::with(&[Change::Cpus("2-3")]);
    for (file, text) in machine::tuned() {
        if file == "/sys/devices/system/cpu/online" {
            continue;
        }
        change(&made, &file);
        let diagnosis = diagnose_made(&made);
        let more: Vec<_> = found(&diagnosis).into_iter().filter(|name| !may(&file).contains(name)).collect();
        assert!(more.is_empty(), "{file}: {more:?}: {:#?}", diagnosis.findings);
        made.write(&file, text.as_bytes());
    }
}

fn found(diagnosis: &Diagnosis) -> BTreeSet<&str> {
    diagnosis.findings.iter().map(|finding| finding.check.as_str()).collect()
}

#[test]
fn a_tuned_machine_has_no_finding_and_nothing_unseen() {
    let diagnosis = diagnose(&[]);
    assert_eq!(found(&diagnosis), BTreeSet::new(), "{:#?}", diagnosis.findings);
    assert!(diagnosis.unseen.is_empty(), "{:#?}", diagnosis.unseen);
    let made = diagnosis.passed.len() + diagnosis.not_applicable.len();
    assert_eq!(made, all().count());
    assert!(diagnosis.passed.iter().all(|one| !one.evidence.is_empty()), "{:#?}", diagnosis.passed);
}

#[test]
fn each_check_is_provoked_and_no_other_one_with_it() {
    let mut provoked: BTreeSet<&str> = BTreeSet::new();
    for (expected, changes) in provocations() {
        let diagnosis = diagnose(&changes);
        let wanted: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(found(&diagnosis), wanted, "{changes:?}: {:#?}", diagnosis.findings);
        assert!(diagnosis.unseen.is_empty(), "{changes:?}: {:#?}", diagnosis.unseen);
        provoked.insert(expected[0]);
        for finding in &diagnosis.findings {
            let check = all().find(|check| check.name == finding.check).expect("listed");
            assert_eq!(finding.severity, check.severity);
            assert!(!finding.evidence.is_empty() && !finding.what.is_empty(), "{finding:?}");
            assert!(!finding.remedy.fix.is_empty() && !finding.remedy.undo.is_empty(), "{finding:?}");
        }
    }
    let names: BTreeSet<&str> = all().map(|check| check.name).collect();
    assert_eq!(provoked, names, "each check is the first of some provocation");
}

/// It moves away with its next occurrence.
#[test]
fn an_interrupt_that_came_before_its_affinity_changed_is_not_found() {
    let affinity = "/proc/irq/24/smp_affinity_list";
    let came = says("/proc/irq/24/effective_affinity_list", "3\n");
    let diagnosis = diagnose(&[says(affinity, "0-1\n"), came]);
    assert_eq!(found(&diagnosis), BTreeSet::new(), "{:#?}", diagnosis.findings);
}

#[test]
fn on_a_machine_that_says_nothing_no_check_passes_and_none_finds_anything() {
    let changes: Vec<Change> = machine::files()
        .into_iter()
        .filter(|file| file != "/sys/devices/system/cpu/online")
        .map(|file| gone(&file))
        .chain([Change::NoProbes, Change::Cpus("2-3")])
        .collect();
    let diagnosis = diagnose(&changes);
    assert_eq!(found(&diagnosis), BTreeSet::new(), "{:#?}", diagnosis.findings);
    assert!(diagnosis.passed.is_empty(), "{:#?}", diagnosis.passed);
}

#[test]
fn one_absent_file_makes_no_finding() {
    let may: fn(&str) -> &'static [&'static str] = |file| match file {
        // Then what was asked for is all that is known, as in kernels that have no such file.
        "/proc/irq/24/effective_affinity_list" => &["interrupt-affinity"],
        _ => &[],
    };
    one_file_at_a_time(Made::remove, may);
}

#[test]
fn nonsense_in_a_file_is_no_finding() {
    // A word that is not the wanted one is another one; and an empty list of CPUs has none.
    let may: fn(&str) -> &'static [&'static str] = |file| match file {
        "/sys/devices/system/cpu/isolated" => &["isolated-cpus"],
        "/sys/devices/system/cpu/nohz_full" => &["nohz-full"],
        "/sys/kernel/tracing/current_tracer" => &["tracer"],
        _ if file.ends_with("scaling_governor") => &["cpufreq-governor"],
        _ if file.ends_with("energy_performance_preference") => &["energy-preference"],
        _ => &[],
    };
    for nonsense in ["", "\0\u{1b}[2J", "-", "99999999999999999999999999", "no such thing ::["] {
        one_file_at_a_time(|made, file| made.write(file, nonsense.as_bytes()), may);
    }
}

#[test]
fn names_are_stable_and_rules_are_sentences() {
    let names: Vec<&str> = all().map(|check| check.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "each name once");
    assert!(names.len() >= 30, "{}", names.len());
    for check in all() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(check.name.chars().all(plain), "{}", check.name);
        for words in [check.rule, check.why] {
            assert!(!words.ends_with('.') && !words.contains("  "), "{}: {words}", check.name);
        }
        assert_eq!(laxity_doctor::named(check.name).map(|one| one.name), Ok(check.name));
    }
    let error = laxity_doctor::named("fairserver").expect_err("unknown");
    assert!(error.hint.expect("a hint").contains("`fair-server`"));
}

#[test]
fn only_the_checks_that_are_named_are_made() {
    let made = Made::with(&[]);
    let host = Host::look(made.root(), made.cpus(), made.probes()).expect("a machine");
    let diagnosis = examine(&host, &[laxity_doctor::named("swap").expect("known")], &[]);
    assert_eq!(diagnosis.passed.len(), 1);
    assert_eq!(diagnosis.count(Severity::Severe), 0);
}

#[test]
fn what_is_accepted_is_no_finding_and_stays_in_sight() {
    let made = Made::with(&[says("/sys/kernel/rcu_expedited", "1\n"), says("/sys/kernel/mm/ksm/run", "1\n")]);
    let mut host = Host::look(made.root(), made.cpus(), made.probes()).expect("a machine");
    host.watch(SAMPLE, || made.time_passes());
    let diagnosis = examine(&host, &[], &[laxity_doctor::named("ksm").expect("known")]);
    assert_eq!(found(&diagnosis), BTreeSet::from(["rcu-expedited"]));
    assert_eq!(diagnosis.accepted.iter().map(|one| one.check.as_str()).collect::<Vec<_>>(), ["ksm"]);
}

#[test]
fn a_kernel_of_preempt_rt_is_one_whatever_debugfs_says() {
    // As Debian's Linux 7.3 says it.
    let diagnosis =
        diagnose(&[gone("/sys/kernel/realtime"), says("/sys/kernel/debug/sched/preempt", "(full) lazy\n")]);
    assert_eq!(found(&diagnosis), BTreeSet::new(), "{:#?}", diagnosis.findings);
}

#[test]
fn costs_are_what_was_counted_while_laxity_watched() {
    let later = |file: &str, text: &str| Change::Later(file.to_owned(), text.to_owned());
    let diagnosis = diagnose(&[
        says("/proc/sys/vm/compaction_proactiveness", "20\n"),
        later("/proc/vmstat", "pswpin 0\npswpout 0\npgmigrate_success 107\n"),
        says("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n"),
        Change::Probed(|probes| {
            probes.wakeups =
                vec![Wakeups { cpu: 3, count: 250, median_ns: 9000, longest_ns: 81_000, whole: true }];
        }),
        says("/sys/kernel/tracing/current_tracer", "function\n"),
    ]);
    let cost = |name: &str| {
        let finding = diagnosis.findings.iter().find(|one| one.check == name).expect(name);
        finding.measured.clone().unwrap_or_default()
    };
    let moved = "7 pages moved, for compaction or another reason in 1 s, 107 since the machine was booted";
    assert_eq!(cost("proactive-compaction"), moved);
    let lost = "up to 5.00 % of CPU 3, taken from SCHED_FIFO tasks (by these settings)";
    assert_eq!(cost("fair-server"), lost);
    assert!(cost("tracer").contains("woke up to 81 us late on CPU 3"), "{}", cost("tracer"));
    assert!(diagnosis.measured.iter().any(|one| one.file == "wakeups"), "{:?}", diagnosis.measured);
}

#[test]
fn cpus_that_are_not_online_are_refused() {
    let made = Made::with(&[]);
    let asked = Some("2-9".parse().expect("a list"));
    let error = Host::look(made.root(), asked, made.probes()).err().expect("refused");
    assert_eq!(error.message, "--cpus 2-9: not all of them are online (0-3 are)");
}

#[test]
fn without_a_choice_the_isolated_cpus_are_judged_and_else_all() {
    let cpus = |changes: &[Change]| {
        let made = Made::with(changes);
        Host::look(made.root(), None, made.probes()).expect("a machine").cpus().to_string()
    };
    assert_eq!(cpus(&[]), "2-3");
    assert_eq!(cpus(&[says("/sys/devices/system/cpu/isolated", "\n")]), "0-3");
    let partition = says("/sys/fs/cgroup/cpuset.cpus.isolated", "1\n");
    assert_eq!(cpus(&[says("/sys/devices/system/cpu/isolated", "\n"), partition]), "1");
}
