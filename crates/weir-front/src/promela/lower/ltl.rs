//! Formulas: what `ltl` asks.
//!
//! `[] p` of a formula `p` about one state is the property `never !p`, which `weir check` answers.
//! Others are properties `ltl`, which `weir live` answers. [`state`] translates what is true of a state.

use weir_model::ids::ProcessId;
use weir_model::program::{
    self, Atom, BinOp, Expr, Formula, Live, LiveKind, Property, PropertyKind, Runs, UnOp,
};

use super::Context;
use super::channel::Channel;
use super::process::Body;
use super::variable::{Storage, Variable};
use crate::errors::quote;
use crate::promela::tree::{self, ExprKind, Fill, Ltl, Model, Name, Pattern, Stmt, StmtKind};
use crate::weir::tree::Span;

/// How large a formula about an element with a variable index may become.
const MAX_ATOMS: usize = 10_000;

/// Asks the formulas of a model.
pub fn ask<'t>(cx: &mut Context<'_, 't>, model: &Model<'t>, bodies: &[Body<'_, 't>]) {
    for claim in &model.claims {
        let note = match claim.text {
            "priority" => "`priority` is ignored: every process may take steps".to_owned(),
            word => format!("the `{word}` in this model is not checked"),
        };
        cx.source.notes.push(note);
    }
    for formula in &model.formulas {
        let span = cx.span(formula.span);
        let name = formula.name.map(|n| n.text.to_owned());
        let which =
            name.as_ref().map_or("a formula".to_owned(), |n| format!("the formula {}", quote(n)));
        let note = |cx: &mut Context<'_, 't>, why: &str| {
            cx.source.notes.push(format!("{which} {why}"));
        };
        if has_next(&formula.formula) {
            note(cx, "has `X`, which Weir does not have, and is not asked");
            continue;
        }
        let Some(whole) = temporal(cx, &formula.formula, bodies) else { continue };
        if cx.staggered && sees_beginnings(&formula.formula, bodies) {
            note(
                cx,
                "is not asked: it tells where processes begin, which `init` does not run at one moment; \
                 put the `run`s into `atomic`",
            );
            continue;
        }
        let Some(rest) = after(whole, &cx.moments, &cx.program) else {
            note(cx, "is not asked: it becomes too large by what `init` does before processes run");
            continue;
        };
        let rest = match rest {
            Left::Open(rest) => rest,
            Left::Known(holds) => {
                if !holds {
                    note(cx, "is violated before `init` has run its processes");
                }
                let kind = PropertyKind::Never(Expr::Const(i128::from(!holds)));
                cx.program.properties.push(Property { name, kind, span });
                continue;
            }
        };
        let now = rest.now().folded();
        if let program::Ltl::Always(inner) = &now
            && let program::Ltl::State(holds) = &**inner
        {
            let kind = PropertyKind::Never(Expr::unary(UnOp::Not, holds.clone()));
            cx.program.properties.push(Property { name, kind, span });
            continue;
        }
        let kind = LiveKind::Ltl { runs: Runs::All, formula: now };
        cx.program.live.push(Live { name, kind, span });
    }
    ask_labels(cx, model, bodies);
}

/// Asks what Spin asks with `-l` and `-a` about labels that begin with `progress` and `accept`:
/// every infinite run is at the former infinitely often, and none at the latter.
fn ask_labels<'t>(cx: &mut Context<'_, 't>, model: &Model<'t>, bodies: &[Body<'_, 't>]) {
    use program::Ltl as To;
    if let Some((at, span)) = at_any(cx, "progress", bodies) {
        let formula = To::Always(To::Eventually(To::State(at).into()).into());
        ask_of_endless(cx, "progress", formula, span);
    }
    if let Some((at, span)) = at_any(cx, "accept", bodies) {
        // Spin sees these labels in the middle of `atomic`, where it sees no others.
        if model.proctypes.iter().any(|p| is_in_atomic(&p.body, "accept")) {
            let note = "an `accept` label is in the middle of `atomic`, so acceptance is not asked";
            cx.source.notes.push(note.to_owned());
            return;
        }
        let not = To::State(Expr::unary(UnOp::Not, at));
        let formula = To::Eventually(To::Always(not.into()).into());
        ask_of_endless(cx, "acceptance", formula, span);
    }
}

