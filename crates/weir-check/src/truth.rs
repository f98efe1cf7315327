//! Which states settle a question, by the definitions of the language, for checkers alone.
//!
//! Engines ask [`Question`] itself and [`weir_model::program::Expr::eval`]. The checkers use
//! neither: a mistake in the meaning of a formula would otherwise be on both sides of every
//! comparison. So the arithmetic of formulas, what a formula without a value means, and what a
//! deadlock is are written a second time here, from the language's reference page. What a question
//! asks ([`Kind`]), the transitions of a control state and its registers and labels are shared.

use weir_model::ids::{LabelId, ProcessId, StateId, ValueId, VarId};
use weir_model::program::{Atom, BinOp, Expr, Formula, IntType, LiveKind, Ltl, Quantifier, UnOp};
use weir_model::question::{Kind, Question};
use weir_model::system::{Excess, Failure, Seen, StateKind, System};

/// Whether a formula is true in a state; `None` if it has no value there.
pub(crate) fn truth(
    system: &System,
    formula: &Formula,
    controls: &[StateId],
    memory: &[ValueId],
) -> Option<bool> {
    let atom = |atom: &Atom| match *atom {
        Atom::Var(x) => system.value(x, memory[x.index()]),
        Atom::Reg(p, _) | Atom::At(p, _) => system.state(p, controls[p.index()]).atom(*atom),
    };
    value(formula, &atom).map(|number| number != 0)
}

/// Whether control states and memory settle a question, given that every write has reached memory
/// if the question is about states at rest.
pub(crate) fn is_settled(
    system: &System,
    question: &Question,
    controls: &[StateId],
    memory: &[ValueId],
) -> bool {
    let kind = |p: ProcessId| &system.state(p, controls[p.index()]).kind;
    let any = |test: fn(&StateKind) -> bool| system.process_ids().any(|p| test(kind(p)));
    let left = || any(|kind| matches!(kind, StateKind::Left(Excess::Bound { .. })));
    let failed = || any(|kind| matches!(kind, StateKind::Failed(_)));
    let raced = || any(|kind| matches!(kind, StateKind::Failed(Failure::Race)));
    let ended = || !any(|kind| !matches!(kind, StateKind::Ended));
    let truth = |formula: &Formula| truth(system, formula, controls, memory);
    // Whether a final state counts; `None` if its filter has no value.
    let counts = |filter: &Option<Formula>| match filter {
        Some(filter) => truth(filter),
        None => Some(true),
    };
    match &question.kind {
        Kind::Never(formula) => !left() && truth(formula).is_none_or(|is_true| is_true),
        Kind::Assertions => failed() && !raced(),
        Kind::Races => raced(),
        Kind::NoDeadlock(except) => {
            !failed()
                && system.process_ids().all(|p| is_stuck(system, p, controls[p.index()], memory))
                && !system.process_ids().all(|p| may_stay(system, p, controls[p.index()], except))
        }
        Kind::Final { quantifier, formula, filter } => {
            ended()
                && match (counts(filter), quantifier) {
                    (Some(false), _) => false,
                    (None, Quantifier::Exists) => false,
                    (None, Quantifier::Never | Quantifier::Always) => true,
                    (Some(true), Quantifier::Exists) => truth(formula) == Some(true),
                    (Some(true), Quantifier::Never) => truth(formula) != Some(false),
                    (Some(true), Quantifier::Always) => truth(formula) != Some(true),
                }
        }
        Kind::Valued { formula, filter } => {
            ended()
                && match counts(filter) {
                    Some(false) => false,
                    Some(true) => truth(formula).is_none(),
                    None => true,
                }
        }
        Kind::Bounds => left(),
        Kind::Within(states) => {
            let is_asked = !states.is_final || ended();
            is_asked && !states.contains(controls, memory)
        }
    }
}

