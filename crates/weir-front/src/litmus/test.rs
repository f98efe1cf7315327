//! A test while it is read: what its memory and its registers are called.
//!
//! Names are known from their first mention on, wherever that is; addresses are
//! given out once the whole file has been read, because only then every array
//! has its length. Until then an address is the number of a [`Symbol`].

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use weir_model::ids::{RegId, VarId};
use weir_model::program::{BinOp, Code, Decl, Expr, Place, Register};

use super::dialect::{Dialect, RegisterName};
use super::errors::Errors;
use crate::suggest::closest;
use crate::{Diagnostic, MAX_ARRAY, Source};

/// The address of the first variable.
const BASE: i128 = 0x1_0000;
/// How far the addresses of neighbors lie apart.
pub(super) const STRIDE: i128 = 8;
/// How many variables there may be: an address chooses from all of them.
pub(super) const MAX_VARS: usize = MAX_ARRAY as usize;

/// A test while it is read.
pub(super) struct Test {
    pub dialect: Dialect,
    pub source: Source,
    pub errors: Errors,
    pub threads: Vec<Thread>,
    symbols: Vec<Symbol>,
    by_name: HashMap<String, usize>,
    /// Number of variables that have been declared.
    declared: usize,
    /// Whether an address is ever used as a value.
    pub uses_addresses: bool,
}

/// A name for a variable or an array.
struct Symbol {
    name: String,
    /// Number of elements if it is an array.
    len: Option<u32>,
    /// Initial values, one per element once it has been declared.
    init: Vec<Value>,
    /// Where it is mentioned first, or declared.
    range: Range<usize>,
    declared: bool,
}

/// The number of a [`Symbol`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SymbolId(usize);

/// A value that is known before the test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(i128),
    /// The address of a variable.
    Address(SymbolId),
}

/// One thread's registers.
#[derive(Default)]
pub(super) struct Thread {
    pub registers: Vec<Register>,
    by_name: HashMap<String, RegId>,
    /// Initial values, for those that have one, and where they stand.
    pub init: BTreeMap<RegId, (Value, Range<usize>)>,
}

impl Test {
    /// A test of which nothing has been read but the frame.
    pub fn new(dialect: Dialect, source: Source, threads: usize, errors: Errors) -> Self {
        Self {
            dialect,
            source,
            errors,
            threads: (0..threads).map(|_| Thread::default()).collect(),
            symbols: vec![],
            by_name: HashMap::new(),
            declared: 0,
            uses_addresses: false,
        }
    }

    /// The variable or array called `name`, new if it has not been mentioned.
    pub fn symbol(&mut self, name: &str, range: &Range<usize>) -> SymbolId {
        if let Some(&id) = self.by_name.get(name) {
            return SymbolId(id);
        }
        let id = self.symbols.len();
        self.by_name.insert(name.to_owned(), id);
        self.symbols.push(Symbol {
            name: name.to_owned(),
            len: None,
            init: vec![Value::Number(0)],
            range: range.clone(),
            declared: false,
        });
        SymbolId(id)
    }

    /// The address of the variable called `name`, as a value.
    pub fn address(&mut self, name: &str, range: &Range<usize>) -> Value {
        self.uses_addresses = true;
        Value::Address(self.symbol(name, range))
    }

    /// Gives a variable (`len` is `None`) or an array its initial values.
    ///
    /// # Errors
    /// If it has them already, or if there are too many variables.
    pub fn declare(
        &mut self,
        name: &str,
        range: Range<usize>,
        len: Option<u32>,
        init: Vec<Value>,
    ) -> Result<(), Diagnostic> {
        let SymbolId(id) = self.symbol(name, &range);
        let symbol = &mut self.symbols[id];
        if symbol.declared {
            return Err(Diagnostic::new(format!("`{name}` has an initial value already"), range)
                .note(symbol.range.clone(), "given here"));
        }
        self.declared += init.len();
        if self.declared > MAX_VARS {
            return Err(too_many_variables(range));
        }
        (symbol.len, symbol.init, symbol.range, symbol.declared) = (len, init, range, true);
        Ok(())
    }

