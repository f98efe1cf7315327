//! Options that several commands have: memory models, languages, how to search, and what to
//! do with evidence.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use weir::load::read_text;
use weir::{
    Bound, CompilerSettings, ENGINES, LANGUAGES, Language, LoadError, Loaded, Lowering,
    MemoryModel, Reading, Settings, TURNS, Verifier, engine, usual_model,
};
use weir_engine::{Automata, Engine, Explicit, Refusal};
use weir_model::semantics::Form;

use super::batch::ReportFormat;
use super::package::PackageArgs;
use crate::{files, limits, output};

#[derive(Debug, Args)]
pub struct ModelArg {
    /// A memory model: `sc`, `tso`, `pso`, `nsw`, `c11` (C, C++ and Rust), or a set of
    /// relaxations such as `tso+r->w` or `w->r,w->w,rlwe,rwf` [default: `c11` for C, C++ and Rust, `tso`
    /// for others]
    #[arg(long = "model", short, value_parser = model)]
    pub model: Option<MemoryModel>,
}

#[derive(Debug, Args)]
pub struct Programs {
    /// Programs (`.weir`, `.c`, `.cpp`, `.rs`, `.ll`, `.litmus`, `.pml`, `.rmm`, `.txt`), a Cargo package
    /// (`Cargo.toml`, or its directory), a project in C and C++ (`compile_commands.json`), directories of
    /// programs, or patterns such as `locks/**/*.weir`; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Whether some are of a directory or a pattern.
    #[arg(skip)]
    pub is_expanded: bool,
}

#[derive(Debug, Args)]
pub struct ModelsArg {
    /// A memory model (may be given several times)
    #[arg(long = "model", short, value_parser = model, value_name = "MODEL")]
    pub models: Vec<MemoryModel>,
}

impl ModelsArg {
    /// The only model, if one is named.
    pub fn one(&self) -> Option<MemoryModel> {
        self.models.first().copied()
    }

    /// The models, or these if none is given.
    pub fn or(&self, default: &[MemoryModel]) -> Vec<MemoryModel> {
        match self.models.is_empty() {
            true => default.to_vec(),
            false => self.models.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct LanguageArg {
    /// The input language [default: by the ending of the file, or by its text]
    #[arg(long, value_parser = languages())]
    pub language: Option<&'static Language>,
    /// What to call the text on standard input; the ending tells its language
    #[arg(long, value_name = "NAME")]
    pub stdin_name: Option<String>,
    /// Search only values in this range, for a variable or register without a domain (may be
    /// given several times); if a run can leave the range, `holds` becomes `unknown`
    #[arg(long = "domain", value_name = "X=0..7", value_delimiter = ',')]
    pub domains: Vec<Bound>,
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// What the options of C, C++ and Rust are called together.
const SOURCES: &str = "C, C++ and Rust";

/// How C, C++ and Rust are read.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// The function that the program begins with [default: main]; of a Cargo package, the test
    #[arg(help_heading = SOURCES, long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Define a macro, as `-D N=3`; for Rust `--cfg` (may be given several times)
    #[arg(help_heading = SOURCES, long = "define", short = 'D', value_name = "NAME=VALUE")]
    pub defines: Vec<String>,
    /// Look for included files in this folder too (may be given several times)
    #[arg(help_heading = SOURCES, long = "include", short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Include only files of this folder
    #[arg(hide = true, long = files::ONLY_BELOW, value_name = "DIR")]
    pub only_below: Option<PathBuf>,
    /// How many objects each allocation in a loop may allocate in each thread; if a run needs
    /// more, `holds` becomes `unknown`
    #[arg(help_heading = SOURCES, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub pool: u32,
    /// How many rounds each loop may have; if a run has more, `holds` becomes `unknown`
    /// [default: no limit]
    #[arg(help_heading = SOURCES, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub unroll: Option<u32>,
    /// How many threads a program may start
    #[arg(help_heading = SOURCES, long = "threads-bound", value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..=60))]
    pub threads_bound: u8,
    /// Ask for data races too: two threads about to access the same place, one of them to write
    /// it, and one of the accesses not atomic
    #[arg(help_heading = SOURCES, long)]
    pub races: bool,
    /// Ask for leaks too: memory that in the end is not freed, and that nothing leads to
    #[arg(help_heading = SOURCES, long)]
    pub leaks: bool,
    /// Let a weak compare-exchange fail without a reason
    #[arg(help_heading = SOURCES, long)]
    pub spurious: bool,
    /// What happens if signed arithmetic overflows: it fails like an assertion, or it wraps
    #[arg(help_heading = SOURCES, long, value_name = "WHAT", value_enum, default_value_t = Overflow::Fail)]
    pub overflow: Overflow,
    /// Let the compiler optimize (level 1): the answer is about its output, not about the language
    #[arg(help_heading = SOURCES, long)]
    pub optimized: bool,
    /// The language standard for the compiler, such as `c++20`; for Rust the edition
    #[arg(help_heading = SOURCES, long = "std", value_name = "STANDARD")]
    pub standard: Option<String>,
    /// An option for the compiler, such as `--flag=-fno-exceptions` (may be given several times)
    #[arg(help_heading = SOURCES, long = "flag", value_name = "OPTION", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Of a compilation database: the source that the program begins in, if several have a `main`
    #[arg(help_heading = SOURCES, long = "file", value_name = "NAME")]
    pub source: Option<String>,
    #[command(flatten)]
    pub package: PackageArgs,
    /// Make every access of a Promela statement a step of its own under SC too
    #[arg(help_heading = "Promela", long)]
    pub split: bool,
}

/// What happens if signed arithmetic overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Overflow {
    Fail,
    Wrap,
}

impl SourceArgs {
    /// The same for the library.
    pub fn settings(&self) -> Settings {
        let defines = self.defines.iter().map(|define| match define.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (define.clone(), "1".to_owned()),
        });
        if let Some(folder) = &self.only_below {
            files::include_only_below(folder);
        }
        Settings {
            entry: self.entry.clone(),
            defines: defines.collect(),
            search: self.include.clone(),
            files: files::included,
            lowering: Lowering {
                pool: self.pool,
                unroll: self.unroll,
                threads: usize::from(self.threads_bound),
                races: self.races,
                spurious: self.spurious,
                wraps: self.overflow == Overflow::Wrap,
                leaks: self.leaks,
            },
            // Whoever reads texts for others runs no compiler, which could include any file.
            compile: self.only_below.is_none().then_some(weir::compile as _),
            compiler: CompilerSettings {
                optimized: self.optimized,
                standard: self.standard.clone(),
                flags: self.flags.clone(),
                package: self.package.settings(),
                source: self.source.clone(),
            },
            is_split: self.split,
            ..Settings::default()
        }
    }
}

/// The properties to ask about.
#[derive(Debug, Default, Args)]
pub struct PropertyArgs {
    /// Ask about the property of this name only (may be given several times)
    #[arg(long = "property", value_name = "NAME")]
    pub properties: Vec<String>,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub language: LanguageArg,
    #[command(flatten)]
    pub asked: PropertyArgs,
    /// The engine
    #[arg(long, value_parser = engines(), default_value = ENGINES[0].name())]
    pub engine: &'static dyn Engine,
    /// For `explicit`: the maximal size of a buffer [default: enough for a program without
    /// loops, otherwise 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=60_000))]
    pub bound: Option<u16>,
    /// The maximal number of guessed reads of a process at a time, for models in which
    /// writes overtake reads; with such a bound reachability is decidable
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=16), value_name = "N")]
    pub guesses: Option<u8>,
    #[command(flatten)]
    pub form: FormArg,
    #[command(flatten)]
    pub automata: AutomataArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct FormArg {
    /// For `explicit`: the form of the semantics, where a model has several; see `weir models`
    /// [default: the first]
    #[arg(long, value_parser = forms(), value_name = "FORM")]
    pub form: Option<&'static str>,
}

