//! Whole studies: by hand, from files that are wrong, and the same whatever the threads.

use laxity_analysis::Guarantee;
use laxity_study::{
    ACCEPTED, Changes, ComputedPoints, Judging, NEVER, NOT_APPLICABLE, OUT_OF_WORK, Point, Progress, Proofs,
    Sampler, Study, compute,
};
use std::path::{Path, PathBuf};

fn study(text: &str) -> Study {
    Study::from_text(text, "test", Path::new("")).expect("a study")
}

fn proofs(study: &Study) -> &Proofs {
    study.proofs().expect("a schedulability study")
}

fn computed(study: &Study, threads: usize) -> ComputedPoints {
    let directory = tempfile::tempdir().expect("a directory");
    let done = compute(study, directory.path(), threads, &NEVER, &Progress::default());
    let done = done.expect("no error");
    assert!(done.complete);
    done
}

/// How many sets a curve accepts at the values of the axis.
fn accepted(study: &Study, done: &ComputedPoints, curve: &str, guarantee: Guarantee) -> Vec<u64> {
    let proofs = proofs(study);
    let curve = proofs.curves.iter().position(|known| known.name == curve).expect("a curve");
    let series = proofs.series_of(curve, guarantee).expect("a series");
    done.points.values().map(|tally| tally.series[series].count(ACCEPTED)).collect()
}

/// All tasks are (5 ms, 10 ms) on two processors.
const HALVES: &str = r#"
version = 1
title = "halves"
sets = 3
guarantees = ["hard", "soft"]
[platform]
processors = 2
[axis]
of = "tasks"
from = 1
to = 6
step = 1
[generator]
name = "unc"
utilizations = "uniform:0.5,0.5"
periods = "uniform:10ms,10ms"
"#;

#[test]
fn a_study_of_halves_by_hand() {
    let directory = tempfile::tempdir().expect("a directory");
    // sch = 0.5 ms: C' = 5 + 2 * 0.5 = 6 ms. With cxs = 2.5 ms besides, C' = 5 + 2 * 3 = 11 > 10 ms.
    std::fs::write(directory.path().join("some.csv"), "TASK-COUNT, SCHEDULE\n1, 500\n").expect("writes");
    std::fs::write(directory.path().join("most.csv"), "TASK-COUNT, SCHEDULE, CXS\n1, 500, 2500\n")
        .expect("writes");
    let curves = r#"
[[curves]]
name = "GFB"
scheduler = "g-edf"
tests = ["gfb"]
guarantees = ["hard"]
[[curves]]
scheduler = "g-edf"
guarantees = ["soft"]
[[curves]]
scheduler = "p-edf"
[[curves]]
scheduler = "gsn-edf-di"
[[curves]]
name = "some"
scheduler = "p-edf"
placement = "wfd"
overheads = "some.csv"
[[curves]]
name = "most for hard"
scheduler = "p-edf"
placement = "wfd"
overheads_soft = "some.csv"
overheads_hard = "most.csv"
[[curves]]
name = "any"
scheduler = "fpp"
guarantees = ["soft"]
[[curves]]
scheduler = "pfair:aligned"
guarantees = ["hard"]
[[curves]]
name = "long quanta"
scheduler = "pfair:aligned"
guarantees = ["hard"]
tick_period = "2ms"
"#;
    let text = format!("{HALVES}{curves}");
    let study = Study::from_text(&text, "halves", directory.path()).expect("a study");
    let done = computed(&study, 2);
    let hard = |curve| accepted(&study, &done, curve, Guarantee::Hard);
    let soft = |curve| accepted(&study, &done, curve, Guarantee::Soft);
    // GFB: n/2 <= 2 - 1/2.
    assert_eq!(hard("GFB"), [3, 3, 3, 0, 0, 0]);
    // Bounded tardiness: n/2 <= 2.
    assert_eq!(soft("g-edf"), [3, 3, 3, 3, 0, 0]);
    assert_eq!(soft("any"), [3, 3, 3, 3, 0, 0]);
    // Two tasks fill a processor.
    assert_eq!(hard("p-edf"), [3, 3, 3, 3, 0, 0]);
    assert_eq!(soft("p-edf"), [3, 3, 3, 3, 0, 0]);
    // One processor is left.
    assert_eq!(hard("gsn-edf-di"), [3, 3, 0, 0, 0, 0]);
    // 5 quanta of 1 ms fill two processors four times; 3 of 2 ms are 6 of 10 ms.
    assert_eq!(hard("pfair:aligned"), [3, 3, 3, 3, 0, 0]);
    assert_eq!(hard("long quanta"), [3, 3, 3, 0, 0, 0]);
    let of_quanta = |words: &String| words.starts_with("long quanta");
    let words = proofs(&study).series_in_words(&study.outline.axis).into_iter().find(of_quanta);
    assert_eq!(
        words.as_deref(),
        Some("long quanta, hard: pfair:aligned; quanta of 2ms; scheduling costs nothing.")
    );
    // 6 ms of 10 ms: one task on each of two processors.
    assert_eq!(hard("some"), [3, 3, 0, 0, 0, 0]);
    assert_eq!((hard("most for hard"), soft("most for hard")), (vec![0; 6], vec![3, 3, 0, 0, 0, 0]));
    for (at, tally) in done.points.values().enumerate() {
        let own = &tally.series[0];
        assert!((own.mean_utilization().expect("sets") - (at + 1) as f64 / 2.0).abs() < 1e-9);
        assert!((own.mean_tasks().expect("sets") - (at + 1) as f64).abs() < 1e-9);
    }
    // Weighted: (1 + 2 + 3)/2 of (1 + ... + 6)/2.
    let series = proofs(&study).series_of(0, Guarantee::Hard).expect("a series");
    let own = done.points.values().map(|tally| &tally.series[series]);
    let weighted = laxity_study::weighted_schedulability(own, ACCEPTED).expect("there is load");
    assert!((weighted - 6.0 / 21.0).abs() < 1e-9, "{weighted}");
    let csv = study.table(&done.points).csv();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "guarantee,curve,scheduler,axis,value,sets,accepted,out_of_work,not_applicable,acceptance,mean_tasks,mean_utilization,weighted"
        )
    );
    assert_eq!(lines.next(), Some("hard,GFB,g-edf,tasks,1,3,3,0,0,1,1,0.5,1"));
    assert_eq!(csv.lines().count(), 1 + 13 * 6, "seven hard and six soft curves");
}

