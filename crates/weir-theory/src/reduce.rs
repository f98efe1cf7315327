//! The reductions of Spengler 2024, sections 7 and 8, from perfect channel systems to
//! games with fairness. They show that these games are undecidable.
//!
//! Both programs keep the channel in the store buffer of `proc1`: sending `m` is writing
//! `⟨x_wr, m⟩`. The process cannot read its own oldest write, so `proc2` reads it from
//! memory and copies it to `x_rd`, where `proc1` reads it: the *rotation* of `m`. After
//! each send comes `⟨y, 1⟩`, and `proc2` reads `y` and `x_wr` to check that each rotation
//! updates one message and no more; if not, it goes to `win`.
//!
//! * *Update fairness* (section 7, figures 3 and 4): the process player chooses the
//!   transitions, and wins by reaching the final state. A receive waits in `h1` for
//!   `x_rd` to be `m` and in `h2` for it to be reset; only when the program is in a
//!   deadlock does the update player have to do the next part of the rotation.
//! * *Process fairness* (section 8, figures 4 and 5): the update player chooses the
//!   transitions, and wins by forcing play to the final state. Each transition `e` has a
//!   process that writes `⟨z, e⟩` for ever, and fairness guarantees that there are enough
//!   of them. From every state but `h1` and `h2` of the message itself, `proc1` may leave
//!   for a `sink` while `x_rd` holds a message, so that no rotation is wasted.
//!
//! The text leaves some points open. In section 7, a process player in `h1` who waits for
//! a message other than the oldest one would be in a deadlock, and the update player
//! would have to continue and lose that message; so in `h1` a read of any other message
//! from `x_rd` loops, and there is no deadlock. That must not protect an update player
//! who has lost messages; so `proc2` also reads `y` before it shows a message. In section
//! 8, `z` stores the name of the last transition, and a transition that leads back to its
//! own state could be simulated again without a move of the update player; so such a
//! transition is split in two.

use std::fmt;

use weir_channel::{Machine, MessageId, Op, StateId, TransitionId};
use weir_model::game::Fairness;
use weir_model::ids::{EnumId, LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::program::{
    BinOp, Code, Decl, Domain, Enum, Expr, FenceKind, Game, Label, MAX_PROCESSES, Objective, Place,
    Process, Program, Register, Stmt, StmtKind,
};

/// Why a channel machine is no perfect channel system, or too large a one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceError {
    /// What is in the way.
    pub message: String,
    /// The transition that is to blame.
    pub transition: Option<TransitionId>,
}

impl fmt::Display for ReduceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReduceError {}

/// What a transition does with the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Skip,
    Send(MessageId),
    Receive(MessageId),
}

/// A transition of the channel system; states that were added come last.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    to: usize,
    does: Does,
}

const X_WR: VarId = VarId(0);
const X_RD: VarId = VarId(1);
const Y: VarId = VarId(2);
const Z: VarId = VarId(3);
/// The value of a variable that holds nothing, the paper's `⊥`.
const NONE: i128 = 0;

/// The program whose game the process player (update fairness) or the update player
/// (process fairness) wins if and only if the channel system reaches a state.
///
/// # Errors
/// If the machine has guards, substitutions or several channels, or too many
/// transitions for process fairness.
///
/// # Panics
/// With no fairness: there is nothing to reduce to.
pub fn reduce(
    machine: &Machine,
    goal: StateId,
    fairness: Fairness,
) -> Result<Program, ReduceError> {
    assert_ne!(fairness, Fairness::None, "plain games are decidable");
    let mut edges = edges(machine)?;
    let mut states = machine.states().count();
    if fairness == Fairness::Process {
        cut_loops(&mut edges, &mut states);
        if edges.len() + 2 > MAX_PROCESSES {
            return Err(ReduceError {
                message: format!(
                    "there is one process for each transition, and a program has at most \
                     {MAX_PROCESSES}"
                ),
                transition: None,
            });
        }
    }
    let writer = Writer { machine, edges: &edges, states, fairness };
    let mut processes = vec![writer.proc1(), proc2()];
    let message = |m| machine.message_name(m).to_owned();
    let members = std::iter::once("none".to_owned()).chain(machine.messages().map(message));
    let mut enums = vec![Enum { name: "message".into(), members: members.collect() }];
    let decl = |name: &str, domain: Domain| Decl {
        domain: Some(domain),
        ..Decl::scalar(name, NONE, SpanId::NONE)
    };
    let channel = Domain::Enum(EnumId::new(0));
    let mut vars = vec![decl("x_wr", channel), decl("x_rd", channel), decl("y", Domain::Bool)];
    let proc1 = ProcessId::new(0);
    let mut targets = vec![(proc1, LabelId::new(goal.index()))];
    let objective = match fairness {
        Fairness::Process => {
            let names = (0..edges.len()).map(|e| format!("e{e}"));
            let members = std::iter::once("no_transition".to_owned()).chain(names).collect();
            enums.push(Enum { name: "transition".into(), members });
            vars.push(decl("z", Domain::Enum(EnumId::new(1))));
            processes.extend((0..edges.len()).map(chooser));
            Objective::Avoid
        }
        _ => {
            targets.push((ProcessId::new(1), LabelId::new(0)));
            Objective::Reach
        }
    };
    let game = Game { name: None, objective, targets, span: SpanId::NONE };
    Ok(Program {
        name: machine.name().to_owned(),
        enums,
        vars,
        processes,
        games: vec![game],
        ..Program::default()
    })
}