    /// The variable or array called `name`, if it has been mentioned.
    pub fn find_symbol(&self, name: &str) -> Option<SymbolId> {
        self.by_name.get(name).copied().map(SymbolId)
    }

    /// What a person calls it.
    pub fn name_of(&self, symbol: SymbolId) -> &str {
        &self.symbols[symbol.0].name
    }

    /// Number of elements of an array; `None` for a variable.
    pub fn array_len(&self, symbol: SymbolId) -> Option<u32> {
        self.symbols[symbol.0].len
    }

    /// The register that `name` stands for in `thread`.
    ///
    /// # Errors
    /// If there is no such register.
    pub fn register(
        &mut self,
        thread: usize,
        name: &str,
        range: Range<usize>,
    ) -> Result<RegId, Diagnostic> {
        if self.dialect == Dialect::C {
            return Ok(self.named_register(thread, name, false, range));
        }
        match self.dialect.register(name) {
            RegisterName::Known(name) => Ok(self.named_register(thread, &name, false, range)),
            RegisterName::Refused(why) => {
                Err(Diagnostic::new(format!("Weir does not read the register `{name}`"), range)
                    .label(why))
            }
            RegisterName::Unknown => {
                let error = Diagnostic::new(format!("there is no register `{name:.40}`"), range);
                Err(match closest(name, self.dialect.registers()) {
                    Some(meant) => error.help(format!("did you mean `{meant}`?")),
                    None => error,
                })
            }
        }
    }

    /// The register of `thread` with exactly this name, new if it has not been
    /// mentioned. A temporary that a person mentions is one no longer.
    pub fn named_register(
        &mut self,
        thread: usize,
        name: &str,
        temporary: bool,
        range: Range<usize>,
    ) -> RegId {
        let registers = &mut self.threads[thread];
        if let Some(&id) = registers.by_name.get(name) {
            registers.registers[id.index()].temporary &= temporary;
            return id;
        }
        let id = RegId::new(registers.registers.len());
        registers.by_name.insert(name.to_owned(), id);
        registers.registers.push(Register {
            name: name.to_owned(),
            display: format!("{thread}:{name}"),
            domain: None,
            init: 0,
            temporary,
            span: self.source.span(range),
        });
        id
    }

    /// Whether a register was made to hold a value for a moment.
    pub fn is_temporary(&self, thread: usize, register: RegId) -> bool {
        self.threads[thread].registers[register.index()].temporary
    }

    /// The registers of a thread, with their initial values.
    pub fn take_registers(&mut self, thread: usize, layout: &Layout) -> Vec<Register> {
        let thread = &mut self.threads[thread];
        for (register, (value, _)) in &thread.init {
            thread.registers[register.index()].init = layout.value(*value);
        }
        std::mem::take(&mut thread.registers)
    }

    /// The register of `thread` with exactly this name, if it has been mentioned.
    pub fn find_register(&self, thread: usize, name: &str) -> Option<RegId> {
        self.threads[thread].by_name.get(name).copied()
    }

    /// Refuses the name of a register where a variable should stand.
    pub fn refuse_register(&self, name: &str, range: &Range<usize>) -> Result<(), Diagnostic> {
        match self.dialect.register(name) {
            RegisterName::Known(register) => {
                Err(Diagnostic::new(format!("`{name}` is a register"), range.clone())
                    .help(format!("name its thread too: `0:{register}`")))
            }
            _ => Ok(()),
        }
    }

