//! Litmus tests in the X86 and X86_64 dialects.
//!
//! The steps, one file each: `lexer` paints comments over and cuts tokens,
//! `frame` finds the sections, `init` and `table` read the initial section and
//! the code (`instruction`, `operand`, with the names that `mnemonic` and
//! `dialect` know), `condition` and `location` read what stands after it, and
//! `process` spells the instructions out as statements (`lower`, `emit`). What
//! has been read so far is a `test`. `native` prints a test as a C program that runs it.
//!
//! Beyond the usual tools Weir reads `SUB`, `AND`, `TEST`, `XADD`, `NEG`, `NOT`,
//! 32-bit `CMPXCHG`, every conditional jump, move and set, `LOCK` on every
//! read-modify-write, and loops. An unlocked read-modify-write of memory is a
//! load and a store. Values have no size and never wrap.
//!
//! ```
//! let text = "X86 SB { x=0; y=0; }
//!      P0          | P1          ;
//!      MOV [x],$1  | MOV [y],$1  ;
//!      MOV EAX,[y] | MOV EAX,[x] ;
//!     exists (0:EAX=0 /\\ 1:EAX=0)";
//! let (program, source) = weir_front::litmus::read("SB.litmus", text).unwrap();
//! assert_eq!(program.name, "SB");
//! assert_eq!(
//!     weir_front::litmus::condition_text(&program, &source),
//!     "exists (0:EAX=0 /\\ 1:EAX=0)"
//! );
//! ```

mod c_dialect;
mod condition;
mod cursor;
mod dialect;
mod emit;
mod errors;
mod frame;
pub mod generate;
mod init;
mod instruction;
mod lexer;
mod location;
mod lower;
mod mnemonic;
pub mod native;
mod operand;
mod process;
mod table;
mod test;

use std::collections::BTreeSet;

use weir_model::program::{Atom, Expr, FenceKind, Formula, Program, Property, PropertyKind};

use crate::{Diagnostic, Gap, Language, Read, Settings, Source};
use condition::Tail;
use cursor::Cursor;
use dialect::Dialect;
use errors::Errors;
use location::Leaf;
use table::Item;
use test::{Layout, Test};

/// Litmus tests in the X86 and X86_64 dialects.
pub static LANGUAGE: Language = Language {
    name: "litmus",
    endings: &["litmus"],
    looks_like,
    read: read_with,
    declare: None,
    gaps,
    orders: |_| Vec::new(),
    fence: |kind| {
        Some(match kind {
            FenceKind::Full => "MFENCE",
            FenceKind::Read => "LFENCE",
            FenceKind::Write => "SFENCE",
        })
    },
};

/// Where fences can be inserted: in a row of their own before each instruction, and behind the
/// last one of each thread.
fn gaps(text: &str) -> Vec<Gap> {
    let Ok(clean) = lexer::without_comments(text) else { return vec![] };
    let Ok(header) = frame::header(&clean, "") else { return vec![] };
    if header.dialect == Dialect::C {
        return vec![];
    }
    let tokens = lexer::tokens(&clean, header.body, &mut Errors::default());
    let Ok(sections) = frame::sections(&tokens) else { return vec![] };
    let code = &tokens[sections.code];
    let Ok((threads, first_row)) = table::columns(code, text.len()) else { return vec![] };
    table::gaps(text, &code[first_row..], threads)
}

/// Whether a text begins like a litmus test of any architecture.
pub fn looks_like(text: &str) -> bool {
    is_in_c(text) || lexer::without_comments(text).is_ok_and(|text| frame::is_litmus(&text))
}

/// Whether a text begins like a litmus test in C.
pub fn is_in_c(text: &str) -> bool {
    c_dialect::header(text, "").is_some_and(|header| header.is_ok())
}

/// Reads a litmus test. `name` is what reports call the file.
///
/// The first property is the test's condition. Its span covers the condition
/// with its quantifier, and is empty where the test has none.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str) -> Result<(Program, Source), Vec<Diagnostic>> {
    read_with(name, text, &Settings::default())
}

fn read_with(name: &str, text: &str, _: &Settings) -> Read {
    match c_dialect::header(text, name) {
        Some(header) => c_dialect::read(name, text, header.map_err(|e| vec![e])?),
        None => read_with_code(name, text).map(|test| (test.program, test.source)),
    }
}

/// A test as a program, and its instructions.
struct WithCode {
    program: Program,
    source: Source,
    dialect: Dialect,
    layout: Layout,
    uses_addresses: bool,
    /// What each thread executes.
    code: Vec<Vec<Item>>,
}

