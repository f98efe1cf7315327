//! Statements and calls.

use std::collections::HashMap;

use lang_c::ast::{
    BlockItem, CallExpression, DerivedDeclarator, Expression, ForInitializer, ForStatement,
    FunctionDefinition, Label, Statement, SwitchStatement,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};
use weir_model::program::BinOp;

use super::types::{name_of, specifier};
use super::{Frame, Name, Reader};
use crate::errors::quote;
use crate::lowering::Order;
use crate::lowering::control::Join;
use crate::lowering::types::Type;
use crate::lowering::value::Value;

/// How many rounds of a loop are executed, if it has to be executed.
const MAX_ROUNDS: usize = 20_000;

/// How deep calls nest.
const MAX_CALLS: usize = 64;

/// The parts of a loop.
struct Rounds<'u> {
    condition: Option<&'u Node<Expression>>,
    step: Option<&'u Node<Expression>>,
    body: &'u Node<Statement>,
    /// Whether the body comes before the condition.
    is_do: bool,
    span: Span,
}

impl<'u> Reader<'u, '_> {
    /// Calls a function of the program.
    pub(super) fn call(&mut self, name: &'u str, arguments: Vec<Value>, span: Span) -> Value {
        let Some(function) = self.functions.get(name).copied() else { return Value::void() };
        if self.calls.len() >= MAX_CALLS || self.calls.contains(&name) {
            let from = self.calls.iter().position(|called| *called == name).unwrap_or(0);
            let cycle: Vec<String> = self.calls[from..].iter().map(|n| quote(n)).collect();
            let message = format!("{} calls itself, by {}", quote(name), cycle.join(" and "));
            self.error(span, message);
            return Value::void();
        }
        self.calls.push(name);
        self.b.enter(("call", span.start, name));
        let around = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
        let was_eager = std::mem::replace(&mut self.is_eager, false);
        let result = self.body(function, arguments);
        self.is_eager = was_eager;
        self.scopes = around;
        self.b.leave();
        self.calls.pop();
        self.at(span);
        result
    }

    fn body(&mut self, function: &'u FunctionDefinition, arguments: Vec<Value>) -> Value {
        let base = self.base_type(function.specifiers.iter().filter_map(specifier));
        // The result has the type that is left without the parameters.
        let mut result = base.clone();
        for derived in &function.declarator.node.derived {
            if let DerivedDeclarator::Pointer(_) = derived.node {
                result = Type::pointer(result);
            }
        }
        let parameters = function.declarator.node.derived.iter().find_map(|d| match &d.node {
            DerivedDeclarator::Function(list) => Some(&list.node.parameters[..]),
            _ => None,
        });
        let mut arguments = arguments.into_iter();
        for parameter in parameters.unwrap_or(&[]) {
            let base = self.base_type(parameter.node.specifiers.iter().filter_map(specifier));
            let Some(declarator) = &parameter.node.declarator else {
                arguments.next();
                continue;
            };
            let ty = match self.declared(base, &declarator.node) {
                Type::Array(element, _) => Type::Pointer(element),
                ty => ty,
            };
            let Some(name) = name_of(&declarator.node) else { continue };
            let value = arguments.next().unwrap_or_else(|| Value::number(0, ty.clone()));
            self.at(declarator.span);
            let key = self.b.key(("parameter", declarator.span.start));
            let place = self.b.local(name, &ty, key);
            let value = match ty.is_scalar() {
                true => self.convert(value, &ty),
                false => value,
            };
            self.b.store(&place, &value, Order::Plain);
            self.define(name, Name::Variable(place));
        }
        let key = self.b.key("return");
        let returns = self.b.join(key);
        let result = (result != Type::Void).then(|| {
            let key = self.b.key("result");
            self.b.local("result", &result, key)
        });
        self.frames.push(Frame {
            returns,
            result: result.clone(),
            breaks: Vec::new(),
            continues: Vec::new(),
            labels: HashMap::new(),
        });
        self.statement(&function.statement);
        self.b.place(returns);
        self.frames.pop();
        match result {
            Some(result) => self.b.load(&result, Order::Plain),
            None => Value::void(),
        }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("statements are in functions")
    }

    /// Executes a statement.
    pub(super) fn statement(&mut self, statement: &'u Node<Statement>) {
        if !self.b.errors.is_empty() {
            return;
        }
        let span = statement.span;
        // Only a label can be reached here.
        if !self.b.is_reachable() && !has_label(&statement.node) {
            return;
        }
        self.at(span);
        let is_open = matches!(statement.node, Statement::Labeled(_) | Statement::Compound(_));
        if !self.b.is_reachable() && !is_open {
            return self.not_read(span, "a jump into the middle of a statement", "");
        }
        match &statement.node {
            Statement::Compound(items) => {
                self.scopes.push(HashMap::new());
                self.items(items);
                self.scopes.pop();
            }
            Statement::Expression(Some(e)) => self.effect(e),
            Statement::Expression(None) => {}
            Statement::If(branch) => {
                let branch = &branch.node;
                let condition = self.value(&branch.condition);
                self.at(branch.condition.span);
                match self.b.decide(&condition) {
                    Ok(is_true) => {
                        let taken = if is_true {
                            Some(&branch.then_statement)
                        } else {
                            branch.else_statement.as_ref()
                        };
                        let other = if is_true {
                            branch.else_statement.as_ref()
                        } else {
                            Some(&branch.then_statement)
                        };
                        if let Some(other) = other.filter(|s| has_label(&s.node)) {
                            self.not_read(
                                other.span,
                                "a label in a branch that is never taken",
                                "",
                            );
                        }
                        if let Some(taken) = taken {
                            self.statement(taken);
                        }
                    }
                    Err(code) => {
                        self.b.begin_if(code);
                        self.statement(&branch.then_statement);
                        self.b.begin_else();
                        if let Some(other) = &branch.else_statement {
                            self.statement(other);
                        }
                        self.at(branch.condition.span);
                        self.b.end_if();
                    }
                }
            }
            Statement::While(this) => self.repeat(&Rounds {
                condition: Some(&this.node.expression),
                step: None,
                body: &this.node.statement,
                is_do: false,
                span,
            }),
            Statement::DoWhile(this) => self.repeat(&Rounds {
                condition: Some(&this.node.expression),
                step: None,
                body: &this.node.statement,
                is_do: true,
                span,
            }),
            Statement::For(this) => self.for_statement(&this.node, span),
            Statement::Switch(this) => self.switch(&this.node, span),
            Statement::Return(value) => {
                let result = self.frame().result.clone();
                match (value, result) {
                    (Some(e), Some(place)) => {
                        let value = self.value(e);
                        self.at(span);
                        let value = match place.ty().is_scalar() {
                            true => self.convert(value, place.ty()),
                            false => value,
                        };
                        self.b.store(&place, &value, Order::Plain);
                    }
                    (Some(e), None) => self.effect(e),
                    (None, _) => {}
                }
                let returns = self.frame().returns;
                self.b.jump(returns);
            }
            Statement::Break => match self.frame().breaks.last().copied() {
                Some(join) => self.b.jump(join),
                None => self.error(span, "`break` outside of a loop"),
            },
            Statement::Continue => match self.frame().continues.last().copied() {
                Some(join) => self.b.jump(join),
                None => self.error(span, "`continue` outside of a loop"),
            },
            Statement::Goto(name) => {
                let join = self.label(&name.node.name);
                self.b.jump(join);
            }
            Statement::Labeled(labeled) => {
                match &labeled.node.label.node {
                    Label::Identifier(name) => {
                        let join = self.label(&name.node.name);
                        self.b.place_label(join);
                    }
                    _ => {
                        return self
                            .error(span, "a case label outside of the block of its `switch`");
                    }
                }
                self.statement(&labeled.node.statement);
            }
            Statement::Asm(asm) => self.assembly(&asm.node, span),
        }
    }

    fn items(&mut self, items: &'u [Node<BlockItem>]) {
        for item in items {
            match &item.node {
                BlockItem::Declaration(declaration) if self.b.is_reachable() => {
                    self.declaration(&declaration.node, declaration.span, false);
                }
                BlockItem::Statement(statement) => self.statement(statement),
                _ => {}
            }
        }
    }

    fn label(&mut self, name: &str) -> Join {
        if let Some(join) = self.frame().labels.get(name) {
            return *join;
        }
        let key = self.b.key(("label", name));
        let join = self.b.label(key);
        self.frame().labels.insert(name.to_owned(), join);
        join
    }

    fn for_statement(&mut self, this: &'u ForStatement, span: Span) {
        self.scopes.push(HashMap::new());
        match &this.initializer.node {
            ForInitializer::Expression(e) => self.effect(e),
            ForInitializer::Declaration(declaration) => {
                self.declaration(&declaration.node, declaration.span, false);
            }
            _ => {}
        }
        self.repeat(&Rounds {
            condition: this.condition.as_deref(),
            step: this.step.as_deref(),
            body: &this.statement,
            is_do: false,
            span,
        });
        self.scopes.pop();
    }

    fn repeat(&mut self, rounds: &Rounds<'u>) {
        if self.waits(rounds) {
            return;
        }
        let key = self.b.key(("loop", rounds.span.start));
        if self.b.is_computed() || self.starts_threads(rounds.body) {
            return self.execute(rounds, key);
        }
        self.translate(rounds, key);
    }

    /// A loop that only reads until a condition holds.
    fn waits(&mut self, rounds: &Rounds<'u>) -> bool {
        let Some(condition) = rounds.condition.filter(|_| rounds.step.is_none()) else {
            return false;
        };
        let is_endless = matches!(condition.node, Expression::Constant(_));
        if is_endless || !is_empty(rounds.body) || !self.is_quiet(condition) {
            return false;
        }
        self.at(rounds.span);
        let wait = self.b.begin_wait();
        let was_eager = std::mem::replace(&mut self.is_eager, true);
        let value = self.value(condition);
        self.is_eager = was_eager;
        let value = self.not(&value);
        self.at(rounds.span);
        self.b.end_wait(wait, &value)
    }

    /// A loop whose rounds are executed one by one.
    fn execute(&mut self, rounds: &Rounds<'u>, key: u64) {
        let exit = self.b.join(crate::lowering::hash(&(key, "exit")));
        let mut is_unknown = false;
        for round in 0.. {
            if !self.b.is_reachable() {
                break;
            }
            if round == MAX_ROUNDS {
                self.error(rounds.span, format!("this loop has more than {MAX_ROUNDS} rounds"));
                break;
            }
            self.b.enter(("round", rounds.span.start, round));
            if let Some(condition) = rounds.condition.filter(|_| !rounds.is_do) {
                is_unknown = self.leave_unless(condition, exit);
            }
            if !is_unknown {
                self.round(rounds, exit, round);
                if let Some(condition) = rounds.condition.filter(|_| rounds.is_do) {
                    is_unknown = self.leave_unless(condition, exit);
                }
            }
            if is_unknown {
                // The condition holds here, but nobody knows for how long.
                if !rounds.is_do {
                    self.round(rounds, exit, round);
                }
                let key = self.b.key(("rest", rounds.span.start));
                if self.starts_threads(rounds.body) {
                    self.error(rounds.span, "how often this loop runs is only known when the program runs, and it starts or joins threads");
                } else {
                    self.translate(rounds, key);
                }
                self.b.leave();
                break;
            }
            self.b.leave();
        }
        self.at(rounds.span);
        self.b.place(exit);
    }

    /// Leaves a loop if its condition does not hold. Says whether that is not known.
    fn leave_unless(&mut self, condition: &'u Node<Expression>, exit: Join) -> bool {
        if !self.b.is_reachable() {
            return false;
        }
        let value = self.value(condition);
        self.at(condition.span);
        match self.b.decide(&value) {
            Ok(true) => false,
            Ok(false) => {
                self.b.jump(exit);
                false
            }
            Err(code) => {
                self.b.begin_if(code);
                self.b.begin_else();
                self.b.jump(exit);
                self.b.end_if();
                true
            }
        }
    }

    /// The body of a loop and its step.
    fn round(&mut self, rounds: &Rounds<'u>, exit: Join, round: usize) {
        let key = self.b.key(("next", rounds.span.start, round));
        let next = self.b.join(key);
        self.frame().breaks.push(exit);
        self.frame().continues.push(next);
        self.statement(rounds.body);
        self.frame().breaks.pop();
        self.frame().continues.pop();
        self.at(rounds.span);
        self.b.place(next);
        if let Some(step) = rounds.step {
            self.effect(step);
        }
    }

    /// A loop that becomes one.
    fn translate(&mut self, rounds: &Rounds<'u>, key: u64) {
        self.at(rounds.span);
        self.count_rounds_from(key);
        let this = self.b.begin_loop(key);
        if let Some(condition) = rounds.condition.filter(|_| !rounds.is_do) {
            self.leave_unless(condition, this.exit);
        }
        self.count_round(key);
        if rounds.step.is_none() && !rounds.is_do {
            // `continue` goes to the head of the loop.
            self.frame().breaks.push(this.exit);
            self.frame().continues.push(this.head);
            self.statement(rounds.body);
            self.frame().breaks.pop();
            self.frame().continues.pop();
        } else {
            self.round(rounds, this.exit, 0);
        }
        if let Some(condition) = rounds.condition.filter(|_| rounds.is_do) {
            self.leave_unless(condition, this.exit);
        }
        self.at(rounds.span);
        self.b.end_loop(this);
    }

    fn count_rounds_from(&mut self, key: u64) {
        if self.b.options.unroll.is_some() {
            self.b.reset_rounds(key);
        }
    }

    fn count_round(&mut self, key: u64) {
        if self.b.options.unroll.is_some() {
            self.b.count_round(key);
        }
    }

    fn switch(&mut self, this: &'u SwitchStatement, span: Span) {
        let value = self.value(&this.expression);
        self.at(this.expression.span);
        let value = self.b.copied(&value);
        let Statement::Compound(items) = &this.statement.node else {
            return self.not_read(span, "a `switch` without a block", "put its cases into `{ }`");
        };
        let key = self.b.key(("switch", span.start));
        let exit = self.b.join(crate::lowering::hash(&(key, "exit")));
        // All cases, where they stand.
        let mut cases = Vec::new();
        let mut default = None;
        for (number, item) in items.iter().enumerate() {
            let BlockItem::Statement(statement) = &item.node else { continue };
            let mut inner = statement;
            while let Statement::Labeled(labeled) = &inner.node {
                match &labeled.node.label.node {
                    Label::Case(e) => {
                        let join = self.b.join(crate::lowering::hash(&(key, number, e.span.start)));
                        let constant = self.value(e);
                        cases.push((number, constant, join));
                    }
                    Label::Default => {
                        let join = self.b.join(crate::lowering::hash(&(key, number, "default")));
                        default = Some((number, join));
                    }
                    Label::CaseRange(range) => {
                        self.not_read(range.span, "a range of cases", "list the cases");
                    }
                    Label::Identifier(_) => {}
                }
                inner = &labeled.node.statement;
            }
        }
        self.at(span);
        for (_, constant, join) in &cases {
            let same = self.arithmetic(BinOp::Eq, value.clone(), constant.clone());
            match self.b.decide(&same) {
                Ok(true) => self.b.jump(*join),
                Ok(false) => {}
                Err(code) => {
                    self.b.begin_if(code);
                    self.b.jump(*join);
                    self.b.begin_else();
                    self.b.end_if();
                }
            }
        }
        self.b.jump(default.map_or(exit, |(_, join)| join));
        self.scopes.push(HashMap::new());
        self.frame().breaks.push(exit);
        for (number, item) in items.iter().enumerate() {
            for (_, _, join) in cases.iter().filter(|case| case.0 == number) {
                self.b.place(*join);
            }
            if let Some((_, join)) = default.filter(|default| default.0 == number) {
                self.b.place(join);
            }
            match &item.node {
                BlockItem::Declaration(declaration) if self.b.is_reachable() => {
                    self.declaration(&declaration.node, declaration.span, false);
                }
                BlockItem::Statement(statement) => {
                    let mut inner = statement;
                    while let Statement::Labeled(labeled) = &inner.node {
                        if let Label::Identifier(name) = &labeled.node.label.node {
                            let join = self.label(&name.node.name);
                            self.b.place_label(join);
                        }
                        inner = &labeled.node.statement;
                    }
                    self.statement(inner);
                }
                _ => {}
            }
        }
        self.frame().breaks.pop();
        self.scopes.pop();
        self.at(span);
        self.b.place(exit);
    }

    /// Whether a statement starts or joins threads.
    fn starts_threads(&mut self, statement: &'u Node<Statement>) -> bool {
        let mut calls = Calls::default();
        calls.visit_statement(&statement.node, &statement.span);
        calls.0.into_iter().any(|name| self.is_starter(name))
    }

    fn is_starter(&mut self, name: &'u str) -> bool {
        if let Some(known) = self.starters.get(name) {
            return *known;
        }
        let is_known = matches!(
            name,
            "pthread_create"
                | "pthread_join"
                | "thrd_create"
                | "thrd_join"
                | "__VERIFIER_spawn"
                | "__VERIFIER_join"
                | "__VERIFIER_spawn_symmetric"
        );
        // A function that calls itself is not looked at twice.
        self.starters.insert(name, is_known);
        let Some(function) = self.functions.get(name).copied().filter(|_| !is_known) else {
            return is_known;
        };
        let found = self.starts_threads(&function.statement);
        self.starters.insert(name, found);
        found
    }

    /// Gives a thread its own variables.
    pub(super) fn begin_thread_locals(&mut self) {
        for number in 0..self.thread_locals.len() {
            let thread = self.b.thread();
            let local = self.thread_locals[number].clone();
            let key = self.b.key(("thread local", number));
            let place = self.b.local(&local.name, &local.ty, key);
            let init = match local.init {
                Some(init) => init,
                None => self.zero(&local.ty),
            };
            self.b.store(&place, &init, Order::Plain);
            self.of_threads.insert((thread, number), place);
        }
    }
}

