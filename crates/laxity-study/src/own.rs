//! What curves of a study can name beside what laxity has: tests and policies that a user has written elsewhere.

use laxity_analysis::Test;
use laxity_sim::Prototypes;
use std::collections::BTreeMap;

/// Tests and prototypes of one's own.
#[derive(Clone, Default)]
pub struct Own {
    /// Tests beside those of the catalogue.
    pub tests: Vec<&'static dyn Test>,
    /// Prototypes of policies.
    pub prototypes: Prototypes,
    /// By name, what tells one version of a test or prototype from another: points of one do not count for the other.
    pub versions: BTreeMap<String, String>,
}

impl Own {
    /// These tests.
    pub fn tests(tests: &[&'static dyn Test]) -> Self {
        Own { tests: tests.to_vec(), ..Own::default() }
    }
}
