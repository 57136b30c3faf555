//! Results directories: what is appended survives whatever comes after.

mod fixtures;

use fixtures::{any_job, job, manifest, placement, run, two_tasks};
use laxity_model::{Diagnostic, Duration, Failure};
use laxity_trace::{
    BackgroundRecord, Existing, Host, Job, Manifest, ResultsDirectory, Run, RunDigest, RunStatus, Summary,
    TaskSelection, create_jobs, load, load_digested, load_manifest,
};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn planned(id: u32) -> Run {
    run(id, "g-edf", 40, vec![])
}

fn made(id: u32) -> Run {
    let jobs = vec![job(0, 0, 0, 10, Some(3)), job(0, 1, 10, 20, Some(25)), job(1, 0, 0, 20, None)];
    Run {
        placement: Some(placement()),
        notes: vec!["shared levels".to_owned()],
        kernel_counters: [("decisions".to_owned(), 7)].into(),
        overruns: None,
        schedule: None,
        disturbance: None,
        ..run(id, "g-edf", 40, jobs)
    }
}

fn create(path: &Path) -> ResultsDirectory {
    ResultsDirectory::create(path, manifest(vec![planned(0), planned(1), planned(2)]), Existing::Refuse)
        .expect("created")
}

fn state(results: &Manifest) -> Vec<(u32, usize, bool)> {
    let made = |run: &Run| !matches!(run.status, RunStatus::NotRun { .. });
    results.runs.iter().map(|run| (run.id, run.jobs.len(), made(run))).collect()
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("readable");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn part(path: &Path, run: u32) -> PathBuf {
    path.join("jobs.parts").join(format!("run-{run}.parquet"))
}

#[test]
fn a_finished_directory_loads_as_it_was_written() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("deep/er");
    let interrupted = RunStatus::Interrupted { reason: "SIGINT".to_owned(), ran: Duration::from_ms(17) };
    let runs = [made(0), Run { status: interrupted, ..made(1) }];
    let mut directory = create(&path);
    assert_eq!(state(directory.manifest()), [(0, 0, false), (1, 0, false), (2, 0, false)]);
    runs.iter().for_each(|run| directory.append_run(run).expect("appended"));
    directory.finish().expect("finished");
    assert_eq!(names(&path), ["SHA256SUMS", "jobs.parquet", "manifest.json"]);
    let results = load(&path).expect("loads");
    assert_eq!(results.runs[..2], runs);
    assert!(
        matches!(&results.runs[2].status, RunStatus::NotRun { reason } if reason.contains("before this run"))
    );
    assert_eq!(Manifest { runs: vec![], ..results }, manifest(vec![]));
}

fn append_with_background(directory: &mut ResultsDirectory, run: &Run, background: &BackgroundRecord) {
    let mut jobs = create_jobs(directory.path(), run, &[]).expect("begun");
    run.jobs.iter().for_each(|job| jobs.write(job).expect("fits"));
    directory.append_written(run, jobs.end().expect("ends"), Some(background)).expect("appended");
}

#[test]
fn background_tasks_survive_a_crash_and_a_report() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    let record =
        |run| BackgroundRecord { run, entered: 5, exited: 2, run_ns: 30, ready_ns: 10, capacity_ns: 120 };
    let stale =
        Manifest { background: vec![record(0)], ..manifest(vec![planned(0), planned(1), planned(2)]) };
    let mut directory = ResultsDirectory::create(&path, stale, Existing::Refuse).expect("created");
    assert!(directory.manifest().background.is_empty(), "nothing ran yet");
    append_with_background(&mut directory, &made(2), &record(2));
    directory.append_run(&made(0)).expect("appended");
    append_with_background(&mut directory, &made(1), &record(1));
    let (both, crashed) = ([record(1), record(2)], load(&path).expect("loads"));
    assert_eq!(
        (crashed.background, load_manifest(&path).expect("loads").background),
        (both.into(), both.into())
    );
    directory.append_run(&made(1)).expect("appended again, without any");
    directory.finish().expect("finished");
    let results = load(&path).expect("loads");
    assert_eq!(results.background, [record(2)]);
    let summary = Summary::of(&results, &[two_tasks()]).expect("valid");
    let [one] = summary.background.as_slice() else { panic!("{:?}", summary.background) };
    let ran = results.runs.iter().find(|run| run.id == 2).expect("run 2");
    assert_eq!((one.scheduler.as_str(), one.host, one.runs), (ran.scheduler.as_str(), ran.host, 1));
    assert_eq!((one.run_share, one.capacity_share), (Some(0.75), Some(0.25)));
}

