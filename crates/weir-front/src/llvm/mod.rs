//! LLVM IR: what clang and rustc make of C, C++ and Rust.
//!
//! `weir-llvm` reads the text. Each thread is then executed by *online partial evaluation*: starting with
//! its function, instructions are executed one after the other. What is known is computed; everything else becomes registers
//! and statements of a process. A *point* is a place where ways of the code meet, with the calls that lead there and the
//! values that are known there. It has a label; whoever gets to a point again jumps to it. If one place
//! has too many points, values that differ between them become registers, so this ends.
//!
//! **One rule above all:** what two threads can reach is in memory. The part of the first thread before it starts another one
//! is computed, and gives memory its initial values; after that every access to memory that another thread may
//! reach is a statement. Three values are known without a statement: what is never written; what a thread has written itself to an object whose
//! address it has not yet given away; and what only one thread can ever reach.
//!
//! An allocation that a thread is given when it starts belongs to this thread. If another thread is found to reach it, that is a fact, and the
//! program is read again with the allocation in memory.
//!
//! * `function` finds variables and live values, `objects` has memory and the facts that are learned, `number` the arithmetic,
//!   `places` the lines of the user;
//! * `explore` has states and points, `step` the instructions, `pointer` finds what a pointer leads to, `memory` what objects hold, `unset` is about what was never set,
//!   `access` reads and writes, `atomics` does both in one step;
//! * `calls` executes functions, `names` has their names for people, `library` those that programs expect to find, `heap` allocates, `intrinsics` has the functions of
//!   LLVM itself, `threads` starts and joins, `sync` has locks and waiting;
//! * `wait` finds loops that wait, `ending` questions about final states, `leaks` those about memory that is lost, `finish` makes the
//!   program.
//!
//! **Memory that was never set** has a value of its own (`UNSET` in `number`), which copying keeps. Whatever else is done with it is a
//! failure.
//!
//! What differs from a real run, and is not a limit that is reported: of a value that was set in part, the rest is zero;
//! a signed operation that overflows fails where it is computed; memory of a function that has returned may still be used.

mod access;
mod atomics;
mod calls;
mod ending;
mod explore;
mod finish;
mod function;
mod heap;
mod intrinsics;
mod leaks;
mod library;
mod memory;
mod names;
mod number;
mod objects;
mod places;
mod pointer;
mod step;
mod sync;
mod threads;
mod unset;
mod unused;
mod wait;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

use weir_llvm::{Body, Layout, Module, Type, TypeId};
use weir_model::ids::{LabelId, RegId, SpanId};
use weir_model::program::{Label, Order, Register, Stmt, StmtKind};

use crate::errors::{Errors, did_you_mean, quote};
use crate::{Diagnostic, Language, Settings, Source};
pub use finish::RACES;
use objects::{Addresses, Bytes, Facts, ObjectId};

/// LLVM IR.
pub static LANGUAGE: Language = Language {
    name: "llvm",
    endings: &["ll"],
    looks_like,
    read,
    declare: None,
    gaps: |_| Vec::new(),
    orders: |_| Vec::new(),
    fence: |_| None,
};

/// Whether a text looks like LLVM IR rather than like one of the other languages.
fn looks_like(text: &str) -> bool {
    text.contains("target triple = \"") || text.starts_with("; ModuleID")
}

/// What the user asks of the translation to a program.
#[derive(Clone, Debug)]
pub struct Lowering {
    /// How many objects each place of the code that allocates may allocate in each thread.
    pub pool: u32,
    /// How many rounds each loop may have.
    pub unroll: Option<u32>,
    /// How many threads may be started.
    pub threads: usize,
    /// Whether to ask for data races.
    pub races: bool,
    /// Whether a weak compare-exchange may fail without a reason.
    pub spurious: bool,
    /// Whether signed arithmetic wraps instead of failing.
    pub wraps: bool,
    /// Whether to ask for memory that nobody frees and nothing leads to in the end.
    pub leaks: bool,
}

