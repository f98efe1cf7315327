//! Threads, and closures that are called.

use std::rc::Rc;

use super::reader::{Callable, Closure, Loc, Reader, Scope, Val};
use super::syntax;
use super::types::Ty;
use crate::lowering::access::Update;
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value};
use crate::lowering::{Key, Lvalue, Order};

/// A thread that has been started.
#[derive(Clone, Debug)]
pub struct Thread {
    key: Key,
    /// What it returns: known, or in memory.
    result: Val,
    is_known: bool,
    is_joined: bool,
}

impl Reader<'_> {
    /// Starts a thread that executes a function.
    pub fn spawn(&mut self, function: Val, tag: (usize, usize)) -> Val {
        if !self.is_reachable() {
            return Val::never();
        }
        let name = self.thread_name(&function);
        let key = self.b.key((tag, "result"));
        let (range, hint, depth) = (self.b.range(), self.hint.take(), self.depth);
        let is_eager = std::mem::replace(&mut self.is_eager, false);
        let thread = self.b.begin_thread(&name, tag);
        self.is_once = true;
        let result = self.call_value(&function, Vec::new(), tag, None);
        self.is_once = false;
        let mut known = Thread { key, result: result.clone(), is_known: true, is_joined: false };
        if self.is_reachable() && {
            let raw = self.raw(&result);
            self.b.for_thread(&raw).is_none()
        } {
            known.is_known = false;
            if self.known.wanted.contains(&key) {
                let lvalue = self.result_place(&name, key, &result.ty);
                let loc = Loc { lvalue, ty: result.ty.clone() };
                self.store(&loc, &result, Order::Relaxed);
            }
        }
        self.b.end_thread();
        self.is_eager = is_eager;
        self.hint = hint;
        self.depth = depth;
        self.b.at(range);
        self.threads.insert(thread, known);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(thread);
        }
        Val { data: Data::Thread(thread), ty: Ty::Handle(result.ty.into()) }
    }

    fn thread_name(&self, function: &Val) -> String {
        let Data::Function(number) = function.data else { return "thread".to_owned() };
        match &self.callables[number] {
            Callable::Function(id, _) => self.items.functions[*id].name.clone(),
            _ => match &self.hint {
                Some(hint) if hint.chars().all(|c| c.is_alphanumeric() || c == '_') => hint.clone(),
                _ => "thread".to_owned(),
            },
        }
    }

    fn result_place(&mut self, name: &str, key: Key, ty: &Ty) -> Lvalue {
        let lowered = self.lower(ty);
        let object = self.b.object(key, &format!("{name}.result"), &lowered);
        Lvalue::place(self.b.whole(object))
    }

    /// Waits for a thread. Its result is `Ok` of what it returned.
    pub fn join_thread(&mut self, handle: &Val, is_wanted: bool) -> Val {
        if !self.is_reachable() {
            return Val::never();
        }
        let Data::Thread(thread) = handle.data else {
            return self.fault("which thread is joined here is only known when the program runs");
        };
        self.b.join_thread(thread);
        let Some(known) = self.threads.get_mut(&thread) else { return Val::never() };
        known.is_joined = true;
        let known = known.clone();
        if !is_wanted {
            return Val::unit();
        }
        let value = if known.is_known || known.result.ty.is_unit() {
            known.result
        } else {
            if self.known.wanted.insert(known.key) {
                self.known.is_changed = true;
            }
            let lvalue = self.result_place("thread", known.key, &known.result.ty);
            let loc = Loc { lvalue, ty: known.result.ty.clone() };
            self.load(&loc, Order::Relaxed)
        };
        self.ok(value)
    }

    /// `thread::scope`: joins at its end what is not joined yet.
    pub fn scope(&mut self, function: &Val, tag: (usize, usize)) -> Val {
        let scope = Val::number(0, Ty::Scope);
        self.with_threads(function, vec![scope], tag)
    }

    /// Calls a function, and waits for the threads that it has started.
    pub fn with_threads(&mut self, function: &Val, args: Vec<Val>, tag: (usize, usize)) -> Val {
        self.scopes.push(Vec::new());
        let range = self.b.range();
        let value = self.call_value(function, args, tag, None);
        let started = self.scopes.pop().unwrap_or_default();
        self.b.at(range);
        for thread in started {
            if self.is_reachable() && self.threads.get(&thread).is_some_and(|t| !t.is_joined) {
                self.b.join_thread(thread);
                if let Some(known) = self.threads.get_mut(&thread) {
                    known.is_joined = true;
                }
            }
        }
        value
    }

    /// The token that `park` waits for.
    fn token(&mut self, thread: usize) -> Lvalue {
        let name = self.b.thread_name(thread).to_owned();
        let key = crate::lowering::hash(&("token", thread));
        let ty = Type::Atomic(Type::Bool.into());
        let object = self.b.object(key, &format!("{name}.token"), &ty);
        Lvalue::place(self.b.whole(object))
    }

    pub fn park(&mut self) {
        let token = self.token(self.b.thread());
        // It may also return for no reason.
        let chance = self.b.any(vec![0, 1], &Type::Bool);
        let is_waiting = self.b.decide(&chance);
        if let Err(code) = is_waiting.clone() {
            self.b.begin_if(code);
        }
        let (one, zero) = (Value::number(1, Type::Bool), Value::number(0, Type::Bool));
        self.b.update(&token, &Update::WaitFor(one, zero), Order::Acquire);
        if is_waiting.is_err() {
            self.b.begin_else();
            self.b.end_if();
        }
    }

    pub fn unpark(&mut self, thread: &Val) {
        let Data::Thread(thread) = thread.data else {
            self.fault("which thread is woken here is only known when the program runs");
            return;
        };
        let token = self.token(thread);
        let one = Value::number(1, Type::Bool);
        self.b.update(&token, &Update::Swap(one), Order::Release);
    }

    /// Calls a function or a closure that is a value.
    pub fn call_value(
        &mut self,
        function: &Val,
        args: Vec<Val>,
        tag: (usize, usize),
        want: Option<&Ty>,
    ) -> Val {
        if !self.is_reachable() {
            return Val::never();
        }
        let mut function = function.clone();
        // A box or a reference of a function.
        for _ in 0..8 {
            if !matches!(function.data, Data::Function(_))
                && matches!(self.resolve(&function.ty), Ty::Pointer(..))
            {
                let loc = self.follow_as(&function, &Ty::Function);
                function = self.load(&loc, Order::Plain);
            }
        }
        let Data::Function(number) = function.data else {
            return self.fault("which function is called here is only known when the program runs");
        };
        match self.callables[number].clone() {
            Callable::Function(id, types) => {
                let mut types = types;
                if let Some(first) = args.first() {
                    let item = self.items.functions[id].clone();
                    if item.of.is_some() && !types.contains_key("Self") {
                        let ty = match self.resolve(&first.ty) {
                            Ty::Pointer(_, to) => (*to).clone(),
                            ty => ty,
                        };
                        types = self.impl_types(&item, &ty, tag);
                    }
                }
                self.call_function(id, types, args, tag)
            }
            Callable::Closure(closure) => self.call_closure(&closure, args, tag, want),
            Callable::Variant(adt, variant) => {
                let ty = self.fresh_adt(adt, tag);
                self.variant(&ty, variant, args)
            }
            Callable::Std(path) => {
                let path = path.clone();
                self.std_function(&path, args, tag, want)
            }
            Callable::List(_) | Callable::Iter(_) => Val::never(),
        }
    }

    fn call_closure(
        &mut self,
        closure: &Rc<Closure>,
        args: Vec<Val>,
        tag: (usize, usize),
        want: Option<&Ty>,
    ) -> Val {
        if !self.deeper(&closure.node.inputs_begin) {
            return Val::never();
        }
        let here = self.b.thread();
        let range = self.b.range();
        let is_once = std::mem::replace(&mut self.is_once, false) && closure.is_move;
        self.b.enter((syntax::range(&closure.node.inputs_begin).start, tag, "closure"));
        let mut frame = self.new_frame(closure.module, closure.file);
        frame.types = closure.types.clone();
        frame.function = closure.function;
        self.frames.push(frame);
        let mut bindings = closure.bindings.clone();
        if closure.is_move {
            for binding in &mut bindings {
                let is_local = matches!(binding.loc.lvalue, Lvalue::Locals(..));
                if binding.owner == here || !is_local {
                    continue;
                }
                match self.copied_here(binding) {
                    Some(loc) => {
                        binding.loc = loc;
                        binding.owner = here;
                        binding.copy_of = None;
                    }
                    None => self.b.share(binding.owner, &binding.loc.lvalue),
                }
            }
        }
        if is_once {
            for binding in &mut bindings {
                binding.flag = self.flag(&binding.loc.clone(), &binding.name.clone());
            }
        }
        self.frame_mut().borrowed = usize::from(!is_once);
        let captured = Scope { bindings, is_temporary: false };
        self.frame_mut().scopes.insert(0, captured);
        let returns = match (&closure.node.output, want) {
            (syn::ReturnType::Type(_, ty), _) => self.ty(ty),
            (_, Some(want)) => want.clone(),
            _ => self.unknown((syntax::range(&closure.node.inputs_begin).start, "returns")),
        };
        self.frame_mut().returns = returns.clone();
        for (pat, value) in closure.node.inputs.iter().zip(args) {
            self.bind_pattern_value(pat, value);
        }
        let mut has_return = false;
        syntax::words(&closure.node.body, &mut |word| has_return |= word == "return");
        has_return |= syntax::has_question_mark(&closure.node.body);
        let value = if has_return {
            let body = &closure.node.body;
            self.with_return(&returns, tag, |this| {
                this.open(true);
                let value = this.expr(body, Some(&returns));
                this.close();
                value
            })
        } else {
            self.open(true);
            let value = self.expr(&closure.node.body, Some(&returns));
            self.close();
            self.close_all();
            value
        };
        let ty = self.unify(&value.ty, &returns);
        self.frames.pop();
        self.b.leave();
        self.depth -= 1;
        self.b.at(range);
        value.with(ty)
    }

    /// `Ok(value)`.
    pub fn ok(&mut self, value: Val) -> Val {
        let module = self.items.library;
        let Some(super::items::Def::Variant(adt, variant)) =
            self.items.value(module, &["Ok".to_owned()])
        else {
            return Val::never();
        };
        let ty = Ty::Adt(adt, vec![value.ty.clone(), Ty::Opaque]);
        self.variant(&ty, variant, vec![value])
    }

    /// `Some(value)`, or `None`.
    pub fn option(&mut self, value: Option<Val>, ty: Ty) -> Val {
        let Some(adt) = self.items.option else { return Val::never() };
        let ty = Ty::Adt(adt, vec![ty]);
        match value {
            None => self.variant(&ty, 0, Vec::new()),
            Some(value) => self.variant(&ty, 1, vec![value]),
        }
    }
}
