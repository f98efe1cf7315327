//! From a file to a system.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use weir_front::escape::{escape_line, without_mark};
use weir_front::{Diagnostic, LANGUAGES, Language, MAX_TEXT, Settings, Source};
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;
use weir_model::system::{BuildError, Expanded, System, Unbuilt};

use crate::Hints;
use crate::bounds::{Bound, BoundError};
use crate::report::counted;

/// A program with its text and its system.
#[derive(Debug)]
pub struct Loaded {
    /// The text.
    pub source: Source,
    /// The system; the program is inside.
    pub system: System,
}

/// The memory model under which a text is asked about if none is named: that of C, C++ and Rust for a text in one of them,
/// and TSO for all others. `name` is that of its file.
pub fn usual_model(name: &str, text: &str, language: Option<&'static Language>) -> MemoryModel {
    let text = without_mark(text);
    let language = language.unwrap_or_else(|| weir_front::detect(name, text));
    if language.has_model_of_c(text) { MemoryModel::C11 } else { MemoryModel::TSO }
}

/// Why a file is no program.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// It could not be read.
    Unreadable {
        /// The file's name.
        name: String,
        /// What went wrong.
        reason: String,
    },
    /// Its text is wrong.
    Wrong {
        /// The file's name.
        name: String,
        /// Its text.
        text: String,
        /// What is wrong with it.
        errors: Vec<Diagnostic>,
    },
    /// A limit was reached before there was a system.
    Stopped {
        /// The file's name.
        name: String,
        /// The limit, and what was done when it was reached.
        reason: String,
        /// The program, if that was read: its system has no automata.
        unbuilt: Option<Box<Loaded>>,
    },
    /// A bound does not fit it.
    Bound {
        /// The file's name.
        name: String,
        /// What is wrong with the bound.
        reason: String,
    },
}

/// How to read a file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The language, if the name and the text do not tell.
    pub language: Option<&'static Language>,
    /// Bounds for what has no domain.
    pub bounds: Vec<Bound>,
    /// Whether every declared register keeps its value until the end, because
    /// someone will look at final states.
    pub observing: bool,
    /// The memory model that is asked about. In one in which reads are guessed, a
    /// read returns any value of its variable's domain; a system that was built for
    /// such a model serves all others too.
    pub model: MemoryModel,
    /// How much time and memory there is.
    pub budget: Budget,
    /// What errors may tell to do.
    pub hints: Hints,
    /// What the language of the file leaves open.
    pub settings: Settings,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            language: None,
            bounds: Vec::new(),
            observing: false,
            model: MemoryModel::SC,
            budget: Budget::new(),
            hints: Hints::default(),
            settings: Settings { compile: Some(crate::compile), ..Settings::default() },
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bound { name, reason } => {
                f.write_str(&escape_line(&format!("`{name}` with a bound: {reason}")))
            }
            _ => f.write_str(&self.render(false)),
        }
    }
}

impl std::error::Error for LoadError {}

impl LoadError {
    /// The program of which nothing is known because a limit was reached, and the reason.
    /// Its system has no automata.
    ///
    /// # Errors
    /// The error itself, if it is another one, or the program does not ask.
    pub fn into_unbuilt(self, asks: impl Fn(&Program) -> bool) -> Result<(Loaded, String), Self> {
        match self {
            Self::Stopped { unbuilt: Some(loaded), reason, .. } if asks(&loaded.system.program) => {
                Ok((*loaded, reason))
            }
            error => Err(error),
        }
    }

    /// The error as `weir` prints it. No control character of the file or of its name
    /// is in it.
    pub fn render(&self, color: bool) -> String {
        match self {
            Self::Unreadable { name, reason } => {
                escape_line(&format!("error: cannot read `{name}`: {reason}")).into_owned()
            }
            Self::Stopped { name, reason, .. } => {
                escape_line(&format!("unknown: `{name}`: {reason}")).into_owned()
            }
            Self::Bound { name, reason } => {
                escape_line(&format!("error: `{name}`: {reason}")).into_owned()
            }
            Self::Wrong { name, text, errors } => {
                let first = errors.iter().take(MOST_ERRORS);
                let mut rendered: Vec<_> = first.map(|e| e.render(name, text, color)).collect();
                let left = errors.len() - rendered.len();
                if left > 0 {
                    rendered.push(format!("… and {}", counted(left, "more error")));
                }
                rendered.join("\n\n")
            }
        }
    }
}

/// Reads a file's text, without a byte order mark; `-` is standard input.
///
/// # Errors
/// If it cannot be read, is larger than [`weir_front::most_bytes`], or is not UTF-8.
pub fn read_text(name: &str) -> Result<String, LoadError> {
    let most = weir_front::most_bytes(name);
    read_at_most(name, most, &Budget::new())
}

