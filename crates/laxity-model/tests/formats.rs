//! Task sets and platforms in TOML and JSON: what is written reads back, the published schemas are those of
//! the code, the examples obey them, and what they refuse the readers refuse too.

use laxity_model::*;
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files of a folder with this extension, by name.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join(folder)).expect("folder of the repository");
    let paths = entries.map(|entry| entry.expect("entry").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no .{extension} files in {folder}");
    paths
}

fn document(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("readable");
    match path.extension().and_then(|e| e.to_str()) {
        Some("toml") => toml::from_str(&text).expect("TOML"),
        _ => serde_json::from_str(&text).expect("JSON"),
    }
}

fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).expect("a valid schema");
    validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn published_schemas_are_those_of_the_code() {
    for (name, schema) in [("task-set", task_set_schema()), ("platform", platform_schema())] {
        let path = repository().join(format!("schemas/{name}.schema.json"));
        let current = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        if std::env::var_os("LAXITY_BLESS").is_some() {
            fs::write(&path, &current).expect("writable");
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            published, current,
            "{name} differs; run this test with LAXITY_BLESS=1 to publish the schema"
        );
    }
}

#[test]
fn examples_read_and_obey_the_schemas() {
    for path in files("examples", "toml").into_iter().chain(files("examples", "json")) {
        let set = read_task_set(&path).unwrap_or_else(|e| panic!("{e}")).set;
        assert_eq!(violations(&task_set_schema(), &document(&path)), [""; 0], "{}", path.display());
        assert_eq!(violations(&task_set_schema(), &set.to_json_value()), [""; 0], "{}", path.display());
        assert_eq!(Some(set.name()), path.file_stem().and_then(|stem| stem.to_str()));
    }
    for path in files("examples/platforms", "toml") {
        let platform = read_platform(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(violations(&platform_schema(), &document(&path)), [""; 0], "{}", path.display());
        assert_eq!(violations(&platform_schema(), &platform.to_json_value()), [""; 0], "{}", path.display());
        assert_eq!(Some(platform.name()), path.file_stem().and_then(|stem| stem.to_str()));
    }
    for path in files("examples", "csv") {
        let set = read_task_set(&path).unwrap_or_else(|e| panic!("{e}")).set;
        assert_eq!(TaskSet::from_csv(&set.to_csv().text, set.name()).map(|read| read.set), Ok(set));
    }
}

#[test]
fn the_opteron_of_lelli2012_has_eight_clusters_of_six() {
    let path = repository().join("examples/platforms/opteron-6168.toml");
    let platform = read_platform(&path).expect("valid");
    assert_eq!(platform.core_count(), 48);
    assert!(platform.clusters().len() == 8 && platform.clusters().iter().all(|cluster| cluster.len() == 6));
    let by_cache = Platform::new("x", platform.cores().to_vec(), platform.caches().to_vec(), vec![], None);
    assert_eq!(by_cache.expect("valid").clusters(), platform.clusters());
}

/// On some chips an L3, or the slice of it that a virtual machine is told of, is smaller than the L2; some CPUs have no L3 at all; lines
/// need not be alike.
#[test]
fn unusual_caches_are_read() {
    let text = "version = 1\ncores = 4\ncaches = [{level=1, kind='data', size='64KiB', line=64, cpus='0-1'}, \
                {level=2, kind='unified', size='40KiB', line=128, ways=5, cpus='2'}, \
                {level=2, kind='unified', size='2MiB', line=128, cpus='0-1'}, \
                {level=3, kind='unified', size='1MiB', line=64, cpus='0-1'}]";
    let platform = Platform::from_toml(text, "p").expect("such machines exist");
    assert_eq!(platform.caches().len(), 4);
}

#[test]
fn defaults_are_implicit_deadlines_no_phase_no_memory() {
    let text = r#"
        version = 1
        [[tasks]]
        wcet = "1ms"
        period = "5ms"
        [[tasks]]
        wcet = "1ms"
        min_interarrival = "5ms"
        deadline = "4ms"
        group = "g"
        working_set = { size = "16KiB", reads_to_writes = "0:1", access = "random" }
        [[tasks]]
        wcet = "1ms"
        period = "5ms"
        group = "g"
        shared = 100
        working_set = { size = 4096 }
        affinity = "0-1,3"
        kind = "best-effort"
        demand = "uniform:0.5,1"
    "#;
    let set = TaskSet::from_toml(text, "file").expect("valid");
    assert_eq!(set.name(), "file");
    let [a, b, c] = set.tasks() else { panic!("three tasks") };
    assert_eq!(*a, Task::periodic("T1", Duration::from_ms(1), Duration::from_ms(5)));
    assert_eq!(b.arrival, Arrival::Sporadic { min_interarrival: Duration::from_ms(5) });
    assert_eq!(b.deadline_rel, Duration::from_ms(4));
    assert_eq!(b.group, Some(Group { name: "g".into(), shared_bytes: 16_384 }));
    let walked = WorkingSet { size_bytes: 16_384, reads: 0, writes: 1, pattern: AccessPattern::Random };
    assert_eq!(b.working_set, walked);
    assert_eq!(c.group, Some(Group { name: "g".into(), shared_bytes: 100 }));
    assert_eq!(c.working_set, WorkingSet { size_bytes: 4096, ..WorkingSet::default() });
    assert_eq!((c.kind, c.demand), (TaskKind::BestEffort, Some(Demand::Uniform(500_000, 1_000_000))));
    assert_eq!(c.affinity, Some("0-1,3".parse().expect("valid")));
}

/// Documents that schema and reader refuse alike: (TOML, part of the message, part of the hint).
const WRONG_SETS: [(&str, &str, &str); 22] = [
    ("", "`version` is missing", "version = 1"),
    ("version = 2\ntasks = []\nnew = 1", "version 2 is not known", "version = 1"),
    (
        "version = \"1\"\ntasks = [{wcet='1ms',period='5ms'}]",
        "version: \"1\" is not a whole number",
        "schemas/task-set",
    ),
    ("version = 1", "`tasks` is missing", "schemas/task-set"),
    ("version = 1\ntasks = []", "task set is empty", "at least one task"),
    ("version = 1\ntasks = 3", "tasks: `3` is not a list", "schemas/task-set"),
    (
        "version = 1\n[[task]]\nwcet='1ms'",
        "line 2, column 3: `task` is not known here",
        "did you mean `tasks`",
    ),
    (
        "version = 1\n[[tasks]]\nname='a'\nwcet='1ms'\nperoid='5ms'",
        "line 5, column 1: task `a`: `peroid` is not known here",
        "did you mean `period`?",
    ),
    ("version = 1\n[[tasks]]\nname='a'\nperiod='5ms'", "task `a`: `wcet` is missing", "schemas/"),
    ("version = 1\n[[tasks]]\nwcet='1ms'", "task `T1`: neither period nor min_interarrival", "give `period`"),
    ("version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\nmin_interarrival='5ms'", "both period and", "keep"),
    ("version = 1\n[[tasks]]\nwcet=1\nperiod='5ms'", "line 3, column 6: task 1: wcet: `1` is not a time", ""),
    ("version = 1\n[[tasks]]\nwcet='1'\nperiod='5ms'", "task `T1`: wcet: time `1` has no unit", "10ms"),
    ("version = 1\n[[tasks]]\nwcet='-1ms'\nperiod='5ms'", "wcet: time `-1ms`", "unit"),
    (
        "version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5 hours'",
        "period: time `5 hours` has the unknown unit",
        "ns",
    ),
    ("version = 1\n[[tasks]]\nname=''\nwcet='1ms'\nperiod='5ms'", "empty name", "unique name"),
    (
        "version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\nkind='fast'",
        "`fast` is not known here",
        "real-time",
    ),
    (
        "version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\naffinity='all'",
        "task `T1`: affinity: CPU list `all`",
        "0-3,8",
    ),
    ("version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\nshared=1", "no group to share it with", "group"),
    (
        "version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\nworking_set={size='16'}",
        "working_set: size `16` has no unit",
        "KiB",
    ),
    (
        "version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\nworking_set={size=16,ratio='1:1'}",
        "`ratio` is not known here",
        "reads_to_writes",
    ),
    (
        "version = 1\n[[tasks]]\nwcet='1ms'\nperiod='5ms'\ndemand=0.8",
        "demand: `0.8` is not a demand in quotes",
        "",
    ),
];

/// Documents that only the reader refuses, because their rules lie outside a schema.
const IMPOSSIBLE_SETS: [(&str, &str); 9] = [
    ("wcet='0ms'\nperiod='5ms'", "wcet is 0"),
    ("wcet='6ms'\nperiod='5ms'", "exceeds deadline"),
    ("wcet='1ms'\nperiod='5ms'\ndeadline='500us'", "exceeds deadline 500us"),
    ("wcet='1ms'\nperiod='99999999999s'", "longer than 2^64 ns"),
    ("wcet='1.0000001ms'\nperiod='5ms'", "whole number of nanoseconds"),
    ("wcet='1ms'\nperiod='5ms'\naffinity=''", "affinity is empty"),
    ("wcet='1ms'\nperiod='5ms'\naffinity='9000'", "affinity: CPU list `9000`"),
    ("wcet='1ms'\nperiod='5ms'\ngroup='g'\nshared='1MiB'", "shares 1048576 bytes"),
    ("wcet='1ms'\nperiod='5ms'\nworking_set={size=1,reads_to_writes='0:0'}", "ratio of 0:0"),
];

#[test]
fn schema_and_reader_refuse_the_same_task_sets() {
    let schema = task_set_schema();
    for (text, message, hint) in WRONG_SETS {
        let error = TaskSet::from_toml(text, "s").expect_err(text);
        assert_eq!(error.failure, Failure::Usage);
        assert!(error.message.contains(message), "{text}\n{error}");
        assert!(error.hint.as_ref().is_some_and(|h| h.contains(hint)), "{text}\n{error}");
        let document: Value = toml::from_str(text).expect("TOML");
        assert!(!violations(&schema, &document).is_empty(), "the schema accepts\n{text}");
        assert!(TaskSet::from_json_value(&document, "s").is_err(), "{text}");
        assert!(TaskSet::from_json(&document.to_string(), "s").is_err(), "{text}");
    }
    for (task, message) in IMPOSSIBLE_SETS {
        let text = format!("version = 1\n[[tasks]]\n{task}");
        let error = TaskSet::from_toml(&text, "s").expect_err(task);
        assert!(error.message.contains(message) && error.hint.is_some(), "{task}\n{error}");
    }
}

#[test]
fn schema_and_reader_refuse_the_same_platforms() {
    let schema = platform_schema();
    for (text, message) in [
        ("", "`version` is missing"),
        ("version = 1", "`cores` is missing"),
        ("version = 1\ncores = 0", "cores: `0` is not a number of CPUs from 1 to 8192"),
        ("version = 1\ncores = 9000", "cores: `9000` is not a number of CPUs"),
        ("version = 1\ncores = []", "no CPUs"),
        ("version = 1\ncores = 'four'", "cores: \"four\" is not a number of CPUs"),
        ("version = 1\ncores = [{cpu=0, sped=1}]", "`sped` is not known here"),
        ("version = 1\ncores = [{cpu=9000}]", "CPU numbers end at 8191"),
        ("version = 1\ncores = [{cpu=0, speed=0}]", "CPU 0: CPU speed 0/1"),
        ("version = 1\ncores = [{cpu=0, speed='fast'}]", "CPU 0: CPU speed `fast`"),
        ("version = 1\ncores = 1\ncaches = [{level=1, kind='data', cpus='0'}]", "cache 1: `size` is missing"),
        (
            "version = 1\ncores = 1\ncaches = [{level=0, kind='data', size=1, cpus='0'}]",
            "cache 1: level is 0",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='1KiB', line=0, cpus='0'}]",
            "cache 1: line 0 is not a power of two",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='1KiB', line=64, ways=0, cpus='0'}]",
            "cache 1: ways is 0",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='trace', size=1, cpus='0'}]",
            "`trace` is not known here",
        ),
        ("version = 1\ncores = 1\nnuma = [{id=0}]", "`cpus` is missing"),
        ("version = 1\ncores = 2\nclusters = [0, 1]", "is not a list of CPUs in quotes"),
    ] {
        let error = Platform::from_toml(text, "p").expect_err(text);
        assert!(error.message.contains(message) && error.hint.is_some(), "{text}\n{error}");
        let document: Value = toml::from_str(text).expect("TOML");
        assert!(!violations(&schema, &document).is_empty(), "the schema accepts\n{text}");
        assert!(Platform::from_json_value(&document, "p").is_err(), "{text}");
    }
    for (text, message) in [
        ("version = 1\ncores = 2\nclusters = ['0']", "in no cluster: CPU 1"),
        ("version = 1\ncores = [{cpu=0},{cpu=0}]", "described twice"),
        (
            "version = 1\ncores = 1\nnuma = [{id=0,cpus='0'},{id=0,cpus='0'}]",
            "NUMA node 0 is described twice",
        ),
        ("version = 1\ncores = 1\ncaches = [{level=1, kind='data', size=1, cpus='0-1'}]", "names CPU 1"),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='0B', cpus='0'}]",
            "cache 1: size is 0",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='1KiB', line=48, cpus='0'}]",
            "cache 1: line 48 is not a power of two",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='100B', line=64, cpus='0'}]",
            "cache 1: size 100B is not a multiple of its line of 64 bytes",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='1KiB', line=64, ways=17, cpus='0'}]",
            "cache 1: 17 ways are more than the cache's 16 lines",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='1KiB', line=64, ways=3, cpus='0'}]",
            "cache 1: the cache's 16 lines are no whole number of sets of 3 ways",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=1, kind='data', size='1KiB', cpus=''}]",
            "cache 1: cpus is empty",
        ),
        (
            "version = 1\ncores = 1\ncaches = [{level=99, kind='data', size='1KiB', cpus='0'}]",
            "cache 1: level is 99, above 8",
        ),
        (
            "version = 1\ncores = 2\ncaches = [{level=2, kind='unified', size=1024, cpus='0-1'}, \
             {level=3, kind='unified', size=4096, cpus='0'}]",
            "cache 2: CPUs 1 share an L2 with others but not the L3 behind it",
        ),
        (
            "version = 1\ncores = 2\ncaches = [{level=3, kind='unified', size=4096, cpus='0'}, \
             {level=1, kind='instruction', size=1024, cpus='0-1'}]",
            "cache 2: CPUs 1 share an L1 with others but not the L3 behind it",
        ),
        (
            "version = 1\ncores = 3\ncaches = [{level=2, kind='unified', size=1024, cpus='0-1'}, \
             {level=2, kind='data', size=1024, cpus='1-2'}]",
            "cache 2: CPUs 1 have another L2 cache already",
        ),
        ("version = 1\ncores = [{cpu=0, speed=1e300}]", "not a fraction"),
        ("version = 1\ncores = [{cpu=0, speed=inf}]", "`inf` is not a speed"),
    ] {
        let error = Platform::from_toml(text, "p").expect_err(text);
        assert!(error.message.contains(message) && error.hint.is_some(), "{text}\n{error}");
    }
}

