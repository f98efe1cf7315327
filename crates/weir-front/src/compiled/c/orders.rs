//! Where a text names memory orders, and where it could: `memory_order_relaxed`, also with `std::` or as `memory_order::relaxed`, and
//! `__ATOMIC_RELAXED`; and atomic functions without an order, which are `seq_cst`.
//!
//! What an order belongs to is known from the function whose argument it is. In a macro or a variable it stays unknown. Operators
//! on `_Atomic` objects and `__sync` functions have no place.

use weir_model::program::Order;

use super::token::{Kind, Token, tokens};
use crate::orders::{Access, OrderPlace, Replacement, whole_line};

/// The names of orders in the standard, and those of the builtins.
const NAMES: [(&str, &str, Order); 6] = [
    ("relaxed", "RELAXED", Order::Relaxed),
    ("consume", "CONSUME", Order::Acquire),
    ("acquire", "ACQUIRE", Order::Acquire),
    ("release", "RELEASE", Order::Release),
    ("acq_rel", "ACQ_REL", Order::AcquireRelease),
    ("seq_cst", "SEQ_CST", Order::SeqCst),
];

/// How a text writes an order: what stands before the name of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `memory_order_`
    Standard,
    /// `__ATOMIC_`
    Builtin,
    /// `memory_order::`, which stays.
    Scoped,
}

/// A bracket that is open.
struct Frame {
    /// The token before it, if it is a name and the bracket is round.
    name: Option<usize>,
    /// How many orders were read in it.
    orders: usize,
    /// Whether anything was read in it.
    is_empty: bool,
}

/// The places, in the order of the text.
pub fn orders(text: &str) -> Vec<OrderPlace> {
    let Ok(list) = tokens(text, 0) else { return Vec::new() };
    let mut places = Vec::new();
    let mut open: Vec<Frame> = Vec::new();
    for (at, token) in list.iter().enumerate() {
        match &*token.text {
            "(" | "[" | "{" if token.kind == Kind::Sign => {
                if let Some(frame) = open.last_mut() {
                    frame.is_empty = false;
                }
                let name = at.checked_sub(1).filter(|_| token.is("("));
                let name = name.filter(|before| list[*before].kind == Kind::Name);
                open.push(Frame { name, orders: 0, is_empty: true });
                continue;
            }
            ")" | "]" | "}" if token.kind == Kind::Sign => {
                let closed = open.pop();
                places.extend(closed.and_then(|frame| unwritten(&list, &frame, at)));
                continue;
            }
            _ => {}
        }
        let frame = open.last_mut();
        let name = frame.as_ref().and_then(|frame| frame.name);
        let before = frame.as_ref().map_or(0, |frame| frame.orders);
        if let Some((now, style)) = named(&list, at) {
            let access =
                name.map_or(Some(Access::Unknown), |name| access(&list[name].text, before));
            let range = token.range.clone();
            places.extend(access.map(|access| {
                let is_other = |order: &&Order| **order != now;
                let others = access.orders().iter().filter(is_other);
                let write = |order: &Order| (*order, vec![(range.clone(), spelled(*order, style))]);
                OrderPlace {
                    range: range.clone(),
                    access,
                    now,
                    others: others.map(write).collect(),
                }
            }));
        }
        if let Some(frame) = frame {
            frame.orders += usize::from(named(&list, at).is_some());
            frame.is_empty = false;
        }
    }
    for place in places.iter_mut().filter(|place| place.access == Access::Fence) {
        without_fence(text, &list, place);
    }
    places.sort_by_key(|place| (place.range.start, place.range.end));
    places
}

/// The order that a token names.
fn named(list: &[Token], at: usize) -> Option<(Order, Style)> {
    let token = list.get(at).filter(|token| token.kind == Kind::Name)?;
    let find = |word: &str| NAMES.into_iter().find(|(name, ..)| *name == word);
    if let Some(word) = token.text.strip_prefix("memory_order_") {
        return find(word).map(|(.., order)| (order, Style::Standard));
    }
    if let Some(word) = token.text.strip_prefix("__ATOMIC_") {
        let found = NAMES.into_iter().find(|(_, name, _)| *name == word);
        return found.map(|(.., order)| (order, Style::Builtin));
    }
    let is_scoped =
        at >= 3 && list[at - 1].is(":") && list[at - 2].is(":") && list[at - 3].is("memory_order");
    let found = find(&token.text).filter(|_| is_scoped);
    found.map(|(.., order)| (order, Style::Scoped))
}

/// How an order is written.
fn spelled(order: Order, style: Style) -> String {
    let name = NAMES.into_iter().find(|(name, _, other)| *other == order && *name != "consume");
    let (standard, builtin, _) = name.expect("every order that is written has a name");
    match style {
        Style::Standard => format!("memory_order_{standard}"),
        Style::Builtin => format!("__ATOMIC_{builtin}"),
        Style::Scoped => standard.to_owned(),
    }
}

/// What an atomic function does, without what its name begins and ends with.
fn function(name: &str) -> Option<&str> {
    let word = name.strip_suffix("_explicit").unwrap_or(name);
    let word = word.strip_prefix("__").unwrap_or(word);
    let word = word.strip_prefix("c11_").unwrap_or(word);
    let word = word.strip_prefix("atomic_").unwrap_or(word);
    Some(word.strip_suffix("_n").unwrap_or(word))
}