fn ask_of_endless(cx: &mut Context<'_, '_>, name: &str, formula: program::Ltl, span: Span) {
    let span = cx.span(span);
    let is_taken = |name: &str| {
        let live = cx.program.live.iter().map(|live| &live.name);
        let states = cx.program.properties.iter().map(|property| &property.name);
        live.chain(states).any(|taken| taken.as_deref() == Some(name))
    };
    let mut name = name.to_owned();
    while is_taken(&name) {
        name.push_str("_labels");
    }
    let kind = LiveKind::Ltl { runs: Runs::Endless, formula: formula.folded() };
    cx.program.live.push(Live { name: Some(name), kind, span });
}

/// That some process is at a label that begins so, and where the first such label stands.
fn at_any<'t>(
    cx: &Context<'_, 't>,
    prefix: &str,
    bodies: &[Body<'_, 't>],
) -> Option<(Formula, Span)> {
    let mut found = Vec::new();
    for (p, body) in bodies.iter().enumerate() {
        for (_, (id, span)) in body.label_ids.iter().filter(|(name, _)| name.starts_with(prefix)) {
            let now = cx.relabeled.get(p).and_then(|list| list[id.index()]);
            found.push((ProcessId::new(p), now, *span));
        }
    }
    found.sort_unstable_by_key(|(p, _, span)| (*p, span.range().start));
    let span = found.first()?.2;
    let mut all: Vec<_> = found.into_iter().filter_map(|(p, id, _)| Some((p, id?))).collect();
    all.dedup();
    let at = all.into_iter().map(|(p, id)| Expr::Atom(Atom::At(p, id)));
    let any = at.reduce(|a, b| Expr::binary(BinOp::Or, a, b));
    Some((any.unwrap_or(Expr::Const(0)), span))
}

