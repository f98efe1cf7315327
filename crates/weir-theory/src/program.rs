//! Lossy channel machines as TSO and PSO programs (Atig et al. 2010, section 7).
//!
//! *Idea.* A process `p1` has the control states of the machine. It sends a message by
//! writing it to `x1`, and receives one by reading it from `x2`. A process `p2` copies
//! what it reads from `x1` to `x2`. The writes wait in the store buffers, which are the
//! channel. A message that is overwritten before the other process has read it is lost.
//! After each message both write, and read, the marker `#`, which prevents double reads.
//!
//! The rules are those of the proof of Theorem 3; the rule that is printed there as a
//! second *Write* is the one for receives:
//!
//! | machine | `p1` |
//! | --- | --- |
//! | Nop: `q –nop→ q'` | `q –nop→ q'` |
//! | Send: `q –c!a→ q'` | `q –w(x1,a)→ (q',!) –w(x1,#)→ q'` |
//! | Receive: `q –c?a→ q'` | `q –r(x2,a)→ (q',?) –r(x2,#)→ q'` |
//!
//! `p2` is `p1 –r(x1,a)→ (a,!) –w(x2,a)→ p2 –r(x1,#)→ (#,!) –w(x2,#)→ p1` for each
//! message `a`.
//!
//! In addition to the paper, which assumes one channel without loss of generality, each
//! channel has two variables and its own `p2`. A write of `p1` for one channel may have
//! to wait until older writes for others have left its buffer; but these can always
//! leave, and their `p2` keeps what it reads of them. A transition that sends and
//! receives on several channels executes these operations one after another: no other
//! process has control. Labels have no effect in a single machine and are omitted.
//!
//! *Correctness.* Lemma 4: the machine reaches `q'` if and only if the program reaches
//! `q'` with `p2` in its initial state, markers in memory and empty buffers. It suffices
//! to ask whether `p1` reaches `q'` at all: the contents of the buffers are then contents
//! of the channels, which can lose them. No process writes two variables of a channel, so
//! PSO makes no difference (Theorem 5).
//!
//! *Repeated reachability.* [`again`] asks whether `p1` visits a control state infinitely often,
//! which it does if and only if the machine does. There a process does not wait for a value, since
//! waiting for ever would be an infinite run at the same place. It reads a value and goes on if it
//! is the right one, and otherwise takes no more steps. Then every infinite run has infinitely
//! many steps of `p1`: of the others each has at most as many as `p1` has written.

use std::fmt;

use weir_channel::{ChannelId, Machine, MessageId, Op, StateId, Transition};
use weir_front::weir::print::Scope;
use weir_model::ids::{LabelId, ProcessId, SpanId, VarId};
use weir_model::program::{
    Atom, BinOp, Code, Decl, Expr, Live, LiveKind, MAX_PROCESSES, Place, Process, Program,
    Property, PropertyKind, Stmt, StmtKind,
};

use crate::code::{
    FIRST_ENUM, LAST, Writer, at, choose, goto, last, members, stmt, test, wait, write,
};

/// The most values that a variable of the program may take.
const MAX_VALUES: usize = 4096;

/// The marker `#`.
const MARK: i128 = 0;

/// Why a machine has no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// It is not basic.
    NotBasic,
    /// It has too many channels.
    Channels,
    /// It has too many messages.
    Messages,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBasic => f.write_str(
                "the machine has guards, substitutions or strong messages; `weir channel basic` \
                 prints one without them",
            ),
            Self::Channels => {
                write!(f, "the machine has more than {} channels", MAX_PROCESSES - 1)
            }
            Self::Messages => write!(f, "the machine has more than {} messages", MAX_VALUES - 1),
        }
    }
}

impl std::error::Error for ProgramError {}

/// The program of a basic lossy machine, for TSO and PSO. For each of some control
/// states it has a property that is violated if the machine reaches the state.
///
/// # Errors
/// If the machine is not basic, or has more of something than a program.
///
/// ```
/// use weir_channel::text;
/// use weir_theory::program::program;
///
/// let machine = text::read("
///     machine echo;  messages hello;  channels wire;  states idle, sent;  initial idle;
///     idle -> sent do wire!hello;
///     sent -> idle do wire?hello;
/// ").unwrap();
/// let program = program(&machine, &[machine.state("sent").unwrap()]).unwrap();
/// assert!(weir_front::weir::print(&program).contains("sent: never p1@sent"));
/// ```
pub fn program(machine: &Machine, goals: &[StateId]) -> Result<Program, ProgramError> {
    let (mut program, names) = without_questions(machine, Reads::Wait)?;
    let never = |q: &StateId| Property {
        name: Some(names[q.index()].clone()),
        kind: PropertyKind::Never(Expr::Atom(Atom::At(ProcessId(0), label(*q)))),
        span: SpanId::NONE,
    };
    program.properties = goals.iter().map(never).collect();
    Ok(program)
}

