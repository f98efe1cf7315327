//! `atomic` and `d_step`: blocks that one atomic read-write can execute.
//!
//! A block reads and writes at most one global variable, and any local ones, and waits
//! only at its beginning. It is split into *paths*, one for each choice of options. On a
//! path everything is an expression over the local variables and the old value of the
//! global variable: the condition under which the path can be taken, and the value that
//! it writes.
//!
//! If there is one path and it tests nothing, it is a single operation: a swap, or `old
//! op e`. Otherwise the variable is loaded until some path can be taken, and a
//! compare-and-swap writes the new value of that path, provided that the variable still
//! has the loaded value. If not, everything is repeated. Then the path is executed once
//! more for its local variables and assertions, with a register in place of the variable.

use weir_model::ids::{LabelId, RegId};
use weir_model::program::{BinOp, Code, Expr, Place, Rmw, StmtKind, UnOp};

use super::process::{LocalPlace, Lowering};
use super::value::{any, binary, not, replace, uses};
use crate::promela::lexer::Token;
use crate::promela::tree::{self, ExprKind, Stmt, StmtKind as Kind, Type};
use crate::weir::fold;
use crate::weir::tree::Span;

/// How many paths a block may have.
const MAX_PATHS: usize = 64;
/// How many choices may follow each other on a path.
const MAX_CHOICES: usize = 32;

/// How often what is computed in a block may mention variables.
const MAX_SIZE: usize = 1000;

/// What a block is about.
pub enum Around<'a, 't> {
    /// It needs no atomic operation: it is a block like others.
    Nothing,
    Paths(Vec<Path<'a, 't>>),
}

/// One way through a block.
pub struct Path<'a, 't> {
    items: Vec<Item<'a, 't>>,
    /// The variable.
    place: Place,
    /// Whether the block writes to it, on some path.
    writes: bool,
    /// Whether there is no other path.
    only: bool,
    token: Token<'t>,
}

#[derive(Clone)]
enum Item<'a, 't> {
    Test(&'a tree::Expr<'t>),
    /// None of these holds.
    Else(Vec<&'a tree::Expr<'t>>),
    Do(&'a Stmt<'t>),
}

/// What a path amounts to.
pub struct Planned {
    pub condition: Code,
    /// What the variable held.
    old: RegId,
    /// What is written.
    new: Code,
}

impl Path<'_, '_> {
    /// Whether it is one operation, whatever the variable holds.
    pub fn is_direct(&self) -> bool {
        self.only && self.writes && self.items.iter().all(|i| matches!(i, Item::Do(_)))
    }

    /// Whether it can turn out that the variable has changed.
    pub fn may_fail(&self) -> bool {
        self.writes && !self.is_direct()
    }
}

