//! The command line.

pub mod channel;
pub mod game;
pub mod live;
pub mod reduce;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use weir::load::read_text;
use weir::{Bound, LoadError, Loaded, MemoryModel, Reading, Solver};
use weir_engine::Limits;
use weir_front::litmus::generate;

use crate::{limits, output};

/// What concurrent programs can do on weak memory.
#[derive(Debug, Parser)]
#[command(name = "weir", version, about, max_term_width = 100)]
#[command(after_help = "\
Exit status: 0 everything holds, 1 something is violated, 2 the input or the
command line is wrong, 3 something is unknown.

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

/// The limits that hold for everything that a command does.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitArgs {
    /// Give up after this many seconds, in whatever the command does
    #[arg(long, global = true, value_parser = seconds, value_name = "SECONDS")]
    pub timeout: Option<Duration>,
    /// Give up when Weir uses this many MiB [default: three quarters of the machine's memory,
    /// at most 8192]
    #[arg(long, global = true, value_parser = clap::value_parser!(u32).range(1..), value_name = "MIB")]
    pub memory: Option<u32>,
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
    /// From now on, what is printed has color then.
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
    /// Answer every property of a program under one memory model
    Check(Check),
    /// List all final states of programs that end
    Outcomes(Outcomes),
    /// Answer every property under several memory models, side by side
    Compare(Compare),
    /// Check a witness or a certificate with code of its own
    Certify(Certify),
    /// Ask about runs without end: progress of objects, termination of programs
    Live(live::Live),
    /// Print a program with every load spelled out
    Show(Show),
    /// Print a program in another language
    Convert(Convert),
    /// Draw the states that an engine explores
    Graph(Graph),
    /// Print the memory models and what can be decided about them
    Models(Models),
    /// Work with litmus tests
    Litmus(Litmus),
    /// Work with channel machines
    Channel(channel::Channel),
    /// Say who wins a game between a program and its memory, and how
    Game(game::Game),
    /// Make one problem of another
    Reduce(reduce::Reduce),
}

impl Command {
    /// The files that the command reads, and those that it is told to write.
    pub fn files(&self) -> (Vec<String>, Vec<&Path>) {
        let one = |file: &String| vec![file.clone()];
        let (read, written): (Vec<String>, Vec<&Option<PathBuf>>) = match self {
            Self::Check(args) => (args.files.clone(), vec![&args.witness, &args.certificate]),
            Self::Outcomes(args) => (args.files.clone(), vec![]),
            Self::Compare(args) => (args.files.clone(), vec![]),
            Self::Certify(args) => (vec![args.evidence.clone(), args.file.clone()], vec![]),
            Self::Live(args) => (one(&args.file), vec![&args.witness, &args.certificate]),
            Self::Show(args) => (one(&args.file), vec![]),
            Self::Convert(args) => (one(&args.file), vec![&args.output]),
            Self::Graph(args) => (one(&args.file), vec![&args.output]),
            Self::Models(_) | Self::Litmus(_) | Self::Reduce(_) => (vec![], vec![]),
            Self::Channel(args) => args.command.files(),
            Self::Game(args) => (one(&args.file), vec![&args.strategy, &args.dot, &args.svg]),
        };
        (read, written.into_iter().filter_map(|path| path.as_deref()).collect())
    }

    /// Whether what it prints is JSON: then errors are, too.
    pub fn prints_json(&self) -> bool {
        use channel::ChannelCommand as Channel;
        let format = match self {
            Self::Check(args) => args.format,
            Self::Compare(args) => args.format,
            Self::Certify(args) => args.format,
            Self::Live(args) => args.format,
            Self::Models(args) => args.format,
            Self::Game(args) => args.format,
            Self::Channel(args) => match &args.command {
                Channel::Check(args) => args.format,
                Channel::Run(args) => args.format,
                Channel::Certify(args) => args.format,
                _ => return false,
            },
            Self::Outcomes(args) => return args.format == OutcomesFormat::Json,
            Self::Graph(args) => return args.format == Some(GraphFormat::Json),
            Self::Show(_) | Self::Convert(_) | Self::Litmus(_) | Self::Reduce(_) => return false,
        };
        format == Format::Json
    }
}

