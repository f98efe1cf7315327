//! What an editor asks about a text: its words, and what each name in it stands for.
//!
//! A text that is being written is seldom a program, so nothing here fails: what the parser could
//! read has names, and the rest has none. [`words`] needs no parser at all.
//!
//! The labels and registers of all declarations of one family are taken together: `p@here` may be
//! a place in any of them, and whoever renames one of them means them all.

use std::collections::HashMap;
use std::ops::Range;

use super::tree::{
    Block, Choice, Declared, Domain, Expr, ExprKind, Family, Init, Item, Name, Place, Question,
    Stmt, StmtKind, Who,
};
use super::{lexer, operators, parse};
use crate::errors::Errors;

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

/// The words that are of the language only where a name cannot stand, and whether each begins a
/// statement.
pub fn contextual() -> impl Iterator<Item = (&'static str, bool)> {
    let blocks = parse::UNDIVIDED.into_iter().map(|(word, _)| (word, true));
    blocks.chain([(TERMINATES, false)])
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
        let is_code = |s: &Symbol| matches!(s.kind, SymbolKind::Process | SymbolKind::Method);
        let around = |s: &Symbol| s.declarations.iter().any(|d| d.whole.contains(&offset));
        self.symbols.iter().position(|s| is_code(s) && around(s))
    }

    /// The symbols that a name may stand for in a process or method, without labels.
    pub fn visible(&self, code: Option<usize>) -> impl Iterator<Item = (usize, &Symbol)> {
        self.symbols.iter().enumerate().filter(move |(_, symbol)| match symbol.kind {
            SymbolKind::Label | SymbolKind::Property => false,
            SymbolKind::Register | SymbolKind::Parameter => symbol.owner == code,
            _ => true,
        })
    }

    /// The symbols of a kind that belong to a process, method or enum.
    pub fn of(&self, owner: usize, kind: SymbolKind) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(move |s| s.owner == Some(owner) && s.kind == kind)
    }
}

/// Finds the names of a text.
pub fn names(text: &str) -> Names {
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = parse::file(&tokens, &mut errors);
    let names = Names::default();
    let mut finder = Finder { names, globals: HashMap::new(), inner: HashMap::new(), asked: 0 };
    for item in &parsed.items {
        finder.declare(item);
    }
    for item in &parsed.items {
        finder.item(item);
    }
    let mut names = finder.names;
    names.keywords.sort_by_key(|range| range.start);
    names.mentions.sort_by_key(|mention| mention.range.start);
    names.mentions.dedup_by_key(|mention| mention.range.start);
    names
}

/// Names inside something: labels have names of their own.
type Inner<'t> = HashMap<(usize, bool, &'t str), usize>;

struct Finder<'t> {
    names: Names,
    globals: HashMap<&'t str, usize>,
    inner: Inner<'t>,
    /// How many properties have been looked into.
    asked: usize,
}

/// Where an expression stands: in the code of a process or method, or in a property.
#[derive(Clone, Copy)]
struct Scope {
    code: Option<usize>,
    inside: Option<usize>,
    is_question: bool,
}

impl<'t> Finder<'t> {
    /// A new symbol, or a further declaration of one with the same name and kind.
    fn symbol(
        &mut self,
        name: Name<'t>,
        kind: SymbolKind,
        owner: Option<usize>,
        whole: Range<usize>,
    ) -> usize {
        let is_inner =
            matches!(kind, SymbolKind::Register | SymbolKind::Label | SymbolKind::Parameter);
        let known = match owner.filter(|_| is_inner) {
            Some(owner) => self.inner.get(&(owner, kind == SymbolKind::Label, name.text)),
            None if kind == SymbolKind::Property => None,
            None => self.globals.get(name.text),
        };
        let known = known.copied().filter(|&s| self.names.symbols[s].kind == kind);
        let declaration = Declaration { name: name.span.range(), whole };
        let number = known.unwrap_or(self.names.symbols.len());
        match known {
            Some(known) => self.names.symbols[known].declarations.push(declaration),
            None => self.names.symbols.push(Symbol {
                name: name.text.to_owned(),
                kind,
                owner,
                declarations: vec![declaration],
            }),
        }
        if let Some(owner) = owner.filter(|_| is_inner) {
            self.inner.entry((owner, kind == SymbolKind::Label, name.text)).or_insert(number);
        } else if kind != SymbolKind::Property {
            self.globals.entry(name.text).or_insert(number);
        }
        self.mention(name, number, Access::Declares, owner);
        number
    }

    fn mention(&mut self, name: Name<'t>, symbol: usize, access: Access, inside: Option<usize>) {
        self.names.mentions.push(Mention { range: name.span.range(), symbol, access, inside });
    }