fn read_at_most(name: &str, most: usize, budget: &Budget) -> Result<String, LoadError> {
    let unreadable = |reason: String| LoadError::Unreadable { name: name.to_owned(), reason };
    let too_large = || unreadable(format!("it is larger than {} MiB", most >> 20));
    let mut bytes = Vec::new();
    // One byte more than is allowed tells a file that is too large, even if it
    // has no end.
    let limit = most as u64 + 1;
    let read = if name == "-" {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        let about = std::fs::metadata(name).ok();
        if about.as_ref().is_some_and(|m| m.is_dir()) {
            return Err(unreadable("it is a directory".to_owned()));
        }
        let size = about.map_or(0, |m| usize::try_from(m.len()).unwrap_or(usize::MAX));
        // Nothing of a file that says that it is too large is read.
        if size > most {
            return Err(too_large());
        }
        budget.check_room(size).map_err(|stop| LoadError::Stopped {
            name: name.to_owned(),
            reason: format!("{stop} while reading it"),
            unbuilt: None,
        })?;
        File::open(name).and_then(|f| f.take(limit).read_to_end(&mut bytes))
    };
    if read.map_err(|e| unreadable(plain(&e)))? > most {
        return Err(too_large());
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // Models for Spin have comments in other encodings; elsewhere such a letter is an error.
        Err(e) if is_promela(name) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            return Err(unreadable(format!("it is not UTF-8 text (byte {at})")));
        }
    };
    Ok(match without_mark(&text) {
        rest if rest.len() < text.len() => rest.to_owned(),
        _ => text,
    })
}

/// Whether the name of a file says that it is a model for Spin.
fn is_promela(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let endings = weir_front::promela::LANGUAGE.endings;
    endings.iter().any(|e| ending.eq_ignore_ascii_case(e))
}

/// The largest evidence that is read, in bytes.
const MAX_EVIDENCE: usize = 1 << 30;

/// Reads the text of a witness or a certificate, which may be large.
///
/// # Errors
/// As for [`read_text`], and if there is no room for it.
pub fn read_evidence(name: &str, budget: &Budget) -> Result<String, LoadError> {
    read_at_most(name, MAX_EVIDENCE, budget)
}

/// An I/O error without its number.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

impl Loaded {
    /// Reads a file and builds its system.
    ///
    /// # Errors
    /// If the file cannot be read, or its text is wrong.
    pub fn from_file(name: &str, language: Option<&'static Language>) -> Result<Self, LoadError> {
        Self::from_text(name, &read_text(name)?, language)
    }

    /// Builds the system of a text. `name` is what reports call it.
    ///
    /// # Errors
    /// If the text is wrong.
    pub fn from_text(
        name: &str,
        text: &str,
        language: Option<&'static Language>,
    ) -> Result<Self, LoadError> {
        Self::read(name, text, &Reading { language, ..Reading::default() })
    }

    /// Builds the system of a text for questions about one memory model
    /// ([`System::for_model`]).
    ///
    /// # Errors
    /// If the text is wrong.
    pub fn for_model(name: &str, text: &str, model: MemoryModel) -> Result<Self, LoadError> {
        Self::read(name, text, &Reading { model, ..Reading::default() })
    }

    /// Reads a program whose runs without end are asked about: an object with so
    /// many clients, or processes, which have none.
    ///
    /// # Errors
    /// If the text is wrong.
    pub fn running(
        name: &str,
        text: &str,
        (language, settings): (Option<&'static Language>, &Settings),
        clients: usize,
        budget: &Budget,
    ) -> Result<Self, LoadError> {
        let wrong =
            |errors| LoadError::Wrong { name: name.to_owned(), text: text.to_owned(), errors };
        let (program, source) =
            weir_front::read_with(name, text, language, settings).map_err(wrong)?;
        let program = match &program.object {
            None => program,
            Some(object) => program.with_clients(clients).ok_or_else(|| {
                let message = format!("an object cannot have {clients} clients");
                wrong(vec![Diagnostic::new(message, source.range(object.span))])
            })?,
        };
        let language = language.unwrap_or_else(|| weir_front::detect(name, text));
        Self::build((name, text), program, source, (language, Hints::default()), |program| {
            System::with_rounds_within(program, budget)
        })
    }

    /// Builds the system of a program with a function.
    fn build(
        (name, text): (&str, &str),
        program: Program,
        source: Source,
        (language, hints): (&'static Language, Hints),
        build: impl FnOnce(Program) -> Result<System, Unbuilt>,
    ) -> Result<Self, LoadError> {
        let name = name.to_owned();
        match build(program.clone()) {
            Ok(system) => Ok(Self { source, system }),
            Err(Unbuilt::Wrong(error)) => {
                let errors = vec![diagnostic(&error, &source, language, hints)];
                Err(LoadError::Wrong { name, text: text.to_owned(), errors })
            }
            Err(unbuilt @ Unbuilt::Stopped(_)) => {
                let reason = unbuilt.to_string();
                let system = System::unbuilt(program);
                Err(LoadError::Stopped {
                    name,
                    reason,
                    unbuilt: Some(Box::new(Self { source, system })),
                })
            }
        }
    }

    /// The system with all its control states.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn expanded(&self, budget: &Budget) -> Result<Expanded<'_>, LoadError> {
        self.system.expanded(budget).map_err(|stop| LoadError::Stopped {
            name: self.source.name.clone(),
            reason: format!("{stop} while building the automata"),
            unbuilt: None,
        })
    }

    /// As [`Loaded::from_text`], for a caller that wants every declared register
    /// to keep its value until the end, because it will look at final states.
    ///
    /// # Errors
    /// If the text is wrong.
    pub fn observing(
        name: &str,
        text: &str,
        language: Option<&'static Language>,
    ) -> Result<Self, LoadError> {
        Self::read(name, text, &Reading { language, observing: true, ..Reading::default() })
    }

    /// Builds the system of a text, read in a certain way.
    ///
    /// # Errors
    /// If the text is wrong, or a bound does not fit it.
    pub fn read(name: &str, text: &str, reading: &Reading) -> Result<Self, LoadError> {
        let (mut program, source) = program(name, text, reading)?;
        if reading.observing && program.observed.is_none() {
            program.observed = Some(program.everything());
        }
        let language = reading.language.unwrap_or_else(|| weir_front::detect(name, text));
        Self::build((name, text), program, source, (language, reading.hints), |program| {
            System::for_model_within(program, reading.model, &reading.budget)
        })
    }

    /// The same program, in which every declared register keeps its value until the end, also
    /// where no property asks for it.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn keeping_registers(&self, budget: &Budget) -> Result<Self, Unbuilt> {
        let mut program = self.system.program.clone();
        if program.observed.is_none() {
            program.observed = Some(program.everything());
        }
        let system = System::for_model_within(program, MemoryModel::SC, budget)?.divided();
        Ok(Self { source: self.source.clone(), system })
    }

