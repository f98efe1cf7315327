//! Litmus tests in C: `C name { … } P0 (atomic_int *x) { … } … exists …`.
//!
//! The functions are in a small part of C, which is read and translated at once: `statement` has statements and
//! declarations, `expression` has expressions and places, `call` has calls of the functions and macros that
//! `primitive` knows. Parameters are pointers to the variables of the test. Everything else that is
//! assigned to is a register, declared or not.
//!
//! Values have no size and never wrap. What C leaves open (the order of two accesses in one expression) is
//! refused.

mod call;
mod expression;
mod primitive;
mod statement;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use weir_model::ids::{RegId, SpanId};
use weir_model::program::{Expr, MAX_PROCESSES, Order, Process, Program, Stmt, StmtKind};

use super::condition::{self, Tail};
use super::cursor::Cursor;
use super::dialect::Dialect;
use super::errors::Errors;
use super::frame::{self, Header};
use super::init;
use super::lexer::{self, C_SIGNS, Kind, Token};
use super::location::Leaf;
use super::test::{Layout, SymbolId, Test};
use crate::{Diagnostic, Read, Source};
use statement::Loop;

/// What reports say about every test in C.
const CAVEAT: &str =
    "each access as it stands in the source: what a compiler reorders or removes is not covered";

/// What reports say about a test with primitives of the kernel.
const MAPPED: &str = "primitives of the Linux kernel are read as operations of C11, \
    not by the memory model of the kernel; docs/litmus.md has the table";

/// Where a function of the test is.
struct Function {
    /// What stands between its parentheses.
    head: Range<usize>,
    /// What stands between its braces.
    body: Range<usize>,
}

/// A parameter: a pointer to a variable of the test.
struct Parameter {
    symbol: SymbolId,
    is_atomic: bool,
}

/// A local variable.
struct Local {
    register: RegId,
    /// If it was declared as a pointer: whether it points to something atomic.
    points_to_atomic: Option<bool>,
    /// How many blocks are around its declaration, as long as it is in scope.
    scope: Option<usize>,
}

/// What a test has.
#[derive(Default)]
struct Found {
    /// Primitives of the kernel.
    kernel: bool,
    /// Orders weaker than `seq_cst`.
    weak: bool,
    /// Critical sections of RCU.
    has_sections: bool,
}

/// Reads and translates one function.
struct Reader<'r, 'a, 't> {
    test: &'r mut Test,
    layout: &'r Layout,
    found: &'r mut Found,
    tokens: Cursor<'a, 't>,
    thread: usize,
    parameters: &'r BTreeMap<&'t str, Parameter>,
    locals: HashMap<String, Local>,
    body: Vec<Stmt>,
    /// The place of the statement that is read.
    span: SpanId,
    at: Range<usize>,
    /// How many temporaries the statement has.
    temporaries: usize,
    /// How many accesses the function has so far, and had before the statement and before the call around.
    accesses: usize,
    accesses_before: usize,
    before_call: usize,
    nesting: usize,
    blocks: usize,
    loops: Vec<Loop>,
}

impl Reader<'_, '_, '_> {
    /// What comes from now on belongs to this place.
    fn move_to(&mut self, range: Range<usize>) {
        self.span = self.test.source.span(range.clone());
        self.at = range;
    }

    fn push(&mut self, kind: StmtKind) {
        self.body.push(Stmt::new(kind, self.span));
    }

    /// One more access.
    fn access(&mut self, kind: StmtKind) {
        if let StmtKind::Load(_, place) | StmtKind::Store(place, _) | StmtKind::Rmw(_, place, _) =
            &kind
        {
            self.found.weak |= !place.order.is_some_and(Order::is_seq_cst);
        }
        self.accesses += 1;
        self.push(kind);
    }
}

