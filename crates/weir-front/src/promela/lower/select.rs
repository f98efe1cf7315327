//! Selections: everything that may wait or choose. A condition that stands alone is a
//! selection with one option.
//!
//! Spin evaluates all options at once, takes one that is enabled, and executes its first
//! statement in the same step. Here all conditions are evaluated on values that are
//! loaded first. If there are values for which no option is enabled, the loads are the
//! block of an `await`. Then one of the enabled options is taken.
//!
//! If each condition reads at most one variable, this is equivalent to Spin under
//! sequential consistency: taking an option later is equivalent to taking it at the
//! moment of its load, because the steps of the process in between are not visible to
//! others. `else` reads the variables of all other options. With more variables, other
//! processes may take steps between the loads.

use std::collections::HashMap;

use weir_model::ids::{LabelId, RegId};
use weir_model::program::{BinOp, Code, Expr, Stmt as Made, StmtKind};

use super::atomic::{Around, Path, Planned};
use super::process::Lowering;
use super::value::{any, binary, not};
use crate::MAX_NESTING;
use crate::promela::tree::{self, Name, Stmt, StmtKind as Kind};
use crate::weir::fold;
use crate::weir::tree::Span;

/// One way to go on.
struct Way<'a, 't> {
    test: Test<'a, 't>,
    /// What is done atomically after the test, or as the test.
    path: Option<Path<'a, 't>>,
    /// What comes after that.
    body: Vec<&'a [Stmt<'t>]>,
    /// Labels before the first statement, for those who jump there.
    labels: Vec<Name<'t>>,
    head: &'a Stmt<'t>,
}

enum Test<'a, 't> {
    Always,
    When(&'a tree::Expr<'t>),
    /// None of these ways is enabled.
    Else(Vec<usize>),
    /// What the path tests.
    Path,
}

/// Where a way begins once its test is known.
struct Tested {
    enabled: Code,
    planned: Option<Planned>,
}

/// Statements with labels that follow several ways: they are written once, or their labels
/// would be there twice. All ways that come to one of them go on in the same way from there.
#[derive(Default)]
struct Tails(HashMap<usize, Tail>);

#[derive(Clone, Copy, Default)]
struct Tail {
    /// How many ways come to it.
    count: usize,
    /// Where it stands, once it is written.
    label: Option<LabelId>,
}

impl Tails {
    fn add(&mut self, way: &Way<'_, '_>) {
        for list in way.body.iter().filter(|list| has_label(list)) {
            self.0.entry(list.as_ptr().addr()).or_default().count += 1;
        }
    }
}