#[test]
fn a_crash_at_any_point_loses_no_finished_run() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    let mut directory = create(&path);
    assert_eq!(state(&load(&path).expect("loads")), [(0, 0, false), (1, 0, false), (2, 0, false)]);
    directory.append_run(&made(1)).expect("appended");
    directory.append_run(&Run { repetition: 9, ..made(5) }).expect("a run that was not planned");
    drop(directory);
    // Killed while writing a part: a temporary file is left.
    fs::write(path.join("jobs.parts/.run-2.parquet.tmp"), "half").expect("writes");
    let expected = [(0, 0, false), (1, 3, true), (2, 0, false), (5, 3, true)];
    let crashed = load(&path).expect("loads");
    assert_eq!(state(&crashed), expected);
    assert_eq!((&crashed.runs[1], crashed.runs[3].repetition), (&made(1), 9));

    // Another process takes over, replaces a run, and is killed between the steps of finishing.
    let mut directory = ResultsDirectory::reopen(&path).expect("reopens");
    directory.append_run(&made(0)).expect("appended");
    let (parts, saved) = (path.join("jobs.parts"), home.path().join("saved"));
    let copied = Command::new("cp").arg("-r").args([&parts, &saved]).status().expect("cp runs");
    assert!(copied.success());
    let stale = fs::read(path.join("manifest.json")).expect("readable");
    let whole = [(0, 3, true), (1, 3, true), (2, 0, false), (5, 3, true)];
    directory.finish().expect("finishes");
    assert_eq!(state(&load(&path).expect("loads")), whole);
    // ... after the table but before the manifest:
    fs::rename(&saved, &parts).expect("renames");
    fs::write(path.join("manifest.json"), stale).expect("writes");
    fs::remove_file(path.join("SHA256SUMS")).expect("there are no sums yet");
    assert_eq!(state(&load(&path).expect("loads")), whole);
    // ... after the removal of a part: the table has the jobs, and finishing again keeps them.
    let directory = ResultsDirectory::reopen(&path).expect("reopens");
    fs::remove_file(part(&path, 1)).expect("removes");
    directory.finish().expect("finishes");
    assert_eq!(state(&load(&path).expect("loads")), whole);
    assert_eq!(names(&path), ["SHA256SUMS", "jobs.parquet", "manifest.json"]);
    assert!(ResultsDirectory::reopen(&path).expect_err("finished").message.contains("are finished"));
}

#[test]
fn a_damaged_part_costs_its_own_run_only() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    let mut directory = create(&path);
    [made(0), made(1), made(2)].iter().for_each(|run| directory.append_run(run).expect("appended"));
    let bytes = fs::read(part(&path, 1)).expect("readable");
    fs::write(part(&path, 1), &bytes[..bytes.len() / 2]).expect("truncates");
    let results = load(&path).expect("loads");
    assert_eq!(state(&results), [(0, 3, true), (1, 0, false), (2, 3, true)]);
    let RunStatus::NotRun { reason } = &results.runs[1].status else { panic!("{:?}", results.runs[1]) };
    assert!(reason.contains("jobs are lost") && reason.contains("run-1.parquet"), "{reason}");
    // A part under the name of another run is not that run.
    fs::copy(part(&path, 0), part(&path, 2)).expect("copies");
    assert_eq!(state(&load(&path).expect("loads")), [(0, 3, true), (1, 0, false), (2, 0, false)]);
    drop(directory);
    // Finishing keeps what is whole, and leaves the damaged files to be looked at.
    ResultsDirectory::reopen(&path).expect("reopens").finish().expect("finishes");
    assert_eq!(names(&path.join("jobs.parts")), ["SHA256SUMS", "run-1.parquet", "run-2.parquet"]);
    assert_eq!(state(&load(&path).expect("loads")), [(0, 3, true), (1, 0, false), (2, 0, false)]);
}

