//! What an editor asks about a text: its words, and what each name in it stands for.
//!
//! A text that is being written is seldom a program, so nothing here fails: what the parser could
//! read has names, and the rest has none. [`words`] needs no parser at all.
//!
//! The labels and registers of all declarations of one family are taken together: `p@here` may be a
//! place in any of them, and renaming one of them renames all.

mod find;

use std::ops::Range;

use super::{lexer, operators, parse};
use crate::errors::Errors;

pub use find::names;

/// What a word of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A word of the language.
    Keyword,
    /// A name that the program chooses, or that of an operation.
    Name,
    /// A number.
    Number,
    /// Punctuation.
    Symbol,
    /// A text in quotes.
    Text,
    /// A comment, perhaps over several lines.
    Comment,
}

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is.
    pub kind: WordKind,
    /// Where it stands.
    pub range: Range<usize>,
}

/// The words of a text in their order, with its comments and without what is not part of the
/// language.
pub fn words(text: &str) -> Vec<Word> {
    let tokens = lexer::tokens(text, &mut Errors::default());
    let mut words = Vec::with_capacity(tokens.len());
    let mut done = 0;
    for token in &tokens {
        let range = token.span.range();
        comments(text, done..range.start, &mut words);
        done = range.end;
        let kind = match token.kind {
            lexer::Kind::Name => WordKind::Name,
            lexer::Kind::Keyword | lexer::Kind::Reserved => WordKind::Keyword,
            lexer::Kind::Number(_) => WordKind::Number,
            lexer::Kind::Symbol => WordKind::Symbol,
            lexer::Kind::Text => WordKind::Text,
            lexer::Kind::End => break,
        };
        words.push(Word { kind, range });
    }
    words
}

/// The comments between two tokens.
fn comments(text: &str, gap: Range<usize>, words: &mut Vec<Word>) {
    let mut at = gap.start;
    while let Some(start) = text[at..gap.end].find('/').map(|i| at + i) {
        let rest = &text[start..gap.end];
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            nested_comment(rest)
        };
        words.push(Word { kind: WordKind::Comment, range: start..start + len });
        at = start + len;
    }
}

/// The length of a comment that may have others inside; all of the text if it is not closed.
fn nested_comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(next) = text[at..].find(['/', '*']).map(|i| at + i) {
        let rest = &text[next..];
        at = next + 2;
        if rest.starts_with("/*") {
            depth += 1;
        } else if rest.starts_with("*/") {
            depth -= 1;
        } else {
            at = next + 1;
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The words of the language.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    lexer::keywords()
}

/// The operations that are called like functions. A program may use these names for something
/// else.
pub fn operations() -> impl Iterator<Item = &'static str> {
    operators::call_names()
}

/// Whether an operation reads and writes a shared variable in one step.
pub fn is_atomic(operation: &str) -> bool {
    operators::atomic(operation).is_some()
}

/// Whether a word is one of the language.
pub fn is_keyword(word: &str) -> bool {
    lexer::is_taken_word(word)
}

/// Whether a word of the language begins a declaration or a property.
pub fn begins_item(word: &str) -> bool {
    lexer::TOP_KEYWORDS.contains(&word)
}

/// Whether a word of the language begins a statement.
pub fn begins_statement(word: &str) -> bool {
    lexer::STATEMENT_KEYWORDS.contains(&word)
}

/// Whether a text is a name that a program may choose.
pub fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(word)
        && !lexer::is_taken_word(text)
}

/// The word that ends `live terminates`.
const TERMINATES: &str = "terminates";
/// The word that begins a loop that counts.
const FOR: &str = "for";
/// The word for a formula about all numbers.
const FORALL: &str = "forall";
/// The words that begin declarations.
const RECORD: &str = "record";
const PROCEDURE: &str = "procedure";

/// The words that are of the language only where a name cannot stand, and whether each begins a
/// statement.
pub fn contextual() -> impl Iterator<Item = (&'static str, bool)> {
    let blocks = parse::UNDIVIDED.into_iter().map(|(word, _)| (word, true));
    blocks.chain([
        (FOR, true),
        (FORALL, false),
        (TERMINATES, false),
        (RECORD, false),
        (PROCEDURE, false),
    ])
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A constant.
    Constant,
    /// An enum.
    Enum,
    /// A member of an enum.
    Member,
    /// A shared variable.
    Variable,
    /// A shared array.
    Array,
    /// A record.
    Record,
    /// A field of a record.
    Field,
    /// A procedure.
    Procedure,
    /// A process or a family of processes.
    Process,
    /// The parameter of a family.
    Parameter,
    /// A register of a process or a method.
    Register,
    /// A label of a process or a method.
    Label,
    /// An object.
    Object,
    /// A method of an object.
    Method,
    /// A property.
    Property,
}