#[derive(Debug, Args)]
pub struct Check {
    /// Programs (`.weir`, `.litmus`, `.rmm`, `.txt`); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    #[command(flatten)]
    pub model: ModelArg,
    #[command(flatten)]
    pub search: SearchArgs,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Write the first run found to this file, for `weir certify`
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write what shows that properties hold to this file, for `weir certify`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Show every step of long runs, and long buffers whole
    #[arg(long)]
    pub full: bool,
    /// Print what the search did
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
pub struct Outcomes {
    /// Programs (`.weir`, `.litmus`, `.rmm`, `.txt`); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    #[command(flatten)]
    pub model: ModelArg,
    #[command(flatten)]
    pub search: SearchArgs,
    /// How to print; `herd` is the block that other litmus scripts read
    #[arg(long, value_enum, default_value_t = OutcomesFormat::Human)]
    pub format: OutcomesFormat,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Programs (`.weir`, `.litmus`, `.rmm`, `.txt`); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// The memory models, one column each (may be given several times)
    #[arg(long = "model", short, value_parser = model, value_name = "MODEL")]
    pub models: Vec<MemoryModel>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct Certify {
    /// A witness or a certificate, as `weir check` writes them, of at most 1024 MiB
    #[arg(value_name = "EVIDENCE")]
    pub evidence: String,
    /// The program
    #[arg(value_name = "FILE")]
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct Show {
    /// A program (`.weir`, `.litmus`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// Print the automata instead: control states, transitions, domains
    #[arg(long)]
    pub system: bool,
}

#[derive(Debug, Args)]
pub struct Convert {
    /// A program (`.weir`, `.litmus`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The language to print it in
    #[arg(long, value_enum, default_value_t = Target::Weir)]
    pub to: Target,
    /// Write it to this file instead
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    Weir,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example: weir graph examples/store-buffering.weir --engine automata --output sb.svg")]
pub struct Graph {
    /// A program (`.weir`, `.litmus`, `.pml`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub model: ModelArg,
    #[command(flatten)]
    pub language: LanguageArg,
    /// Whose states to draw; `auto` is `explicit` here
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    #[command(flatten)]
    pub automata: AutomataArgs,
    /// For `explicit`: the most that a buffer may hold [default: enough for a program
    /// without loops, otherwise 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    pub bound: Option<u16>,
    /// Draw no graph with more states than this
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N", default_value_t = 200)]
    pub most: u32,
    /// Write to this file; its ending, `.dot`, `.svg` or `.json`, says what
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to write [default: what the name of the file says, otherwise DOT]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
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
pub struct Models {
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct Litmus {
    #[command(subcommand)]
    pub command: LitmusCommand,
}

#[derive(Debug, Subcommand)]
pub enum LitmusCommand {
    /// Make litmus tests from cycles of accesses
    Gen(LitmusGen),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Edges between threads are Rfe, Fre and Coe; within a thread Rfi, Fri and Coi, and
Pod, Pos, MFenced, SFenced and LFenced with RR, RW, WR or WW. AP, PA and AA after
an edge say which of its writes are atomic.

Examples: weir litmus gen PodWR Fre PodWR Fre
          weir litmus gen --threads 2..3 --edges po,mfence --output tests")]
pub struct LitmusGen {
    /// The edges of one cycle; without them, all cycles of a size
    #[arg(value_name = "EDGE")]
    pub cycle: Vec<String>,
    /// How many threads: a number or a range, within 2..4
    #[arg(
        long, value_parser = threads, value_name = "N..M", default_value = "2..3",
        conflicts_with = "cycle"
    )]
    pub threads: RangeInclusive<usize>,
    /// What may stand in a thread
    #[arg(
        long, value_enum, value_delimiter = ',', value_name = "WORDS", conflicts_with = "cycle",
        default_values_t = Filling::value_variants().to_vec()
    )]
    pub edges: Vec<Filling>,
    /// Write each test to a file in this directory
    #[arg(long, short, value_name = "DIR", conflicts_with_all = ["list", "verdicts"])]
    pub output: Option<PathBuf>,
    /// Print names and cycles, also of one cycle
    #[arg(long)]
    pub list: bool,
    /// Print names, cycles, and which memory models allow them
    #[arg(long)]
    pub verdicts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Filling {
    /// Two accesses and nothing between them
    Po,
    /// A full fence
    Mfence,
    /// A write fence, between writes
    Sfence,
    /// A read fence, between reads
    Lfence,
    /// Writes that are atomic
    Xchg,
    /// A read that sees the thread's own write, after it
    Rfi,
    /// Two accesses to one location: the coherence tests
    PoLoc,
}

impl From<Filling> for generate::Filling {
    fn from(filling: Filling) -> Self {
        match filling {
            Filling::Po => Self::Plain,
            Filling::Mfence => Self::MFence,
            Filling::Sfence => Self::SFence,
            Filling::Lfence => Self::LFence,
            Filling::Xchg => Self::Exchange,
            Filling::Rfi => Self::Forward,
            Filling::PoLoc => Self::SameLocation,
        }
    }
}

#[derive(Debug, Args)]
pub struct ModelArg {
    /// A memory model: `sc`, `tso`, `pso`, `nsw`, or a set of relaxations such
    /// as `tso+r->w` or `w->r,w->w,rlwe,rwf`
    #[arg(long = "model", short, value_parser = model, default_value = "tso")]
    pub model: MemoryModel,
}

#[derive(Debug, Args)]
pub struct LanguageArg {
    /// The input language, if the file's name does not tell
    #[arg(long, value_enum)]
    pub language: Option<Language>,
    /// Look no further than this, for a variable or register without a domain
    /// (several may be given); what lies beyond is unknown
    #[arg(long = "domain", value_name = "X=0..7", value_delimiter = ',')]
    pub domains: Vec<Bound>,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub language: LanguageArg,
    /// How to search
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// The most that a buffer may hold [default: enough for a program without
    /// loops, otherwise 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    pub bound: Option<u16>,
    /// The most reads that a process may have guessed at a time, for the models in
    /// which writes overtake reads: this makes them decidable
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=16), value_name = "N")]
    pub guesses: Option<u8>,
    #[command(flatten)]
    pub automata: AutomataArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct AutomataArgs {
    /// For `automata`: follow steps in every order
    #[arg(long)]
    pub no_sleep_sets: bool,
    /// For `automata`: do not fold cycles in
    #[arg(long)]
    pub no_acceleration: bool,
}

impl AutomataArgs {
    pub fn options(self) -> weir_engine::automata::Options {
        weir_engine::automata::Options {
            sleep_sets: !self.no_sleep_sets,
            acceleration: !self.no_acceleration,
        }
    }
}

impl SearchArgs {
    /// Who answers for a model.
    ///
    /// # Errors
    /// If the engine that was asked for does not decide the model, or there are no
    /// guesses to be bounded.
    pub fn solver(&self, model: MemoryModel) -> Result<Solver, String> {
        let solver = match self.engine.solver() {
            Solver::Engine(weir_engine::Engine::Automata(_)) => {
                Solver::Engine(weir_engine::Engine::Automata(self.automata.options()))
            }
            other => other,
        };
        let guesses = self.guesses.map(usize::from);
        solver.accepts(model, guesses).map_err(|e| output::advise(&e))?;
        Ok(solver)
    }

