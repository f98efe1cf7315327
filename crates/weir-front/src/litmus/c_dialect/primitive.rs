//! The functions and macros that tests in C call, by name: those of C11 and those of the Linux kernel.
//!
//! A primitive of the kernel is read as an operation of C11. `docs/litmus.md` says where the kernel's own
//! memory model is weaker or stronger.

use weir_model::program::{BinOp, FenceKind, Order};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Primitive {
    /// Reads a place.
    Load(Access),
    /// Writes a place.
    Store(Access),
    /// Writes a place, and is a full fence behind that.
    StoreFence,
    /// A fence of the kernel.
    Fence(FenceKind),
    /// `atomic_thread_fence(order)`.
    ThreadFence,
    /// `synchronize_rcu()`: a full fence where no critical section of RCU is in the test.
    GracePeriod,
    /// Orders nothing between threads; the number of arguments.
    Nothing(usize),
    /// Writes a value and gives the old one.
    Exchange(Access),
    /// `old op e` is written.
    Fetch { op: BinOp, operand: Operand, result: Outcome, order: Orders },
    /// Compare-exchange of C: `(p, &expected, new, …)`, which gives whether it has written.
    CompareExchange { is_weak: bool, order: Orders },
    /// Compare-exchange of the kernel: `(p, expected, new)`, which gives the old value.
    Cmpxchg(Order),
    /// `(p, &expected, new)`, which gives whether it has written.
    TryCmpxchg(Order),
    /// `(p, a, u)`: adds `a` unless the value is `u`; gives whether it has, or the old value.
    AddUnless { is_fetch: bool },
    /// `(p)`: adds 1 unless the value is 0, and gives whether it has.
    IncrementNotZero,
    /// Waits until a lock is free, and takes it.
    Lock,
    /// Releases a lock.
    Unlock,
    /// Takes a lock if it is free, and gives whether it was.
    TryLock,
    /// Whether somebody has a lock.
    IsLocked,
}

/// How a place is written in a call, and its order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Access {
    /// `READ_ONCE(*x)` names the place, `atomic_read(x)` a pointer to it.
    pub is_place: bool,
    pub order: Orders,
}

/// Where the order of a call comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Orders {
    Fixed(Order),
    /// From its last argument, or its last two.
    Argument,
}

/// The operand of an arithmetic operation, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    /// There is none: it is 1.
    One,
    /// `(p, e)`, as in C11.
    Second,
    /// `(e, p)`, as in the kernel.
    First,
    /// Either: C11 and the kernel have a function of this name. The pointer tells which one is meant.
    Either,
    /// `(e, p)`, and the operand is the complement of `e`.
    Complement,
}

/// What an arithmetic operation gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    Old,
    New,
    IsZero,
    IsNegative,
}

/// The primitive with a name, and whether it is of the kernel.
pub(super) fn find(name: &str) -> Option<(Primitive, bool)> {
    let name = name.strip_prefix("std::").unwrap_or(name);
    if let Some(found) = c11(name) {
        return Some((found, false));
    }
    kernel(name).or_else(|| kernel_atomic(name)).map(|found| (found, true))
}

fn c11(name: &str) -> Option<Primitive> {
    let (base, order) = match name.strip_suffix("_explicit") {
        Some(base) => (base, Orders::Argument),
        None => (name, Orders::Fixed(Order::SeqCst)),
    };
    let access = Access { is_place: false, order };
    let fetch = |op| Primitive::Fetch { op, operand: Operand::Second, result: Outcome::Old, order };
    Some(match base {
        "atomic_load" => Primitive::Load(access),
        "atomic_store" => Primitive::Store(access),
        "atomic_exchange" => Primitive::Exchange(access),
        "atomic_compare_exchange_strong" => Primitive::CompareExchange { is_weak: false, order },
        "atomic_compare_exchange_weak" => Primitive::CompareExchange { is_weak: true, order },
        _ if name.ends_with("_explicit") => fetch(operator(base.strip_prefix("atomic_fetch_")?)?),
        "atomic_init" => {
            Primitive::Store(Access { is_place: false, order: Orders::Fixed(Order::Plain) })
        }
        "atomic_thread_fence" => Primitive::ThreadFence,
        "atomic_signal_fence" => Primitive::Nothing(1),
        "lock" => Primitive::Lock,
        "unlock" => Primitive::Unlock,
        _ => return None,
    })
}

