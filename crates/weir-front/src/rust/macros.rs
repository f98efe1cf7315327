//! Macros of the standard library.

use std::rc::Rc;

use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Token};

use super::expressions::is_place;
use super::items::LIBRARY;
use super::patterns::Subject;
use super::reader::{Reader, Use, Val};
use super::syntax;
use super::types::{Pointer, Ty};
use crate::errors::quote;
use crate::lowering::Order;

/// What stands between the brackets of a macro.
pub enum Arguments {
    List(Vec<Expr>),
    /// `vec![0; 2]`
    Repeat(Expr, Expr),
    /// `matches!(e, pattern)`
    Pattern(Expr, syn::Pat),
}

fn list(input: ParseStream) -> syn::Result<Arguments> {
    let list = syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
    Ok(Arguments::List(list.into_iter().collect()))
}

fn list_or_repeat(input: ParseStream) -> syn::Result<Arguments> {
    if input.is_empty() {
        return Ok(Arguments::List(Vec::new()));
    }
    let first: Expr = input.parse()?;
    if input.peek(Token![;]) {
        let _: Token![;] = input.parse()?;
        let len: Expr = input.parse()?;
        let _: Option<Token![,]> = input.parse()?;
        return Ok(Arguments::Repeat(first, len));
    }
    let _: Option<Token![,]> = input.parse()?;
    let rest = syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
    Ok(Arguments::List(std::iter::once(first).chain(rest).collect()))
}

fn pattern(input: ParseStream) -> syn::Result<Arguments> {
    let expr: Expr = input.parse()?;
    let _: Token![,] = input.parse()?;
    let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
    let pat = match input.peek(Token![if]) {
        true => {
            let if_token: Token![if] = input.parse()?;
            let guard = Box::new(Expr::parse(input)?);
            syn::Pat::Guard(syn::PatGuard {
                attrs: Vec::new(),
                pat: Box::new(pat),
                if_token,
                guard,
            })
        }
        false => pat,
    };
    let _: Option<Token![,]> = input.parse()?;
    Ok(Arguments::Pattern(expr, pat))
}