const RANDOM: &str = r#"
version = 1
title = "random"
seed = 11
sets = 40
guarantees = ["hard", "soft"]
[platform]
processors = 4
cluster = 2
[axis]
of = "utilization"
from = 0
to = "m"
step = "0.5m"
refine = { depth = 3 }
[generator]
name = "unc"
[matrix]
periods = ["uni-short", "log-uniform:10ms,100ms"]
utilizations = ["uni-medium", "bimo-heavy"]
[[curves]]
scheduler = "g-edf"
[[curves]]
name = "one less"
scheduler = "gsn-edf-di"
[[curves]]
scheduler = "c-edf-bh"
[[curves]]
scheduler = "p-rm"
"#;

#[test]
fn threads_show_nowhere() {
    let study = study(RANDOM);
    let one = computed(&study, 1);
    let table = study.table(&one.points);
    assert!(table.rows() > 4 * 8 * 5);
    for threads in [2, 5] {
        let other = computed(&study, threads);
        assert_eq!(other, one);
        let again = study.table(&other.points);
        assert_eq!(
            (again.csv(), again.parquet().expect("writes")),
            (table.csv(), table.parquet().expect("writes"))
        );
    }
}

#[test]
fn what_is_proven_implies_what_is_weaker() {
    let study = study(RANDOM);
    let done = computed(&study, 2);
    let of = |curve, guarantee| accepted(&study, &done, curve, guarantee);
    let mut seen = [false; 2];
    for (weaker, stronger) in [
        (of("g-edf", Guarantee::Soft), of("g-edf", Guarantee::Hard)),
        (of("p-rm", Guarantee::Soft), of("p-rm", Guarantee::Hard)),
        (of("g-edf", Guarantee::Soft), of("one less", Guarantee::Soft)),
    ] {
        assert!(weaker.iter().zip(&stronger).all(|(weaker, stronger)| weaker >= stronger));
        seen[0] |= weaker != stronger;
        seen[1] |= stronger.iter().any(|&accepted| accepted > 0);
    }
    assert_eq!(seen, [true; 2], "the comparison compares something");
    // The set without tasks.
    for (point, tally) in &done.points {
        let mean = tally.series[0].mean_utilization().expect("sets");
        assert_eq!(point.value == 0, tally.series[0].mean_tasks() == Some(0.0), "{point:?}");
        assert!(point.value > 0 || tally.series.iter().all(|own| own.count(ACCEPTED) == 40));
        let cap = study.outline.axis.position(point.value);
        assert!(mean <= cap && (cap < 2.0 || mean > cap / 2.0));
    }
}

