//! A part of a study's sets: those that one of several processes judges, each on its own, maybe on its own machine.
//!
//! Sets are dealt out a few at a time, those of every point, so that all parts take about as long. Which part a set belongs to depends
//! on its point, its number and the number of parts alone.

use crate::journal::{Point, SHARDS};
use laxity_model::{Diagnostic, Result, shown};
use serde_json::{Value, json};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// In a shard's description: which one it is.
pub(crate) const SHARD: &str = "shard";

/// Sets that are judged together.
const CHUNK: u64 = 8;

/// More parts than this are more than there are machines.
pub const SHARDS_MOST: u32 = 100_000;

/// Part `number` of `of` parts of a study's sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// All sets.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// Part `number`, from 1, of `of` parts.
    ///
    /// # Errors
    ///
    /// There is no such part, or there are too many.
    pub fn new(number: u32, of: u32) -> Result<Shard> {
        if number == 0 || number > of || of > SHARDS_MOST {
            return Err(Diagnostic::usage(format!(
                "shard {number}/{of}: shards are numbered from 1 to their number, which is at most {SHARDS_MOST}"
            ))
            .hint("write I/N, such as 3/10 for the third of ten"));
        }
        Ok(Shard { number, of })
    }

    /// Which part, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many parts there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// All parts of as many.
    pub fn all(of: u32) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |number| Shard { number, of })
    }

    /// How many of a point's sets are this part's.
    pub fn sets(self, point: Point, sets: u64) -> u64 {
        let Some(last) = self.chunks(point, sets).checked_sub(1) else { return 0 };
        let of_last = self.chunk(point, last, sets);
        last * CHUNK + (of_last.end - of_last.start)
    }

    /// In how many chunks those sets are judged.
    pub(crate) fn chunks(self, point: Point, sets: u64) -> u64 {
        sets.div_ceil(CHUNK).saturating_sub(self.first(point)).div_ceil(u64::from(self.of))
    }

    /// The sets of one of them.
    pub(crate) fn chunk(self, point: Point, at: u64, sets: u64) -> Range<u64> {
        let first = (self.first(point) + at * u64::from(self.of)) * CHUNK;
        first..(first + CHUNK).min(sets)
    }

    /// The first chunk of a point that is this part's. Points with few chunks begin with different parts.
    fn first(self, point: Point) -> u64 {
        let of = u64::from(self.of);
        let mixed = point.value.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(point.family as u64);
        let turned = mixed.wrapping_mul(0xd1b5_4a32_d192_ed03) >> 32;
        (turned + u64::from(self.number)) % of
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Shard> {
        let numbers =
            text.trim().split_once('/').and_then(|(number, of)| Some((digits(number)?, digits(of)?)));
        let Some((number, of)) = numbers else {
            return Err(Diagnostic::usage(format!("`{}` is no shard of a study", shown(text)))
                .hint("write I/N, such as 3/10 for the third of ten"));
        };
        Shard::new(number, of)
    }
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Where a shard of a study in `directory` keeps its points.
pub fn shard_directory(directory: &Path, shard: Shard) -> PathBuf {
    directory.join(SHARDS).join(format!("{}-of-{}", shard.number(), shard.of()))
}

/// A study's description, as a shard's says it. Shards are judged apart from each other, maybe by programs of different commits, which
/// have one number: so it names the laxity that judges, as `laxity --version` does.
pub(crate) fn described_shard(description: &Value, (shard, version): (Shard, &str)) -> Value {
    let mut description = description.clone();
    description[SHARD] = json!(shard.to_string());
    description["laxity"] = json!(version);
    description
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_in_one_part() {
        for of in [1, 2, 3, 7, 64] {
            for sets in [1, 7, 8, 9, 100, 1_001] {
                for point in [(0, 1), (0, 2), (1, 2), (3, 640)].map(|(family, value)| Point { family, value })
                {
                    let mut all: Vec<u64> = Vec::new();
                    for shard in Shard::all(of) {
                        let own = (0..shard.chunks(point, sets)).flat_map(|at| shard.chunk(point, at, sets));
                        let own: Vec<u64> = own.collect();
                        assert_eq!(shard.sets(point, sets), own.len() as u64, "{shard}");
                        all.extend(own);
                    }
                    all.sort_unstable();
                    assert_eq!(
                        all,
                        (0..sets).collect::<Vec<u64>>(),
                        "{of} parts of {sets} sets at {point:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn parts_of_many_points_with_few_sets_are_about_as_large() {
        for of in [4, 10, 25] {
            let own = |shard: Shard| -> u64 {
                (1..=1_000).map(|value| shard.sets(Point { family: 0, value: value * 10 }, 8)).sum()
            };
            let sizes: Vec<u64> = Shard::all(of).map(own).collect();
            let even = 8_000 / u64::from(of);
            assert!(sizes.iter().all(|size| (even / 2..even * 2).contains(size)), "{sizes:?}");
        }
    }

    #[test]
    fn it_is_read_as_it_is_written() {
        for shard in Shard::all(12) {
            assert_eq!(shard.to_string().parse(), Ok(shard));
        }
        for (text, why) in [
            ("3", "is no shard"),
            ("", "is no shard"),
            ("+3/10", "is no shard"),
            ("3/ten", "is no shard"),
            ("0/10", "numbered from 1"),
            ("11/10", "numbered from 1"),
            ("1/0", "numbered from 1"),
            ("1/100001", "at most 100000"),
        ] {
            let refused = text.parse::<Shard>().expect_err(text);
            assert!(refused.message.contains(why) && refused.hint.is_some(), "{refused}");
        }
    }
}
