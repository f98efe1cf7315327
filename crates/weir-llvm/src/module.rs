//! The parts of a module.

use std::collections::HashMap;
use std::ops::Range;

/// A type, by its place in [`Module::types`]. Equal types have equal ids, except that each named
/// struct is a type of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

/// A local value: an index of [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A basic block: an index of the blocks of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// The name of a global, function or alias: an index of [`Module::symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// A node of the metadata, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetaId(pub u32);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// A number of so many bits.
    Int(u32),
    /// An address.
    Ptr,
    /// A floating-point number, by its keyword.
    Float(&'static str),
    /// So many elements of a type.
    Array(u64, TypeId),
    /// So many elements of a type, as one value.
    Vector(u64, TypeId),
    /// Fields, without padding if it is packed.
    Struct {
        /// The types of the fields.
        fields: Vec<TypeId>,
        /// Whether there is no padding.
        is_packed: bool,
    },
    /// A struct with a name. [`Module::named`] says what it is.
    Named(String),
    /// A function: what it returns, its parameters, and whether more arguments may follow.
    Function(TypeId, Vec<TypeId>, bool),
    /// `label`, `metadata`, `token`, `x86_amx` and the like: never in memory.
    Other(&'static str),
}

/// A value: a local one, or a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// What an instruction or a parameter is.
    Local(LocalId),
    /// A number; numbers of more than 128 bits are not read. Signed, except for `i1`.
    Int(i128),
    /// A floating-point number as it is written.
    Float(String),
    /// The null pointer, or `none`.
    Null,
    /// Any value.
    Undef,
    /// No value.
    Poison,
    /// All zero.
    Zero,
    /// The address of a global or a function.
    Global(Symbol),
    /// The bytes of an array.
    Bytes(Vec<u8>),
    /// The elements of an array, a struct or a vector, with their types.
    Aggregate(Vec<(TypeId, Value)>),
    /// An instruction on constants.
    Expr(Box<Op>),
    /// The text of an inline assembly and its constraints.
    Asm(String, String),
    /// Metadata as an argument.
    Metadata,
    /// Anything else, which is not understood.
    Unknown(String),
}

/// An operation that gives a value and touches no memory: an instruction or a constant expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `add`, `sub`, …
    Binary {
        /// The name of the operation.
        op: Binary,
        /// `nsw`: a result that does not fit as a signed number is poison.
        nsw: bool,
        /// `nuw`: the same for unsigned numbers.
        nuw: bool,
        /// The type of both operands.
        ty: TypeId,
        /// The first operand.
        a: Value,
        /// The second operand.
        b: Value,
    },
    /// An operation on floating-point numbers, by its name.
    Float(&'static str, TypeId, Vec<Value>),
    /// `trunc`, `zext`, …
    Cast {
        /// Which one.
        op: Cast,
        /// The type of the operand.
        from: TypeId,
        /// The operand.
        value: Value,
        /// The type of the result.
        to: TypeId,
    },
    /// `icmp`
    Compare(Predicate, TypeId, Value, Value),
    /// `select`: the condition with its type, and both values with theirs.
    Select(TypeId, Value, TypeId, Value, Value),
    /// `getelementptr`
    Element {
        /// Whether the result is inside of the object that the pointer leads to.
        is_inbounds: bool,
        /// The type that the pointer is counted in.
        ty: TypeId,
        /// The pointer.
        pointer: Value,
        /// The indices with their types.
        indices: Vec<(TypeId, Value)>,
    },
    /// `extractvalue`
    Extract(TypeId, Value, Vec<u32>),
    /// `insertvalue`: aggregate, element with its type, place.
    Insert(TypeId, Value, TypeId, Value, Vec<u32>),
    /// `freeze`
    Freeze(TypeId, Value),
    /// `extractelement`: vector, index with its type.
    ExtractElement(TypeId, Value, TypeId, Value),
    /// `insertelement`: vector, element with its type, index with its type.
    InsertElement(TypeId, Value, (TypeId, Value), (TypeId, Value)),
    /// `shufflevector`: both vectors, and the mask with its type.
    Shuffle(TypeId, Value, Value, TypeId, Value),
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    PtrToInt,
    IntToPtr,
    Bitcast,
    AddrSpace,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
}

/// How `icmp` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Predicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// What `atomicrmw` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Update {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    UIncWrap,
    UDecWrap,
    USubCond,
    USubSat,
    FAdd,
    FSub,
    FMax,
    FMin,
}

