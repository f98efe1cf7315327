//! Local execution: steps that touch only registers.
//!
//! A local step is merged into the step before it if it changes no atom (`p@l`, `p.r`) of
//! any property. Such a step commutes with every step of the other processes and of
//! memory, so no property distinguishes the states in between from the merged one. There
//! is one exception, for `never` only: a step that makes atoms true which occur only
//! positively may be merged as well, since a state that satisfies the formula before the
//! step satisfies it after the step.

use super::watch::Watch;
use super::{Key, Stop};
use crate::flow::{Flow, Node, NodeId};
use crate::ids::{ProcessId, RegId, VarId};
use crate::program::{Code, EvalError, Place, Program, Rmw};
use crate::system::{Excess, Failure};

/// The most code that runs between two steps before it counts as endless.
const MAX_LOCAL: usize = 1_000_000;

/// The code of one process.
#[derive(Clone, Copy)]
pub(super) struct Local<'a> {
    pub program: &'a Program,
    pub process: ProcessId,
    pub flow: &'a Flow,
    pub watch: &'a Watch,
}

/// Where a process came to stand.
pub(super) struct Settled {
    pub key: Key,
    /// The `await` that it never left on the way, if any.
    pub within: Option<NodeId>,
}

/// What became of code that ran.
enum Ran {
    /// It goes on at the node.
    On(NodeId),
    /// An `assume` does not hold.
    Blocked,
    Stopped(Stop),
}

