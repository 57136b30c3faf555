//! What is kept in a results directory cannot change without a word: every file that is damaged, cut off, swapped or gone is
//! refused by its name; and what contradicts itself is, where there are no sums.

mod fixtures;

use fixtures::{job, manifest, run};
use laxity_model::Failure;
use laxity_trace::{
    ACTIVITIES_DIRECTORY, EVENTS_DIRECTORY, Event, EventKind, Existing, Job, JobsWriter, Kept,
    KernelActivity, Manifest, ResultsDirectory, Run, RunColumns, RunStatus, load, load_manifest,
    write_activities,
};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Jobs of run `id`: how many differ from run to run.
fn made(id: u32) -> Run {
    let jobs = (0..5 + id)
        .map(|k| job(k % 2, k / 2, 10 * u64::from(k), 10 * u64::from(k) + 10, Some(10 * u64::from(k) + 4)));
    let mut jobs: Vec<Job> = jobs.collect();
    jobs.sort_by_key(|job| (job.task, job.index));
    run(id, "g-edf", 40, jobs)
}

fn activity(from_ns: u64) -> KernelActivity {
    let cause = "interrupt".to_owned();
    KernelActivity { from_ns, to_ns: from_ns + 5, cpu: 0, cause, released: None, task: None }
}

/// A results directory with two runs, before it is finished.
fn begun(path: &Path) -> ResultsDirectory {
    let mut directory =
        ResultsDirectory::create(path, manifest(vec![made(0), made(1)]), Existing::Refuse).expect("created");
    for id in 0..2 {
        let mut events = directory.create_events(id).expect("begun");
        for at in 0..20 {
            let event = Event {
                time_ns: u64::from(at) * 100,
                kind: EventKind::ALL[at as usize % EventKind::ALL.len()],
                cpu: Some(id),
                task: Some(at % 2),
                job: Some(at),
                argument: None,
            };
            events.write(&event).expect("written");
        }
        events.finish().expect("finished");
        write_activities(path, id, &[activity(3), activity(40 + u64::from(id))]).expect("written");
        directory.append_run(&made(id)).expect("appended");
    }
    fs::create_dir(path.join("overheads")).expect("made");
    fs::write(path.join("overheads/run-0.json"), "{\"run\": 0}\n").expect("written");
    directory
}

struct Place {
    _home: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn finished() -> Place {
        let home = tempfile::tempdir().expect("temporary directory");
        let path = home.path().join("r");
        begun(&path).finish().expect("finished");
        Place { _home: home, path }
    }

    /// Reads everything that is kept.
    fn read(&self) -> laxity_model::Result<()> {
        load(&self.path)?;
        load_manifest(&self.path)?;
        let kept = Kept::of(&self.path)?;
        for run in 0..2 {
            let events = kept.open_events(run)?.expect("it has events");
            events.events().collect::<laxity_model::Result<Vec<_>>>()?;
            kept.read_activities(run)?.expect("it has activities");
        }
        kept.read("overheads/run-0.json").map(|_| ())
    }

    /// It is refused, for input, with words about this file and a way out.
    fn refuses(&self, name: &str, what: &str) {
        let error = self.read().expect_err(what);
        assert_eq!(error.failure, Failure::Usage, "{what}: {error}");
        assert!(error.message.contains(&*self.path.join(name).to_string_lossy()), "{what}: {error}");
        assert!(error.hint.is_some(), "{what}: {error}");
    }
}

const KEPT: [&str; 7] = [
    "activities/run-0.parquet",
    "activities/run-1.parquet",
    "events/run-0.parquet",
    "events/run-1.parquet",
    "jobs.parquet",
    "manifest.json",
    "overheads/run-0.json",
];

