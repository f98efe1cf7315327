//! Domains, initial values, and what `any` chooses from.

use weir_model::program::{self, Expr};

use super::value::Constants;
use super::{MAX_LISTED, What};
use crate::errors::quote;
use crate::weir::tree::{self, Choice, Domain, ExprKind, Init, Span};

impl<'t> Constants<'_, 't> {
    /// A domain. `None` after an error.
    pub fn domain(&mut self, domain: &Domain<'t>) -> Option<program::Domain> {
        match domain {
            Domain::Bool => Some(program::Domain::Bool),
            Domain::Int(int) => Some(program::Domain::Int(*int)),
            Domain::Range(low, high) => {
                let span = low.span.to(high.span);
                let (low, high) = (self.eval(low), self.eval(high));
                let (low, high) = (low?, high?);
                if low > high {
                    self.cx.error_at(format!("the range {low}..{high} is empty"), span);
                    return None;
                }
                Some(program::Domain::Range(low, high))
            }
            Domain::Enum(name) => match self.cx.globals.get(name.text).map(|g| &g.what) {
                Some(What::Enum(id)) => Some(program::Domain::Enum(*id)),
                Some(What::Broken) => None,
                Some(other) => {
                    let kind = other.kind();
                    let message = format!("{} is {kind}, not an enum", quote(name.text));
                    self.cx.error_at(message, name.span);
                    None
                }
                None => {
                    let types = program::IntType::ALL.map(program::IntType::name);
                    self.cx.unknown("type", *name, &types);
                    None
                }
            },
        }
    }

    /// The lowest value of a domain: what it holds if nothing else is said.
    pub fn lowest(domain: Option<program::Domain>) -> i128 {
        match domain {
            Some(program::Domain::Range(low, _)) => low,
            _ => 0,
        }
    }

    /// All values of a domain. `None` after an error.
    pub fn members(&mut self, domain: program::Domain, span: Span) -> Option<Vec<i128>> {
        let (low, high) = match domain {
            program::Domain::Range(low, high) => (low, high),
            program::Domain::Bool => (0, 1),
            program::Domain::Enum(id) => {
                let members = self.cx.program.enums.get(id.index())?.members.len();
                (0, i128::try_from(members).ok()? - 1)
            }
            program::Domain::Int(int) => (int.low(), int.high()),
        };
        let size = usize::try_from(high.abs_diff(low)).unwrap_or(usize::MAX);
        self.list(size.saturating_add(1), span)?;
        Some((low..=high).collect())
    }

    /// Counts values that are listed in the program.
    fn list(&mut self, size: usize, span: Span) -> Option<()> {
        self.cx.listed = self.cx.listed.saturating_add(size);
        if self.cx.listed <= MAX_LISTED {
            return Some(());
        }
        let message = format!(
            "all uses of `any` and all arguments of methods together may list at most \
             {MAX_LISTED} values"
        );
        self.cx.error_at(message, span);
        None
    }

    /// What `any(…)` chooses from. `None` after an error.
    pub fn choice(&mut self, choice: &Choice<'t>, span: Span) -> Option<Vec<i128>> {
        let list = match choice {
            Choice::Domain(domain) => {
                let domain = self.domain(domain)?;
                return self.members(domain, span);
            }
            Choice::List(list) => list,
        };
        if let [tree::Expr { kind: ExprKind::Place(place), .. }] = list.as_slice() {
            let what = self.cx.globals.get(place.name.text).map(|g| &g.what);
            if let (Some(What::Enum(id)), None) = (what, &place.index) {
                let domain = program::Domain::Enum(*id);
                return self.members(domain, span);
            }
        }
        self.list(list.len(), span)?;
        let values: Vec<_> = list.iter().map(|e| self.eval(e)).collect();
        values.into_iter().collect()
    }

    /// The possible initial values of one variable. `None` after an error.
    pub fn init(
        &mut self,
        init: Option<&Init<'t>>,
        domain: Option<program::Domain>,
    ) -> Option<Vec<i128>> {
        let (values, span) = match init {
            None => (vec![Self::lowest(domain)], None),
            Some(Init::Any(span)) => match domain {
                Some(domain) => (self.members(domain, *span)?, None),
                None => {
                    let message = "`any` needs a domain to choose from, as in `var x: 0..3 = any`";
                    self.cx.error_at(message, *span);
                    return None;
                }
            },
            Some(Init::Value(e)) => {
                let values = match &e.kind {
                    ExprKind::Any(choice) => self.choice(choice, e.span)?,
                    _ => vec![self.eval(e)?],
                };
                (values, Some(e.span))
            }
            Some(Init::List(_, span)) => {
                self.cx.error_at("only an array has a list of initial values", *span);
                return None;
            }
        };
        let wrong = domain.and_then(|d| values.iter().find(|v| !self.cx.program.admits(d, **v)));
        if let (Some(value), Some(span)) = (wrong, span) {
            let message = format!("the initial value {value} is outside the domain");
            self.cx.error_at(message, span);
            return None;
        }
        Some(values)
    }

    /// `e` has to be constant: its value. `None` after an error.
    pub fn required(
        &mut self,
        e: &tree::Expr<'t>,
        low: i128,
        high: i128,
        what: &str,
    ) -> Option<i128> {
        let value = self.eval(e)?;
        if (low..=high).contains(&value) {
            return Some(value);
        }
        self.cx.error_at(format!("{what} has to be between {low} and {high}, not {value}"), e.span);
        None
    }
}

/// The constant that an expression is, if it is one.
pub fn constant<A>(e: &Expr<A>) -> Option<i128> {
    match e {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}
