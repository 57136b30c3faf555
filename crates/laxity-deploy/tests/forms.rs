//! The forms of a plan, as the programs that they are for read them.

mod plans;

use laxity_deploy::{CgroupVersion, DeployFile, DeployPlan, ENDINGS, FOLDERS, files};
use plans::{HOSTILE, all, hostile, write};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Every plan, with plain names and with hostile ones.
fn every() -> Vec<(String, DeployPlan)> {
    let both = |(name, plan): (&str, DeployPlan)| {
        [(name.to_owned(), plan.clone()), (format!("{name}, hostile"), hostile(plan))]
    };
    all().into_iter().flat_map(both).collect()
}

fn text<'f>(files: &'f [DeployFile], folder: Option<&str>, name: &str) -> &'f str {
    &files.iter().find(|file| file.folder == folder && file.name == name).expect("such a file").text
}

/// A program's end, or nothing (and a word about it) where there is no such program.
fn ended(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: {:?}: {error}", command.get_program());
            None
        }
    }
}

fn says(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn files_have_harmless_names_of_their_own() {
    for (which, plan) in every() {
        let files = files(&plan);
        let mut seen = BTreeSet::new();
        for file in &files {
            assert!(
                seen.insert((file.folder, file.name.to_ascii_lowercase())),
                "{which}: {} twice",
                file.name
            );
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            assert!(
                file.name.chars().all(plain) && !file.name.starts_with(['.', '-']),
                "{which}: {}",
                file.name
            );
            assert!(ENDINGS.iter().any(|ending| file.name.ends_with(ending)), "{which}: {}", file.name);
            assert!(file.folder.is_none_or(|folder| FOLDERS.contains(&folder)), "{which}: {:?}", file.folder);
            assert!(file.text.ends_with('\n') && !file.text.contains('\u{1b}'), "{which}: {}", file.name);
        }
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    for (which, plan) in every() {
        let files = files(&plan);
        let json = text(&files, None, "plan.json");
        assert_eq!(DeployPlan::from_json(json).as_ref(), Ok(&plan), "{which}");
    }
    for (text, why) in [
        ("{", "no plan of what to set"),
        ("{\"version\": 7}", "its version is 7"),
        (&plans::fifo().to_json().replace("\"cell\": 1", "\"cell\": 9"), "in cell 9, and there are 2 cells"),
        (&plans::fifo().to_json().replace("SCHED_FIFO", "SCHED_ISO"), "SCHED_ISO"),
    ] {
        let error = DeployPlan::from_json(text).expect_err(why);
        assert!(error.message.contains(why), "{error}");
    }
}

/// Shells read the script; with names that they could obey, it says how it is used and does nothing else.
#[test]
fn shells_read_the_script() {
    let directory = tempfile::tempdir().expect("directory");
    for (which, plan) in every() {
        write(&files(&plan), directory.path());
        let script = directory.path().join("start.sh");
        let checked = Command::new("sh").arg("-n").arg(&script).output().expect("a shell");
        assert!(checked.status.success(), "{which}: {}", says(&checked));
        let used =
            Command::new("sh").arg(&script).arg("now").current_dir(&directory).output().expect("a shell");
        assert_eq!(used.status.code(), Some(2), "{which}: {}", says(&used));
        assert!(
            says(&used).contains("usage: ") && says(&used).lines().count() == 1,
            "{which}: {}",
            says(&used)
        );
        if let Some(checked) = ended(Command::new("shellcheck").arg(&script)) {
            assert!(checked.status.success(), "{which}: {}", says(&checked));
        }
    }
}

/// Without its programs the script names the first variable that is not set, and starts nothing.
#[test]
fn the_script_asks_for_its_programs() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: the script needs root");
        return;
    }
    let directory = tempfile::tempdir().expect("directory");
    for (which, plan) in every() {
        write(&files(&plan), directory.path());
        let mut start = Command::new("sh");
        let path = std::env::var("PATH").unwrap_or_default();
        let ended =
            start.args(["start.sh", "start"]).current_dir(&directory).env_clear().env("PATH", path).output();
        let ended = ended.expect("a shell");
        assert_eq!(ended.status.code(), Some(2), "{which}: {}", says(&ended));
        let said = says(&ended);
        assert!(said.contains("set TASK_1_") && said.lines().count() == 1, "{which}: {said}");
    }
}