#[test]
fn sha256sum_checks_a_finished_directory() {
    let place = Place::finished();
    let text = fs::read_to_string(place.path.join("SHA256SUMS")).expect("there");
    let names: Vec<&str> = text.lines().map(|line| line.split_once("  ").expect("two spaces").1).collect();
    assert_eq!(names, KEPT);
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&place.path)
        .output();
    let checked = checked.expect("coreutils");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    place.read().expect("nothing is damaged");
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let place = Place::finished();
    for name in KEPT {
        let file = place.path.join(name);
        let whole = fs::read(&file).expect("readable");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&file, bytes).expect("written");
            // Only the file that is damaged is looked at, and not all others for each of its bytes.
            let kept = Kept::of(&place.path).expect("the sums are whole");
            let error = kept.open(name).expect_err("damaged");
            assert!(
                error.message.contains("differs from its sum in SHA256SUMS"),
                "byte {at} of {name}: {error}"
            );
            if at % 97 == 0 {
                place.refuses(name, &format!("byte {at} of {name}"));
            }
        }
        fs::write(&file, whole).expect("written");
    }
    place.read().expect("all is as it was");
}

#[test]
fn files_that_are_cut_off_swapped_or_gone_are_refused() {
    let place = Place::finished();
    for name in KEPT {
        let file = place.path.join(name);
        let whole = fs::read(&file).expect("readable");
        for length in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&file, &whole[..length]).expect("written");
            place.refuses(name, &format!("{length} bytes of {name}"));
        }
        fs::write(&file, [&whole[..], b"\n"].concat()).expect("written");
        place.refuses(name, &format!("{name} with a byte more"));
        fs::remove_file(&file).expect("removed");
        if name == "manifest.json" {
            assert!(place.read().expect_err("gone").message.contains("it has no manifest.json"));
        } else {
            place.refuses(name, &format!("{name} is gone"));
        }
        fs::write(&file, whole).expect("written");
    }
    for folder in [EVENTS_DIRECTORY, ACTIVITIES_DIRECTORY] {
        let [one, two, aside] =
            ["run-0.parquet", "run-1.parquet", "aside"].map(|name| place.path.join(folder).join(name));
        for (from, to) in [(&one, &aside), (&two, &one), (&aside, &two)] {
            fs::rename(from, to).expect("renamed");
        }
        place.refuses(&format!("{folder}/run-0.parquet"), "swapped");
        let sums = place.path.join("SHA256SUMS");
        let text = fs::read(&sums).expect("readable");
        fs::remove_file(&sums).expect("removed");
        assert!(place.read().expect_err("swapped").message.contains("of run 1"), "{folder}, without sums");
        fs::write(&sums, text).expect("written");
        for (from, to) in [(&one, &aside), (&two, &one), (&aside, &two)] {
            fs::rename(from, to).expect("renamed");
        }
    }
    place.read().expect("all is as it was");
}

/// Damage of the sums is told; where it leaves them readable, what is read is what it was.
#[test]
fn damaged_sums_are_told() {
    let place = Place::finished();
    let sums = place.path.join("SHA256SUMS");
    let whole = fs::read(&sums).expect("readable");
    let before = load(&place.path).expect("loads");
    let mut refused = 0;
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&sums, bytes).expect("written");
            match place.read() {
                Ok(()) => assert_eq!(load(&place.path).expect("loads"), before),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.failure, Failure::Usage, "{error}");
                    assert!(error.message.contains("SHA256SUMS"), "bit {bit} of byte {at}: {error}");
                }
            }
        }
    }
    // Letters of a sum in capitals, and a file called binary, say the same.
    assert!(refused > whole.len() * 7, "{refused} of {} bits", whole.len() * 8);
    for (wrong, why) in [
        (&b""[..], "it is empty"),
        (&whole[..whole.len() - 1], "its last line is cut off"),
        (&b"no sum\n"[..], "line 1 is not a sum"),
        (&whole.repeat(2)[..], "names `activities/run-0.parquet` again"),
        (
            &[&whole[..64], b"  ../other\n"].concat()[..],
            "names `../other`, which is no file that laxity keeps",
        ),
    ] {
        fs::write(&sums, wrong).expect("written");
        let error = place.read().expect_err(why);
        assert!(error.message.contains("SHA256SUMS is damaged") && error.message.contains(why), "{error}");
    }
    // On purpose: without its line, a file is what it is.
    let text = String::from_utf8(whole).expect("text");
    let without: String = text
        .lines()
        .filter(|line| !line.ends_with("overheads/run-0.json"))
        .map(|l| l.to_owned() + "\n")
        .collect();
    fs::write(&sums, without).expect("written");
    fs::write(place.path.join("overheads/run-0.json"), "{}").expect("written");
    place.read().expect("it was changed on purpose");
}