    /// Declares what an item declares, without looking into its expressions.
    fn declare(&mut self, item: &Item<'t>) {
        match item {
            Item::Const(name, e) => {
                let whole = name.span.to(e.span).range();
                self.symbol(*name, SymbolKind::Constant, None, whole);
            }
            Item::Enum(name, members) => {
                let last = members.last().map_or(name.span, |member| member.span);
                let owner = self.symbol(*name, SymbolKind::Enum, None, name.span.to(last).range());
                for member in members {
                    let whole = member.span.range();
                    self.symbol(*member, SymbolKind::Member, Some(owner), whole);
                }
            }
            Item::Var(var) => self.variable(var, None),
            Item::Process(process) => {
                let whole = process.span.range();
                let owner = self.symbol(process.name, SymbolKind::Process, None, whole);
                if let Family::All(parameter, _, high) = &process.family {
                    let whole = parameter.span.to(high.span).range();
                    self.symbol(*parameter, SymbolKind::Parameter, Some(owner), whole);
                }
                self.inside(&process.body, owner);
            }
            Item::Object(object) => {
                let whole = object.span.range();
                let owner = self.symbol(object.name, SymbolKind::Object, None, whole);
                for var in &object.vars {
                    self.variable(var, Some(owner));
                }
                for method in &object.methods {
                    let whole = method.span.range();
                    let code = self.symbol(method.name, SymbolKind::Method, Some(owner), whole);
                    if let Some(argument) = &method.argument {
                        let whole = argument.span.range();
                        self.symbol(argument.name, SymbolKind::Register, Some(code), whole);
                    }
                    self.inside(&method.body, code);
                }
            }
            Item::Property(name, _, span) => {
                let range = span.range();
                let symbol =
                    name.map(|name| self.symbol(name, SymbolKind::Property, None, range.clone()));
                self.names.asked.push(Asked { range, symbol });
            }
            Item::Filter(..) | Item::Observe(..) => {}
        }
    }

    fn variable(&mut self, var: &Declared<'t>, owner: Option<usize>) {
        let kind = if var.len.is_some() { SymbolKind::Array } else { SymbolKind::Variable };
        self.symbol(var.name, kind, owner, var.span.range());
    }

