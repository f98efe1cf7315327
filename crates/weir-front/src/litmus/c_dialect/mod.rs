//! Litmus tests in C: `C name { … } P0 (atomic_int *x) { … } … exists …`.
//!
//! The functions of a test are printed, with declarations of the variables before them and a
//! `main` that starts them behind them, as a C program, which the reader of C reads. What is copied
//! keeps its place: places in the program that is read are translated back. A local variable that
//! the condition names is stored in a global one of its own at the end of its function.
//!
//! Of the primitives of the Linux kernel a few are read, as what they are in C: see [`KERNEL`].

use std::collections::BTreeMap;
use std::ops::Range;

use weir_model::ids::VarId;
use weir_model::program::{Atom, Expr, Formula, Program, Property, PropertyKind};

use super::condition;
use super::cursor::Cursor;
use super::dialect::Dialect;
use super::errors::Errors;
use super::frame::{self, Header};
use super::init;
use super::lexer;
use super::location::Leaf;
use super::test::{Test, Value};
use crate::{Diagnostic, Read, Settings, Source};

/// Primitives of the Linux kernel that are read, each as a macro of C.
const KERNEL: &str = "\
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define smp_store_mb(x, v) do { WRITE_ONCE(x, v); smp_mb(); } while (0)
#define smp_mb() atomic_thread_fence(memory_order_seq_cst)
#define smp_wmb() atomic_thread_fence(memory_order_release)
#define smp_rmb() atomic_thread_fence(memory_order_acquire)
#define barrier() ((void)0)
#define xchg(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define xchg_relaxed(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define xchg_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define xchg_release(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELEASE)
";

/// The names of these primitives, for messages.
const KERNEL_NAMES: &str = "`READ_ONCE`, `WRITE_ONCE`, `smp_mb`, `smp_rmb`, `smp_wmb`, \
    `smp_load_acquire`, `smp_store_release` and `xchg`";

/// Beginnings of the names of primitives of the kernel that are not read.
const UNREAD: [&str; 13] = [
    "rcu_",
    "srcu_",
    "synchronize_",
    "spin_",
    "smp_mb__",
    "smp_cond_",
    "cmpxchg",
    "atomic_read",
    "atomic_set",
    "atomic_inc",
    "atomic_dec",
    "atomic_add",
    "atomic_cmpxchg",
];

/// A function of the test.
struct Function<'t> {
    number: usize,
    /// The type of what each parameter points to, and its name.
    parameters: Vec<(&'t str, &'t str)>,
    /// From the parenthesis on.
    open: usize,
    /// Where the body begins, without its brace, and where it ends.
    body: Range<usize>,
}

/// A text that is printed, and where its parts come from.
#[derive(Default)]
struct Printed {
    text: String,
    /// Where a copied part begins in the print, where it begins in the test, and its length.
    copies: Vec<(usize, usize, usize)>,
}

impl Printed {
    fn copy(&mut self, text: &str, range: Range<usize>) {
        self.copies.push((self.text.len(), range.start, range.len()));
        self.text += &text[range];
    }

    /// The place in the test of a place in the print; the beginning of the test if there is none.
    fn place(&self, range: Range<usize>) -> Range<usize> {
        let copy =
            self.copies.iter().find(|(from, _, len)| (*from..from + len).contains(&range.start));
        let Some((from, origin, len)) = copy else { return 0..0 };
        let start = origin + (range.start - from);
        start..start + range.len().min(from + len - range.start)
    }
}

/// Reads a test whose header says that it is in C.
pub(super) fn read(name: &str, text: &str, header: Header, settings: &Settings) -> Read {
    let mut errors = Errors::default();
    let one = |error| vec![error];
    let end = closing(text, header.body)
        .ok_or_else(|| {
            Diagnostic::new("the initial section is not closed", header.body..header.body + 1)
        })
        .map_err(one)?;
    let (functions, rest) = functions(text, end + 1).map_err(one)?;
    if functions.is_empty() {
        let message = "there is no function `P0` after the initial section";
        return Err(vec![Diagnostic::new(message, end..end + 1)]);
    }
    let code = end + 1..rest;
    if let Some(error) = unread(text, code.clone()) {
        return Err(vec![error]);
    }

    // The parts that are not C, with comments painted over; everything keeps its place.
    let blank = |range: Range<usize>| " ".repeat(range.len());
    let painted = |range: Range<usize>| lexer::without_comments(&text[range]);
    let first = painted(header.body..end + 1).map_err(|e| vec![e.moved(header.body)])?;
    let first = blank(0..header.body) + &first;
    let last = painted(rest..text.len()).map_err(|e| vec![e.moved(rest)])?;
    let last = blank(0..rest) + &last;
    let tokens = lexer::tokens(&first, header.body, &mut errors);
    let condition = lexer::tokens(&last, rest, &mut errors);
    let mut test = Test::new(Dialect::C, Source::new(name, text), functions.len(), errors);
    let inner = 1..tokens.len().saturating_sub(1).max(1);
    init::read(&mut test, Cursor::new(&tokens[inner], end));
    for function in &functions {
        for (_, name) in &function.parameters {
            test.symbol(name, &(function.open..function.open + 1));
        }
    }
    let tail = condition::read(&mut test, Cursor::new(&condition, text.len()), text.len());
    for thread in &test.threads {
        if let Some((_, range)) = thread.init.values().next() {
            let message = "a register has its first value in its function, in C";
            test.errors.push(Diagnostic::new(message, range.clone()));
            break;
        }
    }
    if !test.errors.is_empty() {
        return Err(test.errors.finish());
    }

    let printed = print(text, &test, &functions);
    let (mut program, read) = (crate::c::LANGUAGE.read)("test.c", &printed.text, settings)
        .map_err(|errors| errors.into_iter().map(|e| placed(e, &printed)).collect::<Vec<_>>())?;
    let mut source = Source::new(name, text);
    source.caveat = read.caveat;
    source.has_weak_orders = read.has_weak_orders;
    for span in 0..read.span_count() {
        source.span(printed.place(read.range(weir_model::ids::SpanId::new(span))));
    }
    program.name = header.name;
    ask(&mut program, &mut source, &test, &tail).map_err(one)?;
    Ok((program, source))
}

