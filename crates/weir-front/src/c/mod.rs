//! C11 with threads and atomics: `.c`.
//!
//! 1. `preprocess` includes files and replaces macros; `token` and `condition` are parts of it;
//! 2. `lang-c` parses the result;
//! 3. the reader executes the program on the lowering: `types` reads
//!    declarations, `statement` and `expression` execute functions, `type_of` and `quiet` say of an expression
//!    what its type is and whether it only reads, `number` has the arithmetic of C, and `library` the functions that C programs expect to find.
//!
//! What is read how is described in `docs/c.md`.

mod condition;
mod expression;
mod gaps;
mod library;
mod number;
mod orders;
mod preprocess;
mod quiet;
mod statement;
mod token;
mod type_of;
mod types;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lang_c::ast::{ExternalDeclaration, FunctionDefinition, TranslationUnit};
use lang_c::driver::{Config, Flavor, SyntaxError, parse_preprocessed};
use lang_c::span::Span;

use crate::errors::{did_you_mean, quote};
use crate::lowering::control::Join;
use crate::lowering::types::{StructId, Type};
use crate::lowering::value::Value;
use crate::lowering::{self, Builder, Key, Lvalue};
use crate::{Diagnostic, Language, Settings, Source};
use preprocess::Preprocessed;

/// C.
pub static LANGUAGE: Language = Language {
    name: "c",
    endings: &["c", "i"],
    looks_like,
    read,
    declare: None,
    gaps: gaps::gaps,
    orders: orders::orders,
    fence: gaps::fence,
};

/// Whether a text looks like C rather than like one of the other languages.
fn looks_like(text: &str) -> bool {
    ["#include <", "pthread_create", "int main(", "_Atomic", "atomic_int "]
        .iter()
        .any(|word| text.contains(word))
}

/// Reads a program.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str, settings: &Settings) -> crate::Read {
    // The parser recurses as deep as the text nests, and needs more for it than a thread has.
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK);
        let started = reader.spawn_scoped(scope, || read_here(name, text, settings));
        let stopped = |why: String| Err(vec![Diagnostic::new(why, 0..0)]);
        match started.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(read)) => read,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => stopped(format!("no thread could be started to read the text: {error}")),
        }
    })
}

/// The stack of the thread that reads.
const STACK: usize = 256 << 20;

fn read_here(name: &str, text: &str, settings: &Settings) -> crate::Read {
    let mut source = Source::new(name, text);
    let inside = |error: Diagnostic, source: &Source| vec![error.inside(source)];
    let made = match preprocess::preprocess(&mut source, settings) {
        Ok(made) => made,
        Err(error) => return Err(inside(error, &source)),
    };
    let unit = match parse(&made) {
        Ok(unit) => unit,
        Err(error) => return Err(inside(error, &source)),
    };
    let entry = settings.entry.as_deref().unwrap_or("main");
    let functions = functions(&unit);
    if !functions.contains_key(entry) {
        let error = Diagnostic::new(format!("there is no function {}", quote(entry)), 0..0);
        let error = error.help("`--entry NAME` names the function that the program begins with");
        return Err(vec![did_you_mean(error, entry, functions.keys().copied())]);
    }
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let result = lowering::passes(&stem, &source, &settings.lowering, |b| {
        Reader::new(b, &made, &functions).program(&unit, entry);
    });
    result
        .map_err(|errors| errors.sorted().into_iter().map(|error| error.inside(&source)).collect())
}

/// More signs than this one after the other are not parsed.
const MAX_SIGNS: usize = 32;

/// Where a text has too many signs one after the other, outside of strings. The parser tries `--` as one
/// operator and as two, for each pair: its time is exponential in their number where the text is wrong.
fn too_many_signs(text: &str) -> Option<usize> {
    let (mut count, mut quote, mut is_escaped) = (0, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(end), byte) if byte == end => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => (quote, count) = (Some(byte), 0),
            (None, b'-' | b'+' | b'&') => count += 1,
            (None, byte) if byte.is_ascii_whitespace() => {}
            (None, _) => count = 0,
        }
        if count > MAX_SIGNS {
            return Some(at);
        }
    }
    None
}

fn parse(made: &Preprocessed) -> Result<TranslationUnit, Diagnostic> {
    if let Some(at) = too_many_signs(&made.text) {
        let message = format!("more than {MAX_SIGNS} signs one after the other");
        return Err(Diagnostic::new(message, made.range(at, at + 1)));
    }
    let config =
        Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, made.text.clone()) {
        Ok(parsed) => Ok(parsed.unit),
        Err(error) => Err(syntax(made, &error)),
    }
}

