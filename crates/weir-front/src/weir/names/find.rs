//! Finds the names of a text in its tree: first what is declared, then what is named.

use std::collections::HashMap;
use std::ops::Range;

use super::{
    Access, Asked, Declaration, FOR, Mention, Names, PROCEDURE, RECORD, Symbol, SymbolKind,
    TERMINATES,
};
use crate::errors::Errors;
use crate::weir::tree::{
    Block, Choice, Declared, Domain, Expr, ExprKind, Family, Init, Item, Name, Place, Question,
    Selector, Stmt, StmtKind, Who,
};
use crate::weir::{lexer, parse};

/// Finds the names of a text.
pub fn names(text: &str) -> Names {
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = parse::file(&tokens, &mut errors);
    let names = Names::default();
    let mut finder = Finder {
        names,
        globals: HashMap::new(),
        inner: HashMap::new(),
        fields: HashMap::new(),
        asked: 0,
    };
    for item in &parsed.items {
        finder.declare(item);
    }
    for item in &parsed.items {
        finder.item(item);
    }
    let mut names = finder.names;
    names.keywords.extend(parsed.words.iter().map(|word| word.range()));
    names.keywords.sort_by_key(|range| range.start);
    names.mentions.sort_by_key(|mention| mention.range.start);
    names.mentions.dedup_by_key(|mention| mention.range.start);
    names
}

/// Names inside something: labels have names of their own.
type Inner<'t> = HashMap<(usize, bool, &'t str), usize>;

struct Finder<'t> {
    names: Names,
    globals: HashMap<&'t str, usize>,
    inner: Inner<'t>,
    /// Fields of records: those of one name are taken together.
    fields: HashMap<&'t str, usize>,
    /// How many properties have been looked into.
    asked: usize,
}

/// Where an expression stands: in the code of a process or method, or in a property.
#[derive(Clone, Copy)]
struct Scope {
    code: Option<usize>,
    inside: Option<usize>,
    is_question: bool,
}

impl<'t> Finder<'t> {
    /// A new symbol, or a further declaration of one with the same name and kind.
    fn symbol(
        &mut self,
        name: Name<'t>,
        kind: SymbolKind,
        owner: Option<usize>,
        whole: Range<usize>,
    ) -> usize {
        let is_field = kind == SymbolKind::Field;
        let is_inner =
            matches!(kind, SymbolKind::Register | SymbolKind::Label | SymbolKind::Parameter);
        let known = match owner.filter(|_| is_inner) {
            Some(owner) => self.inner.get(&(owner, kind == SymbolKind::Label, name.text)),
            None if kind == SymbolKind::Property => None,
            None if is_field => self.fields.get(name.text),
            None => self.globals.get(name.text),
        };
        let known = known.copied().filter(|&s| self.names.symbols[s].kind == kind);
        let declaration = Declaration { name: name.span.range(), whole };
        let number = known.unwrap_or(self.names.symbols.len());
        match known {
            Some(known) => self.names.symbols[known].declarations.push(declaration),
            None => self.names.symbols.push(Symbol {
                name: name.text.to_owned(),
                kind,
                owner,
                declarations: vec![declaration],
            }),
        }
        if let Some(owner) = owner.filter(|_| is_inner) {
            self.inner.entry((owner, kind == SymbolKind::Label, name.text)).or_insert(number);
        } else if is_field {
            self.fields.entry(name.text).or_insert(number);
        } else if kind != SymbolKind::Property {
            self.globals.entry(name.text).or_insert(number);
        }
        self.mention(name, number, Access::Declares, owner);
        number
    }

    fn mention(&mut self, name: Name<'t>, symbol: usize, access: Access, inside: Option<usize>) {
        self.names.mentions.push(Mention { range: name.span.range(), symbol, access, inside });
    }