/// Whether a label that begins so is in a block `atomic`, and not before its first statement.
fn is_in_atomic(list: &[Stmt<'_>], prefix: &str) -> bool {
    let mut found = false;
    for stmt in list {
        stmt.visit(&mut |stmt| {
            if let StmtKind::Atomic(body) = &stmt.kind {
                let begins = |stmt: &&Stmt<'_>| matches!(stmt.kind, StmtKind::Label(_));
                for stmt in body.iter().skip_while(begins) {
                    stmt.visit(&mut |inner| {
                        found |= matches!(&inner.kind, StmtKind::Label(name) if name.text.starts_with(prefix));
                    });
                }
            }
        });
    }
    found
}

/// How many parts a formula may have after what `init` does.
const MAX_PARTS: usize = 2_000;

/// A state formula: what it is while the processes of the program run, and what it was before.
#[derive(Clone, PartialEq)]
struct Fact {
    now: Formula,
    before: Formula,
}

/// What is left to ask of a formula.
enum Left {
    Known(bool),
    Open(program::Ltl<Fact>),
}

impl Left {
    fn not(self) -> Self {
        match self {
            Self::Known(holds) => Self::Known(!holds),
            Self::Open(a) => Self::Open(program::Ltl::Not(Box::new(a))),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(false), _) | (_, Self::Known(false)) => Self::Known(false),
            (Self::Known(true), a) | (a, Self::Known(true)) => a,
            (Self::Open(a), Self::Open(b)) if a == b => Self::Open(a),
            (Self::Open(a), Self::Open(b)) => {
                Self::Open(program::Ltl::And(Box::new(a), Box::new(b)))
            }
        }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

trait Now {
    fn now(&self) -> program::Ltl;
}

impl Now for program::Ltl<Fact> {
    /// What the formula is while the processes run.
    fn now(&self) -> program::Ltl {
        use program::Ltl as L;
        let of = |a: &Self| Box::new(a.now());
        match self {
            L::State(fact) => L::State(fact.now.clone()),
            // Twice not is what `or` leaves.
            L::Not(a) => match &**a {
                L::Not(a) => a.now(),
                a => L::Not(of(a)),
            },
            L::And(a, b) => L::And(of(a), of(b)),
            L::Or(a, b) => L::Or(of(a), of(b)),
            L::Implies(a, b) => L::Implies(of(a), of(b)),
            L::Iff(a, b) => L::Iff(of(a), of(b)),
            L::Always(a) => L::Always(of(a)),
            L::Eventually(a) => L::Eventually(of(a)),
            L::Until(a, b) => L::Until(of(a), of(b)),
            L::Unless(a, b) => L::Unless(of(a), of(b)),
            L::Release(a, b) => L::Release(of(a), of(b)),
        }
    }
}

/// What has to be true of the rest of a run after some moments, so that a formula is true of all of it.
/// `None` if that is too large.
fn after(
    formula: program::Ltl<Fact>,
    moments: &[Vec<i128>],
    program: &program::Program,
) -> Option<Left> {
    let initial: Vec<i128> =
        program.vars.iter().flat_map(|d| d.init.iter().map(|v| v[0])).collect();
    let mut facts = Vec::new();
    collect(&formula, &mut facts);
    let mut last = None;
    let mut left = formula;
    for memory in moments {
        let letter: Vec<bool> = facts
            .iter()
            .map(|fact| {
                let value = fact.before.eval(&mut |atom| match atom {
                    Atom::Var(var) => {
                        let value = memory.get(var.index()).or_else(|| initial.get(var.index()));
                        value.copied().unwrap_or(0)
                    }
                    Atom::Reg(..) | Atom::At(..) => 0,
                });
                value.is_ok_and(|value| value != 0)
            })
            .collect();
        // Without `X` it does not matter how often something is true.
        if last.as_ref() == Some(&letter) {
            continue;
        }
        match step(&left, &mut |fact| {
            facts.iter().position(|known| known == fact).is_some_and(|i| letter[i])
        }) {
            Left::Open(next) if size(&next) <= MAX_PARTS => left = next,
            Left::Open(_) => return None,
            known => return Some(known),
        }
        last = Some(letter);
    }
    Some(Left::Open(left))
}

fn collect(formula: &program::Ltl<Fact>, facts: &mut Vec<Fact>) {
    match formula {
        program::Ltl::State(fact) if !facts.contains(fact) => facts.push(fact.clone()),
        other => other.parts().into_iter().for_each(|part| collect(part, facts)),
    }
}

fn size(formula: &program::Ltl<Fact>) -> usize {
    1 + formula.parts().into_iter().map(size).sum::<usize>()
}

/// What is left after one moment.
fn step(formula: &program::Ltl<Fact>, holds: &mut impl FnMut(&Fact) -> bool) -> Left {
    use program::Ltl as L;
    let again = || Left::Open(formula.clone());
    match formula {
        L::State(fact) => Left::Known(holds(fact)),
        L::Not(a) => step(a, holds).not(),
        L::And(a, b) => step(a, holds).and(step(b, holds)),
        L::Or(a, b) => step(a, holds).or(step(b, holds)),
        L::Implies(a, b) => step(a, holds).not().or(step(b, holds)),
        L::Iff(a, b) => {
            let both = step(a, holds).and(step(b, holds));
            both.or(step(a, holds).not().and(step(b, holds).not()))
        }
        L::Always(a) => step(a, holds).and(again()),
        L::Eventually(a) => step(a, holds).or(again()),
        L::Until(a, b) | L::Unless(a, b) => step(b, holds).or(step(a, holds).and(again())),
        L::Release(a, b) => step(b, holds).and(step(a, holds).or(again())),
    }
}

/// Whether a formula distinguishes a process that has not begun from one that has, whatever the
/// process has done since.
fn sees_beginnings<'t>(formula: &Ltl<'t>, bodies: &[Body<'_, 't>]) -> bool {
    let state = |e: &tree::Expr<'t>| {
        let mut sees = false;
        e.visit(&mut |e| {
            let (name, label) = match &e.kind {
                ExprKind::At(at) => (at.0, Some(at.2)),
                ExprKind::Remote(remote) => (remote.0, None),
                _ => return,
            };
            let late = |body: &&Body<'_, 't>| {
                body.proctype.name.text == name.text && body.proctype.active.is_none()
            };
            sees |= bodies.iter().filter(late).any(|body| {
                let begin = &body.graph.nodes[body.graph.resolve(body.graph.start)];
                label.is_none_or(|label| begin.labels.contains(&label.text))
            });
        });
        sees
    };
    match formula {
        Ltl::State(e) => state(e),
        Ltl::Not(a) | Ltl::Always(a) | Ltl::Eventually(a) | Ltl::Next(a) => {
            sees_beginnings(a, bodies)
        }
        Ltl::And(a, b)
        | Ltl::Or(a, b)
        | Ltl::Implies(a, b)
        | Ltl::Equivalent(a, b)
        | Ltl::Until(a, b)
        | Ltl::WeakUntil(a, b)
        | Ltl::Release(a, b) => sees_beginnings(a, bodies) || sees_beginnings(b, bodies),
    }
}

