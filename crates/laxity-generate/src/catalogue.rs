//! All generators: what the command line, `laxity list` and a set's provenance know by name.

use crate::generator::Description;

/// All generators: each is a module with a description, and a line here.
pub static GENERATORS: &[Description] = &[
    crate::emberson::DESCRIPTION,
    crate::uunifast::DESCRIPTION,
    crate::unc::DESCRIPTION,
    crate::waters::DESCRIPTION,
    crate::mtt::DESCRIPTION,
    crate::calandrino2007::DESCRIPTION,
];

/// The generator with this name, if there is one.
pub fn description(name: &str) -> Option<&'static Description> {
    GENERATORS.iter().find(|generator| generator.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_that_is_described_is_in_the_catalogue() {
        let names = GENERATORS.iter().map(|generator| generator.name);
        laxity_seeds::assert_all_listed(
            env!("CARGO_MANIFEST_DIR"),
            ": Description = Description {\n    name: \"",
            names,
        );
    }
}