impl<'t> Lowering<'_, 't> {
    /// A block as a statement of its own.
    pub fn atomic(&mut self, stmt: &Stmt<'t>, body: &[Stmt<'t>]) -> Option<()> {
        if self.is_plain(body) {
            self.scoped(body);
            return Some(());
        }
        self.select(std::slice::from_ref(stmt), stmt.span)
    }

    /// Whether a block needs no atomic operation.
    fn is_plain(&self, body: &[Stmt<'t>]) -> bool {
        let mut found = Accesses::default();
        self.accesses(body, &mut found);
        // One store is atomic as it is.
        let straight = body.iter().all(|s| {
            matches!(
                s.kind,
                Kind::Assign(..)
                    | Kind::Assert(_)
                    | Kind::Skip
                    | Kind::Goto(_)
                    | Kind::Break
                    | Kind::Declare(_)
            )
        });
        found.reads.is_empty() && (found.writes.is_empty() || straight && found.writes.len() == 1)
    }

    /// What a block is about. `None` after an error.
    pub fn around<'a>(&mut self, stmt: &Stmt<'t>, body: &'a [Stmt<'t>]) -> Option<Around<'a, 't>> {
        if self.is_plain(body) {
            return Some(Around::Nothing);
        }
        let mut found = Accesses::default();
        self.accesses(body, &mut found);
        self.declare_all(body)?;
        let place = self.one_place(stmt, &found)?;
        let mut paths = Vec::new();
        self.paths(vec![body], Vec::new(), &mut paths, 0)?;
        let only = paths.len() == 1;
        let writes = !found.writes.is_empty();
        let path = |items| Path { items, place: place.clone(), writes, only, token: stmt.token };
        Some(Around::Paths(paths.into_iter().map(path).collect()))
    }

    /// Declares what a block declares, all through it.
    fn declare_all(&mut self, list: &[Stmt<'t>]) -> Option<()> {
        for stmt in list {
            match &stmt.kind {
                Kind::Declare(list) => {
                    for declared in list {
                        if declared.init.is_some() {
                            let message = "declare this before the block";
                            self.cx.error_at(message, declared.name.token);
                            return None;
                        }
                        self.declare(declared, None)?;
                    }
                }
                Kind::If(options) => {
                    options
                        .iter()
                        .try_for_each(|option| self.declare_all(option).ok_or(()))
                        .ok()?;
                }
                Kind::Block(body) | Kind::Atomic(body) => self.declare_all(body)?,
                _ => {}
            }
        }
        Some(())
    }

    /// The one variable that a block is about.
    fn one_place(&mut self, stmt: &Stmt<'t>, found: &Accesses<'_, 't>) -> Option<Place> {
        let mut known: Option<(Place, &tree::Place<'t>)> = None;
        for place in found.reads.iter().chain(&found.writes) {
            let global = self.global(place)?;
            if let Some(index) = &place.index {
                self.check_index(index, found)?;
            }
            let before = self.out.len();
            let at = self.place(place, &global)?;
            if self.out.len() != before {
                return self.too_much("this index", place.name.token);
            }
            match &known {
                Some((first, one)) if *first != at => {
                    let message = "this block is more than one atomic read-write: it is about \
                                   two variables";
                    let error = stmt.token.error(message);
                    let error = error.note(one.span.range(), "this is one");
                    let error = error.note(place.span.range(), "this may be another one");
                    let help = "without `atomic`, each access is a step of its own";
                    self.cx.errors.push(error.help(help));
                    return None;
                }
                Some(_) => {}
                None => known = Some((at, place)),
            }
        }
        known.map(|(at, _)| at)
    }

    /// The index has to stay what it is all through the block.
    fn check_index(&mut self, e: &tree::Expr<'t>, found: &Accesses<'_, 't>) -> Option<()> {
        let mut wrong = None;
        visit(e, &mut |place| {
            let changes = found.assigned.contains(&place.name.text);
            if changes || self.global(place).is_some() {
                wrong = Some(place.name.token);
            }
        });
        match wrong {
            Some(token) => {
                let message = "the index of the one variable of an atomic block has to be known \
                               before the block begins";
                self.cx.error_at(message, token);
                None
            }
            None => Some(()),
        }
    }

    fn too_much<T>(&mut self, what: &str, token: Token<'t>) -> Option<T> {
        let message = format!("{what} is more than one atomic read-write can do");
        self.cx.error_at(message, token);
        None
    }

    /// All ways through what is left of a block.
    fn paths<'a>(
        &mut self,
        mut left: Vec<&'a [Stmt<'t>]>,
        mut items: Vec<Item<'a, 't>>,
        paths: &mut Vec<Vec<Item<'a, 't>>>,
        choices: usize,
    ) -> Option<()> {
        while let Some(list) = left.pop() {
            let Some((stmt, rest)) = list.split_first() else { continue };
            left.push(rest);
            match &stmt.kind {
                Kind::Declare(_) | Kind::Skip => {}
                Kind::Block(body) | Kind::Atomic(body) => left.push(body),
                Kind::Guard(e) if matches!(e.kind, ExprKind::Run(..)) => return self.prepare(e),
                Kind::Guard(_) if self.never_blocks(stmt) => {}
                Kind::Guard(e) if items.is_empty() => items.push(Item::Test(e)),
                Kind::Guard(_) => return self.may_wait(stmt.token),
                Kind::Assign(..) | Kind::Assert(_) => items.push(Item::Do(stmt)),
                Kind::Goto(_) | Kind::Break => {
                    items.push(Item::Do(stmt));
                    left.clear();
                }
                Kind::If(options) => {
                    return self.branch(stmt, options, left, items, paths, choices);
                }
                Kind::Label(name) => {
                    let message = "a label is not allowed inside `atomic` or `d_step`";
                    self.cx.error_at(message, name.token);
                    return None;
                }
                Kind::Else => {
                    self.cx.error_at("`else` can only begin an option", stmt.token);
                    return None;
                }
                Kind::Do(_) => return self.too_much("a loop", stmt.token),
                Kind::Fence(_) => return self.too_much("a fence", stmt.token),
                Kind::Select(..) => return self.too_much("a `select`", stmt.token),
            }
        }
        if paths.len() >= MAX_PATHS {
            let token = items.iter().find_map(|i| match i {
                Item::Do(stmt) => Some(stmt.token),
                Item::Test(e) => Some(e.token),
                Item::Else(list) => list.first().map(|e| e.token),
            });
            return token.and_then(|token| self.too_much("a block with so many ways", token));
        }
        paths.push(items);
        Some(())
    }

    fn may_wait<T>(&mut self, token: Token<'t>) -> Option<T> {
        let message = "this may wait in the middle of an atomic block";
        let help = "only the first statement may; add an `else` to a selection";
        self.cx.errors.push(token.error(message).help(help));
        None
    }

    fn branch<'a>(
        &mut self,
        stmt: &Stmt<'t>,
        options: &'a [Vec<Stmt<'t>>],
        left: Vec<&'a [Stmt<'t>]>,
        items: Vec<Item<'a, 't>>,
        paths: &mut Vec<Vec<Item<'a, 't>>>,
        choices: usize,
    ) -> Option<()> {
        if choices >= MAX_CHOICES {
            return self.too_much("a block with so many choices", stmt.token);
        }
        let mut guards = Vec::new();
        let mut always = false;
        let mut other = false;
        for option in options {
            match option.first().map(|s| &s.kind) {
                Some(Kind::Guard(e)) => {
                    always |= self.never_blocks(&option[0]);
                    guards.push(e);
                }
                Some(Kind::Else) => other = true,
                Some(Kind::If(_) | Kind::Do(_) | Kind::Block(_) | Kind::Atomic(_)) => {
                    return self.too_much("an option that begins with this", option[0].token);
                }
                _ => always = true,
            }
        }
        if !items.is_empty() && !always && !other {
            return self.may_wait(stmt.token);
        }
        for option in options {
            let (mut items, mut left) = (items.clone(), left.clone());
            match option.first().map(|s| &s.kind) {
                Some(Kind::Guard(e)) => {
                    items.push(Item::Test(e));
                    left.push(&option[1..]);
                }
                Some(Kind::Else) if always => continue,
                Some(Kind::Else) => {
                    items.push(Item::Else(guards.clone()));
                    left.push(&option[1..]);
                }
                _ => left.push(option),
            }
            self.paths(left, items, paths, choices + 1)?;
        }
        Some(())
    }

    /// Loads the variable of a path whose tests have to be worked out.
    pub fn load_for(&mut self, path: &Path<'_, 't>) -> Option<()> {
        self.load(path.place.clone(), path.token.span).map(drop)
    }

    /// Works out what a path amounts to.
    pub fn plan(&mut self, path: &Path<'_, 't>) -> Option<Planned> {
        let old = self.load(path.place.clone(), path.token.span)?;
        self.work_out(path, old)
    }

    fn work_out(&mut self, path: &Path<'_, 't>, old: RegId) -> Option<Planned> {
        let mark = self.in_use;
        let now = self.temporary(path.token.span)?;
        self.held = Some((path.place.clone(), now));
        let planned = self.follow(path, old, now);
        self.held = None;
        self.in_use = mark;
        planned
    }

    fn follow(&mut self, path: &Path<'_, 't>, old: RegId, now: RegId) -> Option<Planned> {
        let mut known: Vec<(RegId, Code)> = vec![(now, Expr::Atom(old))];
        let mut conditions = Vec::new();
        for item in &path.items {
            match item {
                Item::Test(e) => {
                    let code = self.known_value(e, &known)?.0;
                    conditions.push(fold::truth(code));
                }
                Item::Else(list) => {
                    let mut codes = Vec::new();
                    for e in list {
                        codes.push(self.known_value(e, &known)?.0);
                    }
                    conditions.push(not(any(&codes)));
                }
                Item::Do(Stmt { kind: Kind::Assign(place, e), .. }) => {
                    let code = self.known_value_for(place, e, &known)?;
                    let register = match self.global(place) {
                        Some(_) => now,
                        None => self.known_register(place)?,
                    };
                    known.retain(|(r, _)| *r != register);
                    known.push((register, code));
                }
                Item::Do(_) => {}
            }
        }
        let all = conditions.into_iter().reduce(|a, b| binary(BinOp::And, a, b));
        let condition = self.bounded(all.unwrap_or(Expr::Const(1)), path.token)?;
        let new = known.into_iter().find(|(r, _)| *r == now).map(|(_, code)| code)?;
        Some(Planned { condition, old, new })
    }

    /// The value of an expression in terms of what was there at the beginning.
    fn known_value(
        &mut self,
        e: &tree::Expr<'t>,
        known: &[(RegId, Code)],
    ) -> Option<(Code, super::value::Bounds)> {
        let before = self.out.len();
        let value = self.value(e)?;
        if self.out.len() != before {
            return self.too_much("this expression", e.token);
        }
        let find = |r: RegId| known.iter().find(|(k, _)| *k == r).map(|(_, code)| code.clone());
        let code = self.bounded(replace(&value.code, &find), e.token)?;
        let mut size = 0;
        code.atoms(&mut |_| size += 1);
        if size > MAX_SIZE {
            return self.too_much("so much computing", e.token);
        }
        Some((code, value.bounds))
    }

    /// What is assigned to a place.
    fn known_value_for(
        &mut self,
        place: &tree::Place<'t>,
        e: &tree::Expr<'t>,
        known: &[(RegId, Code)],
    ) -> Option<Code> {
        let (code, bounds) = self.known_value(e, known)?;
        let kind = match self.global(place) {
            Some(global) => global.kind,
            None => self.local(place.name.text).map_or(Type::Int, |l| l.kind),
        };
        let cut = kind.fit(super::value::Value { code, bounds });
        self.bounded(cut, e.token)
    }

    fn known_register(&mut self, place: &tree::Place<'t>) -> Option<RegId> {
        let local = self.local(place.name.text).cloned();
        match (local.map(|l| l.place), &place.index) {
            (Some(LocalPlace::Register(register)), None) => Some(register),
            (Some(LocalPlace::Array(list)), Some(index)) => {
                let index = self.compute(index)?;
                self.check_constant(&index, list.len() as i128, place)?;
                match index.known() {
                    Some(known) => list.get(usize::try_from(known).ok()?).copied(),
                    None => self.too_much("an element that is not known", place.name.token),
                }
            }
            (None, _) => {
                self.cx.unknown(place.name, &[]);
                None
            }
            _ => self.too_much("this assignment", place.name.token),
        }
    }

    /// Does a path, or goes back to `again`.
    pub fn commit(
        &mut self,
        path: &Path<'_, 't>,
        planned: Option<Planned>,
        again: Option<LabelId>,
        span: Span,
    ) -> Option<()> {
        let old = match planned {
            Some(planned) if path.writes => {
                self.compare_and_swap(path, &planned, again?, span)?;
                planned.old
            }
            Some(planned) => planned.old,
            None => self.at_once(path, span)?,
        };
        // Once more, for what stays inside of the process.
        let around = self.base;
        let now = self.temporary(span)?;
        self.emit(StmtKind::Assign(now, Expr::Atom(old)), span);
        self.base = self.in_use;
        self.held = Some((path.place.clone(), now));
        for item in &path.items {
            if let Item::Do(stmt) = item {
                self.sequence(std::slice::from_ref(stmt));
            }
        }
        self.held = None;
        self.base = around;
        self.begin();
        Some(())
    }

    fn compare_and_swap(
        &mut self,
        path: &Path<'_, 't>,
        planned: &Planned,
        again: LabelId,
        span: Span,
    ) -> Option<()> {
        let found = self.temporary(span)?;
        let (expected, new) = (Expr::Atom(planned.old), planned.new.clone());
        let swap = Rmw::Cas { expected: expected.clone(), new };
        self.emit(StmtKind::Rmw(found, path.place.clone(), swap), span);
        let (back, ()) = self.nested(|this| this.emit(StmtKind::Goto(again), span));
        let late = binary(BinOp::Ne, Expr::Atom(found), expected);
        self.emit(StmtKind::If(late, back, Vec::new()), span);
        Some(())
    }

    /// A path that tests nothing, as one operation if there is one.
    fn at_once(&mut self, path: &Path<'_, 't>, span: Span) -> Option<RegId> {
        let old = self.temporary(span)?;
        let planned = self.work_out(path, old)?;
        let operation = match &planned.new {
            _ if !uses(&planned.new, old) => Some(Rmw::Swap(planned.new.clone())),
            Expr::Unary(UnOp::Not, e) if **e == Expr::Atom(old) => {
                Some(Rmw::Fetch(BinOp::Eq, Expr::Const(0)))
            }
            Expr::Binary(op, a, b) if **a == Expr::Atom(old) && !uses(b, old) => {
                Some(Rmw::Fetch(*op, (**b).clone()))
            }
            _ => None,
        };
        match operation {
            Some(operation) => {
                self.emit(StmtKind::Rmw(old, path.place.clone(), operation), span);
            }
            // Among these is what has to be cut to the size of its variable.
            None => {
                let again = self.new_label(span)?;
                self.emit(StmtKind::Label(again), span);
                self.emit(StmtKind::Load(old, path.place.clone()), span);
                self.compare_and_swap(path, &planned, again, span)?;
            }
        }
        Some(old)
    }

    /// The global variables that statements are about.
    fn accesses<'a>(&self, list: &'a [Stmt<'t>], found: &mut Accesses<'a, 't>) {
        for stmt in list {
            let mut reads = |e: &'a tree::Expr<'t>| {
                visit(e, &mut |place| {
                    if self.global(place).is_some() {
                        found.reads.push(place);
                    }
                });
            };
            match &stmt.kind {
                Kind::Guard(e) | Kind::Assert(e) => reads(e),
                Kind::Assign(place, e) => {
                    reads(e);
                    if let Some(index) = &place.index {
                        reads(index);
                    }
                    match self.global(place) {
                        Some(_) => found.writes.push(place),
                        None => found.assigned.push(place.name.text),
                    }
                }
                Kind::Select(place, ends) => {
                    let (low, high) = &**ends;
                    reads(low);
                    reads(high);
                    match self.global(place) {
                        Some(_) => found.writes.push(place),
                        None => found.assigned.push(place.name.text),
                    }
                }
                Kind::Declare(list) => list.iter().filter_map(|d| d.init.as_ref()).for_each(reads),
                Kind::If(options) | Kind::Do(options) => {
                    options.iter().for_each(|option| self.accesses(option, found));
                }
                Kind::Atomic(body) | Kind::Block(body) => self.accesses(body, found),
                _ => {}
            }
        }
    }
}

/// What a block does with variables.
#[derive(Default)]
struct Accesses<'a, 't> {
    reads: Vec<&'a tree::Place<'t>>,
    writes: Vec<&'a tree::Place<'t>>,
    /// Local variables that change.
    assigned: Vec<&'t str>,
}

/// Calls `see` with every place in an expression.
fn visit<'a, 't>(e: &'a tree::Expr<'t>, see: &mut impl FnMut(&'a tree::Place<'t>)) {
    match &e.kind {
        ExprKind::Number(_) | ExprKind::LastOf(_) => {}
        ExprKind::Place(place) => {
            if let Some(index) = &place.index {
                visit(index, see);
            }
            see(place);
        }
        ExprKind::Not(e) | ExprKind::Negative(e) | ExprKind::Complement(e) => visit(e, see),
        ExprKind::Binary(_, a, b) => {
            visit(a, see);
            visit(b, see);
        }
        ExprKind::Conditional(a, b, c) => {
            visit(a, see);
            visit(b, see);
            visit(c, see);
        }
        ExprKind::Run(_, arguments) => arguments.iter().for_each(|a| visit(a, see)),
    }
}
