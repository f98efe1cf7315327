//! From tokens to a tree. Parsing stops at the first error, since this language has no
//! reliable points to resume at.

use weir_model::program::FenceKind;

use super::lexer::{Kind, Token};
use super::tree::{At, Decl, File, Labeled, Loc, Process, Stmt, Write};
use crate::errors::quote;
use crate::{Diagnostic, MAX_NESTING};

/// Words that cannot name anything.
pub const KEYWORDS: [&str; 32] = [
    "forbidden",
    "predicates",
    "data",
    "process",
    "registers",
    "text",
    "nop",
    "assume",
    "read",
    "write",
    "locked",
    "slocked",
    "cas",
    "fence",
    "ssfence",
    "llfence",
    "if",
    "then",
    "else",
    "while",
    "do",
    "goto",
    "either",
    "or",
    "not",
    "true",
    "false",
    "macro",
    "endmacro",
    "my",
    "syncwr",
    "syncrd",
];

/// The most copies of one process.
const MAX_COPIES: i128 = 64;

/// An error, ready to be reported.
pub type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Where a fence can be inserted: before or behind what, which statement begins the list, and
/// whether it is the end of it.
pub type Place = (usize, usize, bool);

/// Parses a file, and finds where fences can be inserted.
///
/// # Errors
/// The first one.
pub fn file(tokens: &[Token<'_>]) -> Result<(File, Vec<Place>), Diagnostic> {
    let mut parser = Parser { tokens, at: 0, depth: 0, gaps: vec![], has_sync: false };
    let file = parser.file().map_err(|error| *error)?;
    Ok((file, parser.gaps))
}

/// Where the parser is.
pub struct Parser<'s, 't> {
    tokens: &'s [Token<'t>],
    at: At,
    /// How many statements or brackets this stands in.
    depth: usize,
    gaps: Vec<Place>,
    has_sync: bool,
}

impl<'s, 't> Parser<'s, 't> {
    pub fn peek(&self) -> &'s Token<'t> {
        &self.tokens[self.at]
    }

