//! Properties, the filter, and the observed values.

use std::collections::HashMap;

use weir_model::ids::{LabelId, ProcessId};
use weir_model::program::{
    Atom, BinOp, Code, Expr, Formula, Game, Live, LiveKind, Property, PropertyKind, Quantifier,
    UnOp,
};

use super::layout::{Cell, Layout, Where};
use super::value::{Constants, Values};
use super::{Context, Family, What};
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::weir::fold;
use crate::weir::tree::{
    self, ExprKind, Item, Name, Place, Quantified, Question, Selector, Span, Who,
};

/// How many copies of formulas quantifiers may make.
const MAX_EXPANDED: usize = 1 << 14;

impl<'t> Context<'t> {
    /// Lowers everything that is asked.
    pub fn properties(&mut self, items: &[Item<'t>]) {
        let mut names = HashMap::new();
        let mut once = [None, None];
        for item in items {
            match item {
                Item::Property(name, question, span) => {
                    let first = name.and_then(|name| names.insert(name.text, name.span));
                    if let (Some(name), Some(first)) = (name, first) {
                        self.declared_twice(*name, first);
                    }
                    let name = name.map(|name| name.text.to_owned());
                    let id = self.span(*span);
                    if let Question::Game(objective, e) = question {
                        let mut targets = Vec::new();
                        self.targets(e, &mut targets);
                        targets.sort_unstable();
                        targets.dedup();
                        let objective = *objective;
                        self.program.games.push(Game { name, objective, targets, span: id });
                        continue;
                    }
                    match self.question(question) {
                        Some(Asked::State(kind)) => {
                            self.program.properties.push(Property { name, kind, span: id });
                        }
                        Some(Asked::Live(kind)) => {
                            self.program.live.push(Live { name, kind, span: id });
                        }
                        None => {}
                    }
                }
                Item::Filter(e, span) => {
                    self.only_once("filter", &mut once[0], *span);
                    self.program.filter = Formulas::new(self).value(e);
                }
                Item::Observe(list, span) => {
                    self.only_once("observe", &mut once[1], *span);
                    let atoms = list.iter().filter_map(|e| self.observed(e)).collect();
                    self.program.observed = Some(atoms);
                }
                _ => {}
            }
        }
    }

    fn only_once(&mut self, word: &str, first: &mut Option<tree::Span>, span: tree::Span) {
        if let Some(first) = first.replace(span) {
            let error = Diagnostic::new(format!("a second `{word}`"), span.range());
            self.error(error.note(first.range(), "the first one"));
        }
    }

    fn question(&mut self, question: &Question<'t>) -> Option<Asked> {
        let mut formulas = Formulas::new(self);
        let kind = match question {
            Question::Never(e) => PropertyKind::Never(formulas.value(e)?),
            Question::NoDeadlock(except) => {
                let mut places = Vec::new();
                for e in except {
                    self.targets(e, &mut places);
                }
                return Some(Asked::State(PropertyKind::NoDeadlock(places)));
            }
            Question::Final(quantifier, e) => PropertyKind::Final(*quantifier, formulas.value(e)?),
            Question::Assertions => PropertyKind::Assertions,
            Question::Live(quantifier, e) => {
                let formula = formulas.value(e)?;
                return Some(Asked::Live(match quantifier {
                    Quantifier::Exists => LiveKind::Exists(formula),
                    Quantifier::Never => LiveKind::Never(formula),
                    Quantifier::Always => LiveKind::Always(formula),
                }));
            }
            Question::Game(..) => return None,
            Question::Terminates => return Some(Asked::Live(LiveKind::Terminates)),
            Question::Ltl(runs, formula) => {
                let formula = formula.try_map(&mut |e| formulas.value(e))?.folded();
                return Some(Asked::Live(LiveKind::Ltl { runs: *runs, formula }));
            }
        };
        Some(Asked::State(kind))
    }

    /// The places of a game, joined by `or`. A family without a number is all of
    /// its members.
    ///
    /// Recursive: the parser bounds how deep expressions nest.
    fn targets(&mut self, e: &tree::Expr<'t>, targets: &mut Vec<(ProcessId, LabelId)>) {
        match &e.kind {
            ExprKind::Binary(BinOp::Or, a, b) => {
                self.targets(a, targets);
                self.targets(b, targets);
            }
            ExprKind::At(who, label) => {
                let mut formulas = Formulas::new(self);
                // The sum of the places is how many of them are taken.
                if let Some(places) = formulas.count(who, *label) {
                    places.atoms(&mut |atom| {
                        if let Atom::At(process, label) = atom {
                            targets.push((*process, *label));
                        }
                    });
                }
            }
            _ => {
                let message = "only places are allowed here, as in `p@here or q@there`";
                self.error_at(message, e.span);
            }
        }
    }

    fn observed(&mut self, e: &tree::Expr<'t>) -> Option<Atom> {
        match Formulas::new(self).value(e)? {
            Expr::Atom(atom) => Some(atom),
            _ => {
                let message = "`observe` takes variables and registers, as in `observe x, p.r`";
                self.error_at(message, e.span);
                None
            }
        }
    }
}

/// What is asked of states, or of infinite runs.
enum Asked {
    State(PropertyKind),
    Live(LiveKind),
}

/// Formulas: their atoms are parts of a state.
struct Formulas<'c, 't> {
    cx: &'c mut Context<'t>,
    /// The names that quantifiers have bound.
    bound: Vec<(&'t str, i128)>,
}

impl<'t> Values<'t> for Formulas<'_, 't> {
    type Atom = Atom;