#[test]
fn documents_may_name_their_schema() {
    let document = serde_json::json!({ "$schema": "task-set.schema.json", "version": 1, "tasks": [{ "wcet": "1ms", "period": "5ms" }] });
    assert!(TaskSet::from_json_value(&document, "s").is_ok());
    assert_eq!(violations(&task_set_schema(), &document), [""; 0]);
    let document = serde_json::json!({ "$schema": "platform.schema.json", "version": 1, "cores": 2 });
    assert!(Platform::from_json_value(&document, "s").is_ok());
    assert_eq!(violations(&platform_schema(), &document), [""; 0]);
}

#[test]
fn syntax_errors_have_line_and_column() {
    let error = TaskSet::from_toml("version = 1\n[[tasks]\n", "s").expect_err("not TOML");
    assert!(error.message.starts_with("line 2, column"), "{error}");
    let error = TaskSet::from_json("{\"version\": 1,\n \"tasks\": [}", "s").expect_err("not JSON");
    assert!(error.message.starts_with("line 2, column 12: a value belongs here"), "{error}");
    let nested = "[".repeat(100_000);
    assert!(TaskSet::from_json(&nested, "s").is_err());
    assert!(TaskSet::from_toml(&format!("a = {nested}"), "s").is_err());
}

#[test]
fn lists_past_the_limit_are_refused_while_they_are_read() {
    let task = "{\"wcet\":\"1ms\",\"period\":\"5ms\"}";
    let text = format!("{{\"version\":1,\"tasks\":[{}]}}", vec![task; TASKS_MAX + 1].join(","));
    let error = TaskSet::from_json(&text, "s").expect_err("too many");
    assert!(error.message.contains("more than 100000 entries"), "{error}");
}