/// The transitions of a machine that is a perfect channel system (section 2).
fn edges(machine: &Machine) -> Result<Vec<Edge>, ReduceError> {
    let no =
        |message: &str, transition| Err(ReduceError { message: message.to_owned(), transition });
    if machine.channels().count() > 1 {
        return no("a perfect channel system has one channel", None);
    }
    let mut edges = Vec::new();
    for id in machine.transition_ids() {
        let transition = machine.transition(id);
        if transition.guards().next().is_some() {
            return no("a perfect channel system has no guards", Some(id));
        }
        let does = match transition.ops().next() {
            None => Does::Skip,
            Some((_, Op::Receive(message))) => Does::Receive(*message),
            Some((_, Op::Send { substitution, message })) if substitution.is_identity() => {
                Does::Send(*message)
            }
            Some(_) => return no("a perfect channel system has no substitutions", Some(id)),
        };
        edges.push(Edge { from: transition.from.index(), to: transition.to.index(), does });
    }
    Ok(edges)
}

/// Cuts transitions that lead back to their own state in two.
fn cut_loops(edges: &mut Vec<Edge>, states: &mut usize) {
    for number in 0..edges.len() {
        let Edge { from, to, .. } = edges[number];
        if from == to {
            edges[number].to = *states;
            edges.push(Edge { from: *states, to, does: Does::Skip });
            *states += 1;
        }
    }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt::new(kind, SpanId::NONE)
}

fn store(var: VarId, value: i128) -> Stmt {
    stmt(StmtKind::Store(Place::var(var), Expr::Const(value)))
}

/// The register that holds what was read last.
const SEEN: RegId = RegId(0);

fn seen_is(op: BinOp, value: i128) -> Code {
    Expr::binary(op, Expr::Atom(SEEN), Expr::Const(value))
}

/// Waits until what is read satisfies a condition.
fn wait(var: VarId, holds: Code) -> Stmt {
    stmt(StmtKind::Await(vec![stmt(StmtKind::Load(SEEN, Place::var(var)))], holds))
}

/// `rd(var, value)`.
fn read(var: VarId, value: i128) -> Stmt {
    wait(var, seen_is(BinOp::Eq, value))
}

fn value_of(message: MessageId) -> i128 {
    message.index() as i128 + 1
}

fn process(name: String, labels: Vec<String>, body: Vec<Stmt>) -> Process {
    let register = Register {
        name: "seen".into(),
        display: format!("{name}.seen"),
        domain: None,
        init: 0,
        temporary: false,
        span: SpanId::NONE,
    };
    let label = |name| Label { name, span: SpanId::NONE };
    Process {
        name,
        registers: vec![register],
        labels: labels.into_iter().map(label).collect(),
        body,
    }
}

/// `Proc²` (figure 4): rotates messages for ever.
fn proc2() -> Process {
    let win = LabelId::new(0);
    let fence = || stmt(StmtKind::Fence(FenceKind::Full));
    let copy = StmtKind::Store(Place::var(X_RD), Expr::Atom(SEEN));
    // Goes to `win` unless the variable is as it was at first.
    let must_be_reset = |var| {
        let looked = RegId::new(1);
        let wrong = Expr::binary(BinOp::Ne, Expr::Atom(looked), Expr::Const(NONE));
        let goto = vec![stmt(StmtKind::Goto(win))];
        [stmt(StmtKind::Load(looked, Place::var(var))), stmt(StmtKind::If(wrong, goto, vec![]))]
    };
    let mut rotation = vec![wait(X_WR, seen_is(BinOp::Ne, NONE))];
    // If more than one message was updated, the `⟨y, 1⟩` between them shows: before the
    // message is shown, and after `x_wr` is reset, which may hide another one.
    rotation.extend(must_be_reset(Y));
    rotation.extend([stmt(copy), fence(), store(X_WR, NONE), fence()]);
    rotation.extend(must_be_reset(Y));
    rotation.extend([store(Y, 0), store(X_RD, NONE), fence()]);
    // Since then only one `⟨y, 1⟩` was updated. The fence is before this: what comes
    // between a look and the reset of `y` would be missed.
    rotation.extend(must_be_reset(X_WR));
    let forever = stmt(StmtKind::Loop(vec![stmt(StmtKind::Nop)]));
    let body = vec![stmt(StmtKind::Loop(rotation)), stmt(StmtKind::Label(win)), forever];
    let mut process = process("proc2".into(), vec!["win".into()], body);
    let looked = Register {
        name: "looked".into(),
        display: "proc2.looked".into(),
        ..process.registers[0].clone()
    };
    process.registers.push(looked);
    process
}