#[test]
fn a_set_is_a_function_of_seed_family_point_and_number() {
    let base = study(RANDOM);
    let tasks = |study: &Study, family: usize, value: u64, index: u64| {
        study.sampler(Point { family, value }, &NEVER).expect("prepares").tasks(index).expect("a set")
    };
    let at = 1_500_000_000;
    let reference = tasks(&base, 3, at, 7);
    let other_axis = RANDOM.replace("step = \"0.5m\"", "step = 0.25").replace("sets = 40", "sets = 3");
    let other_matrix =
        other_axis.replace("[\"uni-short\", \"log", "[\"log").replace("[\"uni-medium\", \"bimo", "[\"bimo");
    assert_eq!(tasks(&study(&other_axis), 3, at, 7), reference, "not of the axis or the number of sets");
    assert_eq!(tasks(&study(&other_matrix), 0, at, 7), reference, "not of the other families");
    for (study, family, value, index) in [
        (study(&RANDOM.replace("seed = 11", "seed = 12")), 3, at, 7),
        (study(RANDOM), 2, at, 7),
        (study(RANDOM), 3, at + 1, 7),
        (study(RANDOM), 3, at, 8),
    ] {
        assert_ne!(tasks(&study, family, value, index), reference);
    }
}

#[test]
fn steps_that_are_not_enough_are_counted_and_what_no_test_is_for() {
    let few = RANDOM
        .replace("seed = 11", "seed = 11\nsteps = 1")
        .replace("scheduler = \"p-rm\"", "scheduler = \"p-rm\"\n[[curves]]\nscheduler = \"fpp:fp\"");
    let study = study(&few);
    let done = computed(&study, 2);
    let count = |curve: usize, metric: usize| {
        let series = proofs(&study).series_of(curve, Guarantee::Hard).expect("a series");
        done.points
            .iter()
            // Below U = 1 there are sets without tasks.
            .filter(|(point, _)| point.value >= 1_000_000_000)
            .map(|(_, tally)| tally.series[series].count(metric))
            .sum::<u64>()
    };
    assert!(count(0, OUT_OF_WORK) > 100);
    assert_eq!(count(4, ACCEPTED) + count(4, OUT_OF_WORK), 0);
    assert!(count(4, NOT_APPLICABLE) > 100, "priorities are not given");
}

#[test]
fn the_number_of_processors_may_vary_and_the_rest_with_it() {
    let text = r#"
version = 1
title = "processors"
sets = 2
[axis]
of = "processors"
from = 2
to = 6
step = 2
[generator]
name = "emberson"
tasks = "3m"
utilization = "0.5m"
[[curves]]
scheduler = "gsn-edf-di"
"#;
    let study = study(text);
    for value in [2, 4, 6] {
        let sampler = study.sampler(Point { family: 0, value }, &NEVER).expect("prepares");
        let judged = sampler.judge(0, 0..study.series()).expect("a set");
        assert_eq!(judged.tasks, 3 * value);
        let utilization = judged.utilization_q32 as f64 / (1_u64 << 32) as f64;
        assert!((utilization - value as f64 / 2.0).abs() < 0.01, "{utilization}");
    }
}

