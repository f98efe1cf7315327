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
use weir_model::ids::{ProcessId, QuestionId};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Event, Form, Rule, Step};
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
    let shown = shown(run.steps.len(), &named, layout.full);
    let items = items(loaded, run, &shown, None, layout.full);
    let mut lines = layout::lines(system, &items, layout);
    let ending = ending::lines(loaded, &run.end(system), property.into(), layout.width);
    let stale = match run.form {
        Form::C11 => stale::lines(loaded, run, layout.width),
        _ => vec![],
    };
    for part in [legend(system, run, &shown, layout), ending, explained, stale] {
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
        let line = taken.map_or_else(String::new, |t| format!("line {}, ", loaded.place(t.span)));
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
    let shown = shown(run.steps.len(), &named, layout.full);
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
    let shown = shown(run.steps.len(), &around.collect(), layout.full);
    let cycle = (stem < run.steps.len()).then_some(stem);
    let mut items = items(loaded, run, &shown, cycle, layout.full);
    items.push(Item::Across(match cycle {
        Some(stem) => format!("back to step {}", stem + 1),
        None => format!("the run ends: {}", ending.unwrap_or("no process can go on")),
    }));
    layout::lines(&loaded.system, &items, layout)
}

/// Which steps are shown, those that are named among them.
pub(super) fn shown(steps: usize, named: &BTreeSet<usize>, full: bool) -> Vec<bool> {
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

/// What is shown of a run. A cycle is marked where it begins.
fn items(
    loaded: &Loaded,
    run: &Run,
    shown: &[bool],
    cycle: Option<usize>,
    full: bool,
) -> Vec<Item> {
    let system = &loaded.system;
    let mut replay = run.replay(system);
    let mut order = Order::new(system, run.form);
    let mut last = replay.memory().to_vec();
    let mut items = vec![Item::Start { memory: words::memory(system, &last, full) }];
    let mut left = 0;
    loop {
        if cycle == Some(replay.taken()) {
            items.push(Item::Across("again and again".to_owned()));
        }
        if left > 0 && shown.get(replay.taken()) != Some(&false) {
            items.push(Item::Left {
                count: left,
                memory: words::memory(system, replay.memory(), full),
            });
            left = 0;
        }
        let Some(step) = replay.advance() else { break };
        order.step(system, &step);
        if is_hidden(system, run, replay.taken(), full) {
            continue;
        }
        if !shown[replay.taken() - 1] {
            left += 1;
            continue;
        }
        let p = step.process;
        let line = step.transition.map(|t| loaded.place(system.transition(p, t).span));
        let buffer = match order.of(p) {
            Some(events) => words::buffer(system, events.iter(), full),
            None => words::buffer(system, replay.pending()[p.index()].iter(), full),
        };
        let memory = (last != replay.memory()).then(|| {
            last = replay.memory().to_vec();
            words::memory(system, &last, full)
        });
        let (step, action) = (replay.taken(), words::action(system, &step));
        items.push(Item::Step { step, line, process: p, action, buffer, memory });
    }
    items
}

/// Whether a step is left out without a word: it is about what the text does not name, and nothing ends with it.
fn is_hidden(system: &System, run: &Run, number: usize, full: bool) -> bool {
    !full && number < run.steps.len() && words::is_bookkeeping(system, &run.steps[number - 1])
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
fn legend(
    system: &System,
    run: &Run,
    shown: &[bool],
    Layout { width, full, hints, .. }: Layout,
) -> Vec<String> {
    let mut lines = Vec::new();
    let is_shown = |(step, shown): (&Step, &bool)| *shown && step.rule == Rule::TransferWrite;
    if run.steps.iter().zip(shown).any(is_shown) {
        let text = "next in line: the write leaves the buffer of its variable. Writes of a process reach \
                    memory in the order in which they do so.";
        lines.extend(wrap(text, width));
    }
    if (1..=run.steps.len()).any(|number| is_hidden(system, run, number, full)) {
        let how = hints.full.map_or_else(String::new, |option| format!(" (`{option}`)"));
        let text =
            format!("Steps about starting threads and about what is allocated are left out{how}.");
        lines.extend(wrap(&text, width));
    }
    lines
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
    format!("{text} (line {}, step {step}{when})", loaded.place(span))
}