/// The program of a basic lossy machine, for TSO and PSO. For each of some control states it has a
/// `live` property that holds if the machine visits the state infinitely often.
///
/// # Errors
/// As for [`program`].
///
/// ```
/// use weir_channel::text;
/// use weir_theory::program::again;
///
/// let machine = text::read("
///     machine echo;  messages hello;  channels wire;  states idle, sent;  initial idle;
///     idle -> sent do wire!hello;
///     sent -> idle do wire?hello;
/// ").unwrap();
/// let program = again(&machine, &[machine.state("sent").unwrap()]).unwrap();
/// assert!(weir_front::weir::print(&program).contains("sent: live exists p1@sent"));
/// ```
pub fn again(machine: &Machine, states: &[StateId]) -> Result<Program, ProgramError> {
    let (mut program, names) = without_questions(machine, Reads::Test)?;
    let exists = |q: &StateId| Live {
        name: Some(names[q.index()].clone()),
        kind: LiveKind::Exists(Expr::Atom(Atom::At(ProcessId(0), label(*q)))),
        span: SpanId::NONE,
    };
    program.live = states.iter().map(exists).collect();
    Ok(program)
}

/// What a process does if a variable does not have the value that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// It waits.
    Wait,
    /// It takes no more steps.
    Test,
}

impl Reads {
    /// Reads a value that fits.
    fn read(self, x: VarId, fits: Code) -> Vec<Stmt> {
        match self {
            Self::Wait => vec![wait(x, fits)],
            Self::Test => test(x, fits).into(),
        }
    }
}

/// The program, and the names of the labels of its control states.
fn without_questions(
    machine: &Machine,
    reads: Reads,
) -> Result<(Program, Vec<String>), ProgramError> {
    if !machine.is_basic() {
        return Err(ProgramError::NotBasic);
    }
    if machine.channels().count() >= MAX_PROCESSES {
        return Err(ProgramError::Channels);
    }
    if machine.messages().count() >= MAX_VALUES {
        return Err(ProgramError::Messages);
    }
    // Properties are called as the labels are.
    let mut scope = Scope::default();
    let names: Vec<String> = machine.states().map(|q| scope.name(machine.state_name(q))).collect();
    let messages = machine.messages().map(|m| machine.message_name(m).to_owned());
    let mut vars = Vec::new();
    let mut processes = vec![control(machine, &names, reads)];
    for c in machine.channels() {
        let name = machine.channel_name(c);
        vars.extend([format!("x1_{name}"), format!("x2_{name}")].map(variable));
        processes.push(transfer(format!("p2_{name}"), c, reads));
    }
    let program = Program {
        name: machine.name().to_owned(),
        vars,
        enums: vec![members("Message", std::iter::once("mark".to_owned()).chain(messages))],
        processes,
        ..Program::default()
    };
    Ok((program, names))
}

fn variable(name: String) -> Decl {
    Decl { domain: Some(FIRST_ENUM), ..Decl::scalar(name, MARK, SpanId::NONE) }
}

/// `x1` of a channel: what was sent.
fn sent(channel: ChannelId) -> VarId {
    VarId::new(2 * channel.index())
}

/// `x2` of a channel: what can be received.
fn received(channel: ChannelId) -> VarId {
    VarId::new(2 * channel.index() + 1)
}

fn label(q: StateId) -> LabelId {
    LabelId::new(q.index())
}

fn value(message: MessageId) -> i128 {
    message.index() as i128 + 1
}

/// The process `p1`.
fn control(machine: &Machine, names: &[String], reads: Reads) -> Process {
    let mut writer = Writer::new("p1", Some(FIRST_ENUM));
    for name in names {
        writer.label(name);
    }
    if machine.initial().index() > 0 {
        writer.add([goto(label(machine.initial()))]);
    }
    let mut ways = vec![vec![]; names.len()];
    for transition in machine.transitions() {
        ways[transition.from.index()].push(steps(transition, reads));
    }
    for (q, ways) in machine.states().zip(ways) {
        writer.add([at(label(q)), choose(ways)]);
    }
    writer.finish()
}

/// A transition of the machine as `p1` does it: Nop, Send and Receive.
fn steps(transition: &Transition, reads: Reads) -> Vec<Stmt> {
    let read = |x, d| reads.read(x, last(BinOp::Eq, d));
    let each = |(c, op): (ChannelId, &Op)| match *op {
        Op::Send { message, .. } => vec![write(sent(c), value(message)), write(sent(c), MARK)],
        Op::Receive(message) => {
            [read(received(c), value(message)), read(received(c), MARK)].concat()
        }
    };
    transition.ops().flat_map(each).chain([goto(label(transition.to))]).collect()
}

/// The process `p2` of a channel.
fn transfer(name: String, c: ChannelId, reads: Reads) -> Process {
    let mut writer = Writer::new(name, Some(FIRST_ENUM));
    let copy = stmt(StmtKind::Store(Place::var(received(c)), Expr::Atom(LAST)));
    let mut body = reads.read(sent(c), last(BinOp::Ne, MARK));
    body.push(copy);
    body.extend(reads.read(sent(c), last(BinOp::Eq, MARK)));
    body.push(write(received(c), MARK));
    writer.add([stmt(StmtKind::Loop(body))]);
    writer.finish()
}