/// The values of the axis may be listed, and totals capped: both may be multiples of m.
#[test]
fn listed_values_are_looked_at_and_nothing_else() {
    let text = HALVES
        .replace("from = 1\nto = 6\nstep = 1", "values = [1, \"m\", 5]")
        .replace("name = \"unc\"", "name = \"unc\"\nrescale-above = \"0.5m\"");
    let study = study(&format!("{text}[[curves]]\nscheduler = \"p-edf\"\n"));
    let done = computed(&study, 2);
    assert_eq!(done.points.keys().map(|point| point.value).collect::<Vec<_>>(), [1, 2, 5]);
    // All of them ask for no more than one of the two CPUs.
    assert_eq!(accepted(&study, &done, "p-edf", Guarantee::Hard), [3, 3, 3]);
    let load: Vec<Option<f64>> =
        done.points.values().map(|tally| tally.series[0].mean_utilization()).collect();
    assert!(load[0] == Some(0.5) && load[1] == Some(1.0), "{load:?}");
    assert!(load[2].is_some_and(|load| load <= 1.0 && load > 0.999), "{load:?}");
}

#[test]
fn what_makes_no_study_is_refused_with_a_way_out() {
    let base = format!("{HALVES}[[curves]]\nscheduler = \"g-edf\"\n");
    for (from, to, part) in [
        ("version = 1", "version = 2", "study version 2 is not known"),
        ("title = \"halves\"", "titel = \"halves\"", "`titel` is not known here"),
        ("sets = 3", "sets = 0", "sets = 0 is not between 1 and 1000000"),
        ("sets = 3", "sets = 3\nsteps = 0", "steps = 0"),
        ("sets = 3", "sets = 3\nname = \"../up\"", "name `../up`"),
        ("\"hard\", \"soft\"", "", "there is at least one"),
        ("\"hard\", \"soft\"", "\"hard\", \"hard\"", "named once"),
        ("\"hard\", \"soft\"", "\"firm\"", "`firm` is not known here"),
        ("processors = 2", "", "`processors` is missing"),
        ("processors = 2", "processors = 0", "m = 0"),
        ("processors = 2", "processors = 2\ncluster = 0", "`cluster` is 0"),
        ("processors = 2", "processors = 2\ncluster = 4", "do not divide m = 2"),
        ("of = \"tasks\"", "of = \"processors\"", "also what varies"),
        ("of = \"tasks\"", "of = \"jobs\"", "`jobs` is not known here"),
        ("of = \"tasks\"", "of = \"overrun\"", "which no test looks at"),
        ("to = 6", "to = 0", "there are no values"),
        ("to = 6", "to = \"six\"", "neither a number nor a multiple of m"),
        ("to = 6\nstep = 1", "to = 100001\nstep = 50000", "tasks 100001 is not within 1 to 100000"),
        ("step = 1", "step = 0", "step is 0"),
        ("step = 1", "step = 1\nvalues = [1]", "`values` are given, and also `from`, `to` or `step`"),
        ("step = 1\n", "", "`step` is missing"),
        ("from = 1\nto = 6\nstep = 1", "values = []", "values: there are none"),
        ("from = 1\nto = 6\nstep = 1", "values = [1, 4, 3]", "values: 4 stands before 3"),
        ("from = 1\nto = 6\nstep = 1", "values = [1, \"many\"]", "neither a number nor a multiple of m"),
        ("from = 1\nto = 6\nstep = 1", "values = [1, 100001]", "tasks 100001 is not within 1 to 100000"),
        ("from = 1\nto = 6\nstep = 1", "values = [1]\nrefine = { depth = 2 }", "all that there are"),
        (
            "name = \"unc\"",
            "name = \"unc\"\nrescale-above = \"half\"",
            "neither a number nor a multiple of m",
        ),
        ("\"g-edf\"", "\"fpp\"\nbatching = true", "`batching` is of studies of kind = \"simulation\""),
        ("step = 1", "step = 1\nrefine = { depth = 17 }", "depth = 17 is above 16"),
        ("step = 1", "step = 1\nrefine = { depth = 2, precision = 0 }", "precision = 0"),
        ("name = \"unc\"", "name = \"und\"", "generator `und` is not known"),
        ("name = \"unc\"\n", "", "`name` is missing"),
        ("uniform:0.5,0.5", "uni-feather", "`uni-feather` are not a known distribution"),
        ("uniform:0.5,0.5", "uniform:0.5,1.5", "not within 0 to 1"),
        ("name = \"unc\"", "name = \"unc\"\ntasks = 4", "`tasks` is given, and also what varies"),
        ("name = \"unc\"", "name = \"unc\"\ncolour = 4", "has no parameter `colour`"),
        (
            "[[curves]]",
            "[matrix]\nperiods = [\"uni-long\"]\n[[curves]]",
            "in the generator and in the matrix",
        ),
        ("[[curves]]", "[matrix]\nwss = []\n[[curves]]", "has no values"),
        ("[[curves]]", "[matrix]\nwss = [\"1KiB\", \"1KiB\"]\n[[curves]]", "twice"),
        ("\"g-edf\"", "\"g-rdf\"", "scheduler `g-rdf` is not known"),
        ("\"g-edf\"", "\"p-edf\"\nplacement = \"ilp\"", "can search for seconds"),
        ("\"g-edf\"", "\"p-edf\"\nplacement = \"best\"", "placement `best`"),
        ("\"g-edf\"", "\"p-gsn-edf-di\"", "leaves none for tasks"),
        ("\"g-edf\"", "\"g-edf\"\ntests = [\"gbf\"]", "test `gbf` is not known"),
        ("\"g-edf\"", "\"g-edf\"\ntests = [\"fp-rta\"]", "not for the priorities of g-edf"),
        ("\"g-edf\"", "\"g-edf\"\noverheads = \"none.csv\"", "none.csv: no such file"),
        ("\"g-edf\"", "\"g-edf\"\ntick_period = \"1ms\"", "without `overheads`"),
        ("\"g-edf\"", "\"g-edf\"\nshared_cache = 3", "without `cache_delays`"),
        ("\"g-edf\"", "\"g-edf\"\n[[curves]]\nscheduler = \"g-edf\"", "`g-edf` is there twice"),
    ] {
        let text = base.replace(from, to);
        assert_ne!(text, base, "{from}");
        let error = Study::from_text(&text, "test", Path::new("")).expect_err(part);
        assert!(error.message.contains(part), "{part}: {error}");
        assert!(error.hint.is_some() && error.failure.exit_code() == 2, "{error}");
    }
    let one = base.replace("processors = 2", "processors = 1").replace("\"g-edf\"", "\"g-edf-mp\"");
    let error = Study::from_text(&one, "test", Path::new("")).expect_err("m - 1 = 0");
    assert!(error.message.contains("dedicates one CPU"), "{error}");
    let unused = base.replace("[\"hard\", \"soft\"]", "[\"hard\"]") + "guarantees = [\"soft\"]\n";
    let error = Study::from_text(&unused, "test", Path::new("")).expect_err("no guarantee");
    assert!(error.message.contains("for none of the study's guarantees"), "{error}");
    let empty = HALVES.replacen("version = 1", "curves = []\nversion = 1", 1);
    let error = Study::from_text(&empty, "test", Path::new("")).expect_err("no curves");
    assert!(error.message.contains("no curves"), "{error}");
}