#[test]
fn unreadable_files_say_why() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let message = |path: &Path| {
        let error = read_task_set(path).expect_err("unreadable");
        assert!(error.message.starts_with(&path.display().to_string()), "{error}");
        assert!(error.hint.is_some());
        error.message
    };
    assert!(message(&folder.path().join("none.toml")).ends_with("no such file"));
    assert!(message(folder.path()).ends_with("is a directory, not a file"));
    let binary = folder.path().join("binary.toml");
    fs::write(&binary, [b'a', 0xff]).expect("writable");
    assert!(message(&binary).ends_with("is not UTF-8 text (byte 1)"));
    let large = folder.path().join("large.json");
    fs::File::create(&large).and_then(|file| file.set_len((64 << 20) + 1)).expect("a sparse file");
    assert!(message(&large).contains("larger than 64 MiB"));
    let bom = folder.path().join("bom");
    fs::write(&bom, "\u{feff}name,wcet_ns,period_ns\na,1,2\n").expect("writable");
    assert_eq!(read_task_set(&bom).expect("valid").set.name(), "bom");
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 _,;:\"'\\\\/#=\\[\\]{}µ-]{1,12}"
}

fn cpus() -> impl Strategy<Value = CpuList> {
    proptest::collection::btree_set(0u32..64, 1..6).prop_map(|set| set.into_iter().collect())
}

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![
        Just(Demand::Wcet),
        (1u32..=10_000_000).prop_map(Demand::Fraction),
        (1u32..1_000_000, 0u32..1_000_000).prop_map(|(low, more)| Demand::Uniform(low, low + more)),
        (1u32..2_000_000, 0u32..1_000_000).prop_map(|(mean, sd)| Demand::Normal(mean, sd)),
        (1u32..1_000_000, 1u32..2_000_000, 0u32..=1_000_000).prop_map(|(a, b, p)| Demand::Bimodal(a, b, p)),
    ]
}