fn has_next(formula: &Ltl<'_>) -> bool {
    match formula {
        Ltl::Next(_) => true,
        Ltl::State(_) => false,
        Ltl::Not(a) | Ltl::Always(a) | Ltl::Eventually(a) => has_next(a),
        Ltl::And(a, b)
        | Ltl::Or(a, b)
        | Ltl::Implies(a, b)
        | Ltl::Equivalent(a, b)
        | Ltl::Until(a, b)
        | Ltl::WeakUntil(a, b)
        | Ltl::Release(a, b) => has_next(a) || has_next(b),
    }
}

/// A formula without `X`. `None` after an error.
///
/// Recursive: the parser bounds how deep formulas nest.
fn temporal<'t>(
    cx: &mut Context<'_, 't>,
    formula: &Ltl<'t>,
    bodies: &[Body<'_, 't>],
) -> Option<program::Ltl<Fact>> {
    use program::Ltl as To;
    let mut of = |part: &Ltl<'t>| temporal(cx, part, bodies).map(Box::new);
    Some(match formula {
        Ltl::State(e) => To::State(Fact {
            now: state(cx, e, bodies, false)?,
            before: state(cx, e, bodies, true)?,
        }),
        Ltl::Not(a) => To::Not(of(a)?),
        Ltl::Always(a) => To::Always(of(a)?),
        Ltl::Eventually(a) => To::Eventually(of(a)?),
        Ltl::And(a, b) => To::And(of(a)?, of(b)?),
        Ltl::Or(a, b) => To::Or(of(a)?, of(b)?),
        Ltl::Implies(a, b) => To::Implies(of(a)?, of(b)?),
        Ltl::Equivalent(a, b) => To::Iff(of(a)?, of(b)?),
        Ltl::Until(a, b) => To::Until(of(a)?, of(b)?),
        Ltl::WeakUntil(a, b) => To::Unless(of(a)?, of(b)?),
        Ltl::Release(a, b) => To::Release(of(a)?, of(b)?),
        Ltl::Next(_) => return None,
    })
}

