//! `laxity schema`: the JSON Schemas of what laxity reads and writes, from the code that reads and writes it.

use crate::output;
use clap::Args;
use laxity_model::{Names, Result, closest};
use serde_json::Value;
use std::process::ExitCode;

/// `laxity schema`.
#[derive(Args)]
#[command(after_long_help = "\
The schemas are JSON Schema, draft 2020-12; editors check TOML and JSON files by them (for instance with `#:schema \
./task-set.schema.json` as the first line of a TOML file).

Examples:
  # which schemas there are
  laxity schema
  # the fields of a task set, for an editor
  laxity schema task-set > task-set.schema.json
  # what `laxity compare --json` prints
  laxity schema answer")]
pub struct SchemaArguments {
    /// Name of the schema; without it, all names are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print the list of names as JSON (a schema is JSON anyway)
    #[arg(long)]
    pub json: bool,
}

/// A published schema.
pub struct Published {
    /// Its name: `schemas/NAME.schema.json`.
    pub name: &'static str,
    /// What it describes.
    pub description: &'static str,
    /// Makes it.
    pub schema: fn() -> Value,
}

const fn published(name: &'static str, description: &'static str, schema: fn() -> Value) -> Published {
    Published { name, description, schema }
}

/// All of them: first what laxity reads, then what it writes.
pub const ALL: &[Published] = &[
    published("task-set", "task sets (TOML, JSON)", laxity_model::task_set_schema),
    published("platform", "platforms (TOML, JSON)", laxity_model::platform_schema),
    published("costs", "what a simulated kernel costs (TOML)", laxity_sim::costs::costs_schema),
    published("study", "studies (TOML, JSON)", laxity_study::study_schema),
    published("manifest", "manifest.json of a results directory", laxity_trace::manifest_schema),
    published("answer", "run, compare, simulate and report --json; summary.json", laxity_lab::report::schema),
    published("difference", "diff --json", super::diff::schema),
    published("summary", "the metrics in an answer", laxity_trace::summary_schema),
    published("analysis", "analyze --json", laxity_lab::analysis::answer::schema),
    published("placement", "place --json", laxity_lab::place::schema),
    published("settings", "settings --json", laxity_lab::settings::answer::schema),
    published("verification", "verify --json", laxity_lab::verification::schema),
    published("verdict", "the verdict on a run, in a verification", laxity_oracle::verdict_schema),
    published("check", "check --json", laxity_lab::files::schema),
    published("list", "list --json", laxity_lab::catalogue::schema),
    published("kernels", "vm --kernels --json", super::vm::schema),
    published("doctor", "doctor --json", laxity_doctor::doctor_schema),
    published("deploy-plan", "what to set: plan.json of a deployment", laxity_lab::deploy::schema),
    published("deployed", "deployed --json", laxity_lab::deploy::deployed::schema),
    published("overheads", "overheads --json; overheads.json", laxity_overheads::overheads_schema),
    published(
        "study-schedulability",
        "study FILE --json, of schedulability",
        laxity_study::proofs_answer_schema,
    ),
    published("study-simulation", "study FILE --json, by simulation", laxity_study::simulation_answer_schema),
    published("study-shard", "study FILE --shard I/N --json", super::study::shard_schema),
    published("study-slurm", "study FILE --slurm --json", super::study::slurm_schema),
    published("study-schedules", "study schedules --json", laxity_lab::study::schedules::schema),
];

/// What else people call them.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("results", "manifest"),
    ("taskset", "task-set"),
    ("set", "task-set"),
    ("tasks", "task-set"),
    ("compare", "answer"),
    ("run", "answer"),
    ("simulation", "study"),
    ("simulation-study", "study"),
];

pub fn schema(arguments: &SchemaArguments) -> Result<ExitCode> {
    match &arguments.name {
        Some(name) => output::print_json(&(named(name)?.schema)())?,
        None if arguments.json => output::print_json(&ALL.iter().map(|one| one.name).collect::<Vec<_>>())?,
        None => output::print(&listed())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn listed() -> String {
    let line = |one: &Published| format!("  {:<22} {}\n", one.name, one.description);
    let lines: String = ALL.iter().map(line).collect();
    format!("SCHEMAS (laxity schema NAME)\n{lines}")
}

/// The schema with this name: of the list, of a published file, or one that people call it.
fn named(text: &str) -> Result<&'static Published> {
    let wanted = text.trim().to_ascii_lowercase();
    let wanted = wanted.strip_suffix(".schema.json").unwrap_or(&wanted);
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == wanted).map(|(_, name)| *name);
    let wanted = other.unwrap_or(wanted);
    ALL.iter().find(|one| one.name == wanted).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        let names = Names::of("schema", &known).listed_by("laxity schema");
        let others: Vec<&str> = OTHER_NAMES.iter().map(|(other, _)| *other).collect();
        // A slip in one of the other words means what that word does.
        let other = closest(wanted, &known).is_none().then(|| closest(wanted, &others)).flatten();
        let meant = other.and_then(|near| OTHER_NAMES.iter().find(|(other, _)| *other == near));
        let alias = meant.map(|(other, name)| format!("`{other}`, which is `{name}`"));
        let aliases: Vec<(&str, &str)> = alias.iter().map(|words| (text, words.as_str())).collect();
        names.or(&aliases).unknown(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
    }

    /// After a deliberate change: `LAXITY_BLESS=1 cargo test --release -p laxity published_schemas`.
    #[test]
    fn the_published_schemas_are_those_of_the_code() {
        for Published { name, schema, .. } in ALL {
            let text = serde_json::to_string_pretty(&schema()).expect("serializes") + "\n";
            let path = folder().join(format!("{name}.schema.json"));
            if std::env::var_os("LAXITY_BLESS").is_some() {
                fs::write(&path, &text).expect("writes the schema");
            }
            let published = fs::read_to_string(&path).unwrap_or_default();
            assert!(published == text, "{name} differs from the code; LAXITY_BLESS=1 rewrites it");
            let schema: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(schema["$id"], format!("https://laxity-rt.github.io/schemas/{name}.schema.json"));
            jsonschema::validator_for(&schema).expect("a schema");
        }
    }

    #[test]
    fn every_published_file_has_a_name_here() {
        let files: BTreeSet<String> = fs::read_dir(folder())
            .expect("schemas")
            .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(files, ALL.iter().map(|one| format!("{}.schema.json", one.name)).collect());
    }

    #[test]
    fn other_names_lead_to_a_schema() {
        for &(other, name) in OTHER_NAMES {
            assert_eq!(named(other).expect("a schema").name, name);
        }
        assert_eq!(named("task-set.schema.json").expect("a schema").name, "task-set");
        let hint = named("platfrom").map(|one| one.name).expect_err("a slip").hint.expect("a hint");
        assert!(hint.starts_with("did you mean `platform`?"), "{hint}");
    }
}
