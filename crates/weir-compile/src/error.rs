//! What can go wrong.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no intermediate representation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No compiler of this kind was found, or none that is supported.
    Missing {
        /// What is needed, such as `clang`.
        what: &'static str,
        /// What was found instead, and why it cannot be used.
        found: Vec<String>,
        /// What to install.
        install: String,
    },
    /// The compiler has found errors. The text is its own.
    Rejected {
        /// The program that was run.
        program: PathBuf,
        /// What it wrote.
        text: String,
    },
    /// The compiler took too long and was ended.
    TimedOut {
        /// The program that was run.
        program: PathBuf,
        /// The limit.
        limit: Duration,
    },
    /// The compiler was ended because the user said so.
    Stopped {
        /// The program that was run.
        program: PathBuf,
    },
    /// The compiler wrote too much and was ended.
    TooLarge {
        /// The program that was run.
        program: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A program was started and did not do what it should have done.
    Failed {
        /// The program that was run.
        program: PathBuf,
        /// What happened.
        text: String,
    },
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        text: String,
    },
    /// Something was asked for that does not exist, such as a language for a file's ending.
    Unsupported(String),
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>, error: &std::io::Error) -> Error {
        Error::File { path: path.into(), text: error.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing { what, found, install } => {
                write!(f, "no {what} that Weir supports was found")?;
                for row in found {
                    write!(f, "\n  {row}")?;
                }
                write!(f, "\n{install}")
            }
            Error::Rejected { program, text } => {
                write!(f, "{} found errors:\n{}", program.display(), text.trim_end())
            }
            Error::TimedOut { program, limit } => {
                write!(f, "{} was ended after {} s", program.display(), limit.as_secs_f32())
            }
            Error::Stopped { program } => write!(f, "{} was interrupted", program.display()),
            Error::TooLarge { program, limit } => {
                write!(f, "{} was ended: it wrote more than {limit} bytes", program.display())
            }
            Error::Failed { program, text } => {
                write!(f, "{}: {}", program.display(), text.trim_end())
            }
            Error::File { path, text } => write!(f, "{}: {text}", path.display()),
            Error::Unsupported(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
