//! The command line.

pub mod batch;
pub mod channel;
pub mod cluster;
pub mod fences;
pub mod game;
pub mod litmus;
pub mod live;
pub mod options;
pub mod package;
pub mod reduce;
pub mod step;
pub mod test;
pub mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use weir::{ENGINES, Engine};

use crate::files;
use batch::{BatchArgs, ReportFormat};
use litmus::Litmus;
use options::{
    AutomataArgs, EvidenceArgs, FormArg, Format, HtmlArg, LanguageArg, ModelArg, ModelsArg,
    Programs, SearchArgs, engines, seconds, threads,
};

/// What concurrent programs can do on weak memory.
#[derive(Debug, Parser)]
#[command(name = "weir", version, about, max_term_width = 100)]
#[command(after_help = "\
Exit status: 0 everything holds, 1 something is violated, 2 the input or the
command line is wrong, 3 something is unknown, 4 a checker rejects what Weir found,
which is a fault of Weir.

Example: weir check examples/peterson.weir --model tso")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use color
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,

    #[command(flatten)]
    pub limits: LimitArgs,
}

impl Cli {
    /// Parses a command line, and returns which arguments were given explicitly.
    ///
    /// # Errors
    /// What is wrong with it, or help.
    pub fn parse_with_matches(
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, ArgMatches), clap::Error> {
        let matches = Self::command().try_get_matches_from(words)?;
        let cli =
            Self::from_arg_matches(&matches).map_err(|error| error.format(&mut Self::command()))?;
        Ok((cli, matches))
    }
}

/// The limits that hold for everything that a command does.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct LimitArgs {
    /// Stop after this many seconds, in any phase of the command
    #[arg(long, global = true, value_parser = seconds, value_name = "SECONDS")]
    pub timeout: Option<Duration>,
    /// Stop when Weir uses this many MiB [default: three quarters of the machine's memory,
    /// at most 8192]
    #[arg(long, global = true, value_parser = clap::value_parser!(u32).range(1..), value_name = "MIB")]
    pub memory: Option<u32>,
    /// Search with this many threads; the answer is the same for any number [default: one for
    /// each processor]
    #[arg(long, global = true, value_parser = threads, value_name = "N")]
    pub threads: Option<u16>,
}

