//! The lowering that C and Rust share: shared cells, threads, accesses with a memory order, and
//! pointers, translated to the loads and stores of a [`Program`].
//!
//! A reader walks the code of its language as an interpreter would, from the first function on,
//! and calls a [`Builder`] for everything that happens: a local variable gets a value, a place in
//! memory is read, a condition decides between two branches. What is known at that time is
//! computed; everything else becomes statements of a process. So functions are inlined, the part
//! of the first thread that runs before any other thread is computed and becomes the initial
//! state, and a pointer to a known place costs nothing.
//!
//! Some facts are only known at the end: which local variables need a cell in memory, which cells
//! are written, which values differ between two ways to the same place of the code. They are
//! assumed away at first and collected in [`Learned`]. If a pass learned something, its result is
//! thrown away and the program is read again; nothing is ever unlearned, so this ends.
//!
//! * [`types`] has the types, [`value`] the values of expressions;
//! * [`memory`] has the objects and their addresses, [`lvalue`] places and pointers, [`access`] loads, stores and atomic accesses;
//! * [`slots`] has the local variables, [`control`] branches, loops and jumps;
//! * [`threads`] begins and joins threads, [`heap`] allocates and frees,
//!   [`limits`] counts what the user has limited;
//! * [`ending`] turns assertions after the last join into questions about final states;
//! * [`finish`] makes the program.

pub mod access;
pub mod control;
pub(crate) mod ending;
pub(crate) mod finish;
pub mod heap;
pub mod limits;
pub mod lvalue;
pub mod memory;
mod slots;
pub mod threads;
pub mod types;
pub mod value;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use weir_model::ids::{RegId, SpanId};
use weir_model::program::{Label, Program, Register, Stmt, StmtKind};

use crate::errors::Errors;
use crate::{Diagnostic, MAX_NESTING, Source};
use control::JoinState;
use memory::{Cell, Group, Object};
use slots::{Held, Slot};
use types::{Structs, Type};

pub use access::Order;
pub use lvalue::Lvalue;

/// Identifies something in the code across passes: a local variable, a loop, a call.
pub type Key = u64;

/// How many statements a process may have.
const MAX_STATEMENTS: usize = 20_000;

/// How many passes are made before the program is called too hard to read.
const MAX_PASSES: usize = 200;

/// What every report about a program in C or Rust says first.
const CAVEAT: &str =
    "each access as it stands in the source: what a compiler reorders or removes is not covered";

/// What the user asks of the lowering.
#[derive(Clone, Debug)]
pub struct Options {
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
}

impl Default for Options {
    fn default() -> Self {
        let (pool, threads) = (4, 16);
        Self { pool, unroll: None, threads, races: false, spurious: false, wraps: false }
    }
}

/// What passes over the program have found out.
#[derive(Debug, Default)]
pub struct Learned {
    /// The struct types.
    pub structs: Structs,
    /// Struct types by where they were declared.
    struct_keys: HashMap<Key, types::StructId>,
    /// Local variables that need cells in memory, because their address is stored.
    in_memory: HashSet<Key>,
    /// Local variables that hold different values on different ways to a place of the code.
    varying: HashSet<(Key, Key)>,
    /// Cells that are written while threads run: object, scalar, element.
    written: HashSet<(Key, usize, usize)>,
    /// Places that have addresses.
    addressed: Vec<Group>,
    /// Places whose addresses become `void *`.
    untyped: HashSet<(Key, Vec<usize>)>,
    /// Whether an address that only the run knows becomes a `void *`.
    has_untyped_code: bool,
    /// Objects that are freed.
    freed: HashSet<Key>,
    /// Threads that some thread waits for.
    joined: HashSet<Key>,
    /// Objects that are allocated.
    heap: HashSet<Key>,
    /// How many threads of each name there are.
    thread_names: HashMap<String, usize>,
    /// Counters of processes: of allocations and of rounds of loops.
    counters: BTreeMap<(Key, Key), String>,
    /// Whether this pass has learned something.
    is_changed: bool,
}

