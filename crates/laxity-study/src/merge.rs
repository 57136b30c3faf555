//! Shards of a study, added up.
//!
//! A shard's directory is a journal as a study's is ([`crate::Journal`]): its description is the study's, and says which shard it is; its
//! points are of the shard's sets alone. The sums of all shards of a point are the point, in whatever order they come.

use crate::compute::{ComputedPoints, next_round};
use crate::journal::{DESCRIPTION_FILE, Journal, POINTS_FILE, Point, Points, SHARDS, described};
use crate::shard::{SHARD, Shard, described_shard};
use crate::study::Study;
use laxity_model::{Diagnostic, Result, ShownPath as _, plural};
use serde_json::Value;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// More shards than this are not listed in a message.
const LISTED_MAX: usize = 8;

/// Adds up the shards of a study that laxity `version` has judged, and keeps the points that they make whole in its directory. `shards`
/// are their directories; if none is given, those beneath the study's. Where the axis is refined and is to be looked at more closely the
/// study is not complete: then the shards have further points to judge.
///
/// # Errors
///
/// Shards of another study or of another laxity; one that is missing, not finished, or there twice; a damaged one; an error of the file
/// system. Nothing is kept then.
pub fn merge(study: &Study, directory: &Path, shards: &[PathBuf], version: &str) -> Result<ComputedPoints> {
    let description = study.description();
    let known = Journal::points(directory, &description, |_, tally| study.is_whole(tally))?;
    let round = next_round(study, &known);
    let found = found(directory, shards)?;
    let sums = sums((study, &description, version), &round, &found)?;
    let (mut journal, mut points) = Journal::open(directory, &description, |_, tally| study.is_whole(tally))?;
    for (point, tally) in sums {
        // Another merger may have been here meanwhile, and has come to the same.
        if let Entry::Vacant(place) = points.entry(point) {
            journal.add(point, &tally)?;
            place.insert(tally);
        }
    }
    let complete = next_round(study, &points).is_empty();
    Ok(ComputedPoints { points, complete })
}

/// The directories of all shards. There may be several cuts: rounds of a refined study may be judged by different numbers of shards.
fn found(directory: &Path, shards: &[PathBuf]) -> Result<BTreeMap<Shard, PathBuf>> {
    let shards = if shards.is_empty() { beneath(directory)? } else { shards.to_vec() };
    let mut found: BTreeMap<Shard, PathBuf> = BTreeMap::new();
    for path in shards {
        let shard = shard_of(&path)?;
        if let Some(twice) = found.insert(shard, path.clone()) {
            return Err(Diagnostic::usage(format!(
                "{} and {} are both shard {shard}",
                twice.shown(),
                path.shown()
            ))
            .hint("name one of them"));
        }
    }
    if found.is_empty() {
        return Err(Diagnostic::usage(format!("{}: no shards are there", directory.join(SHARDS).shown()))
            .hint("judge them first: laxity study FILE --shard 1/2, and 2/2"));
    }
    Ok(found)
}

fn beneath(directory: &Path) -> Result<Vec<PathBuf>> {
    let folder = directory.join(SHARDS);
    let refused = |error: std::io::Error| Diagnostic::usage(format!("{}: {error}", folder.shown()));
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(refused)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(refused)?.path();
        if described(&path)?.is_some() {
            paths.push(path);
        } else if path.join(POINTS_FILE).exists() {
            return Err(Diagnostic::usage(format!(
                "{} has points, and no {DESCRIPTION_FILE} that says whose they are",
                path.shown()
            ))
            .hint(format!("remove {}, and judge that shard again", path.shown())));
        }
        // What has been begun by a shard that has written nothing yet is no shard.
    }
    paths.sort();
    Ok(paths)
}

fn shard_of(path: &Path) -> Result<Shard> {
    let description = described(path)?;
    let word = description.as_ref().and_then(|description| description.get(SHARD)?.as_str());
    word.and_then(|word| word.parse().ok()).ok_or_else(|| {
        Diagnostic::usage(format!("{} has no shard of a study", path.shown()))
            .hint("name directories that `laxity study FILE --shard I/N` has made")
    })
}

/// The sums of all shards at these points: of a cut that has judged the point whole.
fn sums(
    (study, description, version): (&Study, &Value, &str),
    round: &[Point],
    shards: &BTreeMap<Shard, PathBuf>,
) -> Result<Points> {
    let sets = study.outline.sets;
    let mut judged: BTreeMap<u32, BTreeMap<Shard, Points>> = BTreeMap::new();
    for (&shard, path) in shards {
        let own = described_shard(description, (shard, version));
        let points = Journal::points(path, &own, |point, tally| study.is_of(tally, shard.sets(point, sets)))?;
        judged.entry(shard.of()).or_default().insert(shard, points);
    }
    let (mut sums, mut open) = (Points::new(), BTreeSet::new());
    for &point in round {
        let lacking = |(&of, judged): (&u32, &BTreeMap<Shard, Points>)| {
            let lacks = |shard: &Shard| {
                shard.sets(point, sets) > 0
                    && judged.get(shard).is_none_or(|points| !points.contains_key(&point))
            };
            (of, Shard::all(of).filter(lacks).collect::<Vec<_>>())
        };
        let cuts = judged.iter().map(lacking);
        let (of, lacking) = cuts.min_by_key(|(_, lacking)| lacking.len()).expect("there are shards");
        if lacking.is_empty() {
            let mut sum = study.tally_of_none();
            judged[&of].values().filter_map(|points| points.get(&point)).for_each(|tally| sum.merge(tally));
            sums.insert(point, sum);
        }
        open.extend(lacking);
    }
    let missing: Vec<Shard> = open.iter().filter(|shard| !shards.contains_key(shard)).copied().collect();
    match (missing.is_empty(), open.is_empty()) {
        (false, _) => Err(unfinished("missing", &missing)),
        (true, false) => Err(unfinished("not finished", &open.into_iter().collect::<Vec<_>>())),
        (true, true) => Ok(sums),
    }
}

fn unfinished(why: &str, shards: &[Shard]) -> Diagnostic {
    let mut listed: Vec<String> = shards.iter().take(LISTED_MAX).map(Shard::to_string).collect();
    if shards.len() > LISTED_MAX {
        listed.push("...".to_owned());
    }
    Diagnostic::usage(format!("{} {why}: {}", plural(shards.len(), "shard"), listed.join(", ")))
        .hint(format!("judge what is left, and merge again: laxity study FILE --shard {}", shards[0]))
}
