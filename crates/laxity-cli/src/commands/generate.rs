//! `laxity generate`: one subcommand per generator, its options those of the generators' own catalogue.

use crate::output;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use laxity_generate::{
    COMMON_PARAMETERS, Description, Fallback, GENERATORS, Parameter, Parameters, Request, lelli2012,
};
use laxity_model::{ByteSize, Diagnostic, Result, TaskSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const GRID: &str = "lelli2012";
const GRID_SUMMARY: &str =
    "the task sets of lelli2012's experiment: U/m .6 .7 .8 x 2m 3m 4m tasks x working sets";

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
}

/// Format of a set for which neither `--format` nor the file's name says one.
const DEFAULT_FORMAT: &str = "toml";
const FORMATS: [&str; 3] = [DEFAULT_FORMAT, "json", "csv"];
/// The largest set of the grid has 4m tasks, and a generator makes at most 4096.
const GRID_CORES_MAX: i64 = 1024;

impl Args for GenerateArguments {
    fn augment_args(command: Command) -> Command {
        command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(GENERATORS.iter().map(generator_command))
            .subcommand(grid_command())
            .after_help(
                "The same seed gives the same bytes on every machine.\n\nExamples:\n  \
                 laxity generate emberson -n 8 -u 1.6 --wss 16KiB -o set.toml\n  \
                 laxity generate unc -u 3.2 --utilizations exp-light --periods logunif-moderate --count 100 -o sets\n  \
                 laxity generate mtt --distribution mwl -u 24 -o mwl.toml\n  \
                 laxity generate lelli2012 --cores 2 -o grid",
            )
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
        let common = if generator == GRID { &COMMON_PARAMETERS[..0] } else { &COMMON_PARAMETERS[..] };
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
        // Refused: the distribution says it.
        let is_refused = generator.name == "mtt" && parameter.name == "wss";
        argument(parameter, true).hide(is_refused)
    });
    output_arguments(Command::new(generator.name).about(generator.summary), "1")
        .long_about(format!("{}\n\nSource: {}", generator.summary, generator.source))
        .args(own)
        .args(common)
}

fn argument(parameter: &'static Parameter, common: bool) -> Arg {
    let mut argument = Arg::new(parameter.name).long(parameter.name).value_name("VALUE").help(parameter.help);
    // So that a negative number meets the rule it breaks, not "unexpected argument".
    argument = argument.allow_hyphen_values(true);
    argument = match parameter.name {
        "tasks" => argument.short('n'),
        "utilization" => argument.short('u'),
        _ => argument,
    };
    if common {
        argument = argument.help_heading("Options of all generators");
    }
    match parameter.fallback {
        Fallback::Required => argument.required(true),
        Fallback::Absent => argument,
        Fallback::Value(value) => argument.default_value(value),
    }
}

fn grid_command() -> Command {
    let cores = Arg::new("cores")
        .long("cores")
        .value_name("M")
        .required(true)
        .value_parser(value_parser!(u32).range(1..=GRID_CORES_MAX));
    let wss = Arg::new("wss").long("wss").value_name("SIZES").default_value("16KiB,256KiB");
    output_arguments(Command::new(GRID).about(GRID_SUMMARY), "3")
        .long_about(format!("{GRID_SUMMARY}\n\nSource: lelli2012, 5.3"))
        .arg(cores.help("number of processors m"))
        .arg(wss.help("working set sizes"))
}

fn output_arguments(command: Command, count: &'static str) -> Command {
    let number = value_parser!(u64);
    let counted = if count == "1" { "number of sets" } else { "sets per cell of the grid" };
    command.next_help_heading("Output").args([
        Arg::new("seed").long("seed").value_name("N").default_value("1").value_parser(number).help("seed of everything random"),
        Arg::new("count").long("count").value_name("N").default_value(count).value_parser(value_parser!(u64).range(1..=1_000_000)).help(counted),
        Arg::new("out").short('o').long("out").value_name("PATH").value_parser(value_parser!(PathBuf)).help(
            "a file (its extension says the format), or a directory for several sets; default: standard output",
        ),
        Arg::new("format").long("format").value_name("FORMAT").value_parser(FORMATS).help("format of the sets; default: what the file's name says, or toml"),
        Arg::new("json").long("json").action(clap::ArgAction::SetTrue).help("print a JSON array of sets"),
    ])
}

/// Names and one line each, for `laxity list`.
pub fn generators() -> Vec<(String, String)> {
    let own = GENERATORS.iter().map(|g| (g.name.to_owned(), g.summary.to_owned()));
    own.chain([(GRID.to_owned(), GRID_SUMMARY.to_owned())]).collect()
}

pub fn generate(arguments: &GenerateArguments) -> Result<ExitCode> {
    let single = arguments.generator != GRID && arguments.count == 1;
    if !single && arguments.out.is_none() && !arguments.json {
        return Err(Diagnostic::usage("several sets do not go into one stream")
            .hint("name a directory with -o DIR, or print an array with --json"));
    }
    let format = match &arguments.out {
        Some(path) if single => format_of(path, arguments.format.as_deref())?,
        _ => arguments.format.as_deref().unwrap_or(DEFAULT_FORMAT),
    };
    let mut array = Vec::new();
    let mut written = 0u64;
    for_each_set(arguments, &mut |set| {
        written += 1;
        match &arguments.out {
            Some(path) if single => write_set(path, format, set)?,
            Some(folder) => {
                create_folder(folder)?;
                write_set(&folder.join(format!("{}.{format}", set.name())), format, set)?;
            }
            None if arguments.json => {}
            None => output::print_data(&text_of(set, format))?,
        }
        if arguments.json {
            array.push(set.to_json_value());
        }
        Ok(())
    })?;
    if arguments.json {
        output::print_json(&array)?;
    }
    if let Some(path) = &arguments.out {
        output::say(format_args!("wrote {written} task set(s) to {}", path.display()));
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

/// The format of the one file to write. Its extension is what every reader goes by, so they must agree.
fn format_of<'a>(path: &'a Path, asked: Option<&'a str>) -> Result<&'a str> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = FORMATS.contains(&extension);
    match asked {
        Some(asked) if known && asked != extension => Err(Diagnostic::usage(format!(
            "--format {asked} contradicts the name {}, which readers take for {extension}",
            path.display()
        ))
        .hint(format!("name the file *.{asked}, or leave --format out"))),
        _ if extension == "xml" => Err(Diagnostic::usage(format!(
            "cannot write {}: laxity reads XML (of SimSo) but does not write it",
            path.display()
        ))
        .hint(format!("name the file *.{}", FORMATS.join(", *.")))),
        Some(asked) => Ok(asked),
        None if known => Ok(extension),
        None => Ok(DEFAULT_FORMAT),
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

fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| output::cannot_write(folder, &error))
}

fn write_set(path: &Path, format: &str, set: &TaskSet) -> Result<()> {
    output::write_file(path, &text_of(set, format))
}
