//! The reader: executes a program from its first function on, and tells the lowering what happens.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use syn::spanned::Spanned;
use weir_model::program::Expr as Code;

use super::items::{Function, Items, LIBRARY};
use super::sequences::{Iter, List};
use super::syntax;
use super::types::{Known, Names, Pointer, Ty};
use crate::Diagnostic;
use crate::lowering::control::{Join, Loop};
use crate::lowering::types::{StructId, Type};
use crate::lowering::value::{Data, Value};
use crate::lowering::{Builder, Lvalue, Order};

/// How deep expressions, calls and blocks may nest while they are executed.
const MAX_DEPTH: usize = 1200;

/// How often a function may be entered before it has been left.
const MAX_RECURSION: usize = 6;

/// The value of an expression.
#[derive(Clone, Debug)]
pub struct Val {
    pub data: Data,
    pub ty: Ty,
}

impl Val {
    pub fn unit() -> Self {
        Self { data: Data::Code(Code::Const(0)), ty: Ty::UNIT }
    }

    /// The value of code that is not reached.
    pub fn never() -> Self {
        Self { data: Data::Code(Code::Const(0)), ty: Ty::Never }
    }

    pub fn number(value: i128, ty: Ty) -> Self {
        Self { data: Data::Code(Code::Const(value)), ty }
    }

    pub fn truth(value: bool) -> Self {
        Self::number(i128::from(value), Ty::Bool)
    }

    pub fn function(number: usize) -> Self {
        Self { data: Data::Function(number), ty: Ty::Function }
    }

    pub fn known(&self) -> Option<i128> {
        match self.data {
            Data::Code(Code::Const(value)) => Some(value),
            _ => None,
        }
    }

    pub fn with(self, ty: Ty) -> Self {
        Self { ty, ..self }
    }
}

/// Something that has a value and may be given another one.
#[derive(Clone, Debug)]
pub struct Loc {
    pub lvalue: Lvalue,
    pub ty: Ty,
}

/// What a place is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// To read it.
    Read,
    /// To write it, or to keep its address.
    Address,
}

/// A name of a local variable.
#[derive(Clone, Debug)]
pub struct Binding {
    pub name: String,
    pub loc: Loc,
    /// The thread that declared it.
    pub owner: usize,
    /// Whether it still has to be dropped: 0 or 1; nothing if there is nothing to drop.
    pub flag: Option<Lvalue>,
    /// The variable of another thread that it is a copy of.
    pub copy_of: Option<(usize, Lvalue)>,
}

#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub bindings: Vec<Binding>,
    /// Whether it is that of the temporaries of a statement.
    pub is_temporary: bool,
}

/// A loop or a labeled block that is being executed.
#[derive(Clone, Debug)]
pub struct Target {
    pub label: Option<String>,
    pub is_loop: bool,
    /// Where `break` and `continue` go.
    pub exit: Join,
    pub head: Option<Join>,
    pub result: Option<Loc>,
    /// How many scopes are open around it.
    pub scopes: usize,
}

/// A function or a closure that is being executed.
#[derive(Clone, Debug)]
pub struct Frame {
    pub module: usize,
    pub file: usize,
    pub types: Names,
    pub scopes: Vec<Scope>,
    pub targets: Vec<Target>,
    /// Where `return` goes, and where its value is.
    pub end: Option<Join>,
    pub result: Option<Loc>,
    pub function: Option<usize>,
    pub returns: Ty,
    /// How many of the scopes belong to another function, as those around a closure do.
    pub borrowed: usize,
}

/// A closure with what it has captured.
pub struct Closure {
    pub node: syn::ExprClosure,
    pub bindings: Vec<Binding>,
    pub is_move: bool,
    pub module: usize,
    pub file: usize,
    pub types: Names,
    pub function: Option<usize>,
}

/// What a value stands for that is not a number.
#[derive(Clone)]
pub enum Callable {
    Function(usize, Names),
    Closure(Rc<Closure>),
    /// A constructor.
    Variant(usize, usize),
    /// A function of the standard library that is built in.
    Std(Vec<String>),
    List(List),
    Iter(Iter),
}

