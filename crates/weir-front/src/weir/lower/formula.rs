//! Properties, the filter, and the observed values.

use std::collections::HashMap;

use weir_model::ids::{LabelId, ProcessId, VarId};
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Game, Live, LiveKind, Property, PropertyKind, Quantifier,
};

use super::value::{Constants, Values};
use super::{Context, Family, Variable, What};
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::weir::tree::{self, ExprKind, Item, Name, Place, Question, Who};

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
                    self.program.filter = Formulas { cx: self }.value(e);
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
        let mut formulas = Formulas { cx: self };
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
                let mut formulas = Formulas { cx: self };
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
        match (Formulas { cx: self }).value(e)? {
            Expr::Atom(atom) => Some(atom),
            _ => {
                let message = "`observe` takes variables and registers, as in `observe x, p.r`";
                self.error_at(message, e.span);
                None
            }
        }
    }
}

/// What is asked of states, or of runs without end.
enum Asked {
    State(PropertyKind),
    Live(LiveKind),
}

/// Formulas: their atoms are parts of a state.
struct Formulas<'c, 't> {
    cx: &'c mut Context<'t>,
}

impl<'t> Values<'t> for Formulas<'_, 't> {
    type Atom = Atom;

    fn context(&mut self) -> &mut Context<'t> {
        self.cx
    }

    fn leaf(&mut self, e: &tree::Expr<'t>) -> Option<Formula> {
        match &e.kind {
            ExprKind::Place(place) => self.variable(place),
            ExprKind::At(who, label) => self.at(who, *label),
            ExprKind::Register(who, register) => self.register(who, *register),
            ExprKind::Count(who, label) => self.count(who, *label),
            _ => {
                let message = "a formula looks at a state: it cannot do anything";
                self.cx.error_at(message, e.span);
                None
            }
        }
    }
}

impl<'t> Formulas<'_, 't> {
    fn constant(&mut self, e: &tree::Expr<'t>) -> Option<i128> {
        Constants { cx: self.cx, parameter: None }.eval(e)
    }

    fn variable(&mut self, place: &Place<'t>) -> Option<Formula> {
        let (name, quoted) = (place.name, quote(place.name.text));
        let Some(global) = self.cx.globals.get(name.text) else {
            let what = "variable or constant";
            let help = self.owner_of(name.text);
            if help.is_none() {
                self.cx.unknown(what, name, &[]);
            } else {
                let message = format!("there is no {what} {quoted}");
                let error = Diagnostic::new(message, name.span.range());
                self.cx.error(Diagnostic { help, ..error });
            }
            return None;
        };
        let wrong = match (&global.what, &place.index) {
            (What::Const(value), None) => return Some(Expr::Const(*value)),
            (What::Broken, _) => return None,
            (What::Var(Variable { first, len: None, .. }), None) => {
                return Some(Expr::Atom(Atom::Var(*first)));
            }
            (What::Var(Variable { first, len: Some(len), .. }), Some(index)) => {
                let (first, len) = (*first, *len);
                let value = self.constant(index)?;
                if let Some(element) = u32::try_from(value).ok().filter(|v| *v < len) {
                    let var = VarId::new(first.index() + element as usize);
                    return Some(Expr::Atom(Atom::Var(var)));
                }
                if self.cx.dead == 0 {
                    self.cx.outside(name.text, len, value, index.span);
                }
                return None;
            }
            (What::Var(Variable { len: Some(_), .. }), None) => {
                format!("{quoted} is an array; say which element, as in `{}[0]`", name.text)
            }
            (What::Var(_), Some(_)) => format!("{quoted} is not an array"),
            (What::Process(_), _) => {
                format!("{quoted} is a process; name a place of it, as in `{}@label`", name.text)
            }
            (other, _) => format!("{quoted} is {}, not a variable", other.kind()),
        };
        let error = Diagnostic::new(wrong, place.span.range());
        let error = error.note(global.span.range(), "it is declared here");
        self.cx.error(error);
        None
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
            Some((id, _)) => Some(Expr::Atom(Atom::At(process, *id))),
            None => self.not_inside("label", process, label),
        }
    }

    fn register(&mut self, who: &Who<'t>, register: Name<'t>) -> Option<Formula> {
        let process = self.one(who)?;
        match self.cx.insides.get(process.index())?.registers.get(register.text) {
            Some((id, _)) => Some(Expr::Atom(Atom::Reg(process, *id))),
            None => self.not_inside("register", process, register),
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
                let (id, _) = self.cx.insides.get(p.index())?.labels.get(label.text)?;
                Some(Atom::At(*p, *id))
            })
            .collect();
        match processes.first() {
            Some(process) if atoms.is_empty() => self.not_inside("label", *process, label),
            Some(_) => Some(sum(&atoms)),
            None => None,
        }
    }

    /// The process that is meant. `None` after an error.
    fn one(&mut self, who: &Who<'t>) -> Option<ProcessId> {
        let index = match &who.index {
            Some(e) => Some(self.constant(e)?),
            None => None,
        };
        let (name, quoted) = (who.name, quote(who.name.text));
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
        let error = Diagnostic::new(wrong, who.span.range());
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