/// The names of functions that are called.
#[derive(Default)]
struct Calls<'u>(Vec<&'u str>);

impl<'u> Visit<'u> for Calls<'u> {
    fn visit_call_expression(&mut self, call: &'u CallExpression, span: &'u Span) {
        if let Expression::Identifier(name) = &call.callee.node {
            self.0.push(&name.node.name);
        }
        visit::visit_call_expression(self, call, span);
    }
}

/// Whether a statement has no effect.
fn is_empty(statement: &Node<Statement>) -> bool {
    match &statement.node {
        Statement::Expression(None) => true,
        Statement::Expression(Some(e)) => match &e.node {
            Expression::Call(call) => match &call.node.callee.node {
                Expression::Identifier(name) => super::library::is_pause(&name.node.name),
                _ => false,
            },
            _ => false,
        },
        Statement::Compound(items) => items.iter().all(|item| match &item.node {
            BlockItem::Statement(statement) => is_empty(statement),
            _ => false,
        }),
        _ => false,
    }
}

/// Whether a label is inside.
fn has_label(statement: &Statement) -> bool {
    match statement {
        Statement::Labeled(_) => true,
        Statement::Compound(items) => items.iter().any(|item| match &item.node {
            BlockItem::Statement(statement) => has_label(&statement.node),
            _ => false,
        }),
        Statement::If(branch) => {
            has_label(&branch.node.then_statement.node)
                || branch.node.else_statement.as_ref().is_some_and(|s| has_label(&s.node))
        }
        Statement::While(this) => has_label(&this.node.statement.node),
        Statement::DoWhile(this) => has_label(&this.node.statement.node),
        Statement::For(this) => has_label(&this.node.statement.node),
        _ => false,
    }
}
