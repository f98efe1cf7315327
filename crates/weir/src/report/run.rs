//! Prints a run: a table of its steps, where it ends, and what was reordered.
//!
//! Of a long run only the beginning, the end and the steps that the explanation mentions
//! are printed, and long buffers are shortened, unless the layout is [full](Layout::full). The run is
//! replayed, and only the printed part is kept.

mod ending;
mod layout;
mod stale;
pub mod state;
pub(crate) mod words;

use std::collections::BTreeSet;

use weir_check::robust::cycle::Edge;
use weir_live::Lasso;
use weir_model::answer::Run;
use weir_model::ids::{Cell, ProcessId, QuestionId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, PropertyKind};
use weir_model::semantics::{Event, EventKind, Form, Rule, Step};
use weir_model::system::{Op, System};

use crate::Hints;
use crate::load::Loaded;

use crate::report::explain::{Effect, Explanation, Operation, Reordering, explain};
use crate::report::table::{Table, hanging, wrap};

/// The width where no terminal says otherwise.
pub const WIDTH: usize = 80;

/// Runs of up to this many steps are shown whole.
const SHORT: usize = 60;

/// Of a longer run, so many steps are shown at the beginning and at the end.
pub(super) const EDGE: usize = 15;

/// The most reorderings that are worth reading.
pub(super) const MOST_REORDERINGS: usize = 6;

/// The most overtaken operations that are worth reading.
const MOST_LATE: usize = 4;

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// How wide lines may be.
    pub width: usize,
    /// Whether each process has a column of its own where that fits.
    pub lanes: bool,
    /// Whether nothing is left out.
    pub full: bool,
    /// What to say about what is left out.
    pub hints: Hints,
}

impl Default for Layout {
    fn default() -> Self {
        Self { width: WIDTH, lanes: true, full: false, hints: Hints::default() }
    }
}

/// Something that is shown of a run, in order.
enum Item {
    /// Memory in the beginning.
    Start { memory: String },
    /// A step.
    Step {
        step: usize,
        line: Option<String>,
        process: ProcessId,
        action: String,
        /// What the process has under way then.
        buffer: String,
        /// Memory, if it is not what was shown last.
        memory: Option<String>,
    },
    /// Steps that are not shown, and memory after them.
    Left { count: usize, memory: String },
    /// A line with a title.
    Across(String),
}

/// The lines of a run that settles a property, or of any run: a table of its steps, where it
/// ends, and what was reordered.
pub fn lines(
    loaded: &Loaded,
    run: &Run,
    property: impl Into<Option<QuestionId>>,
    layout: Layout,
) -> Vec<String> {
    let system = &loaded.system;
    let explanation = explain(system, run);
    let mut named = BTreeSet::new();
    let explained = explained(loaded, run, &explanation, layout, &mut named);
    let stale = match run.form {
        Form::C11 => stale::lines(loaded, run, layout, &mut named),
        _ => vec![],
    };
    let shown = shown(loaded, run, &named, layout.full);
    let items = items(loaded, run, &shown, None, layout.full);
    let mut lines = layout::lines(system, &items, layout);
    let ending = ending::lines(loaded, &run.end(system), property.into(), layout.width);
    let hidden = hidden(&shown, layout);
    for part in [legend(run, &shown, layout.width), hidden, ending, explained, stale] {
        if !part.is_empty() {
            lines.push(String::new());
            lines.extend(part);
        }
    }
    lines
}

/// The lines of a run whose trace has a cycle: the cycle, edge by edge, and a table of the steps.
pub fn cycle_lines(loaded: &Loaded, run: &Run, cycle: &[Edge], layout: Layout) -> Vec<String> {
    let system = &loaded.system;
    let access = |number: usize| {
        let step = &run.steps[number - 1];
        let taken = step.transition.map(|t| system.transition(step.process, t));
        let placed = taken.filter(|t| loaded.source.is_placed(t.span));
        let line = placed.map_or_else(String::new, |t| format!("line {}, ", loaded.place(t.span)));
        let name = system.processes[step.process.index()].name.clone();
        [name, words::action(system, step), format!("({line}step {number})")]
    };
    let mut table = Table::default();
    if let Some(first) = cycle.first() {
        table.row([String::new()].into_iter().chain(access(first.from)));
    }
    for edge in cycle {
        table.row([edge.relation.to_string()].into_iter().chain(access(edge.to)));
    }
    let mut lines = table.wrapped("  ", layout.width);
    let named = cycle.iter().map(|edge| edge.from).collect();
    let shown = shown(loaded, run, &named, layout.full);
    lines.push(String::new());
    lines.extend(layout::lines(system, &items(loaded, run, &shown, None, layout.full), layout));
    lines
}

