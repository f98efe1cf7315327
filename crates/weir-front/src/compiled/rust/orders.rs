//! Where a text names memory orders: `Ordering::Relaxed`, or `Relaxed` where that is imported.
//!
//! What an order belongs to is known from the method whose argument it is. In a constant, a macro or a call of a function of the
//! program it stays unknown. A bare name stays bare if the new one is imported too, and gets a path otherwise.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use weir_model::program::Order;

use super::syntax;
use crate::orders::{Access, OrderPlace, whole_line};

/// The names of orders.
const NAMES: [(&str, Order); 5] = [
    ("Relaxed", Order::Relaxed),
    ("Acquire", Order::Acquire),
    ("Release", Order::Release),
    ("AcqRel", Order::AcquireRelease),
    ("SeqCst", Order::SeqCst),
];

/// Tokens that are still to be read.
struct Level {
    trees: Vec<TokenTree>,
    at: usize,
    /// The name before the round brackets that these tokens stand in.
    call: Option<String>,
    /// How many orders were read among them.
    orders: usize,
    /// What the whole call is, from the beginning of its path to its bracket.
    whole: Range<usize>,
    /// Whether it is a statement that ends with a semicolon; the offset behind that.
    ends: Option<usize>,
    /// What the module around imports.
    imported: Rc<Imported>,
}

/// The places, in the order of the text.
pub fn orders(text: &str) -> Vec<OrderPlace> {
    let Ok(file) = syntax::parse(text) else { return Vec::new() };
    let imported = Rc::new(imported(&file));
    let mut places = Vec::new();
    let stream: TokenStream = quote::ToTokens::to_token_stream(&file);
    let mut open = vec![Level::new(stream, None, 0..0, None, imported)];
    while let Some(level) = open.last_mut() {
        let at = level.at;
        let Some(tree) = level.trees.get(at).cloned() else {
            open.pop();
            continue;
        };
        level.at += 1;
        match tree {
            TokenTree::Ident(word) if word == "use" => level.skip_import(),
            TokenTree::Ident(word) => {
                let Some(now) = order(&word.to_string()) else { continue };
                let access = level
                    .call
                    .as_deref()
                    .map_or(Some(Access::Unknown), |call| access(call, level.orders));
                level.orders += 1;
                let Some(access) = access else { continue };
                let range = word.span().byte_range();
                let is_bare = !level.is_colon(at, 1);
                let write = |order: &Order| {
                    if access == Access::Fence && *order == Order::Relaxed {
                        // A relaxed fence panics.
                        let Some(end) = level.ends else {
                            return Some((*order, vec![(level.whole.clone(), "()".to_owned())]));
                        };
                        let range = level.whole.start..end;
                        let line = whole_line(text, &range).unwrap_or(range);
                        return Some((*order, vec![(line, String::new())]));
                    }
                    let name = name(*order)?;
                    let is_known = !is_bare || level.imported.has(name);
                    let path = match is_known {
                        true => name.to_owned(),
                        false => format!("{}{name}", level.imported.path()),
                    };
                    Some((*order, vec![(range.clone(), path)]))
                };
                let others = access.orders().iter().filter(|order| **order != now);
                let others = others.filter_map(write).collect();
                places.push(OrderPlace { range, access, now, others });
            }
            TokenTree::Group(group) => {
                let is_call = group.delimiter() == Delimiter::Parenthesis;
                let name = at.checked_sub(1).filter(|_| is_call).map(|before| &level.trees[before]);
                let call = match name {
                    Some(TokenTree::Ident(word)) => Some(word.to_string()),
                    _ => None,
                };
                let begin = level.path_before(at);
                let start = level.trees[begin].span().byte_range().start;
                let whole = start..group.span().byte_range().end;
                let is_first = begin == 0 || level.is_end(begin - 1);
                let ends = level.trees.get(at + 1).filter(|_| is_first);
                let ends = ends.filter(|next| is_sign(next, ';'));
                let ends = ends.map(|next| next.span().byte_range().end);
                let imported = level.imported_in(at, &group);
                open.push(Level::new(group.stream(), call, whole, ends, imported));
            }
            _ => {}
        }
    }
    places.sort_by_key(|place| (place.range.start, place.range.end));
    places
}

impl Level {
    fn new(
        stream: TokenStream,
        call: Option<String>,
        whole: Range<usize>,
        ends: Option<usize>,
        imported: Rc<Imported>,
    ) -> Self {
        Self { trees: stream.into_iter().collect(), at: 0, call, orders: 0, whole, ends, imported }
    }

    /// What is imported in a group: a module has its own imports.
    fn imported_in(&self, at: usize, group: &Group) -> Rc<Imported> {
        let word = at.checked_sub(2).map(|before| &self.trees[before]);
        let is_module = matches!(word, Some(TokenTree::Ident(word)) if word == "mod");
        let own = is_module.then(|| syn::parse2::<syn::File>(group.stream()).ok()).flatten();
        own.map_or_else(|| self.imported.clone(), |file| Rc::new(imported(&file)))
    }

    /// Goes behind the end of an import.
    fn skip_import(&mut self) {
        while self.at < self.trees.len() && !is_sign(&self.trees[self.at], ';') {
            self.at += 1;
        }
    }

    fn is_colon(&self, at: usize, before: usize) -> bool {
        at.checked_sub(before).is_some_and(|at| is_sign(&self.trees[at], ':'))
    }

    /// Whether a token ends what stands before a statement.
    fn is_end(&self, at: usize) -> bool {
        match &self.trees[at] {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            tree => is_sign(tree, ';'),
        }
    }