fn read_with_code(name: &str, text: &str) -> Result<WithCode, Vec<Diagnostic>> {
    let one = |error| vec![error];
    let clean = lexer::without_comments(text).map_err(one)?;
    let header = frame::header(&clean, name).map_err(one)?;
    if header.dialect == Dialect::C {
        let message = "only tests for X86 and X86_64 can be run, not those in C";
        return Err(vec![Diagnostic::new(message, 0..0)]);
    }
    let mut errors = Errors::default();
    let tokens = lexer::tokens(&clean, header.body, &mut errors);
    let stop = |mut errors: Errors, error| {
        errors.push(error);
        errors.finish()
    };
    let sections = match frame::sections(&tokens) {
        Ok(sections) => sections,
        Err(error) => return Err(stop(errors, error)),
    };
    let code = &tokens[sections.code];
    let (threads, first_row) = match table::columns(code, text.len()) {
        Ok(columns) => columns,
        Err(error) => return Err(stop(errors, error)),
    };

    let mut test = Test::new(header.dialect, Source::new(name, text), threads, errors);
    init::read(&mut test, Cursor::new(&tokens[sections.init], text.len()));
    let code = table::read(&mut test, &code[first_row..]);
    let condition = Cursor::new(&tokens[sections.condition], text.len());
    let tail = condition::read(&mut test, condition, text.len());

    let layout = match test.layout() {
        Ok(layout) => layout,
        Err(error) => return Err(stop(test.errors, error)),
    };
    let threads = code.iter().enumerate();
    let processes =
        threads.map(|(thread, code)| process::process(&mut test, &layout, thread, code)).collect();
    if !test.errors.is_empty() {
        return Err(test.errors.finish());
    }
    let mut program = Program { name: header.name, processes, ..Program::default() };
    finish(&mut program, &mut test, &layout, &tail);
    let Test { dialect, source, uses_addresses, .. } = test;
    Ok(WithCode { program, source, dialect, layout, uses_addresses, code })
}

/// The condition of a test as it stands in the file, on one line and without
/// comments. A test without one has `forall true`.
pub fn condition_text(program: &Program, source: &Source) -> String {
    let text = program.properties.first().map_or("", |property| source.text_of(property.span));
    let clean = lexer::without_comments(text).unwrap_or_default();
    let words: Vec<&str> = clean.split_whitespace().collect();
    if words.is_empty() { "forall true".to_owned() } else { words.join(" ") }
}

/// Fills in all but the processes.
fn finish(program: &mut Program, test: &mut Test, layout: &Layout, tail: &Tail) {
    program.vars = test.declarations(layout);
    if test.uses_addresses {
        program.symbols = test.addresses(layout);
    }
    program.filter = tail.filter.as_ref().map(|filter| formula(filter, layout));
    let condition = formula(&tail.condition, layout);
    program.observed =
        Some(observed(program, layout, tail.locations.as_deref().unwrap_or(&[]), &condition));
    let span = test.source.span(tail.range.clone());
    let kind = PropertyKind::Final(tail.quantifier, condition);
    program.properties.push(Property { name: Some(program.name.clone()), kind, span });
}

/// A proposition with numbers for variables and addresses.
fn formula(prop: &Expr<Leaf>, layout: &Layout) -> Formula {
    match prop {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Atom(leaf) => match atom(*leaf, layout) {
            Ok(atom) => Expr::Atom(atom),
            Err(address) => Expr::Const(address),
        },
        Expr::Unary(op, e) => Expr::unary(*op, formula(e, layout)),
        Expr::Binary(op, a, b) => Expr::binary(*op, formula(a, layout), formula(b, layout)),
    }
}

/// A part of the state, or the value of an address.
fn atom(leaf: Leaf, layout: &Layout) -> Result<Atom, i128> {
    match leaf {
        Leaf::Register(thread, register) => Ok(Atom::Reg(thread, register)),
        Leaf::Memory(symbol, element) => Ok(Atom::Var(layout.var(symbol, element))),
        Leaf::Address(symbol) => Err(layout.value(test::Value::Address(symbol))),
    }
}

/// What is printed of a final state: registers by thread and name, then
/// memory by name.
fn observed(
    program: &Program,
    layout: &Layout,
    locations: &[Leaf],
    condition: &Formula,
) -> Vec<Atom> {
    let mut atoms: BTreeSet<Atom> =
        locations.iter().filter_map(|&leaf| atom(leaf, layout).ok()).collect();
    condition.atoms(&mut |&atom| {
        atoms.insert(atom);
    });
    let mut elements = vec![];
    for decl in &program.vars {
        elements.extend((0..decl.init.len()).map(|element| (decl.name.as_str(), element)));
    }
    let mut atoms: Vec<Atom> = atoms.into_iter().collect();
    atoms.sort_by_key(|&atom| match atom {
        Atom::Reg(thread, register) => {
            let registers = &program.processes[thread.index()].registers;
            (0, thread.index(), registers[register.index()].name.as_str(), 0)
        }
        Atom::Var(var) => {
            let (name, element) = elements[var.index()];
            (1, 0, name, element)
        }
        Atom::At(..) => unreachable!("no condition of a litmus test asks for labels"),
    });
    atoms
}
