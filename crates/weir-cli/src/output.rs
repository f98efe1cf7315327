//! All output of the program goes through this module.
//!
//! * Output that cannot be written is an error: [`print()`] reports it once, and [`finish`]
//!   turns the exit status into 2. A closed pipe (`weir … | head`) is not an error.
//! * No control character reaches a terminal except those of [`paint`]. It signs its
//!   escape sequences with a random number of the run, and [`print()`] passes only signed
//!   ones, so no text of an input can forge one.
//! * Files are written whole or not at all: see [`file`].

mod file;
mod folder;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::Style;
use weir::certify::Unaccepted;
use weir::report::json::ErrorReport;
pub use weir::report::json::line as json;
use weir::{Error, Hints, LoadError};
use weir_engine::Refusal;
use weir_front::escape::{escape, escape_line, is_control};

use crate::commands::Status;
use crate::commands::batch::rows;
use crate::terminal;

pub use file::{Pieces, check_targets, rewrite, write_backup, write_json, write_whole};
pub use folder::ShardFolder;

/// Whether something that was printed is lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether something that was asked for was passed over.
static PASSED_OVER: AtomicBool = AtomicBool::new(false);

/// Prints on standard output.
pub fn print(text: &str) {
    let mut out = anstream::stdout().lock();
    note_loss(out.write_all(shown(text).as_bytes()).and_then(|()| out.flush()));
}

/// Standard output, for messages of a protocol: no terminal reads them.
pub fn raw() -> impl Write {
    io::stdout()
}

