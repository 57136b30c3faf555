//! Programs whose threads set themselves, by the files in C, Rust and Python.

use super::{Place, answer, budgets, can_deploy, lock, machine_cpus, partitioned, text};
use crate::host::{HostState, machine, output, wait_until};
use crate::plans;
use std::fs;
use std::process::{Child, Command, Stdio};

/// Three programs of one process each, whose threads set themselves; each says that it is done by a line.
fn programs(place: &Place) -> Vec<(&'static str, Command)> {
    let names: Vec<String> = place.plan.threads.iter().map(|thread| format!("{:?}", thread.task)).collect();
    let (list, count) = (names.join(", "), names.len());
    let c = format!(
        "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n#include \"laxity_apply.h\"\n\
         static const char *const names[] = {{ {list} }};\n\
         static void *thread(void *name)\n{{\n\tif (laxity_apply(name) != 0)\n\t\tprintf(\"failed: %s\\n\", laxity_apply_error());\n\
         \telse\n\t\tputs(\"done\");\n\tfflush(stdout);\n\tfor (;;)\n\t\tpause();\n\treturn NULL;\n}}\n\
         int main(void)\n{{\n\tpthread_t made;\n\tfor (int at = 0; at < {count}; at++)\n\
         \t\tpthread_create(&made, NULL, thread, (void *)names[at]);\n\tfor (;;)\n\t\tpause();\n}}\n"
    );
    let rust = format!(
        "mod laxity_apply;\nfn main() {{\n    for name in [{list}] {{\n        std::thread::spawn(move || {{\n            match \
         laxity_apply::apply(name) {{\n                Ok(()) => println!(\"done\"),\n                Err(error) => \
         println!(\"failed: {{error}}\"),\n            }}\n            loop {{ std::thread::park(); }}\n        }});\n    }}\n    loop \
         {{ std::thread::park(); }}\n}}\n"
    );
    let python = format!(
        "import sys, threading\nimport laxity_apply\n\ndef thread(name):\n    try:\n        laxity_apply.apply(name)\n        \
         print('done\\n', end='', flush=True)\n    except (OSError, KeyError) as error:\n        print('failed:', error, flush=True)\n    \
         threading.Event().wait()\n\nfor name in [{list}]:\n    threading.Thread(target=thread, args=(name,)).start()\n"
    );
    let mut programs = Vec::new();
    let mut compiled =
        |language: &'static str, source: &str, code: String, compiler: &str, words: &[&str]| {
            let folder = place.path(language);
            fs::write(folder.join(source), code).expect("written");
            match Command::new(compiler).args(words).current_dir(&folder).output() {
                Ok(made) => {
                    assert!(made.status.success(), "{}", text(&made));
                    programs.push((language, Command::new(folder.join("program"))));
                }
                Err(error) => eprintln!("SKIPPED: {compiler}: {error}"),
            }
        };
    compiled(
        "c",
        "main.c",
        c,
        "cc",
        &["-Wall", "-Werror", "-pthread", "-o", "program", "main.c", "laxity_apply.c"],
    );
    compiled("rust", "main.rs", rust, "rustc", &["--edition", "2021", "-o", "program", "main.rs"]);
    fs::write(place.path("python/main.py"), python).expect("written");
    let mut command = Command::new("python3");
    command.arg("-B").arg(place.path("python/main.py"));
    match Command::new("python3").arg("--version").output() {
        Ok(_) => programs.push(("python", command)),
        Err(error) => eprintln!("SKIPPED: python3: {error}"),
    }
    programs
}

/// Started programs end with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts each program, and has its threads read back.
fn threads_are_as_planned(place: &Place) {
    for (language, mut command) in programs(place) {
        let out = place.path("said");
        let file = fs::File::create(&out).expect("a file");
        let child = Ends(command.stdin(Stdio::null()).stdout(file).spawn().expect("a program"));
        let said = || fs::read_to_string(&out).expect("readable");
        wait_until(language, || said().lines().count() == place.plan.threads.len());
        assert_eq!(said(), "done\n".repeat(place.plan.threads.len()), "{language}");
        let pid = child.0.id().to_string();
        let read = place.deployed(&["--json", "--process", &pid]);
        assert!(read.status.success(), "{language}: {}", text(&read));
        let answer = answer(&read);
        for thread in answer["threads"].as_array().expect("a list") {
            assert_eq!(
                (&thread["state"], &thread["found"][0]["by"]),
                (&"as-planned".into(), &"name".into()),
                "{language}: {answer}"
            );
            assert_eq!(thread["found"][0]["pid"].to_string(), pid, "{language}");
        }
        // Without the process's number, its threads are found all the same.
        let all = place.deployed(&[]);
        assert!(all.status.success(), "{language}: {}", text(&all));
        // Twice the same program: which thread is meant is not known.
        let second = Ends(command.stdout(Stdio::null()).spawn().expect("a program"));
        wait_until(language, || text(&place.deployed(&[])).contains(" times: "));
        assert_eq!(place.deployed(&[]).status.code(), Some(1), "{language}");
        drop(second);
    }
}

/// Every policy on the whole machine, in C, Rust and Python.
#[test]
fn threads_of_a_program_set_themselves() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let before = HostState::now();
    let place = Place::of(plans::mixed(&machine_cpus().to_string()));
    threads_are_as_planned(&place);
    drop(place);
    assert_eq!(HostState::now(), before);
}

/// The same in cells, which the script makes and takes back.
#[test]
fn threads_of_a_program_enter_their_cells() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let Some(plan) = partitioned("deploy-test-cells", budgets) else { return };
    let before = HostState::now();
    let place = Place::of(plan);
    let confined = place.call(&["confine", "threads"]);
    assert!(confined.status.success(), "{}", text(&confined));
    threads_are_as_planned(&place);
    // The kernel keeps the bandwidth of what has ended for up to a period.
    let released = place.call(&["release"]);
    assert!(released.status.success(), "{}", text(&released));
    drop(place);
    assert_eq!(HostState::now(), before);
}

/// Python's file as a program: it sets a process, and becomes another program.
#[test]
fn the_python_file_starts_programs() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let place = Place::of(plans::mixed(&machine_cpus().to_string()));
    let file = place.path("python/laxity_apply.py");
    let mut children = Vec::new();
    let mut told = Vec::new();
    for (number, thread) in (1..).zip(&place.plan.threads) {
        let mut command = Command::new("python3");
        command.arg("-B").arg(&file).args(["run", &number.to_string(), "sleep", "600"]);
        let child = Ends(command.stdin(Stdio::null()).spawn().expect("python3"));
        told.push(format!("{}={}", thread.task, child.0.id()));
        children.push(child);
    }
    let words: Vec<&str> = told.iter().flat_map(|told| ["--pid", told]).collect();
    wait_until("all are as planned", || place.deployed(&words).status.success());
    for (words, code) in [(["run", "no such", "sleep"], 2), (["run", "1", "/no/such/program"], 3)] {
        let refused = output(Command::new("python3").arg("-B").arg(&file).args(words));
        assert_eq!(refused.status.code(), Some(code), "{}", text(&refused));
    }
}