/// When to use color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "help would show it")]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Sets when later output is colored.
    pub fn choose(self) {
        match self {
            Self::Auto => {}
            Self::Always => anstream::ColorChoice::Always.write_global(),
            Self::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer every property of programs, under TSO or other memory models
    Check(Check),
    /// List all final states of a program
    Outcomes(Outcomes),
    /// Compare the answers under several memory models
    Compare(Compare),
    /// Take the place of clang in a build, and write what is compiled for `weir check`
    Cc(Compiler),
    /// Take the place of clang++ in a build, and write what is compiled for `weir check`
    #[command(name = "c++")]
    Cxx(Compiler),
    /// Find the least fences that repair a program, or those that it does not need
    Fences(fences::Fences),
    /// Check a witness, a certificate or a strategy, independently of the engines
    Certify(Certify),
    /// Say whether a memory model adds anything to SC: traces, states
    Robust(Robust),
    /// Check infinite runs: progress of objects, termination of programs
    Live(live::Live),
    /// Check programs again whenever their files change
    Watch(watch::Watch),
    /// Compare the answers about programs with what the programs expect
    Test(test::Test),
    /// Step through a program by hand
    Step(step::Step),
    /// Print a program with every access to memory as a statement
    Show(Show),
    /// Print a program in another language
    Convert(Convert),
    /// Give programs their usual form: indentation and blanks
    Fmt(Fmt),
    /// Draw the states that an engine explores
    Graph(Graph),
    /// Print the memory models, and whether reachability is decidable under them
    Models(Models),
    /// Say which compilers were found, and whether Weir can use them
    Doctor,
    /// Work with litmus tests
    Litmus(Litmus),
    /// Work with channel machines
    Channel(channel::Channel),
    /// Say who wins a game between a program and its memory, and how
    Game(game::Game),
    /// Print a reduction from an undecidable problem
    Reduce(reduce::Reduce),
    /// Try programs in a browser, on a page that this machine serves to itself
    Serve(Serve),
    /// Answer an editor, by the Language Server Protocol
    Lsp(Lsp),
    /// Print what is wrong with a text, as a list in JSON
    #[command(hide = true)]
    Errors(Errors),
    /// Explain a term: a memory model, a relaxation, a verdict, an engine, a property
    Explain(Explain),
    /// Print a script that completes command lines in a shell
    Completions(Completions),
    /// Print the manual page, or write all pages
    Man(Man),
}

impl Command {
    /// Replaces directories and patterns by the files that they stand for.
    ///
    /// # Errors
    /// What stands for no file.
    pub fn expand(&mut self) -> Result<(), String> {
        let programs = match self {
            // The words are names of tests.
            Self::Check(args) if args.tests.as_cargo => return Ok(()),
            Self::Check(args) => {
                for file in &mut args.programs.files {
                    *file = files::manifest_in(file).unwrap_or_else(|| file.clone());
                }
                &mut args.programs
            }
            Self::Outcomes(args) => &mut args.programs,
            Self::Compare(args) => &mut args.programs,
            Self::Fences(args) => &mut args.programs,
            Self::Robust(args) => &mut args.programs,
            Self::Live(args) => &mut args.programs,
            Self::Test(args) => &mut args.programs,
            Self::Watch(args) => &mut args.check.programs,
            Self::Fmt(args) => {
                let is_weir = |path: &Path| path.extension().is_some_and(|e| e == "weir");
                args.files = files::expand(&args.files, &is_weir)?.0;
                return Ok(());
            }
            Self::Litmus(Litmus { command: litmus::LitmusCommand::Run(args) }) => {
                let is_test = |path: &Path| path.extension().is_some_and(|e| e == "litmus");
                args.files = files::expand(&args.files, &is_test)?.0;
                return Ok(());
            }
            _ => return Ok(()),
        };
        (programs.files, programs.is_expanded) =
            files::expand(&programs.files, &files::is_program)?;
        Ok(())
    }

    /// The files that the command reads, and those that it is told to write.
    pub fn files(&self) -> (Vec<String>, Vec<&Path>) {
        let one = |file: &String| vec![file.clone()];
        let (read, written): (Vec<String>, Vec<&Option<PathBuf>>) = match self {
            Self::Check(args) => (
                args.programs.files.clone(),
                [args.evidence.files(), vec![&args.page.html, &args.batch.resume]].concat(),
            ),
            Self::Outcomes(args) => {
                (args.programs.files.clone(), vec![&args.page.html, &args.batch.resume])
            }
            Self::Compare(args) => (args.programs.files.clone(), vec![&args.page.html]),
            Self::Fences(args) => (args.programs.files.clone(), vec![&args.page.html]),
            Self::Certify(args) => (vec![args.evidence.clone(), args.file.clone()], vec![]),
            Self::Robust(args) => (
                args.programs.files.clone(),
                [args.evidence.files(), vec![&args.page.html, &args.batch.resume]].concat(),
            ),
            Self::Live(args) => (
                args.programs.files.clone(),
                [args.evidence.files(), vec![&args.page.html, &args.batch.resume]].concat(),
            ),
            Self::Test(args) => (args.programs.files.clone(), vec![&args.batch.resume]),
            Self::Watch(args) => (args.check.programs.files.clone(), vec![]),
            Self::Step(args) => (one(&args.file), vec![]),
            Self::Show(args) => (one(&args.file), vec![]),
            Self::Errors(args) => (one(&args.file), vec![]),
            Self::Convert(args) => (one(&args.file), vec![&args.output]),
            // What it reads it may write.
            Self::Fmt(_) => (vec![], vec![]),
            Self::Graph(args) => (one(&args.file), vec![&args.output, &args.page.html]),
            Self::Litmus(args) => (args.command.files(), vec![]),
            Self::Models(_)
            | Self::Doctor
            | Self::Cc(_)
            | Self::Cxx(_)
            | Self::Reduce(_)
            | Self::Serve(_)
            | Self::Lsp(_)
            | Self::Explain(_)
            | Self::Completions(_)
            | Self::Man(_) => (vec![], vec![]),
            Self::Channel(args) => args.command.files(),
            Self::Game(args) => {
                (one(&args.file), vec![&args.strategy, &args.dot, &args.svg, &args.page.html])
            }
        };
        (read, written.into_iter().filter_map(|path| path.as_deref()).collect())
    }

    /// Whether what it prints is JSON: then errors are, too.
    pub fn prints_json(&self) -> bool {
        use channel::ChannelCommand as Channel;
        let format = match self {
            Self::Check(args) => return args.format.is_json(),
            Self::Compare(args) => args.format,
            Self::Fences(args) => args.format,
            Self::Certify(args) => args.format,
            Self::Robust(args) => return args.format.is_json(),
            Self::Live(args) => return args.format.is_json(),
            Self::Test(args) => return args.format.is_json(),
            Self::Models(args) => args.format,
            Self::Game(args) => args.format,
            Self::Channel(args) => match &args.command {
                Channel::Check(args) => args.format,
                Channel::Run(args) => args.format,
                Channel::Certify(args) => args.format,
                _ => return false,
            },
            Self::Litmus(Litmus { command: litmus::LitmusCommand::Run(args) }) => args.format,
            Self::Outcomes(args) => {
                return matches!(args.format, OutcomesFormat::Json | OutcomesFormat::Jsonl);
            }
            Self::Graph(args) => return args.format == Some(GraphFormat::Json),
            Self::Step(_)
            | Self::Watch(_)
            | Self::Serve(_)
            | Self::Lsp(_)
            | Self::Errors(_)
            | Self::Show(_)
            | Self::Convert(_)
            | Self::Fmt(_)
            | Self::Litmus(_)
            | Self::Doctor
            | Self::Cc(_)
            | Self::Cxx(_)
            | Self::Explain(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Reduce(_) => return false,
        };
        format == Format::Json
    }
}

/// What `--model` is where it may be given several times and depends on the language by default.
pub const MODELS_HELP: &str = "A memory model: `sc`, `tso`, `pso`, `nsw`, `c11` (C, C++ and Rust), or a set of \
    relaxations such as `tso+r->w` or `w->r,w->w,rlwe,rwf` (may be given several times) [default: `c11` for C, C++ and Rust, `tso` for others]";

#[derive(Debug, Args)]
#[command(mut_arg("models", |arg| arg.help(MODELS_HELP)))]
#[command(mut_arg("files", |arg| arg.required(false).required_unless_present("as_cargo")))]
pub struct Check {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub models: ModelsArg,
    #[command(flatten)]
    pub search: SearchArgs,
    /// How to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub format: ReportFormat,
    #[command(flatten)]
    pub batch: BatchArgs,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub page: HtmlArg,
    /// Keep the closed levels of an explicit search in files in this folder, and in memory only
    /// what finds them
    #[arg(long, value_name = "DIR")]
    pub spill: Option<PathBuf>,
    #[command(flatten)]
    pub cluster: cluster::ClusterArgs,
    #[command(flatten)]
    pub tests: package::TestsArgs,
    /// Print statistics of the search
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("models", |arg| arg.help(MODELS_HELP)))]
pub struct Outcomes {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub models: ModelsArg,
    #[command(flatten)]
    pub batch: BatchArgs,
    #[command(flatten)]
    pub search: SearchArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = OutcomesFormat::Human)]
    pub format: OutcomesFormat,
    /// In JSON, give a run to each of the first 64 final states
    #[arg(long)]
    pub runs: bool,
    #[command(flatten)]
    pub page: HtmlArg,
}

