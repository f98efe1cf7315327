//! Branches and loops.

use syn::Expr;
use syn::spanned::Spanned;
use weir_model::program::{BinOp, UnOp};

use super::items::LIBRARY;
use super::reader::{Loc, Reader, Target, Use, Val};
use super::syntax;
use super::types::Ty;
use crate::lowering::Order;
use crate::lowering::access::Update;
use crate::lowering::control::Join;
use crate::lowering::value::{Value, unary};

/// How many rounds of a loop are executed one by one.
const MAX_ROUNDS: usize = 10_000;

impl Reader<'_> {
    /// Where the value of a branch goes; nothing if there is none.
    fn result_of(&mut self, node: &impl Spanned, want: Option<&Ty>) -> Option<Loc> {
        let tag = self.tag(node);
        let ty = match want {
            Some(ty) if ty.is_unit() => return None,
            Some(ty) => self.resolve(ty),
            None => self.unknown((tag, "value")),
        };
        if ty.is_unit() {
            return None;
        }
        Some(self.local("value", &ty, tag))
    }

    fn give(&mut self, result: Option<&Loc>, value: &Val) {
        if let Some(result) = result
            && self.is_reachable()
        {
            self.store(result, value, Order::Plain);
        }
    }

    fn taken(&mut self, result: Option<Loc>) -> Val {
        match result {
            _ if !self.is_reachable() => Val::never(),
            Some(result) => self.load(&result, Order::Plain),
            None => Val::unit(),
        }
    }

    /// The condition of a branch: what it tests is dropped at once.
    fn condition(&mut self, cond: &Expr) -> Val {
        self.open(true);
        let value = self.expr(cond, Some(&Ty::Bool));
        self.close();
        self.at(cond);
        value
    }

    pub fn if_expr(&mut self, this: &syn::ExprIf, want: Option<&Ty>) -> Val {
        if has_let(&this.cond) {
            return self.if_let(this, want);
        }
        let cond = self.condition(&this.cond);
        if !self.is_reachable() {
            return Val::never();
        }
        let raw = self.raw(&cond);
        let code = match self.b.decide(&raw) {
            Ok(true) => return self.block(&this.then_branch, want),
            Ok(false) => return self.otherwise(this, want),
            Err(code) => code,
        };
        let want = match (&this.else_branch, want) {
            (None, _) => Some(Ty::UNIT),
            (_, want) => want.cloned(),
        };
        let result = self.result_of(this, want.as_ref());
        let ty = result.as_ref().map(|loc| loc.ty.clone()).or(want);
        self.b.begin_if(code);
        let value = self.block(&this.then_branch, ty.as_ref());
        self.give(result.as_ref(), &value);
        self.b.begin_else();
        let value = self.otherwise(this, ty.as_ref());
        self.give(result.as_ref(), &value);
        self.b.end_if();
        self.taken(result)
    }

    fn otherwise(&mut self, this: &syn::ExprIf, want: Option<&Ty>) -> Val {
        match &this.else_branch {
            Some((_, branch)) => self.expr(branch, want),
            None => Val::unit(),
        }
    }

    fn if_let(&mut self, this: &syn::ExprIf, want: Option<&Ty>) -> Val {
        let want = match &this.else_branch {
            None => Some(Ty::UNIT),
            Some(_) => want.cloned(),
        };
        let result = self.result_of(this, want.as_ref());
        let ty = result.as_ref().map(|loc| loc.ty.clone()).or(want);
        let tag = self.tag(this);
        self.open(false);
        if let Expr::Let(single) = &*this.cond {
            // One pattern: a branch.
            let subject = self.subject(&single.expr, &single.pat);
            let test = self.test(&single.pat, &subject);
            if self.is_reachable() {
                self.at(&single.pat);
                let raw = self.raw(&test);
                match self.b.decide(&raw) {
                    Ok(true) => {
                        self.bind_pattern(&single.pat, &subject);
                        let value = self.block(&this.then_branch, ty.as_ref());
                        self.give(result.as_ref(), &value);
                    }
                    Ok(false) => {
                        let value = self.otherwise(this, ty.as_ref());
                        self.give(result.as_ref(), &value);
                    }
                    Err(code) => {
                        self.b.begin_if(code);
                        self.open(false);
                        self.bind_pattern(&single.pat, &subject);
                        let value = self.block(&this.then_branch, ty.as_ref());
                        self.give(result.as_ref(), &value);
                        self.close();
                        self.b.begin_else();
                        let value = self.otherwise(this, ty.as_ref());
                        self.give(result.as_ref(), &value);
                        self.b.end_if();
                    }
                }
            }
            self.close();
            return self.taken(result);
        }
        let otherwise = self.b.join(self.b.key((tag, "else")));
        let end = self.b.join(self.b.key((tag, "end")));
        self.conjuncts(&this.cond, otherwise);
        let value = self.block(&this.then_branch, ty.as_ref());
        self.give(result.as_ref(), &value);
        self.close();
        self.b.jump(end);
        self.b.place(otherwise);
        let value = self.otherwise(this, ty.as_ref());
        self.give(result.as_ref(), &value);
        self.b.jump(end);
        self.b.place(end);
        self.taken(result)
    }

    /// Goes on only if all parts of a condition hold; otherwise elsewhere. Names of patterns are
    /// bound.
    fn conjuncts(&mut self, cond: &Expr, otherwise: Join) {
        match cond {
            Expr::Paren(inner) => self.conjuncts(&inner.expr, otherwise),
            Expr::Binary(this) if matches!(this.op, syn::BinOp::And(_)) => {
                self.conjuncts(&this.left, otherwise);
                self.conjuncts(&this.right, otherwise);
            }
            Expr::Let(this) => {
                let subject = self.subject(&this.expr, &this.pat);
                let test = self.test(&this.pat, &subject);
                self.at(cond);
                self.require(&test, otherwise);
                if self.is_reachable() {
                    self.bind_pattern(&this.pat, &subject);
                }
            }
            _ => {
                let test = self.condition(cond);
                self.require(&test, otherwise);
            }
        }
    }

    /// Goes elsewhere unless a condition holds.
    fn require(&mut self, test: &Val, otherwise: Join) {
        if !self.is_reachable() {
            return;
        }
        let raw = self.raw(test);
        match self.b.decide(&raw) {
            Ok(true) => {}
            Ok(false) => self.b.jump(otherwise),
            Err(code) => {
                self.b.begin_if(unary(UnOp::Not, code));
                self.b.jump(otherwise);
                self.b.begin_else();
                self.b.end_if();
            }
        }
    }

    pub fn match_expr(&mut self, this: &syn::ExprMatch, want: Option<&Ty>) -> Val {
        self.open(false);
        let pats: Vec<&syn::Pat> = this.arms.iter().map(|arm| &arm.pat).collect();
        let subject = self.subject_of(&this.expr, &pats);
        if !self.is_reachable() {
            self.close();
            return Val::never();
        }
        let result = self.result_of(this, want);
        let ty = result.as_ref().map(|loc| loc.ty.clone()).or(want.cloned());
        let end = self.b.join(self.b.key((self.tag(this), "end")));
        let arms: Vec<&syn::Arm> =
            this.arms.iter().filter(|arm| self.items.is_on(&arm.attrs)).collect();
        let direct = self.arms(&arms, &subject, result.as_ref(), ty.as_ref(), end, true);
        if let Some(value) = direct {
            self.close();
            return value;
        }
        self.b.jump(end);
        self.b.place(end);
        let value = self.taken(result);
        self.close();
        value
    }

    /// Executes the arm that matches. If there is only one way, its value is the result.
    fn arms(
        &mut self,
        arms: &[&syn::Arm],
        subject: &super::patterns::Subject,
        result: Option<&Loc>,
        want: Option<&Ty>,
        end: Join,
        is_only: bool,
    ) -> Option<Val> {
        let [arm, rest @ ..] = arms else {
            // The compiler has seen that all cases are there.
            return None;
        };
        if !self.is_reachable() || !self.deeper(&arm.fat_arrow_token) {
            return None;
        }
        let (pat, guard) = match &arm.pat {
            syn::Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            pat => (pat, None),
        };
        let test = match (rest.is_empty(), guard) {
            (true, None) => Val::truth(true),
            _ => self.test(pat, subject),
        };
        self.at(pat);
        let raw = self.raw(&test);
        let decided = self.b.decide(&raw);
        let found = match (decided, guard) {
            (Ok(false), _) => self.arms(rest, subject, result, want, end, is_only),
            (Ok(true), None) => {
                let value = self.arm(pat, &arm.body, subject, want);
                if is_only {
                    Some(value)
                } else {
                    self.give(result, &value);
                    None
                }
            }
            (Err(code), None) => {
                self.b.begin_if(code);
                let value = self.arm(pat, &arm.body, subject, want);
                self.give(result, &value);
                self.b.begin_else();
                self.arms(rest, subject, result, want, end, false);
                self.b.end_if();
                None
            }
            (decided, Some(guard)) => {
                let code = decided.err();
                if let Some(code) = &code {
                    self.b.begin_if(code.clone());
                }
                self.open(false);
                self.bind_pattern(pat, subject);
                let next = self.b.join(self.b.key((self.tag(guard), "next")));
                let holds = self.condition(guard);
                self.require(&holds, next);
                let value = self.expr(&arm.body, want);
                self.give(result, &value);
                self.close();
                self.b.jump(end);
                self.b.place(next);
                if code.is_some() {
                    self.b.begin_else();
                    self.b.end_if();
                }
                self.arms(rest, subject, result, want, end, false);
                None
            }
        };
        self.depth -= 1;
        found
    }

    fn arm(
        &mut self,
        pat: &syn::Pat,
        body: &Expr,
        subject: &super::patterns::Subject,
        want: Option<&Ty>,
    ) -> Val {
        self.open(false);
        self.bind_pattern(pat, subject);
        let value = self.expr(body, want);
        self.close();
        value
    }

    pub fn labeled_block(
        &mut self,
        label: &syn::Label,
        block: &syn::Block,
        want: Option<&Ty>,
    ) -> Val {
        let result = self.result_of(block, want);
        let exit = self.b.join(self.b.key((self.tag(block), "exit")));
        let scopes = self.frame().scopes.len();
        self.frame_mut().targets.push(Target {
            label: Some(label.name.ident.to_string()),
            is_loop: false,
            exit,
            head: None,
            result: result.clone(),
            scopes,
        });
        let value = self.block(block, result.as_ref().map(|loc| loc.ty.clone()).as_ref());
        self.give(result.as_ref(), &value);
        self.frame_mut().targets.pop();
        self.b.jump(exit);
        self.b.place(exit);
        self.taken(result)
    }

    pub fn break_expr(&mut self, this: &syn::ExprBreak) {
        let Some(target) = self.target(this.label.as_ref()) else {
            self.error_at(this, "there is no loop to leave", None);
            return;
        };
        let target = self.frame().targets[target].clone();
        if let Some(value) = &this.expr {
            let want = target.result.as_ref().map(|loc| loc.ty.clone());
            let value = self.expr(value, want.as_ref());
            self.give(target.result.as_ref(), &value);
        }
        if self.is_reachable() {
            self.at(this);
            self.drop_scopes(target.scopes);
            self.b.jump(target.exit);
        }
    }

    /// Whether the rounds of a loop are executed one by one, because threads are started or
    /// joined in it or memory is allocated, or because the other threads do not run yet.
    fn is_executed(&self, body: &impl quote::ToTokens) -> bool {
        self.is_alone() || self.repeats(body)
    }

    /// Whether no other thread runs yet, and all that has happened is known.
    fn is_alone(&self) -> bool {
        self.threads.is_empty() && self.b.is_computed()
    }

    fn repeats(&self, body: &impl quote::ToTokens) -> bool {
        let mut found = false;
        syntax::called(body, &mut |word| found |= self.items.repeating.contains(word));
        found
    }

    pub fn loop_expr(&mut self, this: &syn::ExprLoop, want: Option<&Ty>) -> Val {
        if let Some((cond, rest)) = leaves_first(&this.body)
            && rest.iter().all(is_idle)
            && this.label.is_none()
            && self.wait_until(cond, true)
        {
            return Val::unit();
        }
        let has_value = syntax_has_break_value(&this.body);
        let result = if has_value { self.result_of(this, want) } else { None };
        self.rounds(this, this.label.as_ref(), &result, |reader| {
            reader.block(&this.body, Some(&Ty::UNIT));
        });
        if has_value {
            self.taken(result)
        } else if self.is_reachable() {
            Val::unit()
        } else {
            Val::never()
        }
    }

    pub fn while_expr(&mut self, this: &syn::ExprWhile) -> Val {
        if !has_let(&this.cond)
            && this.body.stmts.iter().all(is_idle)
            && (self.spin(&this.cond) || self.wait_until(&this.cond, false))
        {
            return Val::unit();
        }
        let tag = self.tag(this);
        self.rounds(this, this.label.as_ref(), &None, |reader| {
            let Some(target) = reader.frame().targets.last().cloned() else { return };
            reader.open(false);
            if has_let(&this.cond) {
                let otherwise = reader.b.join(reader.b.key((tag, "otherwise")));
                reader.conjuncts(&this.cond, otherwise);
                reader.block(&this.body, Some(&Ty::UNIT));
                reader.close();
                let next = reader.b.join(reader.b.key((tag, "round")));
                reader.b.jump(next);
                reader.b.place(otherwise);
                reader.b.jump(target.exit);
                reader.b.place(next);
            } else {
                let cond = reader.condition(&this.cond);
                reader.require(&cond, target.exit);
                reader.block(&this.body, Some(&Ty::UNIT));
                reader.close();
            }
        });
        if self.is_reachable() { Val::unit() } else { Val::never() }
    }

    /// Executes a loop: `round` is one round, which leaves the loop by its exit.
    fn rounds(
        &mut self,
        node: &(impl Spanned + quote::ToTokens),
        label: Option<&syn::Label>,
        result: &Option<Loc>,
        mut round: impl FnMut(&mut Self),
    ) {
        if !self.is_reachable() {
            return;
        }
        let tag = self.tag(node);
        if self.is_executed(node) {
            let must = self.repeats(node);
            let exit = self.b.join(self.b.key((tag, "exit")));
            for number in 0.. {
                if !self.is_reachable() || (!must && !self.is_alone()) {
                    break;
                }
                if number >= MAX_ROUNDS {
                    self.error_at(
                        node,
                        &format!(
                            "this loop has more than {MAX_ROUNDS} rounds before its end is known"
                        ),
                        Some("make the bound smaller"),
                    );
                    break;
                }
                if number > 0 && self.b.has_left(exit) {
                    self.error_at(
                        node,
                        "how often this loop starts threads or allocates is only known when the program runs",
                        Some("give the loop a fixed number of rounds"),
                    );
                    break;
                }
                self.b.enter((tag, number, "round"));
                let head = self.b.join(self.b.key((tag, "next")));
                let this = crate::lowering::control::Loop { head, exit };
                self.loop_target(label, this, result.clone());
                round(self);
                self.frame_mut().targets.pop();
                self.b.jump(head);
                self.b.place(head);
                self.b.leave();
            }
            if self.is_reachable() {
                self.ordinary(label, result, tag, &mut round);
                self.b.jump(exit);
            }
            self.b.place(exit);
            return;
        }
        self.ordinary(label, result, tag, &mut round);
    }

    fn ordinary(
        &mut self,
        label: Option<&syn::Label>,
        result: &Option<Loc>,
        tag: (usize, usize),
        round: &mut impl FnMut(&mut Self),
    ) {
        let key = self.b.key((tag, "loop"));
        if self.b.options.unroll.is_some() {
            self.b.reset_rounds(key);
        }
        let this = self.b.begin_loop(key);
        if self.b.options.unroll.is_some() {
            self.b.count_round(key);
        }
        self.loop_target(label, this, result.clone());
        round(self);
        self.frame_mut().targets.pop();
        self.b.end_loop(this);
    }

    pub fn for_expr(&mut self, this: &syn::ExprForLoop) -> Val {
        let mut range = &*this.expr;
        while let Expr::Paren(inner) = range {
            range = &inner.expr;
        }
        if let Expr::Range(range) = range
            && let (Some(start), Some(end)) = (&range.start, &range.end)
        {
            return self.for_range(
                this,
                start,
                end,
                matches!(range.limits, syn::RangeLimits::Closed(_)),
            );
        }
        let iterated = self.expr(&this.expr, None);
        if !self.is_reachable() {
            return Val::never();
        }
        self.at(&this.expr);
        let Some(mut iter) = self.iterate(iterated, &this.expr) else { return Val::never() };
        let tag = self.tag(this);
        let exit = self.b.join(self.b.key((tag, "exit")));
        for number in 0..MAX_ROUNDS {
            if !self.is_reachable() {
                break;
            }
            self.b.enter((tag, number, "round"));
            let head = self.b.join(self.b.key((tag, "next")));
            let Some(item) = self.next(&mut iter, this) else {
                self.b.leave();
                break;
            };
            let targets = crate::lowering::control::Loop { head, exit };
            self.loop_target(this.label.as_ref(), targets, None);
            self.open(false);
            self.bind_pattern_value(&this.pat, item);
            self.block(&this.body, Some(&Ty::UNIT));
            self.close();
            self.frame_mut().targets.pop();
            self.b.jump(head);
            self.b.place(head);
            self.b.leave();
        }
        self.b.jump(exit);
        self.b.place(exit);
        if self.is_reachable() { Val::unit() } else { Val::never() }
    }

    fn for_range(
        &mut self,
        this: &syn::ExprForLoop,
        start: &Expr,
        end: &Expr,
        is_closed: bool,
    ) -> Val {
        let first = self.expr(start, None);
        let last = self.expr(end, Some(&first.ty));
        if !self.is_reachable() {
            return Val::never();
        }
        let ty = self.unify(&first.ty, &last.ty);
        let last = self.kept(last.with(ty.clone()));
        let tag = self.tag(this);
        let name = match &*this.pat {
            syn::Pat::Ident(ident) => ident.ident.to_string(),
            _ => "i".to_owned(),
        };
        let counter = self.local(&name, &ty, tag);
        self.store(&counter, &first.with(ty.clone()), Order::Plain);
        let op = if is_closed { BinOp::Le } else { BinOp::Lt };
        self.rounds(this, this.label.as_ref(), &None, |reader| {
            let Some(target) = reader.frame().targets.last().cloned() else { return };
            reader.at(&this.expr);
            let value = reader.load(&counter, Order::Plain);
            let holds = reader.compare(op, &value, &last, this);
            reader.require(&holds, target.exit);
            // `continue` goes to the next number.
            let next = reader.b.join(reader.b.key((tag, "count")));
            if let Some(target) = reader.frame_mut().targets.last_mut() {
                target.head = Some(next);
            }
            reader.open(false);
            match &*this.pat {
                syn::Pat::Ident(ident) if ident.mutability.is_none() => {
                    reader.bind_borrowed(&name, counter.clone());
                }
                syn::Pat::Wild(_) => {}
                pat => reader.bind_pattern_value(pat, value),
            }
            reader.block(&this.body, Some(&Ty::UNIT));
            reader.close();
            reader.b.jump(next);
            reader.b.place(next);
            if reader.is_reachable() {
                reader.at(&this.expr);
                let value = reader.load(&counter, Order::Plain);
                let code = reader.b.to_code(&value.data);
                let one = weir_model::program::Expr::Const(1);
                let sum = crate::lowering::value::binary(BinOp::Add, code, one);
                let value = Val { data: crate::lowering::value::Data::Code(sum), ty: value.ty };
                reader.store(&counter, &value, Order::Plain);
            }
        });
        if self.is_reachable() { Val::unit() } else { Val::never() }
    }

    /// Waits until a condition holds, or until it does not hold, if it is made of loads alone.
    fn wait_until(&mut self, cond: &Expr, holds: bool) -> bool {
        if !self.is_reachable() || self.is_alone() || matches!(cond, Expr::Lit(_)) {
            return false;
        }
        self.at(cond);
        let (depth, callables) = (self.depth, self.callables.len());
        let wait = self.b.begin_wait();
        self.is_eager = true;
        self.open(true);
        let value = self.expr(cond, Some(&Ty::Bool));
        self.close();
        self.is_eager = false;
        let value = if holds { value } else { self.not(&value) };
        let raw = self.raw(&value);
        self.at(cond);
        let is_done = self.b.end_wait(wait, &raw);
        self.depth = depth;
        if !is_done {
            self.callables.truncate(callables);
        }
        is_done
    }

    /// A loop that tries an atomic read-write until it succeeds waits for the value that lets it
    /// succeed: `while l.swap(true, ..) {}` and `while l.compare_exchange(a, b, ..).is_err() {}`.
    fn spin(&mut self, cond: &Expr) -> bool {
        let Expr::MethodCall(call) = cond else { return false };
        if self.is_alone() || self.frame().file == LIBRARY {
            return false;
        }
        let (call, expected) = match (call.method.to_string().as_str(), &*call.receiver) {
            ("swap", _) if call.args.len() == 2 => (call, None),
            ("is_err", Expr::MethodCall(inner))
                if inner.args.len() == 4
                    && matches!(
                        inner.method.to_string().as_str(),
                        "compare_exchange" | "compare_exchange_weak"
                    ) =>
            {
                (inner, Some(&inner.args[0]))
            }
            _ => return false,
        };
        if (expected.is_some() && self.b.options.spurious && call.method == "compare_exchange_weak")
            || call.args.iter().any(super::expressions::changes)
            || super::expressions::changes(&call.receiver)
        {
            return false;
        }
        let base = self.base(&call.receiver, Use::Address);
        let Some(loc) = self.atomic_place(base, call) else { return false };
        let Ty::Atomic(inner) = self.resolve(&loc.ty) else { return false };
        let (old, new) = match expected {
            None => {
                let new = self.expr(&call.args[0], Some(&inner));
                if *inner != Ty::Bool || new.known() != Some(1) {
                    return false;
                }
                (Val::truth(false), new)
            }
            Some(expected) => {
                let old = self.expr(expected, Some(&inner));
                let new = self.expr(&call.args[1], Some(&inner));
                (old, new)
            }
        };
        let order = self.expr(&call.args[if expected.is_some() { 2 } else { 1 }], None);
        let order = self.order(&order);
        self.at(cond);
        let (old, new): (Value, Value) = (self.raw(&old), self.raw(&new));
        self.b.update(&loc.lvalue, &Update::WaitFor(old, new), order);
        true
    }
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
pub fn is_idle(stmt: &syn::Stmt) -> bool {
    let expr = match stmt {
        syn::Stmt::Expr(expr, _) => expr,
        syn::Stmt::Macro(_) | syn::Stmt::Local(_) | syn::Stmt::Item(_) => return false,
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
pub fn leaves_first(block: &syn::Block) -> Option<(&Expr, &[syn::Stmt])> {
    let [syn::Stmt::Expr(Expr::If(branch), _), rest @ ..] = &block.stmts[..] else { return None };
    let is_break = match &branch.then_branch.stmts[..] {
        [syn::Stmt::Expr(Expr::Break(this), _)] => this.label.is_none() && this.expr.is_none(),
        _ => false,
    };
    (is_break && branch.else_branch.is_none() && !has_let(&branch.cond))
        .then_some((&*branch.cond, rest))
}

/// Whether `break` has a value somewhere in a block.
fn syntax_has_break_value(block: &syn::Block) -> bool {
    let mut before = false;
    let mut found = false;
    syntax::tokens(block, &mut |token| {
        let is_break = matches!(token, proc_macro2::TokenTree::Ident(word) if *word == "break");
        if before {
            found |= !matches!(token, proc_macro2::TokenTree::Punct(p) if matches!(p.as_char(), ';' | ','));
        }
        before = is_break;
    });
    found
}