/// An error in the print as one in the test.
fn placed(error: Diagnostic, printed: &Printed) -> Diagnostic {
    let mut placed = Diagnostic::new(error.message, printed.place(error.range));
    placed.label = error.label;
    placed.help = error.help;
    placed
}

/// The questions of the test instead of those of the C program.
fn ask(
    program: &mut Program,
    source: &mut Source,
    test: &Test,
    tail: &condition::Tail,
) -> Result<(), Diagnostic> {
    let mut vars: BTreeMap<String, usize> = BTreeMap::new();
    let mut next = 0;
    for decl in &mut program.vars {
        vars.insert(decl.name.clone(), next);
        next += decl.init.len();
    }
    for (thread, registers) in test.threads.iter().enumerate() {
        for register in &registers.registers {
            let global = global(thread, &register.name);
            for decl in program.vars.iter_mut().filter(|decl| decl.name == global) {
                decl.name = format!("{thread}:{}", register.name);
            }
        }
    }
    let atom = |leaf: &Leaf| -> Result<Atom, Diagnostic> {
        let (name, element) = match leaf {
            Leaf::Register(thread, register) => {
                let register = &test.threads[thread.index()].registers[register.index()];
                (global(thread.index(), &register.name), 0)
            }
            Leaf::Memory(symbol, element) => (test.name_of(*symbol).to_owned(), *element),
            Leaf::Address(_) => {
                let message = "conditions of tests in C compare numbers, not addresses";
                return Err(Diagnostic::new(message, tail.range.clone()));
            }
        };
        match vars.get(&name) {
            Some(first) => Ok(Atom::Var(VarId::new(first + element))),
            None => {
                let message =
                    format!("the condition names something that no function has: `{name:.40}`");
                Err(Diagnostic::new(message, tail.range.clone()))
            }
        }
    };
    let condition = formula(&tail.condition, &atom)?;
    program.filter = tail.filter.as_ref().map(|filter| formula(filter, &atom)).transpose()?;
    let mut observed = Vec::new();
    for leaf in tail.locations.iter().flatten() {
        observed.push(atom(leaf)?);
    }
    condition.atoms(&mut |atom| observed.push(*atom));
    observed.sort();
    observed.dedup();
    program.observed = Some(observed);
    let span = source.span(tail.range.clone());
    let kind = PropertyKind::Final(tail.quantifier, condition);
    program.properties = vec![Property { name: Some(program.name.clone()), kind, span }];
    Ok(())
}

fn formula(
    prop: &Expr<Leaf>,
    atom: &impl Fn(&Leaf) -> Result<Atom, Diagnostic>,
) -> Result<Formula, Diagnostic> {
    Ok(match prop {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Atom(leaf) => Expr::Atom(atom(leaf)?),
        Expr::Unary(op, e) => Expr::unary(*op, formula(e, atom)?),
        Expr::Binary(op, a, b) => Expr::binary(*op, formula(a, atom)?, formula(b, atom)?),
    })
}

/// The global variable for a local one that the condition names.
fn global(thread: usize, register: &str) -> String {
    format!("weir_{thread}_{register}")
}

