//! Costs from files, and cache distance on the example platforms.

use laxity_model::{Cache, CacheKind, CpuList, Platform, read_platform};
use laxity_sim::costs::{
    COST_MAX, CacheCosts, CacheDelay, Costs, Distance, LineLatencies, Reload, costs_schema, read_costs,
};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Costs {
    read_costs(&repository().join("examples/costs").join(name)).expect(name)
}

fn platform(name: &str) -> Platform {
    read_platform(&repository().join("examples/platforms").join(name)).expect(name)
}

fn toml(text: &str) -> laxity_model::Result<Costs> {
    Costs::from_toml(text, &repository().join("examples/costs"))
}

/// L2 4 ns, L3 12.5 ns, memory 80 ns, remote memory 130 ns per line of 64 bytes.
fn delays(platform: &Platform) -> CacheDelay {
    example("constant.toml").cache_delay(platform).expect("has cache costs")
}

const KIB: u64 = 1 << 10;

#[test]
fn nothing_costs_anything_by_default() {
    let none = Costs::default();
    assert!(none.is_zero() && none.cache_delay(&platform("opteron-6168.toml")).is_none());
    assert_eq!(toml("version = 1"), Ok(none));
    let zeros = toml("version = 1\ntick = \"0ns\"\n[cache]\nmemory = \"0ns\"").expect("valid");
    assert!(zeros.is_zero() && zeros.cache_delay(&platform("four-cores.toml")).is_none());
    assert!(!example("constant.toml").is_zero());
}

#[test]
fn constants_are_read_exactly() {
    let costs = example("constant.toml");
    let mut rng = Pcg64::seed_from_u64(0);
    let all = [
        &costs.release,
        &costs.scheduling,
        &costs.context_switch,
        &costs.ipi,
        &costs.tick,
        &costs.release_latency,
        &costs.mailbox,
        &costs.dsp,
        &costs.step,
    ];
    let drawn = all.map(|cost| cost.prepare(7).draw(&mut rng));
    assert_eq!(drawn, [3_000, 2_000, 1_500, 1_000, 1_000, 700, 300, 1_200, 1_000]);
    assert_eq!(rng, Pcg64::seed_from_u64(0), "constants draw nothing");
    assert_eq!(costs.tick_period.as_ns(), 1_000_000);
}

#[test]
fn functions_and_distributions_come_from_several_files() {
    let costs = example("measured.toml");
    let mut rng = Pcg64::seed_from_u64(3);
    // Columns of the CSV: linear between 20 and 40, beyond 160 with the slope before.
    assert_eq!([20, 30, 40, 240].map(|n| costs.release.mean_ns(n)), [3_000, 3_900, 4_800, 22_300]);
    assert_eq!([1, 10, 25, 160].map(|n| costs.step.mean_ns(n)), [800, 800, 900, 1_600]);
    // In place of columns: what is drawn.
    let mut draws = |cost: &laxity_sim::costs::Cost| -> Vec<u64> {
        let prepared = cost.prepare(30);
        (0..2_000).map(|_| prepared.draw(&mut rng)).collect()
    };
    let samples = [1_100, 1_150, 1_200, 1_250, 1_400, 2_900];
    assert!(draws(&costs.scheduling).iter().all(|draw| samples.contains(draw)));
    assert!(draws(&costs.ipi).iter().all(|draw| (500..=1_500).contains(draw)));
    assert!(draws(&costs.context_switch).iter().all(|&draw| draw <= 5_000));
    assert!(draws(&costs.release_latency).iter().all(|&draw| draw <= 20_000));
    assert_eq!((costs.scheduling.mean_ns(1), costs.notes(160).len()), (1_457, 0));
    let notes = costs.notes(200);
    assert_eq!(notes.len(), 3, "release, tick and step: {notes:?}");
    // The CSV by itself.
    let csv = example("overheads.csv");
    assert_eq!((csv.release.clone(), csv.cache.clone()), (costs.release, None));
    assert_eq!(csv.scheduling.mean_ns(10), 1_200);
}

#[test]
fn distance_follows_the_caches_and_nodes() {
    // Opteron: own L1 and L2, an L3 per node of six cores.
    let opteron = delays(&platform("opteron-6168.toml"));
    let of = |from, to| opteron.distance(from, to);
    assert_eq!([of(7, 7), of(0, 5), of(5, 6)], [Distance::Same, Distance::Cache(3), Distance::RemoteMemory]);
    let sockets = delays(&platform("two-sockets.toml"));
    assert_eq!(
        [sockets.distance(0, 7), sockets.distance(7, 8)],
        [Distance::Cache(3), Distance::RemoteMemory]
    );
    let big_little = delays(&platform("big-little.toml"));
    assert_eq!(
        [big_little.distance(0, 3), big_little.distance(3, 4)],
        [Distance::Cache(2), Distance::Memory]
    );
    // Nothing is known to be shared.
    assert_eq!(delays(&platform("four-cores.toml")).distance(0, 1), Distance::Memory);
    assert!(Distance::Same < Distance::Cache(2) && Distance::Cache(3) < Distance::Memory);
    assert!(Distance::Memory < Distance::RemoteMemory);
}