/// The reader, in one pass.
pub struct Reader<'a> {
    pub b: &'a mut Builder,
    pub items: &'a mut Items,
    pub known: &'a mut Known,
    pub frames: Vec<Frame>,
    pub callables: Vec<Callable>,
    pub structs: HashMap<Ty, StructId>,
    /// The types around the one that is laid out.
    pub around: Vec<Ty>,
    pub statics: HashMap<usize, usize>,
    /// What the next object that is allocated is called.
    pub hint: Option<String>,
    pub depth: usize,
    /// Whether both sides of `&&` are evaluated, because they only read.
    pub is_eager: bool,
    pub is_wrapping: bool,
    /// The threads that have been started, by their numbers in the lowering.
    pub threads: HashMap<usize, super::threads::Thread>,
    /// The open scopes of `thread::scope`: the threads that were started in each.
    pub scopes: Vec<Vec<usize>>,
    /// Whether the closure that is called next owns what it has captured.
    pub is_once: bool,
    pub macros: HashMap<(usize, usize), Rc<super::macros::Arguments>>,
}

impl<'a> Reader<'a> {
    pub fn new(b: &'a mut Builder, items: &'a mut Items, known: &'a mut Known) -> Self {
        let is_wrapping = b.options.wraps;
        Self {
            b,
            items,
            known,
            frames: Vec::new(),
            callables: Vec::new(),
            structs: HashMap::new(),
            around: Vec::new(),
            statics: HashMap::new(),
            hint: None,
            depth: 0,
            is_eager: false,
            is_wrapping,
            threads: HashMap::new(),
            scopes: Vec::new(),
            is_once: false,
            macros: HashMap::new(),
        }
    }

    /// Executes the program.
    pub fn run(&mut self, entry: usize) {
        let module = self.items.functions[entry].module;
        let file = self.items.functions[entry].file;
        self.frames.push(self.new_frame(module, file));
        for id in 0..self.items.statics.len() {
            self.static_object(id);
        }
        self.call_function(entry, Names::new(), Vec::new(), (0, 0));
        self.frames.pop();
    }

    pub fn new_frame(&self, module: usize, file: usize) -> Frame {
        Frame {
            module,
            file,
            types: Names::new(),
            scopes: vec![Scope::default()],
            targets: Vec::new(),
            end: None,
            result: None,
            function: None,
            returns: Ty::UNIT,
            borrowed: 0,
        }
    }

    pub fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    pub fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Where something is in the text; what the library does is where it is called.
    pub fn range(&self, node: &impl Spanned) -> Range<usize> {
        let file = self.frame().file;
        if file == LIBRARY {
            return self.b.range();
        }
        let range = syntax::range(node);
        range.start + file..range.end + file
    }

    /// What tells a node from all others.
    pub fn tag(&self, node: &impl Spanned) -> (usize, usize) {
        let range = syntax::range(node);
        let file = self.frame().file;
        (file + range.start, file + range.end)
    }

    /// What follows comes from here.
    pub fn at(&mut self, node: &impl Spanned) {
        let range = self.range(node);
        self.b.at(range);
    }

    /// Reports an error. What follows is not executed.
    pub fn error_at(&mut self, node: &impl Spanned, message: &str, help: Option<&str>) -> Val {
        let range = self.range(node);
        let mut error = Diagnostic::new(message, range);
        if let Some(help) = help {
            error = error.help(help);
        }
        if self.b.errors.is_empty() {
            self.b.errors.push(error);
        }
        Val::never()
    }

    /// Reports an error where the reader is. What follows is not executed.
    pub fn fault(&mut self, message: &str) -> Val {
        if self.is_reachable() {
            self.b.error(message);
        }
        Val::never()
    }

    /// The same, with advice.
    pub fn fault_with(&mut self, message: &str, help: &str) -> Val {
        if self.is_reachable() {
            let range = self.b.range();
            self.b.errors.push(Diagnostic::new(message, range).help(help));
        }
        Val::never()
    }

    /// Reports what is not read.
    pub fn unsupported(&mut self, node: &impl Spanned, what: &str, instead: &str) -> Val {
        self.error_at(node, &format!("{what} is not read"), Some(instead))
    }

    pub fn is_reachable(&self) -> bool {
        self.b.is_reachable()
    }

    /// A value as the lowering has it.
    pub fn raw(&mut self, value: &Val) -> Value {
        let ty = self.lower(&value.ty);
        Value { data: value.data.clone(), ty }
    }