/// What a report needs is the same, whether the jobs are kept or not.
fn assert_same_digests(path: &Path) {
    let digested = load_digested(path).expect("loads");
    let results = load(path).expect("loads");
    let sets = results.sets().expect("valid");
    let without_jobs = |results: &Manifest| -> Vec<(u32, bool)> {
        state(results).into_iter().map(|(run, _, made)| (run, made)).collect()
    };
    assert_eq!(without_jobs(&digested.results), without_jobs(&results));
    let kept: usize = digested.results.runs.iter().map(|run| run.jobs.len()).sum();
    assert_eq!(kept, if results.is_simulated() { 0 } else { digested.jobs });
    let tallied = |run| digested.digests.get(&run).map(|digest| &digest.tallies);
    let summary = Summary::of_tallied(&digested.results, &sets, tallied).expect("valid");
    assert_eq!(summary, Summary::of(&results, &sets).expect("valid"));
    assert_eq!(digested.jobs, results.runs.iter().map(|run| run.jobs.len()).sum::<usize>());
    for run in &results.runs {
        let of_jobs = RunDigest::of(run, &sets[0]).expect("valid").laxities;
        let all = TaskSelection::All;
        assert_eq!(
            digested.digests[&run.id].laxities.normalized(&sets[0], all),
            of_jobs.normalized(&sets[0], all)
        );
    }
}

#[test]
fn a_digest_says_what_the_jobs_say_in_every_state_of_a_directory() {
    for host in [Host::Linux, Host::Simulator] {
        let home = tempfile::tempdir().expect("temporary directory");
        let path = home.path().join("r");
        let all = [0, 1, 2].map(|id| Run { host, ..planned(id) });
        let mut directory =
            ResultsDirectory::create(&path, manifest(all.to_vec()), Existing::Refuse).expect("created");
        assert_same_digests(&path);
        directory.append_run(&Run { host, ..made(0) }).expect("appended");
        let interrupted = RunStatus::Interrupted { reason: "SIGINT".to_owned(), ran: Duration::from_ms(17) };
        directory.append_run(&Run { host, status: interrupted, ..made(1) }).expect("appended");
        assert_same_digests(&path);
        let damaged = fs::read(part(&path, 0)).expect("readable");
        directory.finish().expect("finished");
        assert_same_digests(&path);
        // As a crash between merging and removing leaves it, with damage: the run counts as lost.
        fs::create_dir(path.join("jobs.parts")).expect("created");
        fs::write(part(&path, 0), &damaged[..damaged.len() / 2]).expect("written");
        assert_same_digests(&path);
    }
}

fn refused(path: &Path, existing: Existing) -> Diagnostic {
    let error = ResultsDirectory::create(path, manifest(vec![]), existing).expect_err("must be refused");
    assert!(error.message.contains(&*path.to_string_lossy()), "{error}");
    assert!(error.hint.is_some(), "{error}");
    error
}

