//! Where fences can be inserted: before each statement of a block, and at its end if the block has
//! no value.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenTree};
use syn::{Expr, Stmt};

use super::syntax;
use crate::Gap;

/// The gaps of a text.
pub fn gaps(text: &str) -> Vec<Gap> {
    let Ok(file) = syntax::parse(text) else { return Vec::new() };
    let (mut gaps, mut waiting) = (Vec::new(), Vec::new());
    for item in &file.items {
        // Blocks are found by their braces. The braces of a `match`, of a struct or of a macro do
        // not contain statements.
        if matches!(item, syn::Item::Fn(_) | syn::Item::Impl(_) | syn::Item::Mod(_)) {
            let mut constants = Constants::default();
            syntax::tokens(item, &mut |token| {
                let is_constant = constants.next(token);
                if let TokenTree::Group(group) = token
                    && group.delimiter() == Delimiter::Brace
                {
                    match is_constant {
                        true => waiting.push(group.span().byte_range()),
                        false => block(text, group, &mut gaps, &mut waiting),
                    }
                }
            });
        }
    }
    // Constants are left out like loops that wait.
    let waits = |gap: &Gap| waiting.iter().any(|body: &Range<usize>| body.contains(&gap.at));
    gaps.retain(|gap| !waits(gap));
    gaps.sort_by_key(|gap| gap.at);
    gaps
}

/// Finds code that is executed when the program is compiled, in which no fence can be: bodies of `const fn`,
/// `const { .. }`, and values of constants.
#[derive(Default)]
struct Constants {
    is_open: bool,
    before: String,
}

impl Constants {
    /// Whether the next token, if it is a block, is such code.
    fn next(&mut self, token: &TokenTree) -> bool {
        let now = match token {
            TokenTree::Group(_) => String::new(),
            token => token.to_string(),
        };
        let before = std::mem::replace(&mut self.before, now);
        match token {
            // `*const T` and `<const N: usize>` are types.
            TokenTree::Ident(word) if *word == "const" => {
                self.is_open = !matches!(&*before, "*" | "<" | ",");
            }
            TokenTree::Punct(sign) if sign.as_char() == ';' => self.is_open = false,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                return std::mem::take(&mut self.is_open);
            }
            _ => {}
        }
        false
    }
}

/// The body of a loop that waits, if a statement is one: a fence before the loop orders at least as much, and with a
/// fence inside the loop would not be one that waits.
fn waiting(stmt: &Stmt) -> Option<&syn::Block> {
    match stmt {
        Stmt::Expr(Expr::While(this), _) if this.body.stmts.iter().all(is_idle) => Some(&this.body),
        Stmt::Expr(Expr::Loop(this), _) => {
            let (_, rest) = leaves_first(&this.body)?;
            rest.iter().all(is_idle).then_some(&this.body)
        }
        _ => None,
    }
}

fn block(text: &str, group: &Group, gaps: &mut Vec<Gap>, bodies: &mut Vec<Range<usize>>) {
    let parse = syn::Block::parse_within;
    let Ok(stmts) = syn::parse::Parser::parse2(parse, group.stream()) else { return };
    // `S { x }` and `S { ..rest }` look like blocks.
    if let [Stmt::Expr(Expr::Path(_) | Expr::Range(_), None)] = &stmts[..] {
        return;
    }
    let is_code = |stmt: &&Stmt| match stmt {
        Stmt::Item(_) => false,
        Stmt::Expr(Expr::Verbatim(tokens), _) => !tokens.is_empty(),
        _ => true,
    };
    bodies.extend(stmts.iter().filter_map(waiting).map(syntax::range));
    for stmt in stmts.iter().filter(is_code) {
        let start = syntax::range(stmt).start;
        gaps.push(before(text, start, start));
    }
    let is_unit = match stmts.last() {
        Some(Stmt::Local(_) | Stmt::Expr(_, Some(_))) => true,
        Some(Stmt::Macro(stmt)) => stmt.semi_token.is_some(),
        _ => false,
    };
    if let Some(last) = stmts.last().filter(|_| is_unit) {
        let end = group.span_close().byte_range().start;
        gaps.push(before(text, end, syntax::range(last).start));
    }
}

/// A gap: a fence is written with its semicolon.
fn before(text: &str, at: usize, like: usize) -> Gap {
    let mut gap = Gap::before(text, at, like, "");
    for edit in gap.edits.iter_mut().filter(|edit| edit.after == "; ") {
        edit.after = " ".to_owned();
    }
    gap
}

/// Whether a condition has a pattern.
fn has_let(cond: &Expr) -> bool {
    match cond {
        Expr::Let(_) => true,
        Expr::Paren(inner) => has_let(&inner.expr),
        Expr::Binary(this) if matches!(this.op, syn::BinOp::And(_)) => {
            has_let(&this.left) || has_let(&this.right)
        }
        _ => false,
    }
}

/// Whether a statement only lets time pass.
fn is_idle(stmt: &Stmt) -> bool {
    let expr = match stmt {
        Stmt::Expr(expr, _) => expr,
        Stmt::Macro(_) | Stmt::Local(_) | Stmt::Item(_) => return false,
    };
    match expr {
        Expr::Block(block) => block.block.stmts.iter().all(is_idle),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().is_some_and(|segment| {
                matches!(
                    segment.ident.to_string().as_str(),
                    "spin_loop" | "yield_now" | "sleep" | "spin_loop_hint"
                )
            }),
            _ => false,
        },
        Expr::MethodCall(call) => {
            // Back-off.
            matches!(call.method.to_string().as_str(), "spin" | "snooze")
        }
        _ => false,
    }
}

/// `if cond { break; }` as the first statement of a block, and the others.
fn leaves_first(block: &syn::Block) -> Option<(&Expr, &[Stmt])> {
    let [Stmt::Expr(Expr::If(branch), _), rest @ ..] = &block.stmts[..] else { return None };
    let is_break = match &branch.then_branch.stmts[..] {
        [Stmt::Expr(Expr::Break(this), _)] => this.label.is_none() && this.expr.is_none(),
        _ => false,
    };
    (is_break && branch.else_branch.is_none() && !has_let(&branch.cond))
        .then_some((&*branch.cond, rest))
}