/// Prints on standard output what another process of this program printed.
pub fn print_again(text: &str) {
    let mut out = anstream::stdout().lock();
    note_loss(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Prints on standard error what another process of this program printed there. A failure is
/// ignored: there is no other place to report it.
pub fn say_again(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Clears the terminal, and goes to its first line.
pub fn clear_screen() {
    let mut out = anstream::stdout().lock();
    note_loss(out.write_all(b"\x1b[2J\x1b[H").and_then(|()| out.flush()));
}

/// Prints a line of JSON.
pub fn print_json(value: &impl serde::Serialize) {
    match json(value) {
        Ok(text) => print(&(text + "\n")),
        Err(error) => {
            note(&format!("error: {error}"));
            LOST.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether errors are printed as JSON, as the rest of the output.
static JSON_ERRORS: AtomicBool = AtomicBool::new(false);

/// The file and the model of the rows that errors are printed as, if the rest of the output is
/// rows.
static ROWS: OnceLock<(String, String)> = OnceLock::new();

/// From now on errors are printed as rows about a file under a model.
pub fn print_errors_as_rows(file: &str, model: &str) {
    let _ = ROWS.set((file.to_owned(), model.to_owned()));
    print_errors_as_json();
}

/// Prints an error as JSON.
fn print_error(error: &ErrorReport, status: Status) {
    match ROWS.get() {
        Some((file, model)) => {
            let out = json(error).unwrap_or_default();
            print(&rows::lines(file, model, (out, status), &|_| true));
        }
        None => print_json(error),
    }
}

/// From now on errors are printed as JSON.
pub fn print_errors_as_json() {
    JSON_ERRORS.store(true, Ordering::Relaxed);
}

/// Says what is wrong.
pub fn fail(message: &str) -> Status {
    match JSON_ERRORS.load(Ordering::Relaxed) {
        true => print_error(&ErrorReport::new(message), Status::Wrong),
        false => note(&format!("error: {message}")),
    }
    Status::Wrong
}

/// Says what is wrong with a file.
pub fn complain(error: &LoadError) -> Status {
    let status = match error {
        LoadError::Stopped { .. } => Status::Unknown,
        _ => Status::Wrong,
    };
    match JSON_ERRORS.load(Ordering::Relaxed) {
        true => ErrorReport::of_load(error).iter().for_each(|error| print_error(error, status)),
        // What is rendered has no control characters of the file.
        false => say(&error.render(terminal::errors_in_color())),
    }
    status
}

/// Says why what is asked of a file cannot be asked.
pub fn reject(file: &str, error: &Error) -> Status {
    match error {
        Error::Load(error) => complain(error),
        Error::Internal(error) => internal(error),
        _ if error.is_internal() => {
            say_error(&format!("{error}; please report this"), Status::Internal);
            Status::Internal
        }
        _ => fail_about(file, &advise(error)),
    }
}

/// Says what is wrong with a file, in a message that names it.
pub fn fail_about(file: &str, message: &str) -> Status {
    match JSON_ERRORS.load(Ordering::Relaxed) {
        true => print_error(&ErrorReport::new(message).file(file), Status::Wrong),
        false => note(&format!("error: {message}")),
    }
    Status::Wrong
}

/// Says that a checker does not accept what was found, which is not shown. If it rejects it, Weir
/// contradicts itself.
pub fn internal(error: &Unaccepted) -> Status {
    let status = if error.why.is_unchecked() { Status::Unknown } else { Status::Internal };
    say_error(&error.to_string(), status);
    status
}

/// Prints an error that is about no file.
pub fn say_error(message: &str, status: Status) {
    match JSON_ERRORS.load(Ordering::Relaxed) {
        true => print_error(&ErrorReport::new(message), status),
        false => note(message),
    }
}

/// The options that messages of the library may name.
pub const HINTS: Hints = Hints {
    bound: Some("--domain"),
    full: Some("--full"),
    live: Some("weir live"),
    strategy: Some("--strategy"),
};

/// Why something cannot be asked, and what to do about it on the command line.
pub fn advise(error: &Error) -> String {
    match error {
        Error::NoProperty(_) => {
            format!(
                "{error}, or use `weir outcomes`, `weir robust` or `weir fences --for robust`, which need none"
            )
        }
        Error::AsksLive(_) => format!("{error}; use `weir live`"),
        Error::AsksGames(_) => format!("{error}; use `weir game`"),
        Error::NoLive(_) => format!("{error}, or use `weir check`"),
        Error::NoProofs(Some(_), _) => format!("{error}; use --engine views"),
        Error::Refused(Refusal::Undecided { .. }) => {
            format!("{error}; use --engine explicit, or name other models with --model")
        }
        Error::Refused(Refusal::Unbounded(_)) => format!("{error}: --guesses N"),
        _ => error.to_string(),
    }
}

/// Says that a part of what was asked for is passed over. The exit status will be 2.
pub fn pass_over(message: &str) {
    PASSED_OVER.store(true, Ordering::Relaxed);
    let _ = fail(message);
}

/// Says something in a line on standard error.
pub fn note(message: &str) {
    say(&escape_line(message));
}

/// Prints a line on standard error. A failure is ignored: there is no other place to report it.
fn say(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{text}").and_then(|()| err.flush());
}

/// The exit status, if everything that was printed arrived and nothing was passed over.
pub fn finish(status: Status) -> Status {
    if LOST.load(Ordering::Relaxed) {
        return Status::Wrong;
    }
    match PASSED_OVER.load(Ordering::Relaxed) {
        true => status.and(Status::Wrong),
        false => status,
    }
}

/// Prints what `clap` has to say: help, the version, or an error.
pub fn usage(error: &clap::Error) -> Status {
    let rendered = error.render();
    // It quotes the command line.
    let plain = rendered.to_string();
    let text = match plain.contains(|c| is_control(c) && c != '\n') {
        true => escape(&plain).into_owned(),
        false => rendered.ansi().to_string(),
    };
    if error.use_stderr() {
        let mut err = anstream::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
        return Status::Wrong;
    }
    let mut out = anstream::stdout().lock();
    note_loss(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    finish(Status::Fine)
}

fn note_loss(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        note(&format!("error: cannot write to standard output: {}", plain(&error)));
    }
}

/// An I/O error without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What a signed escape sequence begins with.
fn signature() -> &'static str {
    static SIGNATURE: OnceLock<String> = OnceLock::new();
    SIGNATURE.get_or_init(|| format!("\x1b{:016x}", RandomState::new().build_hasher().finish()))
}

/// A text in a style, all on one line.
pub fn paint(style: Style, text: &str) -> String {
    let codes = |codes: String| codes.replace('\x1b', signature());
    let (on, off) = (codes(style.to_string()), codes(format!("{style:#}")));
    format!("{on}{}{off}", escape_line(text))
}

/// A text as a terminal may have it: signed escape sequences, and no others.
fn shown(text: &str) -> String {
    let mut parts = text.split(signature());
    let mut out = parts.next().map(escape).unwrap_or_default().into_owned();
    for part in parts {
        let end = part.find('m').map_or(0, |m| m + 1);
        out.push('\x1b');
        out.push_str(&part[..end]);
        out.push_str(&escape(&part[end..]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::STRONG;

    #[test]
    fn only_own_escape_sequences_pass() {
        let text = format!("{} \x1b[1mb\u{202e}\n", paint(STRONG, "a\n\x1b[2J"));
        assert_eq!(shown(&text), "\x1b[1ma\\n\\u{1b}[2J\x1b[0m \\u{1b}[1mb\\u{202e}\n");
    }
}