impl Default for Lowering {
    fn default() -> Self {
        let (pool, threads) = (4, 16);
        Self {
            pool,
            unroll: None,
            threads,
            races: false,
            spurious: false,
            wraps: false,
            leaks: false,
        }
    }
}

/// What every report says first.
const CAVEAT: &str = "the code as the compiler emitted it: accesses that the compiler removed, merged or moved before are not covered";

/// How many times a program is read before it is called too hard.
const MAX_READINGS: usize = 100;

/// How many statements a thread may have.
const MAX_STATEMENTS: usize = 150_000;

/// How many instructions are executed while translating one reading.
const MAX_STEPS: u64 = 4_000_000;

/// The stack of the thread that reads.
const STACK: usize = 256 << 20;

/// Reads a module, or several modules that stand one after the other, as `weir cc` writes them.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str, settings: &Settings) -> crate::Read {
    let entry = settings.entry.clone().unwrap_or_else(|| "main".to_owned());
    let modules = modules_of(text);
    let input = Input { name, text, modules, entry, caveat: Some(CAVEAT) };
    input.read(settings)
}

/// The modules of a text: each begins with the same comment.
fn modules_of(text: &str) -> Vec<&str> {
    let starts = text.match_indices("\n; ModuleID = ").map(|(at, _)| at + 1);
    let mut modules = Vec::new();
    let mut begin = 0;
    for start in starts.chain([text.len()]) {
        if !text[begin..start].trim().is_empty() {
            modules.push(&text[begin..start]);
        }
        begin = start;
    }
    modules
}

/// Reads the modules that a compiler has made of a text. Reports show the lines of that text.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub(crate) fn read_compiled(
    name: &str,
    text: &str,
    modules: &[(String, String)],
    entry: String,
    settings: &Settings,
) -> crate::Read {
    let modules = modules.iter().map(|(_, text)| &**text).collect();
    let caveat = settings.compiler.optimized.then_some(CAVEAT);
    Input { name, text, modules, entry, caveat }.read(settings)
}

/// What is read.
struct Input<'t> {
    /// What reports call the text that they show.
    name: &'t str,
    /// That text: the user's, or the module itself.
    text: &'t str,
    /// The modules, which are joined.
    modules: Vec<&'t str>,
    /// The function that the program begins with: its symbol, or its name.
    entry: String,
    caveat: Option<&'static str>,
}

impl Input<'_> {
    fn read(&self, settings: &Settings) -> crate::Read {
        // Constants and branches nest, which needs more stack than a thread has.
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().stack_size(STACK);
            let started = reader.spawn_scoped(scope, || self.read_here(settings));
            let stopped = |why: String| Err(vec![Diagnostic::new(why, 0..0)]);
            match started.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(read)) => read,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => {
                    stopped(format!("no thread could be started to read the text: {error}"))
                }
            }
        })
    }

    /// Whether the text is the module.
    fn is_module(&self) -> bool {
        self.modules == [self.text]
    }

    fn read_here(&self, settings: &Settings) -> crate::Read {
        let module = match weir_llvm::parse_all(&self.modules) {
            Ok(module) => module,
            Err(error) if self.is_module() => {
                return Err(vec![Diagnostic::new(error.message, error.at..error.at)]);
            }
            Err(error) => {
                let what = "what the compiler emitted is not understood";
                let message = format!("{what}: line {}: {}", error.line, error.message);
                return Err(vec![Diagnostic::new(message, 0..0)]);
            }
        };
        let first = first_function(&module, &self.entry)?;
        let stem = Path::new(self.name).file_stem();
        let stem = stem.map_or(self.name.into(), |stem| stem.to_string_lossy());
        let mut facts = Facts::default();
        for _ in 0..MAX_READINGS {
            facts.is_changed = false;
            let source = Source::new(self.name, self.text);
            let mut reader = Reader::new(&module, source, settings, std::mem::take(&mut facts));
            reader.is_module = self.is_module();
            reader.knows_unset = self.caveat.is_none();
            reader.program(first);
            if !reader.facts.is_changed {
                let source = reader.source.clone();
                if !reader.errors.is_empty() {
                    let errors = reader.errors.sorted();
                    return Err(errors.into_iter().map(|error| error.inside(&source)).collect());
                }
                reader.source.caveat = self.caveat;
                return reader.finish(&stem).map_err(|errors| {
                    errors.sorted().into_iter().map(|error| error.inside(&source)).collect()
                });
            }
            facts = reader.facts;
        }
        let message =
            format!("what pointers lead to is not understood after {MAX_READINGS} readings");
        Err(vec![Diagnostic::new(message, 0..0)])
    }
}

