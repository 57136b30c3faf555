//! Platforms in TOML and JSON.

use super::document::{DocumentEntries, DocumentKind};
use super::notation::{Bounded, Cpus, Ratio, Size, Written};
use crate::cpu_list::CPUS_MAX;
use crate::{ByteSize, Cache, CacheKind, Core, CpuList, Diagnostic, NumaNode, Platform, Result, Speed};
use schemars::JsonSchema;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;

const KIND: DocumentKind = DocumentKind {
    what: "platform",
    schema: "schemas/platform.schema.json",
    version: 1,
    entries: Some(DocumentEntries {
        key: "caches",
        singular: "cache",
        refuses: |entry| CacheFile::deserialize(entry).is_err(),
    }),
};

const CORES_MAX: usize = CPUS_MAX as usize;
/// Eight caches per core: more than any machine has.
const CACHES_MAX: usize = 8 * CORES_MAX;

/// A multicore machine for laxity.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table with `cores`")]
#[schemars(title = "laxity platform")]
pub(super) struct PlatformFile {
    /// The schema that an editor is to check the file against; not read.
    #[serde(rename = "$schema", default, skip_serializing)]
    _schema: Option<String>,
    /// Version of this format.
    #[schemars(extend("const" = 1))]
    version: u64,
    /// Name of the platform; without one, the file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Disjoint sets of CPUs that cover the machine; without them, the CPUs that share a last-level cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clusters: Option<Bounded<Written<Cpus>, CORES_MAX>>,
    /// The CPUs, or how many identical CPUs there are.
    cores: CoresFile,
    /// The caches, and the CPUs that share each of them.
    #[serde(default, skip_serializing_if = "Bounded::is_empty")]
    caches: Bounded<CacheFile, CACHES_MAX>,
    /// The memory nodes.
    #[serde(default, skip_serializing_if = "Bounded::is_empty")]
    numa: Bounded<NumaFile, CORES_MAX>,
}