/// A memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Ordering {
    NotAtomic,
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SeqCst,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is returned.
    pub ty: TypeId,
    /// The type of the function, where it is written out.
    pub signature: Option<TypeId>,
    /// What is called.
    pub callee: Value,
    /// The arguments with their types.
    pub arguments: Vec<(TypeId, Value)>,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Computes a value.
    Op(Op),
    /// `phi`
    Phi(TypeId, Vec<(Value, BlockId)>),
    /// `alloca`: the type, the count with its type, and the alignment if there is one.
    Alloca(TypeId, Option<(TypeId, Value)>, u64),
    /// `load`
    Load {
        /// The type of what is read.
        ty: TypeId,
        /// Where.
        pointer: Value,
        /// In which order.
        order: Ordering,
        /// Whether it is volatile.
        is_volatile: bool,
    },
    /// `store`
    Store {
        /// The type of what is written.
        ty: TypeId,
        /// What is written.
        value: Value,
        /// Where.
        pointer: Value,
        /// In which order.
        order: Ordering,
        /// Whether it is volatile.
        is_volatile: bool,
    },
    /// `atomicrmw`
    Rmw(Update, Value, TypeId, Value, Ordering),
    /// `cmpxchg`
    CompareExchange {
        /// Whether it may fail without a reason.
        is_weak: bool,
        /// Where.
        pointer: Value,
        /// The type of what is there.
        ty: TypeId,
        /// What is expected.
        expected: Value,
        /// What is written then.
        new: Value,
        /// The order if it is written.
        success: Ordering,
        /// The order if not.
        failure: Ordering,
    },
    /// `fence`; of one thread only if it is for its own signal handlers.
    Fence(Ordering, bool),
    /// `call`
    Call(Call),
    /// `invoke`: where it returns to, and where it unwinds to.
    Invoke(Call, BlockId, BlockId),
    /// `landingpad`: where exceptions arrive.
    LandingPad(TypeId),
    /// `resume`
    Resume(TypeId, Value),
    /// `va_arg`
    VaArg(TypeId),
    /// `ret`
    Return(Option<(TypeId, Value)>),
    /// `br label`
    Jump(BlockId),
    /// `br i1`
    Branch(Value, BlockId, BlockId),
    /// `switch`
    Switch(TypeId, Value, BlockId, Vec<(i128, BlockId)>),
    /// `unreachable`
    Unreachable,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The value that it gives.
    pub result: Option<LocalId>,
    /// What it does.
    pub kind: Kind,
    /// Where it comes from: a `DILocation`.
    pub location: Option<MetaId>,
    /// Where in the text of the module it stands.
    pub at: u32,
}

/// A basic block: its last instruction says where to go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Its instructions.
    pub instructions: Vec<Instruction>,
}

/// What a function does.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// It is defined elsewhere.
    None,
    /// Its blocks; the first one is where it begins.
    Blocks(Vec<Block>),
    /// It has syntax that is not known: the reason, and the line.
    NotRead(String, usize),
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub ty: TypeId,
    /// Its parameters: the first of [`Self::locals`].
    pub parameters: Vec<TypeId>,
    /// For each parameter the type that is passed by value behind the pointer, if it is (`byval`).
    pub by_value: Vec<Option<TypeId>>,
    /// Whether more arguments may follow.
    pub is_variadic: bool,
    /// The names of all local values.
    pub locals: Vec<String>,
    /// What it does.
    pub body: Body,
    /// Its `DISubprogram`.
    pub subprogram: Option<MetaId>,
    /// Where in the text it is defined.
    pub range: Range<usize>,
}

/// A global variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Its value at first; `None` if it is defined elsewhere.
    pub init: Option<Value>,
    /// Whether it is never written.
    pub is_constant: bool,
    /// Whether each thread has its own.
    pub is_thread_local: bool,
    /// Its alignment, if one is given.
    pub align: u64,
    /// Where in the text it is defined.
    pub range: Range<usize>,
}

/// Another name.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// What it stands for, with its type.
    pub target: (TypeId, Value),
}