impl Local<'_> {
    /// Evaluates code.
    pub fn eval(&self, code: &Code, registers: &[i128]) -> Result<i128, Stop> {
        code.eval(&mut |r| registers[r.index()]).map_err(|error| match error {
            EvalError::DivisionByZero => Failure::DivisionByZero.into(),
            EvalError::Index(index) => Failure::Index(index).into(),
            EvalError::Overflow => Stop::Left(Excess::Overflow),
        })
    }

    /// Sets a register, if its domain admits the value.
    pub fn set(&self, reg: RegId, value: i128, registers: &mut [i128]) -> Result<(), Stop> {
        let declared = &self.program.processes[self.process.index()].registers[reg.index()];
        let value = Program::fit(declared.domain, value);
        if declared.domain.is_some_and(|d| !self.program.admits(d, value)) {
            return Err(Failure::Domain(declared.display.clone(), value).into());
        }
        if let Some(&bound) = self.program.bounds.registers.get(&(self.process, reg))
            && !(bound.0..=bound.1).contains(&value)
        {
            let name = declared.display.clone();
            return Err(Stop::Left(Excess::Bound { name, value, bound }));
        }
        registers[reg.index()] = value;
        Ok(())
    }

    /// The variable that a place is.
    pub fn element(&self, place: &Place, registers: &[i128]) -> Result<VarId, Stop> {
        let Some(index) = &place.index else { return Ok(place.first) };
        let index = self.eval(index, registers)?;
        match usize::try_from(index) {
            Ok(i) if i < place.len as usize => Ok(VarId::new(place.first.index() + i)),
            _ => Err(Failure::Index(index).into()),
        }
    }

    /// What an atomic read-write writes, given what it reads; `None` if it waits
    /// for another value.
    pub fn written(
        &self,
        reg: RegId,
        rmw: &Rmw,
        old: i128,
        registers: &[i128],
    ) -> Result<Option<i128>, Stop> {
        Ok(Some(match rmw {
            Rmw::Cas { expected, .. } | Rmw::CasFlag { expected, .. }
                if self.eval(expected, registers)? != old =>
            {
                old
            }
            Rmw::Cas { new, .. } | Rmw::CasFlag { new, .. } | Rmw::Swap(new) => {
                self.eval(new, registers)?
            }
            Rmw::Fetch(op, code) => {
                let value = Code::Const(self.eval(code, registers)?);
                self.eval(&Code::binary(*op, Code::Const(old), value), registers)?
            }
            Rmw::Update { when, new } => {
                let mut registers = registers.to_vec();
                registers[reg.index()] = old;
                if self.eval(when, &registers)? == 0 {
                    return Ok(None);
                }
                self.eval(new, &registers)?
            }
        }))
    }

    /// Runs the code of one node that is no step.
    fn execute(&self, node: NodeId, registers: &mut [i128]) -> Ran {
        let mut ran = || -> Result<Ran, Stop> {
            Ok(match &self.flow.nodes[node].node {
                Node::Jump(next) | Node::Goto(next) => Ran::On(*next),
                Node::Assign(reg, code, next) => {
                    let value = self.eval(code, registers)?;
                    self.set(*reg, value, registers)?;
                    Ran::On(*next)
                }
                Node::Branch(code, yes, no) => {
                    Ran::On(if self.eval(code, registers)? != 0 { *yes } else { *no })
                }
                Node::Assume(code, next) => match self.eval(code, registers)? {
                    0 => Ran::Blocked,
                    _ => Ran::On(*next),
                },
                Node::Assert(code, next) => match self.eval(code, registers)? {
                    0 => {
                        let message = self.program.messages.get(&self.flow.nodes[node].span);
                        let failure = message.cloned().map_or(Failure::Assertion, Failure::Message);
                        Ran::Stopped(failure.into())
                    }
                    _ => Ran::On(*next),
                },
                step => unreachable!("{step:?} is a step"),
            })
        };
        ran().unwrap_or_else(Ran::Stopped)
    }

    /// Whether a process always stops at the node: before a step, before a choice,
    /// and at its end.
    fn stops_at(&self, node: NodeId) -> bool {
        match &self.flow.nodes[node].node {
            Node::End | Node::Any(..) | Node::Choose(_) => true,
            node => node.is_step(),
        }
    }

    /// Whether a question can observe a local step from one place with its registers to another.
    /// Then the process stands before the step.
    fn is_visible(&self, before: (NodeId, &[i128]), after: (NodeId, &[i128])) -> bool {
        let nodes = &self.flow.nodes;
        let (left, entered) = (&nodes[before.0].labels, &nodes[after.0].labels);
        let asked = &self.watch.labels[self.process.index()];
        left.iter().any(|l| !entered.contains(l) && asked[l.index()].shows_leaving())
            || entered.iter().any(|l| !left.contains(l) && asked[l.index()].shows_entering())
            || (self.watch.always[self.process.index()].iter())
                .zip(before.1.iter().zip(after.1))
                .any(|(asked, (before, after))| *asked && before != after)
    }

    /// Where the process stands after the local step at which it stands; `None` if it
    /// is blocked.
    pub fn step(&self, node: NodeId, mut registers: Vec<i128>) -> Option<Settled> {
        match self.execute(node, &mut registers) {
            Ran::On(next) => Some(self.settle(next, registers)),
            Ran::Blocked => None,
            Ran::Stopped(stop) => Some(stopped(node, registers, stop)),
        }
    }

    /// The state after a register got a value.
    pub fn go_on_with(
        &self,
        node: NodeId,
        reg: RegId,
        value: i128,
        registers: &[i128],
        next: NodeId,
    ) -> Settled {
        let mut registers = registers.to_vec();
        match self.set(reg, value, &mut registers) {
            Ok(()) => self.settle(next, registers),
            Err(stop) => stopped(node, registers, stop),
        }
    }

    /// Runs local code from a node on, up to the next place at which the process stands: before a
    /// step, or before a local step that a question can observe.
    pub fn settle(&self, node: NodeId, mut registers: Vec<i128>) -> Settled {
        let flow = self.flow;
        let mut within = flow.nodes[node].within;
        let mut node = pass(flow, node, &mut within);
        let mut round = Round::default();
        loop {
            forget(flow, node, &mut registers, |_| 0);
            if self.stops_at(node) {
                let stop = self.cannot_stand(node, &registers).err();
                return Settled { key: Key { node, registers, stop }, within };
            }
            if let Some((node, registers)) = round.closes(node, &registers) {
                return Settled { key: Key { node, registers, stop: None }, within };
            }
            if round.steps > MAX_LOCAL {
                return stopped(node, registers, Stop::Left(Excess::Endless));
            }
            let before = registers.clone();
            let stop = match self.execute(node, &mut registers) {
                Ran::On(next) => {
                    let mut inside = within;
                    let next = pass(flow, next, &mut inside);
                    forget(flow, next, &mut registers, |_| 0);
                    if self.is_visible((node, &before), (next, &registers)) {
                        return Settled {
                            key: Key { node, registers: before, stop: None },
                            within,
                        };
                    }
                    (node, within) = (next, inside);
                    continue;
                }
                Ran::Blocked => None,
                // To fail is not to wait.
                Ran::Stopped(stop) => return stopped(node, registers, stop),
            };
            return Settled { key: Key { node, registers, stop }, within };
        }
    }

    /// Fails if the step before which a process would stand is undefined for the values of its
    /// registers.
    pub fn cannot_stand(&self, node: NodeId, registers: &[i128]) -> Result<(), Stop> {
        let node = &self.flow.nodes[node].node;
        let (Node::Load(_, place, _) | Node::Store(place, ..) | Node::Rmw(_, place, ..)) = node
        else {
            return Ok(());
        };
        let var = self.element(place, registers)?;
        match node {
            Node::Store(_, code, _) => self.stored(var, self.eval(code, registers)?).map(drop),
            _ => Ok(()),
        }
    }

    /// What a variable holds after a value was written to it.
    pub fn stored(&self, var: VarId, value: i128) -> Result<i128, Stop> {
        let domain = self.program.decl(var).0.domain;
        let value = Program::fit(domain, value);
        if domain.is_some_and(|domain| !self.program.admits(domain, value)) {
            return Err(Failure::Domain(self.program.var_name(var), value).into());
        }
        match self.program.bounds.vars.get(&var) {
            Some(&bound) if !(bound.0..=bound.1).contains(&value) => {
                let name = self.program.var_name(var);
                Err(Stop::Left(Excess::Bound { name, value, bound }))
            }
            _ => Ok(value),
        }
    }
}