    /// The line of a place for a person to read, with its file if that is an included one.
    pub fn place(&self, span: SpanId) -> String {
        let line = self.line(span);
        let (name, range) = self.source.file(self.source.range(span).start);
        match range.start {
            // No code is in a text that only lists what is compiled.
            0 if LANGUAGES.iter().any(|l| l.is_project() && l.has_file(name)) => "-".to_owned(),
            0 => line.to_string(),
            _ => {
                let file = Path::new(name).file_name().map(|name| name.to_string_lossy());
                format!("{}:{line}", escape_line(&file.unwrap_or_default()))
            }
        }
    }

    /// The line, from 1, of a place; none if it is not known where it is, as in a library.
    pub fn line_of(&self, span: SpanId) -> Option<usize> {
        self.source.is_placed(span).then(|| self.line(span))
    }

    /// The line, from 1, of a place in the text.
    pub fn line(&self, span: SpanId) -> usize {
        self.source.line(span)
    }
}

/// Reads a file that a program includes.
///
/// # Errors
/// If it cannot be read, is no text or is too long.
pub fn included(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a file"));
    }
    file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text)?;
    match text.len() > MAX_TEXT {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, "the file is too long")),
        false => Ok(text),
    }
}

/// So many errors of a program are shown: one mistake can make many.
const MOST_ERRORS: usize = 10;

/// The program of a text, read in a certain way, without its system.
///
/// # Errors
/// As for [`Loaded::read`].
pub fn program(name: &str, text: &str, reading: &Reading) -> Result<(Program, Source), LoadError> {
    let wrong = |errors| LoadError::Wrong { name: name.to_owned(), text: text.to_owned(), errors };
    for (ending, what) in [(".chm", "a channel machine"), (".pcp", "an instance of Post's problem")]
    {
        if reading.language.is_none() && name.ends_with(ending) {
            let error = Diagnostic::new(format!("this is {what}, not a program"), 0..0);
            return Err(wrong(vec![error.help("`weir channel` is for these")]));
        }
    }
    if reading.language.is_none() && text.trim_start().starts_with("{\"format\":\"weir-") {
        let error = Diagnostic::new("this is evidence, not a program", 0..0);
        return Err(wrong(vec![
            error.help("`weir certify` takes the evidence first, then the program"),
        ]));
    }
    let bounds = reading.bounds.iter().map(|bound| (bound.name.clone(), bound.low, bound.high));
    let settings = Settings { bounds: bounds.collect(), ..reading.settings.clone() };
    let read = weir_front::read_with(name, text, reading.language, &settings);
    let (mut program, source) = read.map_err(wrong)?;
    for bound in &reading.bounds {
        let wrong = |error: BoundError| LoadError::Bound {
            name: name.to_owned(),
            reason: match reading.hints.bound {
                Some(option) => format!("{option}: {error}"),
                None => error.to_string(),
            },
        };
        bound.apply(&mut program).map_err(wrong)?;
    }
    Ok((program, source))
}

fn diagnostic(
    error: &BuildError,
    source: &Source,
    language: &Language,
    hints: Hints,
) -> Diagnostic {
    let example = language.declare.map(|declare| declare(&error.declared));
    let declare = example.map_or(String::new(), |example| {
        format!("give the variable a domain, as in `{example}`, or ")
    });
    let bounding = hints.bounding(&error.variable);
    let help = format!("this memory model lets reads be guessed: {declare}{bounding}");
    Diagnostic::new(error.to_string(), source.range(error.span)).help(help)
}