/// The function of a symbol, or the only one with a name that a person wrote.
fn first_function(module: &Module, entry: &str) -> Result<usize, Vec<Diagnostic>> {
    let defined = || module.functions.iter().enumerate().filter(|(_, f)| f.body != Body::None);
    if let Some((number, _)) = defined().find(|(_, f)| f.name == entry) {
        return Ok(number);
    }
    let is_named = |name: &str| {
        let plain = names::plain_name(name);
        plain == entry || plain.strip_suffix(entry).is_some_and(|before| before.ends_with("::"))
    };
    let all: Vec<usize> = defined().filter(|(_, f)| is_named(&f.name)).map(|(n, _)| n).collect();
    let help = "`--entry NAME` names the function that the program begins with";
    match all[..] {
        [number] => Ok(number),
        [] => {
            let error = Diagnostic::new(format!("there is no function {}", quote(entry)), 0..0);
            let names: Vec<String> = defined().map(|(_, f)| names::plain_name(&f.name)).collect();
            let names = names.iter().map(String::as_str);
            Err(vec![did_you_mean(error.help(help), entry, names)])
        }
        _ => {
            let message = format!("there are {} functions {}", all.len(), quote(entry));
            Err(vec![Diagnostic::new(message, 0..0).help(help)])
        }
    }
}

/// Where a value is held: a register of this key belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Home {
    /// A local value of a call: the call, the value, its part, and which of several registers.
    Local(u32, u32, u32, u32),
    /// Bytes of an object that only this thread knows.
    Bytes(ObjectId, u64, u64),
    /// Needed for one instruction.
    Temporary(u32),
    /// Reports that a limit was reached: the number of its words.
    Limit(usize),
}

/// A scalar in memory that statements access: object, offset and size.
pub(crate) type Cell = (ObjectId, u64, u64);

/// A thread as it is translated.
#[derive(Debug, Default)]
struct Thread {
    name: String,
    registers: Vec<Register>,
    /// The home and the possible addresses of each register.
    homes: Vec<(Option<Home>, Addresses)>,
    by_home: HashMap<Home, RegId>,
    labels: Vec<Label>,
    /// The code of each point, which begins with its label.
    code: Vec<Vec<Stmt>>,
    /// How many statements there are.
    statements: usize,
    temporaries: u32,
    /// Whether it has statements that are steps.
    has_stepped: bool,
    /// Whether it waits until it is started.
    waits: bool,
    /// What it owns when it starts, and whether that is known.
    is_given: bool,
    given: BTreeMap<ObjectId, Bytes>,
}

/// An access, for the question about races.
struct Access {
    thread: usize,
    label: LabelId,
    cell: usize,
    is_write: bool,
    is_plain: bool,
}