/// Reads a test whose header says that it is in C.
pub(super) fn read(name: &str, text: &str, header: Header) -> Read {
    let one = |error| vec![error];
    let end = closing(text, header.body).ok_or_else(|| {
        vec![Diagnostic::new("the initial section is not closed", header.body..header.body + 1)]
    })?;
    let (functions, rest) = functions(text, end + 1).map_err(one)?;
    if functions.is_empty() {
        let message = "there is no function `P0` after the initial section";
        return Err(vec![Diagnostic::new(message, end..end + 1)]);
    }
    if functions.len() > MAX_PROCESSES {
        let message = format!("at most {MAX_PROCESSES} threads are read");
        return Err(vec![Diagnostic::new(message, end..end + 1)]);
    }
    // What is not C has comments of its own; everything keeps its place.
    let first = painted(text, header.body..end + 1).map_err(one)?;
    let last = painted(text, rest..text.len()).map_err(one)?;
    let code = without_c_comments(text);
    let mut errors = Errors::default();
    let tokens = lexer::tokens(&first, header.body, &mut errors);
    let condition = lexer::tokens(&last, rest, &mut errors);
    let mut lex = |range: &Range<usize>| {
        lexer::tokens_of(&code[..range.end], range.start, &C_SIGNS, &mut errors)
    };
    let heads: Vec<_> = functions.iter().map(|f| lex(&f.head)).collect();
    let bodies: Vec<_> = functions.iter().map(|f| lex(&f.body)).collect();

    let mut test = Test::new(Dialect::C, Source::new(name, text), functions.len(), errors);
    let inner = 1..tokens.len().saturating_sub(1).max(1);
    init::read(&mut test, Cursor::new(&tokens[inner], end));
    let mut given = Vec::new();
    for (function, head) in functions.iter().zip(&heads) {
        let parameters = parameters(&mut test, Cursor::new(head, function.head.end), function);
        given.push(test.errors.take(parameters).unwrap_or_default());
    }
    let initial: Vec<usize> = test.threads.iter().map(|t| t.registers.len()).collect();
    let tail = condition::read(&mut test, Cursor::new(&condition, text.len()), text.len());
    let layout = match test.layout() {
        Ok(layout) if test.errors.is_empty() => layout,
        Ok(_) => return Err(test.errors.finish()),
        Err(error) => {
            test.errors.push(error);
            return Err(test.errors.finish());
        }
    };
    let is_section =
        |token: &Token<'_>| matches!(token.kind, Kind::Word("rcu_read_lock" | "rcu_read_unlock"));
    let mut found =
        Found { has_sections: bodies.iter().flatten().any(is_section), ..Found::default() };
    let mut processes = Vec::new();
    for (thread, function) in functions.iter().enumerate() {
        let tokens = Cursor::new(&bodies[thread], function.body.end);
        let parts = (&given[thread], tokens);
        let named = asked(&tail, thread);
        processes.push(process(
            &mut test,
            &layout,
            &mut found,
            thread,
            parts,
            initial[thread],
            &named,
        ));
    }
    if !test.errors.is_empty() {
        return Err(test.errors.finish());
    }
    let mut program = Program { name: header.name, processes, ..Program::default() };
    super::finish(&mut program, &mut test, &layout, &tail);
    let mut source = test.source;
    source.caveat = Some(CAVEAT);
    source.has_weak_orders = found.weak;
    source.notes.extend(found.kernel.then(|| MAPPED.to_owned()));
    Ok((program, source))
}