impl Reader<'_> {
    fn arguments(&mut self, mac: &syn::Macro, name: &str) -> Option<Rc<Arguments>> {
        let key = (self.frame().file, syntax::range(mac).start);
        if let Some(known) = self.macros.get(&key) {
            return Some(known.clone());
        }
        let tokens = mac.tokens.clone();
        let parsed = match name {
            "vec" => list_or_repeat.parse2(tokens),
            "matches" => pattern.parse2(tokens),
            _ => list.parse2(tokens),
        };
        match parsed {
            Ok(arguments) => {
                let arguments = Rc::new(arguments);
                self.macros.insert(key, arguments.clone());
                Some(arguments)
            }
            Err(error) => {
                self.error_at(
                    mac,
                    &format!("the arguments of this macro are not read: {error}"),
                    None,
                );
                None
            }
        }
    }

    /// The value of a macro.
    pub fn macro_value(&mut self, mac: &syn::Macro, want: Option<&Ty>) -> Val {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if !self.is_reachable() {
            return Val::never();
        }
        match name.as_str() {
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                self.at(mac);
                self.b.fail();
                return Val::never();
            }
            "compile_error" | "concat" | "stringify" | "env" | "line" | "file" => {
                return Val::number(0, Ty::Opaque);
            }
            "assert" | "debug_assert" | "assert_eq" | "assert_ne" | "debug_assert_eq"
            | "debug_assert_ne" | "println" | "print" | "eprintln" | "eprint" | "format"
            | "dbg" | "write" | "writeln" | "vec" | "matches" | "addr_of" | "addr_of_mut"
            | "format_args" | "debug" | "info" | "trace" | "warn" | "error" => {}
            _ => {
                let what = format!("the macro {}", quote(&format!("{name}!")));
                return self.unsupported(mac, &what, "write out what it stands for");
            }
        }
        let Some(arguments) = self.arguments(mac, &name) else { return Val::never() };
        match (&*arguments, name.as_str()) {
            (Arguments::List(list), "assert" | "debug_assert") if !list.is_empty() => {
                let value = self.expr(&list[0], Some(&Ty::Bool));
                if self.is_reachable() {
                    self.at(mac);
                    let raw = self.raw(&value);
                    self.b.assert(&raw);
                }
                Val::unit()
            }
            (
                Arguments::List(list),
                "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne",
            ) if list.len() >= 2 => {
                let left = self.looked_at(&list[0], None);
                if !self.is_reachable() {
                    return Val::never();
                }
                let left = match super::expressions::changes(&list[1]) {
                    true => self.kept(left),
                    false => left,
                };
                let want = left.ty.clone();
                let right = self.looked_at(&list[1], Some(&want));
                if !self.is_reachable() {
                    return Val::never();
                }
                self.at(mac);
                self.unify(&left.ty, &right.ty);
                let same = self.equals(&left, &right);
                let holds = if name.ends_with("eq") { same } else { self.not(&same) };
                let raw = self.raw(&holds);
                self.b.assert(&raw);
                Val::unit()
            }
            (Arguments::List(list), "vec") => {
                let element = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Vec(element)) => Some((*element).clone()),
                    _ => None,
                };
                let wants: Vec<Ty> = element.into_iter().cycle().take(list.len()).collect();
                let values = self.values(list.iter(), &wants);
                self.at(mac);
                self.list_of(values, mac)
            }
            (Arguments::Repeat(value, len), _) => {
                let element = match want.map(|ty| self.resolve(ty)) {
                    Some(Ty::Vec(element)) => Some((*element).clone()),
                    _ => None,
                };
                let value = self.expr(value, element.as_ref());
                let len = self.expr(len, Some(&Ty::USIZE));
                self.at(mac);
                let Some(n) = len.known().and_then(|n| usize::try_from(n).ok()) else {
                    return self.error_at(
                        mac,
                        "the length of this has to be known before the program runs",
                        None,
                    );
                };
                if n as i128 > crate::MAX_ARRAY {
                    let message =
                        format!("this has {n} elements; at most {} are read", crate::MAX_ARRAY);
                    return self.error_at(mac, &message, None);
                }
                self.list_of(vec![value; n], mac)
            }
            (Arguments::Pattern(expr, pat), _) => {
                let subject = self.subject(expr, pat);
                let test = self.test(pat, &subject);
                match pat {
                    syn::Pat::Guard(guarded) => {
                        self.guarded(&test, &guarded.pat, &guarded.guard, &subject)
                    }
                    _ => test,
                }
            }
            (Arguments::List(list), "dbg") => match list.first() {
                Some(expr) => self.expr(expr, want),
                None => Val::unit(),
            },
            (Arguments::List(list), "addr_of" | "addr_of_mut") if list.len() == 1 => {
                let loc = self.place(&list[0], Use::Address);
                self.address(&loc, Pointer::Raw)
            }
            (Arguments::List(list), _) => {
                // Only what is printed counts: it may read memory.
                let is_write = name.starts_with("write");
                let mut printed = Vec::new();
                for expr in list.iter().skip(usize::from(is_write)) {
                    let expr = match expr {
                        Expr::Assign(named) => &*named.right,
                        expr => expr,
                    };
                    let value = self.looked_at(expr, None);
                    if !is_place(expr) {
                        printed.push((value, self.tag(expr)));
                    }
                }
                // A guard that is printed is dropped.
                for (value, tag) in printed.into_iter().rev() {
                    if self.is_reachable() {
                        self.drop_value(&value, tag);
                    }
                }
                match name.as_str() {
                    "format" | "format_args" => Val::number(0, Ty::Opaque),
                    "write" | "writeln" => self.ok(Val::unit()),
                    _ => Val::unit(),
                }
            }
        }
    }

    /// A value that is not moved.
    fn looked_at(&mut self, expr: &Expr, want: Option<&Ty>) -> Val {
        if !is_place(expr) {
            return self.expr(expr, want);
        }
        let loc = self.place(expr, Use::Read);
        if !self.is_reachable() || self.frame().file == LIBRARY && matches!(loc.ty, Ty::Never) {
            return Val::never();
        }
        self.at(expr);
        self.load(&loc, Order::Plain)
    }

    /// A pattern with a condition, as a truth value.
    fn guarded(&mut self, test: &Val, pat: &syn::Pat, guard: &Expr, subject: &Subject) -> Val {
        if !self.is_reachable() {
            return Val::never();
        }
        let raw = self.raw(test);
        let tag = self.tag(guard);
        self.open(false);
        let value = match self.b.decide(&raw) {
            Ok(false) => Val::truth(false),
            Ok(true) => {
                self.bind_pattern(pat, subject);
                self.expr(guard, Some(&Ty::Bool))
            }
            Err(code) => {
                let result = self.local("matches", &Ty::Bool, tag);
                self.b.begin_if(code);
                self.bind_pattern(pat, subject);
                let value = self.expr(guard, Some(&Ty::Bool));
                self.store(&result, &value, Order::Plain);
                self.b.begin_else();
                self.store(&result, &Val::truth(false), Order::Plain);
                self.b.end_if();
                self.load(&result, Order::Plain)
            }
        };
        self.close();
        value
    }
}