/// A number of identical CPUs (CPUs 0, 1, 2 ... of speed 1), or a list of CPUs.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "cores")]
enum CoresFile {
    /// CPUs 0, 1, 2 ... of speed 1.
    Count(#[schemars(range(min = 1, max = CPUS_MAX))] u32),
    /// One entry per CPU.
    List(#[schemars(extend("minItems" = 1))] Bounded<CoreFile, CORES_MAX>),
}

/// One CPU (logical CPU).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { cpu = 0 }")]
#[schemars(rename = "core")]
struct CoreFile {
    /// CPU number.
    #[schemars(range(max = CPUS_MAX - 1))]
    cpu: u32,
    /// Relative speed; without it, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speed: Option<Written<Ratio>>,
}

/// One cache and the CPUs that share it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { level = 2, size = \"1MiB\", cpus = \"0-3\" }")]
#[schemars(rename = "cache")]
struct CacheFile {
    /// 1, 2, 3 ...
    #[schemars(range(min = 1))]
    level: u32,
    /// What it holds.
    kind: CacheKindFile,
    /// Capacity.
    size: Written<Size>,
    /// Line size in bytes, a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// Associativity: how many lines a set has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    ways: Option<u32>,
    /// The CPUs that share it.
    cpus: Written<Cpus>,
}

/// What a cache holds.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "cache_kind")]
enum CacheKindFile {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// A memory node and the CPUs next to it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "numa_node")]
struct NumaFile {
    /// Node number.
    id: u32,
    /// CPUs of the node.
    cpus: Written<Cpus>,
    /// Its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<Written<Size>>,
}

impl<'de> Deserialize<'de> for CoresFile {
    /// Written out because an untagged enum would answer every slip with "did not match any variant".
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct CoresVisitor;

        impl<'de> Visitor<'de> for CoresVisitor {
            type Value = CoresFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number of CPUs from 1 to {CORES_MAX}, or a list of CPUs")
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> std::result::Result<Self::Value, E> {
                let in_range = u32::try_from(count).ok().filter(|&count| (1..=CPUS_MAX).contains(&count));
                let refused = || E::invalid_value(de::Unexpected::Unsigned(count), &self);
                in_range.map(CoresFile::Count).ok_or_else(refused)
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> std::result::Result<Self::Value, E> {
                match u64::try_from(count) {
                    Ok(count) => self.visit_u64(count),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(count), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> std::result::Result<Self::Value, A::Error> {
                let list = de::value::SeqAccessDeserializer::new(list);
                Bounded::deserialize(list).map(CoresFile::List)
            }
        }

        deserializer.deserialize_any(CoresVisitor)
    }
}

impl Platform {
    /// Reads a platform in TOML. `name` is its name if the text gives none.
    pub fn from_toml(text: &str, name: &str) -> Result<Self> {
        KIND.from_toml::<PlatformFile>(text)?.read(name)
    }

    /// Reads a platform in JSON. `name` is its name if the text gives none.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        KIND.from_json::<PlatformFile>(text)?.read(name)
    }

    /// Reads a platform from a JSON document in memory. `name` is its name if the document gives none.
    pub fn from_json_value(document: &Value, name: &str) -> Result<Self> {
        KIND.from_json_value::<PlatformFile>(document)?.read(name)
    }

    /// Writes the platform in TOML; [`Platform::from_toml`] reads the same platform back.
    pub fn to_toml(&self) -> String {
        toml::to_string(&PlatformFile::of(self))
            .expect("a platform file has only text, 32-bit integers and tables")
    }

    /// Writes the platform in JSON; [`Platform::from_json`] reads the same platform back.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&PlatformFile::of(self))
            .expect("a platform file has only text keys");
        text.push('\n');
        text
    }

    /// The platform as a JSON document in memory.
    pub fn to_json_value(&self) -> Value {
        serde_json::to_value(PlatformFile::of(self)).expect("a platform file has only text keys")
    }
}

impl PlatformFile {
    fn read(self, name: &str) -> Result<Platform> {
        KIND.check_version(self.version)?;
        let read_clusters = |list: Bounded<Written<Cpus>, CORES_MAX>| {
            list.0.iter().map(|cpus| cpus.read("clusters")).collect::<Result<Vec<CpuList>>>()
        };
        let caches: Vec<Cache> =
            self.caches.0.into_iter().enumerate().map(CacheFile::read).collect::<Result<_>>()?;
        check_caches(&caches)?;
        Platform::new(
            self.name.unwrap_or_else(|| name.to_owned()),
            self.cores.read()?,
            caches,
            self.numa.0.into_iter().map(NumaFile::read).collect::<Result<_>>()?,
            self.clusters.map(read_clusters).transpose()?,
        )
    }

    fn of(platform: &Platform) -> Self {
        let clusters = platform.clusters().iter().map(Written::of).collect();
        PlatformFile {
            _schema: None,
            version: KIND.version,
            name: Some(platform.name().to_owned()),
            clusters: Some(Bounded(clusters)),
            cores: CoresFile::of(platform.cores()),
            caches: Bounded(platform.caches().iter().map(CacheFile::of).collect()),
            numa: Bounded(platform.numa_nodes().iter().map(NumaFile::of).collect()),
        }
    }
}

impl CoresFile {
    fn read(self) -> Result<Vec<Core>> {
        match self {
            CoresFile::Count(count) => Ok((0..count).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect()),
            CoresFile::List(list) => list.0.into_iter().map(CoreFile::read).collect(),
        }
    }

    fn of(cores: &[Core]) -> Self {
        let identical = (0..).zip(cores).all(|(cpu, core)| core.cpu == cpu && core.speed == Speed::UNIT);
        match u32::try_from(cores.len()) {
            Ok(count) if identical => CoresFile::Count(count),
            _ => CoresFile::List(Bounded(cores.iter().map(CoreFile::of).collect())),
        }
    }
}

impl CoreFile {
    fn read(self) -> Result<Core> {
        if self.cpu >= CPUS_MAX {
            return Err(Diagnostic::usage(format!("CPU {}: CPU numbers end at {}", self.cpu, CPUS_MAX - 1))
                .hint("number the CPUs from 0"));
        }
        let speed = self.speed.map(|speed| speed.read(&format!("CPU {}", self.cpu))).transpose()?;
        Ok(Core { cpu: self.cpu, speed: speed.unwrap_or(Speed::UNIT) })
    }

    fn of(core: &Core) -> Self {
        CoreFile { cpu: core.cpu, speed: (core.speed != Speed::UNIT).then(|| Written::of(core.speed)) }
    }
}

impl CacheFile {
    fn read((index, file): (usize, CacheFile)) -> Result<Cache> {
        let place = |field: &str| format!("cache {}: {field}", index + 1);
        Ok(Cache {
            level: file.level,
            kind: file.kind.into(),
            size_bytes: file.size.read::<ByteSize>(&place("size"))?.0,
            line_bytes: file.line,
            ways: file.ways,
            cpus: file.cpus.read(&place("cpus"))?,
        })
    }

    fn of(cache: &Cache) -> Self {
        CacheFile {
            level: cache.level,
            kind: cache.kind.into(),
            size: Written::of(ByteSize(cache.size_bytes)),
            line: cache.line_bytes,
            ways: cache.ways,
            cpus: Written::of(&cache.cpus),
        }
    }
}

/// Refuses caches that no machine has.
fn check_caches(caches: &[Cache]) -> Result<()> {
    for (at, cache) in caches.iter().enumerate() {
        cache.validate().map_err(|error| error.context(format!("cache {}", at + 1)))?;
        let clashes = caches[..at].iter().map(|other| cache.clash(other));
        if let Some(cpus) = clashes.into_iter().find(|cpus| !cpus.is_empty()) {
            return Err(Diagnostic::usage(format!(
                "cache {}: CPUs {cpus} have another L{} cache already; of each level a CPU has one for data and one \
                 for instructions, or one for both",
                at + 1,
                cache.level
            ))
            .hint("give each cache the CPUs that share it, each CPU once"));
        }
        for other in &caches[..at] {
            let astray = cache.astray(other);
            if !astray.is_empty() {
                let (closer, farther) = (cache.level.min(other.level), cache.level.max(other.level));
                return Err(Diagnostic::usage(format!(
                    "cache {}: CPUs {astray} share an L{closer} with others but not the L{farther} behind it",
                    at + 1
                ))
                .hint("give a farther cache all CPUs that share a closer one with any of its CPUs"));
            }
        }
    }
    Ok(())
}

impl NumaFile {
    fn read(self) -> Result<NumaNode> {
        let place = |field: &str| format!("NUMA node {}: {field}", self.id);
        let memory =
            self.memory.as_ref().map(|memory| memory.read::<ByteSize>(&place("memory"))).transpose()?;
        Ok(NumaNode {
            id: self.id,
            cpus: self.cpus.read(&place("cpus"))?,
            memory_bytes: memory.map(|size| size.0),
        })
    }

    fn of(node: &NumaNode) -> Self {
        NumaFile {
            id: node.id,
            cpus: Written::of(&node.cpus),
            memory: node.memory_bytes.map(|bytes| Written::of(ByteSize(bytes))),
        }
    }
}

impl From<CacheKindFile> for CacheKind {
    fn from(kind: CacheKindFile) -> Self {
        match kind {
            CacheKindFile::Data => CacheKind::Data,
            CacheKindFile::Instruction => CacheKind::Instruction,
            CacheKindFile::Unified => CacheKind::Unified,
        }
    }
}

impl From<CacheKind> for CacheKindFile {
    fn from(kind: CacheKind) -> Self {
        match kind {
            CacheKind::Data => CacheKindFile::Data,
            CacheKind::Instruction => CacheKindFile::Instruction,
            CacheKind::Unified => CacheKindFile::Unified,
        }
    }
}
