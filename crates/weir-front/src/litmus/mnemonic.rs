//! The names of instructions, and what each one does.
//!
//! Both dialects share them. A name may end in a size (`b`, `w`, `l`, `q`),
//! which changes nothing: values have no size here.

use weir_model::program::{BinOp, FenceKind};

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// `MOV`
    Move,
    /// `XCHG`; on memory it is atomic, locked or not.
    Exchange,
    /// `CMPXCHG`
    CompareExchange,
    /// `XADD`
    ExchangeAdd,
    /// Reads its destination and writes there what it computes.
    Update(Update),
    /// `CMP`
    Compare,
    /// `TEST`
    Test,
    /// `JMP`, or a jump on a condition.
    Jump(Option<Condition>),
    /// `CMOVcc`
    ConditionalMove(Condition),
    /// `SETcc`
    Set(Condition),
    /// `MFENCE`, `SFENCE`, `LFENCE`
    Fence(FenceKind),
    /// `NOP`
    Nop,
    /// `RET`: the thread ends.
    Return,
}

impl Operation {
    /// The condition that it depends on.
    pub fn condition(self) -> Option<Condition> {
        match self {
            Self::Jump(condition) => condition,
            Self::ConditionalMove(condition) | Self::Set(condition) => Some(condition),
            _ => None,
        }
    }
}

/// `destination = destination op source`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Update {
    pub op: BinOp,
    /// The source of an instruction that does not name one.
    pub implied: Option<i128>,
    pub flags: FlagRule,
}

/// What an update does to the flags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FlagRule {
    /// Nothing.
    Untouched,
    /// They tell of the result; no carry, for values do not wrap.
    Result,
    /// They tell of the result; the carry stays as it was.
    ResultKeepingCarry,
    /// They compare the destination with the source.
    Difference,
    /// They compare 0 with the destination.
    Negation,
}

/// A flag. Values have no size, so the sign of a comparison is never spoilt by
/// an overflow: "less" is `SF` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// Equal.
    Zero,
    /// Less, as signed numbers.
    Sign,
    /// Less, as unsigned numbers.
    Carry,
}

impl Flag {
    /// All flags.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Sign, Self::Carry];

    /// What the flag is called, as a register.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "ZF",
            Self::Sign => "SF",
            Self::Carry => "CF",
        }
    }
}

/// A condition: one of the flags is set, or (`negated`) none of them is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Condition {
    pub flags: &'static [Flag],
    pub negated: bool,
}

/// Names without size and condition, for suggestions.
pub(super) const NAMES: [&str; 30] = [
    "MOV", "XCHG", "CMPXCHG", "XADD", "ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC", "NEG", "NOT",
    "SHL", "CMP", "TEST", "JMP", "JE", "JNE", "JL", "JLE", "JG", "JGE", "JA", "JB", "MFENCE",
    "SFENCE", "LFENCE", "NOP", "LOCK",
];

/// The operation that a name stands for.
pub(super) fn operation(name: &str) -> Option<Operation> {
    let name = name.to_ascii_lowercase();
    exact(&name).or_else(|| {
        let sized = exact(name.strip_suffix(['b', 'w', 'l', 'q'])?)?;
        let has_size =
            !matches!(sized, Operation::Jump(_) | Operation::Set(_) | Operation::Fence(_));
        has_size.then_some(sized)
    })
}

fn exact(name: &str) -> Option<Operation> {
    use FlagRule::{Difference, Negation, Result, ResultKeepingCarry, Untouched};
    let update = |op, implied, flags| Operation::Update(Update { op, implied, flags });
    Some(match name {
        "mov" => Operation::Move,
        "xchg" => Operation::Exchange,
        "cmpxchg" => Operation::CompareExchange,
        "xadd" => Operation::ExchangeAdd,
        "add" => update(BinOp::Add, None, Result),
        "sub" => update(BinOp::Sub, None, Difference),
        "and" => update(BinOp::BitAnd, None, Result),
        "or" => update(BinOp::BitOr, None, Result),
        "xor" => update(BinOp::BitXor, None, Result),
        "shl" | "sal" => update(BinOp::Shl, None, Result),
        "inc" => update(BinOp::Add, Some(1), ResultKeepingCarry),
        "dec" => update(BinOp::Sub, Some(1), ResultKeepingCarry),
        "neg" => update(BinOp::Mul, Some(-1), Negation),
        "not" => update(BinOp::BitXor, Some(-1), Untouched),
        "cmp" => Operation::Compare,
        "test" => Operation::Test,
        "jmp" => Operation::Jump(None),
        "mfence" => Operation::Fence(FenceKind::Full),
        "sfence" => Operation::Fence(FenceKind::Write),
        "lfence" => Operation::Fence(FenceKind::Read),
        "nop" | "endbr64" => Operation::Nop,
        "ret" => Operation::Return,
        _ => {
            if let Some(code) = name.strip_prefix("cmov") {
                Operation::ConditionalMove(condition(code)?)
            } else if let Some(code) = name.strip_prefix("set") {
                Operation::Set(condition(code)?)
            } else {
                Operation::Jump(Some(condition(name.strip_prefix('j')?)?))
            }
        }
    })
}

/// The condition that a code at the end of a name stands for.
fn condition(code: &str) -> Option<Condition> {
    use Flag::{Carry, Sign, Zero};
    let (flags, negated): (&'static [Flag], bool) = match code {
        "e" | "z" => (&[Zero], false),
        "ne" | "nz" => (&[Zero], true),
        "l" | "lt" | "nge" | "s" => (&[Sign], false),
        "ge" | "nl" | "ns" => (&[Sign], true),
        "le" | "ng" => (&[Zero, Sign], false),
        "g" | "gt" | "nle" => (&[Zero, Sign], true),
        "b" | "c" | "nae" => (&[Carry], false),
        "ae" | "nb" | "nc" => (&[Carry], true),
        "be" | "na" => (&[Zero, Carry], false),
        "a" | "nbe" => (&[Zero, Carry], true),
        _ => return None,
    };
    Some(Condition { flags, negated })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_change_nothing() {
        for name in ["MOV", "movb", "movw", "movl", "MOVQ"] {
            assert_eq!(operation(name), Some(Operation::Move));
        }
        assert_eq!(operation("shl"), operation("shll"));
        assert_eq!(operation("cmovl"), operation("cmovlq"));
    }

    #[test]
    fn a_condition_is_not_taken_for_a_size() {
        assert_eq!(operation("setb"), operation("setc"));
        assert_eq!(operation("jb"), operation("JNAE"));
        for name in ["jel", "mfenceq", "j", "set", "cmov", "q", "", "lock", "movnti"] {
            assert_eq!(operation(name), None, "{name}");
        }
    }
}