/// Reads the program once.
struct Reader<'m> {
    module: &'m Module,
    layout: Layout<'m>,
    functions: HashMap<&'m str, usize>,
    globals: HashMap<&'m str, usize>,
    aliases: HashMap<&'m str, usize>,
    /// The types of pointers and of bits.
    pointer: TypeId,
    bit: TypeId,
    infos: HashMap<usize, std::rc::Rc<function::Info>>,
    live: HashMap<(usize, u32, usize), std::rc::Rc<std::collections::BTreeSet<u32>>>,
    options: Lowering,
    facts: Facts,
    errors: Errors,
    /// Whether an access goes through a pointer that only the run knows.
    is_loose: bool,
    /// Whether it is known that the object that is accessed is not freed and has these bytes.
    is_checked: bool,
    source: Source,
    /// Whether the text that reports show is the module itself.
    is_module: bool,
    /// Whether memory that was never set has a value of its own. Where code was optimized it reads as zero: an optimizer may read
    /// what is not needed.
    knows_unset: bool,
    /// Whether somewhere memory that was never set reads as zero.
    reads_zero: bool,
    places: places::Places<'m>,
    /// The place of what is executed.
    range: Range<usize>,
    span: SpanId,
    spans: HashMap<(usize, usize), SpanId>,
    messages: BTreeMap<SpanId, String>,
    failures: HashMap<(usize, usize, String), SpanId>,
    /// Memory before other threads run.
    memory: HashMap<ObjectId, Bytes>,
    /// Whether the first thread is alone, and all is computed.
    is_alone: bool,
    threads: Vec<Thread>,
    /// The thread that is translated, by its number in the facts.
    current: usize,
    cells: Vec<Cell>,
    cell_numbers: HashMap<Cell, usize>,
    accesses: Vec<Access>,
    /// Where each object is allocated, if the program is asked for leaks.
    allocations: BTreeMap<ObjectId, SpanId>,
    /// The calls around what is executed, for errors.
    calls: Vec<usize>,
    has_assume: bool,
    limits: Vec<(usize, RegId, i128)>,
    /// What each limit means that was reached.
    limit_words: Vec<String>,
    steps: u64,
    /// How many rounds each loop has had while it was read, by function and first block, and where it goes back.
    loops: HashMap<(usize, u32), (u64, SpanId)>,
    explorer: explore::Explorer,
    /// Threads that are started, in order.
    waiting: Vec<usize>,
}

impl<'m> Reader<'m> {
    fn new(module: &'m Module, source: Source, settings: &Settings, facts: Facts) -> Self {
        let functions = module.functions.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
        // The first of a name counts.
        let globals = module.globals.iter().enumerate().rev().map(|(i, g)| (&*g.name, i)).collect();
        let aliases = module.aliases.iter().enumerate().rev().map(|(i, a)| (&*a.name, i)).collect();
        let ty = |ty: &Type| {
            TypeId(module.types.iter().position(|known| known == ty).unwrap_or(0) as u32)
        };
        Self {
            globals,
            aliases,
            pointer: ty(&Type::Ptr),
            bit: ty(&Type::Int(1)),
            module,
            layout: Layout::new(module),
            functions,
            infos: HashMap::new(),
            live: HashMap::new(),
            options: settings.lowering.clone(),
            facts,
            errors: Errors::default(),
            is_loose: false,
            is_checked: false,
            is_module: true,
            knows_unset: false,
            reads_zero: false,
            places: places::Places::new(module, settings, &source),
            source,
            range: 0..0,
            span: SpanId::NONE,
            spans: HashMap::new(),
            messages: BTreeMap::new(),
            failures: HashMap::new(),
            memory: HashMap::new(),
            is_alone: true,
            threads: Vec::new(),
            current: 0,
            cells: Vec::new(),
            cell_numbers: HashMap::new(),
            accesses: Vec::new(),
            allocations: BTreeMap::new(),
            calls: Vec::new(),
            has_assume: false,
            limits: Vec::new(),
            limit_words: Vec::new(),
            steps: 0,
            loops: HashMap::new(),
            explorer: explore::Explorer::default(),
            waiting: Vec::new(),
        }
    }