impl FormArg {
    /// The form of a model, if one was chosen.
    ///
    /// # Errors
    /// If the model has no such form.
    pub fn of(self, model: MemoryModel) -> Result<Option<Form>, String> {
        let Some(word) = self.form else { return Ok(None) };
        match Form::of(model).into_iter().find(|form| form.word() == word) {
            Some(form) => Ok(Some(form)),
            None => Err(Refusal::OtherForm(model, word).to_string()),
        }
    }
}

/// The forms of semantics by their words.
fn forms() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(Form::WORDS).map(|word| {
        Form::WORDS.into_iter().find(|known| *known == word).expect("the words are those of forms")
    })
}

/// What to do with the evidence of answers.
#[derive(Debug, Args)]
pub struct EvidenceArgs {
    /// Write the first run found to this file, for `weir certify`
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write the proof that properties hold to this file, for `weir certify`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Check the proofs of properties that hold, as `weir certify` would
    #[arg(long)]
    pub verify: bool,
    /// Draw the first run found to this file, as an SVG picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Draw the first run found to this file, as a TikZ picture for LaTeX
    #[arg(long, value_name = "FILE")]
    pub tikz: Option<PathBuf>,
    /// Print and draw every step of long runs, and long buffers whole
    #[arg(long)]
    pub full: bool,
}

impl EvidenceArgs {
    /// The files to write.
    pub fn files(&self) -> Vec<&Option<PathBuf>> {
        vec![&self.witness, &self.certificate, &self.svg, &self.tikz]
    }

    /// Whether a proof is to be written or checked.
    pub fn needs_proof(&self) -> bool {
        self.certificate.is_some() || self.verify
    }
}

#[derive(Debug, Args)]
pub struct HtmlArg {
    /// Write the report to this file as a page for a browser, which needs no other file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct AutomataArgs {
    /// For `automata`: explore steps in every order
    #[arg(long)]
    pub no_sleep_sets: bool,
    /// For `automata`: do not accelerate cycles
    #[arg(long)]
    pub no_acceleration: bool,
}