#[test]
fn systemd_takes_every_unit() {
    for (which, plan) in every() {
        let directory = tempfile::tempdir().expect("directory");
        let mut files = files(&plan);
        for file in files.iter_mut().filter(|file| file.folder == Some("systemd")) {
            // As a user does: each program is one that is there.
            let mut unit = String::new();
            for line in file.text.lines() {
                let words: Vec<&str> = line.split(' ').collect();
                let word = |word: &&str| match *word {
                    word if line.starts_with("Exec") && word.contains("/path/to/") => {
                        if word.contains("laxity_apply") {
                            "/bin/true".to_owned()
                        } else {
                            word.split("/path/to/").next().unwrap_or("").to_owned() + "/bin/true"
                        }
                    }
                    word => word.replace("/usr/bin/laxity", "/bin/true"),
                };
                unit += &words.iter().map(word).collect::<Vec<_>>().join(" ");
                unit.push('\n');
            }
            file.text = unit;
        }
        write(&files, directory.path());
        let folder = directory.path().join("systemd");
        let mut units: Vec<_> =
            fs::read_dir(&folder).expect("units").map(|unit| unit.expect("a unit").path()).collect();
        units.sort();
        assert!(units.len() > plan.threads.len(), "{which}: a target and a service each");
        let mut command = Command::new("systemd-analyze");
        let Some(verified) = ended(command.args(["verify", "--man=no"]).args(&units)) else { return };
        // It also reads the units of the machine, and complains about those.
        let said = says(&verified);
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("laxity")).collect();
        assert!(ours.is_empty(), "{which}: {ours:#?}");
        assert!(verified.status.success(), "{which}: {said}");
    }
}

/// A unit that is wrong is seen: the test above reads what systemd says.
#[test]
fn systemd_refuses_a_unit_that_is_wrong() {
    let directory = tempfile::tempdir().expect("directory");
    let unit = directory.path().join("laxity-wrong.service");
    fs::write(&unit, "[Service]\nExecStart=/bin/true\nCPUSchedulingPolicy=deadline\n").expect("written");
    let Some(verified) = ended(Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit))
    else {
        return;
    };
    assert!(says(&verified).contains("laxity-wrong.service"), "{}", says(&verified));
}

/// Where cgroups have CPU limits `laxity load` refuses: the operator reads which option helps where the policy is started.
#[test]
fn what_starts_a_policy_says_which_option_lets_it_void_cgroup_limits() {
    for (which, plan) in every() {
        let all = files(&plan);
        let saying: Vec<&str> = all
            .iter()
            .filter(|file| file.text.contains(laxity_deploy::VOID_CGROUP_LIMITS))
            .map(|file| file.name.as_str())
            .collect();
        match plan.attached {
            None => assert!(saying.is_empty(), "{which}: no policy is started: {saying:?}"),
            Some(_) => {
                assert!(saying.iter().any(|name| name.ends_with("-policy.service")), "{which}: {saying:?}");
                assert!(saying.contains(&"README.md"), "{which}: {saying:?}");
            }
        }
    }
}