fn has_label(list: &[Stmt<'_>]) -> bool {
    list.iter().any(|stmt| match &stmt.kind {
        Kind::Label(_) => true,
        Kind::If(options) | Kind::Do(options) => options.iter().any(|o| has_label(o)),
        Kind::Atomic(body) | Kind::Block(body) => has_label(body),
        _ => false,
    })
}

impl<'t> Lowering<'_, 't> {
    /// A selection whose only option is `list`.
    pub fn select(&mut self, list: &[Stmt<'t>], span: Span) -> Option<()> {
        self.options(&[list], &[], span)
    }

    /// `do … od`; `labels` stand before it.
    pub fn repeat(
        &mut self,
        options: &[Vec<Stmt<'t>>],
        labels: &[Name<'t>],
        span: Span,
    ) -> Option<()> {
        self.loops += 1;
        let options: Vec<&[Stmt<'t>]> = options.iter().map(Vec::as_slice).collect();
        let (body, done) = self.nested(|this| this.options(&options, labels, span));
        self.loops -= 1;
        self.emit(StmtKind::Loop(body), span);
        done
    }

    fn options(&mut self, options: &[&[Stmt<'t>]], labels: &[Name<'t>], span: Span) -> Option<()> {
        self.scopes.push(Default::default());
        let done = self.ways(options).and_then(|ways| self.choose(ways, labels, span));
        self.scopes.pop();
        done
    }

    fn ways<'a>(&mut self, options: &[&'a [Stmt<'t>]]) -> Option<Vec<Way<'a, 't>>> {
        let mut ways = Vec::new();
        self.group(options, &[], &mut ways, 0)?;
        if ways.len() > MAX_NESTING {
            let message = format!("this has more than {MAX_NESTING} options");
            self.cx.error_at(message, ways[0].head.token);
            return None;
        }
        Some(ways)
    }

    /// Adds the ways of options that stand side by side, each followed by `rest`.
    fn group<'a>(
        &mut self,
        options: &[&'a [Stmt<'t>]],
        rest: &[&'a [Stmt<'t>]],
        ways: &mut Vec<Way<'a, 't>>,
        depth: usize,
    ) -> Option<()> {
        let start = ways.len();
        let mut other = None;
        for option in options {
            let before = ways.len();
            self.option(option, rest, ways, depth)?;
            let way = &ways[before..];
            if let [Way { test: Test::Else(siblings), head, .. }] = way
                && siblings.is_empty()
            {
                let token = head.token;
                if other.replace(before).is_some() {
                    self.cx.error_at("a second `else`", token);
                    return None;
                }
            }
        }
        if let Some(other) = other {
            let siblings: Vec<usize> = (start..ways.len()).filter(|i| *i != other).collect();
            // An `else` that is alone is always true.
            ways[other].test =
                if siblings.is_empty() { Test::Always } else { Test::Else(siblings) };
        }
        Some(())
    }

    /// Adds the ways to begin one option.
    fn option<'a>(
        &mut self,
        list: &'a [Stmt<'t>],
        rest: &[&'a [Stmt<'t>]],
        ways: &mut Vec<Way<'a, 't>>,
        depth: usize,
    ) -> Option<()> {
        let mut list = list;
        let mut labels = Vec::new();
        while let [Stmt { kind, .. }, after @ ..] = list {
            match kind {
                Kind::Label(name) => labels.push(*name),
                Kind::Declare(declared) if declared.iter().all(|d| d.init.is_none()) => {
                    for declared in declared {
                        self.declare(declared, None)?;
                    }
                }
                _ => break,
            }
            list = after;
        }
        let Some((head, after)) = list.split_first() else {
            let [next, others @ ..] = rest else { return Some(()) };
            return self.option(next, others, ways, depth);
        };
        let following = |first: &'a [Stmt<'t>]| {
            let mut body = vec![first];
            body.extend(rest);
            body
        };
        let mut way = |test, body| {
            ways.push(Way { test, path: None, body, labels: labels.clone(), head });
        };
        match &head.kind {
            Kind::Guard(e) if !matches!(e.kind, tree::ExprKind::Run(..)) => {
                way(Test::When(e), following(after));
            }
            Kind::Else => way(Test::Else(Vec::new()), following(after)),
            Kind::Skip => way(Test::Always, following(after)),
            Kind::If(options) if labels.is_empty() => {
                let options: Vec<&[Stmt<'t>]> = options.iter().map(Vec::as_slice).collect();
                self.group(&options, &following(after), ways, depth + 1)?;
            }
            Kind::Block(body) if labels.is_empty() && depth < MAX_NESTING => {
                self.option(body, &following(after), ways, depth + 1)?;
            }
            Kind::Atomic(body) if labels.is_empty() => match self.around(head, body)? {
                Around::Nothing => self.option(body, &following(after), ways, depth + 1)?,
                Around::Paths(paths) => {
                    for path in paths {
                        let test = if path.is_direct() { Test::Always } else { Test::Path };
                        let (path, body) = (Some(path), following(after));
                        ways.push(Way { test, path, body, labels: Vec::new(), head });
                    }
                }
            },
            _ if self.never_blocks(head) => way(Test::Always, following(list)),
            _ => {
                let message = "an option cannot begin with this";
                let error = head.token.error(message);
                let help = "Spin would look into it before it takes the option; put `skip` \
                            before it if the option may be taken without that";
                self.cx.errors.push(error.help(help));
                return None;
            }
        }
        Some(())
    }

    /// Whether a statement can always be done at once.
    pub fn never_blocks(&self, stmt: &Stmt<'t>) -> bool {
        let first = |list: &[Stmt<'t>]| {
            let real = |s: &&Stmt<'t>| !matches!(s.kind, Kind::Label(_) | Kind::Declare(_));
            list.iter().find(real).is_none_or(|s| self.never_blocks(s))
        };
        match &stmt.kind {
            Kind::Guard(e) => {
                let bounds = self.bounds(e);
                bounds.low > 0 || bounds.high < 0
            }
            Kind::If(options) | Kind::Do(options) => options.iter().any(|o| first(o)),
            Kind::Atomic(body) | Kind::Block(body) => first(body),
            _ => true,
        }
    }

    /// Waits until one of the ways is enabled, takes one that is, and goes it.
    fn choose(&mut self, ways: Vec<Way<'_, 't>>, labels: &[Name<'t>], span: Span) -> Option<()> {
        // Who finds that an atomic read-write has come too late tries again.
        let tries = ways.iter().any(|w| w.path.as_ref().is_some_and(Path::may_fail));
        let again = if tries { Some(self.new_label(span)?) } else { None };
        if let Some(again) = again {
            self.emit(StmtKind::Label(again), span);
        }
        self.put_labels(labels);
        let (loads, tested) = self.nested(|this| this.test(&ways));
        let tested = tested?;
        let enabled: Vec<Code> = tested.iter().map(|t| t.enabled.clone()).collect();
        let is_true = |c: &Code| matches!(c, Expr::Const(c) if *c != 0);
        let has_else = ways.iter().any(|w| matches!(w.test, Test::Else(_)));
        let first = &ways.first()?.head;
        if has_else || enabled.iter().any(is_true) {
            self.out.extend(loads);
        } else {
            let one = self.bounded(any(&enabled), first.token)?;
            self.emit(StmtKind::Await(loads, one), first.span);
        }
        let mark = self.in_use;
        let mut bodies = Vec::new();
        let mut tails = Tails::default();
        for way in &ways {
            tails.add(way);
        }
        for (way, tested) in ways.iter().zip(tested) {
            self.in_use = mark;
            let (body, ()) = self.nested(|this| this.go(way, tested.planned, again, &mut tails));
            bodies.push(body);
        }
        self.in_use = mark;
        let alternative = |a: usize, b: usize| match &ways[b].test {
            Test::Else(siblings) => siblings[..] == [a],
            _ => false,
        };
        match bodies.len() {
            1 => self.out.append(&mut bodies[0]),
            2 if alternative(0, 1) || alternative(1, 0) => {
                let other = usize::from(alternative(0, 1));
                let no = std::mem::take(&mut bodies[other]);
                let yes = std::mem::take(&mut bodies[1 - other]);
                let condition = enabled[1 - other].clone();
                self.emit(StmtKind::If(condition, yes, no), span);
            }
            _ if enabled.iter().all(is_true) => self.emit(StmtKind::Choose(bodies), span),
            _ => {
                let taken = self.take_one(&enabled, span)?;
                self.dispatch(taken, bodies, span);
            }
        }
        Some(())
    }

    /// Works out which ways are enabled: all loads first.
    fn test(&mut self, ways: &[Way<'_, 't>]) -> Option<Vec<Tested>> {
        for way in ways {
            match (&way.test, &way.path) {
                (Test::When(e), _) => self.prepare(e)?,
                (Test::Path, Some(path)) => self.load_for(path)?,
                _ => {}
            }
        }
        let mut tested: Vec<Tested> = Vec::new();
        for way in ways {
            let (enabled, planned) = match (&way.test, &way.path) {
                (Test::When(e), _) => (self.compute(e)?.code, None),
                (Test::Path, Some(path)) => {
                    let planned = self.plan(path)?;
                    (planned.condition.clone(), Some(planned))
                }
                _ => (Expr::Const(1), None),
            };
            tested.push(Tested { enabled, planned });
        }
        for (i, way) in ways.iter().enumerate() {
            if let Test::Else(siblings) = &way.test {
                let others: Vec<Code> =
                    siblings.iter().map(|s| tested[*s].enabled.clone()).collect();
                tested[i].enabled = self.bounded(not(any(&others)), way.head.token)?;
            }
        }
        Some(tested)
    }

    /// Chooses one of the ways that are enabled: a later one may take the place of an
    /// earlier one, or not.
    fn take_one(&mut self, enabled: &[Code], span: Span) -> Option<RegId> {
        let taken = self.temporary(span)?;
        let none = Expr::Const(-1);
        let set = |i: usize| StmtKind::Assign(taken, Expr::Const(i as i128));
        self.emit(StmtKind::Assign(taken, none.clone()), span);
        for (i, condition) in enabled.iter().enumerate() {
            let (this_one, ()) = self.nested(|this| {
                if i == 0 {
                    return this.emit(set(i), span);
                }
                let (only, ()) = this.nested(|this| this.emit(set(i), span));
                let (either, ()) = this.nested(|this| {
                    let (change, ()) = this.nested(|this| this.emit(set(i), span));
                    this.emit(StmtKind::Choose(vec![change, Vec::new()]), span);
                });
                let first = binary(BinOp::Eq, Expr::Atom(taken), none.clone());
                this.emit(StmtKind::If(first, only, either), span);
            });
            let condition = fold::truth(condition.clone());
            match condition {
                Expr::Const(0) => {}
                Expr::Const(_) => self.out.extend(this_one),
                _ => self.emit(StmtKind::If(condition, this_one, Vec::new()), span),
            }
        }
        Some(taken)
    }

    fn dispatch(&mut self, taken: RegId, bodies: Vec<Vec<Made>>, span: Span) {
        let mut bodies: Vec<(usize, Vec<Made>)> = bodies.into_iter().enumerate().collect();
        let mut rest = bodies.pop().map(|(_, body)| body).unwrap_or_default();
        while let Some((i, body)) = bodies.pop() {
            let here = binary(BinOp::Eq, Expr::Atom(taken), Expr::Const(i as i128));
            let (chain, ()) = self.nested(|this| this.emit(StmtKind::If(here, body, rest), span));
            rest = chain;
        }
        self.out.append(&mut rest);
    }

    /// What is done after a way was taken.
    fn go(
        &mut self,
        way: &Way<'_, 't>,
        planned: Option<Planned>,
        again: Option<LabelId>,
        tails: &mut Tails,
    ) {
        self.scopes.push(Default::default());
        if !way.labels.is_empty() && !matches!(way.test, Test::Always) {
            self.land(way);
        } else {
            self.put_labels(&way.labels);
        }
        if let Some(path) = &way.path {
            // What is wrong has been reported.
            let _ = self.commit(path, planned, again, way.head.span);
        }
        for list in &way.body {
            match tails.0.get(&list.as_ptr().addr()).copied() {
                Some(Tail { count: 2.., label: Some(label) }) => {
                    self.emit(StmtKind::Goto(label), way.head.span);
                    break;
                }
                Some(Tail { count: 2.., label: None }) => {
                    let Some(label) = self.new_label(way.head.span) else { break };
                    let tail = Tail { count: 2, label: Some(label) };
                    tails.0.insert(list.as_ptr().addr(), tail);
                    self.emit(StmtKind::Label(label), way.head.span);
                }
                _ => {}
            }
            self.sequence(list);
        }
        self.scopes.pop();
    }

    /// Who jumps to a label before the first statement of an option waits for that
    /// statement alone.
    fn land(&mut self, way: &Way<'_, 't>) {
        let Some(after) = self.new_label(way.head.span) else { return };
        self.emit(StmtKind::Goto(after), way.head.span);
        self.put_labels(&way.labels);
        self.sequence(std::slice::from_ref(way.head));
        self.emit(StmtKind::Label(after), way.head.span);
    }
}
