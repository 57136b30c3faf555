//! Options whose values are single words.

/// Reads and writes an enum without fields: `words! { Type, "what": "word" => Type::Value, ... }`.
macro_rules! words {
    ($type:ty, $what:literal: $($word:literal => $value:expr),+) => {
        impl std::str::FromStr for $type {
            type Err = laxity_model::Diagnostic;

            fn from_str(text: &str) -> laxity_model::Result<Self> {
                match text.trim() {
                    $($word => Ok($value),)+
                    _ => Err(laxity_model::Names::of($what, &[$($word),+]).unknown(text)),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                [$(($value, $word)),+].iter().filter(|(value, _)| value == self).try_for_each(|(_, word)| f.pad(word))
            }
        }
    };
}
pub(crate) use words;