    fn peek_at(&self, ahead: usize) -> &'s Token<'t> {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// The number of the next token, which is passed. The last one never is.
    pub fn next(&mut self) -> At {
        let at = self.at;
        self.at = (at + 1).min(self.tokens.len() - 1);
        at
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, text: &str, before: &str) -> Parsed<()> {
        match self.eat(text) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{text}`{before}"))),
        }
    }

    pub fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => quote(token.text),
        };
        Box::new(token.error(format!("expected {wanted}, found {found}")))
    }

    fn name(&mut self, what: &str) -> Parsed<At> {
        let token = self.peek();
        if token.kind == Kind::Word && !KEYWORDS.contains(&token.text) {
            return Ok(self.next());
        }
        Err(self.unexpected(what))
    }

    /// Runs `parse` one level deeper.
    pub fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        // A statement can need two levels of a program.
        if self.depth >= MAX_NESTING / 2 {
            let message = format!("this nests more than {} deep", MAX_NESTING / 2);
            return Err(Box::new(self.peek().error(message)));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn file(&mut self) -> Parsed<File> {
        let mut file = File::default();
        // A file that forbids nothing asks nothing.
        let asks = !["data", "process", "predicates"].iter().any(|w| self.peek().is(w));
        if asks {
            self.expect("forbidden", ", with which a file begins")?;
            file.forbidden.push(self.row()?);
            while self.eat(";") {
                file.forbidden.push(self.row()?);
            }
        }
        // Predicates are advice for an abstraction that Weir does not have.
        if self.eat("predicates") {
            while !["data", "process"].iter().any(|w| self.peek().is(w)) {
                if self.peek().kind == Kind::End {
                    return Err(self.unexpected("`process`"));
                }
                self.next();
            }
        }
        if self.eat("data") {
            file.data = self.declarations(Kind::Word)?;
        }
        while self.peek().kind != Kind::End {
            file.processes.push(self.process()?);
        }
        if file.processes.is_empty() {
            return Err(self.unexpected("`process`"));
        }
        file.has_sync = self.has_sync;
        Ok(file)
    }

    fn row(&mut self) -> Parsed<Vec<At>> {
        let mut row = Vec::new();
        loop {
            let is_label = self.peek().kind == Kind::Word && !KEYWORDS.contains(&self.peek().text);
            if !is_label && !self.peek().is("*") {
                break;
            }
            row.push(self.next());
        }
        if row.is_empty() {
            return Err(self.unexpected("a label or `*` for each process"));
        }
        Ok(row)
    }

    /// At least one declaration, of variables or of registers.
    fn declarations(&mut self, kind: Kind) -> Parsed<Vec<Decl>> {
        let mut list = Vec::new();
        while list.is_empty() || self.peek().kind == kind && !KEYWORDS.contains(&self.peek().text) {
            let name = match kind {
                Kind::Register if self.peek().kind == kind => self.next(),
                Kind::Register => return Err(self.unexpected("a register, as in `$r`")),
                _ => self.name("the name of a variable")?,
            };
            self.expect("=", " and what it is in the beginning")?;
            let init = if self.eat("*") { None } else { Some(self.integer()?) };
            let domain = if self.eat(":") { self.domain()? } else { None };
            list.push(Decl { name, init, domain });
        }
        Ok(list)
    }

    fn domain(&mut self) -> Parsed<Option<(i128, i128)>> {
        if self.eat("Z") {
            return Ok(None);
        }
        let open = self.at;
        self.expect("[", " or `Z`")?;
        let low = self.integer()?;
        self.expect(":", " and the highest value")?;
        let high = self.integer()?;
        self.expect("]", "")?;
        if low > high {
            let message = format!("there is no value from {low} to {high}");
            return Err(Box::new(self.tokens[open].error(message)));
        }
        Ok(Some((low, high)))
    }

    fn integer(&mut self) -> Parsed<i128> {
        let negative = self.eat("-");
        let Kind::Number(value) = self.peek().kind else {
            return Err(self.unexpected("a number"));
        };
        self.next();
        // Numbers have no sign of their own, so this one has an opposite.
        Ok(if negative { -value } else { value })
    }

    fn process(&mut self) -> Parsed<Process> {
        self.expect("process", "")?;
        let mut copies = 1;
        if self.eat("(") {
            let at = self.at;
            copies = self.integer()?;
            self.expect(")", "")?;
            if !(0..=MAX_COPIES).contains(&copies) {
                let message = format!("a process has at most {MAX_COPIES} copies");
                return Err(Box::new(self.tokens[at].error(message)));
            }
        }
        let (mut data, mut registers) = (Vec::new(), Vec::new());
        loop {
            if self.eat("data") {
                data.extend(self.declarations(Kind::Word)?);
            } else if self.eat("registers") {
                registers.extend(self.declarations(Kind::Register)?);
            } else {
                break;
            }
        }
        self.expect("text", ", `data` or `registers`")?;
        let text = self.statements()?;
        if self.peek().kind != Kind::End && !self.peek().is("process") {
            return Err(self.unexpected("`;` and another statement, or `process`"));
        }
        Ok(Process { copies: copies as usize, data, registers, text })
    }

    fn statements(&mut self) -> Parsed<Vec<Labeled>> {
        let like = self.peek().range.start;
        let mut list = Vec::new();
        loop {
            self.gap(like);
            list.push(self.labeled()?);
            if !self.eat(";") {
                break;
            }
        }
        let last = &self.tokens[self.at.saturating_sub(1)];
        if last.inside.is_none() && self.peek().inside.is_none() {
            self.gaps.push((last.range.end, like, true));
        }
        Ok(list)
    }

    /// `{ … or … }`
    fn choices(&mut self) -> Parsed<Vec<Vec<Labeled>>> {
        self.expect("{", "")?;
        let mut list = vec![self.statements()?];
        while self.eat("or") {
            list.push(self.statements()?);
        }
        self.expect("}", " or `;`")?;
        Ok(list)
    }

    fn labeled(&mut self) -> Parsed<Labeled> {
        self.deeper(|this| {
            let is_label = this.peek_at(1).is(":") && !KEYWORDS.contains(&this.peek().text);
            let label = (this.peek().kind == Kind::Word && is_label).then(|| this.next());
            if label.is_some() {
                this.next();
            }
            let from = this.at;
            let stmt = this.statement()?;
            Ok(Labeled { label, stmt, from, to: this.at })
        })
    }

    /// There is a gap before the next token, unless a macro stands for it.
    fn gap(&mut self, like: usize) {
        let next = self.peek();
        if next.inside.is_none() {
            self.gaps.push((next.range.start, like, false));
        }
    }

    fn inner(&mut self) -> Parsed<Box<Labeled>> {
        self.labeled().map(Box::new)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let token = self.peek();
        if token.kind == Kind::Register {
            let register = self.next();
            self.expect(":=", "")?;
            return Ok(Stmt::Assign(register, self.value()?));
        }
        if token.is("{") {
            self.next();
            let block = self.statements()?;
            self.expect("}", " or `;`")?;
            return Ok(Stmt::Block(block));
        }
        let word = if token.kind == Kind::Word { token.text } else { "" };
        if !KEYWORDS.contains(&word) {
            return Err(self.unexpected("a statement"));
        }
        self.next();
        Ok(match word {
            "nop" => Stmt::Nop,
            "fence" => Stmt::Fence(FenceKind::Full),
            "ssfence" => Stmt::Fence(FenceKind::Write),
            "llfence" => Stmt::Fence(FenceKind::Read),
            "assume" => {
                self.expect(":", "")?;
                Stmt::Assume(self.condition()?)
            }
            "read" => self.read()?,
            "write" => self.write(Write::Plain)?,
            "syncrd" => {
                self.has_sync = true;
                self.read()?
            }
            "syncwr" => {
                self.has_sync = true;
                self.write(Write::Locked)?
            }
            "slocked" => {
                self.expect("write", "")?;
                self.write(Write::StoreLocked)?
            }
            "locked" if self.eat("write") => self.write(Write::Locked)?,
            "locked" => {
                let gaps = self.gaps.len();
                let choices = self.choices()?;
                self.gaps.truncate(gaps);
                Stmt::Locked(choices)
            }
            "either" => Stmt::Either(self.choices()?),
            "cas" => {
                self.expect("(", "")?;
                let place = self.location()?;
                self.expect(",", " and the expected value")?;
                let expected = self.value()?;
                self.expect(",", " and the new value")?;
                let new = self.value()?;
                self.expect(")", "")?;
                Stmt::Cas(place, expected, new)
            }
            "goto" => Stmt::Goto(self.name("a label")?),
            "if" => {
                let condition = self.condition()?;
                self.expect("then", "")?;
                let then = self.inner()?;
                let other = if self.eat("else") { Some(self.inner()?) } else { None };
                Stmt::If(condition, then, other)
            }
            "while" => {
                let condition = self.condition()?;
                self.expect("do", "")?;
                Stmt::While(condition, self.inner()?)
            }
            _ => {
                self.at -= 1;
                return Err(self.unexpected("a statement"));
            }
        })
    }

    fn read(&mut self) -> Parsed<Stmt> {
        self.expect(":", "")?;
        if self.peek().kind == Kind::Register {
            let register = self.next();
            self.expect(":=", "")?;
            return Ok(Stmt::Read(register, self.location()?));
        }
        let place = self.location()?;
        self.expect("=", " and the value to wait for")?;
        Ok(Stmt::Await(place, self.value()?))
    }

    fn write(&mut self, kind: Write) -> Parsed<Stmt> {
        self.expect(":", "")?;
        let place = self.location()?;
        self.expect(":=", "")?;
        Ok(Stmt::Write(kind, place, self.value()?))
    }

    fn location(&mut self) -> Parsed<Loc> {
        if self.peek().is("[") {
            let at = self.next();
            let address = self.value()?;
            self.expect("]", "")?;
            return Ok(Loc::Pointer(address, at));
        }
        let name = self.name("a variable")?;
        if !self.eat("[") {
            return Ok(Loc::Global(name));
        }
        let place = if self.eat("my") {
            Loc::Mine(name)
        } else {
            let Kind::Number(number) = self.peek().kind else {
                return Err(self.unexpected("`my` or the number of a process"));
            };
            self.next();
            Loc::Other(name, usize::try_from(number).unwrap_or(usize::MAX))
        };
        self.expect("]", "")?;
        Ok(place)
    }
}