    /// Declares the registers and labels of a block.
    fn inside(&mut self, block: &Block<'t>, owner: usize) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Label(name) => {
                    self.symbol(*name, SymbolKind::Label, Some(owner), name.span.range());
                }
                StmtKind::Registers(list) => {
                    for register in list {
                        let whole = register.span.range();
                        self.symbol(register.name, SymbolKind::Register, Some(owner), whole);
                    }
                }
                kind => each_block(kind, &mut |block| self.inside(block, owner)),
            }
        }
    }

    /// Finds what an item names.
    fn item(&mut self, item: &Item<'t>) {
        let outside = Scope { code: None, inside: None, is_question: false };
        match item {
            Item::Const(_, e) => self.expr(e, outside),
            Item::Enum(..) => {}
            Item::Var(var) => self.declared(var, outside),
            Item::Process(process) => {
                let code = self.globals.get(process.name.text).copied();
                let scope = Scope { code, inside: code, is_question: false };
                match &process.family {
                    Family::None => {}
                    Family::Count(e) | Family::Member(e) => self.expr(e, outside),
                    Family::All(_, low, high) => {
                        self.expr(low, outside);
                        self.expr(high, outside);
                    }
                }
                self.block(&process.body, scope);
            }
            Item::Object(object) => {
                for var in &object.vars {
                    self.declared(var, outside);
                }
                for method in &object.methods {
                    let code = self.globals.get(method.name.text).copied();
                    let scope = Scope { code, inside: code, is_question: false };
                    if let Some(argument) = &method.argument {
                        self.declared(argument, outside);
                    }
                    self.block(&method.body, scope);
                }
            }
            Item::Property(_, question, span) => {
                let inside = self.names.asked.get(self.asked).and_then(|asked| asked.symbol);
                self.asked += 1;
                let scope = Scope { code: None, inside, is_question: true };
                match question {
                    Question::NoDeadlock | Question::Assertions => {}
                    // The last word of the property.
                    Question::Terminates => {
                        let end = span.range().end;
                        self.names.keywords.push(end - TERMINATES.len()..end);
                    }
                    Question::Never(e)
                    | Question::Final(_, e)
                    | Question::Live(_, e)
                    | Question::Game(_, e) => self.expr(e, scope),
                }
            }
            Item::Filter(e, _) => self.expr(e, Scope { is_question: true, ..outside }),
            Item::Observe(list, _) => {
                for e in list {
                    self.expr(e, Scope { is_question: true, ..outside });
                }
            }
        }
    }

    fn declared(&mut self, declared: &Declared<'t>, scope: Scope) {
        if let Some(len) = &declared.len {
            self.expr(len, scope);
        }
        if let Some(domain) = &declared.domain {
            self.domain(domain, scope);
        }
        if let Some(init) = &declared.init {
            self.init(init, scope);
        }
    }

    fn domain(&mut self, domain: &Domain<'t>, scope: Scope) {
        match domain {
            Domain::Range(low, high) => {
                self.expr(low, scope);
                self.expr(high, scope);
            }
            Domain::Enum(name) => self.named(*name, Access::Reads, scope),
            Domain::Bool | Domain::Int(_) => {}
        }
    }

    fn init(&mut self, init: &Init<'t>, scope: Scope) {
        match init {
            Init::Any(_) => {}
            Init::Value(e) => self.expr(e, scope),
            Init::List(list, _) => list.iter().for_each(|init| self.init(init, scope)),
        }
    }

    fn block(&mut self, block: &Block<'t>, scope: Scope) {
        for Stmt { kind, span } in block {
            match kind {
                StmtKind::Label(_)
                | StmtKind::Fence(_)
                | StmtKind::Nop
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Exit
                | StmtKind::Loop(_)
                | StmtKind::Choose(_)
                | StmtKind::Return(None) => {}
                StmtKind::Undivided(..) => self.names.keywords.push(span.range()),
                StmtKind::Registers(list) => list.iter().for_each(|r| self.declared(r, scope)),
                StmtKind::Assign(place, e) => {
                    self.place(place, Access::Writes, scope);
                    self.expr(e, scope);
                }
                StmtKind::Goto(name) => {
                    if let Some(label) = self.inner_of(scope.code, true, name.text) {
                        self.mention(*name, label, Access::Jumps, scope.inside);
                    }
                }
                StmtKind::Atomic(e)
                | StmtKind::Assume(e)
                | StmtKind::Assert(e)
                | StmtKind::If(e, ..)
                | StmtKind::While(e, _)
                | StmtKind::Await(_, e)
                | StmtKind::Return(Some(e)) => self.expr(e, scope),
            }
            each_block(kind, &mut |block| self.block(block, scope));
        }
    }

    fn inner_of(&self, owner: Option<usize>, is_label: bool, name: &'t str) -> Option<usize> {
        self.inner.get(&(owner?, is_label, name)).copied()
    }

    /// Recursive: the parser bounds how deep expressions nest.
    fn expr(&mut self, e: &Expr<'t>, scope: Scope) {
        match &e.kind {
            ExprKind::Number(_) => {}
            ExprKind::Place(place) => {
                let access = if scope.is_question { Access::Asks } else { Access::Reads };
                self.place(place, access, scope);
            }
            ExprKind::Unary(_, e) => self.expr(e, scope),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, scope);
                self.expr(b, scope);
            }
            ExprKind::Any(Choice::Domain(domain)) => self.domain(domain, scope),
            ExprKind::Any(Choice::List(list)) => list.iter().for_each(|e| self.expr(e, scope)),
            ExprKind::Atomic(_, place, operands) => {
                self.place(place, Access::Updates, scope);
                operands.iter().for_each(|e| self.expr(e, scope));
            }
            ExprKind::At(who, label) | ExprKind::Count(who, label) => {
                self.member(who, true, *label, scope);
            }
            ExprKind::Register(who, register) => self.member(who, false, *register, scope),
        }
    }

    fn place(&mut self, place: &Place<'t>, access: Access, scope: Scope) {
        self.named(place.name, access, scope);
        if let Some(index) = &place.index {
            self.expr(index, scope);
        }
    }

    fn named(&mut self, name: Name<'t>, access: Access, scope: Scope) {
        let symbol = self.inner_of(scope.code, false, name.text);
        if let Some(symbol) = symbol.or_else(|| self.globals.get(name.text).copied()) {
            self.mention(name, symbol, access, scope.inside);
        }
    }

    /// `p@label`, `p[0].r`
    fn member(&mut self, who: &Who<'t>, is_label: bool, name: Name<'t>, scope: Scope) {
        if let Some(&process) = self.globals.get(who.name.text) {
            self.mention(who.name, process, Access::Asks, scope.inside);
            if let Some(symbol) = self.inner_of(Some(process), is_label, name.text) {
                self.mention(name, symbol, Access::Asks, scope.inside);
            }
        }
        if let Some(index) = &who.index {
            self.expr(index, scope);
        }
    }
}

/// Calls a function with each block of a statement.
fn each_block<'a, 't>(kind: &'a StmtKind<'t>, visit: &mut dyn FnMut(&'a Block<'t>)) {
    match kind {
        StmtKind::If(_, then, other) => {
            visit(then);
            visit(other);
        }
        StmtKind::While(_, body)
        | StmtKind::Loop(body)
        | StmtKind::Await(body, _)
        | StmtKind::Undivided(_, body) => visit(body),
        StmtKind::Choose(blocks) => blocks.iter().for_each(visit),
        StmtKind::Label(_)
        | StmtKind::Registers(_)
        | StmtKind::Assign(..)
        | StmtKind::Atomic(_)
        | StmtKind::Goto(_)
        | StmtKind::Fence(_)
        | StmtKind::Nop
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Exit
        | StmtKind::Assume(_)
        | StmtKind::Assert(_)
        | StmtKind::Return(_) => {}
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