/// The process of a function: its parameters and its body. So many registers are known from the initial section, and
/// `named` are those that the condition names.
fn process<'t>(
    test: &mut Test,
    layout: &Layout,
    found: &mut Found,
    thread: usize,
    (parameters, tokens): (&BTreeMap<&'t str, Parameter>, Cursor<'_, 't>),
    initial: usize,
    named: &[RegId],
) -> Process {
    let known = test.threads[thread].registers[..initial].iter().enumerate();
    let locals = known.map(|(register, known)| {
        let register = RegId::new(register);
        (known.name.clone(), Local { register, points_to_atomic: None, scope: None })
    });
    let mut reader = Reader {
        locals: locals.collect(),
        test,
        layout,
        found,
        tokens,
        thread,
        parameters,
        body: vec![],
        span: SpanId::NONE,
        at: 0..0,
        temporaries: 0,
        accesses: 0,
        accesses_before: 0,
        before_call: 0,
        nesting: 0,
        blocks: 0,
        loops: vec![],
    };
    let result = reader.statements();
    let is_read = result.is_ok();
    let (body, locals) = (std::mem::take(&mut reader.body), std::mem::take(&mut reader.locals));
    test.errors.take(result);
    let is_missing = |r: &&RegId| !locals.values().any(|local| local.register == **r);
    if let (true, Some(missing)) = (is_read, named.iter().find(is_missing)) {
        let register = &test.threads[thread].registers[missing.index()];
        let message = format!("`P{thread}` has no local variable `{:.40}`", register.name);
        let range = test.source.range(register.span);
        let error = Diagnostic::new(message, range);
        let known = locals.keys().map(String::as_str);
        let error = match crate::suggest::closest(&register.name, known) {
            Some(meant) => error.help(format!("did you mean `{thread}:{meant}`?")),
            None => error.help("a register is what its function declares or assigns to"),
        };
        test.errors.push(error);
    }
    Process {
        name: format!("P{thread}"),
        registers: test.take_registers(thread, layout),
        labels: vec![],
        body,
    }
}

/// The registers of a thread that stand behind the code.
fn asked(tail: &Tail, thread: usize) -> Vec<RegId> {
    fn each(prop: &Expr<Leaf>, found: &mut Vec<Leaf>) {
        prop.atoms(&mut |leaf| found.push(*leaf));
    }
    let mut leaves: Vec<Leaf> = tail.locations.iter().flatten().copied().collect();
    each(&tail.condition, &mut leaves);
    tail.filter.iter().for_each(|filter| each(filter, &mut leaves));
    let of_thread = leaves.into_iter().filter_map(|leaf| match leaf {
        Leaf::Register(process, register) if process.index() == thread => Some(register),
        _ => None,
    });
    of_thread.collect()
}

/// `(int *x, atomic_int *y)`.
fn parameters<'t>(
    test: &mut Test,
    mut tokens: Cursor<'_, 't>,
    function: &Function,
) -> Result<BTreeMap<&'t str, Parameter>, Diagnostic> {
    let mut parameters = BTreeMap::new();
    if tokens.peek() == Some(Kind::Word("void")) && tokens.peek_at(1).is_none() {
        return Ok(parameters);
    }
    while !tokens.is_done() {
        let start = tokens.range().start;
        let is_atomic = skip_type(&mut tokens);
        let mut stars = 0;
        while tokens.sign("*") || tokens.keyword("const") || tokens.keyword("restrict") {
            stars += 1;
        }
        let name = tokens.word("the name of a parameter");
        if stars == 0 || name.is_err() {
            let end = if tokens.is_done() { function.head.end } else { tokens.range().start };
            let shown = test.source.text_in(start..end.max(start)).trim().to_owned();
            let message = format!("`{shown:.40}` is not a pointer to a variable of the test");
            let range = function.head.start - 1..function.head.end + 1;
            return Err(
                Diagnostic::new(message, range).help("parameters are as in `atomic_int *x`")
            );
        }
        let (name, range) = name?;
        let symbol = test.symbol(name, &range);
        let is_atomic = is_atomic && stars == 1;
        if parameters.insert(name, Parameter { symbol, is_atomic }).is_some() {
            return Err(Diagnostic::new(format!("there are two parameters `{name:.40}`"), range));
        }
        if !tokens.sign(",") {
            break;
        }
    }
    tokens.finish()?;
    Ok(parameters)
}

/// Takes the words of a type before stars and a name, and says whether it is atomic.
fn skip_type(tokens: &mut Cursor<'_, '_>) -> bool {
    let mut is_atomic = false;
    while let Some(Kind::Word(word)) = tokens.peek() {
        // `atomic_t` is a structure, which the primitives of the kernel access.
        is_atomic |= word == "_Atomic" || (word.starts_with("atomic_") && word != "atomic_t");
        match tokens.peek_at(1) {
            Some(Kind::Word(_) | Kind::Sign("*")) => {
                tokens.next();
            }
            Some(Kind::Sign("(")) if word == "_Atomic" => {
                while !tokens.is_done() && !tokens.sign(")") {
                    tokens.next();
                }
            }
            _ => break,
        }
    }
    is_atomic
}