impl AutomataArgs {
    /// The engine that was asked for, with what was switched off.
    pub fn apply(self, engine: &'static dyn Engine) -> &'static dyn Engine {
        let wanted = Automata {
            sleep_sets: !self.no_sleep_sets,
            acceleration: !self.no_acceleration,
            ..Automata::DEFAULT
        };
        if engine.name() == wanted.name() { weir::automata(wanted) } else { engine }
    }
}

/// The engines by their names.
pub fn engines() -> impl TypedValueParser<Value = &'static dyn Engine> {
    let named = |e: &dyn Engine| PossibleValue::new(e.name()).help(e.about());
    let turns = TURNS.into_iter().map(|e| named(e).hide(true));
    let names: Vec<PossibleValue> = ENGINES.into_iter().map(named).chain(turns).collect();
    PossibleValuesParser::new(names)
        .map(|name| engine(&name).expect("the names are those of the engines"))
}

impl SearchArgs {
    /// A verifier that searches as these options say.
    pub fn apply(&self, verifier: Verifier) -> Verifier {
        let engine: &'static dyn Engine = match self.form.form {
            // The portfolio asks engines that search no form.
            Some(_) if self.engine.name() == ENGINES[0].name() => &Explicit,
            _ => self.automata.apply(self.engine),
        };
        verifier
            .engine(engine)
            .bound(self.bound.map(usize::from))
            .guesses(self.guesses.map(usize::from))
            .form(self.form.form)
    }

    /// The verifier of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn verifier(&self, file: &str, models: Vec<MemoryModel>) -> Result<Verifier, LoadError> {
        Ok(self.apply(self.language.verifier(file, models)?))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Human,
    /// For a program
    Json,
}

impl From<Format> for ReportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Human => Self::Human,
            Format::Json => Self::Json,
        }
    }
}

/// The languages by their names.
fn languages() -> impl TypedValueParser<Value = &'static Language> {
    PossibleValuesParser::new(LANGUAGES.map(|language| language.name))
        .map(|name| Language::named(&name).expect("the names are those of the languages"))
}

impl LanguageArg {
    /// How to read a file.
    pub fn reading(&self) -> Reading {
        let bounds = self.domains.clone();
        let settings = self.sources.settings();
        Reading { language: self.language, bounds, settings, ..limits::reading() }
    }

    /// What reports call a file.
    pub fn name_of<'f>(&'f self, file: &'f str) -> &'f str {
        self.stdin_name.as_deref().filter(|_| file == "-").unwrap_or(file)
    }

    /// The verifier of a file, within the limits of the command.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn verifier(&self, file: &str, models: Vec<MemoryModel>) -> Result<Verifier, LoadError> {
        let verifier = Verifier::new(read_text(file)?)
            .name(self.name_of(file))
            .language(self.language)
            .settings(self.sources.settings())
            .under(models)
            .within(limits::budget())
            .hints(output::HINTS);
        Ok(self.domains.iter().cloned().fold(verifier, Verifier::domain))
    }

    /// The memory model of a file: the one that is named, or the one that is usual for it.
    pub fn model_of(&self, file: &str, named: Option<MemoryModel>) -> MemoryModel {
        let usual = || {
            // A file that cannot be read is reported where it is needed.
            let text = if file == "-" { None } else { read_text(file).ok() };
            usual_model(self.name_of(file), &text.unwrap_or_default(), self.language)
        };
        named.unwrap_or_else(usual)
    }

    /// Reads a file and builds its system, for questions about these models.
    pub fn load(&self, file: &str, models: &[MemoryModel]) -> Result<Loaded, LoadError> {
        let special = |m: &MemoryModel| m.guesses_reads() || *m == MemoryModel::C11;
        let model = models.iter().copied().find(special).unwrap_or(MemoryModel::SC);
        let text = read_text(file)?;
        Loaded::read(self.name_of(file), &text, &Reading { model, ..self.reading() })
    }
}

/// A memory model from its name; an error suggests one.
///
/// # Errors
/// If there is no such model.
pub fn model(text: &str) -> Result<MemoryModel, String> {
    text.parse().map_err(|e: weir_model::memory_model::UnknownModel| {
        let known: Vec<&str> = MemoryModel::words().collect();
        if MemoryModel::is_c11(&e.word) {
            return e.to_string();
        }
        match weir_front::suggest::closest(&e.word, known.iter().copied()) {
            Some(meant) => format!("{e}; did you mean `{meant}`?"),
            None => format!("{e}; Weir knows {}", known.join(", ")),
        }
    })
}

/// A number of threads. A range is what `weir litmus gen --processes` takes.
pub fn threads(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(threads @ 1..=256) => Ok(threads),
        _ if text.contains("..") => Err("a number from 1 to 256 is expected; the number of \
             threads of a litmus test is `weir litmus gen --processes N..M`"
            .to_owned()),
        _ => Err("a number from 1 to 256 is expected".to_owned()),
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
