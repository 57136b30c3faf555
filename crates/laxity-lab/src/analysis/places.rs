//! What is said of the places in which sets are judged.

use super::answer::{SchedulerAnswer, VerdictName};
use crate::case::PlacementSettings;
use crate::placing::FitAnswer;
use laxity_analysis::{DoubleHit, Guarantee};
use laxity_place::Fitting;

/// Where admission goes by bounds of tardiness.
const DOUBLE_HIT_IGNORED: &str = "admitted with the double hit ignored, as by a loaded amp-rm: --count-double-hit asks the hard test \
    of each task";

/// What the user should know of places by admission.
pub fn note(answer: &SchedulerAnswer, placement: &PlacementSettings) -> Option<String> {
    if placement.fit != Fitting::Test || answer.fit != Some(FitAnswer::Admission) {
        return None;
    }
    let hard = answer.verdict(Guarantee::Hard.into()).verdict == VerdictName::Schedulable;
    let below = &placement.below;
    let ignored = below.double_hit == DoubleHit::Ignored && !below.servers.is_empty();
    (ignored && !hard).then(|| DOUBLE_HIT_IGNORED.to_owned())
}
