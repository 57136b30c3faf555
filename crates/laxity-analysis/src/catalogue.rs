//! All tests by name.

use crate::{
    AnyGlobalEdf, Bak, Bar, Bcl, BclIterative, CompliantVector, DeferrableRta, DeferrableTardiness, Density,
    DeviAnderson, FfDbf, FixedPriorityRta, FixedPriorityTardiness, Gfb, GlobalFixedPriorityGuan,
    GlobalFixedPriorityRta, La, Load, Pfair, PriorityPoints, Qpa, Rta, Test, TimeDemand, ZeroLaxity,
};

const TESTS: &[&dyn Test] = &[
    // Global EDF, hard.
    &Gfb,
    &Bak,
    &Bar,
    &Bcl,
    &BclIterative,
    &Rta,
    &FfDbf,
    &Load,
    &La,
    &AnyGlobalEdf,
    // EDZL.
    &ZeroLaxity,
    // Global EDF and G-FL, soft.
    &DeviAnderson,
    &CompliantVector { priority_points: PriorityPoints::Deadline },
    &CompliantVector { priority_points: PriorityPoints::FairLateness },
    // Global fixed priorities.
    &GlobalFixedPriorityRta,
    &GlobalFixedPriorityGuan,
    // Optimal in whole quanta.
    &Pfair,
    // One processor.
    &Density,
    &Qpa,
    &FixedPriorityRta,
    &TimeDemand,
    &FixedPriorityTardiness,
    // The same below a deferrable server, the first task.
    &DeferrableRta,
    &DeferrableTardiness,
];

/// All tests: no two have the same name.
pub fn tests() -> &'static [&'static dyn Test] {
    TESTS
}

/// The test of this name.
pub fn test(name: &str) -> Option<&'static dyn Test> {
    TESTS.iter().copied().find(|test| test.info().name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_that_is_described_is_in_the_catalogue() {
        let names = tests().iter().map(|test| test.info().name);
        laxity_seeds::assert_all_listed(
            env!("CARGO_MANIFEST_DIR"),
            ": TestInfo = TestInfo {\n    name: \"",
            names,
        );
    }
}