#[derive(Debug, Args)]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model, a column of its own (may be given several times) [default: those with names]"
)))]
pub struct Compare {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub models: ModelsArg,
    #[command(flatten)]
    pub search: SearchArgs,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    #[command(flatten)]
    pub page: HtmlArg,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 every program is robust, 1 some program is not, 2 the input or the
command line is wrong, 3 it is unknown of some program.

Example: weir robust examples/peterson-fenced.weir --model tso --model pso")]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model to compare with SC: `tso`, `pso`, `nsw` (may be given several times) \
     [default: tso]"
)))]
pub struct Robust {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub models: ModelsArg,
    #[command(flatten)]
    pub language: LanguageArg,
    /// How to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub format: ReportFormat,
    #[command(flatten)]
    pub batch: BatchArgs,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub page: HtmlArg,
    /// Print statistics of the search
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
#[command(after_help = "\
All arguments are for the compiler. The module of `a.o` is written to `a.o.ll`, and all modules of a
program `prog` to `prog.ll`.

Example: make CC=\"weir cc\" && weir check prog.ll")]
pub struct Compiler {
    /// The arguments of the compiler
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// What the servers ask of a process that reads a text for them.
#[derive(Debug, Args)]
pub struct Errors {
    /// A program; `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
}

#[derive(Debug, Args)]
pub struct Certify {
    /// A witness or a certificate, as `weir check` writes them, of at most 1024 MiB; or a folder
    /// with the shards of one
    #[arg(value_name = "EVIDENCE")]
    pub evidence: String,
    /// The program
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Check the steps from one shard, and write a receipt and what it expects of others to the
    /// folder
    #[arg(help_heading = "Shards", long, value_name = "I", conflicts_with_all = ["discharge", "join"])]
    pub shard: Option<usize>,
    /// Check that one shard has what all others expect of it, and write a receipt to the folder
    #[arg(help_heading = "Shards", long, value_name = "I", conflicts_with = "join")]
    pub discharge: Option<usize>,
    /// Check that the folder has all receipts and that they fit together. The shards are not checked
    /// again, so nothing is accepted (status 3)
    #[arg(help_heading = "Shards", long)]
    pub join: bool,
    /// Reject evidence that claims something else; may be repeated. KEY is property, verdict, model,
    /// clients, fairness, program or fingerprint: `--expect verdict=holds --expect clients=2`
    #[arg(long, value_name = "KEY=VALUE", value_parser = expectation)]
    pub expect: Vec<(String, String)>,
    #[command(flatten)]
    pub language: LanguageArg,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// What evidence has to claim: `KEY=VALUE`.
fn expectation(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    match weir_check::claim::KEYS.contains(&key) {
        true => Ok((key.to_owned(), value.to_owned())),
        false => {
            Err(format!("there is no `{key}`; there is {}", weir_check::claim::KEYS.join(", ")))
        }
    }
}

#[derive(Debug, Args)]
pub struct Show {
    /// A program (`.weir`, `.c`, `.rs`, `.litmus`, `.pml`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// Print the automata instead: control states, transitions, domains
    #[arg(long)]
    pub system: bool,
    /// With --system: the number of clients of an object, as in `weir live`
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=16), value_name = "N", default_value_t = 2, requires = "system")]
    pub clients: u16,
}

