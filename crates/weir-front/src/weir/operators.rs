//! The operators: how they are written and how strongly they bind. The parser
//! and the printer share these tables, so that they cannot disagree.

use weir_model::program::{BinOp, IntType};

use super::tree::Atomic;

/// The binding strength of `not`: between `and` and the comparisons.
pub const NOT: u8 = 3;
/// The binding strength of comparisons, which do not associate.
pub const COMPARISON: u8 = 4;
/// The weakest binding strength above the comparisons.
pub const ARITHMETIC: u8 = 5;
/// The binding strength of the sign `-`.
pub const SIGN: u8 = 11;
/// The binding strength of what needs no brackets anywhere.
pub const PRIMARY: u8 = 12;

/// Infix operators and their binding strength; of two spellings of the same
/// operator, the first one is printed.
const INFIX: [(&str, BinOp, u8); 20] = [
    ("or", BinOp::Or, 1),
    ("||", BinOp::Or, 1),
    ("and", BinOp::And, 2),
    ("&&", BinOp::And, 2),
    ("==", BinOp::Eq, COMPARISON),
    ("!=", BinOp::Ne, COMPARISON),
    ("<", BinOp::Lt, COMPARISON),
    ("<=", BinOp::Le, COMPARISON),
    (">", BinOp::Gt, COMPARISON),
    (">=", BinOp::Ge, COMPARISON),
    ("|", BinOp::BitOr, ARITHMETIC),
    ("^", BinOp::BitXor, 6),
    ("&", BinOp::BitAnd, 7),
    ("<<", BinOp::Shl, 8),
    (">>", BinOp::Shr, 8),
    ("+", BinOp::Add, 9),
    ("-", BinOp::Sub, 9),
    ("*", BinOp::Mul, 10),
    ("/", BinOp::Div, 10),
    ("%", BinOp::Mod, 10),
];

/// `fetch_…` operations. The ones after `max` exist so that every program can
/// be printed.
const FETCH: [(&str, BinOp); 21] = [
    ("fetch_add", BinOp::Add),
    ("fetch_sub", BinOp::Sub),
    ("fetch_and", BinOp::BitAnd),
    ("fetch_or", BinOp::BitOr),
    ("fetch_xor", BinOp::BitXor),
    ("fetch_min", BinOp::Min),
    ("fetch_max", BinOp::Max),
    ("fetch_mul", BinOp::Mul),
    ("fetch_div", BinOp::Div),
    ("fetch_mod", BinOp::Mod),
    ("fetch_shl", BinOp::Shl),
    ("fetch_shr", BinOp::Shr),
    ("fetch_eq", BinOp::Eq),
    ("fetch_ne", BinOp::Ne),
    ("fetch_lt", BinOp::Lt),
    ("fetch_le", BinOp::Le),
    ("fetch_gt", BinOp::Gt),
    ("fetch_ge", BinOp::Ge),
    ("fetch_both", BinOp::And),
    ("fetch_either", BinOp::Or),
    ("fetch_index", BinOp::Index),
];

/// Operators that are called like functions.
const CALLED: [(&str, BinOp); 3] =
    [("min", BinOp::Min), ("max", BinOp::Max), ("index", BinOp::Index)];

/// Everything that is called like a function.
pub fn call_names() -> impl Iterator<Item = &'static str> {
    ["cas", "cmpxchg", "swap", "update", "count"]
        .into_iter()
        .chain(CALLED.iter().map(|(name, _)| *name))
        .chain(FETCH.iter().map(|(name, _)| *name))
        .chain(IntType::ALL.iter().map(|int| int.name()))
}

/// The operator of an assignment that computes, as in `x += 1`.
pub fn updating(text: &str) -> Option<BinOp> {
    let (op, strength) = infix(text.strip_suffix('=')?)?;
    (strength >= ARITHMETIC).then_some(op)
}

/// The infix operator that is written so, and its binding strength.
pub fn infix(text: &str) -> Option<(BinOp, u8)> {
    INFIX.iter().find(|(name, ..)| *name == text).map(|&(_, op, strength)| (op, strength))
}

/// How an operator is written between its operands, and its binding strength;
/// `None` for the ones that are called like functions.
pub fn infix_text(op: BinOp) -> Option<(&'static str, u8)> {
    INFIX.iter().find(|(_, o, _)| *o == op).map(|&(name, _, strength)| (name, strength))
}

/// The operator that is called by that name.
pub fn called(name: &str) -> Option<BinOp> {
    CALLED.iter().find(|(n, _)| *n == name).map(|&(_, op)| op)
}

/// The name by which an operator is called that does not stand between its operands.
pub fn called_text(op: BinOp) -> &'static str {
    CALLED.iter().find(|(_, o)| *o == op).map_or("max", |(name, _)| name)
}

/// The atomic operation of that name.
pub fn atomic(name: &str) -> Option<Atomic> {
    match name {
        "cas" => Some(Atomic::Cas),
        "cmpxchg" => Some(Atomic::Cmpxchg),
        "swap" => Some(Atomic::Swap),
        "update" => Some(Atomic::Update),
        _ => FETCH.iter().find(|(n, _)| *n == name).map(|&(_, op)| Atomic::Fetch(op)),
    }
}

/// The name of an atomic operation that updates a variable with `op`.
pub fn fetch_text(op: BinOp) -> &'static str {
    FETCH.iter().find(|(_, o)| *o == op).map_or("fetch_add", |(name, _)| name)
}