    pub fn limits(&self) -> Limits {
        Limits {
            bound: self.bound.map(usize::from),
            budget: limits::budget(),
            certificate: false,
            guesses: self.guesses.map(usize::from),
        }
    }
}

/// An engine, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A short explicit search, then views where they decide the model
    Auto,
    /// Breadth-first over configurations, any memory model, buffers up to a bound
    Explicit,
    /// Buffers of any size, for SC, TSO, PSO and NSW: a proof or a run
    Views,
    /// Backward from what is asked for, for TSO, PSO and NSW: slow, and a second opinion
    Backward,
    /// Channel machines, for TSO and PSO, and with --guesses: slow, and a third opinion
    Channels,
    /// Buffer contents as automata, for TSO: a proof or a run, or it does not end
    Automata,
}

impl Engine {
    /// Who answers.
    fn solver(self) -> Solver {
        match self {
            Self::Auto => Solver::default(),
            Self::Explicit => Solver::Engine(weir_engine::Engine::Explicit),
            Self::Channels => Solver::Channels,
            Self::Views => Solver::Engine(weir_engine::Engine::Views),
            Self::Backward => Solver::Engine(weir_engine::Engine::Backward),
            Self::Automata => Solver::Engine(weir_engine::Engine::Automata(Default::default())),
        }
    }