#[test]
fn a_curve_that_would_not_be_what_its_file_says_is_refused() {
    let read = |head: &str, curve: &str| {
        let text = format!("{head}\n[[curves]]\nname = \"GFB\"\nscheduler = {curve}\n");
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("some.csv"), "TASK-COUNT, SCHEDULE\n1, 500\n").expect("writes");
        Study::from_text(&text, "test", directory.path())
    };
    let guarantees = |list: &str| HALVES.replace("[\"hard\", \"soft\"]", list);
    let (both, hard, soft) = (HALVES.to_owned(), guarantees("[\"hard\"]"), guarantees("[\"soft\"]"));
    let clusters = HALVES.replace("processors = 2", "processors = 4\ncluster = 2");
    let one_cluster = HALVES.replace("processors = 2", "processors = 4\ncluster = 4");
    for (head, curve, part) in [
        (
            &soft,
            "\"g-edf\"\ntests = [\"gfb\"]",
            "test `gfb` proves hard guarantees, for which the curve is not drawn",
        ),
        (&soft, "\"g-edf\"\ntests = [\"devi-anderson\", \"gfb\"]", "test `gfb` proves hard guarantees"),
        (&hard, "\"g-edf\"\ntests = [\"devi-anderson\"]", "test `devi-anderson` proves soft guarantees"),
        (&both, "\"g-edf\"\ntests = [\"gfb\"]\nguarantees = [\"soft\"]", "test `gfb` proves hard guarantees"),
        (&both, "\"g-edf\"\ntests = [\"gfb\", \"rta\"]", "none of its tests proves soft guarantees"),
        (&both, "\"g-edf\"\ntests = [\"devi-anderson\"]", "none of its tests proves hard guarantees"),
        (&hard, "\"g-edf\"\nguarantees = [\"hard\", \"soft\"]", "for soft guarantees, too, which the study"),
        (&soft, "\"g-edf\"\noverheads_hard = \"some.csv\"", "`overheads_hard` is for hard guarantees"),
        (
            &both,
            "\"g-edf\"\nguarantees = [\"hard\"]\noverheads_soft = \"some.csv\"",
            "`overheads_soft` is for soft",
        ),
        (&both, "\"fpp\"\ndisplacements = \"counted\"", "fpp pushes no jobs"),
        (&both, "\"g-edf\"\ndisplacements = \"ignored\"", "`displacements` is given without `overheads`"),
        (&both, "\"g-edf\"\nplacement = \"wfd\"", "g-edf is global: nothing is placed"),
        (&both, "\"fpp\"\nfit = \"utilization\"", "fpp is global: nothing is placed"),
        (&both, "\"c-edf\"\nplacement = \"wfd\"", "c-edf has all CPUs in one cluster"),
        (&one_cluster, "\"c-edf\"\nfit = \"density\"", "c-edf has all CPUs in one cluster"),
    ] {
        let error = read(head, curve).expect_err(part);
        assert!(error.message.starts_with("curve `GFB`: "), "{error}");
        assert!(error.message.contains(part), "{part}: {error}");
        assert!(error.hint.is_some() && error.failure.exit_code() == 2, "{error}");
    }
    for (head, curve) in [
        (&both, "\"g-edf\"\ntests = [\"gfb\", \"devi-anderson\"]"),
        (&both, "\"g-edf\"\ntests = [\"gfb\"]\nguarantees = [\"hard\"]"),
        (&soft, "\"g-edf\"\ntests = [\"devi-anderson\"]\noverheads_soft = \"some.csv\""),
        (&both, "\"c-edf\""),
        (&clusters, "\"c-edf\"\nplacement = \"wfd\"\nfit = \"utilization\""),
        (&both, "\"p-edf\"\nplacement = \"wfd\""),
    ] {
        read(head, curve).unwrap_or_else(|error| panic!("{curve}: {error}"));
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_papers_studies_read_and_are_as_their_schema_says() {
    let validator = jsonschema::validator_for(&laxity_study::study_schema()).expect("a schema");
    let mut read = 0;
    for entry in std::fs::read_dir(root().join("studies")).expect("studies") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("reads");
        let document: serde_json::Value = toml::from_str(&text).expect("TOML");
        let study = Study::read(&path, Changes::default()).expect("a study");
        match &study.judging {
            Judging::Proofs(_) => assert_eq!(study.outline.sets, 1_000, "as in the papers"),
            Judging::Simulations(_) => {
                // So that they can be run in minutes.
                let is_of_runs = study.outline.name == "lindsay2012-two-cores";
                assert!(study.outline.sets >= 25 || is_of_runs, "as in the papers");
            }
        }
        assert!(
            validator.is_valid(&document),
            "{}: {:?}",
            path.display(),
            validator.iter_errors(&document).next()
        );
        read += 1;
    }
    assert!(read >= 3);
    let ackelman =
        Study::read(&root().join("studies/ackelman2018.toml"), Changes::default()).expect("a study");
    let proofs = proofs(&ackelman);
    assert_eq!((ackelman.outline.families.len(), proofs.guarantees.len(), proofs.curves.len()), (18, 2, 5));
}

