//! Patterns: whether a value matches, and the names that are bound.

use syn::Expr;
use weir_model::program::{BinOp, Expr as Code, UnOp};

use super::expressions::is_place;
use super::items::Def;
use super::reader::{Loc, Reader, Use, Val};
use super::syntax;
use super::types::{Pointer, Ty};
use crate::lowering::Order;
use crate::lowering::value::{Data, binary, unary};

/// What a pattern is compared with.
#[derive(Clone, Debug)]
pub enum Subject {
    Value(Val),
    /// A place; whether names refer to it.
    Place(Loc, bool),
}

impl Reader<'_> {
    /// What is matched with one pattern.
    pub fn subject(&mut self, expr: &Expr, pat: &syn::Pat) -> Subject {
        self.subject_of(expr, &[pat])
    }

    /// What is matched with patterns.
    pub fn subject_of(&mut self, expr: &Expr, pats: &[&syn::Pat]) -> Subject {
        let mut has_ref = false;
        for pat in pats {
            syntax::words(pat, &mut |word| has_ref |= word == "ref");
        }
        if is_place(expr) && has_ref {
            return Subject::Place(self.place(expr, Use::Address), false);
        }
        let value = self.expr(expr, None);
        let value = if self.is_reachable() { self.kept_if_variable(value) } else { value };
        Subject::Value(value)
    }

    /// A copy, unless nothing can change the value.
    fn kept_if_variable(&mut self, value: Val) -> Val {
        match &value.data {
            Data::Code(Code::Atom(_)) | Data::Code(Code::Const(_)) => value,
            Data::Fields(fields)
                if fields
                    .iter()
                    .skip(1)
                    .all(|f| !matches!(&f.data, Data::Code(Code::Binary(..)))) =>
            {
                // The result of a compare-exchange.
                value
            }
            _ => self.kept(value),
        }
    }

    fn subject_ty(&self, subject: &Subject) -> Ty {
        match subject {
            Subject::Value(value) => self.resolve(&value.ty),
            Subject::Place(loc, _) => self.resolve(&loc.ty),
        }
    }

    fn subject_value(&mut self, subject: &Subject) -> Val {
        match subject {
            Subject::Value(value) => value.clone(),
            Subject::Place(loc, _) => self.load(loc, Order::Plain),
        }
    }

    fn part(&mut self, subject: &Subject, index: usize) -> Subject {
        match subject {
            Subject::Value(value) => Subject::Value(self.field_of(value, index)),
            Subject::Place(loc, by_ref) => Subject::Place(self.field(loc, index), *by_ref),
        }
    }

    /// Looks through references, as patterns do.
    fn through(&mut self, subject: &Subject) -> Subject {
        let mut subject = subject.clone();
        for _ in 0..10 {
            if !matches!(self.subject_ty(&subject), Ty::Pointer(Pointer::Ref, _)) {
                break;
            }
            let pointer = self.subject_value(&subject);
            subject = Subject::Place(self.follow(&pointer), true);
        }
        subject
    }

    /// Whether something matches a pattern: true or false.
    pub fn test(&mut self, pat: &syn::Pat, subject: &Subject) -> Val {
        if !self.is_reachable() || !self.deeper(pat) {
            return Val::never();
        }
        let value = self.test_within(pat, subject);
        self.depth -= 1;
        value
    }

    pub fn matches_value(&mut self, pat: &syn::Pat, value: &Val) -> Val {
        self.test(pat, &Subject::Value(value.clone()))
    }

    fn all(&mut self, tests: Vec<Val>) -> Val {
        let mut all = Val::truth(true);
        for test in tests {
            let (a, b) = (self.b.to_code(&all.data), self.b.to_code(&test.data));
            all = match (&a, &b) {
                (Code::Const(c), _) if *c != 0 => test,
                (_, Code::Const(c)) if *c != 0 => all,
                _ => Val { data: Data::Code(binary(BinOp::And, a, b)), ty: Ty::Bool },
            };
        }
        all
    }

    fn test_within(&mut self, pat: &syn::Pat, subject: &Subject) -> Val {
        match pat {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => Val::truth(true),
            syn::Pat::Ident(ident) => {
                if let Some((_, inner)) = &ident.subpat {
                    return self.test(inner, subject);
                }
                match self.named_constant(&ident.ident.to_string()) {
                    Some(def) => self.test_definition(&def, subject, pat),
                    None => Val::truth(true),
                }
            }
            syn::Pat::Paren(inner) => self.test(&inner.pat, subject),
            syn::Pat::Guard(guarded) => {
                // Only `matches!` and `match` have guards; they look at it themselves.
                self.test(&guarded.pat, subject)
            }
            syn::Pat::Type(typed) => self.test(&typed.pat, subject),
            syn::Pat::Reference(inner) => {
                let pointer = self.subject_value(subject);
                let to = Subject::Place(self.follow(&pointer), false);
                self.test(&inner.pat, &to)
            }
            syn::Pat::Lit(literal) => {
                let subject = self.through(subject);
                let value = self.subject_value(&subject);
                let wanted = self.expr(&Expr::Lit(literal.clone()), Some(&value.ty));
                self.unify(&value.ty, &wanted.ty);
                self.equals(&value, &wanted)
            }
            syn::Pat::Range(range) => {
                let subject = self.through(subject);
                let value = self.subject_value(&subject);
                let mut tests = Vec::new();
                if let Some(start) = &range.start {
                    let start = self.expr(start, Some(&value.ty));
                    tests.push(self.compare(BinOp::Ge, &value, &start, pat));
                }
                if let Some(end) = &range.end {
                    let end = self.expr(end, Some(&value.ty));
                    let is_closed = matches!(range.limits, syn::RangeLimits::Closed(_));
                    let op = if is_closed { BinOp::Le } else { BinOp::Lt };
                    tests.push(self.compare(op, &value, &end, pat));
                }
                self.all(tests)
            }
            syn::Pat::Or(or) => {
                let mut any: Option<Val> = None;
                for case in &or.cases {
                    let test = self.test(case, subject);
                    any = Some(match any {
                        None => test,
                        Some(before) => {
                            let (a, b) = (self.b.to_code(&before.data), self.b.to_code(&test.data));
                            Val { data: Data::Code(binary(BinOp::Or, a, b)), ty: Ty::Bool }
                        }
                    });
                }
                any.unwrap_or_else(|| Val::truth(false))
            }
            syn::Pat::Path(path) => {
                let expr = syn::ExprPath {
                    attrs: Vec::new(),
                    qself: path.qself.clone(),
                    path: path.path.clone(),
                };
                match self.definition(&expr) {
                    Some(def) => self.test_definition(&def, subject, pat),
                    None => {
                        let subject = self.through(subject);
                        let value = self.subject_value(&subject);
                        let wanted = self.expr(&Expr::Path(expr), Some(&value.ty));
                        self.equals(&value, &wanted)
                    }
                }
            }
            syn::Pat::Tuple(tuple) => {
                let subject = self.through(subject);
                let count = match self.subject_ty(&subject) {
                    Ty::Tuple(list) => list.len(),
                    _ => tuple.elems.len(),
                };
                let mut tests = Vec::new();
                for (i, pat) in numbered(&tuple.elems, count) {
                    let part = self.part(&subject, i);
                    tests.push(self.test(pat, &part));
                }
                self.all(tests)
            }
            syn::Pat::TupleStruct(this) => {
                let Some((subject, adt, variant)) = self.variant_of(&this.path, subject) else {
                    return Val::never();
                };
                let mut tests = vec![self.has_variant(&subject, variant)];
                let first = self.first_field(adt, variant);
                let count = self.items.adts[adt].variants[variant].fields.len();
                // Fields are only looked at if it is this variant, or if that does no harm.
                for (i, pat) in numbered(&this.elems, count) {
                    let part = self.part(&subject, first + i);
                    tests.push(self.test(pat, &part));
                }
                self.all(tests)
            }
            syn::Pat::Struct(this) => {
                let Some((subject, adt, variant)) = self.variant_of(&this.path, subject) else {
                    return Val::never();
                };
                let mut tests = vec![self.has_variant(&subject, variant)];
                for field in &this.fields {
                    if let Some(index) = self.field_number(adt, variant, &field.member) {
                        let part = self.part(&subject, index);
                        tests.push(self.test(&field.pat, &part));
                    }
                }
                self.all(tests)
            }
            syn::Pat::Slice(slice) => {
                let subject = self.through(subject);
                let mut tests = Vec::new();
                let count = self.elements(&subject).len();
                for (i, pat) in numbered(&slice.elems, count) {
                    let part = self.elements(&subject).get(i).cloned();
                    if let Some(part) = part {
                        tests.push(self.test(pat, &part));
                    }
                }
                self.all(tests)
            }
            _ => self.unsupported(pat, "this pattern", "write conditions"),
        }
    }

    fn elements(&mut self, subject: &Subject) -> Vec<Subject> {
        let Ty::Array(element, len) = self.subject_ty(subject) else { return Vec::new() };
        let Ty::Const(n) = self.resolve(&len) else { return Vec::new() };
        (0..usize::try_from(n).unwrap_or(0))
            .map(|i| match subject {
                Subject::Value(value) => {
                    let data = match &value.data {
                        Data::Fields(list) => list.get(i).map(|v| v.data.clone()),
                        _ => None,
                    };
                    let data = data.unwrap_or(Data::Code(Code::Const(0)));
                    Subject::Value(Val { data, ty: (*element).clone() })
                }
                Subject::Place(loc, by_ref) => {
                    let index = crate::lowering::value::Value::number(
                        i as i128,
                        crate::lowering::types::Type::INT,
                    );
                    let lvalue = self.b.index(&loc.lvalue, &index);
                    Subject::Place(Loc { lvalue, ty: (*element).clone() }, *by_ref)
                }
            })
            .collect()
    }

    fn field_number(&self, adt: usize, variant: usize, member: &syn::Member) -> Option<usize> {
        let name = match member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        let fields = &self.items.adts[adt].variants[variant].fields;
        Some(self.first_field(adt, variant) + fields.iter().position(|f| f.0 == name)?)
    }

    /// A name in a pattern that is not a new variable.
    fn named_constant(&mut self, name: &str) -> Option<Def> {
        if !name.starts_with(|c: char| c.is_uppercase()) {
            return None;
        }
        let module = self.frame().module;
        match self.items.value(module, &[name.to_owned()]) {
            Some(def @ (Def::Variant(..) | Def::Const(_) | Def::Std(_))) => Some(def),
            _ => None,
        }
    }

    fn test_definition(&mut self, def: &Def, subject: &Subject, pat: &syn::Pat) -> Val {
        let subject = self.through(subject);
        match def {
            Def::Variant(adt, variant) => {
                self.settle_adt(&subject, *adt);
                self.has_variant(&subject, *variant)
            }
            Def::Const(id) => {
                let wanted = self.const_value(*id);
                let value = self.subject_value(&subject);
                self.equals(&value, &wanted)
            }
            Def::Std(path) => {
                let wanted = self.std_value(&path.clone(), pat);
                let value = self.subject_value(&subject);
                self.equals(&value, &wanted)
            }
            _ => self.unsupported(pat, "this pattern", "write conditions"),
        }
    }

    /// A value whose type is not known is of the type that the pattern names.
    fn settle_adt(&mut self, subject: &Subject, adt: usize) {
        if let ty @ Ty::Var(..) = self.subject_ty(subject) {
            let fresh = self.fresh_adt(adt, (adt, 0));
            self.unify(&ty, &fresh);
        }
    }

    fn variant_of(
        &mut self,
        path: &syn::Path,
        subject: &Subject,
    ) -> Option<(Subject, usize, usize)> {
        let expr = syn::ExprPath { attrs: Vec::new(), qself: None, path: path.clone() };
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let module = self.frame().module;
        let found = match self.definition(&expr) {
            Some(Def::Variant(adt, variant)) => Some((adt, variant)),
            _ => match self.items.ty(module, &names) {
                Some(Def::Adt(adt)) => Some((adt, 0)),
                _ => None,
            },
        };
        let Some((adt, variant)) = found else {
            self.unsupported(path, "this pattern", "write conditions");
            return None;
        };
        let subject = self.through(subject);
        self.settle_adt(&subject, adt);
        match self.subject_ty(&subject) {
            Ty::Adt(id, _) if id == adt => Some((subject, adt, variant)),
            _ => {
                if self.is_reachable() {
                    self.error_at(path, "the type of what is matched is not known here", None);
                }
                None
            }
        }
    }

    /// Whether something is a variant of an enum.
    fn has_variant(&mut self, subject: &Subject, variant: usize) -> Val {
        let Ty::Adt(adt, args) = self.subject_ty(subject) else { return Val::truth(true) };
        if !self.items.adts[adt].is_enum {
            return Val::truth(true);
        }
        if self.is_niche(adt, &args) || self.items.adts[adt].is_plain_enum() {
            let value = self.subject_value(subject);
            return self.is_variant(&value, variant);
        }
        let tag = self.part(subject, 0);
        let tag = self.subject_value(&tag);
        self.tag_is(&tag, adt, variant)
    }

    /// The first part of an enum says which variant it is. If there are two, it is a truth value.
    fn tag_is(&mut self, tag: &Val, adt: usize, variant: usize) -> Val {
        let code = self.b.to_code(&tag.data);
        let code = match (self.items.adts[adt].variants.len(), &code) {
            (1, _) => Code::Const(1),
            (2, Code::Binary(op, ..)) if crate::weir::fold::is_truth(*op) => match variant {
                0 => unary(UnOp::Not, code),
                _ => code,
            },
            _ => binary(BinOp::Eq, code, Code::Const(variant as i128)),
        };
        Val { data: Data::Code(code), ty: Ty::Bool }
    }

    /// Whether a value is a variant of its enum.
    pub fn is_variant(&mut self, value: &Val, variant: usize) -> Val {
        let Ty::Adt(adt, args) = self.resolve(&value.ty) else { return Val::truth(true) };
        if self.is_niche(adt, &args) {
            let raw = self.raw(value);
            let is_some = match raw.is_true() {
                Some(known) => Code::Const(i128::from(known)),
                None => binary(BinOp::Ne, self.b.to_code(&raw.data), Code::Const(0)),
            };
            let is_none = self.items.adts[adt].variants[variant].fields.is_empty();
            let code = if is_none { unary(UnOp::Not, is_some) } else { is_some };
            return Val { data: Data::Code(code), ty: Ty::Bool };
        }
        if self.items.adts[adt].is_plain_enum() {
            let number = self.discriminant(adt, variant);
            let code = self.b.to_code(&value.data);
            let code = binary(BinOp::Eq, code, Code::Const(number));
            return Val { data: Data::Code(code), ty: Ty::Bool };
        }
        let tag = self.field_of(value, 0);
        self.tag_is(&tag, adt, variant)
    }

    /// Binds the names of a pattern to a value.
    pub fn bind_pattern_value(&mut self, pat: &syn::Pat, value: Val) {
        self.bind_pattern(pat, &Subject::Value(value));
    }

    /// Binds the names of a pattern that matches.
    pub fn bind_pattern(&mut self, pat: &syn::Pat, subject: &Subject) {
        if !self.is_reachable() || !self.deeper(pat) {
            return;
        }
        self.bind_within(pat, subject);
        self.depth -= 1;
    }

    fn bind_within(&mut self, pat: &syn::Pat, subject: &Subject) {
        match pat {
            syn::Pat::Ident(ident) => {
                let name = ident.ident.to_string();
                if ident.subpat.is_none() && self.named_constant(&name).is_some() {
                    return;
                }
                let tag = self.tag(ident);
                self.at(pat);
                match subject {
                    Subject::Place(loc, by_ref) if *by_ref || ident.by_ref.is_some() => {
                        let pointer = self.address(loc, Pointer::Ref);
                        self.declare(&name, &pointer, tag);
                    }
                    Subject::Value(value) if ident.by_ref.is_some() => {
                        let loc = self.temporary(value, tag);
                        let pointer = self.address(&loc, Pointer::Ref);
                        self.declare(&name, &pointer, tag);
                    }
                    subject => {
                        let value = self.subject_value(subject);
                        self.declare(&name, &value, tag);
                    }
                }
                if let Some((_, inner)) = &ident.subpat {
                    self.bind_pattern(inner, subject);
                }
            }
            syn::Pat::Paren(inner) => self.bind_pattern(&inner.pat, subject),
            syn::Pat::Guard(inner) => self.bind_pattern(&inner.pat, subject),
            syn::Pat::Type(typed) => {
                let declared = self.ty(&typed.ty);
                let found = self.subject_ty(subject);
                let ty = self.unify(&declared, &found);
                let subject = match subject {
                    Subject::Value(value) => Subject::Value(value.clone().with(ty)),
                    place => place.clone(),
                };
                self.bind_pattern(&typed.pat, &subject);
            }
            syn::Pat::Reference(inner) => {
                let pointer = self.subject_value(subject);
                let loc = self.follow(&pointer);
                self.bind_pattern(&inner.pat, &Subject::Place(loc, false));
            }
            syn::Pat::Tuple(tuple) => {
                let subject = self.through(subject);
                let count = match self.subject_ty(&subject) {
                    Ty::Tuple(list) => list.len(),
                    ty @ Ty::Var(..) => {
                        let tag = self.tag(pat);
                        let parts =
                            (0..tuple.elems.len()).map(|i| self.unknown((tag, i))).collect();
                        self.unify(&ty, &Ty::Tuple(parts));
                        tuple.elems.len()
                    }
                    _ => tuple.elems.len(),
                };
                for (i, pat) in numbered(&tuple.elems, count) {
                    let part = self.part(&subject, i);
                    self.bind_pattern(pat, &part);
                }
            }
            syn::Pat::TupleStruct(this) => {
                let Some((subject, adt, variant)) = self.variant_of(&this.path, subject) else {
                    return;
                };
                let first = self.first_field(adt, variant);
                let count = self.items.adts[adt].variants[variant].fields.len();
                for (i, pat) in numbered(&this.elems, count) {
                    let part = self.part(&subject, first + i);
                    self.bind_pattern(pat, &part);
                }
            }
            syn::Pat::Struct(this) => {
                let Some((subject, adt, variant)) = self.variant_of(&this.path, subject) else {
                    return;
                };
                for field in &this.fields {
                    if let Some(index) = self.field_number(adt, variant, &field.member) {
                        let part = self.part(&subject, index);
                        self.bind_pattern(&field.pat, &part);
                    }
                }
            }
            syn::Pat::Slice(slice) => {
                let subject = self.through(subject);
                let parts = self.elements(&subject);
                for (i, pat) in numbered(&slice.elems, parts.len()) {
                    if let Some(part) = parts.get(i) {
                        self.bind_pattern(pat, part);
                    }
                }
            }
            syn::Pat::Or(or) => {
                // All cases bind the same names; those that are read have none.
                let mut has_name = false;
                for case in &or.cases {
                    syntax::words(case, &mut |word| {
                        has_name |= word.starts_with(|c: char| c.is_lowercase());
                    });
                }
                if has_name && or.cases.len() > 1 {
                    self.unsupported(
                        pat,
                        "a name in a pattern with `|`",
                        "write one arm for each case",
                    );
                }
            }
            _ => {}
        }
    }
}

/// The patterns of a list with their numbers; `..` leaves some out.
fn numbered(
    pats: &syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>,
    count: usize,
) -> Vec<(usize, &syn::Pat)> {
    let rest = pats.iter().position(|pat| matches!(pat, syn::Pat::Rest(_)));
    let number = |i: usize| match rest {
        Some(rest) if i > rest => (count + i).saturating_sub(pats.len()),
        _ => i,
    };
    let is_rest = |i: usize| Some(i) == rest;
    pats.iter().enumerate().filter(|(i, _)| !is_rest(*i)).map(|(i, pat)| (number(i), pat)).collect()
}