/// Whether a process may stand at a control state in a state with this memory that settles a
/// question, whatever the others do.
pub(crate) fn may_settle_at(
    system: &System,
    question: &Question,
    (p, control): (ProcessId, StateId),
    memory: &[ValueId],
) -> bool {
    let kind = &system.state(p, control).kind;
    match &question.kind {
        Kind::Never(_) | Kind::Assertions | Kind::Races | Kind::Bounds => true,
        Kind::NoDeadlock(_) => {
            !matches!(kind, StateKind::Failed(_)) && is_stuck(system, p, control, memory)
        }
        Kind::Final { .. } | Kind::Valued { .. } => matches!(kind, StateKind::Ended),
        Kind::Within(states) => !states.is_final || matches!(kind, StateKind::Ended),
    }
}

/// Whether a process never gets further on a memory that does not change any more, with its buffer
/// empty: it has no step, or only rounds of an `await` whose condition does not become true.
pub(crate) fn is_stuck(
    system: &System,
    process: ProcessId,
    control: StateId,
    memory: &[ValueId],
) -> bool {
    let mut rounds = std::collections::BTreeSet::from([control]);
    let mut open = vec![control];
    while let Some(control) = open.pop() {
        let see = |x: VarId, _: bool| Seen::One(memory[x.index()]);
        for (_, step) in system.steps(process, control, see) {
            if !step.waits {
                return false;
            }
            if rounds.insert(step.to) {
                open.push(step.to);
            }
        }
    }
    true
}

fn may_stay(
    system: &System,
    process: ProcessId,
    control: StateId,
    except: &[(ProcessId, LabelId)],
) -> bool {
    let state = system.state(process, control);
    let is_excepted = |label: &LabelId| except.contains(&(process, *label));
    matches!(state.kind, StateKind::Ended) || state.labels.iter().any(is_excepted)
}

/// Whether every formula of a question about infinite runs has a value in a state.
pub(crate) fn has_values(
    system: &System,
    kind: &LiveKind,
    controls: &[StateId],
    memory: &[ValueId],
) -> bool {
    let has_value = |formula: &Formula| truth(system, formula, controls, memory).is_some();
    match kind {
        LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => has_value(f),
        LiveKind::Terminates => true,
        LiveKind::Ltl { formula, .. } => all_states(formula, &has_value),
    }
}

fn all_states(formula: &Ltl, test: &dyn Fn(&Formula) -> bool) -> bool {
    match formula {
        Ltl::State(formula) => test(formula),
        _ => formula.parts().into_iter().all(|part| all_states(part, test)),
    }
}

/// The value of a formula, `None` if it has none. Recursive: readers bound how deep formulas nest.
fn value(formula: &Formula, atom: &dyn Fn(&Atom) -> i128) -> Option<i128> {
    Some(match formula {
        Expr::Const(number) => *number,
        Expr::Atom(a) => atom(a),
        Expr::Unary(op, e) => {
            let e = value(e, atom)?;
            match op {
                UnOp::Neg => exact(0i128.overflowing_sub(e))?,
                UnOp::Not => number(e == 0),
                UnOp::Wrap(int) => wrapped(*int, e),
            }
        }
        Expr::Binary(op, a, b) => {
            let a = value(a, atom)?;
            match op {
                BinOp::And if a == 0 => return Some(0),
                BinOp::Or if a != 0 => return Some(1),
                _ => {}
            }
            let b = value(b, atom)?;
            match op {
                BinOp::And | BinOp::Or => number(b != 0),
                BinOp::Add => exact(a.overflowing_add(b))?,
                BinOp::Sub => exact(a.overflowing_sub(b))?,
                BinOp::Mul => exact(a.overflowing_mul(b))?,
                BinOp::Div | BinOp::Mod if b == 0 => return None,
                BinOp::Div => exact(a.overflowing_div(b))?,
                BinOp::Mod => modulo(a, b),
                BinOp::BitAnd => a & b,
                BinOp::BitOr => a | b,
                BinOp::BitXor => a ^ b,
                BinOp::Shl | BinOp::Shr if !(0..128).contains(&b) => return None,
                // Doubled so many times; `2^127` itself is no number.
                BinOp::Shl if b == 127 => return None,
                BinOp::Shl => {
                    let mut shifted = a;
                    for _ in 0..b {
                        shifted = exact(shifted.overflowing_add(shifted))?;
                    }
                    shifted
                }
                // Halved so many times, rounded down.
                BinOp::Shr => (0..b).fold(a, |shifted, _| shifted.div_euclid(2)),
                BinOp::Eq => number(a == b),
                BinOp::Ne => number(a != b),
                BinOp::Lt => number(a < b),
                BinOp::Le => number(a <= b),
                BinOp::Gt => number(a > b),
                BinOp::Ge => number(a >= b),
                BinOp::Min => {
                    if a <= b {
                        a
                    } else {
                        b
                    }
                }
                BinOp::Max => {
                    if a >= b {
                        a
                    } else {
                        b
                    }
                }
                BinOp::Index if a < 0 || a >= b => return None,
                BinOp::Index => a,
            }
        }
    })
}