    /// The engine, if it decides a model.
    ///
    /// # Errors
    /// What it decides, if that is something else.
    pub fn for_model(self, model: MemoryModel) -> Result<Solver, String> {
        let solver = self.solver();
        solver.decides(model).map_err(|e| output::advise(&e))?;
        Ok(solver)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Human,
    /// For a program
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutcomesFormat {
    /// For a person
    Human,
    /// For a program: one object per file, one line each
    Json,
    /// For litmus scripts: one block per file
    Herd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Weir,
    Litmus,
    Rmm,
    Trencher,
    Promela,
}

impl LanguageArg {
    /// How to read a file.
    pub fn reading(&self) -> Reading {
        let language = self.language.map(|l| match l {
            Language::Weir => weir::Language::Weir,
            Language::Litmus => weir::Language::Litmus,
            Language::Rmm => weir::Language::Rmm,
            Language::Trencher => weir::Language::Trencher,
            Language::Promela => weir::Language::Promela,
        });
        let bounds = self.domains.clone();
        Reading { language, bounds, ..limits::reading() }
    }

    /// The language, for a command that has no use for bounds.
    ///
    /// # Errors
    /// If there are bounds.
    pub fn unbounded(&self, command: &str) -> Result<Option<weir::Language>, String> {
        let Reading { language, bounds, .. } = self.reading();
        match bounds.is_empty() {
            true => Ok(language),
            false => Err(format!(
                "`weir {command}` takes no --domain: how a program goes on beyond a bound is not \
                 known; give it domains instead"
            )),
        }
    }

    /// Reads a file and builds its system, for questions about these models.
    pub fn load(&self, file: &str, models: &[MemoryModel]) -> Result<Loaded, LoadError> {
        let guessing = models.iter().copied().find(|m| m.guesses_reads());
        let model = guessing.unwrap_or(MemoryModel::SC);
        Loaded::read(file, &read_text(file)?, &Reading { model, ..self.reading() })
    }
}

/// A memory model from its name; an error suggests one.
///
/// # Errors
/// If there is no such model.
pub fn model(text: &str) -> Result<MemoryModel, String> {
    text.parse().map_err(|e: weir_model::memory_model::UnknownModel| {
        let known: Vec<&str> = MemoryModel::words().collect();
        match weir_front::suggest::closest(&e.word, known.iter().copied()) {
            Some(meant) => format!("{e}; did you mean `{meant}`?"),
            None => format!("{e}; Weir knows {}", known.join(", ")),
        }
    })
}

/// `N` or `N..M`, both included.
fn threads(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let last = last.strip_prefix('=').unwrap_or(last);
    let number = |text: &str| text.parse().ok().filter(|n| (2..=4).contains(n));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("neither a number from 2 to 4 nor a range of them, such as 2..4".to_owned()),
    }
}

/// A time limit from a number of seconds.
///
/// # Errors
/// If the text is no number, or no time to do anything in.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if seconds.is_nan() || seconds <= 0.0 {
        return Err("a time limit has to be more than 0 seconds".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}