    /// Goes one level deeper; `false` if that is too deep.
    pub fn deeper(&mut self, node: &impl Spanned) -> bool {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.error_at(node, "with all calls this nests too deep", None);
            return false;
        }
        true
    }

    /// Declares a local variable with a value.
    pub fn declare(&mut self, name: &str, value: &Val, tag: (usize, usize)) -> Loc {
        let loc = self.local(name, &value.ty, tag);
        self.store(&loc, value, Order::Plain);
        self.bind(name, loc.clone());
        loc
    }

    /// A local variable without a name in the program yet.
    pub fn local(&mut self, name: &str, ty: &Ty, tag: (usize, usize)) -> Loc {
        let key = self.b.key((tag, name, "local"));
        let lowered = self.lower(ty);
        Loc { lvalue: self.b.local(name, &lowered, key), ty: ty.clone() }
    }

    /// Gives a place a name in the innermost block.
    pub fn bind(&mut self, name: &str, loc: Loc) {
        let flag = self.flag(&loc, name);
        self.bind_flagged(name, loc, flag);
    }

    /// Gives a place a name; it is not dropped at the end of the block.
    pub fn bind_borrowed(&mut self, name: &str, loc: Loc) {
        self.bind_flagged(name, loc, None);
    }

    fn bind_flagged(&mut self, name: &str, loc: Loc, flag: Option<Lvalue>) {
        let owner = self.b.thread();
        let binding = Binding { name: name.to_owned(), loc, owner, flag, copy_of: None };
        let frame = self.frame_mut();
        if let Some(scope) = frame.scopes.iter_mut().rev().find(|scope| !scope.is_temporary) {
            scope.bindings.push(binding);
        }
    }

    /// Keeps a value to the end of the statement, where it is dropped.
    pub fn temporary(&mut self, value: &Val, tag: (usize, usize)) -> Loc {
        let name = "temporary";
        let loc = self.local(name, &value.ty, tag);
        self.store(&loc, value, Order::Plain);
        let flag = self.flag(&loc, name);
        if flag.is_some() {
            let owner = self.b.thread();
            let binding =
                Binding { name: String::new(), loc: loc.clone(), owner, flag, copy_of: None };
            if let Some(scope) = self.frame_mut().scopes.last_mut() {
                scope.bindings.push(binding);
            }
        }
        loc
    }

    /// The variable of a name.
    pub fn find(&self, name: &str) -> Option<(usize, usize)> {
        let scopes = &self.frame().scopes;
        for (i, scope) in scopes.iter().enumerate().rev() {
            if let Some(j) = scope.bindings.iter().rposition(|binding| binding.name == name) {
                return Some((i, j));
            }
        }
        None
    }

    pub fn binding(&self, at: (usize, usize)) -> &Binding {
        &self.frame().scopes[at.0].bindings[at.1]
    }

    /// Where a variable is, for the thread that is executed.
    pub fn variable(&mut self, at: (usize, usize), wanted: Use) -> Loc {
        let binding = self.binding(at).clone();
        let here = self.b.thread();
        let Lvalue::Locals(..) = binding.loc.lvalue else { return binding.loc };
        if binding.owner == here {
            if let Some((owner, original)) = &binding.copy_of
                && wanted == Use::Address
            {
                self.b.share(*owner, original);
            }
            return binding.loc;
        }
        if wanted == Use::Read
            && let Some(loc) = self.copied_here(&binding)
        {
            let original = (binding.owner, binding.loc.lvalue.clone());
            let binding = &mut self.frame_mut().scopes[at.0].bindings[at.1];
            binding.loc = loc.clone();
            binding.owner = here;
            binding.copy_of = Some(original);
            return loc;
        }
        self.b.share(binding.owner, &binding.loc.lvalue);
        // This pass is not the last one.
        self.local(&binding.name, &binding.loc.ty, (at.0, at.1))
    }

    /// A copy of another thread's variable, if what it holds is known.
    pub fn copied_here(&mut self, binding: &Binding) -> Option<Loc> {
        let value = self.b.held_by(binding.owner, &binding.loc.lvalue)?;
        let count = self.frame().scopes.len();
        let loc = self.local(&binding.name, &binding.loc.ty, (count, binding.name.len()));
        let value = Val { data: value.data, ty: loc.ty.clone() };
        self.store(&loc, &value, Order::Plain);
        Some(loc)
    }

    pub fn load(&mut self, loc: &Loc, order: Order) -> Val {
        let ty = self.resolve(&loc.ty);
        if ty.is_unit() {
            return Val::unit();
        }
        let value = self.b.load(&loc.lvalue, order);
        Val { data: value.data, ty }
    }

    pub fn store(&mut self, loc: &Loc, value: &Val, order: Order) {
        let ty = self.unify(&loc.ty, &value.ty);
        if matches!(ty, Ty::Never) || ty.is_unit() || !self.is_reachable() {
            return;
        }
        let mut raw = self.raw(value);
        if matches!(loc.lvalue.ty().plain(), Type::Struct(_) | Type::Array(..))
            && !matches!(raw.data, Data::Fields(_))
        {
            // Not initialized, or a type that is not known yet.
            raw = self.zero(&loc.lvalue.ty().clone());
        }
        self.b.store(&loc.lvalue, &raw, order);
    }

    /// What a pointer leads to.
    pub fn follow(&mut self, pointer: &Val) -> Loc {
        let Ty::Pointer(_, to) = self.resolve(&pointer.ty) else {
            return Loc { lvalue: Lvalue::nothing(), ty: Ty::Never };
        };
        let to = (*to).clone();
        if let Data::Function(number) = pointer.data
            && let Some(array) = self.array_of(number)
        {
            return array;
        }
        if let Ty::Slice(element) = &to {
            // The place itself knows how many elements there are.
            let place = match &pointer.data {
                Data::Place(place) => Some(place.ty.plain().clone()),
                _ => None,
            };
            match place {
                Some(Type::Array(_, n)) => {
                    let array = Ty::Array(element.clone(), Ty::Const(i128::from(n)).into());
                    return self.follow_as(pointer, &array);
                }
                Some(Type::Function) => {
                    return self.follow_as(pointer, &Ty::Vec(element.clone()));
                }
                _ => {}
            }
        }
        self.follow_as(pointer, &to)
    }

    pub fn follow_as(&mut self, pointer: &Val, to: &Ty) -> Loc {
        let raw = self.raw(pointer);
        let lowered = self.lower(to);
        if lowered == Type::Void {
            return Loc { lvalue: Lvalue::nothing(), ty: to.clone() };
        }
        Loc { lvalue: self.b.follow(&raw, &lowered), ty: to.clone() }
    }

    /// A pointer to a place.
    pub fn address(&mut self, loc: &Loc, kind: Pointer) -> Val {
        let value = self.b.address_of(&loc.lvalue);
        Val { data: value.data, ty: Ty::pointer(kind, loc.ty.clone()) }
    }

    /// A field of a place, by its number.
    pub fn field(&mut self, loc: &Loc, index: usize) -> Loc {
        let ty = self.resolve(&loc.ty);
        let fields = self.fields(&ty);
        let Some((_, field)) = fields.get(index) else { return loc.clone() };
        let is_niche = matches!(&ty, Ty::Adt(id, args) if self.is_niche(*id, args));
        if is_niche {
            return Loc { lvalue: loc.lvalue.clone(), ty: field.clone() };
        }
        let is_void = matches!(loc.lvalue.ty().plain(), Type::Void);
        let lvalue = match is_void {
            true => Lvalue::nothing(),
            false => self.b.field(&loc.lvalue, index),
        };
        Loc { lvalue, ty: field.clone() }
    }

    /// A field of a value.
    pub fn field_of(&mut self, value: &Val, index: usize) -> Val {
        let ty = self.resolve(&value.ty);
        let fields = self.fields(&ty);
        let ty = match fields.get(index) {
            Some((_, ty)) => ty.clone(),
            None => Ty::Never,
        };
        let data = match &value.data {
            Data::Fields(list) => list.get(index).map(|field| field.data.clone()),
            _ => None,
        };
        let is_niche = matches!(&value.ty, Ty::Adt(id, args) if self.is_niche(*id, args));
        match data {
            Some(data) => Val { data, ty },
            None if is_niche => Val { data: value.data.clone(), ty },
            None => {
                let lowered = self.lower(&ty);
                Val { data: self.zero(&lowered).data, ty }
            }
        }
    }

    /// Opens a scope.
    pub fn open(&mut self, is_temporary: bool) {
        self.frame_mut().scopes.push(Scope { bindings: Vec::new(), is_temporary });
    }

    /// Drops what is in the innermost scope, and closes it.
    pub fn close(&mut self) {
        self.drop_scopes(self.frame().scopes.len() - 1);
        self.frame_mut().scopes.pop();
    }

    /// Executes a function with arguments, in place.
    pub fn call_function(
        &mut self,
        id: usize,
        types: Names,
        args: Vec<Val>,
        tag: (usize, usize),
    ) -> Val {
        let function: Rc<Function> = self.items.functions[id].clone();
        if !self.is_reachable() || !self.deeper(&function.signature.ident) {
            return Val::never();
        }
        let active = self.frames.iter().filter(|frame| frame.function == Some(id)).count();
        if active > MAX_RECURSION && function.file != LIBRARY {
            let name = &function.name;
            let range = self.b.range();
            self.b.errors.push(
                Diagnostic::new(format!("the function `{name}` calls itself"), range)
                    .help("recursion is not read; write a loop"),
            );
            return Val::never();
        }
        self.b.enter((id, tag, "call"));
        let mut frame = self.new_frame(function.module, function.file);
        frame.types = types;
        frame.function = Some(id);
        let range = self.b.range();
        self.frames.push(frame);
        for name in generics_of(&function.signature) {
            if !self.frame().types.contains_key(&name) {
                let ty = self.unknown((id, &name));
                self.frame_mut().types.insert(name, ty);
            }
        }
        let returns = match &function.signature.output {
            syn::ReturnType::Default => Ty::UNIT,
            syn::ReturnType::Type(_, ty) => self.ty(ty),
        };
        self.frame_mut().returns = returns.clone();
        for (parameter, value) in function.signature.inputs.iter().zip(args) {
            self.bind_parameter(parameter, value);
        }
        let value = self.body(&function.block, &returns, id);
        self.frames.pop();
        self.b.leave();
        self.depth -= 1;
        self.b.at(range);
        value
    }

    fn bind_parameter(&mut self, parameter: &syn::FnArg, value: Val) {
        match parameter {
            syn::FnArg::Receiver(receiver) => {
                let tag = self.tag(&receiver.self_token);
                self.declare("self", &value, tag);
            }
            syn::FnArg::Typed(typed) => {
                let declared = self.ty(&typed.ty);
                let ty = self.unify(&declared, &value.ty);
                self.bind_pattern_value(&typed.pat, value.with(ty));
            }
        }
    }

    /// Executes the body of a function; what it returns is the result.
    fn body(&mut self, block: &syn::Block, returns: &Ty, id: usize) -> Val {
        let mut has_return = false;
        syntax::words(block, &mut |word| has_return |= word == "return");
        has_return |= syntax::has_question_mark(block);
        if !has_return {
            let value = self.block(block, Some(returns));
            self.close_all();
            let ty = self.unify(&value.ty, returns);
            return value.with(ty);
        }
        self.with_return(returns, (id, 0), |this| this.block(block, Some(returns)))
    }

    /// Executes something that `return` may leave.
    pub fn with_return(
        &mut self,
        returns: &Ty,
        tag: (usize, usize),
        execute: impl FnOnce(&mut Self) -> Val,
    ) -> Val {
        let end = self.b.join(self.b.key((tag, "return")));
        let result = self.local("result", returns, tag);
        self.frame_mut().end = Some(end);
        self.frame_mut().result = Some(result.clone());
        let value = execute(self);
        if self.is_reachable() {
            self.store(&result, &value, Order::Plain);
        }
        self.close_all();
        self.b.jump(end);
        self.b.place(end);
        self.load(&result, Order::Plain)
    }

    /// Drops all that the function has.
    pub fn close_all(&mut self) {
        self.drop_scopes(self.frame().borrowed);
    }

    /// `return value`.
    pub fn return_value(&mut self, value: &Val, node: &impl Spanned) {
        let (end, result) = (self.frame().end, self.frame().result.clone());
        let (Some(end), Some(result)) = (end, result) else {
            self.error_at(node, "there is nothing to return from", None);
            return;
        };
        self.store(&result, value, Order::Plain);
        self.close_all();
        self.b.jump(end);
    }

    /// What the parameters of an impl block stand for, given the type that it is for.
    pub fn impl_types(&mut self, function: &Function, this: &Ty, tag: (usize, usize)) -> Names {
        let Some(of) = function.of.clone() else { return Names::new() };
        let mut types = Names::new();
        for name in &of.generics {
            let ty = self.unknown((name, tag, &function.name));
            types.insert(name.clone(), ty);
        }
        let self_ty = self.ty_in(&of.self_ty, of.module, &types, of.file);
        let this = self.unify(&self_ty, this);
        for ty in types.values_mut() {
            *ty = self.resolve(&ty.clone());
        }
        types.insert("Self".to_owned(), this);
        for (name, ty) in &of.types {
            let ty = self.ty_in(ty, of.module, &types, of.file);
            types.insert(format!("Self::{name}"), ty);
        }
        types
    }

    /// Whether a loop is left by `break` and where.
    pub fn target(&self, label: Option<&syn::Lifetime>) -> Option<usize> {
        let targets = &self.frame().targets;
        match label {
            Some(label) => {
                let name = label.ident.to_string();
                targets.iter().rposition(|target| target.label.as_ref() == Some(&name))
            }
            None => targets.iter().rposition(|target| target.is_loop),
        }
    }

    pub fn loop_target(&mut self, label: Option<&syn::Label>, this: Loop, result: Option<Loc>) {
        let label = label.map(|label| label.name.ident.to_string());
        let scopes = self.frame().scopes.len();
        self.frame_mut().targets.push(Target {
            label,
            is_loop: true,
            exit: this.exit,
            head: Some(this.head),
            result,
            scopes,
        });
    }

    /// The object of a static.
    pub fn static_object(&mut self, id: usize) -> Loc {
        let global = self.items.statics[id].clone();
        let ty = self.ty_in(&global.ty, global.module, &Names::new(), global.file);
        if let Some(object) = self.statics.get(&id) {
            let lvalue = Lvalue::place(self.b.whole(*object));
            return Loc { lvalue, ty };
        }
        let (range, hint) = (self.b.range(), self.hint.take());
        self.frames.push(self.new_frame(global.module, global.file));
        self.at(&global.ty);
        let lowered = self.lower(&ty);
        let key = crate::lowering::hash(&("static", id));
        let object = self.b.object(key, &global.name, &lowered);
        self.statics.insert(id, object);
        self.hint = Some(global.name.clone());
        let value = self.expr(&global.expr, Some(&ty));
        self.hint = hint;
        self.unify(&ty, &value.ty);
        let raw = self.raw(&value);
        let whole = self.b.whole(object);
        self.b.initialize(&whole, &raw);
        self.frames.pop();
        self.b.at(range);
        Loc { lvalue: Lvalue::place(whole), ty }
    }

    /// The value of a constant.
    pub fn const_value(&mut self, id: usize) -> Val {
        let global = self.items.consts[id].clone();
        let types = match &global.of {
            None => Names::new(),
            Some(of) => {
                let mut types = Names::new();
                let this = self.ty_in(&of.self_ty, of.module, &types, of.file);
                types.insert("Self".to_owned(), this);
                types
            }
        };
        let ty = self.ty_in(&global.ty, global.module, &types, global.file);
        self.constant(&global.expr, global.module, &types, global.file, &ty)
    }

    /// The value of an expression that stands outside of functions.
    pub fn constant(
        &mut self,
        expr: &syn::Expr,
        module: usize,
        types: &Names,
        file: usize,
        ty: &Ty,
    ) -> Val {
        let range = self.b.range();
        let mut frame = self.new_frame(module, file);
        frame.types = types.clone();
        self.frames.push(frame);
        if !self.deeper(expr) {
            self.frames.pop();
            return Val::never();
        }
        let value = self.expr(expr, Some(ty));
        self.depth -= 1;
        self.frames.pop();
        self.b.at(range);
        let ty = self.unify(ty, &value.ty);
        value.with(ty)
    }
}

/// The names of the parameters of a function that are types or numbers.
fn generics_of(signature: &syn::Signature) -> Vec<String> {
    let names = signature.generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(param.ident.to_string()),
        syn::GenericParam::Const(param) => Some(param.ident.to_string()),
        syn::GenericParam::Lifetime(_) => None,
    });
    names.collect()
}