#[test]
fn delays_as_worked_out_by_hand() {
    let opteron = delays(&platform("opteron-6168.toml"));
    // 64 KiB are 1024 lines: from the L3 after a migration in the node, and after a preemption, which leaves nothing in
    // the core's own L1 and L2; from remote memory to another node.
    assert_eq!(
        [(0, 5), (0, 0), (0, 6)].map(|(a, b)| opteron.delay(64 * KIB, a, b)),
        [12_800, 12_800, 133_120]
    );
    // At most 512 KiB (L2) were in the node's own caches, at most 5 MiB (L3) in the node.
    assert_eq!(opteron.delay(1 << 30, 0, 5), 8_192 * 25 / 2);
    assert_eq!(opteron.delay(1 << 30, 0, 6), 81_920 * 130);
    // Part of a line is a line; 12.5 ns are rounded up.
    assert_eq!([0, 1, 64, 65].map(|wss| opteron.delay(wss, 0, 5)), [0, 13, 13, 25]);

    // Only L3s are described: what is lost on the way is bounded by the shared one itself.
    let sockets = delays(&platform("two-sockets.toml"));
    assert_eq!([(0, 1), (0, 8)].map(|(a, b)| sockets.delay(64 * KIB, a, b)), [12_800, 133_120]);
    assert_eq!(sockets.delay(1 << 30, 0, 1), 262_144 * 25 / 2);
    let big_little = delays(&platform("big-little.toml"));
    assert_eq!(
        [(0, 1), (0, 0), (0, 4)].map(|(a, b)| big_little.delay(64 * KIB, a, b)),
        [4_096, 4_096, 81_920]
    );
    // To the big cluster: 1 MiB could have been kept there; to the small one: 512 KiB.
    assert_eq!([(0, 4), (4, 0)].map(|(a, b)| big_little.delay(1 << 30, a, b)), [16_384 * 80, 8_192 * 80]);
    // Nothing is described: all comes from memory, also after a preemption.
    let unknown = delays(&platform("four-cores.toml"));
    assert_eq!([(0, 0), (0, 1)].map(|(a, b)| unknown.delay(64 * KIB, a, b)), [81_920, 81_920]);
    assert_eq!(unknown.delay(u64::MAX, 0, 1), COST_MAX.as_ns());
}

#[test]
fn siblings_share_what_is_their_cores_own() {
    let text = r#"
        version = 1
        cores = 4
        caches = [
            { level = 1, kind = "data", size = "32KiB", line = 128, cpus = "0-1" },
            { level = 1, kind = "data", size = "32KiB", line = 128, cpus = "2-3" },
            { level = 2, kind = "unified", size = "1MiB", cpus = "0-1" },
            { level = 2, kind = "unified", size = "1MiB", cpus = "2-3" },
            { level = 3, kind = "unified", size = "8MiB", cpus = "0-3" },
        ]"#;
    let read = Platform::from_toml(text, "smt").expect("valid");
    let mut caches = read.caches().to_vec();
    // A cache without data makes no cores closer.
    caches.push(Cache { kind: CacheKind::Instruction, cpus: CpuList::first(4), ..caches[0].clone() });
    let smt = delays(&Platform::new("smt", read.cores().to_vec(), caches, vec![], None).expect("valid"));
    assert_eq!([smt.distance(0, 1), smt.distance(1, 2)], [Distance::Cache(1), Distance::Cache(3)]);
    // Lines of 128 bytes; from the sibling's L1 for nothing, otherwise from the L3.
    assert_eq!([(0, 1), (0, 0), (1, 2)].map(|(a, b)| smt.delay(16 * KIB, a, b)), [0, 1_600, 1_600]);
}