    /// Declares what an item declares, without looking into its expressions.
    fn declare(&mut self, item: &Item<'t>) {
        match item {
            Item::Const(name, e) => {
                let whole = name.span.to(e.span).range();
                self.symbol(*name, SymbolKind::Constant, None, whole);
            }
            Item::Enum(name, members) => {
                let last = members.last().map_or(name.span, |member| member.span);
                let owner = self.symbol(*name, SymbolKind::Enum, None, name.span.to(last).range());
                for member in members {
                    let whole = member.span.range();
                    self.symbol(*member, SymbolKind::Member, Some(owner), whole);
                }
            }
            Item::Var(var) => self.variable(var, None),
            Item::Record(record) => {
                let whole = record.span.range();
                let owner = self.symbol(record.name, SymbolKind::Record, None, whole);
                for field in &record.fields {
                    let whole = field.span.range();
                    self.symbol(field.name, SymbolKind::Field, Some(owner), whole);
                }
            }
            Item::Procedure(procedure) => {
                let whole = procedure.span.range();
                let owner = self.symbol(procedure.name, SymbolKind::Procedure, None, whole);
                for parameter in &procedure.parameters {
                    let whole = parameter.name.span.range();
                    self.symbol(parameter.name, SymbolKind::Parameter, Some(owner), whole);
                }
                self.inside(&procedure.body, owner);
            }
            Item::Process(process) => {
                let whole = process.span.range();
                let owner = self.symbol(process.name, SymbolKind::Process, None, whole);
                if let Family::All(parameter, _, high) = &process.family {
                    let whole = parameter.span.to(high.span).range();
                    self.symbol(*parameter, SymbolKind::Parameter, Some(owner), whole);
                }
                self.inside(&process.body, owner);
            }
            Item::Object(object) => {
                let whole = object.span.range();
                let owner = self.symbol(object.name, SymbolKind::Object, None, whole);
                for var in &object.vars {
                    self.variable(var, Some(owner));
                }
                for method in &object.methods {
                    let whole = method.span.range();
                    let code = self.symbol(method.name, SymbolKind::Method, Some(owner), whole);
                    if let Some(argument) = &method.argument {
                        let whole = argument.span.range();
                        self.symbol(argument.name, SymbolKind::Register, Some(code), whole);
                    }
                    self.inside(&method.body, code);
                }
            }
            Item::Property(name, _, span) => {
                let range = span.range();
                let symbol =
                    name.map(|name| self.symbol(name, SymbolKind::Property, None, range.clone()));
                self.names.asked.push(Asked { range, symbol });
            }
            Item::Filter(..) | Item::Observe(..) => {}
        }
    }

    fn variable(&mut self, var: &Declared<'t>, owner: Option<usize>) {
        let kind = if var.lens.is_empty() { SymbolKind::Variable } else { SymbolKind::Array };
        self.symbol(var.name, kind, owner, var.span.range());
    }