impl Learned {
    /// The struct type that was declared at a place.
    pub fn struct_at(&mut self, key: Key, name: &str) -> types::StructId {
        let structs = &mut self.structs;
        *self.struct_keys.entry(key).or_insert_with(|| structs.add(name, Vec::new()))
    }
}

/// Reads a program in as many passes as it takes. `pass` executes the program from its beginning.
///
/// # Errors
/// All the errors that were found.
pub fn passes(
    name: &str,
    source: &Source,
    options: &Options,
    mut pass: impl FnMut(&mut Builder),
) -> Result<(Program, Source), Errors> {
    let mut learned = Learned::default();
    for _ in 0..MAX_PASSES {
        let mut builder = Builder::new(source.clone(), options.clone(), learned);
        pass(&mut builder);
        // What has been learned may be what an error is due to.
        if !builder.learned.is_changed {
            if !builder.errors.is_empty() {
                return Err(builder.errors);
            }
            builder.source.caveat = Some(CAVEAT);
            return builder.finish(name);
        }
        learned = builder.learned;
        learned.is_changed = false;
    }
    let mut errors = Errors::default();
    let message = format!(
        "this program is not understood after {MAX_PASSES} passes: use fewer pointers that depend on branches"
    );
    errors.push(Diagnostic::new(message, 0..0));
    Err(errors)
}

/// Builds a program while a reader executes it.
#[derive(Debug)]
pub struct Builder {
    /// What is known from earlier passes.
    pub learned: Learned,
    /// What the user asks for.
    pub options: Options,
    /// The errors so far.
    pub errors: Errors,
    source: Source,
    range: Range<usize>,
    span: SpanId,
    objects: Vec<Object>,
    cells: Vec<Cell>,
    /// The processes; the first thread is the first one.
    processes: Vec<Process>,
    /// The process that is being executed, and those that wait until it is translated.
    current: usize,
    waiting: Vec<usize>,
    accesses: Vec<access::Access>,
    has_assume: bool,
    /// Where a limit on rounds or allocations was set.
    limits: Vec<(usize, RegId, i128)>,
}

/// A process in the making.
#[derive(Debug)]
struct Process {
    name: String,
    key: Key,
    registers: Vec<Register>,
    /// The types of registers, from which their domains follow.
    types: Vec<Type>,
    labels: Vec<Label>,
    /// The open blocks, outermost first.
    blocks: Vec<Vec<Stmt>>,
    statements: usize,
    loops: usize,
    slots: Vec<Slot>,
    /// What each slot holds; nothing if this place of the code is not reached.
    state: Option<Vec<Held>>,
    joins: Vec<JoinState>,
    /// The join that a way goes to without any other code in between.
    straight: Option<control::Join>,
    branches: Vec<control::Branch>,
    /// Where in the code the reader is: calls and rounds of loops.
    path: Vec<Key>,
    names: HashMap<String, usize>,
    counters: HashMap<Key, usize>,
    /// Whether code is executed again from a label, so that memory is not known any more.
    is_repeated: bool,
    /// The threads that it has waited for, whatever the run did.
    joined: Vec<usize>,
}

impl Builder {
    fn new(source: Source, options: Options, learned: Learned) -> Self {
        let mut this = Self {
            learned,
            options,
            errors: Errors::default(),
            source,
            range: 0..0,
            span: SpanId::NONE,
            objects: Vec::new(),
            cells: Vec::new(),
            processes: Vec::new(),
            current: 0,
            waiting: Vec::new(),
            accesses: Vec::new(),
            has_assume: false,
            limits: Vec::new(),
        };
        this.new_process("main".to_owned(), 0);
        this
    }

    /// Where the reader is in the text. Everything that is built from now on comes from there.
    pub fn at(&mut self, range: Range<usize>) {
        if self.range != range {
            self.span = self.source.span(range.clone());
            self.range = range;
        }
    }

    /// The program has a memory order.
    pub fn note_order(&mut self, order: Order) {
        self.source.has_weak_orders |= order != Order::SeqCst;
    }

    /// Where the reader is in the text.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Reports an error where the reader is.
    pub fn error(&mut self, message: impl Into<String>) {
        self.errors.push(Diagnostic::new(message, self.range.clone()));
    }