fn working_set() -> impl Strategy<Value = WorkingSet> {
    let pattern = prop_oneof![Just(AccessPattern::Sequential), Just(AccessPattern::Random)];
    (0u64..1 << 40, 0u32..24, any::<u32>(), 1u32..5, pattern).prop_map(
        |(size, shift, reads, writes, pattern)| WorkingSet {
            size_bytes: size >> shift << shift,
            reads,
            writes,
            pattern,
        },
    )
}

fn task() -> impl Strategy<Value = Task> {
    let times = (1u64..1 << 50, 0u64..1 << 50, 0u64..1 << 50, 0u64..1 << 50, any::<bool>());
    let group = proptest::option::of((text(), 0u64..1000));
    let flags = (any::<bool>(), any::<bool>());
    let rest = (group, proptest::option::of(cpus()), flags, proptest::option::of(demand()));
    (text(), times, working_set(), rest).prop_map(|(name, (c, t, d, phase, sporadic), working_set, rest)| {
        let (wcet, period) = (Duration::from_ns(c), Duration::from_ns(c + t));
        let arrival = Arrival::Sporadic { min_interarrival: period };
        let (group, affinity, (best_effort, batching), demand) = rest;
        let plain = Task::periodic(name, wcet, period);
        let arrival = if sporadic { arrival } else { plain.arrival };
        let group = group
            .map(|(name, less)| Group { name, shared_bytes: working_set.size_bytes.saturating_sub(less) });
        let kind = if best_effort { TaskKind::BestEffort } else { TaskKind::RealTime };
        let phase = Duration::from_ns(phase);
        let deadline_rel = Duration::from_ns(c + d);
        Task { arrival, deadline_rel, phase, working_set, group, affinity, kind, demand, batching, ..plain }
    })
}