    /// Declares the registers and labels of a block.
    fn inside(&mut self, block: &Block<'t>, owner: usize) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Label(name) => {
                    self.symbol(*name, SymbolKind::Label, Some(owner), name.span.range());
                }
                StmtKind::Registers(list) => {
                    for register in list {
                        let whole = register.span.range();
                        self.symbol(register.name, SymbolKind::Register, Some(owner), whole);
                    }
                }
                StmtKind::For(name, .., body) => {
                    let whole = name.span.range();
                    self.symbol(*name, SymbolKind::Register, Some(owner), whole);
                    self.inside(body, owner);
                }
                kind => each_block(kind, &mut |block| self.inside(block, owner)),
            }
        }
    }

    /// Finds what an item names.
    fn item(&mut self, item: &Item<'t>) {
        let outside = Scope { code: None, inside: None, is_question: false };
        match item {
            Item::Const(_, e) => self.expr(e, outside),
            Item::Enum(..) => {}
            Item::Var(var) => self.declared(var, outside),
            Item::Record(record) => {
                let start = record.span.range().start;
                self.names.keywords.push(start..start + RECORD.len());
                record.fields.iter().for_each(|field| self.declared(field, outside));
            }
            Item::Procedure(procedure) => {
                let start = procedure.span.range().start;
                self.names.keywords.push(start..start + PROCEDURE.len());
                let code = self.globals.get(procedure.name.text).copied();
                let scope = Scope { code, inside: code, is_question: false };
                self.block(&procedure.body, scope);
            }
            Item::Process(process) => {
                let code = self.globals.get(process.name.text).copied();
                let scope = Scope { code, inside: code, is_question: false };
                match &process.family {
                    Family::None => {}
                    Family::Count(e) | Family::Member(e) => self.expr(e, outside),
                    Family::All(_, low, high) => {
                        self.expr(low, outside);
                        self.expr(high, outside);
                    }
                }
                self.block(&process.body, scope);
            }
            Item::Object(object) => {
                for var in &object.vars {
                    self.declared(var, outside);
                }
                for method in &object.methods {
                    let code = self.globals.get(method.name.text).copied();
                    let scope = Scope { code, inside: code, is_question: false };
                    if let Some(argument) = &method.argument {
                        self.declared(argument, outside);
                    }
                    self.block(&method.body, scope);
                }
            }
            Item::Property(_, question, span) => {
                let inside = self.names.asked.get(self.asked).and_then(|asked| asked.symbol);
                self.asked += 1;
                let scope = Scope { code: None, inside, is_question: true };
                match question {
                    Question::Assertions => {}
                    Question::Ltl(_, formula) => {
                        let mut states = Vec::new();
                        formula.states(&mut |e| states.push(e));
                        for e in states {
                            self.expr(e, scope);
                        }
                    }
                    Question::NoDeadlock(except) => {
                        for e in except {
                            self.expr(e, scope);
                        }
                    }
                    // The last word of the property.
                    Question::Terminates => {
                        let end = span.range().end;
                        self.names.keywords.push(end - TERMINATES.len()..end);
                    }
                    Question::Never(e)
                    | Question::Final(_, e)
                    | Question::Live(_, e)
                    | Question::Game(_, e) => self.expr(e, scope),
                }
            }
            Item::Filter(e, _) => self.expr(e, Scope { is_question: true, ..outside }),
            Item::Observe(list, _) => {
                for e in list {
                    self.expr(e, Scope { is_question: true, ..outside });
                }
            }
        }
    }

    fn declared(&mut self, declared: &Declared<'t>, scope: Scope) {
        declared.lens.iter().for_each(|len| self.expr(len, scope));
        if let Some(domain) = &declared.domain {
            self.domain(domain, scope);
        }
        if let Some(init) = &declared.init {
            self.init(init, scope);
        }
    }

    fn domain(&mut self, domain: &Domain<'t>, scope: Scope) {
        match domain {
            Domain::Range(low, high) => {
                self.expr(low, scope);
                self.expr(high, scope);
            }
            Domain::Named(name) => self.named(*name, Access::Reads, scope),
            Domain::Bool | Domain::Int(_) => {}
        }
    }

    fn init(&mut self, init: &Init<'t>, scope: Scope) {
        match init {
            Init::Any(_) => {}
            Init::Value(e) => self.expr(e, scope),
            Init::List(list, _) => list.iter().for_each(|init| self.init(init, scope)),
        }
    }

    fn block(&mut self, block: &Block<'t>, scope: Scope) {
        for Stmt { kind, span } in block {
            match kind {
                StmtKind::Label(_)
                | StmtKind::Fence(_)
                | StmtKind::Nop
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Exit
                | StmtKind::Loop(_)
                | StmtKind::Choose(_)
                | StmtKind::Return(None) => {}
                StmtKind::Undivided(..) => self.names.keywords.push(span.range()),
                StmtKind::Registers(list) => list.iter().for_each(|r| self.declared(r, scope)),
                StmtKind::Assign(place, e) | StmtKind::Store(place, e, _) => {
                    self.place(place, Access::Writes, scope);
                    self.expr(e, scope);
                }
                StmtKind::Update(place, _, e) => {
                    self.place(place, Access::Writes, scope);
                    self.expr(e, scope);
                }
                StmtKind::For(_, low, high, _) => {
                    let start = span.range().start;
                    self.names.keywords.push(start..start + FOR.len());
                    self.expr(low, scope);
                    self.expr(high, scope);
                }
                StmtKind::Goto(name) => {
                    if let Some(label) = self.inner_of(scope.code, true, name.text) {
                        self.mention(*name, label, Access::Jumps, scope.inside);
                    }
                }
                StmtKind::Call(e)
                | StmtKind::Assume(e)
                | StmtKind::Assert(e, _)
                | StmtKind::If(e, ..)
                | StmtKind::While(e, _)
                | StmtKind::Await(_, e)
                | StmtKind::Return(Some(e)) => self.expr(e, scope),
            }
            each_block(kind, &mut |block| self.block(block, scope));
        }
    }

    /// The label of a procedure.
    fn in_procedures(&self, label: &'t str) -> Option<usize> {
        let symbols = self.names.symbols.iter().enumerate();
        let mut procedures = symbols.filter(|(_, s)| s.kind == SymbolKind::Procedure);
        procedures.find_map(|(p, _)| self.inner_of(Some(p), true, label))
    }

    fn inner_of(&self, owner: Option<usize>, is_label: bool, name: &'t str) -> Option<usize> {
        self.inner.get(&(owner?, is_label, name)).copied()
    }

    /// Recursive: the parser bounds how deep expressions nest.
    fn expr(&mut self, e: &Expr<'t>, scope: Scope) {
        match &e.kind {
            ExprKind::Number(_) => {}
            ExprKind::Place(place) => {
                let access = if scope.is_question { Access::Asks } else { Access::Reads };
                self.place(place, access, scope);
            }
            ExprKind::Unary(_, e) => self.expr(e, scope),
            ExprKind::Binary(_, a, b) => {
                self.expr(a, scope);
                self.expr(b, scope);
            }
            ExprKind::Conditional(c, a, b) => {
                [c, a, b].into_iter().for_each(|e| self.expr(e, scope));
            }
            ExprKind::Load(place, _) => self.place(place, Access::Reads, scope),
            ExprKind::Call(name, arguments) => {
                self.named(*name, Access::Jumps, scope);
                arguments.iter().for_each(|e| self.expr(e, scope));
            }
            ExprKind::Quantified(quantified) => {
                if quantified.is_all {
                    self.names.keywords.push(quantified.word.range());
                }
                if let Some(range) = &quantified.range {
                    self.expr(&range.0, scope);
                    self.expr(&range.1, scope);
                }
                self.expr(&quantified.body, scope);
            }
            ExprKind::Any(Choice::Domain(domain)) => self.domain(domain, scope),
            ExprKind::Any(Choice::List(list)) => list.iter().for_each(|e| self.expr(e, scope)),
            ExprKind::Atomic(_, place, operands, ..) => {
                self.place(place, Access::Updates, scope);
                operands.iter().for_each(|e| self.expr(e, scope));
            }
            ExprKind::At(who, label) | ExprKind::Count(who, label) => {
                self.member(who, true, *label, scope);
            }
        }
    }

    fn place(&mut self, place: &Place<'t>, access: Access, scope: Scope) {
        self.named(place.name, access, scope);
        let process = self.globals.get(place.name.text).copied();
        let process = process.filter(|&p| self.names.symbols[p].kind == SymbolKind::Process);
        for selector in &place.selectors {
            match selector {
                Selector::Index(index) => self.expr(index, scope),
                Selector::Field(field) => {
                    let symbol = match process {
                        Some(process) => self.inner_of(Some(process), false, field.text),
                        None => self.fields.get(field.text).copied(),
                    };
                    if let Some(symbol) = symbol {
                        self.mention(*field, symbol, access, scope.inside);
                    }
                }
            }
        }
    }

    fn named(&mut self, name: Name<'t>, access: Access, scope: Scope) {
        let symbol = self.inner_of(scope.code, false, name.text);
        if let Some(symbol) = symbol.or_else(|| self.globals.get(name.text).copied()) {
            self.mention(name, symbol, access, scope.inside);
        }
    }

    /// `p@label`, `p[0].r`
    fn member(&mut self, who: &Who<'t>, is_label: bool, name: Name<'t>, scope: Scope) {
        if let Some(&process) = self.globals.get(who.name.text) {
            self.mention(who.name, process, Access::Asks, scope.inside);
            let symbol = self.inner_of(Some(process), is_label, name.text);
            if let Some(symbol) = symbol.or_else(|| self.in_procedures(name.text)) {
                self.mention(name, symbol, Access::Asks, scope.inside);
            }
        }
        if let Some(index) = &who.index {
            self.expr(index, scope);
        }
    }
}

/// Calls a function with each block of a statement.
fn each_block<'a, 't>(kind: &'a StmtKind<'t>, visit: &mut dyn FnMut(&'a Block<'t>)) {
    match kind {
        StmtKind::If(_, then, other) => {
            visit(then);
            visit(other);
        }
        StmtKind::While(_, body)
        | StmtKind::Loop(body)
        | StmtKind::For(.., body)
        | StmtKind::Await(body, _)
        | StmtKind::Undivided(_, body) => visit(body),
        StmtKind::Choose(blocks) => blocks.iter().for_each(visit),
        StmtKind::Label(_)
        | StmtKind::Registers(_)
        | StmtKind::Assign(..)
        | StmtKind::Update(..)
        | StmtKind::Store(..)
        | StmtKind::Call(_)
        | StmtKind::Goto(_)
        | StmtKind::Fence(_)
        | StmtKind::Nop
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Exit
        | StmtKind::Assume(_)
        | StmtKind::Assert(..)
        | StmtKind::Return(_) => {}
    }
}
