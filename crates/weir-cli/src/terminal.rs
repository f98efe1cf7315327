//! The terminal: color, marks and width.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use weir::Verdict;
use weir::report::run::WIDTH;
use weir::report::table::wrap;
use weir_front::escape::escape_line;

use crate::output::paint;

/// Emphasis.
pub const STRONG: Style = Style::new().bold();
/// Details.
pub const QUIET: Style = Style::new().dimmed();

/// The answer to a question, which is neither good nor bad.
pub const NEUTRAL: Style = AnsiColor::Cyan.on_default().bold();

/// Lines are not made for terminals that are narrower.
const MIN_WIDTH: usize = 40;

/// How a verdict is colored.
pub fn style(verdict: Verdict) -> Style {
    let color = match verdict {
        Verdict::Holds => AnsiColor::Green,
        Verdict::Violated => AnsiColor::Red,
        Verdict::Unknown => AnsiColor::Yellow,
    };
    color.on_default().bold()
}

/// How wide lines may be: as the environment variable `COLUMNS` says, otherwise as the terminal
/// is, if one reads them.
pub fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let terminal = || {
        let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
        Some(usize::from(width.0))
    };
    said.filter(|width| *width > 0).or_else(terminal).map_or(WIDTH, |width| width.max(MIN_WIDTH))
}

/// A text that is no wider than lines may be, all of its lines in a style.
pub fn title(style: Style, text: &str) -> String {
    let lines = wrap(&escape_line(text), width());
    lines.iter().map(|line| paint(style, line)).collect::<Vec<_>>().join("\n")
}

/// Whether what is printed is colored.
pub fn output_in_color() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

/// Whether errors may be colored.
pub fn errors_in_color() -> bool {
    let choice = anstream::AutoStream::choice(&std::io::stderr());
    choice != anstream::ColorChoice::Never && std::io::stderr().is_terminal()
        || choice == anstream::ColorChoice::Always
        || choice == anstream::ColorChoice::AlwaysAnsi
}