impl SymbolKind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Enum => "enum",
            Self::Member => "member of an enum",
            Self::Variable => "shared variable",
            Self::Array => "shared array",
            Self::Record => "record",
            Self::Field => "field",
            Self::Procedure => "procedure",
            Self::Process => "process",
            Self::Parameter => "parameter",
            Self::Register => "register",
            Self::Label => "label",
            Self::Object => "object",
            Self::Method => "method",
            Self::Property => "property",
        }
    }
}

/// Something that has a name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The process, method, object or enum that it belongs to.
    pub owner: Option<usize>,
    /// Its declarations; more than one for a family whose members are declared one by one.
    pub declarations: Vec<Declaration>,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name.
    pub name: Range<usize>,
    /// All of it, with its body.
    pub whole: Range<usize>,
}

/// What happens to a symbol where its name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is declared.
    Declares,
    /// Its value is used.
    Reads,
    /// It gets a value.
    Writes,
    /// It is read and written in one step.
    Updates,
    /// A process jumps there.
    Jumps,
    /// A property, a filter or a list of observed values names it.
    Asks,
}

/// A place where a symbol is named.
#[derive(Clone, Debug)]
pub struct Mention {
    /// Where the name stands.
    pub range: Range<usize>,
    /// The number of the symbol.
    pub symbol: usize,
    /// What happens to it there.
    pub access: Access,
    /// The process, method or property in which that is, if it is one.
    pub inside: Option<usize>,
}

/// A property of a text.
#[derive(Clone, Debug)]
pub struct Asked {
    /// All of it.
    pub range: Range<usize>,
    /// Its name, if it has one.
    pub symbol: Option<usize>,
}

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What has a name, in the order in which it is declared.
    pub symbols: Vec<Symbol>,
    /// Where names stand, in the order of the text.
    pub mentions: Vec<Mention>,
    /// What is asked, in the order of the text.
    pub asked: Vec<Asked>,
    /// Where a word that could be a name is one of the language, in the order of the text.
    pub keywords: Vec<Range<usize>>,
}

impl Names {
    /// What is named at an offset, or right before it.
    pub fn at(&self, offset: usize) -> Option<&Mention> {
        let after = self.mentions.partition_point(|m| m.range.start <= offset);
        let last = self.mentions[..after].last()?;
        (offset <= last.range.end).then_some(last)
    }

    /// Whether the word that begins at an offset could be a name, and is one of the language.
    pub fn is_keyword_at(&self, offset: usize) -> bool {
        self.keywords.binary_search_by_key(&offset, |range| range.start).is_ok()
    }

    /// Where a symbol is named.
    pub fn mentions_of(&self, symbol: usize) -> impl Iterator<Item = &Mention> {
        self.mentions.iter().filter(move |mention| mention.symbol == symbol)
    }

    /// The process or method whose code an offset is in.
    pub fn code_at(&self, offset: usize) -> Option<usize> {
        let is_code = |s: &Symbol| {
            matches!(s.kind, SymbolKind::Process | SymbolKind::Method | SymbolKind::Procedure)
        };
        let around = |s: &Symbol| s.declarations.iter().any(|d| d.whole.contains(&offset));
        self.symbols.iter().position(|s| is_code(s) && around(s))
    }

    /// The symbols that a name may stand for in a process or method, without labels.
    pub fn visible(&self, code: Option<usize>) -> impl Iterator<Item = (usize, &Symbol)> {
        self.symbols.iter().enumerate().filter(move |(_, symbol)| match symbol.kind {
            SymbolKind::Label | SymbolKind::Field | SymbolKind::Property => false,
            SymbolKind::Register | SymbolKind::Parameter => symbol.owner == code,
            _ => true,
        })
    }

