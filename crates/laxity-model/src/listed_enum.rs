//! Enums that list their values.

/// An enum, and `ALL`: all of its values in the order in which they are written. No list of them has to be kept by hand, and none can
/// lack a value.
///
/// ```
/// laxity_model::listed_enum! {
///     /// Which way.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum Way {
///         /// Up.
///         Up,
///         /// Down.
///         Down,
///     }
/// }
/// assert_eq!(Way::ALL, [Way::Up, Way::Down]);
/// ```
#[macro_export]
macro_rules! listed_enum {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident { $($(#[$of_value:meta])* $value:ident $(= $number:expr)?,)+ }) => {
        $(#[$meta])*
        $visibility enum $name {
            $($(#[$of_value])* $value $(= $number)?,)+
        }

        impl $name {
            /// All values, in the order in which they are written above.
            $visibility const ALL: [$name; [$(stringify!($value)),+].len()] = [$($name::$value),+];
        }
    };
}
