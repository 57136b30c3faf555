//! serde for types that files hold as text: written by `Display`, read by `FromStr`.

/// Implements `Serialize` and `Deserialize` by the type's text form. A bad text is an error with its hint.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(|error: crate::Diagnostic| {
                    serde::de::Error::custom(match error.hint {
                        Some(hint) => format!("{} ({hint})", error.message),
                        None => error.message,
                    })
                })
            }
        }
    };
}

pub(crate) use serde_as_text;
