//! Calls of functions that are in the module, and returns from them.

use weir_llvm::{Body, Call, Kind, Value};
use weir_model::program::{BinOp, Expr, Stmt, StmtKind};

use super::Reader;
use super::explore::{Frame, MAX_CALLS, State, Then};
use super::memory::UNKNOWN;
use super::names::plain_name;
use super::number::{self, binary, number};
use super::objects::{Key, Val};

/// How often a function may be executed inside of itself.
const MAX_RECURSION: usize = 16;

impl<'m> Reader<'m> {
    /// Executes a call.
    pub(super) fn call(
        &mut self,
        state: &mut State,
        call: &'m Call,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        if let Value::Asm(text, constraints) = &call.callee {
            return self.assembly(state, text, constraints, result, out);
        }
        if let Value::Global(symbol) = &call.callee {
            let name = self.module.symbol(*symbol);
            if super::function::is_nothing(name) {
                state.top().at += 1;
                return Some(true);
            }
            if name.starts_with("llvm.") {
                return self.intrinsic(state, name, call, result, out);
            }
            let function = self.functions.get(name).copied();
            let is_defined = function.is_some_and(|f| self.module.functions[f].body != Body::None);
            let is_alias = self.aliases.contains_key(name);
            if !is_defined
                && !is_alias
                && let Some(body) = self.body_for(name)
            {
                let mut arguments = Vec::new();
                for (ty, value) in &call.arguments {
                    arguments.push(self.value(state, *ty, value, out)?);
                }
                return self.enter(state, body, arguments, Then::GoOn(result), out, depth);
            }
            if !is_defined && !is_alias {
                let mut arguments = Vec::new();
                for (ty, value) in &call.arguments {
                    arguments.push(
                        self.value(state, *ty, value, out)?.first().copied().unwrap_or(Val::Undef),
                    );
                }
                for value in &arguments {
                    self.must_be_set(*value, out);
                }
                return self.library(state, name, &arguments, result, out, depth);
            }
        }
        let mut arguments = Vec::new();
        for (ty, value) in &call.arguments {
            arguments.push(self.value(state, *ty, value, out)?);
        }
        let callee = self.scalar(state, self.pointer_type(), &call.callee, out)?;
        match callee {
            Val::Known(address) => match self.function_at(address) {
                Some(function) if self.is_one_step(state, function) => {
                    let mut inside = state.clone();
                    inside.atomic_until = Some(state.frames.len());
                    let then = Then::GoOn(result);
                    if !self.enter(&mut inside, function, arguments, then, out, depth)? {
                        return Some(false);
                    }
                    self.atomic_block(state, inside, out, depth)
                }
                Some(function) => {
                    self.enter(state, function, arguments, Then::GoOn(result), out, depth)
                }
                None => self.fail("a call to an address that is no function", out),
            },
            Val::Undef => self.fail("a pointer to a function that was never set is called", out),
            Val::Reg(register) => {
                let (functions, is_partial) = self.functions_at(register, call);
                for (address, function) in functions {
                    let (mut inner, mut inside) = (Vec::new(), state.clone());
                    if self.enter(
                        &mut inside,
                        function,
                        arguments.clone(),
                        Then::GoOn(result),
                        &mut inner,
                        depth,
                    )? {
                        self.explore(inside, &mut inner, depth + 1);
                    }
                    let is_it = binary(BinOp::Eq, Expr::Atom(register), number(address));
                    self.emit(out, StmtKind::If(is_it, inner, Vec::new()));
                }
                if is_partial {
                    let is_null = number::within(Expr::Atom(register), (0, 4095));
                    let mut limit = Vec::new();
                    self.limit(UNKNOWN, &mut limit);
                    self.emit(out, StmtKind::If(is_null, Vec::new(), limit));
                }
                self.fail("a call to an address that is no function", out)
            }
        }
    }

    /// The function that is executed in place of one that is compiled in no module.
    fn body_for(&self, name: &str) -> Option<usize> {
        self.functions.get(&*format!("weir_body::{}", plain_name(name))).copied()
    }

    /// Whether a call of a function begins an atomic block: the rules of SV-COMP give such functions this name.
    fn is_one_step(&self, state: &State, function: usize) -> bool {
        let defined = &self.module.functions[function];
        defined.name.starts_with("__VERIFIER_atomic_")
            && matches!(defined.body, Body::Blocks(_))
            && !state.is_atomic
    }

    /// The function at an address.
    pub(super) fn function_at(&mut self, address: i128) -> Option<usize> {
        let (id, 0) = self.facts.find(address)? else { return None };
        let Key::Function(symbol) = self.facts.get(id).key else { return None };
        self.functions.get(self.module.symbol(symbol)).copied()
    }

    /// Goes into a function.
    pub(super) fn enter(
        &mut self,
        state: &mut State,
        function: usize,
        arguments: Vec<Vec<Val>>,
        then: Then,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        let defined = &self.module.functions[function];
        match &defined.body {
            Body::Blocks(_) => {}
            Body::None => {
                let flat: Vec<Val> =
                    arguments.iter().map(|a| a.first().copied().unwrap_or(Val::Undef)).collect();
                let result = match then {
                    Then::GoOn(result) => result,
                    _ => None,
                };
                return self.library(state, &defined.name, &flat, result, out, depth);
            }
            Body::NotRead(why, line) => {
                let name = plain_name(&defined.name);
                self.refuse(format!("the function `{name}` is not read: line {line}: {why}"));
                return None;
            }
        }
        let again = state.frames.iter().filter(|frame| frame.function == function).count();
        if state.frames.len() >= MAX_CALLS || again >= MAX_RECURSION {
            let name = plain_name(&defined.name);
            let words = match again >= MAX_RECURSION {
                true => {
                    format!("`{name}` is called inside of itself more than {MAX_RECURSION} times")
                }
                false => format!("calls nest deeper than {MAX_CALLS}"),
            };
            self.limit(&words, out);
            return Some(false);
        }
        let top = state.top();
        let site = (top.context, top.function, top.block, top.at);
        let site = self.facts.context(site.0, site.1, site.2, site.3);
        let context = self.facts.context(site, function, u32::MAX, 0);
        let mut values = std::collections::BTreeMap::new();
        for (number, value) in arguments.into_iter().enumerate().take(defined.parameters.len()) {
            let value = match (defined.by_value.get(number).copied().flatten(), value.first()) {
                (Some(ty), Some(&from)) => {
                    // The callee has a copy of its own.
                    let (size, _) = self.layout.size(ty)?;
                    let id = self.stack_object(context, function, number as u32, size);
                    self.memory.remove(&id);
                    self.begin_object(state, id);
                    let to = Val::Known(self.facts.get(id).base);
                    if !self.copy(state, to, from, size, out)? {
                        return Some(false);
                    }
                    vec![to]
                }
                _ => value,
            };
            values.insert(number as u32, value);
        }
        state.frames.push(Frame { context, function, block: 0, at: 0, values, then });
        Some(true)
    }

    /// Returns from a function.
    pub(super) fn give_back(
        &mut self,
        state: &mut State,
        values: Vec<Val>,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        let frame = state.frames.pop()?;
        self.forget_stack(state, frame.context);
        state.rounds.retain(|(context, _), _| *context != frame.context);
        if let Then::Call(address, argument) = frame.then {
            // A destructor, after the function of a thread.
            let function = self.function_at(address)?;
            if state.frames.is_empty() {
                let mut nothing = State::nothing();
                let base = nothing.frames.remove(0);
                let values = std::collections::BTreeMap::from([(0, vec![argument])]);
                let context = self.facts.context(frame.context, function, u32::MAX, 2);
                state.frames.push(Frame { function, context, values, ..base });
                return Some(true);
            }
            return None;
        }
        if state.frames.is_empty() {
            self.note_lost(state, out);
            self.end_thread(values.first().copied(), &state.begun, out);
            return Some(false);
        }
        if frame.then == Then::Once {
            return Some(true);
        }
        if let Then::GoOn(Some(result)) = frame.then {
            state.top().values.insert(result, values);
        }
        if state.atomic_until != Some(state.frames.len()) {
            return self.behind(state, out, depth);
        }
        // What follows is no longer part of the block.
        (state.is_atomic, state.atomic_until) = (false, None);
        if self.behind(state, out, depth)? {
            let state = state.clone();
            self.point(state, out);
        }
        Some(false)
    }

    /// Goes on behind a call.
    pub(super) fn behind(
        &mut self,
        state: &mut State,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        let top = state.top();
        let (function, block, at) = (top.function, top.block as usize, top.at);
        if let Kind::Invoke(_, normal, _) = &self.blocks(function)[block].instructions[at].kind {
            return Some(self.go(state, normal.0, out, depth));
        }
        state.top().at += 1;
        Some(true)
    }
}