/// A syntax error: what stands there, and what could stand there if that is not much.
fn syntax(made: &Preprocessed, error: &SyntaxError) -> Diagnostic {
    let range = made.range(error.offset, error.offset + 1);
    let rest = made.text.get(error.offset..).unwrap_or("");
    let found = rest.split_ascii_whitespace().next().unwrap_or("");
    let message = match found {
        "" => "the text ends too early".to_owned(),
        found => format!("{} is not expected here", quote(found)),
    };
    let mut expected: Vec<&str> = error.expected.iter().copied().collect();
    expected.sort_unstable();
    expected.retain(|word| !word.starts_with('<') && !word.starts_with('['));
    let diagnostic = Diagnostic::new(message, range);
    match expected.len() {
        1..=3 => {
            let words: Vec<String> = expected.iter().map(|word| quote(word)).collect();
            diagnostic.help(format!("expected is {}", words.join(" or ")))
        }
        _ => diagnostic,
    }
}

type Functions<'u> = HashMap<&'u str, &'u FunctionDefinition>;

fn functions(unit: &TranslationUnit) -> Functions<'_> {
    let mut functions = HashMap::new();
    for item in &unit.0 {
        if let ExternalDeclaration::FunctionDefinition(function) = &item.node
            && let Some(name) = types::name_of(&function.node.declarator.node)
        {
            functions.insert(name, &function.node);
        }
    }
    functions
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Name {
    Variable(Lvalue),
    /// A variable of each thread, by its place in the list.
    ThreadLocal(usize),
    Constant(i128),
    Type(Type),
}

/// A call that is being executed.
struct Frame {
    returns: Join,
    result: Option<Lvalue>,
    breaks: Vec<Join>,
    continues: Vec<Join>,
    labels: HashMap<String, Join>,
}

/// A variable of each thread.
#[derive(Clone)]
struct ThreadLocal {
    name: String,
    ty: Type,
    init: Option<Value>,
}

/// Executes a program.
struct Reader<'u, 'b> {
    b: &'b mut Builder,
    made: &'u Preprocessed,
    functions: &'u Functions<'u>,
    /// The functions by number, for pointers to them.
    numbered: Vec<&'u str>,
    globals: HashMap<String, Name>,
    /// The blocks of the function that is executed, outermost first.
    scopes: Vec<HashMap<String, Name>>,
    frames: Vec<Frame>,
    /// The functions that are being executed.
    calls: Vec<&'u str>,
    tags: HashMap<String, StructId>,
    complete: HashSet<StructId>,
    thread_locals: Vec<ThreadLocal>,
    of_threads: HashMap<(usize, usize), Lvalue>,
    statics: HashSet<Key>,
    /// Functions that start or join threads.
    starters: HashMap<&'u str, bool>,
    /// Whether both operands of `&&` and `||` are evaluated.
    is_eager: bool,
}

impl<'u, 'b> Reader<'u, 'b> {
    fn new(b: &'b mut Builder, made: &'u Preprocessed, functions: &'u Functions<'u>) -> Self {
        let mut numbered: Vec<&str> = functions.keys().copied().collect();
        numbered.sort_unstable();
        Self {
            b,
            made,
            functions,
            numbered,
            globals: HashMap::new(),
            scopes: Vec::new(),
            frames: Vec::new(),
            calls: Vec::new(),
            tags: HashMap::new(),
            complete: HashSet::new(),
            thread_locals: Vec::new(),
            of_threads: HashMap::new(),
            statics: HashSet::new(),
            starters: HashMap::new(),
            is_eager: false,
        }
    }

    /// Says where in the text the reader is.
    fn at(&mut self, span: Span) {
        let range = self.made.range(span.start, span.end);
        self.b.at(range);
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.at(span);
        self.b.error(message);
    }

    /// What is not read, and what to write instead.
    fn not_read(&mut self, span: Span, what: &str, instead: &str) {
        self.at(span);
        let mut error = Diagnostic::new(format!("{what} is not read"), self.b.range());
        if !instead.is_empty() {
            error = error.help(instead);
        }
        self.b.errors.push(error);
    }

    fn program(&mut self, unit: &'u TranslationUnit, entry: &'u str) {
        for item in &unit.0 {
            if !self.b.errors.is_empty() {
                return;
            }
            match &item.node {
                ExternalDeclaration::Declaration(declaration) => {
                    self.declaration(&declaration.node, declaration.span, true);
                }
                ExternalDeclaration::FunctionDefinition(function) => {
                    // Types that are declared in its head.
                    let specifiers = &function.node.specifiers;
                    self.base_type(specifiers.iter().filter_map(types::specifier));
                }
                ExternalDeclaration::StaticAssert(_) => {}
            }
        }
        let Some(function) = self.functions.get(entry).copied() else { return };
        let span = function.declarator.span;
        self.begin_thread_locals();
        // `argc` is 1, and nobody looks at `argv`.
        let arguments =
            vec![Value::number(1, Type::INT), Value::number(0, Type::pointer(Type::Void))];
        self.call(entry, arguments, span);
    }

    /// What a name stands for.
    fn lookup(&self, name: &str) -> Option<&Name> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        local.or_else(|| self.globals.get(name))
    }

    fn define(&mut self, name: &str, what: Name) {
        let scope = self.scopes.last_mut().unwrap_or(&mut self.globals);
        scope.insert(name.to_owned(), what);
    }
}