#[test]
fn cores_without_a_level_lose_no_more_than_the_caches_they_have() {
    let text = r#"
        version = 1
        cores = 3
        caches = [
            { level = 2, kind = "unified", size = "1MiB", cpus = "0" },
            { level = 2, kind = "unified", size = "1MiB", cpus = "1" },
            { level = 2, kind = "unified", size = "1MiB", cpus = "2" },
            { level = 3, kind = "unified", size = "8MiB", cpus = "0-1" },
        ]"#;
    let uneven = delays(&Platform::from_toml(text, "uneven").expect("valid"));
    assert_eq!([uneven.distance(0, 1), uneven.distance(0, 2)], [Distance::Cache(3), Distance::Memory]);
    // 16384 lines of 1 MiB, to the core without an L3; 131072 of 8 MiB, away from it. It shares nothing: a preempted
    // job reloads from memory.
    assert_eq!([(0, 2), (2, 0)].map(|(a, b)| uneven.delay(1 << 30, a, b)), [16_384 * 80, 131_072 * 80]);
    assert_eq!([(1, 1), (2, 2)].map(|(a, b)| uneven.delay(64, a, b)), [13, 80]);
}

#[test]
fn measured_delays_by_level_and_share_evicted() {
    let costs = example("measured.toml");
    let opteron = costs.cache_delay(&platform("opteron-6168.toml")).expect("given");
    // The L3 column, MEM between nodes, and half of the L1 column after a preemption.
    assert_eq!([(0, 1), (0, 6), (0, 0)].map(|(a, b)| opteron.delay(16 * KIB, a, b)), [15_000, 40_000, 2_000]);
    // Halfway between 16 and 64 KiB; 9000 ns, half of it.
    assert_eq!([(0, 1), (0, 0)].map(|(a, b)| opteron.delay(40 * KIB, a, b)), [35_000, 4_500]);
    assert_eq!(opteron.delay(0, 0, 6), 0, "no working set, nothing to reload");
    let big_little = costs.cache_delay(&platform("big-little.toml")).expect("given");
    assert_eq!([(0, 1), (0, 4)].map(|(a, b)| big_little.delay(16 * KIB, a, b)), [8_000, 40_000]);
}

laxity_seeds::properties! {
    #[test]
    fn farther_and_larger_is_never_cheaper(
        wss in proptest::collection::vec(0u64..64 << 20, 2),
        ps in proptest::collection::vec(0u64..1_000_000, 4),
        cores in proptest::collection::vec(0u32..48, 3),
    ) {
        let mut ps = ps;
        ps.sort_unstable();
        let levels = [(2, ps[0]), (3, ps[1])].into();
        let latencies = LineLatencies::new(64, levels, ps[2], Some(ps[3])).expect("ascending");
        let measured = example("measured.toml");
        let platform = platform("opteron-6168.toml");
        let lines = Costs { cache: Some(CacheCosts::new(Reload::Lines(latencies))), ..Costs::default() };
        for delays in [&lines, &measured].into_iter().filter_map(|costs| costs.cache_delay(&platform)) {
            let delay = |wss: u64, to: u32| delays.delay(wss, cores[0], to);
            let (small, large) = (wss[0].min(wss[1]), wss[0].max(wss[1]));
            prop_assert!(delay(small, cores[1]) <= delay(large, cores[1]));
            let (a, b) = (delays.distance(cores[0], cores[1]), delays.distance(cores[0], cores[2]));
            if a <= b {
                prop_assert!(delay(large, cores[1]) <= delay(large, cores[2]), "{:?} {:?}", a, b);
            }
            prop_assert_eq!(a, delays.distance(cores[1], cores[0]));
        }
    }
}