/// Primitives of the kernel that are not arithmetic.
fn kernel(name: &str) -> Option<Primitive> {
    let by = |is_place, order| Access { is_place, order: Orders::Fixed(order) };
    let (base, order) = suffixed(name);
    match base {
        "xchg" => {
            return Some(Primitive::Exchange(Access {
                is_place: false,
                order: Orders::Fixed(order),
            }));
        }
        "cmpxchg" => return Some(Primitive::Cmpxchg(order)),
        "try_cmpxchg" => return Some(Primitive::TryCmpxchg(order)),
        _ => {}
    }
    Some(match name {
        "READ_ONCE" | "rcu_dereference" => Primitive::Load(by(true, Order::Relaxed)),
        "WRITE_ONCE" => Primitive::Store(by(true, Order::Relaxed)),
        "rcu_assign_pointer" => Primitive::Store(by(true, Order::Release)),
        "smp_load_acquire" => Primitive::Load(by(false, Order::Acquire)),
        "smp_store_release" => Primitive::Store(by(false, Order::Release)),
        "smp_store_mb" => Primitive::StoreFence,
        "smp_mb"
        | "smp_mb__before_atomic"
        | "smp_mb__after_atomic"
        | "smp_mb__after_spinlock"
        | "smp_mb__after_unlock_lock" => Primitive::Fence(FenceKind::Full),
        "smp_rmb" => Primitive::Fence(FenceKind::Read),
        "smp_wmb" => Primitive::Fence(FenceKind::Write),
        "barrier" | "rcu_read_lock" | "rcu_read_unlock" => Primitive::Nothing(0),
        "synchronize_rcu" | "synchronize_rcu_expedited" => Primitive::GracePeriod,
        "spin_lock" => Primitive::Lock,
        "spin_unlock" => Primitive::Unlock,
        "spin_trylock" => Primitive::TryLock,
        "spin_is_locked" => Primitive::IsLocked,
        _ => return None,
    })
}

/// `atomic_*` of the kernel.
fn kernel_atomic(name: &str) -> Option<Primitive> {
    let prefixes = ["atomic_long_", "atomic64_", "atomic_"];
    let whole = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let (base, order) = suffixed(whole);
    let orders = Orders::Fixed(order);
    let is_suffixed = base != whole;
    let relaxed = |order| Access { is_place: false, order: Orders::Fixed(order) };
    let fetch = |op, operand, result| Primitive::Fetch { op, operand, result, order: orders };
    Some(match base {
        "read" if !is_suffixed => Primitive::Load(relaxed(Order::Relaxed)),
        "read" if order == Order::Acquire => Primitive::Load(relaxed(order)),
        "set" if !is_suffixed => Primitive::Store(relaxed(Order::Relaxed)),
        "set" if order == Order::Release => Primitive::Store(relaxed(order)),
        "xchg" => Primitive::Exchange(relaxed(order)),
        "cmpxchg" => Primitive::Cmpxchg(order),
        "try_cmpxchg" => Primitive::TryCmpxchg(order),
        "inc_return" => fetch(BinOp::Add, Operand::One, Outcome::New),
        "dec_return" => fetch(BinOp::Sub, Operand::One, Outcome::New),
        "fetch_inc" => fetch(BinOp::Add, Operand::One, Outcome::Old),
        "fetch_dec" => fetch(BinOp::Sub, Operand::One, Outcome::Old),
        "add_return" => fetch(BinOp::Add, Operand::First, Outcome::New),
        "sub_return" => fetch(BinOp::Sub, Operand::First, Outcome::New),
        "fetch_andnot" => fetch(BinOp::BitAnd, Operand::Complement, Outcome::Old),
        _ => match base.strip_prefix("fetch_").and_then(operator) {
            Some(op) if is_suffixed => fetch(op, Operand::First, Outcome::Old),
            Some(op) => fetch(op, Operand::Either, Outcome::Old),
            None if is_suffixed => return None,
            None => return unordered_or_test(base),
        },
    })
}

