//! The model against a real kernel: threads play the stories of `tests/vm/callbacks` under the model, and the callbacks are those that a
//! virtual machine with Linux 6.18 has recorded (`tests/vm/faults callbacks:edf-bh`), thread by thread, under any seed.

#[path = "../../laxity-kernel/examples/callbacks/sequence.rs"]
mod sequence;

use laxity_scx::{CalledBack, Host, Options, callbacks};
use laxity_seeds::seeds;
use sequence::Called;

macro_rules! of_the_kernel {
    ($file:literal) => {
        include_str!(concat!("../../../tests/vm/callbacks/", $file))
    };
}

const ONE: &str = of_the_kernel!("one.story");
const ONE_IN_LINUX: &str = of_the_kernel!("one.linux-6.18");
const TWO: &str = of_the_kernel!("two.story");
const TWO_IN_LINUX: &str = of_the_kernel!("two.linux-6.18");

fn as_called(one: CalledBack) -> Called {
    let CalledBack { at_ns, cpu, task, callback, argument } = one;
    Called { at_ns, cpu, task, callback, argument }
}

fn page(host: Host, story: &str, seed: u64) -> String {
    let called = callbacks(host, story, seed, Options::default());
    let called = called.unwrap_or_else(|fault| panic!("{} {seed}: {fault}", host.name()));
    sequence::page(&called.into_iter().map(as_called).collect::<Vec<_>>(), story)
}

fn differences(found: &str, recorded: &str) -> Option<String> {
    sequence::differences(recorded, found, ("Linux", "the model"))
}

/// Policies under which the kernel calls for the same, as they order by deadlines.
fn all_hold(policies: &[&str], story: &str, recorded: &str) {
    for host in policies.iter().map(|name| Host::named(name).expect("a policy")) {
        for seed in seeds!(0..20) {
            if let Some(differences) = differences(&page(host, story, seed), recorded) {
                panic!("{}, seed {seed}:\n{differences}", host.name());
            }
        }
    }
}

#[test]
fn with_one_cpu_the_model_calls_what_the_kernel_calls() {
    all_hold(&["edf_bh", "edf_rbt", "gsn_edf", "edzl", "push_pull", "fpp"], ONE, ONE_IN_LINUX);
}

#[test]
fn with_two_cpus_the_model_calls_what_the_kernel_calls() {
    all_hold(&["edf_bh", "edf_rbt", "gsn_edf"], TWO, TWO_IN_LINUX);
}

/// A story that is another one is seen, in its chapter alone.
#[test]
fn a_difference_is_seen_where_it_is() {
    let host = Host::named("edf_bh").expect("a policy");
    let other = ONE.replace("c +12 compute 12\nx +20 member", "c +12 compute 12\nx +24 member");
    assert_ne!(other, ONE);
    assert_eq!(differences(&page(host, &other, 0), ONE_IN_LINUX), None, "it waits 4 ms longer");
    let other = ONE.replace("a sleep 12\n", "");
    let said = differences(&page(host, &other, 0), ONE_IN_LINUX).expect("a job does not block");
    assert!(said.contains("[600]") && said.matches("Linux ").count() == 1, "{said}");
}

fn called(at_us: u64, task: &str, callback: &'static str, argument: u64) -> Called {
    Called { at_ns: at_us * 1_000, cpu: 1, task: task.to_owned(), callback, argument }
}

const CHAPTERS: &str = "[0] first\n[100] second\n[200] the end\n";

/// What a kernel thread interrupts for a moment goes on; what another thread of the story does, what takes longer, and what nothing
/// interrupts does not.
#[test]
fn what_a_kernel_thread_interrupts_goes_on() {
    let stops = |meanwhile: &str, back_us: u64| {
        let all = [
            called(10, "a", "running", 0),
            called(20, "a", "stopping", 1),
            called(21, "a", "enqueue", 0),
            called(22, meanwhile, if meanwhile == "-" { "dispatch" } else { "running" }, 0),
            called(23, "", "dispatch", 0),
            called(back_us, "a", "running", 0),
        ];
        sequence::page(&all, CHAPTERS)
    };
    let goes_on = "[0] first\na         running on 1 without dispatch\n[100] second\n[200] the end\n";
    assert_eq!(stops("", 30), goes_on);
    for (meanwhile, back_us) in [("b", 30), ("", 3_000), ("-", 30)] {
        assert!(stops(meanwhile, back_us).contains("stopping runnable, enqueue, running\n"), "{meanwhile}");
    }
}

/// The kernel gives up the record of a thread when it comes to it: with its end, whenever that is.
#[test]
fn the_end_of_a_record_is_with_the_end_of_its_thread() {
    let all = [
        called(10, "a", "quiescent", 1),
        called(150_000, "a", "disable", 0),
        called(150_001, "a", "exit_task", 0),
        called(160_000, "b", "disable", 0),
    ];
    let page = sequence::page(&all, CHAPTERS);
    let expected = "[0] first\na         quiescent SLEEP\n          disable, exit_task\n[100] second\nb         disable\n[200] the end\n";
    assert_eq!(page, expected);
}
