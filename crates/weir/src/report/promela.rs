//! A system under SC as a Promela model, for the model checker Spin.
//!
//! The model has the same steps as the system: one statement for each transition, and a
//! jump, which is not a step for Spin. Without partial-order reduction Spin therefore
//! stores as many states as the system has configurations. The explicit engine stores
//! fewer: it takes quiet steps together with the step before them. Values are numbered as in the system, so
//! that every variable fits a `byte` or a `short`.
//!
//! Assertions and deadlocks are translated. Formulas over states are not: Spin has less
//! to do than Weir, and a comparison favors it.

use std::fmt::Write as _;

use weir_model::ids::{ProcessId, StateId, VarId};
use weir_model::question::Kind;
use weir_model::system::{Expanded, Op, StateKind};

/// The most values of a variable that fit a `byte`.
const BYTE: usize = 256;

/// The model of a system; `None` if a variable may begin with several values,
/// for which Promela would need a process that chooses.
///
/// A failure is an error only if the program asks for assertions.
pub fn model(system: Expanded<'_>) -> Option<String> {
    let mut out = format!("/* {} */\n\n", plain(&system.program.name));
    for (i, var) in system.vars.iter().enumerate() {
        let [initial] = var.initial[..] else { return None };
        let kind = if system.value_count(VarId::new(i)) <= BYTE { "byte" } else { "short" };
        let _ = writeln!(out, "{kind} {} = {};", variable(system, i), initial.0);
    }
    let asks = |is: fn(&Kind) -> bool| system.questions.iter().any(|q| is(&q.kind));
    let unasked = Unasked {
        may_wait: !asks(|kind| matches!(kind, Kind::NoDeadlock(_))),
        may_fail: !asks(|kind| *kind == Kind::Assertions),
    };
    for p in system.process_ids() {
        process(system, p, unasked, &mut out);
    }
    Some(out)
}

/// Not an error, because it is not checked.
#[derive(Clone, Copy)]
struct Unasked {
    may_wait: bool,
    may_fail: bool,
}

fn process(system: Expanded<'_>, p: ProcessId, unasked: Unasked, out: &mut String) {
    let Unasked { may_wait, may_fail } = unasked;
    let automaton = &system.processes[p.index()];
    let name = word("p", p.index(), &automaton.name);
    let _ = writeln!(out, "\nactive proctype {name}() {{");
    // A process begins at its first statement.
    if automaton.initial.index() != 0 {
        let _ = writeln!(out, "    goto {};", label(system, p, automaton.initial, may_wait));
    }
    for state in system.states(p) {
        let _ = writeln!(out, "{}:", label(system, p, state, may_wait));
        if matches!(system.state(p, state).kind, StateKind::Failed(_)) && !may_fail {
            let _ = writeln!(out, "    assert(false);");
        }
        let mut steps = system.transitions(p, state).peekable();
        if steps.peek().is_none() {
            // A process that ran out of statements would go away, in a step of
            // its own. This one stays.
            let _ = writeln!(out, "    false;");
            continue;
        }
        let _ = writeln!(out, "    if");
        for (_, t) in steps {
            let name = |x: weir_model::ids::VarId| variable(system, x.index());
            let step = match t.op {
                Op::Nop | Op::Fence(_) => "true".to_owned(),
                Op::Read(x, d) => format!("{} == {}", name(x), d.0),
                Op::Write(x, d) => format!("{} = {}", name(x), d.0),
                Op::Arw(x, d, e) if d == e => format!("{} == {}", name(x), d.0),
                Op::Arw(x, d, e) => {
                    format!("d_step {{ {0} == {1}; {0} = {2} }}", name(x), d.0, e.0)
                }
            };
            let _ = writeln!(out, "    :: {step} -> goto {}", label(system, p, t.to, may_wait));
        }
        let _ = writeln!(out, "    fi;");
    }
    let _ = writeln!(out, "}}");
}

/// The label of a control state. Spin takes a label that begins with `end` for a
/// place where a process may stay.
fn label(system: Expanded<'_>, p: ProcessId, state: StateId, may_wait: bool) -> String {
    let always = |op: Op| matches!(op, Op::Nop | Op::Write(..) | Op::Fence(_));
    let can_block = !system.transitions(p, state).any(|(_, t)| always(t.op));
    // A process that has failed does not wait.
    let ended = system.state(p, state).kind != StateKind::Inside;
    format!("{}{}", if ended || may_wait && can_block { "end" } else { "S" }, state.0)
}

fn variable(system: Expanded<'_>, index: usize) -> String {
    word("v", index, &system.vars[index].name)
}

/// A name that Promela takes and that is unlike every other.
fn word(kind: &str, index: usize, name: &str) -> String {
    let mut word = format!("{kind}{index}_");
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c != '_' || !word.ends_with('_') {
            word.push(c);
        }
    }
    word.truncate(word.trim_end_matches('_').len());
    word
}

/// A text that does not end a comment, nor ask the preprocessor for anything.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || "-_. ".contains(*c)).collect()
}