/// An expression about a state as a formula, while processes run or `before` they do. `None` after an error.
fn state<'t>(
    cx: &mut Context<'_, 't>,
    e: &tree::Expr<'t>,
    bodies: &[Body<'_, 't>],
    before: bool,
) -> Option<Formula> {
    let mut inner = |e: &tree::Expr<'t>| state(cx, e, bodies, before);
    Some(match &e.kind {
        ExprKind::Number(n) => Expr::Const(*n),
        ExprKind::Not(e) => Expr::unary(UnOp::Not, inner(e)?),
        ExprKind::Negative(e) => Expr::unary(UnOp::Neg, inner(e)?),
        ExprKind::Complement(e) => Expr::binary(BinOp::Sub, Expr::Const(-1), inner(e)?),
        ExprKind::Binary(BinOp::Mod, a, b) => {
            // What C leaves has the sign of the left operand.
            let (a, b) = (inner(a)?, inner(b)?);
            let whole = Expr::binary(BinOp::Div, a.clone(), b.clone());
            Expr::binary(BinOp::Sub, a, Expr::binary(BinOp::Mul, whole, b))
        }
        ExprKind::Binary(op, a, b) => Expr::binary(*op, inner(a)?, inner(b)?),
        ExprKind::Conditional(c, a, b) => {
            let (c, a, b) = (inner(c)?, inner(a)?, inner(b)?);
            let yes = Expr::unary(UnOp::Not, Expr::unary(UnOp::Not, c.clone()));
            let yes = Expr::binary(BinOp::Mul, yes, a);
            let no = Expr::binary(BinOp::Mul, Expr::unary(UnOp::Not, c), b);
            Expr::binary(BinOp::Add, yes, no)
        }
        ExprKind::Place(place) => {
            if place.field.is_none() && place.index.is_none() {
                if let Some(value) = cx.constants.get(place.name.text)
                    && !cx.globals.contains_key(place.name.text)
                {
                    return Some(Expr::Const(*value));
                }
                if let ("_nr_pr", Some(var)) = (place.name.text, cx.running) {
                    return Some(Expr::Atom(Atom::Var(var)));
                }
            }
            let Some(variable) = cx.globals.get(place.name.text).cloned() else {
                cx.unknown(place.name, &[]);
                return None;
            };
            element(cx, &variable, place, 0, (bodies, before))?
        }
        ExprKind::Fill(fill, place) => {
            let channel = channel(cx, place, e, (bodies, before))?;
            let len = channel.len.map_or(Expr::Const(0), |len| Expr::Atom(Atom::Var(len)));
            let capacity = Expr::Const(i128::from(channel.capacity));
            match fill {
                Fill::Len => len,
                Fill::Empty => Expr::binary(BinOp::Eq, len, Expr::Const(0)),
                Fill::Nempty => Expr::binary(BinOp::Ne, len, Expr::Const(0)),
                Fill::Full => Expr::binary(BinOp::Eq, len, capacity),
                Fill::Nfull => Expr::binary(BinOp::Ne, len, capacity),
            }
        }
        // Spin reads zero from a process that does not run.
        ExprKind::At(_) | ExprKind::Remote(_) if before => Expr::Const(0),
        ExprKind::At(at) => {
            let (process, number, label) = &**at;
            let p = self::process(cx, *process, number.as_deref(), bodies)?;
            let Some((id, _)) = bodies[p].label_ids.get(label.text) else {
                let name = quote(process.text);
                let message = format!("{} is not a label of {name}", quote(label.text));
                cx.error_at(message, label.token);
                return None;
            };
            match cx.relabeled.get(p).and_then(|list| list[id.index()]) {
                Some(id) => Expr::Atom(Atom::At(ProcessId::new(p), id)),
                None => Expr::Const(0),
            }
        }
        ExprKind::Remote(remote) => {
            let (process, number, place) = &**remote;
            let p = self::process(cx, *process, number.as_deref(), bodies)?;
            let scopes = &bodies[p].scopes;
            let found = scopes.iter().find_map(|scope| scope.vars.get(place.name.text)).cloned();
            let Some(variable) = found else {
                let name = quote(process.text);
                let message = format!("{name} has no variable {}", quote(place.name.text));
                cx.error_at(message, place.name.token);
                return None;
            };
            element(cx, &variable, place, p, (bodies, before))?
        }
        ExprKind::Poll(receive) => {
            let channel = channel(cx, &receive.channel, e, (bodies, before))?;
            let Some(len) = channel.len else { return Some(Expr::Const(0)) };
            let mut wanted = Vec::new();
            for (field, pattern) in receive.patterns.iter().enumerate() {
                match pattern {
                    Pattern::Value(e) => wanted.push((field, state(cx, e, bodies, before)?)),
                    Pattern::Place(place) => {
                        let name = place.name.text;
                        let member = cx.constants.get(name).copied();
                        let member = member.filter(|_| !cx.globals.contains_key(name));
                        wanted.extend(member.map(|value| (field, Expr::Const(value))));
                    }
                }
            }
            let last = if receive.is_random { channel.capacity as usize } else { 1 };
            let mut any = Expr::Const(0);
            for slot in 0..last {
                let len = Expr::Atom(Atom::Var(len));
                let mut here = Expr::binary(BinOp::Gt, len, Expr::Const(slot as i128));
                for (field, value) in &wanted {
                    let Some(at) = channel.slot(*field, slot) else { continue };
                    let is = Expr::binary(BinOp::Eq, Expr::Atom(Atom::Var(at)), value.clone());
                    here = Expr::binary(BinOp::And, here, is);
                }
                any = match slot {
                    0 => here,
                    _ => Expr::binary(BinOp::Or, any, here),
                };
            }
            any
        }
        ExprKind::LastOf(_) | ExprKind::Run(..) | ExprKind::Timeout => {
            cx.error_at("this is not allowed in a formula", e.token);
            return None;
        }
    })
}