    /// The key of something in the code. `tag` tells it from all else in the same call.
    pub fn key(&self, tag: impl Hash) -> Key {
        let process = self.process();
        hash(&(process.key, &process.path, tag))
    }

    /// Enters a call or a round of a loop that is executed: what is in it is not the same as in
    /// another one.
    pub fn enter(&mut self, tag: impl Hash) {
        let key = hash(&tag);
        self.process_mut().path.push(key);
    }

    /// Leaves it.
    pub fn leave(&mut self) {
        self.process_mut().path.pop();
    }

    /// Whether code here can be reached.
    pub fn is_reachable(&self) -> bool {
        self.process().state.is_some() && self.errors.is_empty()
    }

    /// Whether what is executed here is executed once, whatever the run does.
    pub fn is_straight(&self) -> bool {
        self.process().blocks.len() == 1 && !self.process().is_repeated
    }

    /// How many blocks are open: what is executed in a block need not be executed.
    pub fn depth(&self) -> usize {
        self.process().blocks.len()
    }

    /// Whether code here is outside of every loop of the run.
    pub fn is_once(&self) -> bool {
        self.process().loops == 0 && !self.process().is_repeated
    }

    /// The program is read again, without what this pass has learned.
    pub fn start_over(&mut self) {
        self.learned = Learned { is_changed: true, ..Learned::default() };
    }

    /// Whether nothing has become a statement yet, so that all there is can be computed.
    pub fn is_computed(&self) -> bool {
        self.current == 0 && self.process().blocks.len() == 1 && self.process().statements == 0
    }

    fn process(&self) -> &Process {
        &self.processes[self.current]
    }

    fn process_mut(&mut self) -> &mut Process {
        &mut self.processes[self.current]
    }

    /// Whether cells that no other thread has seen are known here.
    fn knows_memory(&self) -> bool {
        self.current == 0 && self.process().blocks.len() == 1 && !self.process().is_repeated
    }

    /// Adds a statement.
    fn emit(&mut self, kind: StmtKind) {
        if self.process().state.is_none() {
            return;
        }
        // A store may have two fences, which are not the same one.
        let span = match kind {
            StmtKind::Fence(_) => self.source.span(self.range.clone()),
            _ => self.span,
        };
        let process = self.process_mut();
        process.statements += 1;
        let is_long = process.statements > MAX_STATEMENTS;
        let is_deep = process.blocks.len() > MAX_NESTING;
        if let Some(block) = process.blocks.last_mut() {
            block.push(Stmt::new(kind, span));
        }
        if is_long {
            let message = format!("this thread becomes more than {MAX_STATEMENTS} statements");
            self.error(message);
        } else if is_deep {
            self.error(format!("with its calls this nests more than {MAX_NESTING} deep"));
        }
    }

    /// A register that a person has not written.
    fn temporary(&mut self, ty: &Type) -> RegId {
        self.register("t", ty, true)
    }

    fn register(&mut self, name: &str, ty: &Type, temporary: bool) -> RegId {
        let span = self.span;
        let process = self.process_mut();
        let id = RegId::new(process.registers.len().min(usize::from(u16::MAX)));
        if process.registers.len() >= MAX_STATEMENTS {
            self.error("this thread needs too many local variables");
            return RegId::new(0);
        }
        let count = process.names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let name = match *count {
            1 if !temporary => name.to_owned(),
            n => format!("{name}_{n}"),
        };
        let (domain, init) = (None, 0);
        process.registers.push(Register {
            display: name.clone(),
            name,
            domain,
            init,
            temporary,
            span,
        });
        process.types.push(ty.clone());
        id
    }

    /// The end of the run, which no question is asked about.
    pub fn stop(&mut self) {
        self.emit(StmtKind::Assume(weir_model::program::Expr::Const(0)));
        self.has_assume = true;
        self.process_mut().state = None;
    }

    /// A failure of the program, as an assertion that does not hold.
    pub fn fail(&mut self) {
        self.emit(StmtKind::Assert(weir_model::program::Expr::Const(0)));
        self.process_mut().state = None;
    }
}

/// The key of a value; the same in every run.
pub(crate) fn hash(value: &impl Hash) -> Key {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
