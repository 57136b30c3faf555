//! Platforms that come with laxity, by name: the machines of the papers, and small ones to try things on.

use crate::{Diagnostic, Names, Platform, Result};

/// A platform that comes with laxity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedPlatform {
    /// Its name, which is also that of its file in `examples/platforms/`.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    toml: &'static str,
}

macro_rules! shipped {
    ($($name:literal: $description:literal),+ $(,)?) => {
        &[$(ShippedPlatform {
            name: $name,
            description: $description,
            toml: include_str!(concat!("../../../examples/platforms/", $name, ".toml")),
        }),+]
    };
}

static SHIPPED: &[ShippedPlatform] = shipped! {
    "opteron-6168": "48 CPUs in 8 clusters of an L3 each, 1.9 GHz (lelli2012, 5.1)",
    "opteron-6164-he": "48 CPUs in 8 clusters of an L3 each, 1.7 GHz (lindsay2012, Table 6.2)",
    "calandrino2007-small": "6 slow and 2 fast CPUs, half and full speed (calandrino2007, 5.1)",
    "calandrino2007-medium": "12 slow and 4 fast CPUs (calandrino2007, 5.1)",
    "calandrino2007-large": "24 slow and 8 fast CPUs (calandrino2007, 5.1)",
    "calandrino2007-extreme": "8 CPUs of 1, 2, 3, 5, 6, 7, 8 and 8 times the slowest speed (calandrino2007, 5.1)",
    "two-sockets": "16 CPUs in 2 clusters of an L3 each",
    "big-little": "4 slow and 2 fast CPUs",
    "four-cores": "4 identical CPUs",
};

impl ShippedPlatform {
    /// All of them.
    pub fn all() -> &'static [ShippedPlatform] {
        SHIPPED
    }

    /// The platform with this name.
    ///
    /// # Errors
    ///
    /// There is none with this name.
    pub fn named(name: &str) -> Result<Platform> {
        match SHIPPED.iter().find(|shipped| shipped.name == name) {
            Some(shipped) => shipped.read(),
            None => {
                let known: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
                let names = Names::of("platform", &known).listed_by("laxity list platforms");
                Err(Diagnostic::usage(format!("no platform with the name `{name}` comes with laxity"))
                    .hint(format!("{}, or describe the machine in a file", names.hint(name))))
            }
        }
    }

    /// Reads its description.
    ///
    /// # Errors
    ///
    /// None with the descriptions that are there: a test reads them.
    pub fn read(&self) -> Result<Platform> {
        Platform::from_toml(self.toml, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cache, CacheKind};

    #[test]
    fn every_shipped_platform_reads_and_has_its_name() {
        for shipped in ShippedPlatform::all() {
            let platform =
                ShippedPlatform::named(shipped.name).unwrap_or_else(|e| panic!("{}: {e}", shipped.name));
            assert_eq!(platform.name(), shipped.name);
        }
        let error = ShippedPlatform::named("opteron").expect_err("unknown");
        assert!(
            error.message.contains("`opteron`") && error.hint.expect("a hint").contains("opteron-6164-he")
        );
    }

    /// lindsay2012, Table 6.2, copied once more.
    #[test]
    fn the_opteron_of_lindsay2012_is_that_of_its_table() {
        let platform = ShippedPlatform::named("opteron-6164-he").expect("shipped");
        assert_eq!((platform.core_count(), platform.clusters().len()), (48, 8));
        assert!(platform.clusters().iter().all(|cluster| cluster.len() == 6));
        for (level, kind, shared_by, kib, ways, count) in [
            (1, CacheKind::Instruction, 1, 64, 2, 48),
            (1, CacheKind::Data, 1, 64, 2, 48),
            (2, CacheKind::Unified, 1, 512, 16, 48),
            (3, CacheKind::Unified, 6, 5118, 48, 8),
        ] {
            let of = |cache: &&Cache| (cache.level, cache.kind) == (level, kind);
            let caches: Vec<&Cache> = platform.caches().iter().filter(of).collect();
            assert_eq!(caches.len(), count, "L{level}");
            for cache in caches {
                assert_eq!(
                    (cache.size_bytes, cache.ways, cache.line_bytes),
                    (kib << 10, Some(ways), Some(64))
                );
                assert_eq!(cache.cpus.len(), shared_by, "L{level}");
            }
        }
        let nodes = platform.numa_nodes();
        assert!(
            nodes.len() == 4 && nodes.iter().all(|n| n.cpus.len() == 12 && n.memory_bytes == Some(4 << 30))
        );
    }
}