/// The channel that a place means, if it is known beforehand. `None` after an error.
fn channel<'t>(
    cx: &mut Context<'_, 't>,
    place: &tree::Place<'t>,
    e: &tree::Expr<'t>,
    (bodies, before): (&[Body<'_, 't>], bool),
) -> Option<Channel> {
    let Some(variable) = cx.globals.get(place.name.text).cloned() else {
        cx.unknown(place.name, &[]);
        return None;
    };
    let number = match element(cx, &variable, place, 0, (bodies, before))? {
        Expr::Const(n) => usize::try_from(n - 1).ok(),
        _ => None,
    };
    let channel = number.and_then(|n| cx.channels.get(n)).cloned();
    if channel.is_none() {
        cx.error_at("only a channel that is known beforehand is allowed here", e.token);
    }
    channel
}

/// The value of a variable of memory or of a process. `None` after an error.
fn element<'t>(
    cx: &mut Context<'_, 't>,
    variable: &Variable<'t>,
    place: &tree::Place<'t>,
    process: usize,
    (bodies, before): (&[Body<'_, 't>], bool),
) -> Option<Formula> {
    let Some(leaf) = variable.leaf(place) else {
        cx.error_at(format!("{} has no such field", quote(place.name.text)), place.name.token);
        return None;
    };
    let mut at = Expr::Const(0);
    for (index, dim) in place.indices().into_iter().zip(&leaf.dims) {
        match (index, dim) {
            (None, None) => {}
            (Some(index), Some(dim)) => {
                let dim = i128::from(*dim);
                let value = state(cx, index, bodies, before)?;
                let value = match value.eval(&mut |_| i128::MIN) {
                    Ok(known) if is_constant(&value) => Expr::Const(known),
                    _ => value,
                };
                if let Expr::Const(n) = value
                    && !(0..dim).contains(&n)
                {
                    cx.error_at(format!("index {n} is outside of the array"), index.token);
                    return None;
                }
                at = match (at, value) {
                    (Expr::Const(at), Expr::Const(n)) => Expr::Const(at * dim + n),
                    (at, n) => {
                        let before = Expr::binary(BinOp::Mul, at, Expr::Const(dim));
                        Expr::binary(BinOp::Add, before, n)
                    }
                };
            }
            (None, Some(_)) | (Some(_), None) => {
                let message = match dim {
                    Some(_) => "this is an array; say which element",
                    None => "this is not an array",
                };
                cx.error_at(message, place.name.token);
                return None;
            }
        }
    }
    let one = |at: usize| match &leaf.storage {
        Storage::Global(first, _) => {
            Expr::Atom(Atom::Var(weir_model::ids::VarId::new(first.index() + at)))
        }
        Storage::Registers(list) => Expr::Atom(Atom::Reg(ProcessId::new(process), list[at])),
        Storage::Constants(list) => Expr::Const(list[at]),
    };
    if let Expr::Const(at) = at {
        return Some(one(at as usize));
    }
    let mut atoms = 0;
    at.atoms(&mut |_| atoms += 1);
    if atoms * leaf.count() > MAX_ATOMS {
        cx.error_at("this index makes the formula too large", place.name.token);
        return None;
    }
    // The element whose index it is. No element is outside of the array, and it counts as 0 there.
    let each = (0..leaf.count()).map(|i| {
        let is = Expr::binary(BinOp::Eq, at.clone(), Expr::Const(i as i128));
        Expr::binary(BinOp::Mul, is, one(i))
    });
    each.reduce(|a, b| Expr::binary(BinOp::Add, a, b))
}

fn is_constant(formula: &Formula) -> bool {
    let mut found = true;
    formula.atoms(&mut |_| found = false);
    found
}

/// The process that is meant by a `proctype` and a number.
fn process<'t>(
    cx: &mut Context<'_, 't>,
    name: Name<'t>,
    number: Option<&tree::Expr<'t>>,
    bodies: &[Body<'_, 't>],
) -> Option<usize> {
    let pid = match number {
        Some(e) => Some(cx.constant(e)?),
        None => None,
    };
    let is = |body: &Body<'_, 't>| {
        body.proctype.name.text == name.text && pid.is_none_or(|pid| pid == body.pid)
    };
    let found: Vec<usize> = (0..bodies.len()).filter(|p| is(&bodies[*p])).collect();
    match found[..] {
        [one] => Some(one),
        [] => {
            cx.error_at(format!("there is no such process {}", quote(name.text)), name.token);
            None
        }
        _ => {
            let message = format!("several processes are called {}; say which", quote(name.text));
            cx.error_at(message, name.token);
            None
        }
    }
}