#[test]
fn what_is_there_is_not_overwritten_unless_told() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path();
    fs::write(path.join("thesis.tex"), "mine").expect("writes");
    assert!(refused(path, Existing::Refuse).message.contains("holds no results"));
    // Not even if told: nothing shows that the directory is laxity's.
    assert!(refused(path, Existing::Replace).message.contains("holds no results"));
    fs::remove_file(path.join("thesis.tex")).expect("removes");

    let mut directory = create(path);
    directory.append_run(&made(0)).expect("appended");
    fs::write(path.join("notes.txt"), "mine").expect("writes");
    let error = refused(path, Existing::Replace);
    assert!(error.message.contains("another laxity is writing"), "{error}");
    drop(directory);
    let error = refused(path, Existing::Refuse);
    assert!(error.message.contains("already holds results"), "{error}");
    assert_eq!(error.failure, Failure::Usage);
    assert_eq!(state(&load(path).expect("untouched"))[0], (0, 3, true));
    let replacing =
        ResultsDirectory::create(path, manifest(vec![planned(0)]), Existing::Replace).expect("begun");
    assert_eq!(state(&load(path).expect("untouched"))[0], (0, 3, true));
    let finished = replacing.finish().expect("replaced");
    assert_eq!(finished.path(), path);
    assert_eq!(state(&load(path).expect("loads")), [(0, 0, false)]);
    assert_eq!(names(path), ["SHA256SUMS", "jobs.parquet", "manifest.json", "notes.txt"]);
    let error = refused(path, Existing::Replace);
    assert!(error.message.contains("another laxity is writing"), "the results are still this one's: {error}");
}

#[test]
fn what_is_no_results_directory_is_refused_with_the_reason() {
    let home = tempfile::tempdir().expect("temporary directory");
    let path = home.path().join("r");
    let message = || {
        let error = load(&path).expect_err("must be refused");
        assert!(error.hint.is_some() && error.failure == Failure::Usage, "{error}");
        error.message
    };
    assert!(message().contains("not a results directory"));
    let mut directory = create(&path);
    directory.append_run(&made(0)).expect("appended");
    directory.finish().expect("finished");
    // As an earlier version has left it; what sums tell is in `kept_files.rs`.
    fs::remove_file(path.join("SHA256SUMS")).expect("removed");
    let (manifest, jobs) = (path.join("manifest.json"), path.join("jobs.parquet"));
    let (text, table) =
        (fs::read_to_string(&manifest).expect("readable"), fs::read(&jobs).expect("readable"));

    fs::write(&jobs, &table[..table.len() - 9]).expect("truncates");
    assert!(message().contains("jobs.parquet cannot be read"));
    fs::remove_file(&jobs).expect("removes");
    assert!(message().contains("jobs.parquet is missing"));
    fs::write(&jobs, table).expect("writes");
    for (wrong, why) in [
        ("", "is not JSON"),
        ("{}", "has no version"),
        ("{\"version\": 2}", "has version 2; this laxity reads version 1"),
        ("{\"version\": 1}", "is not a manifest"),
        (&text.replacen("\"id\": 0", "\"id\": 8", 1), "has jobs of run 0, which manifest.json does not list"),
    ] {
        fs::write(&manifest, wrong).expect("writes");
        assert!(message().contains(why), "{why}: {}", message());
    }
}

/// A file where the directory should be fails for root, too.
#[test]
fn a_place_that_cannot_be_written_is_named() {
    let home = tempfile::tempdir().expect("temporary directory");
    let file = home.path().join("file");
    fs::write(&file, "").expect("writes");
    assert_eq!(refused(&file, Existing::Replace).failure, Failure::Usage);
    assert_eq!(refused(&file.join("below"), Existing::Refuse).failure, Failure::Environment);

    let path = home.path().join("r");
    let mut directory = create(&path);
    directory.append_run(&made(0)).expect("appended");
    fs::rename(path.join("jobs.parts"), path.join("moved")).expect("renames");
    let error = directory.append_run(&made(1)).expect_err("no directory for parts");
    assert!(error.message.contains("run-1.parquet"), "{error}");
    assert!(error.message.contains("the run finished before is kept"), "{error}");
    assert_eq!(state(directory.manifest())[1], (1, 0, false));
}

/// A tmpfs that is unmounted when the test ends, however it ends.
struct TinyDisk {
    home: tempfile::TempDir,
}

