//! Steps, operations and memory in a few words.

use weir_check::witness::show_event;
use weir_model::ids::{Cell, ProcessId, ValueId, VarId};
use weir_model::program::{Order, Place, Process, Rmw, Stmt, StmtKind};
use weir_model::semantics::{Event, EventKind, Rule, Step};
use weir_model::system::{Mark, Op, System, Transition};

use crate::report::grouped;

/// Longer buffers and arrays are shortened to this many entries: the first and the
/// last ones.
const MOST_ENTRIES: usize = 6;

/// What a step does.
pub fn action(system: &System, step: &Step) -> String {
    let place = |x: VarId| system.vars[x.index()].name.clone();
    let taken = step.transition.map(|t| system.transition(step.process, t));
    if let Some(mark) = taken.and_then(|t| t.mark) {
        return called(system, mark);
    }
    // Only models of languages have orders.
    let order = match taken.map(|t| t.order) {
        None | Some(Order::Relaxed | Order::Fenced) => String::new(),
        Some(order) => format!(" {order}"),
    };
    let text = match (taken.map(|t| t.op), step.event) {
        (Some(Op::Write(x, d)), _) => {
            format!("{} = {}{order}", place(x), system.show_value(x, d))
        }
        (Some(Op::Read(x, d)), _) => {
            format!("read {} → {}{order}", place(x), system.show_value(x, d))
        }
        (Some(Op::Arw(x, d, e)), _) => {
            let (old, new) = (system.show_value(x, d), system.show_value(x, e));
            match taken.and_then(|t| expected(system, step.process, t)) {
                Some(expected) if expected != system.value(x, d) => {
                    let domain = system.vars[x.index()].domain;
                    let expected = system.program.show_value(domain, expected);
                    format!("cas {} fails: {old}, not {expected}", place(x))
                }
                _ => format!("atomic {}: {old} → {new}{order}", place(x)),
            }
        }
        (Some(Op::Nop), _) => "step".to_owned(),
        (Some(fence), _) => system.show_op(fence),
        (None, Some(Event { var, value, .. })) if step.rule == Rule::Update => {
            format!("{} = {} reaches memory", place(var), system.show_value(var, value))
        }
        (None, Some(event)) => under_way(system, event),
        (None, None) => String::new(),
    };
    let remark = match step.rule {
        Rule::ReadOwnWrite => "own write",
        Rule::ReadHistory => "an older value",
        Rule::ReadOlder => "old",
        Rule::WriteOlder => "before newer writes",
        Rule::ReadRemoteWrite => {
            let source = step.source.map_or("", |p| &system.processes[p.index()].name);
            return format!("{text} (write of {source}, early)");
        }
        Rule::Guess => "guessed",
        Rule::Validate => "guess comes true",
        Rule::TransferWrite => "next in line",
        _ => return text,
    };
    format!("{text} ({remark})")
}

/// The value that a compare-and-swap expects, if the transition is one.
fn expected(system: &System, process: ProcessId, taken: &Transition) -> Option<i128> {
    let Op::Arw(var, ..) = taken.op else { return None };
    let registers = &system.state(process, taken.from).registers;
    let mut found = statements(&system.program.processes[process.index()])
        .filter(|s| s.span == taken.span)
        .filter_map(|s| match &s.kind {
            StmtKind::Rmw(_, place, Rmw::Cas { expected, .. } | Rmw::CasFlag { expected, .. }) => {
                Some((place, expected))
            }
            _ => None,
        })
        .filter(|(place, _)| element(place, registers) == Some(var))
        .map(|(_, expected)| expected.eval(&mut |r| registers[r.index()]).ok());
    let first = found.next()??;
    // Statements that share a place in the text have to agree.
    found.all(|other| other == Some(first)).then_some(first)
}

/// The variable that a place stands for.
pub fn element(place: &Place, registers: &[i128]) -> Option<VarId> {
    let index = match &place.index {
        None => 0,
        Some(code) => {
            let index = code.eval(&mut |r| registers[r.index()]).ok()?;
            usize::try_from(index).ok().filter(|i| *i < place.len as usize)?
        }
    };
    Some(VarId::new(place.first.index() + index))
}