    /// The symbols of a kind that belong to a process, method or enum.
    pub fn of(&self, owner: usize, kind: SymbolKind) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(move |s| s.owner == Some(owner) && s.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
const N = 2
enum Color { red, green }
var x: 0..N, a[N] /* ä */
process p[i: 0..1] {
    reg r = N
again: // here
    a[i] = x + r
    if x == green { goto again }
    fetch_add(x, r)
}
both: never p[0]@again and p[1].r == 1 and count(p@again) == N
";

    /// The text of each place where a name stands for what is declared at `declared`.
    fn places(names: &Names, declared: &str) -> Vec<(usize, Access)> {
        let at = TEXT.find(declared).unwrap();
        let symbol = names.at(at).unwrap().symbol;
        let line = |at: usize| TEXT[..at].matches('\n').count() + 1;
        names.mentions_of(symbol).map(|m| (line(m.range.start), m.access)).collect()
    }

    #[test]
    fn every_name_stands_for_something() {
        use Access::*;
        let names = names(TEXT);
        let n = [(2, Declares), (4, Reads), (4, Reads), (6, Reads), (12, Asks)];
        assert_eq!(places(&names, "N = 2"), n);
        let x = [(4, Declares), (8, Reads), (9, Reads), (10, Updates)];
        assert_eq!(places(&names, "x: 0"), x);
        assert_eq!(places(&names, "a[N]"), [(4, Declares), (8, Writes)]);
        assert_eq!(places(&names, "green"), [(3, Declares), (9, Reads)]);
        assert_eq!(places(&names, "i: 0"), [(5, Declares), (8, Reads)]);
        assert_eq!(places(&names, "r = N"), [(6, Declares), (8, Reads), (10, Reads), (12, Asks)]);
        let again = [(7, Declares), (9, Jumps), (12, Asks), (12, Asks)];
        assert_eq!(places(&names, "again:"), again);
        let p = [(5, Declares), (12, Asks), (12, Asks), (12, Asks)];
        assert_eq!(places(&names, "p[i"), p);
        assert_eq!(names.asked.len(), 1);
        let all = words(TEXT).into_iter().filter(|w| w.kind == WordKind::Name);
        let unknown = all.filter(|w| names.at(w.range.start).is_none());
        let unknown: Vec<&str> = unknown.map(|w| &TEXT[w.range]).collect();
        assert_eq!(unknown, ["fetch_add", "count"]);
    }

    #[test]
    fn words_may_be_names_elsewhere() {
        let text = "var step\nprocess p { step { step = 1 } atomic { step = 2 } }\nlive terminates";
        let names = names(text);
        let found: Vec<&str> = names.keywords.iter().map(|r| &text[r.clone()]).collect();
        assert_eq!(found, ["step", "atomic", "terminates"]);
        assert_eq!(names.mentions.iter().filter(|m| m.access == Access::Writes).count(), 2);
    }

    #[test]
    fn the_members_of_a_family_share_their_labels() {
        let text = "process p[= 0] { l: } process p[= 1] { l: } never count(p@l) == 2";
        let names = names(text);
        let label = names.symbols.iter().find(|s| s.kind == SymbolKind::Label).unwrap();
        assert_eq!(label.declarations.len(), 2);
        let process = names.symbols.iter().filter(|s| s.kind == SymbolKind::Process);
        assert_eq!(process.count(), 1);
    }

    #[test]
    fn what_is_read_before_an_error_has_names() {
        let names = names("var x\nprocess p { x = 1  x = }\nprocess q { x = ");
        assert!(names.mentions.len() >= 3, "{names:?}");
    }

    #[test]
    fn words_have_comments_that_nest() {
        let text = "var /* a /* b */ c */ x // é\n/ /**/ y /* open";
        let kinds: Vec<_> = words(text).into_iter().map(|w| (w.kind, &text[w.range])).collect();
        use WordKind::*;
        let all = [
            (Keyword, "var"),
            (Comment, "/* a /* b */ c */"),
            (Name, "x"),
            (Comment, "// é"),
            (Symbol, "/"),
            (Comment, "/**/"),
            (Name, "y"),
            (Comment, "/* open"),
        ];
        assert_eq!(kinds, all);
    }

    #[test]
    fn only_words_that_are_free_are_names() {
        for (text, is) in [("x", true), ("_a1", true), ("1a", false), ("", false), ("é", false)] {
            assert_eq!(is_name(text), is, "{text}");
        }
        assert!(keywords().all(|word| !is_name(word)));
    }
}