/// What reading refuses as a key of the other kind, the schema refuses, too.
#[test]
fn keys_of_the_other_kind_are_refused_by_reader_and_schema() {
    let validator = jsonschema::validator_for(&laxity_study::study_schema()).expect("a schema");
    let proofs = format!("{HALVES}[[curves]]\nscheduler = \"p-edf\"\n");
    let simulation = proofs
        .replace("version = 1", "version = 1\nkind = \"simulation\"\nduration = \"40ms\"")
        .replace("guarantees = [\"hard\", \"soft\"]\n", "");
    for (base, from, to, part) in [
        (&proofs, "sets = 3", "sets = 3", ""),
        (&proofs, "version = 1", "version = 1\nkind = \"schedulability\"", ""),
        (&simulation, "sets = 3", "sets = 3", ""),
        (
            &proofs,
            "sets = 3",
            "sets = 3\nduration = \"1s\"",
            "`duration` is of studies of kind = \"simulation\"",
        ),
        (&proofs, "sets = 3", "sets = 3\nmetrics = [\"dsr\"]", "`metrics` is of studies of kind"),
        (&proofs, "processors = 2", "name = \"four-cores\"", "platform: `name` is of studies of kind"),
        (
            &proofs,
            "\"p-edf\"",
            "\"p-edf\"\noverload = \"refuse\"",
            "curve 1: `overload` is of studies of kind",
        ),
        (
            &simulation,
            "sets = 3",
            "sets = 3\nsteps = 4",
            "`steps` is of studies of kind = \"schedulability\"",
        ),
        (
            &simulation,
            "processors = 2",
            "processors = 2\ncluster = 1",
            "platform: `cluster` is of studies of kind",
        ),
        (
            &simulation,
            "\"p-edf\"",
            "\"p-edf\"\nname = \"x\"\ntests = [\"rta\"]",
            "curve `x`: `tests` is of studies",
        ),
        (&simulation, "duration = \"40ms\"\n", "", "`duration` is missing"),
        (&simulation, "\"simulation\"", "\"emulation\"", "kind `emulation` is not known"),
    ] {
        let text = base.replace(from, to);
        let document: serde_json::Value = toml::from_str(&text).expect("TOML");
        let read = Study::from_text(&text, "test", Path::new(""));
        assert_eq!(validator.is_valid(&document), part.is_empty(), "the schema: {part}\n{text}");
        match read {
            Ok(_) => assert!(part.is_empty(), "{part}"),
            Err(error) => {
                assert!(!part.is_empty() && error.message.contains(part), "{part}: {error}");
                assert!(error.hint.is_some() && error.failure.exit_code() == 2, "{error}");
            }
        }
    }
}

