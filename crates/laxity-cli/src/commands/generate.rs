//! `laxity generate`: one subcommand per generator, its options those of the generators' own catalogue.

use crate::arguments::whole;
use crate::output::{self, JsonArray};
use crate::{interrupt, within};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use laxity_generate::lelli2012::{GRID, GRID_SUMMARY};
use laxity_generate::{
    COMMON_PARAMETERS, Description, Fallback, GENERATORS, Parameter, Parameters, Request, lelli2012,
};
use laxity_model::{
    ByteSize, Diagnostic, Existing, Result, STANDARD, ShownPath as _, TaskSet, check_writable, plural,
    write_file,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `laxity generate GENERATOR ...`.
pub struct GenerateArguments {
    generator: String,
    parameters: Parameters,
    cores: u32,
    seed: u64,
    count: u64,
    out: Option<PathBuf>,
    format: Option<String>,
    json: bool,
    force: bool,
}

/// Heading of the options that a generator has for itself.
const OWN: &str = "This generator";

const AFTER: &str = "\
The same seed gives the same bytes on every machine. A set goes to standard output, or to the file of -o, whose extension says the \
format (toml, json, csv); several sets go into the directory of -o. `laxity generate GENERATOR --help` has the options of each.

Examples:
  laxity generate emberson -n 8 -u 1.6 --wss 16KiB -o generated.toml
  laxity generate unc -u 3.2 --utilizations exp-light \\
      --periods logunif-moderate --count 100 -o hundred
  laxity generate mtt --distribution mwl -u 24 -o mwl.toml
  laxity generate waters -u 1.5 --seed 7 | laxity analyze - --cpus 4
  laxity generate lelli2012 --cpus 2 -o grid";

/// Format of a set for which neither `--format` nor the file's name says one.
const DEFAULT_FORMAT: &str = "toml";
const FORMATS: [&str; 3] = [DEFAULT_FORMAT, "json", "csv"];
/// The largest set of the grid has 4m tasks, and 27 sets of each size are made.
const GRID_CORES_MAX: u64 = 1024;

impl Args for GenerateArguments {
    fn augment_args(command: Command) -> Command {
        command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(GENERATORS.iter().map(generator_command))
            .subcommand(grid_command())
            .after_long_help(AFTER)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for GenerateArguments {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        let (generator, matches) = matches.subcommand().expect("clap requires a subcommand");
        let mut parameters = Parameters::new();
        let own = GENERATORS.iter().find(|g| g.name == generator).map_or(&[][..], |g| g.parameters);
        let common = if generator == GRID { &[] } else { COMMON_PARAMETERS };
        for parameter in own.iter().chain(common) {
            if let Some(value) = matches.get_one::<String>(parameter.name) {
                parameters.insert(parameter.name.to_owned(), value.clone());
            }
        }
        if generator == GRID {
            let wss = matches.get_one::<String>("wss").expect("it has a default");
            parameters.insert("wss".to_owned(), wss.clone());
        }
        Ok(GenerateArguments {
            generator: generator.to_owned(),
            parameters,
            cores: matches.try_get_one("cores").ok().flatten().copied().unwrap_or_default(),
            seed: *matches.get_one("seed").expect("it has a default"),
            count: *matches.get_one("count").expect("it has a default"),
            out: matches.get_one("out").cloned(),
            format: matches.get_one::<String>("format").cloned(),
            json: matches.get_flag("json"),
            force: matches.get_flag("force"),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn generator_command(generator: &Description) -> Command {
    let own = generator.parameters.iter().map(|parameter| argument(parameter, false));
    let common = COMMON_PARAMETERS.iter().map(|parameter| {
        let is_refused = generator.makes.iter().any(|(name, ..)| *name == parameter.name);
        argument(parameter, true).hide(is_refused)
    });
    output_arguments(Command::new(generator.name).about(sentence(generator.summary)), "1")
        .long_about(format!("{}\n\nSource: {}", sentence(generator.summary), generator.source))
        .after_long_help(format!("Examples:\n  laxity generate {} {}", generator.name, generator.example))
        .args(own)
        .args(common)
}

/// With a capital letter, unless a variable such as n comes first.
fn sentence(words: &str) -> String {
    let (first, rest) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    if rest.starts_with(' ') { words.to_owned() } else { first.to_uppercase() + rest }
}

fn argument(parameter: &'static Parameter, common: bool) -> Arg {
    let mut argument =
        Arg::new(parameter.name).long(parameter.name).value_name("VALUE").help(sentence(parameter.help));
    // So that a negative number meets the rule it breaks, not "unexpected argument".
    argument = argument.allow_hyphen_values(true);
    argument = match parameter.name {
        "tasks" => argument.short('n'),
        "utilization" => argument.short('u'),
        _ => argument,
    };
    argument = argument.help_heading(if common { "All generators" } else { OWN });
    match parameter.fallback {
        Fallback::Required => argument.required(true),
        Fallback::Absent => argument,
        Fallback::Value(value) => argument.default_value(value),
    }
}

fn grid_command() -> Command {
    let cores = Arg::new("cores")
        .long("cpus")
        .value_name("M")
        .required(true)
        .value_parser(whole::<u32>(1..=GRID_CORES_MAX));
    let wss = Arg::new("wss").long("wss").value_name("SIZES").default_value("16KiB,256KiB");
    output_arguments(Command::new(GRID).about(sentence(GRID_SUMMARY)), "3")
        .long_about(format!("{}\n\nSource: lelli2012, 5.3", sentence(GRID_SUMMARY)))
        .after_long_help(format!("Examples:\n  laxity generate {GRID} --cpus 4 --count 1 -o grid"))
        .arg(cores.help("Number of CPUs m").help_heading(OWN))
        .arg(wss.help("Working set sizes").help_heading(OWN))
}

fn output_arguments(command: Command, count: &'static str) -> Command {
    let number = whole::<u64>(0..=u64::MAX);
    let counted = if count == "1" { "Number of sets" } else { "Sets per point of the grid" };
    command.next_help_heading("Output").args([
        Arg::new("seed").long("seed").value_name("N").default_value("1").value_parser(number).help("Seed of everything random"),
        Arg::new("count").long("count").value_name("N").default_value(count).value_parser(whole::<u64>(1..=1_000_000)).help(counted),
        Arg::new("out").short('o').long("out").value_name("PATH").value_parser(value_parser!(PathBuf)).help(
            "A file (its extension says the format), a directory for several sets, or - for standard output, the default",
        ),
        Arg::new("force").long("force").action(clap::ArgAction::SetTrue).requires("out").help("Replace files that are there already"),
        Arg::new("format").long("format").value_name("FORMAT").value_parser(FORMATS).help("Format of the sets; default: what the file's name says, or toml"),
        Arg::new("json").long("json").action(clap::ArgAction::SetTrue).help("Print a JSON array of sets"),
    ])
}

/// Hands the sets to the program that calls.
fn hand_back(arguments: &GenerateArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    for_each_set(arguments, &mut |set| {
        within::takes_set(set.clone());
        laxity_lab::check_interrupt(interrupt, "the sets are not complete")
    })?;
    Ok(ExitCode::SUCCESS)
}

pub fn generate(arguments: &GenerateArguments) -> Result<ExitCode> {
    if arguments.out.as_deref().is_some_and(within::is_in_memory) {
        return hand_back(arguments);
    }
    let single = arguments.generator != GRID && arguments.count == 1;
    let existing = Existing::forced(arguments.force);
    let out = arguments.out.as_deref().filter(|path| *path != Path::new(STANDARD));
    if !single && !arguments.json {
        check_folder(out, arguments.format.as_deref())?;
    }
    let format = match out {
        Some(path) if single => {
            check_writable(path, existing)?;
            format_of(path, arguments.format.as_deref())?
        }
        _ => arguments.format.as_deref().unwrap_or(DEFAULT_FORMAT),
    };
    if let Some(folder) = out
        && !single
        && folder.is_dir()
        && existing == Existing::Refuse
    {
        for_each_set(arguments, &mut |set| check_writable(&set_path(folder, set, format), existing))?;
    }
    let mut array = JsonArray::default();
    let mut written = 0u64;
    for_each_set(arguments, &mut |set| {
        written += 1;
        match out {
            Some(path) if single => write_set(path, format, set, existing)?,
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .map_err(|error| laxity_model::cannot_write(folder, &error))?;
                write_set(&set_path(folder, set, format), format, set, existing)?;
            }
            None if arguments.json => {}
            None => output::print_data(&text_of(set, format))?,
        }
        if arguments.json {
            array.push(&set.to_json_value())?;
        }
        Ok(())
    })?;
    if arguments.json {
        array.finish()?;
    }
    if let Some(path) = out {
        output::note(format_args!("wrote {} to {}", plural(written, "task set"), path.shown()));
    }
    Ok(ExitCode::SUCCESS)
}

fn for_each_set(arguments: &GenerateArguments, take: &mut dyn FnMut(&TaskSet) -> Result<()>) -> Result<()> {
    if arguments.generator == GRID {
        let sizes: Vec<ByteSize> = arguments.parameters["wss"]
            .split(',')
            .map(str::parse)
            .collect::<Result<_>>()
            .map_err(|error: Diagnostic| error.context("--wss"))?;
        for cell in lelli2012::grid(arguments.cores, &sizes, arguments.seed)? {
            cell.sets(arguments.count)?.iter().try_for_each(&mut *take)?;
        }
        return Ok(());
    }
    let prepared =
        Request::from_parameters(&arguments.generator, arguments.seed, &arguments.parameters)?.prepare()?;
    (0..arguments.count).try_for_each(|index| take(&prepared.generate(index)?))
}

/// Several sets go into a directory, not into one stream or one file.
fn check_folder(out: Option<&Path>, asked: Option<&str>) -> Result<()> {
    let Some(path) = out else {
        return Err(Diagnostic::usage("several sets do not go into one stream")
            .hint("name a directory with -o DIR, or print an array with --json"));
    };
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !FORMATS.contains(&extension) || path.is_dir() {
        return Ok(());
    }
    let stem = path.with_extension("");
    Err(Diagnostic::usage(format!(
        "-o {}: several sets do not go into one file, and a directory of this name looks like one",
        path.shown()
    ))
    .hint(format!(
        "name a directory, as in -o {} --format {}",
        stem.shown(),
        asked.unwrap_or(extension)
    )))
}

/// The format of the one file to write. Its extension is what every reader goes by, so they must agree.
fn format_of<'a>(path: &'a Path, asked: Option<&'a str>) -> Result<&'a str> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = FORMATS.contains(&extension);
    match asked {
        Some(asked) if known && asked != extension => Err(Diagnostic::usage(format!(
            "--format {asked} contradicts the name {}, which readers take for {extension}",
            path.shown()
        ))
        .hint(format!("name the file *.{asked}, or leave --format out"))),
        _ if extension == "xml" => Err(Diagnostic::usage(format!(
            "cannot write {}: laxity reads XML (of SimSo) but does not write it",
            path.shown()
        ))
        .hint(format!("name the file *.{}", FORMATS.join(", *.")))),
        Some(asked) => Ok(asked),
        None if known => Ok(extension),
        None if extension.is_empty() => Ok(DEFAULT_FORMAT),
        None => {
            Err(Diagnostic::usage(format!("cannot write {}: laxity writes no .{extension}", path.shown()))
                .hint(format!("name the file *.{}, or say --format {DEFAULT_FORMAT}", FORMATS.join(", *."))))
        }
    }
}

fn text_of(set: &TaskSet, format: &str) -> String {
    match format {
        "json" => set.to_json(),
        "csv" => {
            let exported = set.to_csv();
            exported.warnings.iter().for_each(|warning| output::say(format_args!("warning: {warning}")));
            exported.text
        }
        _ => set.to_toml(),
    }
}

/// Where a set of several goes.
fn set_path(folder: &Path, set: &TaskSet, format: &str) -> PathBuf {
    folder.join(format!("{}.{format}", set.name()))
}

fn write_set(path: &Path, format: &str, set: &TaskSet, existing: Existing) -> Result<()> {
    write_file(path, text_of(set, format).as_bytes(), existing)
}