#[derive(Debug, Args)]
pub struct Convert {
    /// A program (`.weir`, `.c`, `.rs`, `.litmus`, `.pml`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The language to print it in
    #[arg(long, value_enum, default_value_t = Target::Weir)]
    pub to: Target,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example: weir fmt --check corpus")]
pub struct Fmt {
    /// Programs (`.weir`), directories or patterns; `-` is standard input, printed in its usual form
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Change nothing, and print the names of files that are not in their usual form
    #[arg(long)]
    pub check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    Weir,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example: weir graph examples/store-buffering.weir --engine automata --output sb.svg")]
pub struct Graph {
    /// A program (`.weir`, `.c`, `.rs`, `.litmus`, `.pml`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub model: ModelArg,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The engine whose states to draw; `auto` is `explicit` here
    #[arg(long, value_parser = engines(), default_value = ENGINES[0].name())]
    pub engine: &'static dyn Engine,
    #[command(flatten)]
    pub automata: AutomataArgs,
    #[command(flatten)]
    pub form: FormArg,
    /// For `explicit`: the maximal size of a buffer [default: enough for a program without
    /// loops, otherwise 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    pub bound: Option<u16>,
    /// Draw no graph with more states than this [default: 200, with --html 5000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub most: Option<u32>,
    /// Write to this file; its ending, `.dot`, `.svg` or `.json`, determines the format
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The output format [default: by the ending of the file, otherwise DOT]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    #[command(flatten)]
    pub page: HtmlArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz
    Dot,
    /// A picture, made by Graphviz, which has to be installed
    Svg,
    /// For a program
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The page can be reached from this machine only. No file is written. --timeout and --memory
are limits of each request [default: 60 seconds, 1024 MiB].

Example: weir serve examples/peterson.weir")]
pub struct Serve {
    /// A program to begin with, or a directory whose programs to list
    #[arg(value_name = "FILE|DIR")]
    pub target: Option<PathBuf>,
    /// The port [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model to check properties under (may be given several times) [default: sc and tso]"
)))]
#[command(after_help = "\
Editors start this command and talk to it over standard input and output. They can set
`weir.models` and `weir.timeout`, which take the place of --model and --timeout. --timeout,
--memory and --threads are limits of each check [default: 5 seconds, 1024 MiB, one thread].

docs/howto-editor.md says how to set up an editor.")]
pub struct Lsp {
    #[command(flatten)]
    pub models: ModelsArg,
    /// Talk over standard input and output, which is what it always does; some editors say so
    #[arg(long)]
    pub stdio: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples: weir explain tso
          weir explain no deadlock")]
pub struct Explain {
    /// The term; without one, all terms are listed
    #[arg(value_name = "TERM")]
    pub term: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples: weir completions bash > ~/.local/share/bash-completion/completions/weir
          weir completions zsh > ~/.zfunc/_weir
          weir completions fish > ~/.config/fish/completions/weir.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples: weir man | man -l -
          weir man --output ~/.local/share/man/man1")]
pub struct Man {
    /// Write the pages of all commands to this directory
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Models {
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutcomesFormat {
    /// For a person
    Human,
    /// For a program: one object per file, one line each
    Json,
    /// For litmus scripts: one block per file
    Herd,
    /// One small object per final state, one line each
    Jsonl,
    /// A table with commas, one row per final state
    Csv,
}