/// After a deliberate change: `LAXITY_BLESS=1 cargo test -p laxity-study --test studies`.
#[test]
fn the_published_schemas_are_those_of_the_code() {
    for (name, schema) in [
        ("study.schema.json", laxity_study::study_schema()),
        ("study-schedulability.schema.json", laxity_study::proofs_answer_schema()),
        ("study-simulation.schema.json", laxity_study::simulation_answer_schema()),
    ] {
        let path = root().join("schemas").join(name);
        let text = serde_json::to_string_pretty(&schema).expect("serializes") + "\n";
        if std::env::var_os("LAXITY_BLESS").is_some() {
            std::fs::write(&path, &text).expect("writes the schema");
        }
        let published = std::fs::read_to_string(&path).expect("the schema is published");
        assert!(published == text, "{name} differs from the code; LAXITY_BLESS=1 rewrites it");
    }
}

#[test]
fn the_answer_is_as_its_schema_says_and_has_every_point() {
    let study = study(RANDOM);
    let done = computed(&study, 2);
    let answer = serde_json::to_value(study.answer(&done, None)).expect("serializes");
    let validator = jsonschema::validator_for(&laxity_study::proofs_answer_schema()).expect("a schema");
    assert!(validator.is_valid(&answer), "{:?}", validator.iter_errors(&answer).next());
    let families = answer["families"].as_array().expect("a list");
    assert_eq!(families.len(), 4);
    let points = |family: &serde_json::Value| family["series"][0]["points"].as_array().map_or(0, Vec::len);
    assert_eq!(families.iter().map(points).sum::<usize>(), done.points.len());
    assert_eq!(families[2]["parameters"]["periods"], "log-uniform:10ms,100ms");
    let last =
        families[0]["series"][0]["points"].as_array().and_then(|points| points.last()).expect("a point");
    assert_eq!((last["value"].as_f64(), last["sets"].as_u64()), (Some(4.0), Some(40)));
}