    fn info(&mut self, function: usize) -> std::rc::Rc<function::Info> {
        let module = self.module;
        let made = || std::rc::Rc::new(function::Info::new(module, &module.functions[function]));
        self.infos.entry(function).or_insert_with(made).clone()
    }

    fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    /// Says where in the text the reader is.
    fn at(&mut self, range: Range<usize>) {
        if self.range != range {
            let key = (range.start, range.end);
            self.span = match self.spans.get(&key) {
                Some(span) => *span,
                None => {
                    let span = self.source.span(range.clone());
                    self.spans.insert(key, span);
                    span
                }
            };
            self.range = range;
        }
    }

    /// Reports an error where the reader is, with the calls that lead there.
    fn error(&mut self, message: impl Into<String>) {
        let mut message = message.into();
        let names: Vec<String> = self
            .calls
            .iter()
            .rev()
            .map(|f| names::plain_name(&self.module.functions[*f].name))
            .collect();
        if names.len() > 1 {
            let shown = names.len().min(6);
            message += &format!(" (in {})", names[..shown].join(", called by "));
        }
        self.errors.push(Diagnostic::new(message, self.range.clone()));
    }

    /// Something that is not read.
    fn refuse(&mut self, message: impl Into<String>) {
        self.error(message);
    }

    fn is_stopped(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The register of a home.
    fn register(&mut self, home: Home, name: impl FnOnce() -> String) -> RegId {
        if let Some(&register) = self.thread().by_home.get(&home) {
            return register;
        }
        let span = self.span;
        let held = self.facts.held.get(&(self.current, home)).cloned().unwrap_or_default();
        let count = self.thread().registers.len();
        if count >= usize::from(u16::MAX) {
            self.refuse("this thread needs too many registers");
            return RegId::new(0);
        }
        let register = RegId::new(count);
        let is_temporary = matches!(home, Home::Temporary(_));
        let name = match is_temporary {
            true => format!("t{count}"),
            false => format!("{}_{count}", name()),
        };
        let thread = self.thread();
        thread.registers.push(Register {
            display: name.clone(),
            name,
            domain: None,
            init: 0,
            temporary: is_temporary || !matches!(home, Home::Limit(_)),
            span,
        });
        thread.homes.push((Some(home), held));
        thread.by_home.insert(home, register);
        register
    }

    /// A register for one instruction.
    fn temporary(&mut self) -> RegId {
        let number = self.thread().temporaries;
        self.thread().temporaries += 1;
        self.register(Home::Temporary(number), String::new)
    }

    /// A register may hold these addresses.
    fn may_hold(&mut self, register: RegId, what: &Addresses) {
        if what.is_nothing() {
            return;
        }
        let current = self.current;
        let (home, held) = &mut self.threads[current].homes[register.index()];
        if held.add(what)
            && let Some(home) = *home
        {
            self.facts.widen(held);
            let known = self.facts.held.entry((current, home)).or_default();
            self.facts.is_changed |= known.add(held);
        }
    }

    /// Adds a statement.
    fn emit(&mut self, out: &mut Vec<Stmt>, kind: StmtKind) {
        self.is_alone = false;
        let is_step = !matches!(
            kind,
            StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Assign(..) | StmtKind::If(..)
        );
        out.push(Stmt::new(kind, self.span));
        let thread = self.thread();
        thread.statements += 1;
        thread.has_stepped |= is_step;
        if thread.statements > MAX_STATEMENTS {
            self.too_large(&format!("this thread becomes more than {MAX_STATEMENTS} statements"));
        }
    }

    /// The number of a scalar in memory.
    fn cell(&mut self, cell: Cell) -> usize {
        let next = self.cells.len();
        let number = *self.cell_numbers.entry(cell).or_insert(next);
        if number == next {
            self.cells.push(cell);
        }
        number
    }

    fn note_order(&mut self, order: Order) {
        self.source.has_weak_orders |= !matches!(order, Order::SeqCst | Order::Plain);
    }
}