    /// Where the path begins that ends before a token.
    fn path_before(&self, at: usize) -> usize {
        let mut begin = match at.checked_sub(1) {
            Some(before) if matches!(self.trees[before], TokenTree::Ident(_)) => before,
            _ => return at,
        };
        while begin >= 3 && self.is_colon(begin, 1) && self.is_colon(begin, 2) {
            match &self.trees[begin - 3] {
                TokenTree::Ident(_) => begin -= 3,
                _ => break,
            }
        }
        begin
    }
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(p) if p.as_char() == sign)
}

fn order(word: &str) -> Option<Order> {
    NAMES.into_iter().find(|(name, _)| *name == word).map(|(_, order)| order)
}

fn name(order: Order) -> Option<&'static str> {
    NAMES.into_iter().find(|(_, other)| *other == order).map(|(name, _)| name)
}

/// What an order belongs to that is an argument of a call, behind so many others. Nothing if it says nothing
/// about threads.
fn access(name: &str, before: usize) -> Option<Access> {
    Some(match name {
        "load" => Access::Load,
        "store" => Access::Store,
        "swap" | "compare_and_swap" => Access::ReadWrite,
        "compare_exchange" | "compare_exchange_weak" | "fetch_update" => match before {
            0 => Access::ReadWrite,
            _ => Access::Failure,
        },
        name if name.starts_with("fetch_") => Access::ReadWrite,
        "fence" => Access::Fence,
        "compiler_fence" => return None,
        _ => Access::Unknown,
    })
}

/// What a text imports.
struct Imported {
    /// The words of its imports.
    words: HashSet<String>,
    /// Whether it imports all orders.
    all: bool,
}

impl Imported {
    fn has(&self, name: &str) -> bool {
        self.all || self.words.contains(name)
    }

    /// The path of an order that is not imported.
    fn path(&self) -> &'static str {
        match self.words.contains("Ordering type") {
            true => "Ordering::",
            false => "std::sync::atomic::Ordering::",
        }
    }
}

/// What the imports of a text name, wherever they stand. `Ordering` counts if it is imported itself, with this name.
fn imported(file: &syn::File) -> Imported {
    let mut imported = Imported { words: HashSet::new(), all: false };
    for item in &file.items {
        let syn::Item::Use(item) = item else { continue };
        let mut open = vec![(&item.tree, false)];
        while let Some((tree, is_ordering)) = open.pop() {
            match tree {
                syn::UseTree::Path(path) => open.push((&path.tree, path.ident == "Ordering")),
                syn::UseTree::Name(name) if name.ident == "self" && is_ordering => {
                    imported.words.insert("Ordering type".to_owned());
                }
                syn::UseTree::Name(name) if name.ident == "Ordering" => {
                    imported.words.insert("Ordering type".to_owned());
                }
                syn::UseTree::Name(name) => {
                    imported.words.insert(name.ident.to_string());
                }
                syn::UseTree::Glob(_) => imported.all |= is_ordering,
                syn::UseTree::Group(group) => {
                    open.extend(group.items.iter().map(|tree| (tree, is_ordering)));
                }
                syn::UseTree::Rename(_) => {}
            }
        }
    }
    imported
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
    fn a_name_that_is_not_imported_gets_a_path() {
        let body = "fn f() { X.store(1, Relaxed); }";
        for (import, written) in [
            ("use std::sync::atomic::Ordering::*;", "X.store(1, Release)"),
            ("use std::sync::atomic::Ordering::{Relaxed, Release};", "X.store(1, Release)"),
            (
                "use std::sync::atomic::{Ordering::{self, Relaxed}};",
                "X.store(1, Ordering::Release)",
            ),
            (
                "use std::sync::atomic::Ordering::Relaxed;",
                "X.store(1, std::sync::atomic::Ordering::Release)",
            ),
        ] {
            let new = changed(&format!("{import} {body}"), Order::Release);
            assert_eq!(new.len(), 1);
            assert!(new[0].contains(written), "{}", new[0]);
        }
        let new = changed("fn f() { X.store(1, Ordering::Relaxed); }", Order::Release);
        assert!(new[0].contains("X.store(1, Ordering::Release)"), "{}", new[0]);
    }

    #[test]
    fn a_module_has_its_own_imports() {
        let text = "use std::sync::atomic::Ordering::*;\nmod order { use std::sync::atomic::Ordering; pub const O: Ordering = Ordering::Relaxed; \
            pub fn f() { X.store(1, Relaxed); } }";
        let new = changed(text, Order::Release);
        assert!(new[0].contains("= Ordering::Release;"), "{}", new[0]);
        assert!(new[1].contains("X.store(1, Ordering::Release)"), "{}", new[1]);
    }

    #[test]
    fn what_an_order_belongs_to_is_known_from_its_call() {
        let text = "const O: Ordering = Ordering::SeqCst;\nfn f() {\n    fence(Ordering::SeqCst);\n    \
            let _ = X.compare_exchange(0, g(1), Ordering::AcqRel, Ordering::Relaxed);\n    compiler_fence(Ordering::SeqCst);\n}\n";
        let found: Vec<(Access, Order)> =
            orders(text).into_iter().map(|p| (p.access, p.now)).collect();
        let expected = [
            (Access::Unknown, Order::SeqCst),
            (Access::Fence, Order::SeqCst),
            (Access::ReadWrite, Order::AcquireRelease),
            (Access::Failure, Order::Relaxed),
        ];
        assert_eq!(found, expected);
        // A relaxed fence is none.
        let without = changed(text, Order::Relaxed);
        assert!(without.iter().any(|text| text.contains("fn f() {\n    let _")), "{without:?}");
    }
}