/// The lines of an infinite run: a table of its steps, in which those of the cycle are marked. If
/// it has none, `ending` says why its last state counts; by default, that no process can go on.
pub fn lasso_lines(
    loaded: &Loaded,
    lasso: &Lasso,
    ending: Option<&str>,
    layout: Layout,
) -> Vec<String> {
    let (run, stem) = (&lasso.run, lasso.stem);
    let around = stem.saturating_sub(EDGE) + 1..=stem + EDGE;
    let shown = shown(loaded, run, &around.collect(), layout.full);
    let cycle = (stem < run.steps.len()).then_some(stem);
    let mut items = items(loaded, run, &shown, cycle, layout.full);
    items.push(Item::Across(match cycle {
        Some(stem) => format!("back to step {}", stem + 1),
        None => format!("the run ends: {}", ending.unwrap_or("no process can go on")),
    }));
    layout::lines(&loaded.system, &items, layout)
}

/// Whether a step is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Yes,
    /// The run is too long. A line says how many steps are left out.
    No,
    /// It is a step of a library. One sentence says so for all of them.
    Hidden,
}

/// Which steps are shown, those that are named among them.
pub(super) fn shown(loaded: &Loaded, run: &Run, named: &BTreeSet<usize>, full: bool) -> Vec<Show> {
    let steps = run.steps.len();
    let is_hidden = |i: &usize| {
        !full && *i < steps && !named.contains(i) && is_internal(loaded, &run.steps[i - 1])
    };
    let visible: Vec<usize> = (1..=steps).filter(|i| !is_hidden(i)).collect();
    let named: BTreeSet<usize> =
        (1..).zip(&visible).filter(|(_, i)| named.contains(i)).map(|(n, _)| n).collect();
    let mut shown = vec![Show::Hidden; steps];
    for (i, is_shown) in visible.iter().zip(shown_of(visible.len(), &named, full)) {
        shown[i - 1] = if is_shown { Show::Yes } else { Show::No };
    }
    shown
}

/// Which of so many steps are shown, those that are named among them.
pub(super) fn shown_of(steps: usize, named: &BTreeSet<usize>, full: bool) -> Vec<bool> {
    let is_short = full || steps <= SHORT;
    let mut shown: Vec<bool> = (1..=steps)
        .map(|i| is_short || i <= EDGE || i > steps - EDGE || named.contains(&i))
        .collect();
    // A step between two that are shown takes no more room than a line that leaves it out.
    for i in 1..steps.saturating_sub(1) {
        shown[i] |= shown[i - 1] && shown[i + 1];
    }
    shown
}

/// Whether a step concerns a library only: it has no place in the text, or its variable is none of the text.
fn is_internal(loaded: &Loaded, step: &Step) -> bool {
    let internal = &loaded.source.internal;
    if internal.is_empty() {
        return false;
    }
    match (step.transition, step.event) {
        (Some(taken), _) => {
            let taken = loaded.system.transition(step.process, taken);
            match taken.op {
                Op::Read(x, _) | Op::Write(x, _) | Op::Arw(x, ..) if internal.contains(&x) => true,
                _ => !loaded.source.is_placed(taken.span),
            }
        }
        (None, Some(event)) => event.kind == EventKind::Write && internal.contains(&event.var),
        (None, None) => false,
    }
}