/// All statements of a process, those inside others too.
pub fn statements(process: &Process) -> impl Iterator<Item = &Stmt> {
    let mut work: Vec<&Stmt> = process.body.iter().rev().collect();
    std::iter::from_fn(move || {
        let statement = work.pop()?;
        let inside = statement.kind.blocks().into_iter().rev();
        inside.for_each(|block| work.extend(block.iter().rev()));
        Some(statement)
    })
}

/// A call or a return.
fn called(system: &System, mark: Mark) -> String {
    let (Mark::Call(method, value) | Mark::Return(method, value)) = mark;
    let known = system.program.object.as_ref().and_then(|o| o.methods.get(method.index()));
    let name = known.map_or("?", |m| &m.name);
    let argument = known.and_then(|m| m.registers.first()).and_then(|r| r.domain);
    match (mark, value) {
        (Mark::Call(..), Some(v)) => {
            format!("call {name}({})", system.program.show_value(argument, v))
        }
        (Mark::Call(..), None) => format!("call {name}"),
        (Mark::Return(..), Some(v)) => format!("{name} returns {v}"),
        (Mark::Return(..), None) => format!("{name} returns"),
    }
}

/// Something under way.
fn under_way(system: &System, event: Event) -> String {
    let place = || {
        let value = system.show_value(event.var, event.value);
        format!("{}={value}", system.vars[event.var.index()].name)
    };
    match event.kind {
        EventKind::Write => place(),
        EventKind::Read => format!("{}?", place()),
        _ => show_event(system, event),
    }
}

/// What a process has under way, in brackets; nothing if that is nothing.
pub fn buffer<'e>(
    system: &System,
    events: impl ExactSizeIterator<Item = &'e Event>,
    full: bool,
) -> String {
    if events.len() == 0 {
        return String::new();
    }
    format!("[{}]", entries(events, |e| under_way(system, *e), ", ", full))
}

/// Entries in a row; too many are shortened to the first and the last ones.
pub fn entries<T>(
    all: impl ExactSizeIterator<Item = T>,
    show: impl Fn(T) -> String,
    gap: &str,
    full: bool,
) -> String {
    let len = all.len();
    let first = if full || len <= MOST_ENTRIES { len } else { MOST_ENTRIES / 2 };
    let last = if first == len { 0 } else { MOST_ENTRIES / 2 - 1 };
    let mut shown = Vec::new();
    for (i, entry) in all.enumerate() {
        if i == first {
            shown.push(format!("… {} more", grouped(len - first - last)));
        }
        if i < first || i >= len - last {
            shown.push(show(entry));
        }
    }
    shown.join(gap)
}

/// Memory, arrays in one piece: `turn=1 flag=[1,0]`.
pub fn memory(system: &System, values: &[Cell], full: bool) -> String {
    let mut first = 0;
    let mut parts = Vec::new();
    for decl in &system.program.vars {
        if !full && system.program.bookkeeping.contains(&VarId::new(first)) {
            first += decl.init.len();
            continue;
        }
        let show = |x: usize| system.show_value(VarId::new(x), ValueId(values[x]));
        let cells = first..first + decl.init.len();
        parts.push(match decl.len {
            Some(_) => format!("{}=[{}]", decl.name, entries(cells, show, ",", full)),
            None => format!("{}={}", decl.name, show(first)),
        });
        first += decl.init.len();
    }
    parts.join(" ")
}

/// Whether a step is only about what the text does not name.
pub fn is_bookkeeping(system: &System, step: &Step) -> bool {
    let var = match (step.event, step.transition.map(|t| system.transition(step.process, t).op)) {
        (Some(event), _) if event.kind == EventKind::Write => event.var,
        (_, Some(Op::Read(x, _) | Op::Write(x, _) | Op::Arw(x, ..))) => x,
        _ => return false,
    };
    system.program.bookkeeping.contains(&var)
}

/// An operation, as a sentence names it.
pub fn operation(system: &System, op: Op) -> String {
    let place = |x: VarId| &system.vars[x.index()].name;
    match op {
        Op::Read(x, d) => format!("the read of {} as {}", place(x), system.show_value(x, d)),
        Op::Write(x, d) => format!("the write {} = {}", place(x), system.show_value(x, d)),
        other => system.show_op(other),
    }
}
