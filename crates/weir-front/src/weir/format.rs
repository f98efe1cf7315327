//! The usual form of a text: indentation by blocks, and blanks between words.
//!
//! Line breaks are those of the text, and so are comments. More than one blank between two words
//! stays, since it may align columns; so does the indentation of a line that continues the one
//! before it.

use super::names::{Word, WordKind, words};
use super::read;
use crate::Diagnostic;

/// The text in the usual form. A text in that form does not change.
///
/// ```
/// let text = "var x\nprocess p{\nx=x+1 // up\nend:\n}";
/// let formatted = weir_front::weir::format(text).unwrap();
/// assert_eq!(formatted, "var x\nprocess p {\n    x = x + 1 // up\nend:\n}\n");
/// ```
///
/// # Errors
/// All that is wrong with the text: only programs are formatted.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    read("", text)?;
    let lines = lines(text);
    let mut out = String::new();
    let mut state = State::default();
    for (i, line) in lines.iter().enumerate() {
        let blank_before = i > 0 && line.blank_before;
        if blank_before {
            out.push('\n');
        }
        let indent = state.indent(line, lines.get(i + 1));
        out.extend(std::iter::repeat_n(' ', indent));
        let mut before: Option<&Piece<'_>> = None;
        for (j, piece) in line.pieces.iter().enumerate() {
            // `c ? a : b`
            let otherwise = piece.text == ":" && state.questions > 0;
            match piece.text {
                "?" => state.questions += 1,
                ":" => state.questions -= usize::from(otherwise),
                _ => {}
            }
            if let Some(before) = before {
                let earlier = j.checked_sub(2).map(|k| &line.pieces[k]);
                let wanted = match otherwise {
                    true => Blanks::Some,
                    false => State::blanks(before, piece, earlier),
                };
                let blanks = match wanted {
                    Blanks::None => 0,
                    Blanks::Some => piece.blanks.max(1),
                    Blanks::AsIs => piece.blanks,
                };
                out.extend(std::iter::repeat_n(' ', blanks));
            }
            out.push_str(piece.text);
            before = Some(piece);
        }
        out.push('\n');
        state.pass(line, indent);
    }
    Ok(out)
}

/// A word, with the blanks before it on its line.
struct Piece<'t> {
    text: &'t str,
    kind: WordKind,
    blanks: usize,
}

/// The words that begin on one line.
struct Line<'t> {
    pieces: Vec<Piece<'t>>,
    /// How many blanks it begins with.
    indent: usize,
    /// Whether an empty line stands before it.
    blank_before: bool,
}

impl Line<'_> {
    fn is_comment(&self) -> bool {
        self.pieces.iter().all(|p| p.kind == WordKind::Comment)
    }
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut end = 0;
    for Word { kind, range } in words(text) {
        let gap = &text[end..range.start];
        let breaks = gap.matches('\n').count();
        let width = gap.rsplit('\n').next().unwrap_or_default().chars().map(width).sum();
        let piece = Piece { text: text[range.clone()].trim_end(), kind, blanks: width };
        match lines.last_mut() {
            Some(line) if breaks == 0 => line.pieces.push(piece),
            _ => lines.push(Line { indent: width, blank_before: breaks > 1, pieces: vec![piece] }),
        }
        end = range.end;
    }
    lines
}

fn width(c: char) -> usize {
    if c == '\t' { 4 } else { 1 }
}

enum Blanks {
    None,
    /// One, or more if there are more.
    Some,
    AsIs,
}

/// Where in the text a line is.
#[derive(Default)]
struct State {
    /// The brackets that are open; `r` is the `{` of a record.
    open: Vec<char>,
    /// How many `?` have no `:` yet.
    questions: usize,
    /// Whether the line before ends in the middle of something.
    continues: bool,
    /// The indentation of the line before, in the text and now, and whether it ends in a comment.
    last: Option<(usize, usize, bool)>,
}