#[test]
fn wrong_files_are_explained() {
    for (text, part) in [
        ("", "`version` is missing"),
        ("version = 2", "version 2"),
        ("version = 1\nrelase = \"2us\"", "line 2, column 1: `relase` is not known here"),
        ("version = 1\nrelease = 2", "a time such as"),
        ("version = 1\nrelease = \"2\"", "release: time `2` has no unit"),
        ("version = 1\nrelease = \"-2us\"", "release: time `-2us`"),
        ("version = 1\nrelease = \"2000s\"", "limit"),
        ("version = 1\nrelease = \"gauss:1us,2us\"", "distribution `gauss` is not known"),
        ("version = 1\nrelease = \"uniform:5us,1us\"", "LOW (5us) is above HIGH (1us)"),
        ("version = 1\nrelease = []", "no points"),
        ("version = 1\nrelease = [[1, \"2\"]]", "release: at 1 tasks: time `2`"),
        ("version = 1\nrelease = [[1, \"2us\"], [1, \"3us\"]]", "two values at 1"),
        ("version = 1\nrelease = [[-1, \"2us\"]]", "line 2"),
        ("version = 1\nrelease = \"empirical:nowhere.csv\"", "nowhere.csv: no such file"),
        ("version = 1\nrelease = \"empirical:overheads.csv\"", "overheads.csv: samples have the header"),
        ("version = 1\noverheads = \"cpmd.csv\"", "the column `WSS` is not known"),
        ("version = 1\noverheads = \"../costs\"", "is a directory"),
        ("version = 1\ntick_period = \"0ns\"", "tick_period: ticks cannot come every 0ns"),
        ("version = 1\n[cache]", "cache: has neither `cpmd` nor `memory`"),
        ("version = 1\n[cache]\nmemory = \"80\"", "memory: latency `80` has no unit"),
        ("version = 1\n[cache]\nmemory = \"80ms\"", "unknown unit"),
        ("version = 1\n[cache]\nmemory = \"2000us\"", "more than 1ms"),
        ("version = 1\n[cache]\nmemory = \"8ns\"\nl3 = \"9ns\"", "longer from L3 than from memory"),
        ("version = 1\n[cache]\nmemory = \"8ns\"\nline = \"0B\"", "0 bytes"),
        ("version = 1\n[cache]\nmemory = \"8ns\"\nline = \"48B\"", "48 bytes, which is not a power of two"),
        ("version = 1\n[cache]\nmemory = \"8ns\"\nevicted = \"1.1\"", "`1.1` is not a share"),
        ("version = 1\n[cache]\ncpmd = \"cpmd.csv\"\nl2 = \"4ns\"", "both"),
        ("version = 1\nrelease = { samples = [] }", "no samples"),
        ("version = 1\nrelease = { sample = [\"1us\"] }", "sample"),
        ("version = 1\n[cache]\ncpmd = { l1 = [[1, \"1us\"]] }", "no `memory`"),
        (
            "version = 1\n[cache]\ntracked = true\ncpmd = { memory = [[1, \"1us\"]] }",
            "`tracked` caches need the latencies of a line",
        ),
        (
            "version = 1\n[cache]\ntracked = true\nmemory = \"8ns\"\nevicted = \"0.5\"",
            "`evicted` is given although",
        ),
        ("version = 1\n[cache]\ncpmd = { l9 = [[1, \"1us\"]] }", "`l9` is no place"),
    ] {
        let message = toml(text).expect_err(text).to_string();
        assert!(message.contains(part) && message.contains("hint:"), "{text}: {message}");
    }
    let busy = toml("version = 1\ntick = \"1ms\"").expect("reads");
    assert!(busy.check(4).expect_err("no time left").message.contains("nothing else would run"));
    assert_eq!(example("measured.toml").check(160), Ok(()));
}

/// Whatever files costs come from, what is written of them needs none, and is valid under the schema.
#[test]
fn costs_are_written_as_they_are_read() {
    let schema = jsonschema::draft202012::new(&costs_schema()).expect("a valid schema");
    let inline = "version = 1\nrelease = { samples = [\"5ns\", \"7us\"] }\nipi = \"exponential:1us\"\n[cache]\n\
        line = \"32B\"\nl1 = \"1.5ns\"\nmemory = \"80ns\"\nremote_memory = \"90ns\"\nevicted = \"0.123456\"";
    let all = ["constant.toml", "measured.toml", "opteron-6164-he.toml"].map(example);
    for costs in all.into_iter().chain([Costs::default(), toml(inline).expect("valid")]) {
        let text = costs.to_toml();
        assert_eq!(Costs::from_toml(&text, Path::new("/nowhere")), Ok(costs), "{text}");
        let document: serde_json::Value = toml::from_str(&text).expect("TOML");
        assert!(schema.is_valid(&document), "{text}");
    }
}

/// After a deliberate change: `LAXITY_BLESS=1 cargo test -p laxity-sim --test costs`.
#[test]
fn the_published_schema_is_that_of_the_code() {
    let path = repository().join("schemas/costs.schema.json");
    let text = serde_json::to_string_pretty(&costs_schema()).expect("serializes") + "\n";
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::write(&path, &text).expect("writes the schema");
    }
    let published = std::fs::read_to_string(&path).expect("the schema is published");
    assert!(published == text, "costs.schema.json differs from the code; LAXITY_BLESS=1 rewrites it");
}

#[test]
fn examples_are_valid_under_the_schema_and_say_that_they_are_examples() {
    let validator = jsonschema::draft202012::new(&costs_schema()).expect("a valid schema");
    let folder = repository().join("examples/costs");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.contains("NOT measured"), "{}", path.display());
        if path.extension().is_some_and(|extension| extension == "toml") {
            let document: serde_json::Value = toml::from_str(&text).expect("TOML");
            let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
    for wrong in [
        "version = 2",
        "version = 1\nrelease = 2",
        "version = 1\nother = \"2us\"",
        "version = 1\nstep = [[1]]",
    ] {
        let document: serde_json::Value = toml::from_str(wrong).expect("TOML");
        assert!(!validator.is_valid(&document), "{wrong}");
    }
}
