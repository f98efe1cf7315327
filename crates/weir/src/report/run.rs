//! A run for a person: one column per process, memory at the right.

use weir_check::witness::show_event;
use weir_model::answer::{Run, Snapshot};
use weir_model::ids::VarId;
use weir_model::program::Program;
use weir_model::semantics::{Event, EventKind, Rule, Step};
use weir_model::system::{Mark, Op, StateKind, System};

use crate::load::Loaded;
use crate::report::explain::reorderings;
use crate::report::table::Table;

/// The lines of a run: a table of its steps, then what was reordered.
pub fn lines(loaded: &Loaded, run: &Run) -> Vec<String> {
    let mut lines = table(loaded, run);
    lines.extend(ending(&loaded.system, run.end()));
    lines.extend(reordering_lines(loaded, run));
    lines
}

/// The lines of a run that goes round for ever: a table of its steps, in which those
/// from `stem` on are marked as the cycle.
pub fn lasso_lines(loaded: &Loaded, run: &Run, stem: usize) -> Vec<String> {
    let mut lines = table(loaded, run);
    let width = lines.get(1).map_or(0, |rule| rule.chars().count());
    let rule = |title: String| {
        let rest = width.saturating_sub(title.chars().count());
        format!("{title}{}", "─".repeat(rest))
    };
    // A header, a rule and the first configuration come before the steps.
    lines.insert(3 + stem, rule("── again and again ".to_owned()));
    lines.push(rule(format!("── back to step {} ", stem + 1)));
    lines
}

/// The steps of a run, one line each, after a header, a rule and where it begins.
fn table(loaded: &Loaded, run: &Run) -> Vec<String> {
    let system = &loaded.system;
    let mut table = Table::default();
    let names = system.processes.iter().map(|p| p.name.clone());
    table.row(
        ["step".to_owned(), "line".to_owned()]
            .into_iter()
            .chain(names)
            .chain(["memory".to_owned()]),
    );
    table.row(row(system, "", "", None, &run.start, None));
    let mut before = &run.start;
    for (i, (step, after)) in run.steps.iter().enumerate() {
        let line = step.transition.map(|t| loaded.line(system.transition(step.process, t).span));
        table.row(row(
            system,
            &(i + 1).to_string(),
            &line.map_or(String::new(), |l| l.to_string()),
            Some(step),
            after,
            Some(before),
        ));
        before = after;
    }
    let mut lines = table.lines("  ");
    let widths: Vec<usize> = table.widths();
    let rule: Vec<String> = widths.iter().map(|&w| "─".repeat(w)).collect();
    lines.insert(1, rule.join("──"));
    lines
}

fn row(
    system: &System,
    number: &str,
    line: &str,
    step: Option<&Step>,
    after: &Snapshot,
    before: Option<&Snapshot>,
) -> Vec<String> {
    let mut cells = vec![format!("{number:>4}"), format!("{line:>4}")];
    for p in system.process_ids() {
        let Some(step) = step.filter(|s| s.process == p) else {
            cells.push("·".to_owned());
            continue;
        };
        let pending = &after.pending[p.index()];
        let shown: Vec<_> = pending.iter().map(|e| under_way(system, *e)).collect();
        cells.push(match shown.is_empty() {
            true => action(system, step),
            false => format!("{}  [{}]", action(system, step), shown.join(", ")),
        });
    }
    cells.push(match before {
        Some(before) if before.memory == after.memory => String::new(),
        _ => memory(system, after),
    });
    cells
}

/// What a step does, in a few words.
fn action(system: &System, step: &Step) -> String {
    let place = |x: VarId| system.vars[x.index()].name.clone();
    let taken = step.transition.map(|t| system.transition(step.process, t));
    if let Some(mark) = taken.and_then(|t| t.mark) {
        return called(system, mark);
    }
    let op = taken.map(|t| t.op);
    let text = match (op, step.event) {
        (Some(Op::Write(x, d)), _) => format!("{} = {}", place(x), system.show_value(x, d)),
        (Some(Op::Read(x, d)), _) => format!("read {} → {}", place(x), system.show_value(x, d)),
        (Some(Op::Arw(x, d, e)), _) => {
            let (old, new) = (system.show_value(x, d), system.show_value(x, e));
            format!("atomic {}: {old} → {new}", place(x))
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

/// A call or a return, in a few words.
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

/// Something under way, in a few words.
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

/// Memory, arrays in one piece: `turn=1 flag=[1,0]`.
fn memory(system: &System, snapshot: &Snapshot) -> String {
    let program: &Program = &system.program;
    let mut x = 0;
    let mut parts = Vec::new();
    for decl in &program.vars {
        let values: Vec<String> = (x..x + decl.init.len())
            .map(|v| system.show_value(VarId::new(v), snapshot.memory[v]))
            .collect();
        x += decl.init.len();
        parts.push(match decl.len {
            Some(_) => format!("{}=[{}]", decl.name, values.join(",")),
            None => format!("{}={}", decl.name, values[0]),
        });
    }
    parts.join(" ")
}

/// Where the processes are in the end: at which labels, ended or failed.
fn ending(system: &System, end: &Snapshot) -> Vec<String> {
    let mut table = Table::default();
    for (p, state) in system.process_ids().zip(&end.controls) {
        let state = system.state(p, *state);
        let process = &system.program.processes[p.index()];
        let place = match &state.kind {
            StateKind::Failed(failure) => format!("fails: {failure}"),
            StateKind::Left(excess) => format!("is lost: {excess}"),
            StateKind::Ended => "has ended".to_owned(),
            StateKind::Inside => {
                let names: Vec<_> =
                    state.labels.iter().map(|l| process.labels[l.index()].name.as_str()).collect();
                if names.is_empty() {
                    continue;
                }
                format!("is at {}", names.join(", "))
            }
        };
        let kept = process.registers.iter().zip(&state.registers);
        let values: Vec<String> = kept
            .filter(|(r, v)| !r.temporary && **v != r.init)
            .map(|(r, v)| format!("{}={}", r.name, system.program.show_value(r.domain, *v)))
            .collect();
        table.row([process.name.clone(), place, values.join(" ")]);
    }
    let mut lines = table.lines("  ");
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// The most reorderings that are worth reading.
const MOST_REORDERINGS: usize = 6;

fn reordering_lines(loaded: &Loaded, run: &Run) -> Vec<String> {
    let system = &loaded.system;
    let found = reorderings(system, run);
    if found.is_empty() {
        return vec![];
    }
    let mut lines = vec![String::new(), "what was reordered:".to_owned()];
    for r in found.iter().take(MOST_REORDERINGS) {
        let (op, span, at) = r.early;
        lines.push(format!(
            "  {}: {} (line {}, step {at}) overtook  [{}]",
            system.processes[r.process.index()].name,
            describe(system, op),
            loaded.line(span),
            r.relaxations().join(", "),
        ));
        for &(op, span, effect) in &r.late {
            let when = effect.map_or("still under way".to_owned(), |s| format!("step {s}"));
            let line = loaded.line(span);
            lines.push(format!("      {} (line {line}, {when})", describe(system, op)));
        }
    }
    if let more @ 1.. = found.len().saturating_sub(MOST_REORDERINGS) {
        lines.push(format!("  and {more} more"));
    }
    lines
}

fn describe(system: &System, op: Op) -> String {
    let place = |x: VarId| &system.vars[x.index()].name;
    match op {
        Op::Read(x, d) => format!("the read of {} as {}", place(x), system.show_value(x, d)),
        Op::Write(x, d) => format!("the write {} = {}", place(x), system.show_value(x, d)),
        other => system.show_op(other),
    }
}