    fn context(&mut self) -> &mut Context<'t> {
        self.cx
    }

    /// `(c != 0) * a + (c == 0) * b`: both have a value.
    fn either(&mut self, c: Formula, a: Formula, b: Formula, span: Span) -> Option<Formula> {
        if can_fail(&a) || can_fail(&b) {
            let message = "in a formula, both values of `? :` are computed";
            let help = "leave `/`, `%`, `<<`, `>>` and `index` out of them";
            self.cx.error(Diagnostic::new(message, span.range()).help(help));
            return None;
        }
        let not = Expr::unary(UnOp::Not, c.clone());
        let a = Expr::binary(BinOp::Mul, fold::truth(c), a);
        let b = Expr::binary(BinOp::Mul, not, b);
        self.bounded(Expr::binary(BinOp::Add, a, b), span)
    }

    fn leaf(&mut self, e: &tree::Expr<'t>) -> Option<Formula> {
        match &e.kind {
            ExprKind::Place(place) => self.variable(place),
            ExprKind::At(who, label) => self.at(who, *label),
            ExprKind::Quantified(quantified) => self.quantified(quantified),
            ExprKind::Count(who, label) => self.count(who, *label),
            _ => {
                let message = "a formula looks at a state: it cannot do anything";
                self.cx.error_at(message, e.span);
                None
            }
        }
    }
}

impl<'c, 't> Formulas<'c, 't> {
    fn new(cx: &'c mut Context<'t>) -> Self {
        Self { cx, bound: Vec::new() }
    }

    fn constant(&mut self, e: &tree::Expr<'t>) -> Option<i128> {
        Constants { cx: self.cx, known: self.bound.clone() }.eval(e)
    }

    fn variable(&mut self, place: &Place<'t>) -> Option<Formula> {
        let (name, quoted) = (place.name, quote(place.name.text));
        if place.selectors.is_empty()
            && let Some((_, value)) = self.bound.iter().rev().find(|(n, _)| *n == name.text)
        {
            return Some(Expr::Const(*value));
        }
        let Some(global) = self.cx.globals.get(name.text) else {
            let what = "variable or constant";
            let help = self.owner_of(name.text);
            if help.is_none() {
                let bound: Vec<_> = self.bound.iter().map(|(name, _)| *name).collect();
                self.cx.unknown(what, name, &bound);
            } else {
                let message = format!("there is no {what} {quoted}");
                let error = Diagnostic::new(message, name.span.range());
                self.cx.error(Diagnostic { help: help.map(String::into_boxed_str), ..error });
            }
            return None;
        };
        let wrong = match &global.what {
            What::Const(value) if place.selectors.is_empty() => return Some(Expr::Const(*value)),
            What::Broken => return None,
            What::Var(layout) => {
                let (layout, declared) = (layout.clone(), global.span);
                let var = self.cell(&layout, name, &place.selectors, place.span, Some(declared))?;
                return Some(Expr::Atom(Atom::Var(var)));
            }
            What::Process(_) => match &place.selectors[..] {
                [Selector::Field(register), rest @ ..] => {
                    let who = Who { name, index: None, span: name.span };
                    return self.register(&who, *register, rest, place.span);
                }
                [Selector::Index(index), Selector::Field(register), rest @ ..] => {
                    let span = name.span.to(index.span);
                    let process = self.member(name, Some(index), span)?;
                    return self.register_of(process, *register, rest, place.span);
                }
                _ => format!(
                    "{quoted} is a process; name a place of it, as in `{}@label`",
                    name.text
                ),
            },
            other => format!("{quoted} is {}, not a variable", other.kind()),
        };
        let error = Diagnostic::new(wrong, place.span.range());
        let error = error.note(global.span.range(), "it is declared here");
        self.cx.error(error);
        None
    }

