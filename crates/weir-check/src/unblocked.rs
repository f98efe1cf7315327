//! Unblocked files: proofs of obstruction-freedom under TSO, as JSON. `docs/evidence.md` has
//! the format and its meaning; [`check`] checks a proof.
//!
//! The checker computes the blocking pairs (Wang et al. 2021, section 5.2) independently:
//! from all pairs of a control state and a memory it repeatedly removes those from which
//! the client alone has no step, other than a return, to a remaining pair. The remaining
//! pairs are the blocking pairs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use weir_model::answer::Invariant;
use weir_model::ids::{LabelId, ProcessId, QuestionId, StateId, ValueId, VarId};
use weir_model::program::{Atom, BinOp, Expr, Formula, Program};
use weir_model::question::Question;
use weir_model::system::{Expanded, Mark, Op, System};

use crate::Rejected;
use crate::certificate::{self, Certificate};
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, counted, within_bounds};
use crate::header::Header;
use crate::lasso;
use crate::witness::expanded;

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-unblocked";

/// The version of the format that is written.
pub const VERSION: u32 = 3;

/// The most pairs that are looked at.
const MAX_PAIRS: usize = 4_000_000;

/// Why no blocking pair is reachable under TSO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unblocked {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// How many clients the object has.
    pub clients: usize,
    /// The control states at which the first client is stopped. A client that runs alone for ever
    /// without a return passes one of them.
    pub stops: Vec<String>,
    /// An inductive set of the system with stops; none is needed without stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

impl Unblocked {
    /// The file of a proof: the stops of the first client, and an inductive set with the system
    /// that has these stops.
    pub fn new(system: &System, stops: &[StateId], set: Option<(&Invariant, &System)>) -> Self {
        let program = &system.program;
        Self {
            header: Header::new(FORMAT, VERSION, program),
            clients: program.processes.len(),
            stops: stops.iter().map(|s| system.state_name(CLIENT, *s)).collect(),
            certificate: set.map(|(set, stopping)| Certificate {
                header: Header::new(certificate::FORMAT, certificate::VERSION, program),
                ..Certificate::new(stopping, set, vec![QuestionId(0)])
            }),
        }
    }
}

impl Evidence for Unblocked {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, threads: usize) -> Result<(), Rejected> {
        check(&subject.system().program, self, threads)?;
        within_bounds(subject.system(), |_| false)
    }

    fn what(&self) -> String {
        match self.stops.len() {
            0 => "the absence of blocking pairs".to_owned(),
            stops => format!("a proof for blocking pairs at {}", counted(stops, "control state")),
        }
    }

    fn claim(&self, _: &dyn Subject) -> Claims {
        let answers = vec![Settled::holds("obstruction-free", true)];
        Claims { clients: Some(self.clients), ..Claims::new(&self.header, "TSO", answers) }
    }
}

const CLIENT: ProcessId = ProcessId(0);

/// Checks that no blocking pair of the object is reachable under TSO with its
/// clients, with up to so many threads.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(program: &Program, file: &Unblocked, threads: usize) -> Result<(), Rejected> {
    let system = lasso::system(program, Some(file.clients))?;
    file.header.check((FORMAT, VERSION), &system.program)?;
    let all = expanded(&system);
    let mut stops: BTreeSet<StateId> = BTreeSet::new();
    for name in &file.stops {
        let found = system.find_state(CLIENT, name);
        let found = found.filter(|s| all.states(CLIENT).any(|known| known == *s));
        let found = found.ok_or_else(|| {
            Rejected::Malformed(format!("the client has no control state {name}"))
        })?;
        if !stops.insert(found) {
            return Err(Rejected::Malformed(format!("the stop {name} is there twice")));
        }
    }
    let memories = Memories::new(all)?;
    let beside = left(all, &memories, |q| !stops.contains(&q));
    if beside.contains(&true) {
        let reason = "a client can run alone for ever beside the stops";
        return Err(Rejected::RunsForever(reason.to_owned()));
    }
    if stops.is_empty() {
        return match file.certificate {
            None => Ok(()),
            Some(_) => Err(Rejected::malformed("there is a certificate and no stops")),
        };
    }
    let blocking = left(all, &memories, |_| true);
    let at: Vec<StateId> = stops.into_iter().collect();
    let rebuilt = lasso::system(program, Some(file.clients))?;
    let again = |q: &StateId| rebuilt.find_state(CLIENT, &system.state_name(CLIENT, *q));
    let again: Option<Vec<StateId>> = at.iter().map(again).collect();
    let again = again.ok_or_else(|| Rejected::malformed("a control state was not found again"))?;
    let (mut stopping, labels) = rebuilt.with_stops(CLIENT, &again);
    let asked: Vec<Formula> = at
        .iter()
        .zip(labels)
        .map(|(q, label): (_, LabelId)| {
            let set = &blocking[memories.pairs(*q)];
            let here = Expr::Atom(Atom::At(CLIENT, label));
            Expr::binary(BinOp::And, here, memories.formula(set, 0))
        })
        .collect();
    let formula = any_of(&asked);
    stopping.questions = vec![Question::never("blocking pair", formula)];
    let certificate = file.certificate.as_ref();
    let certificate =
        certificate.ok_or_else(|| Rejected::malformed("there are stops and no certificate"))?;
    if certificate.properties != [0] || certificate.model != "TSO" {
        return Err(Rejected::malformed("the certificate is about something else"));
    }
    certificate::check_for(&stopping, certificate, &system.program, threads)
}

