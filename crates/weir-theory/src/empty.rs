//! From arbitrary buffers to empty ones (Atig et al. 2010, section 3.4).
//!
//! *Problem.* `never` is about states with arbitrary buffers; state reachability in the
//! paper is about empty ones. The first is reduced to the second.
//!
//! *Idea.* As in the paper, an additional process, the *observer*, guesses when the state
//! is reached and sets a *flag* with an atomic read-write. The other processes test the
//! flag around each of their operations. Once it is set they stop, and the observer
//! checks memory. Then the buffers drain, which changes no control state.
//!
//! The paper only sketches this. Two points are essential for exactness:
//!
//! * *When the flag is tested.* Before an operation is too early: the flag may be set in
//!   between, and the operation then reads a value that reached memory later. So a
//!   process tests the flag after each operation, and proceeds to its next control state
//!   only if the flag is not set. Where it stops, its last operation was executed before
//!   the flag was set.
//! * *How memory is checked.* Separate reads may see values that were never in memory
//!   together, since writes still leave the buffers. So the observer reads the value of
//!   each variable with an atomic read-write that writes `⊥`, which no other process
//!   writes, and reads `⊥` from all of them afterwards. Then no variable was written
//!   since its value was read, and all values were in memory together when the last one
//!   was read.
//!
//! The reduction is for models whose reads take effect when they are issued: SC, TSO and
//! PSO.
//!
//! A property `never F` becomes `final never F'`, with the same answer. `F'` is about the
//! registers in which processes and observer have recorded the facts that `F` mentions.
//! `assertions` is about whether some process has failed. Deadlocks and final states are
//! about empty buffers anyway, and are omitted.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::repeat;

use weir_front::weir::print::Scope;
use weir_model::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::program::{
    Atom, BinOp, Decl, Expr, Formula, MAX_PROCESSES, Place, Process, Program, Property,
    PropertyKind, Quantifier, Rmw, Stmt, StmtKind,
};
use weir_model::question::{Kind, Question};
use weir_model::system::{Expanded, Op, StateKind, Transition};

use crate::code::{LAST, Writer, at, choose, goto, last, read, stmt, write};

/// Why there is no such program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyError {
    /// There is no property about arbitrary buffers.
    NothingAsked,
    /// There is no room for the observer.
    Processes,
}

impl fmt::Display for EmptyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAsked => f.write_str("the program has neither `never` nor `assertions`"),
            Self::Processes => {
                write!(f, "with the observer there are more than {MAX_PROCESSES} processes")
            }
        }
    }
}

impl std::error::Error for EmptyError {}

/// What is noted of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Note {
    Atom(Atom),
    Failed(ProcessId),
}

/// Where each thing is noted.
type Notes = BTreeMap<Note, (ProcessId, RegId)>;

/// A program that reaches with empty buffers what another one reaches with any, under
/// SC, TSO and PSO.
///
/// # Errors
/// If nothing is asked that any buffers settle, or there are too many processes.
///
/// ```
/// use weir_theory::empty::empty;
/// use weir_model::limits::Budget;
/// use weir_model::system::System;
///
/// let text = "var x  process p { x = 1 done: }  early: never p@done and x == 0";
/// let (program, _) = weir_front::read("early.weir", text, None).unwrap();
/// let system = System::new(program).unwrap();
/// let program = empty(system.expanded(&Budget::new()).unwrap()).unwrap();
/// let printed = weir_front::weir::print(&program);
/// assert!(printed.contains("early: final never p.at_done and observer.x_was == 0"));
/// ```
pub fn empty(system: Expanded<'_>) -> Result<Program, EmptyError> {
    if system.processes.len() >= MAX_PROCESSES {
        return Err(EmptyError::Processes);
    }
    let names = system.program.properties.iter().map(|p| p.name.clone()).chain(repeat(None));
    let asked = names.zip(&system.questions);
    let questions: Vec<(Option<String>, Expr<Note>)> =
        asked.filter_map(|(name, q)| Some((name, ruled_out(system, q)?))).collect();
    if questions.is_empty() {
        return Err(EmptyError::NothingAsked);
    }
    let mut asked: Vec<Note> = Vec::new();
    questions.iter().for_each(|(_, e)| e.atoms(&mut |note| asked.push(*note)));
    asked.sort_unstable();
    asked.dedup();

    let mut scope = Scope::default();
    system.program.vars.iter().for_each(|decl| drop(scope.name(&decl.name)));
    system.processes.iter().for_each(|process| drop(scope.name(&process.name)));
    let (flag, observer) = (scope.name("flag"), scope.name("observer"));
    // Values have no names any more: the observer writes one that is in no domain.
    let mut vars: Vec<Decl> =
        system.program.vars.iter().map(|d| Decl { domain: None, ..d.clone() }).collect();
    vars.push(Decl::scalar(flag, 0, SpanId::NONE));

    let mut notes = Notes::new();
    let mut processes: Vec<Process> =
        system.process_ids().map(|p| stopping(system, p, &asked, &mut notes)).collect();
    processes.push(observing(system, observer, &asked, &mut notes));
    let properties = questions.into_iter().map(|(name, e)| Property {
        name,
        kind: PropertyKind::Final(Quantifier::Never, noted(&e, &notes)),
        span: SpanId::NONE,
    });
    Ok(Program {
        name: system.program.name.clone(),
        vars,
        symbols: system.program.symbols.clone(),
        properties: properties.collect(),
        processes,
        ..Program::default()
    })
}