/// Operations of the kernel without variants.
fn unordered_or_test(base: &str) -> Option<Primitive> {
    let fetch = |op, operand, result, order| Primitive::Fetch {
        op,
        operand,
        result,
        order: Orders::Fixed(order),
    };
    let full = |op, operand, result| fetch(op, operand, result, Order::Fenced);
    let unordered = |op, operand| fetch(op, operand, Outcome::Old, Order::Relaxed);
    Some(match base {
        "inc" => unordered(BinOp::Add, Operand::One),
        "dec" => unordered(BinOp::Sub, Operand::One),
        "andnot" => unordered(BinOp::BitAnd, Operand::Complement),
        "inc_and_test" => full(BinOp::Add, Operand::One, Outcome::IsZero),
        "dec_and_test" => full(BinOp::Sub, Operand::One, Outcome::IsZero),
        "sub_and_test" => full(BinOp::Sub, Operand::First, Outcome::IsZero),
        "add_negative" => full(BinOp::Add, Operand::First, Outcome::IsNegative),
        "add_unless" => Primitive::AddUnless { is_fetch: false },
        "fetch_add_unless" => Primitive::AddUnless { is_fetch: true },
        "inc_not_zero" => Primitive::IncrementNotZero,
        _ => unordered(operator(base)?, Operand::First),
    })
}

/// The order that the end of a name says; without one an operation is a full fence.
fn suffixed(name: &str) -> (&str, Order) {
    let suffixes =
        [("_relaxed", Order::Relaxed), ("_acquire", Order::Acquire), ("_release", Order::Release)];
    suffixes
        .iter()
        .find_map(|(suffix, order)| Some((name.strip_suffix(suffix)?, *order)))
        .unwrap_or((name, Order::Fenced))
}

fn operator(name: &str) -> Option<BinOp> {
    Some(match name {
        "add" => BinOp::Add,
        "sub" => BinOp::Sub,
        "and" => BinOp::BitAnd,
        "or" => BinOp::BitOr,
        "xor" => BinOp::BitXor,
        _ => return None,
    })
}

/// The order that an argument names.
pub(super) fn order(name: &str) -> Option<Order> {
    Some(match name.strip_prefix("memory_order_")? {
        "relaxed" => Order::Relaxed,
        // As every compiler reads it.
        "consume" | "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::AcquireRelease,
        "seq_cst" => Order::SeqCst,
        _ => return None,
    })
}

/// Names for suggestions.
pub(super) const NAMES: [&str; 24] = [
    "READ_ONCE",
    "WRITE_ONCE",
    "smp_load_acquire",
    "smp_store_release",
    "smp_store_mb",
    "smp_mb",
    "smp_rmb",
    "smp_wmb",
    "rcu_dereference",
    "rcu_assign_pointer",
    "rcu_read_lock",
    "rcu_read_unlock",
    "xchg",
    "cmpxchg",
    "spin_lock",
    "spin_unlock",
    "atomic_load_explicit",
    "atomic_store_explicit",
    "atomic_exchange_explicit",
    "atomic_fetch_add_explicit",
    "atomic_compare_exchange_strong_explicit",
    "atomic_thread_fence",
    "atomic_load",
    "atomic_store",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_order_operand_and_result() {
        let fetch = |op, operand, result, order| {
            Some((Primitive::Fetch { op, operand, result, order: Orders::Fixed(order) }, true))
        };
        use Outcome::{IsZero, New, Old};
        for (name, want) in [
            ("atomic_inc", fetch(BinOp::Add, Operand::One, Old, Order::Relaxed)),
            ("atomic_and", fetch(BinOp::BitAnd, Operand::First, Old, Order::Relaxed)),
            ("atomic64_inc_return", fetch(BinOp::Add, Operand::One, New, Order::Fenced)),
            ("atomic_sub_return_release", fetch(BinOp::Sub, Operand::First, New, Order::Release)),
            ("atomic_fetch_or_acquire", fetch(BinOp::BitOr, Operand::First, Old, Order::Acquire)),
            ("atomic_fetch_xor", fetch(BinOp::BitXor, Operand::Either, Old, Order::Fenced)),
            ("atomic_dec_and_test", fetch(BinOp::Sub, Operand::One, IsZero, Order::Fenced)),
            ("cmpxchg_acquire", Some((Primitive::Cmpxchg(Order::Acquire), true))),
            ("atomic_cmpxchg", Some((Primitive::Cmpxchg(Order::Fenced), true))),
        ] {
            assert_eq!(find(name), want, "{name}");
        }
        for name in ["atomic_inc_relaxed", "atomic_read_release", "atomic_set_acquire", "kfree"] {
            assert_eq!(find(name), None, "{name}");
        }
        assert!(NAMES.iter().all(|name| find(name).is_some()));
    }
}