/// `Proc^e` (section 8): offers a transition again and again.
fn chooser(edge: usize) -> Process {
    let body = vec![stmt(StmtKind::Loop(vec![store(Z, edge as i128 + 1)]))];
    Process { name: format!("offer_e{edge}"), body, ..Process::default() }
}

/// Writes `Proc¹` (figures 3 and 5).
struct Writer<'a> {
    machine: &'a Machine,
    edges: &'a [Edge],
    states: usize,
    fairness: Fairness,
}

impl Writer<'_> {
    /// The labels are the states, then `h1` of each transition, then the sink.
    fn h1(&self, edge: usize) -> LabelId {
        LabelId::new(self.states + edge)
    }

    fn sink(&self) -> LabelId {
        LabelId::new(self.states + self.edges.len())
    }

    fn proc1(&self) -> Process {
        let known = self.machine.states().map(|s| self.machine.state_name(s).to_owned());
        let added = (self.machine.states().count()..self.states).map(|s| format!("cut{s}"));
        let mut labels: Vec<String> = known.chain(added).collect();
        labels.extend((0..self.edges.len()).map(|e| format!("h1_e{e}")));
        labels.push("sink".into());
        let initial = LabelId::new(self.machine.initial().index());
        let mut body = vec![stmt(StmtKind::Goto(initial))];
        for state in 0..self.states {
            body.push(stmt(StmtKind::Label(LabelId::new(state))));
            let outgoing = self.edges.iter().enumerate().filter(|(_, e)| e.from == state);
            let ways = outgoing.map(|(number, edge)| self.gadget(number, edge)).collect();
            body.extend(self.state(ways, None));
        }
        if self.fairness == Fairness::Process {
            let forever = stmt(StmtKind::Loop(vec![stmt(StmtKind::Nop)]));
            body.extend([stmt(StmtKind::Label(self.sink())), forever]);
        }
        process("proc1".into(), labels, body)
    }

    /// A state with several ways to go on. Under process fairness there is one more:
    /// to the sink, on any message in `x_rd` but the one that is expected.
    fn state(&self, mut ways: Vec<Vec<Stmt>>, expected: Option<MessageId>) -> Vec<Stmt> {
        if self.fairness == Fairness::Process {
            ways.push(vec![self.other_message(expected), stmt(StmtKind::Goto(self.sink()))]);
        }
        match ways.len() {
            0 => vec![stmt(StmtKind::Assume(Expr::Const(0)))],
            1 => ways.swap_remove(0),
            _ => vec![stmt(StmtKind::Choose(ways))],
        }
    }

    /// Reads any message from `x_rd` but this one.
    fn other_message(&self, expected: Option<MessageId>) -> Stmt {
        let any = seen_is(BinOp::Ne, NONE);
        wait(
            X_RD,
            match expected {
                Some(m) => Expr::binary(BinOp::And, any, seen_is(BinOp::Ne, value_of(m))),
                None => any,
            },
        )
    }

    /// What simulates a transition.
    fn gadget(&self, number: usize, edge: &Edge) -> Vec<Stmt> {
        let mut gadget = Vec::new();
        if self.fairness == Fairness::Process {
            gadget.push(read(Z, number as i128 + 1));
        }
        match edge.does {
            Does::Skip => gadget.extend(self.state(vec![vec![stmt(StmtKind::Nop)]], None)),
            Does::Send(m) => {
                gadget.extend(self.state(vec![vec![store(X_WR, value_of(m))]], None));
                gadget.extend(self.state(vec![vec![store(Y, 1)]], None));
            }
            Does::Receive(m) => {
                let mut ways = vec![vec![read(X_RD, value_of(m))]];
                if self.fairness == Fairness::Update {
                    // The step to `h1` begins the receive.
                    gadget.push(stmt(StmtKind::Nop));
                    let again = stmt(StmtKind::Goto(self.h1(number)));
                    ways.push(vec![self.other_message(Some(m)), again]);
                }
                gadget.push(stmt(StmtKind::Label(self.h1(number))));
                gadget.extend(self.state(ways, Some(m)));
                gadget.extend(self.state(vec![vec![read(X_RD, NONE)]], Some(m)));
            }
        }
        gadget.push(stmt(StmtKind::Goto(LabelId::new(edge.to))));
        gadget
    }
}