    /// The one cell that a place stands for. `None` after an error.
    fn cell<C: Cell>(
        &mut self,
        layout: &Layout<'t, C>,
        name: Name<'t>,
        selectors: &[Selector<'t>],
        span: Span,
        declared: Option<Span>,
    ) -> Option<C> {
        let selected = layout.select(self.cx, name, selectors, span, declared)?;
        let values: Option<Vec<Code>> =
            selected.indices.iter().map(|e| self.constant(e).map(Expr::Const)).collect();
        match selected.locate(self.cx, values?)? {
            Where::One(cell) => Some(cell),
            Where::Several { .. } => None,
        }
    }

    /// `exists i: e` is `e` for one number or another.
    ///
    /// Recursive: the parser bounds how deep expressions nest.
    fn quantified(&mut self, q: &Quantified<'t>) -> Option<Formula> {
        if self.cx.globals.contains_key(q.name.text)
            || self.bound.iter().any(|(n, _)| *n == q.name.text)
        {
            let message = format!("{} is already the name of something else", quote(q.name.text));
            self.cx.error_at(message, q.name.span);
            return None;
        }
        let numbers = match &q.range {
            Some(range) => {
                let (low, high) = (self.constant(&range.0), self.constant(&range.1));
                let (low, high) = (low?, high?);
                let count =
                    usize::try_from(high.saturating_sub(low).saturating_add(1)).unwrap_or(0);
                self.expand(count, q.word)?;
                (low..=high).collect()
            }
            None => self.numbers(q)?,
        };
        self.expand(numbers.len(), q.word)?;
        let mut formulas = Vec::new();
        for number in numbers {
            self.bound.push((q.name.text, number));
            let formula = self.value(&q.body);
            self.bound.pop();
            formulas.push(fold::truth(formula?));
        }
        let op = if q.is_all { BinOp::And } else { BinOp::Or };
        Some(joined(op, &formulas))
    }

    /// Counts the copies of formulas that quantifiers make.
    fn expand(&mut self, count: usize, span: Span) -> Option<()> {
        self.cx.expanded = self.cx.expanded.saturating_add(count);
        if self.cx.expanded <= MAX_EXPANDED {
            return Some(());
        }
        let message = format!("`exists` and `forall` make more than {MAX_EXPANDED} formulas");
        self.cx.error_at(message, span);
        None
    }

    /// The numbers that a name stands for: those of what it is an index of.
    fn numbers(&mut self, q: &Quantified<'t>) -> Option<Vec<i128>> {
        let mut found: Option<(Vec<i128>, Name<'t>)> = None;
        let mut indexed = Vec::new();
        indexed_by(&q.body, q.name.text, &mut indexed);
        for (name, dimension) in indexed {
            let numbers: Vec<i128> = match self.cx.globals.get(name.text).map(|g| &g.what) {
                Some(What::Process(Family::Members(members))) => members.keys().copied().collect(),
                Some(What::Var(layout)) => match layout.dims.get(dimension) {
                    Some(len) => (0..i128::from(*len)).collect(),
                    None => continue,
                },
                _ => continue,
            };
            match &found {
                Some((first, _)) if *first == numbers => {}
                Some((_, first)) => {
                    let (a, b) = (quote(first.text), quote(name.text));
                    let message = format!("{a} and {b} have different numbers");
                    let help = format!("say which, as in `exists {} in 0..3: …`", q.name.text);
                    let error = Diagnostic::new(message, q.name.span.range()).help(help);
                    self.cx.error(error);
                    return None;
                }
                None => found = Some((numbers, name)),
            }
        }
        if found.is_none() {
            let name = quote(q.name.text);
            let message = format!("{name} is not the number of a process or an element");
            let help =
                format!("say which numbers are meant, as in `exists {} in 0..3: …`", q.name.text);
            self.cx.error(Diagnostic::new(message, q.name.span.range()).help(help));
        }
        found.map(|(numbers, _)| numbers)
    }

    /// Advice for a register that is named without its process.
    fn owner_of(&self, register: &str) -> Option<String> {
        let owner = self.cx.insides.iter().position(|i| i.registers.contains_key(register))?;
        let owner = &self.cx.program.processes[owner].name;
        Some(format!("name its process, as in `{owner}.{register}`"))
    }

    fn at(&mut self, who: &Who<'t>, label: Name<'t>) -> Option<Formula> {
        let process = self.one(who)?;
        match self.cx.insides.get(process.index())?.labels.get(label.text) {
            Some((ids, _)) => {
                let atoms: Vec<_> = ids.iter().map(|id| Atom::At(process, *id)).collect();
                Some(sum(&atoms))
            }
            None => self.not_inside("label", process, label),
        }
    }

    fn register(
        &mut self,
        who: &Who<'t>,
        register: Name<'t>,
        selectors: &[Selector<'t>],
        span: Span,
    ) -> Option<Formula> {
        let process = self.one(who)?;
        self.register_of(process, register, selectors, span)
    }

    fn register_of(
        &mut self,
        process: ProcessId,
        register: Name<'t>,
        selectors: &[Selector<'t>],
        span: Span,
    ) -> Option<Formula> {
        match self.cx.insides.get(process.index())?.registers.get(register.text).map(|r| &r[..]) {
            Some([(layout, _)]) => {
                let layout = layout.clone();
                let cell = self.cell(&layout, register, selectors, span, None)?;
                Some(Expr::Atom(Atom::Reg(process, cell)))
            }
            Some([(_, first), (_, second), ..]) => {
                let owner = quote(&self.cx.program.processes[process.index()].name);
                let register = quote(register.text);
                let message =
                    format!("several blocks of process {owner} have a register {register}");
                let (first, second) = (first.range(), second.range());
                let error =
                    Diagnostic::new(message, span.range()).help("give them different names");
                self.cx.error(error.note(first, "one").note(second, "another one"));
                None
            }
            _ => self.not_inside("register", process, register),
        }
    }

    fn not_inside(&mut self, what: &str, process: ProcessId, name: Name<'t>) -> Option<Formula> {
        let owner = quote(&self.cx.program.processes[process.index()].name);
        let message = format!("{} is not a {what} of process {owner}", quote(name.text));
        let inside = self.cx.insides.get(process.index())?;
        let names: Vec<_> = match what {
            "label" => inside.labels.keys().copied().collect(),
            _ => inside.registers.keys().copied().collect(),
        };
        let error = Diagnostic::new(message, name.span.range());
        self.cx.error(did_you_mean(error, name.text, names));
        None
    }

    /// The number of members at a label, as a balanced sum: a family may have
    /// as many members as expressions may nest deep.
    fn count(&mut self, who: &Who<'t>, label: Name<'t>) -> Option<Formula> {
        let processes = match self.cx.globals.get(who.name.text).map(|g| &g.what) {
            Some(What::Process(Family::Members(members))) if who.index.is_none() => {
                members.values().map(|(id, _)| *id).collect()
            }
            _ => vec![self.one(who)?],
        };
        let atoms: Vec<_> = processes
            .iter()
            .filter_map(|p| {
                let (ids, _) = self.cx.insides.get(p.index())?.labels.get(label.text)?;
                Some(ids.iter().map(|id| Atom::At(*p, *id)))
            })
            .flatten()
            .collect();
        match processes.first() {
            Some(process) if atoms.is_empty() => self.not_inside("label", *process, label),
            Some(_) => Some(sum(&atoms)),
            None => None,
        }
    }

    /// The process that is meant. `None` after an error.
    fn one(&mut self, who: &Who<'t>) -> Option<ProcessId> {
        self.member(who.name, who.index.as_deref(), who.span)
    }

    fn member(
        &mut self,
        name: Name<'t>,
        index: Option<&tree::Expr<'t>>,
        span: Span,
    ) -> Option<ProcessId> {
        let index = match index {
            Some(e) => Some(self.constant(e)?),
            None => None,
        };
        let quoted = quote(name.text);
        let Some(global) = self.cx.globals.get(name.text) else {
            self.cx.unknown("process", name, &[]);
            return None;
        };
        let wrong = match (&global.what, index) {
            (What::Broken | What::Later(_), _) => return None,
            (What::Process(Family::Single(id)), None) => return Some(*id),
            (What::Process(Family::Single(_)), Some(_)) => {
                format!("{quoted} is a single process, not a family")
            }
            (What::Process(Family::Members(_)), None) => format!(
                "{quoted} is a family of processes; say which one, as in `{0}[0]`, or how many, as \
                 in `count({0}@label)`",
                name.text
            ),
            (What::Process(Family::Members(members)), Some(index)) => match members.get(&index) {
                Some((id, _)) => return Some(*id),
                None => {
                    let (first, last) = (members.first_key_value()?, members.last_key_value()?);
                    let (low, high) = (first.0, last.0);
                    let text = name.text;
                    format!(
                        "there is no `{text}[{index}]`: the numbers of {quoted} are {low}..{high}"
                    )
                }
            },
            (other, _) => format!("{quoted} is {}, not a process", other.kind()),
        };
        let error = Diagnostic::new(wrong, span.range());
        let error = error.note(global.span.range(), "it is declared here");
        self.cx.error(error);
        None
    }
}

fn sum(atoms: &[Atom]) -> Formula {
    match atoms {
        [atom] => Expr::Atom(*atom),
        _ => {
            let (a, b) = atoms.split_at(atoms.len() / 2);
            Expr::binary(BinOp::Add, sum(a), sum(b))
        }
    }
}

/// Formulas joined by an operator, balanced.
fn joined(op: BinOp, formulas: &[Formula]) -> Formula {
    match formulas {
        [] => Expr::Const(i128::from(op == BinOp::And)),
        [one] => one.clone(),
        _ => {
            let (a, b) = formulas.split_at(formulas.len() / 2);
            Expr::binary(op, joined(op, a), joined(op, b))
        }
    }
}

/// Whether a formula may have no value in a state.
fn can_fail(formula: &Formula) -> bool {
    match formula {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, e) => can_fail(e),
        Expr::Binary(op, a, b) => {
            matches!(op, BinOp::Div | BinOp::Mod | BinOp::Shl | BinOp::Shr | BinOp::Index)
                || can_fail(a)
                || can_fail(b)
        }
    }
}

/// What a name is the index of, and which of its indices it is.
fn indexed_by<'t>(e: &tree::Expr<'t>, name: &str, found: &mut Vec<(Name<'t>, usize)>) {
    let is_name = |e: &tree::Expr<'t>| matches!(&e.kind, ExprKind::Place(p) if p.name.text == name && p.selectors.is_empty());
    match &e.kind {
        ExprKind::Place(place) => {
            let mut dimension = 0;
            for selector in &place.selectors {
                if let Selector::Index(e) = selector {
                    if is_name(e) {
                        found.push((place.name, dimension));
                    }
                    indexed_by(e, name, found);
                    dimension += 1;
                }
            }
        }
        ExprKind::At(who, _) | ExprKind::Count(who, _) => {
            if let Some(index) = &who.index {
                if is_name(index) {
                    found.push((who.name, 0));
                }
                indexed_by(index, name, found);
            }
        }
        ExprKind::Unary(_, e) => indexed_by(e, name, found),
        ExprKind::Binary(_, a, b) => {
            indexed_by(a, name, found);
            indexed_by(b, name, found);
        }
        ExprKind::Conditional(c, a, b) => {
            [c, a, b].into_iter().for_each(|e| indexed_by(e, name, found));
        }
        ExprKind::Quantified(q) => indexed_by(&q.body, name, found),
        _ => {}
    }
}