/// Fields and values of the OCI runtime specification, config.md.
#[test]
fn containers_get_what_the_specification_knows() {
    for (which, plan) in every() {
        let files: Vec<DeployFile> =
            files(&plan).into_iter().filter(|file| file.folder == Some("oci")).collect();
        if plan.attached.is_some() || which.starts_with("sliced") {
            assert!(files.is_empty(), "{which}");
            continue;
        }
        assert_eq!(files.len(), plan.threads.len(), "{which}");
        for (file, thread) in files.iter().zip(&plan.threads) {
            let value: serde_json::Value = serde_json::from_str(&file.text).expect("JSON");
            let scheduler = value["process"]["scheduler"].as_object().expect("an object");
            assert_eq!(scheduler["policy"], thread.scheduling.policy(), "{which}");
            assert!(scheduler["flags"].as_array().expect("a list").iter().all(|flag| {
                ["SCHED_FLAG_RESET_ON_FORK", "SCHED_FLAG_RECLAIM", "SCHED_FLAG_DL_OVERRUN"]
                    .contains(&flag.as_str().expect("a name"))
            }));
            // runc refuses a field that the policy does not have.
            assert_eq!(
                scheduler.get("priority").and_then(|p| p.as_u64()),
                thread.scheduling.priority().map(u64::from)
            );
            let of = thread.scheduling.reservation();
            for (field, ns) in [
                ("runtime", of.map(|of| of.runtime_ns)),
                ("deadline", of.map(|of| of.deadline_ns)),
                ("period", of.map(|of| of.period_ns)),
            ] {
                assert_eq!(scheduler.get(field).and_then(|ns| ns.as_u64()), ns, "{which}: {field}");
            }
            let cpu = &value["linux"]["resources"]["cpu"]["cpus"];
            if thread.scheduling.is_deadline() {
                assert!(cpu.is_null(), "{which}: a container's CPUs are no root domain");
                let in_cell = value["linux"]["cgroupsPath"].as_str();
                assert_eq!(in_cell.is_some(), thread.cpus != plan.machine_cpus, "{which}");
            } else {
                let expected = (thread.cpus != plan.machine_cpus).then(|| thread.cpus.to_string());
                assert_eq!(cpu.as_str(), expected.as_deref(), "{which}");
            }
        }
    }
}

/// What a reader of YAML makes of the file: CIE's field names, and the plan.
#[test]
fn ros_2_reads_the_plan() {
    let directory = tempfile::tempdir().expect("directory");
    let script = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
    for (which, plan) in every() {
        let files = files(&plan);
        let Some(file) = files.iter().find(|file| file.name == "cie.yaml") else {
            let refused = plan.attached.is_some() || plan.threads.iter().any(|thread| thread.flags.len() > 1);
            assert!(refused, "{which}");
            let index = text(&files, None, "README.md");
            assert!(index.contains("**ROS 2**: no file: the callback-isolated executor"), "{which}: {index}");
            continue;
        };
        let path = directory.path().join("cie.yaml");
        fs::write(&path, &file.text).expect("written");
        let Some(read) = ended(Command::new("python3").args(["-c", script]).arg(&path)) else { return };
        if says(&read).contains("No module named 'yaml'") {
            eprintln!("SKIPPED: python3 has no yaml");
            return;
        }
        assert!(read.status.success(), "{which}: {}\n{}", says(&read), file.text);
        let value: serde_json::Value = serde_json::from_slice(&read.stdout).expect("JSON");
        assert_eq!(value["callback_groups"], serde_json::json!([]), "{which}");
        let entries = value["non_ros_threads"].as_array().expect("a list");
        assert_eq!(entries.len(), plan.threads.len(), "{which}");
        for (entry, thread) in entries.iter().zip(&plan.threads) {
            assert_eq!(entry["id"], thread.task.as_str(), "{which}");
            assert_eq!(entry["policy"], thread.scheduling.policy());
            let cpus: Option<Vec<u64>> =
                entry["affinity"].as_array().map(|cpus| cpus.iter().filter_map(|cpu| cpu.as_u64()).collect());
            let all: Vec<u64> = thread.cpus.iter().map(u64::from).collect();
            assert_eq!(cpus, (thread.cpus != plan.machine_cpus).then_some(all), "{which}");
            if let Some(of) = thread.scheduling.reservation() {
                assert_eq!(
                    (&entry["runtime"], &entry["deadline"], &entry["period"]),
                    (&of.runtime_ns.into(), &of.deadline_ns.into(), &of.period_ns.into())
                );
            }
            if let Some(priority) = thread.scheduling.priority() {
                assert_eq!(entry["priority"], priority);
            }
        }
    }
}