/// A part of the text with comments of both kinds painted over, and all before it.
fn painted(text: &str, range: Range<usize>) -> Result<String, Diagnostic> {
    let part = lexer::without_comments(&text[range.clone()]).map_err(|e| e.moved(range.start))?;
    Ok(" ".repeat(range.start) + &without_c_comments(&part))
}

/// The text with comments of C painted over.
fn without_c_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let end = skipped(text, at);
        if text[at..].starts_with('/') {
            out[at..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        }
        at = end.max(at + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    // Only whole characters are replaced.
    String::from_utf8(out).unwrap_or_default()
}

/// The brace, parenthesis or bracket that closes the one at a place.
fn closing(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = open;
    while at < bytes.len() {
        at = skipped(text, at);
        match bytes.get(at)? {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The next place that is in no comment of C and no string.
fn skipped(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text.as_bytes()[at..];
        let past = |end: &str, from: usize| {
            text[at + from..].find(end).map_or(text.len(), |i| at + from + i + end.len())
        };
        at = if rest.starts_with(b"//") {
            past("\n", 2)
        } else if rest.starts_with(b"/*") {
            past("*/", 2)
        } else if rest.starts_with(b"\"") {
            past("\"", 1)
        } else {
            return at;
        };
    }
}

/// The functions `P0`, `P1`, … from a place on, and where what follows them begins.
fn functions(text: &str, from: usize) -> Result<(Vec<Function>, usize), Diagnostic> {
    let mut found: Vec<Function> = Vec::new();
    let mut at = from;
    loop {
        // Words before a name are its type.
        let mut start = blanks(text, at);
        while let Some(length) = text[start..].strip_prefix("(*").and_then(|rest| rest.find("*)")) {
            start = blanks(text, start + length + 4);
        }
        let mut place = start;
        let mut name = word(text, place);
        while ["void", "static", "int"].contains(&&text[name.clone()]) {
            place = blanks(text, name.end);
            name = word(text, place);
        }
        let number = text[name.clone()].strip_prefix('P').and_then(|n| n.parse::<usize>().ok());
        let open = blanks(text, name.end);
        let (Some(number), true) = (number, text[open..].starts_with('(')) else {
            if text[start..].starts_with(';') {
                at = start + 1;
                continue;
            }
            return Ok((found, start));
        };
        if number != found.len() {
            let message = format!("this function should be `P{}`", found.len());
            return Err(Diagnostic::new(message, name).help("functions are `P0`, `P1`, … in order"));
        }
        let unclosed = |at: usize| Diagnostic::new("this is not closed", at..at + 1);
        let close = closing(text, open).ok_or_else(|| unclosed(open))?;
        let brace = blanks(text, close + 1);
        if !text[brace..].starts_with('{') {
            let message = format!("`P{number}` has no body");
            return Err(Diagnostic::new(message, name));
        }
        let end = closing(text, brace).ok_or_else(|| unclosed(brace))?;
        found.push(Function { head: open + 1..close, body: brace + 1..end });
        at = end + 1;
    }
}

/// The next place that is not blank and in no comment.
fn blanks(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let next = skipped(text, at + (rest.len() - rest.trim_start().len()));
        if next == at || next >= text.len() {
            return next.min(text.len());
        }
        at = next;
    }
}

/// The word that begins at a place; empty if none does.
fn word(text: &str, at: usize) -> Range<usize> {
    let length = text[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    at..at + length.unwrap_or(text.len() - at)
}

/// The test of a text in C, if it is one.
pub(super) fn header(text: &str, file: &str) -> Option<Result<Header, Diagnostic>> {
    // Comments in the code are of C.
    let preamble = lexer::without_comments_before(text);
    let first = preamble.split_whitespace().next()?;
    (first == "C").then(|| frame::header(&preamble, file))
}