/// The variables that matter in a run of a program with a library: those of shown steps, and those that are asked about.
fn touched(loaded: &Loaded, run: &Run, shown: &[Show]) -> Option<BTreeSet<VarId>> {
    if loaded.source.internal.is_empty() {
        return None;
    }
    let mut found = BTreeSet::new();
    for (step, _) in run.steps.iter().zip(shown).filter(|(_, show)| **show != Show::Hidden) {
        let op = step.transition.map(|taken| loaded.system.transition(step.process, taken).op);
        if let Some(Op::Read(x, _) | Op::Write(x, _) | Op::Arw(x, ..)) = op {
            found.insert(x);
        }
    }
    for property in &loaded.system.program.properties {
        if let PropertyKind::Never(formula) | PropertyKind::Final(_, formula) = &property.kind {
            formula.atoms(&mut |atom| {
                if let Atom::Var(x) = atom {
                    found.insert(*x);
                }
            });
        }
    }
    Some(found)
}

/// What is said of steps that are hidden.
fn hidden(shown: &[Show], layout: Layout) -> Vec<String> {
    let count = shown.iter().filter(|show| **show == Show::Hidden).count();
    let Some(option) = layout.hints.full.filter(|_| count > 0) else { return vec![] };
    let steps = crate::report::counted(count, "step");
    let (is, them) = if count == 1 { ("is", "it") } else { ("are", "them") };
    wrap(&format!("{steps} of the library {is} not shown (`{option}` shows {them})"), layout.width)
}

/// What is shown of a run. A cycle is marked where it begins.
fn items(
    loaded: &Loaded,
    run: &Run,
    shown: &[Show],
    cycle: Option<usize>,
    full: bool,
) -> Vec<Item> {
    let system = &loaded.system;
    let mut replay = run.replay(system);
    let mut order = Order::new(system, run.form);
    let mut last = replay.memory().to_vec();
    let touched = touched(loaded, run, shown).filter(|_| !full);
    let memory = |values: &[Cell]| words::memory(loaded, values, touched.as_ref(), full);
    let mut items = vec![Item::Start { memory: memory(&last) }];
    let mut left = 0;
    loop {
        if cycle == Some(replay.taken()) {
            items.push(Item::Across("again and again".to_owned()));
        }
        if left > 0 && !matches!(shown.get(replay.taken()), Some(Show::No | Show::Hidden)) {
            items.push(Item::Left { count: left, memory: memory(replay.memory()) });
            left = 0;
        }
        let Some(step) = replay.advance() else { break };
        order.step(system, &step);
        match shown[replay.taken() - 1] {
            Show::Yes => {}
            Show::No => {
                left += 1;
                continue;
            }
            Show::Hidden => continue,
        }
        let p = step.process;
        let span = step.transition.map(|t| system.transition(p, t).span);
        let line = span.filter(|s| loaded.source.is_placed(*s)).map(|s| loaded.place(s));
        let buffer = match order.of(p) {
            Some(events) => words::buffer(system, events.iter(), full),
            None => words::buffer(system, replay.pending()[p.index()].iter(), full),
        };
        let memory = (last != replay.memory()).then(|| {
            last = replay.memory().to_vec();
            memory(&last)
        });
        let (step, action) = (replay.taken(), words::action(system, &step));
        items.push(Item::Step { step, line, process: p, action, buffer, memory });
    }
    items
}

/// What the processes have under way, in program order, where configurations have it in
/// another order: with a buffer for each variable they order it by variable.
struct Order(Option<Vec<Vec<Event>>>);

impl Order {
    fn new(system: &System, form: Form) -> Self {
        let by_variable = matches!(form, Form::Pso | Form::NswFifo | Form::GuessWw);
        Self(by_variable.then(|| vec![vec![]; system.processes.len()]))
    }

    fn step(&mut self, system: &System, step: &Step) {
        let Some(all) = &mut self.0 else { return };
        let events = &mut all[step.process.index()];
        match (step.rule, step.transition, step.event) {
            (Rule::Write | Rule::Guess, Some(t), _) => {
                let op = system.transition(step.process, t).op;
                events.extend(Event::waiting(op));
            }
            (Rule::Update | Rule::Validate, _, Some(event)) => {
                let first = events.iter().position(|e| *e == event);
                first.map(|i| events.remove(i));
            }
            _ => {}
        }
    }

    fn of(&self, process: ProcessId) -> Option<&[Event]> {
        self.0.as_ref().map(|all| &all[process.index()][..])
    }
}

