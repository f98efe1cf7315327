//! Local execution: steps that touch only registers.
//!
//! A local step is merged into the step before it if it changes no atom (`p@l`,
//! `p.r`) of anything that is asked. Such a step commutes with every step of the
//! other processes and with what memory does, so the states in between differ from
//! the merged one in nothing that an answer could depend on. One exception, for
//! `never` only: a step that makes atoms true which occur only positively may be merged as
//! well, since a state that satisfies the formula before it satisfies it after it.

use std::collections::HashSet;

use super::{Builder, Key, MAX_SILENT, Ran, Settled, Stop, unbounded};
use crate::flow::{Flow, Node, NodeId};
use crate::ids::{ProcessId, RegId, SpanId, VarId};
use crate::program::{Code, EvalError, Place};
use crate::system::{BuildError, Excess, Failure, MAX_VALUES, Unbuilt};

impl Builder<'_> {
    /// Evaluates code; an overflow means that some value has no bound.
    pub(super) fn eval(
        &self,
        code: &Code,
        registers: &[i64],
        span: SpanId,
    ) -> Result<Result<i64, Stop>, BuildError> {
        match code.eval(&mut |r| registers[r.index()]) {
            Ok(value) => Ok(Ok(value)),
            Err(EvalError::DivisionByZero) => Ok(Err(Failure::DivisionByZero.into())),
            Err(EvalError::Index(index)) => Ok(Err(Failure::Index(index).into())),
            Err(EvalError::Overflow) => Err(BuildError {
                message: "a value computed here does not fit 64 bits".to_owned(),
                span,
                help: "bound it: give its variables a domain, or compute modulo some number"
                    .to_owned(),
                unbounded: None,
            }),
        }
    }

    /// Sets a register, if its domain admits the value.
    pub(super) fn set(
        &mut self,
        process: ProcessId,
        reg: RegId,
        value: i64,
        registers: &mut [i64],
        span: SpanId,
    ) -> Result<Result<(), Stop>, BuildError> {
        let declared = &self.program.processes[process.index()].registers[reg.index()];
        if declared.domain.is_some_and(|d| !self.program.admits(d, value)) {
            return Ok(Err(Failure::Domain(declared.display.clone(), value).into()));
        }
        if let Some(&bound) = self.program.bounds.registers.get(&(process, reg))
            && !(bound.0..=bound.1).contains(&value)
        {
            let name = declared.display.clone();
            return Ok(Err(Stop::Left(Excess { name, value, bound })));
        }
        let seen = &mut self.automata[process.index()].register_values[reg.index()];
        if seen.insert(value) && seen.len() > MAX_VALUES {
            return Err(unbounded("register", &declared.display, "reg", &declared.name, span));
        }
        registers[reg.index()] = value;
        Ok(Ok(()))
    }

    pub(super) fn element(
        &self,
        place: &Place,
        registers: &[i64],
        span: SpanId,
    ) -> Result<Result<VarId, Stop>, BuildError> {
        let Some(index) = &place.index else { return Ok(Ok(place.first)) };
        let index = match self.eval(index, registers, span)? {
            Ok(index) => index,
            Err(stop) => return Ok(Err(stop)),
        };
        Ok(match usize::try_from(index) {
            Ok(i) if i < place.len as usize => Ok(VarId::new(place.first.index() + i)),
            _ => Err(Failure::Index(index).into()),
        })
    }

    /// Runs the code of one node that is no step.
    pub(super) fn execute(
        &mut self,
        process: ProcessId,
        node: NodeId,
        registers: &mut [i64],
    ) -> Result<Ran, BuildError> {
        let flows = self.flows;
        let located = &flows[process.index()].nodes[node];
        let span = located.span;
        macro_rules! value {
            ($code:expr) => {
                match self.eval($code, registers, span)? {
                    Ok(value) => value,
                    Err(stop) => return Ok(Ran::Stopped(stop)),
                }
            };
        }
        Ok(match &located.node {
            Node::Jump(next) | Node::Goto(next) => Ran::On(*next),
            Node::Assign(reg, code, next) => {
                let value = value!(code);
                match self.set(process, *reg, value, registers, span)? {
                    Ok(()) => Ran::On(*next),
                    Err(stop) => Ran::Stopped(stop),
                }
            }
            Node::Branch(code, yes, no) => Ran::On(if value!(code) != 0 { *yes } else { *no }),
            Node::Assume(code, next) if value!(code) != 0 => Ran::On(*next),
            Node::Assume(..) => Ran::Blocked,
            Node::Assert(code, next) if value!(code) != 0 => Ran::On(*next),
            Node::Assert(..) => Ran::Stopped(Failure::Assertion.into()),
            step => unreachable!("{step:?} is a step"),
        })
    }

    /// Whether a process always stops at the node: before a step, before a choice,
    /// and at its end.
    pub(super) fn stops_at(&self, process: ProcessId, node: NodeId) -> bool {
        match &self.flows[process.index()].nodes[node].node {
            Node::End | Node::Any(..) | Node::Choose(_) => true,
            node => node.is_step(),
        }
    }

    /// Whether a local step that leads from one place with its registers to another
    /// can be told by what is asked: then the process is seen before it.
    pub(super) fn is_visible(
        &self,
        process: ProcessId,
        before: (NodeId, &[i64]),
        after: (NodeId, &[i64]),
    ) -> bool {
        let nodes = &self.flows[process.index()].nodes;
        let (left, entered) = (&nodes[before.0].labels, &nodes[after.0].labels);
        let asked = &self.watch.labels[process.index()];
        left.iter().any(|l| !entered.contains(l) && asked[l.index()].shows_leaving())
            || entered.iter().any(|l| !left.contains(l) && asked[l.index()].shows_entering())
            || (self.watch.always[process.index()].iter())
                .zip(before.1.iter().zip(after.1))
                .any(|(asked, (before, after))| *asked && before != after)
    }

    /// Runs local code from a node on, up to where the process is seen standing: before
    /// a step, or before a local step that changes the answer to something that is
    /// asked.
    pub(super) fn settle(
        &mut self,
        process: ProcessId,
        node: NodeId,
        mut registers: Vec<i64>,
    ) -> Result<Settled, Unbuilt> {
        let flows = self.flows;
        let flow = &flows[process.index()];
        let mut within = flow.nodes[node].within;
        let mut node = pass(flow, node, &mut within);
        let mut path: Vec<(NodeId, Vec<i64>)> = Vec::new();
        let mut on_path: HashSet<(NodeId, Vec<i64>)> = HashSet::new();
        loop {
            self.budget.tick()?;
            forget(flow, node, &mut registers);
            if self.stops_at(process, node) {
                let stop = self.cannot_stand(process, node, &registers)?;
                return Ok(Settled { key: Key { node, registers, stop }, within });
            }
            // Only code that runs long is watched for going round in circles.
            if path.len() > 64 && on_path.insert((node, registers.clone())) {
                if path.len() > MAX_SILENT {
                    return Err(BuildError {
                        message: "this code computes for too long without a step".to_owned(),
                        span: flow.nodes[node].span,
                        help: "a loop over registers only has to end soon".to_owned(),
                        unbounded: None,
                    }
                    .into());
                }
            } else if path.len() > 64 {
                let start = path.iter().position(|p| p.0 == node && p.1 == registers);
                let round = &path[start.expect("seen before")..];
                let (node, registers) = round.iter().min().expect("not empty").clone();
                return Ok(Settled { key: Key { node, registers, stop: None }, within });
            }
            let before = registers.clone();
            let stop = match self.execute(process, node, &mut registers)? {
                Ran::On(next) => {
                    let mut inside = within;
                    let next = pass(flow, next, &mut inside);
                    forget(flow, next, &mut registers);
                    if self.is_visible(process, (node, &before), (next, &registers)) {
                        return Ok(Settled {
                            key: Key { node, registers: before, stop: None },
                            within,
                        });
                    }
                    path.push((node, before));
                    (node, within) = (next, inside);
                    continue;
                }
                Ran::Blocked => None,
                Ran::Stopped(stop) => Some(stop),
            };
            return Ok(Settled { key: Key { node, registers, stop }, within });
        }
    }

    /// Why a process has failed that comes to stand before a step: the step
    /// makes no sense for the values of its registers.
    pub(super) fn cannot_stand(
        &self,
        process: ProcessId,
        node: NodeId,
        registers: &[i64],
    ) -> Result<Option<Stop>, BuildError> {
        let located = &self.flows[process.index()].nodes[node];
        let span = located.span;
        let place = match &located.node {
            Node::Load(_, place, _) | Node::Store(place, ..) | Node::Rmw(_, place, ..) => place,
            _ => return Ok(None),
        };
        let var = match self.element(place, registers, span)? {
            Ok(var) => var,
            Err(stop) => return Ok(Some(stop)),
        };
        let Node::Store(_, code, _) = &located.node else { return Ok(None) };
        Ok(match self.eval(code, registers, span)? {
            Ok(value) => self.leaves(var, value),
            Err(stop) => Some(stop),
        })
    }

    /// Why a value cannot be written to a variable.
    pub(super) fn leaves(&self, var: VarId, value: i64) -> Option<Stop> {
        let admits = |domain| self.program.admits(domain, value);
        if !self.domains[var.index()].is_none_or(admits) {
            return Some(Failure::Domain(self.program.var_name(var), value).into());
        }
        let bound = *self.program.bounds.vars.get(&var)?;
        let excess = || Excess { name: self.program.var_name(var), value, bound };
        (!(bound.0..=bound.1).contains(&value)).then(|| Stop::Left(excess()))
    }
}

/// The node at which a process that gets to `node` stands, past structure. `within`
/// becomes `None` where the `await` is left on the way.
fn pass(flow: &Flow<'_>, mut node: NodeId, within: &mut Option<NodeId>) -> NodeId {
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

/// Registers whose value no longer matters have the value 0.
fn forget(flow: &Flow<'_>, node: NodeId, registers: &mut [i64]) {
    for (value, live) in registers.iter_mut().zip(&flow.live[node]) {
        if !live {
            *value = 0;
        }
    }
}