    /// The thread that a person calls `number`.
    ///
    /// # Errors
    /// If there is none.
    pub fn thread(&self, number: i128, range: Range<usize>) -> Result<usize, Diagnostic> {
        let threads = self.threads.len();
        usize::try_from(number).ok().filter(|&n| n < threads).ok_or_else(|| {
            Diagnostic::new(format!("there is no thread {number}"), range).help(match threads {
                1 if self.dialect == Dialect::C => "there is one function: thread 0".to_owned(),
                _ if self.dialect == Dialect::C => {
                    format!("there are {threads} functions: threads 0 to {}", threads - 1)
                }
                1 => "the table has one column: thread 0".to_owned(),
                _ => format!("the table has {threads} columns: threads 0 to {}", threads - 1),
            })
        })
    }

    /// Gives every variable its number and every address its value.
    ///
    /// # Errors
    /// If there are too many variables.
    pub fn layout(&self) -> Result<Layout, Diagnostic> {
        let mut firsts = vec![];
        let mut len = 0;
        for symbol in &self.symbols {
            firsts.push(len);
            len += symbol.init.len();
            if len > MAX_VARS {
                return Err(too_many_variables(symbol.range.clone()));
            }
        }
        Ok(Layout { firsts, len })
    }

    /// The declarations of all variables.
    pub fn declarations(&mut self, layout: &Layout) -> Vec<Decl> {
        let Self { symbols, source, .. } = self;
        let decl = |symbol: &Symbol| Decl {
            name: symbol.name.clone(),
            len: symbol.len,
            domain: None,
            init: symbol.init.iter().map(|&value| vec![layout.value(value)]).collect(),
            span: source.span(symbol.range.clone()),
        };
        symbols.iter().map(decl).collect()
    }

    /// What each address is called. An array has the address of its first element.
    pub fn addresses(&self, layout: &Layout) -> BTreeMap<i128, String> {
        let elements = self.symbols.iter().flat_map(|symbol| {
            (0..symbol.init.len()).map(move |element| match element {
                0 => symbol.name.clone(),
                _ => format!("{}[{element}]", symbol.name),
            })
        });
        elements.enumerate().map(|(k, name)| (layout.address_of(k), name)).collect()
    }
}

fn too_many_variables(range: Range<usize>) -> Diagnostic {
    Diagnostic::new(format!("at most {MAX_VARS} variables are read"), range)
}

/// Where each variable lies.
pub(super) struct Layout {
    /// The first variable of each symbol.
    firsts: Vec<usize>,
    /// Number of variables.
    pub len: usize,
}

impl Layout {
    /// The variable that a symbol names, or an element of its array.
    pub fn var(&self, symbol: SymbolId, element: usize) -> VarId {
        VarId::new(self.firsts[symbol.0] + element)
    }

    /// A value as a number.
    pub fn value(&self, value: Value) -> i128 {
        match value {
            Value::Number(number) => number,
            Value::Address(symbol) => self.address_of(self.firsts[symbol.0]),
        }
    }

    /// The address of the first variable and the distance between neighbors.
    pub fn grid(&self) -> (i128, i128) {
        (BASE, STRIDE)
    }

    /// The variable at a distance from the first one. A distance between two variables, or outside
    /// of all, gives an index out of range.
    pub fn place(&self, distance: Code) -> Place {
        let (_, stride) = self.grid();
        let steps = Expr::binary(BinOp::Div, distance.clone(), Expr::Const(stride));
        let between = |op| {
            let rest = Expr::binary(BinOp::Mod, distance.clone(), Expr::Const(stride));
            Expr::binary(op, rest, Expr::Const(0))
        };
        // The number of steps, or -1 where the address lies between two.
        let index = Expr::binary(
            BinOp::Sub,
            Expr::binary(BinOp::Mul, steps, between(BinOp::Eq)),
            between(BinOp::Ne),
        );
        let len = u32::try_from(self.len).expect("variables are numbered in 16 bits");
        Place::element(VarId(0), len, index)
    }

    fn address_of(&self, var: usize) -> i128 {
        BASE + STRIDE * i128::try_from(var).expect("variables are numbered in 16 bits")
    }
}
