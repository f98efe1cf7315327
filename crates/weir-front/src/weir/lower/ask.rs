//! Properties in the words of this language, about a program that came from another.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use weir_model::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::program::{Process, Program};

use super::layout::Layout;
use super::{Context, Family, Global, Inside, What};
use crate::errors::Errors;
use crate::weir::tree::{Item, Name, Span};
use crate::weir::{lexer, parse};
use crate::{Diagnostic, Source};

/// Adds to a program what `text` asks. Places in `text` are places in `source`.
/// `constants` have names in the text, beside what the program declares.
///
/// # Errors
/// If the text is wrong.
pub(crate) fn ask(
    text: &str,
    constants: &[(&str, i128)],
    program: Program,
    source: Source,
) -> Result<(Program, Source), Errors> {
    let mut errors = Errors::default();
    let tokens = lexer::tokens(text, &mut errors);
    let parsed = parse::file(&tokens, &mut errors);
    let asks =
        |i: &Item<'_>| matches!(i, Item::Property(..) | Item::Filter(..) | Item::Observe(..));
    if !errors.is_empty() {
        return Err(errors);
    }
    if !parsed.items.iter().all(asks) {
        let start = text.len() - text.trim_start().len();
        let message = "only properties, `filter` and `observe` are allowed in a comment";
        errors.push(Diagnostic::new(message, start..text.trim_end().len()));
        return Err(errors);
    }
    // The names are borrowed while the program is changed.
    let known = program.clone();
    let places = source.clone();
    let spans = |span: SpanId| {
        let range = places.range(span);
        Span::new(range.start, range.end)
    };
    let mut cx = Context {
        errors,
        source,
        spans: HashMap::new(),
        globals: names(&known, constants, &spans),
        records: HashMap::new(),
        procedures: HashMap::new(),
        insides: known.processes.iter().map(|p| inside(p, &spans)).collect(),
        var_count: program.var_count(),
        program,
        taken: HashSet::new(),
        listed: 0,
        expanded: 0,
        dead: 0,
    };
    cx.properties(&parsed.items);
    if cx.errors.is_empty() { Ok((cx.program, cx.source)) } else { Err(cx.errors) }
}

fn names<'p>(
    program: &'p Program,
    constants: &[(&'p str, i128)],
    spans: &impl Fn(SpanId) -> Span,
) -> HashMap<&'p str, Global<'p>> {
    let mut globals = HashMap::new();
    let nowhere = spans(SpanId::NONE);
    let mut add = |name: &'p str, what: What<'p>, span: Span| {
        globals.insert(name, Global { span, what });
    };
    for (name, value) in constants {
        add(name, What::Const(*value), nowhere);
    }
    for members in program.enums.iter().map(|e| &e.members) {
        for (value, name) in (0..).zip(members) {
            add(name, What::Const(value), nowhere);
        }
    }
    let mut first = 0;
    for decl in &program.vars {
        let variable = Layout::array(VarId::new(first), decl.len.into_iter().collect());
        add(&decl.name, What::Var(Rc::new(variable)), spans(decl.span));
        first += decl.init.len();
    }
    let mut families: BTreeMap<&str, BTreeMap<i128, (ProcessId, Name<'_>)>> = BTreeMap::new();
    for (p, process) in program.processes.iter().enumerate() {
        let span = process.body.first().map_or(nowhere, |s| spans(s.span));
        let member = process.name.strip_suffix(']').and_then(|name| name.split_once('['));
        let numbered = member.and_then(|(name, number)| Some((name, number.parse().ok()?)));
        match numbered {
            Some((name, number)) => {
                let family = families.entry(name).or_default();
                family.insert(number, (ProcessId::new(p), Name { text: name, span }));
            }
            None => add(&process.name, What::Process(Family::Single(ProcessId::new(p))), span),
        }
    }
    for (name, members) in families {
        let span = members.values().next().map_or(nowhere, |(_, name)| name.span);
        add(name, What::Process(Family::Members(members)), span);
    }
    globals
}

fn inside<'p>(process: &'p Process, spans: &impl Fn(SpanId) -> Span) -> Inside<'p> {
    let declared = process.registers.iter().enumerate().filter(|(_, r)| !r.temporary);
    let register = |i: usize| Rc::new(Layout::one(RegId::new(i)));
    let registers =
        declared.map(|(i, r)| (r.name.as_str(), vec![(register(i), spans(r.span))])).collect();
    let labels = process.labels.iter().enumerate();
    let labels =
        labels.map(|(i, l)| (l.name.as_str(), (vec![LabelId::new(i)], spans(l.span)))).collect();
    Inside { registers, labels }
}
