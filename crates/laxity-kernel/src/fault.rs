//! Faults on request, for tests: `LAXITY_FAULT=WHAT@PLACE`.

/// What is to go wrong at this place, if anything.
pub(crate) fn at(place: &str) -> Option<String> {
    let wanted = std::env::var("LAXITY_FAULT").ok()?;
    let (what, where_) = wanted.split_once('@')?;
    (where_ == place).then(|| what.to_owned())
}

/// Whether this is to go wrong at this place.
pub(crate) fn is(what: &str, place: &str) -> bool {
    at(place).is_some_and(|wanted| wanted == what)
}