/// The formula that a question excludes, if it is about states with arbitrary buffers.
fn ruled_out(system: Expanded<'_>, question: &Question) -> Option<Expr<Note>> {
    match &question.kind {
        Kind::Never(formula) => Some(replaced(formula, &|a| Note::Atom(*a))),
        Kind::Assertions => {
            let failed = system.process_ids().map(|p| Expr::Atom(Note::Failed(p)));
            failed.reduce(|a, b| Expr::binary(BinOp::Or, a, b))
        }
        Kind::NoDeadlock(_)
        | Kind::Final { .. }
        | Kind::Valued { .. }
        | Kind::Races
        | Kind::Bounds
        | Kind::Within(_) => None,
    }
}

/// With other atoms. Recursive: front ends bound how deep expressions nest.
fn replaced<A, B>(e: &Expr<A>, by: &impl Fn(&A) -> B) -> Expr<B> {
    match e {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Atom(a) => Expr::Atom(by(a)),
        Expr::Unary(op, e) => Expr::unary(*op, replaced(e, by)),
        Expr::Binary(op, a, b) => Expr::binary(*op, replaced(a, by), replaced(b, by)),
    }
}

fn noted(e: &Expr<Note>, notes: &Notes) -> Formula {
    replaced(e, &|note| {
        let (process, register) = notes[note];
        Atom::Reg(process, register)
    })
}

fn flag(system: Expanded<'_>) -> VarId {
    VarId::new(system.vars.len())
}

/// A process that stops when the flag is switched, and notes what is asked of it.
fn stopping(system: Expanded<'_>, p: ProcessId, asked: &[Note], notes: &mut Notes) -> Process {
    let automaton = &system.processes[p.index()];
    let mut writer = Writer::new(&automaton.name, None);
    let mut own: Vec<(Note, RegId)> = Vec::new();
    for note in asked {
        let name = match note {
            Note::Atom(Atom::Reg(q, r)) if *q == p => system.register(p, *r).name.clone(),
            Note::Atom(Atom::At(q, l)) if *q == p => {
                let process = &system.program.processes[p.index()];
                format!("at_{}", process.labels[l.index()].name)
            }
            Note::Failed(q) if *q == p => "failed".to_owned(),
            _ => continue,
        };
        let register = writer.register(&name);
        own.push((*note, register));
        notes.insert(*note, (p, register));
    }
    for s in 0..system.state_count(p) {
        writer.label(format!("s{s}"));
    }
    let label = |s: weir_model::ids::StateId| LabelId::new(s.index());
    if automaton.initial.index() > 0 {
        writer.add([goto(label(automaton.initial))]);
    }
    for s in (0..system.state_count(p)).map(weir_model::ids::StateId::new) {
        let step = |t: &Transition| {
            let mut code = operation(system, t.op);
            code.extend([read(flag(system), 0), goto(label(t.to))]);
            code
        };
        let mut ways: Vec<Vec<Stmt>> = system.transitions(p, s).map(|(_, t)| step(t)).collect();
        let state = system.state(p, s);
        let note = |(note, register): &(Note, RegId)| {
            let value = match note {
                Note::Atom(Atom::Reg(_, r)) => state.registers[r.index()],
                Note::Atom(Atom::At(_, l)) => i128::from(state.labels.contains(l)),
                Note::Atom(Atom::Var(_)) => unreachable!("variables are the observer's"),
                Note::Failed(_) => i128::from(matches!(state.kind, StateKind::Failed(_))),
            };
            stmt(StmtKind::Assign(*register, Expr::Const(value)))
        };
        let mut stop = vec![read(flag(system), 1)];
        stop.extend(own.iter().map(note));
        stop.push(stmt(StmtKind::Exit));
        ways.push(stop);
        writer.add([at(label(s)), choose(ways)]);
    }
    writer.finish()
}

/// An operation as code; a `nop` is the choice itself.
fn operation(system: Expanded<'_>, op: Op) -> Vec<Stmt> {
    match op {
        Op::Nop => vec![],
        Op::Read(x, d) => vec![read(x, system.value(x, d))],
        Op::Write(x, d) => vec![write(x, system.value(x, d))],
        Op::Arw(x, d, e) => {
            let [d, e] = [d, e].map(|v| system.value(x, v));
            let (expected, new) = (Expr::Const(d), Expr::Const(e));
            let cas = StmtKind::Rmw(LAST, Place::var(x), Rmw::Cas { expected, new, failure: None });
            vec![stmt(cas), stmt(StmtKind::Assume(last(BinOp::Eq, d)))]
        }
        Op::Fence(kind) => vec![stmt(StmtKind::Fence(kind))],
    }
}

/// The observer: switches the flag, takes the values, and checks that none has changed.
fn observing(system: Expanded<'_>, name: String, asked: &[Note], notes: &mut Notes) -> Process {
    let mut writer = Writer::new(name, None);
    let observer = ProcessId::new(system.processes.len());
    let swap = |register, x, value| {
        stmt(StmtKind::Rmw(register, Place::var(x), Rmw::Swap(Expr::Const(value))))
    };
    writer.add([swap(LAST, flag(system), 1)]);
    let mut still = Vec::new();
    for note in asked {
        let Note::Atom(Atom::Var(x)) = *note else { continue };
        let register = writer.register(&format!("{}_was", system.vars[x.index()].name));
        notes.insert(*note, (observer, register));
        let taken: Vec<i128> = system.values(x).iter().map(|v| system.value(x, *v)).collect();
        let bottom = (0..).find(|v| !taken.contains(v)).expect("there are finitely many");
        writer.add([swap(register, x, bottom)]);
        still.push(read(x, bottom));
    }
    writer.add(still);
    writer.finish()
}