impl TinyDisk {
    /// Nothing where mounting is not allowed: the test says so and does not run.
    fn mount(size: &str) -> Option<TinyDisk> {
        let home = tempfile::tempdir().expect("temporary directory");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(home.path())
            .output();
        let why = match mount {
            Ok(output) if output.status.success() => return Some(TinyDisk { home }),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
            Err(error) => error.to_string(),
        };
        eprintln!("SKIPPED: a full disk needs root and mount: {why}");
        None
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.home.path()).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} is still mounted", self.home.path().display());
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_measured() {
    let Some(disk) = TinyDisk::mount("256k") else { return };
    let path = disk.home.path().join("r");
    let mut directory = create(&path);
    // Times without a pattern, so that they take room: 20 000 jobs do not fit, 100 do.
    let many = |id, count: u64| {
        let mixed = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let noise = |k: u64| mixed(mixed(k) ^ (mixed(k) >> 29)) >> 2;
        let jobs = (0..count).map(|k| Job {
            deadline_ns: noise(k),
            cpu_time_ns: Some(noise(k + 1)),
            ..job(0, u32::try_from(k).expect("small"), 0, 0, Some(1))
        });
        Run { jobs: jobs.collect(), ..planned(id) }
    };
    directory.append_run(&many(0, 100)).expect("fits");
    let error = directory.append_run(&many(1, 20_000)).expect_err("does not fit");
    assert_eq!(error.failure, Failure::Environment);
    assert!(error.message.contains("run-1.parquet: the disk is full"), "{error}");
    assert!(error.message.contains("the run finished before is kept in"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("laxity report")));
    // What is left of the failure takes no room; smaller runs still fit.
    assert_eq!(names(&path.join("jobs.parts")), ["SHA256SUMS", "run-0.parquet"]);
    directory.append_run(&many(2, 100)).expect("fits");

    // No room for the table: finishing fails, everything is still there, and works once there is room.
    let ballast = disk.home.path().join("ballast");
    let filled = fs::write(&ballast, vec![1u8; 1 << 20]);
    assert!(filled.is_err(), "the disk is larger than it should be");
    let error = directory.finish().expect_err("no room");
    assert!(error.message.contains("the disk is full") && error.message.contains("2 runs"), "{error}");
    let expected = [(0, 100, true), (1, 0, false), (2, 100, true)];
    assert_eq!(state(&load(&path).expect("loads")), expected);
    fs::remove_file(&ballast).expect("removes");
    ResultsDirectory::reopen(&path).expect("reopens").finish().expect("finishes");
    assert_eq!(state(&load(&path).expect("loads")), expected);
    assert_eq!(names(&path), ["SHA256SUMS", "jobs.parquet", "manifest.json"]);

    let full = disk.home.path().join("full");
    assert!(fs::write(&ballast, vec![1u8; 1 << 20]).is_err());
    let error =
        ResultsDirectory::create(&full, manifest(vec![planned(0)]), Existing::Refuse).expect_err("no room");
    assert!(error.message.contains("the disk is full") && error.message.contains("full"), "{error}");
}

laxity_seeds::properties! {
    #![cases(16)]
    #[test]
    fn any_runs_come_back(runs in proptest::collection::vec(proptest::collection::vec(any_job(), 0..20), 1..5)) {
        let home = tempfile::tempdir().expect("temporary directory");
        let path = home.path().join("r");
        let runs: Vec<Run> = (0..).zip(runs).map(|(id, jobs)| Run { jobs, ..planned(id) }).collect();
        let mut directory = ResultsDirectory::create(&path, manifest(runs.clone()), Existing::Refuse).expect("created");
        for run in &runs {
            directory.append_run(run).expect("appended");
        }
        // In the order of the table: by task, then number.
        let mut runs = runs;
        runs.iter_mut().for_each(|run| run.jobs.sort_by_key(|job| (job.task, job.index)));
        prop_assert_eq!(&load(&path).expect("loads").runs, &runs);
        directory.finish().expect("finished");
        prop_assert_eq!(&load(&path).expect("loads").runs, &runs);
    }
}