/// `a or b or …`, as flat as it can be.
fn any_of(all: &[Formula]) -> Formula {
    match all {
        [] => Expr::Const(0),
        [one] => one.clone(),
        _ => {
            let (a, b) = all.split_at(all.len() / 2);
            Expr::binary(BinOp::Or, any_of(a), any_of(b))
        }
    }
}

/// All memories, numbered: the first variable counts most.
struct Memories<'s> {
    system: Expanded<'s>,
    /// What one more of each variable adds to the number.
    weights: Vec<usize>,
    count: usize,
}

impl<'s> Memories<'s> {
    fn new(system: Expanded<'s>) -> Result<Self, Rejected> {
        let mut weights = vec![0; system.vars.len()];
        let mut count = 1_usize;
        for x in (0..system.vars.len()).rev() {
            weights[x] = count;
            count = count.saturating_mul(system.values(VarId::new(x)).len());
        }
        match count.saturating_mul(system.state_count(CLIENT)) <= MAX_PAIRS {
            true => Ok(Self { system, weights, count }),
            false => Err(Rejected::TooLarge(format!(
                "there are more than {MAX_PAIRS} pairs of states and memories to check"
            ))),
        }
    }

    /// The numbers of a control state's pairs.
    fn pairs(&self, q: StateId) -> std::ops::Range<usize> {
        q.index() * self.count..(q.index() + 1) * self.count
    }

    fn value(&self, memory: usize, x: VarId) -> ValueId {
        let values = self.system.values(x);
        values[memory / self.weights[x.index()] % values.len()]
    }

    fn with(&self, memory: usize, x: VarId, d: ValueId) -> usize {
        let place = |d| self.system.values(x).iter().position(|v| *v == d).expect("a value of it");
        memory - place(self.value(memory, x)) * self.weights[x.index()]
            + place(d) * self.weights[x.index()]
    }

    /// A formula for the memories of a set in which the variables before `from` are fixed. It tests
    /// a variable only where its value matters.
    fn formula(&self, set: &[bool], from: usize) -> Formula {
        let [first, rest @ ..] = set else { return Expr::Const(0) };
        if rest.iter().all(|s| s == first) {
            return Expr::Const(i128::from(*first));
        }
        let parts: Vec<&[bool]> = set.chunks(self.weights[from]).collect();
        if parts.iter().all(|p| *p == parts[0]) {
            return self.formula(parts[0], from + 1);
        }
        let mut ways = Vec::new();
        for (value, part) in parts.into_iter().enumerate() {
            let var = VarId::new(from);
            let number = self.system.value(var, self.system.values(var)[value]);
            let here = Expr::Atom(Atom::Var(var));
            let here = Expr::binary(BinOp::Eq, here, Expr::Const(number));
            ways.push(Expr::binary(BinOp::And, here, self.formula(part, from + 1)));
        }
        any_of(&ways)
    }
}

/// The pairs of the client that remain when those without a step, other than a return, to a
/// remaining pair are removed. Only control states that pass the test count.
fn left(
    system: Expanded<'_>,
    memories: &Memories<'_>,
    counts: impl Fn(StateId) -> bool,
) -> Vec<bool> {
    let states = system.state_count(CLIENT);
    let mut left = Vec::with_capacity(states * memories.count);
    for q in 0..states {
        left.extend(vec![counts(StateId::new(q)); memories.count]);
    }
    loop {
        let mut changed = false;
        for q in (0..states).map(StateId::new) {
            for (memory, pair) in memories.pairs(q).enumerate() {
                if !left[pair] {
                    continue;
                }
                let goes_on = system.transitions(CLIENT, q).any(|(_, t)| {
                    let after = match t.op {
                        _ if matches!(t.mark, Some(Mark::Return(..))) => return false,
                        Op::Nop | Op::Fence(_) => memory,
                        Op::Read(x, d) if memories.value(memory, x) == d => memory,
                        Op::Write(x, d) => memories.with(memory, x, d),
                        Op::Arw(x, d, e) if memories.value(memory, x) == d => {
                            memories.with(memory, x, e)
                        }
                        Op::Read(..) | Op::Arw(..) => return false,
                    };
                    left[t.to.index() * memories.count + after]
                });
                if !goes_on {
                    left[pair] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return left;
        }
    }
}