/// The test as a C program.
fn print(text: &str, test: &Test, functions: &[Function<'_>]) -> Printed {
    let mut out = Printed::default();
    out.text += "#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n";
    out.text += KERNEL;
    let mut seen = Vec::new();
    for symbol in test.symbol_ids() {
        let name = test.name_of(symbol);
        let mut parameters = functions.iter().flat_map(|f| &f.parameters);
        let kind = parameters.find(|(_, n)| *n == name).map_or("int", |(kind, _)| *kind);
        let value = |value: &Value| match value {
            Value::Number(number) => number.to_string(),
            Value::Address(symbol) => format!("&{}", test.name_of(*symbol)),
        };
        let values: Vec<String> = test.values(symbol).iter().map(value).collect();
        out.text += &match test.array_len(symbol) {
            Some(len) => format!("{kind} {name}[{len}] = {{ {} }};\n", values.join(", ")),
            None => format!("{kind} {name} = {};\n", values.join("")),
        };
        seen.push(match test.array_len(symbol) {
            Some(len) => (0..len).map(|i| format!("{name}[{i}]")).collect::<Vec<_>>(),
            None => vec![name.to_owned()],
        });
    }
    let mut registers = Vec::new();
    for (thread, known) in test.threads.iter().enumerate() {
        for register in &known.registers {
            let global = global(thread, &register.name);
            out.text += &format!("long {global};\n");
            registers.push(global);
        }
    }
    for function in functions {
        let number = function.number;
        out.text += &format!("static void weir_body_{number}");
        out.copy(text, function.open..function.body.end);
        out.text += "\n";
        for register in &test.threads[number].registers {
            out.text += &format!("{} = {};\n", global(number, &register.name), register.name);
        }
        out.text += "}\n";
        let arguments: Vec<String> = function
            .parameters
            .iter()
            .map(|(_, name)| match test.find_symbol(name).and_then(|s| test.array_len(s)) {
                Some(_) => (*name).to_owned(),
                None => format!("&{name}"),
            })
            .collect();
        let arguments = arguments.join(", ");
        out.text += &format!(
            "static void *P{number}(void *weir) {{ weir_body_{number}({arguments}); return 0; }}\n"
        );
    }
    out.text += "int main(void) {\n";
    for Function { number, .. } in functions {
        out.text += &format!("pthread_t weir_t{number};\n");
    }
    for Function { number, .. } in functions {
        out.text += &format!("pthread_create(&weir_t{number}, 0, P{number}, 0);\n");
    }
    for Function { number, .. } in functions {
        out.text += &format!("pthread_join(weir_t{number}, 0);\n");
    }
    // Whatever may be asked for is read.
    let observed = registers.into_iter().chain(seen.into_iter().flatten());
    for name in observed {
        out.text += &format!("assert({name} != 123456789);\n");
    }
    out.text += "return 0;\n}\n";
    out
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
fn functions(text: &str, from: usize) -> Result<(Vec<Function<'_>>, usize), Diagnostic> {
    let mut found: Vec<Function<'_>> = Vec::new();
    let mut at = from;
    loop {
        // Words before a name are its type.
        let start = blanks(text, at);
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
        let mut parameters = Vec::new();
        for parameter in text[open + 1..close].split(',').map(str::trim) {
            if parameter.is_empty() || parameter == "void" {
                continue;
            }
            let pointer = parameter
                .rfind('*')
                .map(|star| (parameter[..star].trim(), parameter[star + 1..].trim()));
            let is_name =
                |n: &str| !n.is_empty() && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let Some((kind, name)) =
                pointer.filter(|(kind, name)| !kind.is_empty() && is_name(name))
            else {
                let message =
                    format!("`{parameter:.40}` is not a pointer to a variable of the test");
                let help = "parameters are as in `atomic_int *x`";
                return Err(Diagnostic::new(message, open..close + 1).help(help));
            };
            parameters.push((kind, name));
        }
        found.push(Function { number, parameters, open, body: brace + 1..end });
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

/// The error for a primitive of the kernel that is not read, if there is one.
fn unread(text: &str, code: Range<usize>) -> Option<Diagnostic> {
    let mut at = code.start;
    while at < code.end {
        at = skipped(text, at).min(code.end);
        let name = word(text, at);
        let called = || text[blanks(text, name.end).min(code.end)..].starts_with('(');
        let explicit = text[name.clone()].ends_with("_explicit");
        if !explicit && UNREAD.iter().any(|u| text[name.clone()].starts_with(u)) && called() {
            let message = format!(
                "Weir does not read the primitive `{:.40}` of the Linux kernel",
                &text[name.clone()]
            );
            let help = format!("of these it reads {KERNEL_NAMES}");
            return Some(Diagnostic::new(message, name).help(help));
        }
        at = match name.is_empty() {
            true => at + text[at..].chars().next().map_or(1, char::len_utf8),
            false => name.end,
        };
    }
    None
}

/// The test of a text in C, if it is one.
pub(super) fn header(text: &str, file: &str) -> Option<Result<Header, Diagnostic>> {
    // Comments before the header; those in the code are of C.
    let mut start = 0;
    loop {
        start += text[start..].len() - text[start..].trim_start().len();
        match text[start..].strip_prefix("(*").and_then(|rest| rest.find("*)")) {
            Some(length) => start += length + 4,
            None => break,
        }
    }
    let first = text[start..].split(char::is_whitespace).next()?;
    (first == "C").then(|| frame::header(&(" ".repeat(start) + &text[start..]), file))
}
