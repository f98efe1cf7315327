//! Domains, initial values, and what `any` chooses from.

use weir_model::program::{self, Expr};

use super::value::Constants;
use super::{MAX_ARRAY, MAX_LISTED, What};
use crate::Diagnostic;
use crate::errors::quote;
use crate::weir::tree::{self, Choice, Declared, Domain, ExprKind, Init, Span};

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
            Domain::Named(name) => match self.cx.globals.get(name.text).map(|g| &g.what) {
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
            if let (Some(What::Enum(id)), true) = (what, place.selectors.is_empty()) {
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

    /// What a declaration of variables or registers consists of. `None` after an error.
    pub fn plan(&mut self, declared: &Declared<'t>) -> Option<Plan<'t>> {
        let dims = self.dims(declared)?;
        let name = declared.name;
        let record = match &declared.domain {
            Some(Domain::Named(record)) => self.cx.records.get(record.text).copied(),
            _ => None,
        };
        let Some(record) = record else {
            let (domain, inits) = self.contents(declared, &dims)?;
            let names = elements(name.text.to_owned(), &dims);
            let part = PlannedPart { field: None, dims: Vec::new(), domain, names, inits };
            return Some(Plan { dims, parts: vec![part] });
        };
        if let Some(init) = &declared.init {
            let span = match init {
                Init::Any(span) | Init::List(_, span) => *span,
                Init::Value(e) => e.span,
            };
            let message = "a record begins with what its fields say";
            let error = Diagnostic::new(message, span.range());
            self.cx.error(error.note(record.name.span.range(), "the record"));
            return None;
        }
        if record.fields.is_empty() {
            self.cx.error_at("a record needs at least one field", record.name.span);
            return None;
        }
        let outer = elements(name.text.to_owned(), &dims);
        let mut parts: Vec<PlannedPart<'t>> = Vec::new();
        for field in &record.fields {
            if parts.iter().any(|part| part.field == Some(field.name.text)) {
                let first = record.fields.iter().find(|f| f.name.text == field.name.text)?;
                self.cx.declared_twice(field.name, first.name.span);
                return None;
            }
            if let Some(Domain::Named(of)) = &field.domain
                && self.cx.records.contains_key(of.text)
            {
                let message = "a field of a record holds numbers, not another record";
                self.cx.error_at(message, of.span);
                return None;
            }
            let inner = self.dims(field)?;
            let all: Vec<u32> = dims.iter().chain(&inner).copied().collect();
            self.check_size(&all, declared.name.span)?;
            let (domain, one) = self.contents(field, &inner)?;
            let (mut names, mut inits) = (Vec::new(), Vec::new());
            for outer in &outer {
                names.extend(elements(format!("{outer}.{}", field.name.text), &inner));
                inits.extend(one.iter().cloned());
            }
            let field = Some(field.name.text);
            parts.push(PlannedPart { field, dims: inner, domain, names, inits });
        }
        Some(Plan { dims, parts })
    }

    /// How many elements there are in each dimension.
    fn dims(&mut self, declared: &Declared<'t>) -> Option<Vec<u32>> {
        let mut dims = Vec::new();
        for e in &declared.lens {
            dims.push(self.required(e, 1, MAX_ARRAY, "the length of an array")? as u32);
        }
        self.check_size(&dims, declared.name.span)?;
        Some(dims)
    }

    fn check_size(&mut self, dims: &[u32], span: Span) -> Option<()> {
        let size = dims.iter().try_fold(1i128, |size, len| {
            Some(size * i128::from(*len)).filter(|size| *size <= MAX_ARRAY)
        });
        if size.is_none() {
            let message = format!("an array may have at most {MAX_ARRAY} elements in all");
            self.cx.error_at(message, span);
        }
        size.map(|_| ())
    }

    /// The domain, and the possible initial values of each element.
    fn contents(&mut self, declared: &Declared<'t>, dims: &[u32]) -> Option<Contents> {
        let domain = match &declared.domain {
            Some(domain) => Some(self.domain(domain)?),
            None => None,
        };
        let mut inits = Vec::new();
        self.inits(declared.init.as_ref(), domain, dims, &mut inits)?;
        Some((domain, inits))
    }

    /// Recursive: as deep as there are dimensions.
    fn inits(
        &mut self,
        init: Option<&Init<'t>>,
        domain: Option<program::Domain>,
        dims: &[u32],
        inits: &mut Vec<Vec<i128>>,
    ) -> Option<()> {
        match (init, dims) {
            (Some(Init::List(list, span)), [len, inner @ ..]) => {
                if list.len() != *len as usize {
                    let given = list.len();
                    let message = format!("the array has {len} elements, but {given} values");
                    self.cx.error_at(message, *span);
                    return None;
                }
                for init in list {
                    self.inits(Some(init), domain, inner, inits)?;
                }
            }
            (init, _) => {
                let cells: u32 = dims.iter().product();
                for _ in 0..cells {
                    inits.push(self.init(init, domain)?);
                }
            }
        }
        Some(())
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

/// A domain, and the possible initial values of each element.
type Contents = (Option<program::Domain>, Vec<Vec<i128>>);

/// What a declaration consists of.
pub struct Plan<'t> {
    /// The dimensions of the array, if it is one.
    pub dims: Vec<u32>,
    /// The fields of a record, or one part.
    pub parts: Vec<PlannedPart<'t>>,
}

/// A field of a record, or all of something else.
pub struct PlannedPart<'t> {
    pub field: Option<&'t str>,
    /// The dimensions of the field.
    pub dims: Vec<u32>,
    pub domain: Option<program::Domain>,
    /// What each cell is called.
    pub names: Vec<String>,
    /// What each cell may hold at first.
    pub inits: Vec<Vec<i128>>,
}

/// The elements of an array, the last index fastest.
fn elements(name: String, dims: &[u32]) -> Vec<String> {
    let mut names = vec![name];
    for len in dims {
        let of = |name: &String| (0..*len).map(|i| format!("{name}[{i}]")).collect::<Vec<_>>();
        names = names.iter().flat_map(of).collect();
    }
    names
}

/// The constant that an expression is, if it is one.
pub fn constant<A>(e: &Expr<A>) -> Option<i128> {
    match e {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}