/// A node of the metadata, as far as debug locations need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Meta {
    /// A place in a source text.
    Location {
        /// The line, from 1; 0 if there is none.
        line: u32,
        /// The column, from 1; 0 if there is none.
        column: u32,
        /// The block or function that it is in.
        scope: MetaId,
        /// The call that the function was inlined into.
        inlined_at: Option<MetaId>,
    },
    /// A function of the source.
    Subprogram {
        /// Its name.
        name: String,
        /// Its name for the linker.
        linkage: String,
        /// Its file.
        file: Option<MetaId>,
        /// Its line.
        line: u32,
    },
    /// A block or a namespace: its parent and its file.
    Scope(Option<MetaId>, Option<MetaId>),
    /// A file and its folder.
    File(String, String),
}

/// A module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The name of the source, if it is given.
    pub source: String,
    /// What the target is laid out like.
    pub layout: String,
    /// The target.
    pub triple: String,
    /// All types.
    pub types: Vec<Type>,
    /// What named structs are; without an entry they are opaque.
    pub named: HashMap<TypeId, TypeId>,
    /// The names of globals, functions and aliases.
    pub symbols: Vec<String>,
    /// The global variables.
    pub globals: Vec<Global>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The aliases.
    pub aliases: Vec<Alias>,
    /// The metadata that debug locations need.
    pub metadata: HashMap<MetaId, Meta>,
    pub(crate) type_ids: HashMap<Type, TypeId>,
    pub(crate) symbol_ids: HashMap<String, Symbol>,
}

/// A place in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'m> {
    /// The folder that the compiler ran in.
    pub directory: &'m str,
    /// The file.
    pub file: &'m str,
    /// The name of the function.
    pub function: &'m str,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

/// How long chains of scopes and of inlining may be.
const MAX_CHAIN: usize = 200;

impl Module {
    /// A type.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The name of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol.0 as usize]
    }

    /// The symbol of a name, if the module has it.
    pub fn symbol_named(&self, name: &str) -> Option<Symbol> {
        self.symbol_ids.get(name).copied()
    }

    /// The id of a type.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.type_ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.types.len() as u32);
        self.types.push(ty.clone());
        self.type_ids.insert(ty, id);
        id
    }

    pub(crate) fn intern_symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.symbol_ids.get(name) {
            return symbol;
        }
        let symbol = Symbol(self.symbols.len() as u32);
        self.symbols.push(name.to_owned());
        self.symbol_ids.insert(name.to_owned(), symbol);
        symbol
    }

    /// Where an instruction comes from: the place itself, then the calls that it was inlined
    /// into, innermost first.
    pub fn places(&self, location: MetaId) -> Vec<Place<'_>> {
        let mut places = Vec::new();
        let mut next = Some(location);
        while let Some(id) = next {
            let Some(Meta::Location { line, column, scope, inlined_at }) = self.metadata.get(&id)
            else {
                break;
            };
            if places.len() > MAX_CHAIN {
                break;
            }
            let (function, directory, file) = self.scope(*scope);
            places.push(Place { directory, file, function, line: *line, column: *column });
            next = *inlined_at;
        }
        places
    }

    /// The function, folder and file of a scope.
    fn scope(&self, scope: MetaId) -> (&str, &str, &str) {
        let (mut next, mut file) = (Some(scope), None);
        let mut function = "";
        for _ in 0..MAX_CHAIN {
            let Some(id) = next else { break };
            match self.metadata.get(&id) {
                Some(Meta::Scope(parent, own)) => {
                    file = file.or(*own);
                    next = *parent;
                }
                Some(Meta::Subprogram { name, file: own, .. }) => {
                    file = file.or(*own);
                    function = name;
                    break;
                }
                Some(Meta::File(..)) => {
                    file = file.or(Some(id));
                    break;
                }
                _ => break,
            }
        }
        match file.and_then(|id| self.metadata.get(&id)) {
            Some(Meta::File(name, directory)) => (function, directory, name),
            _ => (function, "", ""),
        }
    }

    /// The place of a function in its source.
    pub fn place_of(&self, subprogram: MetaId) -> Option<Place<'_>> {
        let Some(Meta::Subprogram { line, name, .. }) = self.metadata.get(&subprogram) else {
            return None;
        };
        let (_, directory, file) = self.scope(subprogram);
        Some(Place { directory, file, function: name, line: *line, column: 0 })
    }
}

/// The number with the same lowest bits that a type of so many bits has: signed, except for one bit.
pub fn wrap(number: i128, bits: u32) -> i128 {
    match bits {
        0 | 128.. => number,
        1 => number & 1,
        bits => {
            let shift = 128 - bits;
            (number << shift) >> shift
        }
    }
}