#[test]
fn a_flipped_bit_of_a_part_costs_its_run_and_is_told() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    drop(begun(&path));
    let part = path.join("jobs.parts/run-0.parquet");
    let whole = fs::read(&part).expect("readable");
    let lost = |at: usize| {
        let results = load(&path).expect("the others are there");
        let RunStatus::NotRun { reason } = &results.runs[0].status else { panic!("byte {at} is believed") };
        assert!(reason.contains("jobs are lost") && reason.contains("jobs.parts/run-0.parquet"), "{reason}");
        assert_eq!((results.runs[0].jobs.len(), &results.runs[1]), (0, &made(1)), "byte {at}");
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&part, bytes).expect("written");
        lost(at);
    }
    // Finishing keeps what is whole, and what is damaged stays damaged.
    drop(ResultsDirectory::reopen(&path).expect("reopens").finish().expect("finishes"));
    lost(whole.len());
    fs::write(&part, &whole).expect("written");
    assert_eq!(load(&path).expect("loads").runs[0], made(0), "it is believed again");
}

/// A kill between the line of a sum and the name of its part, and one in the middle of the line.
#[test]
fn a_part_written_again_is_believed_whichever_of_the_two_is_there() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    let mut directory = begun(&path);
    let (part, sums) = (path.join("jobs.parts/run-0.parquet"), path.join("jobs.parts/SHA256SUMS"));
    let before = fs::read(&part).expect("readable");
    directory.append_run(&Run { repetition: 7, ..made(0) }).expect("appended again");
    assert_eq!(load(&path).expect("loads").runs[0].repetition, 7);
    fs::write(&part, before).expect("written");
    assert_eq!(load(&path).expect("loads").runs[0], made(0));
    let torn = [fs::read(&sums).expect("readable"), b"0123".to_vec()].concat();
    fs::write(&sums, torn).expect("written");
    drop(directory);
    let mut directory = ResultsDirectory::reopen(&path).expect("reopens");
    directory.append_run(&Run { repetition: 8, ..made(0) }).expect("appended");
    assert_eq!(load(&path).expect("loads").runs[0].repetition, 8);
    drop(directory);
    // An earlier version left no sums: its parts are believed, also when others come beside them.
    fs::remove_file(&sums).expect("removed");
    assert_eq!(load(&path).expect("loads").runs[0].repetition, 8);
    let mut directory = ResultsDirectory::reopen(&path).expect("reopens");
    directory.append_run(&made(1)).expect("appended");
    assert_eq!(load(&path).expect("loads").runs[0].repetition, 8);
    drop(directory.finish().expect("finishes"));
    let results = load(&path).expect("loads");
    assert_eq!((results.runs[0].repetition, &results.runs[1]), (8, &made(1)));
    assert!(!path.join("jobs.parts").exists() && path.join("SHA256SUMS").exists());
}

