//! Where a text names memory orders, and where it could.
//!
//! `x` and `x = e` are relaxed and can be written `x.load(acquire)` and `x.store(e, release)`. Whether `x` is in memory is not known
//! here: with an order, a register is an error. `x += e` has no order, and no place.

use weir_model::program::Order;

use super::parse::{self, Ordered};
use super::{lexer, tree::Span};
use crate::errors::Errors;
use crate::orders::{Access, OrderPlace, Replacement, whole_line};

/// The places, in the order of the text.
pub fn orders(text: &str) -> Vec<OrderPlace> {
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = parse::file(&tokens, &mut errors);
    let mut places: Vec<OrderPlace> =
        parsed.ordered.iter().filter_map(|at| place(text, at)).collect();
    places.sort_by_key(|place| (place.range.start, place.range.end));
    places
}

fn place(text: &str, at: &Ordered) -> Option<OrderPlace> {
    let (range, access, now) = match at {
        Ordered::Word(span, access, now) => (span.range(), *access, *now),
        Ordered::Read(span) => (span.range(), Access::Load, Order::Relaxed),
        Ordered::Assigned(place, _) => (place.range(), Access::Store, Order::Relaxed),
        Ordered::Atomic(name, _) => (name.range(), Access::ReadWrite, Order::Fenced),
        Ordered::Fence(span, now) => (span.range(), Access::Fence, *now),
    };
    let others = access.orders().iter().filter(|order| **order != now && now != Order::Plain);
    let others = others.map(|order| (*order, written(text, at, *order))).collect();
    Some(OrderPlace { range, access, now, others })
}

/// How an order is written at a place.
fn written(text: &str, at: &Ordered, order: Order) -> Vec<Replacement> {
    let insert = |after: Span, what: String| (after.range().end..after.range().end, what);
    match at {
        Ordered::Word(span, ..) => vec![(span.range(), order.name().to_owned())],
        Ordered::Read(span) => vec![insert(*span, format!(".load({order})"))],
        Ordered::Assigned(place, value) => vec![
            (place.range().end..value.range().start, ".store(".to_owned()),
            insert(*value, format!(", {order})")),
        ],
        Ordered::Atomic(_, last) => vec![insert(*last, format!(", {order}"))],
        Ordered::Fence(span, _) => {
            let range = span.range();
            let is_word = !text[range.clone()].contains('(');
            let word = match order {
                Order::Relaxed => return vec![without(text, range)],
                Order::Acquire if is_word => "rfence".to_owned(),
                Order::Release if is_word => "wfence".to_owned(),
                Order::SeqCst if is_word => "fence".to_owned(),
                order => format!("fence({order})"),
            };
            vec![(range, word)]
        }
    }
}

/// A statement that is left out.
fn without(text: &str, range: std::ops::Range<usize>) -> Replacement {
    match whole_line(text, &range) {
        Some(line) => (line, String::new()),
        None => (range, "nop".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::replaced;

    /// The texts with one order changed.
    fn variants(text: &str, order: Order) -> Vec<String> {
        let change = |place: &OrderPlace| {
            let (_, edits) = place.others.iter().find(|(other, _)| *other == order)?;
            Some(replaced(text, edits).text)
        };
        orders(text).iter().filter_map(change).collect()
    }

    #[test]
    fn an_order_is_changed_or_inserted() {
        let text = "var x, y process p { reg r  r = x  y.store(x + 1, relaxed)  fence }";
        let acquire = [
            "var x, y process p { reg r  r = x.load(acquire)  y.store(x + 1, relaxed)  fence }",
            "var x, y process p { reg r  r = x  y.store(x.load(acquire) + 1, relaxed)  fence }",
            "var x, y process p { reg r  r = x  y.store(x + 1, relaxed)  rfence }",
        ];
        assert_eq!(variants(text, Order::Acquire), acquire);
        let release = [
            "var x, y process p { reg r.store(x, release)  y.store(x + 1, relaxed)  fence }",
            "var x, y process p { reg r  r = x  y.store(x + 1, release)  fence }",
            "var x, y process p { reg r  r = x  y.store(x + 1, relaxed)  wfence }",
        ];
        // The first one is no program: `r` is a register.
        assert_eq!(variants(text, Order::Release)[1..], release[1..]);
    }

    #[test]
    fn all_orders_of_nested_accesses_fit_together() {
        let text =
            "var a[2], x, y process p { a[x] = y; swap(a[y], x); a[1] = swap(x, 2, acquire) }";
        let strongest = |place: OrderPlace| place.others.into_iter().next_back();
        let mut edits: Vec<Replacement> = Vec::new();
        for (_, more) in orders(text).into_iter().rev().filter_map(strongest) {
            edits.extend(more);
        }
        let text = replaced(text, &edits).text;
        let expected = "var a[2], x, y process p { a[x.load(seq_cst)].store(y.load(seq_cst), seq_cst); \
            swap(a[y.load(seq_cst)], x.load(seq_cst), seq_cst); a[1].store(swap(x, 2, seq_cst), seq_cst) }";
        assert_eq!(text, expected);
        assert!(super::super::read("a.weir", &text).is_ok());
    }

    #[test]
    fn a_fence_alone_on_its_line_goes_with_it() {
        let text = "var x\nprocess p {\n    x = 1\n    fence(seq_cst)\n    x = 2; fence\n}\n";
        let without = variants(text, Order::Relaxed);
        assert_eq!(without[0], "var x\nprocess p {\n    x = 1\n    x = 2; fence\n}\n");
        assert!(without[1].contains("x = 2; nop\n"), "{}", without[1]);
    }
}