fn number(is_true: bool) -> i128 {
    if is_true { 1 } else { 0 }
}

fn exact((value, overflows): (i128, bool)) -> Option<i128> {
    if overflows { None } else { Some(value) }
}

/// `a % b`, with the sign of `b`.
fn modulo(a: i128, b: i128) -> i128 {
    // -MIN is no number, but then every remainder is 0.
    if b == -1 {
        return 0;
    }
    // From 0 up to the size of `b`.
    let rest = a.rem_euclid(b);
    if b < 0 && rest > 0 { rest + b } else { rest }
}

/// The number of a type with the same lowest bits.
fn wrapped(int: IntType, e: i128) -> i128 {
    let (bits, signed) = match int {
        IntType::U8 => (8, false),
        IntType::U16 => (16, false),
        IntType::U32 => (32, false),
        IntType::U64 => (64, false),
        IntType::I8 => (8, true),
        IntType::I16 => (16, true),
        IntType::I32 => (32, true),
        IntType::I64 => (64, true),
    };
    let size = 1i128 << bits;
    let low = e.rem_euclid(size);
    if signed && low >= size / 2 { low - size } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both evaluations on all small numbers and on those at the ends of the range.
    #[test]
    fn arithmetic_is_that_of_the_engines() {
        let numbers = [
            0,
            1,
            -1,
            2,
            -2,
            3,
            -5,
            7,
            126,
            127,
            128,
            255,
            256,
            -129,
            1 << 63,
            -(1 << 63),
            i128::MAX,
            i128::MAX - 1,
            i128::MIN,
            i128::MIN + 1,
            i128::MAX / 2,
        ];
        let binary = [
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::Div,
            BinOp::Mod,
            BinOp::BitAnd,
            BinOp::BitOr,
            BinOp::BitXor,
            BinOp::Shl,
            BinOp::Shr,
            BinOp::Eq,
            BinOp::Ne,
            BinOp::Lt,
            BinOp::Le,
            BinOp::Gt,
            BinOp::Ge,
            BinOp::And,
            BinOp::Or,
            BinOp::Min,
            BinOp::Max,
            BinOp::Index,
        ];
        let unary = [UnOp::Neg, UnOp::Not].into_iter().chain(IntType::ALL.map(UnOp::Wrap));
        let none = |_: &Atom| unreachable!("there are no atoms");
        let same = |formula: Formula| {
            let engines = formula.eval(&mut |_| 0).ok();
            assert_eq!(value(&formula, &none), engines, "{formula:?}");
        };
        for op in unary {
            numbers.iter().for_each(|a| same(Expr::unary(op, Expr::Const(*a))));
        }
        for op in binary {
            for a in numbers {
                numbers
                    .iter()
                    .for_each(|b| same(Expr::binary(op, Expr::Const(a), Expr::Const(*b))));
            }
        }
    }
}
