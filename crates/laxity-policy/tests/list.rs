//! `policy/policies.h` lists every policy that there is, and Rust has a name for each.

use laxity_model::Policy;
use laxity_policy::Table;
use std::collections::BTreeSet;
use std::path::Path;

/// The headers `policy/NAME.h` that define entry points: those of the linking core, and those with a table of steps.
fn headers() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("part of the checkout") {
        let path = entry.expect("part of the checkout").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|extension| extension == "h") {
            let text = std::fs::read_to_string(&path).expect("source");
            if text.lines().any(|line| line.trim() == format!("#define LX_POLICY lx_{stem}")) {
                found.insert(stem);
            }
        }
    }
    found
}

#[test]
fn all_policies_are_listed_and_have_names() {
    let listed: BTreeSet<String> = Table::all().map(|table| table.name().to_owned()).collect();
    assert_eq!(listed, headers(), "policy/policies.h and the headers");
    let named: BTreeSet<String> = Policy::all().map(|policy| policy.source_name().to_owned()).collect();
    assert_eq!(listed, named, "policy/policies.h and laxity_model::Policy");
    for policy in Policy::all() {
        assert_eq!(Table::of(policy).name(), policy.source_name());
    }
}
