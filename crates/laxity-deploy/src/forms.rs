//! The forms of a plan: files for every way to start the threads, and an index of them.

mod index;
mod kernel;
mod oci;
mod program;
mod ros2;
mod script;
mod systemd;

use crate::plan::{DeployPlan, PLAN_FILE};

/// Names of the directories that forms of several files have.
pub const FOLDERS: &[&str] =
    &[systemd::FOLDER, program::C, program::RUST, program::PYTHON, oci::FOLDER, ros2::FOLDER, kernel::FOLDER];
/// The endings of all files.
pub const ENDINGS: &[&str] =
    &[".c", ".h", ".json", ".md", ".py", ".rs", ".service", ".sh", ".slice", ".target", ".txt", ".yaml"];

/// A file to deploy with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployFile {
    /// The directory that it is in, of those below the directory of the plan.
    pub folder: Option<&'static str>,
    /// File name.
    pub name: String,
    /// Content.
    pub text: String,
}

impl DeployFile {
    fn at_top(name: &str, text: String) -> Self {
        DeployFile { folder: None, name: name.to_owned(), text }
    }

    fn inside(folder: &'static str, name: impl Into<String>, text: String) -> Self {
        DeployFile { folder: Some(folder), name: name.into(), text }
    }
}

/// The names of the systemd services of a plan's threads, in their order.
pub fn service_names(plan: &DeployPlan) -> Vec<String> {
    systemd::Units::of(plan).services
}

/// A template with what stands for each `@PLACE@`.
fn filled(template: &str, places: &[(&str, String)]) -> String {
    // What is filled in is not looked at again: a name may look like a place.
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('@') {
        text += before;
        let named = after.split_once('@').and_then(|(name, after)| {
            let (_, filled) = places.iter().find(|(place, _)| *place == name)?;
            Some((filled, after))
        });
        match named {
            Some((filled, after)) => {
                text += filled;
                rest = after;
            }
            None => {
                text.push('@');
                rest = after;
            }
        }
    }
    text + rest
}

/// What one form comes to: its files, or why it cannot say the plan.
type Form = std::result::Result<Vec<DeployFile>, String>;

/// All files of a plan, the plan itself and the index among them.
pub fn files(plan: &DeployPlan) -> Vec<DeployFile> {
    let oci = oci::files(plan);
    let ros2 = ros2::files(plan);
    let mut files = vec![
        DeployFile::at_top(PLAN_FILE, plan.to_json()),
        DeployFile::at_top(index::FILE, index::text(plan, oci.as_ref().err(), ros2.as_ref().err())),
        script::file(plan),
    ];
    files.extend(systemd::files(plan));
    files.extend(program::files(plan));
    files.extend(oci.unwrap_or_default());
    files.extend(ros2.unwrap_or_default());
    files.push(kernel::file(plan));
    files
}