/// What an order belongs to that is an argument of a function, behind so many others. Nothing if it says nothing
/// about threads.
fn access(name: &str, before: usize) -> Option<Access> {
    Some(match function(name)? {
        "load" => Access::Load,
        "store" | "flag_clear" | "clear" => Access::Store,
        "exchange" | "flag_test_and_set" | "test_and_set" => Access::ReadWrite,
        word if word.starts_with("compare_exchange") && before == 0 => Access::ReadWrite,
        word if word.starts_with("compare_exchange") => Access::Failure,
        word if word.starts_with("fetch_") || word.ends_with("_fetch") => Access::ReadWrite,
        "thread_fence" => Access::Fence,
        "signal_fence" | "init" => return None,
        _ => Access::Unknown,
    })
}

/// The order of a call of an atomic function that names none.
fn unwritten(list: &[Token], frame: &Frame, close: usize) -> Option<OrderPlace> {
    let at = frame.name.filter(|_| frame.orders == 0 && !frame.is_empty)?;
    let token = &list[at];
    let is_defined = at > 0 && list[at - 1].is("define");
    let is_explicit = !token.text.starts_with("atomic_") || token.text.ends_with("_explicit");
    if is_defined || is_explicit || list[close].range.start < token.range.end {
        return None;
    }
    let access = match access(&token.text, 0)? {
        Access::Unknown | Access::Fence => return None,
        access => access,
    };
    let (name, end) = (token.range.end, list[close].range.start);
    let is_exchange = token.text.starts_with("atomic_compare_exchange");
    let others = access.orders().iter().filter(|order| **order != Order::SeqCst).map(|&order| {
        let mut arguments = format!(", {}", spelled(order, Style::Standard));
        if is_exchange {
            // If it fails, the order is what is left of this one without the write.
            arguments += &format!(", {}", spelled(order.of_failure(), Style::Standard));
        }
        (order, vec![(name..name, "_explicit".to_owned()), (end..end, arguments)])
    });
    let others = others.collect();
    Some(OrderPlace { range: token.range.clone(), access, now: Order::SeqCst, others })
}

/// A fence without an order is left out if it is a statement on a line of its own.
fn without_fence(text: &str, list: &[Token], place: &mut OrderPlace) {
    let at = list.partition_point(|token| token.range.start < place.range.start);
    let first = list[..at].iter().rposition(|token| token.is("("));
    let first = first.and_then(|open| open.checked_sub(1));
    let last = list[at..].iter().take(3).position(|token| token.is(";"));
    let (Some(first), Some(last)) = (first, last) else { return };
    let range = list[first].range.start..list[at + last].range.end;
    let Some(line) = whole_line(text, &range) else { return };
    let edits: &mut Vec<(Order, Vec<Replacement>)> = &mut place.others;
    for (_, edits) in edits.iter_mut().filter(|(order, _)| *order == Order::Relaxed) {
        *edits = vec![(line.clone(), String::new())];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::replaced;

    fn changed(text: &str, order: Order) -> Vec<String> {
        let change = |place: &OrderPlace| {
            let (_, edits) = place.others.iter().find(|(other, _)| *other == order)?;
            Some(replaced(text, edits).text)
        };
        orders(text).iter().filter_map(change).collect()
    }

    #[test]
    fn orders_are_found_in_every_style_and_only_in_code() {
        let text = "// memory_order_relaxed\nvoid f(void) { puts(\"memory_order_relaxed\");\n\
            atomic_store_explicit(&x, 1, memory_order_relaxed); __atomic_load_n(&x, __ATOMIC_RELAXED);\n\
            x.store(1, std::memory_order::relaxed); x.load(std::memory_order_relaxed); }";
        let found: Vec<(Access, &str)> =
            orders(text).into_iter().map(|p| (p.access, &text[p.range])).collect();
        let expected = [
            (Access::Store, "memory_order_relaxed"),
            (Access::Load, "__ATOMIC_RELAXED"),
            (Access::Store, "relaxed"),
            (Access::Load, "memory_order_relaxed"),
        ];
        assert_eq!(found, expected);
        let strong = changed(text, Order::SeqCst);
        assert!(strong[1].contains("(&x, __ATOMIC_SEQ_CST)"), "{}", strong[1]);
        assert!(strong[2].contains("std::memory_order::seq_cst"), "{}", strong[2]);
    }

    #[test]
    fn functions_without_an_order_become_explicit() {
        let text = "void f(void) { atomic_store(&x, g(1)); atomic_compare_exchange_strong(&x, &e, 2); atomic_init(&x, 0); }";
        let release = changed(text, Order::Release);
        let store = "atomic_store_explicit(&x, g(1), memory_order_release);";
        assert!(release[0].contains(store), "{}", release[0]);
        let exchange = "atomic_compare_exchange_strong_explicit(&x, &e, 2, memory_order_release, memory_order_relaxed);";
        assert!(release[1].contains(exchange), "{}", release[1]);
        assert_eq!(release.len(), 2);
    }

    #[test]
    fn the_second_order_of_a_compare_exchange_is_that_of_a_failure() {
        let text = "int f() { return atomic_compare_exchange_weak_explicit(&x, &e, g(memory_order_acquire), \
            memory_order_acq_rel, memory_order_relaxed); }";
        let found: Vec<(Access, Order)> =
            orders(text).into_iter().map(|p| (p.access, p.now)).collect();
        let expected = [
            (Access::Unknown, Order::Acquire),
            (Access::ReadWrite, Order::AcquireRelease),
            (Access::Failure, Order::Relaxed),
        ];
        assert_eq!(found, expected);
    }
}
