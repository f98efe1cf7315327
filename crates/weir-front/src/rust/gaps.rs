//! Where fences can be inserted: before each statement of a block, and at its end if the block has
//! no value.

use proc_macro2::{Delimiter, Group, TokenTree};
use syn::{Expr, Stmt};

use super::syntax;
use crate::Gap;

/// The gaps of a text.
pub fn gaps(text: &str) -> Vec<Gap> {
    let Ok(file) = syntax::parse(text) else { return Vec::new() };
    let mut gaps = Vec::new();
    for item in &file.items {
        // Blocks are found by their braces. The braces of a `match`, of a struct or of a macro do
        // not contain statements.
        if matches!(item, syn::Item::Fn(_) | syn::Item::Impl(_) | syn::Item::Mod(_)) {
            syntax::tokens(item, &mut |token| {
                if let TokenTree::Group(group) = token
                    && group.delimiter() == Delimiter::Brace
                {
                    block(text, group, &mut gaps);
                }
            });
        }
    }
    gaps.sort_by_key(|gap| gap.at);
    gaps
}

fn block(text: &str, group: &Group, gaps: &mut Vec<Gap>) {
    let parse = syn::Block::parse_within;
    let Ok(stmts) = syn::parse::Parser::parse2(parse, group.stream()) else { return };
    // `S { x }` and `S { ..rest }` look like blocks.
    if let [Stmt::Expr(Expr::Path(_) | Expr::Range(_), None)] = &stmts[..] {
        return;
    }
    for stmt in stmts.iter().filter(|stmt| !matches!(stmt, Stmt::Item(_))) {
        let start = syntax::range(stmt).start;
        gaps.push(Gap::before(text, start, start, ""));
    }
    let is_unit = match stmts.last() {
        Some(Stmt::Local(_) | Stmt::Expr(_, Some(_))) => true,
        Some(Stmt::Macro(stmt)) => stmt.semi_token.is_some(),
        _ => false,
    };
    if let Some(last) = stmts.last().filter(|_| is_unit) {
        let end = group.span_close().byte_range().start;
        gaps.push(Gap::before(text, end, syntax::range(last).start, ""));
    }
}