impl State {
    /// How many blanks a line begins with.
    fn indent(&self, line: &Line<'_>, next: Option<&Line<'_>>) -> usize {
        let depth = self.open.len();
        let first = line.pieces.first();
        let is = |text: &str| first.is_some_and(|p| p.text == text);
        // A comment in a column beside code.
        if line.is_comment()
            && let Some((before, now, true)) = self.last
            && line.indent > before
        {
            return line.indent + now - before;
        }
        let closes = line.pieces.iter().take_while(|p| ["}", "]", ")"].contains(&p.text)).count();
        let base = 4 * depth.saturating_sub(closes.min(1));
        if closes > 0 {
            return base;
        }
        let is_label = |line: &Line<'_>| {
            matches!(&line.pieces[..], [name, colon, ..]
                if name.kind == WordKind::Name && colon.text == ":")
        };
        if is_label(line) && self.open.last() == Some(&'{') && !self.continues {
            return base - 4;
        }
        // A comment before a label stands out with it, if it does already.
        if line.is_comment() && next.is_some_and(is_label) && depth > 0 && line.indent + 4 <= base {
            return base - 4;
        }
        let goes_on = self.continues || BEGIN_MORE.iter().any(|w| is(w));
        let is_brace = |b: &char| *b == '{' || *b == 'r';
        match goes_on && self.open.last().is_none_or(is_brace) {
            true => line.indent.max(base + 4),
            false if self.open.last().is_some_and(|b| !is_brace(b)) => line.indent.max(base),
            false => base,
        }
    }

    /// The blanks between two words, given the one before both.
    fn blanks(a: &Piece<'_>, b: &Piece<'_>, before: Option<&Piece<'_>>) -> Blanks {
        let is_called = |p: &Piece<'_>| {
            p.kind == WordKind::Name && !TEMPORAL.contains(&p.text)
                || ["any", "bool", "fence"].contains(&p.text)
                || is_type(p.text)
        };
        let ends_value = |p: &Piece<'_>| {
            p.kind == WordKind::Name
                || p.kind == WordKind::Number
                || [")", "]", "true", "false", "any"].contains(&p.text)
        };
        match (a.text, b.text) {
            _ if b.kind == WordKind::Comment || a.kind == WordKind::Comment => Blanks::Some,
            ("{", "}") => Blanks::AsIs,
            (_, "," | ";" | ")" | "]" | "@" | "." | "..") | ("(" | "[" | "@" | "." | "..", _) => {
                Blanks::None
            }
            (_, ":") => Blanks::None,
            (_, "(") if is_called(a) => Blanks::None,
            (_, "[") if a.kind == WordKind::Name => Blanks::None,
            // A sign.
            ("-" | "!", _) if !before.is_some_and(ends_value) => Blanks::None,
            _ => Blanks::Some,
        }
    }

    fn pass(&mut self, line: &Line<'_>, indent: usize) {
        for piece in line.pieces.iter().filter(|p| p.kind == WordKind::Symbol) {
            match piece.text {
                "{" if line.pieces[0].text == "record" => self.open.push('r'),
                "{" | "(" | "[" => self.open.extend(piece.text.chars()),
                "}" | ")" | "]" => drop(self.open.pop()),
                _ => {}
            }
        }
        let ends_in_comment = line.pieces.last().is_some_and(|p| p.kind == WordKind::Comment);
        self.last = Some((line.indent, indent, ends_in_comment));
        let mut code = line.pieces.iter().filter(|p| p.kind != WordKind::Comment);
        if let (Some(first), Some(last)) = (code.clone().next(), code.next_back()) {
            // A list of names in `{ }`, of an enum, is no statement that goes on.
            let lists = self.continues || ["var", "reg", "observe"].contains(&first.text);
            self.continues = match last.text {
                "," => lists || !matches!(self.open.last(), Some('{' | 'r')),
                text => END_EARLY.contains(&text),
            };
        }
    }
}

/// Words of formulas that are names elsewhere. Nothing with such a name is called.
const TEMPORAL: [&str; 11] =
    ["fair", "endless", "eventually", "implies", "unless", "release", "U", "V", "W", "R", "next"];

/// A line that begins with one of these goes on from the line before it.
const BEGIN_MORE: [&str; 10] = ["and", "or", "&&", "||", "+", "*", "until", "==", "?", ":"];

/// A line that ends with one of these goes on.
const END_EARLY: [&str; 47] = [
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "?", "=", "+", "-", "*", "/",
    "%", "&", "|", "^", "&&", "||", "and", "or", "not", "==", "!=", "<", "<=", ">", ">=", "<<",
    ">>", "..", "never", "always", "exists", "await", "assert", "assume", "if", "while", "until",
    "filter", "observe", "reach", "avoid",
];

fn is_type(word: &str) -> bool {
    weir_model::program::IntType::named(word).is_some()
}