/// A name that is shown as it is: one with separators of lines is refused.
fn name() -> impl Strategy<Value = String> {
    any::<String>().prop_filter("shown as it is", |name| shown(name) == *name)
}

fn task_set() -> impl Strategy<Value = TaskSet> {
    let parameters = proptest::collection::btree_map(text(), text(), 0..3);
    let provenance = proptest::option::of((text(), text(), any::<u64>(), any::<u64>(), parameters));
    (name(), proptest::collection::vec(task(), 1..8), provenance).prop_map(|(name, mut tasks, provenance)| {
        for (id, task) in tasks.iter_mut().enumerate() {
            task.name = format!("{}{id}", task.name);
        }
        let set = TaskSet::new(name, tasks).expect("valid");
        match provenance {
            Some((generator, rng, seed, index, parameters)) => {
                set.with_provenance(Provenance { generator, rng, seed, index, parameters })
            }
            None => set,
        }
    })
}

fn platform() -> impl Strategy<Value = Platform> {
    let core = (1u32..5000, 1u32..5000);
    // What `check_caches` takes: each level once, whole lines in whole sets, and farther caches shared by all cores
    // of a closer one.
    let cache = (
        0u8..3,
        1u64..1 << 20,
        proptest::option::of(0u32..10),
        proptest::option::of(1u64..100),
        any::<u64>(),
    );
    let node = (proptest::option::of(any::<u64>()), any::<u64>());
    let numbers = proptest::collection::btree_map(0u32..64, core, 1..10);
    (
        name(),
        numbers,
        proptest::collection::vec(cache, 0..5),
        proptest::collection::vec(node, 0..3),
        any::<u64>(),
    )
        .prop_map(|(name, numbers, caches, nodes, split)| {
            let speed = |(above, below)| Speed::new(above, below).expect("positive");
            let cores: Vec<Core> =
                numbers.into_iter().map(|(cpu, ratio)| Core { cpu, speed: speed(ratio) }).collect();
            let some = |mask: u64| -> CpuList {
                cores.iter().map(|c| c.cpu).filter(|cpu| mask >> cpu & 1 == 1).collect()
            };
            let kinds = [CacheKind::Data, CacheKind::Instruction, CacheKind::Unified];
            let mut reached = 0;
            let caches = (1..).zip(caches).filter_map(|(level, (kind, sets, line, ways, mask))| {
                let (kind, line_bytes) = (kinds[usize::from(kind)], line.map(|bits| 1 << bits));
                let size_bytes = sets * ways.unwrap_or(1) * u64::from(line_bytes.unwrap_or(1));
                let ways = ways.and_then(|ways| u32::try_from(ways).ok());
                reached |= mask;
                let cpus = some(reached);
                (!cpus.is_empty()).then_some(Cache { level, kind, size_bytes, line_bytes, ways, cpus })
            });
            let nodes = (0..).zip(nodes).map(|(id, (memory_bytes, mask))| NumaNode {
                id,
                cpus: some(mask),
                memory_bytes,
            });
            let clusters =
                [some(split), some(!split)].into_iter().filter(|cluster| !cluster.is_empty()).collect();
            Platform::new(name, cores.clone(), caches.collect(), nodes.collect(), Some(clusters))
                .expect("valid")
        })
}