/// Without sums, as an earlier version has left it: rows against each other, and against the manifest.
#[test]
fn rows_that_cannot_be_are_refused_without_sums() {
    let place = Place::finished();
    fs::remove_file(place.path.join("SHA256SUMS")).expect("removed");
    type Rows = Vec<(u32, Job)>;
    let good: Rows = (0..2).flat_map(|id| made(id).jobs.into_iter().map(move |job| (id, job))).collect();
    let write = |rows: &[(u32, Job)]| {
        let file = File::create(place.path.join("jobs.parquet")).expect("created");
        let mut writer = JobsWriter::new(file, &[]).expect("starts");
        for (id, job) in rows {
            writer.write(&RunColumns::new(&run(*id, "g-edf", 40, vec![]), &[]), job).expect("fits");
        }
        writer.finish().expect("finishes");
    };
    write(&good);
    place.read().expect("as it was written");
    write(&good.iter().rev().cloned().collect::<Vec<_>>());
    place.read().expect("in another order");
    let changed = |change: &dyn Fn(&mut Rows)| {
        let mut rows = good.clone();
        change(&mut rows);
        rows
    };
    for (rows, why) in [
        (
            std::iter::repeat_n(good.clone(), 30).flatten().collect(),
            "job 0 of task 0 of run 0 is there twice",
        ),
        (changed(&|rows| rows[1] = rows[0].clone()), "job 0 of task 0 of run 0 is there twice"),
        (changed(&|rows| rows.extend_from_within(9..10)), "of run 1 is there twice"),
        (
            changed(&|rows| rows.truncate(rows.len() - 1)),
            "there are 5 jobs of run 1, and 6 by its record in manifest.json",
        ),
        (changed(&|rows| drop(rows.drain(..5))), "there are 0 jobs of run 0, and 5"),
        (changed(&|rows| rows[2].0 = 1), "of run 0, and 5"),
        (changed(&|rows| rows[3].1.start_ns = Some(u64::MAX >> 1)), "of run 0: its finish"),
        (changed(&|rows| rows[3].1.release_ns = u64::MAX >> 1), "of run 0: its deadline"),
        (changed(&|rows| rows[3].1.finish_ns = None), "of run 0: it is completed but has no finish"),
    ] {
        write(&rows);
        place.refuses("jobs.parquet", why);
        let said = place.read().expect_err(why).message;
        assert!(said.contains(why), "{why}: {said}");
    }
    // A manifest of before there were counts says nothing against fewer rows.
    write(&good[..good.len() - 1]);
    let manifest = place.path.join("manifest.json");
    let mut document: serde_json::Value =
        serde_json::from_slice(&fs::read(&manifest).expect("readable")).expect("JSON");
    for run in document["runs"].as_array_mut().expect("runs") {
        assert!(
            run.as_object_mut().expect("a run").remove("job_count").is_some(),
            "finished runs have a count"
        );
    }
    let older: Manifest = serde_json::from_value(document.clone()).expect("a manifest");
    assert_eq!(older.runs[0].job_count, None);
    fs::write(&manifest, document.to_string()).expect("written");
    place.read().expect("an older directory");
}

/// Results that were finished, opened again because a damaged part was left, are not believed blindly.
#[test]
fn what_is_merged_again_is_checked_first() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    drop(begun(&path));
    let part = path.join("jobs.parts/run-1.parquet");
    let bytes = fs::read(&part).expect("readable");
    fs::write(&part, &bytes[1..]).expect("written");
    drop(ResultsDirectory::reopen(&path).expect("reopens").finish().expect("finishes"));
    let jobs = path.join("jobs.parquet");
    let mut bytes = fs::read(&jobs).expect("readable");
    bytes[200] ^= 4;
    fs::write(&jobs, &bytes).expect("written");
    let error = ResultsDirectory::reopen(&path).expect_err("it would be merged");
    assert!(error.message.contains("jobs.parquet differs from its sum"), "{error}");
    bytes[200] ^= 4;
    fs::write(&jobs, &bytes).expect("written");
    let mut directory = ResultsDirectory::reopen(&path).expect("reopens");
    assert!(!path.join("SHA256SUMS").exists(), "what they are of is going to change");
    directory.append_run(&made(1)).expect("made again");
    drop(directory.finish().expect("finishes"));
    assert_eq!(load(&path).expect("loads").runs, [made(0), made(1)]);
}
