//! Names in files and for the kernel.

use laxity_deploy::{comms, file_name, file_names};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn the_kernels_names_are_the_first_fifteen_bytes_where_that_tells_them_apart() {
    let of = |names: &[&str]| comms(names.iter().copied());
    assert_eq!(of(&["inverse-kinematics", "camera"]), ["inverse-kinemat", "camera"]);
    assert_eq!(
        of(&["inverse-kinematics", "inverse-kinematics-2", "inverse-kinemat"]),
        ["inverse-kinemat", "inverse-kinem~2", "inverse-kinem~3"]
    );
    // 15 bytes end within the eighth character, and within no character.
    assert_eq!(of(&["ääääääääää"]), ["äääääää"]);
}

laxity_seeds::properties! {
    #[test]
    fn names_are_harmless_and_differ(names in proptest::collection::vec("\\PC{0,60}|a{14,17}|laxity-deploy.{0,4}", 1..40)) {
        let count = names.len();
        let each = || names.iter().map(String::as_str);
        let files = file_names(each());
        prop_assert_eq!(files.iter().map(|name| name.to_ascii_lowercase()).collect::<BTreeSet<_>>().len(), count);
        for name in files.into_iter().chain(each().map(file_name)) {
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{}", name);
            prop_assert!(!name.is_empty() && !name.starts_with(['.', '-']) && name.len() < 80, "{}", name);
        }
        let comms = comms(each());
        prop_assert_eq!(comms.iter().collect::<BTreeSet<_>>().len(), count);
        prop_assert!(comms.iter().all(|comm| comm.len() <= 15));
    }
}