laxity_seeds::properties! {
    #![cases(256)]

    #[test]
    fn task_sets_read_back_as_written(set in task_set()) {
        prop_assert_eq!(&TaskSet::from_toml(&set.to_toml(), "other"), &Ok(set.clone()));
        prop_assert_eq!(&TaskSet::from_json(&set.to_json(), "other"), &Ok(set.clone()));
        prop_assert_eq!(&TaskSet::from_json_value(&set.to_json_value(), "other"), &Ok(set.clone()));
    }

    #[test]
    fn platforms_read_back_as_written(platform in platform()) {
        prop_assert_eq!(&Platform::from_toml(&platform.to_toml(), "other"), &Ok(platform.clone()));
        prop_assert_eq!(&Platform::from_json(&platform.to_json(), "other"), &Ok(platform.clone()));
        prop_assert_eq!(&Platform::from_json_value(&platform.to_json_value(), "other"), &Ok(platform.clone()));
    }

    #[test]
    fn csv_reads_back_what_it_can_carry(set in task_set()) {
        let read = TaskSet::from_csv(&set.to_csv().text, set.name()).expect("valid").set;
        for (read, task) in read.tasks().iter().zip(set.tasks()) {
            let carried = Task {
                deadline_rel: task.deadline_rel,
                phase: task.phase,
                working_set: WorkingSet { size_bytes: task.working_set.size_bytes, ..WorkingSet::default() },
                ..Task::periodic(&task.name, task.wcet, task.period())
            };
            prop_assert_eq!(read, &carried);
        }
    }
}

laxity_seeds::properties! {
    #![cases(32)]

    #[test]
    fn written_documents_obey_the_schemas(set in task_set(), platform in platform()) {
        prop_assert_eq!(violations(&task_set_schema(), &set.to_json_value()), [""; 0]);
        prop_assert_eq!(violations(&platform_schema(), &platform.to_json_value()), [""; 0]);
    }
}