/// Names come out of each language's compiler as they went in.
#[test]
fn names_are_text_in_every_language() {
    let directory = tempfile::tempdir().expect("directory");
    let plan = hostile(plans::fifo());
    write(&files(&plan), directory.path());
    let listed = python(directory.path());
    let names: Vec<&str> = listed.iter().map(String::as_str).collect();
    assert!(names.is_empty() || names == HOSTILE, "Python: {names:?}");
    for program in [c(directory.path()), rust(directory.path())].into_iter().flatten() {
        for name in HOSTILE {
            let found = Command::new(&program).arg(name).output().expect("it was compiled");
            assert_eq!(says(&found), "", "{program:?} knows {name}");
            assert!(found.status.success(), "{program:?} knows {name}");
        }
        let other = Command::new(&program).arg("another").output().expect("it was compiled");
        assert_eq!(other.status.code(), Some(1), "{program:?} does not know another name");
    }
}

fn python(directory: &Path) -> Vec<String> {
    let script = "import json, laxity_apply; print(json.dumps([t.name for t in laxity_apply.THREADS]))";
    let mut command = Command::new("python3");
    command.args(["-B", "-W", "error", "-c", script]).current_dir(directory.join("python"));
    let Some(output) = ended(&mut command) else { return Vec::new() };
    assert!(output.status.success(), "{}", says(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Whether the table has a name: without rights, and with an affinity to CPUs that are not there, nothing is changed.
fn c(directory: &Path) -> Option<std::path::PathBuf> {
    let main = "#include <errno.h>\n#include \"laxity_apply.h\"\n#include <sys/resource.h>\n#include <unistd.h>\n\
        int main(int count, char **words)\n{\n\treturn count == 2 && laxity_apply(words[1]) != 0 && errno == ENOENT;\n}\n";
    fs::write(directory.join("c/main.c"), main).expect("written");
    let mut command = Command::new("cc");
    command.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
        "-o",
        "main",
        "main.c",
        "laxity_apply.c",
    ]);
    let compiled = ended(command.current_dir(directory.join("c")))?;
    assert!(compiled.status.success(), "{}", says(&compiled));
    Some(directory.join("c/main"))
}

fn rust(directory: &Path) -> Option<std::path::PathBuf> {
    let main = "mod laxity_apply;\nfn main() {\n    let name = std::env::args().nth(1).unwrap_or_default();\n    let error = \
        laxity_apply::apply(&name).err();\n    let unknown = error.is_some_and(|error| error.kind() == \
        std::io::ErrorKind::NotFound);\n    std::process::exit(i32::from(unknown));\n}\n";
    fs::write(directory.join("rust/main.rs"), main).expect("written");
    let mut command = Command::new("rustc");
    command.args(["--edition", "2021", "-D", "warnings", "-o", "main", "main.rs"]);
    let compiled = ended(command.current_dir(directory.join("rust")))?;
    assert!(compiled.status.success(), "{}", says(&compiled));
    Some(directory.join("rust/main"))
}

/// C++ reads the header, and the source is C of strict rules.
#[test]
fn every_plan_compiles() {
    for (which, plan) in every() {
        let directory = tempfile::tempdir().expect("directory");
        write(&files(&plan), directory.path());
        let mut command = Command::new("cc");
        command.args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wpedantic",
            "-Werror",
            "-c",
            "laxity_apply.c",
        ]);
        let Some(compiled) = ended(command.current_dir(directory.path().join("c"))) else { return };
        assert!(compiled.status.success(), "{which}: {}", says(&compiled));
    }
}

/// What stands in the files of one small plan, for readers. LAXITY_BLESS=1 writes it again.
#[test]
fn the_files_are_these() {
    let plan = plans::reserved(CgroupVersion::V2);
    let mut all = String::new();
    for file in
        files(&plan).iter().filter(|file| file.name != "start.sh" && !file.name.contains("laxity_apply"))
    {
        let folder = file.folder.map_or(String::new(), |folder| format!("{folder}/"));
        all += &format!("==> {folder}{} <==\n{}\n", file.name, file.text);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/p-edf.txt");
    if std::env::var_os("LAXITY_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, &all).expect("written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(all == golden, "the files differ from tests/golden/p-edf.txt; LAXITY_BLESS=1 writes it again");
}