/// What words in the table mean that do not explain themselves.
fn legend(run: &Run, shown: &[Show], width: usize) -> Vec<String> {
    let is_shown =
        |(step, shown): (&Step, &Show)| *shown == Show::Yes && step.rule == Rule::TransferWrite;
    if !run.steps.iter().zip(shown).any(is_shown) {
        return vec![];
    }
    let text = "next in line: the write leaves the buffer of its variable. Writes of a process reach \
                memory in the order in which they do so.";
    wrap(text, width)
}

/// What was reordered. The steps that the lines name are added to `named`.
fn explained(
    loaded: &Loaded,
    run: &Run,
    explanation: &Explanation,
    Layout { width, full, .. }: Layout,
    named: &mut BTreeSet<usize>,
) -> Vec<String> {
    let Explanation { reorderings, remote, under_way, is_sequential } = explanation;
    let name = |p: ProcessId| &loaded.system.processes[p.index()].name;
    if reorderings.is_empty() && remote.is_empty() {
        if run.model.normal() == MemoryModel::SC {
            return vec![];
        }
        if *is_sequential {
            return wrap("no step was reordered: this run is possible under SC too", width);
        }
        let mut lines = Vec::new();
        for (p, write) in few(under_way, MOST_LATE, full) {
            let text = format!("{}: {}", name(*p), at(loaded, write, named));
            lines.extend(hanging(&text, 2, width));
        }
        if !lines.is_empty() {
            let title = "no step was reordered, but these writes have not reached memory:";
            lines.splice(0..0, wrap(title, width));
            lines.extend(more(under_way.len(), MOST_LATE, full, "  "));
        }
        return lines;
    }
    let mut lines = vec!["what was reordered:".to_owned()];
    for r in few(reorderings, MOST_REORDERINGS, full) {
        let Reordering { process, early, late } = r;
        let early = at(loaded, early, named);
        let relaxations = r.relaxations().join(", ");
        let text = format!("{}: {early} overtook [{relaxations}]", name(*process));
        lines.extend(hanging(&text, 2, width));
        for late in few(late, MOST_LATE, full) {
            lines.extend(hanging(&at(loaded, late, named), 6, width));
        }
        lines.extend(more(late.len(), MOST_LATE, full, "      "));
    }
    lines.extend(more(reorderings.len(), MOST_REORDERINGS, full, "  "));
    for (p, read, source) in few(remote, MOST_REORDERINGS, full) {
        let read = at(loaded, read, named);
        let text = format!(
            "{}: {read} took the value of a write of {} that had not reached memory [RRWE]",
            name(*p),
            name(*source),
        );
        lines.extend(hanging(&text, 2, width));
    }
    lines.extend(more(remote.len(), MOST_REORDERINGS, full, "  "));
    lines
}

/// The first ones, or all.
fn few<T>(all: &[T], most: usize, full: bool) -> &[T] {
    if full || all.len() <= most { all } else { &all[..most] }
}

/// A line for those that [`few`] leaves out.
fn more(len: usize, most: usize, full: bool, indent: &str) -> Option<String> {
    let left = if full { 0 } else { len.saturating_sub(most) };
    (left > 0).then(|| format!("{indent}and {} more", crate::report::grouped(left)))
}

/// An operation, with its line and its steps: those of the table.
fn at(loaded: &Loaded, operation: &Operation, named: &mut BTreeSet<usize>) -> String {
    let Operation { op, span, step, effect } = *operation;
    named.insert(step);
    if let Effect::Later(other) | Effect::Before(other) = effect {
        named.insert(other);
    }
    let when = match (effect, op) {
        (Effect::Now, _) => String::new(),
        (Effect::Later(other), Op::Read(..)) => format!(", came true in step {other}"),
        (Effect::Later(other), _) => format!(", reached memory in step {other}"),
        (Effect::Before(other), _) => format!(", from before step {other}"),
        (Effect::Never, _) => ", still under way".to_owned(),
    };
    let text = words::operation(&loaded.system, op);
    match loaded.source.is_placed(span) {
        true => format!("{text} (line {}, step {step}{when})", loaded.place(span)),
        false => format!("{text} (step {step}{when})"),
    }
}
