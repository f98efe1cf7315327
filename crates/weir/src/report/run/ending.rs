//! Where the processes are at the end of a run.

use weir_model::answer::Snapshot;
use weir_model::ids::{ProcessId, QuestionId, StateId, ValueId, VarId};
use weir_model::program::{Atom, Stmt, StmtKind};
use weir_model::question::{Kind, Question};
use weir_model::system::StateKind;

use super::words::{element, statements};
use crate::load::Loaded;
use crate::report::table::Table;

/// The longest source text that is quoted.
const MAX_QUOTE: usize = 50;

/// Where the processes are: at which labels, ended, failed, or what they wait for. The
/// registers that the property asks for are shown with it; without a property, all places are.
pub fn lines(
    loaded: &Loaded,
    end: &Snapshot,
    property: Option<QuestionId>,
    width: usize,
) -> Vec<String> {
    let system = &loaded.system;
    let question = property.map(|property| &system.questions[property.index()]);
    let asked = question.map_or_else(Vec::new, Question::atoms);
    let mut table = Table::default();
    for (p, &id) in system.process_ids().zip(&end.controls) {
        let state = system.state(p, id);
        let process = &system.program.processes[p.index()];
        let is_asked = |r: usize| {
            asked.iter().any(|a| matches!(a, Atom::Reg(q, s) if *q == p && s.index() == r))
        };
        let asks = (0..process.registers.len()).any(is_asked);
        let place = match &state.kind {
            StateKind::Failed(failure) => format!("fails: {failure}"),
            StateKind::Left(excess) => format!("is lost: {excess}"),
            StateKind::Ended => "has ended".to_owned(),
            StateKind::Inside
                if question.is_some_and(|q| matches!(q.kind, Kind::NoDeadlock(_))) =>
            {
                waits(loaded, p, id, &end.memory)
            }
            StateKind::Inside => {
                let names: Vec<_> =
                    state.labels.iter().map(|l| process.labels[l.index()].name.as_str()).collect();
                match names.is_empty() {
                    true if asks || property.is_none() => {
                        format!("is at line {}", loaded.place(state.span))
                    }
                    true => continue,
                    false => format!("is at {}", names.join(", ")),
                }
            }
        };
        // One that no longer matters is 0, whatever it was.
        let values: Vec<String> = process
            .registers
            .iter()
            .zip(&state.registers)
            .enumerate()
            .filter(|(i, (r, v))| !r.temporary && (is_asked(*i) || **v != 0 && **v != r.init))
            .map(|(_, (r, v))| format!("{}={}", r.name, system.program.show_value(r.domain, *v)))
            .collect();
        table.row([process.name.clone(), place, values.join(" ")]);
    }
    let mut lines = table.wrapped("  ", width);
    if let Some(question) = question
        && let Some(error) = question.without_value(system, &end.controls, &end.memory)
    {
        let name = question.name.strip_prefix("value of ");
        let name = name.filter(|_| matches!(question.kind, Kind::Valued { .. }));
        lines.push(format!("  {error} in `{}`", name.unwrap_or(&question.name)));
    }
    lines
}

/// What a process waits for that cannot go on: `waits at line 7 for "x == 1"; x is 0`.
fn waits(loaded: &Loaded, p: ProcessId, id: StateId, memory: &[ValueId]) -> String {
    let system = &loaded.system;
    let source = &loaded.source;
    let process = &system.program.processes[p.index()];
    let state = system.state(p, id);
    let here = source.range(state.span);
    let range = |s: &Stmt| source.range(s.span);
    // The statement around the place where the process stands.
    let waiting = statements(process)
        .filter(|s| matches!(s.kind, StmtKind::Await(..) | StmtKind::Assume(_)))
        .filter(|s| range(s).start <= here.start && here.end <= range(s).end)
        .min_by_key(|s| range(s).len());
    let span = waiting.map_or(state.span, |s| s.span);
    let around = source.range(span);
    // What it looks at: the loads inside that statement, and the steps from there.
    let mut vars: Vec<VarId> = statements(process)
        .filter(|s| around.start <= range(s).start && range(s).end <= around.end)
        .filter_map(|s| match &s.kind {
            StmtKind::Load(_, place) | StmtKind::Rmw(_, place, _) => {
                element(place, &state.registers)
            }
            _ => None,
        })
        .collect();
    vars.extend(system.reads(p, id));
    vars.retain(|x| !source.internal.contains(x));
    vars.sort_unstable();
    vars.dedup();
    let mut found: Vec<String> = vars
        .iter()
        .map(|x| {
            let value = system.show_value(*x, memory[x.index()]);
            format!("{} is {value}", system.vars[x.index()].name)
        })
        .collect();
    let mut registers = Vec::new();
    if let Some(StmtKind::Await(_, code) | StmtKind::Assume(code)) = waiting.map(|s| &s.kind) {
        code.atoms(&mut |r| registers.push(*r));
    }
    registers.sort_unstable();
    registers.dedup();
    for r in registers {
        let register = &process.registers[r.index()];
        if !register.temporary {
            let value = system.program.show_value(register.domain, state.registers[r.index()]);
            found.push(format!("{} is {value}", register.name));
        }
    }
    let words: Vec<&str> = source.text_of(span).split_whitespace().collect();
    let mut text = words.join(" ");
    for keyword in ["await ", "assume "] {
        text = text.strip_prefix(keyword).map_or(text.clone(), ToOwned::to_owned);
    }
    if text.chars().count() > MAX_QUOTE {
        text = text.chars().take(MAX_QUOTE - 1).chain(['…']).collect();
    }
    let mut out = format!("waits at line {}", loaded.place(span));
    if !text.is_empty() {
        out += &format!(" for `{text}`");
    }
    if !found.is_empty() {
        out += &format!("; {}", found.join(", "));
    }
    out
}