/// Detects that local code loops for ever, with Brent's algorithm: a place that was passed is
/// compared with all that follow, and replaced by a later one each time the distance has doubled.
#[derive(Default)]
struct Round {
    steps: usize,
    /// The place that is compared, and when it was passed.
    anchor: Option<(NodeId, Vec<i128>)>,
    since: usize,
    /// The least place since then: where the process stands if it loops.
    least: Option<(NodeId, Vec<i128>)>,
}

impl Round {
    /// The process comes to a place. If it was there before, returns the least place of the
    /// round.
    fn closes(&mut self, node: NodeId, registers: &[i128]) -> Option<(NodeId, Vec<i128>)> {
        self.steps += 1;
        // Hardly any code goes on for so long.
        if self.steps < 64 {
            return None;
        }
        let here = (node, registers.to_vec());
        if self.anchor.as_ref() == Some(&here) {
            return self.least.take();
        }
        if self.anchor.is_none() || self.steps >= 2 * self.since {
            self.anchor = Some(here.clone());
            self.since = self.steps;
            self.least = None;
        }
        if self.least.as_ref().is_none_or(|least| here < *least) {
            self.least = Some(here);
        }
        None
    }
}

/// A process that goes no further.
pub(super) fn stopped(node: NodeId, registers: Vec<i128>, stop: Stop) -> Settled {
    Settled { key: Key { node, registers, stop: Some(stop) }, within: None }
}

/// The node at which a process that gets to `node` stands, past structure. `within`
/// becomes `None` where the `await` is left on the way.
fn pass(flow: &Flow, mut node: NodeId, within: &mut Option<NodeId>) -> NodeId {
    // A loop without any statement is structure only: its head is where the process stands.
    for _ in 0..=flow.nodes.len() {
        *within = within.filter(|a| flow.nodes[node].within == Some(*a));
        if !flow.is_transparent(node) {
            break;
        }
        node = flow.nodes[node].node.successors()[0];
    }
    node
}

/// Registers whose value no longer matters have the value `none`.
pub(super) fn forget<T>(flow: &Flow, node: NodeId, registers: &mut [T], none: impl Fn(usize) -> T) {
    for (r, (value, live)) in registers.iter_mut().zip(&flow.live[node]).enumerate() {
        if !live {
            *value = none(r);
        }
    }
}
